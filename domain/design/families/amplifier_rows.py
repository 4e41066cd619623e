"""What op-amp circuits share beside the op-amp: the gain that is asked for, and the gains of two inputs."""

from __future__ import annotations

from domain.design import kit
from domain.design.kit import around, spice
from shared.message import Message, msg

GAIN_LABEL = msg("gain")
GAIN_WORDS = (
    r"(?<![a-z])(?:gain(?: magnitude)?|amplif\w+(?: \w+){0,4}? by(?= )|multipl\w+(?: \w+){0,3}? by(?= )|"
    r"times(?= \d)|"
    r"\|?a_?[uv](?![a-z])\|?|g(?=\s?[=:]))|增益|乘以?|放大倍数|放大"
)
NEITHER_MORE = (
    r"filter|滤波|oscillat|振荡|comparator|比较器|schmitt|施密特|two[\s-]stage|两级|cmos|mosfet|transistor|"
    r"晶体管|三极管"
)
"""Words of another circuit, whatever the op-amp circuit."""
_USE = r"(?<![a-z])(?:head-?phone|mic(?:rophone)?|guitar|bass|instrument|line|audio|sensor|pick-?up|piezo)s?"
_NO_POWER = r"(?!.*(?:\d\s?m?w(?:atts?)?(?![a-z])|(?<![a-z])(?:into|driv\w+)(?![a-z])))"
NAMED_FOR_ITS_USE = (
    rf"{_USE}(?: pick-?up)? amp(?:lifier)?s?(?![a-z]){_NO_POWER}|{_USE}(?: pick-?up)? buffers?(?![a-z])|"
    r"(?<![a-z])(?:guitar|bass|clean|volume|signal) boost(?:er)?(?: pedal)?(?![a-z])|"
    rf"(?<![a-z])amp(?:lifier)? for (?:(?:an?|my|the) )?(?:[a-z]+ )?{_USE}(?![a-z]){_NO_POWER}|"
    rf"boost(?:er)? for an? (?:guitar|bass)|(?<![a-z])buffer(?: amp)? for (?:an?|my|the) (?:[a-z]+ )?{_USE}"
)
"""A voltage amplifier or follower by what it is for: "mic amp", and none that gives power into a load."""


def gain_row(
    within: tuple[float, float], example: float, *, default: float | None = None, is_told: bool = True
) -> kit.Quantity:
    """The gain as a factor or in dB; asked back when there is no default."""
    return kit.Quantity(
        name="gain", label=GAIN_LABEL, dimensions=("x", "dB"), words=GAIN_WORDS, takes_rest=True,
        has_sign=False, within=within, example=example, required=default is None, default=default,
        is_told=is_told, ratio=("V", "V"),
    )  # fmt: skip


def low_hz(request: kit.Request) -> str:
    """Three decades inside the bandwidth: a phase there turns no gain into another."""
    return spice(request["bandwidth_hz"] / 1000)


def differential_goals() -> tuple[kit.GoalRow, ...]:
    """The gains from each input: equal and of opposite sign. The inputs are driven in quadrature
    (`write_inputs`), so that the real part comes from one and the imaginary part from the other."""

    def row(metric: str, label: Message, part: str, node: str, sign: int) -> kit.GoalRow:
        def bounds(request: kit.Request) -> kit.Bounds:
            return around(sign * request["gain"], request["tolerance"])

        def expression(request: kit.Request) -> str:
            return f"at({part}(v(out)),{low_hz(request)})/at({part}(v({node})),{low_hz(request)})"

        return kit.GoalRow(
            metric=metric, label=label, unit="1", quantity="gain", expression=expression, bounds=bounds,
        )  # fmt: skip

    return (
        row("gain", msg("Gain"), "re", "inp", 1),
        row("inverting_gain", msg("Gain from the inverting input"), "im", "inn", -1),
    )


def write_inputs(deck: kit.Deck, amplitude: float, hz: str, ground: str = "0") -> None:
    """Two sources in quadrature about the signal ground, nodes `inp` and `inn`."""
    sine = f"SIN(0 {spice(amplitude)} {hz}"
    deck.part(f"Vin inp {ground} DC 0 AC 1 {sine})", msg("non-inverting input: 1 V for .ac"))
    deck.part(
        f"Vinn inn {ground} DC 0 AC 1 90 {sine} 0 0 90)", msg("inverting input: 1 V for .ac, 90° ahead")
    )


def two_input_remarks(equation: Message) -> tuple[Message, Message]:
    """The equation, and how the sources of a difference amplifier tell its inputs apart."""
    told = msg(
        "The two inputs are driven in quadrature: the real part of the output comes from one, the "
        "imaginary part from the other."
    )
    return equation, told
