"""What undoing a change of a model would do: told below the bar that offers it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain.llm.tools.text_files import lines_of
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.examination import is_spice
from presentation.panels.preview_strip import PreviewStrip
from presentation.ui.previews import Proposal
from presentation.ui.workspace import WindowServices
from shared.message import msg

if TYPE_CHECKING:
    from domain.llm.tools.pieces import Piece


class UndoPreview:
    """Of one editor. `file` is its path; `encoded` makes a text what its file would hold."""

    def __init__(
        self,
        services: WindowServices,
        editor: CodeEditor,
        *,
        file: Callable[[], Path],
        encoded: Callable[[str], bytes],
    ) -> None:
        self._services = services
        self._editor = editor
        self._file = file
        self._encoded = encoded
        self._key = f"undo {id(self)}"
        self._looked_at: tuple[Piece, ...] = ()
        self.strip = PreviewStrip(services, "undoPreview")
        self.strip.preview_wanted.connect(self._want)
        self.strip.left.connect(editor.setFocus)

    def look(self, pieces: Sequence[Piece], *, are_all: bool, is_new: bool = True) -> None:
        """Find out what undoing these places would do; none: nothing any more. Without `is_new` only where
        they are others."""
        previews = self._services.workspace.previews
        if previews is None or not is_spice(self._file()):
            return
        if not pieces:
            self._looked_at = ()
            self.strip.leave()
            previews.forget(self._key)
            return
        if tuple(pieces) == self._looked_at and not is_new:
            return
        self._looked_at = tuple(pieces)
        self.strip.begin(msg("Undo all:") if are_all else msg("Undo here:"))
        contents = {self._file(): self._encoded(without(self._editor.text(), pieces))}
        proposal = Proposal(
            contents=contents, circuit=self._file(), is_seen=self._editor.isVisible, is_undo=True
        )
        previews.ask(self._key, proposal, self.strip.show_preview)

    def _want(self) -> None:
        if (previews := self._services.workspace.previews) is not None:
            previews.want(self._key)


def without(text: str, pieces: Sequence[Piece]) -> str:
    """The text as it would be without these changes of it."""
    lines = lines_of(text)
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line.endswith(("\n", "\r"))), "\n")
    for piece in sorted(pieces, key=lambda each: each.line, reverse=True):
        at = piece.line - 1
        lines[at : at + len(piece.hunk.added)] = [line + end for line in piece.hunk.removed]
    return "".join(lines)
