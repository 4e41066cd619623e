"""Where things live: the names of our folders and files, and how a project is found.

A project is a folder that has a `.circuit_ai/`. What belongs to the user and not to a project is in
`~/.circuit_design_ai/`, or in the folder that CIRCUIT_DESIGN_AI_HOME names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from urllib.parse import unquote_to_bytes

from shared.ulid import milliseconds_of, number_of

MODEL_LIBRARY = Path(__file__).resolve().parents[1] / "resources" / "spice_models"
"""Models that come with the program, a file each; a library folder of every circuit."""

PROJECT_FOLDER = ".circuit_ai"
USER_FOLDER = ".circuit_design_ai"
USER_HOME_VARIABLE = "CIRCUIT_DESIGN_AI_HOME"

SETTINGS_FILE = "settings.json"
CHECKPOINTS_FILE = "checkpoints.sqlite"
GOALS_FOLDER = "goals"
"""A file for each circuit that has goals."""
SETUPS_FOLDER = "study_setups"
"""A file for each circuit with set-ups of studies that have a name."""
FORMER_GOALS_FILE = "design_goals.json"
"""The goals of a project, before each circuit had its own."""
RESULTS_FOLDER = "sim_results"
RESULT_FILE = "result.json"
ROWS_FILE = "rows.csv"
"""In a study's folder: a row for every run."""
WIRING_FILE = "wiring.json"
CIRCUIT_FILE = "circuit.txt"
"""In a result's folder: its circuit's file as it was run."""
NOTE_FILE = ".note"
"""In a result's folder: what its user wrote about it."""
"""In a result's folder: what its elements are connected to, which tells their currents."""
LOG_FILE = "ngspice.log"
"""In a result's folder: what the simulator printed."""
OBJECTS_FOLDER = "objects"
CONVERSATIONS_FOLDER = "conversations"
REMOVED_FOLDER = "removed"
"""In it: conversations that were removed, and can be put back for a while."""
ATTACHMENTS_FOLDER = "attachments"
SESSIONS_INDEX_FILE = "sessions.json"
TRANSCRIPT_SUFFIX, LOCK_SUFFIX, WANTED_SUFFIX = ".jsonl", ".lock", ".wanted"
"""Of a conversation, and of the file that says which process has it open for writing."""
DESIGN_LOCK_FILE = "design.lock"
"""Says which process designs in the project."""
OPERATIONS_FILE = "operations.sqlite"
SEARCH_FILE = "search.sqlite"
CONVERSATION_SEARCH_FILE = "conversation_search.sqlite"
COMPONENTS_FILE = "components.sqlite"
"""In the user's folder: what is in the libraries."""
TRACES_FILE = "traces.sqlite"


def user_home(env: Mapping[str, str] | None = None) -> Path:
    """The user's own folder of this program, absolute; it need not exist yet.

    `env` is the environment to look into (None = the process's own).
    """
    env = os.environ if env is None else env
    named = env.get(USER_HOME_VARIABLE, "").strip()
    if named:
        return Path(os.path.abspath(_expand_home(named, env)))  # noqa: PTH100 - links stay as written
    return Path(os.path.abspath(_expand_home("~", env))) / USER_FOLDER  # noqa: PTH100


_LAST_SECOND = 253402300799
"""Of the year 9999."""


_PLAIN = frozenset("-_.+ ")
"""Beside letters and digits what the name of a file of goals keeps of a circuit's place."""
_LONGEST = 200
"""Bytes of such a name before the suffix; file systems allow 255."""
_SHORTENED = "~"


def goals_file_name(circuit: str) -> str:
    """One file name for each circuit's place: readable, and never one with a meaning of its own."""
    name = "".join(
        char
        if (char.isalnum() or char in _PLAIN) and not (index == 0 and char in ". ")
        else "".join(f"%{byte:02X}" for byte in os.fsencode(char))
        for index, char in enumerate(circuit)
    )
    encoded = os.fsencode(name)
    if len(encoded) > _LONGEST:
        import hashlib  # OpenSSL's own start: 3 ms that a command needs for nothing else

        digest = hashlib.sha256(os.fsencode(circuit)).hexdigest()[:16]
        name = f"{encoded[: _LONGEST - 17].decode(errors='ignore')}{_SHORTENED}{digest}"
    return f"{name}.json"


def is_goals_file(place: PurePath) -> bool:
    """Whether a place, relative to a project, is one for a circuit's goals."""
    return place.parent == PurePath(PROJECT_FOLDER, GOALS_FOLDER) and place.suffix == ".json"


def circuit_of_goals(place: str) -> str:
    """The circuit whose goals are at a place of the project; "" for another file, or a shortened name."""
    path = PurePath(place)
    if not is_goals_file(path) or _SHORTENED in path.stem:
        return ""
    return os.fsdecode(unquote_to_bytes(path.stem))


def result_name(ulid: str) -> str:
    """The name of a result's folder, sorting by time, made from the id of the call that asked for it.

    One clock for both parts: the tail only sorts within the millisecond it was made in.
    """
    from datetime import UTC, datetime

    milliseconds = milliseconds_of(ulid)
    # A ULID reaches to the year 10889, a date to 9999; the tail still tells them apart.
    made = datetime.fromtimestamp(min(milliseconds // 1000, _LAST_SECOND), UTC)
    return f"{made:%Y%m%dT%H%M%S}{milliseconds % 1000:03d}Z-{ulid[-8:]}"


def study_name(result: Path, kind: str) -> str:
    """What a message calls a stored study by: ``worst-case-7MYNJ47F``, its kind and the end of its folder's
    name."""
    return f"{kind}-{result.parent.name.rpartition('-')[2]}"


def result_folder(root: Path, ulid: str) -> Path:
    """The folder of the result that a call made in a project; it need not exist.

    A call of a stranger's conversation may have any id: one that is no ULID leads to a name no result has.
    """
    try:
        number_of(ulid)
    except ValueError:
        return root / PROJECT_FOLDER / RESULTS_FOLDER / "none"
    return root / PROJECT_FOLDER / RESULTS_FOLDER / result_name(ulid)


def project_root_of(path: Path) -> Path | None:
    """The nearest folder at or above `path` that has a `.circuit_ai/`, or None.

    `path` may be a file or a folder and need not exist. A `.circuit_ai` that is a link does not
    count: it would let a cloned project point our data somewhere else.
    """
    start = Path(os.path.abspath(path))  # noqa: PTH100 - a linked file belongs where the user sees it
    for folder in (start, *start.parents):
        if is_project(folder):
            return folder
    return None


def is_project(folder: Path) -> bool:
    """Whether `folder` has a `.circuit_ai/` of its own."""
    marker = folder / PROJECT_FOLDER
    try:
        return marker.is_dir() and not marker.is_symlink()
    except (OSError, ValueError):
        return False


def _expand_home(path: str, env: Mapping[str, str]) -> str:
    if path != "~" and not path.startswith("~/"):
        return path
    home = env.get("HOME") or str(Path.home())
    return home + path[1:]


def walk(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk(top)`: a folder, names of the folders in it, names of all else; links are not followed.

    What is taken out of the list of folders is not looked into. A folder that can't be read is left out.
    """
    waiting = [os.fspath(top)]
    while waiting:
        here = waiting.pop()
        folders: list[str] = []
        others: list[str] = []
        links = set()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    try:
                        is_folder = entry.is_dir()
                    except OSError:
                        is_folder = False
                    (folders if is_folder else others).append(entry.name)
                    if is_folder and entry.is_symlink():
                        links.add(entry.name)
        except OSError:
            continue
        yield here, folders, others
        waiting += [os.path.join(here, name) for name in reversed(folders) if name not in links]  # noqa: PTH118 - many
