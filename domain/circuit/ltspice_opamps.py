"""LTspice's op-amps: which outline each has, which subcircuit it is, in which library.

Places and names are those of the `.asy` files in LTspice's folder ``lib/sym/Opamps``, in the order of the
subcircuit's nodes. They are not of one kind: some have the output before the supplies, some a further pin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from domain.circuit.outline_places import Place, places

OPAMP_LIBRARY, _ANALOG_DEVICES = "LTC.lib", "ADI.lib"
"""Where LTspice has its operational amplifiers."""
USUAL: tuple[Place | None, ...] = places("-32,80 -32,48 0,32 0,96 32,64")
"""Input +, input -, supply +, supply -, output: the outline of most."""
USUAL_PORTS = ("inp", "inn", "vcc", "vee", "out")


class OpAmp(NamedTuple):
    """An op-amp of LTspice's library."""

    pins: tuple[Place | None, ...]
    """In the order of its subcircuit's nodes."""
    subcircuit: str
    library: str


def op_amp(name: str) -> OpAmp | None:
    """The one of this name, in any letter case; None for one that is not known."""
    return _all().get(name.lower())


def ports_of(subcircuit: str, nodes: int = len(USUAL_PORTS)) -> tuple[str, ...] | None:
    """What the nodes of a subcircuit with so many are: inp, inn, vcc, vee and out in its order, then those
    that switch it off or compensate it (``further1`` ...).

    None for a known one that has other nodes; the usual order for one that is not known.
    """
    pins = _by_subcircuit().get(subcircuit.lower())
    further = tuple(f"further{index}" for index in range(1, nodes - len(USUAL_PORTS) + 1))
    if pins is None:
        return (*USUAL_PORTS, *further) if nodes in _AMPLIFIER_NODES[:2] else None
    first = _amplifier_pins(pins)
    return (*_ports(first), *further) if first and len(pins) == nodes else None


def is_op_amp(subcircuit: str) -> bool:
    """Whether a subcircuit is an op-amp of LTspice's: five nodes of an amplifier, perhaps further ones."""
    return bool(_amplifier_pins(_by_subcircuit().get(subcircuit.lower(), ())))


_AMPLIFIER_NODES = range(len(USUAL_PORTS), len(USUAL_PORTS) + 3)


def _amplifier_pins(pins: Sequence[Place | None]) -> list[Place]:
    """The first five, where they stand as those of an amplifier do; [] where they don't."""
    first = [pin for pin in pins[: len(USUAL_PORTS)] if pin is not None]
    is_one = len(pins) in _AMPLIFIER_NODES and len(first) == len(USUAL_PORTS) and _is_amplifier(first)
    return first if is_one else []


def _ports(pins: Sequence[Place]) -> tuple[str, ...]:
    """What each of five pins is, by where it is."""
    left = sorted(pins)[:2]
    ports = {max(left, key=_height): "inp", min(left, key=_height): "inn", max(pins): "out"}
    upper, lower = sorted((pin for pin in pins if pin not in ports), key=_height)
    ports |= {upper: "vcc", lower: "vee"}
    return tuple(ports[pin] for pin in pins)


@cache
def five_pin_outlines() -> Mapping[tuple[Place, ...], frozenset[Place]]:
    """The outlines that op-amps with five pins have, the usual one first: input +, input -, supply +,
    supply -, output of each. With each the places at which it has no pin: a package of two is often drawn as
    the single one, without the pin that switches that off.
    """
    found: dict[tuple[Place, ...], frozenset[Place]] = {}
    for count in (len(USUAL), len(USUAL) + 1):
        for outline in _OUTLINES:
            pins = [pin for pin in places(outline) if pin is not None]
            own = pins[: len(USUAL)]
            if len(pins) == count and _is_amplifier(own):
                at = dict(zip(_ports(own), own, strict=True))
                in_order = tuple(at[port] for port in USUAL_PORTS)
                found.setdefault(in_order, frozenset(pins[len(USUAL) :]))
    return found


def _is_amplifier(pins: Sequence[Place]) -> bool:
    """Whether five pins stand as those of an amplifier: inputs at the left, one above the other, the output
    at the right, supplies above and below."""
    left, right = sorted(pins)[:2], max(pins)
    upper, lower = sorted((pin for pin in pins if pin not in left and pin != right), key=_height)
    is_apart = right[0] > max(upper[0], lower[0]) and left[0][0] == left[1][0] < min(upper[0], lower[0])
    return is_apart and upper[1] < min(map(_height, left)) and lower[1] > max(map(_height, left))


def _height(place: Place) -> int:
    return place[1]


@cache
def _all() -> Mapping[str, OpAmp]:
    subcircuits = dict(pair.split("=") for pair in _SUBCIRCUITS.split())
    found = {}
    for outline, names in _OUTLINES.items():
        pins = places(outline)
        for name in names.split():
            library = _ANALOG_DEVICES if name.startswith("AD") else OPAMP_LIBRARY
            found[name.lower()] = OpAmp(pins, subcircuits.get(name, name), library)
    return found


@cache
def _by_subcircuit() -> Mapping[str, tuple[Place | None, ...]]:
    return {each.subcircuit.lower(): each.pins for each in _all().values()}


_OUTLINES: Mapping[str, str] = {
    "-32,80 -32,48 0,32 0,96 32,64": """
        AD795 AD8031 AD8034 AD8039 AD8047 AD8065 AD8066 AD8067 AD8091 AD8092 AD811 AD823 AD823A
        AD8510 AD8512 AD8513 AD8515 AD8538 AD8539 AD8541 AD8542 AD8544 AD8546 AD8548 AD8551 AD8552
        AD8554 AD8571 AD8572 AD8574 AD8601 AD8602 AD8604 AD8605 AD8606 AD8608 AD8614 AD8618 AD8624
        AD8628 AD8629 AD8630 AD8641 AD8642 AD8643 AD8648 AD8663 AD8667 AD8669 AD8671 AD8672 AD8674
        AD8675 AD8691 ADA4000 ADA4051 ADA4077-2 ADA4091 ADA4092 ADA4096 ADA4177 ADA4500 ADA4505
        ADA4522 ADA4528 ADA4665 ADA4891 ADA4896 ADTL082 LT1001 LT1001A LT1001S8 LT1002 LT1002A
        LT1006 LT1006A LT1006S8 LT1007 LT1007A LT1007CS LT1012 LT1012A LT1012D LT1012S8 LT1013
        LT1013A LT1013D LT1014 LT1014A LT1014D LT1022 LT1022A LT1024 LT1024A LT1028 LT1028A LT1028CS
        LT1037 LT1037A LT1037CS LT1055 LT1055A LT1055S8 LT1056 LT1056A LT1056S8 LT1057 LT1057A
        LT1057S LT1058 LT1058A LT1077 LT1077A LT1078 LT1078A LT1079 LT1079A LT1097 LT1112 LT1113
        LT1114 LT1115 LT1122 LT1124 LT1125 LT1126 LT1127 LT1128 LT1169 LT1178 LT1178A LT1179 LT1179A
        LT1208 LT1209 LT1211 LT1212 LT1213 LT1214 LT1215 LT1216 LT1217 LT1220 LT1221 LT1223 LT1224
        LT1225 LT1226 LT1227 LT1229 LT1230 LT1252 LT1253 LT1254 LT1259 LT1260 LT1352 LT1353 LT1354
        LT1355 LT1356 LT1357 LT1358 LT1359 LT1360 LT1361 LT1362 LT1363 LT1364 LT1365 LT1366 LT1367
        LT1368 LT1369 LT1395 LT1396 LT1397 LT1413 LT1413A LT1462 LT1463 LT1464 LT1465 LT1466 LT1466L
        LT1467 LT1467L LT1468-2 LT1468 LT1469-2 LT1469 LT1490 LT1490A LT1491 LT1492 LT1493 LT1495
        LT1496 LT1497 LT1498 LT1499 LT1630 LT1631 LT1632 LT1633 LT1638 LT1639 LT1677 LT1722 LT1723
        LT1724 LT1792 LT1793 LT1797 LT1800 LT1807 LT1810 LT1813 LT1881 LT1884 LT1886 LT2078 LT2078A
        LT2079 LT2079A LT2178 LT2178A LT2179 LT2179A LTC1047 LTC1049 LTC1050 LTC1050A LTC1051
        LTC1051A LTC1052 LTC1052CS LTC1053 LTC1150 LTC1151 LTC1250 LTC7652 OP07 OP113 OP177A OP191
        OP213 OP27 OP291 OP296 OP37 OP413 OP491 OP492 OP495 OP727 OP747 OP77 OP777 RH1028 RH1056A
        RH1128 RH1498 RH27C RH37C""",
    "-32,16 -32,-16 32,0 0,-32 0,32": """
        LT1457 LT1672 LT1673 LT1674 LT1678 LT1679 LT1803 LT1804 LT1805 LT1815 LT1816 LT1817 LT1818
        LT1819 LT6013 LT6014 LT6201 LT6202 LT6203 LT6204 LT6205 LT6206 LT6207 LT6231 LT6232 LT6234
        LT6235 LT6237 LT6238 LTC2052 LTC2054 LTC2055""",
    "-32,16 -32,-16 0,-32 0,32 32,0": """
        LT118A LT1494 LT1801 LT1802 LT1814 LT1880 LT1882 LT1885 LT318A LT6002 LT6003 LT6004 LT6005
        LT6015 LT6016 LT6017 LT6220 LT6221 LT6222 LTC6078 LTC6079 LTC6082 LTC6085 LTC6088 LTC6240
        LTC6241 LTC6242 LTC6244 LTC6244HV RH1814""",
    "-32,32 -32,-32 112,0 0,-80 0,80 48,80": """
        LT1784 LT6010 LT6200-10 LT6200-5 LT6200 LT6230-10 LT6230 LT6233-10 LT6233 LT6236 LTC2063
        LTC6258 LTC6259 LTC6260 LTC6261 LTC6262 LTC6263 LTC6268-10 LTC6268 LTC6269-10 LTC6269 RH6200""",
    "-32,32 -32,-32 0,-80 0,80 112,0 48,80": """
        LT1210 LT1219 LT1398 LT1399 LT1636 LT1637 LT1782 LT1783 LT1806 LT1809 LT1812 LT6559 LTC2050
        LTC2050HV LTC2051 LTC6081 LTC6084 LTC6087""",
    "-32,16 -32,-16 -16,-32 -16,32 32,0 16,32": """
        AD8038 ADA4805 ADA4841 LT1190 LT1191 LT1192 LT1195 LT1218 LT1222 LT1351 LTC6255""",
    "-128,-96 -128,-32 -128,32 -128,96 128,96 128,32 128,-32 128,-96": """
        LT1101 LT1101A LT1102 LT1102A LT1167 LT1228 LT1328 LT1920 LTC1100 LTC1100A""",
    "-64,-48 -64,16 -32,-80 96,-32 96,32 -32,80 -64,-16 -64,48": """
        LTC1992-1 LTC1992-10 LTC1992-2 LTC1992-5 LTC1992""",
    "32,0 0,32 -32,16 -32,-16 0,-32": """
        LTC6247 LTC6248 LTC6253 LTC6254""",
    "-32,80 -32,48 16,32 0,96 32,64 -16,32 0,32": """
        LM108A LM308 LT1008""",
    "-64,-48 -64,-16 0,-64 0,64 64,0 -64,16 -64,48 -32,-64": """
        LT1187 LT1189 LT1193""",
    "-64,-32 -64,0 -32,-80 96,-32 96,32 -32,80 0,80 -64,32": """
        LT1994 LTC6362 LTC6363""",
    "0,-128 -112,-80 -112,80 0,128 112,80 112,0 112,-80": """
        LT1999-10 LT1999-20 LT1999-50""",
    "160,-160 -160,-48 -160,64 0,112 160,64 160,-48 -160,-160 0,-208": """
        LT6108-1 LT6108-2 LT6118""",
    "144,0 -48,96 -112,0 64,96 -80,-96 -32,-96 16,-96 64,-96": """
        LTC6910-1 LTC6910-2 LTC6910-3""",
    "-32,80 -32,48 0,32 -16,96 32,64 16,96": """
        LT1206 LT1207""",
    "-32,-48 -32,80 -32,-80 0,96 80,64 144,0 0,-96 -32,48": """
        LT1789-1 LT1789-10""",
    "-16,16 -16,-16 0,-48 0,48 64,0 32,48": """
        LT6000 LT6001""",
    "-32,32 -32,-32 112,0 0,-80 0,80": """
        LT6011 LT6012""",
    "-48,16 -48,-16 -32,-64 -32,64 64,0 0,-48 0,48": """
        LT6018 LT6020-1""",
    "96,112 -96,-16 96,-64 -96,-64 96,-16": """
        LT6106 LT6107""",
    "-32,32 -32,-32 -16,-64 -16,64 64,0 16,64": """
        LT6210 LT6211""",
    "-32,16 -32,-16 0,-48 0,48 48,0 -16,48 16,48": """
        LT6300 LT6301""",
    "-176,-96 -176,-32 -176,32 -176,96 176,96 176,32 176,-32 176,-96": """
        LTC1541 LTC1542""",
    "-64,-112 -160,-32 -160,32 -128,144 112,0 -128,-144 -64,112": """
        LTC2057 LTC2057HV""",
    "0,80 -64,-32 -64,32 -48,80 0,-80 96,0 -48,-80 48,-80": """
        LTC6090-5 LTC6090""",
    "32,0 -16,32 -32,16 -32,-16 16,32 -16,-32": """
        LTC6252 LTC6253-7""",
    "-32,64 -16,32 0,96 16,32 32,64": """
        LT1010""",
    "-64,-16 -64,48 -64,-48 -32,64 32,64 64,0 0,-64 -64,16": """
        LT1168""",
    "-64,-32 -64,0 0,-64 32,64 64,0 -64,32 -32,64 0,64": """
        LT1194""",
    "16,64 16,0 -32,32": """
        LT1328PD""",
    "-32,32 -32,-32 0,-80 64,80 112,0 32,80 0,80": """
        LT1635""",
    "-128,-96 -128,-32 -128,96 128,96 128,32 128,-32 128,-96": """
        LT1787""",
    "-64,32 -64,-32 -32,-64 -32,64 64,0 0,64 32,64 32,-64": """
        LT1795""",
    "-80,160 -176,-16 -176,16 -16,160 176,48 176,0 -16,-128 176,-80": """
        LT1990""",
    "-48,16 -48,-16 -16,-48 -16,48 48,0": """
        LT6020""",
    "-128,0 -80,-128 32,32 -16,32 112,-32 32,-128 0,-128 -128,-64": """
        LT6100""",
    "-112,128 -32,128 48,-112 128,128 128,-112 48,128 -32,-112 -112,-112": """
        LT6350""",
    "-112,-16 -80,96 0,-80 0,96 96,0": """
        LT6550""",
    "-112,-16 0,96 0,-80 96,0": """
        LT6551""",
    "-32,16 -32,-16 -32,-48 0,80 48,-80 112,0 0,-80 -32,48": """
        LT6552""",
    "-128,32 -128,-32 128,-32 -128,96 128,32 128,96 -128,-96 128,-96": """
        LTC1152""",
    "48,64 -112,16 -112,-16 16,64 -32,64 -16,64 80,0 16,-64": """
        LTC2053""",
    "128,144 -128,-16 128,-128 -128,-128 128,-16": """
        LTC6101""",
    "96,144 -96,-16 96,-112 -96,-112 96,-16 96,-64": """
        LTC6102""",
    "-48,144 48,144 0,144 160,-112 48,-112 -48,-112 -160,-112": """
        LTC6103""",
    "192,0 0,128 144,-128 48,-128 -48,-128 -144,-128": """
        LTC6104""",
    "32,0 0,32 -32,16 -32,-16 16,16 0,-32": """
        LTC6246""",
    "96,32 -64,32 0,80 -32,-80 -64,0 -64,-32 96,-32 -32,80": """
        LTC6409""",
    "-16,32 -32,48 -32,80 0,96 32,64 16,32 0,32": """
        RH101A""",
}
_SUBCIRCUITS = """
    LT1001A=LT1001 LT1001S8=LT1001 LT1002=LT1001 LT1002A=LT1001 LT1006A=LT1006 LT1006S8=LT1006
    LT1007A=LT1007 LT1007CS=LT1007 LT1012A=LT1012 LT1012D=LT1012 LT1012S8=LT1012 LT1013A=LT1013
    LT1013D=LT1013 LT1014=LT1013 LT1014A=LT1013 LT1014D=LT1013 LT1022A=LT1022 LT1024=LT1012
    LT1024A=LT1012 LT1028A=LT1028 LT1028CS=LT1028 LT1037A=LT1037 LT1037CS=LT1037 LT1055A=LT1055
    LT1055S8=LT1055 LT1056A=LT1056 LT1056S8=LT1056 LT1057A=LT1057 LT1057S=LT1057 LT1058=LT1057
    LT1058A=LT1057 LT1077=LT1078 LT1077A=LT1078 LT1078A=LT1078 LT1079=LT1078 LT1079A=LT1078
    LT1114=LT1112 LT1115=LT1028 LT1125=LT1124 LT1127=LT1126 LT1178A=LT1178 LT1179=LT1178 LT1179A=LT1178
    LT1209=LT1208 LT1212=LT1211 LT1214=LT1213 LT1216=LT1215 LT1230=LT1229 LT1260=LT1259 LT1353=LT1352
    LT1355=LT1354 LT1356=LT1354 LT1358=LT1357 LT1359=LT1357 LT1361=LT1360 LT1362=LT1360 LT1364=LT1363
    LT1365=LT1363 LT1367=LT1366 LT1369=LT1368 LT1396=LT1395 LT1397=LT1395 LT1413A=LT1413 LT1463=LT1462
    LT1465=LT1464 LT1466L=LT1466 LT1467=LT1466 LT1467L=LT1466 LT1469-2=LT1468-2 LT1469=LT1468
    LT1490=LT1490A LT1491=LT1490A LT1493=LT1492 LT1495=LT1494 LT1496=LT1494 LT1499=LT1498 LT1631=LT1630
    LT1633=LT1632 LT1639=LT1638 LT1723=LT1722 LT1724=LT1722 LT2078=LT1078 LT2078A=LT1078 LT2079=LT1078
    LT2079A=LT1078 LT2178=LT1178 LT2178A=LT1178 LT2179=LT1178 LT2179A=LT1178 LTC1050A=LTC1050
    LTC1051A=LTC1051 LTC1052CS=LTC1052 LTC1053=LTC1052 LTC7652=LTC1052 OP07=LT1001 OP27=LT1007
    RH1028=LT1028 RH1056A=LT1056 RH1128=LT1128 RH1498=LT1498 LM108A=LT1008 LM308=LT1008 LT1101A=LT1101
    LT1102A=LT1102 LTC1100A=LTC1100 LT1801=LT1800 LT1802=LT1800 LT1814=LT1813 LT1882=LT1881
    LT1885=LT1884 LT318A=LT118A LT6004=LT6003 LT6005=LT6003 LT6015=LT6016 LT6017=LT6016 LT6221=LT6220
    LT6222=LT6220 LTC6079=LTC6078 LTC6240=LTC6241 LTC6242=LTC6241 RH1814=LT1813 LT1207=LT1206
    LT1399=LT1398 LTC2050HV=LTC2050 LTC2051=LTC2050 LT1673=LT1672 LT1674=LT1672 LT1679=LT1678
    LT1804=LT1803 LT1805=LT1803 LT1816=LT1815 LT1817=LT1815 LT1819=LT1818 LT6014=LT6013 LT6203=LT6202
    LT6204=LT6202 LT6206=LT6205 LT6207=LT6205 LT6232=LT6231 LT6235=LT6234 LT6238=LT6237 LTC2055=LTC2054
    LTC6259=LTC6258 LTC6260=LTC6258 LTC6262=LTC6261 LTC6263=LTC6261 LTC6269-10=LTC6268-10
    LTC6269=LTC6268 RH6200=LT6200 LT1999-10=LT1999-x Gain=10 LT1999-20=LT1999-x Gain=20
    LT1999-50=LT1999-x Gain=50 LT6001=LT6000 LT6012=LT6011 LT6107=LT6106 LT6211=LT6210 LT6300=LT1794
    LT6301=LT1794 LTC2057HV=LTC2057 LTC6248=LTC6247 LTC6254=LTC6253
"""
"""Symbols whose subcircuit has another name: ``LT1001A=LT1001``."""
