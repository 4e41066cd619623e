"""How many files of the product a flow enters: the calls really made, told by a tracer; imports' own count.

    python -m scripts.flow_files [--root FOLDER] [--list] [simulate|chat|undo|design]...

Each flow runs in a process and a home of its own, once to make what a first run makes, then traced. `--root`
is another checkout to measure; `--list` names the files. Worker processes are not looked into.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("composition", "shared", "domain", "application", "infrastructure", "presentation")
DECK = "RC low-pass\nVin in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.end\n"
CHANGE = ("chat", "{project}", "Change R1 in rc.cir to {value}", "--provider", "builtin")
FLOWS: dict[str, tuple[str, ...]] = {
    "simulate": ("simulate", "{project}/rc.cir"),
    "chat": CHANGE,
    "undo": ("undo", "{project}"),
    "design": ("design", "{project}", "RC low-pass, 1 kHz", "--yes"),
}


def measure(flow: str, root: Path) -> list[tuple[str, int]]:
    """The files that a flow enters, relative to `root`, with the functions entered in each."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        project.mkdir()
        (project / "rc.cir").write_text(DECK)
        home = {"HOME": folder, "CIRCUIT_DESIGN_AI_HOME": f"{folder}/home"}
        environment = {**os.environ, **home, "PYTHONPATH": str(root), "LANG": "en_US.UTF-8"}
        for value, is_traced in (("2k", False), ("3k", True)):
            if flow == "undo":  # what is taken back
                words = [word.format(project=project, value=value) for word in CHANGE]
                subprocess.run([sys.executable, root / "main.py", *words], env=environment, check=True,
                               capture_output=True, cwd=root)  # fmt: skip
            words = [word.format(project=project, value=value) for word in FLOWS[flow]]
            how = [__file__, "--traced", Path(folder, "report")] if is_traced else [root / "main.py"]
            command = [sys.executable, *how, *words]
            subprocess.run(command, env=environment, check=True, capture_output=True, cwd=root)
        lines = Path(folder, "report").read_text().splitlines()
    return [(name, int(count)) for name, _, count in (line.rpartition(" ") for line in lines)]


def trace(report: Path, words: list[str]) -> None:
    """Run one flow in this process, in the checkout it was started in, and write what it entered."""
    root = Path.cwd()
    places = (
        *(f"{root / room}{os.sep}" for room in ROOMS),
        str(root / "bootstrap.py"),
        str(root / "main.py"),
    )
    entered: set[CodeType] = set()
    of_others: set[CodeType] = set()

    def note(frame: FrameType, _event: str, _argument: Any) -> None:
        """Told of each call alone: nothing within a function is asked for."""
        code = frame.f_code
        if code in entered or code in of_others:
            return
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # no module, no body of a class
        caller = frame.f_back.f_code if frame.f_back is not None else code
        # A generator or comprehension of a module's body runs as it is imported: nobody calls it.
        is_of_import = code.co_name.startswith("<") and caller.co_name == "<module>"
        if not is_function or not code.co_filename.startswith(places):
            of_others.add(code)
        elif not is_of_import:
            entered.add(code)

    threading.settrace(note)
    sys.settrace(note)
    import main

    sys.argv = ["main.py", *words]
    main.main()
    sys.settrace(None)
    counts: dict[str, int] = {}
    for code in entered:
        name = str(Path(code.co_filename).relative_to(root))
        counts[name] = counts.get(name, 0) + 1
    report.write_text("".join(f"{name} {count}\n" for name, count in sorted(counts.items())))
    os._exit(0)


def main() -> None:
    """Print a table of the flows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("flows", nargs="*", default=list(FLOWS))
    args = parser.parse_args()
    for flow in args.flows:
        files = measure(flow, args.root.resolve())
        lines = sum(len((args.root / name).read_text().splitlines()) for name, _ in files)
        functions = sum(count for _, count in files)
        print(f"{flow:9} {len(files):4} files {functions:5} functions {lines:6} lines")
        for name, count in files if args.list else ():
            print(f"    {name} {count}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--traced"]:
        trace(Path(sys.argv[2]), sys.argv[3:])
    main()
