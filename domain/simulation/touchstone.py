"""Touchstone files: network parameters over frequency, as network analyzers and field solvers write them.

Source: Touchstone File Format Specification, version 2.1 (IBIS Open Forum). Version 1 is read and written
(.s1p to .s99p), and of version 2 what means the same. A 2-port's rows are 11, 21, 12, 22; those of others go
row by row. Noise data behind the network data (2-ports; the frequency begins again) is left out and told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from domain.circuit.exchange.suffixes import ports_of
from shared.errors import UserInputError
from shared.late_patterns import late_pattern
from shared.message import Message, msg

MOST_PORTS = 32
_SCALES = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
_KINDS = frozenset(("s", "y", "z", "g", "h"))
_FORMS = frozenset(("ma", "db", "ri"))
_KEYWORD = late_pattern(r"\[(?P<name>[^\]]*)\]\s*(?P<value>.*)$")
_PER_LINE = 4
"""Pairs of numbers in a line of a network with more than two ports."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Parameters of a network over frequency."""

    kind: str
    """s, y, z, g or h."""
    reference_ohm: float
    frequencies: np.ndarray
    """Hz, rising."""
    values: np.ndarray
    """Complex; frequency, row, column; of kind y, z, g and h in SI units."""
    notes: tuple[Message, ...] = ()

    @property
    def ports(self) -> int:
        return int(self.values.shape[1])

    def signals(self) -> Mapping[str, np.ndarray]:
        """By name: ``s11``, or ``s_1_1`` where that would be read wrongly."""
        mark = "" if self.ports < 10 else "_"
        return {
            f"{self.kind}{mark}{row + 1}{mark}{column + 1}": self.values[:, row, column]
            for row, column in product(range(self.ports), repeat=2)
        }


@dataclass(slots=True)
class _Head:
    """What a file says of its numbers."""

    ports: int | None
    scale: float = 1e9
    kind: str = "s"
    form: str = "ma"
    reference: float = 50.0
    order: str = "21_12"
    is_version_2: bool = False
    has_option: bool = False

    def take_option(self, line: str, at: int) -> None:
        """``# GHz S MA R 50``; a second one does not count."""
        if self.has_option:
            return
        self.has_option = True
        words = iter(line[1:].lower().split())
        for word in words:
            if word in _SCALES:
                self.scale = _SCALES[word]
            elif word in _KINDS:
                self.kind = word
            elif word in _FORMS:
                self.form = word
            elif word == "r":
                self.reference = _number(next(words, ""), at)
            else:
                raise _wrong(at, msg("{word} is not known", word=word[:20]))

    def take_keyword(self, word: str, value: str, at: int) -> bool:
        """``[Number of Ports] 2``; whether the network data end here."""
        match word:
            case "version":
                self.is_version_2 = True
            case "number of ports":
                self.ports = _whole(value, at)
            case "two-port data order":
                self.order = value.lower()
            case "reference" if value:
                self.reference = _number(value.split(maxsplit=1)[0], at)
            case "matrix format" if value.lower() != "full":
                raise _wrong(at, msg("only full matrices are read"))
        return word in ("noise data", "end")


def read_touchstone(text: str, name: str) -> Network:
    """The network of a file. Raises UserInputError ("bad_touchstone") with the line that is wrong."""
    head = _Head(ports_of(name))
    numbers: list[float] = []
    for at, written in enumerate(text.splitlines(), 1):
        line = written.split("!", 1)[0].strip()
        if line.startswith("#"):
            head.take_option(line, at)
        elif match := _KEYWORD.match(line):
            if head.take_keyword(match["name"].strip().lower(), match["value"].strip(), at):
                break
        else:
            numbers += [_number(each, at) for each in line.split()]
    ports = head.ports
    if ports is None or not 1 <= ports <= MOST_PORTS:
        raise _wrong(0, msg("its name must say the number of ports, at most {count}: .s2p", count=MOST_PORTS))
    if not math.isfinite(head.reference) or head.reference <= 0:
        raise _wrong(0, msg("its reference resistance must be above 0"))
    table, notes = _rows(numbers, ports)
    pairs = table[:, 1:].reshape(len(table), -1, 2)
    values = _complex(pairs, head.form).reshape(len(table), ports, ports)
    if ports == 2 and head.order != "12_21":
        values = values.transpose(0, 2, 1)
    return Network(
        kind=head.kind,
        reference_ohm=head.reference,
        frequencies=table[:, 0] * head.scale,
        values=values if head.is_version_2 else _in_si(values, head.kind, head.reference),
        notes=notes,
    )


def touchstone_text(network: Network, *, comment: str = "") -> str:
    """A file of version 1: Hz, real and imaginary parts with all their digits."""
    ports = network.ports
    values = network.values if ports != 2 else network.values.transpose(0, 2, 1)
    if network.kind != "s":
        raise ValueError(network.kind)
    lines = [f"! {' '.join(comment.split())}", f"# Hz S RI R {network.reference_ohm:.17g}"]
    for frequency, matrix in zip(network.frequencies, values, strict=True):
        rows = [matrix.reshape(-1)] if ports <= 2 else list(matrix)
        pieces = [row[at : at + _PER_LINE] for row in rows for at in range(0, len(row), _PER_LINE)]
        for number, piece in enumerate(pieces):
            head = f"{frequency:.17g}" if number == 0 else ""
            lines.append(" ".join((head, *(f"{each.real:.17g} {each.imag:.17g}" for each in piece))))
    return "\n".join((*lines, ""))


def raw_file(network: Network, title: str) -> bytes:
    """The network as a raw file of ngspice: what the plot overlays."""
    signals = network.signals()
    columns = [network.frequencies.astype(complex), *signals.values()]
    head = [
        f"Title: {' '.join(title.split())}",
        "Date: ",
        "Plotname: AC Analysis",
        "Flags: complex",
        f"No. Variables: {len(columns)}",
        f"No. Points: {len(network.frequencies)}",
        "Variables:",
        "\t0\tfrequency\tfrequency",
        *(f"\t{number}\t{name}\tnotype" for number, name in enumerate(signals, 1)),
        "Binary:",
    ]
    return ("\n".join(head) + "\n").encode() + np.column_stack(columns).astype("<c16").tobytes()


def _rows(numbers: Sequence[float], ports: int) -> tuple[np.ndarray, tuple[Message, ...]]:
    """A row a frequency; noise data behind them cut off."""
    width = 1 + 2 * ports * ports
    count = len(numbers) // width
    table = np.array(numbers[: count * width], dtype=float).reshape(count, width)
    falls = np.flatnonzero(np.diff(table[:, 0]) <= 0) if count > 1 else np.array([], dtype=int)
    notes: tuple[Message, ...] = ()
    if ports == 2 and (len(falls) or len(numbers) % width):
        last = int(falls[0]) + 1 if len(falls) else count
        rest = len(numbers) - last * width
        if rest % 5:
            raise _wrong(0, msg("the last line is not complete, or the frequencies do not rise"))
        table, notes = table[:last], (msg("The noise data are left out."),)
    elif len(falls) or len(numbers) % width:
        raise _wrong(0, msg("the last line is not complete, or the frequencies do not rise"))
    if not len(table):
        raise _wrong(0, msg("it has no data"))
    return table, notes


def _complex(pairs: np.ndarray, form: str) -> np.ndarray:
    first, second = pairs[..., 0], pairs[..., 1]
    if form == "ri":
        return np.asarray(first + 1j * second)
    size = first if form == "ma" else 10 ** (np.clip(first, -4000, 4000) / 20)
    return np.asarray(size * np.exp(1j * np.deg2rad(second)))


def _in_si(values: np.ndarray, kind: str, reference: float) -> np.ndarray:
    """Version 1 has all but S normalized to the reference."""
    scaled = values.copy()
    if kind == "z":
        scaled *= reference
    elif kind == "y":
        scaled /= reference
    elif kind == "h" and scaled.shape[1] == 2:
        scaled[:, 0, 0] *= reference
        scaled[:, 1, 1] /= reference
    elif kind == "g" and scaled.shape[1] == 2:
        scaled[:, 0, 0] /= reference
        scaled[:, 1, 1] *= reference
    return scaled


def _number(text: str, at: int) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _wrong(at, msg("{word} is not a number", word=text[:20] or '""')) from None
    if not math.isfinite(value):
        raise _wrong(at, msg("{word} is not a number", word=text[:20]))
    return value


def _whole(text: str, at: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise _wrong(at, msg("{word} is not a number", word=text[:20]))
    return int(text)


def _wrong(line: int, reason: Message) -> UserInputError:
    told = (
        msg("The Touchstone file cannot be read: line {line}: {reason}.", line=line, reason=reason)
        if line
        else msg("The Touchstone file cannot be read: {reason}.", reason=reason)
    )
    return UserInputError(told, line=line or None, error_type="bad_touchstone")
