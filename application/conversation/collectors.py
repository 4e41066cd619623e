"""What there is to tell a model of a project, each kind found by a collector of its own.

A collector looks at one thing and gives it as parts for `domain.llm.context_block`; it decides neither how
much of it is sent nor whether it may fail (`project_context.py` runs them). None writes anything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from application.agent.past import AS_IT_IS, BEFORE_CHANGE, NEWEST_RUN
from application.conversation.turn_deps import EditorState
from application.design.circuit_goals import GoalBook, place_in
from application.design.story import state_in_brief
from application.tool_execution.operations import undone_note
from application.tool_execution.reading import WHOLE_FILE_BYTES, Unreadable
from application.tool_execution.tools._common import CIRCUIT_SUFFIXES, located
from application.tool_execution.tools.circuit_choice import main_circuits
from application.tool_execution.tools.circuits import outline_file, outline_lines
from application.tool_execution.tools.goal_verdicts import judged_goals, verdict_lines
from application.tool_execution.tools.result_source import OF_OTHERS, changed_since, result_content
from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.design.round_table import asked as asked_of
from domain.llm.attachments import name_in_fence
from domain.llm.context_block import MAIN_CIRCUIT, ContextPart, fence_data
from domain.llm.tokens import count_tokens, head_and_tail
from domain.llm.tools.result import cut_middle
from domain.llm.tools.text_files import BinaryFileError, decode, diff_files, version_hash
from domain.search.query import Term, terms_of
from domain.search.ranking import Passage, excerpt
from domain.simulation.operating_point import operating_point_lines, stored_operating_point
from shared.errors import CircuitAIError, UserInputError
from shared.message import one_line

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView
    from application.tool_execution.definition import ToolContext
    from domain.circuit.diagnostics import Diagnostic

P = ParamSpec("P")
T = TypeVar("T")

_MOST_CIRCUITS = 40
_MOST_FILES = 2000
_MOST_GOALS = 4
"""Circuits whose goals are told."""
_MOST_CHANGED = 20
"""Files of which it is told that they were changed since the model saw them."""
_LONGEST_DIFFERENCE = 1500
_MOST_DIAGNOSTICS = 30
_MOST_METRICS = 30
_MOST_ERRORS = 5
_MOST_REFUSALS = 10
_MOST_AT_NODE = 20
_MOST_DEVICES = 8
_MOST_NODES = 12
_MOST_STAGES = (6, 3, 1)
"""Of a main circuit: in the fullest form of the line, and in the shorter ones."""
_WHOLE_TOKENS = 1500
"""Of a main circuit that is shown whole; of one that was pointed at with @ 2,000."""
_REFERRED_TOKENS = 2000
_REFERRED_PARTS = 8000
_LONGEST_REFERRED = 100_000
"""Characters."""
_LONGEST_LINE = 1000
_MOST_REFERENCES = 8
_DEEPEST = 5
_WHOLE_DEPENDENCY = 800
_MOST_PASSAGES = 12
_MOST_UNSURE = 4
_WHOLE_PASSAGES = 3
_SEARCH_S = 0.12
"""For bringing the index up to date, and again for what it does not have yet."""
_REFERENCE = re.compile(r'(?<![\w.@])@(?:"([^"\n]{1,300})"|([^\s"\'`，。；：！？、（）()<>\[\]{}@]{1,300}))')
_LINES = re.compile(r"(.+?):(\d{1,7})(?:-(\d{1,7}))?")
_KINDS = re.compile(r"(node|goal|result|run)(?::(.+))?", re.IGNORECASE)
"""``@node:out``, ``@goal:gain``, ``@run:7``, ``@result``; a name alone is a file, else a goal or a node."""
_SPEAKS_OF_LINES = re.compile(r"\blines?\b|\berrors?\b|\bwarnings?\b|行|报错|错误|警告", re.IGNORECASE)
_NUMBERED = "numbered"
"""Said of a text whose lines stand behind their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MainCircuit:
    """The circuit a message is about, when it names none."""

    place: str
    path: Path
    data: bytes
    text: str
    is_given: bool
    """The user has chosen it; else it was found."""

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
    editor: EditorState | None = None
    terms: tuple[Term, ...] = ()
    references: tuple[str, ...] = field(default=())
    """What is pointed at with @, as written; the first of them."""

    @property
    def view(self) -> ProjectView:
        return self.context.view


Collect = Callable[[Question], Awaitable[Sequence[ContextPart]]]


@dataclass(frozen=True, slots=True)
class Collector:
    """One of them."""

    name: str
    collect: Collect
    is_needed: bool = False
    """Cheap, and without it the model would take something wrong for right: it is waited for longer, and
    told to every model."""


async def _in_thread(question: Question, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """A look at the disk; one that takes too long is left to end by itself."""
    run = partial(function, *args, **kwargs)
    return await question.context.services.cpu.run_in_thread(run, abandon_on_cancel=True)


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
    return Question(
        context=context,
        words=words,
        events=events,
        last_answered=last_answered,
        main=_main_circuit(context, main_circuit),
        editor=editor,
        terms=terms_of(_REFERENCE.sub(" ", words)),
        references=tuple(dict.fromkeys(_references(words)))[:_MOST_REFERENCES],
    )


def _main_circuit(context: ToolContext, given: str) -> MainCircuit | None:
    """The one the user has chosen, else the one simulated last, else the only one."""
    view = context.view
    place = given or _simulated_last(context) or _only_circuit(view)
    if not place:
        return None
    try:
        path = view.locate(place)
        with view.open(path) as file:
            data = file.read(WHOLE_FILE_BYTES * 10)
        return MainCircuit(
            place=view.name_of(path), path=path, data=data, text=decode(data).text, is_given=bool(given)
        )
    except (OSError, CircuitAIError, BinaryFileError):
        return None  # gone, or no text: what is said of it elsewhere stands


def _simulated_last(context: ToolContext) -> str:
    newest = context.view.newest_result(None)
    if newest is None:
        return ""
    return _circuit_of(context, result_content(context, newest))


def _circuit_of(context: ToolContext, content: Mapping[str, Any]) -> str:
    """Where in the project the circuit of a result lies, also after the project was moved or copied; "" where
    nobody knows. What a stranger's result says is not looked at before it is located."""
    netlist = content.get("netlist")
    known = netlist if isinstance(netlist, dict) else {}
    place, path = known.get("place"), known.get("path")
    if isinstance(place, str) and place:
        return place
    return place_in(context.project.root, Path(path)) if isinstance(path, str) else ""


def _only_circuit(view: ProjectView) -> str:
    names = [name for name in _files(view) if PurePosixPath(name).suffix.lower() in CIRCUIT_SUFFIXES]
    if len(names) == 1:
        return names[0]
    found = main_circuits(view) if 1 < len(names) <= _MOST_CIRCUITS else []
    return found[0].name if len(found) == 1 else ""


def _files(view: ProjectView) -> list[str]:
    entries = islice(view.walk(view.root), _MOST_FILES)
    return [one_line(entry.name) for entry in entries if entry.kind == "file"]


# --- the project, its files, goals and changes ---


async def _project(question: Question) -> Sequence[ContextPart]:
    """Its name, the circuit that is meant, the design of the conversation."""
    lines = [f"Project folder: {one_line(question.context.project.root.name)}"]
    if question.main is not None and question.main.is_given:
        lines.append(f"{MAIN_CIRCUIT}{one_line(question.main.place)}")
    design = await _in_thread(question, state_in_brief, question.events)
    return [ContextPart(name="project", forms=((*lines, *design.splitlines()),))]


async def _file_names(question: Question) -> Sequence[ContextPart]:
    return [await _in_thread(question, _names, question.view)]


def _names(view: ProjectView) -> ContextPart:
    """The circuits one by one, the other files by folder."""
    names = _files(view)
    circuits = [name for name in names if PurePosixPath(name).suffix.lower() in CIRCUIT_SUFFIXES]
    lines = [f"- {name}" for name in circuits[:_MOST_CIRCUITS]] or ["It has no circuit file yet."]
    folders: dict[str, list[str]] = {}
    for name in [*circuits[_MOST_CIRCUITS:], *(name for name in names if name not in {*circuits})]:
        folder, _, base = name.rpartition("/")
        folders.setdefault(folder, []).append(base)
    others = [f"Files in {folder or 'the folder'}: {', '.join(bases)}" for folder, bases in folders.items()]
    counts = [f"{len(bases)} files in {folder or 'the folder'}" for folder, bases in folders.items()]
    return ContextPart(name="files", forms=((*lines, *others), (*lines, *counts)), rest="list_project_files")


async def _goals(question: Question) -> Sequence[ContextPart]:
    lines = await _in_thread(question, lambda: [*_goal_lines(question)])
    return [ContextPart(name="goals", forms=(tuple(lines),))]


def _goal_lines(question: Question) -> Iterator[str]:
    """What is asked of each circuit, the main one first; none of one that is kept from models."""
    project, main = question.context.project, question.main
    found = [each for each in GoalBook(project).all if not project.is_kept_back(each.circuit)]
    found.sort(key=lambda each: main is None or each.circuit != main.place)
    for each in found[:_MOST_GOALS]:
        since = each.versions[-1].since if each.versions else ""
        is_new = bool(question.last_answered) and since > question.last_answered
        yield f"Goals of {one_line(each.circuit)}{', changed since your last answer' if is_new else ''}:"
        for goal in each.goals:
            wish = " (a wish)" if goal.weight == "wish" else ""
            condition = f", {goal.condition}" if goal.condition else ""
            yield one_line(f"- {goal.metric} = {goal.expression}: {asked_of(goal)}{condition}{wish}")
    if len(found) > _MOST_GOALS:
        yield f"{len(found) - _MOST_GOALS} more circuits have goals."


async def _changes(question: Question) -> Sequence[ContextPart]:
    """What was taken back of the model's changes, and what others changed in files it has seen."""
    context = question.context
    unknown = context.replaced_calls()
    listed = context.operations.list
    is_undone = await listed(session_id=context.session_id, undoing=True)  # without them there is no note
    records = await listed(session_id=context.session_id) if is_undone else ()
    known = [record for record in records if record.op_id not in unknown]
    undone = undone_note(known, since=question.last_answered)
    seen = {**context.seen_versions, **context.shown_versions}
    changed = await _in_thread(question, lambda: [*_changed(question, seen)])
    return [
        ContextPart(
            name="changes", forms=((*undone.splitlines(), *changed),), rest="read_file shows the files"
        )
    ]


def _changed(question: Question, seen: Mapping[str, str]) -> Iterator[str]:
    """The files that are not any more as the model saw them, with the difference where that is known."""
    context, view = question.context, question.view
    told = 0
    for name, version in reversed([*seen.items()]):
        if told >= _MOST_CHANGED:
            yield "[more files that you have seen may have changed: read_file shows them]"
            return
        shown = one_line(name)
        try:
            path = view.locate(name)
            with view.open(path) as file:
                data = file.read(WHOLE_FILE_BYTES + 1)
        except (OSError, CircuitAIError):
            told += 1
            yield f"{shown}, which you have seen, is not there any more."
            continue
        if len(data) > WHOLE_FILE_BYTES or version_hash(data) == version:
            continue
        told += 1
        difference = ""
        with suppress(CircuitAIError):  # seen in part only, or by an earlier version of the program
            before = context.project.read_object(version)
            found = diff_files(
                before, data.replace(b"\r\n", b"\n"), path=shown, context=1, limit=_LONGEST_DIFFERENCE
            )
            difference = found.text.rstrip("\n") + ("\n[the difference goes on]" if found.is_cut else "")
        by = f"{shown} was changed since you saw it, not by you"
        yield f"{by}:\n{difference}" if difference else f"{by}: what you know of it is old, read it again."


async def _editor(question: Question) -> Sequence[ContextPart]:
    state = question.editor
    if state is None or not _may_be_told(question, state.file):
        return []
    cursor = f", cursor in line {state.line}, column {state.column}" if state.line else ""
    unsaved = ", with changes that are not saved" if state.is_unsaved else ""
    parts = [
        ContextPart(
            name="editor", forms=((f"In front of the user: {one_line(state.file)}{cursor}{unsaved}",),)
        )
    ]
    if state.selection.strip():
        parts.append(
            ContextPart(
                name="selection",
                forms=(tuple(state.selection.splitlines()),),
                source=f"selected by the user in {state.file}",
            )
        )
    return parts


# --- the main circuit, its diagnostics and figures ---


async def _circuit(question: Question) -> Sequence[ContextPart]:
    main = question.main
    if main is None or main.place in question.references:
        return []
    lines = tuple(main.text.splitlines())
    source = f"{main.place}, all {len(lines)} lines"
    if main.is_small:
        if _SPEAKS_OF_LINES.search(question.words):
            lines, source = tuple(_numbered(lines)), f"{source}, {_NUMBERED}"
        return [ContextPart(name="circuit", forms=(lines,), source=source, rest="read_file")]
    reader = await _in_thread(
        question, question.context.services.sources.for_circuit, main.path, question.view.libraries
    )
    outline = await _in_thread(question, outline_file, question.view, main.path, reader)
    if isinstance(outline, Unreadable):
        return []
    asked = excerpt(Passage(source=main.place, line=1, text="\n".join(lines)), question.terms, margin=2)
    shown = [*outline_lines(outline), *(f"{number}| {line}" for number, line in asked if question.terms)]
    source = f"{main.place}, outline of {len(lines)} lines and the lines with words of the message"
    return [ContextPart(name="circuit", forms=(tuple(shown),), source=source, rest="read_file, analyze_file")]


async def _stages(question: Question) -> Sequence[ContextPart]:
    """What the main circuit is made of; an outline, which stands for a long circuit, says it itself."""
    main = question.main
    if main is None or not main.is_small or main.place in question.references:
        return []
    return [await _in_thread(question, _made_of, question, main)]


def _made_of(question: Question, main: MainCircuit) -> ContextPart:
    from domain.circuit.recognition.recogniser import recognise  # with numpy: where a circuit is meant

    reader = question.context.services.sources.for_circuit(main.path, question.view.libraries)
    found = recognise(resolve_dependencies(Netlist.parse(main.data, path=main.path), reader))
    told = [text for most in _MOST_STAGES if (text := found.brief(most))]
    forms = tuple((f"Made of: {one_line(text)}",) for text in told)
    return ContextPart(name="stages", forms=forms, rest="analyze_file")


async def _diagnostics(question: Question) -> Sequence[ContextPart]:
    main = question.main
    if main is None:
        return []
    report = await _in_thread(
        question, question.context.services.check.check, main.path, question.view.libraries
    )
    found = [each for each in report.diagnostics if each.severity != "info"]
    found.sort(key=lambda each: each.severity != "error")
    if not found:
        return [
            ContextPart(
                name="diagnostics", forms=((f"Checked without a run: nothing is wrong in {main.place}.",),)
            )
        ]
    lines = [f"Checked without a run: {len(found)} {'finding' if len(found) == 1 else 'findings'}"]
    lines += [_diagnostic(question, each) for each in found[:_MOST_DIAGNOSTICS]]
    lines += _rest_of(len(found) - _MOST_DIAGNOSTICS, "findings: analyze_file")
    return [ContextPart(name="diagnostics", forms=(tuple(lines),), rest="analyze_file")]


def _diagnostic(question: Question, found: Diagnostic) -> str:
    main = question.main
    assert main is not None, "whoever checks has one"
    lines = main.text.splitlines()
    is_here = found.file in (None, main.path) and 0 < found.line <= len(lines)
    text = f" | {lines[found.line - 1].strip()[:120]}" if is_here else ""
    name = main.place if found.file is None else question.view.name_of(found.file)
    return one_line(f"- {found.severity}: {name}:{found.line}: {found.message}{text}")


async def _figures(question: Question) -> Sequence[ContextPart]:
    """The newest result of the main circuit: how old, whether it still holds, its figures."""
    found = await _in_thread(question, _newest, question)
    if found is None:
        return []
    lines = await _in_thread(question, lambda: tuple(map(_cut, _result_lines(question, *found))))
    return [ContextPart(name="figures", forms=(lines,), rest="inspect_data")]


async def _verdicts(question: Question) -> Sequence[ContextPart]:
    """The main circuit's goals held against its newest result."""
    main = question.main
    found = None if main is None else await _in_thread(question, _newest, question)
    if main is None or found is None or found[1].get("ok") is False:
        return []
    request = found[1].get("request")
    values = request.get("set") if isinstance(request, dict) else None
    parameters = values if isinstance(values, dict) else {}
    analysis = str(request.get("analysis") or "") if isinstance(request, dict) else ""
    judged = await judged_goals(question.context, main.path, found[0], parameters, analysis)
    if not judged:
        return []
    return [ContextPart(name="verdicts", forms=(tuple(map(one_line, verdict_lines(judged))),))]


def _newest(question: Question) -> tuple[Path, dict[str, Any]] | None:
    main = question.main
    path = None if main is None else question.view.newest_result(main.path)
    return None if path is None else (path, result_content(question.context, path))


def _result_lines(
    question: Question, path: Path, content: Mapping[str, Any], begin: str = NEWEST_RUN
) -> Iterator[str]:
    main = question.main
    assert main is not None, "its result was found"
    request = content.get("request")
    changed = changed_since(question.context, main.path, content)
    state = BEFORE_CHANGE if changed else AS_IT_IS
    if changed and changed != [main.place]:
        state += f"; changed since: {', '.join(changed)}"
    age = _age(str(content.get("created", "")))
    run = f"{begin}{main.place}: {content.get('status', '')}, {age}, {state}"
    yield one_line(f"{run} ({question.view.name_of(path)})")
    if isinstance(request, dict):
        if request.get("set"):
            yield one_line(f"It was run with other values than the file's: {request['set']}")
        if request.get("analysis"):
            yield one_line(f"It was run with its own analysis: {request['analysis']}")
    told = content.get("issues")
    issues = [each for each in told if isinstance(each, dict)] if isinstance(told, list) else []
    errors = [each for each in issues if each.get("severity") == "error"]
    for issue in errors[:_MOST_ERRORS]:
        yield one_line(f"- error: line {issue.get('line')}: {issue.get('message')}")[:300]
    yield from _rest_of(len(errors) - _MOST_ERRORS, "errors")
    found = content.get("metrics")
    metrics = found if isinstance(found, dict) else {}
    for name, item in islice(metrics.items(), _MOST_METRICS):
        value = item.get("value") if isinstance(item, dict) else None
        is_figure = isinstance(value, int | float) and abs(value) < sys.float_info.max
        figure = f"{value:.6g} {item.get('unit', '')}".rstrip() if is_figure else "no value"
        yield one_line(f"- {name} = {figure}")
    yield from _rest_of(len(metrics) - _MOST_METRICS, "figures: inspect_data")
    point = stored_operating_point(content)
    if point is not None:
        lines = operating_point_lines(point, most_devices=_MOST_DEVICES, most_nodes=_MOST_NODES)
        yield from ("DC operating point:", *map(one_line, lines))


def _rest_of(count: int, what: str) -> list[str]:
    """The mark of a cut; none where nothing is cut."""
    return [f"[{count} more {what}]"] if count > 0 else []


def _numbered(lines: Sequence[str], first: int = 1) -> Iterator[str]:
    return (f"{number}| {line}" for number, line in enumerate(lines, first))


def _age(created: str) -> str:
    try:
        since = datetime.now(UTC) - datetime.fromisoformat(created)
    except (ValueError, TypeError):
        return "of an unknown time"
    minutes = max(int(since.total_seconds() // 60), 0)
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2880 else f"{minutes // 1440} days ago"


# --- files that are named, included, or speak of what is asked ---


def _references(words: str) -> Iterator[str]:
    for match in _REFERENCE.finditer(words):
        name = (match[1] or match[2].rstrip(".,;:!?")).removeprefix("file:")
        if name:
            yield name


async def _referred(question: Question) -> Sequence[ContextPart]:
    """The files the user pointed at with @, each once."""
    if not question.references:
        return []
    found = await _in_thread(question, lambda: [_pointed_at(question, each) for each in question.references])
    kept = [forms for forms in found if forms is not None]
    if (more := len({*_references(question.words)}) - len(question.references)) > 0:
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
        shown = "\n".join(map(_cut, _numbered(lines[first - 1 : last], first)))
        return (fence_data(f"{place}, lines {first}-{last}, {_NUMBERED}", shown),)
    head, tail = head_and_tail(lines, tokens=_REFERRED_TOKENS, characters=4 * _REFERRED_TOKENS)
    mark = f"[lines {head + 1}-{len(lines) - tail} left out: read_file shows them]"
    kept = (*lines[:head], mark, *lines[len(lines) - tail :])
    ends = "\n".join(map(_cut, kept))
    short = fence_data(f"{place}, beginning and end of {len(lines)} lines", ends)
    if len(text) > _LONGEST_REFERRED:  # to count it, or to look into it, would keep all the others back
        return (short,)
    size = count_tokens(text)
    whole = fence_data(f"{place}, all {len(lines)} lines", text.rstrip("\n"))
    outline = _outline_of(question, path, place, len(lines))
    fullest = (whole,) if size <= _REFERRED_TOKENS else (short,) if size <= _REFERRED_PARTS else ()
    return (*fullest, outline)


def _cut(line: str) -> str:
    return cut_middle(line, _LONGEST_LINE, _LONGEST_LINE)


def _named_thing(question: Question, written: str, kind: str, name: str) -> tuple[str, ...]:
    """A node, goal or result that was pointed at by its kind; where it is not there, that is said."""
    match kind:
        case "node":
            found = _node_reference(question, name)
        case "goal":
            found = _goal_reference(question, name)
        case _:
            found = _result_reference(question, name)
    missing = fence_data(f"@{name_in_fence(one_line(written))}", "There is no such thing in this project.")
    return found or (missing,)


def _node_reference(question: Question, name: str) -> tuple[str, ...] | None:
    """What hangs on a node of the main circuit, and its voltage in the newest run."""
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
    lines += _rest_of(len(at) - _MOST_AT_NODE, "elements at it: read_file with query")
    newest = _newest(question)
    point = None if newest is None else stored_operating_point(newest[1])
    if newest is not None and point is not None and node in point.nodes:
        is_old = " (before the last change)" if changed_since(question.context, main.path, newest[1]) else ""
        lines.append(f"DC operating point: V({node}) = {point.nodes[node]:.6g} V{is_old}")
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
    place = _circuit_of(question.context, content)
    circuit = _main_circuit(question.context, place) if place else None
    if circuit is None:
        return None
    lines = [*map(_cut, _result_lines(replace(question, main=circuit), path, content, "Run of "))]
    if question.context.services.results.origin_of(path) == "elsewhere":
        lines.insert(0, f"This result was {OF_OTHERS}: run the circuit for figures of your own.")
    return (fence_data(f"run {text or 'newest'}", "\n".join(lines)),)


def _outline_of(question: Question, path: Path, place: str, count: int) -> str:
    reader = question.context.services.sources.for_circuit(path, question.view.libraries)
    outline = outline_file(question.view, path, reader)
    told = [] if isinstance(outline, Unreadable) else outline_lines(outline)
    spelled = "\n".join(told) or "It has no outline: read_file shows it."
    return fence_data(f"{place}, outline of {count} lines", spelled)


async def _dependencies(question: Question) -> Sequence[ContextPart]:
    if question.main is None:
        return []
    return [await _in_thread(question, _included, question)]


def _included(question: Question) -> ContextPart:
    """What the main circuit includes: directly whole, further the subcircuits, the deepest by name."""
    main = question.main
    assert main is not None, "whoever asks has one"
    reader = question.context.services.sources.for_circuit(main.path, question.view.libraries)
    tree = resolve_dependencies(Netlist.parse(main.data, path=main.path), reader, max_depth=_DEEPEST)
    depths = _depths(tree, main.path)
    full: list[str] = []
    brief: list[str] = []
    names: list[str] = []
    for path, depth in sorted(depths.items(), key=lambda each: each[1]):
        name = one_line(question.view.name_of(path))
        names.append(f"{name} (depth {depth})")
        is_told = _may_be_told(question, place_in(question.context.project.root, path))
        if depth > 3 or path not in tree.files or not is_told:
            continue
        netlist = tree.files[path]
        lines = decode(netlist.to_bytes()).lines
        text = "\n".join(lines)
        heads = "\n".join(item.statement.text for item in netlist.subcircuits)
        inside = "\n".join(
            "\n".join(lines[item.line - 1 : item.end_line or item.line])
            for item in netlist.subcircuits
            if not item.statement.scope
        )
        taken = text if depth == 1 else inside
        is_small = len(taken) <= 8 * _WHOLE_DEPENDENCY and count_tokens(taken) <= _WHOLE_DEPENDENCY
        if taken if is_small else heads:
            full.append(fence_data(f"{name_in_fence(name)}, included", taken if is_small else heads))
        if heads:
            brief.append(fence_data(f"{name_in_fence(name)}, its subcircuits", heads))
    listed = [f"Included by {one_line(main.place)}: {', '.join(names)}"] if names else []
    listed += [one_line(f"Not found: {each.reference}") for each in tree.refusals[:_MOST_REFUSALS]]
    listed += _rest_of(len(tree.refusals) - _MOST_REFUSALS, "that were not found")
    listed += [f"Files include each other in a circle ({len(tree.cycles)})."] if tree.cycles else []
    told = [fence_data("includes", "\n".join(listed))] if listed else []
    return ContextPart(
        name="dependencies", forms=((*told, *full), (*told, *brief), tuple(told)), rest="analyze_file"
    )


def _depths(tree: DependencyTree, root: Path) -> dict[Path, int]:
    """How many includes lead to each file, at least."""
    depths: dict[Path, int] = {}
    level = {root}
    for depth in range(1, _DEEPEST + 1):
        level = {
            target
            for (file, _), target in tree.targets.items()
            if (file or root) in level and target not in depths and target != root
        }
        depths |= dict.fromkeys(level, depth)
    return depths


async def _passages(question: Question) -> Sequence[ContextPart]:
    """The pieces of the project's texts that speak of what is asked."""
    if not question.terms:
        return []
    root = question.context.project.root
    ranked = await question.context.services.search.passages(root, question.terms, limit_s=_SEARCH_S)
    main = question.main
    shown_whole = {*question.references, *([main.place] if main is not None and main.is_small else ())}
    kept = [each for each in ranked if each.source not in shown_whole and _may_be_told(question, each.source)]
    # One ordinary word alone may stand there by chance: its lines are enough.
    is_sure = len(question.terms) > 1 or question.terms[0].is_name
    whole = _WHOLE_PASSAGES if is_sure else 0
    shown = kept[: _MOST_PASSAGES if is_sure else _MOST_UNSURE]
    items = [
        _passage(each, question.terms, is_whole=at < whole or each.is_meant) for at, each in enumerate(shown)
    ]
    return [ContextPart(name="passages", forms=(tuple(items),), rest="search_project")]


def _may_be_told(question: Question, place: str) -> bool:
    """Whether what stands in a file may leave this computer, where the model is elsewhere."""
    return not (place and question.context.is_on_network and question.context.project.is_kept_back(place))


def _passage(found: Passage, terms: Sequence[Term], *, is_whole: bool) -> str:
    lines = found.text.split("\n")
    place = f"page {found.page}, " if found.page is not None else ""
    last = found.line + len(lines) - 1
    section = f", {found.section}" if found.section else ""
    name = name_in_fence(one_line(f"{found.source}, {place}lines {found.line}-{last}{section}"))
    if is_whole:
        return fence_data(name, found.text.rstrip("\n"))
    shown, before = [], found.line - 1
    for number, line in excerpt(found, terms, margin=1):
        if number != before + 1:
            shown.append("[...]")
        shown.append(f"{number}| {line}")
        before = number
    return fence_data(f"{name}, {_NUMBERED}", "\n".join([*shown, *(["[...]"] if before != last else [])]))


COLLECTORS: tuple[Collector, ...] = (
    Collector("project", _project, is_needed=True),
    Collector("files", _file_names, is_needed=True),
    Collector("goals", _goals, is_needed=True),
    Collector("changes", _changes, is_needed=True),
    Collector("editor", _editor, is_needed=True),
    Collector("diagnostics", _diagnostics),
    Collector("figures", _figures),
    Collector("verdicts", _verdicts),
    Collector("references", _referred),
    Collector("stages", _stages),
    Collector("circuit", _circuit),
    Collector("dependencies", _dependencies),
    Collector("passages", _passages),
)
