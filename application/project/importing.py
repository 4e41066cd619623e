"""Files of other programs read: schematics of LTspice and KiCad, netlists of Qucs and scripts of PySpice
become netlists of ngspice, Touchstone files become curves to be laid over others.

A script is a program: it is followed as far as it says a circuit, and never run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING

from application.included_files import content, leans_on, place_of
from application.project.beside import Beside
from domain.circuit.dependencies import Definer, SourceRefusal, resolve_dependencies
from domain.circuit.exchange.qucs import looks_like_qucs, read_qucs
from domain.circuit.exchange.suffixes import ports_of
from domain.circuit.hierarchy import read_circuit
from domain.circuit.ltspice_schematic import Converted, NoSheet, netlist_of, read_sheet
from domain.circuit.ltspice_symbols import path_of
from domain.circuit.netlist import Netlist
from domain.circuit.stand_ins import stand_ins_for
from domain.simulation.output_names import outputs_of
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.project_view import ProjectView
    from domain.circuit.kicad.netlist import Converted as KicadConverted
    from domain.simulation.ltspice_plots import PlotSettings

KICAD_SUFFIX = ".kicad_sch"
_MOST_NAMED = 8
_MOST_FOLDERS = 4
"""Of a path of another computer that are looked for here."""
_SCRIPTS = (".py", ".pyw", ".ipynb")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundImport:
    """What a file is, before anything is written."""

    source: Path
    data: bytes
    """A netlist, or a raw file of curves."""
    missing: tuple[Message, ...] = ()
    """Parts that are not in it, and why."""
    notes: tuple[Message, ...] = ()
    libraries: tuple[str, ...] = ()
    """Files beside `source` that the netlist includes, and those they include, relative to its folder."""
    elsewhere: tuple[str, ...] = ()
    """Included, and not beside it, as written: looked for in the library folders when it is simulated."""
    plots: tuple[PlotSettings, ...] = ()
    """How the curves of each analysis were looked at, by LTspice's file beside a sheet; without one, the
    nodes that the sheet draws as output ports, where none is called an output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was made of a file."""

    path: Path
    """A netlist, or a raw file of curves."""
    missing: tuple[Message, ...]
    """Parts that are not in it, and why."""
    notes: tuple[Message, ...]
    copied: tuple[Path, ...] = ()
    """Libraries that came along."""
    plots: tuple[PlotSettings, ...] = ()
    """As in `FoundImport`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportFile:
    """The use case."""

    views: Callable[[Path], ProjectView]
    write_file: Callable[[Path, bytes], None]
    libraries: Callable[[], Sequence[Path]]
    """Folders of symbols and models that every drawing may lean on."""

    async def __call__(
        self, source: Path, target: Path, *, overwrite: bool = False, libraries: Sequence[Path] = ()
    ) -> Imported:
        """Write what `source` is to `target`; see `target_of` for its usual place.

        Symbols and sheets that a schematic leans on are looked for in its folder and below, in `libraries`
        and in the library folders of the settings. Raises UserInputError for what is of no known form,
        cannot be read, or would be written over; EnvironmentProblem when it can't be written.
        """
        return await off_loop(self._import, source, target, overwrite, libraries)

    async def look(self, source: Path, *, libraries: Sequence[Path] = ()) -> FoundImport:
        """What `source` is, and what it leans on. Writes nothing; raises UserInputError as a call does."""
        return await off_loop(self._look, source, libraries)

    async def write(self, found: FoundImport, target: Path) -> Imported:
        """Write what was found to `target`, and the libraries beside it, where no file has their name yet.

        Raises UserInputError where `target` is there already, EnvironmentProblem when it can't be written.
        """
        return await off_loop(self._write, found, target, overwrite=False)

    def _import(self, source: Path, target: Path, overwrite: bool, libraries: Sequence[Path]) -> Imported:
        if not overwrite:
            _refuse_taken(target)
        return self._write(self._look(source, libraries), target, overwrite=overwrite)

    def _look(self, source: Path, libraries: Sequence[Path]) -> FoundImport:
        folders = (each for each in (*libraries, *self.libraries()) if each.is_dir())
        further = tuple(map(self.views, dict.fromkeys(folders)))
        data, missing, notes, outputs = self._read(source, Beside(self.views(source.parent), further))
        found = FoundImport(source=source, data=data, missing=missing, notes=notes)
        if ports_of(source.name) is not None:
            return found
        view = self.views(source.parent)
        data, moved = _named_beside(data, view)
        found = replace(found, data=data, notes=(notes := (*notes, *moved)))
        come_along, not_there = leans_on(data, view)
        if source.suffix.lower() == ".asc":
            beside = b"\n".join(content(view, name) or b"" for name in come_along)
            notes = (*notes, *_parts_of_ltspice(data, beside))
            plots, told = _plots(source, data, Beside(view), outputs)
            found = replace(found, notes=(*notes, *told), plots=plots)
        return replace(found, libraries=come_along, elsewhere=not_there)

    def _write(self, found: FoundImport, target: Path, *, overwrite: bool) -> Imported:
        if not overwrite:
            _refuse_taken(target)
        if target in {target.parent / name for name in found.libraries}:
            raise _taken(target)
        copied = []
        view = self.views(found.source.parent)
        for name in found.libraries:
            place = target.parent / name
            if not place.exists() and _made_room(place, target.parent):
                with view.open(place_of(view, name)) as file:
                    self.write_file(place, file.read())
                copied.append(place)
        self.write_file(target, found.data)
        return Imported(
            path=target,
            missing=found.missing,
            notes=found.notes,
            copied=tuple(copied),
            plots=found.plots,
        )

    def _read(
        self, source: Path, beside: Beside
    ) -> tuple[bytes, tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
        """The netlist or the curves, what is missing, what was assumed, and the sheet's output ports."""
        text = beside.read(source.name)
        if source.suffix.lower() in _SCRIPTS:
            return (*_script(source, text or ""), ())
        if text is not None and ports_of(source.name) is not None:
            from domain.simulation.touchstone import raw_file, read_touchstone  # numpy

            network = read_touchstone(text, source.name)
            return raw_file(network, source.name), (), network.notes, ()
        if text is not None and source.suffix.lower() != ".asc" and looks_like_qucs(text):
            read = read_qucs(text, source.name)
            return read.text.encode("utf-8"), tuple(read.missing), tuple(read.notes), ()
        if text is not None and source.suffix.lower() == KICAD_SUFFIX:
            drawn = _kicad_sheet(source, text, beside)
            return drawn.text.encode("utf-8"), drawn.missing, drawn.notes, ()
        found = _sheet(source, text, beside)
        return found.text.encode("utf-8"), found.missing, found.notes, found.outputs


class _NoFiles:
    """Hands out nothing: what is asked is what a netlist holds by itself. Implements SourceReader."""

    def read(self, reference: str, *, including_file: Path) -> SourceRefusal:
        return SourceRefusal(including_file.parent / reference, "missing")

    def find(self, name: str) -> Path | None:  # noqa: ARG002 - the port's name
        return None

    def defining(self, name: str, *, including_file: Path) -> Definer | None:  # noqa: ARG002 - the port's names
        return None


def _plots(
    source: Path, data: bytes, beside: Beside, outputs: Sequence[str]
) -> tuple[tuple[PlotSettings, ...], tuple[Message, ...]]:
    """What LTspice's plot settings beside the sheet say, and what of them means nothing here; without them,
    the `outputs` of the sheet."""
    file = f"{source.stem}.plt"
    text = beside.find_beside(file)
    if text is None and not outputs:
        return (), ()
    from domain.simulation.ltspice_plots import plots_of, read_plots  # numpy

    netlist = Netlist.parse(data, path=Path("/sheet.cir"))
    circuit = read_circuit(resolve_dependencies(netlist, _NoFiles()))
    placed = [each.element for each in circuit.top.elements]
    nodes = {node.key for element in placed for node in element.nodes}
    if text is None:
        if outputs_of(f"v({node})" for node in nodes):
            return (), ()
        return plots_of(outputs, nodes, [analysis.kind for analysis in netlist.analyses]), ()
    read = read_plots(text, nodes, {element.name.lower() for element in placed})
    if not read.lost:
        return read.plots, ()
    names = ", ".join([*read.lost[:_MOST_NAMED], *["…"] * (len(read.lost) > _MOST_NAMED)])
    return read.plots, (
        msg("{file}: these curves have no counterpart here: {names}.", file=file, names=names),
    )


def _named_beside(data: bytes, view: ProjectView) -> tuple[bytes, tuple[Message, ...]]:
    """A netlist whose libraries of another computer's folders are named plainly where they lie beside it or
    below, by the last of those folders that are there."""
    renamed, called = data, {}
    for written in leans_on(data, view)[1]:
        path = PureWindowsPath(written)  # which reads the paths of other systems too
        is_share = path.drive.startswith("\\\\")  # a stranger's server is not asked whether it has a file
        if not path.root or (not is_share and Path(written).is_file()):
            continue
        file = _below(path, view)
        there = renamed.replace(written.encode(), file.encode())
        if there != renamed:
            renamed, called[written] = there, file
    beside = frozenset(leans_on(renamed, view)[0]) if called else ()
    called = {written: file for written, file in called.items() if file in beside}
    for written, file in called.items():
        data = data.replace(written.encode(), file.encode())
    return data, tuple(
        msg("{path} is not on this computer; {file} beside the sheet is taken.", path=written, file=file)
        for written, file in called.items()
    )


def _below(path: PureWindowsPath, view: ProjectView) -> str:
    """The end of a path that leads to a file of the folder, with the most folders in it; else its name."""
    for count in range(min(_MOST_FOLDERS, len(path.parts) - 2), 0, -1):
        name = "/".join(path.parts[-count - 1 :])
        try:
            place_of(view, name)
        except (UserInputError, OSError):  # there is none
            continue
        return name
    return path.name


def _parts_of_ltspice(data: bytes, beside: bytes) -> tuple[Message, ...]:
    """What LTspice finds in its own library, by name, where none of the files beside the sheet has it."""
    from domain.circuit.translation import translate

    done = translate(Netlist.parse(data, path=Path("/sheet.cir")), "ltspice")
    if not done.may_lack_parts:
        return ()
    parts = stand_ins_for(read_circuit(resolve_dependencies(done.netlist, _NoFiles())))
    there = beside.lower()
    names = [part.name for part in parts if part.name.lower().encode() not in there]
    if not names:
        return ()
    more = ["…"] * (len(names) > _MOST_NAMED)
    told = msg(
        "{names}: of LTspice's own library. Where that is in no library folder, our generic models are used "
        "instead, and each run says so.",
        names=", ".join([*names[:_MOST_NAMED], *more]),
    )
    return (told,)


def target_of(source: Path) -> Path:
    """Where what is made of a file goes, unless told otherwise."""
    return source.with_suffix(".raw" if ports_of(source.name) is not None else ".cir")


def _refuse_taken(target: Path) -> None:
    if target.exists():
        raise _taken(target)


def _taken(target: Path) -> UserInputError:
    return UserInputError(
        msg("{path} exists already.", path=target),
        advice=msg("Choose another name."),
        file=target,
        error_type="target_exists",
    )


def _made_room(place: Path, folder: Path) -> bool:
    """Make the folders in `folder` that lead to `place`; False where a link of that name leads out of it, or
    where there is no such folder, which is told when the netlist is written.

    Raises EnvironmentProblem where they can't be made.
    """
    if not folder.is_dir() or not place.resolve().is_relative_to(folder.resolve()):
        return False
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentProblem(
            msg("{path} cannot be written: {reason}", path=place, reason=error.strerror or str(error)),
            error_type="cannot_write",
        ) from error
    return True


def _script(source: Path, text: str) -> tuple[bytes, tuple[Message, ...], tuple[Message, ...]]:
    from domain.circuit.exchange.pyspice_reading import NotPySpice, looks_like_pyspice, read_pyspice

    try:
        if not looks_like_pyspice(text):
            raise NotPySpice(source.name)
        read = read_pyspice(text, source.stem)
    except NotPySpice as error:
        raise UserInputError(
            msg("{name} is a program that builds no circuit with PySpice; it is not run.", name=source.name),
            advice=msg("Have it print its netlist, and open that."),
            file=source,
            error_type="is_a_program",
        ) from error
    return read.text.encode("utf-8"), tuple(read.missing), tuple(read.notes)


def _kicad_sheet(source: Path, text: str, beside: Beside) -> KicadConverted:
    from domain.circuit.kicad.netlist import netlist_of as kicad_netlist
    from domain.circuit.kicad.sheet import NoSheet as NoKicadSheet

    try:
        return kicad_netlist(text, title=source.name, find=beside.find_at)
    except NoKicadSheet as error:
        raise UserInputError(
            msg("{path} cannot be read as a KiCad schematic.", path=source),
            advice=msg("Open it in KiCad (6 or later), save it, and import it again."),
            file=source,
            error_type="not_a_schematic",
        ) from error


def _sheet(source: Path, text: str | None, beside: Beside) -> Converted:
    if text is not None and source.suffix.lower() != ".asc":
        raise UserInputError(
            msg("{name} is not of a form that can be imported.", name=source.name),
            advice=msg(
                "Schematics of LTspice (.asc) and KiCad (.kicad_sch), Touchstone files (.s2p), netlists of "
                "Qucs and scripts of PySpice are. Have its own program write a netlist, and open that."
            ),
            file=source,
            error_type="unknown_format",
        )
    try:
        sheet = None if text is None else read_sheet(text)
    except NoSheet:
        sheet = None
    if sheet is None:
        raise UserInputError(
            msg("{path} cannot be read as an LTspice schematic.", path=source)
            if source.suffix.lower() == ".asc"
            else msg("{path} cannot be read.", path=source),
            advice=msg("Check that the file is there and begins with “Version”.")
            if source.suffix.lower() == ".asc"
            else None,
            file=source,
            error_type="not_a_schematic",
        )
    converted = netlist_of(sheet, title=source.name, find=beside.find, find_beside=beside.find_beside)
    passed_over = {f"{path_of(symbol)}.asy" for symbol in converted.passed_over}
    others = tuple(
        msg(
            "The folder of the symbol {symbol} is not here: {file} beside the sheet was taken. Check that it "
            "is the same part.",
            symbol=name.removesuffix(".asy").replace("/", "\\"),
            file=file,
        )
        for name, file in beside.elsewhere.items()
        if name.lower() not in passed_over
    )
    return replace(converted, notes=(*others, *converted.notes))
