"""Figures at the axes of charts: never one alone, and with the digits that tell them apart."""

from __future__ import annotations

import pytest

from presentation.charts.scales import linear


@pytest.mark.parametrize(
    ("low", "high", "figures"),
    [
        (4.924, 4.936, ["4.925", "4.930", "4.935"]),  # one round figure alone would be "5"
        (9.35e3, 10.65e3, ["9.5", "10.0", "10.5"]),
        (0.0, 1.0, ["0.0", "0.5", "1.0"]),
    ],
)
def test_a_narrow_chart_has_two_figures_or_more(low: float, high: float, figures: list[str]) -> None:
    assert [text for _, text in linear(low, high, "V", room=1).ticks] == figures
