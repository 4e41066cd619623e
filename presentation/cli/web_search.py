"""The web search on the command line: the options of `chat`, and `providers test web-search`."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from application.search.web_searching import TRIAL_QUERY
from domain.llm.chat import WebSearchChoice, WebSource
from presentation.cli.keys import unlock_keys
from shared.errors import UserInputError
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.llm.web_search import SearchEngineInfo
    from presentation.json_output import Output

NAME = "web-search"
"""In place of a provider's name."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--search (the provider's own), --web-search (the general one), --no-search, and what is asked."""
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--web-search", action="store_true")
    parser.add_argument("--no-search", action="store_true")
    add_engine_arguments(parser)


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--search-engine", default="", metavar="E")
    parser.add_argument("--search-url", default="", metavar="U")
    parser.add_argument("--search-id", default="", metavar="ID")


def search_of(args: argparse.Namespace) -> tuple[bool | None, WebSearchChoice | None]:
    """What is chosen: the provider's own search, the general one; None = as it was set.

    Raises UserInputError ("bad_usage") for both, or for one and none.
    """
    engine = _engine_of(args)
    is_general = args.web_search or engine != WebSearchChoice()
    if sum((args.search, is_general, args.no_search)) > 1:
        raise UserInputError(
            msg("The provider's own web search, the general one and none are mutually exclusive."),
            advice=msg("Give one of --search, --web-search and --no-search."),
            error_type="bad_usage",
        )
    if args.no_search:
        return False, WebSearchChoice(is_on=False)
    return args.search or None, engine if is_general else None


def refuse_in_design(general: WebSearchChoice | None) -> None:
    """Raises UserInputError ("bad_usage") when a search is asked of a design."""
    if general is not None and general.is_on:
        raise UserInputError(
            msg("A design does not search the web."),
            advice=msg("Omit --web-search, or --mode workflow."),
            error_type="bad_usage",
        )


def _engine_of(args: argparse.Namespace) -> WebSearchChoice:
    return WebSearchChoice(engine=args.search_engine, base_url=args.search_url, engine_id=args.search_id)


async def run_test(args: argparse.Namespace, app: Application, out: Output) -> int:
    """`providers test web-search [ENGINE] [--base-url U] [--search-id ID] [--save]`: one search.

    Raises UserInputError, WebSearchError with advice.
    """
    if len(args.words) > 1:
        raise UserInputError(
            msg("Too many arguments. Usage: providers test web-search [ENGINE]."),
            advice=msg(
                "Available search engines: {names}.", names=", ".join(row.name for row in engines(app))
            ),
            error_type="bad_usage",
        )
    named = replace(
        _engine_of(args),
        engine=args.search_engine or "".join(args.words),
        base_url=args.search_url or args.base_url,
    )
    settings = await asyncio.to_thread(app.models.search_web.as_set, named)
    await unlock_keys(app, key_name_of(app, named), out)
    answer = await app.models.search_web(TRIAL_QUERY, settings)
    took_ms = round(answer.took_s * 1000)
    if args.save:
        kept = replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds"))
        await asyncio.to_thread(app.models.settings.change, lambda old: replace(old, web_search=kept))
    message = msg(
        "{server} responds in {ms} ms; pages for “{query}”: {count}.",
        server=answer.server,
        ms=took_ms,
        query=answer.query,
        count=len(answer.sources),
    )
    out.json_or_nothing(
        {
            "ok": True,
            "engine": settings.engine,
            "server": answer.server,
            "milliseconds": took_ms,
            "sources": [source.to_plain() for source in answer.sources],
            "engines_silent": list(answer.silent),
            "saved": args.save,
            "message": out.translate(message),
        }
    )
    out.say(message)
    say_sources(answer.sources, out)
    if answer.silent:
        out.say(msg("Engines behind it that did not respond: {names}.", names=", ".join(answer.silent)))
    if args.save:
        out.say(msg("Saved as the web search engine."))
    return 0


def say_sources(sources: tuple[WebSource, ...], out: Output) -> None:
    for number, source in enumerate(sources, 1):
        date = f"  ({source.date})" if source.date else ""
        out.row(f"  {source.reference or f'[{number}]'}  {source.title}{date}  {source.url}")


def engines(app: Application) -> tuple[SearchEngineInfo, ...]:
    return app.models.search_web.engines.list()


def key_name_of(app: Application, choice: WebSearchChoice) -> str:
    """Under which the key of the chosen engine is kept; "" when it takes none."""
    name = choice.engine or app.models.settings.latest.web_search.engine
    return next((info.key_name for info in engines(app) if info.name == name), "")


def say_engines(app: Application, out: Output) -> None:
    """The engines, as `providers list` shows them."""
    chosen = app.models.settings.latest.web_search
    out.say(msg("Web search, for every model (chat --web-search):"))
    for info in engines(app):
        mark = "*" if info.name == chosen.engine else " "
        out.line(f"{mark} {info.name} ({info.title})")
        if info.needs_key:
            out.line(f"    {out.translate(_key_line(info))}")
        url = (chosen.base_url if info.name == chosen.engine else "") or info.base_url
        out.say(msg("    Address: {url}", url=url) if url else msg("    Address: required (--search-url)"))
        if info.note is not None:
            out.line(f"    {out.translate(info.note)}")


def _key_line(info: SearchEngineInfo) -> Message:
    if info.has_key:
        return msg("Key: set.")
    return msg("Key: missing. {variable}; get one at {page}", variable=info.key_variable, page=info.key_page)


def engine_documents(app: Application, out: Output) -> list[dict[str, object]]:
    chosen = app.models.settings.latest.web_search
    return [
        {
            "name": info.name,
            "title": info.title,
            "is_chosen": info.name == chosen.engine,
            "needs_key": info.needs_key,
            "has_key": info.has_key,
            "needs_address": info.needs_url,
            "base_url": (chosen.base_url if info.name == chosen.engine else "") or info.base_url,
            "key_variable": info.key_variable,
            "key_page": info.key_page,
            "source": info.source,
            "checked": info.checked,
            "note": out.translate(info.note) if info.note is not None else None,
        }
        for info in engines(app)
    ]
