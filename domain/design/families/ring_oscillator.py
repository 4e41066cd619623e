"""The ring oscillator: an odd number of CMOS inverters, each with its load.

f = 1 / (2 N tp), tp near C VDD / ID as an edge is as slow as the delay; ID is the saturation current at a
gate of VDD, and the gates and drains of the inverters are part of C. Sources: Rabaey, Chandrakasan, Nikolic,
"Digital Integrated Circuits", 2nd ed., sections 1.3.3 and 5.4; Razavi, "Design of Analog CMOS Integrated
Circuits", 2nd ed., section 15.2.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import logic_rows as rows
from domain.design.families.oscillator_rows import FREQUENCY_GOAL, frequency_row, transient
from domain.design.kit import impossible, spice, unreachable, with_unit
from domain.design.mosfet import KP, LAMBDA, LAMBDA_P, THRESHOLD_V, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_SHARE = 0.96
"""Of C VDD / ID: by simulation of level-1 rings at 2.5 to 20 V."""
_MEAN_DROP, _FASTER_THREE = 0.7, 1.02
"""Of the supply, across a transistor that carries the current; of three stages, whose swing is smaller."""
_LEAST_RATIO = 0.5
_MOST = 15
_ONE_OWN = rows.gate_farad(1, rows.WIDER_P) + rows.drain_farad(1 + rows.WIDER_P)
"""Of an inverter's output with the next one's input, per W/L of its NMOS."""


def _slope(request: kit.Request, correction: float = 1.0) -> float:
    """Load (F) that W/L = 1 drives in the delay of one inverter."""
    delay = 1 / (2 * request["stages"] * request["frequency_hz"] * correction)
    supply, mean_lambda = request["supply_v"], (LAMBDA + LAMBDA_P) / 2
    current = KP / 2 * (supply - THRESHOLD_V) ** 2 * (1 + mean_lambda * _MEAN_DROP * supply)
    faster = _FASTER_THREE if request["stages"] == 3 else 1.0
    return float(delay * faster * current / (_SHARE * supply))


def _load(request: kit.Request) -> float:
    """1 pF, or what keeps the transistors of a slow ring from growing too narrow."""
    return float(max(1e-12, _LEAST_RATIO * _slope(request)))


def complete(request: kit.Request) -> kit.Said:
    """Three stages unless more are said. Raises CircuitError for an even number: it would latch."""
    stages = request["stages"]
    if stages is not None and stages % 2 == 0:
        raise impossible(
            msg("A ring of an even number of inverters ({count}) does not oscillate.", count=int(stages)),
            msg("Ask for an odd number of stages, for example 5."),
        )
    return kit.Said(values={})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The width of the inverters by the frequency."""
    slope = _slope(request, correction["frequency_hz"])
    room = slope - _ONE_OWN
    ratio = request["load_farad"] / room if room > 0 else 100 * rows.MOST_RATIO
    if ratio * rows.WIDER_P > rows.MOST_RATIO:
        limit = (
            request["frequency_hz"]
            * slope
            / (_ONE_OWN + request["load_farad"] * rows.WIDER_P / rows.MOST_RATIO)
        )
        raise unreachable(
            msg("frequency"), with_unit(request["frequency_hz"], "Hz", 3), with_unit(limit, "Hz", 3),
            msg("Ask for fewer stages or less load capacitance, or raise the supply."),
        )  # fmt: skip
    note = msg("{count} inverters, W/L = {ratio} (NMOS), load {load} each.", count=int(request["stages"]),
               ratio=f"{ratio:.3g}", load=with_unit(request["load_farad"], "F", 3))  # fmt: skip
    return kit.Sized(parts={"W/L N": ratio, "W/L P": rows.WIDER_P * ratio}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The supply and the inverters; the last one's output is that of the circuit."""
    count, load = int(request["stages"]), spice(request["load_farad"])
    nodes = ["out", *(f"n{n}" for n in range(1, count)), "out"]
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
    for n in range(1, count + 1):
        given, driven = nodes[n - 1], nodes[n]
        role = msg("inverter {number}", number=n)
        deck.part(nmos(f"MN{n}", f"{driven} {given} 0 0", sized.parts["W/L N"]), role)
        deck.part(pmos(f"MP{n}", f"{driven} {given} vcc vcc", sized.parts["W/L P"]), role)
        deck.part(f"C{n} {driven} 0 {load}", msg("load"))
    deck.rule()
    deck.part(".ic v(out)=0", msg("start-up kick in place of noise"))
    write_nmos(deck)
    write_pmos(deck)


_QUANTITIES = (
    frequency_row((1e3, 300e6), 10e6),
    kit.Quantity(
        name="stages", label=msg("number of stages"), dimensions=("none",), is_whole=True, within=(3, _MOST),
        words=r"number of stages|级数|n_?stages", example=5, default=3.0,
    ),
    rows.LOGIC_SUPPLY,
    replace(rows.GATE_LOAD, default=_load, within=(1e-14, 1e-7)),
    kit.TOLERANCE,
)  # fmt: skip

FAMILY = kit.Family(
    key="ring_oscillator",
    name=msg("CMOS ring oscillators"), one=msg("a ring oscillator"),
    examples={"en": "5-stage CMOS ring oscillator at 10 MHz, 3.3 V supply",
              "zh": "五级CMOS环形振荡器，频率10MHz，电源3.3V"},
    words=kit.Words(
        named=(r"(?:(?:cmos|inverter) )*ring[\s-]?(?:oscillator|osc(?![a-z]))|inverter ring|"
               r"(?:cmos)?(?:反相器)?(?:构成的?)?环形?(?:振荡|震荡)(?:器|电路)?|环振"),
        excludes=r"vco|voltage[\s-]controlled|压控|pll|锁相|differential|差分|bjt|npn|starved",
    ),
    quantities=_QUANTITIES,
    goals=(
        FREQUENCY_GOAL,
        kit.GoalRow(metric="swing", label=msg("Swing"), unit="V", is_corrected=False, expression="pp(v(out))",
                    bounds=lambda request: kit.Bounds(minimum=0.8 * request["supply_v"])),
    ),
    title=lambda request: (
        f"Ring oscillator, {int(request['stages'])} stages, {with_unit(request['frequency_hz'], 'Hz')}"
    ),
    remarks=(msg("f = 1 / (2 N tp), tp = 0.96 C VDD / ID."),),
    analyses=lambda request, _sized, _goals: (transient(request, settles=6),),
    size=size, netlist=netlist,
    says=rows.counted(
        _QUANTITIES, "stages",
        r"stages?|(?:[a-z\d-]+ ){0,2}(?:inverters|gates)|(?:cmos )?(?:反相器|非门)|[级阶节](?!管)",
    ),
    complete=complete,
)  # fmt: skip
