"""What is asked of all open files at once: their texts, what is unsaved, and where one is in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path

from application.project.unsaved_texts import UnsavedText
from presentation.panels.editor.code_editor import CodeEditor
from presentation.panels.editor.large_texts import LARGEST_KEPT
from presentation.panels.editor.opening import absolute
from presentation.panels.editor.page import EditorPage
from presentation.ui.workspace import Place


class OpenTexts:
    """The answers of whoever has the pages; the greater part of `workspace.Buffers`."""

    def pages(self) -> tuple[EditorPage, ...]:
        """The pages of files, from left to right."""
        raise NotImplementedError

    def current_page(self) -> EditorPage | None:
        """The page in front, None when there is none or it is no file."""
        raise NotImplementedError

    def current_editor(self) -> CodeEditor | None:
        page = self.current_page()
        return page.editor if page is not None else None

    def page_of(self, path: Path) -> EditorPage | None:
        wanted = absolute(path)
        return next((page for page in self.pages() if page.path == wanted), None)

    def save_all(self) -> bool:
        """Write every unsaved text, waiting for the disk; False when one could not be written."""
        saved = [page.save_now() for page in self.pages() if page.is_dirty]  # each, also behind a failure
        return all(saved)

    async def save_unsaved(self) -> bool:
        """The same without holding the loop."""
        saved = [await page.save() for page in self.pages() if page.is_dirty]
        return all(saved)

    def is_dirty(self, path: Path) -> bool:
        """Whether the text of this file is unsaved."""
        page = self.page_of(path)
        return page is not None and page.is_dirty

    def open_files(self) -> tuple[Path, ...]:
        return tuple(page.path for page in self.pages())

    def open_texts(self) -> dict[Path, str]:
        """What there is of each open file, unsaved changes included, but for large ones: none is read."""
        return {page.path: page.editor.text() for page in self.pages() if not page.is_large}

    def bytes_to_save(self, path: Path) -> bytes | None:
        """What saving an open file would write; None for others."""
        page = self.page_of(path)
        return None if page is None else page.bytes_to_save()

    def front(self) -> tuple[Path, int, int, str] | None:
        page = self.current_page()
        return None if page is None else (page.path, *page.editor.caret(), page.editor.selectedText())

    def selected_lines(self) -> tuple[Path, int, int] | None:
        page = self.current_page()
        if page is None or not page.editor.hasSelectedText():
            return None
        first, _, last, column = page.editor.getSelection()
        return page.path, first + 1, last + (1 if column else 0)  # nothing is selected of a line at its start

    def unsaved(self) -> tuple[Path, ...]:
        return tuple(page.path for page in self.pages() if page.is_dirty)

    def unsaved_marks(self) -> Mapping[Path, Hashable]:
        """Of those that are kept over an unexpected end."""
        pages = (page for page in self.pages() if page.is_dirty)
        return {page.path: page.unsaved_mark for page in pages if page.editor.byte_length() <= LARGEST_KEPT}

    def unsaved_text(self, path: Path) -> UnsavedText:
        page = self.page_of(path)
        if page is None:
            raise KeyError(path)
        return page.unsaved_text()

    def places(self) -> Mapping[Path, Place]:
        return {page.path: page.editor.place() for page in self.pages()}
