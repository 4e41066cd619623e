"""Crossings, bends, wire and time of the golden circuits, beside the figures of the study that found the way.

python -m tests.benchmarks.schematic_figures
"""

from __future__ import annotations

import time

from domain.circuit.schematic.drawing import FIRST, FULL, ONCE, draw
from domain.circuit.schematic.judging import faults_of
from domain.circuit.schematic.reading_back import differences
from tests.fakes.schematic_circuits import GOLDEN
from tests.unit.schematic.test_schematic_reading_back import circuit_of

_STUDY = "study, 14 circuits: 4 crossings, 138 bends, 1282 wire (best of 4 starts); 8, 161, 1295 (one start)"


def stages(count: int) -> str:
    """Common-emitter stages in a row, with feedback across: five elements each."""
    lines = ["stages", "VCC vcc 0 12", "VIN n0 0 AC 1"]
    for at in range(count):
        lines += [f"C{at} n{at} b{at} 1u", f"Q{at} c{at} b{at} e{at} n", f"RC{at} vcc c{at} 4.7k",
                  f"RE{at} e{at} 0 1k", f"RB{at} c{at} b{at} 470k", f"CO{at} c{at} n{at + 1} 1u"]  # fmt: skip
    return "\n".join([*lines, ".model n npn", ".end"])


def main() -> None:
    total = [0, 0, 0, 0.0]
    print(f"{'circuit':28} elements crossings bends wire labels   first s   full s")
    named = {**GOLDEN, "stages, 50 elements": stages(8), "stages, 200 elements": stages(33)}
    for name, text in named.items():
        page, block = next(circuit_of(text.encode()))
        begun = time.process_time()
        draw(page, effort=FIRST)
        first = time.process_time() - begun
        drawing = draw(page, effort=FULL)
        full = time.process_time() - begun - first
        assert not differences(block, drawing)
        assert not faults_of(drawing)
        score = drawing.score
        if name in GOLDEN:
            for at, figure in enumerate((score.crossings, score.bends, score.wire, full)):
                total[at] += figure
        print(f"{name:28} {len(drawing.elements):8} {score.crossings:9} {score.bends:5} {score.wire:4} "
              f"{score.labels:6} {first:9.2f} {full:8.1f}")  # fmt: skip
    sums = f"{total[0]:9} {total[1]:5} {total[2]:4} {total[3]:25.1f}"
    print(f"{'sum of the golden circuits':37}{sums}")
    print(_STUDY)
    limits()


def limits() -> None:
    """What a person waits for: behind a keystroke (50 elements: 300 ms), and for the improved drawing."""
    for count, of_elements, most_s in ((8, 50, 3.0), (33, 200, 12.0)):
        text = stages(count)
        page, _ = next(circuit_of(text.encode()))
        begun = time.process_time()
        drawing = draw(page, effort=ONCE)
        print(
            f"{of_elements} elements, improved drawing: {time.process_time() - begun:.2f} s of {most_s:.0f} s"
        )
        for what, old, new in (("a value", "4.7k", "5.6k"), ("an element", ".model", "CX c1 0 1n\n.model")):
            changed, block = next(circuit_of(text.replace(old, new, 1).encode()))
            begun = time.process_time()
            after = draw(changed, effort=FIRST, previous=drawing)
            spent = time.process_time() - begun
            assert not differences(block, after)
            print(f"{of_elements} elements, redrawn behind {what}: {spent * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
