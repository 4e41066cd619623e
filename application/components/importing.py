"""A library file brought into the project or a library folder: looked at, tried in the box, then written.

Nothing is written before everything that can be said of it is known: what is in it, whether ngspice takes
each part, which names are taken already, how sure the order of pins is, and what of another simulator's
syntax is rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from application.components.foreign_text import read_text
from application.components.imported_parts import FoundPart, Trial, has_failed, judged_parts
from application.included_files import content, leans_on
from domain.circuit.netlist import LIBRARY_SUFFIXES, Netlist
from domain.components.component import fault_words
from domain.components.library_text import LibraryText, read_library_text, with_pin_lines
from domain.components.pin_uses import pin_line
from domain.components.trials import TrialDeck, Trials
from domain.simulation.batch import Batch, BatchCircuit, BatchRun
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from application.components.finding import FindComponents
    from application.ports.components import KeepFiles
    from application.ports.project_view import ProjectView
    from application.ports.simulation import BatchSimulator
    from domain.components.component import Component
    from domain.simulation.batch import RunOutcome

MOST_BYTES = 20_000_000
MOST_TRIED = 1_000
"""Components of one file: some ten seconds."""
_AT_ONCE = 250
"""Decks that a guest is handed together."""
IMPORT_TOOL = "import_library"
"""How the log of a project names an import."""
PROJECT_PLACE = "lib"
"""The folder of a project that imported libraries go to."""
_RUN_S = 10.0


class KeptFile(NamedTuple):
    """A file that comes along with a library."""

    name: str
    """Its path from the library's folder."""
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLibrary:
    """What a file is, before anything is written."""

    source: Path
    text: LibraryText
    parts: tuple[FoundPart, ...]
    can_convert: bool
    """What it becomes in ngspice's words does all that it does when it is read as what it is."""
    untried: Message | None = None
    """Why nothing was tried."""
    comes_along: tuple[KeptFile, ...] = ()
    """Files beside it or below that it includes, and those they include."""
    elsewhere: tuple[str, ...] = ()
    """Included, and not beside it, as written."""

    @property
    def is_foreign(self) -> bool:
        """Whether it is written for another simulator, and differs in ngspice's words."""
        return self.text.converted is not self.text.text and self.text.converted != self.text.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLibrary:
    """What was written."""

    path: Path
    op_id: str = ""
    """By which it can be undone; "" outside a project, and where it was there already."""
    was_there: bool = False
    further: tuple[str, ...] = ()
    """Operations that brought the files it includes."""
    copied: tuple[Path, ...] = ()
    """The files it includes, as far as they were not there."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportLibrary:
    """The use case; one instance serves any number of imports."""

    views: Callable[[Path], ProjectView]
    find: FindComponents
    batch: BatchSimulator
    operations: KeepFiles
    write_file: Callable[[Path, bytes], None]

    async def look(
        self,
        source: Path,
        *,
        root: Path | None = None,
        told: Callable[[int, int], object] = lambda _done, _all: None,
    ) -> FoundLibrary:
        """What a file holds, each part tried; `told` hears how many are, of how many.

        Names are compared with the libraries of the user, the program and the project at `root`. Writes
        nothing. Raises UserInputError for what is no library, cannot be read, is encrypted or a drawing.
        """
        data = await off_loop(self._data, source)
        text = await read_text(data, str(source), self.find.cpu)
        if not text.components:
            raise UserInputError(
                msg("{name} has no models and no subcircuits.", name=source.name),
                advice=msg("Choose a file with .model cards or .subckt blocks."),
                file=source,
                error_type="no_library",
            )
        _refuse_unreadable(text, source)
        await self.find.refresh(root)
        names = [each.name for each in text.components]
        held = await off_loop(self.find.index.holders, names, self.find.folders(root))
        untried = None
        outcomes: dict[int, RunOutcome] = {}
        decks: dict[int, TrialDeck] = {}
        can_convert = True
        comes_along, elsewhere = await off_loop(self._included, source, text.text)
        try:
            decks = await self._decks(text, comes_along)
            outcomes = await self._tried(decks, None, told)
            failed = {at: decks[at] for at, outcome in outcomes.items() if has_failed(outcome)}
            if text.mode is not None and failed:
                again = await self._tried(failed, text.mode, lambda _done, _all: None)
                mended = {at: outcome for at, outcome in again.items() if not has_failed(outcome)}
                can_convert = not mended
                outcomes |= mended
        except EnvironmentProblem as error:
            untried = error.message
        parts = await off_loop(judged_parts, text, Trial(decks, outcomes), held, source)
        return FoundLibrary(
            source=source,
            text=text,
            parts=parts,
            can_convert=can_convert,
            untried=untried,
            comes_along=comes_along,
            elsewhere=elsewhere,
        )

    async def write(
        self,
        found: FoundLibrary,
        *,
        uses: Mapping[int, Sequence[str]],
        converts: bool,
        root: Path | None = None,
        folder: Path | None = None,
    ) -> ImportedLibrary:
        """Put it into the project at `root` (an operation that can be undone), else into `folder`.

        `uses`: of the pins of parts, by their place; what the file says already is not written again. An
        equal file that is there already is left and told; another one of that name stays, too. The files it
        includes go first and it goes last: whatever ends this before, no library is there that leans on files
        that are not. Raises UserInputError, CircuitError, EnvironmentProblem.
        """
        data = await off_loop(_written, found, uses, converts=converts)
        name = library_name(found.source)
        if root is not None:
            return await self._put_into_project(root, name, data, found)
        assert folder is not None, "a project or a folder"
        return await off_loop(self._put, folder, name, data, found)

    async def undo(self, root: Path, done: ImportedLibrary) -> None:
        """Take an import into the project back, the files that came along, too.

        Raises CircuitError where one was changed since: it and those before it stay.
        """
        for op_id in (done.op_id, *reversed(done.further)):
            await self.operations.undo(root, op_id)

    async def _put_into_project(
        self, root: Path, name: str, data: bytes, found: FoundLibrary
    ) -> ImportedLibrary:
        missing = await off_loop(_not_there, root / PROJECT_PLACE, found)
        further: list[str] = []
        try:
            for each in missing:
                record = await self.operations.add_file(
                    root, f"{PROJECT_PLACE}/{each.name}", each.data, session_id="", tool=IMPORT_TOOL
                )
                further.append(record.op_id)
            place = f"{PROJECT_PLACE}/{name}"
            copied = tuple(root / PROJECT_PLACE / each.name for each in missing)
            if await off_loop(_has, root / place, data):
                return ImportedLibrary(path=root / place, was_there=True, copied=copied)
            record = await self.operations.add_file(root, place, data, session_id="", tool=IMPORT_TOOL)
        except CircuitAIError:
            for op_id in reversed(further):
                await self.operations.undo(root, op_id)
            raise
        return ImportedLibrary(
            path=root / record.path, op_id=record.op_id, further=tuple(further), copied=copied
        )

    def _put(self, folder: Path, name: str, data: bytes, found: FoundLibrary) -> ImportedLibrary:
        copied = []
        for each in _not_there(folder, found):
            copied.append(folder / each.name)
            copied[-1].parent.mkdir(parents=True, exist_ok=True)
            self.write_file(copied[-1], each.data)
        made = self._put_alone(folder, name, data)
        return replace(made, copied=tuple(copied))

    def _included(self, source: Path, text: bytes) -> tuple[tuple[KeptFile, ...], tuple[str, ...]]:
        view = self.views(source.parent)
        names, elsewhere = leans_on(text, view)
        files = ((name, content(view, name)) for name in names if name != source.name)
        return tuple(KeptFile(name, data) for name, data in files if data is not None), elsewhere

    def _put_alone(self, folder: Path, name: str, data: bytes) -> ImportedLibrary:
        target, number = folder / name, 1
        while target.exists():
            if _has(target, data):
                return ImportedLibrary(path=target, was_there=True)
            number += 1
            target = (folder / name).with_stem(f"{Path(name).stem}_{number}")
        self.write_file(target, data)
        return ImportedLibrary(path=target)

    def _data(self, source: Path) -> bytes:
        view = self.views(source.parent)
        try:
            with view.open(view.locate(source.name)) as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise UserInputError(
                msg("{path} cannot be read: {reason}", path=source, reason=error.strerror or "?"),
                advice=msg("Check the file and its permissions."),
                file=source,
            ) from error
        if len(data) > MOST_BYTES:
            raise UserInputError(
                msg("{name} has more than {what}, which is more than a library is searched for.",
                    name=source.name, what=f"{MOST_BYTES // 1_000_000} MB"),
                advice=msg("Split it into smaller files."),
                file=source,
            )  # fmt: skip
        return data

    async def _decks(self, text: LibraryText, comes_along: Sequence[KeptFile]) -> dict[int, TrialDeck]:
        size = len(text.converted) + sum(len(each.data) for each in comes_along)
        if size < 40_000:
            return await off_loop(_made_decks, text.converted, text.converted_components, comes_along)
        return await self.find.cpu().run(_made_decks, text.converted, text.converted_components, comes_along)

    async def _tried(
        self, decks: Mapping[int, TrialDeck], mode: str | None, told: Callable[[int, int], object]
    ) -> dict[int, RunOutcome]:
        """What each deck gave, by the place of its component."""
        found: dict[int, RunOutcome] = {}
        every = list(decks)
        for first in range(0, len(every), _AT_ONCE):
            places = every[first : first + _AT_ONCE]
            batch = _batch_of([decks[place] for place in places], mode)
            outcomes = cast("AsyncGenerator[RunOutcome, None]", self.batch.run(batch, workers=1))
            async with aclosing(outcomes):
                async for outcome in outcomes:
                    found[places[outcome.run_id]] = outcome
                    told(len(found), len(every))
        return found


def library_name(source: Path) -> str:
    """The name it is kept under: with a suffix by which libraries are found."""
    return source.name if source.suffix.lower() in LIBRARY_SUFFIXES else f"{source.stem}.lib"


def _refuse_unreadable(text: LibraryText, source: Path) -> None:
    """A file that is no text has no parts; what stands for it says why."""
    whole = next((each for each in text.components if each.card == "file"), None)
    fault = None if whole is None else fault_words(whole)
    if fault is not None:
        raise UserInputError(fault[0], advice=fault[1], file=source, error_type="no_library")


def _batch_of(decks: Sequence[TrialDeck], mode: str | None) -> Batch:
    analyses = Netlist.parse(b"t\n.op\n").analyses
    place = Path("/trial.cir")
    return Batch(
        circuits=tuple(
            BatchCircuit(deck=one.deck, deck_path=place, varied=(), analyses=analyses, compatibility=mode)
            for one in decks
        ),
        runs=tuple(BatchRun(run_id=at, circuit=at, values=()) for at in range(len(decks))),
        signals=(),
        timeout_s=_RUN_S,
    )


def _made_decks(
    text: bytes, components: Sequence[Component], comes_along: Sequence[KeptFile]
) -> dict[int, TrialDeck]:
    """A deck for each component of a library, in its order; what it includes stands behind it."""
    own, whole, every = _lines_of(text), text, list(components)
    for each in comes_along:
        try:
            further = read_library_text(each.data, each.name)
        except UserInputError:  # encrypted, a drawing: what needs it is told to lack it
            continue
        before = _lines_of(whole)
        every += [
            one._replace(line=one.line + before, last_line=one.last_line + before)
            for one in further.converted_components
        ]
        whole += b"\n" + further.converted
    trials = Trials(whole, every)
    decks: dict[int, TrialDeck] = {}
    for at, component in enumerate(components):
        if len(decks) >= MOST_TRIED:
            break
        if (deck := trials.deck(component)) is not None:
            told = tuple(line if line <= own else 0 for line in deck.lines)
            decks[at] = deck._replace(lines=told)
    return decks


def _lines_of(text: bytes) -> int:
    return len(re.split(rb"\r\n|\n|\r", text))


def _not_there(folder: Path, found: FoundLibrary) -> list[KeptFile]:
    """The files a library includes that are not at their places below `folder` yet.

    Raises UserInputError where another one is at such a place, or a link leads out of the folder.
    """
    missing = []
    for each in found.comes_along:
        place = folder / each.name
        if _has(place, each.data):
            continue
        if place.exists() or not place.resolve().is_relative_to(folder.resolve()):
            raise UserInputError(
                msg("{path} exists already with another text, and {name} includes a file of that name.",
                    path=place, name=found.source.name),
                advice=msg("Choose another folder, or rename the file that is there."),
                file=place,
                error_type="target_exists",
            )  # fmt: skip
        missing.append(each)
    return missing


def _has(path: Path, data: bytes) -> bool:
    try:
        return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:  # then it is another one
        return False


def _written(found: FoundLibrary, uses: Mapping[int, Sequence[str]], *, converts: bool) -> bytes:
    """The file as it is kept: with the uses of pins that the file itself does not tell."""
    is_converted = converts and found.is_foreign
    text = found.text.converted if is_converted else found.text.text
    components = found.text.converted_components if is_converted else found.text.components
    lines = [
        (components[at].line, pin_line(words))
        for at, words in sorted(uses.items())
        if tuple(words) != (components[at].roles or components[at].ports)
    ]
    return with_pin_lines(text, lines)
