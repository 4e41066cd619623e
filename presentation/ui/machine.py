"""What was found out about this machine, as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presentation.ui.facts import Fact, FactGroup
from shared.message import Message, msg

if TYPE_CHECKING:
    from application.examining import ExaminationReport

_NAMES: dict[str, Message] = {
    "confinement": msg("Confinement"),
    "fonts": msg("Fonts"),
    "keys": msg("Keys"),
    "proxy": msg("Proxy"),
}


def name_of_point(name: str) -> Message:
    """What a point of an examination is called in the window."""
    return _NAMES.get(name) or msg("{text}", text=name)


def machine_facts(report: ExaminationReport | None) -> FactGroup:
    """The points of an examination; None while it is under way."""
    if report is None:
        under_way = Fact(name=msg("{text}", text="ngspice"), value=msg("checking"), state="unused")
        return FactGroup(title=msg("This computer"), facts=(under_way,))
    facts = tuple(
        Fact(
            name=name_of_point(found.name),
            value=found.message,
            state=found.state,
            advice=found.advice,
        )
        for found in report.findings
    )
    return FactGroup(title=msg("This computer"), facts=facts)
