"""Buck (step-down) converters with a diode or a synchronous rectifier, at a fixed duty.

Equations and parts: `domain.design.buck_power_stage`; what may be asked for: `buck_request`; the switching
circuit: `buck_netlist`. There is no controller: the duty is the one for the nominal input.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.buck_power_stage import size_power_stage
from domain.design.families import converter_rows, load_step
from domain.design.families.buck_netlist import netlist, transients
from domain.design.families.buck_request import PARTS, RECTIFIER, STEPPED, complete, restore, says
from domain.design.kit import is_bare_conversion, is_linked
from shared.message import msg

_NAMED = r"(?<![a-z])buck(?![a-z])(?![\s/-]*boost)|step(?:ping|s|ped)?[\s-]?down|(?<!升)降压|降圧"
CONVERTER = (
    r"dc[\s/-]*(?:to[\s-])?dc|converter|转换器|变换器|变换电路|转换电路|"
    r"switcher|switch(?:ing|ed)?[\s-]*(?:mode|regulator|power|supply)|开关频率|开关(?:电源|稳压)|smps|"
    r"power supply|电源"
)
_OTHER_SUPPLIES = (
    r"isolat|隔离|transformer|变压器|"
    r"(?<!not )(?<!not a )(?<!no )(?<![a-z])linear(?![a-z])|(?<![不非])线性|zener|齐纳|稳压(?:二极)?管|"
    r"no (?:inductor|coil)|"
    r"without (?:an? )?(?:inductor|coil)|不[用要]电感|无电感|(?<![a-z])rms(?![a-z])|secondary|"
    r"有效值|次级|整流成|\d\s?v\s?ac(?![a-z])"
)
_SUPPLY = (
    r"(?<![a-z])in(?![a-z]).*(?<![a-z])out(?![a-z])|lipo|li-?ion|(?<![a-z])cells?(?![a-z])|"
    r"降(?:低)?(?:到|至|为|成)|转(?:换)?(?:成|到|为)|rails?(?![a-z])|output|(?<![a-z])v_?out(?![a-z])|输出|"
    r"(?<![a-z])suppl(?:y|ies)|供电|母线|(?:from|out of) (?:an?|the)?\s?\d|(?:batter(?:y|ies)|电池)|"
    r"由.{0,8}得到|从.{0,8}(?:得到|产生)"
)
"""Words of a supply: two voltages and a current with one of them can only mean a converter."""


def claims(sentence: kit.Sentence) -> float:
    """Buck or step-down by name, or a DC-DC converter between two voltages."""
    if sentence.has(_NAMED):
        return 1.0
    if len(sentence.of("V")) < 2 or sentence.has(rf"filter|滤波|{_OTHER_SUPPLIES}"):
        return 0.0
    if sentence.has(CONVERTER):
        return 0.8
    if is_bare_conversion(sentence):
        return 0.6
    has_load = bool(sentence.of("A") or sentence.of("W") or sentence.has(r"load|负载"))
    is_supply = has_load and not sentence.has(r"op[\s-]?amp|运放")
    return 0.6 if is_supply and (is_linked(sentence) or sentence.has(_SUPPLY)) else 0.0


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Duty, L and C by the power-stage equations."""
    stage = load_step.held(size_power_stage(request, correction), request, correction, feeds_always=True)
    return converter_rows.sized(request, stage)


FAMILY = kit.Family(
    key="buck",
    name=msg("buck (step-down) converters with diode or synchronous rectifier"), one=msg("a buck converter"),
    examples={"en": "buck converter 12 V to 5 V, 2 A, 300 kHz, ripple below 30 mV",
              "zh": "12V转5V、2A的降压电路，开关频率300kHz，纹波小于30mV"},
    words=kit.Words(named=_NAMED),
    claims=claims,
    quantities=STEPPED,
    choices=(RECTIFIER, *PARTS),
    goals=(*converter_rows.goals(), *load_step.goals()),
    title="Buck converter {vin:g} V to {vout:g} V, {iout:g} A, {fsw:Hz}, {rectifier} rectifier",
    remarks=(),
    analyses=lambda request, sized, _goals: transients(request, sized),
    size=size, netlist=netlist,
    says=lambda sentence: says(sentence, STEPPED),
    complete=complete,
    restore=restore,
    factors=lambda request, tuning: {"vout": 1 + tuning["duty_shift"] * request["vin"] / request["vout"],
                                     "ripple_v": 1 / tuning["capacitance_scale"],
                                     "inductor_ripple_a": 1 / tuning["inductance_scale"],
                                     "conduction": 1 / tuning["loss_scale"]},
)  # fmt: skip
