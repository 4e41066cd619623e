"""The traces of the project's turns: which step of which turn took how long, and what failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PyQt6.QtCore import QModelIndex, Qt
from PyQt6.QtGui import QStandardItem, QStandardItemModel
from PyQt6.QtWidgets import QLabel, QStackedWidget

from application.groups.program import Program
from application.ports.tracing import KeptSpan
from presentation.panels.debug.tally import OWN_TASK, EventTally
from presentation.trace_rows import end_words, row_words, time_words, tree_rows
from presentation.ui.rows import Role, RowLook, RowTree
from presentation.ui.styles import mark
from presentation.ui.workspace import WindowServices
from shared.errors import CircuitAIError
from shared.local_time import local_time
from shared.message import Message, msg

_TRACE = Role.LOOK + 1
_MOST_TURNS = 200
_ICONS = {"llm_call": "brain", "tool": "wrench"}
_PLAIN_ICON = "check"
_OPEN_ICON = "circle-dashed"
_TURNS = {"turn": msg("turn"), "design": msg("design")}


class TraceView(QStackedWidget):
    """A DebugView: a row a turn, the newest first; what was done in it below, read when it is opened."""

    def __init__(self, services: WindowServices, program: Program, _tally: EventTally) -> None:
        super().__init__()
        self._services = services
        self._program = program
        self._turns: Sequence[KeptSpan] = ()
        self._opened: dict[str, Sequence[KeptSpan]] = {}
        """The spans of the turns that are open, by trace."""
        self._problem: Message | None = None
        self.setObjectName("debugTraces")
        self._model = QStandardItemModel(self)
        self.tree = RowTree(services, "traceTree")
        self.tree.setModel(self._model)
        self.tree.expanded.connect(self._on_expanded)
        self.tree.collapsed.connect(self._on_collapsed)
        self._empty = QLabel()
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        mark(self._empty, role="tertiary")
        self.addWidget(self._empty)
        self.addWidget(self.tree)
        services.workspace.project_closed.connect(self._forget)
        services.language.changed.connect(self._show)
        self._show()

    @property
    def plain_text(self) -> str:
        """The turns with what is open of them, as `traces show` prints it."""
        language, lines = self._services.language, []
        for turn in self._turns:
            spans = self._opened.get(turn.trace_id, (turn,))
            lines += [f"{'  ' * depth}{row_words(span, language)}" for depth, span in tree_rows(spans)]
        return "\n".join(lines)

    async def refresh(self) -> None:
        """The turns there are now, and the spans of those that are open."""
        root, traces = self._services.workspace.root, self._program.traces
        if root is None:
            return
        try:
            turns = (await traces.turns(root))[:_MOST_TURNS]
            known = {turn.trace_id for turn in turns}
            opened = {
                trace: await traces.spans(root, trace) for trace in list(self._opened) if trace in known
            }
        except CircuitAIError as error:
            self._problem = error.message
            self._turns = ()
            self._show()
            return
        if root != self._services.workspace.root:
            return
        has_changed = self._problem is not None or turns != self._turns or opened != self._opened
        self._problem, self._turns, self._opened = None, turns, opened
        if has_changed:
            self._show()

    async def examine(self) -> None:
        await self.refresh()

    def _forget(self) -> None:
        self._turns, self._opened, self._problem = (), {}, None
        self._show()

    def _on_expanded(self, index: QModelIndex) -> None:
        trace = index.data(_TRACE)
        if trace and trace not in self._opened:
            self._opened[trace] = ()
            self._services.start(self.refresh(), kind=OWN_TASK, scope=OWN_TASK)

    def _on_collapsed(self, index: QModelIndex) -> None:
        self._opened.pop(index.data(_TRACE) or "", None)

    def _show(self) -> None:
        language = self._services.language
        nothing = msg("What each turn of the conversation does, and how long it takes, appears here.")
        self._empty.setText(language(self._problem or nothing))
        self.setCurrentWidget(self.tree if self._turns else self._empty)
        chosen = self._chosen_span()
        self.tree.blockSignals(True)  # opening a row again is not somebody's wish to open it
        self._model.clear()
        for turn in self._turns:
            item = self._turn_item(turn)
            self._model.appendRow(item)
            spans = self._opened.get(turn.trace_id)
            if spans is None:
                item.appendRow(QStandardItem())  # so that it can be opened
                continue
            self._add_spans(item, turn, spans)
            self.tree.expandRecursively(item.index())
        self.tree.blockSignals(False)
        self._choose_span(chosen)

    def _turn_item(self, turn: KeptSpan) -> QStandardItem:
        began = local_time(turn.started_ns / 1e9)
        name = self._services.language(_TURNS[turn.name]) if turn.name in _TURNS else turn.name
        item = self._item(turn, text=f"{'?' if began is None else f'{began:%m-%d %H:%M:%S}'}  {name}")
        item.setData(turn.trace_id, _TRACE)
        return item

    def _add_spans(self, top: QStandardItem, turn: KeptSpan, spans: Sequence[KeptSpan]) -> None:
        branch = [top]
        for depth, span in tree_rows([span for span in spans if span.span_id != turn.span_id]):
            item = self._item(span, text=span.name)
            del branch[depth + 1 :]
            branch[depth].appendRow(item)
            branch.append(item)

    def _item(self, span: KeptSpan, *, text: str) -> QStandardItem:
        language = self._services.language
        end = end_words(span, language)
        has_failed = span.status == "error"
        item = QStandardItem(f"{text}  {end}".rstrip())
        item.setToolTip("\n".join(f"{name}: {value}" for name, value in span.attributes.items()))
        look: Any = RowLook(
            icon="circle-x" if has_failed else _ICONS.get(span.name.split()[0], _plain_icon(span)),
            icon_color="error.text" if has_failed else "text.secondary",
            values=(time_words(span, language),),
        )
        item.setData(look, Role.LOOK)
        item.setData(span.span_id, _TRACE + 1)
        return item

    def _chosen_span(self) -> str:
        return str(self.tree.currentIndex().data(_TRACE + 1) or "")

    def _choose_span(self, span_id: str) -> None:
        if not span_id:
            return
        start = self._model.index(0, 0)
        flags = Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive
        found = self._model.match(start, _TRACE + 1, span_id, 1, flags)
        if found:
            self.tree.setCurrentIndex(found[0])


def _plain_icon(span: KeptSpan) -> str:
    return _OPEN_ICON if span.seconds is None else _PLAIN_ICON
