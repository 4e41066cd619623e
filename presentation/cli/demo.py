"""`demo`: the main job without display, network or key - a filter and a buck converter, proved."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from application.app import Application
from presentation.cli.design import design
from presentation.json_output import Output
from shared.message import msg

SENTENCES = {
    "en": (
        "Design a 4th-order Butterworth low-pass filter with a cutoff of 1 kHz "
        "and at least 60 dB attenuation at 8 kHz",
        "Design a buck converter from 12 V to 5 V at 2 A, 300 kHz, output ripple below 30 mV",
    ),
    "zh": (
        "设计一个截止频率为1kHz的四阶巴特沃斯低通滤波器，8kHz处衰减不少于60dB",
        "设计一个12V转5V、2A的降压变换器，开关频率300kHz，输出纹波小于30mV",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """[DIR]: where the circuits are kept; a temporary folder otherwise."""
    parser.add_argument("directory", type=Path, nargs="?", metavar="DIR")


async def run(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 0 when the goals of both are met."""
    if args.directory is not None:
        return await _run_in(args.directory, app, out)
    with tempfile.TemporaryDirectory(prefix="circuit-demo-") as folder:
        return await _run_in(Path(folder), app, out)


async def _run_in(folder: Path, app: Application, out: Output) -> int:
    from application.workflow.designing import DesignRequest

    all_met = True
    for text in SENTENCES.get(app.program.language, SENTENCES["en"]):
        out.line(f"» {text}")
        request = DesignRequest(project=folder, text=text)
        done = await design(request, app=app, out=out, always_yes=True)
        all_met = all_met and done.goals_met
        if done.circuit and not out.as_json:
            out.line()
            out.line((folder / done.circuit).read_text("utf-8").rstrip())
        out.line()
    out.say(
        msg("Both circuits meet their goals, verified by ngspice.")
        if all_met
        else msg("Not every goal was met; see above.")
    )
    return 0 if all_met else 1
