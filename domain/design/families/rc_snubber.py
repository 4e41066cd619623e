"""The RC snubber across a switch: damps the ringing of the stray inductance and the switch's capacitance.

The least Cs whose best Rs keeps the overshoot is taken: the loss is (Cs + C) V^2 f. Equations and sources:
`domain.design.snubber`.
"""

from __future__ import annotations

import math
from typing import Any

from domain.design import kit
from domain.design.kit import beyond, impossible, missing, spice, with_unit
from domain.design.snubber import MOST_RATIO, snubber
from shared.message import msg

_LOSS_MARGIN = 1.1
_QUALITY = 40.0
"""Of the stray inductance in the test bench."""
_RING_LABEL = msg("ringing frequency")
_STRAY_F, _STRAY_H = msg("capacitance of the node"), msg("stray inductance")


def _of(request: kit.Request, factor: float = 1.0) -> tuple[float, float]:
    z0 = math.sqrt(request["stray_henry"] / request["node_farad"])
    return snubber(request["node_farad"], z0, factor * request["overshoot"])


def _watt(request: kit.Request, cs: float) -> float:
    """(Cs + C) V^2 f: charging and discharging both capacitances, nearly all of it in Rs."""
    return float((cs + request["node_farad"]) * request["step_v"] ** 2 * request["fsw"])


def _loss(request: kit.Request) -> float:
    """What the parts lose, with a margin."""
    return float(_LOSS_MARGIN * _watt(request, _of(request)[0]))


_QUANTITIES = (
    kit.Quantity(name="ring_hz", label=_RING_LABEL, dimensions=("Hz",), within=(10e3, 1e9), example=80e6,
                 words=r"ring\w*|oscillat\w*|resonan\w*|parasitic|振铃|振荡|谐振|寄生",
                 after=r"\s*(?:ring|振铃|parasitic)", takes_rest=True),
    kit.Quantity(
        name="node_farad", label=_STRAY_F, dimensions=("F",), takes_rest=True, within=(1e-12, 100e-9),
        words=r"capacit\w*|c_?(?:oss|p|par|sw|node)?(?![a-z])|电容", example=150e-12,
    ),
    kit.Quantity(
        name="slower_hz", label=msg("ringing frequency with a capacitor added"), dimensions=("Hz",),
        within=(5e3, 1e9), example=40e6,
        words=r"(?:drops?|slows?|falls?|goes|shifts?|moves?|down|lower\w*|becomes) "
              r"(?:down )?to|[降掉][到至低为成]|"
              r"[变移][为成到]",
    ),
    kit.Quantity(
        name="added_farad", label=msg("capacitor added"), dimensions=("F",), within=(1e-12, 100e-9),
        words=r"add(?:ed|ing)?|extra|across (?:it|the)|in parallel|并[上联个]|"
              r"[外加]加?[上了]", example=330e-12,
        after=r"\s*(?:added|extra|across|in parallel|to ground)",
    ),
    kit.Quantity(
        name="stray_henry", label=_STRAY_H, dimensions=("H",), takes_rest=True, within=(10e-12, 5e-3),
        words=r"induct\w*|leakage|l_?(?:p|par|leak|loop)?(?![a-z])|电感|漏感", example=20e-9,
    ),
    kit.Quantity(
        name="step_v", label=msg("voltage step"), dimensions=("V",), takes_rest=True, within=(1, 1000),
        words=r"step|swing|voltage|input|v_?in(?![a-z])|bus|supply|rail|电压|输入|母线|摆幅",
        example=12, default=12.0,
    ),
    kit.Quantity(
        name="fsw", label=msg("switching frequency"), dimensions=("Hz",), within=(50, 5e6), example=300e3,
        words=r"switch(?:ing|es)?(?! ?node)(?: frequency)?(?: at)?|f_?sw?(?![a-z])|开关频率|工作频率|"
              r"开关(?!节点)",
        default=300e3,
    ),
    kit.Quantity(
        name="overshoot", label=msg("overshoot"), dimensions=("%",), takes_rest=True, limit="at_most",
        words=r"overshoot|peak|ringing|过冲|尖峰|超调", within=(0.08, 0.8), example=0.3, default=0.4,
    ),
    kit.Quantity(
        name="loss_w", label=msg("snubber loss"), dimensions=("W",), takes_rest=True, limit="at_most",
        words=r"loss\w*|dissipat\w*|power|损耗|功耗|功率", within=(1e-6, 2e4), example=0.25, default=_loss,
    ),
)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """The third of ringing frequency, inductance and capacitance. Raises CircuitError without two of them."""
    ring, farad, henry = request["ring_hz"], request["node_farad"], request["stray_henry"]
    slower, added = request["slower_hz"], request["added_farad"]
    values: dict[str, Any] = {}
    if ring and slower and added is None and farad is not None:  # what made it slower
        added, farad = farad, None
        values["added_farad"] = added
    if ring and slower and added and farad is None and slower < ring:
        farad = added / ((ring / slower) ** 2 - 1)  # of one L: C + added is C times the square of the ratio
    if (ring is None) + (farad is None) + (henry is None) > 1:
        label = _RING_LABEL if ring is None and (farad or henry) else _STRAY_F
        raise missing(label, "80 MHz" if label is _RING_LABEL else "150 pF")
    if farad is None:
        farad = 1 / ((2 * math.pi * ring) ** 2 * henry)
    elif henry is None:
        henry = 1 / ((2 * math.pi * ring) ** 2 * farad)
    rings = 1 / (2 * math.pi * math.sqrt(henry * farad))
    if ring is not None and ring < min(0.3 * rings, 5e6) and not request.states("fsw"):
        values["fsw"], ring = ring, None  # the only frequency, and far below: how often it switches
    if ring is not None and abs(ring / rings - 1) > 0.1:
        raise impossible(
            msg("{henry} and {farad} ring at {made}, not at {said}.", henry=with_unit(henry, "H", 3),
                farad=with_unit(farad, "F", 3), made=with_unit(rings, "Hz", 3),
                said=with_unit(ring, "Hz", 3)),
            msg("Name only two of them."),
        )  # fmt: skip
    return kit.Said(values={**values, "ring_hz": rings, "node_farad": farad, "stray_henry": henry})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Cs and Rs. Raises CircuitError for an overshoot that no snubber, or none of that loss, gives."""
    cs, rs = _of(request, correction["overshoot"])
    z0 = math.sqrt(request["stray_henry"] / request["node_farad"])
    watt = _watt(request, cs)
    if watt > 1.001 * request["loss_w"] or cs > MOST_RATIO * request["node_farad"]:
        advice = msg("Allow more overshoot or more loss, or lower the switching frequency.")
        raise beyond(msg("snubber loss"), "W", request["loss_w"], watt, advice, digits=2)
    note = msg("Z0 = {z0}; the snubber loses {loss}; without it the voltage would nearly double.",
               z0=with_unit(z0, "Ω", 3), loss=with_unit(watt, "W", 2))  # fmt: skip
    return kit.Sized(parts={"Rs": rs, "Cs": cs}, notes=(note,))


def _half(request: kit.Request) -> float:
    """Time (s) in which the node comes to rest after an edge."""
    cs, rs = _of(request)
    return float(20 / request["ring_hz"] + 12 * rs * cs)


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The edge of an ideal switch, inductance and capacitance of the node, and the snubber."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    edge, half = 0.03 / request["ring_hz"], _half(request)
    loss = math.sqrt(request["stray_henry"] / request["node_farad"]) / _QUALITY
    pulse = (
        f"0 {spice(request['step_v'])} 0 {spice(edge)} {spice(edge)} {spice(half - edge)} {spice(2 * half)}"
    )
    deck.part(f"Vin in 0 DC 0 PULSE({pulse})", msg("test bench: one edge up, one down"))
    deck.part(f"Rloss in x {spice(loss)}", msg("losses of the stray inductance"))
    deck.part(f"Lstray x out {spice(request['stray_henry'])}", _STRAY_H)
    deck.part(f"Cnode out 0 {spice(request['node_farad'])}", _STRAY_F)
    deck.part(f"Rs out s {parts['Rs']}", msg("snubber resistor"))
    deck.part(f"Cs s m {parts['Cs']}", msg("snubber capacitor"))
    deck.part("Vmeter m 0 DC 0", msg("measures the current of the snubber"))


def _record(request: kit.Request) -> str:
    stop, step = spice(2 * _half(request)), spice(0.012 / request["ring_hz"])
    return f".tran {step} {stop} 0 {step}"


FAMILY = kit.Family(
    key="rc_snubber",
    name=msg("RC snubbers for a switching node"), one=msg("an RC snubber"),
    examples={"en": "RC snubber for a 12 V switch node that rings at 80 MHz, 150 pF, overshoot below 30 %",
              "zh": "开关节点RC吸收电路，振铃80MHz，寄生电容150pF，电压12V，过冲小于30%"},
    words=kit.Words(
        named=(r"(?:(?:rc|r-c|switch(?:ing)?[\s-]node|ringing) )*snubbers?(?: (?:circuit|network))?|"
               r"(?:rc|阻容)(?:串联)?(?:吸收|缓冲|阻尼)(?:电路|网络)?|(?:尖峰|振铃)的?(?:rc|阻容)?吸收|吸收电路|缓冲吸收电路"),
        excludes=r"rcd|clamp|钳位|箝位|diode|二极管|反激变|"
                 r"(?:buck|boost|flyback|forward|sepic|dc) conv|(?:降压|升压|"
                 r"反激|正激)变换器",
    ),
    quantities=_QUANTITIES,
    goals=(
        kit.GoalRow(metric="overshoot", label=msg("Overshoot"), unit="1", quantity="overshoot",
                    expression="peak(v(out))/peak(v(in))-1"),
        kit.GoalRow(
            metric="snubber_loss", label=msg("Snubber loss at the switching frequency"), unit="W",
            quantity="loss_w", is_corrected=False,
            expression=lambda request: (
                f"{2 * _half(request) * request['fsw']:.6g}*avg((v(out)-v(s))*i(vmeter))"
            ),
        ),
    ),
    title=lambda request: (f"RC snubber, {request['step_v']:g} V, {with_unit(request['ring_hz'], 'Hz', 3)}, "
                           f"overshoot {100 * request['overshoot']:.3g} percent"),
    remarks=(msg("Rs near sqrt(L/C), Cs several times C; the loss is (Cs + C) V^2 f."),),
    analyses=lambda request, _sized, _goals: (_record(request),),
    output="", size=size, netlist=netlist,
    complete=complete,
)  # fmt: skip
