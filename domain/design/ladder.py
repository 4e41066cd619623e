"""LC ladders: element values of the prototypes, the loss of real parts, parts that fit.

Elements g_k of the low-pass prototype, for 1 ohm and 1 rad/s:
    Butterworth  g_k = 2 sin((2k - 1) pi / 2n), -3 dB at 1 rad/s
    Chebyshev    g_1 = 2 a_1 / y, g_k = 4 a_(k-1) a_k / (b_(k-1) g_(k-1)), end of the ripple at 1 rad/s,
                 y = sinh(beta / 2n), beta = ln coth(ripple_dB / 17.37), a_k = sin((2k - 1) pi / 2n),
                 b_k = y**2 + sin(k pi / n)**2; equal resistances for odd n only
Sources: Zverev, "Handbook of Filter Synthesis", ch. 4; Matthaei, Young, Jones, "Microwave Filters,
Impedance-Matching Networks, and Coupling Structures", section 4.05.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.circuit.preferred_values import SeriesName, neighbours

LadderResponse = Literal["butterworth", "chebyshev"]
_SHIFTS = (0.98, 0.99, 1.0, 1.01, 1.02)
"""Of the frequency: between preferred values the best set is often beside the exact one."""


def elements(response: LadderResponse, order: int, ripple_db: float) -> list[float]:
    """g_1 ... g_n of the prototype."""
    a = [math.sin((2 * k - 1) * math.pi / 2 / order) for k in range(1, order + 1)]
    if response == "butterworth":
        return [2 * each for each in a]
    y = math.sinh(math.log(1 / math.tanh(ripple_db / (40 / math.log(10)))) / 2 / order)
    b = [y * y + math.sin(k * math.pi / order) ** 2 for k in range(1, order + 1)]
    found = [2 * a[0] / y]
    for k in range(1, order):
        found.append(4 * a[k - 1] * a[k] / (b[k - 1] * found[-1]))
    return found


def singly_terminated(response: LadderResponse, order: int, ripple_db: float) -> list[float]:
    """g_1 ... g_n of a ladder between a voltage source (behind g_n) and 1 ohm (beside g_1).

    g_1 = a_1 / y, g_k = a_k a_(k-1) / (c_(k-1) g_(k-1)), c_k = (y**2 + sin(k pi / 2n)**2) cos(k pi / 2n)**2;
    Butterworth: y = 1 and c_k = cos(k pi / 2n)**2. Source: Matthaei, Young, Jones, section 4.06.
    """
    a = [math.sin((2 * k - 1) * math.pi / 2 / order) for k in range(1, order + 1)]
    y = 1.0
    if response == "chebyshev":
        y = math.sinh(math.log(1 / math.tanh(ripple_db / (40 / math.log(10)))) / 2 / order)
    found = [a[0] / y]
    for k in range(1, order):
        angle = k * math.pi / 2 / order
        inner = 1.0 if response == "butterworth" else y * y + math.sin(angle) ** 2
        found.append(a[k] * a[k - 1] / (inner * math.cos(angle) ** 2 * found[-1]))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Resonator:
    """An arm of a band-pass or band-stop ladder: L (H) and C (F) in series or in parallel."""

    in_line: bool
    in_series: bool
    inductance: float
    capacitance: float


def resonators(
    g: Sequence[float], center_hz: float, width_hz: float, ohm: float, *, passes: bool, line_first: bool
) -> list[Resonator]:
    """The arms of a ladder from its source on, tuned to the center; the prototype's 1 rad/s is at `width_hz`.

    s -> (s/w0 + w0/s) w0/dw, of a band-stop its inverse: an inductor g becomes L = g R/dw in series with a
    capacitor, of a band-stop L = g R dw/w0**2 in parallel with one; a capacitor dually. Source: Matthaei,
    Young, Jones, sections 4.10 and 12.2.
    """
    w0, dw = 2 * math.pi * center_hz, 2 * math.pi * width_hz
    found = []
    for index, each in enumerate(g):
        in_line = (index % 2 == 0) == line_first
        size = each / dw if passes else each * dw / w0**2
        main = size * ohm if in_line else size / ohm
        pair = (main, 1 / (w0**2 * main)) if in_line else (1 / (w0**2 * main), main)
        found.append(
            Resonator(in_line=in_line, in_series=in_line == passes, inductance=pair[0], capacitance=pair[1])
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """A ladder between two equal resistances, shunt C first (low-pass) or series C first (high-pass), or from
    a voltage source to one resistance, the first part in the line."""

    is_low_pass: bool
    ohm: float
    is_single: bool = False

    def is_series(self, index: int) -> bool:
        """Whether element `index` (from 0) stands in the line; the others stand across it."""
        return (index % 2 == 1) == (self.is_low_pass and not self.is_single)

    def letter(self, index: int) -> str:
        """Of a low-pass the inductors stand in the line, of a high-pass the capacitors."""
        return "L" if self.is_series(index) == self.is_low_pass else "C"

    def prototype(self, response: LadderResponse, order: int, ripple_db: float) -> list[float]:
        """The g of its elements, from the source on."""
        if self.is_single:
            return singly_terminated(response, order, ripple_db)[::-1]
        return elements(response, order, ripple_db)

    def exact(self, g: Sequence[float], hz: float) -> list[float]:
        """Capacitances (F) and inductances (H) with the prototype's 1 rad/s at `hz`.

        C = g / (w R) and L = g R / w; a high-pass has 1 / g and the other part in its place.
        """
        omega = 2 * math.pi * hz
        return [
            (each if self.is_low_pass else 1 / each)
            / omega
            * (1 / self.ohm if self.letter(index) == "C" else self.ohm)
            for index, each in enumerate(g)
        ]

    def loss_db(self, sets: NDArray[np.float64], hz: NDArray[np.float64]) -> NDArray[np.float64]:
        """Loss against a matched line, dB: a row for each set of parts, a column for each frequency.

        Voltage and current are carried from the load to the source (chain matrices).
        """
        s = 2j * np.pi * hz[None, :]
        voltage = np.ones((len(sets), len(hz)), dtype=complex)
        current = voltage / self.ohm
        for index in reversed(range(sets.shape[1])):
            immittance = s * sets[:, index, None]
            if not self.is_low_pass:
                immittance = 1 / immittance
            if self.is_series(index):
                voltage = voltage + current * immittance
            else:
                current = current + voltage * immittance
        into = voltage if self.is_single else (voltage + current * self.ohm) / 2
        found: NDArray[np.float64] = 20 * np.log10(np.abs(into))
        return found


def best_parts(
    exact: Sequence[float], series: SeriesName, margin: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> tuple[list[float], float]:
    """Of the preferred values at either side of the exact ones, the set with the largest margin, and that.

    `margin` judges sets of parts, one a row.
    """
    best: tuple[float, list[float]] = (-math.inf, list(exact))
    for shift in _SHIFTS:
        sets = np.array(list(itertools.product(*(neighbours(each / shift, series) for each in exact))))
        margins = margin(sets)
        index = int(margins.argmax())
        best = max(best, (float(margins[index]), [float(value) for value in sets[index]]))
    return best[1], best[0]
