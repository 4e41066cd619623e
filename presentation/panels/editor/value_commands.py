"""Studies of the value at the caret: it is tuned under a slider, or swept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from domain.circuit.quantity_at import quantity_at
from domain.studies.setup import SetupKind
from presentation.panels.editor.examination import has_title, is_spice
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import WindowServices
from shared.message import msg


class Area(Protocol):
    """Who has the texts."""

    def current_page(self) -> EditorPage | None: ...


class ValueCommands:
    """The commands for the value at the caret of the text in front."""

    def __init__(self, services: WindowServices, area: Area) -> None:
        self._services = services
        self._area = area

    def acts(self) -> dict[str, Callable[[], object]]:
        """What each does, by its name in the table of actions."""
        return {
            "editor.tune": partial(self._study, "tune"),
            "editor.sweep": partial(self._study, "sweep"),
            "editor.map": partial(self._study, "map"),
        }

    def _study(self, kind: SetupKind) -> None:
        page = self._area.current_page()
        if page is not None and is_spice(page.path):
            self._services.start(self._open(page, kind), kind="value at caret", scope="value at caret")

    async def _open(self, page: EditorPage, kind: SetupKind) -> None:
        workspace = self._services.workspace
        text, offset = page.editor.text(), page.editor.caret_byte()
        titled = has_title(page.path)
        name = await asyncio.to_thread(quantity_at, text.encode(), offset, has_title=titled)
        if name is None:
            workspace.status_changed.emit(msg("There is no value here that a study can change."))
        else:
            workspace.studies_wanted.emit(page.path, kind, name)
