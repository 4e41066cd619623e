"""Low-side transistor switches for relays, solenoids, lamps and LED strips, driven by a logic output.

Equations and sources: `domain.design.families.low_side_switch`.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.engine.library_parts import part_choice
from domain.design.families import low_side_switch as switch
from domain.design.kit import assumed, impossible, missing, spice, with_unit
from domain.design.transistor import NO_PNP, TRANSISTOR
from shared.message import msg

_LOADS = r"(?:relay|solenoid|valve|lamp|bulb|heater|motor|fan|buzzer|led strip)s?"
_COIL = msg("inductance of the coil")
_TIME_CONSTANT_S = 2e-3
"""L/R of small relays and solenoids."""


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
    kit.Quantity(
        name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(2.5, 60),
        words=r"suppl\w+|rails?|batter(?:y|ies)|relay|coil|solenoid|valve|lamp|bulb|fan|motor|strip|load|vcc|"
              r"供电|电源|电池|继电器|线圈|电磁[阀铁]|灯|风扇|电机|负载",
        example=12, default=12.0,
    ),
    kit.Quantity(
        name="current_a", label=msg("load current"), dimensions=("A",), takes_rest=True, within=(1e-3, 20),
        words=r"(?<!drive )(?<!base )(?<!gate )current|draws?|relay|coil|solenoid|lamp|load|led|"
              r"(?<![驱基栅][动极])电流|线圈|负载", example=30e-3,
    ),
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True,
        within=(0.1, 60e3), words=r"coil|load|resist\w+|relay|线圈|负载|电阻|内阻", example=400,
    ),
    kit.Quantity(name="load_w", label=msg("load power"), dimensions=("W",), takes_rest=True,
                 within=(1e-3, 500), words=r"power|relay|solenoid|lamp|功率", example=5),
    kit.Quantity(
        name="control_v", label=switch.LOGIC, dimensions=("V",), within=(1.2, 20), example=3.3, default=3.3,
        words=r"gpio|logic(?![\s-]level)|control\w*|mcu|micro\w*|pins?(?![a-z])|signal|esp32|stm32|arduino|"
              r"driven (?:by|from)|单片机|控制(?!.{0,3}\d+v)|逻辑(?!电平)|i/?o口?|引脚|高电平|驱动信号",
    ),
    kit.Quantity(
        name="drive_a", label=switch.DRIVE, dimensions=("A",), limit="at_most", within=(0.5e-3, 0.5),
        words=r"(?:base|gate|drive|gpio|pin|control|io|output) (?:current|at most|below|max\w*|no more than)|"
              r"(?:gpio|pin|mcu)[^,.;]{0,12}(?:at most|below|max\w*|only|up to)|"
              r"(?:基极|栅极|驱动|引脚|i/?o口?|单片机)[^,，;；]{0,4}电流",
        default=10e-3, example=8e-3,
    ),
    kit.Quantity(
        name="drop_v", label=switch.DROP, dimensions=("V",), limit="at_most", within=(5e-3, 3), example=0.2,
        words=r"saturation|v_?ce(?:_?\(?sat\)?)?|v_?ds|on[\s-](?:state )?voltage|drop|饱和|压降|导通",
        default=lambda request: min(0.3, 0.04 * request["supply_v"]),
    ),
    kit.Quantity(name="coil_h", label=_COIL, dimensions=("H",), takes_rest=True, words=r"induct\w*|电感",
                 within=(1e-6, 200), example=0.5),
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
    """Current, resistance and supply of each other. Raises CircuitError where nothing tells the current."""
    supply, current, ohm = request["supply_v"], request["current_a"], request["load_ohm"]
    if supply is None and current and ohm:
        supply = current * ohm
    volts = supply or 12.0
    if current is None and ohm is None and request["load_w"] is None:
        raise missing(msg("load current"), "30 mA")
    current = current or (volts / ohm if ohm else request["load_w"] / volts)
    if abs(current * (ohm or volts / current) / volts - 1) > 0.1:
        raise impossible(
            msg("{ohm} take {made} from {supply}, not {said}.", ohm=with_unit(ohm, "Ω", 3),
                made=with_unit(volts / ohm, "A", 3), supply=with_unit(volts, "V", 3),
                said=with_unit(current, "A", 3)),
            msg("Name only two of them."),
        )  # fmt: skip
    form = request["form"] if request.states("form") else _form(request.having(current_a=current))
    coil = request["coil_h"] or _TIME_CONSTANT_S * volts / current
    is_told = request["load"] == "coil" and request["coil_h"] is None
    return kit.Said(
        values={"supply_v": supply, "current_a": current, "load_ohm": volts / current, "form": form,
                "load_w": volts * current, "coil_h": coil},
        notes=(assumed(_COIL, with_unit(coil, "H", 3)),) if is_told else (),
    )  # fmt: skip


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
            r"逆变|snubber|吸收|led driver|(?:three|3)[\s-]phase|三相|brushless|bldc|无刷"
        ),
        refuses=(
            NO_PNP,
            (r"high[\s-]side|高[边侧端]|p[\s-]?(?:mos|channel)",
             msg("A switch between supply and load cannot be designed yet."),
             msg("Ask for a low-side switch: the load at the supply, the transistor at ground.")),
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
        kit.Choice(
            name="load", label=msg("load"), options=(
                kit.Option(key="coil", label=msg("coil"),
                           words=r"relay|solenoid|valve|coil|motor|induct|继电器|电磁|线圈|电机|马达|电感"),
                kit.Option(key="resistor", label=msg("resistive load"),
                           words=r"lamp|bulb|led|strip|heater|resistive|fan|buzzer|灯|加热|电阻负载|风扇|蜂鸣"),
            ),
        ),
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
