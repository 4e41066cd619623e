"""A declared family as the built-in designer drives it: claims, understands, proposes, follows, revises.

Goals a person changed, as changes of what a circuit is sized for.

From a measured miss to another aim: secant steps in the logarithms, one for each quantity.

The first step takes the response for proportional; later ones use the slope between the last two rounds
(Nocedal, Wright, "Numerical Optimization", section 11.2, with one unknown for each equation).
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from types import MappingProxyType
from typing import Any

from domain.circuit.figures import with_unit
from domain.circuit.preferred_values import chosen_from
from domain.design.deck import Deck, Say, spice
from domain.design.designer import DesignIntent, Proposal
from domain.design.engine import wording
from domain.design.engine.decibels import IN_DB, as_factor, in_decibels
from domain.design.engine.declaration import (
    DERIVED,
    LOAD,
    SERIES,
    SERIES_FOR_ALL,
    STATED,
    TOLERANCE,
    Bounds,
    Correction,
    Family,
    GoalRow,
    Request,
    Sized,
    around,
)
from domain.design.engine.device_cards import (
    CARDS,
    LENGTH,
    LENGTHS_M,
    NO_TABLES,
    TABLES,
    Tables,
    carded,
    no_place,
)
from domain.design.engine.reading import (
    completed,
    demands_in,
    fill_in,
    read,
    refuse_out_of_range,
    suggest_choices,
)
from domain.design.sentence import Sentence, in_any_case
from domain.simulation.goals import DesignGoal, GoalVerdict
from shared.errors import CircuitError
from shared.message import Message, msg

MOST_STEPS = 5
_SLOPES = (0.3, 3.0)
_FACTORS = (0.5, 2.0)
_MORE = 2.0
"""Times what helps where no aim can be corrected."""
_UNIT = re.compile(r"(Hz|Ohm|A|F|V|W|s)(\d?)")
_INSIDE = 0.02
"""How far inside a one-sided limit is aimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The aims of a round and what they led to before."""

    factors: Mapping[str, float]
    tried: Sequence[Mapping[str, tuple[float, float]]] = ()
    """Earlier rounds: by quantity, the factor and what was measured."""

    @classmethod
    def restored(cls, plain: Mapping[str, Any], first: str) -> Tuning:
        """From what `plain` gave. An older design has one scale: it is that of `first`."""
        if "scale" in plain:
            return cls(factors={first: float(plain["scale"])})
        tried = tuple(
            {name: (float(factor), float(value)) for name, (factor, value) in each.items()}
            for each in plain.get("tried", ())
        )
        return cls(factors={k: float(v) for k, v in plain.get("factors", {}).items()}, tried=tried)

    def plain(self) -> dict[str, Any]:
        tried = [{name: list(pair) for name, pair in each.items()} for each in self.tried]
        return {"factors": dict(self.factors), "tried": tried}


def corrected(
    tuning: Tuning,
    verdicts: Sequence[GoalVerdict],
    quantities: Mapping[str, str],
    push: float = 1.0,
    *,
    helps: Mapping[str, str] = MappingProxyType({}),
) -> Tuning | None:
    """The next aims after misses; None when no goal that was missed can be corrected, or all is tried.

    `quantities` names the quantity of each metric that may be corrected; `push` lengthens the step, for
    values that would round to the same parts. `helps` names what is enlarged for a metric that has no aim.
    """
    if len(tuning.tried) >= MOST_STEPS:
        return None
    factors = dict(tuning.factors)
    measured: dict[str, tuple[float, float]] = {}
    for verdict in verdicts:
        metric, value = verdict.goal.metric, verdict.measured.value
        quantity = quantities.get(metric)
        if quantity is None and metric in helps and not verdict.met:
            factors[helps[metric]] = tuning.factors.get(helps[metric], 1.0) * _MORE**push
        if quantity is None or not math.isfinite(value):
            continue
        factor = factors.get(quantity, 1.0)
        measured.setdefault(quantity, (factor, value))
        wanted = _wanted(verdict)
        is_aimed = factor != tuning.factors.get(quantity, 1.0)  # by another of its goals
        if verdict.met or is_aimed or wanted is None or not wanted * value > 0:
            continue
        step = math.log(wanted / value) / _slope(tuning, quantity, factor, value)
        factors[quantity] = factor * math.exp(push * step)
        if not _FACTORS[0] <= factors[quantity] <= _FACTORS[1]:
            return None
    if factors == dict(tuning.factors):
        return None
    return Tuning(factors=factors, tried=(*tuning.tried, measured))


def _wanted(verdict: GoalVerdict) -> float | None:
    goal = verdict.goal
    is_limit = (goal.minimum is None) != (goal.maximum is None)
    if goal.target and not is_limit:
        return goal.target
    if goal.minimum is not None and goal.maximum is not None:
        return (goal.minimum + goal.maximum) / 2
    if goal.minimum is not None:
        return goal.minimum + _INSIDE * abs(goal.minimum)
    return None if goal.maximum is None else goal.maximum - _INSIDE * abs(goal.maximum)


def _slope(tuning: Tuning, quantity: str, factor: float, value: float) -> float:
    """d log(measured) / d log(factor) between this round and the last with another factor."""
    for earlier in reversed(tuning.tried):
        before, then = earlier.get(quantity, (factor, value))
        if before != factor and then * value > 0 and then != value:
            slope = math.log(value / then) / math.log(factor / before)
            return min(max(slope, _SLOPES[0]), _SLOPES[1])
    return 1.0


def changed(
    before: Sequence[DesignGoal], now: Sequence[DesignGoal]
) -> Iterator[tuple[DesignGoal, DesignGoal]]:
    """(old, new) of each goal that measures the same as before and asks for something else."""
    known = {(goal.metric, goal.expression): goal for goal in before}
    for goal in now:
        old = known.get((goal.metric, goal.expression))
        if old is not None and not old.is_same_demand(goal):
            yield old, goal


def aim_of(goal: DesignGoal) -> float | None:
    """The value to size for: the target, else the middle of the bounds, else the only bound."""
    if goal.target is not None:
        return goal.target
    bounds = [bound for bound in (goal.minimum, goal.maximum) if bound is not None]
    return sum(bounds) / len(bounds) if bounds else None


def tolerance_of(goal: DesignGoal) -> float | None:
    """Half the width of the bounds over their middle; None without two bounds around something."""
    aim = aim_of(goal)
    if goal.minimum is None or goal.maximum is None or not aim:
        return None
    return abs((goal.maximum - goal.minimum) / 2 / aim)


def ratio_of(old: DesignGoal, new: DesignGoal) -> float | None:
    """New aim over old one; None when either is missing, zero or of another sign."""
    before, now = aim_of(old), aim_of(new)
    if not before or not now or before * now < 0:
        return None
    return now / before


_PLAUSIBLE = 0.7
_MOST_DB = 1e3
"""Of a changed factor: no circuit has more, and beyond it no float either."""
_PUSHES = (1.0, 1.5, 2.5, 5.0, 10.0, 20.0)
"""Times the step of a correction, until preferred values give other parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """How sure a family is that a sentence means it, and what it had to assume to think so."""

    score: float
    """0 = not mine; 0.5 = plausible; 1 = named by its own words."""
    assumptions: tuple[Message, ...] = ()
    is_plain: bool = False
    """Not by its name, but by words with which it is what is usual."""


class DeclaredFamily:
    """What can be done with a declaration."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.key = family.key
        self.name = family.name
        self.examples: Mapping[str, str] = family.examples
        self.labels: Mapping[str, Message] = {row.metric: row.label for row in family.goals}
        by_name = {quantity.name: quantity for quantity in family.quantities}
        self._limits = {name: quantity.limit for name, quantity in by_name.items()}
        self.factors = {name for name, quantity in by_name.items() if "x" in quantity.dimensions}
        self.goal_words: Mapping[str, str] = {
            row.metric: by_name[row.quantity].words for row in family.goals if row.quantity in by_name
        }

    def claim(self, sentence: Sentence) -> Claim:
        """By its words; a guess is said."""
        own, words = self.family.claims, self.family.words
        score = self._score(sentence) if own is None else own(sentence)
        is_plain = own is None and score == 1.0 and not sentence.has(words.named)
        told = (wording.not_named(self.family.one),) if is_plain or 0 < score < 1 else ()
        return Claim(score=score, assumptions=told, is_plain=is_plain)

    def _score(self, sentence: Sentence) -> float:
        words = self.family.words
        if sentence.has(words.excludes):
            return 0.0
        if sentence.has(words.named) or sentence.has(words.plain):
            return 1.0
        return _PLAUSIBLE if sentence.has(words.plausible) else 0.0

    def names_in(self, sentence: Sentence) -> Iterator[tuple[int, int]]:
        """Where the sentence calls this circuit by name, or by words that let one think of it."""
        score, words = self.claim(sentence).score, self.family.words
        if score > 0:
            by_name = f"(?:{words.named})|(?:{words.plain})"
            pattern = by_name if score == 1.0 else words.plausible
            for found in in_any_case(pattern).finditer(sentence.text):
                yield found.span()

    def understand(
        self, sentence: Sentence, claim: Claim, cards: Mapping[str, str] | None = None
    ) -> DesignIntent:
        """Requirement, goals and assumptions of a sentence; `cards` are the MOSFET models it named. Raises
        CircuitError ("missing_goal", "impossible_goal")."""
        if cards is not None and not self.family.transistors:
            raise no_place(self.family, cards)
        request, notes = read(self._asked_as({CARDS: cards}), sentence, cards)
        return DesignIntent(
            family=self.key,
            parameters=request.parameters(),
            goals=self._goals(request),
            assumptions=(*claim.assumptions, *notes),
            language=sentence.language,
        )

    def _asked_as(self, parameters: Mapping[str, Any]) -> Family:
        """The declaration, as it is with the cards of these parameters."""
        return carded(self.family) if parameters.get(CARDS) else self.family

    def propose(self, intent: DesignIntent, say: Say, tables: Tables = NO_TABLES) -> Proposal:
        """The first shot, by the design equations. Raises CircuitError ("impossible_goal"), TablesNeeded."""
        return self._proposal(intent, Tuning(factors={}), say, tables)

    def follow(self, intent: DesignIntent, goals: Sequence[DesignGoal]) -> DesignIntent:
        """Each changed goal changes its quantity; proposals of our own that nobody touched follow.

        Where old and new demands exclude each other the new ones are sized for; what cannot be sized for at
        all changes the goals alone. Both are told by what is measured.
        """
        rows = {row.metric: row for row in self.family.goals}
        before = self._request(intent.parameters).parameters()
        parameters = dict(before)
        for old, new in changed(intent.goals, goals):
            row = rows.get(new.metric)
            if row is not None:
                is_factor = row.quantity in self.factors
                parameters |= _followed(row, parameters, old, new, is_factor=is_factor)
        if parameters == before:
            return replace(intent, goals=tuple(goals))
        asked = dict(parameters)
        follows = [name for name in parameters.get(DERIVED, ()) if parameters[name] == before[name]]
        parameters |= dict.fromkeys(follows)
        sized_for = self._sized_for(parameters, before)
        if sized_for is None:
            return replace(intent, goals=tuple(goals))
        parameters = sized_for
        untouched = {goal.metric for goal in intent.goals if not goal.stated and goal in goals}
        anew = {goal.metric: goal for goal in self._goals(Request(parameters))}
        # What is measured at a frequency that was changed is measured at the new one.
        own = {goal.metric: goal.expression for goal in self._goals(Request(before))}
        asked |= {name: parameters[name] for name in follows if name in parameters}
        moved = {goal.metric: goal.expression for goal in self._goals(Request(asked))}

        def follow(goal: DesignGoal) -> DesignGoal:
            if goal.metric in untouched:
                return anew.get(goal.metric, goal)
            is_own = own.get(goal.metric) == goal.expression
            return replace(goal, expression=moved[goal.metric]) if is_own and goal.metric in moved else goal

        return replace(intent, parameters=parameters, goals=tuple(map(follow, goals)))

    def chooses_otherwise(self, intent: DesignIntent, sentence: Sentence) -> bool:
        """Whether a sentence names another way to make the circuit than the design has: another kind of
        filter, part or supply, or another count, such as its order.

        Raises CircuitError for two of one choice.
        """
        request = self._request(intent.parameters)
        asked = demands_in(self._asked_as(request), sentence, request)
        return any(isinstance(way, str | int) and request.get(name) != way for name, way in asked.items())

    def demanded(
        self, intent: DesignIntent, sentence: Sentence
    ) -> tuple[DesignIntent, tuple[Message, ...]] | None:
        """The design with what a sentence demands of it beside its goals: a supply, a load, a part, a series;
        and what has to be told of that.

        Our own proposals that nobody touched follow, and goals with them. What is so already changes nothing
        and has nothing to be told. None when it demands nothing.
        Raises CircuitError for what cannot be.
        """
        before = self._request(intent.parameters)
        family = self._asked_as(before)
        asked = demands_in(family, sentence, before)
        if not asked:
            return None
        if all(before.get(name) == value for name, value in asked.items()):
            return intent, ()
        stated = {*before.get(STATED, ()), *asked} - {SERIES, SERIES_FOR_ALL, LOAD}
        is_new = not set(asked) <= {*before.get(STATED, ()), SERIES, SERIES_FOR_ALL, LOAD}
        proposed = self._proposed(before, stated, with_choices=is_new)
        values = {**before, **dict.fromkeys(proposed), **asked, STATED: sorted(stated)}
        told_of = self._told(asked) or [msg("{text}", text=sentence.text)]
        notes = [wording.changed_as_asked(told_of), *suggest_choices(family, values)]
        refuse_out_of_range(family, values)
        notes += completed(family, values).notes
        notes += fill_in(family, values)
        refuse_out_of_range(family, values)
        request = Request(values)
        notes += family.judge(request)
        if not request.get(CARDS):  # whether there are parts for it; with cards their tables tell
            _sized(family, request, _Factors(), NO_TABLES)
        if not self._has_effect(asked, intent, request):
            return None
        own = {goal.metric for goal in self._goals(before)}
        anew = {goal.metric: goal for goal in self._goals(request)}
        rows = {row.metric: row.quantity for row in family.goals}
        kept = [
            replace(goal, expression=anew[goal.metric].expression)
            if goal.metric in anew and goal.stated and rows[goal.metric] not in asked
            else anew.get(goal.metric, goal)
            for goal in intent.goals
            if goal.metric in anew or goal.metric not in own or goal.stated
        ]
        new = [goal for metric, goal in anew.items() if metric not in own]
        told = tuple(note for note in notes if note not in intent.assumptions)
        still = tuple(
            note for note in intent.assumptions if note in notes or not self._is_of(note, before, request)
        )
        assumptions = (*still, *told)
        return (
            replace(intent, parameters=request.parameters(), goals=(*kept, *new), assumptions=assumptions),
            told,
        )

    def _has_effect(self, asked: Container[str], intent: DesignIntent, request: Request) -> bool:
        """Whether what was asked is known here: the order of a filter that has one only is not."""
        known = {each.name for each in self.family.quantities} | {SERIES, LOAD}
        known |= {each.name for each in self.family.choices}
        if any(name in asked for name in known):
            return True
        changed = replace(intent, parameters=request.parameters())
        return self.propose(changed, str).netlist != self.propose(intent, str).netlist

    def _is_of(self, note: Message, before: Request, now: Request) -> bool:
        """Whether a note tells an assumption of something that is another now."""
        labels = {each.name: each.label for each in self.family.quantities}
        labels |= {each.name: each.label for each in self.family.choices}
        return note.template == wording.ASSUMED and any(
            label == note.params.get("label") and before.get(name) != now.get(name)
            for name, label in labels.items()
        )

    def _told(self, asked: Mapping[str, Any]) -> list[Message]:
        """What was asked, each with its name, for the user."""
        quantities = {quantity.name: quantity for quantity in self.family.quantities}
        options = {
            (choice.name, option.key): option.told or wording.figure(choice.label, option.label)
            for choice in self.family.choices
            for option in choice.options
        }
        told = []
        for name, value in asked.items():
            quantity, option = quantities.get(name), options.get((name, str(value)))
            if quantity is not None and value is not None:
                label = msg("supply") if name == "supply_v" else quantity.label  # of which kind is told apart
                told.append(wording.figure(label, quantity.text(value)))
            elif name == LOAD:
                ohm = msg("none") if value is None else with_unit(value, "Ω")
                told.append(wording.figure(msg("load"), ohm))
            elif name == SERIES:
                of_all = asked[SERIES_FOR_ALL]
                told.append(wording.figure(msg("parts") if of_all else msg("resistors"), value))
            elif option is not None and name != "resistor_series":
                told.append(option)
        return told

    def _proposed(self, request: Request, stated: Container[str], *, with_choices: bool) -> Iterator[str]:
        """The names of what followed from the rest, and of our own proposals that nobody has changed.

        What was chosen by figures stays where these were said and only have other values now: a single supply
        of 5 V is a single one of 9 V.
        """
        yield from (name for name in request.get(DERIVED, ()) if name not in stated)
        for quantity in self.family.quantities:
            default = quantity.default if quantity.name not in stated else None
            if callable(default) and request[quantity.name] == default(request):
                yield quantity.name
        for choice in self.family.choices:
            if with_choices and choice.name not in stated and choice.default is not None:
                yield choice.name

    def _sized_for(self, changed: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any] | None:
        """The changed parameters completed; without an unchanged demand, or all, that stand against it."""
        family = self._asked_as(changed)
        needed = {quantity.name for quantity in self.family.quantities if quantity.required}
        unchanged = [
            row.quantity
            for row in reversed(self.family.goals)
            if row.quantity in set(changed.get(STATED, ())) - needed
            and changed.get(row.quantity) == before.get(row.quantity)
        ]
        for dropped in ((), *((name,) for name in unchanged), unchanged):
            parameters = {**changed, **dict.fromkeys(dropped)}
            try:
                refuse_out_of_range(family, parameters)
                completed(family, parameters)
                fill_in(family, parameters)
                refuse_out_of_range(family, parameters)
            except CircuitError:
                continue
            return parameters
        return None

    def revise(
        self, intent: DesignIntent, previous: Proposal, verdicts: Sequence[GoalVerdict], say: Say,
        tables: Tables = NO_TABLES,
    ) -> Proposal | None:  # fmt: skip
        """Aim elsewhere by what was measured, as far as it takes to choose other parts; None when that
        changes nothing. Raises CircuitError when no parts reach the new aim."""
        rows = self.family.goals
        quantities = {row.metric: row.quantity for row in rows if row.quantity and row.is_corrected}
        helps = {row.metric: row.helped_by for row in rows if row.helped_by}
        of_factors = {row.metric for row in rows if row.unit == "1"}
        verdicts = [
            as_factor(each) if each.goal.unit == "dB" and each.goal.metric in of_factors else each
            for each in verdicts
        ]
        tuning = Tuning.restored(previous.tuning, next(iter(quantities.values()), ""))
        if self.family.factors is not None and "factors" not in previous.tuning:
            request = self._request(intent.parameters)
            tuning = Tuning(factors=self.family.factors(request, previous.tuning))
        for push in _PUSHES:
            aims = corrected(tuning, verdicts, quantities, push, helps=helps)
            if aims is None:
                return None
            proposal = self._proposal(intent, aims, say, tables)
            if proposal.netlist != previous.netlist:
                return proposal
        return None

    def _goals(self, request: Request) -> tuple[DesignGoal, ...]:
        return tuple(
            _goal(row, request, self._limits.get(row.quantity, ""))
            for row in self.family.goals
            if (row.when(request) if row.when else row.bounds or request[row.quantity] is not None)
        )

    def _proposal(self, intent: DesignIntent, tuning: Tuning, say: Say, tables: Tables) -> Proposal:
        request = self._request(intent.parameters)
        family = self._asked_as(request)
        refuse_out_of_range(family, request)
        family.judge(request)
        request, sized = _sized(family, request, _Factors(tuning.factors), tables)
        return Proposal(
            file_stem=_file_stem(_title(family, request)),
            netlist=self._netlist(request, sized, intent.goals, say),
            values=dict(sized.parts),
            tuning=tuning.plain(),
            notes=sized.notes,
        )

    def _request(self, parameters: Mapping[str, Any]) -> Request:
        """A stored request; what it does not know yet was not asked for then."""
        blank = {
            quantity.name: None if callable(quantity.default) else quantity.default
            for quantity in self.family.quantities
        }
        first = {choice.name: choice.options[0].key for choice in self.family.choices}
        return Request({**blank, **first, **self.family.restore(parameters)})

    def _netlist(self, request: Request, sized: Sized, goals: Sequence[DesignGoal], say: Say) -> str:
        deck, remarks = Deck(_title(self.family, request), say), self.family.remarks
        for remark in remarks(request) if callable(remarks) else remarks:
            deck.note(remark)
        deck.goals(goals)
        deck.rule()
        self.family.netlist(deck, request, sized)
        if (load := request.get(LOAD)) is not None and not self.family.has_load:
            deck.part(f"Rload {self.family.output} 0 {spice(load)}", msg("load"))
        deck.rule()
        deck.cards(*self.family.analyses(request, sized, goals))
        return deck.text()


def _sized(family: Family, request: Request, factors: Correction, tables: Tables) -> tuple[Request, Sized]:
    """The parts, and the request they were sized for: with a named card, the first length that does."""
    with chosen_from(request.get(SERIES), is_for_all=bool(request.get(SERIES_FOR_ALL))):
        return _sized_in_stock(family, request, factors, tables)


def _sized_in_stock(
    family: Family, request: Request, factors: Correction, tables: Tables
) -> tuple[Request, Sized]:
    if not request.get(CARDS):
        return request, family.size(request, factors)
    refusals = []
    for length_m in LENGTHS_M:
        request = request.having(**{TABLES: tables, LENGTH: length_m})
        try:
            return request, family.size(request, factors)
        except CircuitError as error:
            refusals.append(error)
    raise refusals[0]


class _Factors(dict[str, float]):
    """Corrections; 1 for what was never corrected."""

    def __missing__(self, name: str) -> float:
        return 1.0


class _TitleText(Formatter):
    """Format fields that are a unit, and how many digits: ``{fsw:Hz}``, ``{iout:A3}``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        unit = _UNIT.fullmatch(format_spec)
        if unit is None:
            return str(super().format_field(value, format_spec))
        return with_unit(value, unit[1], int(unit[2] or 4))


def _title(family: Family, request: Request) -> str:
    if callable(family.title):
        return family.title(request)
    text = _TitleText().vformat(family.title, (), request)
    return text[:1].upper() + text[1:]


def _bounds(row: GoalRow, request: Request, limit: str) -> Bounds:
    if row.bounds is not None:
        return row.bounds(request)
    value = request[row.quantity]
    if not limit:
        return around(value, request["tolerance"])
    return Bounds(minimum=value) if limit == "at_least" else Bounds(maximum=value)


def _goal(row: GoalRow, request: Request, limit: str) -> DesignGoal:
    bounds = _bounds(row, request, limit)
    goal = DesignGoal(
        metric=row.metric,
        expression=row.expression(request) if callable(row.expression) else row.expression,
        unit=row.unit,
        minimum=bounds.minimum,
        maximum=bounds.maximum,
        target=bounds.target,
        stated=request.states(row.quantity),
    )
    is_in_db = row.unit == "1" and row.quantity in request.get(IN_DB, ())
    return in_decibels(goal) if is_in_db else goal


def _followed(
    row: GoalRow, parameters: Mapping[str, Any], old: DesignGoal, new: DesignGoal, *, is_factor: bool
) -> dict[str, Any]:
    """What a changed goal changes of the request; `is_factor`: the quantity is one, the goal may be in dB."""
    before = parameters.get(row.quantity)
    if (old.minimum is None) != (old.maximum is None):
        old, new = replace(old, target=None), replace(new, target=None)  # the limit is what is sized for
    if old.target is not None and new.target is None and (new.minimum is None) != (new.maximum is None):
        # Only one side left of what was asked around a value: aim beside it by the tolerance.
        tolerance = parameters.get("tolerance") or 0.0
        side = 1 + tolerance if new.maximum is None else 1 - tolerance
        new = replace(new, target=side * (new.minimum or new.maximum or 0.0))
    ratio = ratio_of(old, new)
    if is_factor and new.unit == "dB":
        decibels = (aim_of(new) or 0.0) - (aim_of(old) or 0.0)
        ratio = 10 ** (min(max(decibels, -_MOST_DB), _MOST_DB) / 20)
    if ratio is None or before is None:
        return {}
    width = tolerance_of(new) if old.target is not None else None
    if width is None or not math.isclose(tolerance_of(old) or 0.0, parameters["tolerance"], rel_tol=1e-6):
        return {row.quantity: before * ratio}
    least, most = TOLERANCE.within
    return {row.quantity: before * ratio, "tolerance": min(max(width, least), most)}


def _file_stem(title: str) -> str:
    """A file name of a title: what the circuit is, without its figures, which change with its goals."""
    name = re.split(r",| [+-]*\d", title, maxsplit=1)[0]
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
