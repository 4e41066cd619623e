"""LED drivers: current sinks of an op-amp and a MOSFET or of two NPN transistors, or a series resistor.

Equations and sources: `domain.design.families.led_sink`.
"""

from __future__ import annotations

from domain.design import kit
from domain.design.families.led_sink import SUPPLY_SPREAD, netlist, size
from domain.design.families.logic_rows import count_of
from domain.design.kit import impossible, spice, with_unit
from domain.design.transistor import TRANSISTOR
from shared.message import msg

_DRIFT = {"opamp": 0.02, "pair": 0.05}
_FORWARD_V = {"red": 2.0, "green": 2.2, "white": 3.1, "infrared": 1.35}
_LED = r"(?:\w+[\s-])?leds?(?![a-z])"


def _current(request: kit.Request, factor: float = 1.0) -> str:
    return f"at(i(vload),{spice(factor * request['supply_v'])})"


def _variation(request: kit.Request) -> str:
    high, low = (_current(request, 1 + sign * SUPPLY_SPREAD) for sign in (1, -1))
    return f"({high}-{low})/{_current(request)}"


def _least_supply(request: kit.Request) -> str:
    """Where the sweep of the supply begins: an op-amp of under 2 V has no room between its limits."""
    return "2" if request["form"] == "opamp" else "0"


_STRING = (
    r"\s?(?:[个只颗粒串支枚](?!月)|(?:pcs?|pieces?)(?![a-z])|(?=\s?x\s?[\d.]+ ?[vw](?![a-z])))|"
    r" (?!m?[av] )(?:[a-z]+ )?"
    r"(?:in series|in a (?:row|string|chain)|diodes?|indicators?|emitters?|lamps?)(?![a-z])|"
    r"[ -](?:[\d.]+[ -]?(?:w|watts?|v|mm)[ -])(?:[a-z]+ )?leds?(?![a-z])|"
    r" (?!m?[av] )(?:[a-z]+ ){1,2}(?:leds?|diodes?|indicators?)(?![a-z])"
)
"""Behind a number: LEDs, whatever they are called."""


_KEEPS_CURRENT = (
    r"(?<![a-z])leds?(?![a-z])|diode|lamp|light|laser|emitter|current|sink|灯|光|恒流|电流|二极管|激光|管"
)
"""Words of what takes a current, whatever its voltage."""


def says(sentence: kit.Sentence) -> kit.Said:
    """Figures by their words; how many LEDs also by what is counted. Raises CircuitError for a supply."""
    if len({each.value for each in sentence.of("V")}) > 1 and not sentence.has(_KEEPS_CURRENT):
        raise impossible(
            msg("An LED driver keeps a current, not a voltage."),
            msg("Ask for a linear regulator or a buck converter."),
        )
    found, unused = kit.read_quantities(FAMILY.quantities, sentence)
    if "leds" not in found and (count := count_of(sentence.text, _STRING)) is not None:
        found["leds"] = count
    return kit.Said(values=found, stated=frozenset(found), notes=kit.left_out(unused))


FAMILY = kit.Family(
    key="led_driver",
    name=msg("LED drivers and constant-current sinks (op-amp with MOSFET, two transistors, resistor)"),
    one=msg("an LED driver"),
    examples={"en": "LED driver, 3 white LEDs, 350 mA, 12 V supply",
              "zh": "20mA的LED恒流驱动电路，电源9V"},
    words=kit.Words(
        named=(rf"{_LED} ?(?:constant[\s-]current )?(?:string )?(?:lamp )?(?:driv(?:er|ing)|current[\s-]\w+|"
               rf"(?:with an? )?(?:series |limiting )?resistor|indicator)|"
               rf"(?:driver|resistor|current[\s-]\w+|(?<![a-z])drive|light(?: up)?|power|feed|run)"
               rf"(?: (?:for|to|an?|the|\d+|one|two|three|four|five|in|series))* {_LED}|"
               r"(?:led|发光二极管)[^,，。;]{0,10}(?:驱动|恒流|限流|点亮|指示灯)|"
               r"(?:驱动|点亮|恒流)[^,，。;]{0,16}(?:led|发光二极管)|"
               r"^(?=.*(?<![a-z])leds?(?![a-z]))(?=.*(?:(?<![a-z])driv(?:ers?|es?|ing)(?![a-z])|"
               r"constant[\s-]current|current[\s-](?:sink|source|regulator))).*|"
               r"^(?=.*(?:op[\s-]?amp|运放|mosfet|mos管|场效应管))"
               r"(?=.*(?:current[\s-](?:sink|source|regulator|load)|constant[\s-]current|恒流)).*"),
        plausible=r"constant[\s-]current (?:driver|load|circuit)|恒流(?:驱动|负载|电路)",
        excludes=(
            r"buck|boost|charger|充电|mirror|镜像|differen|差分|jfet|结型|reference|基准|howland|flyback|反激|"
            r"isolat|隔离|pwm|调光|dimm|high[\s-]side|高边|photo|光电|mains|市电|oscillat|闪|blink|555|"
            r"led strip|灯带|low[\s-]side|低边|relay|继电器|transistor switch|三极管开关"
        ),
    ),
    quantities=(
        kit.Quantity(
            name="current_a", label=msg("current"), dimensions=("A",), takes_rest=True, within=(1e-3, 3),
            words=r"current|output|i_?(?:led|out|o|f)(?![a-z])|电流|恒流", example=20e-3, required=True,
        ),
        kit.Quantity(
            name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(3, 36),
            words=r"suppl\w+|power(?:ed)?|rails?|batter(?:y|ies)|input|from|供电|电源|电池|输入|vcc|vdd",
            example=12, default=12.0,
        ),
        kit.Quantity(
            name="forward_v", label=msg("forward voltage of an LED"), dimensions=("V",), within=(1.1, 4.5),
            words=r"forward(?: voltage| drop)?|(?<![a-z])v_?f(?![a-z])|led voltage|"
                  r"(?<![a-z])each(?! other)|per led|apiece|正向|压降|导通|每[颗个只]",
            example=2.0, is_told=False, default=lambda request: _FORWARD_V[request["color"]],
        ),
        kit.Quantity(
            name="leds", label=msg("LEDs in series"), dimensions=("none",), is_whole=True, within=(1, 12),
            words=r"(?:\w+[\s-])?leds?(?![a-z])|in series|串联|[个只颗]",
            example=3, default=1, is_told=False,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        TRANSISTOR,
        kit.Choice(
            name="form", label=msg("circuit"), options=(
                kit.Option(key="opamp", label=msg("op-amp and MOSFET"),
                           words=r"op[\s-]?amp|运放|mosfet|mos管"),
                kit.Option(
                    key="pair", label=msg("two NPN transistors"),
                    words=r"two[\s-]transistors?|transistor pair|bjts?|npn|discrete|三极管|晶体管|[两2]管",
                ),
                kit.Option(key="resistor", label=msg("series resistor"), words=r"resistor|电阻"),
            ),
        ),
        kit.Choice(
            name="color", label=msg("LED color"), is_told=False, options=(
                kit.Option(key="red", label=msg("red"), words=r"red|yellow|amber|红|黄"),
                kit.Option(key="green", label=msg("green"), words=r"green|绿"),
                kit.Option(key="white", label=msg("white or blue"), words=r"white|blue|白|蓝"),
                kit.Option(key="infrared", label=msg("infrared"),
                words=r"infra-?red|(?<![a-z])ir(?![a-z])|红外"),
            ),
        ),
        kit.Choice(
            name="load", label=msg("load"), is_told=False,
            options=(
                kit.Option(key="led", label=msg("LEDs"), words=r"leds?(?![a-z])|发光二极管"),
                kit.Option(key="any", label=msg("a voltage"),
                           words=r"^(?!.*(?:leds?(?![a-z])|发光二极管)).*"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(metric="current", label=msg("Output current"), unit="A", quantity="current_a",
                    expression=_current),
        kit.GoalRow(
            metric="line_variation", label=msg("Variation over supply ±10 %"), unit="1", is_corrected=False,
            expression=_variation,
            bounds=lambda request: kit.Bounds(maximum=_DRIFT[request["form"]]),
            when=lambda request: request["form"] != "resistor",
        ),
    ),
    title=lambda request: (
        f"LED driver, {with_unit(request['current_a'], 'A')}, {request['supply_v']:g} V"
        if request["load"] == "led"
        else f"Constant-current sink, {with_unit(request['current_a'], 'A')}, {request['supply_v']:g} V"
    ),
    remarks=lambda request: (
        {"opamp": msg("I = VREF R2 / (R1 + R2) / RS."), "pair": msg("I = VBE / RS."),
         "resistor": msg("I = (V - n VLED) / R1.")}[request["form"]],
    ),
    analyses=lambda request, _sized, _goals: (
        f".dc Vcc {_least_supply(request)} {spice(1.2 * request['supply_v'])} "
        f"{spice(request['supply_v'] / 200)}",
    ),
    says=says,
    output="", size=size, netlist=netlist,
)  # fmt: skip
