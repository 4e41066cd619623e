"""Inverting buck-boost converters with a diode or a synchronous rectifier, at a fixed duty.

Equations and parts: `domain.design.indirect_power_stage`; what may be asked for: `buck_request`; the
switching circuit: `buck_netlist`. The output is negative, and may be larger or smaller than the input.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import converter_rows, load_step
from domain.design.families.buck import claims as converts
from domain.design.families.buck_netlist import BUCK_BOOST, transients
from domain.design.families.buck_netlist import netlist as converter_netlist
from domain.design.families.buck_request import PARTS, RECTIFIER, load_and_ripples, says, with_inductor_gain
from domain.design.indirect_power_stage import size_indirect_stage
from shared.message import msg

_NAMED = (
    r"(?:inverting )?buck[\s/-]*boost|升降压|降升压|inverting (?:dc[\s/-]*dc )?(?:converter|regulator|"
    r"switcher)|(?:反极性|负压|反相)(?:变|转)换器"
)


def claims(sentence: kit.Sentence) -> float:
    """By name, or a converter to a negative voltage."""
    if sentence.has(_NAMED):
        return 1.0
    is_negative = any(mention.value < 0 for mention in sentence.of("V"))
    score = converts(sentence) if is_negative else 0.0
    if sentence.has(_ALSO_CUK):
        return min(score, 0.6)
    return 0.9 if 0 < score < 1 else 0.0


_ALSO_CUK = (
    r"coupling cap|capacit\w* (?:energy|transfer)|energy.{0,24}cap|non[\s-]?pulsating|(?:two|2) (?:coils|"
    r"inductors)|"
    r"两个电感|2个电感|电流.{0,8}连续|电容传递|能量传递"
)
"""What tells of a converter with a capacitor between two inductors."""


def _gain(request: kit.Request) -> float:
    """Current in the inductor over that in the load, without losses."""
    return float(1 + request["vout"] / request["vin"])


def complete(request: kit.Request) -> kit.Said:
    """Load current and ripples from what was said of them. Raises CircuitError."""
    has_both = request["vin"] is not None and request["vout"] is not None
    return load_and_ripples(request, _gain(request) if has_both else 1.0)


_QUANTITIES: tuple[kit.Quantity, ...] = tuple(
    replace(each, has_sign=False) if each.name == "vout" else each
    for each in (*with_inductor_gain(_gain), *load_step.QUANTITIES)
)
"""The output is negative, whether the sentence says so or not."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Duty, L and C by the power-stage equations."""
    stage = size_indirect_stage(request, correction, inverts=True)
    return converter_rows.sized(request, load_step.held(stage, request, correction, feeds_always=False))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    converter_netlist(deck, request, sized, BUCK_BOOST)


FAMILY = kit.Family(
    key="buck_boost",
    name=msg("inverting buck-boost converters with diode or synchronous rectifier"),
    one=msg("an inverting buck-boost converter"),
    examples={"en": "inverting buck-boost converter 12 V to -5 V, 1 A, 300 kHz",
              "zh": "12V转-5V、1A的升降压电路，开关频率300kHz"},
    words=kit.Words(
        named=_NAMED,
        refuses=(
            (r"non[\s-]?inverting|four[\s-]switch|4[\s-]switch|四开关|同相|同极性",
             msg("Only inverting buck-boost converters with one switch can be designed yet."),
             msg("Ask for a negative output, or for a buck or boost converter.")),
        ),
    ),
    claims=claims,
    quantities=_QUANTITIES,
    choices=(RECTIFIER, *PARTS),
    goals=(*converter_rows.goals(sign=-1), *load_step.goals(sign=-1)),
    title="Buck-boost converter {vin:g} V to -{vout:g} V, {iout:g} A, {fsw:Hz}, {rectifier} rectifier",
    remarks=(),
    analyses=lambda request, sized, _goals: transients(request, sized, BUCK_BOOST),
    size=size, netlist=netlist,
    says=lambda sentence: says(sentence, _QUANTITIES),
    complete=complete,
)  # fmt: skip
