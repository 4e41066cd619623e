"""Low-side transistor switches for relays, solenoids, lamps and LED strips, driven by a logic output.

Equations and sources: `domain.design.families.low_side_switch`.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.engine.library_parts import part_choice
from domain.design.families import low_side_switch as switch
from domain.design.families import switch_rows as rows
from domain.design.kit import spice
from domain.design.transistor import NO_PNP, TRANSISTOR
from shared.message import msg

_LOADS = r"(?:relay|solenoid|valve|lamp|bulb|heater|motor|fan|buzzer|led strip)s?"


def _form(request: kit.Request) -> str:
    """An NPN transistor where ten times the drive is enough."""
    if request.get("mosfet", "mosfet") != "mosfet" or (request["current_a"] or 0) > switch.FORCED * (
        request["drive_a"] or 10e-3
    ):
        return "nmos"
    return "npn"


def _on(request: kit.Request, share: float = 0.999) -> str:
    """Of the time at which it is switched off."""
    return spice(share * switch.times(request)[1])


_QUANTITIES = (
    rows.SUPPLY, rows.CURRENT, rows.LOAD_OHM, rows.LOAD_W, rows.CONTROL, rows.DRIVE_A,
    rows.DROP_V, rows.COIL_H,
    kit.Quantity(
        name="release_s", label=switch.RELEASE, dimensions=("s",), takes_rest=True, limit="at_most",
        words=r"release\w*|turn[\s-]?off|drop[\s-]?out|off within|释放|关断", within=(20e-6, 1), example=2e-3,
    ),
    kit.Quantity(
        name="peak_v", label=switch.OPEN, dimensions=("V",), limit="at_most", example=40,
        words=r"peak|clamp\w*|spike|flyback voltage|尖峰|钳位|反峰", within=(3, 100), is_told=False,
        default=switch.most_v,
    ),
)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """What the load tells, and the transistor. Raises CircuitError where nothing tells the current."""
    said = rows.complete_load(request)
    form = request["form"]
    if not request.states("form"):
        form = _form(request.having(current_a=said.values["current_a"]))
    return kit.Said(values={**said.values, "form": form}, notes=said.notes)


FAMILY = kit.Family(
    key="load_switch",
    name=msg("low-side transistor switches (relays, solenoids, lamps)"), one=msg("a low-side switch"),
    examples={"en": "relay driver, 12 V relay of 400 ohm, switched by a 3.3 V GPIO",
              "zh": "单片机3.3V控制12V继电器的三极管驱动电路，线圈400欧"},
    words=kit.Words(
        named=(
            rf"{_LOADS}(?:[\s-]coil)?[\s-](?:driver|switch|drive)(?: circuit| stage)?|"
            r"low[\s-]side (?:[\w-]+ )?(?:switch|driver)|"
            r"(?:transistor|npn|bjt|n?mos(?:fet)?|fet)(?: as an?| low-side| saturated)* switch(?!ing)|"
            rf"(?:driv(?:e|es|ing)|switch(?:es|ing)?|turn(?:s|ing)? on|control(?:s|ling)?) [^,.;]{{0,30}}"
            rf"{_LOADS}|"
            r"(?:继电器|电磁[阀铁]|蜂鸣器|灯[带泡]|风扇|马达|电机)(?:线圈)?[^,，。;；]{0,8}(?:驱动|开关)|"
            r"(?:驱动|控制)[^,，。;；]{0,16}(?:继电器|电磁[阀铁]|蜂鸣器|灯[带泡]|风扇|马达|电机)|"
            r"低[边侧端](?:开关|驱动)|(?:三极管|晶体管|n?mos管?|场效应管)(?:做|作)?(?:低边)?(?:电子)?开关(?:电路)?"
        ),
        plausible=r"load switch|负载开关",
        excludes=(
            r"h[\s-]?bridge|h桥|half[\s-]?bridge|全桥|半桥|convert|变换器|analog(?:ue)? switch|模拟开关|"
            r"stepper|步进|solid[\s-]state|固态|oscillat|振荡|gate driver|buck|boost|servo|闪烁|inverter|"
            r"high[\s-]side|hi[\s-]side|(?:plus|positive) (?:side|rail|line|wire)|高[边侧端]|正极|"
            r"电源[端侧]|上管|"
            r"(?<![a-z])p[\s-]?(?:mos|channel|fet|ch(?![a-z]))|p沟道|p管|ao34|"
            r"逆变|snubber|吸收|led driver|(?:three|3)[\s-]phase|三相|brushless|bldc|无刷"
        ),
        refuses=(
            NO_PNP,
        ),
    ),
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="form", label=msg("transistor"), is_told=False, options=(
                kit.Option(key="npn", label=msg("NPN"), words=r"npn|bjt|bipolar|三极管|2n[23]|bc ?5"),
                kit.Option(key="nmos", label=msg("NMOS"),
                           words=r"n?mos(?![a-z])|mosfet|fet|场效应|irf|irl|2n7"),
            ),
        ),
        rows.LOAD,
        TRANSISTOR,
        part_choice("mosfet"),
    ),
    goals=(
        kit.GoalRow(
            metric="load_current", label=msg("Load current"), unit="A", quantity="current_a",
            expression=lambda request: f"at(i(vload),{_on(request)})", is_corrected=False,
            bounds=lambda request: kit.Bounds(
                minimum=0.998 * (1 - request["drop_v"] / request["supply_v"]) * request["current_a"]
            ),
        ),
        kit.GoalRow(
            metric="switch_voltage", label=msg("Voltage across the closed switch"), unit="V",
            quantity="drop_v", is_corrected=False, expression=lambda request: f"at(v(out),{_on(request)})",
        ),
        kit.GoalRow(
            metric="drive_current", label=msg("Current from the drive"), unit="A", quantity="drive_a",
            is_corrected=False, expression=lambda request: f"max(-i(vctl),0,{_on(request, 1)})",
        ),
        kit.GoalRow(
            metric="off_current", label=msg("Load current while off"), unit="A", expression="at(i(vload),0)",
            bounds=lambda request: kit.Bounds(maximum=1e-3 * request["current_a"]),
        ),
        kit.GoalRow(
            metric="peak_voltage", label=msg("Voltage at the open switch"), unit="V", quantity="peak_v",
            expression="peak(v(out))", is_corrected=False, when=lambda request: request["load"] == "coil",
        ),
        kit.GoalRow(
            metric="release_time", label=msg("Release time"), unit="s", quantity="release_s",
            is_corrected=False, expression=lambda request: (
                f"cross(i(vload),{spice(switch.LEFT * request['current_a'])},2)-{_on(request, 1)}"
            ),
        ),
    ),
    title="Low-side switch, {current_a:A3}, {supply_v:V3}",
    remarks=lambda request: (
        msg("RB = (VG - VBE) / IB, IB near a tenth of the load current.") if request["form"] == "npn"
        else msg("VDS = I RDS(on); RB holds the peak of the gate current."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".tran {_on(request, 1e-3)} {_on(request, 2)} 0 {_on(request, 2e-3)}",
    ),
    size=switch.size, netlist=switch.netlist, complete=complete,
)  # fmt: skip
