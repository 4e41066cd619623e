"""In which runs a goal has to hold: its condition in words, read into values that a simulation can set.

A process corner (``SS``, ``slow corner``; "worst case" is all of them), a temperature (``at 85 degC``,
``-40 to 85 °C``: both ends), and quantities of the circuit by name (``Vdd = 4.5 V``, ``Rl = 1 kOhm``). A
circuit may lack a corner: then its devices are as they stand there (`as_simulated`). A frequency that the
goal's own expression names sets nothing.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from domain.circuit.numbers import parse_number
from domain.circuit.process_corners import corner_of, read_corners
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.late_patterns import late_pattern

Settings = tuple[tuple[str, str], ...]
"""Names and values as `SimulationRequest.assignments` takes them; () for the circuit as it is."""

AS_IT_IS: Settings = ()
CORNER = "corner"
"""The setting that names a process corner."""
_LONGEST = 200
_SCALES = {
    "": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "meg": 1e6,
    "毫": 1e-3, "微": 1e-6, "千": 1e3, "兆": 1e6,
}  # fmt: skip
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_PREFIX = r"(?:[Mm][Ee][Gg]|[pnumkKMG毫微千兆])?"
_CELSIUS = r"(?:°\s?C\b|℃|deg(?:rees?)?\.?\s?(?:C\b|celsius)|C\b|摄氏度|度)"
_RANGE = late_pattern(
    rf"({_NUMBER})\s*{_CELSIUS}?\s*(?:to|till|until|and|\.\.\.?|…|~|-|至|到|和|与|/)\s*({_NUMBER})\s*{_CELSIUS}",
    re.IGNORECASE,
)
_DEGREES = late_pattern(
    rf"(?:(?:\btemp(?:erature)?|\bt_?[aj]?|温度)\s*(?:[=:]|is|of|为|是)?\s*)?({_NUMBER})\s*{_CELSIUS}",
    re.IGNORECASE,
)
_NAMED_TEMPERATURE = late_pattern(
    rf"(?:\btemp(?:erature)?|\bt_?[aj]?|温度)\s*[=:]\s*({_NUMBER})", re.IGNORECASE
)
_FREQUENCY = late_pattern(
    rf"(?:\bf(?:req(?:uency)?)?\s*[=:]\s*)?({_NUMBER})\s*({_PREFIX})\s*(?:[Hh][Zz]|赫兹?)"
)
_QUANTITY = late_pattern(
    rf"\b([A-Za-z_][A-Za-z0-9_.]*)\s*[=:]\s*({_NUMBER})\s*({_PREFIX})\s*"
    r"(?:V|A|[Oo]hms?|Ω|F|H|s|W|volts?|伏|欧姆?|安)?(?![A-Za-z0-9.])"
)
_NOTHING = late_pattern(
    r"\b(?:at|in|with|for|over|under|from|when|is|of|an?|the|and|ambient|junction|operating|temperatures?|temp"
    r"|ta|tj|range|nominal|typical|room|conditions?)\b"
    r"|[在时下内且和从为是的]|环境|温度|结温|室温|常温|范围|条件|标称|典型|[\s.,;:()，；、。]",
    re.IGNORECASE,
)
_OF_A_VALUE = late_pattern(r"\b(?:supply|voltage|load|resistance)\b|电源|电压|负载", re.IGNORECASE)
"""What a named value is called beside its name."""


def runs_of(goal: DesignGoal) -> tuple[Settings, ...] | None:
    """The settings of each run in which the goal has to hold; None where no simulation can set them."""
    return _read(goal.condition[:_LONGEST], goal.expression)


@lru_cache(maxsize=256)
def _read(condition: str, expression: str) -> tuple[Settings, ...] | None:
    text = unicodedata.normalize("NFKC", condition.replace("℃", "°C")).translate(
        {0x2212: "-", 0x2013: "-", 0x2014: "-", 0xB5: "u", 0x3BC: "u"}
    )
    temperatures: list[list[str]] = []
    values: dict[str, str] = {}

    def take_range(found: re.Match[str]) -> str:
        temperatures.append([f"{float(found[1]):.12g}", f"{float(found[2]):.12g}"])
        return " "

    def take_degrees(found: re.Match[str]) -> str:
        temperatures.append([f"{float(found[1]):.12g}"])
        return " "

    def take_frequency(found: re.Match[str]) -> str:
        return " " if _is_in(_scaled(found[1], found[2]), expression) else found[0]

    def take_value(found: re.Match[str]) -> str:
        values[found[1]] = f"{_scaled(found[2], found[3]):.12g}"
        return " "

    text = _RANGE.sub(take_range, text)
    text = _DEGREES.sub(take_degrees, text)
    text = _NAMED_TEMPERATURE.sub(take_degrees, text)
    text = _FREQUENCY.sub(take_frequency, text)
    text = _QUANTITY.sub(take_value, text)
    corners, text = read_corners(text)
    if values:
        text = _OF_A_VALUE.sub(" ", text)
    if _NOTHING.sub("", text) or len(temperatures) > 1:
        return None
    named = tuple(values.items())
    ends = [[("temp", each)] for each in temperatures[0]] if temperatures else [[]]
    processes = [[(CORNER, each)] for each in corners] or [[]]
    return tuple((*process, *end, *named) for process in processes for end in ends)


def _scaled(number: str, prefix: str) -> float:
    return float(number) * _SCALES.get(prefix, _SCALES.get(prefix.lower(), 1.0))


def _is_in(value: float, expression: str) -> bool:
    """Whether an expression names a number: ``10k`` of ``at(db(v(out)), 10k)``."""
    for word in re.findall(r"(?<![\w.])\d[\w.]*(?:[eE][-+]\d+)?", expression):
        try:
            if abs(parse_number(word) - value) <= 1e-6 * abs(value):
                return True
        except ValueError:
            continue
    return False


def corner_in(settings: Settings) -> str:
    """``SS``; "" where the process is the circuit's own."""
    return dict(settings).get(CORNER, "")


def corners_named(goals: Iterable[DesignGoal]) -> tuple[str, ...]:
    """The process corners in which goals have to hold, each once."""
    wanted = itertools.chain.from_iterable(runs_of(goal) or () for goal in goals)
    return tuple(dict.fromkeys(corner for settings in wanted if (corner := corner_in(settings))))


def as_simulated(settings: Settings, lacking: Collection[str]) -> Settings:
    """The settings without a corner that the circuit lacks."""
    return tuple(each for each in settings if each[0] != CORNER or each[1] not in lacking)


def is_set_by(settings: Settings, values: Mapping[str, str]) -> bool:
    """Whether a run with these values had just the settings."""
    return {name.lower(): _figure(value) for name, value in settings} == {
        name.lower(): _figure(str(value)) for name, value in values.items()
    }


def _figure(value: str) -> float | str:
    try:
        return parse_number(value)
    except ValueError:
        return corner_of(value) or value


def settings_in_words(settings: Settings) -> str:
    """``corner=SS, temp=85, Vdd=4.5``."""
    return ", ".join(f"{name}={value}" for name, value in settings)


def judged_in_words(goal: DesignGoal, verdict: GoalVerdict | None) -> str:
    """What a model reads behind a condition: in which run it was judged, and what of it was not simulated."""
    if runs_of(goal) is None:
        return " (not simulated so)"
    if verdict is None:
        return ""
    if verdict.lacking:
        return f" (not simulated so: the circuit has no corner {verdict.lacking})"
    return f" (judged at {verdict.judged_at})" if verdict.judged_at else ""


def distinct_settings(goals: Iterable[DesignGoal], lacking: Collection[str] = ()) -> tuple[Settings, ...]:
    """All settings but the circuit's own in which goals have to be simulated, each once.

    `lacking`: corners that the circuit does not have.
    """
    wanted = itertools.chain.from_iterable(runs_of(goal) or () for goal in goals)
    simulated = dict.fromkeys(as_simulated(settings, lacking) for settings in wanted)
    return tuple(settings for settings in simulated if settings != AS_IT_IS)
