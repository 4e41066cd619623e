"""`permissions ACTION PROJECT`: what the user has decided about calls in a project."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from application.app import Application
from domain.llm.tools.confirmation import (
    DECISIONS,
    EFFECTS,
    EVERY_PATH,
    Permissions,
    Rule,
    rule_to_plain,
)
from presentation.json_output import Output
from presentation.permission_rules import checked_rule, name_in, relative_rule
from shared.errors import UserInputError
from shared.message import msg

_ACTIONS = ("list", "add", "remove", "protect", "unprotect", "withdraw")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION PROJECT [PATH] [--decision D] [--tool T] [--path GLOB] [--effect E]."""
    parser.add_argument("action", choices=_ACTIONS, metavar="|".join(_ACTIONS))
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("file", nargs="?", default="", metavar="PATH")
    parser.add_argument("--decision", choices=DECISIONS)
    parser.add_argument("--tool", default="*", metavar="NAME")
    parser.add_argument("--path", metavar="GLOB")
    parser.add_argument("--effect", choices=("*", *EFFECTS), default="*")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Change what is asked to be changed, then show the decisions."""
    store, root = app.conversations.permissions, args.project
    if not root.is_dir():
        raise UserInputError(msg("{path} is not a folder.", path=root), error_type="no_project")
    if args.action in ("add", "remove"):
        change = store.add_rules if args.action == "add" else store.remove_rules
        rule = relative_rule(root, _rule(args))
        if args.action == "add":  # any rule that is there may be taken away
            rule = checked_rule(root, rule, app.conversations.run_tool.executor.names_for_rules)
        await asyncio.to_thread(change, root, [rule])
    elif args.action in ("protect", "unprotect"):
        name = name_in(root, args.file)
        await asyncio.to_thread(store.protect, root, name, is_protected=args.action == "protect")
    elif args.action == "withdraw":
        await _withdraw(args, app)
    _show(await asyncio.to_thread(store.of_project, root), out)
    return 0


async def _withdraw(args: argparse.Namespace, app: Application) -> None:
    """Ask again before the project is sent to a server, or to any (no server named)."""
    given = (await asyncio.to_thread(app.conversations.permissions.of_project, args.project)).consents
    named = args.file.rstrip("/")
    if named and named not in given:
        raise UserInputError(
            msg("This project is not allowed to be sent to {server} without asking.", server=named),
            advice=msg("Allowed to be sent to: {names}.", names=", ".join(given)) if given else None,
            error_type="bad_usage",
        )
    for server in (named,) if named else given:
        await asyncio.to_thread(app.conversations.permissions.consent, args.project, server, is_given=False)


def _rule(args: argparse.Namespace) -> Rule:
    if args.decision is None:
        raise UserInputError(
            msg("Specify what the rule decides: --decision allow, ask or deny."), error_type="bad_usage"
        )
    if args.file and args.path is not None:
        raise UserInputError(
            msg("A rule has one path: give {path} or --path.", path=args.file), error_type="bad_usage"
        )
    path = args.file or (EVERY_PATH if args.path is None else args.path)
    return Rule(decision=args.decision, tool=args.tool, path=path, effect=args.effect)


def _show(permissions: Permissions, out: Output) -> None:
    if out.as_json:
        rules = [rule_to_plain(rule) for rule in permissions.rules]
        consents = list(permissions.consents)
        out.json({"ok": True, "rules": rules, "protected": list(permissions.protected), "consents": consents})
        return
    if not permissions.rules and not permissions.protected:
        out.say(msg("There are no rules for this project: the defaults apply."))
    for rule in permissions.rules:
        out.row(str(rule))
    for name in permissions.protected:
        out.say(msg("protected: {path}", path=name))
    for server in permissions.consents:
        out.say(msg("may be sent to: {server}", server=server))
