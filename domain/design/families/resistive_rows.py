"""What circuits from one DC voltage to another without a switch share: voltages, load, sweep of the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from domain.design import kit
from domain.design.kit import impossible, left_out, number, read_conversion, spice, with_unit
from shared.message import Message, msg

VIN = kit.Quantity(
    name="vin", label=msg("input voltage"), dimensions=("V",), within=(0.1, 1000), example=12, required=True,
    words=r"input|(?<![a-z])v_?in(?![a-z])|输入|供电|电源|电池|battery|source|suppl\w+|bus|母线",
    before=r"from|从|由|将|把|(?<![a-z])in\s*[:=]", after=r"\s*(?:dc\s*)?_?in(?![a-z])",
)  # fmt: skip
VOUT = kit.Quantity(
    name="vout", label=msg("output voltage"), dimensions=("V",), within=(1e-3, 500), example=5, required=True,
    words=(
        r"output|(?<![a-z])v_?out(?![a-z])|(?<![a-z])v_?o(?![a-z])|输出|得到|产生|分出|稳压到|稳定在|"
        r"reference|基准"
    ),
    before=r"(?<![a-z])to|into|降(?:压)?(?:到|至|为|成)|(?:转|分|变)(?:压|换)?(?:到|至|为|成|出)?",
    after=r"\s*(?:dc\s*)?_?(?:out(?:put)?(?![a-z])|输出)",
)  # fmt: skip
LOAD_A = kit.Quantity(
    name="iout", label=msg("output current"), dimensions=("A",), within=(1e-6, 5), example=0.02,
    words=(
        r"load(?: current)?|output current|i_?out|(?<![a-z])i_?[ol](?![a-z])|current|负载(?:电流)?|电流|带载|"
        r"输出电流"
    ),
    before="@", after=r"\s*(?:max(?:imum)?\s*)?(?:output|load|输出|负载)", takes_rest=True,
)  # fmt: skip

SERIES = kit.Choice(
    name="resistor_series", label=msg("part values"), is_told=False,
    options=tuple(
        kit.Option(key=series, label=msg("{series} values", series=series),
                   words=rf"(?<![a-z0-9]){series}(?!\d)")
        for series in ("E96", "E24", "E12", "E48")
    ),
)  # fmt: skip


def says_voltages(sentence: kit.Sentence, quantities: Sequence[kit.Quantity]) -> kit.Said:
    """The two voltages as a conversion (the range of an input too), everything else by its words."""
    found = read_conversion(sentence, sorted(quantities, key=lambda each: each.name != VIN.name))
    values = {
        quantity.name: number(quantity, found.values[quantity.name])
        for quantity in quantities
        if quantity.name in found.values
    }
    stated = frozenset(values)
    if found.input_range is not None:
        values |= dict(zip(("vin_lowest", "vin_highest"), found.input_range, strict=True))
    return kit.Said(values=values, stated=stated, notes=(*found.notes, *left_out(found.unused)))


def steps_down(request: kit.Request, what: Message, dropout_v: float, *, load_a: float) -> kit.Said:
    """The load current, where nobody said it, and the input's range.

    Raises CircuitError for an input that is not `dropout_v` above the output.
    """
    vin, vout = request["vin"], request["vout"]
    if vin is None or vout is None:
        return kit.Said(values={})
    low, high = (request.get(name) or vin for name in ("vin_lowest", "vin_highest"))
    if low < vout + dropout_v:
        raise impossible(
            msg(
                "{what} needs at least {least} at its input for {vout}, not {vin}.",
                what=what,
                least=with_unit(vout + dropout_v, "V", 3),
                vout=with_unit(vout, "V", 4),
                vin=with_unit(low, "V", 4),
            ),
            msg("Raise the input or lower the output voltage."),
        )
    values = {"vin_lowest": low, "vin_highest": high, "iout": request["iout"] or load_a}
    return kit.Said(values=values)


def output_goal() -> kit.GoalRow:
    """The output at the nominal input."""
    return kit.GoalRow(
        metric="vout", label=msg("Output voltage"), unit="V", quantity="vout",
        expression=lambda request: f"at(v(out),{spice(request['vin'])})",
    )  # fmt: skip


def titled(what: str) -> str:
    """The two voltages and the load behind the circuit's name."""
    return what + " {vin:g} V to {vout:g} V, {iout:A}"


def zener_model(vz: float, test_a: float) -> str:
    """The card `dzener` of a Zener voltage at a test current, 1.5 % of it across the series resistance: about
    what the impedances in data sheets give."""
    drop = 0.015 * vz
    series, junction, current = spice(drop / test_a), spice(vz - drop), spice(test_a)
    return f".model dzener D(IS=1f N=1.1 RS={series} BV={junction} IBV={current} CJO=100p)"


def line_goal(most: Callable[[kit.Request], float]) -> kit.GoalRow:
    """By how much the output follows the input over its range, or over 10 % of it; at most `most` (V)."""

    def expression(request: kit.Request) -> str:
        low, high = reach(request)
        return f"at(v(out),{spice(high)})-at(v(out),{spice(low)})"

    return kit.GoalRow(
        metric="line_regulation", label=msg("Line regulation"), unit="V", is_corrected=False,
        expression=expression, bounds=lambda request: kit.Bounds(maximum=most(request)),
    )  # fmt: skip


def sweep_of_input(request: kit.Request, _sized: kit.Sized, _goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    """The `.dc` card from 0 to the highest input."""
    high = reach(request)[1]
    return (f".dc Vin 0 {spice(high)} {spice(high / 200)}",)


def reach(request: kit.Request) -> tuple[float, float]:
    """The input's range, or 10 % above its only value (V)."""
    low, high = request["vin_lowest"], request["vin_highest"]
    return (low, high) if high > low else (low, 1.1 * low)
