"""The non-inverting op-amp amplifier: the input at the op-amp, R2 from the output back, R1 to ground; or,
with a gain of 1, the follower.

Gain 1 + R2 / R1, lessened by the finite open-loop gain A0; with a one-pole op-amp the -3 dB bandwidth is
GBW (1 / (1 + R2/R1) + 1 / A0).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 2.3 and 2.7; Texas Instruments, "Op
Amps for Everyone", SLOD006B, chapters 3 and 6.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp, supplies
from domain.design.families import coupling_rows as coupling
from domain.design.families.amplifier_rows import NAMED_FOR_ITS_USE
from domain.design.families.filter_rows import LETS_HIGHS_THROUGH, LETS_LOWS_THROUGH
from domain.design.kit import best_pair, impossible, spice, values_between, with_unit
from shared.message import msg

_FOLLOWER_BELOW = 1.002
"""Nearer to 1 than resistors of 1 % can tell."""
_GROUND_OHM = 10e3
_GROUND_OHM_OF_HIGH_GAIN = 1e3
_HIGH_GAIN = 50.0
_LEAST_FEEDBACK_OHM = 1e3
_ROOM = 0.25
"""How far R1 may leave its round value for a better ratio."""
_FEW = 6
"""So few values of a coarse series give no ratio: R1 may leave it farther."""

_FOLLOWER = (
    r"(?:voltage|unity[\s-]gain|op[\s-]?amp) (?:follower|buffer)|unity[\s-]gain (?:op[\s-]?amp|amplifier)|"
    r"buffer amplifier|(?:电压)?跟随器|单位增益(?:放大|缓冲)器?|缓冲放大器"
)
_ONLY_FOLLOWS = _FOLLOWER + r"|^(?!.*(?:gain|增益|\d\s?(?:倍|db|x(?![a-z])))).*(?:(?<![a-z])buffer|缓冲)"


def complete(request: kit.Request) -> kit.Said:
    """A follower has the gain 1. Raises CircuitError for another one."""
    if request["form"] != "follower":
        return kit.Said(values=coupling.in_order(request))
    gain = request["gain"]
    if gain is not None and abs(gain - 1) > (request["tolerance"] or 1e-3):
        raise impossible(msg("A voltage follower has a gain of 1, not {gain}.", gain=f"{gain:.4g}"),
                         msg("Ask for a non-inverting amplifier to get another gain."))  # fmt: skip
    return kit.Said(values={"gain": 1.0, **coupling.in_order(request)})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of E96 whose ratio comes nearest, and the slowest op-amp that is fast enough."""
    coupling.refuse_beyond_rails(request, supplies.rails_of(request, "divider"))
    coupling.refuse_inputs_at_ground(request)
    gain = request["gain"] * correction["gain"]
    # Finite A0: gain = ratio / (1 + ratio / A0)
    ratio = gain / (1 - gain / opamp.OPEN_LOOP_GAIN)
    if request["gain"] < _FOLLOWER_BELOW:
        gbw = opamp.fast_enough(request, correction, 1.0)
        note = msg("A follower: the output is wired to the inverting input.")
        parts = coupling.capacitors(request, None)
        return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note, *coupling.notes(request, parts)))
    ratio = max(ratio, 1 + 1e-4)
    ground = _GROUND_OHM if ratio <= _HIGH_GAIN else _GROUND_OHM_OF_HIGH_GAIN
    ground = max(ground, _LEAST_FEEDBACK_OHM / (ratio - 1))
    grounds = values_between(ground * (1 - _ROOM), ground * (1 + _ROOM), "E96")
    if len(grounds) < _FEW:
        grounds = values_between(max(ground / 3, _LEAST_FEEDBACK_OHM / (ratio - 1)), 3 * ground, "E96")
    r1, r2 = best_pair(
        grounds,
        lambda each: (ratio - 1) * each,
        "E96",
        lambda one, two: abs(math.log((1 + two / one) / ratio)) + 1e-3 * abs(math.log(one / ground)),
    )
    gbw = opamp.fast_enough(request, correction, ratio)
    note = msg("R1 = {r1}, R2 = {r2}, an op-amp with a gain-bandwidth product of {gbw}.",
               r1=with_unit(r1, "Ω"), r2=with_unit(r2, "Ω"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    parts = {"R1": r1, "R2": r2, **coupling.capacitors(request, r1)}
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note, *coupling.notes(request, parts)))


def _reference(request: kit.Request) -> supplies.Reference:
    """A DC-coupled amplifier on a single supply works from ground, a follower about what drives it."""
    return "divider" if coupling.is_ac(request) else "none"


def _level_v(request: kit.Request, rails: supplies.Rails) -> float:
    """Of the source: where the output of a DC-coupled one stands in the middle of its swing."""
    if coupling.is_ac(request) or not rails.is_single:
        return 0.0
    return (rails.lowest_v + rails.highest_v) / 2 / float(request["gain"])


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, the two resistors and the op-amp."""
    is_ac, back, plus, foot = coupling.is_ac(request), "out", "in", "0"
    level = spice(_level_v(request, supplies.rails_of(request, _reference(request))))
    sine = f"SIN({level} {spice(coupling.amplitude_v(request))} {spice(coupling.mid_hz(request))})"
    deck.part(f"Vin in 0 DC {level} AC 1 {sine}", msg("input: 1 V for .ac, a sine at mid band for .tran"))
    rails = supplies.write_rails(deck, request, _reference(request))
    if is_ac:
        plus = "p"
        deck.part(f"Cin in p {spice(sized.parts['Cin'])}", msg("AC coupling"))
        deck.part(f"Rb p {rails.ground} {spice(sized.parts['Rb'])}", msg("bias of the input"))
    if "C1" in sized.parts:
        foot = "f"
        deck.part(f"C1 f 0 {spice(sized.parts['C1'])}", msg("a gain of 1 at DC: sets the lower corner"))
    if "R1" in sized.parts:
        back = "n"
        deck.part(f"R1 n {foot} {spice(sized.parts['R1'])}", msg("to ground: sets the gain together with R2"))
        deck.part(f"R2 out n {spice(sized.parts['R2'])}", msg("feedback: sets the gain together with R1"))
    deck.part(
        f"X1 {plus} {back} vcc {rails.low} out {request['opamp']}",
        msg("op-amp; the signal drives its non-inverting input"),
    )
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


_OF = "音频|电压|信号|小信号|微弱信号|传感器|麦克风|话筒|热电偶|直流|交流"
_PLAIN = (
    r"(?:^|[,.:;]|(?<![a-z])(?:an?|the|design|build|make|need|want|simple|audio|voltage|signal|sensor))\s*"
    r"amplifier(?![a-z])(?:[,:]| with| of| that has)?(?: an?| the| voltage)* gain\s?(?:of|=|:)?\s?\+?\d|"
    rf"(?:^|[，。：；的]|一个|一款|设计|简单|做个|{_OF})放大(?:器|电路)"
    r"[，,：\s]*(?:(?:增益|放大倍?数)\s?(?:为|是|=)?\s?\+?\d|\d[\d.]*\s?(?:倍|db))|"
    rf"(?:增益|放大倍?数)\s?(?:为|是|=)?\s?\+?\d[\d.]*\s?(?:倍|db)?\s?的(?:{_OF})?放大(?:器|电路)|"
    rf"^[^,;，；。]{{0,8}}?\d[\d.]*\s?(?:倍|db)的?(?:{_OF})?放大(?:器|电路)?|"
    r"^放大\s?\d[\d.]*\s?倍|^(?:(?:an? )?(?:voltage )?gain (?:of )?\d[\d.]*(?: ?db)?|\d[\d.]*(?: ?db| ?x)) "
    r"(?:audio |voltage |signal )?amp(?:lifier)?$|" + NAMED_FOR_ITS_USE
)
"""An amplifier of which nothing is known but its gain: no word of its circuit, its power or its parts."""

FAMILY = kit.Family(
    key="non_inverting_amplifier",
    name=msg("non-inverting op-amp amplifiers and voltage followers"),
    one=msg("a non-inverting op-amp amplifier"),
    examples={"en": "non-inverting amplifier, gain 11, bandwidth 50 kHz",
              "zh": "增益11倍、带宽50kHz的同相放大器"},
    words=kit.Words(
        named=(r"non[\s-]?inverting (?:op[\s-]?amps?(?: circuit| amplifier| stage)?|"
               r"(?:operational |voltage |gain )?(?:amplifier|amp|stage|buffer))(?![a-z])|"
               r"(?:\w+ )?pre-?amp(?:lifier)?(?![a-z])|前置放大(?:器|电路)?|"
               r"(?:同相|非反相)(?:输入)?(?:比例)?(?:运算|运放|放大)(?:放大)?(?:器|电路)?|" + _FOLLOWER),
        plain=_PLAIN,
        plausible=(r"(?:op[\s-]?amp\w*|operational amplifier)(?: circuit| amplifier| stage)?.{0,30}"
                   r"gain\s?(?:of|=)?\s?\+?\d|"
                   r"(?:运放|运算放大器).{0,15}(?:增益|放大倍?数?)\s?(?:为|是|=)?\s?\+?\d"),
        excludes=(
            r"(?<!non)(?<!non[- ])inverting|(?<!非)反相|summing|加法|求和|integrat|积分|differen|差分|微分|"
            r"差动|schmitt|施密特|trans[\s-]?imp|跨阻|filter|滤波|instrument|仪表|(?:source|emitter) "
            r"follower|(?:射|源)极?跟随|oscillat|振荡|comparator|比较器|two[\s-]stage|两级|miller|cmos|mosfet|"
            r"transistor|晶体管|三极管|2n\d{4}|(?<![a-z])riaa|phono|唱[头机放]|"
            r"(?<![a-z])(?:bc[58]\d\d|bjt|npn|jfet)|" + rf"{LETS_LOWS_THROUGH}|{LETS_HIGHS_THROUGH}"
        ),
    ),
    quantities=(
        kit.Quantity(
            name="gain", label=msg("gain"), dimensions=("x", "dB"), takes_rest=True, ratio=("V", "V"),
            within=(1, 1000),
            words=r"(?<![a-z])gain|增益|放大倍数|放大", example=10, required=True,
        ),
        opamp.BANDWIDTH,
        coupling.LOW,
        coupling.SWING,
        opamp.SUPPLY,
        opamp.GBW,
        kit.TOLERANCE,
    ),
    choices=(
        opamp.OPAMP,
        kit.Choice(
            name="form", label=msg("circuit"), is_told=False,
            options=(kit.Option(key="amplifier", label=msg("non-inverting amplifier"), words="(?!)"),
                     kit.Option(key="follower", label=msg("voltage follower"), words=_ONLY_FOLLOWS)),
        ),
        supplies.RAILS,
        coupling.COUPLING,
    ),
    judge=supplies.judged(_reference),
    goals=(
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"at(re(v(out)/v(in)),{spice(coupling.mid_hz(request))})"),
        opamp.BANDWIDTH_GOAL,
        coupling.LOW_GOAL,
        coupling.LEVEL_GOAL,
        coupling.SWING_GOAL,
    ),
    title=lambda request: ("Voltage follower, "
                           if request["form"] == "follower"
                           else f"Non-inverting amplifier, gain {request['gain']:.4g}, ")
    + with_unit(request["bandwidth_hz"], "Hz"),
    remarks=(msg("Gain = 1 + R2 / R1, bandwidth = GBW / (1 + R2 / R1)."),),
    analyses=coupling.analyses,
    size=size, netlist=netlist,
    complete=complete,
)  # fmt: skip
