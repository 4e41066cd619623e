"""As of which state of the circuit an answer tells a figure: as it is, or as before the last change."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from domain.circuit.figures_in_text import TextFigure, figures_in, plain, without_code
from domain.circuit.said_figures import SIGHT, is_convention, is_rounding, is_thought, sentence_before
from domain.llm.agentic_loop.claims import told_of_before
from domain.llm.agentic_loop.conditions import Measured, conditioned
from domain.llm.agentic_loop.fact_table import FactTable
from domain.llm.agentic_loop.follows import derived, is_one_of, is_rough, values_of
from domain.llm.agentic_loop.known import MOST_FIGURES, Backing, Known
from domain.llm.agentic_loop.limits import limits_in
from domain.llm.agentic_loop.margins import Margins
from domain.llm.agentic_loop.pairs import Pair, pairs_in
from domain.llm.agentic_loop.part_values import PART_UNITS, changed_parts, values_of_parts
from domain.llm.agentic_loop.rows import Row, Table, stands_in, study_rows, with_bare
from shared.late_patterns import late_pattern

_MOST_READ = 8_000
_OLD = late_pattern(
    r"\b(?:before|was|were|had|without|earlier|previous\w*|original\w*|old|initial\w*|instead of|compared"
    r"|versus|vs|first|last|in between|interim|intermediate|at one point"
    r"|(?:only|just) (?:reached|gave|got))\b"
    r"|原(?![边副理因极级])|之前|先前|中间|一度|起初|[改调换优][动改整换化]?前|旧|此前|上次|上一|相比|对比"
)
"""What is told of the state before."""
_AGAINST = late_pattern(r"(?:\bfrom(?!\s+(?:the|an?|its|your)\b)|从|由|比)\D{0,24}$")
"""What is told right behind it is of that, too."""
_ASIDE_OF_FIGURE = late_pattern(r"[-+±]?\d[\d.]*\s?\S{0,4}\s?[(（][^()（）]*$")
"""What an aside right behind a figure tells is of this figure: "from 1.77 V (11.39 V → 9.62 V)"."""
_NOW = late_pattern(r"\b(?:now|currently|at present)\b|现在|目前|当前")
_NUMBER = late_pattern(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d{1,3})?(?![\w.])", re.IGNORECASE)
_VERDICT = late_pattern(r"\bmissed (?=\w)")
_BECAME = late_pattern(r"\s*(?:→|->|=>|to\b|变|到)")
_SENTENCE_END = late_pattern(r"[!?。！？;；\n]|\.(?=\s|$)")


def stale_figures(
    text: str, before: Sequence[str], now: Backing, conditions: Sequence[Measured] = ()
) -> tuple[str, ...]:
    """The figures of an answer that stand in results from `before` the last change only, each once.

    With them those that are told as of the other state than they are, in a column or in "from ... to". Left
    alone are those that are told as old, in their sentence or in a table that compares.
    """
    flat = plain(without_code(text[:_MOST_READ]))
    figures = [figure for figure in islice(figures_in(flat), MOST_FIGURES) if figure.value]
    if not figures or not before:
        return ()
    old, known = Known(Backing(results=before)), Known(now)
    of_before = told_of_before(flat)
    now_by_place = {place: values[0] for place, values in _by_place(now.results).items()}
    old_by_place = _by_place(before)
    pairs = list(pairs_in(flat, figures))
    points = [row for result in before for row in study_rows(plain(result[:_MOST_READ]))]
    allowed = list(known.bounds())
    under, _ = conditioned(conditions, ())
    current = [each for each in figures if known.has(each, is_rough=False)]
    parts = changed_parts((*before, *now.results))
    asked = values_of(known.asked)
    following = derived([*values_of(current), *known.sources()], asked)
    following += Margins(now.results, now.words).to_limits
    found = {
        text[each.start : each.end].strip(): None
        for each in _exchanged(flat, old, known)
        if not _is_of_point(flat, each, points)
    }
    found |= dict.fromkeys(
        text[each.start : each.end].strip() for each in _of_other_state(flat, figures, before, now)
    )
    for figure in figures:
        said, after = sentence_before(flat, figure.start), flat[figure.end : figure.end + SIGHT]
        sentence = f"{said}{_SENTENCE_END.split(after)[0]}".lower()
        rough = is_rough(flat, figure)
        if (
            figure.digits < 2  # so coarse, it is of anything
            or known.has(figure, rough)
            or not old.has(figure, rough)
            or _OLD.search(sentence)
            or _AGAINST.search(_ASIDE_OF_FIGURE.sub("", said.lower()))
            or _is_found(figure, before)
            or any(_is_course(pair, points) for pair in pairs if figure in (pair.first, pair.second))
            or (figure.start < of_before and not _NOW.search(sentence))
            or _is_of_old_cell(flat, figure, parts)
            or _state_in(said, parts, of_parts_only=True)
            or _is_of_point(flat, figure, points)
            or _is_told_under(flat, figure, under)
            or is_one_of(flat, figure, [*allowed, *following])
            or _BECAME.match(after)
            or is_convention(figure, said, after)
            or is_thought(said, after)
        ):
            continue
        became = [
            now_by_place[place]
            for place, values in old_by_place.items()
            if place in now_by_place and any(is_rounding(figure, each, is_rough=rough) for each in values)
        ]
        if not _NOW.search(said.lower()) and any(
            each.digits > 1 and is_rounding(each, value, is_rough=False)
            for each in current
            for value in became
        ):
            continue  # the answer tells what became of it, too
        found[text[figure.start : figure.end].strip()] = None
    return tuple(found)


def _is_found(figure: TextFigure, before: Sequence[str]) -> bool:
    """Whether it is a value that a search found for a part: what was put in instead makes it no older."""
    return figure.unit in PART_UNITS.values() and any(
        result.startswith("optim") and Known(Backing(results=[result])).has(figure, is_rough=False)
        for result in before
    )


def _is_course(pair: Pair, points: Sequence[Row]) -> bool:
    """Whether both ends of a change stand in one study: what became of what was varied there."""
    ends = pair.first, pair.second
    return all(any(row.varied and stands_in(row.values, end) for row in points) for end in ends)


def _by_place(results: Sequence[str]) -> dict[tuple[str, int], list[float]]:
    """The numbers of results, the newest first, by the words of their line and their place in it."""
    found: dict[tuple[str, int], list[float]] = {}
    for result in reversed(results):
        for line in plain(result[:_MOST_READ]).split("\n"):
            figures = list(figures_in(line))
            at = {start for each in figures for start in range(each.start, each.end)}
            numbers = [(each.start, each.end, abs(each.value)) for each in figures]
            numbers += [
                (each.start(), each.end(), abs(float(each[0])))
                for each in _NUMBER.finditer(line)
                if each.start() not in at
            ]
            numbers.sort()
            words = "".join(
                line[end:start]
                for end, start in zip(
                    (0, *(end for _, end, _ in numbers)),
                    (*(start for start, *_ in numbers), len(line)),
                    strict=True,
                )
            )
            words = _VERDICT.sub("met ", words.lower())
            for place, (_, _, value) in enumerate(numbers):
                found.setdefault((words, place), []).append(value)
    return found


def _is_of_point(flat: str, figure: TextFigure, points: Sequence[Row]) -> bool:
    """Whether it is of a run of a study, and its line tells which: what was varied there still holds."""
    start = flat.rfind("\n", 0, figure.start) + 1
    line = flat[start:].partition("\n")[0]
    others = [each for each in figures_in(line) if each.start + start != figure.start]
    return any(
        stands_in(row.values, figure)
        and any(
            is_rounding(each, abs(value), is_rough=False) for each in others for _, value, _ in row.varied
        )
        for row in points
    )


def _is_told_under(flat: str, figure: TextFigure, under: Table) -> bool:
    """Whether its line, or the head of its table, names a value of a part with which it was measured."""
    start = flat.rfind("\n", 0, figure.start) + 1
    line = flat[start:].partition("\n")[0]
    if line.lstrip().startswith("|"):
        line = f"{flat[:start].rpartition(chr(10) * 2)[2].lstrip().partition(chr(10))[0]} {line}"
    named = {
        (name, value)
        for each in with_bare(line)
        for row in under.rows
        for name, value, unit in row.varied
        if (not each.unit or unit in ("", each.unit)) and is_rounding(each, abs(value), is_rough=False)
    }
    return any(
        stands_in(row.values, figure) and named & {(name, value) for name, value, _ in row.varied}
        for row in under.rows
    )


def _is_of_old_cell(flat: str, figure: TextFigure, parts: Sequence[Mapping[str, float]]) -> bool:
    """Whether it stands in a table whose heads, of rows or columns, tell states."""
    start = flat.rfind("\n", 0, figure.start) + 1
    line = flat[start:].partition("\n")[0]
    if not line.lstrip().startswith("|"):
        return False
    head = flat[:start].rpartition("\n\n")[2].lstrip("\n").partition("\n")[0] or line
    return any(_state_in(cell, parts) is not None for cell in (*head.split("|"), line.split("|")[1]))


_COLUMN_OLD = late_pattern(
    r"\b(?:before|old|original\w*|initial\w*|was|previous\w*|start)\b|初始|[改调换优]\w?前|原(?![边副理因极级])|之前|先前|旧"
)
_COLUMN_NEW = late_pattern(
    r"\b(?:after(?! \d)|new|now|current(?:ly| (?:value|design|state|run))|final|is)\b|[改调换优]\w?后|现在"
    r"|目前|之后|当前|新"
)


def _state_in(cell: str, parts: Sequence[Mapping[str, float]], *, of_parts_only: bool = False) -> bool | None:
    """Whether the head of a column or a row tells of the circuit as it was, by words or by a part's value."""
    is_old, is_new = (
        not of_parts_only and words.search(cell.lower()) is not None for words in (_COLUMN_OLD, _COLUMN_NEW)
    )
    if is_old == is_new:
        if not parts:
            return None
        values = [figure.value for figure in figures_in(cell) if figure.unit in PART_UNITS.values()]
        values += [value for _, _, value, _ in values_of_parts(cell)]
        is_old, is_new = (
            any(math.isclose(one, each, rel_tol=6e-3) for one in values for each in state.values())
            for state in parts
        )
    return None if is_old == is_new else is_old


_SAID_OLD = late_pattern(
    r"\b(?:before|originally|initially|at first|previously)\b|改前|修改前|原来|原先|之前|起初|最初|一开始",
    re.IGNORECASE,
)
_SAID_NEW = late_pattern(
    r"\bnow\b"
    r"|\bafter (?:the|this|that|my|both|all|re\w+|chang\w+|\w+ing)\b"
    r"|[改调换整]\w{0,2}后|现在|目前|之后",
    re.IGNORECASE,
)
_OF_RUNS = late_pattern(
    r"\bruns? #?\d|第 ?[一二三四五\d] ?[次轮]|\b(?:first|second|third|last|previous) run\b"
    r"|before (?:and|/) ?after|before/after|前后|[改调换]前/",
    re.IGNORECASE,
)
_CLAUSE_END = late_pattern(
    r"[,，:：()（）|]|→|->|\b(?:and|but|while|whereas|compared|instead|than|from|not)\b|而|但|比|从|由|不是"
)
_RANGE = late_pattern(r"\s?(?:~|-|…|\.\.|至)\s?-?\d")
_COMPARES = late_pattern(
    r"\b(?:from|than|instead of|compared|versus|vs|was|were|had|not)\b|比|从|由|相比|→|->|不是|降|升|增|减"
)


def _of_other_state(
    flat: str, figures: Sequence[TextFigure], before: Sequence[str], now: Backing
) -> Iterator[TextFigure]:
    """The figures that were measured in one state of the circuit only, and are told of the other one.

    Where a sentence tells of one state only it counts, else the clause that tells which; and of two figures
    that go from one to the other the first is the old one.
    """
    table = FactTable(now.measured or (), before)
    at = 0
    for end in (*_SENTENCE_END.finditer(flat), None):
        begin, stop = at, end.start() if end else len(flat)
        at = end.end() if end else at
        sentence = flat[begin:stop]
        own = [each for each in figures if begin <= each.start < stop and each.digits > 1]
        if not own or sentence.lstrip().startswith("|") or _OF_RUNS.search(sentence):
            continue
        for pair in pairs_in(sentence, [replace(e, start=e.start - begin, end=e.end - begin) for e in own]):
            if table.is_only(pair.first, is_old=False) and table.is_only(pair.second, is_old=True):
                labels = [{each.label for each in table.of(one)} for one in (pair.first, pair.second)]
                if labels[0] & labels[1]:
                    yield replace(pair.first, start=pair.first.start + begin, end=pair.first.end + begin)
        cuts = [begin, *(begin + cut.end() for cut in _CLAUSE_END.finditer(sentence)), stop]
        cuts += [each.end for each in own]
        is_whole = not (_COMPARES.search(sentence) or is_thought(sentence, ""))
        for figure in own:
            ahead = begin if is_whole else max(cut for cut in cuts if cut <= figure.start)
            behind = min((cut for cut in cuts if cut > figure.end), default=stop)
            scope = f"{flat[ahead : figure.start]} {flat[figure.end : behind]}"
            is_old, is_new = _SAID_OLD.search(scope) is not None, _SAID_NEW.search(scope) is not None
            if (
                is_old != is_new
                and not _RANGE.match(flat, figure.end)
                and table.is_only(figure, is_old=is_new)
                and not _is_asked(figure, (*before, *now.results), now.words)
            ):
                yield figure


def _is_asked(figure: TextFigure, results: Sequence[str], words: Sequence[str]) -> bool:
    """Whether it is one of the user's figures, or the end of a goal."""
    asked = [each.value for text in words for each in figures_in(plain(text[:_MOST_READ]))]
    asked += [end for limit in limits_in((), results) for end in limit.bounds]
    return any(is_rounding(figure, each, is_rough=False) for each in asked)


def _exchanged(flat: str, old: Known, new: Known) -> Iterator[TextFigure]:
    """The figures in a table told as old, by its heads, that only the circuit as it is has, and reversed."""

    def is_wrong(figure: TextFigure, *, is_old: bool) -> bool:
        own, other = (old, new) if is_old else (new, old)
        return figure.digits > 1 and other.has(figure, is_rough=False) and not own.has(figure, is_rough=False)

    columns: list[bool | None] = []
    at = 0
    for line in flat.split("\n"):
        cells = line.split("|") if line.lstrip().startswith("|") else []
        if cells and not columns:
            columns = [_state_in(cell, ()) for cell in cells]
        elif not cells:
            columns = []
        place = at
        of_row = _state_in(cells[1], ()) if len(cells) > 2 else None
        for cell, of_column in zip(cells, columns, strict=False):
            end = place + len(cell)
            is_old = of_row if of_column is None else of_column
            if is_old is not None:
                yield from (
                    replace(each, start=each.start + place, end=each.end + place)
                    for each in figures_in(flat[place:end])
                    if is_wrong(each, is_old=is_old) and each.unit not in PART_UNITS.values()
                )
            place = end + 1
        at += len(line) + 1
