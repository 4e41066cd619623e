"""The texts of a project, to be searched and replaced in all at once: what is open as it stands, the others
from the disk.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from application.groups.project import Project
from domain.llm.tools.text_files import Encoding, NotEncodableError, encode
from presentation.panels.editor.file_edits import Change
from presentation.panels.editor.searching import Match, Query, find_all, replacement_of
from presentation.panels.editor.text_changes import TextEdit
from shared.errors import CircuitAIError, UserInputError
from shared.message import Message, msg

MOST_FILES = 2_000
LARGEST = 2_000_000
"""Characters of a text that is looked through."""
MOST_PLACES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectText:
    """One file."""

    path: Path
    text: str
    encoding: Encoding | None
    """None: it is open, and what is changed is the text in the editor."""


class Line(NamedTuple):
    """A line with places that were found."""

    file: ProjectText
    number: int
    """From 1."""
    before: str
    after: str
    matches: tuple[Match, ...]


class Texts(NamedTuple):
    """What there is to be searched."""

    files: tuple[ProjectText, ...]
    left_out: int
    """Texts that are too large, and files beyond the bound."""


async def read_texts(project: Project, root: Path, open_texts: Mapping[Path, str]) -> Texts:
    """The texts of a project; files that are no text are passed over."""
    opened = await asyncio.to_thread(lambda: {_real(path): text for path, text in open_texts.items()})
    paths = await project.browse.files(root, MOST_FILES + 1)
    found, left_out = [], int(len(paths) > MOST_FILES)
    for path in paths[:MOST_FILES]:
        text, encoding = opened.get(_real(path)), None
        if text is None:
            try:
                content = (await project.edit.read(path)).content
            except CircuitAIError as error:
                left_out += error.error_type == "too_large"
                continue
            text, encoding = content.text, content.encoding
        if len(text) > LARGEST:
            left_out += 1
        else:
            found.append(ProjectText(path=path, text=text, encoding=encoding))
    return Texts(tuple(found), left_out)


async def lines_with(
    texts: Sequence[ProjectText], query: Query, replacement: str
) -> tuple[list[Line], Message | None]:
    """The lines that have it, with what would stand there, by file; or why the expression cannot be used."""
    lines: list[Line] = []
    count = 0
    for text in texts:
        found = find_all(text.text, query)
        if found.problem is not None:
            return [], found.problem
        if found.matches:
            lines += _by_line(text, found.matches, query, replacement)
            count += len(found.matches)
            await asyncio.sleep(0)
        if count > MOST_PLACES:
            break
    return lines, None


def _by_line(text: ProjectText, matches: Sequence[Match], query: Query, replacement: str) -> list[Line]:
    data = text.text.encode("utf-8", "replace")
    groups: dict[int, list[Match]] = {}
    for match in matches:
        groups.setdefault(data.rfind(b"\n", 0, match.start) + 1, []).append(match)
    lines, number, counted = [], 1, 0
    for start, group in groups.items():
        number += data.count(b"\n", counted, start)
        counted = start
        end = data.find(b"\n", group[-1].end)
        piece = data[start : end if end >= 0 else len(data)]
        new = _replaced(piece, group, query, replacement, start)
        old, changed = (each.decode("utf-8", "replace") for each in (piece, new))
        lines.append(Line(text, number, old, changed, tuple(group)))
    return lines


def _replaced(
    data: bytes, matches: Sequence[Match], query: Query, replacement: str, offset: int = 0
) -> bytes:
    for match in reversed(matches):
        new = replacement_of(match, replacement, query).encode("utf-8", "replace")
        data = data[: match.start - offset] + new + data[match.end - offset :]
    return data


def changes_of(lines: Sequence[Line], query: Query, replacement: str) -> dict[Path, Change]:
    """What becomes of the files, by real path.

    Raises UserInputError ("not_encodable") where a file's encoding cannot hold what is put in.
    """
    changes: dict[Path, Change] = {}
    groups: dict[Path, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.file.path, []).append(line)
    for path, group in groups.items():
        text = group[0].file
        matches = [match for line in group for match in line.matches]
        data = text.text.encode("utf-8", "replace")
        if text.encoding is None:
            edits = tuple(
                TextEdit(m.start, m.end, replacement_of(m, replacement, query).encode())
                for m in reversed(matches)
            )
            changes[_real(path)] = Change(before=data, edits=edits)
        else:
            before = encode(text.text, text.encoding)
            after = _encoded(_replaced(data, matches, query, replacement).decode(), text.encoding, path)
            changes[_real(path)] = Change(before=before, edits=(TextEdit(0, len(before), after),))
    return changes


def _encoded(text: str, encoding: Encoding, path: Path) -> bytes:
    try:
        return encode(text, encoding)
    except NotEncodableError as error:
        raise UserInputError(
            msg(
                "“{character}” on line {line} cannot be saved in {encoding}, the encoding of {path}.",
                character=error.character,
                line=error.line,
                encoding=error.encoding,
                path=path,
            ),
            advice=msg("Save the file as UTF-8, or remove the character."),
            file=path,
            line=error.line,
            error_type="not_encodable",
        ) from error


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
