"""Parts of LTspice's library that are blocks of their own: comparators, references, regulators, optocouplers.

Places and names are those of the `.asy` files in LTspice's folder ``lib/sym``, in the order of the
subcircuit's nodes. The generic block that takes a part's place where LTspice's library is not here does what
the part's data sheet says it is for, with one figure or two of it (the voltage of a reference, the class of
a comparator's delay); it is no model of the part.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from domain.circuit.outline_places import Place, places
from shared.late_patterns import late_pattern
from shared.message import Message, msg


class Block(NamedTuple):
    """A symbol of LTspice's library."""

    pins: tuple[Place | None, ...]
    """In the order of its subcircuit's nodes."""
    subcircuit: str
    """With what the symbol sets on it."""
    library: str


def block(symbol: str) -> Block | None:
    """Of a symbol's name with its folder, in lower case: ``comparators\\lt1720``."""
    return _all().get(symbol)


def block_in_any_folder(symbol: str) -> Block | None:
    """Of a symbol's name alone, in lower case, as newer versions of LTspice write it, and other collections
    (``555``, ``lm555``)."""
    symbol = "ne555" if _TIMER.fullmatch(symbol) else symbol
    return next((found for name, found in _all().items() if name.rpartition("\\")[2] == symbol), None)


def generic_block(
    subcircuit: str, nodes: int, parameters: frozenset[str]
) -> tuple[Message, tuple[str, ...]] | None:
    """What it is and the cards that take its place; None for one that is not known with so many nodes."""
    generic = _generics().get(_plain(subcircuit))
    if generic is None or len(generic.ports.split()) != nodes:
        return None
    if generic.file:
        return generic.kind, (f'.include "{generic.file}"',)
    unread = "".join(f" {name}=0" for name in sorted(parameters - {"m", *generic.reads}))
    head = f".subckt {subcircuit} {generic.ports}{generic.defaults}{unread}"
    return generic.kind, (head, *generic.lines, f".ends {subcircuit}")


def is_generic_block(subcircuit: str) -> bool:
    """Whether there is a block for it."""
    return _plain(subcircuit) in _generics()


def is_comparator(name: str) -> bool:
    """Whether there is a block for it, and it has the nodes of an op-amp in their usual order."""
    generic = _generics().get(_plain(name))
    return generic is not None and generic.ports == _INPUT_PORTS


def _plain(subcircuit: str) -> str:
    """A point in a name is gone by now; makers put letters behind that of a comparator (LM393P, LM393_TI)."""
    name = subcircuit.lower()
    jelly_bean = _JELLY_BEANS.match(name)
    return jelly_bean[0] if jelly_bean else name.replace("_", ".")


class _Generic(NamedTuple):
    kind: Message
    ports: str
    lines: tuple[str, ...] = ()
    defaults: str = ""
    """Parameters it reads, with their values: `` igain=1m``."""
    file: str = ""
    """A library that comes with the program."""

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(pair.partition("=")[0] for pair in self.defaults.split())


_SIDE, _UPRIGHT = "-32,16 -32,-16 0,-32 0,32 32,0", "0,-32 0,32"
_REGULATOR = "0,96 128,0 -128,0"
_FAST_14, _FAST_16 = (
    "-32,16 -32,-16 0,-48 -16,48 16,48 48,-16 48,16 0,48",
    ("0,16 -32,80 -32,48 -16,112 0,112 16,112 48,48 48,80"),
)
_DIP_8 = "-128,-96 -128,-32 -128,32 -128,96 128,96 128,32 128,-32 128,-96"
_LDO_8 = "144,-64 144,0 0,112 144,64 -144,48 -144,-48"
_LDO_5 = "-144,48 -144,-48 0,112 144,-48 144,48"
_LDO_SET = "-240,-144 -240,0 -240,112 96,160 224,160 -128,160 0,160 304,80 304,0"
_LDO_6 = "-128,-96 128,96 -128,0 -128,96 128,-96 0,160"
_OPTO, _OPTO_4 = "-96,-64 -96,32 96,-64 96,0 96,32", "-96,-48 -96,48 96,-48 96,48"
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    # folder, library, pins, names; a symbol whose subcircuit is another's has it behind the sign
    ("comparators", "LTC.lib", "-32,80 -32,48 0,32 0,96 32,64", "LT1720 LT1721=LT1720"),
    ("comparators", "LTC7.lib", "-32,80 -32,48 0,32 0,96 32,64", "LTC6752"),
    ("comparators", "LTC1.lib", _SIDE, "LT1716"),
    ("comparators", "LTC1.lib", _SIDE, "LT1017 LT1018"),
    ("comparators", "LTC1.lib", _FAST_14, "LT1711 LT1712 LT1713 LT1714"),
    ("comparators", "LTC.lib", _FAST_16, "LT1016 LT1116"),
    ("comparators", "LTC.lib", _DIP_8, "LT1394 LT1671"),
    ("comparators", "LTC3.lib", "-32,16 -32,-16 0,-48 0,48 48,0", "LTC6702"),
    ("comparators", "LTC.lib", "32,64 0,96 -32,80 -32,48 0,32", "LTC1441"),
    ("comparators", "LTC1.lib", "-16,48 -32,16 -32,-16 0,48 16,-48 16,48 48,0 0,-48", "LT1011"),
    ("misc", "LT5400-1.sub", "-96,-96 -96,-32 -96,32 -96,96 96,96 96,32 96,-32 96,-96 0,144", "LT5400-1"),
    ("misc", "NE555.sub", "-112,-96 -112,-32 -112,32 -112,96 112,96 112,32 112,-32 112,-96", "NE555"),
    ("optos", "4N25.sub", _OPTO, "4N25 4N25A=4N25 4N26=4N25"),
    ("optos", "4N27.sub", _OPTO, "4N27 4N28=4N27"),
    ("optos", "CNY17.sub", _OPTO, "CNY17-1=CNY17_Igain=.724m CNY17-2=CNY17_Igain=1.39m "
     "CNY17-3=CNY17_Igain=2.44m"),
    ("optos", "MOC205.sub", _OPTO, "MOC205=MOC205_Igain=.724m MOC206=MOC205_Igain=1.28m "
     "MOC207=MOC205_Igain=2.44m"),
    ("optos", "PC817.sub", _OPTO_4, "PC817A=PC817_Igain=1m PC817B=PC817_Igain=1.5m PC817C=PC817_Igain=2.3m "
     "PC817D=PC817_Igain=3.4m"),
    ("references", "LTC3.lib", _UPRIGHT, "LT1004-1.2 LT1004-2.5 LT1634-1.25 LT1634-2.5 LT1634-4.096 "
     "LT1634-5"),
    ("references", "LT1389.lib", _UPRIGHT, "LT1389-1.25 LT1389-2.5 LT1389-4.096 LT1389-5"),
    ("references", "LTC3.lib", f"{_UPRIGHT} 32,0", "LT1009"),
    ("references", "LTC3.lib", "-96,-48 -96,48 96,-48 96,48", "LT1021-5 LT1021-10"),
    ("references", "LT6654.lib", "0,64 -112,0 112,0", "LT6654-1.25 LT6654-2.048 LT6654-2.5 LT6654-3 "
     "LT6654-3.3 LT6654-4.096 LT6654-5"),
    ("references", "LT6656.lib", "0,64 -112,0 112,0", "LT6656-1.25 LT6656-2.048 LT6656-2.5 LT6656-3 "
     "LT6656-3.3 LT6656-4.096 LT6656-5"),
    ("references", "LTC4.lib", "0,-96 0,96 96,0", "LT1236-5 LT1236-10"),
    ("references", "ADR1399E.sub", "16,-80 16,96 -64,-80 -64,96 112,-80 112,96", "ADR1399E"),
    ("references", "ADR1399H.sub", "16,-64 16,80 112,-64 112,80", "ADR1399H"),
    ("references", "LT1021-7.sub", "-112,0 0,80 112,0", "LT1021-7"),
    *(
        ("references", f"{name}.sub", "-128,0 0,96 128,0", name)
        for name in ("ADR4520", "ADR4525", "ADR4533", "ADR4550")
    ),
    ("powerproducts", "LT1083.lib", _REGULATOR, "LT1083 LT1083-5 LT1083-12 LT1084 LT1084-3.3 LT1085 LT1086 "
     "LT1086-5"),
    ("powerproducts", "LT1117.lib", _REGULATOR, "LT1117 LT1117-3.3 LT1117-5"),
    ("powerproducts", "LTC.lib", _REGULATOR, "LT317A"),
    ("powerproducts", "LT1763.lib", _LDO_8, "LT1763 LT1763-1.5 LT1763-1.8 LT1763-2.5 LT1763-3 LT1763-3.3 "
     "LT1763-5"),
    ("powerproducts", "LT1764.lib", _LDO_5, "LT1764 LT1764-1.5 LT1764-1.8 LT1764-2.5 LT1764-3.3 LT1764A "
     "LT1764A-1.5 LT1764A-1.8 LT1764A-2.5 LT1764A-3.3"),
    ("powerproducts", "LT1963.lib", _LDO_5, "LT1963 LT1963-1.5 LT1963-1.8 LT1963-2.5 LT1963-3.3 LT1963A "
     "LT1963A-1.5 LT1963A-1.8 LT1963A-2.5 LT1963A-3.3"),
    ("powerproducts", "ADP7102.lib", _LDO_6, "ADP7142 ADP7142-1.8 ADP7142-2.5 ADP7142-3.3 ADP7142-5.0 "
     "ADP7118 ADP7118-1.8 ADP7118-2.5 ADP7118-3.3 ADP7118-5.0"),
    *(
        ("powerproducts", f"ADM7172{volts}.sub", _LDO_6, f"ADM7172{volts}")
        for volts in ("", "-1.3", "-1.8", "-2.5", "-3.0", "-3.3", "-4.2", "-5.0")
    ),
    *(
        ("powerproducts", f"{name}.sub", _LDO_SET, name)
        for name in ("LT3042", "LT3045")
    ),
    *(
        ("powerproducts", f"{name}.sub", "0,112 128,0 -128,0 0,-112", name) for name in ("LT3080", "LT3085")
    ),
    ("powerproducts", "LTC4446.sub", "-128,0 -128,80 -128,-80 128,80 0,-144 128,-80 128,0 0,144", "LTC4446"),
    ("powerproducts", "LTC4440.sub", "-128,-80 -128,80 -128,0 128,80 128,0 128,-80", "LTC4440"),
)  # fmt: skip


@cache
def _all() -> Mapping[str, Block]:
    found = {}
    for folder, library, outline, names in _ROWS:
        for name in names.split():
            symbol, _, subcircuit = name.partition("=")
            called = (subcircuit or symbol).replace("_", " ")
            found[f"{folder}\\{symbol}".lower()] = Block(places(outline), called, library)
    return found


def _follows(delay_s: float) -> tuple[str, ...]:
    """Node y goes from 0 to 1 V behind x, half of it after the delay, s; 0.69 RC at half of a step."""
    return ("r_delay x y 1k", f"c_delay y 0 {delay_s / 690:.3g}")


_ON, _OFF = "(0.5+0.5*tanh(20*(v(y)-0.5)))", "(0.5-0.5*tanh(20*(v(y)-0.5)))"
_DECIDES = "b_decides x 0 V=0.5+0.5*tanh((v(inp)-v(inn))/1m)"
_INPUTS = ("r_in inp inn 10g", "r_cm inp 0 100g", "r_sup vcc vee 1meg")


def _comparator(ports: str, kind: Message, delay_s: float) -> _Generic:
    """Its output goes to both supplies, through 50 ohms."""
    return _Generic(
        kind,
        ports,
        (
            *_INPUTS,
            _DECIDES,
            *_follows(delay_s),
            f"b_up vcc out I=v(vcc,out)/50*{_ON}",
            f"b_down out vee I=v(out,vee)/50*{_OFF}",
            "r_out out vee 10meg",
        ),
    )


def _shunt(ports: str, volts: float) -> _Generic:
    lines = [f"b_ref k a I=max(0,(v(k,a)-{volts:g})/0.5)", "r_leak k a 10meg", "d_back a k d_ref",
             ".model d_ref D(IS=1p RS=1)"]  # fmt: skip
    if "trim" in ports:
        lines.append("r_trim trim a 10meg")
    return _Generic(msg("{voltage} V shunt reference", voltage=f"{volts:g}"), ports, tuple(lines))


def _series(ports: str, volts: float) -> _Generic:
    lines = [
        f"b_want want 0 V=max(0,min({volts:g},v(in,gnd)-0.5))",
        "b_pass in out I=max(-10m,min(10m,v(want)-v(out,gnd)))",
        "r_sup in gnd 20k",
        "r_out out gnd 10meg",
    ]
    if "trim" in ports:
        lines.append("r_trim trim gnd 10meg")
    return _Generic(msg("{voltage} V series reference", voltage=f"{volts:g}"), ports, tuple(lines))


def _regulator(volts: float | None) -> _Generic:
    """An adjustable one holds 1.25 V between its output and ADJ."""
    kind = (
        msg("adjustable linear regulator for 1.5 A")
        if volts is None
        else msg("{voltage} V linear regulator for 1.5 A", voltage=f"{volts:g}")
    )
    lines = (
        f"b_want want 0 V=max(0,min({volts or 1.25:g},v(in,adj)-1.1))",
        "b_pass in out I=max(0,min(1.5,(v(want)-v(out,adj))*50))",
        f"b_own in adj I={'50u' if volts is None else '5m'}*tanh(max(0,v(in,adj)))",
        "r_out out adj 10meg",
    )
    return _Generic(kind, "adj out in", lines)


def _fast_comparator(ports: str, kind: Message, delay_s: float) -> _Generic:
    """Two outputs, one the other's opposite, between the supply and ground; its latch is left out."""
    return _Generic(
        kind,
        ports,
        (
            *_INPUTS,
            _DECIDES,
            *_follows(delay_s),
            f"b_out out gnd I=(v(out,gnd)-v(vcc,gnd)*{_ON})/50",
            f"b_not outb gnd I=(v(outb,gnd)-v(vcc,gnd)*{_OFF})/50",
            "r_latch latch gnd 1meg",
            "r_gnd gnd 0 100meg",
        ),
    )


def _low_dropout(ports: str, volts: float, amperes: float, *, is_fixed: bool) -> _Generic:
    """Holds `volts` between the pin it watches (fb) and ground; an enable pin above 1 V switches it on."""
    enabled = next((port for port in ("en", "shdn") if port in ports.split()), "")
    on = f"*(0.5+0.5*tanh(20*(v({enabled},gnd)-1)))" if enabled else ""
    kind = (
        msg("{voltage} V low-dropout regulator", voltage=f"{volts:g}")
        if is_fixed
        else msg("adjustable low-dropout regulator")
    )
    others = [port for port in ports.split() if port not in ("in", "out", "gnd")]
    return _Generic(
        kind,
        ports,
        (
            f"b_pass in out I=max(0,min({amperes:g},min(({volts:g}-v(fb,gnd))*50,v(in,out)*4))){on}",
            "r_sup in gnd 20k",
            "r_out out gnd 10meg",
            *(f"r_{port} {port} gnd 10meg" for port in others),
        ),
    )


def _current_set(ports: str, microamperes: float, amperes: float) -> _Generic:
    """Its output follows the voltage its current drops across a resistor at SET."""
    port_list = ports.split()
    ground, sense = ("gnd", "outs") if "gnd" in port_list else ("0", "out")
    on = "*(0.5+0.5*tanh(20*(v(en,gnd)-1.2)))" if "en" in port_list else ""
    others = [port for port in port_list if port not in ("in", "out", "gnd", "set", "outs")]
    wanted = f"max(0,min((v(set)-v({sense}))*50,v(in,out)*4))"
    return _Generic(
        msg("low-dropout regulator set by a resistor"),
        ports,
        (
            f"b_set {ground} set I={microamperes:g}u*(0.5+0.5*tanh(10*v(in,set)-2))",
            f"b_pass in out I={amperes:g}*tanh({wanted}/{amperes:g}){on}",
            f"r_out out {ground} 10meg",
            f"r_set set {ground} 1g",
            *([f"r_sense outs {ground} 10meg"] if sense == "outs" else []),
            *(f"r_{port} {port} {ground} 10meg" for port in others),
        ),
    )


def _optocoupler(ports: str, ratio: str, defaults: str = "") -> _Generic:
    return _Generic(
        msg("optocoupler"),
        ports,
        (
            "d_led a cathode d_led",
            "v_led cathode k 0",
            f"f_photo c b v_led {{({ratio})/200}}",
            "r_base b e 100meg",
            "q_out c b e q_out",
            ".model d_led D(IS=1e-16 N=1.6 RS=2 CJO=30p BV=6)",
            ".model q_out NPN(IS=10f BF=200 VAF=80 CJE=20p CJC=8p TF=10n)",
        ),
        defaults,
    )


@cache
def _generics() -> Mapping[str, _Generic]:
    fast = msg("comparator with outputs to both supplies and a delay of 5 ns")
    slow = msg("comparator with outputs to both supplies and a delay of 1 us")
    slower = msg("comparator with outputs to both supplies and a delay of 10 us")
    slower_pair = msg("comparator with two outputs and a delay of 60 ns")
    pair = msg("comparator with two outputs and a delay of 7 ns")
    inputs = _INPUT_PORTS
    found = {
        "lt1720": _comparator(inputs, fast, 5e-9), "ltc6752": _comparator(inputs, fast, 5e-9),
        "lt1716": _comparator(inputs, slow, 1e-6), "ltc6702": _comparator(inputs, slow, 1e-6),
        "ltc1441": _comparator("out vee inp inn vcc", slow, 1e-6),
        "lt1011": _Generic(
            msg("comparator with an open-collector output and a delay of 150 ns"),
            "gnd inp inn vee bal strobe out vcc",
            (
                *_INPUTS, _DECIDES, *_follows(150e-9), f"b_down out gnd I=50m*tanh(v(out,gnd)/0.2)*{_OFF}",
                "r_out out gnd 100meg", "r_bal bal vcc 10meg", "r_strobe strobe vcc 10meg",
            ),
        ),
        **dict.fromkeys(
            ("lm393", "lm293", "lm193", "lm339", "lm239", "lm139", "lm2901", "lm2903"),
            _Generic(
                msg("comparator with an open-collector output and a delay of 1 us"),
                inputs,
                (*_INPUTS, _DECIDES, *_follows(1e-6), f"b_down out vee I=16m*tanh(v(out,vee)/0.2)*{_OFF}",
                 "r_out out vee 100meg"),
            ),
        ),
        **dict.fromkeys(("lt1017", "lt1018"), _comparator(inputs, slower, 10e-6)),
        **dict.fromkeys(
            ("lt1711", "lt1712", "lt1713", "lt1714"),
            _fast_comparator("inp inn vcc vee gnd out outb latch", pair, 7e-9),
        ),
        **dict.fromkeys(
            ("lt1016", "lt1116", "lt1394"),
            _fast_comparator("vcc inp inn vee latch gnd out outb", pair, 7e-9),
        ),
        "lt1671": _fast_comparator("vcc inp inn vee latch gnd out outb", slower_pair, 60e-9),
        "adr1399e": _Generic(
            msg("{voltage} V shunt reference", voltage="7.05"),
            "k a heat cool ks as",
            (*_shunt("k a", 7.05).lines, "r_heater heat cool 1k", "r_ks k ks 0.1", "r_as a as 0.1"),
        ),
        "adr1399h": _Generic(
            msg("{voltage} V shunt reference", voltage="7.05"),
            "k a heat cool",
            (*_shunt("k a", 7.05).lines, "r_heater heat cool 1k"),
        ),
        "lt5400-1": _Generic(
            msg("four resistors of 10 kΩ"),
            "p1 p2 p3 p4 p5 p6 p7 p8 pad",
            ("r1 p1 p8 10k", "r2 p2 p7 10k", "r3 p3 p6 10k", "r4 p4 p5 10k", "r_pad pad 0 100meg"),
        ),
        **dict.fromkeys(
            ("lt3042", "lt3045"), _current_set("in en pg ilim pgfb set gnd outs out", 100, 0.5)
        ),
        **dict.fromkeys(("lt3080", "lt3085"), _current_set("set out vcontrol in", 10, 1.1)),
        "ltc4446": _Generic(
            msg("driver of a half bridge"),
            "tinp binp vcc bg boost tg ts gnd",
            (
                "b_top x 0 V=0.5+0.5*tanh(10*(v(tinp,gnd)-2.2))", *_follows(30e-9),
                "b_bottom z 0 V=0.5+0.5*tanh(10*(v(binp,gnd)-2.2))", "r_delay2 z w 1k",
                f"c_delay2 w 0 {30e-9 / 690:.3g}",
                f"b_up boost tg I=v(boost,tg)/2*{_ON}", f"b_down tg ts I=v(tg,ts)/1.2*{_OFF}",
                f"b_up2 vcc bg I=v(vcc,bg)/1.5*{_ON.replace('(y)', '(w)')}",
                f"b_down2 bg gnd I=v(bg,gnd)/0.6*{_OFF.replace('(y)', '(w)')}",
                "r_t tinp gnd 1meg", "r_b binp gnd 1meg", "r_sup vcc gnd 20k", "r_ts tg ts 1meg",
                "r_bg bg gnd 1meg", "r_gnd ts gnd 100meg",
            ),
        ),
        "ne555": _Generic(msg("timer of the bipolar type"), "1 2 3 4 5 6 7 8", file="NE555.lib"),
        "4n25": _optocoupler("a k c e b", "0.5"), "4n27": _optocoupler("a k c e b", "0.3"),
        "cny17": _optocoupler("a k c e b", "igain*1k", " igain=1m"),
        "moc205": _optocoupler("a k c e b", "igain*1k", " igain=1m"),
        "pc817": _optocoupler("a k c e", "igain*1k", " igain=1m"),
        "ltc4440": _Generic(
            msg("high-side gate driver"),
            "vcc gnd inp ts tg boost",
            (
                "b_decides x 0 V=0.5+0.5*tanh(10*(v(inp,gnd)-1.45))", *_follows(30e-9),
                f"b_up boost tg I=v(boost,tg)/2*{_ON}", f"b_down tg ts I=v(tg,ts)/1.5*{_OFF}",
                "r_in inp gnd 1meg", "r_sup vcc gnd 20k", "r_ts tg ts 1meg", "r_gnd ts gnd 100meg",
            ),
        ),
    }  # fmt: skip
    for _, _, outline, names in _ROWS:
        for name in names.split():
            match = _VOLTS.fullmatch(name)
            if match is None:
                continue
            volts = _CALLED.get(match["volts"] or "", float(match["volts"] or 2.5))
            if outline in _LOW_DROPOUTS:
                ports, amperes, own = _LOW_DROPOUTS[outline]
                found[name.lower()] = _low_dropout(
                    ports, volts if match["volts"] else own, amperes, is_fixed=bool(match["volts"])
                )
            elif outline == _REGULATOR:
                found[name.lower()] = _regulator(volts if match["volts"] else None)
            elif outline.startswith(_UPRIGHT):
                found[name.lower()] = _shunt("k a trim" if name == "LT1009" else "k a", volts)
            else:
                found[name.lower()] = _series(_SERIES_PORTS.get(outline, "in gnd out"), volts)
    return found


_TIMER = late_pattern(r"(?:[a-z]{2})?555[a-z]{0,2}")
_INPUT_PORTS = "inp inn vcc vee out"
_JELLY_BEANS = late_pattern(r"lm[123](?:93|39)|lm290[13]")
_CALLED = {"1.2": 1.235, "20": 2.048, "25": 2.5, "33": 3.3, "50": 5.0}
"""Volts of a reference whose name does not say them as they are."""
_SERIES_PORTS = {"0,64 -112,0 112,0": "gnd in out", "-96,-48 -96,48 96,-48 96,48": "in gnd out trim"}
_LOW_DROPOUTS = {
    # the order of the nodes, the greatest current in A, what an adjustable one holds at its pin in V
    _LDO_8: ("out fb gnd byp shdn in", 0.5, 1.22),
    _LDO_5: ("shdn in gnd out fb", 3, 1.21),
    _LDO_6: ("in fb en ss out gnd", 2, 1.2),
}
_VOLTS = late_pattern(
    r"(?:LT1763|LT1764A?|LT1963A?|ADP71(?:18|42)|ADM7172|LT1004|LT1009|LT1021|LT1236|LT1389|LT1634|ADR45(?=\d)|LT665[46]|LT108[3-6]|LT1117|LT317A)(?:-?(?P<volts>[\d.]+))?"
)
