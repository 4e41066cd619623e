"""A test bench of its own for generated circuits: plain ngspice, a small raw reader, numpy formulas.

It shares nothing with the product: neither its reader nor its measurements.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_MODELS = Path(__file__).parents[3] / "resources" / "spice_models"
_SUFFIX = {"meg": 1e6, "g": 1e9, "t": 1e12, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}


def number(text: str) -> float:
    """A SPICE number."""
    found = re.fullmatch(r"([-+]?[\d.]+(?:e[-+]?\d+)?)(meg|[gtkmunpf])?", text.strip().lower())
    assert found, text
    return float(found[1]) * _SUFFIX.get(found[2] or "", 1.0)


@dataclass(frozen=True)
class Data:
    """One plot: its axis, and the other vectors by name."""

    name: str
    axis: np.ndarray
    vectors: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.vectors[name]


def read_raw(path: Path) -> list[Data]:
    """All plots of a binary raw file."""
    content = path.read_bytes()
    plots = []
    while content.strip():
        head, _, body = content.partition(b"Binary:\n")
        fields = dict(re.findall(r"^([A-Z][\w. ]*): ?(.*)$", head.decode("utf-8"), re.MULTILINE))
        count, points = int(fields["No. Variables"]), int(fields["No. Points"])
        names = re.findall(r"^\s+\d+\s+(\S+)\s+\S+", head.decode("utf-8"), re.MULTILINE)
        kind = np.complex128 if "complex" in fields["Flags"] else np.float64
        size = count * points * np.dtype(kind).itemsize
        table = np.frombuffer(body[:size], dtype=kind).reshape(points, count)
        content = body[size:]
        # The imaginary part of a frequency axis is whatever was in ngspice's memory, NaN now and then.
        if fields["Plotname"].startswith("DC") and table[0, 0].real > table[-1, 0].real:
            table = table[::-1]  # a source that was swept down
        vectors = {name.lower(): table[:, index] for index, name in enumerate(names) if index}
        plots.append(Data(fields["Plotname"], np.real(table[:, 0]), vectors))
    return plots


def run(deck: str, folder: Path, name: str = "deck", seconds: float = 60.0) -> Data:
    """Run a deck in plain batch ngspice and return its only plot; fails the test when ngspice fails."""
    plots = run_all(deck, folder, name, seconds)
    assert len(plots) == 1, [plot.name for plot in plots]
    return plots[0]


def run_all(deck: str, folder: Path, name: str = "deck", seconds: float = 60.0) -> list[Data]:
    """Run a deck and return every plot."""
    circuit, raw = folder / f"{name}.cir", folder / f"{name}.raw"
    circuit.write_text(deck, encoding="utf-8")
    for part in re.findall(r"^\.include (\w+\.lib)$", deck, re.MULTILINE):
        shutil.copy(_MODELS / part, folder)
    done = subprocess.run(
        ["ngspice", "-n", "-b", "-r", raw.name, circuit.name],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )
    log = done.stdout + done.stderr
    assert done.returncode == 0, log
    assert raw.exists(), log
    log = re.sub(r"(?s)Starting dynamic gmin stepping.*?stepping completed", "", log)  # how an op was found
    for bad in ("singular matrix", "failed", "aborted", "too small", "unrecognized", "error", "warning"):
        assert bad not in log.lower(), log
    plots = read_raw(raw)
    assert plots, log
    for plot in plots:
        assert len(plot.axis) > 0, deck
        assert np.isfinite(plot.axis).all(), deck
        odd = [name for name, vector in plot.vectors.items() if not np.isfinite(vector).all()]
        assert not odd, (odd, deck)
    return plots


def plot_for(expression: str, plots: list[Data]) -> Data:
    """The plot a goal is read from: responses over frequency from the small-signal analysis."""
    is_response = bool(
        re.match(r"\w*(?:phase_margin|ugf|dcgain|highcut|lowcut|gain|at\((?:re|im))\(", expression)
    )
    return next((plot for plot in plots if plot.name.startswith("AC") == is_response), plots[0])


def with_analysis(deck: str, *cards: str) -> str:
    """The deck with other analyses in place of its own."""
    kept = [line for line in deck.splitlines() if not re.match(r"\.(ac|tran|op|dc)\b|\.end$", line)]
    return "\n".join([*kept, *cards, ".end", ""])


def finer(deck: str) -> str:
    """The deck with its small-signal analyses at thirty times as many frequencies."""
    return re.sub(r"(?m)^(\.ac \w+ )(\d+)", lambda found: f"{found[1]}{30 * int(found[2])}", deck)


def gain_at(plot: Data, frequency: float, node: str = "v(out)") -> float:
    """Magnitude at a frequency, interpolated in log f."""
    assert plot.axis[0] <= frequency <= plot.axis[-1]
    logs = np.log(np.abs(plot[node]))
    return float(np.exp(np.interp(np.log(frequency), np.log(plot.axis), logs)))


def crossing(plot: Data, level: float, *, rising: bool) -> float:
    """The first frequency where |v(out)| falls (or, rising, first rises) through a level."""
    size = np.abs(plot["v(out)"])
    if rising:
        below = np.nonzero((size[:-1] < level) & (size[1:] >= level))[0]
    else:
        below = np.nonzero((size[:-1] >= level) & (size[1:] < level))[0]
    assert len(below), "no crossing"
    i = int(below[0])
    x = np.log(plot.axis[i : i + 2])
    y = np.log(size[i : i + 2])
    return float(np.exp(x[0] + (np.log(level) - y[0]) * (x[1] - x[0]) / (y[1] - y[0])))


def is_band_pass(plot: Data) -> bool:
    """Far down at both ends, or down at both with a top wider than a decade, which no resonance has."""
    size = np.abs(plot["v(out)"])
    ends = max(size[0], size[-1]) / size.max()
    inside = plot.axis[size > size.max() / np.sqrt(2)]
    return bool(ends < 0.05 or (ends < 0.7 and inside[-1] > 10 * inside[0]))


def half_power(plot: Data, kind: str) -> float:
    """-3 dB frequency: of a low-pass against its DC gain, of a high-pass against that at the upper end, of a
    band-pass against its top."""
    size = np.abs(plot["v(out)"])
    if is_band_pass(plot):
        top = int(size.argmax())
        side = slice(top, None) if kind == "lowpass" else slice(0, top + 1)
        one = Data(plot.name, plot.axis[side], {"v(out)": size[side]})
        return crossing(one, float(size.max()) / np.sqrt(2), rising=kind != "lowpass")
    if kind == "lowpass":
        return crossing(plot, float(size[0]) / np.sqrt(2), rising=False)
    return crossing(plot, float(size[-1]) / np.sqrt(2), rising=True)


def quality(plot: Data) -> float:
    """Extremum over -3 dB width: of a band-pass at its top, of a notch at its bottom."""
    size = np.abs(plot["v(out)"])
    if is_band_pass(plot):
        low, high = half_power(plot, "highpass"), half_power(plot, "lowpass")
    else:
        level = float(size[0]) / np.sqrt(2)
        low = crossing(plot, level, rising=False)
        high = crossing(plot, level, rising=True)
    return float(np.sqrt(low * high) / (high - low))


def passing(plot: Data, values: np.ndarray, level: float, count: int) -> float:
    """Place of the count-th passing of a level, up or down, on a straight line between samples."""
    above = values > level
    i = int(np.nonzero(above[1:] != above[:-1])[0][count - 1])
    share = (level - values[i]) / (values[i + 1] - values[i])
    return float(plot.axis[i] + share * (plot.axis[i + 1] - plot.axis[i]))


def value_at(plot: Data, values: np.ndarray, place: float) -> float:
    """Interpolated: over log f, or over time or a source."""
    if not plot.name.startswith("AC"):
        return float(np.interp(place, plot.axis, values))
    return float(np.interp(np.log(place), np.log(plot.axis), values))


def average(plot: Data, name: str) -> float:
    """Time average by trapezoids."""
    time = plot.axis
    return float(np.trapezoid(plot[name], time) / (time[-1] - time[0]))


def _whole_periods(plot: Data, values: np.ndarray) -> tuple[np.ndarray, float]:
    """Times of the rises through the middle between the extremes (an edge that wobbles counts once); it."""
    middle = (values.max() + values.min()) / 2
    far = 0.1 * (values.max() - values.min())
    rises, armed = [], False
    for i in range(len(values) - 1):
        armed = armed or values[i] < middle - far
        if armed and values[i + 1] >= middle > values[i]:
            share = (middle - values[i]) / (values[i + 1] - values[i])
            rises.append(plot.axis[i] + share * (plot.axis[i + 1] - plot.axis[i]))
            armed = False
    assert len(rises) > 3, "it does not oscillate"
    return np.array(rises), float(middle)


def frequency(plot: Data, values: np.ndarray) -> float:
    """Of an oscillation (Hz): the mean over all whole periods of the record."""
    rises, _ = _whole_periods(plot, values)
    return float((len(rises) - 1) / (rises[-1] - rises[0]))


def duty(plot: Data, values: np.ndarray) -> float:
    """Share of the time above the middle, over whole periods."""
    rises, middle = _whole_periods(plot, values)
    time = np.linspace(rises[0], rises[-1], 200_001)[:-1]
    return float(np.mean(np.interp(time, plot.axis, values) > middle))


def distortion(plot: Data, values: np.ndarray, fundamental: float) -> float:
    """Harmonics 2 to 9 over the fundamental, from whole periods on an even grid."""
    del fundamental  # the true one
    rises, _ = _whole_periods(plot, values)
    periods = len(rises) - 1
    time = np.linspace(rises[0], rises[-1], 512 * periods + 1)[:-1]
    lines = np.abs(np.fft.rfft(np.interp(time, plot.axis, values)))
    return float(np.sqrt(np.sum(lines[[periods * n for n in range(2, 10)]] ** 2)) / lines[periods])


def phase_margin(plot: Data, values: np.ndarray) -> float:
    """180 degrees and the phase of an open-loop gain where its magnitude falls through 1."""
    unity = crossing(Data(plot.name, plot.axis, {"v(out)": values}), 1.0, rising=False)
    return 180.0 + float(np.interp(np.log(unity), np.log(plot.axis), np.degrees(np.unwrap(np.angle(values)))))


def evaluate(expression: str, plot: Data) -> float:
    """A goal expression, for driving the designer's corrections."""
    text = re.sub(
        r"(?<![\w.)(])(\d[\d.]*(?:e[-+]?\d+)?(?:meg|[gkmunpt])?)\b",
        lambda m: repr(number(m[1])),
        expression,
        flags=re.I,
    )
    text = re.sub(
        r"(?<=,)(\d[\d.]*(?:e[-+]?\d+)?(?:meg|[gkmunpt])?)\b", lambda m: repr(number(m[1])), text, flags=re.I
    )
    text = re.sub(r"\b([vi])\((\w+)\)", r"P['\1(\2)']", text).replace("^", "**")

    def seen(values: np.ndarray) -> Data:
        return Data(plot.name, plot.axis, {"v(out)": values})

    names = {
        "P": plot.vectors,
        "highcut": lambda x: half_power(seen(x), "lowpass"),
        "lowcut": lambda x: half_power(seen(x), "highpass"),
        "ugf": lambda x: crossing(seen(x), 1.0, rising=False),
        "phase_margin": lambda x: phase_margin(plot, x),
        "gain": lambda x, f: float(np.exp(np.interp(np.log(f), np.log(plot.axis), np.log(np.abs(x))))),
        "dcgain": lambda x: float(np.abs(x[0])),
        "q": lambda x: quality(seen(x)),
        "sqrt": np.sqrt,
        "peak": lambda x: float(np.abs(x).max()),
        "db": lambda x: 20 * np.log10(np.abs(x)),
        "avg": lambda x: float(np.trapezoid(x, plot.axis) / (plot.axis[-1] - plot.axis[0])),
        "pp": lambda x: float(x.max() - x.min()),
        "re": np.real,
        "im": np.imag,
        "at": lambda x, place: value_at(plot, x, place),
        "cross": lambda x, level, count: passing(plot, x, level, int(count)),
        "frequency": lambda x: frequency(plot, x),
        "duty": lambda x: duty(plot, x),
        "thd": lambda x, f: distortion(plot, x, f),
        "max": lambda x, low, high: float(x[(plot.axis >= low) & (plot.axis <= high)].max()),
        "min": lambda x, low, high: float(np.abs(x[(plot.axis >= low) & (plot.axis <= high)]).min()),
    }
    return float(eval(text, {"__builtins__": {}}, names))
