"""The operating point in the text: grey figures behind the lines of a circuit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from PyQt6 import sip
from PyQt6.QtCore import QObject

from domain.circuit.completion import Facts
from domain.simulation.description import Observed
from domain.simulation.operating_point import REGIONS
from domain.simulation.point_hints import Hint, point_hints
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.newest_point import NewestPoint
from presentation.panels.editor.overlay import LineHint
from presentation.panels.waveforms.figures import SPACE, quantity
from presentation.ui.workspace import WindowServices
from shared.message import msg

_DIGITS = 3


class PointHints(QObject):
    """Those of one editor; off until they are asked for."""

    def __init__(
        self,
        services: WindowServices,
        editor: CodeEditor,
        file: Callable[[], Path],
        facts: Callable[[], Facts | None],
        newest: NewestPoint,
    ) -> None:
        """`facts`: what is known of the circuit; None while it is of another text."""
        super().__init__(editor)
        self._services = services
        self._editor = editor
        self._file = file
        self._facts = facts
        self._newest = newest
        self._request = 0
        self.is_on = False
        workspace = services.workspace
        for changed in (
            workspace.run_finished,
            workspace.result_offered,
            workspace.result_waits,
            workspace.file_changed,
            services.language.changed,
        ):
            changed.connect(self._on_changed)  # a method: Qt lets go of it with the editor
        workspace.project_closed.connect(self._clear)
        editor.edited.connect(self._mark)

    def set_on(self, *, is_on: bool) -> None:
        """Show them, or take them away."""
        self.is_on = is_on
        self.refresh()

    def refresh(self) -> None:
        """Make them anew: another run, or another text."""
        self._request += 1
        if not self.is_on:
            self._editor.show_hints({})
        else:
            self._services.start(self._show(self._request), kind="operating point hints")

    def _on_changed(self, _what: object) -> None:
        self.refresh()

    def _clear(self) -> None:
        self._editor.show_hints({})

    def _mark(self) -> None:
        """The text was changed: what stands there is of an older one."""
        if self.is_on:
            self._editor.mark_hints()

    async def _show(self, request: int) -> None:
        facts, file = self._facts(), self._file()
        if facts is None or facts.names is None:
            return  # the text is being read: they come with what is found
        observed = await self._newest.of(file)
        hints: Mapping[int, Hint] = {}
        if observed is not None:
            hints = await asyncio.to_thread(point_hints, facts.names, facts.file, observed.point)
        if request != self._request or sip.isdeleted(self) or self._facts() is not facts:
            return  # another text or run, or its page was closed meanwhile
        shown = {line - 1: self._words(hint) for line, hint in hints.items()}
        self._editor.show_hints(
            self._with_source(shown, observed), is_stale=bool(observed and observed.is_older)
        )

    def _with_source(self, shown: dict[int, LineHint], observed: Observed | None) -> dict[int, LineHint]:
        """The first line says whose figures they are, or why there are none."""
        if observed is None:
            text = msg("No operating point yet: F5 simulates the circuit.")
        elif observed.is_older:
            text = msg("Figures of run {number}, of an older text", number=observed.number)
        else:
            text = msg("Operating point of run {number}", number=observed.number)
        return {**shown, 0: LineHint(self._services.language(text))}

    def _words(self, hint: Hint) -> LineHint:
        language = self._services.language
        words = []
        for figure in hint.figures:
            amount = ("0", figure.unit) if figure.value == 0 else quantity(figure.value, figure.unit, _DIGITS)
            number = SPACE.join(amount)
            words.append(f"{figure.name} {number}".strip())
        region = REGIONS.get(hint.region)
        if region is not None:
            words.append(language(region))
        if hint.instance:
            words.insert(0, f"{hint.instance}:")
        return LineHint("  ".join(words), is_unusual=hint.is_unusual)
