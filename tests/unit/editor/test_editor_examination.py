"""Places, quick fixes and counts of what is wrong with an unsaved text."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from application.simulation.checking import CheckCircuit
from domain.circuit.simulator_settings import Dialect
from infrastructure.persistence.source_files import SourceReaderFactory
from presentation.panels.editor.examination import Examination, Problem, bytes_of, examine
from shared.cpu_executor import CpuTaskExecutor


def examined(
    path: Path, text: str, *, encoding: str = "utf-8", dialect: Dialect | None = None
) -> Examination:
    check = CheckCircuit(sources=SourceReaderFactory())
    report = check.check(path, data=bytes_of(text, encoding), dialect=dialect)  # type: ignore[arg-type]
    return examine(report, path, text, baseline=text)


def problem_of(found: Examination, code: str) -> Problem:
    return next(problem for problem in found.problems if problem.code == code)


def fixed(text: str, problem: Problem) -> str:
    assert problem.fix is not None
    data = text.encode()
    return (data[: problem.fix.start] + problem.fix.text.encode() + data[problem.fix.end :]).decode()


RC = "* 电路 title\nV1 in 0 AC 1\nR1 in out {value}\nC1 out 0 1n\n.ac dec 10 1 1k\n.end\n"


@pytest.mark.parametrize(
    ("written", "mended", "said"),
    [
        ("10M", "10Meg", "10M is 10\N{NO-BREAK SPACE}mΩ in SPICE"),
        ("2.2M", "2.2Meg", "2.2M is 2.2\N{NO-BREAK SPACE}mΩ in SPICE"),
        ("1MOhm", "1MegOhm", "1MOhm is 1\N{NO-BREAK SPACE}mΩ in SPICE"),
        ("{10M}", "{10Meg}", "10M is 10\N{NO-BREAK SPACE}mΩ in SPICE"),
    ],
)
def test_mega_written_as_milli_is_mended_in_place(
    tmp_path: Path, written: str, mended: str, said: str
) -> None:
    text = RC.replace("{value}", written)
    problem = problem_of(examined(tmp_path / "a.cir", text), "mega-trap")
    assert (problem.severity, problem.line, str(problem.fix.reason)) == ("warning", 3, said)  # type: ignore[union-attr]
    assert fixed(text, problem) == RC.replace("{value}", mended)
    assert text.encode()[problem.start : problem.end].decode() == written


@pytest.mark.parametrize(
    ("written", "mended"),
    [("4k7", "4.7k"), ("2K2", "2.2k"), ("4R7", "4.7"), ("4M7", "4.7Meg"), ("3kk", "3Meg"), ("2kmeg", "2G")],
)
def test_letters_in_place_of_the_point_and_second_factors_are_mended(
    tmp_path: Path, written: str, mended: str
) -> None:
    text = RC.replace("{value}", written)
    problem = problem_of(examined(tmp_path / "a.cir", text), "number-tail")
    assert fixed(text, problem) == RC.replace("{value}", mended)


@pytest.mark.parametrize(
    ("card", "mended"),
    [
        ("R9 out 0 4.7 k", "R9 out 0 4.7k"),
        ("C9 out 0 100 nF", "C9 out 0 100nF"),
        ("C9 out 0 2 F IC=0", "C9 out 0 2 IC=0"),
        ("V9 out 0 12 V", "V9 out 0 12"),
        (".tran 5u 10 m uic", ".tran 5u 10m uic"),
        ("V9 out 0 SIN(0 50 mV 1k)", "V9 out 0 SIN(0 50mV 1k)"),
    ],
)
def test_a_value_in_two_words_is_joined(tmp_path: Path, card: str, mended: str) -> None:
    text = RC.replace("{value}", "1k").replace(".end\n", f"{card}\n.end\n")
    problem = problem_of(examined(tmp_path / "a.cir", text), "parted-value")
    assert mended in fixed(text, problem)


def test_farad_and_greek_mu_have_fixes_too(tmp_path: Path) -> None:
    text = RC.replace("{value}", "1k").replace("1n\n", "1F\nC2 out 0 2μ\n")
    # Untold, the Greek letter passes for LTspice's, and is read right.
    found = examined(tmp_path / "a.cir", text, dialect="ngspice")
    assert "C1 out 0 1\n" in fixed(text, problem_of(found, "farad-trap"))
    assert "C2 out 0 2u\n" in fixed(text, problem_of(found, "number-tail"))


@pytest.mark.parametrize(
    ("code", "line", "mended"),
    [
        ("undefined-model", "Q1 c b 0 QNPN", "Q1 c b 0 QNPX"),
        ("undefined-subcircuit", "X1 c b bufer", "X1 c b Buffer"),
        ("undefined-parameter", "R9 c b {2*rlod}", "R9 c b {2*rload}"),
        ("undefined-parameter", "R9 c b {2*fsv}", "R9 c b {2*fsw}"),
        ("unknown-directive", ".trann 1u 1m", ".tran 1u 1m"),
        ("bad-value", "V9 c b PULS (0 1 0 1u)", "V9 c b PULSE (0 1 0 1u)"),
    ],
)
def test_a_name_that_was_meant_takes_the_place_of_the_wrong_one(
    tmp_path: Path, code: str, line: str, mended: str
) -> None:
    text = (
        "* title\n.param rload=1k fsw=2\nV1 c 0 1\nR1 c b 1k\nR2 b 0 1k\n{line}\n.model QNPX NPN(BF=200)\n"
        ".subckt Buffer in out\nE1 out 0 in 0 1\n.ends\n.op\n.end\n"
    )
    problem = problem_of(examined(tmp_path / "a.cir", text.replace("{line}", line)), code)
    assert fixed(text.replace("{line}", line), problem) == text.replace("{line}", mended)
    assert problem.fix is not None
    assert str(problem.fix.title).removeprefix("Change to ") in mended.replace("{2*", " ").strip("}").split()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_places_are_right_behind_wide_characters_and_any_line_ends(tmp_path: Path, end: str) -> None:
    text = RC.replace("{value}", "10M").replace("\n", end)
    problem = problem_of(examined(tmp_path / "a.cir", text), "mega-trap")
    assert text.encode()[problem.start : problem.end] == b"10M"


def test_places_are_right_in_another_encoding(tmp_path: Path) -> None:
    text = RC.replace("{value}", "10M")
    problem = problem_of(examined(tmp_path / "a.cir", text, encoding="gbk"), "mega-trap")
    assert text.encode()[problem.start : problem.end] == b"10M"


def test_a_text_its_encoding_cannot_hold_is_checked_all_the_same(tmp_path: Path) -> None:
    found = examined(tmp_path / "a.cir", RC.replace("{value}", "10M"), encoding="latin-1")
    assert problem_of(found, "mega-trap").line == 3


def test_a_whole_line_is_marked_without_its_indent(tmp_path: Path) -> None:
    text = "* t\nR1 a 0 1k\n  .subckt x a\nR2 a 0 1k\n.end\n"
    problem = problem_of(examined(tmp_path / "a.cir", text), "unclosed-subckt")
    assert text.encode()[problem.start : problem.end].decode().startswith(".subckt")


def test_a_problem_of_an_included_file_has_no_place_here(tmp_path: Path) -> None:
    (tmp_path / "x.lib").write_text(".subckt amp a b\nR1 a b 1k\n")
    text = "* t\n.include x.lib\nV1 a 0 1\nX1 a 0 amp\n.op\n.end\n"
    found = examined(tmp_path / "a.cir", text)
    problem = problem_of(found, "unclosed-subckt")
    assert (problem.file.name, problem.start, problem.end) == ("x.lib", 0, 0)
    assert found.count("error") >= 1


def test_models_and_changes(tmp_path: Path) -> None:
    text = "* t\n.model RMOD r\n.MODEL d1 d (is=1)\n"
    check = CheckCircuit(sources=SourceReaderFactory())
    report = check.check(tmp_path / "a.cir", data=text.encode())
    found = examine(report, tmp_path / "a.cir", text, baseline="* t\n.MODEL d1 d (is=1)\n")
    assert found.models == {"rmod", "d1"}
    assert found.changed == ((2, 2),)
    assert examine(None, tmp_path / "a.md", "x", baseline="x") == Examination()


async def test_a_large_text_is_checked_in_a_worker_process_with_the_same_outcome(tmp_path: Path) -> None:
    text = "* t\nV1 n0 0 1\n" + "".join(f"R{i} n{i} n{i + 1} 1M\n" for i in range(3000)) + ".op\n.end\n"
    cpu = CpuTaskExecutor(max_workers=1)
    try:
        check = CheckCircuit(sources=SourceReaderFactory(), cpu=lambda: cpu)
        far = await check(tmp_path / "a.cir", data=text.encode())
        assert cpu.worker_pids
        near = await asyncio.to_thread(check.check, tmp_path / "a.cir", data=text.encode())
    finally:
        await cpu.shutdown()
    assert [str(each.message) for each in far.diagnostics] == [str(each.message) for each in near.diagnostics]
    assert len(far.diagnostics) >= 3000
    assert examine(far, tmp_path / "a.cir", text, baseline=text) == examine(
        near, tmp_path / "a.cir", text, baseline=text
    )


@pytest.mark.parametrize(
    ("code", "text", "title", "mended"),
    [
        ("unclosed-subckt", "t\nV1 a 0 1\nX1 a s\n.subckt s p\nR1 p 0 1\n.op\n.end\n",
         "Add .ends s before line 6", (".op", ".ends s\n.op")),
        ("unclosed-if", "t\n.param p=1\nV1 a 0 1\nR1 a 0 1\n.if (p)\nR2 a 0 1\n.op\n.end",
         "Add .endif before line 7", (".op", ".endif\n.op")),
        ("unclosed-control", "t\nV1 a 0 1\nR1 a 0 1\n.op\n.control\nrun\nprint a",
         "Add .endc at the end", ("print a", "print a\n.endc\n")),
        ("no-analysis", "t\r\nV1 a 0 1\r\nR1 a 0 1\r\n.end\r\n", "Add .op", (".end", ".op\r\n.end")),
        ("no-dc-path", "t\nV1 a 0 1\nC1 a b 1n\n+ ic=0\nC2 b 0 1n\n.op\n.end\n",
         "Add Rdc1 b 0 1G", ("+ ic=0\n", "+ ic=0\nRdc1 b 0 1G\n")),
        ("missing-plus", "t\nV1 a 0 1\nR1 a 0 1\ntc1=0.1\n.op\n.end\n",
         "Begin the line with +", ("tc1", "+ tc1")),
        ("stray-ends", "t\nV1 a 0 1\nR1 a 0 1\n.ends\n.op\n.end\n",
         "Make the line a comment", (".ends", "*.ends")),
        ("stray-directive", "t\nV1 a 0 1\nR1 a 0 1\n.endif\n.op\n.end\n",
         "Make the line a comment", (".endif", "*.endif")),
        ("title-is-card", "R1 a 0 1\nV1 a 0 1\nR2 a 0 1\n.op\n.end\n",
         "Insert a title line above", ("R1", "* Circuit\nR1")),
        ("duplicate-element", "t\nV1 a 0 1\nR1 a 0 1\nr2 a 0 1\n  R1 a 0 2\n.op\n.end\n",
         "Change to R3", ("  R1 a", "  R3 a")),
        ("ends-name", "t\nV1 a 0 1\nX1 a s\n.subckt s p\nR1 p 0 1\n.ends q\n.op\n.end\n",
         "Change to s", (".ends q", ".ends s")),
        ("too-few-nodes", "t\nV1 d 0 1\nM1 d d 0 nm W=1u\n.model nm NMOS\n.op\n.end\n",
         "Connect the bulk to 0", ("d d 0 nm", "d d 0 0 nm")),
        ("undefined-parameter", "t\nV1 a 0 1\nR1 a 0 {rload}\n.op\n.end\n",
         "Add .param rload=1", (".end", ".param rload=1\n.end")),
        ("unclosed-bracket", "t\nV1 a 0 1\n.param p=1\nR1 a 0 {2*p $ half\n.op\n.end\n",
         "Add }", ("{2*p ", "{2*p} ")),
        ("unclosed-bracket", "t\nV1 a 0 1\n.param p=1\nR1 a 0 {max(2, (p)} tc1=0 $ half\n.op\n.end\n",
         "Add )", ("(p)}", "(p))}")),
        ("unknown-directive", "t\nV1 a 0 1\nR1 a 0 1\n.qqqxyz 1\n.op\n.end\n",
         "Make the line a comment", (".qqq", "*.qqq")),
    ],
)  # fmt: skip
def test_a_fix_of_a_line_mends_its_problem(
    tmp_path: Path, code: str, text: str, title: str, mended: tuple[str, str]
) -> None:
    problem = problem_of(examined(tmp_path / "a.cir", text), code)
    assert problem.fix is not None
    assert str(problem.fix.title) == title
    new = fixed(text, problem)
    assert new == text.replace(*mended)
    left = [each.code for each in examined(tmp_path / "a.cir", new).problems if each.severity == "error"]
    assert code not in [each.code for each in examined(tmp_path / "a.cir", new).problems]
    assert left == []


def test_a_limit_of_ltspice_is_left_to_its_mode(tmp_path: Path) -> None:
    text = "t\nV1 a 0 1\nB1 b 0 V=limit(2*v(a),0,3)\nL1 b c 1u Rser=1\nR1 c 0 1\n.op\n.end\n"
    found = examined(tmp_path / "a.cir", text, dialect="ltspice")
    assert not any(each.code == "foreign-form" for each in found.problems)
    text = "t\nV1 a 0 1\nB1 b 0 V=1+limit(2*v(a),max(0,1),3)\nR1 b 0 1\n.op\n.end\n"
    problem = problem_of(examined(tmp_path / "a.cir", text, dialect="ngspice"), "foreign-form")
    new = fixed(text, problem)
    assert new == text.replace("limit(2*v(a),max(0,1),3)", "min(max(2*v(a),max(0,1)),3)")
    assert examined(tmp_path / "a.cir", new, dialect="ngspice").problems == ()


def test_a_library_without_sections_is_included_whole(tmp_path: Path) -> None:
    (tmp_path / "my.lib").write_text(".model d d\n")
    text = "t\n.LIB my.lib\nV1 a 0 1\nR1 a b 1\nD1 b 0 d\n.op\n.end\n"
    found = examined(tmp_path / "a.cir", text)
    assert problem_of(found, "undefined-model").severity == "info", "a consequence"
    new = fixed(text, problem_of(found, "lib-without-section"))
    assert new == text.replace(".LIB", ".include")
    assert examined(tmp_path / "a.cir", new).problems == ()
    # So is one whose name is nearly right.
    problem = problem_of(examined(tmp_path / "a.cir", new.replace("my.lib", "mey.lib")), "include-missing")
    assert fixed(new.replace("my.lib", "mey.lib"), problem) == new


def test_a_bracket_that_may_be_closed_further_down_is_left_alone(tmp_path: Path) -> None:
    text = "t\nV1 a 0 1\nR1 a 0 {2*\n+ 1\n.op\n.end\n"
    assert problem_of(examined(tmp_path / "a.cir", text), "unclosed-bracket").fix is None


@pytest.mark.parametrize(
    ("library", "card"),
    [
        ("* mine\n.subckt amp p n o\nE1 o 0 p n 1e5\n.ends\n", ".include ../parts/my.lib"),
        ("* mine\n.lib fast\n.subckt amp p n o\nE1 o 0 p n 1e5\n.ends\n.endl\n", ".lib ../parts/my.lib fast"),
        ("\ufeff.lib fast\n.subckt amp p n o\nE1 o 0 p n 1e5\n.ends\n.endl\n", ".lib ../parts/my.lib fast"),
        ("* mine\n.lib a;b\n.subckt amp p n o\nE1 o 0 p n 1e5\n.ends\n.endl\n", None),
        ("* local\n.subckt outer a b\n.subckt amp p n o\nE1 o 0 p n 1e5\n.ends\n.ends\n", None),
    ],
)
def test_a_definition_that_lies_in_the_project_is_brought_in(
    tmp_path: Path, library: str, card: str | None
) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "my.lib").write_text(library)
    (tmp_path / "decks").mkdir()
    text = "* follower\nV1 in 0 1\nX1 in out out AMP\nR1 out 0 1k\n.op\n.end\n"
    problem = problem_of(examined(tmp_path / "decks" / "a.cir", text), "undefined-subcircuit")
    if card is None:
        assert problem.fix is None
        return
    assert card in str(problem.message)
    mended = fixed(text, problem)
    assert mended.splitlines()[1] == card
    assert examined(tmp_path / "decks" / "a.cir", mended).problems == ()


def test_a_definition_among_another_circuits_elements_is_told_and_not_included(tmp_path: Path) -> None:
    (tmp_path / "other.cir").write_text("* other\nD1 a 0 DX\nV1 a 0 1\n.model DX D(IS=1p)\n.op\n.end\n")
    found = examined(tmp_path / "mine.cir", "* mine\nV1 a 0 1\nD1 a 0 DX\n.op\n.end\n")
    problem = problem_of(found, "undefined-model")
    assert (problem.fix, problem.message.params["line"]) == (None, 4)
    assert problem.message.params["path"] == "other.cir"


@pytest.mark.parametrize("name", ["x{y}.lib", "a,b=c.lib", "a b.lib", "(x).lib"])
def test_a_file_of_an_odd_name_is_brought_in_in_quotes(tmp_path: Path, name: str) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / name).write_text("* mine\n.model DX D(IS=1p)\n")
    text = "* mine\nV1 a 0 1\nD1 a 0 DX\n.op\n.end\n"
    mended = fixed(text, problem_of(examined(tmp_path / "mine.cir", text), "undefined-model"))
    assert mended.splitlines()[1] == f'.include "{name}"'
    assert examined(tmp_path / "mine.cir", mended).problems == ()


@pytest.mark.parametrize("name", ["x\n.options rshunt=1\n.lib", 'a" b.lib', "a;b.lib", "$a.lib"])
def test_a_file_whose_name_no_card_can_hold_brings_in_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / ".circuit_ai").mkdir()
    (tmp_path / name).write_text("* mine\n.model DX D(IS=1p)\n")
    found = examined(tmp_path / "mine.cir", "* mine\nV1 a 0 1\nD1 a 0 DX\n.op\n.end\n")
    assert problem_of(found, "undefined-model").fix is None


def test_a_part_called_as_in_pspice_is_brought_in_by_its_name_in_the_library(tmp_path: Path) -> None:
    text = "* doubler\nV1 a 0 1\nD1 a 0 D1n4007\n.op\n.end\n"
    for code in ("undefined-model", "undefined-model"):
        text = fixed(text, problem_of(examined(tmp_path / "a.cir", text), code))
    assert text.splitlines()[1:4] == [".include 1N4007.lib", "V1 a 0 1", "D1 a 0 1N4007"]
    assert not examined(tmp_path / "a.cir", text).count("error")
