"""High-side switches with a P-channel MOSFET, driven by a logic output.

Equations and sources: `domain.design.families.high_side_stage`.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import high_side_stage as stage
from domain.design.families import pmos_pass
from domain.design.families import switch_rows as rows
from domain.design.kit import spice
from shared.message import msg


def _crossing(share: float, count: int, since: int) -> kit.GoalRow:
    def expression(request: kit.Request) -> str:
        level = spice(share * request["supply_v"])
        return f"cross(v(out),{level},{count})-{spice(stage.times(request)[since])}"

    label = msg("Turn-on time") if count == 1 else msg("Turn-off time")
    return kit.GoalRow(metric="turn_on_time" if count == 1 else "turn_off_time", label=label, unit="s",
                       quantity="switching_s", expression=expression)  # fmt: skip


_HIGH = (
    r"high[\s-]?side|hi[\s-]?side|高[边侧端]|上管|positive (?:side|rail|line|wire)|plus side|正极|"
    r"电源[端侧]"
)
_PMOS = r"p[\s-]?(?:mos(?:fet)?|channel|ch|fet)(?![a-z])|p沟道|p管|ao34|irf9"
_SWITCH = (
    r"switch\w*|turn\w* (?:on|off|an?|the|it)|driv\w+|control\w*|on and off|开关|通断|切断|驱动|控制|断开"
)
FAMILY = kit.Family(
    key="high_side_switch",
    name=msg("high-side switches with a P-channel MOSFET"), one=msg("a high-side switch"),
    examples={"en": "high-side switch, 12 V supply, 2 A load, P-channel MOSFET, driven by a 3.3 V GPIO",
              "zh": "PMOS高边开关，12V电源，负载2A，单片机3.3V控制"},
    words=kit.Words(
        named=(
            rf"^(?=.*(?:{_HIGH}))(?=.*(?:{_SWITCH})).*|^(?=.*(?:{_PMOS}))(?=.*(?:{_SWITCH})).*|"
            rf"^(?=.*(?:{_SWITCH}))(?=.*(?:grounded (?:load|lamp|motor)|load is grounded|"
            r"(?:负载|负极)(?:一端|的一端|要)?接地)).*"
        ),
        excludes=(
            r"shunt|sens(?:e|ing|or)|采样|检测|测量|放大|amplif|buck|boost|convert|变换|降压|升压|h[\s-]?bridge|h桥|"
            r"half[\s-]?bridge|半桥|bootstrap|自举|"
            r"reverse[\s-]?(?:polarity|battery|voltage)|wrong polarity|反接|反极性|反向|接反|防反|"
            r"inverter|反相器|nand|"
            r"nor(?![a-z])|cmos|"
            r"low[\s-]?side|低[边侧端]|op[\s-]?amp|运放|regulator|ldo|稳压|common[\s-]source|共源|mirror|电流镜|follower|"
            r"analog|模拟开关|ideal diode"
        ),
        refuses=(
            (r"(?<![a-z])n[\s-]?(?:channel|mos(?:fet)?)(?! (?:driver|to pull|pull\w*|and|transistor|"
             r"gate)).{0,20}high[\s-]?side|"
             r"high[\s-]?side.{0,20}(?<![a-z])n[\s-]?channel|n沟道[^驱,，]{0,12}高[边侧端]|高[边侧端][^,，]{0,6}n沟道",
             msg("A high-side switch with an N-channel MOSFET needs a gate voltage above the supply; it "
                 "cannot be "
                 "designed yet."),
             msg("Ask for a high-side switch with a P-channel MOSFET.")),
        ),
    ),
    quantities=(
        replace(rows.SUPPLY, words=rf"{rows.SUPPLY.words}|switch(?!ing)|开关"), rows.CURRENT, rows.LOAD_OHM,
        rows.LOAD_W, rows.CONTROL, rows.DRIVE_A, rows.DROP_V,
        pmos_pass.GATE_V, rows.COIL_H,
        kit.Quantity(
            name="switching_s", label=stage.SWITCHING, dimensions=("s",), takes_rest=True, limit="at_most",
            words=r"turn[\s-]?o(?:n|ff)|switch\w*|within|rise|fall|开通|关断|开关时间|导通时间",
            within=(10e-6, 0.1),
            example=100e-6, default=200e-6,
        ),
    ),
    choices=(
        kit.Choice(
            name="form", label=msg("driver of the gate"), is_told=False, options=(
                kit.Option(key="npn", label=msg("NPN"), words=r"npn|bjt|bipolar|三极管|2n[23]|bc ?5"),
                kit.Option(key="nmos", label=msg("NMOS"), words=r"(?<![a-z])n[\s-]?(?:mos(?:fet)?|channel|"
                                                                r"fet)|n沟道|2n7"),
            ),
        ),
        replace(rows.LOAD, default=lambda _request: "resistor"),
        pmos_pass.PMOSFET,
    ),
    goals=(
        kit.GoalRow(metric="load_current", label=msg("Load current"), unit="A", quantity="current_a",
                    is_corrected=False,
                    expression=lambda request: f"at(i(vload),{stage.on_at(request)})",
                    bounds=lambda request: kit.Bounds(minimum=0.998 * request["current_a"] * (
                        1 - request["drop_v"] / request["supply_v"]))),
        kit.GoalRow(metric="switch_voltage", label=msg("Voltage across the closed switch"), unit="V",
                    quantity="drop_v", is_corrected=False,
                    expression=lambda request: f"at(v(vcc)-v(out),{stage.on_at(request)})"),
        kit.GoalRow(metric="gate_voltage", label=msg("Voltage between gate and source"), unit="V",
                    quantity="gate_v", is_corrected=False, expression="peak(v(vcc)-v(g))"),
        kit.GoalRow(metric="drive_current", label=msg("Current from the drive"), unit="A", quantity="drive_a",
                    is_corrected=False,
                    expression=lambda request: f"max(-i(vctl),0,{stage.on_at(request, 1)})"),
        kit.GoalRow(metric="off_current", label=msg("Load current while off"), unit="A",
                    expression="at(i(vload),0)",
                    bounds=lambda request: kit.Bounds(maximum=1e-3 * request["current_a"])),
        _crossing(0.9, 1, 0),
        _crossing(0.1, 2, 1),
    ),
    title="High-side switch, {current_a:A3}, {supply_v:V3}",
    remarks=(msg("VGS = V RG1 / (RG1 + RG2); RG1 discharges the gate."),),
    analyses=lambda request, _sized, _goals: (f".tran {stage.on_at(request, 1e-3)} "
                                              f"{stage.on_at(request, 2)} 0 {stage.on_at(request, 1e-3)}",),
    size=stage.size, netlist=stage.netlist, complete=rows.complete_load,
)  # fmt: skip
