"""`--attach FILE` and `--image FILE` of `chat`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from shared.errors import UserInputError
from shared.message import msg

if TYPE_CHECKING:
    from application.app import Application
    from domain.llm.attachments import PreparedAttachment
    from presentation.json_output import Output


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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[--attach FILE]... [--image FILE]...: told by content; --image takes nothing but a picture."""
    for option in ("--attach", "--image"):
        parser.add_argument(option, action=_Attach, dest="attach", default=None, metavar="FILE")


def refuse_where_none_go(args: argparse.Namespace) -> None:
    """Raise UserInputError for files beside an option that has no message of the user's."""
    for is_meant, option in ((args.resume, "--resume"), (args.mode == "workflow", "--mode workflow")):
        if is_meant and args.attach:
            raise UserInputError(
                msg("{option} takes no attached files.", option=option),
                advice=msg("Send them with a message of their own: chat PROJECT TEXT --attach FILE."),
                error_type="bad_usage",
            )


async def attachments_of(
    args: argparse.Namespace, app: Application, out: Output
) -> tuple[PreparedAttachment, ...]:
    """The files, looked at. Raises UserInputError that names the file and what to do."""
    named: list[tuple[Path, bool]] = args.attach or []
    found: list[PreparedAttachment] = []
    for path, is_picture in named:
        prepared = await app.attachments.take_file(path, project=args.project, is_picture=is_picture)
        same = next((each for each in found if each.attachment.sha256 == prepared.attachment.sha256), None)
        if same is not None:  # the same content twice tells a model nothing more
            names = {"name": prepared.attachment.name, "other": same.attachment.name}
            out.note(msg("{name} has the same content as {other}; it is sent once.", **names))
            continue
        found.append(prepared)
        if prepared.attachment.is_shortened:
            out.note(
                msg(
                    "{name} is long: its beginning and its end are sent, {count} characters are left out.",
                    name=prepared.attachment.name,
                    count=prepared.attachment.characters_left_out,
                )
            )
    return tuple(found)
