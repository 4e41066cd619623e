"""The button that pauses a run, and lets it go on."""

from __future__ import annotations

from presentation.ui.frame import IconButton
from presentation.ui.workspace import WindowServices
from shared.message import msg


class PauseButton(IconButton):
    """Two bars while the run is under way, a triangle while it stands still."""

    def __init__(self, services: WindowServices, *, name: str) -> None:
        super().__init__(services, "pause", msg("Pause the simulation"), action="pauseRun", name=name)

    def show_paused(self, *, is_paused: bool) -> None:
        icon, text = (
            ("play", msg("Continue the simulation")) if is_paused else ("pause", msg("Pause the simulation"))
        )
        self.set_icon(icon, text)
