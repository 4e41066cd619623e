"""Where a run failed, carried along with the sentence that says why."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from domain.simulation.result import SimulationIssue
from shared.message import Message

PLACE = "place"
"""The parameter; no template shows it. It is stored with the message, and so known when it is read again."""


def placed(message: Message, issue: SimulationIssue | None, root: Path) -> Message:
    """The message with the place of an error: ``lib/opamp.lib:14``, relative to the project.

    Without a line, or for a file outside the project, the message as it is.
    """
    if issue is None or issue.file is None or issue.line is None or not issue.file.is_relative_to(root):
        return message
    place = f"{issue.file.relative_to(root).as_posix()}:{issue.line}"
    return Message(message.template, MappingProxyType({**message.params, PLACE: place}))


def place_of(message: Message | None) -> str:
    """The place a message carries, "" when it carries none."""
    found = None if message is None else message.params.get(PLACE)
    return found if isinstance(found, str) else ""
