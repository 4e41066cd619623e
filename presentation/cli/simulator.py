"""`simulator DIR`: what the circuits of a project need of their simulator, kept for this user."""

from __future__ import annotations

import argparse
from asyncio import to_thread
from dataclasses import replace
from pathlib import Path

from application.app import Application
from domain.circuit.simulator_settings import DIALECTS, ModelFile, SimulatorSettings
from presentation.json_output import Output
from shared.errors import UserInputError
from shared.message import msg


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """DIR [--dialect D|auto] [--library DIR] [--models FILE[:SECTION]] [--variable NAME=VALUE] [--clear]."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--dialect", choices=("auto", *DIALECTS))
    parser.add_argument("--library", type=Path, action="append", default=[], metavar="DIR")
    parser.add_argument("--models", action="append", default=[], metavar="FILE[:SECTION]")
    parser.add_argument("--variable", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--clear", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Change what is asked to be changed, then show the settings."""
    if not args.folder.is_dir():
        raise UserInputError(msg("{path} is not a folder.", path=args.folder))
    store = app.simulation.settings
    settings = SimulatorSettings() if args.clear else await to_thread(store.of_circuit, args.folder)
    changed = args.clear or args.dialect or args.library or args.models or args.variable
    if args.dialect:
        settings = replace(settings, dialect=None if args.dialect == "auto" else args.dialect)
    settings = replace(
        settings,
        libraries=tuple(dict.fromkeys((*settings.libraries, *(_existing(path) for path in args.library)))),
        model_files=tuple(dict.fromkeys((*settings.model_files, *(_models(text) for text in args.models)))),
        variables={**settings.variables, **dict(_variable(text) for text in args.variable)},
    )
    if changed:
        await to_thread(store.save, args.folder, settings)
        settings = await to_thread(store.of_circuit, args.folder)
    _show(settings, out)
    return 0


def _existing(path: Path) -> Path:
    real = path.expanduser().resolve()
    if not real.exists():
        raise UserInputError(msg("File {path} does not exist.", path=path))
    return real


def _models(text: str) -> ModelFile:
    name, colon, section = text.rpartition(":")
    if colon and name and not Path(text).expanduser().exists():
        return ModelFile(path=_existing(Path(name)), section=section)
    return ModelFile(path=_existing(Path(text)))


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and name.isascii() and equals and value.strip()):
        raise UserInputError(
            msg("--variable expects NAME=VALUE, not {text}.", text=text),
            advice=msg("For example: {example}", example="--variable PDK_ROOT=~/pdk"),
        )
    return name, value.strip()


def _show(settings: SimulatorSettings, out: Output) -> None:
    if out.as_json:
        out.json(
            {
                "ok": True,
                "dialect": settings.dialect,
                "libraries": list(settings.libraries),
                "model_files": [
                    {"path": model.path, "section": model.section} for model in settings.model_files
                ],
                "variables": dict(settings.variables),
            }
        )
        return
    out.say(msg("Dialect: {name}", name=settings.dialect or msg("detected per circuit")))
    for path in settings.libraries:
        out.say(msg("Library: {path}", path=path))
    for model in settings.model_files:
        out.say(msg("Models: {path}", path=model.card))
    for name, value in settings.variables.items():
        if name == "HOME":
            continue
        out.say(msg("Variable: {name} = {value}", name=name, value=value))
