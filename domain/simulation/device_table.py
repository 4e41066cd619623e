"""A MOSFET model as figures over its bias: what gm/Id sizing looks up.

Currents and the gate's capacitance are divided by the width, so that a figure holds for any width of the
same length, as far as the model has no effects of narrow channels (then: of about the simulated width); gm/Id
tells the inversion, whatever the model's equations are. Source: P. Jespers, B. Murmann, "Systematic Design of
Analog CMOS Circuits", Cambridge 2017, chapters 1 to 3.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from domain.circuit.statements import Statement
from domain.simulation.waveform import RealArray
from shared.errors import UserInputError
from shared.message import Message, msg

WIDTH_M = 10e-6
"""Of the device that is simulated, where no other is asked for."""
GATE_V = tuple(round(0.025 * step, 3) for step in range(1, 81)) + tuple(
    round(2 + 0.05 * step, 3) for step in range(1, 41)
)
DRAIN_V = (0.15, 0.3, 0.45, 0.6, 0.8, 1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 4.0, 5.0)
FREQUENCY_HZ = 1e3
_LEAST_A = 1e-12
"""Below, conductances to the bulk and GMIN are what flows."""
_CHANNELS = ("nmos", "pmos")
_CARDS = frozenset({"param", "func", "csparam", "options", "option", "temp"})
_MOST, _STEP, _STEPS = 30.0, 0.8, 14
"""Of gm/Id in a table told whole (1/V); a simple model has more than physics in weak inversion."""
_LISTED = (25, 22, 20, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePoint:
    """One bias of a device, for a metre of width where that makes sense."""

    efficiency: float
    """gm/Id in 1/V."""
    density: float
    """Id/W in A/m."""
    gate_v: float
    """VGS in V; of a PMOS without its sign, as all voltages here."""
    output: float
    """gds/Id in 1/V: the reciprocal is the Early voltage."""
    gate_f: float
    """Cgg/W in F/m."""
    threshold_v: float
    saturation_v: float
    """VDSsat as the model tells it."""

    @property
    def intrinsic_gain(self) -> float:
        return self.efficiency / self.output if self.output > 0 else math.inf

    @property
    def transit_hz(self) -> float:
        """fT = gm / (2 pi Cgg)."""
        gm = self.efficiency * self.density
        return gm / (2 * math.pi * self.gate_f) if self.gate_f > 0 else math.inf

    def cells(self) -> tuple[float, ...]:
        """What `table_columns` names."""
        return (
            self.efficiency, self.density, self.gate_v, self.gate_v - self.threshold_v, self.saturation_v,
            self.intrinsic_gain, self.transit_hz, self.gate_f,
        )  # fmt: skip

    def width(self, current: float) -> float:
        """W (m) that carries `current` (A)."""
        return current / self.density


def table_columns() -> tuple[tuple[str, str], ...]:
    """Names and units of a point's figures, in their order."""
    return (
        ("gm/Id", "1/V"), ("Id/W", "A/m"), ("VGS", "V"), ("VGS-Vth", "V"), ("VDSsat", "V"), ("gm/gds", "1"),
        ("fT", "Hz"), ("Cgg/W", "F/m"),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceTable:
    """A model at one length over VGS, at some drain voltages."""

    model: str
    channel: str
    """``nmos`` or ``pmos``."""
    length_m: float
    width_m: float
    """Of the device that was simulated."""
    gate_v: RealArray
    """(n,), ascending"""
    drain_v: RealArray
    """(k,), ascending"""
    figures: RealArray
    """(k, n, 6): Id, gm, gds in A and S of the simulated width, Cgg in F, threshold and VDSsat in V."""

    def at(self, efficiency: float, drain_v: float) -> DevicePoint:
        """The bias with this gm/Id (1/V) at a drain voltage (V; outside the table its nearest).

        Raises UserInputError for a gm/Id that the model does not reach.
        """
        known, wanted = np.log(self.drain_v), math.log(max(drain_v, 1e-3))  # where gds is nearly straight
        place = float(np.interp(wanted, known, np.arange(len(known))))
        low = min(int(place), len(self.drain_v) - 2) if len(self.drain_v) > 1 else 0
        first = self._along(low, efficiency)
        if place == low:
            return first
        last, part = self._along(low + 1, efficiency), place - low
        return DevicePoint(
            efficiency=efficiency,
            density=first.density ** (1 - part) * last.density**part,
            gate_v=first.gate_v + part * (last.gate_v - first.gate_v),
            output=first.output ** (1 - part) * last.output**part,
            gate_f=first.gate_f + part * (last.gate_f - first.gate_f),
            threshold_v=first.threshold_v + part * (last.threshold_v - first.threshold_v),
            saturation_v=first.saturation_v + part * (last.saturation_v - first.saturation_v),
        )

    def rows(self, drain_v: float) -> list[DevicePoint]:
        """The table as people read it, from weak to strong inversion."""
        return list(self._reached(drain_v, _LISTED))

    def sampled(self, drain_v: Sequence[float]) -> list[list[DevicePoint]]:
        """From weak to strong inversion, at the same gm/Id for each of some drain voltages."""
        current, gm = self.figures[:, :, 0], self.figures[:, :, 1]
        ratio = np.divide(gm, current, out=np.zeros(gm.shape), where=current > _LEAST_A)
        most = min(0.999 * float(ratio.max(axis=1).min()), _MOST)
        wanted = [most * _STEP**step for step in range(_STEPS)]
        along = [list(self._reached(volts, wanted)) for volts in drain_v]
        return [each[: min(map(len, along))] for each in along]

    def _reached(self, drain_v: float, efficiencies: Sequence[float]) -> Iterator[DevicePoint]:
        for efficiency in efficiencies:
            with contextlib.suppress(UserInputError):
                yield self.at(efficiency, drain_v)

    def _along(self, drain: int, efficiency: float) -> DevicePoint:
        """Between the samples of VGS, where gm/Id falls."""
        current, gm = self.figures[drain, :, 0], self.figures[drain, :, 1]
        ratio = np.divide(gm, current, out=np.zeros(len(gm)), where=current > _LEAST_A)
        peak = int(np.argmax(ratio))
        falling = ratio[peak:]
        end = len(falling) if (rise := np.flatnonzero(np.diff(falling) >= 0)).size == 0 else int(rise[0]) + 1
        if not falling[end - 1] <= efficiency <= falling[0]:
            raise UserInputError(
                msg(
                    "{model} with L = {length} um has gm/Id from {least} to {most} 1/V at VDS = {volts} V, "
                    "not {asked}.",
                    model=self.model, length=f"{1e6 * self.length_m:.4g}", least=f"{falling[end - 1]:.3g}",
                    most=f"{falling[0]:.3g}", volts=f"{self.drain_v[drain]:g}", asked=f"{efficiency:.4g}",
                ),
                advice=msg("Ask for a gm/Id within this range."),
            )  # fmt: skip
        # In log gm/Id the log of the current is nearly straight (weak inversion) or gently bent.
        places = np.log(falling[:end])[::-1]
        wanted = math.log(efficiency)

        def read(values: RealArray) -> float:
            return float(np.interp(wanted, places, values[peak : peak + end][::-1]))

        _, _, gds, gate, threshold, saturation = self.figures[drain, :, :].T
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(current, 1e-300))
            leaks = np.log(np.maximum(gds, 1e-300) / np.maximum(current, 1e-300))
        return DevicePoint(
            efficiency=efficiency,
            density=math.exp(read(logs)) / self.width_m,
            gate_v=read(self.gate_v),
            output=math.exp(read(leaks)),
            gate_f=read(gate) / self.width_m,
            threshold_v=read(threshold),
            saturation_v=read(saturation),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceBench:
    """The circuit that is simulated for a table: one transistor, its gate and drain on sources."""

    deck: str
    model: str
    channel: str
    length_m: float
    width_m: float

    @property
    def sign(self) -> int:
        """Of all voltages and currents."""
        return 1 if self.channel == "nmos" else -1


PlacedCard = tuple[Statement, str, int]
"""A card, the name of its file, and its line there."""
SIGNALS = ("@m1[id]", "@m1[gm]", "@m1[gds]", "@m1[vth]", "@m1[von]", "@m1[vdsat]", "i(vg)")


def device_bench(
    cards: Iterable[PlacedCard], model: str, length_m: float, width_m: float = WIDTH_M,
    *, channel: str = "", bulk_v: float = 0.0,
) -> DeviceBench:  # fmt: skip
    """The bench for a model among the `cards` of a circuit or library (as read, with what they include).

    `channel` (``nmos``, ``pmos``): what the model has to be; "" as the model is then the only one of these.
    `bulk_v`: of the source over the bulk (a PMOS: of the bulk over the source). Raises UserInputError when
    there is no such MOSFET model, naming those there are and what the name stands for, with file and line.
    """
    kept: list[str] = []
    channels: dict[str, tuple[str, str]] = {}
    others: dict[str, Message] = {}
    cards = list(cards)
    if not model:
        model = _only_one(cards, channel)
    for card, file, line in cards:
        if card.kind != "directive" or card.scope:
            continue
        if card.keyword in _CARDS:
            kept.append(card.text)
        elif card.keyword == "model" and len(card.head(3)) > 2:
            name, kind = card.head(3)[1].text, re.split(r"[\s(]", card.head(3)[2].key)[0]
            plain = name.partition(".")[0]  # nch.1, nch.2: one model, chosen by the size
            if kind in _CHANNELS:
                channels[plain.lower()] = (plain, kind)
                if plain.lower() == model.lower():
                    kept.append(card.text)
            if kind not in ((channel,) if channel else _CHANNELS):
                others[plain.lower()] = msg(
                    "{file}, line {line}: {model} is of type {found}, not {wanted}.",
                    file=file, line=line, model=name, found=kind.upper(),
                    wanted=channel.upper() or "NMOS / PMOS",
                )  # fmt: skip
    wrong = others.get(model.lower())
    if wrong is not None or model.lower() not in channels:
        names = ", ".join(name for name, kind in channels.values() if kind == (channel or kind))
        raise UserInputError(
            wrong
            or msg(
                "There is no MOSFET model {name} (a .model card NMOS or PMOS outside subcircuits).",
                name=model,
            ),
            advice=msg("There are: {names}.", names=names)
            if names
            else msg("For a library with sections, specify a circuit that includes one of them."),
            error_type="no_such_model",
        )
    name, channel = channels[model.lower()]
    bulk, sign = ("b", 1 if channel == "nmos" else -1) if bulk_v else ("0", 0)
    bench = (
        f"M1 d g 0 {bulk} {name} W={width_m!r} L={length_m!r}\nVg g 0 dc 0 ac 1\nVd d 0 dc 0\n"
        f"{f'Vb b 0 dc {-sign * bulk_v!r}{chr(10)}' if bulk_v else ''}"
        f".op\n.ac lin 1 {FREQUENCY_HZ!r} {FREQUENCY_HZ!r}\n.end\n"
    )
    deck = "\n".join([f"gm/Id table of {name}", *(text.rstrip("\r\n") for text in kept), bench])
    return DeviceBench(deck=deck, model=name, channel=channel, length_m=length_m, width_m=width_m)


def _only_one(cards: Sequence[PlacedCard], channel: str) -> str:
    """The name of the only model of a channel. Raises UserInputError for none, or several to choose from."""
    found: dict[str, str] = {}
    for card, _, _ in cards:
        is_model = card.kind == "directive" and card.keyword == "model" and not card.scope
        words = card.head(3) if is_model else ()
        if len(words) > 2 and re.split(r"[\s(]", words[2].key)[0] == channel:
            found.setdefault(words[1].key.partition(".")[0], words[1].text.partition(".")[0])
    if len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(found.values())
    raise UserInputError(
        msg("There are several {channel} models: {names}.", channel=channel.upper(), names=names)
        if found
        else msg("There is no {channel} model (a .model card outside subcircuits).", channel=channel.upper()),
        advice=msg("Specify one.")
        if found
        else msg("For a library with sections, specify a circuit that includes one of them."),
        error_type="no_such_model",
    )


def table_of(bench: DeviceBench, figures: Sequence[Sequence[float]]) -> DeviceTable:
    """The table from the figures of each run, VGS changing fastest; without samples that failed (NaN).

    Raises UserInputError when a drain voltage has too few of them.
    """
    shape = (len(DRAIN_V), len(GATE_V), 6)
    data = np.array(figures, dtype=float).reshape(shape)
    good = np.isfinite(data).all(axis=(0, 2))
    if good.sum() < len(GATE_V) // 2 or not (data[:, good, 0] > _LEAST_A).any():
        raise UserInputError(
            msg("ngspice finds no operating points for {model} with L = {length} um.",
                model=bench.model, length=f"{1e6 * bench.length_m:.4g}"),
            advice=msg("Check the model card and the length."),
        )  # fmt: skip
    return DeviceTable(
        model=bench.model,
        channel=bench.channel,
        length_m=bench.length_m,
        width_m=bench.width_m,
        gate_v=np.array(GATE_V)[good],
        drain_v=np.array(DRAIN_V),
        figures=data[:, good, :],
    )
