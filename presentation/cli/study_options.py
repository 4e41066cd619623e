"""The options of studies: a specification file, and short forms of its entries on the command line."""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from domain.circuit.simulator_settings import DIALECTS
from domain.settings import UserSettings
from shared.errors import UserInputError
from shared.message import msg
from shared.setting import add_option

if TYPE_CHECKING:
    from domain.studies.study_spec import StudyKind, StudySpec

_MOST_BYTES = 64 * 2**20
_ADDRESS = re.compile(r"(tcp|tls|ucx)://\S+:\d+")
_PLAIN_KEYS = (
    "runs",
    "seed",
    "method",
    "timeout",
    "budget",
    "time_limit",
    "minimize",
    "maximize",
    "yield_target",
)
"""Options that are entries of a specification under their own name."""
_RANGE_FORM = "R1=1k:10k:log:20"


def add_study_arguments(parser: argparse.ArgumentParser, kind: StudyKind | Literal["optimize"]) -> None:
    """FILE [--spec SPEC.json] and what may be said without a file."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--spec", type=Path, metavar="SPEC.json")
    if kind != "corners":
        parser.add_argument("--param", action="append", default=[], metavar="NAME=...", dest="parameters")
    parser.add_argument("--measure", action="append", default=[], metavar="NAME=EXPR", dest="measures")
    parser.add_argument("--goal", action="append", default=[], metavar="METRIC>=VALUE", dest="goals")
    parser.add_argument("--analysis", action="append", default=[], metavar="TEXT", dest="analyses")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments")
    if kind == "montecarlo":
        parser.add_argument("--runs", metavar="N")
        parser.add_argument("--seed", metavar="N")
    if kind == "corners":
        parser.add_argument("--process", metavar="TT,FF,...")
        parser.add_argument("--voltage", metavar="[NAME=]V1,V2,...")
        parser.add_argument("--temp", metavar="T1,T2,...")
    if kind == "worst-case":
        parser.add_argument("--method", metavar="eva|rss|both|search")
    if kind == "map":
        parser.add_argument("--time-limit", metavar="S", dest="time_limit")
    parser.add_argument("--timeout", metavar="S")
    parser.add_argument("--workers", type=_count, metavar="N")
    parser.add_argument("--cluster", type=_address, metavar="tcp://HOST:PORT")
    parser.add_argument("--dialect", choices=DIALECTS)
    add_option(parser, UserSettings, "libraries")


async def study_spec(args: argparse.Namespace) -> StudySpec:
    """The specification file with what the options add to it. Raises UserInputError."""
    from domain.studies.study_spec import read_study_spec

    document: dict[str, Any] = {}
    if args.spec is not None:
        document = await asyncio.to_thread(_read, args.spec)
    _merge(document, args)
    return read_study_spec(document)


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UserInputError(
            msg("{path} cannot be read ({reason}).", path=path, reason=error.strerror), file=path
        ) from error
    if len(data) > _MOST_BYTES:
        raise UserInputError(msg("{path} is too large for a specification.", path=path), file=path)
    try:
        document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        raise UserInputError(
            msg("{path} is not valid JSON: {reason}.", path=path, reason=str(error)),
            file=path,
            line=error.lineno if isinstance(error, json.JSONDecodeError) else None,
            error_type="bad_spec",
        ) from error
    if not isinstance(document, dict):
        raise UserInputError(
            msg("{path} is not a JSON object with keys.", path=path), file=path, error_type="bad_spec"
        )
    return document


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises ValueError for a key that is there twice: one of them would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return found


def _merge(document: dict[str, Any], args: argparse.Namespace) -> None:
    """What the options say, in the words of a specification; a parameter named again takes the option's."""
    added: list[dict[str, Any]] = []
    for item in map(_parameter, getattr(args, "parameters", ())):
        same = next((each for each in added if each["name"].lower() == item["name"].lower()), None)
        # `R1=1k:10k:E24` and `R1=1%`: what is searched may scatter too.
        if same is not None and not same.keys() & item.keys() - {"name"}:
            same.update(item)
        else:
            added.append(item)
    if added:
        names = {item["name"].lower() for item in added}
        kept = [
            item
            for item in _list(document, "parameters")
            if not (isinstance(item, dict) and str(item.get("name")).lower() in names)
        ]
        document["parameters"] = [*kept, *added]
    if args.measures:
        own = document.get("measure") or {}
        measures = dict(own) if isinstance(own, dict) else {}
        document["measure"] = measures | dict(_named(text, "--measure") for text in args.measures)
    if args.goals:
        document["goals"] = [*_list(document, "goals"), *args.goals]
    if args.analyses:
        document.pop("analyses", None)
        document["analysis"] = list(args.analyses)
    if args.assignments:
        document["set"] = {
            **(document.get("set") or {}), **dict(_named(text, "--set") for text in args.assignments)
        }  # fmt: skip
    for key in _PLAIN_KEYS:
        if getattr(args, key, None) is not None:
            document[key] = getattr(args, key)
    corners = {key: _corner_axis(getattr(args, key, None)) for key in ("process", "voltage", "temp")}
    if any(corners.values()):
        document["corners"] = {key: axis for key, axis in corners.items() if axis}


def _list(document: dict[str, Any], key: str) -> list[Any]:
    found = document.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise UserInputError(
            msg("{key} in the specification must be a list.", key=key), error_type="bad_spec"
        )
    return found


def _named(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if option == "--measure" and not (equals and name.strip().isidentifier()):
        return text.strip(), text.strip()  # an expression that is its own name
    if not (name.strip() and equals and value.strip()):
        raise UserInputError(
            msg("{option} expects NAME=VALUE, not {text}.", option=option, text=text), error_type="bad_usage"
        )
    return name.strip(), value.strip()


def _parameter(text: str) -> dict[str, Any]:
    """``R1=1k:10k:log:20``, ``R1=1k:10k:E24``, ``R1=1k,2k,5k``, ``R1=5%``, ``R1=5%:normal``, ``R1=2%:sigma``,
    or ``R1``."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not name or (equals and not rest):
        raise _bad_parameter(text)
    if not equals:
        return {"name": name}
    parts = [part.strip() for part in rest.split(":")]
    if "," in rest or (len(parts) == 1 and "%" not in rest):
        return {"name": name, "values": [item.strip() for item in rest.split(",")]}
    if "%" in parts[0]:
        if parts[1:] == ["sigma"]:
            return {"name": name, "sigma": parts[0]}
        spread = {"name": name, "tolerance": parts[0]}
        return spread | ({"distribution": parts[1]} if len(parts) == 2 else {})
    document: dict[str, Any] = {"name": name, "min": parts[0], "max": parts[1]}
    if len(parts) > 2:
        document["scale"] = parts[2]
    if len(parts) == 4:
        document["points"] = parts[3]
    if len(parts) > 4:
        raise _bad_parameter(text)
    return document


def _bad_parameter(text: str) -> UserInputError:
    return UserInputError(
        msg("--param cannot interpret {text}.", text=text),
        advice=msg("Write {forms}.", forms=f"{_RANGE_FORM}, R1=1k:10k:E24, R1=1k,2.2k,4.7k, R1=1%:normal"),
        error_type="bad_usage",
    )


def _corner_axis(text: str | None) -> Any:
    if text is None:
        return None
    name, equals, values = text.rpartition("=")
    items = [item.strip() for item in values.split(",") if item.strip()]
    return {name.strip(): items} if equals else items


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise argparse.ArgumentTypeError("the address of a Dask scheduler looks like tcp://host:8786")
    return text


def _count(text: str) -> int:
    number = float(text)
    if number != math.floor(number) or number < 1:
        raise argparse.ArgumentTypeError("N has to be a whole number of at least 1")
    return int(number)
