"""Sweeps, and draws whose rows depend on seed, name and run alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from domain.studies.sampling import draw, sweep_grid, sweep_values
from domain.studies.study_spec import StudyParameter, read_study_spec
from shared.errors import UserInputError


def parameters(*nodes: dict[str, object]) -> tuple[StudyParameter, ...]:
    return read_study_spec({"parameters": list(nodes)}).parameters


def values(**node: object) -> tuple[float, ...]:
    return sweep_values(parameters({"name": "R1", **node})[0])


def test_sweeps_of_every_kind() -> None:
    assert values(values=["1k", 2200, "4.7k"]) == (1000, 2200, 4700)
    assert values(min=0, max=10, points=6) == (0, 2, 4, 6, 8, 10)
    assert values(min=0, max=1, step=0.1) == pytest.approx([n / 10 for n in range(11)])
    assert len(values(min=0, max=1)) == 11
    assert values(min="1k", max="100k", scale="log", points=3) == (1000, 10_000, 100_000)
    assert values(min=1, max=100, scale="log", per_decade=5) == pytest.approx(
        [10 ** (n / 5) for n in range(11)]
    )
    assert values(min=1, max=8, scale="log", per_octave=1) == pytest.approx([1, 2, 4, 8])
    assert values(min="1k", max="10k", scale="E6") == (1000, 1500, 2200, 3300, 4700, 6800, 10_000)
    assert values(min="900", max="1.2k", scale="e24") == (910, 1000, 1100, 1200)
    assert values(min=5, max=5, points=9) == (5,)


def test_an_e_series_without_a_value_between_is_said() -> None:
    with pytest.raises(UserInputError, match="no value of E6"):
        values(min=1100, max=1400, scale="E6")


def test_the_last_parameter_of_a_grid_changes_fastest() -> None:
    grid = sweep_grid(parameters({"name": "a", "values": [1, 2]}, {"name": "b", "values": [5, 6, 7]}))
    assert grid == [(1, 5), (1, 6), (1, 7), (2, 5), (2, 6), (2, 7)]


def test_a_grid_beyond_reason_is_refused_before_it_is_made() -> None:
    many = [{"name": f"p{n}", "min": 0, "max": 1, "points": 1000} for n in range(6)]
    with pytest.raises(UserInputError, match="1000000000000000000 runs"):
        sweep_grid(parameters(*many))


def drawn(runs: int = 4000, seed: int = 1, *, nominal: float = 1000.0, lhs: bool = False, **node: object):
    found = parameters({"name": "R1", **node})
    sampling = "lhs" if lhs else "random"
    return draw(found, {"R1": nominal}, runs=runs, seed=seed, sampling=sampling)["R1"]


def test_the_moments_of_each_distribution_are_those_asked_for() -> None:
    normal = drawn(sigma=0.01)
    assert normal.mean() == pytest.approx(1000, abs=4 * 10 / math.sqrt(4000))
    assert normal.std() == pytest.approx(10, rel=4 / math.sqrt(8000))
    assert drawn(tolerance="3%", sigmas=3).std() == pytest.approx(10, rel=0.05)
    assert drawn(sigma="1%", distribution="uniform").std() == pytest.approx(10, rel=0.05)
    uniform = drawn(tolerance=0.05)
    assert 950 <= uniform.min() < 951
    assert 1049 < uniform.max() <= 1050
    assert uniform.std() == pytest.approx(50 / math.sqrt(3), rel=0.05)
    lognormal = drawn(sigma=0.2, distribution="lognormal")
    assert np.median(lognormal) == pytest.approx(1000, rel=0.02)
    assert np.log(lognormal).std() == pytest.approx(0.2, rel=0.05)
    assert (lognormal > 0).all()
    assert drawn(nominal=0.0, sigma=5e-3, absolute=True).std() == pytest.approx(5e-3, rel=0.05)
    between = drawn(distribution="uniform", min=200, max=600)
    assert 200 <= between.min() < 202
    assert 598 < between.max() <= 600


def test_a_truncated_distribution_has_no_tails_and_keeps_its_shape() -> None:
    cut = drawn(sigma=0.01, truncate=2)
    assert abs(cut - 1000).max() <= 20
    # variance of a normal distribution cut at 2 sigma: 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737
    assert cut.std() == pytest.approx(10 * math.sqrt(0.7737), rel=0.05)
    part = drawn(tolerance="3%", distribution="normal")  # a bound: 3 sigma of 1 %, none beyond
    assert abs(part - 1000).max() <= 30
    assert part.std() == pytest.approx(10 * math.sqrt(0.9733), rel=0.05)
    assert abs(drawn(tolerance="1%", sigmas=1) - 1000).max() > 25  # as it says: one standard deviation


def test_latin_hypercube_puts_one_draw_into_each_slice() -> None:
    uniform = drawn(runs=100, tolerance=0.5, distribution="uniform", lhs=True)
    slices = np.floor((uniform - 500) / 10).astype(int)
    assert sorted(slices.tolist()) == list(range(100))
    mean_error = abs(drawn(runs=1000, sigma=0.01, lhs=True).mean() - 1000)
    assert mean_error < 0.05  # 10 / sqrt(1000) = 0.32 without


def test_lot_and_device_tolerances() -> None:
    nodes = [
        {"name": "R1", "lot": 0.05},
        {"name": "R2", "lot": 0.05, "tolerance": 0.001 * math.sqrt(3)},
        {"name": "C1", "lot": 0.05},
        {"name": "R3", "lot": 0.05, "lot_group": "other"},
    ]
    found = draw(parameters(*nodes), dict.fromkeys(("R1", "R2", "C1", "R3"), 1.0), runs=2000, seed=7)
    assert np.corrcoef(found["R1"], found["R2"])[0, 1] > 0.999
    assert (found["R2"] - found["R1"]).std() == pytest.approx(0.001, rel=0.06)
    for other in ("C1", "R3"):
        assert abs(np.corrcoef(found["R1"], found[other])[0, 1]) < 0.1


def test_mismatch_is_pelgroms_law_for_a_pair() -> None:
    nodes = [{"name": f"m{n}.delvto", "mismatch": {"a": 5e-9, "w": 10e-6, "l": 1e-6}, "absolute": True}
             for n in (1, 2)]  # fmt: skip
    found = draw(parameters(*nodes), {"m1.delvto": 0.0, "m2.delvto": 0.0}, runs=4000, seed=3)
    difference = found["m1.delvto"] - found["m2.delvto"]
    assert difference.std() == pytest.approx(5e-9 / math.sqrt(10e-12), rel=0.05)


def test_rows_do_not_depend_on_other_parameters_nor_on_the_number_of_runs() -> None:
    one = drawn(runs=50, tolerance=0.01)
    assert np.array_equal(drawn(runs=200, tolerance=0.01)[:50], one)
    several = parameters(
        {"name": "C9", "tolerance": 0.1}, {"name": "r1", "tolerance": 0.01}, {"name": "R2", "tolerance": 0.01}
    )
    found = draw(several, {"C9": 1, "r1": 1000.0, "R2": 1000.0}, runs=50, seed=1)
    assert np.array_equal(found["r1"], one)  # names are told apart without letter case
    assert not np.array_equal(found["R2"], one)
    assert not np.array_equal(drawn(runs=50, seed=2, tolerance=0.01), one)


def test_the_first_draws_of_seed_1_stay_what_they_are() -> None:
    """Stored studies are repeated by their seed: a change of these numbers breaks them."""
    assert drawn(runs=3, sigma=0.01).tolist() == pytest.approx(FIRST_DRAWS, rel=1e-12)


FIRST_DRAWS = [995.5433057865143, 990.922749791015, 1004.3350101183985]
