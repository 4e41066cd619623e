"""Above the messages of a project that another installation wrote into: what that means, and adopting it."""

from __future__ import annotations

from pathlib import Path

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from application.groups.project import Project
from application.project.adopting import StrangeHistory
from presentation.panels.conversation.stored import title_of
from presentation.ui import questions
from presentation.ui.frame import small_button
from presentation.ui.parts import arrange
from presentation.ui.styles import mark_area
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.message import Message, msg, visible

_LONGEST_NAME = 60
"""Characters: one long word would push what adopting means out of the question."""
_MOST_NAMED = 8


class StrangeRow(QWidget):
    """A line with two ways: look and adopt, or not now. Hidden where everything was written here."""

    adopted = pyqtSignal()

    def __init__(self, services: WindowServices, project: Project) -> None:
        super().__init__()
        self._services = services
        self._project = project
        self._root: Path | None = None
        self._put_off: set[Path] = set()
        self._icon, self._label = QLabel(), QLabel()
        self._label.setWordWrap(True)
        self._column = QVBoxLayout(self)
        self._words, self._ways = QHBoxLayout(), QHBoxLayout()
        self._words.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._words.addWidget(self._label, 1)
        self._ways.addStretch(1)
        arrange(self._column, self._words, self._ways)
        self.look_button = small_button("strange_look", self._look)
        self.later_button = small_button("strange_later", self._not_now)
        for button in (self.look_button, self.later_button):
            self._ways.addWidget(button)
        self.setObjectName("strangeRow")
        mark_area(self, surface="panel", line="bottom")
        self.hide()

    def show_project(self, root: Path | None, *, is_strange: bool) -> None:
        """Whether something in the project was written elsewhere."""
        self._root = root
        self.setVisible(is_strange and root is not None and root not in self._put_off)

    def restyle(self) -> None:
        theme = self._services.theme.theme
        edge, gap, size = theme.size("space.3"), theme.size("space.1"), theme.size("icon.default")
        arrange(self._column, edges=(edge, theme.size("space.2"), edge, theme.size("space.2")), gap=gap)
        for row in (self._words, self._ways):
            row.setSpacing(theme.size("space.2"))
        icon = self._services.icons.get("history", "text.secondary", size)
        self._icon.setPixmap(icon.pixmap(size, size))

    def retranslate(self) -> None:
        language = self._services.language
        self._label.setText(
            language(
                msg("The history of this project was written on another computer. It can be read but not "
                    "continued.")
            )
        )  # fmt: skip
        self.look_button.setText(language(msg("Review and adopt…")))
        self.later_button.setText(language(msg("Not now")))

    def _not_now(self) -> None:
        if self._root is not None:
            self._put_off.add(self._root)
        self.hide()

    def _look(self) -> None:
        if self._root is not None:
            self._services.start(self._adopt_after_question(self._root), kind="question")

    async def _adopt_after_question(self, root: Path) -> None:
        try:
            history = await self._project.adopt.look(root)
            if not await self._is_agreed(history):
                return
            await self._project.adopt(root)
        except CircuitAIError as error:
            self._services.workspace.error_occurred.emit(error)
            return
        self.adopted.emit()

    async def _is_agreed(self, history: StrangeHistory) -> bool:
        language = self._services.language
        lines = [language(line) for line in _told(history)]
        names = [title_of(info.name, info.preview) for info in history.conversations]
        lines += [f"  · {_short(name)}" for name in names[:_MOST_NAMED]]
        if len(names) > _MOST_NAMED:
            lines.append(language(msg("  and {count} more", count=len(names) - _MOST_NAMED)))
        lines += ["", language(_MEANING)]
        return await questions.choose(
            self._services,
            self,
            title=msg("Adopt the history of this project"),
            text=msg("{text}", text="\n".join(lines)),
            options=((True, msg("Adopt"), ""), (False, msg("Leave as is"), "")),
            cancelled=False,
        )


def _told(history: StrangeHistory) -> tuple[Message, ...]:
    first, last = history.first_and_last
    return (
        msg("Written between {first} and {last}.", first=first[:10] or "?", last=last[:10] or "?"),
        msg(
            "File changes and simulations: {count}, of which {unfinished} were not finished.",
            count=len(history.operations),
            unfinished=len(history.unfinished),
        ),
        msg("Results: {count}.", count=history.results),
        msg(
            "Conversations: {count}, of which {waiting} were not finished.",
            count=len(history.conversations),
            waiting=len(history.waiting),
        ),
    )


_MEANING = msg(
    "Once adopted, conversations can be continued and changes undone. Work in progress is ended, the "
    "answers in it are ignored, and results stay marked as computed elsewhere."
)


def _short(name: str) -> str:
    name = visible(" ".join(name.split()))
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
