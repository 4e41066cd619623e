"""Holds the program against decks as people have them: what bare ngspice computes, and what we give.

    .venv/bin/python scripts/public_decks.py FOLDER... [--kind control] [--check] [--refused] [--sample N]

Every folder is one source: its decks are found by their text, copied to a working folder, run by bare
`ngspice` with a tail that writes all plots, and by `simulate --json`. Both are compared number by number. A
deck counts as running when bare ngspice ends by itself and leaves a plot with data. Bare results are kept in
the working folder (--work), so that a second call costs our half only. Nothing here uses code of the program
but its command line.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = frozenset((
    "", ".cir", ".ckt", ".cki", ".sp", ".spi", ".spice", ".net", ".deck", ".in", ".inp", ".circ", ".out",
    ".txt",
))  # fmt: skip
LARGEST_DECK = 2 * 2**20
LARGEST_RAW = 512 * 2**20
MARK = "bare-plot_"
_BLOCK = re.compile(r"^\s*\.control\b", re.IGNORECASE | re.MULTILINE)
_COMMAND = re.compile(r"^\s*\*#", re.MULTILINE)
_ANALYSIS = re.compile(r"^\s*\.(op|dc|ac|tran|noise|tf|sens|pz|disto|sp|pss)\b", re.IGNORECASE | re.MULTILINE)
_ELEMENT = re.compile(r"^[a-z]\S*\s+\S+\s+\S+", re.IGNORECASE | re.MULTILINE)
_END = re.compile(r"^\s*\.end\s*$", re.IGNORECASE)
_QUIT = re.compile(r"^(\s*)(quit|exit)\b(.*)$", re.IGNORECASE)
_LTSPICE = re.compile(
    r"^\s*(\.backanno|\.wave\b|\*\s+.*\.asc\s*$)|\bRser=|\.lib\s+standard\.|LTspice",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(slots=True)
class RawPlot:
    """One plot of a raw file."""

    name: str
    names: tuple[str, ...]
    lengths: tuple[int, ...]
    data: np.ndarray
    """(points, variables)"""


@dataclass(slots=True)
class Bare:
    """What bare ngspice gave."""

    ran: bool
    why: str
    plots: list[RawPlot] = field(default_factory=list)


@dataclass(slots=True)
class Outcome:
    """One deck's row."""

    source: str
    deck: str
    kind: str
    runs: bool
    why: str = ""
    plots: int = 0
    exact: int = 0
    close: int = 0
    product_ok: bool = False
    placed: bool = False
    """Our first error of a failed deck has a file and a line."""
    reason: str = ""
    check_errors: int = 0
    check_warnings: int = 0
    check_first: str = ""

    @property
    def complete(self) -> bool:
        """Each of its plots is in our result."""
        return self.runs and self.exact + self.close == self.plots


# ---- finding decks --------------------------------------------------------------------------------------


def decks_of(folder: Path) -> Iterator[Path]:
    """Files of `folder` that read like a circuit one can run."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if hidden or path.suffix.lower() not in SUFFIXES or not path.is_file() or path.is_symlink():
            continue
        if not 0 < path.stat().st_size < LARGEST_DECK:
            continue
        text = read_text(path)
        if "\0" in text:
            continue
        asks = _ANALYSIS.search(text) or _BLOCK.search(text)
        if asks and len(_ELEMENT.findall(text)) > 1 and not text.lstrip().startswith(("<", "{", "#!", "v {")):
            yield path


def read_text(path: Path) -> str:
    """Its text, UTF-16 or one byte a letter."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or data[1:2] == b"\0":
        return data.decode("utf-16", "replace")
    return data.decode("latin-1")


def kind_of(path: Path) -> str:
    """control (commands of its own), ltspice or plain."""
    text = read_text(path)
    if _BLOCK.search(text) or _COMMAND.search(text):
        return "control"
    return "ltspice" if _LTSPICE.search(text) else "plain"


# ---- bare ngspice ---------------------------------------------------------------------------------------


def bare_deck(text: str) -> str:
    """The deck with a tail that writes every plot, and the same before each end inside its blocks."""
    tail = [
        "set filetype=binary",
        "set appendwrite",
        "foreach bareplotname $plots",
        "setplot $bareplotname",
        f"write {MARK}$bareplotname",
        "end",
    ]
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        lowered = line.strip().lower()
        if _END.match(line) and not inside:
            break
        inside = (inside or lowered.startswith(".control")) and not lowered.startswith(".endc")
        if inside and _QUIT.match(line):
            lines += tail
        lines.append(line)
    # (a block never closed is closed by the end of the file)
    return "\n".join([*lines, *([".endc"] if inside else []), ".control", *tail, ".endc", ".end", ""])


def run_bare(path: Path, kind: str, timeout_s: float) -> Bare:
    """Run the deck at `path` (in a copy) with ngspice alone."""
    folder = path.parent
    for old in folder.glob(f"{MARK}*"):
        old.unlink()
    if kind == "control":
        deck = folder / f"{path.stem}.bare-run.cir"
        deck.write_bytes(bare_deck(path.read_bytes().decode("latin-1")).encode("latin-1"))
        arguments = ["-n", "-b", deck.name]
    else:
        deck = None
        arguments = ["-n", "-b", "-r", f"{MARK}own", path.name]
    outcome = end_to_end(["ngspice", *arguments], folder, timeout_s)
    try:
        if outcome is None:
            return Bare(ran=False, why="time limit")
        if outcome.returncode < 0:
            return Bare(ran=False, why=f"crashed ({signal.Signals(-outcome.returncode).name})")
        plots: list[RawPlot] = []
        for raw in sorted(folder.glob(f"{MARK}*")):
            if raw.stat().st_size > LARGEST_RAW:
                return Bare(ran=False, why="raw file too large for this comparison")
            plots += read_raw(raw)
        if not plots:
            errors = [line for line in outcome.stderr.splitlines() if "rror" in line]
            return Bare(ran=False, why=f"no data: {(errors or ['-'])[0].strip()[:100]}")
        if kind != "control" and outcome.returncode != 0:
            return Bare(ran=False, why=f"exit code {outcome.returncode}")
        return Bare(ran=True, why="", plots=plots)
    finally:
        for left in [*folder.glob(f"{MARK}*"), *([deck] if deck else [])]:
            left.unlink(missing_ok=True)


def end_to_end(
    command: Sequence[str], folder: Path, timeout_s: float
) -> subprocess.CompletedProcess[str] | None:
    """Run it; None when it had to be ended."""
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return subprocess.CompletedProcess(
        command, process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")
    )


def read_raw(path: Path) -> list[RawPlot]:
    """The plots of a raw file that have data; ngspice's table of constants is none."""
    plots: list[RawPlot] = []
    data = path.read_bytes()
    at = 0
    while (start := data.find(b"Title:", at)) >= 0:
        binary, ascii_ = data.find(b"Binary:\n", start), data.find(b"Values:\n", start)
        is_binary = binary >= 0 and (ascii_ < 0 or binary < ascii_)
        body = (binary if is_binary else ascii_) + 8
        if body < 8:
            break
        header = data[start : body - 8].decode("latin-1")
        fields = {
            key.strip().lower(): value.strip()
            for key, _, value in (line.partition(":") for line in header.splitlines())
        }
        width, count = int(fields["no. variables"]), int(fields["no. points"].split()[0])
        lines = [line.split() for line in header.split("Variables:\n")[1].splitlines() if line.strip()]
        number = np.dtype(np.complex128 if "complex" in fields["flags"] else np.float64)
        lengths = [_length(words, count) for words in lines]
        if is_binary and "unpadded" in fields["flags"]:
            rest = np.frombuffer(data, number, sum(lengths), body)
            at = body + rest.nbytes
            table = np.zeros((count, width), number)
            inside = np.arange(count)[:, None] < np.array(lengths)
            table[inside] = rest  # row by row: each has the vectors that are that long
            values = table.ravel()
        elif is_binary:
            values = np.frombuffer(
                data, number, min(width * count, (len(data) - body) // number.itemsize), body
            )
            at = body + width * count * number.itemsize
        else:
            end = data.find(b"\nTitle:", body)
            at = len(data) if end < 0 else end
            words = data[body:at].decode("latin-1").split()
            numbers = [word for index, word in enumerate(words) if index % (width + 1)]
            values = np.array(
                [complex(*map(float, w.split(","))) if "," in w else float(w) for w in numbers], number
            )
        rows = len(values) // width if width else 0
        if fields["plotname"].lower() == "constants" or not rows:
            continue
        lengths = [min(length, rows) for length in lengths]
        plots.append(
            RawPlot(
                name=fields["plotname"],
                names=tuple(words[1].lower() for words in lines),
                lengths=tuple(lengths),
                data=values[: rows * width].reshape(rows, width),
            )
        )
    return plots


def _length(words: Sequence[str], points: int) -> int:
    """How many numbers a vector has by its line of the header; a short one says so."""
    short = next((word[5:] for word in words[3:] if word.startswith("dims=")), "")
    return min(int(np.prod([int(n) for n in re.findall(r"\d+", short)])), points) if short else points


# ---- ours -----------------------------------------------------------------------------------------------


def program(arguments: Sequence[str], home: Path, timeout_s: float) -> tuple[int, dict[str, object]]:
    """The program's answer to a command, read as JSON; {} when it gave none."""
    environment = dict(os.environ, CIRCUIT_DESIGN_AI_HOME=str(home))
    try:
        done = subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *arguments, "--json"],
            env=environment,
            capture_output=True,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, {"error": {"code": "no answer in time"}}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"error": {"code": done.stderr.decode("utf-8", "replace")[-200:]}}
    return done.returncode, answer if isinstance(answer, dict) else {}


def _plain(name: str) -> str:
    """One spelling of a vector whatever wrote it."""
    name = name.lower()
    if match := re.fullmatch(r"v\((.*)\)", name):
        name = match[1]
    if match := re.fullmatch(r"i\((.*)\)", name):
        name = f"{match[1]}#branch"
    return name


def compare(bare: RawPlot, ours: RawPlot) -> str:
    """exact, close (1e-6 of the largest value) or "" when it is another plot."""
    places = {_plain(name): index for index, name in enumerate(ours.names)}
    verdict = "exact"
    if bare.name.lower() not in ours.name.lower():
        return ""
    for index, name in enumerate(bare.names):
        place = places.get(_plain(name))
        if place is None:
            return ""
        mine = ours.data[: ours.lengths[place], place]
        theirs = bare.data[: bare.lengths[index], index]
        if mine.shape != theirs.shape:
            return ""
        if name == "frequency":  # whose imaginary part ngspice leaves as the memory was
            mine, theirs = mine.real, theirs.real
        if np.array_equal(mine, theirs, equal_nan=True):
            continue
        scale = np.nanmax(np.abs(theirs), initial=1e-30)
        if not np.allclose(mine, theirs, rtol=1e-6, atol=1e-6 * scale, equal_nan=True):
            return ""
        verdict = "close"
    return verdict


def match(bare: Sequence[RawPlot], ours: Sequence[RawPlot]) -> tuple[int, int, list[RawPlot]]:
    """How many are there bit for bit, how many nearly, and those that are not; each of ours serves once."""
    free = list(ours)
    exact = close = 0
    missing: list[RawPlot] = []
    for plot in bare:
        found = [(compare(plot, one), one) for one in free]
        best = next((one for one in found if one[0] == "exact"), None) or next(
            (one for one in found if one[0]), None
        )
        if best is None:
            missing.append(plot)
            continue
        free = [one for one in free if one is not best[1]]
        exact += best[0] == "exact"
        close += best[0] == "close"
    return exact, close, missing


# ---- a deck through both --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """One deck to be run both ways."""

    source: str
    deck: Path
    """In the bare copy."""
    twin: Path
    """In our copy."""
    shown: str
    kind: str
    work: Path
    timeout_s: float
    check: bool
    refused: bool


def measure(task: Task) -> Outcome:
    """Run one deck both ways."""
    row = Outcome(source=task.source, deck=task.shown, kind=task.kind, runs=False)
    bare = _stored_bare(task)
    row.runs, row.why = bare.ran, bare.why
    home = task.work / "home"
    if not bare.ran:
        if task.refused and bare.why != "time limit":
            _refused(task, home, row)
        return row
    if task.check:
        _check(task, home, row)
    row.plots = len(bare.plots)
    code, answer = program(
        ["simulate", str(task.twin), "--timeout", f"{task.timeout_s * 3:g}"], home, task.timeout_s * 6 + 30
    )
    row.product_ok = code == 0
    plots: list[RawPlot] = []
    result = answer.get("result_path")
    paths = answer.get("raw_paths") or [answer.get("raw_path")]
    for path in paths if isinstance(paths, list) else []:
        if path and Path(path).is_file() and Path(path).stat().st_size < LARGEST_RAW:
            plots += read_raw(Path(path))
    row.exact, row.close, missing = match(bare.plots, plots)
    if missing and len(plots) >= len(bare.plots):
        again = run_bare(task.deck, task.kind, task.timeout_s)
        _, _, other = match(bare.plots, again.plots)
        if len(other) >= len(missing):
            row.close, missing = row.close + len(missing), []
            row.reason = "not repeatable by ngspice itself"
    if missing:
        row.reason = (
            f"{len(missing)} of {row.plots} plots missing, first {missing[0].name!r}; {_reason(answer)}"
        )
    if result and Path(str(result)).parent.is_dir():
        shutil.rmtree(Path(str(result)).parent, ignore_errors=True)
    return row


def _refused(task: Task, home: Path, row: Outcome) -> None:
    """A deck bare ngspice does not run: whether we do (another program's deck), else our first error."""
    code, answer = program(
        ["simulate", str(task.twin), "--timeout", f"{task.timeout_s:g}"], home, task.timeout_s * 4 + 30
    )
    row.product_ok = code == 0
    errors = answer.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else answer.get("error")
    row.placed = isinstance(first, dict) and bool(first.get("file")) and bool(first.get("line"))
    if not row.product_ok and isinstance(first, dict):
        row.reason = f"{first.get('file')}:{first.get('line')} [{first.get('code')}] {first.get('message')}"[
            :260
        ]
    elif not row.product_ok:
        row.reason = _reason(answer)


def _stored_bare(task: Task) -> Bare:
    key = hashlib.sha256(str(task.deck).encode() + task.deck.read_bytes()).hexdigest()[:24]
    stored = task.work / "bare" / f"{key}.npz"
    if stored.is_file():
        with np.load(stored) as kept:
            facts = json.loads(str(kept["facts"]))
            plots = [
                RawPlot(name, tuple(names), tuple(lengths), kept[f"plot{number}"])
                for number, (name, names, lengths) in enumerate(facts["plots"])
            ]
        return Bare(ran=facts["ran"], why=facts["why"], plots=plots)
    bare = run_bare(task.deck, task.kind, task.timeout_s)
    facts = {
        "ran": bare.ran,
        "why": bare.why,
        "plots": [(plot.name, plot.names, plot.lengths) for plot in bare.plots],
    }
    arrays = {f"plot{number}": plot.data for number, plot in enumerate(bare.plots)}
    stored.parent.mkdir(parents=True, exist_ok=True)
    np.savez(stored, allow_pickle=False, facts=np.array(json.dumps(facts)), **arrays)
    return bare


def _check(task: Task, home: Path, row: Outcome) -> None:
    _, answer = program(["check", str(task.twin)], home, 120)
    found = answer.get("diagnostics")
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    errors = [entry for entry in entries if entry.get("severity") == "error"]
    row.check_errors = len(errors)
    row.check_warnings = sum(entry.get("severity") == "warning" for entry in entries)
    if errors:
        row.check_first = f"{errors[0].get('line')}: [{errors[0].get('code')}] {errors[0].get('message')}"[
            :200
        ]
    elif not isinstance(found, list):
        row.check_errors, row.check_first = 1, _reason(answer)


def _reason(answer: dict[str, object]) -> str:
    errors = answer.get("errors")
    if isinstance(errors, list) and errors:
        return "; ".join(f"[{entry.get('code')}] {entry.get('message')}" for entry in errors[:2])[:260]
    error = answer.get("error")
    return str(error)[:260] if error else "no error told"


# ---- all of them ----------------------------------------------------------------------------------------


def tasks_of(folder: Path, args: argparse.Namespace, seen: set[bytes]) -> Iterator[Task]:
    """The decks of one source, copied twice; a text that was there before is left out."""
    source = folder.resolve().name
    bare, ours = args.work / "bare-copy" / source, args.work / "our-copy" / source
    for copy in (bare, ours):
        if not copy.is_dir():
            shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".circuit_ai"))
    (ours / ".circuit_ai").mkdir(exist_ok=True)  # people open the folder as a project
    counts: Counter[str] = Counter()
    found = [
        (hashlib.sha256(b"".join(path.read_bytes().split())).digest(), path) for path in decks_of(folder)
    ]
    if args.sample:
        found.sort()  # by what they hold: as good as drawn, and the same ones at every call
    for digest, path in found:
        kind = kind_of(path)
        inside = path.relative_to(folder)
        wanted = (not args.kind or kind == args.kind) and (not args.only or re.search(args.only, str(inside)))
        full = counts[kind] >= (args.sample or args.limit or len(found))
        if digest in seen or not wanted or full:
            continue
        seen.add(digest)
        counts[kind] += 1
        yield Task(
            source,
            bare / inside,
            ours / inside,
            str(inside),
            kind,
            args.work,
            args.timeout,
            args.check,
            args.refused,
        )


def table(rows: Sequence[Outcome]) -> None:
    """Rates by source and by kind."""
    head = ("decks", "run", "complete", "rate", "exact", "close", "ok", "chk-err", "chk-warn")
    print(f"{'source':44}{'kind':9}" + "".join(f"{word:>9}" for word in head))
    keys = sorted({(row.source, row.kind) for row in rows}) + [
        ("all", kind) for kind in sorted({row.kind for row in rows})
    ]
    for source, kind in [*keys, ("all", "all")]:
        part = [r for r in rows if source in ("all", r.source) and kind in ("all", r.kind)]
        runs = [r for r in part if r.runs]
        done = sum(r.complete for r in runs)
        figures = (
            len(part),
            len(runs),
            done,
            f"{100 * done / len(runs):.1f}%" if runs else "-",
            sum(r.exact for r in runs),
            sum(r.close for r in runs),
            sum(r.product_ok for r in runs),
            sum(r.check_errors > 0 for r in runs),
            sum(r.check_warnings > 0 for r in runs),
        )
        print(f"{source[:43]:44}{kind:9}" + "".join(f"{figure!s:>9}" for figure in figures))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--kind", choices=("control", "ltspice", "plain"))
    parser.add_argument("--only", metavar="REGEX", help="decks whose path matches")
    parser.add_argument("--limit", type=int, default=0, help="the first so many decks of each source")
    parser.add_argument("--sample", type=int, default=0, help="of each source and kind so many, drawn")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds bare ngspice may take")
    parser.add_argument("--check", action="store_true", help="also run `check` on each deck")
    parser.add_argument(
        "--refused",
        action="store_true",
        help="also simulate decks bare ngspice refuses: is the cause placed?",
    )
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "public-decks")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rows there, a line each")
    args = parser.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    if args.json:
        args.json.write_text("")
    seen: set[bytes] = set()
    tasks = [task for folder in args.folders for task in tasks_of(folder, args, seen)]
    rows: list[Outcome] = []
    # By folder: two decks of one folder may write the same files.
    folders: dict[Path, list[Task]] = {}
    for task in tasks:
        folders.setdefault(task.deck.parent, []).append(task)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for part in pool.map(lambda some: [measure(task) for task in some], folders.values()):
            rows += part
            if args.json:
                with args.json.open("a") as file:
                    file.writelines(
                        json.dumps({key: getattr(row, key) for key in Outcome.__slots__}) + "\n"
                        for row in part
                    )
            print(f"\r{len(rows)}/{len(tasks)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    table(rows)
    misses = [row for row in rows if row.runs and not row.complete]
    print(f"\nMisses ({len(misses)}): decks bare ngspice runs that do not give all their plots here")
    for row in misses:
        print(f"  {row.source}/{row.deck} [{row.kind}]: {row.reason}")
    if args.check:
        print("\nErrors of `check` on decks that run")
        for row in rows:
            if row.runs and row.check_errors:
                print(f"  {row.source}/{row.deck}: {row.check_errors}, first {row.check_first}")
    print(
        "\nDecks bare ngspice does not run:",
        dict(Counter(row.why.split(":")[0] for row in rows if not row.runs)),
    )
    if args.refused:
        others = [row for row in rows if not row.runs and row.why != "time limit"]
        failed = [row for row in others if not row.product_ok]
        placed = sum(row.placed for row in failed)
        print(f"\nOf {len(others)} decks bare ngspice does not run {len(others) - len(failed)} run here; of "
              f"the {len(failed)} others {placed} have a first error with file and line")  # fmt: skip
        for row in failed:
            print(f"  {'    ' if row.placed else 'no  '}{row.source}/{row.deck} [{row.kind}]: {row.reason}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
