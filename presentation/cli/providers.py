"""`providers list|test|key|vocabulary`: which models can be used, whether one answers, where its key is."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from application.app import Application
from domain.llm.chat import ProviderChoice, ProviderInfo
from domain.llm.costs import CURRENCIES, Cost, shown_cost
from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingSettings
from presentation.cli import web_search
from presentation.cli.keys import run_key, unlock_keys
from presentation.json_output import Output
from presentation.provider_words import provider_title
from shared.errors import UserInputError
from shared.message import Message, msg

_MOST_NAMES = 20
_USUAL_VOCABULARY = "o200k_base"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """list | test [NAME] [--model M] [--base-url U] | test web-search [ENGINE]
    | test embeddings [PROVIDER] | key set|remove|status NAME | vocabulary [NAME].

    `test web-search` also takes --search-id and --save, which keeps the engine that has answered.
    """
    parser.add_argument("action", choices=("list", "test", "key", "vocabulary"))
    parser.add_argument("name", nargs="?", default="", metavar="NAME")
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    # Taken only to be refused without being repeated.
    parser.add_argument("--key", "--api-key", "--token", dest="key", default="", help=argparse.SUPPRESS)
    parser.add_argument("--model", default="", metavar="M")
    parser.add_argument("--base-url", default="", metavar="U")
    web_search.add_engine_arguments(parser)
    parser.add_argument("--save", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 3 when the tested provider does not answer or refuses."""
    if args.action == "key" or args.key:
        return await run_key(args, app, out)
    if args.action == "test" and args.name == web_search.NAME:
        return await web_search.run_test(args, app, out)
    if args.action == "test" and args.name == EMBEDDINGS:
        return await run_embedding_test(args, app, out)
    if args.words:
        raise UserInputError(
            msg("Too many arguments. Usage: providers {action} NAME.", action=args.action),
            advice=msg("Give one provider."),
            error_type="bad_usage",
        )
    if args.save:
        raise UserInputError(
            msg("--save is only used with `providers test embeddings` and `providers test web-search`."),
            advice=msg("Set the model of conversations in the window: Design > Model settings."),
            error_type="bad_usage",
        )
    if args.action == "vocabulary":
        return await _fetch_vocabulary(args.name or _USUAL_VOCABULARY, app, out)
    if args.action == "list":
        counts = await asyncio.to_thread(app.models.providers.service_counts)
        _list(app.models.providers.list(), counts, web_search.engine_documents(app, out), out)
        web_search.say_engines(app, out)
        return 0
    return await _test(args, app, out)


async def _test(args: argparse.Namespace, app: Application, out: Output) -> int:
    args.name = args.name or "builtin"
    await unlock_keys(app, args.name, out)
    choice = ProviderChoice(provider=args.name, model=args.model, base_url=args.base_url)
    models = await app.models.providers.examine(choice)
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
        out.row(f"  {name}")
    if len(models) > _MOST_NAMES:
        out.say(msg("  ... and {count} more (all with --json)", count=len(models) - _MOST_NAMES))
    return 0


async def _fetch_vocabulary(name: str, app: Application, out: Output) -> int:
    """Get what counts tokens exactly, a few MB, from OpenAI's server."""
    path = await app.models.vocabularies.fetch(name)
    told = msg("The vocabulary {name} is stored in {path}.", name=name, path=path)
    out.say(told)
    out.json_or_nothing({"ok": True, "vocabulary": name, "path": str(path), "message": out.translate(told)})
    return 0


def _found(choice: ProviderChoice, count: int) -> Message:
    if choice.model:
        return msg("{provider} responds and offers {model}.", provider=choice.provider, model=choice.model)
    return msg("{provider} responds; models: {count}.", provider=choice.provider, count=count)


_Counts = Mapping[str, Mapping[str, float]]


def _list(
    providers: tuple[ProviderInfo, ...], counts: _Counts, engines: list[dict[str, object]], out: Output
) -> None:
    if out.as_json:
        services = [_service(name, row) for name, row in counts.items()]
        entries = [_entry(provider, out) for provider in providers]
        out.json({"ok": True, "providers": entries, "services": services, "search_engines": engines})
        return
    for provider in providers:
        title = out.translate(provider_title(provider.name, provider.title))
        out.line(f"{provider.name} ({title})")
        for line in (_key_line(provider), _address_line(provider), provider.note):
            if line is not None:
                out.line(f"    {out.translate(line)}")
        for name, row in counts.items():
            if name.split(" ")[0] == provider.name:
                spent = shown_cost(_cost(row))
                counts_line = out.translate(_counts_line(row))
                out.line(f"    {name.partition(' ')[2]}: {counts_line}{spent and f' {spent}'}")


def _service(name: str, row: Mapping[str, float]) -> dict[str, object]:
    provider, _, server = name.partition(" ")
    return {"provider": provider, "server": server, **row, "mean_first_piece_s": _mean(row)}


def _cost(row: Mapping[str, float]) -> Cost:
    return Cost(amounts={currency: row.get(f"cost_{currency.lower()}", 0.0) for currency in CURRENCIES})


def _mean(row: Mapping[str, float]) -> float | None:
    return round(row["first_piece_s"] / row["first_pieces"], 3) if row["first_pieces"] else None


def _counts_line(row: Mapping[str, float]) -> Message:
    calls, failures, retries = (f"{row[name]:.0f}" for name in ("calls", "failures", "retries"))
    mean = _mean(row)
    if mean is None:
        return msg(
            "Calls: {calls}, failed: {failures}, retried: {retries}.",
            calls=calls,
            failures=failures,
            retries=retries,
        )
    return msg(
        "Calls: {calls}, failed: {failures}, retried: {retries}; first output after {seconds} s on average.",
        calls=calls,
        failures=failures,
        retries=retries,
        seconds=f"{mean:.1f}",
    )


def _key_line(provider: ProviderInfo) -> Message:
    if provider.has_key:
        return msg("Key: set.")
    if not provider.needs_key:
        return msg("Key: not needed.")
    if provider.key_page:
        return msg(
            "Key: missing. {variable}; get one at {page}",
            variable=provider.key_variable,
            page=provider.key_page,
        )
    return msg("Key: missing.")


def _address_line(provider: ProviderInfo) -> Message | None:
    return msg("Address: {url}", url=provider.base_url) if provider.base_url else None


def _entry(provider: ProviderInfo, out: Output) -> dict[str, object]:
    return {
        "name": provider.name,
        "title": provider.title,
        "needs_key": provider.needs_key,
        "has_key": provider.has_key,
        "key_variable": provider.key_variable,
        "key_page": provider.key_page,
        "base_url": provider.base_url,
        "url_variable": provider.url_variable,
        "is_local": provider.is_local,
        "can_think": provider.can_think,
        "can_search": provider.can_search,
        "models_page": provider.models_page,
        "models": list(provider.models),
        "note": out.translate(provider.note) if provider.note is not None else None,
    }


EMBEDDINGS = "embeddings"


async def run_embedding_test(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Test what is set, or the provider, model and address that are named; --save keeps what answered."""
    kept = await app.project.embedding.load()
    settings = _named(args, kept)
    await unlock_keys(app, EMBEDDING_SERVERS[settings.provider].key_name, out)
    trial = await app.project.embedding.try_out(settings)
    if args.save or settings == kept:
        tested = replace(settings, verified_at=datetime.now(UTC).isoformat(timespec="seconds"))
        await app.project.embedding.save(tested)
    message = msg(
        "{model} of {provider} returns {count}-dimensional vectors, the first after {seconds} s.",
        provider=settings.provider,
        count=trial.dimension,
        model=settings.model,
        seconds=f"{trial.answered_s:.2f}",
    )
    out.say(message)
    if args.save and (kept is None or kept.identity != settings.identity):
        out.say(msg("Saved. The vectors of each project are computed when it is next searched."))
    out.json_or_nothing(
        {
            "ok": True,
            "provider": settings.provider,
            "model": settings.model,
            "base_url": settings.base_url or EMBEDDING_SERVERS[settings.provider].base_url,
            "dimension": trial.dimension,
            "answered_s": round(trial.answered_s, 3),
            "saved": bool(args.save),
            "message": out.translate(message),
        }
    )
    return 0


def _named(args: argparse.Namespace, kept: EmbeddingSettings | None) -> EmbeddingSettings:
    if len(args.words) > 1:
        raise UserInputError(
            msg("Too many arguments. Usage: providers {action} NAME.", action=f"test {EMBEDDINGS}"),
            advice=msg("Give one provider."),
            error_type="bad_usage",
        )
    name = args.words[0] if args.words else ""
    if not name and kept is None:
        raise UserInputError(
            msg("Search by meaning is not set up."),
            advice=msg(
                "Specify a server: providers test embeddings PROVIDER [--model M] [--save]; available: "
                "{names}.",
                names=", ".join(EMBEDDING_SERVERS),
            ),
            error_type="bad_usage",
        )
    if name and name not in EMBEDDING_SERVERS:
        raise UserInputError(
            msg("Unknown provider {name}.", name=name),
            advice=msg("Known providers: {names}.", names=", ".join(EMBEDDING_SERVERS)),
            error_type="bad_usage",
        )
    if kept is None or (name and name != kept.provider):
        kept = EmbeddingSettings(provider=name, model=next(iter(EMBEDDING_SERVERS[name].models), ""))
    wanted = replace(kept, model=args.model or kept.model, base_url=args.base_url or kept.base_url)
    if not wanted.model:
        raise UserInputError(
            msg("No model is specified."), advice=msg("Specify it with --model."), error_type="bad_usage"
        )
    return wanted
