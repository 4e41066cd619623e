"""What a circuit's own commands (`.control`, `*#`) do, and the copy that keeps what they compute.

ngspice 39, as tried: the commands of all blocks, included ones too, are one script, run in the order in which
ngspice reads them once the circuit is there; behind `.end` it reads on. What they compute stays in its memory
as plots (`op1`, `tran2` ...) and is gone with the process, unless it is written. In batch mode with `-r` the
circuit's analysis cards are run after the script, once more when it had `run` in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from domain.circuit.netlist import Netlist
from shared.late_patterns import late_pattern

if TYPE_CHECKING:
    from domain.circuit.dependencies import DependencyTree

PIECE_PREFIX = "kept-plot_"
"""What the files begin with that each hold one plot of the commands."""
ORDER_NAME = "kept-plots.order"
"""The file with the names of the plots in the order in which they were made."""
KEEP_NAME = "keep-plots.cmd"
"""The script beside the circuit that writes the plots."""
_QUIT_NAME = "keep-plots-and-quit"
_RUNS = frozenset(("run", "rerun"))
_QUIT = late_pattern(r"(?P<head>(?:\*#\s*)?)(?:quit|exit)(?:\s+(?P<code>\d+))?(?:\s.*)?", re.IGNORECASE)
_PLOTTING = frozenset(("plot", "gnuplot", "hardcopy", "asciiplot", "iplot"))
_WITH_FILE = frozenset(("gnuplot", "hardcopy"))
_ANALYSES = frozenset(("tran", "ac", "dc", "op", "noise", "disto", "sp", "tf", "sens", "pz"))
_OPTIONS = {
    "xlimit": 2, "ylimit": 2, "xl": 2, "yl": 2, "xcompress": 1, "xdelta": 1, "ydelta": 1, "xindices": 2,
    "title": 1, "xlabel": 1, "ylabel": 1, "xlog": 0, "ylog": 0, "loglog": 0, "linlog": 0, "loglin": 0,
    "linear": 0, "nogrid": 0, "linplot": 0, "combplot": 0, "pointplot": 0, "nointerp": 0, "polar": 0,
    "smith": 0, "smithgrid": 0, "digitop": 0, "sgraphid": 1, "kicad": 0, "plainplot": 0, "nolegend": 0,
}  # fmt: skip
"""Words of a `plot` command that are no curves, with how many words belong to each."""
_READING = frozenset(("source", "load", "codemodel", "osdi", "pre_codemodel", "pre_osdi"))
_WRITING = frozenset(("write", "wrdata", "wrs2p", "hardcopy", "gnuplot", "snsave"))
_FOLDER = late_pattern(r"\w[\w+-]*(?:[. ][\w+-]+)*")
_DEEPEST = 4
_MOST_FOLDERS = 32
_OF_PLOT = late_pattern(r"(?<![\w.])(?P<kind>[a-z]+)\d+\.(?=[\w@])", re.IGNORECASE)
_WORDS = late_pattern(r"""'[^']*'|"[^"]*"|\S+""")
_COMMENT = late_pattern(r"\s;|\s\$\s|^\$\s")
# One file a plot: `write` gives vectors of another scale as further plots of the file, and the name of a
# plot is not in it. A deck that asked for text gets binary here: all digits. Without padding a single
# number stays one.
_KEEP_SCRIPT = (
    "*ng_script",
    "set filetype=binary",
    "set appendwrite",
    "set nopadding",
    f"echo $plots > {ORDER_NAME}",
    "foreach keptplotname $plots",
    "setplot $keptplotname",
    f"write {PIECE_PREFIX}$keptplotname",
    "end",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCommand:
    """One command of a circuit."""

    words: tuple[str, ...]
    """As written; the first is the command."""
    file: Path | None
    """The file it stands in; None for one without a path."""
    line: int

    @property
    def name(self) -> str:
        return self.words[0].lower()


def commands_of(tree: DependencyTree) -> list[ControlCommand]:
    """All commands of a circuit and of what it includes, file by file."""
    return [command for netlist in (tree.root, *tree.files.values()) for command in commands_of_file(netlist)]


def commands_of_file(netlist: Netlist) -> Iterator[ControlCommand]:
    for statement in netlist.statements:
        if statement.kind != "control":
            continue
        text = statement.text.strip().removeprefix("*#").strip()
        if comment := _COMMENT.search(text):
            text = text[: comment.start()]
        words = text.split()
        if words and not words[0].lower().startswith((".control", ".endc")):
            yield ControlCommand(words=tuple(words), file=netlist.path, line=statement.line)


def read_files(commands: Sequence[ControlCommand]) -> tuple[str, ...]:
    """The files that commands read, as written: `source`, `load`, `codemodel`, `osdi`."""
    names = [word for command in commands if command.name in _READING for word in command.words[1:]]
    return tuple(dict.fromkeys(name.strip("\"'") for name in names if "$" not in name))


def assigned_vectors(commands: Sequence[ControlCommand]) -> tuple[str, ...]:
    """The vectors that commands make or replace, in lower case: what stands in them no analysis computed.

    A variable in a name may be anything: ``*``, as for what is loaded from a file.
    """
    found: dict[str, None] = {}
    for command in commands:
        if command.name == "load":
            found["*"] = None
        if command.name not in ("let", "compose"):
            continue
        rest = " ".join(command.words[1:]).lower()
        name = rest.partition("=" if command.name == "let" else " ")[0].partition("[")[0]
        name = _VARIABLE.sub("*", "".join(name.split()))
        name = name if len(name) <= _LONGEST_VECTOR else "*"
        if name:
            found |= dict.fromkeys((name, name.rpartition(".")[2] if "(" not in name else _bare(name)))
    return tuple(found)[:_MOST_ASSIGNED]


def _bare(name: str) -> str:
    """Without the plot: ``tran1.v(out)``."""
    head, bracket, rest = name.partition("(")
    return head.rpartition(".")[2] + bracket + rest


_VARIABLE = late_pattern(r"\$(?:&?[\w#]+|\{[^}]*\})")
_MOST_ASSIGNED = 1000
_LONGEST_VECTOR = 200


def written_folders(commands: Sequence[ControlCommand]) -> tuple[str, ...]:
    """The folders inside the run's own that commands write into (``write out/a.raw``), outer ones first.

    ngspice makes none itself. Paths that lead elsewhere are left out.
    """
    found: dict[str, None] = {}
    for command in commands:
        for target in _targets(command):
            parts = target.strip("\"'").split("/")[:-1]
            plain = [part for part in parts if part != "."]
            if plain and len(plain) <= _DEEPEST and all(map(_FOLDER.fullmatch, plain)):
                for spelt in (plain, [part.lower() for part in plain]):
                    found |= dict.fromkeys("/".join(spelt[:depth]) for depth in range(1, len(spelt) + 1))
    return tuple(found)[:_MOST_FOLDERS]


def _targets(command: ControlCommand) -> Iterator[str]:
    if command.name in _WRITING and len(command.words) > 1:
        yield command.words[1]
    for word, following in zip(command.words, (*command.words[1:], ""), strict=True):
        if word in (">", ">>", ">&"):
            yield following
        elif word.startswith(">"):
            yield word.lstrip(">&")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedCurves:
    """What one `plot` command shows."""

    analysis: str
    """Kind of the analysis that was done last before it; "" for whatever `run` gives."""
    expressions: tuple[str, ...]
    """As written, without the names of plots: ``v(out)``, ``vdb(out)``."""


def plotted_curves(commands: Sequence[ControlCommand]) -> tuple[PlottedCurves, ...]:
    """What the `plot` commands (gnuplot, hardcopy, asciiplot too) show, in order. Curves over another signal
    (``vs``) and those made with variables are left out."""
    found: list[PlottedCurves] = []
    last = ""
    for command in commands:
        if command.name in _ANALYSES:
            last = command.name
        elif command.name in _RUNS:
            last = ""
        elif command.name in _PLOTTING:
            words = _WORDS.findall(" ".join(command.words[1 + (command.name in _WITH_FILE) :]))
            by_analysis: dict[str, list[str]] = {}
            for text in _curves(words):
                named = {match["kind"].lower() for match in _OF_PLOT.finditer(text)} & _ANALYSES
                kind = named.pop() if len(named) == 1 else last
                by_analysis.setdefault(kind, []).append(_OF_PLOT.sub("", text))
            found += [
                PlottedCurves(analysis=kind, expressions=tuple(part)) for kind, part in by_analysis.items()
            ]
    return tuple(dict.fromkeys(found))


def _curves(words: Sequence[str]) -> Iterator[str]:
    if any(word.lower() == "vs" for word in words):
        return
    skipped = 0
    for word in words:
        if skipped:
            skipped -= 1
        elif word.lower().partition("=")[0] in _OPTIONS:
            skipped = 0 if "=" in word else _OPTIONS[word.lower()]
        elif "$" not in word and word.lower() not in ("all", "allv", "alli") and word[:1] not in "'\"":
            yield word


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPlots:
    """A circuit whose commands end by writing every plot."""

    tree: DependencyTree
    scripts: dict[str, bytes]
    """What belongs beside it, by file name."""
    quits: bool
    """ngspice ends with the commands, and does not go on to the analysis cards."""


def stops_itself(tree: DependencyTree) -> bool:
    """`.options autostop`: a transient analysis ends when its `.meas` cards have their values.

    With `-r` ngspice 39 ends it at its beginning and measures nothing; `run` without it does what is meant.
    """
    return any(
        field.key == "autostop"
        for netlist in (tree.root, *tree.files.values())
        for card in netlist.directives("options")
        for field in card.fields
    )


def keeping_plots(tree: DependencyTree, *, has_analyses: bool, runs: bool = False) -> KeptPlots:
    """A copy of the circuit whose commands end by writing every plot.

    `has_analyses`: the circuit has analysis cards. The lines stay in place: a `quit` is replaced by a script
    that writes and quits, and what is added stands at the end. When the commands run the analysis cards
    themselves, or there are none, the run ends with the commands; else ngspice goes on to the cards. With
    `runs` the cards are run by a command of ours.
    """
    scripts = {KEEP_NAME: _script(_KEEP_SCRIPT)}
    root = _with_kept_quits(tree.root, scripts)
    files = {path: _with_kept_quits(netlist, scripts) for path, netlist in tree.files.items()}
    changed = {path: netlist for path, netlist in files.items() if netlist is not tree.files[path]}
    quits = runs or not has_analyses or any(command.name in _RUNS for command in commands_of(tree))
    cards = [
        ".control",
        *(["run"] if runs else []),
        f"source {KEEP_NAME}",
        *(["quit"] if quits else []),
        ".endc",
    ]
    root = root.with_cards([".endc", *cards] if _is_open_at_end(root) else cards)
    return KeptPlots(tree=tree.with_texts(root, changed), scripts=scripts, quits=quits)


def _is_open_at_end(netlist: Netlist) -> bool:
    """Its last block lacks its `.endc`; ngspice ends it with the file."""
    is_open = False
    for statement in netlist.statements:
        lowered = statement.text.lower()
        is_open = statement.kind == "control" and not lowered.startswith((".endc", "*#"))
    return is_open


def _with_kept_quits(netlist: Netlist, scripts: dict[str, bytes]) -> Netlist:
    edits = []
    for statement in netlist.statements:
        if statement.kind == "control" and (quits := _QUIT.fullmatch(statement.text)):
            name = f"{_QUIT_NAME}-{len(scripts)}.cmd"
            scripts[name] = _script((*_KEEP_SCRIPT, f"quit {quits['code'] or ''}".rstrip()))
            place = statement.chunks[0]
            edits.append((place.start + len(quits["head"]), place.start + place.length, f"source {name}"))
    return netlist.edited(edits) if edits else netlist


def _script(lines: tuple[str, ...]) -> bytes:
    return ("\n".join(lines) + "\n").encode()
