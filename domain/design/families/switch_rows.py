"""What transistor switches share: supply, load and drive, and what follows from them."""

from __future__ import annotations

from domain.design import kit
from domain.design.kit import assumed, impossible, missing, with_unit
from shared.message import msg

LOGIC, DRIVE = msg("voltage of the drive"), msg("current from the drive")
DROP = msg("voltage across the closed switch")
COIL_LABEL = msg("inductance of the coil")
_TIME_CONSTANT_S = 2e-3
"""L/R of small relays and solenoids."""

SUPPLY = kit.Quantity(
    name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(2.5, 60),
    words=r"suppl\w+|rails?|batter(?:y|ies)|relay|coil|solenoid|valve|lamp|bulb|fan|motor|strip|load|vcc|"
          r"供电|电源|电池|继电器|线圈|电磁[阀铁]|灯|风扇|电机|负载",
    example=12, default=12.0,
)  # fmt: skip
CURRENT = kit.Quantity(
    name="current_a", label=msg("load current"), dimensions=("A",), takes_rest=True, within=(1e-3, 20),
    words=r"(?<!drive )(?<!base )(?<!gate )current|draws?|relay|coil|solenoid|lamp|load|led|"
          r"(?<![驱基栅][动极])(?<!io)(?<!脚)(?<!口)电流|线圈|负载", example=30e-3,
)  # fmt: skip
LOAD_OHM = kit.Quantity(
    name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True,
    within=(0.1, 60e3), words=r"coil|load|resist\w+|relay|线圈|负载|电阻|内阻", example=400,
)  # fmt: skip
LOAD_W = kit.Quantity(
    name="load_w", label=msg("load power"), dimensions=("W",), takes_rest=True, within=(1e-3, 500), example=5,
    words=r"power|relay|solenoid|lamp|功率",
)  # fmt: skip
CONTROL = kit.Quantity(
    name="control_v", label=LOGIC, dimensions=("V",), within=(1.2, 20), example=3.3, default=3.3,
    words=r"gpio|logic(?![\s-]level)|control\w*|mcu|micro\w*|pins?(?![a-z])|signal|esp32|stm32|arduino|"
          r"driven (?:by|from)|单片机|控制(?!.{0,3}\d+v\s?[/\u4e00-\u9fff])|逻辑(?!电平)|i/?o口?|引脚|"
          r"高电平|驱动信号",
)  # fmt: skip
DRIVE_A = kit.Quantity(
    name="drive_a", label=DRIVE, dimensions=("A",), limit="at_most", within=(0.5e-3, 0.5),
    words=r"(?:base|gate|drive|gpio|pin|control|io|output) (?:current|at most|below|max\w*|no more than)|"
          r"(?:gpio|pin|mcu)[^,.;]{0,12}(?:at most|below|max\w*|only|up to)|"
          r"(?:基极|栅极|驱动|引脚|i/?o口?|单片机)[^,，;；]{0,4}电流|(?:只|最多)[给能][^\d,，;；]{0,4}",
    default=10e-3, example=8e-3,
)  # fmt: skip
DROP_V = kit.Quantity(
    name="drop_v", label=DROP, dimensions=("V",), limit="at_most", within=(5e-3, 3), example=0.2,
    words=r"saturation|v_?ce(?:_?\(?sat\)?)?|v_?ds|on[\s-](?:state )?voltage|drop|饱和|压降|导通",
    default=lambda request: min(0.3, 0.04 * request["supply_v"]),
)  # fmt: skip
COIL_H = kit.Quantity(
    name="coil_h", label=COIL_LABEL, dimensions=("H",), takes_rest=True, words=r"induct\w*|电感",
    within=(1e-6, 200), example=0.5,
)  # fmt: skip
LOAD = kit.Choice(
    name="load", label=msg("load"), options=(
        kit.Option(key="coil", label=msg("coil"),
                   words=r"relay|solenoid|valve|coil|motor|induct|继电器|电磁|线圈|电机|马达|电感"),
        kit.Option(key="resistor", label=msg("resistive load"),
                   words=r"lamp|bulb|led|strip|heater|resistive|fan|buzzer|灯|加热|电阻负载|风扇|蜂鸣"),
    ),
)  # fmt: skip


def complete_load(request: kit.Request) -> kit.Said:
    """Current, resistance and supply of each other, and the coil's inductance.

    Raises CircuitError where nothing tells the current.
    """
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
    coil = request["coil_h"] or _TIME_CONSTANT_S * volts / current
    is_told = request["load"] == "coil" and request["coil_h"] is None
    return kit.Said(
        values={"supply_v": supply, "current_a": current, "load_ohm": volts / current,
                "load_w": volts * current, "coil_h": coil},
        notes=(assumed(COIL_LABEL, with_unit(coil, "H", 3)),) if is_told else (),
    )  # fmt: skip


def write_load(deck: kit.Deck, request: kit.Request, top: str, bottom: str) -> None:
    """The load between two nodes, its current measured."""
    deck.part(f"Vload {top} l0 DC 0", msg("measures the current"))
    if request["load"] != "coil":
        deck.part(f"RL l0 {bottom} {kit.spice(request['load_ohm'])}", msg("load"))
        return
    deck.part(f"RL l0 l1 {kit.spice(request['load_ohm'])}", msg("resistance of the coil"))
    deck.part(f"LL l1 {bottom} {kit.spice(request['coil_h'])}", msg("inductance of the coil"))
