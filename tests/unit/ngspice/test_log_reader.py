"""Recorded words of real runs (ngspice 39, and the variants of other versions) and what they mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infrastructure.ngspice.findings import Finding, quoted
from infrastructure.ngspice.log_reader import progress_value, read_log
from tests.ground.cases import for_each

RESCUED = """\
Warning: singular matrix:  check node b

Note: Starting dynamic gmin stepping
Trying gmin =   1.0000E-03 Note: One successful gmin step
Trying gmin =   1.0000E-12 Note: One successful gmin step
Warning: singular matrix:  check node b

Warning: Dynamic gmin stepping failed
Note: Starting true gmin stepping
Trying gmin =   1.0000E-03 Warning: singular matrix:  check node b
Warning: Further gmin increment
Warning: Last gmin step failed
Warning: True gmin stepping failed
Note: Starting source stepping
Supplies reduced to   0.1000% Supplies reduced to   0.0000% Warning: source stepping failed
Note: Transient op started
Note: Transient op finished successfully
"""
NO_SOLUTION = """\
Note: Starting dynamic gmin stepping
Trying gmin =   1.0000E-03 Warning: Further gmin increment
Warning: singular matrix:  check node late
Warning: Dynamic gmin stepping failed
Note: Starting source stepping
Warning: source stepping failed
Note: Transient op started
Error: Transient op failed, timestep too small

doAnalyses: OP:  Timestep too small; trouble with node "x"

run simulation(s) aborted
"""
MODEL = """\
warning, can't find model 'nomod' from line
    d1 x 0 nomod
Error on line:
  d.x1.d1 a 0 nomod
could not find a valid modelname
    Simulation interrupted due to error!

Error: circuit not parsed.
"""
PARAMETERS = """\
Netlist line no. 3:
Undefined parameter [foo]
Netlist line no. 3:
 Expression err: foo*2
Netlist line no. 3:
 Formula() error.
      |.param bar={foo*2}| : |bar|=|foo*2|
Netlist line no. 4:
Undefined parameter [bar]
Netlist line no. 4:
Cannot compute substitute

ERROR: fatal error in ngspice, exit(1)
"""


def told(stderr: str, stdout: str = "") -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in read_log(stdout, stderr).findings]


def only(stderr: str) -> Finding:
    (finding,) = read_log("", stderr).findings
    return finding


def test_a_rescued_singular_matrix_is_one_warning() -> None:
    finding = only(RESCUED)
    assert (finding.severity, finding.code, finding.node) == ("warning", "singular-matrix", "b")


def test_a_singular_matrix_met_on_the_way_is_not_the_cause() -> None:
    finding = only(NO_SOLUTION)
    assert (finding.severity, finding.code, finding.node, finding.analysis) == (
        "error",
        "no-convergence",
        "x",
        "op",
    )


def test_a_singular_matrix_that_came_first_is_the_cause() -> None:
    finding = only("Warning: singular matrix:  check node v1#branch\n" + NO_SOLUTION)
    assert (finding.code, finding.element, finding.node) == ("singular-matrix", "v1", None)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Note: Starting dynamic gmin stepping\nNote: Dynamic gmin stepping completed\n", "gmin-stepping"),
        ("Note: Starting source stepping\nNote: Source stepping completed\n", "source-stepping"),
        ("Note: Transient op started\nNote: Transient op finished successfully\n", "transient-op"),
    ],
)
def test_help_for_the_operating_point_is_a_warning(words: str, code: str) -> None:
    assert told(words) == [("warning", code)]
    assert ".nodeset" in str(only(words).advice)


def test_a_stuck_time_step_has_its_time() -> None:
    finding = only(
        "doAnalyses: TRAN:  Timestep too small; time = 8.19708e-10, timestep = 1.25e-18: "
        'trouble with node "b"\n\nrun simulation(s) aborted\n'
    )
    assert finding.code == "timestep-too-small"
    assert "8.19708e-10" in str(finding.message)
    bare = only("doAnalyses: timestep too small\n\nrun simulation(s) aborted\n")
    assert (bare.code, "s:" in str(bare.message), bare.advice) == (finding.code, False, finding.advice)
    assert only("doAnalyses: iteration limit reached\n").code == "no-convergence"


def test_a_start_without_an_operating_point_is_told_as_that() -> None:
    stuck = (
        "doAnalyses: TRAN:  Timestep too small; initial timepoint: trouble with xu1:dx-instance d.xu1.dz2\n"
    )
    finding = only("Using transient initial conditions\n" + stuck)
    assert (finding.code, finding.element) == ("timestep-too-small", "d.xu1.dz2")
    assert "uic" in str(finding.message)
    assert only(stuck).code == "no-convergence"


def test_a_card_of_a_subcircuit_is_known_by_its_own_text() -> None:
    finding = only(MODEL)
    assert (finding.code, finding.card, finding.element, finding.number) == (
        "undefined-model",
        "d1 x 0 nomod",
        "d1",
        None,
    )


def test_a_directive_is_no_fault_of_the_element_warned_of_before() -> None:
    finding = only(
        "warning, can't find model 'dfastx' from line\n    d1 c 0 dfastx\n"
        "Error on line 2 or its substitute:\n  .lib lib/parts.lib\n unimplemented control card - error \n"
        "    Simulation interrupted due to error!\n"
    )
    assert (finding.code, finding.number, finding.element) == ("lib-without-section", 2, None)
    assert (finding.card, finding.begins) == (".lib lib/parts.lib", (".lib",))
    assert "D1" not in str(finding.message).upper()


def test_a_parameter_lost_with_another_is_no_second_fault() -> None:
    finding = only(PARAMETERS)
    assert (finding.code, finding.word, finding.number) == ("undefined-parameter", "foo", 3)


def test_text_of_a_foreign_file_is_searched_for_but_not_shown() -> None:
    finding = only("Error: bad syntax of line\n   games:x:5:60:games:/usr/games\n No circuit loaded!\n")
    assert finding.code == "bad-line"
    assert "games" not in str(finding.message)


@for_each(
    "words",
    [
        "\nNote: No compatibility mode selected!\n\n",
        "Warning: vin: no DC value, transient time 0 value used\n",
        "Note: v1: has no value, DC 0 assumed\n",
        "Reducing trtol to 1 for xspice 'A' devices\n",
        "Cannot read termcap database;\nusing dumb terminal settings.\n",
        "ERROR: (internal)  This operation is not defined for display type X.\nCan't open viewport\n",
        "No .measure possible in batch mode (-b) with -r rawfile set!\n",
        " Reference value :  7.23641e-02\r Reference value :  1.59800e-01\r",
    ],
)
def test_notes_of_healthy_runs_are_silent(words: str) -> None:
    assert told(words) == []
    assert told("", words) == []


@pytest.mark.parametrize(("line", "told"), [("  ;x", 0), (";", 0), ("  =z", 1)])
def test_a_line_behind_a_semicolon_is_a_comment(line: str, told: int) -> None:
    words = (
        "Warning: Unusual leading characters like ';' or others out of '= [] ? () & % $\"!:,;\\f'\n"
        "    in netlist or included files, will be replaced with '*'.\n"
        f"    Check line no 2:{line}\n"
    )
    assert len(read_log("", words).findings) == told


def test_errors_without_a_rule_are_passed_on_as_warnings() -> None:
    finding = only("Error: something ngspice 50 says\n")
    assert (finding.severity, finding.code) == ("warning", "ngspice-message")
    assert "something ngspice 50 says" in str(finding.message)


def test_data_that_found_no_room_are_a_failure() -> None:
    """ngspice ends with exit code 0 then."""
    finding = only("Warning: rawfile write error !!\n")
    assert (finding.severity, finding.code) == ("error", "disk-full")


def test_of_a_long_log_beginning_and_end_are_read() -> None:
    middle = "".join(f"line {n}\n" for n in range(50_000))
    log = f"one: no such command available in ngspice\n{middle}two: no such command available in ngspice\n"
    assert len(told(log)) == 2


def test_a_repeated_fault_is_told_once_and_a_flood_is_cut() -> None:
    assert told("foo: no such command available in ngspice\n" * 1000) == [("error", "control-command-failed")]
    flood = "".join(f"foo{n}: no such command available in ngspice\n" for n in range(1000))
    assert len(told(flood)) == 50


def test_a_subcircuit_missing_inside_another_has_its_own_name() -> None:
    (finding,) = read_log("", "Error: unknown subckt: x1.x1_xor a b c x1.x1_ha.74lv86a\n").findings
    assert finding.message.params["name"] == "74lv86a"


def test_quitting_is_noticed() -> None:
    assert read_log("a\nngspice-39 done\n", "").quit_by_deck
    assert not read_log("Note: ngspice-39 is not done\n", "").quit_by_deck
    assert not read_log("ngspice-39 done\nNo. of Data Rows : 51\n", "").quit_by_deck  # echoed by the deck


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (" Reference value :  7.23641e-02", 0.0723641),
        ("Reference value : 1e+06", 1e6),
        ("Reference value :  e-", None),
        ("anything else", None),
    ],
)
def test_progress_lines(line: str, value: float | None) -> None:
    assert progress_value(line) == value


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    reading = read_log(text, text)
    assert all(str(finding.message) for finding in reading.findings)


@given(st.text())
def test_quotes_are_short_and_printable(text: str) -> None:
    shown = quoted(text)
    assert len(shown) <= 160
    assert shown.isprintable()


def test_an_endless_line_is_read_in_no_time():
    # Patterns over 10 MB in one line took hours.
    assert read_log("", "Error on line 1 or its substitute:\n" + "x" * 10_000_000).findings


def test_an_ngspice_without_verilog_a_says_so() -> None:
    assert told("osdi: no such command available in ngspice\n") == [("error", "osdi-unavailable")]


def test_a_formula_outside_its_domain_names_its_element() -> None:
    log = "Trying gmin = 1e-3 Error: 0, -0.9 out of range for pow\n    in line b.x1.be2\n"
    (finding,) = read_log("", log).findings
    assert (finding.code, finding.element) == ("math-domain", "b.x1.be2")


def test_perimeters_below_the_width_are_told_in_our_words() -> None:
    found = only("Warning: Pd = 0 is less than W.\n")
    assert (found.severity, str(found.message)) == ("warning", "Pd = 0 of a MOSFET is less than its width W.")
