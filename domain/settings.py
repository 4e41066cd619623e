"""What a user sets for this program, in one tree of fields (`shared.setting`).

Read by every command, so nothing of what a setting is about (models, prices, limits) is imported before the
file holds one: a third of a quick command went into that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from shared.message import Message, msg
from shared.setting import WrongSetting, about, allowed, default_of, described, read_fields, setting

if TYPE_CHECKING:
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.chat import ModelAbilities, ProviderChoice
    from domain.llm.context_block import ContextShares
    from domain.llm.costs import Price
    from domain.llm.service import NetworkSettings
    from domain.llm.tool_servers import ToolServer
    from domain.search.embedding import EmbeddingSettings
    from domain.simulation.retention import ResultSettings

Source = Literal["file", "environment", "default"]
"""Where a value comes from."""

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_GENERAL = msg("General")
_MODELS = msg("Models")
_SERVERS = msg("Tools of other programs")
REMOVED_DAYS = 30
_CHOICE = ("provider", "model", "base_url")
_ABILITIES = ("tools", "vision", "thinking", "context_tokens", "output_tokens")


def _context() -> type[ContextShares]:
    from domain.llm.context_block import ContextShares

    return ContextShares


def _agent() -> type[AgentLimits]:
    from domain.llm.agent_limits import AgentLimits

    return AgentLimits


def _network() -> type[NetworkSettings]:
    from domain.llm.service import NetworkSettings

    return NetworkSettings


def _embedding() -> type[EmbeddingSettings]:
    from domain.search.embedding import EmbeddingSettings

    return EmbeddingSettings


def _results() -> type[ResultSettings]:
    from domain.simulation.retention import ResultSettings

    return ResultSettings


def _model(value: Any) -> ProviderChoice:
    from domain.llm.chat import ProviderChoice

    choice = read_fields(ProviderChoice, value, only=_CHOICE)
    if not value.get("provider", "").strip():
        raise WrongSetting("provider", msg("a text"))
    return choice


def _models(value: Any) -> tuple[ProviderChoice, ...]:
    if not isinstance(value, list):
        raise TypeError(value)
    return tuple(map(_model, value))


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(value)
    return value


def _abilities(value: Any) -> dict[str, ModelAbilities]:
    from domain.llm.chat import ModelAbilities

    return {name: read_fields(ModelAbilities, row, only=_ABILITIES) for name, row in _object(value).items()}


def _prices(value: Any) -> dict[str, Price]:
    from domain.llm.costs import read_price

    return {name: read_price(row) for name, row in _object(value).items()}


def _servers(value: Any) -> dict[str, ToolServer]:
    from domain.llm.tool_servers import read_servers

    return read_servers(value)


def _plain_prices(prices: Mapping[str, Price]) -> dict[str, Any]:
    from domain.llm.costs import price_to_plain

    return {name: price_to_plain(price) for name, price in prices.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """What the user chose. Keys of providers never are among it; None = as it is by default."""

    # fmt: off
    language: Literal["auto", "en", "zh"] = setting("auto", msg("Language"), group=_GENERAL,
        variables=(*LOCALE_VARIABLES, "LANGUAGE"),
        help=msg("Language of all text; auto follows the system."))
    libraries: tuple[Path, ...] = setting((), msg("Libraries"), group=_GENERAL, option="--library",
        is_read_at_start=True,
        help=msg("Folders or files that every circuit may include from."))
    ngspice_path: Path | None = setting(None, msg("Simulator"), group=_GENERAL, is_read_at_start=True,
        help=msg("The ngspice program; none = the one found on PATH."))
    removed_days: int = setting(REMOVED_DAYS, msg("Removed conversations"), group=_GENERAL, bounds=(1, 3650),
        help=msg("How many days they can be restored; after that they are deleted permanently."))
    watch_goals: bool = setting(default=True, title=msg("Watch the goals"), group=_GENERAL,
        help=msg("After a pause in typing the goals of all circuits that the edit touches are measured."))
    run_cases: bool = setting(default=True, title=msg("Run the kept cases"), group=_GENERAL,
        help=msg("Every run of a circuit also simulates the cases kept with it, and reports their goals."))
    estimate_yield: bool = setting(default=True, title=msg("Estimate the yield"), group=_GENERAL,
        help=msg("While nothing else runs, a short Monte Carlo gives the yield of the goals of the circuit "
            "in front; not on battery."))
    preview_changes: bool = setting(default=True, title=msg("Preview changes"), group=_GENERAL,
        help=msg("What a proposed change does to goals and curves is simulated before it is accepted; "
            "on battery, and for long runs, only on request."))
    small_model: ProviderChoice | None = setting(None, msg("Model for titles and summaries"),
        group=_MODELS, read=_model,
        example='{"provider": "ollama", "model": "qwen3:4b", "base_url": ""}',
        help=msg("It names conversations and summarizes long ones; none = done by rules. "
            "No model = the provider's default."))
    alternatives: tuple[ProviderChoice, ...] = setting((), msg("Alternatives"), group=_MODELS, read=_models,
        example='[{"provider": "zhipu"}, {"provider": "ollama", "model": "qwen3:8b"}]',
        help=msg("Models to offer when the chosen one fails; none = those whose settings were tested."))
    switch_automatically: bool = setting(default=False, title=msg("Switch without asking"), group=_MODELS,
        help=msg("The alternatives are tried in turn, where the project may be sent to them."))
    models: Mapping[str, ModelAbilities] = setting(dict, msg("Model abilities"), group=_MODELS,
        read=_abilities,
        example='{"my-model": {"tools": "prompted", "context_tokens": 8192}}',
        help=msg("By model, or by provider and model; they override the built-in ones."))
    prices: Mapping[str, Price] = setting(dict, msg("Model prices"), group=_MODELS, read=_prices,
        write=_plain_prices,
        example='{"glm-4.6": {"input": 4, "cached": 0.8, "output": 16, "currency": "CNY"}}',
        help=msg("Per million tokens, by model or by provider and model; they override the built-in ones."))
    tool_servers: Mapping[str, ToolServer] = setting(dict, msg("Servers"), group=_SERVERS, read=_servers,
        example='{"bench": {"command": ["uvx", "bench-mcp"]}, "parts": {"url": "http://127.0.0.1:8000/mcp"}}',
        help=msg("By name: the command that starts one, or its address. Each call is asked about."))
    agent: AgentLimits | None = setting(None, msg("Assistant limits"), parts=_agent,
        help=msg("How far one message may go by itself; at a limit you decide whether to continue."))
    context: ContextShares | None = setting(None, msg("Data of a message"), parts=_context,
        help=msg("How the space for project data is divided; what one part does not use goes to the others."))
    network: NetworkSettings | None = setting(None, msg("Network"), parts=_network,
        help=msg("How servers are reached; servers on this computer are always reached directly."))
    embedding: EmbeddingSettings | None = setting(None, msg("Search by meaning"), parts=_embedding,
        help=msg("The server that computes embeddings; without one nothing is sent anywhere."))
    results: ResultSettings | None = setting(None, msg("Results"), parts=_results,
        help=msg("How much disk space simulation results may take."))
    # fmt: on
    given: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of what the file holds, those of groups as ``agent.rounds``; never saved."""
    warnings: tuple[Message, ...] = ()
    """What was wrong with the file these were read from; never saved."""


class ShownSetting(NamedTuple):
    """One setting as a dialog or a list shows it; `field` has its title, help, unit, bounds and choices."""

    name: str
    """As in the file: ``agent.rounds``."""
    field: Field[Any]
    value: Any
    source: Source

    @property
    def allowed(self) -> Message:
        return allowed(self.field)


class SettingsGroup(NamedTuple):
    """Settings under one title."""

    title: Message
    help: Message | None
    settings: tuple[ShownSetting, ...]


def groups(settings: UserSettings, environment: Mapping[str, str]) -> tuple[SettingsGroup, ...]:
    """All settings as they hold now, group by group."""
    found: dict[str, SettingsGroup] = {}
    for name, one in described(UserSettings).items():
        told, value = about(one), getattr(settings, name)
        if told.parts is not None:
            shown = tuple(
                _shown(f"{name}.{each.name}", each, value, settings.given, environment)
                for each in described(told.parts()).values()
            )
            found[name] = SettingsGroup(told.title, told.help, shown)
        elif told.group is not None:
            before = found.get(told.group.template, SettingsGroup(told.group, None, ()))
            shown = (_shown(name, one, settings, settings.given, environment),)
            found[told.group.template] = before._replace(settings=(*before.settings, *shown))
    return tuple(found.values())


def _shown(
    name: str, one: Field[Any], holder: Any, given: frozenset[str], environment: Mapping[str, str]
) -> ShownSetting:
    value = default_of(one) if holder is None else getattr(holder, one.name)
    is_told = any(environment.get(variable) for variable in about(one).variables)
    source: Source = "file" if name in given else "environment" if is_told else "default"
    return ShownSetting(name, one, value, source)
