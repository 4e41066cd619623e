"""Tools that write: a whole file, or one passage of it. Encoding and line ends stay those of the file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from application.ports.project import ABSENT
from application.ports.project_view import ProjectView
from application.tool_execution.definition import Arguments, Switch, Tool, ToolContext, Whole, unlisted
from application.tool_execution.reading import Unreadable
from application.tool_execution.tools._common import (
    Locks,
    brief_findings,
    file_problem,
    located,
    locked_failure,
    locks_of,
)
from application.tool_execution.tools.files import unreadable
from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.look import ToolLook
from domain.llm.tools.patching import PatchFailure, PatchOutcome, apply_patch, edits_in, without_fence
from domain.llm.tools.result import ToolCall, ToolResult, failure, result_to_plain
from domain.llm.tools.text_files import (
    BinaryFileError,
    LineDiff,
    NotEncodableError,
    TextFile,
    decode,
    diff_texts,
    encoding_of,
    version_hash,
    with_line_ends,
)
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

MOST_WRITTEN_BYTES = 2_000_000
"""Size a tool may give to a file."""
_MOST_READ_BYTES = 20_000_000
_DIFF_CHARACTERS = 2000
_LONGEST_SEARCH = 100_000


class RewriteArguments(Arguments):
    """Arguments of rewrite_file."""

    path: str = Field(description="Folders are made.")
    content: str = Field(description="The complete new content.")


class PatchArguments(Arguments):
    """Arguments of patch_file."""

    path: str = Field(description="Relative to the project.")
    search: str = Field(max_length=_LONGEST_SEARCH, description="The exact text, one or several lines.")
    replace: str = Field(description="The new text.")
    occurrence: Whole | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="Which hit: 1 = the first, 0 = all.",
    )
    fuzzy: Switch = unlisted(False)
    further: tuple[tuple[str, str], ...] = unlisted(())

    @model_validator(mode="before")
    @classmethod
    def _other_forms(cls, given: Any) -> Any:
        """A unified diff or SEARCH/REPLACE blocks, as `diff`, `patch` or `search`, are understood."""
        if not isinstance(given, Mapping):
            return given
        names = ("diff", "patch", "search", "content")
        texts = [given[name] for name in names if isinstance(given.get(name), str)]
        edits = next((found for text in texts if (found := edits_in(text))), ())
        if not edits:
            return given
        kept = {name: value for name, value in given.items() if name not in ("diff", "patch", "content")}
        (search, replacement), *further = edits
        return {**kept, "search": search, "replace": replacement, "further": further}

    @property
    def edits(self) -> tuple[tuple[str, str], ...]:
        """All passages with what comes in their place, in order."""
        return ((self.search, self.replace), *self.further)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edited:
    """The text a file is to get."""

    file: TextFile
    patch: PatchOutcome | None = None
    was_fenced: bool = False
    """The fences of a block of code around the whole content were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """A write that is ready to be carried out."""

    path: Path
    data: bytes
    before: bytes | None
    """None: there is no file."""
    before_sha256: str
    result: ToolResult


_Edit = Callable[[str, TextFile | None], _Edited | ToolResult]
"""From a file's name and present text (None = there is no file) to its new text, or why there is none."""


async def rewrite_file(arguments: RewriteArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Give a file a new content; it and its folders are made when there are none."""
    return await _carry_out(context, call, arguments.path, _rewriting(arguments))


def _rewriting(arguments: RewriteArguments) -> _Edit:
    def rewritten(name: str, present: TextFile | None) -> _Edited:
        content = arguments.content.removeprefix("\ufeff")
        bare = None if name.lower().endswith(".md") else without_fence(content)
        was_fenced, content = bare is not None, content if bare is None else bare
        if present is None:
            new = TextFile(text=with_line_ends(content, "\n"), encoding="utf-8")
            return _Edited(file=new, was_fenced=was_fenced)
        return _Edited(file=present.with_text(content), was_fenced=was_fenced)

    return rewritten


async def patch_file(arguments: PatchArguments, context: ToolContext, call: ToolCall) -> ToolResult:
    """Replace one passage of a file (or all its occurrences)."""
    return await _carry_out(context, call, arguments.path, _patching(arguments, context.view))


def _patching(arguments: PatchArguments, view: ProjectView) -> _Edit:
    def patched(name: str, present: TextFile | None) -> _Edited | ToolResult:
        if present is None:
            return _nothing_to_patch(view, arguments.path)
        text, done = present.text, None
        for search, replacement in arguments.edits:
            outcome = apply_patch(
                text, search, replacement, occurrence=arguments.occurrence, fuzzy=arguments.fuzzy
            )
            if isinstance(outcome, PatchFailure):
                return _not_patched(name, outcome, search)
            text, done = outcome.text, outcome
        return _Edited(file=replace(present, text=text), patch=done)

    return patched


def content_after(
    view: ProjectView, arguments: RewriteArguments | PatchArguments, before: bytes | None
) -> bytes | None:
    """What a call would make of a file that holds `before`; None where it would write nothing. Blocking."""
    edit = _rewriting(arguments) if isinstance(arguments, RewriteArguments) else _patching(arguments, view)
    try:
        edited = edit(arguments.path, None if before is None else decode(before))
        return None if isinstance(edited, ToolResult) else edited.file.to_bytes()
    except (BinaryFileError, NotEncodableError):
        return None


async def preview_rewrite(arguments: RewriteArguments, context: ToolContext) -> ComputedEffect:
    """What rewrite_file would do. Raises UserInputError as it would."""
    return await _preview(context, arguments.path, _rewriting(arguments), is_whole=True)


async def preview_patch(arguments: PatchArguments, context: ToolContext) -> ComputedEffect:
    """What patch_file would do. Raises UserInputError as it would."""
    return await _preview(context, arguments.path, _patching(arguments, context.view), is_whole=False)


async def _preview(context: ToolContext, path: str, edit: _Edit, *, is_whole: bool) -> ComputedEffect:
    seen, locked = context.known_versions(), await locks_of(context)
    view = context.view
    return await off_loop(
        lambda: _effect(view, seen, _plan(view, seen, locked, path, edit), path, is_whole=is_whole)
    )


def _effect(
    view: ProjectView, seen: Mapping[str, str], plan: _Plan | ToolResult, text: str, *, is_whole: bool
) -> ComputedEffect:
    if isinstance(plan, ToolResult):  # nothing will be written
        name = view.name_of(view.locate_for_writing(text))
        return ComputedEffect(effect="change", paths=(PathEffect(path=name),))
    name, before = view.name_of(plan.path), plan.before
    told = plan.result.result
    version = "" if before is None else version_hash(before)
    changed = PathEffect(
        path=name,
        bytes_before=None if before is None else len(before),
        bytes_after=len(plan.data),
        lines_lost=int(told["removed"]),
        lines_added=int(told["added"]),
        overwrites=is_whole and before is not None,
        was_read=bool(version) and seen.get(name) == version,
        version=version,
        diff=str(told.get("diff", "")),
    )
    return ComputedEffect(effect="create" if before is None else "change", paths=(changed,), files=1)


async def exchange_text(
    context: ToolContext,
    call: ToolCall,
    path: str,
    *,
    old: str,
    new: str,
    tell: Callable[[ToolResult], ToolResult],
) -> ToolResult:
    """Give a file whose text is still `old` the text `new`; encoding, guards and log as for patch_file.

    `tell` makes the call's answer from that of the change.
    """

    def exchanged(name: str, present: TextFile | None) -> _Edited | ToolResult:
        if present is None or present.text != old:
            return _stale(name)
        return _Edited(file=replace(present, text=new))

    return await _carry_out(context, call, path, exchanged, tell)


async def _carry_out(
    context: ToolContext,
    call: ToolCall,
    path: str,
    edit: _Edit,
    tell: Callable[[ToolResult], ToolResult] | None = None,
) -> ToolResult:
    """Make the edit and write it; the answer of the call is in the log before the file is touched."""
    seen, locked = context.known_versions(), await locks_of(context)
    plan = await off_loop(_plan, context.view, seen, locked, path, edit)
    if isinstance(plan, ToolResult):
        return plan
    if tell is not None:
        plan = replace(plan, result=tell(plan.result))
    if found := await brief_findings(context, plan.path, plan.data):
        told = "\n".join([plan.result.content, "Check of the new text:", *found])
        plan = replace(plan, result=replace(plan.result, content=told))
    await context.operations.change_file(
        op_id=call.call_id,
        session_id=context.session_id,
        tool=call.name,
        path=plan.path.relative_to(context.view.root),
        content=plan.data,
        expected_sha256=plan.before_sha256,
        result=result_to_plain(plan.result),
    )
    return plan.result


def _plan(
    view: ProjectView, seen: Mapping[str, str], locks: Locks, text: str, edit: _Edit
) -> _Plan | ToolResult:
    """What to write, or the answer when nothing is written."""
    path = view.locate_for_writing(text)
    name = view.name_of(path)
    before = _bytes_of(view, path)
    present = None
    if before is not None:
        _refuse_write_protected(path, name)
        if len(before) > _MOST_READ_BYTES:
            return unreadable(name, Unreadable(reason="file_too_large", total_bytes=path.stat().st_size))
        if seen.get(name, version := version_hash(before)) != version:
            return _stale(name)
        try:
            present = decode(before)
        except BinaryFileError:
            return unreadable(name, Unreadable(reason="binary_file", total_bytes=len(before)))
    edited = edit(name, present)
    if isinstance(edited, ToolResult):
        return edited
    plan = _write_plan(path, name, before, edited, _written(name, present, edited))
    if isinstance(plan, _Plan) and (changed := locks.changed(path, name, before, plan.data)):
        return locked_failure(changed, name)
    return plan


def _refuse_write_protected(path: Path, name: str) -> None:
    """A file nobody may write is left alone: replacing it whole would get around its mode."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise file_problem(error, name) from error
    if not mode & 0o222:
        raise UserInputError(
            msg("{path} is write-protected; it was not changed.", path=name),
            advice=msg("Ask the user to make it writable, or write to another file."),
            error_type="read_only",
        )


def _write_plan(
    path: Path, name: str, before: bytes | None, edited: _Edited, result: ToolResult
) -> _Plan | ToolResult:
    try:
        data = edited.file.to_bytes()
    except NotEncodableError as error:
        return _not_encodable(name, error)
    if before == data:
        return _already_so(name, data)
    if not _is_text(data):
        return failure(
            "bad_arguments",
            msg("The text for {path} contains characters no text file has (NUL or other control characters).",
                path=name),
            suggestions=(msg("Remove them."),),
        )  # fmt: skip
    if len(data) > MOST_WRITTEN_BYTES and (before is None or len(data) > len(before)):
        return failure(
            "content_too_large",
            msg(
                "{path} would be {size} kB; a tool writes at most 2000 kB.",
                path=name,
                size=len(data) // 1000,
            ),
            suggestions=(msg("Write less, or split it into several files."),),
        )
    return _Plan(
        path=path,
        data=data,
        before=before,
        before_sha256=ABSENT if before is None else hashlib.sha256(before).hexdigest(),
        result=replace(result, seen_versions={name: version_hash(data)}),
    )


def _is_text(data: bytes) -> bool:
    """Whether the tools could read and change a file of these bytes again."""
    try:
        encoding_of(data)
    except BinaryFileError:
        return False
    return True


def _bytes_of(view: ProjectView, path: Path) -> bytes | None:
    """The file's bytes, at most one more than is worked on; None when there is no file."""
    try:
        with view.open(path) as file:
            return file.read(_MOST_READ_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise file_problem(error, view.name_of(path)) from error


def _nothing_to_patch(view: ProjectView, text: str) -> ToolResult:
    create = msg("rewrite_file creates a new file.")
    try:
        appeared = located(view, text)
    except UserInputError as error:
        advice = () if error.advice is None else (error.advice,)
        return failure(error.error_type, error.message, suggestions=(*advice, create))
    return _stale(view.name_of(appeared))


def _stale(name: str) -> ToolResult:
    return failure(
        "file_modified_externally",
        msg("{path} has been modified by another program since it was read; nothing was written.", path=name),
        suggestions=(msg("Read it again with read_file, then change its present content."),),
        result={"path": name, "file_path": name},
    )


def _already_so(name: str, data: bytes) -> ToolResult:
    return ToolResult(
        success=True,
        content=f"{name} already has this content; nothing was written.",
        summary=msg("{path} already has this content.", path=name),
        result={
            "path": name,
            "file_path": name,
            "changed": False,
            "created": False,
            "added": 0,
            "removed": 0,
        },
        seen_versions={name: version_hash(data)},
    )


def _written(name: str, before: TextFile | None, edited: _Edited) -> ToolResult:
    new, patch = edited.file, edited.patch
    old_text = "" if before is None else before.text
    diff = diff_texts(old_text, new.text, path=name, context=1, limit=_DIFF_CHARACTERS)
    details: dict[str, Any] = {
        "path": name,
        "file_path": name,
        "operation": "create" if before is None else "modify",
        "changes_summary": f"+{diff.added} -{diff.removed} lines",
        "changed": True,
        "created": before is None,
        "added": diff.added,
        "removed": diff.removed,
        "total_lines": len(new.lines),
        "encoding": new.encoding,
    }
    unfenced = " The ``` fences around the content were left out." if edited.was_fenced else ""
    if before is None:
        return ToolResult(
            success=True,
            content=f"Created {name} ({diff.added} lines).{unfenced}",
            summary=msg("Created {path} ({lines} {lines:line|lines}).", path=name, lines=diff.added),
            result=details,
        )
    first = diff.hunks[0].new_line if diff.hunks else 1
    details |= {"first_changed_line": first, "diff": diff.text}
    note = ""
    if patch is not None:
        details |= {"replaced": len(patch.lines), "lines": list(patch.lines[:50]), "match": patch.level}
        if patch.in_field_lines:
            note = (
                f"\nLeft alone inside longer words on lines {', '.join(map(str, patch.in_field_lines[:20]))}."
            )
    return ToolResult(
        success=True,
        content=f"Changed {name}: +{diff.added} -{diff.removed} lines, first change at line {first}."
        f"{unfenced}{note}\n{diff.text}".rstrip(),
        summary=_changed_summary(name, diff),
        result=details,
    )


def _changed_summary(name: str, diff: LineDiff) -> Message:
    return msg(
        "Changed {path} (+{added} −{removed} lines).", path=name, added=diff.added, removed=diff.removed
    )


def _not_encodable(name: str, error: NotEncodableError) -> ToolResult:
    character = error.character.encode("utf-8", "backslashreplace").decode("utf-8")
    return failure(
        "encoding",
        msg("{path} is a {encoding} file, which cannot hold the character {character} (line {line}); "
            "nothing was written.",
            path=name, encoding=error.encoding, character=character, line=error.line),
        suggestions=(msg("Write it in ASCII, for example u for µ and Ohm for Ω."),),
        result={"path": name, "file_path": name, "encoding": error.encoding,
                "character": character, "line": error.line},
    )  # fmt: skip


_REASONS = {
    "empty_search": "bad_arguments",
    "same_text": "bad_arguments",
    "no_change": "no_change",
    "not_found": "search_not_found",
    "ambiguous": "ambiguous_match",
    "occurrence_out_of_range": "occurrence_not_found",
}


def _not_patched(name: str, problem: PatchFailure, search: str) -> ToolResult:
    """The failure with everything that helps to ask again: lines, the nearest text, what is there already."""
    context: dict[str, Any] = {
        "searched_for": search[:500],
        "lines": list(problem.lines[:50]),
        "already_there_lines": list(problem.replacement_lines[:50]),
        "hints": list(problem.hints),
    }
    if problem.nearest is not None:
        context |= {
            "similar_content": problem.nearest.text,
            "similar_line": problem.nearest.first_line,
            "similar_last_line": problem.nearest.last_line,
        }
    return failure(
        _REASONS[problem.kind],
        _patch_message(name, problem),
        detail=problem.explanation,
        suggestions=_patch_suggestions(problem),
        result={"path": name, "file_path": name, "context": context},
    )


def _patch_message(name: str, problem: PatchFailure) -> Message:
    lines = ", ".join(map(str, problem.lines[:50]))
    match problem.kind:
        case "empty_search":
            return msg("The search text is empty.")
        case "same_text":
            return msg("Search and replacement are the same text.")
        case "no_change":
            return msg("The replacement leaves {path} unchanged.", path=name)
        case "not_found":
            return msg("The search text is not in {path}.", path=name)
        case "ambiguous":
            return msg(
                "The search text occurs in {path} several times, on lines {lines}.", path=name, lines=lines
            )
        case "occurrence_out_of_range":
            return msg(
                "The search text occurs in {path} only {count} {count:time (line|times (lines} {lines}).",
                path=name,
                count=len(problem.lines),
                lines=lines,
            )


def _patch_suggestions(problem: PatchFailure) -> tuple[Message, ...]:
    match problem.kind:
        case "not_found":
            look = msg("Read the file's present content with read_file and copy the text exactly.")
            if "fuzzy" in problem.hints:
                return (msg("Set fuzzy to true: only whitespace differs."), look)
            return (look,)
        case "ambiguous":
            return (msg("Quote more lines around the place, or give occurrence (1 = the first, 0 = all)."),)
        case "occurrence_out_of_range":
            return (msg("occurrence counts from 1; 0 replaces all."),)
        case _:
            return (msg("Give the present text as search and the new text as replace."),)


REWRITE_FILE = Tool(
    name="rewrite_file",
    is_core=True,
    title=msg("Write a file"),
    look=ToolLook(running=msg("Changing"), done=msg("Changed"), icon="file-pen", card="change"),
    description=(
        "Write a whole file, a new one or all of an existing one. What is not in content is gone; for a "
        "small change use patch_file. "
        'Example: {"path": "rc.cir", "content": "RC low-pass\\nVin in 0 AC 1\\nR1 in out 1k\\nC1 out 0 1n\\n'
        '.end\\n"}'
    ),
    category="file",
    effect="change",
    arguments=RewriteArguments,
    run=rewrite_file,
    preview=preview_rewrite,
    creates_project=True,
)

PATCH_FILE = Tool(
    name="patch_file",
    is_core=True,
    title=msg("Change a file"),
    look=ToolLook(running=msg("Changing"), done=msg("Changed"), icon="file-pen", card="change"),
    description=(
        "Replace one passage of a file. Copy search exactly from the file, whole words and lines, enough "
        "of them to be unique. "
        'Example: {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 2.2k"}'
    ),
    category="file",
    effect="change",
    arguments=PatchArguments,
    run=patch_file,
    preview=preview_patch,
)
