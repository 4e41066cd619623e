"""A report in one language: as a page, as Markdown with its pictures beside it, or as a PDF file."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from application.ports.reports import ReportFormat
from application.reports.circuit_report import CircuitReport
from presentation.report.document import WORDS, document_of
from presentation.report.writing import as_markdown, as_page, pictures_of
from presentation.translation import Translator
from shared.errors import EnvironmentProblem
from shared.message import msg
from shared.processes import ProcessLimits, ProcessManager
from shared.uninterrupted import off_loop

_ROOT = Path(__file__).resolve().parents[2]
_LIMITS = ProcessLimits(wall_s=90.0, output_bytes=64 * 1024)


class TranslatedPages:
    """Implements application.reports.making.ReportPages."""

    def __init__(self, translate: Translator) -> None:
        self._translate = translate

    @property
    def words(self) -> Mapping[str, str]:
        return {key: self._translate(word) for key, word in WORDS.items()}

    async def files(self, report: CircuitReport, form: ReportFormat, stem: str) -> Mapping[str, bytes]:
        if form == "md":
            return await off_loop(self._markdown, report, stem)
        page = await off_loop(self._page, report)
        return {f"{stem}.{form}": page if form == "html" else await _printed(page)}

    def _page(self, report: CircuitReport) -> bytes:
        blocks = document_of(report, self._translate, now=datetime.now().astimezone())
        return as_page(blocks, language=self._translate.language).encode("utf-8")

    def _markdown(self, report: CircuitReport, stem: str) -> Mapping[str, bytes]:
        blocks = document_of(report, self._translate, now=datetime.now().astimezone())
        pictures = {f"{stem}-{n}.svg": svg.encode("utf-8") for n, svg in enumerate(pictures_of(blocks), 1)}
        text = as_markdown(blocks, pictures=[name.replace(" ", "%20") for name in pictures])
        return {f"{stem}.md": text.encode("utf-8"), **pictures}


async def _printed(page: bytes) -> bytes:
    """The page as PDF, by a web view in a process of its own. Raises EnvironmentProblem."""

    def begin() -> tempfile.TemporaryDirectory[str]:
        folder = tempfile.TemporaryDirectory(prefix="report-")
        Path(folder.name, "report.html").write_bytes(page)
        return folder

    folder = await off_loop(begin)
    try:
        source, target = Path(folder.name, "report.html"), Path(folder.name, "report.pdf")
        command = [sys.executable, "-m", "presentation.report.printer", str(source), str(target)]
        paths = [str(_ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        outcome = await ProcessManager().run(command, env=environment, limits=_LIMITS)
        if outcome.exit_code != 0 or outcome.timed_out:
            raise EnvironmentProblem(
                msg("The report could not be printed: Qt WebEngine is missing or does not start here."),
                advice=msg("Write it as .html and print it from a browser."),
                error_type="no_printer",
            )
        return await off_loop(target.read_bytes)
    finally:
        await off_loop(folder.cleanup)
