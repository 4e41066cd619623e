"""What amplifiers with a choice of AC or DC coupling share: the choice, the lower corner, the output swing.

On a single supply the input comes through a capacitor, so that a source about ground drives a circuit that
works about the mid-rail; DC coupling is had by asking for it. C in front of R gives a lower corner
1 / (2 pi R C).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from domain.design import kit, opamp, quantity_words, supplies
from domain.design.kit import around, at_least, impossible, spice, unreachable, with_unit
from shared.message import Message, msg

BIAS_OHM = 100e3
"""From the input of an op-amp to the mid-rail."""
_MOST_FARAD = 4.7e-3
_BELOW = 1.2
"""How far below the lower corner each capacitor is aimed: what follows it is met with parts of E6."""
_DECADES_BELOW = 4000.0
_USUAL_LOW_HZ = 10.0
_LEAST_BAND = 100.0
_LEVEL_SHARE = 0.05
_SHORT_BOTH_WAYS = (1.0, 1.25, 1.6, 2.0, 2.5, 4.0, 5.0, 6.25, 8.0, 10.0)
_SETTLES_IN = 20
"""Periods at mid band: by then the level that a sine begun at zero puts on the capacitors is gone."""
_PERIODS = 2
"""Of it that are kept."""
_FAR_BELOW = 0.1
"""Of the lower corner: where the capacitor at the input gives its own, beside another that sets it."""

_AC, _DC = "ac", "dc"
_FROM_ZERO = r"(?<![\d.])0\s?(?:[munμ]?v|伏)?\s?(?:-|~|to|到|至)\s?[\d.]+\s?[munμ]?(?:v(?![a-z])|伏)"
_BY_CAPACITOR = r"(?<![a-z])ac[\s-]?coupl\w*|交流耦合|阻容耦合|电容耦合|隔直"
_OUTPUT = r"(?<![a-z])(?:output|load|(?:loud)?speaker|headphone)s?(?![a-z])|输出|负载|喇叭|扬声器|耳机"
_WORDS_BETWEEN = r"(?:(?!(?:and|with)\b)[^,;。\d]){0,24}?"
_AT_THE_OUTPUT = (
    rf"(?:{_OUTPUT}){_WORDS_BETWEEN}(?:{_BY_CAPACITOR}|不能有直流|不得有直流|不允许有?直流)"
    rf"|(?:{_BY_CAPACITOR}){_WORDS_BETWEEN}(?:{_OUTPUT})"
)
"""The choice is how the input hangs on its source; the output has no capacitor either way."""
COUPLING = kit.Choice(
    name="coupling",
    label=msg("coupling"),
    options=(
        kit.Option(
            key=_DC, label=msg("DC coupling"),
            words=(
                r"(?<![a-z])dc[\s-]?(?:coupl\w*|signal|amplif\w*|precision)|直流(?:耦合|信号|放大)|直接耦合|"
                rf"sensor|thermo\s?couple|load cell|传感器|热电偶|{_FROM_ZERO}"
            ),
        ),
        kit.Option(
            key=_AC, label=msg("AC coupling through a capacitor (“DC-coupled” leaves it out)"),
            words=_BY_CAPACITOR, elsewhere=_AT_THE_OUTPUT,
        ),
    ),
    default=lambda request: _AC if _is_coupled(request) else None,
)  # fmt: skip
LOW = kit.Quantity(
    name="low_hz", label=msg("lower corner frequency"), dimensions=("Hz",), limit="at_most", is_told=False,
    words=rf"low(?:er)?(?: corner| cut-?off)(?: frequency)?|下限(?:截止)?(?:频率)?|(?<![a-z])f_?l(?![a-z])|"
          r"(?<![a-z])(?:rolls?|rolling)[\s-]?off below|(?<![a-z])starts? (?:at|from)|"
          rf"{quantity_words.BAND_FROM}",
    within=(0.01, 100e3), example=20,
    default=lambda request: (
        min(_USUAL_LOW_HZ, request["bandwidth_hz"] / _DECADES_BELOW) if request["coupling"] == _AC else None
    ),
)  # fmt: skip
SWING = kit.Quantity(
    name="output_vpp", label=msg("output swing (peak to peak)"), dimensions=("V",),
    has_sign=False, is_span=True,
    words=r"(?:output )?swing|peak[\s-]to[\s-]peak|(?:输出)?摆幅|峰峰值?",
    before=r"(?<![a-z])output(?: (?:of|level|voltage|signal|up to))*|输出(?:电压|信号|幅度)?(?:为|达到?|约)?",
    after=r"\s?(?:p-?p(?![a-z])|peak[\s-]to[\s-]peak|峰峰|output(?! (?:impedance|resist|current)))",
    within=(1e-3, 80), example=2,
)  # fmt: skip


def _is_coupled(request: kit.Request) -> bool:
    """A follower on a single supply passes a level, so it hangs on its source."""
    if request["low_hz"] is not None:
        return True
    return supplies.is_single(request) and request.get("form") != "follower"


def in_order(request: kit.Request) -> dict[str, float]:
    """The two ends of "bandwidth 20 Hz to 20 kHz", whichever stands first."""
    low, high = request["low_hz"], request["bandwidth_hz"]
    return {"low_hz": high, "bandwidth_hz": low} if low and high and low > high else {}


def is_ac(request: kit.Request) -> bool:
    return bool(request.get("coupling") == _AC)


def mid_hz(request: kit.Request) -> float:
    """Where the gain is measured: two decades inside the bandwidth, or between the two corners."""
    middle: float = request["bandwidth_hz"] / 100
    if is_ac(request) and request["low_hz"] * 20 > middle:
        middle = _in_short(math.sqrt(request["low_hz"] * request["bandwidth_hz"]))
    return middle


def _in_short(hertz: float) -> float:
    """The next frequency that is short to write, as its period is: 1.22 kHz gives 1.25 kHz, 0.8 ms."""
    decade = 10.0 ** math.floor(math.log10(hertz))
    return min((decade * each for each in _SHORT_BOTH_WAYS), key=lambda each: abs(math.log(each / hertz)))


def capacitor(request: kit.Request, ohm: float, share: float = 1.0) -> float:
    """Of E6 in front of a resistance, its corner a share of the lower corner. Raises CircuitError."""
    low, high = request["low_hz"], request["bandwidth_hz"]
    if low * _LEAST_BAND > high:
        raise unreachable(
            msg("lower corner frequency"), with_unit(low, "Hz"), with_unit(high / _LEAST_BAND, "Hz"),
            msg("Lower it or raise the bandwidth: there are two decades between them at least."),
        )  # fmt: skip
    farad = _BELOW / (2 * math.pi * ohm * low * share)
    if farad > _MOST_FARAD:
        raise unreachable(
            msg("lower corner frequency"), with_unit(low, "Hz"), with_unit(low * farad / _MOST_FARAD, "Hz"),
            msg("Raise it or the input resistance, or ask for a DC-coupled amplifier: the coupling capacitor "
                "would be too large."),
        )  # fmt: skip
    return at_least(farad, "E6")


def refuse_inputs_at_ground(request: kit.Request) -> None:
    """Raises CircuitError for an op-amp that does not see a signal from ground on."""
    part = supplies.limits(request)
    if not is_about_ground(request) or request["form"] == "follower" or part.input_low_v == 0.0:
        return
    raise impossible(
        msg(
            "The inputs of the {part} must stay {distance} above the lower supply, so it cannot amplify a "
            "signal from ground on a single supply.",
            part=request["opamp"], distance=with_unit(part.input_low_v, "V"),
        ),
        msg("Ask for AC coupling or two supplies, or name an op-amp whose inputs reach ground: LM358."),
    )  # fmt: skip


def capacitors(request: kit.Request, r1: float | None) -> dict[str, float]:
    """Of an AC-coupled one: in front of the bias resistor and, where there is R1, below it, so that the gain
    at DC is 1. The latter sets the lower corner, the former stands far below it."""
    if not is_ac(request):
        return {}
    if r1 is None:
        return {"Rb": BIAS_OHM, "Cin": capacitor(request, BIAS_OHM)}
    return {
        "Rb": BIAS_OHM,
        "Cin": capacitor(request, BIAS_OHM, _FAR_BELOW),
        "C1": capacitor(request, r1),
    }


def amplitude_v(request: kit.Request) -> float:
    """Of the sine at mid band."""
    if request.get("output_vpp"):
        return float(request["output_vpp"]) / 2 / float(request["gain"])
    return supplies.amplitude_v(request, request["gain"])


def refuse_beyond_rails(request: kit.Request, rails: supplies.Rails) -> None:
    """Raises CircuitError for an output swing that the supply does not leave."""
    asked, fits = request.get("output_vpp"), 2 * rails.room_v
    if asked and asked > fits * (1 + 1e-9):
        raise impossible(
            msg(
                "An output of {asked} peak to peak does not fit: the output may swing from {lowest} to "
                "{highest}, so {fits} about {middle}.",
                asked=with_unit(asked, "V"), lowest=with_unit(rails.lowest_v, "V", 3),
                highest=with_unit(rails.highest_v, "V", 3), fits=with_unit(fits, "V", 3),
                middle=with_unit(rails.middle_v, "V"),
            ),
            msg("Raise the supply, ask for less output, or name an op-amp whose output comes nearer to it."),
        )  # fmt: skip


def notes(request: kit.Request, parts: dict[str, float]) -> tuple[Message, ...]:
    """What is told of the capacitors."""
    if not is_ac(request):
        return ()
    return (
        msg(
            "The input is AC-coupled by {farad}: −3 dB at {low} at most.",
            farad=with_unit(parts["Cin"], "F"), low=with_unit(request["low_hz"], "Hz"),
        ),
    )  # fmt: skip


def analyses(request: kit.Request, sized: kit.Sized, _goals: Sequence[kit.DesignGoal]) -> tuple[str, ...]:
    """The sweep over both corners; where a level or a swing is judged, some periods at mid band."""
    gbw = sized.figures["gbw_hz"]
    if not is_ac(request):
        cards = [opamp.sweep(request, gbw)]
    else:
        start = min(request["low_hz"] / 20, request["bandwidth_hz"] / 1000)
        cards = [f".ac dec 100 {spice(start)} {spice(3 * gbw)}"]
    if _has_level(request) or request.get("output_vpp"):
        period = 1 / mid_hz(request)
        start = (_SETTLES_IN if is_ac(request) else _PERIODS) * period
        cards.append(
            f".tran {spice(period / 200)} {spice(start + _PERIODS * period)} {spice(start)} "
            f"{spice(period / 200)}"
        )
    return tuple(cards)


def _has_level(request: kit.Request) -> bool:
    """Not where the output follows the level of the source."""
    return supplies.is_single(request) and not is_about_ground(request)


def is_about_ground(request: kit.Request) -> bool:
    """A DC-coupled non-inverting amplifier on a single supply: nothing in it needs a mid-rail."""
    return supplies.is_single(request) and not is_ac(request) and "form" in request


LOW_GOAL = kit.GoalRow(
    metric="lower_corner", label=msg("Lower corner, −3 dB"), unit="Hz", quantity="low_hz",
    expression="lowcut(v(out))", is_corrected=False, when=is_ac,
)  # fmt: skip
LEVEL_GOAL = kit.GoalRow(
    metric="output_level", label=msg("Output level"), unit="V", expression="avg(v(out))", is_corrected=False,
    bounds=lambda request: around(request["supply_v"] / 2, _LEVEL_SHARE), when=_has_level,
)  # fmt: skip
SWING_GOAL = kit.GoalRow(
    metric="output_swing", label=msg("Output swing"), unit="V", quantity="output_vpp", is_corrected=False,
    expression="pp(v(out))",
)  # fmt: skip
