"""What is computed once for each object."""

from __future__ import annotations

import gc

from domain.llm.messages import once_each


class _Thing:
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self.value = value


def test_it_is_computed_once_for_each_object_and_nothing_is_kept_alive() -> None:
    asked: list[int] = []

    @once_each
    def doubled(thing: _Thing) -> int:
        asked.append(thing.value)
        return 2 * thing.value

    one, other = _Thing(1), _Thing(2)
    assert [doubled(one), doubled(other), doubled(one)] == [2, 4, 2]
    assert asked == [1, 2]
    del one
    gc.collect()
    again = [_Thing(number) for number in range(100)]  # some of them in its place
    assert [doubled(thing) for thing in again] == [2 * number for number in range(100)]
