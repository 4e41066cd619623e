"""What stands on the editor's tabs: names, told apart by their folders, and icons."""

from __future__ import annotations

from presentation.panels.editor.centre_page import CentrePage
from presentation.panels.editor.examination import is_spice
from presentation.panels.editor.page import EditorPage
from presentation.ui.closable_tabs import ClosableTabs
from presentation.ui.name_cut import middle_cut
from presentation.ui.workspace import WindowServices
from shared.message import msg, one_line

_ICONS = {".json": "braces", ".md": "file-text", ".txt": "file-text"}


def refresh_titles(services: WindowServices, tabs: ClosableTabs) -> None:
    """Write the titles of all tabs anew."""
    shown = [tabs.tabData(index) for index in range(tabs.count())]
    names = [page.path.name for page in shown if isinstance(page, EditorPage)]
    theme, icons = services.theme.theme, services.icons
    for index, page in enumerate(shown):
        if isinstance(page, CentrePage):
            tabs.setTabText(index, page.tab_title().replace("&", "&&"))
            tabs.setTabIcon(index, icons.get(page.icon, size=theme.size("icon.default")))
        elif isinstance(page, EditorPage):
            title = _title(services, page, is_alone=names.count(page.path.name) == 1)
            title = middle_cut(tabs.fontMetrics(), one_line(title), theme.size("pane.left_default"))
            tabs.setTabText(index, title.replace("&", "&&"))  # one & would underline the next letter
            tabs.setTabToolTip(index, one_line(str(page.path)))
            tabs.setTabIcon(index, icons.get(_icon(page), size=theme.size("icon.default")))


def _title(services: WindowServices, page: EditorPage, *, is_alone: bool) -> str:
    title = page.path.name if is_alone else f"{page.path.parent.name}/{page.path.name}"
    return services.language(msg("{name} (deleted)", name=title)) if page.is_deleted else title


def _icon(page: EditorPage) -> str:
    if page.is_deleted:
        return "file-x"
    return "file-code" if is_spice(page.path) else _ICONS.get(page.path.suffix.lower(), "file")
