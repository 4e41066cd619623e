"""`providers test embeddings [PROVIDER]`: does the server of vectors answer, and how long are they?"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain.search.embedding import EMBEDDING_SERVERS, EmbeddingSettings
from presentation.cli.keys import unlock_keys
from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from presentation.json_output import Output

NAME = "embeddings"


async def run_test(args: argparse.Namespace, app: Application, out: Output) -> int:
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
            msg("Too many arguments. Usage: providers {action} NAME.", action=f"test {NAME}"),
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
