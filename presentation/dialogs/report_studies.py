"""Which of a circuit's kept studies a design report tells."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PyQt6.QtWidgets import QCheckBox, QDialog, QWidget

from application.project.browsing import ResultSummary
from application.reports.kept_studies import MOST_STUDIES, NO_STUDIES, newest_of_each
from presentation.study_words import title_of
from presentation.ui.parts import text_label
from presentation.ui.small_dialog import SmallDialog
from presentation.ui.workspace import WindowServices
from shared.local_time import local_time
from shared.message import Message, msg

_MOST_SHOWN = 30


class ReportStudiesDialog(SmallDialog):
    """A box for each study, the newest first; checked is the newest of each kind that was run here."""

    def __init__(
        self, services: WindowServices, circuit: Path, kept: Sequence[ResultSummary], parent: QWidget | None
    ) -> None:
        language = services.language
        super().__init__(
            services,
            parent,
            "reportStudies",
            title=msg("Design report of {name}", name=circuit.name),
            text=language(msg("Studies that go into the report:")),
        )
        usual = {each.number for each in newest_of_each(kept)}
        self.boxes: dict[int, QCheckBox] = {}
        for each in kept[:_MOST_SHOWN]:
            box = QCheckBox(language(_words(each)).replace("&", "&&"))
            box.setObjectName(f"study_{each.number}")
            box.setChecked(each.number in usual)
            box.toggled.connect(self._count)
            self.boxes[each.number] = box
            self.add(box)
        left_out = len(kept) - len(self.boxes)
        if left_out > 0:
            told = msg("{count} older ones are not offered.", count=left_out)
            self.add(text_label(language(told), role="small"))
        self._note = text_label(
            language(msg("At most {most} studies go into a report.", most=MOST_STUDIES)), role="small"
        )
        self.add(self._note)
        self.add_button(msg("Cancel"), act=self.reject)
        self._go_on = self.add_button(msg("Choose the file…"), kind="primary", act=self.accept)
        self._count()

    @property
    def chosen_runs(self) -> list[str]:
        """As `KeptStudies.chosen` wants them."""
        return [str(number) for number, box in self.boxes.items() if box.isChecked()] or [NO_STUDIES]

    def _count(self, _checked: bool = False) -> None:
        is_much = sum(box.isChecked() for box in self.boxes.values()) > MOST_STUDIES
        self._note.setVisible(is_much)
        self._go_on.setEnabled(not is_much)

    async def ask(self) -> list[str] | None:
        """The runs of the chosen studies; None when the person thinks better of it."""
        over: asyncio.Future[list[str] | None] = asyncio.get_running_loop().create_future()

        def on_finished(code: int) -> None:  # the boxes are gone afterwards
            if not over.done():
                over.set_result(self.chosen_runs if code == QDialog.DialogCode.Accepted else None)

        self.finished.connect(on_finished)
        self.open()
        try:
            return await over
        except asyncio.CancelledError:
            self.reject()
            raise


def _words(each: ResultSummary) -> Message:
    local = local_time(each.created)
    when = each.created[:16] if local is None else f"{local:%Y-%m-%d %H:%M}"
    told = msg("{study}, run {number}, {time}", study=title_of(each.study), number=each.number, time=when)
    return told if each.is_ours else msg("{study} (not run by this installation)", study=told)
