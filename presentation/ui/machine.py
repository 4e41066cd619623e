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
    "proxy": msg("Proxy"),
}


def machine_facts(report: ExaminationReport | None) -> FactGroup:
    """The points of an examination; None while it is under way."""
    if report is None:
        under_way = Fact(name=msg("{text}", text="ngspice"), value=msg("being examined"), state="unused")
        return FactGroup(title=msg("This machine"), facts=(under_way,))
    facts = tuple(
        Fact(
            name=_NAMES.get(found.name) or msg("{text}", text=found.name),
            value=found.message,
            state=found.state,
            advice=found.advice,
        )
        for found in report.findings
    )
    return FactGroup(title=msg("This machine"), facts=facts)
