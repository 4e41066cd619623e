"""The program's window in a process of its own, with a study, or what else simulates by itself, at work.

    python -m tests.gui.studying_session FEATURE PROJECT     works at it until it is killed
    python -m tests.gui.studying_session look PROJECT        tells what is there and ends

Lines of the standard output as `editing_session`. "begins": the feature is at work.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from PyQt6.QtCore import QEvent, QPoint, QPointF, Qt
from PyQt6.QtGui import QMouseEvent
from PyQt6.QtTest import QTest
from PyQt6.QtWidgets import QApplication, QLineEdit

from domain.llm.chat import ProviderChoice
from presentation.panels.studies.extremes_view import WorstCaseView
from presentation.panels.studies.page import StudiesPage
from presentation.panels.studies.search_view import SearchView
from presentation.panels.studies.tune_view import TuneView
from presentation.ui.previews import Preview, Proposal
from presentation.window.notice import Notice
from tests.gui.editing_session import Session, live, tell

CIRCUIT = "stage.cir"
KINDS = {
    "sweep": "sweep",
    "montecarlo": "montecarlo",
    "corners": "corners",
    "worst case": "worst-case",
    "sensitivity": "sensitivity",
    "map": "map",
    "optimize": "optimize",
}
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class StudySession(Session):
    """Each feature by the widgets, keys and commands by which it is reached."""

    @property
    def circuit(self) -> Path:
        return self.root / CIRCUIT

    async def at_work(self, feature: str) -> None:
        """Work at one feature for ever."""
        await self.filled()
        await self.show(CIRCUIT)
        workspace = self.services.workspace
        await self._until(lambda: workspace.run_target == self.circuit)
        acts: Mapping[str, Callable[[], Awaitable[None]]] = {
            "tune": self._tune,
            "apply": self._apply,
            "search": self._search,
            "case": self._case,
            "cases": self._cases,
            "pull": self._pull,
            "influence": self._influence,
            "yield": self._yield,
            "since when": self._since_when,
            "fix": self._fix,
            "assistant": self._assistant,
        }
        if feature in KINDS:
            await self._study(KINDS[feature])
        else:
            await acts[feature]()
        await asyncio.sleep(3600)

    async def look(self) -> None:
        """Tell what is there and end the program."""
        await self.filled()
        await self._until(lambda: not self._tasks("take up what was cut off", "read results"))
        results = await self.window.parts.app.project.browse.results(self.root, with_studies=True)
        read = []
        for each in results:
            if each.study:
                study = await self.window.parts.app.simulation.read_study(each.path)
                read.append({"path": str(each.path), "kind": study.kind, "rows": len(study.rows),
                             "is_stopped": study.is_stopped})  # fmt: skip
        told = [each.label.text() for each in self.window.findChildren(Notice) if each.isVisible()]
        tell(
            "state",
            studies=read,
            notices="\n".join(told),
            unsaved=[path.name for path in self.editor.unsaved()],
        )
        self.window.close_requested.emit()
        await asyncio.sleep(3600)

    # ---- what is waited for ----------------------------------------------------------------------

    async def _until(self, condition: Callable[[], Any]) -> None:
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)

    def _tasks(self, *kinds: str) -> bool:
        return any(each.kind in kinds for each in self.window.parts.app.program.tasks.handles)

    async def _begins(self, *kinds: str) -> None:
        await self._until(lambda: self._tasks(*kinds))
        tell("begins")

    async def _run(self) -> None:
        """F5, until its curves are drawn and its points can be taken."""
        self.services.workspace.run_requested.emit()
        panel = self.window.parts.runs.waveforms
        await self._until(lambda: bool(panel.traces) and panel.area is not None)
        await self._until(lambda: not self.window.parts.app.program.tasks.handles or self._tasks("yield"))

    # ---- studies ---------------------------------------------------------------------------------

    async def _page(self, kind: str) -> StudiesPage:
        self.services.workspace.studies_wanted.emit(None, kind, "")
        page = self.window.parts.studies.page_of(self.circuit)
        await self._until(lambda: page.kind == kind and page.view is not None and page.isVisible())
        page.work.kept.connect(lambda kind, path: tell("kept", kind=kind, path=str(path)))
        return page

    async def _study(self, kind: str) -> None:
        page = await self._page(kind)
        assert page.view is not None
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        await self._begins("study")

    async def _search(self) -> None:
        page = await self._page("worst-case")
        assert page.view is not None
        method = page.view.setup_pane.boxes["method"]
        method.setCurrentIndex(method.count() - 1)
        method.activated.emit(method.count() - 1)
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        await self._begins("study")

    async def _tune(self) -> None:
        page = await self._page("tune")
        assert page.view is not None
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        view = page.view.result
        assert isinstance(view, TuneView)
        await self._until(lambda: bool(view.knobs) and view.area is not None)
        tell("begins")
        while True:
            for knob in view.knobs:
                QTest.keyClick(knob.slider, Qt.Key.Key_Right)
                await asyncio.sleep(0.02)

    async def _apply(self) -> None:
        """Found values are written and taken back, again and again."""
        page = await self._page("optimize")
        assert page.view is not None
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        await self._until(lambda: page.work.running is not None)
        await self._until(lambda: page.work.running is None and page.view.study is not None)
        view = page.view.result
        assert isinstance(view, SearchView)
        tell("begins")
        while True:
            for is_applied in (True, False):
                QTest.mouseClick(view.apply_button, LEFT)
                await self._until(lambda is_applied=is_applied: page.acts.is_applied is is_applied)
                tell("written" if is_applied else "undone", text=self.circuit.read_text("utf-8"))

    async def _case(self) -> None:
        """The worst run is kept as a case, again and again under another name."""
        page = await self._page("worst-case")
        assert page.view is not None
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        await self._until(lambda: page.work.running is not None)
        await self._until(lambda: page.work.running is None and page.view.study is not None)
        view = page.view.result
        assert isinstance(view, WorstCaseView)
        tell("begins")
        for number in range(15):
            QTest.mouseClick(view.keep_button, LEFT)
            await self._until(lambda: self._answer() is not None)
            answer = self._answer()
            assert answer is not None
            answer.setText(f"case {number}")
            QTest.keyClick(answer, Qt.Key.Key_Return)
            await self._until(lambda: self._answer() is None and not self._tasks("question"))
            tell("case", name=f"case {number}")

    def _answer(self) -> QLineEdit | None:
        asked = [each for each in QApplication.topLevelWidgets() if each.objectName() == "textQuestion"]
        return next((each.findChild(QLineEdit, "answer") for each in asked if each.isVisible()), None)

    async def _cases(self) -> None:
        page = await self._page("worst-case")
        assert page.view is not None
        QTest.mouseClick(page.view.setup_pane.run_button, LEFT)
        await self._until(lambda: page.work.running is not None)
        await self._until(lambda: page.work.running is None and page.view.study is not None)
        assert isinstance(page.view.result, WorstCaseView)
        QTest.mouseClick(page.view.result.keep_button, LEFT)
        await self._until(lambda: self._answer() is not None)
        QTest.keyClick(self._answer(), Qt.Key.Key_Return)
        await self._until(lambda: self._answer() is None and not self._tasks("question"))
        tell("case", name="Worst case")
        await self.show(CIRCUIT)
        self.services.workspace.run_requested.emit()
        await self._begins("cases")

    # ---- what follows a hand, and what is done in idle time ----------------------------------------

    async def _pull(self) -> None:
        await self._run()
        area = self.window.parts.runs.waveforms.area
        assert area is not None
        await self._until(lambda: any(each.direction == "across" for each in area.pulls.points))
        point = next(each for each in area.pulls.points if each.direction == "across")

        def send(kind: QEvent.Type, frequency: float, button: Qt.MouseButton) -> None:
            viewport = area.viewport()
            scene = area.panes[0].box.mapViewToScene(QPointF(math.log10(frequency), point.level))
            place = area.mapFromScene(scene) + QPoint(0, 0)
            where = QPointF(viewport.mapToGlobal(place))
            event = QMouseEvent(kind, QPointF(place), where, button, LEFT if button is LEFT else button, NONE)
            QApplication.sendEvent(viewport, event)

        here = point.quantity.value
        send(QEvent.Type.MouseMove, here, Qt.MouseButton.NoButton)
        send(QEvent.Type.MouseButtonPress, here, LEFT)
        tell("begins")
        turn = 0
        while True:
            turn += 1
            send(QEvent.Type.MouseMove, here * (1.3 + 0.2 * math.sin(turn / 5)), LEFT)
            await asyncio.sleep(0.02)
            if turn == 100:
                send(QEvent.Type.MouseButtonRelease, here * 1.3, LEFT)
                tell("released")

    async def _influence(self) -> None:
        self.services.workspace.command_wanted.emit("influence")
        await self._begins("influence")

    async def _yield(self) -> None:
        await self._run()
        await self._begins("yield")

    async def _since_when(self) -> None:
        operations, text = self.window.parts.app.project.operations, self.circuit.read_text("utf-8")
        for number in range(20):
            before, text = text, text.replace(f"RX x 0 {number + 1}k", f"RX x 0 {number + 2}k")
            if number == 7:
                text = text.replace("R1 in a 1k", "R1 in a 100k")
            await operations.rewrite(
                self.root,
                {self.circuit: text.encode()},
                expected={self.circuit: hashlib.sha256(before.encode()).hexdigest()},
                tool="patch_file",
            )
            tell("written", text=text)
        self.services.workspace.command_wanted.emit("sinceWhen")
        await self._begins("since when")

    async def _fix(self) -> None:
        """What a quick fix would do, for one value after the other."""
        previews = self.services.workspace.previews
        assert previews is not None
        known: list[Preview | None] = []
        tell("begins")
        for value in range(2, 1000):
            changed = self.circuit.read_text("utf-8").replace("R1 in a 1k", f"R1 in a {value}k")
            known.clear()
            contents: Mapping[Path, bytes | None] = {self.circuit: changed.encode()}
            previews.ask("fix", Proposal(contents=contents, circuit=self.circuit), known.append)
            await self._until(lambda: any(each and each.state == "done" for each in known))

    async def _assistant(self) -> None:
        """A change waits for permission, with what it would do beside it."""
        self.window.panes.show_pane("right")
        await self._until(self.conversation.isVisible)
        model = self.conversation.model
        url = os.environ["STUDY_SESSION_MODEL"]
        model.set_choice(ProviderChoice(provider="openai-compatible", model="fake", base_url=url))
        QTest.keyClicks(self.conversation.composer.edit, "Lower it.")
        QTest.keyClick(self.conversation.composer.edit, Qt.Key.Key_Return)
        await self._begins("preview")


def main() -> int:
    """See the module."""
    feature, place = sys.argv[1:]

    def work(session: StudySession) -> Coroutine[Any, Any, None]:
        return session.look() if feature == "look" else session.at_work(feature)

    return live(Path(place), StudySession, work, asks_at_end=feature != "look")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
