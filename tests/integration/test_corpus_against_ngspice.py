"""The corpus means what we say of it: ngspice runs the good decks and stumbles over the bad ones."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from domain.circuit.netlist import Netlist
from domain.circuit.parameters import ExpressionError, parse_expression

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "netlists"
GOOD = sorted((CORPUS / "good").glob("*.cir"))
MANIFEST = json.loads((CORPUS / "bad" / "manifest.json").read_text(encoding="utf-8"))
ENDLESS = {"include_cycle.cir", "include_itself.cir", "dc_without_step.cir"}
"""ngspice 39 crashes on these or never ends; what it does is of no use to know."""


class Outcome(NamedTuple):
    """How a plain `ngspice -n -b -r` run ended."""

    exit_code: int
    points: list[int]
    log: str

    @property
    def has_data(self) -> bool:
        """It succeeded with data for every plot it began."""
        return self.exit_code == 0 and bool(self.points) and 0 not in self.points


def run_ngspice(deck: Path, raw: Path) -> Outcome:
    done = subprocess.run(
        ["ngspice", "-n", "-b", "-r", str(raw), deck.name],
        cwd=deck.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    data = raw.read_bytes() if raw.exists() else b""
    points = [int(count) for count in re.findall(rb"^No\. Points: (\d+)", data, re.MULTILINE)]
    return Outcome(done.returncode, points, (done.stdout + done.stderr).decode("latin-1"))


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(CORPUS, tmp_path_factory.mktemp("corpus") / "netlists"))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_ngspice_runs_the_good_decks(path: Path, decks: Path, tmp_path: Path) -> None:
    outcome = run_ngspice(decks / "good" / path.name, tmp_path / "out.raw")
    assert outcome.exit_code == 0, outcome.log
    netlist = Netlist.parse(path.read_bytes())
    if netlist.analyses:
        assert outcome.has_data, outcome.log
        assert len(outcome.points) >= len(netlist.analyses)
    else:  # the control block asks for the analyses; nothing goes to the raw file
        assert netlist.has_control_block
        assert "No. of Data Rows" in outcome.log


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["file"])
def test_ngspice_stumbles_where_we_say_so(entry: dict, decks: Path, tmp_path: Path) -> None:  # type: ignore[type-arg]
    if entry["file"] in ENDLESS:
        assert entry["refused"] is True
        return
    outcome = run_ngspice(decks / "bad" / entry["file"], tmp_path / "out.raw")
    complains = re.search(r"warning|error|singular", outcome.log, re.IGNORECASE) is not None
    fact = True if not outcome.has_data else "warns" if complains else False
    assert fact == entry["refused"], outcome.log


EXPRESSIONS = [
    "2^3^2",
    "-2^2",
    "(-3)^0.5",
    "2**-1",
    "7\\2",
    "7%4",
    "-7%4",
    "1?2:3",
    "3>2?5:6",
    "log(100)",
    "nint(2.5)",
    "nint(3.5)",
    "int(-2.7)",
    "pwr(-2,3)",
    "pow(2,3)",
    "sgn(-3)",
    "1mil",
    "1k+1meg",
    "1<>2",
    "!0",
    "1&&0||1",
    "ternary_fcn(0,2,3)",
    "arctan(1)",
    "1.5e",
    "5u*2",
    "max(1,2)*min(3,4)",
    "2*3+4*5",
    "2+3*4^2",
    "10/4*2",
    "-(-3)",
    "1==1",
    "2>=3",
    "sqr(3)-sqrt(16)",
    "ceil(-0.5)",
    "floor(-0.5)",
    "abs(-3)*2",
    "1 - 2 - 3",
    "2 3",
    "pi",
    "4k7",
    "foo(1)",
    "1/0",
]


def test_parameters_are_worth_what_ngspice_says(tmp_path: Path) -> None:
    """One voltage source a good expression, all in one deck."""
    values: dict[int, float] = {}
    for index, text in enumerate(EXPRESSIONS):
        try:
            values[index] = parse_expression(text).evaluate({})
        except ExpressionError:
            continue
    cards = [f".param p{i}={{{EXPRESSIONS[i]}}}\nV{i} n{i} 0 {{p{i}}}\nR{i} n{i} 0 1" for i in values]
    deck = tmp_path / "deck.cir"
    deck.write_text("\n".join(["parameters", *cards, ".op", ".end", ""]))
    outcome = run_ngspice(deck, tmp_path / "out.raw")
    assert outcome.has_data, outcome.log
    measured = _operating_point(tmp_path / "out.raw")
    assert {i: measured[f"v(n{i})"] for i in values} == pytest.approx(values, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("text", ["2 3", "pi", "4k7", "foo(1)", "1/0"])
def test_what_has_no_value_for_us_has_none_for_ngspice(text: str, tmp_path: Path) -> None:
    deck = tmp_path / "deck.cir"
    deck.write_text(f"t\n.param p={{{text}}}\nV1 a 0 {{p}}\nR1 a 0 1\n.op\n.end\n")
    assert not run_ngspice(deck, tmp_path / "out.raw").has_data
    with pytest.raises(ExpressionError):
        parse_expression(text).evaluate({})


def _operating_point(raw: Path) -> dict[str, float]:
    import struct

    header, _, body = raw.read_bytes().partition(b"Binary:\n")
    names = [name.decode() for name in re.findall(rb"^\t\d+\t(\S+)", header, re.MULTILINE)]
    return dict(zip(names, struct.unpack(f"<{len(names)}d", body[: 8 * len(names)]), strict=True))
