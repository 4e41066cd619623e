"""Random sequences of operations, undos, redos, outside edits and kill -9 against a model of the files.

``python -m tests.integration.operations.sequences_driver FOLDER SEED COUNT`` runs COUNT sequences and prints
one JSON line of counts. Each step that touches files through the code under test is a forked process,
which in a third of the cases kills itself right before or after something reaches the disk; so do repairs.
The model below knows nothing of logs, hashes or diffs: it holds files as lists of lines.
"""

from __future__ import annotations

import asyncio
import collections
import hashlib
import json
import os
import random
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from application.ports.project import ABSENT, FOLDER, FileChange, OperationRecord
from application.tool_execution.operations import Operations
from application.tool_execution.taking_back import UndoConflictError
from infrastructure.persistence.project import ProjectFolders
from shared.errors import CircuitAIError
from tests.integration.operations.effects_driver import die_at, life

NAMES = ("a.cir", "b.cir", "m/x.lib", "m/y.lib", "n/z.lib")
MODES = (0o644, 0o600, 0o755)
STEPS = 7
LINES = 9

Lines = tuple[str, ...]
Entry = tuple[Lines, int]
"""A file: its lines and its permission bits."""
State = dict[str, Entry]


@dataclass
class Effect:
    """What the model knows of an operation: at each path what was there, what came, and the mode."""

    paths: dict[str, tuple[Lines | None, Lines | None, int]]
    target: str = ""
    """Of an undo: the operation it took back."""
    move: dict[str, str] = field(default_factory=dict)
    """New place -> old place."""


def data_of(lines: Lines) -> bytes:
    return "".join(lines).encode()


def on_disk(folder: Path) -> State:
    return {
        path.relative_to(folder).as_posix(): (
            tuple(path.read_text().splitlines(keepends=True)),
            path.stat().st_mode & 0o777,
        )
        for path in folder.rglob("*")
        if path.is_file() and ".circuit_ai" not in path.parts
    }


def merged(base: Lines, mine: Lines, theirs: Lines) -> Lines | None:
    """Both changes, line by line; None where a run of changed lines was changed by both, and differently."""
    if not len(base) == len(mine) == len(theirs):
        return None
    one = [place for place, line in enumerate(base) if mine[place] != line]
    other = [place for place, line in enumerate(base) if theirs[place] != line]
    for run in runs_of({*one, *other}):
        by_both = set(run).intersection(one) and set(run).intersection(other)
        if by_both and any(mine[place] != theirs[place] for place in run):
            return None
    return tuple(mine[place] if place in one else theirs[place] for place in range(len(base)))


def runs_of(places: set[int]) -> list[list[int]]:
    """Neighbours together."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


class Sequence:
    """One random sequence on a fresh project."""

    def __init__(self, folder: Path, rng: random.Random, counts: collections.Counter[str]) -> None:
        self.folder, self.rng, self.counts = folder, rng, counts
        self.serial = 0
        self.state: State = {}
        self.effects: dict[str, Effect] = {}
        self.standing: list[str] = []
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        ProjectFolders().open(folder, create=True).close()
        for name in rng.sample(NAMES, 3):
            self.edit_outside(name, self.fresh())

    def fresh(self) -> Lines:
        self.serial += 1
        return tuple(f"R{self.serial}_{place} a b {self.rng.random()}\n" for place in range(LINES))

    def with_a_line(self, lines: Lines) -> Lines:
        self.serial += 1
        place = self.rng.randrange(len(lines))
        return (*lines[:place], f"C{self.serial} changed\n", *lines[place + 1 :])

    def edit_outside(self, name: str, lines: Lines | None) -> None:
        path = self.folder / name
        if lines is None:
            path.unlink()
            self.state.pop(name)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data_of(lines))
        mode = self.rng.choice(MODES)
        path.chmod(mode)
        self.state[name] = (lines, mode)

    def edit_somewhere(self, names: tuple[str, ...] = ()) -> str:
        """An editor, git or a script changes a file (one of `names`) behind our back."""
        there = sorted(self.state.keys() & set(names or self.state))
        if there and self.rng.random() < 0.9:
            name = self.rng.choice(there)
            way = self.rng.random()
            lines = self.state[name][0]
            new = None if way < 0.15 else self.fresh() if way < 0.35 else self.with_a_line(lines)
        else:
            name, new = self.rng.choice(names or NAMES), self.fresh()
        self.edit_outside(name, new)
        return name

    def run(self) -> None:
        for _ in range(STEPS):
            kind = self.rng.random()
            if kind < 0.25:
                self.edit_somewhere()
                self.counts["outside edits"] += 1
            elif kind < 0.6 or not self.standing:
                self.operate()
            else:
                self.take_back()

    # --- what is asked for, and what the model says comes of it --------------------------------------

    def operate(self) -> None:
        files = sorted(self.state)
        kind = self.rng.choice(("write", "write", "new", "move", "folder", "delete", "delete folder"))
        self.serial += 1
        op_id = f"op{self.serial:05}"
        paths: dict[str, tuple[Lines | None, Lines | None, int]] = {}
        move: dict[str, str] = {}
        if kind == "write" and files:
            name = self.rng.choice(files)
            lines, mode = self.state[name]
            paths[name] = (lines, self.with_a_line(lines), mode)
        elif kind in ("move", "folder", "delete folder") and files:
            name = self.rng.choice(files)
            top = name.split("/")[0]
            group = [file for file in files if kind != "move" and file.startswith(top + "/")] or [name]
            new_top = f"to{self.serial}"
            for file in group:
                lines, mode = self.state[file]
                paths[file] = (lines, None, mode)
                if kind != "delete folder":
                    target = f"{new_top}/{file.rpartition('/')[2]}"
                    paths[target] = (None, lines, mode)
                    move[target] = file
        elif kind == "delete" and files:
            name = self.rng.choice(files)
            lines, mode = self.state[name]
            paths[name] = (lines, None, mode)
        else:
            paths[f"new{self.serial}.cir"] = (None, self.fresh(), 0o644)
        effect = Effect(paths=paths, move=move)
        self.counts[f"operations: {kind}"] += 1
        self.carry_out(op_id, effect, lambda: self.do(op_id, effect))

    def take_back(self) -> None:
        target = self.rng.choice(self.standing[-3:])
        effect = self.effects[target]
        if effect.paths and self.rng.random() < 0.5:
            self.edit_somewhere(tuple(effect.paths))
            self.counts["outside edits"] += 1
        choose = self.rng.choice((None, "current", "restore", "merge"))
        paths: dict[str, tuple[Lines | None, Lines | None, int]] = {}
        changed = []
        for name, (before, after, mode) in effect.paths.items():
            present = self.state.get(name)
            lines = None if present is None else present[0]
            if lines not in (before, after):
                changed.append(name)
            kept_mode = mode if present is None else present[1]
            paths[name] = (lines, before, kept_mode)
        moved: dict[str, str] = {old: new for new, old in effect.move.items()}
        refused = False
        if changed and choose == "merge":
            refused = not self.join(effect, changed, paths)
        elif changed and choose != "restore":
            refused = choose is None
            paths = {}
        way = "undo" if not changed else f"undo of changed files: {choose or 'no choice'}"
        self.counts[way + (" (refused)" if refused else "")] += 1
        if refused:
            paths = {}
        self.carry_out(
            "", Effect(paths=paths, target=target, move=moved), lambda: self.undo(target, choose, refused)
        )

    def join(self, effect: Effect, changed: list[str], paths: dict[str, Any]) -> bool:
        for name in changed:
            before, after, _ = effect.paths[name]
            present = self.state.get(name)
            old_place = effect.move.get(name, "")
            was_moved = (
                bool(old_place)
                and after is not None  # else the file was gone already, and nothing moved
                and before is None
                and effect.paths[old_place][:2] == (after, None)
            )
            if was_moved and present is not None and old_place not in self.state:
                paths[name] = (present[0], None, present[1])
                paths[old_place] = (None, present[0], present[1])
                continue
            if before is None or after is None or present is None:
                return False
            lines = merged(after, present[0], before)
            if lines is None:
                return False
            paths[name] = (present[0], lines, present[1])
        return True

    def expected(self, effect: Effect) -> State:
        state = dict(self.state)
        for name, (_, after, mode) in effect.paths.items():
            if after is None:
                state.pop(name, None)
            elif name in self.state:
                state[name] = (after, self.state[name][1])
            else:  # a file that is moved keeps its mode
                sources = [
                    self.state[other][1]
                    for other, (_, left, _mode) in effect.paths.items()
                    if left is None and other in self.state and self.state[other][0] == after
                ]
                state[name] = (after, sources[0] if sources else mode)
        return state

    # --- the code under test -------------------------------------------------------------------------

    async def _with_operations(self, work: Any) -> Any:
        project = await asyncio.to_thread(ProjectFolders().open, self.folder)
        try:
            return await work(Operations(log=project.operations, project=project))
        finally:
            await asyncio.to_thread(project.close)

    def do(self, op_id: str, effect: Effect) -> None:
        async def work(operations: Operations) -> None:
            def state_of(lines: Lines | None) -> str:
                return ABSENT if lines is None else hashlib.sha256(data_of(lines)).hexdigest()

            (name, (before, after, _)), *others = effect.paths.items()
            if after is not None and not others:
                await operations.change_file(
                    op_id=op_id, session_id="s", tool="patch_file", path=Path(name), content=data_of(after),
                    expected_sha256=state_of(before),
                )  # fmt: skip
                return
            changes = [
                FileChange(path=name, before=state_of(old), after=state_of(new), mode=mode)
                for name, (old, new, mode) in effect.paths.items()
            ]
            folders = {name.rpartition("/")[0] for name in effect.move}
            changes += [FileChange(path=name, before=ABSENT, after=FOLDER) for name in sorted(folders)]
            await operations.change_files(op_id=op_id, session_id="s", tool="move_file", changes=changes)

        asyncio.run(self._with_operations(work))

    def undo(self, target: str, choose: Any, refused: bool) -> None:
        async def work(operations: Operations) -> None:
            try:
                await operations.undo(target, choose=choose)
            except UndoConflictError as error:
                if not refused:
                    raise AssertionError(f"refused: {error} {error.conflicts}") from error
            except CircuitAIError as error:
                raise AssertionError(f"not undone: {error}") from error
            else:
                assert not refused, "an undo that had to be refused was carried out"

        asyncio.run(self._with_operations(work))

    def repair(self) -> None:
        asyncio.run(self._with_operations(lambda operations: operations.repair()))

    def records(self) -> tuple[OperationRecord, ...]:
        return asyncio.run(self._with_operations(lambda operations: operations.list()))

    # --- a step, its kill, and the verdict -----------------------------------------------------------

    def carry_out(self, op_id: str, effect: Effect, work: Any) -> None:
        before, after = dict(self.state), self.expected(effect)
        known = {record.op_id for record in self.records()}
        moment = self.rng.randrange(1, 36) if self.rng.random() < 0.5 else 0

        def doomed() -> None:
            if moment:
                die_at(moment)
            work()

        edited = ""
        if life(doomed):
            self.counts["whole"] += 1
            assert on_disk(self.folder) == after, (effect, before, after, on_disk(self.folder))
        else:
            self.counts["killed"] += 1
            self.state = on_disk(self.folder)
            if self.rng.random() < 0.4:
                edited = self.edit_somewhere(tuple(effect.paths))
                self.counts["killed, then edited outside"] += 1
            if self.rng.random() < 0.3:

                def doomed_repair() -> None:
                    die_at(self.rng.randrange(1, 20))
                    self.repair()

                life(doomed_repair)
            life(self.repair)
        self.judge(op_id, effect, before, after, known, edited)

    def judge(
        self, op_id: str, effect: Effect, before: State, after: State, known: set[str], edited: str
    ) -> None:
        found = on_disk(self.folder)
        if edited:
            assert found.get(edited) == self.state.get(edited), ("an outside edit is gone", edited)
        # Of a moved file that is gone from both places nobody can tell from which of them it was deleted.
        loose = {edited}
        if edited and edited not in found:
            partners = {**effect.move, **{old: new for new, old in effect.move.items()}}
            loose |= {partners.get(edited, "")} - found.keys()
        apart = [
            {name: entry for name, entry in files.items() if name not in loose}
            for files in (found, before, after)
        ]
        assert apart[0] in apart[1:], "neither whole nor none:\n" + "\n".join(
            f"{what}: {[(name, entry[0][0], entry[0][3], entry[1]) for name, entry in sorted(files.items())]}"
            for what, files in (("found", found), ("before", before), ("after", after), (edited, {}))
        )
        self.state = found
        records = {record.op_id: record for record in self.records()}
        new = [record for key, record in records.items() if key not in known]
        assert all(record.state in ("done", "abandoned") for record in new), new
        happened = [record for record in new if record.state == "done"]
        if before != after:
            says_after = bool(happened)
            if not edited:
                assert found == (after if says_after else before), (effect, records)
        for record in happened:
            assert not op_id or record.op_id == op_id
            self.effects[record.op_id] = effect
        self.standing = [key for key, record in records.items() if record.state == "done"]
        for record in happened:
            if record.undoes:
                assert records[record.undoes].state == "undone", record


def main() -> None:
    folder, seed, count = Path(sys.argv[1]) / "project", sys.argv[2], int(sys.argv[3])
    os.umask(0o022)
    counts: collections.Counter[str] = collections.Counter()
    for number in range(count):
        try:
            Sequence(folder, random.Random(f"{seed}/{number}"), counts).run()
        except BaseException:
            print(f"sequence {number} of seed {seed}", file=sys.stderr)
            raise
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
