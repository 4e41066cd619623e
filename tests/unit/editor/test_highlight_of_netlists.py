"""What each word of a netlist is coloured as, from any line a card begins at."""

from __future__ import annotations

from presentation.panels.editor.highlight import Style, depth_of, lines_of, paint
from tests.ground.campaign import Campaign, campaigns
from tests.ground.cases import for_each

LETTERS = {
    Style.PLAIN: ".",
    Style.COMMENT: "c",
    Style.TITLE: "T",
    Style.DIRECTIVE: "D",
    Style.ELEMENT: "E",
    Style.NODE: "N",
    Style.VALUE: "V",
    Style.PARAM: "P",
    Style.MODEL: "M",
    Style.STRING: "S",
    Style.OPERATOR: "O",
}


def words_of(text: str, **how: object) -> list[tuple[str, str]]:
    """Each word with the letter of its style, blanks left out."""
    data = text.encode()
    styles = paint(data, **how).styles  # type: ignore[arg-type]
    found: list[tuple[bytes, int]] = []
    previous = b" "
    for byte, style in zip((data[i : i + 1] for i in range(len(data))), styles, strict=True):
        if byte.isspace():
            previous = byte
            continue
        if not previous.isspace() and found and found[-1][1] == style:
            found[-1] = (found[-1][0] + byte, style)
        else:
            found.append((byte, style))
        previous = byte
    return [(word.decode(), LETTERS[Style(style)]) for word, style in found]


@for_each(
    ("line", "expected"),
    [
        ("R1 in out 10k", "R1:E in:N out:N 10k:V"),
        ("C1 a 0 10n ; note", "C1:E a:N 0:N 10n:V ;:c note:c"),
        ("VIN in 0 DC 0 AC 1", "VIN:E in:N 0:N DC:D 0:V AC:D 1:V"),
        ("V1 a 0 sin(0 1 1k)", "V1:E a:N 0:N sin:D (:O 0:V 1:V 1k:V ):O"),
        ("X1 a b amp gain=1e5", "X1:E a:N b:N amp:M gain:P =:O 1e5:V"),
        ("D1 a 0 d1n4148", "D1:E a:N 0:N d1n4148:M"),
        ("R2 a b {r*2}", "R2:E a:N b:N {:O r:P *:O 2:V }:O"),
        ("F1 a 0 V1 2", "F1:E a:N 0:N V1:E 2:V"),
        (".include lib/a b.lib", ".include:D lib/a:S b.lib:S"),
        (".lib x.lib tt", ".lib:D x.lib:S tt:M"),
        (".lib tt", ".lib:D tt:M"),
        (".model d1 d (is=1e-14)", ".model:D d1:M d:D (:O is:P =:O 1e-14:V ):O"),
        (".subckt amp in out g=2", ".subckt:D amp:M in:N out:N g:P =:O 2:V"),
        (".param a=1 b={a+1}", ".param:D a:P =:O 1:V b:P ={:O a:P +:O 1:V }:O"),
        (".ac dec 10 1 1meg", ".ac:D dec:D 10:V 1:V 1meg:V"),
        (".save v(out)", ".save:D v:P (:O out:N ):O"),
        ("* only words 10k", "*:c only:c words:c 10k:c"),
        ("$ R1 a b 1k", "$:c R1:c a:c b:c 1k:c"),
        ("# what", "#:. what:."),
    ],
)
def test_words_are_what_the_parser_takes_them_for(line: str, expected: str) -> None:
    assert [f"{word}:{letter}" for word, letter in words_of(line)] == expected.split()


def test_the_first_line_is_the_title_only_at_the_start_of_a_circuit() -> None:
    assert words_of("R1 a b 1k\n", is_start=True)[0][1] == "T"
    assert words_of("R1 a b 1k\n")[0] == ("R1", "E")


def test_a_card_is_read_over_its_continuation_lines() -> None:
    assert words_of("X1 a b\n* in between\n+ c amp\n")[-3:] == [("+", "O"), ("c", "N"), ("amp", "M")]


def test_a_continuation_without_its_card_gets_numbers_and_signs() -> None:
    assert words_of("+ 1n 5 out\nR1 a 0 1k\n")[:4] == [("+", "O"), ("1n", "V"), ("5", "V"), ("out", ".")]
    assert words_of("+ 1n\nR1 a 0 1k\n")[2] == ("R1", "E")


def test_models_in_sight_decide_what_is_a_model() -> None:
    assert words_of("R1 a b rmod\n", models={"rmod"})[-1] == ("rmod", "M")
    assert words_of("R1 a b rmod\n")[-1] == ("rmod", "P")


def test_commands_are_no_cards_until_endc_also_from_within() -> None:
    text = ".control\nrun\nR1 a b 1k\n.endc\nR1 a b 1k\n"
    states = paint(text.encode()).states
    assert [state & 1 for state in states] == [1, 1, 1, 0, 0]
    later = "R1 a b 1k\n.endc\nR1 a b 1k\n"
    assert words_of(later, state=states[1])[0] == ("R1", "D")
    assert words_of(later, state=states[1])[-4:] == [("R1", "E"), ("a", "N"), ("b", "N"), ("1k", "V")]


def test_blocks_nest_and_stray_ends_do_no_harm() -> None:
    text = b".ends\n.subckt a 1\n.subckt b 1\nR1 1 0 1k\n.ends b\n.ends\nR2 1 0 1k\n"
    painted = paint(text)
    assert [depth_of(state) for state in painted.states] == [0, 1, 2, 2, 1, 0, 0]
    assert [i for i, is_header in enumerate(painted.headers) if is_header] == [1, 2]


PIECES = [
    "R1 a b 1k",
    "+ 2 3",
    "* comment",
    "",
    ".control",
    ".endc",
    ".subckt x a",
    ".ends",
    "Q1 c b e {x",
    "B1 a 0 V='v(a)*2",
    "负载 1k",
    ".param a=",
    "X1",
    "=(,)",
    "\\\\",
    "V1 a 0 pulse(0 1\\\\",
    '"',
    "A1 [a ~b] %v out mod",
    "E1 a 0 poly(2) 1",
]


@campaigns(fast=150, whole=5_000)
def test_any_lines_are_painted_and_pieces_join_without_a_seam(campaign: Campaign) -> None:
    for rng in campaign.cases():
        lines = [rng.choice(PIECES) for _ in range(rng.randrange(1, 12))]
        data = rng.choice(["\n", "\r\n"]).join(lines).encode()
        whole = paint(data)
        assert len(whole.styles) == len(data)
        assert len(whole.states) == len(whole.headers) == len(lines_of(data))
        # From a line with a state of its own on, the states are those of the whole.
        cut = rng.randrange(len(whole.states) + 1)
        head = b"".join(lines_of(data)[:cut])
        rest = paint(data[len(head) :], state=whole.states[cut - 1] if cut else 0)
        assert rest.states == whole.states[cut:]
