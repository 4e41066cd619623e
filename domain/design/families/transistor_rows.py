"""What amplifiers of one or two transistors share: quantities, goals, the source and the sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from domain.design import kit
from domain.design.engine.device_cards import CARDS
from domain.design.families.amplifier_rows import gain_row
from domain.design.kit import around, spice
from domain.design.transistor import SATURATION_V
from shared.message import msg

OTHER_DEVICES = (
    r"differen|差分|push[\s-]?pull|推挽|(?:two|three|2|3)[\s-]stage|[两三23]级|多级|multi|op[\s-]?amp|运放|"
    r"power(?! suppl| rail)|功率|darlington|达林顿|oscillat|振荡"
)
GAIN = gain_row((1.5, 1000), 50)
LOW = kit.Quantity(
    name="low_hz", label=msg("lower corner frequency"), dimensions=("Hz",), takes_rest=True, limit="at_most",
    words=r"low(?:er)?(?: corner| cut-?off)?(?: frequency)?|下限(?:截止)?(?:频率)?|低频|f_l",
    before=r"(?<![a-z])from", within=(1, 100e3), example=100, default=100.0,
)  # fmt: skip
SUPPLY_V = kit.Quantity(
    name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(4, 60), example=12,
    words=r"suppl\w+|power(?:ed)?|rails?|供电|电源|vcc|vdd", default=12.0,
)  # fmt: skip
LOAD = kit.Quantity(
    name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True, within=(100, 10e6),
    words=r"load|负载|(?<![a-z])r_?l(?![a-z])", example=10e3, default=10e3,
)  # fmt: skip


def quantities(
    current: Callable[[kit.Request], float],
    *more: kit.Quantity,
    load: float = 10e3,
    gain: kit.Quantity = GAIN,
) -> tuple[kit.Quantity, ...]:
    """Gain, lower corner, supply, load and the transistor's current, which `current` chooses."""
    collector = kit.Quantity(
        name="collector_a", label=msg("collector current"), dimensions=("A",), takes_rest=True,
        words=r"collector|drain|quiescent|bias|(?<![a-z])i_?[cd](?:q)?(?![a-z])|集电极|漏极|静态|工作电流",
        within=(10e-6, 0.1), example=1e-3, default=current,
    )  # fmt: skip
    return gain, LOW, SUPPLY_V, replace(LOAD, default=load), collector, *more, kit.TOLERANCE


def drawn_a(least_a: float, drop_v: Callable[[kit.Request], float]) -> Callable[[kit.Request], float]:
    """`least_a`, or what makes the resistor that drops `drop_v` no larger than half of the load."""
    return lambda request: float(max(least_a, 2 * drop_v(request) / request["load_ohm"]))


def collector_drop_v(request: kit.Request, lower_v: float = 0.0) -> float:
    """Across the collector resistor: half of what emitter, saturation and a lower transistor leave."""
    supply = request["supply_v"]
    return float(0.5 * (supply - max(1.0, 0.1 * supply) - lower_v - SATURATION_V))


def source_v(request: kit.Request) -> float:
    """Across the source resistor of one MOS transistor."""
    return float(max(0.3 if request.get(CARDS) else 0.8, 0.15 * request["supply_v"]))


def drain_drop_v(request: kit.Request) -> float:
    """Across the drain resistor of one MOS transistor: half of what source and saturation leave."""
    saturation_v = 0.2 if request.get(CARDS) else 0.4
    return float(0.5 * (request["supply_v"] - source_v(request) - saturation_v))


def mid_hz(request: kit.Request) -> str:
    return spice(50 * request["low_hz"])


def gain_goal(sign: int) -> kit.GoalRow:
    return kit.GoalRow(
        metric="gain", label=msg("Gain"), unit="1", quantity="gain",
        expression=lambda request: f"at(re(v(out)/v(in)),{mid_hz(request)})",
        bounds=lambda request: around(sign * request["gain"], request["tolerance"]),
    )  # fmt: skip


LOW_GOAL = kit.GoalRow(
    metric="lower_corner", label=msg("Lower corner, −3 dB"), unit="Hz", quantity="low_hz",
    expression="lowcut(v(out))",
)  # fmt: skip


def sweep(request: kit.Request, _sized: kit.Sized, _goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    """The `.ac` card from a fiftieth of the lower corner to well above mid band."""
    low = request["low_hz"]
    return (f".ac dec 50 {spice(low / 50)} {spice(max(1e6, 1000 * low))}",)


def write_source(deck: kit.Deck, request: kit.Request, amplitude: float) -> None:
    """The input and the supply, node `vcc`."""
    sine = f"SIN(0 {spice(amplitude)} {mid_hz(request)})"
    deck.part(f"Vin in 0 DC 0 AC 1 {sine}", msg("input: 1 V for .ac, a sine at mid band for .tran"))
    deck.part(f"Vcc vcc 0 DC {spice(request['supply_v'])}", msg("supply"))
