"""What is found in documents, and where: headings, pages, encodings; and files that are no text."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.ports.search import Match
from domain.search.query import SearchQuery
from infrastructure.search.project_index import SqliteProjectIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".circuit_ai").mkdir()
    return tmp_path


def ask(root: Path, text: str, **options: object) -> tuple[Match, ...]:
    index = SqliteProjectIndex(root)
    state = index.update(60)
    assert not state.problem
    return index.find(SearchQuery(text=text, most=100, **options), state.pending, 10).matches


def pdf(pages: list[str], bookmarks: dict[int, str]) -> bytes:
    """A PDF of one line a page; bookmarks: page from 0 -> title."""
    objects = ["", "<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>", "", ""]
    objects[3] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects.append("")
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects) - 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        kids.append(len(objects) - 1)
    objects[2] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    first = len(objects)
    for position, (page, title) in enumerate(bookmarks.items()):
        following = f"/Next {first + position + 1} 0 R " if position + 1 < len(bookmarks) else ""
        objects.append(f"<< /Title ({title}) /Parent 4 0 R {following}/Dest [{kids[page]} 0 R /Fit] >>")
    last = len(objects) - 1
    objects[4] = f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>"
    data, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects[1:], start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects)}\n0000000000 65535 f \n{table}"
    tail = f"trailer\n<< /Size {len(objects)} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + (head + tail).encode()


def test_a_pdf_is_found_by_page_and_section(root: Path) -> None:
    pages = ["Absolute maximum ratings", "Supply current 2 mA", "Slew rate 13 V/us", "Package"]
    (root / "tl081.pdf").write_bytes(pdf(pages, {0: "Ratings", 1: "Characteristics"}))
    (match,) = ask(root, "slew rate", scope="docs")
    assert (match.source, match.page, match.section) == ("tl081.pdf", 3, "Characteristics")
    assert ask(root, "slew rate", scope="code") == ()
    assert {match.page for match in ask(root, "2 mA")} == {2}


def test_a_broken_pdf_is_counted_and_harms_nothing(root: Path) -> None:
    whole = pdf(["Slew rate"] * 3, {0: "A"})
    (root / "cut.pdf").write_bytes(whole[: len(whole) // 3])
    (root / "not.pdf").write_bytes(b"%PDF-1.4 nothing of it")
    (root / "empty.pdf").write_bytes(b"")
    (root / "pages.pdf").write_bytes(pdf(["", ""], {0: "A"}))
    (root / "good.pdf").write_bytes(whole)
    state = SqliteProjectIndex(root).update(60)
    assert state.pending == ()
    assert sum(state.skipped.values()) >= 3
    assert state.skipped["no_text"] >= 1
    assert {match.source for match in ask(root, "Slew")} >= {"good.pdf"}


def test_sections_of_texts_are_their_headings(root: Path) -> None:
    (root / "n.md").write_text(
        "# Amp\ntext one\n## Loop gain\ntext two\n```\n# no heading\n```\ntext three\n# Other\ntext four\n"
    )
    (root / "u.txt").write_text("Title\n=====\ntext five\n\nPart\n----\ntext six\n")
    found = {match.text: match.section for match in ask(root, "text")}
    assert found == {
        "text one": "Amp",
        "text two": "Amp > Loop gain",
        "text three": "Amp > Loop gain",
        "text four": "Other",
        "text five": "Title",
        "text six": "Title > Part",
    }


def test_every_encoding_is_found_in_any_case(root: Path) -> None:
    (root / "a.cir").write_bytes("题目\n* 电容 10µF\n".encode("gbk", "ignore"))
    (root / "b.cir").write_bytes("titel\n* Widerst\xe4nde 10\xb5F\n".encode("latin-1"))
    (root / "c.md").write_bytes("电容 WIDERSTÄNDE\n".encode("utf-16"))
    (root / "d.bin").write_bytes(b"\0\1\2widerst\xe4nde")
    assert {match.source for match in ask(root, "电容", kind="content")} == {"a.cir", "c.md"}
    assert {match.source for match in ask(root, "widerstände", kind="content")} == {"b.cir", "c.md"}


SYMBOLS = """* amp
.param Gain=10 rload=1k
.func twice(x) {2*x}
.global vdd
.subckt Amp inp out bias=1
R1 inp out {rload}
Q1 c b e 0 QN
.ends
X1 in mid Amp bias=2
A1 [x y] z gate
.model QN npn
"""


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("amp", {"subcircuit"}),
        ("gain", {"parameter"}),
        ("rload", {"parameter"}),
        ("bias", {"parameter"}),
        ("twice", {"function"}),
        ("vdd", {"node"}),
        ("inp", {"node"}),
        ("mid", {"node"}),
        ("v(mid)", {"node"}),
        ("X1", {"element"}),
        ("@r1[i]", {"element"}),
        ("qn", {"model"}),
        ("b", {"node"}),
        ("nothing", set()),
    ],
)
def test_every_kind_of_symbol_is_found_by_name(root: Path, name: str, kinds: set[str]) -> None:
    (root / "amp.cir").write_text(SYMBOLS)
    found = ask(root, name, kind="symbol")
    assert {found[0].symbol} == kinds if kinds else not found


def test_names_types_and_letter_case(root: Path) -> None:
    for name in ("Filter.cir", "filter_notes.md", "other.lib"):
        (root / name).write_text("t\nGain GAIN gain\n")
    assert {match.source for match in ask(root, "FILTER", kind="name")} == {"Filter.cir", "filter_notes.md"}
    assert {match.source for match in ask(root, "gain", suffixes=(".lib",))} == {"other.lib"}
    assert ask(root, "gAIN", kind="content", is_case_sensitive=True) == ()
    assert len(ask(root, r"^Gain\s", kind="regex", is_case_sensitive=True)) == 3
    assert ask(root, "a.*b", kind="content") == ()


def test_words_in_a_line_then_most_words_in_a_part(root: Path) -> None:
    (root / "a.md").write_text("the loop has a margin of phase\n")
    (root / "b.md").write_text("stage one\nphase noise and loop filter\n")
    assert [match.kind for match in ask(root, "phase margin")] == ["words"]
    ranked = ask(root, "loop filter noise of stage two")
    assert (ranked[0].source, ranked[0].kind, ranked[0].line) == ("b.md", "ranked", 2)
