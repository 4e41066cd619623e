"""`providers list|test`: which models can be used, and whether one answers."""

from __future__ import annotations

import argparse

from application.app import Application
from domain.llm.chat import ProviderChoice, ProviderInfo
from presentation.cli.output import Output
from shared.message import Message, msg

_MOST_NAMES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list | test [NAME] [--model M] [--base-url U]."""
    parser.add_argument("action", choices=("list", "test"))
    parser.add_argument("name", nargs="?", default="builtin", metavar="NAME")
    parser.add_argument("--model", default="", metavar="M")
    parser.add_argument("--base-url", default="", metavar="U")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 3 when the tested provider does not answer or refuses."""
    if args.action == "list":
        _list(app.models.list(), out)
        return 0
    choice = ProviderChoice(provider=args.name, model=args.model, base_url=args.base_url)
    models = await app.models.examine(choice)
    message = _found(choice, len(models))
    if out.as_json:
        out.json(
            {
                "ok": True,
                "provider": choice.provider,
                "models": list(models),
                "message": out.translate(message),
            }
        )
        return 0
    out.say(message)
    for name in models[:_MOST_NAMES]:
        out.line(f"  {name}")
    if len(models) > _MOST_NAMES:
        out.say(msg("  ... and {count} more (all with --json)", count=len(models) - _MOST_NAMES))
    return 0


def _found(choice: ProviderChoice, count: int) -> Message:
    if choice.model:
        return msg("{provider} answers and offers {model}.", provider=choice.provider, model=choice.model)
    return msg("{provider} answers; models: {count}.", provider=choice.provider, count=count)


def _list(providers: tuple[ProviderInfo, ...], out: Output) -> None:
    if out.as_json:
        out.json({"ok": True, "providers": [_entry(provider, out) for provider in providers]})
        return
    for provider in providers:
        out.line(f"{provider.name} ({provider.title})")
        for line in (_key_line(provider), _address_line(provider), provider.note):
            if line is not None:
                out.line(f"    {out.translate(line)}")


def _key_line(provider: ProviderInfo) -> Message:
    if provider.has_key:
        return msg("Key: set.")
    return msg("Key: missing.") if provider.needs_key else msg("Key: not needed.")


def _address_line(provider: ProviderInfo) -> Message | None:
    return msg("Address: {url}", url=provider.base_url) if provider.base_url else None


def _entry(provider: ProviderInfo, out: Output) -> dict[str, object]:
    return {
        "name": provider.name,
        "title": provider.title,
        "needs_key": provider.needs_key,
        "has_key": provider.has_key,
        "base_url": provider.base_url,
        "models": list(provider.models),
        "note": out.translate(provider.note) if provider.note is not None else None,
    }
