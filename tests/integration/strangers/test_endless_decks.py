"""Decks and answers made to be read without end: the work grows with their size, not with its square.

What is asserted is a number of Python calls (which no clock and no load changes) of a text and of one twice
as long. Where the work would be C's, in a regular expression, the texts are so long that a search that
backtracks would still be at it tomorrow.
"""

from __future__ import annotations

import cProfile
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import _lru_cache_wrapper, partial
from pathlib import Path
from typing import Any

import pytest

from domain.circuit.defined_elsewhere import DefinedAt, definitions_in
from domain.circuit.dependencies import (
    Definer,
    DependencyTree,
    SourceFile,
    SourceRefusal,
    resolve_dependencies,
)
from domain.circuit.diagnostics import Diagnostic, diagnose
from domain.circuit.dialects import refuse_encrypted
from domain.circuit.exchange.pyspice_reading import looks_like_pyspice
from domain.circuit.hierarchy import read_circuit, rings_of
from domain.circuit.ltspice_schematic import netlist_of, read_sheet
from domain.circuit.netlist import Netlist, _read_lately
from domain.circuit.outline import outline_of
from domain.circuit.parameters import resolve_parameters
from domain.circuit.sections import sections_of
from domain.circuit.translation import translate
from domain.components.reading import read_components
from domain.design.fenced_netlist import fenced_netlist
from domain.design.sentence import read_sentence
from domain.design.understanding import Slot, fill_slots
from domain.llm.agentic_loop.contradictions import contradictions
from domain.llm.answers import calls_in_text
from domain.llm.netlists_in_text import complete_netlists
from domain.simulation.meas_cards import parse_meas
from infrastructure.persistence.source_files import ConfinedSourceReader
from presentation.panels.conversation.markup import to_html
from presentation.panels.editor.highlight import Style, paint_roughly
from shared.errors import CircuitError, UserInputError

ROOT = Path("/deck/circuit.cir")
MOST_GROWTH = 2.2
"""Of the calls for a text twice as long: 2 is linear, 4 the square."""


class Files:
    """A reader of files that are not on any disk; a path names its file by its last part."""

    def __init__(self, files: dict[str, str] | None = None) -> None:
        self._files = files or {}

    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        name = Path(reference).name
        if name not in self._files:
            return SourceRefusal(path=Path(reference), reason="missing")
        return SourceFile(path=ROOT.parent / name, data=self._files[name].encode())


def tree_of(text: str, files: dict[str, str] | None = None) -> DependencyTree:
    return resolve_dependencies(Netlist.parse(text.encode(), path=ROOT), Files(files))


def findings_of(text: str, files: dict[str, str] | None = None) -> tuple[Diagnostic, ...]:
    tree = tree_of(text, files)
    return diagnose(tree.root, tree)


def calls_of(work: Callable[[], Any]) -> int:
    """How many functions are called, Python's and C's."""
    calls = cProfile.Profile()
    before = sys.getprofile()
    try:
        calls.runcall(work)
    finally:
        sys.setprofile(before)
    return sum(entry.callcount for entry in calls.getstats())


def forget_lines() -> None:
    """What is kept of texts and lines that were read: of a short text all would be known, of the long
    one nothing."""
    for name, module in list(sys.modules.items()):
        for kept in vars(module).values() if name.startswith("domain.circuit.") else ():
            if isinstance(kept, _lru_cache_wrapper) and kept.cache_info().maxsize:
                kept.cache_clear()
    _read_lately.cache_clear()


def lines(count: int, template: str) -> str:
    return "".join(template.replace("#", str(number)) for number in range(count))


def chain(count: int) -> str:
    blocks = (f".subckt s{n} a\nX{n} a s{n + 1}\n.param p{n}=1\n.ends\n" for n in range(count))
    return f"t\n{''.join(blocks)}.subckt s{count} a\nR1 a 0 1\n.ends\nX1 a s0\n.op\n"


def parameter_chain(count: int) -> str:
    cards = (f".param p{n + 1}={{p{n}}}\n" for n in range(count))
    return f"t\nV1 a 0 1\n.param p0=1\n{''.join(cards)}.op\n"


def parameter_rings(count: int) -> str:
    cards = (f".param p{n}={{p{(n + 1) % count}+p{n * 7 % count}}}\n" for n in range(count))
    return f"t\nV1 a 0 1\n{''.join(cards)}R1 a 0 {{p0}}\n.op\n"


DECKS: dict[str, Callable[[int], str]] = {
    "nested subcircuits": lambda n: (
        f"t\n{lines(n, '.subckt s# a' + chr(10))}{'.ends' + chr(10)}" * 1 + ".ends\n" * (n - 1)
    ),
    "a chain of subcircuits": chain,
    "one subcircuit many times": lambda n: f"t\nX1 a s\n{'.subckt s a' + chr(10)}R1 a 0 1\n.ends\n" * n,
    "undefined models": lambda n: f"t\nV1 a 0 1\n{lines(n, 'D# a 0 m#' + chr(10))}.op\n",
    "undefined models beside binned ones": lambda n: (
        "t\nV1 a 0 1\n" + lines(n, "D# a 0 m#\n.model q#.1 d\n") + ".op\n"
    ),
    "undefined subcircuits": lambda n: f"t\nV1 a 0 1\n{lines(n, 'X# a 0 m#' + chr(10))}.op\n",
    "undefined parameters": lambda n: f"t\nV1 a 0 1\n{lines(n, 'R# a 0 {p#}' + chr(10))}.op\n",
    "missing files": lambda n: f"t\n{lines(n, '.include f#.inc' + chr(10))}",
    "missing libraries": lambda n: f"t\n{lines(n, '.lib f#.lib s' + chr(10))}",
    "a chain of parameters": parameter_chain,
    "rings of parameters": parameter_rings,
    "a line of points": lambda n: f"t\nV1 a 0 pwl({lines(n, '# 1 ')})\nR1 a 0 1\n.tran 1 2\n",
    "points on lines": lambda n: f"t\nV1 a 0 pwl(\n{lines(n, '+ # 1' + chr(10))}+)\nR1 a 0 1\n.tran 1 2\n",
    "a chain of resistors": lambda n: f"t\nV1 n0 0 1\n{lines(n, 'R# n# m#' + chr(10))}.op\n",
    "blank lines between": lambda n: f"t\nR1 a 0 1\n{'+' + chr(10)}" * n,
    "braces": lambda n: f"t\nR1 a 0 {'{' * n}1{'}' * n}\n",
    "brackets": lambda n: f"t\nR1 a 0 {{{'(' * n}1{')' * n}}}\n",
    "sums": lambda n: f"t\nV1 a 0 1\nR1 a 0 {{1{'+1' * n}}}\n.op\n",
    "unknown directives": lambda n: f"t\nV1 a 0 1\n{lines(n, '.nothing#' + chr(10))}.op\n",
    "measures": lambda n: f"t\nV1 a 0 1\n{lines(n, '.meas tran m# max v(a)' + chr(10))}.tran 1 2\n",
    "headings": lambda n: "t\n" + "\n* Stage: a = 1\nR1 a 0 1\nR2 a 0 1\n" * n,
}

READERS: dict[str, Callable[[str], Any]] = {
    "check": findings_of,
    "outline": lambda text: outline_of(Netlist.parse(text.encode())),
    "sections": lambda text: sections_of(Netlist.parse(text.encode())),
    "parameters": lambda text: resolve_parameters(tree_of(text)),
    "components": lambda text: read_components(text.encode(), "x.lib"),
    "LTspice": lambda text: translate(Netlist.parse(text.encode()), "ltspice"),
}


@pytest.mark.parametrize("count", [pytest.param(300, marks=pytest.mark.torture), 120])
@pytest.mark.parametrize("kind", DECKS)
def test_reading_a_deck_twice_as_long_is_twice_the_work(kind: str, count: int) -> None:
    short, long = DECKS[kind](count), DECKS[kind](2 * count)
    for name, read in READERS.items():
        for text in (short, long):
            read(text)  # what is compiled and kept at the first time
        forget_lines()
        few = calls_of(partial(read, short))
        forget_lines()
        many = calls_of(partial(read, long))
        assert many <= MOST_GROWTH * few + 2_000, f"{name}: {few} calls, then {many}"


def test_the_count_tells_the_square() -> None:
    """What the sample's texts show must be seen in it, whatever is allowed beside the growth."""

    def square(text: str) -> int:
        return sum(len(line) for _ in range(text.count("\n") // 2) for line in text.splitlines())

    few, many = (calls_of(partial(square, DECKS["a chain of resistors"](count))) for count in (120, 240))
    assert many > MOST_GROWTH * few + 2_000


@pytest.mark.parametrize(
    "ending",
    [
        "param='" + "a " * 150_000,
        "max v(a) " + "= " * 150_000,
        "max v(a)" + "(" * 300_000,
        "max v(a)" + " " * 300_000,
    ],
    ids=["a quote without end", "signs", "brackets", "blanks"],
)
def test_a_measure_card_of_any_length_is_read_in_linear_time(ending: str) -> None:
    """A word was copied for each of its letters: a quote without end took a minute."""
    begin = time.thread_time()
    with suppress(UserInputError):
        parse_meas(f".meas tran m {ending}", 1)
    assert time.thread_time() - begin < 20


def test_a_card_of_five_million_letters_is_painted_in_a_few_calls() -> None:
    def deck(count: int) -> bytes:
        return b"V1 a 0 pwl(" + b"1 2 " * count + b")\n.subckt s a\n"

    few, many = (calls_of(partial(paint_roughly, deck(count))) for count in (10_000, 1_250_000))
    assert many <= few
    painted = paint_roughly(deck(1_250_000))
    assert len(painted.styles) == len(deck(1_250_000))
    assert painted.styles[11] == Style.VALUE
    assert painted.headers == (False, True)


def doubling(count: int) -> dict[str, str]:
    files = {f"f{n}.inc": f".include f{n + 1}.inc\n.include f{n + 1}.inc\n" for n in range(count)}
    return files | {f"f{count}.inc": "R1 a 0 1\n"}


def doubling_sections(count: int) -> dict[str, str]:
    sections = (f".lib s{n}\n.lib l.lib s{n + 1}\n.lib l.lib s{n + 1}\n.endl\n" for n in range(count))
    return {"l.lib": f"{''.join(sections)}.lib s{count}\nR1 a 0 1\n.endl\n"}


@pytest.mark.parametrize(
    ("card", "files"),
    [
        pytest.param(".include f0.inc", doubling(31), id="files"),
        pytest.param(".lib l.lib s0", doubling_sections(31), id="sections"),
    ],
)
def test_includes_that_double_are_read_for_a_bounded_time_and_told(card: str, files: dict[str, str]) -> None:
    tree = tree_of(f"t\n{card}\nV1 a 0 1\n.op\n", files)
    assert len(tree.expanded) < 500_000
    told = {cycle.message.template for cycle in tree.cycles if cycle.too_often}
    assert any("endlessly" in str(template) for template in told)
    assert any(found.code == "include-cycle" for found in diagnose(tree.root, tree))


def test_a_large_file_is_not_repeated_without_measure() -> None:
    files = {"big.inc": lines(20_000, "R# a 0 1\n")}
    tree = tree_of("t\n" + ".include big.inc\n" * 400, files)
    assert len(tree.expanded) < 500_000
    assert tree.cycles


def test_a_file_that_is_included_a_hundred_times_is_read_a_hundred_times() -> None:
    tree = tree_of("t\n" + ".include p.inc\n" * 100, {"p.inc": ".param x=1\n"})
    assert not tree.cycles
    assert sum(placed.statement.keyword == "param" for placed in tree.expanded) == 100


def test_a_library_is_read_once_for_all_that_a_circuit_lacks(tmp_path: Path) -> None:
    """A clone of three hundred undefined models beside a library that names them all in comments."""
    names = [f"m{number}" for number in range(300)]
    rows = lines(500, f"* {' '.join(names)} #\nR# a b 1k\n")
    (tmp_path / "a.lib").write_text(f"{rows}.model M299 D\n")
    reader = ConfinedSourceReader(tmp_path / "c.cir")
    found: list[Definer] = []

    def looked_for() -> None:
        every = (reader.defining(name, including_file=tmp_path / "c.cir") for name in names)
        found.extend(each for each in every if each is not None)

    assert calls_of(looked_for) < 20_000, "three hundred times the rows is 300,000"
    assert [(each.reference, each.at) for each in found] == [("a.lib", DefinedAt(1001, "", is_alone=False))]


@pytest.mark.parametrize("card", ["\n", "* x\n", "+ x\n", "R1 a b 1k\n", ".model m D\n", ".subckt a b\n"])
def test_definitions_of_a_long_text_take_few_calls(card: str) -> None:
    assert calls_of(lambda: definitions_in(card * 200_000, has_title=False)) < 2_000_000


def test_functions_that_call_the_next_one_twice_are_given_up() -> None:
    functions = lines(30, ".func f#(x)={g#(x)}\n") + "".join(
        f".func g{n}(x)={{f{n + 1}(x)+f{n + 1}(x)}}\n" for n in range(30)
    )
    text = f"t\n.func f30(x)={{x}}\n{functions}.param few={{f27(1)}}\n.param many={{f0(1)}}\n"
    values = resolve_parameters(Netlist.parse(text.encode()))
    assert values["few"] == 8
    assert "many" not in values


def test_three_thousand_subcircuits_in_each_other_are_told() -> None:
    found = findings_of(DECKS["nested subcircuits"](3_000))
    assert [item.severity for item in found if item.code == "unclosed-subckt"] == ["warning"]


def test_rings_of_subcircuits_are_found_however_many() -> None:
    text = "t\nX1 a s0\n" + "".join(f".subckt s{n} a\nX1 a s{(n + 1) % 2000}\n.ends\n" for n in range(2000))
    found = findings_of(text)
    assert sum(item.code == "recursive-subcircuit" for item in found) == 2000
    top = read_circuit(tree_of("t\nX1 a b\n.subckt b a\nX1 a c\n.ends\n.subckt c a\n.ends\n")).top
    assert len(set(rings_of(top.walk()).values())) == 3


@pytest.mark.parametrize("dialect", ["ltspice", "pspice"])
def test_runs_of_blanks_are_translated_in_linear_time(dialect: Any) -> None:
    text = f"t\nR1 a 0 1{' ' * 400_000}x\nC1 a 0 1{' ' * 400_000}x\n"
    translate(Netlist.parse(text.encode()), dialect)


@pytest.mark.parametrize("blank", ["\n", " \n", "\r\n"])
def test_blank_lines_without_end_are_no_parts_and_no_script(blank: str) -> None:
    """A library of 100 kB of them was searched for a minute, one of 1 MB for hours."""
    text = f"* none\n{blank * 400_000}"
    assert read_components(text.encode(), "x.lib") == ()
    assert not looks_like_pyspice(text)


@pytest.mark.parametrize("unit", ["table(", ")table((", "pwr(1,"])
def test_calls_in_each_other_are_not_looked_through_from_each_of_them(unit: str) -> None:
    """20 such cards of 6,000 letters held Python for 11 s."""
    text = "t\n" + f".options {unit * 990}\n" * 40
    begin = time.thread_time()
    translate(Netlist.parse(text.encode()), "ltspice")
    assert time.thread_time() - begin < 3


@pytest.mark.parametrize(
    "text",
    [
        "t\n.param vt=1 x={" + "vt*" * 20_000 + "1}\n",
        "t\n.param vt=1 x={\n" + "+vt*\n" * 20_000 + "+1}\n",
        "t\n" + ".lib a\n" * 20_000,
    ],
)
def test_a_card_with_many_places_to_change_is_gone_through_once(text: str) -> None:
    """50,000 such names on a card took five minutes, 300,000 libraries as long."""
    begin = time.thread_time()
    translate(Netlist.parse(text.encode()), "ltspice")
    assert time.thread_time() - begin < 3


def test_many_limits_and_many_clauses_are_not_held_against_each_other_without_end() -> None:
    """A pasted specification and an answer of brackets took minutes."""
    asked = "".join(f"gain at least {i} dB, THD below {i / 10} % at {i} kHz, " for i in range(150))
    begin = time.thread_time()
    contradictions(
        "(was " * 2_000, ["a.cir: ok, run 3\nGoals (1 of 1 met): met g = 30.9 dB (≥ 30 dB)"], (), [asked]
    )
    assert time.thread_time() - begin < 5


def test_symbols_that_are_not_here_are_guessed_in_bounded_time() -> None:
    """40,000 kinds of them took minutes."""
    parts = lines(2_500, "SYMBOL AutoGenerated\\\\k# 0 0 R0\nSYMATTR InstName U#\n")
    begin = time.thread_time()
    found = netlist_of(read_sheet(f"Version 4\n{parts}"), title="x", find={}.get)
    assert len(found.missing) == 2_500
    assert time.thread_time() - begin < 5


UNITS = ("[", "[a", "[](", "[a](", "[a][", "![", "*[", "`[", "`", "``a`", "a\n=\n", "*a", "**a", "_a", "<",
         "|", "- a\n", "> ", "&#", "$a", "\\(", "[a]: b\n", "\ue002", "\ue0001\ue001")  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_the_marks_of_an_answer_are_drawn_in_bounded_time(unit: str) -> None:
    """7,900 brackets held the window for minutes, and again each time the conversation was opened."""
    text = (unit * 7_900)[:7_900]
    to_html("x")
    assert calls_of(lambda: to_html(text)) < 400_000


def test_brackets_are_shown_as_written_and_links_are_links() -> None:
    shown = to_html("a [b] c[0][1] `x[1]` [site](https://example.org) [[nested](https://a.org)] end [")
    assert "a [b] c[0][1]" in shown
    assert "<code>x[1]</code>" in shown
    assert '<a href="https://example.org"' in shown
    assert '<a href="https://a.org"' in shown
    assert shown.count("[") == shown.count("]") + 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```" + " " * 300_000 + "x y\n", id="blanks behind a fence"),
        pytest.param("```" + "a" * 300_000, id="a language without end"),
        pytest.param("```\n" * 20_000 + "x", id="fences"),
        pytest.param("```a\n" * 40_000, id="fences that nothing closes"),
        pytest.param("<tool_call>" * 30_000, id="tags"),
        pytest.param("<|python_tag|>{" * 30_000, id="marks"),
        pytest.param(": " * 100_000 + "{", id="colons"),
        pytest.param("{" * 100_000, id="braces"),
        pytest.param('{"tool": ' * 20_000, id="nested calls"),
        pytest.param('"tool"' + " " * 200_000, id="a name without end"),
    ],
)
def test_calls_and_netlists_are_looked_for_in_linear_time(text: str) -> None:
    assert calls_in_text(text, {"f"})[0] == ()
    assert complete_netlists(text) == ()
    assert fenced_netlist(text) == ""


@pytest.mark.parametrize("read", [lambda text: calls_in_text(text, {"f"}), complete_netlists])
def test_fences_each_longer_than_the_last_are_looked_for_once(read: Callable[[str], Any]) -> None:
    """Each was looked for to the end of the text: 4 s for a megabyte."""

    def fences(count: int) -> str:
        return "".join("`" * length + "\nx\n" for length in range(3, count))

    few, many = (calls_of(partial(read, fences(count))) for count in (400, 800))
    assert many <= MOST_GROWTH * few
    begin = time.thread_time()
    read(fences(2_500))  # 3 MB
    assert time.thread_time() - begin < 5


def test_a_sentence_of_numbers_that_may_mean_the_same_is_refused_in_bounded_time() -> None:
    """Each one more doubled the time: 10 took 2 s, 14 minutes."""
    words = [f"w{number}" for number in range(12)]
    slots = [
        Slot(name=word, dimensions=("V",), words="|".join(words[(k * j) % 12] for j in range(1, 8)))
        for k, word in enumerate(words, start=1)
    ]
    text = " ".join(f"{words[number * 7 % 12]}{' ' * (number % 5)} {number} V" for number in range(60))
    with pytest.raises(CircuitError, match="too many numbers"):
        fill_slots(read_sentence(text), slots)
    slots = [Slot(name=name, dimensions=("V",), words="volt") for name in "abc"]
    filled = fill_slots(read_sentence("volt 1 V, volt 2 V, volt 3 V"), slots)
    assert sorted(mention.value for mention in filled.values.values()) == [1, 2, 3]


@pytest.mark.parametrize("name", ["idt", "delay", "random", "atan2"])
def test_calls_within_calls_end_soon(name: str) -> None:
    tail = {"delay": ",1u)", "atan2": ",1)"}.get(name, ")")
    deck = f"* x.asc\nB1 a 0 V={f'{name}(' * 600}time{tail * 600}\n.end\n"
    done = translate(Netlist.parse(deck.encode()), "ltspice")
    assert len(done.netlist.to_bytes()) < 3_000_000


def test_blank_lines_are_gone_through_once() -> None:
    """Each file of 65,000 took nine seconds, each result of 100,000 fifteen."""
    blank = "\n" * 65_536
    for _ in range(12):
        refuse_encrypted(blank.encode(), None)
        assert contradictions("The gain is 20 dB.", [blank]) == ()
    with pytest.raises(UserInputError):
        refuse_encrypted(f"{blank[:50]} \t$CDNENCSTART\n".encode(), None)
