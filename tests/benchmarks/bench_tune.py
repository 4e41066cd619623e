"""From the move of a slider to the drawn curve, against one run of ngspice alone.

A small, a middle and a large circuit are loaded on the page of studies as Alt+T loads them; a hand moves
the slider of R1 there and back, and the curve of the new value is simulated, measured, drawn and painted
(grabbed): 30, 100 and 300 ms are the aims. Beside it a process of ngspice that reads and runs the same
circuit, and draws nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.benchmarks.harness import Pair

_PATIENCE_S = 60.0
_STAGE = """C{at} n{at} b{at} 10u
RA{at} vcc b{at} 47k
RB{at} b{at} 0 10k
RC{at} vcc n{next} 3.3k
RE{at} e{at} 0 1k
Q{at} n{next} b{at} e{at} QN
"""
_kept: list[object] = []


def _small() -> str:
    return "* low-pass\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 100n\n.ac dec 20 10 1meg\n.end\n"


def _amplifier(stages: int, steps: int) -> str:
    """Stages of a transistor and six parts one behind the other, over some periods of a sine."""
    lines = [_STAGE.format(at=at, next=at + 1) for at in range(stages)]
    return (
        "* amplifier\nVCC vcc 0 12\nV1 in 0 SIN(0 1m 1k)\nR1 in n0 1k\n"
        + "".join(lines)
        + f"RL n{stages} 0 10k\n.model QN NPN(BF=200 VAF=100 CJC=4p)\n.tran 10u {steps}0u\n.end\n"
    )


CIRCUITS = {
    "small: 3 parts, 101 frequencies": (_small(), "v(out)", 30),
    "middle: 4 transistors, 300 steps": (_amplifier(4, 300), "v(n4)", 100),
    "large: 40 transistors, 300 steps": (_amplifier(40, 300), "v(n40)", 300),
}


def pairs() -> list[Pair]:
    """A move of the slider in each run."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import bootstrap
    from presentation.window.application import make_qt_application, read_catalogues
    from shared.async_runtime import fused_loop

    _kept.append(make_qt_application([]))
    read_catalogues()
    home = Path(tempfile.mkdtemp(prefix="bench-tune-"))
    os.environ["CIRCUIT_DESIGN_AI_HOME"] = str(home / "home")
    app = bootstrap.build(environment={**os.environ, "LANG": "en_US.UTF-8"})
    loop = fused_loop()
    asyncio.set_event_loop(loop)
    root = home / "project"
    root.mkdir()
    made: list[Pair] = []
    files = {name: root / f"{name.partition(':')[0]}.cir" for name in CIRCUITS}
    for name, file in files.items():
        file.write_text(CIRCUITS[name][0], encoding="utf-8")
    parts = loop.run_until_complete(_window(app, root))
    for name, (_, _, aim_ms) in CIRCUITS.items():
        move = loop.run_until_complete(_slider(parts, files[name]))
        made.append(
            Pair(
                name=name,
                ours=partial(_moved, loop, move),
                theirs=partial(_alone, files[name], home),
                theirs_name="ngspice, one run",
                note=f"{aim_ms} ms from the move to the drawn curve are the aim",
            )
        )
    return made


async def _window(app: Any, root: Path) -> Any:
    from presentation.window.application import build_services
    from presentation.window.panels import Parts

    app.program.events.bind()
    services = build_services(app, mode="light", language="en")
    await app.project.browse.open(root)
    services.workspace.root = root
    parts = Parts(services, app)
    parts.studies.listen()
    parts.editor.resize(1200, 800)
    parts.editor.show()
    _kept.append(parts)
    return parts


async def _slider(parts: Any, file: Path) -> Callable[[], Any]:
    """Loads the circuit; what is given moves the slider of R1 and waits for the curve."""
    parts.services.workspace.studies_wanted.emit(file, "tune", "R1")
    page = parts.studies.page_of(file)
    await _until(lambda: page.view is not None and getattr(page.view.result, "area", None) is not None)
    view = page.view.result
    await _until(lambda: view.traces and view.knobs)
    knob = view.knobs[0]
    middle = knob.slider.value()
    places = itertools.cycle([middle + 3, middle - 3])

    async def move() -> None:
        drawn = view.traces
        knob.hold(next(places))
        await _until(lambda: view.traces is not drawn and not view.area._in_turns.is_at_work, 0.0)
        view.area.grab()

    return move


async def _until(condition: Callable[[], Any], pause_s: float = 0.01) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(pause_s)


def _moved(loop: asyncio.AbstractEventLoop, move: Callable[[], Any]) -> None:
    loop.run_until_complete(move())


def _alone(circuit: Path, folder: Path) -> None:
    subprocess.run(
        ["ngspice", "-b", "-r", str(folder / "alone.raw"), str(circuit)],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_PATIENCE_S,
    )
