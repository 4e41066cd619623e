"""The built-in model improves a circuit that is there: goals that a sentence asks of it, values to meet them.

Its structure stays: parts get other values, a converter's drive another duty cycle, a filter's resistors one
factor. Each round is one change that is made by simulations; the program runs and judges it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from application.design.plain_state import intent_from_plain
from domain.circuit.line_changes import LineChange, value_changes
from domain.circuit.netlist import Netlist
from domain.circuit.numbers import format_number
from domain.circuit.preferred_values import nearest
from domain.design.goal_figures import BadFigureError, read_figure
from domain.design.locked_elements import locked_in, speaks_of_locks
from domain.design.sentence import Bound, Mention, Sentence, read_sentence
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from infrastructure.llm_adapters.builtin.aims import wished
from infrastructure.llm_adapters.builtin.circuit import Circuit, circuit_of, read_outline
from infrastructure.llm_adapters.builtin.design import judged
from infrastructure.llm_adapters.builtin.figures import FIGURES, Figure, Kind
from infrastructure.llm_adapters.builtin.looking import failure, goal_entry
from infrastructure.llm_adapters.builtin.measuring import Wanted, analysis_for, lacking, wanted_of
from infrastructure.llm_adapters.builtin.plans import Call, Outcome, Plan, Speech, failed, told
from infrastructure.llm_adapters.builtin.reading import Ask, figures_in, kept_in, only_in
from infrastructure.llm_adapters.builtin.tuning import (
    bounds_of,
    candidates,
    on_time_of,
    own_analysis,
    parts_of_filter,
    scaled_together,
    search_of,
    values_found,
)
from shared.errors import CircuitAIError
from shared.message import Message, msg

_ENDS = re.compile(
    r"(?P<end>\s*(?:(?<!\d)[,，]|[,，](?!\d)|[;；。、\n!！]|\.(?=\s|$))\s*(?:(?:and|but|with|also)\s+)?"
    r"|:\s+|\s+(?:and|but|while|with(?=\s+(?:an?|the|no|at)\s))\s+|并且|而且|以及|同时|且|(?<=[\u3400-\u9fffA-Za-z0-9])和(?=[\u3400-\u9fff]))",
    re.IGNORECASE,
)
_MOST_MISSED = 3
"""Goals whose parts are looked for in one round."""
_MOST_TURNED = 8
_NO_FIGURE = 1e3
"""How much is missing of a goal that could not be measured, as a share of its limit."""
_CLOSER = 0.95
_BEST_LINE = re.compile(r"^(?:met|MISSED) \((?:must|wish)\): (?P<name>.+?) = (?P<value>.+?) \(goal ", re.M)
_COUNT = re.compile(r": (?P<count>\d+) simulations?,")
_OF_SCALE = frozenset({"gain", "dc_gain", "quality", "peaking", "phase_margin"})
"""What stays when all resistors, or all capacitors, of a filter get one factor."""
_IN_FILTER = frozenset({"cutoff", "bandwidth", "lower_cutoff", "upper_cutoff"})


# --- goals of a sentence -----------------------------------------------------------------------------


def goals_told(brief: Mapping[str, Any], text: str, speech: Speech) -> str:
    """The goals that `text` asks of the circuit of `brief`, as the JSON object of EXTRACT_DESIGN_GOALS.

    Without any there is a reply where figures are named whose goal cannot be had, and nothing else.
    """
    netlist = Netlist.parse(brief["netlist"].encode())
    circuit = read_outline(brief["circuit"], brief["outline"].split("\n"), netlist)
    goals: list[dict[str, Any]] = []
    problems: list[str] = []
    left: list[str] = []
    for piece in _pieces(text, circuit.file):
        figures, mentions = figures_in(piece)[0], read_sentence(piece).mentions
        if _LEFT_ALONE.search(piece) or (speaks_of_locks([piece]) and not (figures and mentions)):
            continue
        plain, tolerance = _without_tolerance(piece)
        clauses = (_ARTICLE.sub(" ", each) for each in _named(plain, circuit))
        demands = [
            ask
            for each in clauses
            if (ask := wished(each, circuit.file)) is not None and FIGURES[ask.figures[0]].of != "*"
        ]
        for ask in demands:
            wanted = wanted_of(circuit, ask, ask.figures[0])
            if isinstance(wanted, Message):
                problems.append(speech.say(wanted))
            else:
                meant = _as_meant(ask, piece)
                entry = goal_entry(circuit, _of_one_form(circuit, wanted), meant)
                metric = _free_metric(wanted.key, [each["metric"] for each in goals])
                goals.append({**entry, **_around(meant, tolerance), "metric": metric, "words": piece})
        if not demands and (figures or mentions):
            left.append(piece)
    if left:
        not_read = msg(
            "Not read as goals: {names}. A goal is a figure with its value, for example “{example}”.",
            names="; ".join(left),
            example=speech.say(msg("gain above 30 dB")),
        )
        problems.append(speech.say(not_read))
    return json.dumps({"goals": goals, "reply": "\n".join(problems)}, ensure_ascii=False)


def _free_metric(key: str, taken: Sequence[str]) -> str:
    """The name of a goal: a figure at two places makes two."""
    names = (key if number == 1 else f"{key}_{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


_ARTICLE = re.compile(r"\b(?:an?|the)\b", re.IGNORECASE)
"""It is no number here: "a voltage gain of 40 dB"."""
_LEFT_ALONE = re.compile(
    r"\b(?:right now|currently|at present|now (?:i|it)|i (?:get|measure|see))\b|现在|目前|测得|测出"
    r"|\b(?:stays?|remains?)\b(?! (?:below|above|under|over|within|between))|\bunchanged\b|保持.*不变|不变$",
    re.IGNORECASE,
)
"""Words of what is, or stays, as it is."""
_TOLERANCE = re.compile(
    r"(?:±|\+\s?/?\s?-|\bplus or minus\b|\bgive or take\b|\bwithin\b|正负|上下(?:浮动|差)?|差个?|允许"
    r"|精度|(?:误差|偏差)\S{0,6}?)\s*(?:±\s*)?$",
    re.IGNORECASE,
)
_BEGINS_TOLERANCE = re.compile(
    r"\s*(?:±|\+\s?/?\s?-|plus or minus|give or take|within|正负|误差|偏差|上下|差个?\s*\d|允许\s*±|精度)",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\battenuat\w*|\bsuppress\w*|\breject\w*|\bknock\w*|\bdown\b(?!\s+to\b)|\blos(?:s|ses|ing|e)\b"
    r"|衰减|抑制|压(?!到)低?|损耗|掉",
    re.IGNORECASE,
)
_THREE_DB = re.compile(r"(?<![\d.])[-−]?\s?3\s?dB(?![A-Za-z0-9.])", re.IGNORECASE)
_EDGES = re.compile(r"\b[12]0\s?%?\s?(?:-|to|–|到)\s?[89]0\s?%?")
"""Between which parts of a step its time is taken: "10-90 rise time"."""
_NO_WORSE = re.compile(
    r"\bno worse than\b|\bstill (?:need|want)\b|不[差劣]于|[还仍](?:要|得|需)有?", re.IGNORECASE
)
_LAGS = re.compile(r"\blag\w*\b|滞后", re.IGNORECASE)
_PASS_BAND = re.compile(r"pass-?band|通带", re.IGNORECASE)
_DOWN_TO = re.compile(r"\bdown to\b|低到|下到", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:up (?:to|past|beyond)|(?:as )?wide as)\b|高到|宽到", re.IGNORECASE)
_SETTLES = re.compile(r"\bsettl\w+|稳定|稳下来", re.IGNORECASE)
_OUT = re.compile(r"\b(?:out|deliver|gives?|want|need|make|set)\b|[要出为]", re.IGNORECASE)


def _pieces(text: str, file: str) -> list[str]:
    """The clauses of a sentence, each with one figure; what has none belongs to the one before."""
    text = text.replace(file, " ") if file else text
    text = _IN_PARENTHESES.sub(_unwrapped, _EDGES.sub(" ", text))
    found = _ENDS.split(text)
    clauses, ends = found[::2], ["", *found[1::2]]
    pieces: list[str] = []
    is_open = False
    for end, clause in zip(ends, clauses, strict=True):
        has_figure = bool(figures_in(clause)[0])
        has_number = bool(read_sentence(clause).mentions)
        if pieces and not has_figure and (is_open or _goes_on(pieces[-1], clause)):
            pieces[-1] += end + clause
            is_open = is_open and not has_number
        elif clause.strip(" \t:：-"):
            pieces.append(clause.strip(" \t:：-"))
            is_open = has_figure and not has_number
    return pieces


_IN_PARENTHESES = re.compile(r"[(（]([^()（）]*)[)）]")


def _unwrapped(found: re.Match[str]) -> str:
    """A remark in parentheses as a clause; a node in them stays."""
    return found[0] if re.fullmatch(r"[A-Za-z0-9_.,#:+\- ]*", found[1]) else f", {found[1]} "


def _goes_on(before: str, clause: str) -> bool:
    """Whether a clause without a figure's name belongs to the demand before it: "between 39 | 41 dB"."""
    if _BEGINS_TOLERANCE.match(clause):
        return True
    if re.search(r"\b(?:between|from)\b|介于|在\s*[-+.\d]", before, re.IGNORECASE):
        return re.match(r"\s*[-+.\d]", clause) is not None
    return re.match(r"\s*(?:at|@|for|在)\s*[-+.\d]", clause, re.IGNORECASE) is not None


def _without_tolerance(piece: str) -> tuple[str, Mention | None]:
    """A clause without how far its figure may be off, and that."""
    sentence = read_sentence(piece)
    for mention in sentence.mentions[1:]:
        before = sentence.text[: mention.start]
        found = _TOLERANCE.search(before)
        if mention.upper is None and (found or mention.is_tolerance):
            start = found.start() if found else mention.start
            return f"{sentence.text[:start]} {sentence.text[mention.end :]}", mention
    return piece, None


def _around(ask: Ask, tolerance: Mention | None) -> dict[str, Any]:
    """The bounds of a value with a tolerance of its own."""
    if tolerance is None or ask.value is None or ask.bound is not None or ask.upper is not None:
        return {}
    room = tolerance.value * (abs(ask.value) if tolerance.dimension == "%" else 1.0)
    return {"minimum": ask.value - room, "maximum": ask.value + room, "target": ask.value}


def _named(piece: str, circuit: Circuit) -> list[str]:
    """A clause with the name of its figure, where its unit or verb says which: "26 dB", "down to 20 Hz"."""
    sentence = read_sentence(piece)
    if _PASS_BAND.search(piece) and (band := _band_in(sentence)):
        return [f"lower cutoff below {band[0]:g} Hz", f"upper cutoff above {band[1]:g} Hz"]
    if figures_in(piece)[0]:
        return [piece]
    said = {each.dimension: each.text for each in reversed(sentence.mentions)}
    hertz = said.get("Hz", "")
    is_loss = _LOSS.search(piece) is not None
    at_three_db = _THREE_DB.sub(" ", piece) if _THREE_DB.search(piece) else ""
    has_place = any(each.dimension == "Hz" or "Hz" in each.may_be for each in sentence.mentions)
    ways = (
        (at_three_db and has_place, f"cutoff {_LOSS.sub(' ', at_three_db).replace('处', ' ')}"),
        (hertz and _DOWN_TO.search(piece), f"lower cutoff below {hertz}"),
        (hertz and _UP_TO.search(piece), f"bandwidth above {hertz}"),
        ("s" in said and _SETTLES.search(piece), f"settling time {piece}"),
        (hertz and is_loss, f"gain {_LOSS.sub(' ', piece)} at {hertz}"),
        ("dB" in said, f"gain {piece}"),
        ("x" in said and "放大" in piece, f"增益{piece.replace('放大', '')}"),
        ("V" in said and circuit.drive_pulse and _OUT.search(piece), f"output voltage {said.get('V')}"),
        (hertz and (circuit.drive_pulse or not _is_wish(piece)), ""),  # "50 kHz hash on my sensor line"
    )
    return [next((named for is_meant, named in ways if is_meant), piece)]


def _band_in(sentence: Sentence) -> tuple[float, float] | None:
    """From where to where a sentence says, in Hz."""
    hertz = [each for each in sentence.mentions if each.dimension == "Hz"]
    ends = [end for each in hertz for end in (each.value, each.upper) if end is not None]
    return (min(ends), max(ends)) if len(ends) == 2 else None


_WISH = re.compile(r"\b(?:make|set|want|need|to|should|must|shall|move)\b|[改调要移设]", re.IGNORECASE)
_FEW_WORDS = 4


def _is_wish(piece: str) -> bool:
    """Whether a frequency by itself is what is wanted, and not one that is spoken of."""
    if re.search(r"(?:是|\b(?:is|are)\b)\s*[\d.]", piece, re.IGNORECASE):
        return False
    return (
        _WISH.search(piece) is not None
        or len(re.findall(r"[A-Za-z]+|[\u3400-\u9fff]{2}", piece)) <= _FEW_WORDS
    )


_OTHER: Mapping[Bound | None, Bound | None] = {"at_least": "at_most", "at_most": "at_least", None: None}


def _as_meant(ask: Ask, piece: str) -> Ask:
    """An attenuation as the gain it means, a lag as the phase, a gain as a factor without its sign."""
    if ask.value is None:
        return ask
    key = ask.figures[0]
    if ask.bound is None and ask.upper is None and _NO_WORSE.search(piece):
        ask = replace(ask, bound="at_most" if FIGURES[key].is_better_low else "at_least")
    if ask.unit == "x" and key == "gain":
        return replace(ask, value=abs(ask.value or 0.0))
    turns = _LOSS if key == "gain" else _LAGS if key == "phase" else None
    if turns is None or not turns.search(piece) or (ask.value or 0.0) <= 0:
        return ask
    if ask.upper is not None:
        return replace(ask, value=-ask.upper, upper=-(ask.value or 0.0))
    return replace(ask, value=-(ask.value or 0.0), bound=_OTHER[ask.bound])


def _of_one_form(circuit: Circuit, wanted: Wanted) -> Wanted:
    """A goal has one expression: a cut-off is the upper one, of what lets only high frequencies through the
    lower one."""
    is_lower = len(wanted.expressions) > 1 and not (circuit.is_low_pass or circuit.is_active)
    return replace(wanted, expressions=wanted.expressions[-1:] if is_lower else wanted.expressions[:1])


# --- a round -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """A circuit and where it stands."""

    circuit: Circuit
    verdicts: tuple[GoalVerdict, ...]
    ask: Ask
    """What the user wants to stay as it is, and what alone may change."""

    @property
    def missed(self) -> list[GoalVerdict]:
        """Those furthest off first."""
        return sorted((each for each in self.verdicts if not each.met), key=lack_of, reverse=True)

    @property
    def lack(self) -> tuple[int, float]:
        """How many goals are missed, and by how much."""
        return len(self.missed), sum(map(lack_of, self.missed))


def improve(brief: Mapping[str, Any], speech: Speech) -> Plan:
    """A step of a design that began from a circuit.

    `brief` is what `application.workflow.model_steps` tells of it.
    """
    file = brief["circuit"]
    if brief["task"] == "FIX_ERROR":
        why = yield from failure(file, speech)
        only_values = msg(
            "I change values and no connections, so I do not fix this. Use the editor's quick fixes, or "
            "choose a language model."
        )
        return f"{why}\n{speech.say(only_values)}"
    circuit = yield from circuit_of(file, speech)
    if isinstance(circuit, str):
        return circuit
    goals = intent_from_plain(brief["intent"]).goals
    now = _Round(
        circuit=circuit,
        verdicts=tuple(judged(goal, brief["verdicts"]) for goal in goals),
        ask=_wishes(brief["said"], file, circuit.netlist),
    )
    return (yield from _next_change(now, speech, is_new_goal=brief["goals_changed"]))


def _next_change(  # noqa: PLR0911 - every return is an answer
    now: _Round, speech: Speech, *, is_new_goal: bool
) -> Plan:
    """The one change of a round; `is_new_goal`: a goal that has no figure may not have been judged yet."""
    unmeasured = [each for each in now.missed if math.isnan(each.measured.value)]
    if not now.missed:
        return speech.say(msg("All goals are met; nothing was changed."))
    if cards := _lacking_cards(now):
        return (yield from _with_cards(now, cards, speech))
    if is_new_goal and unmeasured:
        return speech.say(msg("The circuit stays as it is, and is judged again."))
    if len(unmeasured) == len(now.missed):
        return "\n".join(speech.say(_not_measured(now.circuit, each.goal)) for each in unmeasured)
    if (change := _by_drive(now)) is not None:
        why = msg("The output follows the duty cycle.")
        return (yield from _written([change], speech, now.circuit.file, [why]))
    if _is_of_scale(now) and (parts := (yield from _filter_parts(now, speech))):
        return (yield from _scaled(now, parts, speech))
    return (yield from _searched(now, speech))


def _wishes(said: Sequence[str], file: str, netlist: Netlist) -> Ask:
    """What of all that was said concerns which parts may change."""
    kept = [name for text in said for name in kept_in(text)[1] if not name.startswith("figure:")]
    only = [letter for text in said for letter in only_in(text)[1]]
    locked = locked_in(said, file, netlist.to_bytes())
    return Ask(intent="tune", kept=tuple(dict.fromkeys([*kept, *locked])), only=tuple(dict.fromkeys(only)))


def lack_of(verdict: GoalVerdict) -> float:
    """By how much a goal is missed: a share of its limit, of a figure in dB or degrees a share of 10."""
    if verdict.met:
        return 0.0
    value, goal = verdict.measured.value, verdict.goal
    if math.isnan(value):
        return _NO_FIGURE
    limits = [each for each in (goal.minimum, goal.maximum) if each is not None]
    beyond = min((abs(value - limit) for limit in limits), default=0.0)
    scale = 10.0 if goal.unit in ("dB", "deg") else max(map(abs, limits), default=1.0) or 1.0
    return beyond / scale


def _figure_of(goal: DesignGoal) -> tuple[str, Figure | None]:
    """The figure a goal is of, by the name it was given when it was read; ("", None) for any other."""
    key = re.sub(r"_\d+$", "", goal.metric)
    return (key, FIGURES[key]) if key in FIGURES else ("", None)


def _wanted(circuit: Circuit, goal: DesignGoal) -> Wanted:
    key, figure = _figure_of(goal)
    kind: Kind | None = figure.kind if figure is not None else _kind_in(goal.expression)
    if kind == "level":
        kind = "tran" if circuit.has("tran") and not circuit.has("op") else None
    return Wanted(
        name=figure.name if figure is not None else msg("{text}", text=goal.metric),
        expressions=(goal.expression,),
        unit=goal.unit,
        kind=kind,
        key=goal.metric,
        sensed=goal.expression.replace("db(", "mag("),
        is_percent=key != "" and FIGURES[key].unit == "1",
    )


_KINDS: Sequence[tuple[Kind, str]] = (
    ("noise", r"\b(?:noise_total|onoise|inoise)\b"),
    (
        "tran",
        r"\b(?:ripple|rise_time|fall_time|settling_time|overshoot|slew_rate|frequency|thd|period|duty\w*)\(",
    ),
    (
        "ac",
        r"\b(?:gain|bandwidth|ugf|phase_margin|gain_margin|highcut|lowcut|dcgain|ph|db|mag|group_delay|q)\(",
    ),
)


def _kind_in(expression: str) -> Kind:
    """The analysis of a goal that is written as an expression."""
    found = (kind for kind, words in _KINDS if re.search(words, expression, re.IGNORECASE))
    return next(found, "level")


def _lacking_cards(now: _Round) -> list[str]:
    """The analyses that a goal is measured in and the circuit has not."""
    cards = []
    for each in now.missed:
        wanted = _wanted(now.circuit, each.goal)
        if (
            math.isnan(each.measured.value)
            and wanted.kind in ("ac", "noise")
            and not lacking(now.circuit, wanted.kind)
        ):
            card = analysis_for(now.circuit, wanted.kind)
            cards += [] if card is None else [card]
    return list(dict.fromkeys(cards))


def _with_cards(now: _Round, cards: Sequence[str], speech: Speech) -> Plan:
    text = _text_of(now.circuit)
    lines = text.split("\n")
    ends = [at for at, line in enumerate(lines) if line.strip().lower() == ".end"]
    place = ends[-1] if ends else max(at for at, line in enumerate(lines) if line.strip()) + 1
    added = [f".{card}" for card in cards]
    low, high = (place, place + 1) if ends else (place - 1, place)
    while text.count("\n".join(lines[low:high])) > 1 and low > 0:  # ".end" stands in ".ends", too
        low -= 1
    before = "\n".join(lines[low:high])
    after = "\n".join([*lines[low:place], *added, *lines[place:high]])
    outcome = yield Call(
        tool="patch_file", arguments={"path": now.circuit.file, "search": before, "replace": after}
    )
    if outcome.error_type:
        return failed(outcome, speech)
    return speech.say(
        msg(
            "{file} has no analysis in which {goals} can be measured; added: {cards}.",
            file=now.circuit.file,
            goals=speech.listed(_wanted(now.circuit, each.goal).name for each in now.missed
                                if math.isnan(each.measured.value)),
            cards=", ".join(added),
        )
    )  # fmt: skip


def _text_of(circuit: Circuit) -> str:
    return circuit.netlist.to_bytes().decode("utf-8", "replace")


def _not_measured(circuit: Circuit, goal: DesignGoal) -> Message:
    return msg(
        "{name} has no value in this circuit ({expression}), so no part can be chosen for it. Change the "
        "goal, or the circuit.",
        name=_wanted(circuit, goal).name,
        expression=goal.expression,
    )


def _by_drive(now: _Round) -> LineChange | None:
    """A converter's output voltage by the on-time of its drive, in proportion."""
    off = [each for each in now.missed if _figure_of(each.goal)[0] == "vout"]
    pulse = now.circuit.drive_pulse
    if not off or pulse is None or now.ask.only or pulse[0].name.lower() in map(str.lower, now.ask.kept):
        return None
    value, aim = off[0].measured.value, _middle(off[0].goal)
    on_time = on_time_of(pulse, aim / value) if value and aim / value > 0 else None
    source, words = pulse
    lines = _text_of(now.circuit).split("\n")
    first = source.line - 1
    last = next((at for at in range(first + 1, len(lines)) if not lines[at].startswith("+")), len(lines))
    card = "\n".join(lines[first:last])
    given = re.search(rf"(?<![\w.]){re.escape(words[5])}(?=[\s+]+{re.escape(words[6])})", card)
    if on_time is None or given is None or _text_of(now.circuit).count(card) != 1:
        return None
    changed = card[: given.start()] + on_time + card[given.end() :]
    return None if changed == card else LineChange(before=card, after=changed, search=card, replace=changed)


def _middle(goal: DesignGoal) -> float:
    """Where a figure is aimed at."""
    if goal.target is not None:
        return goal.target
    low, high = goal.minimum, goal.maximum
    if low is not None and high is not None:
        return (low + high) / 2
    return 1.02 * low if low is not None else 0.98 * cast(float, high)


def _is_of_scale(now: _Round) -> bool:
    """Whether one frequency is missed and nothing else is asked that moves with it."""
    if len(now.missed) != 1 or math.isnan(now.missed[0].measured.value):
        return False
    others = {_figure_of(each.goal)[0] for each in now.verdicts if each.met}
    return _figure_of(now.missed[0].goal)[0] in _IN_FILTER and others <= _OF_SCALE


def _filter_parts(now: _Round, speech: Speech) -> Generator[Call, Outcome, Mapping[str, float]]:
    goal = now.missed[0].goal
    wanted = replace(_wanted(now.circuit, goal), key=_figure_of(goal)[0])
    parts = parts_of_filter(now.circuit, now.ask, wanted)
    return parts or (yield from scaled_together(now.circuit, now.ask, wanted, speech))


def _scaled(now: _Round, parts: Mapping[str, float], speech: Speech) -> Plan:
    """All in one proportion: with values of E96, and where these would miss with exact ones."""
    verdict = now.missed[0]
    factor = verdict.measured.value / _middle(verdict.goal)
    near = {name: nearest(value * factor, "E96") for name, value in parts.items()}
    mean = math.exp(sum(math.log(near[name] / value) for name, value in parts.items()) / len(parts))
    is_near = verdict.goal.is_met_by(verdict.measured.value / mean)
    values = [
        (name, format_number(near[name] if is_near else value * factor, 4)) for name, value in parts.items()
    ]
    why = msg(
        "{names} in one proportion move the {name} and leave the kind of response as it is.",
        names=speech.listed(parts),
        name=_wanted(now.circuit, verdict.goal).name,
    )
    return (yield from _given(now, values, speech, [why]))


# --- a search ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a search came to."""

    values: list[tuple[str, str]]
    lack: tuple[int, float]
    missed: list[Message]
    count: int


def _searched(now: _Round, speech: Speech) -> Plan:
    """The values of a few parts with which all goals are met; else those that come closest."""
    names = yield from _turned(now, speech)
    if isinstance(names, str):
        return names
    few = names[:_MOST_MISSED] if len(now.missed) == 1 else names[: 2 * _MOST_MISSED]
    tries = [(few, True), (few, False)] if any(name[0].lower() == "r" for name in few) else [(few, False)]
    if len(names) > len(few):
        tries.append((names, False))
    best: _Found | None = None
    count = 0
    for some, is_series in tries:
        outcome = yield Call(tool="run_study", arguments=_arguments(now, some, is_series=is_series))
        if outcome.error_type:
            return failed(outcome, speech)
        found = _found(now, outcome)
        count += found.count
        if found.values and (best is None or found.lack < best.lack):
            best = found
        if best is not None and not best.missed:
            break
    if best is None or not _is_closer(best.lack, now.lack):
        return speech.say(
            msg(
                "{count} simulations with other values of {names} came no closer to the goals; nothing was "
                "changed. The structure of the circuit may have to change: write it in the editor, or choose "
                "a language model.",
                count=count,
                names=", ".join(names),
            )
        )
    why = [msg("Found in {count} {count:simulation|simulations}.", count=count)]
    if best.missed:
        why.append(
            msg(
                "The closest values that were found; missed with them: {goals}.",
                goals=speech.listed(best.missed),
            )
        )
    return (yield from _given(now, best.values, speech, why))


def _is_closer(one: tuple[int, float], other: tuple[int, float]) -> bool:
    return one[0] < other[0] or (one[0] == other[0] and one[1] < _CLOSER * other[1])


def _turned(now: _Round, speech: Speech) -> Generator[Call, Outcome, list[str] | str]:
    """The parts that move what is missed, for each goal the strongest first; or why there are none."""
    orders: list[list[str]] = []
    said = ""
    for verdict in now.missed[:_MOST_MISSED]:
        wanted = _wanted(now.circuit, verdict.goal)
        found = yield from candidates(now.circuit, now.ask, wanted, speech)
        if isinstance(found, str):
            said = found
        elif found:
            orders.append(found)
        else:
            said = speech.say(
                msg(
                    "No part of {file} that may change moves the {name} noticeably: other values do not "
                    "reach this goal. Change the goal or the circuit, or choose a language model.",
                    file=now.circuit.file,
                    name=wanted.name,
                )
            )
    turns = max(map(len, orders), default=0)
    names = [order[at] for at in range(turns) for order in orders if at < len(order)]
    return list(dict.fromkeys(names))[:_MOST_TURNED] or said


def _arguments(now: _Round, names: Sequence[str], *, is_series: bool) -> dict[str, Any]:
    goals = [each.goal for each in now.verdicts]
    kinds = {_wanted(now.circuit, goal).kind for goal in goals}
    analysis = own_analysis(now.circuit, _wanted(now.circuit, goals[0])) if len(kinds) == 1 else {}
    return {
        **search_of(now.circuit, names, series="E96" if is_series else ""),
        "measure": {goal.metric: goal.expression for goal in goals},
        "goals": [bound for goal in goals for bound in bounds_of(goal.metric, _aim(goal))],
        **analysis,
    }  # fmt: skip


def _aim(goal: DesignGoal) -> tuple[float, float]:
    """From where to where a figure is brought: of a value with a tolerance the inner half.

    So parts that are a little off do not miss it.
    """
    low = -math.inf if goal.minimum is None else goal.minimum
    high = math.inf if goal.maximum is None else goal.maximum
    if goal.target is None or not math.isfinite(low + high):
        return low, high
    return (low + goal.target) / 2, (high + goal.target) / 2


def _found(now: _Round, outcome: Outcome) -> _Found:
    """The best values of a search, and what they miss."""
    goals = {each.goal.metric: each.goal for each in now.verdicts}
    told = {line["name"]: line["value"] for line in _BEST_LINE.finditer(outcome.text)}
    verdicts = {name: _read_back(goals[name], value) for name, value in told.items() if name in goals}
    missed = [
        msg("{name} = {value}", name=_wanted(now.circuit, verdict.goal).name, value=told[name])
        for name, verdict in verdicts.items()
        if not verdict.met
    ]
    total = sum(map(lack_of, verdicts.values()))
    count = _COUNT.search(outcome.text)
    return _Found(
        values=values_found(outcome),
        lack=(len(missed), total),
        missed=missed,
        count=int(count["count"]) if count is not None else 0,
    )


def _read_back(goal: DesignGoal, text: str) -> GoalVerdict:
    """A figure of a search's answer, judged."""
    try:
        figure = read_figure(text)
    except BadFigureError:
        figure = None
    value = math.nan if figure is None else figure.value
    return GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))


# --- what is written ---------------------------------------------------------------------------------


def _given(now: _Round, values: Sequence[tuple[str, str]], speech: Speech, why: Sequence[Message]) -> Plan:
    """Parts get these values."""
    try:
        changes = value_changes(_text_of(now.circuit), values, has_title=True)
    except CircuitAIError as error:
        return told(error, speech)
    if not changes:
        return speech.say(msg("{file} already has these values.", file=now.circuit.file))
    return (yield from _written(changes, speech, now.circuit.file, why))


def _written(changes: Sequence[LineChange], speech: Speech, file: str, why: Sequence[Message]) -> Plan:
    """The lines changed in one step, and said."""
    first, *others = changes
    arguments: dict[str, Any] = {"path": file, "search": first.search, "replace": first.replace}
    if others:
        arguments["further"] = [[each.search, each.replace] for each in others]
    outcome = yield Call(tool="patch_file", arguments=arguments)
    if outcome.error_type:
        return failed(outcome, speech)
    done = [
        speech.say(
            msg(
                "{file}: “{before}” is now “{after}”.",
                file=file,
                before=each.before.replace("\n", "; "),
                after=each.after.replace("\n", "; "),
            )
        )
        for each in changes
    ]
    return "\n".join([*done, *map(speech.say, why)])
