"""Boost (step-up) converters with a diode or a synchronous rectifier, at a fixed duty.

Equations and parts: `domain.design.indirect_power_stage`; what may be asked for: `buck_request`; the
switching circuit: `buck_netlist`. There is no controller: the duty is the one for the nominal input.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.families import buck, converter_rows, load_step
from domain.design.families.buck_netlist import BOOST, transients
from domain.design.families.buck_netlist import netlist as converter_netlist
from domain.design.families.buck_request import PARTS, RECTIFIER, load_and_ripples, says, with_inductor_gain
from domain.design.indirect_power_stage import size_indirect_stage
from domain.design.kit import impossible, read_conversion
from shared.message import msg

_NAMED = (
    r"(?<!buck)(?<!buck[ -])(?<![a-z])boost(?:er)?(?![a-z])|step(?:ping|s|ped)?[\s-]?up|(?<!降)升压(?!降)"
)


def _gain(request: kit.Request) -> float:
    """Current in the inductor over that in the load, without losses."""
    return float(request["vout"] / request["vin"])


_QUANTITIES = (*with_inductor_gain(_gain), *load_step.QUANTITIES)


def _claims(sentence: kit.Sentence) -> float:
    """Boost or step-up by name, or a DC-DC converter to a higher voltage."""
    if sentence.has(_NAMED):
        return 1.0
    score = buck.claims(sentence) or (0.8 if sentence.has(buck.CONVERTER) else 0.0)
    if not 0 < score < 1:
        return 0.0
    values = read_conversion(sentence, _QUANTITIES).values  # last: it takes longer than all the rest
    rises = (
        kit.INPUT in values and kit.OUTPUT in values and values[kit.OUTPUT].value > values[kit.INPUT].value
    )
    return score + 0.05 if rises else 0.0


def complete(request: kit.Request) -> kit.Said:
    """Load current and ripples from what was said of them. Raises CircuitError for a lower output."""
    vin, vout = request["vin"], request["vout"]
    if vin is not None and vout is not None and vout <= request["vin_highest"]:
        raise impossible(
            msg("A boost converter only steps up: it cannot make {vout} V from {vin} V.", vout=f"{vout:g}",
                vin=f"{request['vin_highest']:g}"),
            msg("Lower the input or raise the output voltage; a buck converter steps down."),
        )  # fmt: skip
    return load_and_ripples(request, 1.0 if vin is None or vout is None else _gain(request))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Duty, L and C by the power-stage equations."""
    stage = size_indirect_stage(request, correction, inverts=False)
    return converter_rows.sized(request, load_step.held(stage, request, correction, feeds_always=False))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    converter_netlist(deck, request, sized, BOOST)


FAMILY = kit.Family(
    key="boost",
    name=msg("boost (step-up) converters with diode or synchronous rectifier"), one=msg("a boost converter"),
    examples={"en": "boost converter 5 V to 12 V, 0.5 A, 300 kHz, ripple below 60 mV",
              "zh": "5V转12V、0.5A的升压电路，开关频率300kHz，纹波小于60mV"},
    words=kit.Words(named=_NAMED),
    claims=_claims,
    quantities=_QUANTITIES,
    choices=(RECTIFIER, *PARTS),
    goals=(*converter_rows.goals(), *load_step.goals()),
    title="Boost converter {vin:g} V to {vout:g} V, {iout:g} A, {fsw:Hz}, {rectifier} rectifier",
    remarks=(),
    analyses=lambda request, sized, _goals: transients(request, sized, BOOST),
    size=size, netlist=netlist,
    says=lambda sentence: says(sentence, _QUANTITIES),
    complete=complete,
)  # fmt: skip
