"""The small picture of a run on its card: from the stored data, in both views, in the theme's colours."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QByteArray, QUrl
from PyQt6.QtGui import QPixmap, QTextDocument
from PyQt6.QtSvg import QSvgRenderer

from domain.simulation.waveform import Plot, Vector
from presentation.panels.conversation.charts import chart_of, shown_ends, svg_of
from presentation.panels.conversation.html_view import HtmlItems
from presentation.panels.conversation.items import OperationCard, SimulationCard, result_folder
from presentation.panels.conversation.plain_view import PlainConversation
from presentation.panels.conversation.study_charts import picture_of
from presentation.ui.workspace import WindowServices
from tests.gui.conftest import Until
from tests.gui.test_conversation_panel import ConversationPanel, of, panel, type_and_send
from tests.gui.test_plain_view import browser, follow, links, pictures

__all__ = ["panel"]


def plot_of(values: np.ndarray, name: str = "v(out)", unit: str = "V") -> Plot:
    time = Vector(name="time", unit="s", data=np.linspace(0, 1e-3, len(values)))
    curve = Vector(name=name, unit=unit, data=values)
    return Plot(analysis="tran", name="t", title="t", vectors={"time": time, name: curve}, axis_name="time")


def test_the_picture_is_small_whatever_the_run_is_and_says_nothing_that_is_markup() -> None:
    wave = np.sin(np.linspace(0, 900, 200_000))
    wave[10_000:20_000] = np.nan
    chart = chart_of([plot_of(wave, name="v(<script>alert(1)</script>)")])
    assert chart is not None
    drawn = svg_of(chart, lambda color: f"var(--{color})")
    assert len(drawn) < 20_000
    assert "<script" not in drawn
    assert "nan" not in drawn
    assert QSvgRenderer(QByteArray(re.sub(r"var\([^)]*\)", "#000", drawn).encode())).isValid()
    assert len(chart.lines[0].strokes) == 2  # broken where there is no number
    for none in (np.full(9, np.nan), np.full(9, np.inf), np.array([1.0]), np.zeros(1_000_001)):
        assert chart_of([plot_of(none)]) is None
    flat = chart_of([plot_of(np.full(50, 5.0))])
    assert flat is not None
    assert flat.y_ends == ("5.00\u00a0V", "5.00\u00a0V")
    assert flat.x_ends == ("0\u00a0s", "1.00\u00a0ms")
    ripple = chart_of([plot_of(4.9906 + 4e-4 * wave[:5_000])])
    assert ripple is not None
    assert ripple.y_ends == ("4.990\u00a0V", "4.991\u00a0V")
    assert chart_of([]) is None


async def test_a_simulated_card_shows_its_curves_and_opens_them(
    panel: ConversationPanel, services: WindowServices, project: Path, until: Until
) -> None:
    selected: list[Path] = []
    services.workspace.result_selected.connect(selected.append)
    offered: list[Path] = []
    services.workspace.run_made.connect(offered.append)
    reported: list[Path] = []
    services.workspace.run_reported.connect(reported.append)
    type_and_send(panel, "simulate filter.cir")
    await until(lambda: not panel.is_running and bool(of(panel, SimulationCard)))
    key = of(panel, SimulationCard)[-1].key
    view = panel.view
    assert isinstance(view, PlainConversation)
    await until(lambda: f"chart:{key}" in pictures(view))
    assert {f"plot/{key}/", f"trace/{key}/v(out)"} <= links(view)
    light = browser(view).loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{key}"))
    assert isinstance(light, QPixmap)
    assert not light.isNull()
    services.theme.set_mode("dark")
    await until(lambda: f"chart:{key}" in pictures(view))
    dark = browser(view).loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{key}"))
    assert dark.toImage() != light.toImage()
    follow(view, f"plot/{key}/")
    assert selected[-1].is_file()
    # Asked again, the stored result is used: that one is shown, here and when it is opened again.
    type_and_send(panel, "simulate filter.cir")
    await until(lambda: not panel.is_running and len(of(panel, SimulationCard)) == 2)
    reused = of(panel, SimulationCard)[-1].key
    for _ in range(2):
        await until(lambda: {f"chart:{key}", f"chart:{reused}"} <= pictures(view))
        follow(view, f"plot/{reused}/")
        panel.open_session(panel.session_id)
        await until(lambda: not panel._services.app.program.tasks.handles)  # type: ignore[attr-defined]
    assert {*offered, *selected} == {selected[0]}
    assert reported == offered
    strange = SimulationCard(key="01J", result_path=".circuit_ai/sim_results/../../result.json")
    assert result_folder(project, strange).parent == selected[0].parent.parent
    # Opened again it is there again; in the page its colours are those of the theme in force.
    panel.open_session(panel.session_id)
    await until(lambda: f"chart:{key}" in pictures(view))
    item = view._items[key]
    page = HtmlItems(services.language)(item)
    assert 'stroke="var(--trace-0)"' in page
    assert page.count("<svg") == page.count("</svg>")


@pytest.mark.parametrize("path", ["gone.cir", ""])
async def test_a_card_without_stored_data_does_without(
    panel: ConversationPanel, services: WindowServices, until: Until, path: str
) -> None:
    panel.model.replace_item(SimulationCard(key="01J", tool="run_simulation", path=path, state="done"))
    await until(lambda: not services.app.program.tasks.handles)  # type: ignore[attr-defined]
    view = panel.view
    assert isinstance(view, PlainConversation)
    assert "Simulated" in view.text
    assert not any(name.startswith("chart:") for name in pictures(view))


@pytest.mark.parametrize(
    ("sentence", "bars", "figures"),
    [
        ("monte carlo of the bandwidth of filter.cir with 5% resistors", ["bandwidth"], "±"),
        ("worst case of the bandwidth of filter.cir with 5% resistors and 10% capacitors", ["R1", "C1"], "…"),
    ],
)
async def test_a_study_shows_its_figures_and_bars_and_opens_its_table(
    panel: ConversationPanel,
    services: WindowServices,
    until: Until,
    sentence: str,
    bars: list[str],
    figures: str,
) -> None:
    opened: list[Path] = []
    services.workspace.file_activated.connect(lambda path, _line: opened.append(path))
    type_and_send(panel, sentence)
    await until(lambda: not panel.is_running and bool(of(panel, OperationCard)))
    key = of(panel, OperationCard)[-1].key
    view = panel.view
    assert isinstance(view, PlainConversation)
    await until(lambda: f"chart:{key}" in pictures(view))
    shown = view._items[key]
    assert isinstance(shown, OperationCard)
    assert shown.study is not None
    [metric] = shown.study.metrics
    assert metric.chart is not None
    assert sorted(line.expression for line in metric.chart.lines) == sorted(bars)
    for told in (metric.middle, metric.span):
        assert told.replace("\u00a0", " ") in view.text
    assert figures in metric.middle + metric.span
    assert "fill-opacity" in svg_of(metric.chart, lambda _color: "#000")
    assert HtmlItems(services.language)(shown).count('role="img"') == 1
    picture = browser(view).loadResource(QTextDocument.ResourceType.ImageResource.value, QUrl(f"chart:{key}"))
    assert not picture.isNull()
    follow(view, f"table/{key}/")
    assert opened[-1].read_text().startswith("run,")


def test_a_strangers_study_is_shown_as_far_as_it_makes_sense() -> None:
    fine = {"min": 1.0, "max": 2.0, "nominal": 1.5}
    for rubbish in (
        None,
        [],
        {"m": 3},
        {"m": {}},
        {"m": fine | {"max": "x"}},
        {"m": fine | {"min": math.nan}},
    ):
        assert picture_of({"statistics": rubbish}) is None
    histograms = (
        "x",
        {"edges": [1, 2], "counts": []},
        {"edges": [1, 1], "counts": [3]},
        {"edges": [-1e308, 1e308], "counts": [3]},
        {"edges": list(range(10_001)), "counts": [1] * 10_000},
        {"edges": [1, 2, None]},
    )
    for more in (
        *({"histogram": each} for each in histograms),
        {"effects": {"R1": "x", "C1": None, "V1": 0.0}},
    ):
        found = picture_of(
            {"statistics": {"m": fine | more}, "goals": [3, {"metric": "m", ">=": "x"}], "yield": 3}
        )
        assert found is not None
        assert found.metrics[0].chart is None


def test_an_end_of_an_axis_that_is_nothing_beside_the_other_is_zero() -> None:
    assert shown_ends(-3.5e-16, 12.0, "V") == ("0\xa0V", "12.0\xa0V")
    assert shown_ends(6e-5, 8.24, "V")[0] == "60.0\xa0µV"
    assert shown_ends(-1e-18, 1e-15, "A") == ("−1.00\xa0aA", "1.00\xa0fA")
