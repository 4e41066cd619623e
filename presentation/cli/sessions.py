"""`sessions list|search|show|... PROJECT [ID] [NAME]`: the stored conversations of a project."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from application.app import Application
from domain.llm.compression import RESTORED
from domain.llm.transcript import no_session
from presentation import VERSION
from presentation.cli import confirming
from presentation.cli.terminal import read_line
from presentation.json_output import Output
from shared.errors import NeedsConfirmation, UserInputError
from shared.message import msg, one_line, visible

if TYPE_CHECKING:
    from application.conversation.sessions import ExportFormat
    from application.conversation.shown_session import ShownMessage, ShownSession
    from application.ports.conversation import SessionInfo

_YES = ("y", "yes", "是", "好", "确认")
_FORMATS = ("json", "txt", "md", "html")
_REPORT = "report"
_NETLIST = "cir"
_ACTIONS = (
    "list", "search", "show", "export", "import", "rename", "branch", "compress", "restore", "delete",
    "undelete",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION PROJECT [ID|TEXT] [NAME] [--format F] [-o FILE] [--at ID] [--keep N] [--stats] [--follow] ..."""
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("session", nargs="?", metavar="ID|TEXT")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("--format", choices=(*_FORMATS, _REPORT, _NETLIST))
    parser.add_argument("-o", "--output", type=Path, metavar="FILE")
    parser.add_argument("--stats", action="store_true")
    parser.add_argument("--removed", action="store_true")
    parser.add_argument("--for-good", action="store_true")
    parser.add_argument("--follow", action="store_true")
    parser.add_argument("--at", metavar="MESSAGE")
    parser.add_argument("--keep", type=_kept, metavar="N")
    parser.add_argument("--yes", action="store_true")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 0; errors are raised."""
    _check_usage(args)
    match args.action:
        case "list":
            sessions = app.conversations.sessions
            infos = await (sessions.removed if args.removed else sessions.list)(args.project)
            _print_list(infos, out, is_removed=args.removed)
        case "search":
            await _search(args, app, out)
        case "show":
            await _show(args, app, out)
        case "export":
            await _export(args, app, out)
        case "rename":
            await _rename(args, app, out)
        case "branch":
            await _branch(args, app, out)
        case "compress":
            await _compress(args, app, out)
        case "restore":
            await _restore(args, app, out)
        case "import":
            await _import(args, app, out)
        case "delete":
            await _delete(args, app, out)
        case "undelete":
            await _undelete(args, app, out)
    return 0


def _kept(text: str) -> int:
    """How many of the newest messages stay as they are."""
    from application.conversation.compressing_by_hand import FEWEST_KEPT, MOST_KEPT

    if not text.isdecimal() or not FEWEST_KEPT <= int(text) <= MOST_KEPT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from {FEWEST_KEPT} to {MOST_KEPT}")
    return int(text)


def _check_usage(args: argparse.Namespace) -> None:
    action, has_id = args.action, args.session is not None
    rules = (
        (action == "list" and has_id, msg("`sessions list` accepts a project only.")),
        (
            action == "search" and not (args.session or "").strip(),
            msg("`sessions search` needs the words to look for."),
        ),
        (
            action != "list" and not has_id,
            msg("Which conversation? `sessions {action}` needs an id.", action=args.action),
        ),
        (action == "rename" and args.name is None, msg("`sessions rename` needs an id and a name.")),
        (
            args.name is not None and action not in ("rename", "branch"),
            msg("A name is only used with `sessions rename` and `sessions branch`."),
        ),
        (
            args.removed and action not in ("list", "delete"),
            msg("--removed is only used with `sessions list` and `sessions delete`."),
        ),
        (args.for_good and action != "delete", msg("--for-good is only used with `sessions delete`.")),
        (args.stats and action != "show", msg("--stats is only used with `sessions show`.")),
        (
            args.follow and (action != "show" or args.stats or args.json),
            msg("--follow is only used with `sessions show`, without --stats and --json."),
        ),
        (
            action != "export" and (args.format or args.output),
            msg("--format and -o are only used with `sessions export`."),
        ),
        (action != "branch" and args.at is not None, msg("--at is only used with `sessions branch`.")),
        (
            action != "compress" and args.keep is not None,
            msg("--keep is only used with `sessions compress`."),
        ),
    )
    problem = next((told for is_wrong, told in rules if is_wrong), None)
    if problem is None:
        return
    raise UserInputError(
        problem,
        advice=msg('Give an id, its first letters (6 or more), or "last"; `sessions list` shows them.'),
        error_type="bad_usage",
    )


def _print_list(infos: tuple[SessionInfo, ...], out: Output, *, is_removed: bool) -> None:
    if out.as_json:
        out.json({"ok": True, "sessions": [_info_document(info) for info in infos]})
        return
    if not infos and is_removed:
        out.say(msg("There are no removed conversations."))
    elif not infos:
        out.say(msg("This project has no conversations yet."))
    for info in infos:
        mark = "*" if info.has_partial_response else " "
        name = " ".join(info.name.split())
        origin = "" if info.is_ours else f"  {out.translate(msg('(written elsewhere)'))}"
        origin += f"  {out.translate(msg('(its end is missing)'))}" if info.is_cut else ""
        when = f"{info.updated_at[:16]}  {info.message_count:4}"
        out.line(f"{mark} {info.session_id}  {when}  {visible(name)}{origin}")
        if info.preview:
            out.line(f"      {visible(info.preview)}")
    if any(info.has_partial_response for info in infos):
        out.say(msg("* the last turn was interrupted"))
    if infos:
        from presentation.confirmation_words import size_text

        taken = size_text(sum(info.size for info in infos))
        out.say(msg("{count} {count:conversation|conversations}, {size}", count=len(infos), size=taken))


async def _search(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.search.conversations import matching

    infos = await app.conversations.sessions.list(args.project)
    found = await app.conversations.search(args.project, args.session)
    results = matching(infos, found, args.session)
    if out.as_json:
        rows = [
            _info_document(info)
            | {
                "hits": [{"message_id": hit.message_id, "role": hit.role, "sentence": hit.sentence}
                         for hit in hits],
                "hit_count": hits[0].count if hits else 0,
            }
            for info, hits in results
        ]  # fmt: skip
        out.json({"ok": True, "sessions": rows, "not_searched": found.pending})
        return
    if not results:
        out.say(msg("No conversation has these words."))
    for info, hits in results:
        name = visible(" ".join(info.name.split()))
        more = msg("{count} {count:message|messages}", count=hits[0].count) if hits else None
        said = f"  {out.translate(more)}" if more is not None else ""
        out.line(f"  {info.session_id}  {info.updated_at[:16]}  {name}{said}")
        for hit in hits:
            who = msg("you") if hit.role == "user" else msg("model")
            out.line(f"      {out.translate(who)}: {visible(hit.sentence)}")
    if found.pending:
        out.say(msg("{count} {count:conversation|conversations} could not be searched in time.",
                    count=found.pending))  # fmt: skip


def _info_document(info: SessionInfo) -> dict[str, Any]:
    return {
        "id": info.session_id,
        "name": info.name,
        "work_mode": info.work_mode,
        "created_at": info.created_at,
        "updated_at": info.updated_at,
        "message_count": info.message_count,
        "preview": info.preview,
        "has_partial_response": info.has_partial_response,
        "size": info.size,
        "origin": "here" if info.is_ours else "elsewhere",
        "is_cut": info.is_cut,
    }


async def _show(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.conversation.session_texts import plain_text

    if args.follow:
        await confirming.follow(args, app, out)
        return
    session = await app.conversations.sessions.show(args.project, args.session)
    if args.stats:
        await _show_use(session, args.project, app, out)
        return
    if out.as_json:
        out.json(_session_document(session, out))
        return
    _note_problems(session, out)
    out.line(plain_text(session, out.translate, with_ids=True).rstrip("\n"))


async def _show_use(session: ShownSession, project: Path, app: Application, out: Output) -> None:
    """What its answers took, one by one and together, and all answers of the project in the last 24 hours."""
    from domain.llm.provider_settings import BUILTIN
    from presentation.use_words import spent_lines, use_document, use_lines

    uses = [use for use in session.uses.values() if use.provider != BUILTIN]
    whole, day = await app.conversations.sessions.spent(project, session.id)
    if out.as_json:
        answers = [use_document(use) for use in uses]
        totals = {"total": whole.to_plain(), "last_24_hours": day.to_plain()}
        out.json({"ok": True, "id": session.id, "answers": answers, **totals})
        return
    for use in uses:
        out.line(f"{use.created[:19]}  {one_line(use.model or use.provider)}")
        for line in use_lines(use):
            out.line(f"    {out.translate(line)}")
    for name, spent in ((msg("This conversation:"), whole), (msg("Last 24 hours in this project:"), day)):
        out.say(name)
        for line in spent_lines(spent):
            out.line(f"    {out.translate(line)}")


def _session_document(session: ShownSession, out: Output) -> dict[str, Any]:
    return {
        "ok": True,
        "id": session.id,
        "name": session.name,
        "work_mode": session.work_mode,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "has_partial_response": session.has_partial_response,
        "cost": session.cost.to_plain(),
        "versions": {
            message.id: list(session.versions[message.id])
            for message in session.messages
            if message.id in session.versions
        },
        "messages": [_message_document(message) for message in session.messages],
        "problems": [out.translate(problem) for problem in session.problems],
    }


def _message_document(message: ShownMessage) -> dict[str, Any]:
    from application.conversation.session_texts import json_call, json_tool_fields, json_version

    document: dict[str, Any] = {
        "id": message.id,
        "role": message.role,
        "text": message.text,
        "created": message.created,
        "partial": message.partial,
        "stop_reason": message.stop_reason,
        "reasoning": message.reasoning,
        "tool_calls": [json_call(call) for call in message.tool_calls],
        "operations": list(message.operations),
        "sources": list(message.sources),
    } | json_version(message)
    if message.attachments:
        document["attachments"] = list(message.attachments)
    return document | (json_tool_fields(message) if message.role == "tool" else {})


async def _export(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.conversation.session_texts import json_document
    from presentation.session_export import document_text, export_text

    suffix = args.output.suffix.lower().lstrip(".") if args.output else ""
    kind = cast("ExportFormat", args.format or (suffix if suffix in _FORMATS else "json"))
    if args.format == _REPORT:
        report = await app.conversations.sessions.design_report(args.project, args.session, program=VERSION)
        if args.output is None and out.as_json:
            out.json(report)
            return
        await _put_out(document_text(report), report["session_id"], _REPORT, args.output, app=app, out=out)
        return
    session = await app.conversations.sessions.show(args.project, args.session)
    _note_problems(session, out)
    if args.format == _NETLIST or (args.format is None and suffix == _NETLIST):
        await _export_netlist(args, session, app, out)
        return
    if kind == "json" and args.output is None and out.as_json:
        out.json(json_document(session))
        return
    if kind == "html":
        from presentation.panels.conversation.document import html_document

        text = await html_document(
            args.project,
            session,
            out.translate,
            project=app.project,
            conversations=app.conversations,
            simulation=app.simulation,
        )
    else:
        text = export_text(session, kind, out.translate)
    await _put_out(text, session.id, kind, args.output, app=app, out=out)


async def _export_netlist(
    args: argparse.Namespace, session: ShownSession, app: Application, out: Output
) -> None:
    """The newest complete netlist that an answer of the conversation shows."""
    from domain.llm.netlists_in_text import complete_netlists

    answers = [message.text for message in session.messages if message.role == "assistant"]
    found = [netlist for text in answers for netlist in complete_netlists(text)]
    if not found:
        raise UserInputError(
            msg("No answer of this conversation shows a complete netlist."),
            advice=msg("Ask for one complete netlist in a code block."),
            error_type="no_netlist",
        )
    if args.output is not None and args.output.exists():
        raise UserInputError(
            msg("{path} exists already; a netlist of an answer replaces no file.", path=args.output),
            advice=msg("Choose another name with -o."),
            file=args.output,
            error_type="path_taken",
        )
    await _put_out(found[-1].text, session.id, _NETLIST, args.output, app=app, out=out)


async def _put_out(
    text: str, session_id: str, kind: str, target: Path | None, *, app: Application, out: Output
) -> None:
    if target is None:
        if out.as_json:
            out.json({"ok": True, "id": session_id, "format": kind, "text": text})
        out.line(text.rstrip("\n"))
        return
    path = await app.conversations.sessions.save(text, target)
    if out.as_json:
        out.json({"ok": True, "id": session_id, "format": kind, "path": path})
    out.say(msg("Written: {path}", path=path))


async def _rename(args: argparse.Namespace, app: Application, out: Output) -> None:
    info = await app.conversations.sessions.find(args.project, args.session)
    name = await app.conversations.sessions.rename(args.project, info.session_id, args.name)
    if out.as_json:
        out.json({"ok": True, "id": info.session_id, "name": name})
    out.say(msg("Renamed: {name}", name=visible(name)))


async def _branch(args: argparse.Namespace, app: Application, out: Output) -> None:
    sessions = app.conversations.sessions
    info = await sessions.find(args.project, args.session)
    name = args.name or out.translate(msg("{name} (branch)", name=" ".join(info.name.split())))
    at = await _message_meant(args, info, app) if args.at is not None else ""
    new = await sessions.branch(args.project, info.session_id, name=name, at=at)
    if out.as_json:
        document = {"ok": True, "id": new, "name": name, "from": info.session_id}
        out.json(document | ({"at": at} if at else {}))
    out.say(msg("Branched as {id}: {name}", id=new, name=visible(name)))


async def _message_meant(args: argparse.Namespace, info: SessionInfo, app: Application) -> str:
    """The id of the message of a conversation that --at names, by it or by its first letters."""
    session = await app.conversations.sessions.show(args.project, info.session_id)
    ids = {each.id for each in session.history if each.role in ("user", "assistant")}
    found = [args.at] if args.at in ids else [each for each in ids if each.startswith(args.at.upper())]
    if len(found) != 1 or not args.at:
        several = msg("Several messages of this conversation begin with {text}.", text=repr(args.at))
        raise UserInputError(
            several if found else msg("This conversation has no message {text}.", text=repr(args.at)),
            advice=msg("Give the id of a message or an answer; `sessions show` prints them."),
            error_type="no_message",
        )
    return found[0]


async def _compress(args: argparse.Namespace, app: Application, out: Output) -> None:
    from application.conversation.compressing_by_hand import USUALLY_KEPT
    from application.conversation.session_texts import compressed_words
    from presentation.cli.chat_events import compressed_document, quoted

    info = await app.conversations.sessions.find(args.project, args.session)
    choice = (await asyncio.to_thread(app.models.settings.load)).choice
    keep = USUALLY_KEPT if args.keep is None else args.keep
    done = await app.conversations.compress(args.project, info.session_id, choice, keep=keep)
    one = done.draft.compression
    if out.as_json:
        out.json({"ok": True, **compressed_document(one)})
    out.say(compressed_words(one))
    if one.by:  # a model's words can't pass for the program's
        out.line(quoted(one.summary, lambda: out.columns))
    else:
        out.line(visible(one.summary))


async def _restore(args: argparse.Namespace, app: Application, out: Output) -> None:
    info = await app.conversations.sessions.find(args.project, args.session)
    await app.conversations.compress.restore(args.project, info.session_id)
    if out.as_json:
        out.json({"ok": True, "id": info.session_id, "restored": True})
    out.say(RESTORED)


async def _import(args: argparse.Namespace, app: Application, out: Output) -> None:
    session_id = await app.conversations.sessions.import_file(args.project, Path(args.session))
    if out.as_json:
        out.json({"ok": True, "id": session_id})
    out.say(
        msg("Imported as {id}. It can be read; adopt the project's history to continue it.", id=session_id)
    )


async def _undelete(args: argparse.Namespace, app: Application, out: Output) -> None:
    info = await _find_removed(args, app)
    await app.conversations.sessions.restore(args.project, info.session_id)
    if out.as_json:
        out.json({"ok": True, "id": info.session_id, "restored": True})
    out.say(msg("Restored: {name}", name=visible(" ".join(info.name.split()))))


async def _find_removed(args: argparse.Namespace, app: Application) -> SessionInfo:
    """One of those that were removed, by its id, the first letters of it, or "last"."""
    removed = await app.conversations.sessions.removed(args.project)
    wanted, is_last = args.session.upper(), args.session == "last"
    found = [info for info in removed if is_last or info.session_id.startswith(wanted)]
    if not found:
        raise no_session(args.session)
    if len(found) > 1 and not is_last:
        raise UserInputError(
            msg("Several conversations begin with {prefix}: {ids}.", prefix=wanted,
                ids=", ".join(info.session_id for info in found[:5])),
            advice=msg("Give more letters of the id."),
            error_type="ambiguous_session",
        )  # fmt: skip
    return found[0]


async def _delete(args: argparse.Namespace, app: Application, out: Output) -> None:
    sessions = app.conversations.sessions
    info = await (_find_removed(args, app) if args.removed else sessions.find(args.project, args.session))
    name = visible(" ".join(info.name.split()))
    if not args.yes:
        if out.as_json or not sys.stdin.isatty():
            raise NeedsConfirmation(
                msg("Deleting {name} must be confirmed, and there is no terminal to ask on.", name=name),
                advice=msg("Add --yes to delete it."),
            )
        question = msg(
            "Delete {name} ({count} {count:message|messages})? [y/N] ",
            name=name,
            count=info.message_count,
        )
        if await read_line(out.translate(question)) not in _YES:
            out.say(msg("Nothing was deleted."))
            return
    if args.removed:
        await sessions.delete_removed(args.project, info.session_id)
    else:
        await sessions.delete(args.project, info.session_id, for_good=args.for_good)
    if out.as_json:
        out.json({"ok": True, "id": info.session_id, "deleted": True})
    out.say(msg("Deleted: {name}", name=name))
    if not (args.for_good or args.removed):
        out.say(
            msg(
                "For {days} {days:day|days} `sessions undelete` restores it.",
                days=sessions.kept_days(),
            )
        )


def _note_problems(session: ShownSession, out: Output) -> None:
    for problem in session.problems:
        out.note(problem)
