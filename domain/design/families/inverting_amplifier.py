"""The inverting op-amp amplifier: R1 into the virtual ground, R2 from the output back to it.

Gain -R2 / R1, lessened by the finite open-loop gain A0; input resistance R1; with a one-pole op-amp the
-3 dB bandwidth is GBW (1 / (1 + R2/R1) + 1 / A0).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 2.2 and 2.7; Texas Instruments, "Op
Amps for Everyone", SLOD006B, chapters 3 and 6.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp, quantity_words, supplies
from domain.design.families import coupling_rows as coupling
from domain.design.families.amplifier_rows import GAIN_WORDS
from domain.design.kit import around, best_pair, beyond, spice, values_between, with_unit
from shared.message import msg

_FEEDBACK_OHM = (500.0, 20e6)
"""R2: above it noise and strays rule, below it the op-amp's output resistance."""
_R1_ROOM = 0.03
"""How far R1 may leave the input resistance for a better ratio."""

_GAIN = msg("gain")
_INPUT = msg("input resistance")


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """R1 and R2 of E96 whose ratio comes nearest, and the slowest op-amp that is fast enough."""
    gain = request["gain"] * correction["gain"]
    wanted = request["input_ohm"] * correction["input_ohm"]
    # Finite A0: |gain| = R2/R1 / (1 + (1 + R2/R1) / A0)
    ratio = gain * (1 + 1 / opamp.OPEN_LOOP_GAIN) / (1 - gain / opamp.OPEN_LOOP_GAIN)
    low, high = _FEEDBACK_OHM
    if not low <= ratio * wanted <= high:
        advice = msg("Choose another input resistance or gain: the feedback resistor is their product.")
        raise beyond(_INPUT, "Ω", wanted, min(max(ratio * wanted, low), high) / ratio, advice, digits=4)
    inputs = values_between(wanted * (1 - _R1_ROOM), wanted * (1 + _R1_ROOM), "E96")
    r1, r2 = best_pair(
        inputs,
        lambda each: ratio * each,
        "E96",
        lambda one, two: abs(math.log(two / one / ratio)) + 0.05 * abs(math.log(one / wanted)),
    )
    gbw = opamp.fast_enough(request, correction, 1 + ratio)
    note = msg("R1 = {r1}, R2 = {r2}, an op-amp with a gain-bandwidth product of {gbw}.",
               r1=with_unit(r1, "Ω"), r2=with_unit(r2, "Ω"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    coupling.refuse_beyond_rails(request, supplies.rails_of(request, "divider"))
    parts = {"R1": r1, "R2": r2}
    if coupling.is_ac(request):
        parts["Cin"] = coupling.capacitor(request, r1)
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note, *coupling.notes(request, parts)))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, the two resistors and the op-amp's macro model."""
    is_ac, entry = coupling.is_ac(request), "in"
    level = spice(0.0 if is_ac else supplies.rails_of(request, "divider").middle_v)
    sine = f"SIN({level} {spice(coupling.amplitude_v(request))} {spice(coupling.mid_hz(request))})"
    deck.part(f"Vin in 0 DC {level} AC 1 {sine}", msg("input: 1 V for .ac, a sine at mid band for .tran"))
    rails = supplies.write_rails(deck, request, "divider")
    if is_ac:
        entry = "a"
        deck.part(f"Cin in a {spice(sized.parts['Cin'])}", msg("AC coupling: sets the lower corner"))
    deck.part(f"R1 {entry} n {spice(sized.parts['R1'])}", msg("sets the input resistance"))
    deck.part(f"R2 out n {spice(sized.parts['R2'])}", msg("feedback: sets the gain together with R1"))
    deck.part(
        f"X1 {rails.ground} n vcc {rails.low} out {request['opamp']}",
        rails.op_amp_at_ground,
    )
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="inverting_amplifier",
    name=msg("inverting op-amp amplifiers"), one=msg("an inverting op-amp amplifier"),
    examples={"en": "inverting amplifier, gain 10, bandwidth 100 kHz",
              "zh": "增益10倍、带宽100kHz的反相放大器"},
    words=kit.Words(
        named=(r"(?<!non)(?<!non[- ])\binverting (?:op[\s-]?amps?(?: circuit| amplifier| stage)?|"
               r"(?:operational |voltage |gain )?(?:amplifier|amp|stage))(?![a-z])|"
               r"(?<!非)反相(?:输入)?(?:比例)?(?:运算|运放|放大)(?:放大)?(?:器|电路)?"),
        plausible=(r"(?:amplifier|op[\s-]?amp|放大器|运放).{0,30}(?:gain|增益)\s?(?:of|为|=)?\s?-\s?\d|"
                   r"(?:gain|增益).{0,40}(?<!non)(?<!non[- ])\binverting"
                   r"(?! (?:buck|conv|reg|schm|comp|filter|low|high|summ|add))"),
        excludes=r"summing|加法|求和|integrat|积分|differen|差分|微分|schmitt|施密特|trans[\s-]?imp|跨阻",
    ),
    quantities=(
        kit.Quantity(
            name="gain", label=_GAIN, dimensions=("x", "dB"), words=GAIN_WORDS,
            takes_rest=True, has_sign=False, within=(0.1, 1000), example=10, required=True, ratio=("V", "V"),
        ),
        opamp.BANDWIDTH,
        coupling.LOW,
        coupling.SWING,
        kit.Quantity(
            name="input_ohm", label=_INPUT, dimensions=("Ohm",), takes_rest=True,
            words=quantity_words.INPUT_OHM,
            within=(100, 1e6), example=10e3, default=lambda request: 10e3 if request["gain"] <= 100 else 2e3,
        ),
        opamp.SUPPLY,
        opamp.GBW,
        kit.TOLERANCE,
    ),
    choices=(opamp.OPAMP, supplies.RAILS, coupling.COUPLING),
    judge=supplies.judged("divider"),
    goals=(
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"at(re(v(out)/v(in)),{spice(coupling.mid_hz(request))})",
                    bounds=lambda request: around(-request["gain"], request["tolerance"])),
        opamp.BANDWIDTH_GOAL,
        kit.GoalRow(
            metric="input_resistance", label=msg("Input resistance"), unit="Ohm", quantity="input_ohm",
            expression=lambda request: f"gain(v(in)/i(vin),{spice(coupling.mid_hz(request))})",
            bounds=lambda request: around(request["input_ohm"], max(0.05, request["tolerance"])),
        ),
        coupling.LOW_GOAL,
        coupling.LEVEL_GOAL,
        coupling.SWING_GOAL,
    ),
    title="Inverting amplifier, gain -{gain:.4g}, {bandwidth_hz:Hz}",
    remarks=(msg("Gain = -R2 / R1, input resistance = R1, bandwidth = GBW / (1 + R2 / R1)."),),
    analyses=coupling.analyses,
    complete=lambda request: kit.Said(values=coupling.in_order(request)),
    size=size, netlist=netlist,
)  # fmt: skip
