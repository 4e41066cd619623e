"""The symbols of LTspice's own library: which element each stands for, and where its pins are.

Places are those of LTspice's `.asy` files, in the units of its sheets (a sixteenth of a grid square), x to
the right and y down, in the order of the element's nodes; None is a node the symbol has no pin for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from domain.circuit.ltspice_blocks import block, block_in_any_folder
from domain.circuit.ltspice_opamps import OPAMP_LIBRARY, USUAL, op_amp
from domain.circuit.outline_places import Place, places


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A symbol."""

    prefix: str
    """The element's letter first."""
    pins: tuple[Place | None, ...]
    names: tuple[str, ...] = ()
    """Of the pins, where they are known: what a sheet behind the symbol calls its nodes."""
    model: str = ""
    """SpiceModel: a model or a file of models."""
    value: str = ""
    value2: str = ""
    spice_line: str = ""
    spice_line2: str = ""
    model_file: str = ""
    is_assumed: bool = False
    """Its pins are those most of its kind have; where they are on its sheet has to bear that out."""


_UPRIGHT, _TALL, _SHORT = "0,16 0,96", "16,16 16,96", "16,0 16,64"
_TRANSISTOR, _MOSFET, _JFET = "64,0 0,48 64,96", "48,0 0,80 48,96", "48,0 0,64 48,96"
_CONTROLLED = f"{_UPRIGHT} -48,32 -48,80"
_LINE = "-48,-16 -48,16 48,-16 48,16"
_OPAMP = "-32,80 -32,48 0,32 0,96 32,64"
_UNIVERSAL_VALUES = "Avol=1Meg GBW=10Meg Slew=10Meg"
_UNIVERSAL = "-32,16 -32,-16 0,-32 0,32 32,0"
_ROWS: Mapping[str, tuple[str, str, str]] = {
    # name: prefix, pins, value
    "bi": ("B", "0,0 0,80", "I=0"), "bi2": ("B", "0,80 0,0", "I=0"), "bv": ("B", _UPRIGHT, "V=0"),
    "cap": ("C", _SHORT, "C"), "polcap": ("C", _SHORT, "C"), "misc\\europeancap": ("C", _SHORT, "C"),
    "misc\\europeanpolcap": ("C", _SHORT, "C"), "misc\\xtal": ("C", _SHORT, ""),
    "res": ("R", _TALL, "R"), "res2": ("R", _SHORT, "R"), "misc\\europeanresistor": ("R", _TALL, "R"),
    "ferritebead": ("L", "0,-32 0,32", ""), "ferritebead2": ("L", "0,-32 0,32", ""),
    "ind": ("L", _TALL, "L"), "ind2": ("L", _TALL, "L"), "misc\\fixedind": ("L", _TALL, ""),
    "voltage": ("V", _UPRIGHT, ""), "misc\\battery": ("V", _UPRIGHT, ""),
    "misc\\cell": ("V", "0,0 0,64", ""),
    "misc\\signal": ("V", _UPRIGHT, "SINE(0 1 1K)"),
    "current": ("I", "0,0 0,80", ""), "load": ("I", _SHORT, ""), "load2": ("I", "0,0 0,80", ""),
    "diode": ("D", _SHORT, "D"), "schottky": ("D", _SHORT, "D"), "zener": ("D", _SHORT, "D"),
    "varactor": ("D", _SHORT, "D"), "tvsdiode": ("D", _SHORT, "D"), "led": ("D", _SHORT, "D"),
    "npn": ("QN", _TRANSISTOR, "NPN"), "npn2": ("QN", _TRANSISTOR, "NPN"), "npn3": ("QN", _TRANSISTOR, "NPN"),
    "npn4": ("QN", f"{_TRANSISTOR} 64,48", "NPN"), "pnp": ("QP", _TRANSISTOR, "PNP"),
    "pnp2": ("QP", _TRANSISTOR, "PNP"), "pnp4": ("QP", f"{_TRANSISTOR} 64,48", "PNP"),
    "lpnp": ("QP", f"{_TRANSISTOR} 64,48", "LPNP"),
    "nmos": ("MN", _MOSFET, "NMOS"), "pmos": ("MP", _MOSFET, "PMOS"),
    "nmos4": ("MN", f"{_MOSFET} 48,48", "NMOS"), "pmos4": ("MP", f"{_MOSFET} 48,48", "PMOS"),
    "njf": ("JN", _JFET, "NJF"), "pjf": ("JP", _JFET, "PJF"), "mesfet": ("Z", _MOSFET, "NMF"),
    "misc\\nigbt": ("Z", _MOSFET, "NIGBT"), "misc\\pigbt": ("Z", _MOSFET, "PIGBT"),
    "e": ("E", _CONTROLLED, "E"), "e2": ("E", f"{_UPRIGHT} -48,80 -48,32", "E"),
    "g": ("G", "0,96 0,16 -48,32 -48,80", "G"), "g2": ("G", "0,96 0,16 -48,80 -48,32", "G"),
    "misc\\epoly": ("E", _UPRIGHT, ""), "misc\\gpoly": ("G", "0,96 0,16", ""),
    "f": ("F", "0,0 0,80", "F"), "h": ("H", _UPRIGHT, "H"),
    "sw": ("S", f"{_UPRIGHT} -48,80 -48,32", "SW"), "csw": ("W", "0,0 0,80", "CSW"),
    "tline": ("T", _LINE, "Td=50n Z0=50"), "ltline": ("O", _LINE, "LTRA"),
    "misc\\scr": ("X", "16,0 -32,64 16,64", "SCR"), "misc\\triac": ("X", "32,0 -16,64 32,64", "TRIAC"),
    "misc\\diac": ("X", "32,0 32,64", "DIAC"),
    "misc\\triode": ("X", "0,-48 -48,0 -32,48", "Triode"),
    "misc\\tetrode": ("X", "0,-48 48,0 -48,16 -32,64", "Tetrode"),
    "misc\\pentode": ("X", "-32,64 -48,16 48,0 -48,-16 0,-64", "Pentrode"),
    "misc\\xvaristor": ("X", "16,16 16,96", "varistor"), "misc\\urc": ("U", "16,16 16,80 -16,48", "URC"),
    "opamps\\opamp2": ("X", _OPAMP, "opamp2"),
}  # fmt: skip
_GATE = "-32,32 -32,48 -32,64 -32,80 -32,96 32,80 32,48 -16,96"
_DEVICES: Mapping[str, tuple[str, str]] = {
    # LTspice's own devices, eight nodes each, the last one their common
    "digital\\and": ("AND", _GATE), "digital\\or": ("OR", _GATE),
    "digital\\xor": ("XOR", "-48,32 -48,48 -48,64 -48,80 -48,96 32,80 16,48 -16,96"),
    "digital\\buf": ("BUF", "0,64 - - - - 64,80 64,48 0,96"),
    "digital\\buf1": ("BUF", "0,64 - - - - - 64,64 0,80"),
    "digital\\inv": ("BUF", "0,64 - - - - 64,64 - 0,80"),
    "digital\\schmitt": ("SCHMITT", "0,64 - - - - 64,80 64,48 0,96"),
    "digital\\schmtbuf": ("SCHMITT", "0,64 - - - - - 64,64 0,80"),
    "digital\\schmtinv": ("SCHMITT", "0,64 - - - - 64,64 - 0,80"),
    "digital\\diffschmitt": ("SCHMITT", "0,48 0,80 - - - 64,80 64,48 0,96"),
    "digital\\diffschmtbuf": ("SCHMITT", "0,48 0,80 - - - - 64,64 0,96"),
    "digital\\diffschmtinv": ("SCHMITT", "0,48 0,80 - - - 64,64 - 0,96"),
    "digital\\dflop": ("DFLOP", "-80,48 - -80,96 0,0 0,144 96,96 80,48 -80,144"),
    "digital\\srflop": ("SRFLOP", "-48,48 -48,96 - - - 64,96 48,48 -48,128"),
    "digital\\phidet": ("PHASEDET", "-32,-16 -32,16 - - - - 96,0 -32,48"),
    "digital\\counter": ("COUNTER", "-80,32 - - - - 144,64 144,0 -80,128"),
    "specialfunctions\\modulate": ("MODULATOR", "0,0 0,64 - - - - 144,32 0,96"),
    "specialfunctions\\modulate2": ("MODULATOR", "0,0 0,64 - - - 144,64 144,0 0,96"),
    "specialfunctions\\ota": ("OTA", "-32,48 -32,80 - - - - 48,64 -32,96"),
    "specialfunctions\\ota2": ("OTA", "-32,80 -32,48 - - - - 48,64 -32,96"),
    "specialfunctions\\sample": ("SAMPLEHOLD", "-80,-32 -80,0 -80,32 -80,64 - - 96,16 -80,96"),
    "specialfunctions\\varistor": ("VARISTOR", "-32,48 -32,80 - - - - -16,32 -16,96"),
}  # fmt: skip

_LIBRARY: Mapping[str, Symbol] = {
    **{
        name: Symbol(prefix=prefix, pins=places(pins), value=value)
        for name, (prefix, pins, value) in _ROWS.items()
    },
    **{name: Symbol(prefix="A", pins=places(pins), model=model) for name, (model, pins) in _DEVICES.items()},
    "opamps\\opamp": Symbol(
        prefix="X", pins=places("-32,48 -32,80 32,64"), value="opamp",
        spice_line="Aol=100K", spice_line2="GBW=10Meg",
    ),
    **dict.fromkeys(
        ("opamps\\universalopamp", "opamps\\universalopamp1"),
        Symbol(
            prefix="X", pins=places(_UNIVERSAL), model="level1", value2="Avol=1Meg GBW=10Meg Vos=0",
            spice_line="En=0 Enk=0 In=0 Ink=0 Rin=500Meg", model_file="UniversalOpAmp1.lib",
        ),
    ),
    **{
        f"opamps\\universalopamp{level}": Symbol(
            prefix="X", pins=places(_UNIVERSAL), model=f"level{of}", value2=_UNIVERSAL_VALUES,
            spice_line="Ilimit=25m Rail=0 Vos=0 Phimargin=45",
            spice_line2=f"En=0 Enk=0 In=0 Ink=0 Rin=500Meg{more}", model_file=f"UniversalOpAmp{of}.lib",
        )
        for level, of, more in (
            ("3", "3a", ""), ("3a", "3a", ""), ("3b", "3b", ""), ("4", "4", " Ro=1k Ccm=1p Cdiff=2p")
        )
    },
    "opamps\\universalopamp5": Symbol(
        prefix="X", pins=places(_UNIVERSAL), model="level5",
        value2="Avol=1Meg GBW=10Meg Phimargin=45 SlewPos=10Meg SlewNeg=10Meg",
        spice_line="En=0 Enk=0 In=0 Ink=0 Rcm=500Meg Ccm=1p Rdiff=500k Cdiff=2p Ro=1k",
        spice_line2="Vos=0 Ibp=2n Ibn=1n Iq=1m Rail=0 Ilimit=25m", model_file="UniversalOpAmp5.lib",
    ),
    **dict.fromkeys(
        ("opamps\\universalopamp2", "opamps\\universalopamps2"),
        Symbol(
            prefix="X", pins=places(_UNIVERSAL), model="level.2", value2="Avol=1Meg GBW=10Meg Slew=10Meg",
            spice_line="Ilimit=25m Rail=0 Vos=0 En=0 Enk=0 In=0 Ink=0 Rin=500Meg",
            model_file="UniversalOpamps2.sub",
        ),
    ),
}  # fmt: skip
_FOLDERS = ("misc", "opamps", "digital", "specialfunctions")
"""Of LTspice's library, those with symbols of the table."""
_OWN_FOLDERS = frozenset({*_FOLDERS, "comparators", "optos", "powerproducts", "references", "adc", "dac",
                          "filterproducts", "switches"})  # fmt: skip
JUMPER: tuple[Place, Place] = ((-32, 64), (32, 64))
"""The ends of a jumper, which is a wire."""


def library_symbol(name: str) -> Symbol | None:
    """The symbol of this name (as a sheet writes it: ``Opamps\\LT1001``); None for one that is not known.

    An operational amplifier of LTspice's that is not in the table gets the outline most of them have and
    is marked as assumed, as is what is named without its folder: it may be another's of that name.
    """
    key = _path(name)
    plain = plain_name(name)
    found = _LIBRARY.get(key)
    is_bare = "\\" not in key
    if found is None and is_bare:  # newer versions of LTspice find a symbol without its folder
        found = next((_LIBRARY[full] for each in _FOLDERS if (full := f"{each}\\{key}") in _LIBRARY), None)
        if found is not None and not key.startswith("universalopamp"):
            found = replace(found, is_assumed=True)
    if found is not None:
        return found
    part = block_in_any_folder(key) if is_bare else block(key)
    if part is not None:
        return Symbol(
            prefix="X", pins=part.pins, value=part.subcircuit, model_file=part.library, is_assumed=is_bare
        )
    if not is_bare and key.rpartition("\\")[0] not in _OWN_FOLDERS:
        found = library_symbol(plain)  # a folder of the user's: the name tells, and where the wires end
        return None if found is None else replace(found, is_assumed=True)
    known = op_amp(plain) if is_bare or key.startswith("opamps\\") else None
    if known is None and not key.startswith("opamps\\"):
        return None
    if known is None:
        return Symbol(prefix="X", pins=USUAL, value=plain, model_file=OPAMP_LIBRARY, is_assumed=True)
    return Symbol(
        prefix="X",
        pins=known.pins,
        value=known.subcircuit,
        model_file=known.library,
        is_assumed=is_bare,
    )


def is_jumper(name: str) -> bool:
    return _path(name) in ("misc\\jumper", "jumper")


def plain_name(name: str) -> str:
    """A symbol's name without its folders."""
    return re.split(r"[\\/]+", name)[-1]


def path_of(name: str) -> str:
    """A symbol's name with its folders: ``Logic/and`` of ``Logic\\and``."""
    return re.sub(r"[\\/]+", "/", name)


def _path(name: str) -> str:
    """Sheets write one backslash or two before a name, and some begin at LTspice's own folder."""
    return re.sub(r"[\\/]+", lambda _: "\\", name).lower().removeprefix("lib\\sym\\")
