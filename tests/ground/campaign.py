"""Campaigns: one test body that runs as a short seeded sample and, in `make torture`, whole.

    @campaigns(fast=40, whole=20_000)
    def test_reader_never_fails_on_noise(campaign):
        for rng in campaign.cases():
            read(random_text(rng))

A failure names the campaign's seed and case; `pytest --campaign-seed N --campaign-case K` repeats
exactly that one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

SAMPLE_SEED = 20_251_121
"""The sample is the same in every run, so that a red `make test` is about the change under test."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """How many cases to run, from which seed; each case has a random source of its own."""

    count: int
    seed: int
    first: int = 0
    """Of its cases; those before it are another part's."""
    only: int | None = None
    """Run this case alone."""
    tell: Callable[[str], object] | None = None
    """Is told where the campaign is, once in `tell_every_s`."""
    tell_every_s: float = 60.0
    case: int | None = field(default=None, init=False)
    """The case that runs now (or ran last)."""

    def cases(self) -> Iterator[random.Random]:
        """A random source per case; a case does not depend on those before it."""
        end = self.first + self.count
        chosen = range(self.first, end) if self.only is None else [self.only]
        told = time.monotonic()
        for self.case in chosen:
            if self.tell is not None and time.monotonic() >= told + self.tell_every_s:
                told = time.monotonic()
                self.tell(f"case {self.case} of {self.first} to {end - 1}")
            yield random.Random(f"{self.seed}:{self.case}")

    def how_to_repeat(self) -> str:
        """The options that run the present case alone."""
        options = f"--campaign-seed={self.seed}"
        return options if self.case is None else f"{options} --campaign-case={self.case}"


@dataclass(frozen=True, slots=True)
class Extent:
    """What `campaigns` hands to the fixture."""

    count: int
    is_whole: bool
    first: int = 0


def campaigns(*, fast: int, whole: int, parts: int = 1) -> pytest.MarkDecorator:
    """Run the test with `fast` cases in the fast suite and with `whole` cases under `torture`.

    A long campaign is divided into `parts` of as many cases each: several workers share it, and each part
    ends within a time that can be told.
    """
    count, over = divmod(whole, parts)
    assert not over, f"{whole} cases are not {parts} parts of as many"
    ids = ["whole"] if parts == 1 else [f"part-{number}-of-{parts}" for number in range(1, parts + 1)]
    pieces = [
        pytest.param(Extent(count, is_whole=True, first=place * count), id=name, marks=pytest.mark.torture)
        for place, name in enumerate(ids)
    ]
    return pytest.mark.parametrize(
        "campaign",
        [pytest.param(Extent(fast, is_whole=False), id="sample"), *pieces],
        indirect=True,
    )
