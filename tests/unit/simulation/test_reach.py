"""How far an analysis came, and where its axis ends."""

from domain.circuit.analyses import Analysis
from domain.simulation.reach import Reach, ends_of, reach_from_plain, reach_of, reach_to_plain, reach_words
from domain.simulation.verdict import stored_verdict
from tests.ground.cases import for_each


def _card(text: str) -> Analysis:
    return Analysis(kind=text.split(maxsplit=1)[0].lower(), text=text, line=1)


@for_each(
    ("text", "ends"),
    [
        ("tran 1u 10m", (0.0, 0.01)),
        ("tran 1u 10m 2m", (0.002, 0.01)),
        ("TRAN 1u 10m uic", (0.0, 0.01)),
        ("tran 1u {stop}", None),
        ("tran 1u", None),
        ("ac dec 20 10 1meg", (10.0, 1e6)),
        ("noise v(out) V1 dec 10 1 1k", (1.0, 1000.0)),
        ("dc V1 5 -5 -0.1", (5.0, -5.0)),
        ("dc V1 0 5 1 V2 0 1 0.5", None),
        ("op", None),
    ],
)
def test_a_card_says_where_its_axis_ends(text, ends):
    card = _card(text)
    assert ends_of([card]) == ({} if ends is None else {card.kind: ends})


def test_a_kind_with_two_cards_has_no_one_end():
    assert ends_of([_card("tran 1u 1m"), _card("tran 1u 2m"), _card("ac dec 1 1 10")]) == {"ac": (1.0, 10.0)}


@for_each(
    ("kind", "at", "ends", "words"),
    [
        ("tran", 3.2e-3, (0.0, 1e-2), "stopped at 3.2 ms of 10 ms"),
        ("tran", 1e-2 * (1 - 1e-9), (0.0, 1e-2), None),
        ("tran", 5e-3, (0.0, 0.0), None),
        ("dc", 2.0, (5.0, -5.0), "stopped at 2 V of -5 V"),
        ("dc", -5.0, (5.0, -5.0), None),
        ("ac", 1234.5, None, "stopped at 1.234 kHz"),
        ("tran", float("nan"), (0.0, 1.0), None),
    ],
)
def test_what_came_is_told_unless_it_is_all(kind, at, ends, words):
    unit = {"tran": "s", "dc": "V", "ac": "Hz"}[kind]
    found = reach_of(kind, at, unit, {} if ends is None else {kind: ends})
    assert (None if found is None else str(reach_words(found, "cancelled"))) == words
    assert reach_from_plain(reach_to_plain(found)) == found


def test_how_a_run_ended_is_in_its_words():
    reach = Reach(analysis="tran", at=1e-3, of=2e-3, unit="s")
    assert str(reach_words(reach, "timeout")) == "timed out at 1 ms of 2 ms"
    assert str(reach_words(reach, "failed")) == "ended at 1 ms of 2 ms"
    assert reach.share == 0.5


@for_each("plain", [None, [], {}, {"at": "1"}, {"at": 1, "of": "x"}])
def test_a_strange_reach_is_none(plain):
    assert reach_from_plain(plain) is None


@for_each(
    ("stored", "ok", "has_data", "verdict"),
    [
        ("partial", True, True, "partial"),
        (None, True, True, "complete"),
        (None, False, True, "partial"),
        (["x"], False, False, "failed"),
        ("nonsense", True, False, "complete"),
    ],
)
def test_a_result_without_a_verdict_has_that_of_its_end(stored, ok, has_data, verdict):
    assert stored_verdict(stored, ok=ok, has_data=has_data) == verdict
