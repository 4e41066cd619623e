"""Raw files of LTspice, QSPICE and Xyce, written from their documented layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from infrastructure.waveforms.column_file import build_columns
from infrastructure.waveforms.raw_file import WaveformFile, read_headers, read_raw
from shared.errors import UserInputError
from tests.ground.campaign import Campaign, campaigns
from tests.unit.waveform_files.raw_writers import Columns, ltspice, qspice, xyce

TIME = np.array([0.0, 1e-6, 2e-6, 5e-6])
TRAN: Columns = [
    ("time", "time", TIME),
    ("V(out)", "voltage", np.array([0.0, 0.1, -0.25, 1e-3])),
    ("I(R1)", "device_current", np.array([1.0, 2.0, 3.0, 4.0])),
    ("Ix(u1:+)", "subckt_current", np.array([5.0, 6.0, 7.0, 8.0])),
]
FREQUENCY = np.array([1.0, 10.0, 100.0])
AC: Columns = [
    ("frequency", "frequency", FREQUENCY.astype(complex)),
    ("V(out)", "voltage", np.array([1 + 1j, 0.5 - 0.25j, 1e-3j])),
]


@pytest.fixture
def raw(tmp_path: Path):
    def write(content: bytes, log: str = "", encoding: str = "utf-8") -> Path:
        path = tmp_path / "file.raw"
        path.write_bytes(content)
        path.with_suffix(".log").write_bytes(log.encode(encoding))
        return path

    return write


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-8"])
def test_ltspice_has_an_axis_of_doubles_and_floats_beside_it(raw, encoding):
    path = raw(ltspice(TRAN, encoding=encoding))
    (head,) = read_headers(path)
    assert (head.dialect, head.axis_type, head.value_type, head.points) == ("ltspice", "f8", "f4", 4)
    assert not head.is_truncated
    (plot,) = read_raw(path)
    assert plot.title == "* C:\\work\\µ-drive.asc"
    assert plot.vectors["time"].data.tolist() == TIME.tolist()
    assert plot.vectors["v(out)"].data.dtype == np.float64
    assert plot.vectors["v(out)"].data.tolist() == TRAN[1][2].astype(np.float32).astype(float).tolist()
    assert {name: vector.unit for name, vector in plot.vectors.items()} == {
        "time": "s", "v(out)": "V", "i(r1)": "A", "ix(u1:+)": "A",
    }  # fmt: skip


def test_ltspice_doubles_by_flag_and_by_size(raw):
    (plot,) = read_raw(raw(ltspice(TRAN, flags="real forward double")))
    assert plot.vectors["v(out)"].data.tolist() == TRAN[1][2].tolist()
    silent = ltspice(TRAN, flags="real forward double").replace(
        " double".encode("utf-16-le"), "".encode("utf-16-le")
    )
    (plot,) = read_raw(raw(silent))
    assert plot.vectors["i(r1)"].data.tolist() == [1, 2, 3, 4]


def test_ltspice_negative_times_and_the_offset_of_saving(raw):
    columns = [("time", "time", np.array([0.0, 1e-6, -2e-6, 5e-6])), *TRAN[1:]]
    (plot,) = read_raw(raw(ltspice(columns, offset=1e-2)))
    assert plot.vectors["time"].data == pytest.approx(TIME + 1e-2, rel=1e-15)


def test_ltspice_complex(raw):
    (plot,) = read_raw(raw(ltspice(AC, plot="AC Analysis", flags="complex forward log")))
    assert plot.axis is not None
    assert plot.axis.data.dtype == np.float64
    assert plot.axis.data.tolist() == FREQUENCY.tolist()
    assert plot.vectors["v(out)"].data.tolist() == AC[1][2].tolist()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-8"])
def test_ltspice_text(raw, encoding):
    (plot,) = read_raw(raw(ltspice(TRAN, is_ascii=True, encoding=encoding)))
    assert plot.vectors["v(out)"].data.tolist() == TRAN[1][2].tolist()
    content = ltspice(AC, plot="AC Analysis", flags="complex forward log", is_ascii=True, encoding=encoding)
    (plot,) = read_raw(raw(content))
    assert plot.vectors["v(out)"].data.tolist() == AC[1][2].tolist()


@pytest.mark.parametrize("flags", ["real forward FastAccess", "real forward FastAccess double"])
def test_ltspice_fast_access(raw, flags):
    path = raw(ltspice(TRAN, flags=flags))
    with WaveformFile(path) as file:
        found = file.trace("i(r1)").data
        part = file.traces(["time", "v(out)"], 0, range(1, 3))
    assert found.tolist() == [1, 2, 3, 4]
    assert part[0].data.tolist() == TIME[1:3].tolist()
    assert part[1].data == pytest.approx(TRAN[1][2][1:3])


def test_ltspice_letters_whose_bytes_look_like_a_newline(raw):
    columns = [TRAN[0], ("V(\u010a\u0a0a)", "voltage", TRAN[1][2])]
    (plot,) = read_raw(raw(ltspice(columns)))
    assert list(plot.vectors) == ["time", "v(\u010b\u0a0a)"]


def stepped(runs: int, *, falling: bool = False) -> Columns:
    times = [np.linspace(0, 1e-3, 5 + run)[:: -1 if falling else 1] for run in range(runs)]
    return [
        ("time" if not falling else "v1", "time" if not falling else "voltage", np.concatenate(times)),
        ("V(out)", "voltage", np.concatenate([np.full(len(t), 10.0 * run) for run, t in enumerate(times)])),
    ]  # fmt: skip


LOG = "Circuit: * rc.asc\n\n.step r1=1k c1=1e-09\n.step r1=2k c1=1e-09\n.step r1=4k c1=1e-09\nDate: x\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_ltspice_runs_of_a_step_are_plots_of_their_own(raw, encoding):
    path = raw(ltspice(stepped(3), flags="real forward stepped"), LOG, encoding)
    plots = read_raw(path)
    assert [plot.points for plot in plots] == [5, 6, 7]
    assert [plot.step.number for plot in plots] == [1, 2, 3]
    assert [dict(plot.step.values) for plot in plots] == [{"r1": r, "c1": 1e-9} for r in (1e3, 2e3, 4e3)]
    assert [set(plot.vectors["v(out)"].data) for plot in plots] == [{0.0}, {10.0}, {20.0}]
    with WaveformFile(path) as file:
        assert [outline.points for outline in file.outlines] == [5, 6, 7]
        assert file.trace("v(out)", 2).data.tolist() == [20.0] * 7
        assert file.traces(["time"], 1, range(4, 6))[0].data[1] == pytest.approx(1e-3)


def test_steps_without_a_log_have_numbers_only(raw):
    plots = read_raw(raw(ltspice(stepped(3), flags="real forward stepped"), "no steps here\n"))
    assert [(plot.step.number, plot.step.count, dict(plot.step.values)) for plot in plots] == [
        (1, 3, {}), (2, 3, {}), (3, 3, {}),
    ]  # fmt: skip
    # A log of another simulation is not believed.
    plots = read_raw(raw(ltspice(stepped(2), flags="real forward stepped"), LOG))
    assert [dict(plot.step.values) for plot in plots] == [{}, {}]


def test_repeated_times_are_no_new_run_and_a_falling_sweep_is_parted_too(raw):
    time = np.array([0, 1e-6, 1e-6, 2e-6, 0, 0, 1e-6])
    columns = [("time", "time", time), ("V(a)", "voltage", np.arange(7.0))]
    assert [plot.points for plot in read_raw(raw(ltspice(columns, flags="real forward stepped")))] == [4, 3]
    falling = ltspice(
        stepped(2, falling=True), plot="DC transfer characteristic", flags="real forward stepped"
    )
    assert [plot.points for plot in read_raw(raw(falling))] == [5, 6]


def test_ltspice_operating_points_plain_and_stepped(raw):
    columns = [("V(a)", "voltage", np.array([5.0])), ("I(R1)", "device_current", np.array([0.5]))]
    (plot,) = read_raw(raw(ltspice(columns, plot="Operating Point", flags="real")))
    assert (plot.axis, plot.vectors["v(a)"].data.tolist(), plot.vectors["i(r1)"].data.tolist()) == (
        None, [5.0], [0.5],
    )  # fmt: skip
    columns = [(name, kind, np.array([1.0, 2.0, 3.0])) for name, kind, _ in columns]
    plots = read_raw(raw(ltspice(columns, plot="Operating Point", flags="real stepped"), LOG))
    assert [plot.vectors["v(a)"].data.tolist() for plot in plots] == [[1.0], [2.0], [3.0]]
    assert plots[2].step.values["r1"] == 4e3


def test_ltspice_noise_has_densities(raw):
    columns = [
        ("frequency", "frequency", FREQUENCY),
        ("V(onoise)", "voltage", np.full(3, 1e-9)),
        ("gain", "notype", np.ones(3)),
    ]
    plot_name = "Noise Spectral Density - (V/Hz½ or A/Hz½)"
    (plot,) = read_raw(raw(ltspice(columns, plot=plot_name, flags="real forward log")))
    assert plot.analysis == "noise"
    assert plot.vectors["onoise"].unit == "V/sqrt(Hz)"


def test_an_interrupted_ltspice_run_keeps_its_whole_points(raw):
    whole = ltspice(TRAN)
    (head,) = read_headers(raw(whole[:-25]))
    assert (head.points, head.is_truncated) == (2, True)
    assert read_raw(raw(whole[:-25]))[0].vectors["i(r1)"].data.tolist() == [1, 2]


def test_qspice(raw):
    columns = [("Frequency", "frequency", FREQUENCY), ("V(out)", "voltage", AC[1][2])]
    (plot,) = read_raw(raw(qspice(columns, plot="AC Analysis", flags="complex forward log")))
    assert plot.vectors["frequency"].data.tolist() == FREQUENCY.tolist()
    assert plot.vectors["v(out)"].data.tolist() == AC[1][2].tolist()
    log = "1 of 2 steps:  .step r=1k\n2 of 2 steps:  .step r=2k\n"
    (one, two) = read_raw(raw(qspice(stepped(2), plot="Transient Analysis", flags="real stepped"), log))
    assert (one.points, two.points, two.step.values["r"]) == (5, 6, 2e3)


@pytest.mark.parametrize("is_ascii", [True, False])
def test_xyce_real_and_complex(raw, is_ascii):
    columns = [("time", "time", TIME), ("IN", "voltage", TIME * 2), ("VIN#branch", "current", TIME)]
    (plot,) = read_raw(raw(xyce(columns, plot="Transient Analysis", is_ascii=is_ascii)))
    assert list(plot.vectors) == ["time", "v(in)", "i(vin)"]
    assert plot.vectors["v(in)"].data == pytest.approx(TIME * 2)
    columns = [("FREQUENCY", "frequency", FREQUENCY + 0j), ("{V(1) - V(2)}", "expression", AC[1][2])]
    (plot,) = read_raw(raw(xyce(columns, plot="AC Analysis", flags="complex", is_ascii=is_ascii)))
    assert list(plot.vectors) == ["frequency", "{v(1)-v(2)}"]
    assert plot.vectors["{v(1)-v(2)}"].data == pytest.approx(AC[1][2])


@pytest.mark.parametrize("is_ascii", [True, False])
def test_xyce_steps_come_with_one_title_and_their_values_in_the_name(raw, is_ascii):
    columns = [("time", "time", TIME), ("V(1)", "voltage", TIME * 2)]
    content = b"".join(
        xyce(
            columns,
            plot=f"Step Analysis: Step {n} of 3 params:  name = R1:R value = {n}000   name = TEMP "
            "value = 27  Transient Analysis",
            is_ascii=is_ascii,
            is_first=n == 1,
        )
        for n in (1, 2, 3)
    )
    plots = read_raw(raw(content))
    assert [plot.analysis for plot in plots] == ["tran"] * 3
    assert [plot.name for plot in plots] == ["Transient Analysis"] * 3
    assert [(plot.step.number, plot.step.count) for plot in plots] == [(1, 3), (2, 3), (3, 3)]
    assert dict(plots[1].step.values) == {"r1:r": 2000.0, "temp": 27.0}


def test_xyce_sweep_names_and_the_table_of_sensitivities_behind(raw):
    columns = [("sweep", "voltage", np.arange(3.0)), ("V(1)", "voltage", np.arange(3.0))]
    name = "DC Sweep: Step 1 of 3 params:  name = V1 value = 0  DC transfer characteristic"
    (plot,) = read_raw(raw(xyce(columns, plot=name)))
    assert (plot.analysis, plot.axis_name, plot.step) == ("dc", "v(sweep)", None)
    table = b"TIME,V(1),R1:R,{V(2)}\n2.5e-01,2.5e-01,1.0e+00,1.25e-01\n"
    (plot,) = read_raw(raw(xyce(TRAN, plot="Transient Analysis", is_ascii=True) + table))
    assert plot.points == 4


def test_an_interrupted_xyce_run_left_its_count_blank(raw):
    columns = [("time", "time", TIME), ("V(1)", "voltage", TIME)]
    one = xyce(columns, plot="Transient Analysis")
    two = xyce(columns, plot="Transient Analysis", is_first=False, points="")
    heads = read_headers(raw(one + two))
    assert [(head.points, head.is_truncated) for head in heads] == [(4, False), (4, True)]
    heads = read_headers(
        raw(xyce(columns, plot="Transient Analysis", points="") + one[one.find(b"Plotname") :])
    )
    assert [(head.points, head.is_truncated) for head in heads] == [(4, True), (4, False)]


def test_text_of_one_letter_numbers_is_read_in_little_memory(raw):
    import tracemalloc

    columns = [("time", "time", np.zeros(1)), ("V(1)", "voltage", np.zeros(1))]
    head = xyce(columns, plot="Transient Analysis", is_ascii=True, points=60_000).partition(b"Values:\n")[0]
    path = raw(head + b"Values:\n" + b"0 1 2\n" * 60_000)
    tracemalloc.start()
    (plot,) = read_raw(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert plot.vectors["v(1)"].data.sum() == 120_000
    assert peak < 25 * 2**20  # a megabyte of numbers, and the words of 360 kB of text


def test_numbers_of_any_length_of_digits(raw):
    columns = [("time", "time", np.zeros(1)), ("V(1)", "voltage", np.zeros(1))]
    head = xyce(columns, plot="Transient Analysis", is_ascii=True).partition(b"Values:\n")[0]
    digits = b"1." + b"0" * 40 + b"e+05"
    (plot,) = read_raw(raw(head + b"Values:\n0 0\n\t" + digits + b"\n"))
    assert plot.vectors["v(1)"].data.tolist() == [1e5]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", [0x7F800001, 0x7F800000, 0xFF800000, 0x7FC00000])
def test_numbers_that_are_none_make_no_noise(raw, number):
    """Signalling NaN, infinities, NaN: in the data and on the axis."""
    odd = np.array([number] * 4, dtype="<u4").view("<f4")
    content = bytearray(ltspice(TRAN, flags="real forward stepped"))  # rows of 20 bytes
    content[-12:-8] = odd[:1].tobytes()
    content[-40:-32] = (number << 32).to_bytes(8, "little")
    path = raw(bytes(content))
    with WaveformFile(path) as file:
        for place, outline in enumerate(file.outlines):
            assert all(len(file.trace(signal.name, place).data) for signal in outline.signals)
            assert len(file.window("v(out)", -1.0, 1.0, 2, place).x)
    build_columns(path)
    with WaveformFile(path) as file:
        assert file.has_columns
        assert len(file.window("v(out)", -1.0, 1.0, 2).x)


SAMPLES = [
    ltspice(TRAN),
    ltspice(TRAN, is_ascii=True),
    ltspice(TRAN, flags="real forward FastAccess"),
    ltspice(stepped(3), flags="real forward stepped"),
    ltspice(AC, plot="AC Analysis", flags="complex forward log"),
    qspice(stepped(2), plot="Transient Analysis", flags="real stepped"),
    xyce(TRAN, plot="Transient Analysis", is_ascii=True),
    xyce(AC, plot="AC Analysis", flags="complex")
    + xyce(
        AC,
        plot="Step Analysis: Step 9 of 1 params: name = a value = x AC Analysis",
        flags="complex",
        is_first=False,
    ),
]
CLAIMS = (b"0", b"-1", b"1000000000", b"999999999999999999", b"4294967297", b"")


@campaigns(fast=400, whole=60_000)
def test_any_changed_file_is_read_or_refused_within_memory(campaign: Campaign, tmp_path: Path):
    path = tmp_path / "noise.raw"
    for rng in campaign.cases():
        content = bytearray(rng.choice(SAMPLES))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(content))
            match rng.randrange(5):
                case 0:
                    content[at] = rng.randrange(256)
                case 1:
                    del content[at : at + rng.randrange(1, 40)]
                case 2:
                    content[at:at] = rng.randbytes(rng.randrange(1, 40))
                case 3:
                    content[at:at] = rng.choice(SAMPLES)[rng.randrange(50) : rng.randrange(60, 400)]
                case 4:
                    wide = b"\0".join(bytes([letter]) for letter in rng.choice(CLAIMS))
                    for word in (b"No. Points:", "No. Variables:".encode("utf-16-le")):
                        place = content.find(word)
                        if place >= 0:
                            content[place + len(word) + 2 : place + len(word) + 12] = wide
            if not content:
                break
        path.write_bytes(content)
        try:
            heads = read_headers(path)
            with WaveformFile(path) as file:
                for number, (outline, plot) in enumerate(zip(file.outlines, file.plots, strict=True)):
                    for signal in outline.signals:
                        assert len(plot.vectors[signal.name].data) == signal.points
                    if outline.signals[0].points:
                        found = file.window(outline.signals[-1].name, 0.0, 1.0, 10, number)
                        assert len(found.x) == len(found.low) == len(found.high)
        except UserInputError:
            continue
        for head in heads:
            size = 4 if head.value_type == "f4" else 8
            assert not head.variables or head.points * size <= len(content) or not head.is_binary
