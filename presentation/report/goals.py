"""Goals with their verdicts as a table of a document."""

from __future__ import annotations

from collections.abc import Sequence

from application.simulation.judging import JudgedGoal
from presentation.goal_margins import NOT_MEASURED, row_of, shown
from presentation.goal_words import name_of_judged
from presentation.report.blocks import Cell, Table, Translate
from shared.message import Message, msg, one_line


def goal_table(goals: Sequence[JudgedGoal], say: Translate) -> Table:
    has_expressions = any(each.verdict.goal.expression for each in goals)
    measured = (msg("Measured as"),) if has_expressions else ()
    head = (msg("Goal"), *measured, msg("Limit"), msg("Value"), msg("Margin"), msg("Verdict"))
    rows = []
    for each in goals:
        row = row_of(each.verdict)
        verdict = msg("not judged") if not each.is_judged else msg("met") if row.met else msg("missed")
        mood = "" if not each.is_judged else "ok" if row.met else "error"
        value = NOT_MEASURED if isinstance(row.value, Message) else shown(row.value)
        rows.append(
            (
                Cell(one_line(say(name_of_judged(each.verdict)))),
                *([Cell(one_line(each.verdict.goal.expression))] if has_expressions else []),
                Cell(say(shown(row.limit)), is_number=True),
                Cell(say(value), mood, is_number=True),
                Cell(say(shown(row.margin_text)), mood, is_number=True),
                Cell(say(verdict), mood),
            )
        )
    return Table(tuple(map(say, head)), tuple(rows))
