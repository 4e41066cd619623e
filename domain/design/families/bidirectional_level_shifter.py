"""Level shifters for both directions between two open-drain lines, as those of the I2C bus.

Equations and sources: `domain.design.families.open_drain_lines`.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.engine.library_parts import part_choice
from domain.design.families import open_drain_lines as lines
from domain.design.kit import spice
from shared.message import msg


def says(sentence: kit.Sentence) -> kit.Said:
    """The two supplies are the two voltages, however they are joined; the rest by its words."""
    volts = sentence.of("V")
    ends = [end for each in volts for end in (each.value, each.upper) if end]
    values, unused = kit.read_quantities(
        tuple(each for each in _QUANTITIES if "V" not in each.dimensions), sentence
    )
    distinct = sorted(set(ends))
    rest = [each for each in unused if each.dimension != "V"]
    if len(distinct) >= 2:
        values |= {"low_v": distinct[0], "high_v": distinct[1]}
        rest += [each for each in volts if each.value not in distinct[:2]]
    elif distinct:
        values["high_v" if distinct[0] > 3.0 else "low_v"] = distinct[0]
    return kit.Said(values=values, stated=frozenset(values), notes=kit.left_out(tuple(rest)))


_QUANTITIES = (
    kit.Quantity(name="low_v", label=msg("lower supply"), dimensions=("V",), words=r"low", within=(1.2, 12),
                 example=3.3, default=3.3),
    kit.Quantity(name="high_v", label=msg("higher supply"), dimensions=("V",), words=r"high", within=(1.4,
                                                                                                      18),
                 example=5, default=5.0),
    kit.Quantity(
        name="clock_hz", label=msg("clock frequency"), dimensions=("Hz",), takes_rest=True, within=(1e3, 4e6),
        words=r"clock|speed|rate|i2c|iic|bus|at|速率|频率|时钟|总线", example=400e3, default=100e3,
    ),
    kit.Quantity(
        name="line_farad", label=msg("capacitance of each line"), dimensions=("F",), takes_rest=True,
        words=r"capacit\w*|bus|line|load|电容|总线|负载", within=(1e-12, 2e-9), example=200e-12,
        default=100e-12,
    ),
    kit.Quantity(
        name="rise_s", label=lines.RISE, dimensions=("s",), takes_rest=True, limit="at_most",
        default=lines.rise_s,
        words=r"rise(?:s|[\s-]?time)?|edges?|上升(?:时间|沿)?", within=(20e-9, 1e-3), example=300e-9,
    ),
    kit.Quantity(
        name="sink_a", label=msg("current a driver may sink"), dimensions=("A",), takes_rest=True,
        default=lines.sink_a,
        words=r"sink\w*|driver|灌电流|吸收电流|驱动", within=(0.1e-3, 0.1), example=3e-3,
    ),
)  # fmt: skip
_BOTH = r"bi-?directional\w*|(?:two|2)[\s-]way|both (?:directions|ways)|双向"
_SHIFT = (
    r"(?:level|voltage|logic|signal)s?[\s-]?(?:level )?(?:shift\w*|translat\w*|conver\w*)|"
    r"shift(?=.{0,40}\d ?v)|"
    r"电平(?:转换|移位|平移|变换|匹配)"
)
_OPEN_LINES = (
    r"(?<![a-z])i[2i²]c(?![a-z])|(?<![a-z])sda(?![a-z])|1-wire|one-wire|single-wire|smbus|open[\s-]drain|"
    r"单总线|开漏"
)

FAMILY = kit.Family(
    key="bidirectional_level_shifter",
    name=msg("level shifters for both directions (I2C and other open-drain lines)"),
    one=msg("a level shifter for both directions"),
    examples={"en": "bidirectional level shifter for I2C, 3.3 V and 5 V, 400 kHz, 100 pF",
              "zh": "I2C双向电平转换电路，3.3V和5V，400kHz，线路电容100pF"},
    words=kit.Words(
        named=(
            rf"^(?=.*(?:{_BOTH}|{_OPEN_LINES}))(?=.*(?:{_SHIFT})).*|"
            rf"^(?=.*(?:{_BOTH}))(?=.*(?:{_OPEN_LINES}))(?=.*\d ?v.*\d ?v).*|"
            rf"^(?=.*(?:{_BOTH}|{_OPEN_LINES}))(?=.*\d ?v.*\d ?v)(?=.*(?:mos(?![a-z])|mosfet|bss138|上拉|"
            rf"pull[\s-]?up)).*|"
            rf"^(?=.*(?:{_SHIFT}))(?=.*(?:mos(?![a-z])|mosfet|fet(?![a-z])|bss138|"
            rf"mos管))(?=.*(?:pull[\s-]?up|上拉|bss138)).*"
        ),
        excludes=r"op[\s-]?amp|运放|buck|boost|converter (?:from|with) .{0,20}\d ?a(?![a-z])|rs-?232|rs-?485|"
                 r"isolat|隔离|crossed|"
                 r"cmos level|current mirror",
    ),
    quantities=_QUANTITIES,
    choices=(part_choice("mosfet"),),
    goals=(
        lines.risen("low", "low_v"),
        lines.risen("out", "high_v"),
        lines.level("low_from_lower", msg("Low level on the higher side, from the lower"), "out", 1.9,
                    "low_v",
               is_low=True),
        lines.level("low_from_higher", msg("Low level on the lower side, from the higher"), "low", 3.9,
                    "low_v",
               is_low=True),
        lines.level("high_lower_side", msg("High level on the lower side"), "low", 2.95, "low_v",
                    is_low=False),
        lines.level("high_higher_side", msg("High level on the higher side"), "out", 2.95, "high_v",
                    is_low=False),
    ),
    title="Level shifter for both directions, {low_v:g} V and {high_v:g} V, {clock_hz:Hz}",
    remarks=(msg("A line rises from 30 to 70 % in ln(7/3) R C; both pull-ups flow into the driver that "
                 "pulls."),),
    analyses=lambda request, _sized, _goals: (
        ".tran {0} {1} 0 {0}".format(spice(lines.half_s(request) / 300), spice(5 * lines.half_s(request))),
    ),
    size=lines.size, netlist=lines.netlist, says=says, complete=lines.complete,
)  # fmt: skip
