"""A report made and written: as a page, as Markdown with its pictures beside it, or as a PDF file."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from application.app import Application
from presentation.report.document import WORDS, Block, document_of
from presentation.report.writing import as_markdown, as_page, pictures_of
from presentation.translation import Translator
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg
from shared.processes import ProcessLimits, ProcessManager
from shared.uninterrupted import off_loop

ReportFormat = Literal["pdf", "html", "md"]
FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)

_ROOT = Path(__file__).resolve().parents[2]
_LIMITS = ProcessLimits(wall_s=90.0, output_bytes=64 * 1024)


def format_of(target: Path) -> ReportFormat:
    """What the name of a file asks for. Raises UserInputError."""
    ending = target.suffix.lower().removeprefix(".")
    found = next((each for each in FORMATS if each == ending), None)
    if found is None:
        raise UserInputError(
            msg("A report is a .pdf, .html or .md file, not {name}.", name=target.name),
            advice=msg("Give the file one of these endings."),
            file=target,
            error_type="bad_usage",
        )
    return found


async def make_report(
    app: Application,
    project: Path,
    target: Path,
    translate: Translator,
    *,
    circuit: Path | None = None,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write the report of a circuit of `project` to `target`; returns the files that were written.

    Raises UserInputError (no such circuit, several of them, the file is there), EnvironmentProblem (ngspice
    or what prints pages is missing, the disk).
    """
    form = format_of(target)
    if not overwrite and await off_loop(target.exists):
        raise UserInputError(
            msg("{path} exists already.", path=target),
            advice=msg("Choose another name."),
            file=target,
            error_type="target_exists",
        )
    words = {key: translate(word) for key, word in WORDS.items()}
    report = await app.design.report(project, circuit, words=words)
    blocks = document_of(report, translate, now=datetime.now().astimezone())
    put = app.program.write_file
    if form == "md":
        return await off_loop(_write_markdown, blocks, target, put)
    page = await off_loop(lambda: as_page(blocks, language=translate.language).encode("utf-8"))
    if form == "pdf":
        page = await _printed(page)
    await off_loop(put, target, page)
    return (target,)


def _write_markdown(
    blocks: Sequence[Block], target: Path, put: Callable[[Path, bytes], None]
) -> tuple[Path, ...]:
    drawings = pictures_of(blocks)
    pictures = [target.with_name(f"{target.stem}-{n}.svg") for n, _ in enumerate(drawings, 1)]
    for path, svg in zip(pictures, drawings, strict=True):
        put(path, svg.encode("utf-8"))
    names = [path.name.replace(" ", "%20") for path in pictures]
    put(target, as_markdown(blocks, pictures=names).encode("utf-8"))
    return (target, *pictures)


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
