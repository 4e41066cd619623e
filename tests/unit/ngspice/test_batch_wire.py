"""Frames of guests, true and false ones: nothing a guest sends may do more than end it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from infrastructure.ngspice.batch.guest import HELLO, LAYOUT, QUIT, RESULT, SAME
from infrastructure.ngspice.batch.results import saved_names
from infrastructure.ngspice.batch.wire import (
    FrameReader,
    Layout,
    WireError,
    read_layout,
    read_quit,
    read_result,
)
from tests.ground.campaign import campaigns

LAYOUT_BODY = struct.pack("<I", 0) + b"ac1\nfrequency\t2\t2\nout\t3\t2\fop1\nout\t3\t1"


def result_body(lengths: tuple[int, ...] = (3, 3, 1), *, layout: int = 0, extra: bytes = b"") -> bytes:
    data = np.arange(2 * (lengths[0] + lengths[1]) + lengths[2], dtype=float).tobytes()
    head = struct.pack("<IIdII", 7, layout, 0.5, 3, 5) + struct.pack("<3I", *lengths) + bytes(4)
    return head + data + b"set" + b"words" + extra


def frame(kind: int, body: bytes) -> bytes:
    return struct.pack("<IB", len(body), kind) + body


@contextmanager
def pipe() -> Iterator[tuple[int, int]]:
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    os.set_blocking(theirs, False)
    try:
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


def layout() -> Layout:
    return read_layout(memoryview(LAYOUT_BODY), 0)


def test_a_result_is_read_with_its_parts() -> None:
    raw = read_result(memoryview(result_body()), [layout()])
    assert (raw.run_id, raw.duration_s, raw.setting, raw.said) == (7, 0.5, b"set", b"words")
    assert raw.lengths == (3, 3, 1)
    assert np.frombuffer(raw.data).tolist() == list(range(13))
    assert [plot.name for plot in raw.layout.plots] == ["ac1", "op1"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        result_body()[:20],
        result_body()[:30],
        result_body()[:-1],
        result_body(extra=b"x"),
        result_body(layout=1),
        result_body().replace(struct.pack("<3I", 3, 3, 1), struct.pack("<3I", 2**32 - 1, 3, 1)),
    ],
)
def test_a_result_that_does_not_add_up_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        read_result(memoryview(body), [layout()])


@pytest.mark.parametrize(
    ("body", "known"),
    [
        (b"", 0),
        (LAYOUT_BODY, 1),
        (struct.pack("<I", 0) + b"ac1\nfrequency", 0),
        (struct.pack("<I", 0) + b"ac1\nfrequency\t2\t9", 0),
        (struct.pack("<I", 0) + b"ac1\nfrequency\t-2\t1", 0),
        (struct.pack("<I", 10_000), 10_000),
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(body: bytes, known: int) -> None:
    with pytest.raises(WireError):
        read_layout(memoryview(body), known)


def test_an_axis_that_is_repeated_is_not_sent_again() -> None:
    body = bytearray(result_body((0, 3, 1)))
    body[24:28] = struct.pack("<I", SAME)
    raw = read_result(memoryview(body), [layout()])
    assert raw.lengths == (SAME, 3, 1)
    assert len(raw.data) == 8 * 7


def test_an_end_has_a_status_and_last_words() -> None:
    assert read_quit(memoryview(struct.pack("<i", -3) + b"bye")) == (-3, b"bye")
    with pytest.raises(WireError):
        read_quit(memoryview(b"ab"))


@campaigns(fast=60, whole=5000)
def test_frames_come_out_as_they_went_in_however_they_are_cut(campaign) -> None:  # type: ignore[no-untyped-def]
    for rng in campaign.cases():
        frames = [
            (
                rng.choice([HELLO, LAYOUT, RESULT, QUIT]),
                rng.randbytes(rng.choice([0, 1, 5, 300, 20_000, 300_000])),
            )
            for _ in range(rng.randint(1, 6))
        ]
        data = memoryview(b"".join(frame(kind, body) for kind, body in frames))
        found: list[tuple[int, bytes]] = []
        with pipe() as (ours, theirs):
            reader = FrameReader(ours, 2**20)
            while data:
                count = os.write(theirs, data[: rng.choice([1, 3, 5000, 65_536])])
                data = data[count:]
                found += [(kind, bytes(body)) for kind, body in reader.read()]
        assert found == frames


@pytest.mark.parametrize("head", [struct.pack("<IB", 2**31, RESULT), struct.pack("<IB", 4, 99)])
def test_a_frame_that_is_too_large_or_unknown_is_refused(head: bytes) -> None:
    with pipe() as (ours, theirs):
        os.write(theirs, head)
        with pytest.raises(WireError):
            list(FrameReader(ours, 2**20).read())


def test_the_end_of_the_pipe_is_noticed() -> None:
    ours, theirs = os.pipe()
    reader = FrameReader(ours, 2**20)
    os.write(theirs, frame(HELLO, b"")[:3])
    os.close(theirs)
    try:
        assert list(reader.read()) == []
        assert reader.is_over
    finally:
        os.close(ours)


@pytest.mark.parametrize(
    ("signals", "saved"),
    [
        (None, []),
        (["v(out)", "i(vdd)"], []),
        (["i(vdd)", "@vdd[i]", "@vdd[id]"], ["all"]),
        (["i(r1)", "@r1[i]", "@M1[gm]"], ["all", "@r1[i]", "@m1[gm]"]),
        (["@vdd[i]"], ["all", "@vdd[i]"]),
        (["i(l.x1.l1)", "@l.x1.l1[i]", "i(x1)", "@x1[i]"], ["all", "@x1[i]"]),
    ],
)
def test_only_what_is_not_solved_for_is_saved_beside(signals: list[str] | None, saved: list[str]) -> None:
    assert saved_names(signals) == saved
