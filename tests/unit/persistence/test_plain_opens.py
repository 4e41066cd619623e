"""Files are opened by path in known places only: all others go through `confined` or `regular`.

A project may have links, pipes and devices where files belong, so whoever opens one by its path follows the
link or waits for the pipe. Each exception is named here with its reason; a new one has to be thought about.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.ground.cases import for_each

ROOT = Path(__file__).parents[3]
PACKAGES = ("application", "composition", "domain", "infrastructure", "presentation", "shared")
METHODS = frozenset(("read_bytes", "read_text", "write_bytes", "write_text"))
FUNCTIONS = frozenset(
    ("open", "io.open", "os.open", "posix.open", "sqlite3.connect", "np.memmap", "np.fromfile", "np.load")
)
LAST_NAMES = METHODS | {name.rpartition(".")[2] for name in FUNCTIONS}
MAY_OPEN = re.compile(rf"\b(?:{'|'.join(sorted(LAST_NAMES))})\s*\(")
MODES = frozenset("rwxab+t")

ALLOWED: dict[str, tuple[dict[str, int], str]] = {
    "application/components/importing.py": (
        {"read_bytes": 1},
        "a regular file as long as the library that is imported, compared with it only",
    ),
    "application/optimization/optimizing.py": ({"read_bytes": 1}, "named by the user, to be written over"),
    "application/project/browsing.py": ({"read_bytes": 2}, "an example of ours; a file seen to be regular"),
    "application/simulation/operating_points.py": (
        {"read_bytes": 1},
        "a result's new folder, made by us a moment ago",
    ),
    "application/simulation/run_metrics.py": (
        {"read_bytes": 1},
        "a result's new folder, made by us a moment ago",
    ),
    "infrastructure/cluster/parcel.py": ({"write_bytes": 1}, "the other computer's own new folder"),
    "infrastructure/exports/pictures.py": ({"read_text": 1}, "comes with the program"),
    "infrastructure/exports/schematics.py": ({"read_text": 1}, "comes with the program"),
    "infrastructure/exports/target.py": ({"os.open": 1}, "of the system, not of a project"),
    "infrastructure/llm_adapters/model_facts.py": ({"read_text": 1}, "comes with the program"),
    "infrastructure/llm_adapters/vocabularies.py": (
        {"read_bytes": 1},
        "the user's own folder, or one named by the user; its hash is checked",
    ),
    "presentation/dialogs/guide.py": ({"read_bytes": 1}, "comes with the program"),
    "presentation/report/making.py": ({"write_bytes": 1}, "a new temporary folder"),
    "presentation/report/writing.py": ({"read_bytes": 1, "read_text": 2}, "comes with the program"),
    "presentation/panels/conversation/code_blocks.py": (
        {"read_bytes": 1},
        "a regular file as long as a block of an answer, compared with it only",
    ),
    "infrastructure/persistence/known_texts.py": ({"read_text": 1}, "resources that come with the program"),
    "infrastructure/persistence/process_locks.py": ({"read_text": 1}, "of the system, not of a project"),
    "shared/pausing.py": ({"read_bytes": 1}, "of the system, not of a project"),
    "infrastructure/persistence/examples.py": ({"read_bytes": 1}, "comes with the program"),
    "infrastructure/ngspice/batch/guest.py": ({"open": 1}, "inside the sandbox"),
    "infrastructure/ngspice/batch/process.py": (
        {"write_text": 1, "read_text": 1},
        "a new folder; of the system, not of a project",
    ),
    "infrastructure/ngspice/box_launcher.py": ({"open": 1, "posix.open": 1}, "inside the sandbox"),
    "infrastructure/ngspice/card_locator.py": ({"os.open": 1}, "a circuit's file, without waiting"),
    "infrastructure/ngspice/runner.py": (
        {"os.open": 2, "Path.open": 2},
        "the scratch folder of a run, from its descriptor on or new; a result's folder, just made by us",
    ),
    "infrastructure/components/index.py": ({"sqlite3.connect": 1}, "in memory"),
    "infrastructure/ngspice/sandbox.py": (
        {"Path.open": 1, "read_text": 1},
        "the simulator's program; comes with the program",
    ),
    "infrastructure/ngspice/scratch.py": (
        {"os.open": 2, "Path.open": 1},
        "the scratch folder of a run, opened from its descriptor on or new",
    ),
    "infrastructure/ngspice/stepped_runs.py": (
        {"Path.open": 2, "read_bytes": 1},
        "a result's new folder, made by us a moment ago",
    ),
    "infrastructure/ngspice/waiting.py": ({"read_text": 1}, "of the system, not of a project"),
    "infrastructure/persistence/checkpoint_rows.py": (
        {"sqlite3.connect": 1},
        "behind the look of `databases`",
    ),
    "infrastructure/persistence/confined.py": ({"os.open": 3}, "of the confined way itself"),
    "infrastructure/persistence/databases.py": (
        {"sqlite3.connect": 4, "write_bytes": 1},
        "behind the look of `databases`",
    ),
    "infrastructure/persistence/operations.py": (
        {"read_text": 2, "sqlite3.connect": 1},
        "of the system, not of a project; behind the look of `databases`",
    ),
    "infrastructure/persistence/unclean_ends.py": (
        {"Path.open": 1},
        "named by the user, or in his own folder",
    ),
    "infrastructure/power.py": ({"read_text": 1}, "the system's own files on its power supply"),
    "infrastructure/search/database.py": ({"sqlite3.connect": 1}, "behind the look of `databases`"),
    "infrastructure/tracing/spans.py": ({"sqlite3.connect": 1}, "behind the look of `databases`"),
    "infrastructure/waveforms/raw_header.py": (
        {"os.open": 1},
        "without waiting; in a project the confined way",
    ),
    "infrastructure/waveforms/raw_joining.py": (
        {"Path.open": 1},
        "a result's new folder, made by us a moment ago",
    ),
    "presentation/cli/demo.py": ({"read_text": 1}, "comes with the program"),
    "presentation/json_output.py": ({"os.open": 1}, "of the system, not of a project"),
    "presentation/cli/study_options.py": ({"Path.open": 1}, "named by the user, or in his own folder"),
    "presentation/panels/conversation/web_probe.py": (
        {"write_text": 1, "read_text": 1},
        "named by the user, or in his own folder",
    ),
    "presentation/retelling.py": ({"read_text": 2}, "comes with the program"),
    "presentation/look.py": ({"read_text": 2}, "comes with the program"),
    "presentation/panels/conversation/document.py": ({"read_text": 2}, "comes with the program"),
    "presentation/panels/debug/panel.py": ({"Path.open": 1}, "named by the user, or in his own folder"),
    "presentation/panels/welcome.py": ({"read_text": 1}, "comes with the program"),
    "presentation/translation.py": ({"read_text": 3}, "comes with the program"),
    "presentation/window/application.py": ({"Path.open": 2}, "named by the user, or in his own folder"),
    "presentation/ui/late_imports.py": ({"Path.open": 1}, "of the system, not of a project"),
    "presentation/ui/styles.py": ({"read_text": 1}, "comes with the program"),
    "shared/cpu_worker.py": ({"os.open": 1}, "of the system, not of a project"),
}


def opens_in(source: str) -> Iterator[str]:
    """Every call that opens a file by its path, as it is written; one relative to a descriptor is none."""
    if MAY_OPEN.search(source) is None:
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if last not in LAST_NAMES:
            continue
        name = ast.unparse(node.func)
        is_relative = any(keyword.arg == "dir_fd" for keyword in node.keywords)
        if name in FUNCTIONS and not is_relative:
            yield name
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            yield node.func.attr
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "open" and _has_mode(node):
            yield "Path.open"


def _has_mode(node: ast.Call) -> bool:
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
    return any(
        isinstance(value, ast.Constant)
        and isinstance(value.value, str)
        and value.value
        and set(value.value) <= MODES
        for value in given
    )


def found() -> dict[str, Counter[str]]:
    return {
        path.relative_to(ROOT).as_posix(): names
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if (names := Counter(opens_in(path.read_text("utf-8"))))
    }


def test_files_are_opened_by_path_in_the_known_places_only():
    known = {place: names for place, (names, _reason) in ALLOWED.items()}
    assert {place: dict(names) for place, names in found().items()} == known


@for_each(
    ("source", "names"),
    [
        ("open('a')", ["open"]),
        ("path.open('rb')", ["Path.open"]),
        ("path.open(mode='w')", ["Path.open"]),
        ("place.read_text('utf-8')", ["read_text"]),
        ("Path(x).write_bytes(b'')", ["write_bytes"]),
        ("os.open(path, os.O_RDONLY)", ["os.open"]),
        ("os.open(name, flags, dir_fd=folder)", []),
        ("sqlite3.connect(path)", ["sqlite3.connect"]),
        ("np.memmap(path)", ["np.memmap"]),
        ("dialog.open()", []),
        ("store.open(session_id)", []),
    ],
)
def test_the_look_finds_them(source, names):
    assert list(opens_in(source)) == names
