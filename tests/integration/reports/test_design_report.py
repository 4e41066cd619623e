"""A report of a designed circuit: its figures are those of the simulator, in each form it can have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pypdf
import pytest

from tests.ground.forked_commands import ForkedCommands

CE = (
    "Amplifier & co <b>\nVcc vcc 0 12\nVin in 0 AC 1 SIN(0 10m 10k)\nC1 in b 10u\nR1 vcc b 91k\nR2 b 0 18k\n"
    "Q1 c b e n1\nRC vcc c 4.7k\nRE e 0 1k\n.model n1 NPN(IS=1e-14 BF=200 VAF=100)\n"
    ".ac dec 10 10 10meg\n.tran 1u 300u\n.meas ac peak max vdb(c)\n.end\n"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "Verstärker"
    made.mkdir()
    (made / "ce.cir").write_text(CE)
    return made


def run(commands: ForkedCommands, *argv: object, language: str = "en_US"):
    return commands.run(*argv, environment={"LC_ALL": f"{language}.UTF-8"})


def test_a_page_has_goals_curves_and_operating_point(forked_commands: ForkedCommands, project: Path) -> None:
    goal = {"metric": "swing", "expression": "db(gain(v(c),10k))", "minimum": 10, "unit": "dB"}
    goals = json.dumps({"goals": [goal]})
    assert run(forked_commands, "tool", "set_goals", goals, "--project", project).exit_code == 0
    target = project / "report.html"
    made = run(forked_commands, "report", project, "-o", target, "--json")
    assert made.exit_code == 0, made.stdout + made.stderr
    page = target.read_text("utf-8")
    for heading in ("Goals", "Measurements", "Frequency response", "Transient response", "Operating point"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "1 of 1 goal met." in page
    assert re.search(r"<td>Q1</td><td>npn</td><td>active</td><td>IC = 1\.\d+", page)
    assert "Amplifier &amp; co &lt;b&gt;" in page  # what a deck says is text
    assert "<b>" not in page
    assert "<script" not in page
    assert "Content-Security-Policy" in page
    again = run(forked_commands, "report", project, "-o", target)
    assert again.exit_code == 2  # nothing is written over unasked
    assert run(forked_commands, "report", project, "-o", target, "--force").exit_code == 0


def test_a_pdf_has_pages_and_chinese_words(forked_commands: ForkedCommands, project: Path) -> None:
    target = project / "报告.pdf"
    made = run(forked_commands, "report", project, "-o", target, language="zh_CN")
    assert made.exit_code == 0, made.stdout + made.stderr
    pages = pypdf.PdfReader(target).pages
    text = "\n".join(page.extract_text() for page in pages)
    assert "频率响应" in text
    assert "工作点" in text
    assert "Q1" in text
    assert f"1 / {len(pages)}" in pages[0].extract_text()


def test_markdown_names_its_pictures(forked_commands: ForkedCommands, project: Path) -> None:
    target = project / "the report.md"
    made = run(forked_commands, "report", project, "-o", target, "--json")
    assert made.exit_code == 0, made.stdout + made.stderr
    text = target.read_text("utf-8")
    assert re.findall(r"\]\((.+?)\)", text) == ["the%20report-1.svg", "the%20report-2.svg"]
    assert (project / "the report-1.svg").read_text("utf-8").startswith("<?xml")
    assert "| peak | " in text
    assert "```spice\nAmplifier & co <b>\n" in text


def test_what_cannot_be_reported(forked_commands: ForkedCommands, project: Path) -> None:
    (project / "broken.cir").write_text("broken\nV1 c 0 1\nQ1 c c 0 nix\n.op\n.end\n")
    several = run(forked_commands, "report", project, "-o", project / "x.html")
    assert several.exit_code == 2
    assert "broken.cir, ce.cir" in several.stderr
    for circuit in ("nix.cir", "../ce.cir"):
        refused = run(forked_commands, "report", project, "--circuit", circuit, "-o", project / "x.html")
        assert refused.exit_code == 2
    assert run(forked_commands, "report", project, "-o", project / "x.doc").exit_code == 2
    assert not list(project.glob("x.*"))
    # One that does not simulate has a report all the same, which says so.
    failed = run(forked_commands, "report", project, "--circuit", "broken.cir", "-o", project / "x.md")
    assert failed.exit_code == 0
    text = (project / "x.md").read_text("utf-8")
    assert "The circuit could not be simulated." in text
    assert "| error | broken.cir:3 |" in text
