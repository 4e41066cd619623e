"""Differential pairs of bipolar transistors, resistors or a mirror as load.

Equations and sources: `domain.design.families.bipolar_pair`.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import amplifier_rows as rows
from domain.design.families import bipolar_pair as pair
from domain.design.kit import spice
from domain.design.opamp import BANDWIDTH, BANDWIDTH_GOAL, SUPPLY
from domain.design.transistor import NO_PNP, TRANSISTOR
from shared.message import msg


def _rejection(request: kit.Request) -> str:
    """Half the difference of the gains over their sum, from inputs in quadrature."""
    hz = rows.low_hz(request)
    one, other = f"at(re(v(out)),{hz})", f"at(im(v(out)),{hz})"
    return f"db(0.5*(({one})-({other}))/sqrt((({one})+({other}))^2))"


BIPOLAR = (
    r"(?<![a-z])(?:bjts?|npn|bipolar|ltp)(?![a-z])|2n\d{4}|bc ?5\d\d|"
    r"(?<!mos )(?<!nmos )(?<!\d )(?<!\d-)(?<!five )(?<!five-)transistor|discrete|"
    r"emitter|collector|三极管|"
    r"(?<!场效应)晶体管|双极|射极|集电极"
)
"""Words of bipolar transistors."""
_PAIR = (
    r"diff(?:erential)?[\s-](?:pair|amp\w*|stage|input)|long[\s-]tail\w*[\s-]?pairs?|(?<![a-z])ltp(?![a-z])|"
    r"emitter[\s-]coupled pair|"
    r"差分(?:对|放大|输入|电路)|差动(?:对|放大|电路)|长尾(?:式|对)"
)
FAMILY = kit.Family(
    key="bjt_differential_pair",
    name=msg("bipolar differential pairs (resistor or mirror load)"), one=msg("a bipolar differential pair"),
    examples={"en": "BJT differential pair, gain 50, ±12 V, tail current 1 mA",
              "zh": "三极管差分对，增益50倍，尾电流1mA，电源±12V"},
    words=kit.Words(
        named=rf"^(?=.*(?:{_PAIR}))(?=.*(?:{BIPOLAR})).*|^(?=.*(?:差分放大|差动|"
              rf"diff\w* amp))(?=.*(?:恒流|尾电流|"
              rf"tail)).*",
        excludes=(
            r"mos(?![a-z])|mosfet|cmos|jfet|场效应|ota(?![a-z])|(?:five|5)[\s-]transistor|two[\s-]stage|两级|"
            r"miller|密勒|米勒|telescopic|套筒|folded|折叠|op[\s-]?amp|运放|oscillat|振荡|"
            r"instrumentation|仪表|power amp|功放|cascode"
        ),
        refuses=(NO_PNP,),
    ),
    quantities=(
        replace(rows.gain_row((2, 1200), 50), required=False, default=pair.gain),
        kit.Quantity(
            name="tail_a", label=msg("tail current"), dimensions=("A",), takes_rest=True, within=(20e-6,
                                                                                                  10e-3),
            words=r"tail|current|bias|尾电流|恒流|电流|偏置", example=1e-3, default=1e-3,
        ),
        replace(SUPPLY, default=12.0, is_told=True, within=(4, 40)),
        kit.Quantity(
            name="rejection_db", label=pair.REJECTION, dimensions=("dB",), limit="at_least", within=(20, 110),
            words=r"cmrr|common[\s-]mode rejection(?: ratio)?|rejection|共模抑制比?", example=60,
            default=55.0,
            is_told=False,
        ),
        kit.Quantity(
            name="emitter_ohm", label=msg("emitter resistors of the pair"), dimensions=("Ohm",),
            takes_rest=True,
            words=r"degenerat\w*|emitter resist\w*|(?<![a-z])r_?e(?![a-z])|射极(?:负反馈)?电阻|负反馈电阻",
            within=(1, 10e3), example=100,
        ),
        BANDWIDTH,
        kit.Quantity(
            name="load_farad", label=msg("load capacitance"), dimensions=("F",), takes_rest=True,
            words=r"load|(?<![a-z])c_?l(?:oad)?(?![a-z])|负载", within=(1e-13, 1e-9), takes_bare=False,
            example=10e-12,
            default=2e-12, is_told=False,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        kit.Choice(
            name="form", label=msg("load"), default=pair.form,
            options=(
                kit.Option(key="resistor", label=msg("resistors"), words=r"resist\w* loads?|"
                                                                         r"collector resist\w*|电阻负载"),
                kit.Option(key="mirror", label=msg("mirror"),
                           words=r"(?:mirror|active)[\s-](?:as (?:an? |the )?)?loads?|current mirror load|"
                                 r"(?:镜像?|有源)(?:电流源)?负载|电流镜(?:有源)?负载"),
            ),
        ),
        TRANSISTOR,
    ),
    goals=(
        *rows.differential_goals(),
        BANDWIDTH_GOAL,
        kit.GoalRow(metric="rejection", label=msg("Common-mode rejection"), unit="dB",
                    quantity="rejection_db",
                    expression=_rejection, is_corrected=False),
    ),
    title="BJT differential pair, {form} load, gain {gain:.4g}, +-{supply_v:g} V",
    remarks=rows.two_input_remarks(
        msg("Gain = RC / (2 (re + RE)), or RL with the output resistances / (re + RE); re = VT / IC.")
    ),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 30 {spice(request['bandwidth_hz'] / 5000)} "
        f"{spice(max(3e8, 1000 * request['bandwidth_hz']))}",
    ),
    size=pair.size, netlist=pair.netlist,
)  # fmt: skip
