"""A message as the collectors of its data see it: the circuit it is about, what it points at, its words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, ParamSpec, TypeVar

from application.conversation.turn_deps import EditorState
from application.design.circuit_goals import place_in
from application.ports.project_view import ProjectView
from application.tool_execution.definition import ToolContext
from application.tool_execution.reading import WHOLE_FILE_BYTES, Unreadable
from application.tool_execution.tools._common import CIRCUIT_SUFFIXES
from application.tool_execution.tools.circuit_choice import main_circuits
from application.tool_execution.tools.circuits import outline_file, outline_lines
from application.tool_execution.tools.result_source import result_content
from domain.circuit.dependencies import SourceReader
from domain.llm.tokens import count_tokens
from domain.llm.tools.result import cut_middle
from domain.llm.tools.text_files import BinaryFileError, decode
from domain.search.query import Term, terms_of
from shared.errors import CircuitAIError
from shared.message import one_line

P = ParamSpec("P")
T = TypeVar("T")

MOST_CIRCUITS = 40
_MOST_FILES = 2000
_MOST_REFERENCES = 8
_WHOLE_TOKENS = 1500
"""Of a main circuit that is shown whole."""
_LONGEST_LINE = 1000
_REFERENCE = re.compile(r'(?<![\w.@])@(?:"([^"\n]{1,300})"|([^\s"\'`，。；：！？、（）()<>\[\]{}@]{1,300}))')
NUMBERED = "numbered"
"""Said of a text whose lines stand behind their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainCircuit:
    """The circuit a message is about: the one it names, else the chosen one, else one that was found."""

    place: str
    path: Path
    data: bytes
    text: str

    @property
    def is_small(self) -> bool:
        return len(self.text) <= 8 * _WHOLE_TOKENS and count_tokens(self.text) <= _WHOLE_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A message, and what its data are taken from."""

    context: ToolContext
    words: str
    events: Sequence[Mapping[str, Any]] = ()
    """The conversation's transcript."""
    last_answered: str = ""
    """When the model last answered in an earlier turn (ISO 8601, UTC)."""
    main: MainCircuit | None = None
    chosen: str = ""
    """Where the circuit lies that the user has chosen, which is meant when none is named; "" = none."""
    editor: EditorState | None = None
    terms: tuple[Term, ...] = ()
    references: tuple[str, ...] = ()
    """What is pointed at with @, as written; the first of them."""

    @property
    def view(self) -> ProjectView:
        return self.context.view

    def reader(self, path: Path) -> SourceReader:
        """Reads what a circuit includes."""
        return self.context.services.sources.for_circuit(path, self.view.libraries)

    def outline(self, path: Path) -> list[str] | None:
        """Of a circuit; None where it cannot be read."""
        outline = outline_file(self.view, path, self.reader(path))
        return None if isinstance(outline, Unreadable) else outline_lines(outline)

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A look at the disk; one that takes too long is left to end by itself."""
        run = partial(function, *args, **kwargs)
        return await asyncio.to_thread(run)

    def may_be_told(self, place: str) -> bool:
        """Whether what stands in a file may leave this computer, where the model is elsewhere."""
        return not (place and self.context.is_on_network and self.context.project.is_kept_back(place))


def question_of(
    context: ToolContext,
    words: str,
    *,
    main_circuit: str,
    editor: EditorState | None = None,
    events: Sequence[Mapping[str, Any]] = (),
    last_answered: str = "",
) -> Question:
    """The message with what it names; blocking. `main_circuit` is relative to the project, "" = not known."""
    main = main_circuit_of(context, main_circuit)
    named = _named_circuit(context, words)
    return Question(
        context=context,
        words=words,
        events=events,
        last_answered=last_answered,
        main=(main_circuit_of(context, named) if named else None) or main,
        chosen=main.place if main is not None and main_circuit else "",
        editor=editor,
        terms=terms_of(_REFERENCE.sub(" ", words)),
        references=tuple(dict.fromkeys(references_in(words)))[:_MOST_REFERENCES],
    )


def main_circuit_of(context: ToolContext, given: str) -> MainCircuit | None:
    """The one the user has chosen, else the one simulated last, else the only one."""
    view = context.view
    place = given or _simulated_last(context) or _only_circuit(view)
    if not place:
        return None
    try:
        path = view.locate(place)
        with view.open(path) as file:
            data = file.read(WHOLE_FILE_BYTES * 10)
        return MainCircuit(place=view.name_of(path), path=path, data=data, text=decode(data).text)
    except (OSError, CircuitAIError, BinaryFileError):
        return None  # gone, or no text: what is said of it elsewhere stands


def _named_circuit(context: ToolContext, words: str) -> str:
    """The one circuit file that a message names; "" where it names none, or several."""
    said = words.casefold()
    if not any(suffix in said for suffix in CIRCUIT_SUFFIXES):
        return ""
    circuits = [
        name for name in files_of(context.view) if PurePosixPath(name).suffix.lower() in CIRCUIT_SUFFIXES
    ]
    found = [name for name in circuits if _stands_in(name, said)]
    found = found or [name for name in circuits if _stands_in(PurePosixPath(name).name, said)]
    if len(found) != 1 or (context.is_on_network and context.project.is_kept_back(found[0])):
        return ""
    return found[0]


def _stands_in(name: str, said: str) -> bool:
    return re.search(rf"(?<![\w./\\-]){re.escape(name.casefold())}(?![\w/\\-])", said, re.ASCII) is not None


def _simulated_last(context: ToolContext) -> str:
    newest = context.view.newest_result(None)
    if newest is None:
        return ""
    return circuit_of(context, result_content(context, newest))


def circuit_of(context: ToolContext, content: Mapping[str, Any]) -> str:
    """Where in the project the circuit of a result lies, also after the project was moved or copied; "" where
    nobody knows. What a stranger's result says is not looked at before it is located."""
    netlist = content.get("netlist")
    known = netlist if isinstance(netlist, dict) else {}
    place, path = known.get("place"), known.get("path")
    if isinstance(place, str) and place:
        return place
    return place_in(context.project.root, Path(path)) if isinstance(path, str) else ""


def _only_circuit(view: ProjectView) -> str:
    names = [name for name in files_of(view) if PurePosixPath(name).suffix.lower() in CIRCUIT_SUFFIXES]
    if len(names) == 1:
        return names[0]
    found = main_circuits(view) if 1 < len(names) <= MOST_CIRCUITS else []
    return found[0].name if len(found) == 1 else ""


def files_of(view: ProjectView) -> list[str]:
    entries = islice(view.walk(view.root), _MOST_FILES)
    return [one_line(entry.name) for entry in entries if entry.kind == "file"]


def rest_of(count: int, what: str) -> list[str]:
    """The mark of a cut; none where nothing is cut."""
    return [f"[{count} more {what}]"] if count > 0 else []


def numbered(lines: Sequence[str], first: int = 1) -> Iterator[str]:
    return (f"{number}| {line}" for number, line in enumerate(lines, first))


def cut(line: str) -> str:
    return cut_middle(line, _LONGEST_LINE, _LONGEST_LINE)


def references_in(words: str) -> Iterator[str]:
    for match in _REFERENCE.finditer(words):
        name = (match[1] or match[2].rstrip(".,;:!?")).removeprefix("file:")
        if name:
            yield name
