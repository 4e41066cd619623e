"""Generic models of ours for well-known parts of other programs' own libraries.

LTspice and PSpice find `2N3904` or an op-amp in libraries that come with the program and may not be passed
on. A circuit that leans on them runs here with a stand-in of the part's kind; who reads the result is told.

The numbers are typical values set by us for a class of parts (forward voltage, current gain, capacitance,
threshold, on-resistance at 25 degrees), not fitted to a data sheet: a real part of the name differs. Only
the speed of a well-known op-amp is its data sheet's. Only a Zener diode breaks down: a class does not tell
what voltage its parts withstand, and a guess that is too low ruins a circuit that works. The equations are
those of the ngspice 39 manual, chapters 7 (diode), 8 (BJT), 9 (JFET), 11 (VDMOS). The op-amp is the gain
stage of Boyle et al., "Macromodeling of integrated circuit operational amplifiers", IEEE J. Solid-State
Circuits 9 (1974).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from domain.circuit.elements import Element
from domain.circuit.hierarchy import Circuit, PlacedElement
from domain.circuit.ltspice_blocks import generic_block, is_comparator, is_generic_block
from domain.circuit.ltspice_opamps import USUAL_PORTS, is_op_amp, ports_of
from domain.circuit.op_amp_figures import figures_of
from domain.circuit.statements import Field
from shared.late_patterns import late_pattern
from shared.message import Message, msg


class StandIn(NamedTuple):
    """A model that takes the place of one that is not here."""

    name: str
    """Of the part, as the circuit writes it."""
    kind: Message
    """``small-signal NPN transistor``."""
    cards: tuple[str, ...]
    """What defines it."""
    file: Path | None
    line: int
    """Of the first element that uses it."""


def stand_ins_for(circuit: Circuit) -> tuple[StandIn, ...]:
    """A stand-in for every undefined model or subcircuit whose name is that of a part we know the kind of."""
    found: dict[str, StandIn] = {}
    for placed, name, parameters in _undefined(circuit):
        element = placed.element
        # A length or width asks for a process's model, which no symbol tells.
        is_sized = element.letter == "m" and not element.params.keys().isdisjoint(("l", "w"))
        drawn = None if is_sized else drawn_kind(element.statement.comment)
        known = None if name.key in found else _known(element, name.text, parameters, drawn)
        if known is not None:
            kind, cards = known
            found[name.key] = StandIn(
                name=name.text, kind=kind, cards=cards, file=placed.file, line=element.line
            )
    return tuple(found.values())


def lacks_only_known_parts(circuit: Circuit) -> bool:
    """Whether something is undefined in it, and the name of each tells what kind of part it is."""
    undefined = list(_undefined(circuit))
    return bool(undefined) and all(
        _known(placed.element, name.text, parameters, None) for placed, name, parameters in undefined
    )


def _undefined(circuit: Circuit) -> Iterator[tuple[PlacedElement, Field, frozenset[str]]]:
    """Elements whose model or subcircuit is nowhere, its name, and the parameters X lines set on it."""
    set_on: dict[str, set[str]] = {}
    for block in circuit.top.walk():
        for placed in block.elements:
            if placed.element.letter == "x" and placed.element.model is not None:
                set_on.setdefault(placed.element.model.key, set()).update(placed.element.params)
    for block in circuit.top.walk():
        for placed in block.elements:
            name = placed.element.model
            if name is None:
                continue
            is_block = placed.element.letter == "x"
            if (block.find_block(name.text) if is_block else block.find_model(name.text)) is None:
                yield placed, name, frozenset(set_on.get(name.key, ()))


def kind_comment(letter: str, name: str, symbol: str) -> str:
    """What a netlist made of a sheet says behind an element whose symbol tells more of a part than its name.

    "" where the name alone is understood in the same way, and for symbols that do not tell: that of a Zener
    diode does not say its voltage.
    """
    if symbol not in _DRAWN.get(letter, {}):
        return ""
    is_told = _transistor_or_diode(letter, name, None) != _transistor_or_diode(letter, name, symbol)
    return f"{_DRAWN_AS}{symbol}" if is_told else ""


def drawn_kind(comment: str) -> str | None:
    """The symbol that `kind_comment` has written behind an element; None where there is none."""
    return comment.removeprefix(_DRAWN_AS).strip() if comment.startswith(_DRAWN_AS) else None


def _known(
    element: Element, name: str, parameters: frozenset[str], drawn: str | None
) -> tuple[Message, tuple[str, ...]] | None:
    letter = element.letter
    if letter == "x":
        return _known_block(name, [node.key for node in element.nodes], parameters)
    found = _transistor_or_diode(letter, name, drawn)
    return None if found is None else (found[0], (f".model {name} {found[1]}",))


def _known_block(
    name: str, nodes: Sequence[str], parameters: frozenset[str]
) -> tuple[Message, tuple[str, ...]] | None:
    if (block := generic_block(name, len(nodes), parameters)) is not None:
        return block
    if len(nodes) == _THREE_NODES:
        is_plain = name.lower() == "opamp"
        return _plain_op_amp(name, parameters) if is_plain else _regulator(name, nodes) or _mosfet_block(name)
    is_known = _OP_AMPS.fullmatch(name) or is_op_amp(name)
    ports = ports_of(name, len(nodes)) if is_known else None
    if ports is not None and (level := _LEVEL.fullmatch(name)):
        return _universal_op_amp(name, level[1] == "1", ports, parameters)
    return None if ports is None else _op_amp(name, ports, parameters)


def is_known_part(name: str) -> bool:
    """Whether a part of this name has a generic model, whatever kind of element it is."""
    return (
        _OP_AMPS.fullmatch(name) is not None
        or is_op_amp(name)
        or is_generic_block(name)
        or is_regulator(name)
        or any(_transistor_or_diode(letter, name, None) is not None for letter in _DRAWN)
    )


def is_like_an_op_amp(name: str) -> bool:
    """Whether a part of this name is drawn as an op-amp is: two inputs, two supplies and an output."""
    return _OP_AMPS.fullmatch(name) is not None or is_op_amp(name) or is_comparator(name)


def usual_symbol(name: str) -> str | None:
    """LTspice's symbol of the kind of part a transistor or diode of this name is: ``nmos``, ``diode``."""
    if zener_voltage(name) is not None:
        return "zener"
    for known, names in _CLASSES:
        if names.fullmatch(name):
            is_p = known.is_p or (known.letter == "m" and _P_CHANNEL.fullmatch(name) is not None)
            return {"q": ("npn", "pnp"), "m": ("nmos", "pmos"), "j": ("njf", "pjf"), "d": ("diode", "diode")}[
                known.letter
            ][is_p]
    return None


def _transistor_or_diode(letter: str, name: str, drawn: str | None) -> tuple[Message, str] | None:
    """What it is and its model's text: by its name, and by its symbol where that is known.

    A name tells a transistor's polarity badly (FDS6670 is an N-channel MOSFET, FDS6675 is not), a symbol
    tells it well; what a symbol says of a diode counts where the name says nothing.
    """
    if letter == "d" and (volts := zener_voltage(name)) is not None:
        text = f"D(IS=1n N=1.2 RS=1 CJO=100p VJ=0.75 M=0.33 BV={volts:g} IBV=5m NBV=1)"
        return msg("{voltage} V Zener diode", voltage=f"{volts:g}"), text
    named = next((each for each, names in _CLASSES if each.letter == letter and names.fullmatch(name)), None)
    by_symbol = _DRAWN.get(letter, {}).get(drawn or "")
    if letter == "m" and by_symbol is None and named is not None and _P_CHANNEL.fullmatch(name):
        by_symbol = _DRAWN["m"]["pmos"]
    if by_symbol is not None and (named is None or (named.is_p != by_symbol[0].is_p and letter != "d")):
        is_small = named in _SMALL or (named is None and letter == "q")
        named = by_symbol[0 if is_small else -1]
    return None if named is None else (named.kind, named.text)


class _Class(NamedTuple):
    """A kind of part."""

    letter: str
    kind: Message
    text: str
    """Of its model."""

    @property
    def is_p(self) -> bool:
        """PNP or P-channel."""
        return "pchan" in self.text or self.text.startswith("P")


class _Names:
    """Part names with the letters makers put in front and behind (MMBT2222A, 2N2222ATA, BC547B).

    Compiled when the first part is looked up: few circuits have one, and all would wait for it.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(rf"(?:{self._pattern})[A-Z]{{0,4}}\d{{0,2}}(?:[-_/].*)?", re.IGNORECASE)

    def fullmatch(self, name: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(name)


_SWITCHING = _Class(
    "d",
    msg("silicon switching diode"),
    "D(IS=2.5n N=1.75 RS=0.6 CJO=2p VJ=0.6 M=0.33 TT=5n)",
)
_SCHOTTKY = _Class(
    "d",
    msg("Schottky diode"),
    "D(IS=1u N=1.05 RS=50m CJO=100p VJ=0.4 M=0.4 TT=0 EG=0.69 XTI=2)",
)
_WHITE = _Class(
    "d",
    msg("white or blue light-emitting diode"),
    "D(IS=1e-24 N=2.2 RS=5 CJO=100p VJ=2.8 M=0.4 EG=2.7)",
)
_RED = _Class(
    "d",
    msg("red light-emitting diode"),
    "D(IS=1e-18 N=1.9 RS=3 CJO=50p VJ=1.6 M=0.4 EG=1.9)",
)
_RECTIFIER = _Class(
    "d",
    msg("silicon rectifier"),
    "D(IS=5n N=1.8 RS=30m CJO=30p VJ=0.6 M=0.4 TT=2u)",
)
_POWER_NPN = _Class(
    "q",
    msg("power NPN transistor"),
    "NPN(IS=1p BF=80 NF=1 VAF=100 IKF=5 ISE=10p NE=2 BR=5 RB=1 RE=20m RC=50m CJE=500p CJC=200p TF=10n TR=1u)",
)
_POWER_PNP = _Class(
    "q",
    msg("power PNP transistor"),
    "PNP(IS=1p BF=80 NF=1 VAF=100 IKF=5 ISE=10p NE=2 BR=5 RB=1 RE=20m RC=50m CJE=500p CJC=300p TF=20n TR=1u)",
)
_NPN = _Class(
    "q",
    msg("small-signal NPN transistor"),
    "NPN(IS=10f BF=200 NF=1 VAF=100 IKF=0.2 ISE=10f NE=1.6 BR=4 RB=20 RE=0.2 RC=0.5 CJE=15p VJE=0.75 "
    "MJE=0.35 CJC=6p VJC=0.6 MJC=0.33 TF=0.5n TR=100n XTB=1.5)",
)
_PNP = _Class(
    "q",
    msg("small-signal PNP transistor"),
    "PNP(IS=10f BF=200 NF=1 VAF=80 IKF=0.2 ISE=10f NE=1.6 BR=4 RB=20 RE=0.2 RC=0.5 CJE=18p VJE=0.75 "
    "MJE=0.35 CJC=9p VJC=0.6 MJC=0.33 TF=0.6n TR=100n XTB=1.5)",
)
_NMOS = _Class(
    "m",
    msg("small-signal N-channel MOSFET"),
    "VDMOS(VTO=2 KP=0.3 RD=1 RS=0.2 RG=10 RB=0.5 CGS=30p CGDMAX=30p CGDMIN=3p CJO=25p IS=1p)",
)
_PMOS = _Class(
    "m",
    msg("small-signal P-channel MOSFET"),
    "VDMOS(pchan VTO=-2 KP=0.15 RD=2 RS=0.5 RG=10 RB=0.5 CGS=30p CGDMAX=30p CGDMIN=4p CJO=30p IS=1p)",
)
_POWER_PMOS = _Class(
    "m",
    msg("power P-channel MOSFET"),
    "VDMOS(pchan VTO=-3.5 KP=10 RD=0.1 RS=20m RG=5 RB=20m CGS=1n CGDMAX=1n CGDMIN=60p CJO=500p IS=1p)",
)
_POWER_NMOS = _Class(
    "m",
    msg("power N-channel MOSFET"),
    "VDMOS(VTO=3.5 KP=30 RD=30m RS=5m RG=3 RB=10m CGS=1.2n CGDMAX=1.5n CGDMIN=80p CJO=600p IS=1p)",
)
_NJF = _Class(
    "j",
    msg("N-channel JFET"),
    "NJF(VTO=-2 BETA=1.5m LAMBDA=5m RD=10 RS=10 CGS=4p CGD=2p PB=1 FC=0.5 IS=10f)",
)
_PJF = _Class(
    "j",
    msg("P-channel JFET"),
    "PJF(VTO=-2 BETA=1.2m LAMBDA=8m RD=15 RS=15 CGS=5p CGD=3p PB=1 FC=0.5 IS=10f)",
)
_SMALL = (_NPN, _PNP, _NMOS, _PMOS)
_DRAWN: Mapping[str, Mapping[str, tuple[_Class, ...]]] = {
    "d": {"diode": (_RECTIFIER,), "schottky": (_SCHOTTKY,), "led": (_RED,)},
    "q": {"npn": (_NPN, _POWER_NPN), "pnp": (_PNP, _POWER_PNP)},
    "m": {"nmos": (_NMOS, _POWER_NMOS), "pmos": (_PMOS, _POWER_PMOS)},
    "j": {"njf": (_NJF,), "pjf": (_PJF,)},
}
"""By an element's letter and its symbol: the small part first, the power part last."""
_DRAWN_AS = "; drawn as "
_P_CHANNEL = late_pattern(
    r".*_P|AO[346]\d{2}[13579]\w*|AON(?:[RS]21\w+|7407|7423)|AOD4185|CSD(?:2[235]|75)\w+|HAT1\d+\w*|IP[A-Z]\d+P\d\w*|"
    r"BS[CO]\d+P\w*|FD[A-Z]+\d+P|FDD4141|FDS(?:44[36]5|46[78]5|4953|6[35]75|6576|66[78]5|6[89]75|9933)\w*|"
    r"IRF(?:72(?:0[4-7]|10|20|33)|73\d+P|74(?:0[46]|10|16|24|25))|IRLML(?:5\d+|224[46]|6302|640[12]|930\d)\w*|"
    r"SI(?:1013|23\d[13579]|344[35]|4[48]\d[135]|4427|4467|4913|71(?:13|37|43)|7409|74[68][159]|94(?:0\d|24|3[345])|9803)\w*|"
    r"SQ(?:4\d\d[13579]|9407|J469|J951|J963|S405)\w*",
    re.IGNORECASE,
)
"""Of the power MOSFETs, makers' P-channel types whose names look like those of N-channel ones."""
_CLASSES: tuple[tuple[_Class, _Names], ...] = (
    (_SCHOTTKY, _Names(r"BAS(?:40|70|81)(?:-0\d)?")),
    (_SWITCHING,
     _Names(r"1N(?:4148|914|4448|4150|4151|4154|3595)|LL4148|BA[SVWL]\d+|MMBD\d+|1S1588|1SS\d+|DA[NP]?2\d\d")),
    (_SCHOTTKY,
     _Names(r"1N58(?:1[7-9]|2[0-5])|BAT\d+|MBR\w*\d+|MBRS?\d+|SS\d\d|SB\d+|PMEG\d+|PDS\d+|B\d{3}|1N6263|"
            r"RB(?:\d|[QRS]|LQ|E[12])\w*|RSX\d+\w*|HSMS\w*|HSCH-?\d*|SMS76\d\d|ZLLS\d+|CMDSH\w*|DFLS\d+|1N5711|"
            r"5082-2\d+|\d+(?:[BCLT]T?Q|MQ|CWQ|EQ)\d+")),
    (_WHITE,
     _Names(r"NSP[WB]\w*|NSC[WB]\w*|NSS[WB]\w*|NFSW\w*|LUW\w*|LXHL\w*|LXK2\w*|LXML\w*|W5AP\w*|AOT\d+|XPE\w*|XLAMP\w*")),
    (_RED,
     _Names(r"QTLP\w*|PT121\w*|TLH[RK]\d+|HLMP\w*")),
    (_RECTIFIER,
     _Names(r"1N400[1-7]|1N540[0-8]|1N539[1-9]|UF\d+|MUR\d+|MURS\d+|ES\d|BY\w?\d+|RHRP\d+|HER\d+|FR\d+|S[1-5][A-M]|"
            r"RF[NUVXL]?[A-Z]?\d\w*|RRE?\d+\w*|HF[AB]\d+\w*|STTH\w*|1N(?:120\d|580[2-6])|8E(?:WS|TH)\d+|VS-E\w*|"
            r"1SR\d+")),
    (_POWER_PNP,
     _Names(r"2N(?:2955|6285|6286|6287|5684|4398)|TIP2955|BD(?:13[68]|140|23[48]|24[24]|434|43[68]|440|912)|"
            r"BDX54|BDW94|"
            r"MJ(?:15004|15016|15025|11015|11033|4502|21193|2955)|MJE(?:350|2955|1503[135]|253)|"
            r"TIP(?:30(?!55)|32|34|36|42|2955|12[5-7]|14[5-7])|MJL?(?:1302|4302|21193)|2SA\d{4}|2SB\d+")),
    (_POWER_NPN,
     _Names(r"2N(?:3055|3771|3773|5038|628[2-4]|6059|5686)|BD(?:13[579]|23[79]|24[13]|433|43[579]|53\d|911)|"
            r"BDX53|BDW93|MJ(?:15003|15015|15024|11016|11032|802|21194)|MJE(?:340|3055|1503[024]|13\d{3}|"
            r"243)|"
            r"TIP(?:29(?!55)|31|33|35|41|3055|12[0-2]|14[0-2])|MJL?(?:3281|4281|21194)|2SC\d{4}|2SD\d+|BUX\d+")),
    (_PNP,
     _Names(r"(?:2N|PN|MMBT|PZT|MPS|P2N)(?:2904|2905|2906|2907|3251|3467|3905|3906|4033|4125|4126|4402|"
            r"4403|5086|5087|"
            r"5400|5401|5416|4036|3638)|CA3096_?PNP|BC(?:16[01]|17[7-9]|32[78]|55[6-9]|560|63[68]|640|80[78]|85[6-9]|"
            r"860|21[2-4]|"
            r"30[789])|BF(?:42[13]|450|451|47[02]|550|603|62[13]|721|824|979|G194)|FMMT(?:5\d\d|7[12]\d)|ZTX(?:5\d\d|7\d\d|9[456]\d)|"
            r"MPSA(?:5[56]|6[34]|9[23])|"
            r"S?8550|S?9012|S?9015|KSA\d+|2SA\d{3}|BCX?5[13]|BCP5[13]")),
    (_NPN,
     _Names(r"(?:2N|PN|MMBT|PZT|MPS|P2N)(?:2218|2219|2221|2222|2369|2484|3019|3053|3700|3903|3904|4124|"
            r"4400|4401|"
            r"5088|5089|5179|5550|5551|5769|930|918|706|708|3440|1711)|BC(?:10[7-9]|14[01]|33[78]|"
            r"54[6-9]|550|63[579]|"
            r"81[78]|84[5-9]|850|18[2-4]|237|238|239)|BF(?:19[49]|240|420|422|R\d+)|FMMT(?:4\d\d|6[12]\d)|"
            r"CA30(?:18|45|46|83|86)|CA3096_?NPN|LM3046|LM394|"
            r"ZTX(?:3\d\d|4\d\d|6\d\d|8[456]\d)|MPSA(?:0[5-6]|1[34]|18|4[23])|S?8050|S?9013|S?9014|"
            r"S?9018|KSC\d+|"
            r"2SC\d{3}|BCX?5[46]|BFG?\d+|BCP5[46]")),
    (_NMOS,
     _Names(r"T?2N700[0-2]|BSS1(?:23|38|00)|BSP89|BSP29\d|BS1[07]0|VN\d+|ZVN\d+|FDV30[13]|DMN\d+|NX\d+|2SK\d+")),
    (_PMOS,
     _Names(r"BSS8[34]|BS250|BSS92|ZVP\d+|FDV30[24]|DMP\d+|NDS\d+P")),
    (_POWER_PMOS,
     _Names(r"IRF(?!9410)[RUSP]?9[1-9Z]\w+|IRFP9\d+|IRF7[24]\d+P|FQP\d+P\d+|SU[BDMP]\d+P\w*|IRF49\d+|"
            r"R[A-Z]\w{1,2}\d{3}P\d\d|NT[DRFMS]\w*\dP\w*|NTD2955")),
    (_POWER_NMOS,
     _Names(r"IRF[BDHIPRSUZ]?[1-8]\d+|IRF9410|R[A-Z]\w{1,2}\d{3}N\d\d|AO[BDNPTUW]\w*\d\w*|BUK\d\w*|BS[BF]\d\w+|"
            r"IRL[BDHIPRSUZ]?\d+|IRLML\d+|IRFH\w*|IP[ABDFIPSUW]\w*|BS[CZO]\d\w*|RJK\w*|HAT\d+R\w*|"
            r"BUZ\d+|STP\d+N\w*|"
            r"FD[PSBDMC]\w*\d+|SIR?\d+\w*|SU[BDMP]\d+N\w*|AO\d+|FQP\d+N\d*|MTP\d+N\w*|"
            r"NTD\w*|CSD\d+\w*|PSMN\w*|EPC\d+|SQ\w+")),
    (_PJF,
     _Names(r"2N(?:3820|546[0-5]|5114|5115|5116)|J(?:17[4-7]|27[01])|U30[4-6]|PN43(?:42|60)|LSJ\d+|2SJ\d+")),
    (_NJF,
     _Names(r"2N(?:3819|4391|4392|4393|4416|5432|5434|5457|5458|5459|5484|5485|5486|3823)|J(?:11[1-3]|"
            r"20[1-3]|30[89]|310|210|21[12])|"
            r"U30[89]|U310|BSR5[678]|BF24[4-7]|BF25[46]|MPF102|LSK\d+|2SK\d+|MMBF\w*\d+|PN4\d+")),
)  # fmt: skip

_OP_AMPS = late_pattern(
    r"(?:level[._]?[0-5]\w?|(?:Universal)?Op[_-]?amps?\d*|AD(?:54[89]|6[45]\d|7[01]\d|74\d|79\d|80\d\d|"
    r"81\d\d|8[0-6]\d\d?)\w*|"
    r"ADA4\d{3}\w*(?:-\d)?|ADTL08\d|OP\d{2,3}\w*|OPA\d{3,4}\w*|LT(?:1001|1006|1007|101[234]|102[248]|1037|105[5678]|"
    r"1077|1078|1112|1113|1115|"
    r"1122|1128|1169|119[0-9]|12[0-9]\d|13[456]\d|14[069]\d|149\d|163\d|167\d|17[0-9]\d|18[0-9]\d|"
    r"19[0-9]\d|20\d\d|6[0-5]\d\d)\w*|"
    r"LTC(?:1047|105[0-2]|1150|1250|205\d|206\d|609\d|62[0-9]\d|1151|1152)\w*|LM(?:10[1278]|201|301|324|"
    r"358|741|83[23]|290[24]|"
    r"61[0-9]\d|67[5]|4562|77\d\d)\w*|TL0[678][0-9]\w*|NE553[24]\w*|LF(?:35[1367]|41[12])\w*|"
    r"MC(?:3307[8]|1458|3303\d|3417\d)\w*|"
    r"NJM(?:4558|4580|2068|2114)\w*|TLC?V?2\d{2,3}\w*|MCP6\d{2,3}\w*|THS\d{4}\w*|MAX4\d{2,3}\w*|"
    r"TLE2\d+\w*|TLV(?:9\d{3}|600\d)\w*|LMV(?:321|324|358|6\d\d|8\d\d)\w*|CA31[34]0\w*|UA741)"
    r"(?:[-_/][A-Z]\w*)?",
    re.IGNORECASE,
)  # fmt: skip


_FIXED_REGULATOR = late_pattern(
    r"(?:[A-Z]{1,3})?(?P<series>7[89])(?P<current>[LMST]?)(?P<volts>05|06|08|09|10|12|15|18|24)[A-Z]{0,3}\d?",
    re.IGNORECASE,
)
_LEVEL = late_pattern(r"level[._]?([0-5])\w?", re.IGNORECASE)
_UNIVERSAL = {"avol": "1meg", "gbw": "10meg", "slew": "10meg", "ilimit": "25m", "rail": "0", "vos": "0"}
"""What LTspice's UniversalOpAmp reads, as its help describes it, with its defaults."""


def _universal_op_amp(
    name: str, is_linear: bool, ports: tuple[str, ...], parameters: frozenset[str]
) -> tuple[Message, tuple[str, ...]]:
    """Level 1 has one pole and no limits, whatever its supplies; the others have limits."""
    settings = _UNIVERSAL | dict.fromkeys(sorted(parameters - {*_UNIVERSAL, "m"}), "0")
    head = f".subckt {name} {' '.join(ports)} {' '.join(f'{key}={text}' for key, text in settings.items())}"
    common = (
        head,
        # The stage slews with 100 uA, so that the limiting diodes drop the same volts at any slew rate.
        ".param c_stage={100u/slew} g_stage={6.283185*gbw*c_stage}",
        "r_in inp inn 1g",
        "r_cm inp 0 100g",
        "r_cmn inn 0 100g",
        "r_sup vcc vee 10meg",
        "c_pole x 0 {c_stage}",
        *_further(ports),
    )
    if is_linear:
        return msg("universal op-amp with gain, bandwidth and offset, without noise"), (
            *common,
            "r_gain x 0 {avol/g_stage}",
            "b_gain 0 x I={g_stage}*(v(inp,inn)+{vos})",
            "e_out drive 0 x 0 1",
            "r_out drive out 0.1",
            f".ends {name}",
        )
    return msg("universal op-amp with gain, bandwidth, slew rate and limits, without noise"), (
        *common,
        # The slew rate fades in as u/sqrt(1+u^2): tanh is so flat that the solver loses its way.
        "b_gain 0 x I={g_stage}*(v(inp,inn)+{vos})/sqrt(1+({g_stage/100u}*(v(inp,inn)+{vos}))**2)",
        "r_gain x vcc {2*avol/g_stage}",  # without a difference the output is halfway between the supplies
        "r_level x vee {2*avol/g_stage}",
        "d_high x high d_limit",
        "v_high vcc high {0.131+rail}",
        "d_low low x d_limit",
        "v_low low vee {0.131+rail}",
        "e_out drive 0 x 0 1",
        "r_out drive out 10",
        "d_source x most d_limit",  # as Boyle has it: what the output lacks of x is its current
        "v_source most out {10*ilimit-0.131}",
        "d_sink least x d_limit",
        "v_sink out least {10*ilimit-0.131}",
        # Of 0.131 V at 100 uA, so sharp that below a limit it takes nothing from the gain.
        ".model d_limit D(IS=1f N=0.2 RS=1 CJO=0.1p)",
        f".ends {name}",
    )


_THREE_NODES = 3


def is_regulator(name: str) -> bool:
    """Whether it is called like a three-pin regulator with a fixed voltage (LM7805, 78L12, L7912CV)."""
    return _FIXED_REGULATOR.fullmatch(name) is not None


def _regulator(name: str, nodes: Sequence[str]) -> tuple[Message, tuple[str, ...]] | None:
    """Makers differ in the order of its nodes: what is at ground is that, then input and output follow."""
    match = _FIXED_REGULATOR.fullmatch(name)
    if match is None:
        return None
    ports = ["in", "out"]
    ports.insert(nodes.index("0") if "0" in nodes else 1, "gnd")
    volts = int(match["volts"])
    sign = -1 if match["series"] == "79" else 1
    amperes = {"L": 0.1, "M": 0.5}.get(match["current"].upper(), 1.5)
    return (
        msg("{voltage} V regulator for {current} A", voltage=f"{sign * volts}", current=f"{amperes:g}"),
        (
            f".subckt {name} {' '.join(ports)}",
            # 2 V between input and output, as the series' data sheets have it; 5 mA of its own.
            f"b_want want 0 V=max(0,min({volts},{sign}*v(in,gnd)-2))",
            f"b_pass in out I={sign}*max(0,min({amperes:g},(v(want)-{sign}*v(out,gnd))*50))",
            f"b_own in gnd I={sign}*5m*tanh(max(0,{sign}*v(in,gnd)))",
            "r_out out gnd 10meg",
            f".ends {name}",
        ),
    )


def _mosfet_block(name: str) -> tuple[Message, tuple[str, ...]] | None:
    """Makers write a MOSFET as a subcircuit too; its nodes are drain, gate and source then."""
    found = _transistor_or_diode("m", name, None)
    if found is None:
        return None
    lines = (f".subckt {name} d g s", "m1 d g s s m_inner", f".model m_inner {found[1]}", f".ends {name}")
    return found[0], lines


def _plain_op_amp(name: str, parameters: frozenset[str]) -> tuple[Message, tuple[str, ...]]:
    """Pins as LTspice's op-amp without supplies has them: in- in+ out. Its Aol and GBW count."""
    unread = "".join(f" {key}=0" for key in sorted(parameters - {"aol", "gbw", "m"}))
    return msg("op-amp with a single pole and no limits"), (
        f".subckt {name} inn inp out aol=100k gbw=10meg{unread}",
        "g_gain 0 out inp inn {aol}",
        "r_gain out 0 1",
        "c_pole out 0 {aol/(6.283185*gbw)}",
        f".ends {name}",
    )


def _further(ports: tuple[str, ...]) -> tuple[str, ...]:
    """Pins that switch an op-amp off or compensate it do nothing here."""
    return tuple(f"r_{port} {port} vee 100meg" for port in ports if port not in USUAL_PORTS)


def _op_amp(name: str, ports: tuple[str, ...], parameters: frozenset[str]) -> tuple[Message, tuple[str, ...]]:
    """Pins as LTspice's op-amp of that name has them. Of the parameters avol and gbw count."""
    unread = "".join(f" {key}=0" for key in sorted(parameters - {"avol", "gbw", "m"}))
    known = figures_of(name)
    if known is None:
        kind, gbw = msg("op-amp with a 10 MHz gain-bandwidth product"), "10meg"
        stage = "g_gain 0 x inp inn 1m"
    else:
        mega, slew = f"{known.gbw_mhz:g}", f"{known.slew_v_per_us:g}"
        kind = msg("op-amp with {gbw} MHz and {slew} V/µs, as its data sheet says,", gbw=mega, slew=slew)
        gbw = f"{mega}meg"
        # The current that charges the pole's capacitor is limited, as in `_universal_op_amp`.
        ratio = f"{{6.283185*gbw/{known.slew_v_per_us * 1e6:.6g}}}"
        stage = f"b_gain 0 x I=1m*v(inp,inn)/sqrt(1+({ratio}*v(inp,inn))**2)"
    return kind, (
        f".subckt {name} {' '.join(ports)} avol=100k gbw={gbw}{unread}",
        "r_in inp inn 10g",
        "r_cm inp 0 100g",
        "r_sup vcc vee 10meg",
        stage,
        "r_gain x 0 {avol/1m}",
        "c_pole x 0 {1m/(6.283185*gbw)}",
        "d_high x high d_limit",
        "v_high vcc high 1.2",
        "d_low low x d_limit",
        "v_low low vee 1.2",
        "e_out drive 0 x 0 1",
        "r_out drive out 50",
        *_further(ports),
        ".model d_limit D(IS=1f N=1 RS=1 CJO=0.1p)",
        f".ends {name}",
    )  # fmt: skip


_E24 = (3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1, 10, 11, 12, 13, 15, 16, 18, 20, 22, 24,
        27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91, 100)  # fmt: skip
"""The voltages of 1N4728 to 1N4764 (JEDEC registration)."""
_1N5226 = (3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6, 6.2, 6.8, 7.5, 8.2, 8.7, 9.1, 10, 11, 12, 13, 14, 15, 16,
           17, 18, 19, 20, 22, 24, 25, 27, 28, 30, 33, 36, 39, 43, 47, 51, 56, 60, 62, 68, 75, 82, 87, 91,
           100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200)  # fmt: skip
"""The voltages of 1N5226 to 1N5281, and of 1N5333 to 1N5388 (JEDEC registration)."""
_1N700 = {746: 3.3, 747: 3.6, 748: 3.9, 749: 4.3, 750: 4.7, 751: 5.1, 752: 5.6, 753: 6.2, 754: 6.8, 755: 7.5,
          756: 8.2, 757: 9.1, 758: 10, 759: 12}  # fmt: skip


def zener_voltage(name: str) -> float | None:
    """Volts of a Zener diode by its name (1N4733, MMSZ5231B, BZX84C5V1, KDZ10B); None for other parts."""
    if match := re.fullmatch(r"(?:1N|MM[BS]Z)(7\d\d|47\d\d|5[23]\d\d)[A-Z]*\d?", name, re.IGNORECASE):
        number = int(match[1])
        if number < 1000:
            return _1N700.get(number)
        for first, volts in ((4728, _E24), (5226, _1N5226), (5333, _1N5226)):
            if 0 <= number - first < len(volts):
                return float(volts[number - first])
        return None
    match = re.fullmatch(
        r"(?:[A-Z]{2}_)?(?:BZ[XVTGY]\d*-?[BCV]|MMSZ\d*[BCV]|MMBZ|[CEKPTU]DZL?V?|[TU][FM]ZV?|[EFPS]TZ|EMZ|UDZS|DZ)"
        r"(\d{1,3})(?:[V._](\d+))?(?![.\d])\w*",
        name,
        re.IGNORECASE,
    )
    return float(f"{match[1]}.{match[2] or 0}") if match else None
