"""A report of a designed circuit: its figures are those of the simulator, in each form it can have."""

from __future__ import annotations

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pypdf
import pytest

import bootstrap
from application.ports.reports import ReportRequest
from domain.circuit.schematic.placing import Place, Sides
from presentation.report.making import TranslatedPages
from presentation.translation import Translator
from tests.ground.forked_commands import ForkedCommands

CE = (
    "Amplifier & co <b>\nVcc vcc 0 12\nVin in 0 AC 1 SIN(0 10m 10k)\nC1 in b 10u\nR1 vcc b 91k\nR2 b 0 18k\n"
    "Q1 c b e n1\nRC vcc c 4.7k\nRE e 0 1k\n.model n1 NPN(IS=1e-14 BF=200 VAF=100)\n"
    ".ac dec 10 10 10meg\n.tran 1u 300u\n.meas ac peak max vdb(c)\n.end\n"
)
STAGE = (
    "Amplifier & co <b>\nVcc vcc 0 12\nVin b 0 DC 0.65 AC 1\nQ1 c b 0 n1\nRC vcc c 4.7k\n.model n1 NPN\n"
    ".ac dec 10 10 10meg\n.meas ac peak max vdb(c)\n.end\n"
)
DIVIDER = "divider\nV1 in 0 10\nR1 in out 1k\nR2 out 0 1k\n.op\n.end\n"


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
    (project / "ce.cir").write_text(CE.replace(".tran 1u 300u\n", ".tran 1u 300u\n.tran 1u 100u\n"))
    made = run(forked_commands, "report", project, "-o", target, "--json")
    assert made.exit_code == 0, made.stdout + made.stderr
    page = target.read_text("utf-8")
    curves = ("Frequency response", "Transient response", "Transient response 2")
    for heading in ("Goals", "Measurements", *curves, "Operating point"):
        assert f"<h2>{heading}</h2>" in page
    assert page.count("data:image/svg+xml;base64,") == len(curves)
    drawn = page[page.index("<h2>Schematic</h2>") :].partition("</svg>")[0]
    for name in ("Q1", "RC", "RE", "vcc"):  # the schematic is part of the page
        assert f">{name}</text>" in drawn, name
    assert "Monte Carlo" not in page
    assert "1 of 1 goal met." in page
    assert re.search(
        r">Q1</td><td class=\"short\">npn</td><td class=\"short\">active</td><td>IC\u00a0=\u00a01\.\d+", page
    )
    assert "Amplifier &amp; co &lt;b&gt;" in page  # what a deck says is text
    assert "<b>" not in page
    assert "<script" not in page
    assert "Content-Security-Policy" in page
    again = run(forked_commands, "report", project, "-o", target)
    assert again.exit_code == 2  # nothing is written over unasked
    assert target.read_text("utf-8") == page
    (project / "ce.cir").write_text(DIVIDER)
    assert run(forked_commands, "report", project, "-o", target, "--force").exit_code == 0
    assert "R2 out 0 1k" in target.read_text("utf-8")


def test_a_pdf_has_pages_and_chinese_words(forked_commands: ForkedCommands, project: Path) -> None:
    target = project / "报告.pdf"
    (project / "ce.cir").write_text(STAGE.replace(".end\n", "D1 0 c DX\n.model DX D\n.end\n"))
    made = run(forked_commands, "report", project, "-o", target, language="zh_CN")
    assert made.exit_code == 0, made.stdout + made.stderr
    pages = pypdf.PdfReader(target).pages
    text = "\n".join(page.extract_text() for page in pages)
    assert "频率响应" in text
    assert "工作点" in text
    assert "Q1" in text
    assert "二极管" in text
    assert "diode" not in text
    assert "电路图" in text
    assert f"1 / {len(pages)}" in pages[0].extract_text()


def test_markdown_names_its_pictures(forked_commands: ForkedCommands, project: Path) -> None:
    target = project / "the report.md"
    (project / "ce.cir").write_text(STAGE)
    made = run(forked_commands, "report", project, "-o", target, "--json")
    assert made.exit_code == 0, made.stdout + made.stderr
    text = target.read_text("utf-8")
    assert re.findall(r"\]\((.+?)\)", text) == [f"the%20report-{n}.svg" for n in (1, 2)]
    assert ">Q1</text>" in (project / "the report-1.svg").read_text("utf-8")
    assert (project / "the report-2.svg").read_text("utf-8").startswith("<?xml")
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


def figures_in(text: str, heading: str) -> str:
    """What stands under a heading of a Markdown report."""
    return text.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def test_kept_studies_are_told_as_they_were_stored(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    project, circuit, target = tmp_path, tmp_path / "divider.cir", tmp_path / "r.md"
    circuit.write_text(DIVIDER)
    (project / ".circuit_ai").mkdir()
    goal = ("--measure", "half=v(out)", "--goal", "half>=4.95")
    scattered = ("montecarlo", circuit, "--param", "R*=5%", *goal, "--runs", 24, "--json")
    assert run(forked_commands, *scattered, "--seed", 1).exit_code == 0
    found = json.loads(run(forked_commands, *scattered, "--seed", 5).stdout)
    cornered = ("corners", circuit, "--voltage", "V1=9.8,10,10.4", *goal)
    assert run(forked_commands, *cornered).exit_code == 1  # the lowest supply misses the goal
    assert run(forked_commands, "report", project, "-o", target).exit_code == 0
    text = target.read_text("utf-8").replace("\u00a0", " ")
    told = figures_in(text, "Monte Carlo")
    assert "Run 2 · " in told  # the newer of both
    assert "24 runs · seed 5" in told
    assert re.search(r"Assumed: R1, R2: uniform within ±5 %", told)
    share = found["yield"]
    assert 0 < share["value"] < 1
    assert f"Yield {100 * share['value']:.1f} % ({share['passed']} of 24)" in told
    assert f"between {100 * share['low']:.1f} % and {100 * share['high']:.1f} %" in told
    found = found["statistics"]["half"]
    assert f"| half | ≥ 4.95 V | {found['mean']:.4g} V |" in told
    # A bar for each bin, on the side of the limit, in a border.
    drawn = ET.parse(target.with_name("r-2.svg")).getroot()
    assert len(drawn.findall("{*}rect")) == len(found["histogram"]["counts"]) + 2
    corners = figures_in(text, "Corners")
    assert "Goals are missed" in corners
    assert re.search(r"\| half \| ≥ 4.95 V \| 4.9 V \| (V1=9.8\S*) \| 5.2 V \| V1=10.4\S* \| \1 \|", corners)
    # The project's folder may be renamed: the studies are those of its circuit all the same.
    project = tmp_path.rename(tmp_path.with_name("renamed"))
    circuit, target = project / circuit.name, project / target.name
    # Chosen by number and by kind, or none; what is not there is refused with those that are.
    circuit.write_text(DIVIDER.replace("1k", "1.1k"))
    chosen = run(forked_commands, "report", project, "-o", target, "--force", "--studies", "1, monte_carlo,1")
    assert chosen.exit_code == 0
    text = target.read_text("utf-8")
    assert re.findall(r"seed \d", text) == ["seed 1", "seed 5"]
    assert "The circuit's file was changed after this study." in text
    assert "## Corners" not in text
    refused = run(forked_commands, "report", project, "-o", target, "--force", "--studies", "sweep")
    assert refused.exit_code == 2
    assert "3 (corners), 2 (montecarlo), 1 (montecarlo)" in refused.stderr
    assert (
        run(forked_commands, "report", project, "-o", target, "--force", "--studies", "none").exit_code == 0
    )
    assert "Monte Carlo" not in target.read_text("utf-8")


def test_a_page_too_full_to_draw_is_told(forked_commands: ForkedCommands, project: Path) -> None:
    ladder = "\n".join(f"R{n} n{n} n{n + 1} 1k" for n in range(301))
    (project / "ladder.cir").write_text(f"ladder\nV1 n0 0 1\n{ladder}\nRL n301 0 1k\n.op\n.end\n")
    made = run(forked_commands, "report", project, "--circuit", "ladder.cir", "-o", project / "x.md")
    assert made.exit_code == 0, made.stdout + made.stderr
    text = figures_in((project / "x.md").read_text("utf-8"), "Schematic")
    assert "has 303 elements on one page; at most 300 are drawn." in text
    assert "subcircuits" in text


def test_a_model_writes_a_report_as_one_operation(forked_commands: ForkedCommands, tmp_path: Path) -> None:
    (tmp_path / "divider.cir").write_text(DIVIDER)

    (tmp_path / ".circuit_ai").mkdir()

    def call(**given: object) -> dict:
        words = ("generate_design_report", json.dumps(given), "--project", tmp_path)
        return json.loads(run(forked_commands, "tool", *words).stdout)

    varied = ("--param", "R1=5%", "--measure", "half=v(out)", "--runs", 5)
    assert run(forked_commands, "montecarlo", tmp_path / "divider.cir", *varied).exit_code == 0
    made = call(format="md")
    assert made["success"], made
    assert made["content"].splitlines() == [
        "Made reports/divider-report.md, the design report of divider.cir.",
        "Pictures beside it: 2, reports/divider-report-1.svg first.",
        "In it: schematic (3 elements), operating point, netlist, versions.",
        "Study: montecarlo, run 1, 5 simulations.",
    ]
    written = {path.name for path in (tmp_path / "reports").iterdir()}
    assert written == {f"divider-report{rest}" for rest in (".md", "-1.svg", "-2.svg")}
    again = call(studies="none")
    assert again["result"]["path"] == "reports/divider-report.html"
    assert again["content"].endswith("No study in it.")
    assert call(format="md", studies=["1"])["result"]["path"] == "reports/divider-report-2.md"
    for wrong, kind in (
        ({"to": "reports/divider-report.html"}, "file_exists"),
        ({"to": "../x.html"}, "outside_project"),
        ({"to": "x.cir", "format": "pdf"}, "suffix_not_allowed"),
        ({"path": "nix.cir"}, "file_not_found"),
        ({"studies": ["corners"]}, "no_result"),
        ({"format": "doc"}, "bad_arguments"),
    ):
        assert call(**wrong)["error_type"] == kind, wrong
    for _ in range(3):
        undone = run(forked_commands, "undo", tmp_path)
        assert undone.exit_code == 0, undone.stderr
    assert not (tmp_path / "reports").exists()


BLOCKS = (
    "blocks\nV1 in 0 1\nX1 in out outer\nR9 out 0 1k\n"
    ".subckt outer a b\nX1 a b inner\nC7 b 0 1n\n.ends\n.subckt inner p n\nR5 p n 1k\n.ends\n.op\n.end\n"
)


async def test_subcircuits_are_drawn_and_parts_stand_where_a_hand_put_them(tmp_path: Path) -> None:
    (tmp_path / "b.cir").write_text(BLOCKS)
    app, words = bootstrap.build(), TranslatedPages(await asyncio.to_thread(Translator, "en"))
    try:
        places = {
            "v1": Place(0, 0, flip=False, turn=0, upright=True, sides=Sides()),
            "x1": Place(20, 0, flip=False, turn=0, upright=False, sides=Sides()),
            "r9": Place(44, 8, flip=False, turn=0, upright=True, sides=Sides()),
        }
        pages = []
        for by_hand in ({}, {"": places}):
            made = await app.design.make_report.made(
                ReportRequest(project=tmp_path, places=by_hand), "html", "r", words
            )
            pages.append(made.files["r.html"].decode("utf-8"))
    finally:
        await app.close()
    for page in pages:
        drawn = page[page.index("<h2>Schematic</h2>") :]
        for name, part in (("outer", "C7"), ("inner", "R5")):
            behind = drawn[drawn.index(f"<h3>Subcircuit {name}</h3>") :].partition("</svg>")[0]
            assert f">{part}</text>" in behind
    tops = [page[page.index("<h2>Schematic</h2>") :].partition("</svg>")[0] for page in pages]
    assert all(f">{name}</text>" in top for top in tops for name in ("V1", "X1", "R9"))
    assert tops[0] != tops[1]
