"""What the Help menu tells: the keys, what works on this machine, what the program is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presentation.window import questions
from shared.message import msg

if TYPE_CHECKING:
    from presentation.window.main_window import MainWindow

_MARKS = {"ok": "✓", "warning": "!", "missing": "✗", "unused": "·"}


def show_keys(window: MainWindow) -> None:
    """The keys, as a list."""
    language = window.services.language
    rows = [f"{command.key:<14} {language(command.text)}" for command in window.commands.all if command.key]
    questions.tell(window.services, window, title=msg("Keyboard"), text="\n".join(rows))


def show_doctor(window: MainWindow) -> None:
    """What works on this machine; it takes some seconds to find out."""
    window.services.workspace.status_changed.emit(msg("Examining this machine"))
    window.services.start(_examine(window), kind="examine")


async def _examine(window: MainWindow) -> None:
    services = window.services
    report = await services.app.examine()
    rows = []
    for finding in report.findings:
        rows.append(f"{_MARKS[finding.state]} {finding.name}: {services.language(finding.message)}")
        if finding.advice is not None:
            rows.append(f"    {services.language(finding.advice)}")
    rows.append("")
    rows.append(
        services.language(
            msg("Circuits can be simulated here.")
            if report.can_simulate
            else msg("Circuits can't be simulated here until the points marked ✗ are mended.")
        )
    )
    services.workspace.status_changed.emit(msg("This machine was examined"))
    questions.tell(services, window, title=msg("This machine"), text="\n".join(rows))


def show_about(window: MainWindow) -> None:
    """What this program is."""
    text = window.services.language(
        msg("An open environment for SPICE design with an assistant whose every step can be undone.")
    )
    questions.tell(window.services, window, title=msg("About Circuit Design AI"), text=text)
