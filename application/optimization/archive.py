"""What former searches of the same circuit measured: found by a key, taken as a hint, never as a proof."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from application.simulation.prepared_circuit import PreparedCircuit
from application.studies.measures import StudyMeasures
from domain.studies.corners import Corner
from domain.studies.search_space import SearchSpace, Values
from domain.studies.study import StudyRow
from domain.studies.study_spec import StudySpec
from domain.studies.variation import with_values
from shared.spreadsheets import plain_cell

_MOST_POINTS = 2000


def archive_key(
    prepared: PreparedCircuit, space: SearchSpace, spec: StudySpec, corners: Sequence[Corner], version: str
) -> str:
    """The same for searches of the same parameters in a circuit that is the same but for their values, with
    the same analyses, models, settings, corners and simulator; "" when no run is like another."""
    tree = with_values(prepared.tree, dict.fromkeys(space.names, "1"))
    content = replace(prepared, netlist=tree.root, tree=tree).content_hash()
    if not content:
        return ""
    parts = [version, content, *space.names, *map(repr, corners), repr(spec.assignments)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def archived_rows(
    stored: Iterator[tuple[Mapping[str, Any], bytes]],
    space: SearchSpace,
    measures: StudyMeasures,
    corners: Sequence[str],
) -> dict[Values, list[StudyRow]]:
    """The points of stored searches that this one could choose too, a row for each corner, the newest first.

    A metric is taken from where the same expression was measured, whatever it was called; a study without one
    of the metrics is left out.
    """
    found: dict[Values, list[StudyRow]] = {}
    for document, table in stored:
        sources = _sources(document, measures)
        if sources is not None:
            for values, rows in islice(_points(document, table, sources, space, corners), _MOST_POINTS):
                found.setdefault(values, rows)
        if len(found) >= _MOST_POINTS:
            break
    return dict(islice(found.items(), _MOST_POINTS))


def _sources(document: Mapping[str, Any], measures: StudyMeasures) -> dict[str, str] | None:
    """The stored name of each metric."""
    by_text = {text: name for name, text in document["measured"].items()}
    wanted = measured_texts(measures)
    if not set(wanted.values()) <= by_text.keys():
        return None
    return {name: by_text[text] for name, text in wanted.items()}


def measured_texts(measures: StudyMeasures) -> dict[str, str]:
    """What each metric is: its expression, or the name of a `.meas` card."""
    cards = {card.name: f".meas {card.name}" for card in measures.cards}
    return {name: item.text for name, item in measures.expressions.items()} | cards


def _points(
    document: Mapping[str, Any],
    table: bytes,
    sources: Mapping[str, str],
    space: SearchSpace,
    corners: Sequence[str],
) -> Iterator[tuple[Values, list[StudyRow]]]:
    lines = csv.reader(io.StringIO(table.decode("utf-8")))
    head = next(lines)
    units = document["units"]
    columns = {
        name: head.index(
            plain_cell(f"{source} [{unit}]" if (unit := units[source]) not in ("", "1") else source)
        )
        for name, source in sources.items()
    }
    places = [head.index(name) for name in space.names]
    corner, state = head.index("corner") if "corner" in head else None, head.index("state")
    points: dict[Values, dict[str, StudyRow]] = {}
    for line in lines:
        values = tuple(float(line[place] or "nan") for place in places)
        row = StudyRow(
            run=-1,
            corner=None if corner is None else line[corner],
            parameters=dict(zip(space.names, values, strict=True)),
            metrics={name: float(line[column] or "nan") for name, column in columns.items()},
            state="ok" if line[state] == "ok" else "failed",
        )
        points.setdefault(values, {})[row.corner or ""] = row
    for values, rows in points.items():
        if not any(map(math.isnan, values)) and space.has(values) and rows.keys() >= set(corners):
            yield values, [rows[name] for name in corners]
