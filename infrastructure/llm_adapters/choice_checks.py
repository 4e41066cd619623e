"""What may be chosen of a provider: checked before anything is opened."""

from __future__ import annotations

from domain.llm.chat import ProviderChoice
from infrastructure.llm_adapters.provider_facts import ALIASES, OPENAI_COMPATIBLE, PROVIDERS, Provider
from shared.errors import UserInputError
from shared.message import Message, msg


def advice_on_key(provider: Provider) -> Message:
    """How a provider gets its key."""
    if provider.key_page:
        return msg(
            "Get one at {page} and set it with `providers key set {provider}`, in the model settings of the "
            "window, or in the environment variable {variable}.",
            page=provider.key_page,
            provider=provider.name,
            variable=provider.key_variable,
        )
    return msg(
        "Set the key of that server with `providers key set {provider}`, in the model settings of the "
        "window, or in the environment variable {variable}.",
        provider=provider.name,
        variable=provider.key_variable,
    )


def known_provider(name: str) -> Provider:
    """The row of a provider, by its name or another that people type. Raises UserInputError."""
    try:
        return PROVIDERS[ALIASES.get(name.strip().lower(), name)]
    except KeyError:
        raise UserInputError(
            msg("The provider {name} is not known.", name=name),
            advice=msg("Known providers: {names}.", names=", ".join(PROVIDERS)),
        ) from None


def refuse_settings(provider: Provider, choice: ProviderChoice) -> None:
    """Raises UserInputError for a choice that says more than the built-in model takes."""
    if choice.base_url or choice.search or choice.thinking or choice.model not in ("", *provider.models):
        raise UserInputError(
            msg("The provider {name} takes neither --model nor --base-url.", name=provider.name),
            advice=msg("For a model on a server add: --provider {name}", name=OPENAI_COMPATIBLE),
        )


def refuse_switches(provider: Provider, choice: ProviderChoice) -> None:
    """Raises UserInputError for a switch that the provider does not have."""
    if choice.search and not provider.dialect.can_search:
        able = ", ".join(row.name for row in PROVIDERS.values() if row.dialect.can_search)
        raise UserInputError(
            msg("{name} has no web search of its own.", name=provider.title),
            advice=msg("Leave it out, or choose a provider that has one: {names}.", names=able),
        )
    if choice.thinking is not None and not provider.dialect.thinking.is_there:
        raise UserInputError(
            msg("How {name} thinks can't be switched from here.", name=provider.title),
            advice=msg("Leave the option out; the server's own settings decide."),
        )
