"""Rules of an earlier version, for tools that are part of others now."""

from pathlib import Path
from typing import Any, cast

from application.tool_execution.executor import Judging
from domain.llm.tools.confirmation import Permissions, Rule


class Store:
    def __init__(self, *rules: Rule) -> None:
        self._rules = rules

    def of_project(self, _root: Path) -> Permissions:
        return Permissions(rules=self._rules)


async def test_what_was_denied_or_asked_stays_so_and_what_was_allowed_is_asked_again() -> None:
    kept = Rule(decision="allow", tool="move_file")
    rules = (
        Rule(decision="allow", tool="rename_file"),
        Rule(decision="deny", tool="rename_file"),
        Rule(decision="ask", tool="optimize_parameters"),
        kept,
    )
    found = await Judging(cast("Any", Store(*rules))).permissions(Path("/p"))
    assert found.rules == (
        Rule(decision="deny", tool="move_file"),
        Rule(decision="ask", tool="run_study"),
        kept,
    )
