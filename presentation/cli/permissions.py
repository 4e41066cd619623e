"""`permissions ACTION PROJECT`: what the user has decided about calls in a project."""

from __future__ import annotations

import argparse
import asyncio
import os
from pathlib import Path

from application.app import Application
from domain.llm.tools.confirmation import DECISIONS, EFFECTS, EVERY_PATH, Permissions, Rule, rule_to_plain
from presentation.cli.output import Output
from shared.errors import UserInputError
from shared.message import msg

_ACTIONS = ("list", "add", "remove", "protect", "unprotect")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION PROJECT [PATH] [--decision D] [--tool T] [--path GLOB] [--effect E]."""
    parser.add_argument("action", choices=_ACTIONS, metavar="|".join(_ACTIONS))
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("file", nargs="?", default="", metavar="PATH")
    parser.add_argument("--decision", choices=DECISIONS)
    parser.add_argument("--tool", default="*", metavar="NAME")
    parser.add_argument("--path", default=EVERY_PATH, metavar="GLOB")
    parser.add_argument("--effect", choices=("*", *EFFECTS), default="*")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Change what is asked to be changed, then show the decisions."""
    store, root = app.permissions, args.project
    if not root.is_dir():
        raise UserInputError(msg("{path} is not a folder.", path=root), error_type="no_project")
    if args.action in ("add", "remove"):
        change = store.add_rules if args.action == "add" else store.remove_rules
        await asyncio.to_thread(change, root, [_rule(args)])
    elif args.action in ("protect", "unprotect"):
        name = _name_in(root, args.file)
        await asyncio.to_thread(store.protect, root, name, is_protected=args.action == "protect")
    _show(await asyncio.to_thread(store.of_project, root), out)
    return 0


def _rule(args: argparse.Namespace) -> Rule:
    if args.decision is None:
        raise UserInputError(
            msg("Say what the rule decides: --decision allow, ask or deny."), error_type="bad_usage"
        )
    return Rule(decision=args.decision, tool=args.tool, path=args.path or EVERY_PATH, effect=args.effect)


def _name_in(root: Path, text: str) -> str:
    """The file or folder as rules name it: relative to the project, links resolved."""
    real_root = Path(os.path.realpath(root))
    place = Path(os.path.realpath(real_root / text)) if text else real_root
    if place == real_root or not place.is_relative_to(real_root):
        raise UserInputError(
            msg("{path} is no file or folder of the project.", path=text or "."),
            advice=msg("Name it relative to the project: permissions protect PROJECT PATH."),
            error_type="outside_project",
        )
    return place.relative_to(real_root).as_posix()


def _show(permissions: Permissions, out: Output) -> None:
    if out.as_json:
        rules = [rule_to_plain(rule) for rule in permissions.rules]
        out.json({"ok": True, "rules": rules, "protected": list(permissions.protected)})
        return
    if not permissions.rules and not permissions.protected:
        out.say(msg("There are no rules for this project: the defaults hold."))
    for rule in permissions.rules:
        out.line(str(rule))
    for name in permissions.protected:
        out.say(msg("protected: {path}", path=name))
