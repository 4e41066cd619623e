"""What amplifiers of one or two transistors share: quantities, goals, source and load, bias, the sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from domain.design import kit, quantity_words
from domain.design.engine.device_cards import CARDS, CardDevice
from domain.design.families.amplifier_rows import GAIN_LABEL, gain_row
from domain.design.kit import around, beyond, spice, with_unit
from domain.design.mosfet import SquareLaw
from domain.design.transistor import SATURATION_V
from shared.errors import CircuitError
from shared.message import Message, msg

OTHER_DEVICES = (
    r"differen|差分|push[\s-]?pull|推挽|(?:two|three|2|3)[\s-]stage|[两三23]级|多级|multi|op[\s-]?amp|运放|"
    r"power(?! suppl| rail)|功率|darlington|达林顿|oscillat|振荡"
)
GAIN = gain_row((1.5, 1000), 50)
LOW = kit.Quantity(
    name="low_hz", label=msg("lower corner frequency"), dimensions=("Hz",), takes_rest=True, limit="at_most",
    words=rf"low(?:er)?(?: corner| cut-?off)?(?: frequency)?|下限(?:截止)?(?:频率)?|低频|f_l|"
          rf"{quantity_words.BAND_FROM}",
    before=r"(?<![a-z])from", within=(1, 100e3), example=100, default=100.0,
)  # fmt: skip
NO_ACTIVE_LOAD = (
    r"(?:current[\s-](?:source|mirror)|active|pmos|p-mos)[\s-](?:\w+[\s-])?loads?(?![a-z])|(?:电流源|有源|电流镜)(?:做|作|作为)?负载",
    msg("Only common-source stages are designed with a current source as load."),
    msg("Leave out that load, or ask for a common-source stage with a current-source load."),
)
_LOW_SUPPLY_V = 4.0
SUPPLY_V = kit.Quantity(
    name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(4, 60), example=12,
    words=quantity_words.SUPPLY, default=12.0, least_rest_v=0.8,
)  # fmt: skip
MOS_SUPPLY_V = replace(SUPPLY_V, within=(1.8, 60))
"""A gate takes no current, and the threshold is a third of the least supply."""
LOAD = kit.Quantity(
    name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), takes_rest=True, within=(100, 10e6),
    words=quantity_words.LOAD, example=10e3, default=10e3,
)  # fmt: skip


def quantities(
    current: Callable[[kit.Request], float],
    *more: kit.Quantity,
    load: float = 10e3,
    gain: kit.Quantity = GAIN,
    supply: kit.Quantity = SUPPLY_V,
) -> tuple[kit.Quantity, ...]:
    """Gain, lower corner, supply, load and the transistor's current, which `current` chooses."""
    label = msg("collector current") if supply is SUPPLY_V else msg("drain current")
    collector = kit.Quantity(
        name="collector_a", label=label, dimensions=("A",), takes_rest=True,
        words=r"collector|drain|quiescent|bias|(?<![a-z])i_?[cd](?:q)?(?![a-z])|集电极|漏极|静态|工作电流",
        within=(10e-6, 0.1), example=1e-3, default=current,
    )  # fmt: skip
    return gain, LOW, supply, replace(LOAD, default=load), collector, *more, kit.TOLERANCE


def drawn_a(least_a: float, drop_v: Callable[[kit.Request], float]) -> Callable[[kit.Request], float]:
    """`least_a`, or what makes the resistor that drops `drop_v` no larger than half of the load."""
    return lambda request: float(max(least_a, 2 * drop_v(request) / request["load_ohm"]))


def collector_drop_v(request: kit.Request, lower_v: float = 0.0) -> float:
    """Across the collector resistor: half of what emitter, saturation and a lower transistor leave."""
    supply = request["supply_v"]
    return float(0.5 * (supply - max(1.0, 0.1 * supply) - lower_v - SATURATION_V))


def has_little_headroom(request: kit.Request) -> bool:
    """Whether a named card, made for few volts, or a low supply leaves little to each transistor."""
    return bool(request.get(CARDS)) or request["supply_v"] < _LOW_SUPPLY_V


def most_overdrive_v(request: kit.Request, device: SquareLaw | CardDevice, drop_v: float) -> float:
    """Of a transistor whose drain resistor drops `drop_v`; on a low supply what leaves its gate below it."""
    most, least = device.most_overdrive_v(drop_v), device.least_overdrive_v
    if request.get(CARDS) or request["supply_v"] >= _LOW_SUPPLY_V:
        return most
    threshold_v = device.gate_v(least, drop_v) - least
    return float(min(most, 0.95 * request["supply_v"] - source_v(request) - threshold_v))


def source_v(request: kit.Request) -> float:
    """Across the source resistor of one MOS transistor."""
    return float(max(0.3 if has_little_headroom(request) else 0.8, 0.15 * request["supply_v"]))


def drain_drop_v(request: kit.Request) -> float:
    """Across the drain resistor of one MOS transistor: half of what source and saturation leave."""
    saturation_v = 0.2 if has_little_headroom(request) else 0.4
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


def write_divider(deck: kit.Deck, parts: Mapping[str, str], node: str) -> None:
    """The bias of a base or gate."""
    deck.part(f"R1 vcc {node} {parts['R1']}", msg("bias, together with R2"))
    deck.part(f"R2 {node} 0 {parts['R2']}", msg("bias, together with R1"))


def write_emitter(deck: kit.Deck, parts: Mapping[str, str]) -> None:
    """RE1, open for signals, and RE2 with its capacitor where there is one."""
    if "RE2" in parts:
        deck.part(f"RE1 e x {parts['RE1']}", msg("sets the gain"))
        deck.part(f"RE2 x 0 {parts['RE2']}", msg("stabilizes the operating point"))
        deck.part(f"C3 x 0 {parts['C3']}", msg("bypasses RE2: sets the lower corner"))
    else:
        deck.part(f"RE1 e 0 {parts['RE1']}", msg("sets the gain and stabilizes the operating point"))


def write_foot(deck: kit.Deck, parts: Mapping[str, str]) -> None:
    """RS with its capacitor, behind RS1 where the source resistor is left open in part."""
    bypassed = "x" if "RS1" in parts else "s"
    if "RS1" in parts:
        deck.part(f"RS1 s x {parts['RS1']}", msg("lowers the gain"))
    deck.part(f"RS {bypassed} 0 {parts['RS']}", msg("stabilizes the operating point"))
    deck.part(f"C3 {bypassed} 0 {parts['C3']}", msg("bypasses RS: sets the lower corner"))


def write_load(deck: kit.Deck, request: kit.Request, parts: Mapping[str, str], node: str) -> None:
    """The coupling capacitor from `node`, and the load behind it."""
    deck.part(f"C2 {node} out {parts['C2']}", msg("couples the output"))
    deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))


def mos_note(current: float, overdrive: float, ratio: float) -> Message:
    return msg("Drain current {current}, overdrive {overdrive}, W/L = {ratio}.",
               current=with_unit(current, "A", 3), overdrive=with_unit(overdrive, "V", 3),
               ratio=f"{ratio:.3g}")  # fmt: skip


def too_much_gain(request: kit.Request, limit: float) -> CircuitError:
    advice = msg("Raise the supply or the load resistance, or use two stages or an op-amp.")
    return beyond(GAIN_LABEL, "", request["gain"], limit, advice)
