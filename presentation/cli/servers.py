"""`servers ACTION [NAME]`: servers of the Model Context Protocol whose tools the assistant may use."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from application.app import Application
from application.tool_execution.server_tools import ShownServer
from domain.llm.tool_servers import ToolServer, clean_text
from presentation.json_output import Output
from presentation.server_words import STATES, notes_of
from shared.errors import UserInputError
from shared.message import msg
from shared.setting import WrongSetting, to_plain

_ACTIONS = ("list", "add", "remove", "on", "off", "test")
_SETTING = "tool_servers"
_TOLD = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION [NAME] [--url URL] [--token-variable V] [--env NAME=VALUE] [--timeout S] [-- COMMAND ...]."""
    parser.add_argument("action", choices=_ACTIONS, metavar="|".join(_ACTIONS))
    parser.add_argument("name", nargs="?", default="", metavar="NAME")
    parser.add_argument("--url", default="", metavar="URL")
    parser.add_argument("--token-variable", default="", metavar="VARIABLE")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, metavar="S")
    parser.add_argument("command_line", nargs="*", default=[], metavar="COMMAND")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Change what is asked to be changed, then show the servers; exit code 3 when a tested one fails."""
    use = app.conversations.tool_servers
    kept = {each.name: each.server for each in use.shown()}
    if args.action not in ("list", "test") or args.name:
        _check_name(args, kept)
    if args.action not in ("list", "test"):
        await _save(app, _changed(args, kept))
    is_test = args.action == "test"
    if is_test:
        await use.connect(again=True)
    shown = [each for each in use.shown() if args.name in ("", each.name) or not is_test]
    _show(shown, out, with_tools=is_test)
    return 3 if is_test and any(each.state == "failed" for each in shown) else 0


def _check_name(args: argparse.Namespace, kept: dict[str, ToolServer]) -> None:
    if not args.name:
        raise UserInputError(msg("Specify the name of the server."), error_type="bad_usage")
    if args.action != "add" and args.name not in kept:
        raise UserInputError(
            msg("There is no tool server named {name}.", name=args.name),
            advice=msg("Tool servers: {names}.", names=", ".join(kept)) if kept else None,
            error_type="bad_usage",
        )


def _changed(args: argparse.Namespace, kept: dict[str, ToolServer]) -> dict[str, ToolServer]:
    match args.action:
        case "remove":
            return {name: server for name, server in kept.items() if name != args.name}
        case "on" | "off":
            return kept | {args.name: replace(kept[args.name], is_on=args.action == "on")}
    environment = dict(text.partition("=")[::2] for text in args.env)
    server = ToolServer(
        command=tuple(args.command_line),
        url=args.url,
        environment=environment,
        token_variable=args.token_variable,
    )
    return kept | {args.name: server if args.timeout is None else replace(server, timeout_s=args.timeout)}


async def _save(app: Application, servers: dict[str, ToolServer]) -> None:
    try:
        await app.program.preferences.set(_SETTING, to_plain(servers))
    except WrongSetting as error:
        raise UserInputError(
            msg("The tool server cannot be set up: {reason}.", reason=error.message),
            advice=msg("For example: {example}", example="servers add bench -- uvx bench-mcp"),
            error_type="bad_usage",
        ) from error


def _show(servers: list[ShownServer], out: Output, *, with_tools: bool) -> None:
    out.json_or_nothing({"ok": True, "servers": [_plain(each, out) for each in servers]})
    if not servers:
        out.say(msg("No tool servers are set up."))
    for each in servers:
        state = f" ({out.translate(STATES[each.state])})" if with_tools or not each.server.is_on else ""
        out.row(f"{each.name}{state}: {each.server.place}")
        for tool in each.tools:
            told = next((one.description for one in each.offered if one.name == tool.own_name), "")
            out.row(f"  {tool.name}  {clean_text(told, _TOLD)}")
        for note in notes_of(each):
            out.row(f"  {out.translate(note)}")


def _plain(shown: ShownServer, out: Output) -> dict[str, Any]:
    return {
        "name": shown.name,
        "state": shown.state,
        **to_plain(shown.server),
        "tools": [{"name": tool.name, "parameters": tool.schema} for tool in shown.tools],
        "notes": [out.translate(note) for note in notes_of(shown)],
    }
