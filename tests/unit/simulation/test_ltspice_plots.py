"""Plot settings of LTspice's by strangers: nothing in them is an error, and none takes long."""

from __future__ import annotations

import pytest

from domain.simulation.ltspice_plots import plots_of, read_plots

PANES = """[Transient Analysis]
{
   Npanes: 2
   {
      traces: 2 {524290,0,"V(out)"} {524291,0,"V(in)-V(n001)"}
      Log: 1 0 0
   },
   {
      traces: 2 {3,0,"I(R1)"} {4,0,"V(gone)"}
   }
}
"""


def test_panes_and_what_means_nothing_here() -> None:
    plots, lost = read_plots(PANES, {"out", "in", "n001"}, {"r1"})
    (plot,) = plots
    assert plot.traces == ("v(out)", "v(in)-v(n001)", "i(r1)")
    assert (dict(plot.panes), dict(plot.scales)) == ({"i(r1)": 1}, {"x": "log"})
    assert lost == ("V(gone)",)


def test_output_ports_are_looked_at_in_analyses_with_an_axis() -> None:
    plots = plots_of(("Y", "gone"), {"y", "x"}, ["op", "tran", "tran"])
    assert [(plot.analysis, plot.traces) for plot in plots] == [("tran", ("v(y)",))]


@pytest.mark.timeout(60)  # in time that grows with the square of the length it takes minutes
@pytest.mark.parametrize(
    "text",
    [
        "", "[ ]\n traces: 1 {1,0,\"V(out)\"}", "[Transient Analysis]\n" + "\n" * 200_000,
        "[AC Analysis]\ntraces: " + "9" * 300_000, "[DC]\ntraces: 1" + "{1,0,\"" * 100_000,
        "[Transient Analysis]\ntraces: 1 {1,0,\"" + "V(" * 50_000 + "\"}", "{" * 300_000, "[AC]" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_passed_over(text: str) -> None:
    assert read_plots(text, {"out"}, {"r1"}).plots == ()
