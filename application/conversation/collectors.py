"""What there is to tell a model of a project, each kind found by a collector of its own.

A collector looks at one thing and gives it as parts for `domain.llm.context_block`; it decides neither how
much of it is sent nor whether it may fail (`project_context.py` lists and runs them). None writes anything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from application.agent.past import AS_IT_IS, BEFORE_CHANGE, NEWEST_RUN
from application.conversation.question import (
    MOST_CIRCUITS,
    NUMBERED,
    MainCircuit,
    Question,
    cut,
    files_of,
    numbered,
    rest_of,
)
from application.design.circuit_goals import GoalBook, place_in
from application.design.story import state_in_brief
from application.ports.project_view import ProjectView
from application.tool_execution.operations import undone_note
from application.tool_execution.reading import WHOLE_FILE_BYTES
from application.tool_execution.tools._common import CIRCUIT_SUFFIXES
from application.tool_execution.tools.goal_verdicts import judged_goals, verdict_lines
from application.tool_execution.tools.result_source import changed_since, result_content
from domain.circuit.dependencies import DependencyTree, resolve_dependencies
from domain.circuit.diagnostics import Diagnostic
from domain.circuit.netlist import Netlist
from domain.design.round_table import asked as asked_of
from domain.llm.attachments import name_in_fence
from domain.llm.context_block import MAIN_CIRCUIT, ContextPart, PartName, fence_data
from domain.llm.tokens import count_tokens
from domain.llm.tools.text_files import decode, diff_files, version_hash
from domain.search.query import Term
from domain.search.ranking import Passage, excerpt
from domain.simulation.goals import DesignGoal
from domain.simulation.operating_point import operating_point_lines, stored_operating_point
from shared.errors import CircuitAIError
from shared.message import one_line

_MOST_GOALS = 4
"""Circuits whose goals are told."""
_MOST_CHANGED = 20
"""Files of which it is told that they were changed since the model saw them."""
_LONGEST_DIFFERENCE = 1500
_MOST_DIAGNOSTICS = 30
_MOST_METRICS = 30
_MOST_ERRORS = 5
_MOST_REFUSALS = 10
_MOST_DEVICES = 8
_MOST_NODES = 12
_MOST_STAGES = (6, 3, 1)
"""Of a main circuit: in the fullest form of the line, and in the shorter ones."""
_DEEPEST = 5
_WHOLE_DEPENDENCY = 800
_MOST_PASSAGES = 12
_MOST_UNSURE = 4
_WHOLE_PASSAGES = 3
_SEARCH_S = 0.12
"""For bringing the index up to date, and again for what it does not have yet."""
_SPEAKS_OF_LINES = re.compile(r"\blines?\b|\berrors?\b|\bwarnings?\b|行|报错|错误|警告", re.IGNORECASE)


def _told(name: PartName, lines: Iterable[str], *, rest: str = "", source: str = "") -> list[ContextPart]:
    """One part, in one form."""
    return [ContextPart(name=name, forms=(tuple(lines),), rest=rest, source=source)]


# --- the project, its files, goals and changes ---


async def project(question: Question) -> Sequence[ContextPart]:
    """Its name, the circuit that is meant, the design of the conversation."""
    lines = [f"Project folder: {one_line(question.context.project.root.name)}"]
    if question.chosen:
        lines.append(f"{MAIN_CIRCUIT}{one_line(question.chosen)}")
    design = await question.in_thread(state_in_brief, question.events)
    return _told("project", [*lines, *design.splitlines()])


async def file_names(question: Question) -> Sequence[ContextPart]:
    return [await question.in_thread(_names, question.view)]


def _names(view: ProjectView) -> ContextPart:
    """The circuits one by one, the other files by folder."""
    names = files_of(view)
    circuits = [name for name in names if PurePosixPath(name).suffix.lower() in CIRCUIT_SUFFIXES]
    lines = [f"- {name}" for name in circuits[:MOST_CIRCUITS]] or ["It has no circuit file yet."]
    folders: dict[str, list[str]] = {}
    for name in [*circuits[MOST_CIRCUITS:], *(name for name in names if name not in {*circuits})]:
        folder, _, base = name.rpartition("/")
        folders.setdefault(folder, []).append(base)
    others = [f"Files in {folder or 'the folder'}: {', '.join(bases)}" for folder, bases in folders.items()]
    counts = [f"{len(bases)} files in {folder or 'the folder'}" for folder, bases in folders.items()]
    return ContextPart(name="files", forms=((*lines, *others), (*lines, *counts)), rest="list_project_files")


async def goals(question: Question) -> Sequence[ContextPart]:
    return _told("goals", await question.in_thread(lambda: [*_goal_lines(question)]))


def _goal_lines(question: Question) -> Iterator[str]:
    """What is asked of each circuit, the main one first; none of one that is kept from models, and none
    that the conversation's design tells already."""
    design = {line.replace("- goal ", "- ", 1) for line in state_in_brief(question.events).splitlines()}
    project, main = question.context.project, question.main
    found = [each for each in GoalBook(project).all if not project.is_kept_back(each.circuit)]
    found.sort(key=lambda each: main is None or each.circuit != main.place)
    for each in found[:_MOST_GOALS]:
        since = each.versions[-1].since if each.versions else ""
        is_new = bool(question.last_answered) and since > question.last_answered
        lines = [_goal_line(goal) for goal in each.goals]
        is_told = any(line.endswith(f": {each.circuit}") for line in design) and design.issuperset(lines)
        if is_new or not is_told:
            yield f"Goals of {one_line(each.circuit)}{', changed since your last answer' if is_new else ''}:"
            yield from lines
    if len(found) > _MOST_GOALS:
        yield f"{len(found) - _MOST_GOALS} more circuits have goals."


def _goal_line(goal: DesignGoal) -> str:
    wish = " (a wish)" if goal.weight == "wish" else ""
    condition = f", {goal.condition}" if goal.condition else ""
    return one_line(f"- {goal.metric} = {goal.expression}: {asked_of(goal)}{condition}{wish}")


async def changes(question: Question) -> Sequence[ContextPart]:
    """What was taken back of the model's changes, and what others changed in files it has seen."""
    context = question.context
    unknown = context.replaced_calls()
    listed = context.operations.list
    is_undone = await listed(session_id=context.session_id, undoing=True)  # without them there is no note
    records = await listed(session_id=context.session_id) if is_undone else ()
    known = [record for record in records if record.op_id not in unknown]
    undone = undone_note(known, since=question.last_answered)
    seen = {**context.seen_versions, **context.shown_versions}
    now: dict[str, bytes] = {}
    changed = await question.in_thread(lambda: [*_changed(question, seen, now)])
    lines = (*undone.splitlines(), *changed)
    return [ContextPart(name="changes", forms=(lines,), rest="read_file shows the files", compared=now)]


def _changed(question: Question, seen: Mapping[str, str], now: dict[str, bytes]) -> Iterator[str]:
    """The files that are not any more as the model saw them, with the difference where that is known; where
    it is told whole, the model knows the file as it is now, which `now` is given."""
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
            if not found.is_cut and found.text:
                now[view.name_of(path)] = data
        by = f"{shown} was changed since you saw it, not by you"
        yield f"{by}:\n{difference}" if difference else f"{by}: what you know of it is old, read it again."


async def editor(question: Question) -> Sequence[ContextPart]:
    state = question.editor
    if state is None or not question.may_be_told(state.file):
        return []
    cursor = f", cursor in line {state.line}, column {state.column}" if state.line else ""
    unsaved = ", with changes that are not saved" if state.is_unsaved else ""
    parts = _told("editor", [f"In front of the user: {one_line(state.file)}{cursor}{unsaved}"])
    if state.selection.strip():
        source = f"selected by the user in {state.file}"
        parts += _told("selection", state.selection.splitlines(), source=source)
    return parts


# --- the main circuit, its diagnostics and figures ---


async def circuit(question: Question) -> Sequence[ContextPart]:
    main = question.main
    if main is None or main.place in question.references:
        return []
    lines = tuple(main.text.splitlines())
    source = f"{main.place}, all {len(lines)} lines"
    if main.is_small:
        if _SPEAKS_OF_LINES.search(question.words):
            lines, source = tuple(numbered(lines)), f"{source}, {NUMBERED}"
        # The model has read it: it need not do so before it changes it, and is told when others do.
        read = {main.place: main.data}
        return [ContextPart(name="circuit", forms=(lines,), source=source, rest="read_file", shown=read)]
    outline = await question.in_thread(question.outline, main.path)
    if outline is None:
        return []
    asked = excerpt(Passage(source=main.place, line=1, text="\n".join(lines)), question.terms, margin=2)
    shown = [*outline, *(f"{number}| {line}" for number, line in asked if question.terms)]
    source = f"{main.place}, outline of {len(lines)} lines and the lines with words of the message"
    return _told("circuit", shown, source=source, rest="read_file, analyze_file")


async def stages(question: Question) -> Sequence[ContextPart]:
    """What the main circuit is made of; an outline, which stands for a long circuit, says it itself."""
    main = question.main
    if main is None or not main.is_small or main.place in question.references:
        return []
    return [await question.in_thread(_made_of, question, main)]


def _made_of(question: Question, main: MainCircuit) -> ContextPart:
    from domain.circuit.recognition.recogniser import recognise  # with numpy: where a circuit is meant

    netlist = Netlist.parse(main.data, path=main.path)
    found = recognise(resolve_dependencies(netlist, question.reader(main.path)))
    told = [text for most in _MOST_STAGES if (text := found.brief(most))]
    forms = tuple((f"Made of: {one_line(text)}",) for text in told)
    return ContextPart(name="stages", forms=forms, rest="analyze_file")


async def diagnostics(question: Question) -> Sequence[ContextPart]:
    main = question.main
    if main is None:
        return []
    check = question.context.services.check.check
    report = await question.in_thread(check, main.path, question.view.libraries)
    found = [each for each in report.diagnostics if each.severity != "info"]
    found.sort(key=lambda each: each.severity != "error")
    if not found:
        return _told("diagnostics", [f"Checked without a run: nothing is wrong in {main.place}."])
    lines = [f"Checked without a run: {len(found)} {'finding' if len(found) == 1 else 'findings'}"]
    lines += [_diagnostic(question, each) for each in found[:_MOST_DIAGNOSTICS]]
    lines += rest_of(len(found) - _MOST_DIAGNOSTICS, "findings: analyze_file")
    return _told("diagnostics", lines, rest="analyze_file")


def _diagnostic(question: Question, found: Diagnostic) -> str:
    main = question.main
    assert main is not None, "whoever checks has one"
    lines = main.text.splitlines()
    is_here = found.file in (None, main.path) and 0 < found.line <= len(lines)
    text = f" | {lines[found.line - 1].strip()[:120]}" if is_here else ""
    name = main.place if found.file is None else question.view.name_of(found.file)
    return one_line(f"- {found.severity}: {name}:{found.line}: {found.message}{text}")


async def figures(question: Question) -> Sequence[ContextPart]:
    """The newest result of the main circuit: how old, whether it still holds, its figures."""
    found = await question.in_thread(newest_run, question)
    if found is None:
        return []
    lines = await question.in_thread(lambda: [*map(cut, result_lines(question, *found))])
    return _told("figures", lines, rest="inspect_data")


async def verdicts(question: Question) -> Sequence[ContextPart]:
    """The main circuit's goals held against its newest result."""
    main = question.main
    found = None if main is None else await question.in_thread(newest_run, question)
    if main is None or found is None or found[1].get("ok") is False:
        return []
    request = found[1].get("request")
    values = request.get("set") if isinstance(request, dict) else None
    parameters = values if isinstance(values, dict) else {}
    analysis = str(request.get("analysis") or "") if isinstance(request, dict) else ""
    judged = await judged_goals(question.context, main.path, found[0], parameters, analysis)
    return _told("verdicts", map(one_line, verdict_lines(judged))) if judged else []


def newest_run(question: Question) -> tuple[Path, dict[str, Any]] | None:
    main = question.main
    path = None if main is None else question.view.newest_result(main.path)
    return None if path is None else (path, result_content(question.context, path))


def result_lines(
    question: Question, path: Path, content: Mapping[str, Any], begin: str = NEWEST_RUN
) -> Iterator[str]:
    main = question.main
    assert main is not None, "its result was found"
    request = content.get("request")
    changed = changed_since(question.context, main.path, content)
    values = request.get("set") if isinstance(request, dict) else None
    tried = ", ".join(f"{name}={value}" for name, value in values.items()) if isinstance(values, dict) else ""
    state = BEFORE_CHANGE if changed else "" if tried else AS_IT_IS
    state += f"{', ' if state else ''}with other values than the file's: {tried}" if tried else ""
    if changed and changed != [main.place]:
        state += f"; changed since: {', '.join(changed)}"
    age = _age(str(content.get("created", "")))
    run = f"{begin}{main.place}: {content.get('status', '')}, {age}, {state}"
    yield one_line(f"{run} ({question.view.name_of(path)})")
    if isinstance(request, dict) and request.get("analysis"):
        yield one_line(f"It was run with its own analysis: {request['analysis']}")
    listed = content.get("issues")
    issues = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    errors = [each for each in issues if each.get("severity") == "error"]
    for issue in errors[:_MOST_ERRORS]:
        yield one_line(f"- error: line {issue.get('line')}: {issue.get('message')}")[:300]
    yield from rest_of(len(errors) - _MOST_ERRORS, "errors")
    found = content.get("metrics")
    metrics = found if isinstance(found, dict) else {}
    for name, item in islice(metrics.items(), _MOST_METRICS):
        value = item.get("value") if isinstance(item, dict) else None
        is_figure = isinstance(value, int | float) and abs(value) < sys.float_info.max
        figure = f"{value:.6g} {item.get('unit', '')}".rstrip() if is_figure else "no value"
        yield one_line(f"- {name} = {figure}")
    yield from rest_of(len(metrics) - _MOST_METRICS, "figures: inspect_data")
    point = stored_operating_point(content)
    if point is not None:
        lines = operating_point_lines(point, most_devices=_MOST_DEVICES, most_nodes=_MOST_NODES)
        yield from ("DC operating point:", *map(one_line, lines))


def _age(created: str) -> str:
    try:
        since = datetime.now(UTC) - datetime.fromisoformat(created)
    except (ValueError, TypeError):
        return "of an unknown time"
    minutes = max(int(since.total_seconds() // 60), 0)
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2880 else f"{minutes // 1440} days ago"


# --- what is included, and what speaks of what is asked ---


async def dependencies(question: Question) -> Sequence[ContextPart]:
    if question.main is None:
        return []
    return [await question.in_thread(_included, question)]


def _included(question: Question) -> ContextPart:
    """What the main circuit includes: directly whole, further the subcircuits, the deepest by name."""
    main = question.main
    assert main is not None, "whoever asks has one"
    netlist, reader = Netlist.parse(main.data, path=main.path), question.reader(main.path)
    tree = resolve_dependencies(netlist, reader, max_depth=_DEEPEST)
    depths = _depths(tree, main.path)
    full: list[str] = []
    brief: list[str] = []
    names: list[str] = []
    for path, depth in sorted(depths.items(), key=lambda each: each[1]):
        name = one_line(question.view.name_of(path))
        names.append(f"{name} (depth {depth})")
        is_told = question.may_be_told(place_in(question.context.project.root, path))
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
    listed += rest_of(len(tree.refusals) - _MOST_REFUSALS, "that were not found")
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


async def passages(question: Question) -> Sequence[ContextPart]:
    """The pieces of the project's texts that speak of what is asked."""
    if not question.terms:
        return []
    root = question.context.project.root
    ranked = await question.context.services.search.passages(root, question.terms, limit_s=_SEARCH_S)
    main = question.main
    shown_whole = {*question.references, *([main.place] if main is not None and main.is_small else ())}
    kept = [each for each in ranked if each.source not in shown_whole and question.may_be_told(each.source)]
    # One ordinary word alone may stand there by chance: its lines are enough.
    is_sure = len(question.terms) > 1 or question.terms[0].is_name
    whole = _WHOLE_PASSAGES if is_sure else 0
    shown = kept[: _MOST_PASSAGES if is_sure else _MOST_UNSURE]
    items = [
        _passage(each, question.terms, is_whole=at < whole or each.is_meant) for at, each in enumerate(shown)
    ]
    return _told("passages", items, rest="search_project")


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
    return fence_data(f"{name}, {NUMBERED}", "\n".join([*shown, *(["[...]"] if before != last else [])]))
