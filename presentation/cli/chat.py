"""`chat PROJECT TEXT`: one turn with a model that has the project's tools."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from application.app import Application
from application.ports.events import (
    ErrorOccurred,
    TurnEnd,
    TurnEnded,
)
from domain.llm.agent_limits import AgentLimits
from domain.llm.chat import THINKING_LEVELS, ProviderChoice
from domain.llm.provider_settings import BUILTIN
from presentation.cli import confirming, design, web_search
from presentation.cli.chat_events import ChatPrinter
from presentation.cli.confirming import confirmer, consent_asker
from presentation.cli.keys import unlock_keys
from presentation.cli.progress import told_with_progress
from presentation.cli.terminal import read_input
from presentation.json_output import Output
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg
from shared.setting import add_option

if TYPE_CHECKING:
    from application.conversation.turn_deps import ChatRequest
    from domain.llm.attachments import PreparedAttachment

_EXIT_CODES: dict[TurnEnd, int] = {
    "completed": 0,
    "limit": 1,
    "loop": 1,
    "length": 1,
    "content_filter": 1,
    "cut": 3,
    "error": 3,
    "stopped": 130,
}
_LARGEST_INPUT = 4 << 20
_LONGEST_IN_COMMAND = 200
"""Characters of a message that is repeated in a command."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """PROJECT TEXT [--session ID] [--resume] [--attach FILE]..., the model and how it is asked, the mode."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("text", nargs="?", metavar="TEXT")
    parser.add_argument("--session", default="", metavar="ID")
    parser.add_argument("--resume", action="store_true")
    confirming.add_take_over_argument(parser)
    parser.add_argument("--provider", default="builtin", metavar="P")
    parser.add_argument("--model", default="", metavar="M")
    parser.add_argument("--base-url", default="", metavar="U")
    parser.add_argument("--thinking", choices=THINKING_LEVELS)
    web_search.add_arguments(parser)
    parser.add_argument("--mode", choices=("free", "workflow"), default="free")
    parser.add_argument("--yes", action="store_true")
    _add_attachments(parser)
    add_option(parser, AgentLimits, "session_cost", type=design.money, metavar="MONEY")
    parser.add_argument("--max-iterations", type=design.rounds, default=8, metavar="N")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 0 when the answer is complete, 1 at a limit, 3 when the provider failed."""
    from application.conversation.prompting import PromptsWarned
    from application.conversation.turn_deps import ChatRequest

    text = await _text_of(args)
    _refuse_where_none_go(args)
    own_search, general_search = web_search.search_of(args)
    if args.mode == "workflow":
        web_search.refuse_in_design(general_search)
        args.text = text
        return await design.run(args, app, out)
    out = out if text is None else out.in_language_of(text)
    try:
        attachments = await _attachments_of(args, app, out)
    except CircuitAIError as error:
        fail(error, out)
        return error.exit_code
    request = ChatRequest(
        project=args.project,
        text=text,
        go_on=out.translate(msg("Continue.")),
        session_id=args.session,
        attachments=attachments,
        max_cost=args.max_cost,
        choice=ProviderChoice(
            provider=args.provider,
            model=args.model,
            base_url=args.base_url,
            thinking=args.thinking,
            search=own_search,
            web_search=general_search,
        ),
    )
    printer = ChatPrinter(
        out,
        again=lambda offer, session: _command(request, offer, session),
        take_netlist=lambda session, name: _taking(args.project, session, name),
        go_on=lambda session: shlex.join([*_asking(request, session, request.choice), "--resume"]),
    )
    app.program.events.subscribe(PromptsWarned, lambda warning: out.note(warning.message))
    try:
        if args.provider != BUILTIN:
            await unlock_keys(app, args.provider, out)
        if general_search is not None and general_search.is_on:
            await unlock_keys(app, web_search.key_name_of(app, general_search), out)
        await confirming.take_over(args, app, out)
        with told_with_progress(app.program.events, out, printer) as emit:
            ended = await app.conversations.chat(
                request,
                emit=emit,
                confirm=confirmer(out, always_yes=args.yes),
                ask_consent=consent_asker(out, always_yes=args.yes),
            )
    except CircuitAIError as error:
        if not printer.has_told_error:
            fail(error, out)
        return error.exit_code
    return _EXIT_CODES[ended.stop_reason]


def fail(error: CircuitAIError, out: Output) -> None:
    """Show an error that came before there was a turn to tell it; with --json the closing line too."""
    if not out.as_json:
        out.fail(error)
        return
    printer = ChatPrinter(out)
    printer(ErrorOccurred(error_type=error.error_type, message=error.message, advice=error.advice))
    printer(TurnEnded(stop_reason="stopped" if error.exit_code == _EXIT_CODES["stopped"] else "error"))


def stopped(out: Output) -> None:
    """The closing line of a command that was stopped before there was a turn."""
    ChatPrinter(out)(TurnEnded(stop_reason="stopped"))


def _command(request: ChatRequest, offer: ProviderChoice, session_id: str) -> str:
    """The command that says the same to another model, in the same conversation."""
    text = request.text or ""
    is_short = 0 < len(text) <= _LONGEST_IN_COMMAND and text.isprintable()
    words = shlex.join(_asking(request, session_id, offer))
    return f"{words} {shlex.quote(text) if is_short else 'TEXT'}"


def _asking(request: ChatRequest, session_id: str, choice: ProviderChoice) -> list[str]:
    """The words of a command that asks a model in a conversation, all but what is said."""
    words = ["python", "main.py", "chat", str(request.project), "--session", session_id]
    words += ["--provider", choice.provider]
    words += ["--model", choice.model] if choice.model else []
    return [*words, *(["--base-url", choice.base_url] if choice.base_url else [])]


def _taking(project: Path, session_id: str, name: str) -> str:
    """The command that writes the netlist of a conversation's newest answer into a new file."""
    words = ["python", "main.py", "sessions", "export", str(project), session_id]
    return shlex.join([*words, "--format", "cir", "-o", str(project / name)])


async def _text_of(args: argparse.Namespace) -> str | None:
    """What the user says; "-" reads it from standard input."""
    if args.resume:
        if args.text is not None:
            raise UserInputError(
                msg("--resume continues the interrupted turn and takes no text."),
                advice=msg("Omit either the text or --resume."),
                error_type="bad_usage",
            )
        return None
    text: str | None = await _standard_input() if args.text == "-" else args.text
    if text is None or not text.strip():
        raise UserInputError(
            msg("The message is empty."),
            advice=msg("Give a text, or use --resume to continue an interrupted turn."),
            error_type="bad_usage",
        )
    return text


async def _standard_input() -> str:
    data = await read_input(_LARGEST_INPUT)
    if len(data) > _LARGEST_INPUT:
        raise UserInputError(
            msg("The text on standard input exceeds {size} MB.", size=_LARGEST_INPUT >> 20),
            advice=msg("Put it into a file of the project and name that file."),
            error_type="bad_usage",
        )
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


class _Attach(argparse.Action):
    """Both options fill one list, so that the order on the command line is the order in the message."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse's signature
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        found = [*(getattr(namespace, self.dest) or ()), (Path(str(values)), option_string == "--image")]
        setattr(namespace, self.dest, found)


def _add_attachments(parser: argparse.ArgumentParser) -> None:
    """[--attach FILE]... [--image FILE]...: told by content; --image takes nothing but a picture."""
    for option in ("--attach", "--image"):
        parser.add_argument(option, action=_Attach, dest="attach", default=None, metavar="FILE")


def _refuse_where_none_go(args: argparse.Namespace) -> None:
    """Raise UserInputError for files beside an option that has no message of the user's."""
    for is_meant, option in ((args.resume, "--resume"), (args.mode == "workflow", "--mode workflow")):
        if is_meant and args.attach:
            raise UserInputError(
                msg("{option} does not accept attached files.", option=option),
                advice=msg("Send them with a separate message: chat PROJECT TEXT --attach FILE."),
                error_type="bad_usage",
            )


async def _attachments_of(
    args: argparse.Namespace, app: Application, out: Output
) -> tuple[PreparedAttachment, ...]:
    """The files, looked at. Raises UserInputError that names the file and what to do."""
    named: list[tuple[Path, bool]] = args.attach or []
    found: list[PreparedAttachment] = []
    for path, is_picture in named:
        prepared = await app.conversations.attachments.take_file(
            path, project=args.project, is_picture=is_picture
        )
        same = next((each for each in found if each.attachment.sha256 == prepared.attachment.sha256), None)
        if same is not None:  # the same content twice tells a model nothing more
            names = {"name": prepared.attachment.name, "other": same.attachment.name}
            out.note(msg("{name} has the same content as {other} and is sent once.", **names))
            continue
        found.append(prepared)
        if prepared.attachment.is_shortened:
            out.note(
                msg(
                    "{name} is long: its beginning and end are sent, {count} "
                    "{count:character|characters} {count:is|are} left out.",
                    name=prepared.attachment.name,
                    count=prepared.attachment.characters_left_out,
                )
            )
    return tuple(found)
