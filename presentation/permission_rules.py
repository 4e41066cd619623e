"""Rules for calls as people write them: relative to the project, refused where they could never hold."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from domain.llm.tool_servers import is_of_server
from domain.llm.tools.confirmation import Rule, fits_tool
from shared.errors import UserInputError
from shared.message import msg


def checked_rule(root: Path, rule: Rule, tools: Iterable[str]) -> Rule:
    """The rule with its path relative to the project; `tools` are the names there are.

    Raises UserInputError ("bad_usage") for a path no file of a project can have, or a tool that is none.
    """
    rule = relative_rule(root, rule)
    _check_path(rule.path)
    _check_tool(rule.tool, tools)
    return rule


def relative_rule(root: Path, rule: Rule) -> Rule:
    """The rule with its pattern relative to the project, where it is written as an absolute path in it."""
    glob = rule.path.strip()
    bases = (root.absolute(), Path(os.path.realpath(root)))
    base = next((base for base in bases if Path(glob).is_relative_to(base)), None)
    return replace(rule, path=glob if base is None else Path(glob).relative_to(base).as_posix())


def name_in(root: Path, text: str) -> str:
    """The file or folder as rules name it: relative to the project, links resolved.

    Raises UserInputError ("outside_project").
    """
    real_root = Path(os.path.realpath(root))
    place = Path(os.path.realpath(real_root / text)) if text else real_root
    if place == real_root or not place.is_relative_to(real_root):
        raise UserInputError(
            msg("{path} is not a file or folder of the project.", path=text or "."),
            advice=msg("Specify it relative to the project, for example lib/models.lib."),
            error_type="outside_project",
        )
    return place.relative_to(real_root).as_posix()


def _check_path(glob: str) -> None:
    is_odd = not glob.isprintable() or glob in ("", ".") or ".." in glob.split("/")
    if is_odd or glob.startswith(("/", "~")):
        raise UserInputError(
            msg(
                "The path {glob} matches no file of the project.",
                glob=json.dumps(glob[:200], ensure_ascii=False),
            ),
            advice=msg(
                "Specify it relative to the project, for example lib/** or amp.cir; ** means every file."
            ),
            error_type="bad_usage",
        )


def _check_tool(pattern: str, names: Iterable[str]) -> None:
    names = sorted(names)
    if not is_of_server(pattern) and not any(fits_tool(pattern, name) for name in names):
        raise UserInputError(
            msg("There is no tool named {name}.", name=pattern[:100] or '""'),
            advice=msg("Available tools: {names}.", names=", ".join(names)),
            error_type="bad_usage",
        )
