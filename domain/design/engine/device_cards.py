"""Model cards of MOSFETs that a sentence names, and their gm/Id tables: read in place of a square law.

A family is sized by what a `Device` tells (`domain.design.mosfet`). Of a named card that is its table, which
is simulated on the spot: sizing asks for the tables it lacks by `TablesNeeded`, and is done again with them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from domain.circuit.netlist import NETLIST_SUFFIXES
from domain.design.understanding import impossible
from shared.errors import CircuitError
from shared.message import msg

if TYPE_CHECKING:
    from domain.design.engine.declaration import Family, Quantity
    from domain.simulation.device_table import DeviceTable

CARDS, TABLES, LENGTH = "cards", "tables", "length_m"
"""Parameters: the cards that were named; what is known of them, and the channel length that is tried."""
LENGTHS_M = (1e-6, 2e-6, 4e-6, 0.5e-6)
"""The next where the one before does not reach the demands."""
_BULK_STEP_V = 0.1
_LEAST_SUPPLY_V, _MOST_SUPPLY_V, _SUPPLY_V = 1.0, 10.0, 3.3
_DRAIN_V = (0.15, 0.3, 0.6, 1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 4.0, 5.0)
_USUAL = 3
"""Of these, where gate capacitance and VDSsat are told."""

_SUFFIXES = "|".join(sorted(suffix[1:] for suffix in NETLIST_SUFFIXES))
_FILE = (
    rf"[\"'`“‘「《]?(?P<file>[A-Za-z0-9_./\\~-]*[A-Za-z0-9_-]\.(?:{_SUFFIXES}))(?![A-Za-z0-9_])[\"'`”’」》]?"
)
_KIND = r"(?:mos(?:fet)?s?|models?|(?:model )?cards?|transistors?|devices?|bsim-?\d*|level[ -]?\d+)"
_KIND_ZH = "模型|晶体管|器件|管子?|卡"
_NAME = (
    r"(?!(?:nmos|pmos|mos|mosfet|the|and|from|with|of|in|card|model|transistor|device)s?\b)"
    r"[A-Za-z][A-Za-z0-9_]*"
)
_NAMES = rf"(?P<first{{0}}>{_NAME})(?:\s*(?:/|,|、|and|和|与|及)\s*(?P<second{{0}}>{_NAME}))?"
_FILLING = rf"(?:\s*(?:(?:{_KIND}|[np]mos|and|the)(?![a-z0-9_])|/|和|与|的|{_KIND_ZH}))*"
_LEAD = r"(?:with|using|use|用|采用|使用)\s*(?:the\s*)?"
_INSIDE = r"\s*(?:文件|库)?(?:里面?|中|内)"
_IN_FILE = re.compile(
    # "with the cards nch and pch from FILE", "NMOS models from FILE"
    rf"(?:(?:{_LEAD}){_FILLING}\s*(?:{_NAMES.format(1)})?{_FILLING}"
    r"\s*(?:from|of|in|out of)\s*(?:the\s*)?(?:file|library)?\s*)?"
    rf"{_FILE}"
    # "FILE 里的 nch/pch 模型"
    rf"(?:(?:{_INSIDE})?的?{_FILLING}\s*(?:{_NAMES.format(2)}){_FILLING}|{_INSIDE}的?{_FILLING})?",
    re.IGNORECASE,
)
_LIBRARY = re.compile(r"(?<![a-z0-9])(?P<kind>[np])mos_(?P<of>180|l1)(?![a-z0-9])(?:\.lib)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWish:
    """A table that sizing needs."""

    channel: str
    length_m: float
    bulk_v: float


class TablesNeeded(Exception):
    """Raised by sizing; whoever called it has them made and sizes again."""

    def __init__(self, wish: TableWish) -> None:
        super().__init__(wish)
        self.wish = wish


Tables = Mapping[TableWish, "CardTable"]
NO_TABLES: Tables = MappingProxyType({})


def table_text(table: DeviceTable) -> str:
    """What `CardTable.read` reads: short enough for the result of a tool."""
    along = table.sampled(_DRAIN_V)
    rows = [[[p.density, p.gate_v, p.output] for p in each] for each in along]
    told = {"model": table.model, "vds": _DRAIN_V, "gm/Id": [p.efficiency for p in along[0]],
            "Id/W,VGS,gds/Id": rows, "Cgg/W": [1e9 * p.gate_f for p in along[_USUAL]],
            "VDSsat": [p.saturation_v for p in along[_USUAL]]}  # fmt: skip
    return json.dumps(_short(told), separators=(",", ":"))


def _short(value: Any) -> Any:
    """Of floats four digits."""
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTable:
    """A card at one length and bulk voltage, without the sign of a PMOS."""

    model: str
    drain_v: Sequence[float]
    efficiency: Sequence[float]
    """gm/Id (1/V), falling."""
    rows: Sequence[Sequence[Sequence[float]]]
    """By drain voltage and gm/Id: Id/W (A/m), VGS (V), gds/Id (1/V)."""
    gate_f: Sequence[float]
    """Cgg/W (F/m) by gm/Id."""
    knee_v: Sequence[float]
    """VDSsat by gm/Id."""

    @classmethod
    def read(cls, text: str) -> CardTable:
        """From `table_text`."""
        told = json.loads(text)
        return cls(
            model=told["model"], drain_v=told["vds"], efficiency=told["gm/Id"], rows=told["Id/W,VGS,gds/Id"],
            gate_f=[1e-9 * each for each in told["Cgg/W"]], knee_v=told["VDSsat"],
        )  # fmt: skip

    def at(self, efficiency: float, drain_v: float) -> tuple[float, float, float]:
        """Id/W, VGS and gds/Id at a gm/Id and a drain voltage, the nearest there is of both."""
        data = np.array(self.rows)
        data = np.stack([np.log(data[:, :, 0]), data[:, :, 1], np.log(data[:, :, 2])])
        first = [[self._over(each, efficiency) for each in figure] for figure in data]
        # over the log of VDS: where gds falls with it, that is nearly straight
        place, places = math.log(max(drain_v, 1e-3)), np.log(self.drain_v)
        density, gate_v, leak = (float(np.interp(place, places, figure)) for figure in first)
        return math.exp(density), gate_v, math.exp(leak)

    def _over(self, values: Sequence[float], efficiency: float) -> float:
        places = np.log(self.efficiency)[::-1]
        return float(np.interp(math.log(efficiency), places, np.asarray(values)[::-1]))

    def gate_farad(self, efficiency: float) -> float:
        """Cgg/W (F/m)."""
        return self._over(self.gate_f, efficiency)

    def saturation_v(self, efficiency: float) -> float:
        return self._over(self.knee_v, efficiency)


def _without_part_files(text: str) -> str:
    """The file of a part of the model library: the part is meant."""
    from domain.design.engine.library_parts import KINDS  # with what sizing knows of each part

    names = "|".join(name for kind in KINDS.values() for name in kind.names)
    return re.sub(rf"({names})\.lib(?![a-z0-9])", r"\1", text, flags=re.IGNORECASE)


def cards_named(text: str) -> tuple[dict[str, str] | None, str]:
    """The cards a sentence names (``file`` "" is the model library; ``nmos``, ``pmos``: "" is the only one
    there), and the sentence without them."""
    text = _without_part_files(text)
    if found := [*_LIBRARY.finditer(text)]:
        named = {f"{each['kind'].lower()}mos": each[0].upper().removesuffix(".LIB") for each in found}
        of = found[0]["of"].upper()
        return {"file": "", "nmos": f"NMOS_{of}", "pmos": f"PMOS_{of}", **named}, _LIBRARY.sub(" ", text)
    if (found_file := _IN_FILE.search(text)) is None or not _speaks_of_cards(found_file, text):
        return None, text
    names = [found_file[name] for name in ("first1", "second1", "first2", "second2") if found_file[name]]
    cards = {"file": found_file["file"].replace("\\", "/"), "nmos": "", "pmos": ""}
    for channel, name in zip(("nmos", "pmos"), names, strict=False):
        cards[channel] = name
    if len(names) > 1 and cards["nmos"].lower().startswith("p"):  # "pch/nch"
        cards["nmos"], cards["pmos"] = cards["pmos"], cards["nmos"]
    return cards, f"{text[: found_file.start()]} {text[found_file.end() :]}"


def _speaks_of_cards(found: re.Match[str], text: str) -> bool:
    """Whether the file is meant as one of models: a library by its suffix, or a circuit that the words around
    it call so."""
    is_library = re.search(r"\.(?:lib|inc|mod|sub|model|mdl)$", found["file"], re.IGNORECASE) is not None
    return (
        is_library
        or re.search(rf"{_KIND}|mos|{_KIND_ZH}", text.replace(found["file"], ""), re.IGNORECASE) is not None
    )


def carded(family: Family) -> Family:
    """The family as it is designed with named cards: at the supplies of such transistors."""
    return replace(family, quantities=tuple(map(_as_carded, family.quantities)))


def _as_carded(quantity: Quantity) -> Quantity:
    if quantity.name != "supply_v":
        return quantity
    share = 1.0 if quantity.has_sign else 0.5  # each of two supplies
    usual = share * _SUPPLY_V
    return replace(
        quantity, within=(share * _LEAST_SUPPLY_V, share * _MOST_SUPPLY_V), default=usual, example=usual
    )


def no_place(family: Family, cards: Mapping[str, str]) -> CircuitError:
    """Raised where the circuit has no transistors that a card could stand for."""
    return impossible(
        msg("{circuit} cannot use a MOSFET model from {file}.", circuit=family.one,
            file=cards["file"] or f"{cards['nmos']}.lib"),
        msg("Omit the model, or ask for a MOSFET amplifier."),
    )  # fmt: skip


class CardDevice:
    """A MOSFET of a named card: the figures of its tables. V* = 2 / (gm/Id) stands for the overdrive."""

    def __init__(self, parameters: Mapping[str, Any], channel: str) -> None:
        self._tables: Tables = parameters.get(TABLES, {})
        self._channel = channel
        self.length_m: float = parameters.get(LENGTH, LENGTHS_M[0])

    @property
    def model(self) -> str:
        return self._table(0.0).model

    def _table(self, bulk_v: float) -> CardTable:
        steps = round(max(bulk_v, 0.0) / _BULK_STEP_V)
        wish = TableWish(channel=self._channel, length_m=self.length_m, bulk_v=round(steps * _BULK_STEP_V, 3))
        if wish not in self._tables:
            raise TablesNeeded(wish)
        return self._tables[wish]

    def _at(self, overdrive: float, drain_v: float, bulk_v: float) -> tuple[float, float, float]:
        return self._table(bulk_v).at(2 / overdrive, drain_v)

    def ratio(self, current: float, overdrive: float, drain_v: float, bulk_v: float = 0.0) -> float:
        """W/L that carries a current (A) at an overdrive, a drain-source and a source-bulk voltage (V)."""
        return current / self._at(overdrive, drain_v, bulk_v)[0] / self.length_m

    def gate_v(self, overdrive: float, drain_v: float, bulk_v: float = 0.0) -> float:
        """VGS."""
        return self._at(overdrive, drain_v, bulk_v)[1]

    def output_v(self, overdrive: float, drain_v: float, bulk_v: float = 0.0) -> float:
        """Output resistance times current (V)."""
        return 1 / self._at(overdrive, drain_v, bulk_v)[2]

    least_output_v = output_v

    def diode_v(self, overdrive: float, bulk_v: float = 0.0) -> float:
        """VGS of one connected as a diode."""
        return self.gate_v(overdrive, self.gate_v(overdrive, 0.6, bulk_v), bulk_v)

    def body_effect(self, overdrive: float, drain_v: float, bulk_v: float) -> float:
        """Of the bulk's transconductance by that of the gate, with the source this far above the bulk."""
        if bulk_v < _BULK_STEP_V:
            return 0.0
        here, there = (self.gate_v(overdrive, drain_v, each) for each in (0.0, bulk_v))
        return (there - here) / bulk_v

    def gate_s(self, overdrive: float, drain_v: float) -> float:
        """Gate capacitance over transconductance."""
        gm = 2 / overdrive * self._at(overdrive, drain_v, 0.0)[0]
        return self._table(0.0).gate_farad(2 / overdrive) / gm

    @property
    def least_overdrive_v(self) -> float:
        return 2 / self._table(0.0).efficiency[0]

    def most_overdrive_v(self, drain_v: float) -> float:
        """Up to where it saturates with room to spare."""
        table = self._table(0.0)
        reached = [
            each for each in table.efficiency if table.saturation_v(each) <= _SHARE * drain_v
        ] or table.efficiency[:1]
        return 2 / reached[-1]


_SHARE = 0.6
"""Of the drain voltage, that saturation may take."""
