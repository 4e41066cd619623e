"""What a message points at with @: files and their lines, nodes, goals and results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from application.conversation.collectors import newest_run, result_lines
from application.conversation.question import (
    NUMBERED,
    MainCircuit,
    Question,
    circuit_of,
    cut,
    main_circuit_of,
    numbered,
    references_in,
    rest_of,
)
from application.design.circuit_goals import GoalBook
from application.tool_execution.reading import WHOLE_FILE_BYTES
from application.tool_execution.tools._common import CIRCUIT_SUFFIXES, located
from application.tool_execution.tools.result_source import OF_OTHERS, changed_since, result_content
from domain.circuit.netlist import Netlist
from domain.design.round_table import asked as asked_of
from domain.llm.attachments import name_in_fence
from domain.llm.context_block import ContextPart, fence_data
from domain.llm.tokens import count_tokens, head_and_tail
from domain.llm.tools.text_files import BinaryFileError, decode
from domain.simulation.operating_point import stored_operating_point
from shared.errors import UserInputError
from shared.message import one_line

_MOST_AT_NODE = 20
_WHOLE_TOKENS = 2000
_MOST_TOKENS = 8000
"""Of a file that is told by its beginning and end; of a longer one the outline alone is."""
_LONGEST = 100_000
"""Characters."""
_LINES = re.compile(r"(.+?):(\d{1,7})(?:-(\d{1,7}))?")
_KINDS = re.compile(r"(node|goal|result|run|study)(?::(.+))?", re.IGNORECASE)
"""``@node:out``, ``@goal:gain``, ``@run:7``, ``@result``, ``@study:corners``; a name alone is a file, else a
goal or a node."""


async def referred(question: Question) -> Sequence[ContextPart]:
    """The files the user pointed at with @, each once."""
    if not question.references:
        return []
    found = await question.in_thread(lambda: [_pointed_at(question, each) for each in question.references])
    kept = [forms for forms in found if forms is not None]
    if (more := len({*references_in(question.words)}) - len(question.references)) > 0:
        kept.append((f"[{more} more that were named with @ are left out: read_file]",))
    depth = max((len(forms) for forms in kept), default=0)
    forms = tuple(tuple(each[min(at, len(each) - 1)] for each in kept) for at in range(depth))
    return [ContextPart(name="references", forms=forms, rest="read_file")] if forms else []


def _pointed_at(question: Question, written: str) -> tuple[str, ...] | None:
    kind = _KINDS.fullmatch(written)
    if kind is None:
        return _file_reference(question, written)
    return _named_thing(question, written, kind[1].lower(), kind[2] or "")


def _file_reference(question: Question, written: str) -> tuple[str, ...] | None:
    """A file that was pointed at, in forms from the fullest to the shortest; None for what is no file."""
    view = question.view
    ranged = _LINES.fullmatch(written)
    name = ranged[1] if ranged else written
    try:
        path = located(view, name)
        with view.open(path) as file:
            text = decode(file.read(WHOLE_FILE_BYTES * 10)).text
    except UserInputError as error:
        if "." not in PurePosixPath(name).name:
            # Else a person, or anything else that begins with this sign.
            return _goal_reference(question, written) or _node_reference(question, written)
        advice = f" {error.advice}" if error.advice is not None else ""
        return (fence_data(f"@{name_in_fence(one_line(name))}", f"{error.message}{advice}"),)
    except (OSError, BinaryFileError):
        return (fence_data(f"@{name_in_fence(one_line(name))}", "It is no text that can be read here."),)
    lines = text.splitlines()
    place = name_in_fence(one_line(view.name_of(path)))
    if ranged:
        first = max(int(ranged[2]), 1)
        last = min(int(ranged[3] or ranged[2]), len(lines))
        shown = "\n".join(map(cut, numbered(lines[first - 1 : last], first)))
        return (fence_data(f"{place}, lines {first}-{last}, {NUMBERED}", shown),)
    head, tail = head_and_tail(lines, tokens=_WHOLE_TOKENS, characters=4 * _WHOLE_TOKENS)
    mark = f"[lines {head + 1}-{len(lines) - tail} left out: read_file shows them]"
    kept = (*lines[:head], mark, *lines[len(lines) - tail :])
    ends = "\n".join(map(cut, kept))
    short = fence_data(f"{place}, beginning and end of {len(lines)} lines", ends)
    if len(text) > _LONGEST:  # to count it, or to look into it, would keep all the others back
        return (short,)
    size = count_tokens(text)
    whole = fence_data(f"{place}, all {len(lines)} lines", text.rstrip("\n"))
    outline = _outline_of(question, path, place, len(lines))
    fullest = (whole,) if size <= _WHOLE_TOKENS else (short,) if size <= _MOST_TOKENS else ()
    return (*fullest, outline)


def _named_thing(question: Question, written: str, kind: str, name: str) -> tuple[str, ...]:
    """A node, goal or result that was pointed at by its kind; where it is not there, that is said."""
    match kind:
        case "node":
            found = _node_reference(question, name)
        case "goal":
            found = _goal_reference(question, name)
        case "study":
            found = _study_reference(question, name)
        case _:
            found = _result_reference(question, name)
    missing = fence_data(f"@{name_in_fence(one_line(written))}", "There is no such thing in this project.")
    return found or (missing,)


def _node_reference(question: Question, name: str) -> tuple[str, ...] | None:
    """What hangs on a node of the circuit in front, else of the main one; its voltage in the newest run."""
    front = _circuit_in_front(question)
    there = None if front is None else _node_in(replace(question, main=front), name)
    return there or _node_in(question, name)


def _circuit_in_front(question: Question) -> MainCircuit | None:
    """That of the editor, where it is another than the main one: its nodes are those a person is offered."""
    place = "" if question.editor is None else question.editor.file
    is_main = question.main is not None and question.main.place == place
    if is_main or PurePosixPath(place).suffix.lower() not in CIRCUIT_SUFFIXES:
        return None
    return main_circuit_of(question.context, place) if question.may_be_told(place) else None


def _node_in(question: Question, name: str) -> tuple[str, ...] | None:
    """The same of the question's circuit."""
    main, node = question.main, name.strip().lower()
    if main is None or not node:
        return None
    elements = Netlist.parse(main.data, path=main.path).elements
    at = [
        each
        for each in elements
        if node in {field.text.lower() for field in (*each.nodes, *each.control_nodes)}
    ]
    if not at:
        return None
    lines = [f"{each.line}| {one_line(each.statement.text)}" for each in at[:_MOST_AT_NODE]]
    lines += rest_of(len(at) - _MOST_AT_NODE, "elements at it: read_file with query")
    newest = newest_run(question)
    point = None if newest is None else stored_operating_point(newest[1])
    if newest is not None and point is not None and node in point.nodes:
        is_old = changed_since(question.context, main.path, newest[1])
        state = " (before the last change)" if is_old else " (of the circuit as it is)"
        lines.append(f"DC operating point: V({node}) = {point.nodes[node]:.6g} V{state}")
    return (fence_data(f"node {name_in_fence(one_line(name))} of {name_in_fence(main.place)}",
                       "\n".join(lines)),)  # fmt: skip


def _goal_reference(question: Question, name: str) -> tuple[str, ...] | None:
    """The goals of this name, with their circuits."""
    project, wanted = question.context.project, name.strip().lower()
    lines = [
        one_line(f"{each.circuit}: {goal.metric} = {goal.expression}: {asked_of(goal)}")
        for each in GoalBook(project).all
        if not project.is_kept_back(each.circuit)
        for goal in each.goals
        if wanted and goal.metric.lower() == wanted
    ]
    return (fence_data(f"goal {name_in_fence(one_line(name))}", "\n".join(lines)),) if lines else None


def _result_reference(question: Question, number: str) -> tuple[str, ...] | None:
    """A run by its number, or the newest one of the main circuit."""
    view, text = question.view, number.strip()
    if text and not text.isdecimal():
        return None
    if text:
        path = view.numbered_result(int(text[:9]))
    else:
        path = None if question.main is None else view.newest_result(question.main.path)
    if path is None:
        return None
    content = result_content(question.context, path)
    place = circuit_of(question.context, content)
    circuit = main_circuit_of(question.context, place) if place else None
    if circuit is None:
        return None
    lines = [*map(cut, result_lines(replace(question, main=circuit), path, content, "Run of "))]
    if question.context.services.results.origin_of(path) == "elsewhere":
        lines.insert(0, f"This result was {OF_OTHERS}: run the circuit for figures of your own.")
    return (fence_data(f"run {text or 'newest'}", "\n".join(lines)),)


def _study_reference(question: Question, name: str) -> tuple[str, ...] | None:
    """A study by its name or kind, or the newest one."""
    from application.conversation.named_studies import study_lines

    lines = study_lines(question, name)
    told = name_in_fence(one_line(name.strip() or "newest"))
    return None if lines is None else (fence_data(f"study {told}", "\n".join(lines)),)


def _outline_of(question: Question, path: Path, place: str, count: int) -> str:
    spelled = "\n".join(question.outline(path) or ()) or "It has no outline: read_file shows it."
    return fence_data(f"{place}, outline of {count} lines", spelled)
