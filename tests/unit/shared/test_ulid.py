"""ULIDs."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.ulid import UlidFactory, milliseconds_of, new_ulid

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def test_the_example_of_the_specification():
    # github.com/ulid/spec: 01ARZ3NDEK is the time 1469922850259 (July 2016) in ms.
    made = UlidFactory(clock=lambda: 1469922850.259, random=lambda count: b"\xff" * count).new()
    assert made == "01ARZ3NDEK" + "Z" * 16


@given(
    st.lists(st.floats(min_value=0, max_value=4e9), min_size=1, max_size=30),
    st.binary(min_size=10, max_size=10),
)
def test_they_increase_whatever_the_clock_does(times, tail):
    clock = iter(times)
    factory = UlidFactory(clock=lambda: next(clock), random=lambda count: tail)
    made = [factory.new() for _ in times]
    assert all(earlier < later for earlier, later in pairwise(made))
    assert all(len(ulid) == 26 and set(ulid) <= set(ALPHABET) for ulid in made)


def test_threads_never_get_the_same_one():
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: [new_ulid() for _ in range(500)], range(8)))
    assert len({ulid for part in made for ulid in part}) == 4000
    assert all(part == sorted(part) for part in made)


def test_the_time_comes_back_out() -> None:
    assert milliseconds_of(UlidFactory(clock=lambda: 1_700_000_000.123).new()) == 1_700_000_000_123
