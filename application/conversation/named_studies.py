"""The study a message points at with ``@study``: its figures and its worst runs, in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.conversation.question import circuit_of, cut
from application.studies.reading import ReadStudy, StoredStudy
from application.tool_execution.tools.result_source import OF_OTHERS, changed_since, result_content
from application.tool_execution.tools.studies import plain_figures, study_text
from shared.errors import CircuitAIError
from shared.message import one_line
from shared.paths import PROJECT_FOLDER, RESULTS_FOLDER, study_name

if TYPE_CHECKING:
    from application.conversation.question import Question

_MOST_LOOKED_AT = 300
_MOST_ROWS = 12
_MOST_LINES = 60


def study_lines(question: Question, name: str) -> list[str] | None:
    """A stored study by its name, the newest of a kind, or the newest of all; None where there is none.

    Blocking. Nothing is told of a circuit that is kept back from the model.
    """
    wanted = name.strip().lower()
    for path, content in _stored(question):
        kind = str(content.get("study", ""))
        if wanted not in ("", kind, study_name(path, kind).lower()):
            continue
        place = circuit_of(question.context, content)
        if not place or not question.may_be_told(place):
            continue
        try:
            study = ReadStudy(results=question.context.services.results).read(path)
        except CircuitAIError:  # its table is gone
            continue
        return [cut(one_line(line)) for line in _told(question, study, content, place)][:_MOST_LINES]
    return None


def _stored(question: Question) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The studies of the project, the newest first."""
    folder = question.context.project.root / PROJECT_FOLDER / RESULTS_FOLDER
    try:
        names = sorted((each.name for each in folder.iterdir()), reverse=True)
    except OSError:
        return
    for name in names[:_MOST_LOOKED_AT]:
        path = folder / name / "result.json"
        content = result_content(question.context, path)
        if content.get("kind") == "study":
            yield path, content


def _told(question: Question, study: StoredStudy, content: Mapping[str, Any], place: str) -> Iterator[str]:
    view = question.view
    circuit = view.locate(place) if (question.context.project.root / place).is_file() else None
    if circuit is None or changed_since(question.context, circuit, content):
        yield "The circuit was changed since this study: its figures are those of before."
    if not study.is_ours:
        yield f"This study was {OF_OTHERS}: run it for figures of your own."
    rows = [
        {
            "run": row.run,
            **({"label": row.label} if row.label else {}),
            **({"corner": row.corner} if row.corner else {}),
            "parameters": row.parameters,
            "metrics": row.metrics,
            "state": "ok" if row.is_ok else f"failed: {row.reason}",
        }
        for row in study.worst_first[:_MOST_ROWS]
    ]
    found = plain_figures(content)
    details = {
        "assumed": [], "goals_met": None, "statistics": {}, "errors": [], "warnings": [], **found,
        "file_path": place,
        "rows_path": view.name_of(study.path.with_name("rows.csv")),
        "runs": {"done": len(study.rows), "failed": study.failed},
        "rows": plain_figures(rows),
    }  # fmt: skip
    if study.kind == "optimize":
        best = study.part("best", "values")
        yield f"best values: {', '.join(f'{name}={text}' for name, text in best.items()) or 'none'}"
        details["statistics"] = {}
    yield from study_text(details).splitlines()
    if len(study.rows) > len(rows):
        yield f"[the {len(rows)} worst of {len(study.rows)} runs]"
