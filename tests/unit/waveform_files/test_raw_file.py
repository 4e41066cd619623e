"""The raw reader on files made here: the formats, and everything a hostile header can say."""

from __future__ import annotations

import os
import struct
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infrastructure.waveforms import raw_data
from infrastructure.waveforms.raw_file import RawFileReader, WaveformFile, read_headers, read_raw
from infrastructure.waveforms.raw_joining import append_plots
from shared.errors import UserInputError

TRAN = [("time", "time"), ("v(out)", "voltage"), ("i(v1)", "current")]
AC = [("frequency", "frequency grid=3"), ("v(out)", "voltage")]


def header(
    variables: list[tuple[str, str]],
    points: object,
    *,
    plot: str = "Transient Analysis",
    flags: str = "real",
    data: str = "Binary",
) -> bytes:
    lines = [
        "Title: * a title: with a colon",
        "Date: Sat Nov 21 21:46:19  2026",
        f"Plotname: {plot}",
        f"Flags: {flags}",
        f"No. Variables: {len(variables)}",
        f"No. Points: {points}",
        "Variables:",
        *(f"\t{i}\t{name}\t{kind}" for i, (name, kind) in enumerate(variables)),
        f"{data}:",
    ]
    return ("\n".join(lines) + "\n").encode()


def rows(columns: list[list[float]]) -> bytes:
    return np.array(columns, dtype="<f8").T.tobytes()


@pytest.fixture
def raw(tmp_path: Path):
    def write(content: bytes) -> Path:
        path = tmp_path / "file.raw"
        path.write_bytes(content)
        return path

    return write


def test_a_binary_transient(raw):
    columns = [[0.0, 1e-6, 2e-6], [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]]
    path = raw(header(TRAN, "3       ") + rows(columns))
    (plot,) = read_raw(path)
    assert (plot.analysis, plot.axis_name, plot.points) == ("tran", "time", 3)
    assert plot.title == "* a title: with a colon"
    assert [v.unit for v in plot.vectors.values()] == ["s", "V", "A"]
    for vector, column in zip(plot.vectors.values(), columns, strict=True):
        assert vector.data.tolist() == column
    (head,) = read_headers(path)
    assert (head.points, head.is_truncated, head.is_binary, head.is_complex) == (3, False, True, False)
    assert head.variables == (("time", "time"), ("v(out)", "voltage"), ("i(v1)", "current"))
    assert path.stat().st_size - head.data_offset == 72


def test_a_complex_plot_has_a_real_axis(raw):
    numbers = np.array([[10, 1 + 2j], [20, 3 - 4j]], dtype="<c16").tobytes()
    (plot,) = read_raw(raw(header(AC, 2, plot="AC Analysis", flags="complex") + numbers))
    assert plot.axis is not None
    assert plot.axis.data.dtype == np.float64
    assert plot.axis.data.tolist() == [10, 20]
    assert plot.vectors["v(out)"].data.tolist() == [1 + 2j, 3 - 4j]


def test_ascii_real_and_complex_in_one_file(raw):
    text = b" 0\t0.0\n\t1e0\n\t-2.5\n\n 1\t1e-3\n\tnan\n\tinf\n\n"
    more = b" 0\t1e1,0.0\n\t0.5,-0.25\n\n"
    path = raw(
        header(TRAN, 2, data="Values")
        + text
        + header(AC, 1, plot="AC Analysis", flags="complex", data="Values")
        + more
    )
    tran, ac = read_raw(path)
    assert tran.vectors["v(out)"].data[0] == 1
    assert np.isnan(tran.vectors["v(out)"].data[1])
    assert np.isinf(tran.vectors["i(v1)"].data[1])
    assert ac.vectors["v(out)"].data.tolist() == [0.5 - 0.25j]
    assert [h.is_truncated for h in read_headers(path)] == [False, False]


def test_several_binary_plots_with_blank_lines_between(raw):
    one = header(TRAN, 1) + rows([[0.0], [1.0], [2.0]])
    two = header([("v(out)", "voltage")], 1, plot="Operating Point") + rows([[7.0]])
    plots = read_raw(raw(one + b"\n" + two + b"\r\n\n"))
    assert [plot.analysis for plot in plots] == ["tran", "op"]
    assert plots[1].axis is None
    assert plots[1].vectors["v(out)"].data.tolist() == [7.0]


def test_unpadded_short_vectors(raw):
    """With nopadding a vector of 2 points among 3 is left out of the last row; dims= tells."""
    variables = [("time", "time"), ("w", "notype dims=2"), ("v(a)", "voltage")]
    numbers = struct.pack("<8d", 0, 10, 100, 1, 11, 101, 2, 102)
    (plot,) = read_raw(raw(header(variables, 3, flags="real unpadded") + numbers))
    assert plot.vectors["w"].data.tolist() == [10, 11]
    assert plot.vectors["v(a)"].data.tolist() == [100, 101, 102]
    text = b" 0\t0\n\t10\n\t100\n 1\t1\n\t11\n\t101\n 2\t2\n\t102\n"
    (plot,) = read_raw(raw(header(variables, 3, flags="real unpadded", data="Values") + text))
    assert plot.vectors["w"].data.tolist() == [10, 11]
    assert plot.vectors["v(a)"].data.tolist() == [100, 101, 102]


def test_rows_that_threads_share_are_read_as_by_one(raw, monkeypatch):
    count = 40_001
    short = [("time", "time"), ("w", "notype dims=20000"), ("v(a)", "voltage")]
    table = np.arange(3.0 * count).reshape(count, 3)
    unpadded = np.concatenate((table[:20_000].ravel(), table[20_000:, ::2].ravel())).astype("<f8").tobytes()
    path = raw(
        header(short, count, flags="real unpadded")
        + unpadded
        + header(AC, count, plot="AC Analysis", flags="complex")
        + (np.arange(2.0 * count) + 1j).astype("<c16").tobytes()
    )
    alone = read_raw(path)
    monkeypatch.setattr(raw_data, "_threads_for", lambda _size: 3)
    for plot, other in zip(read_raw(path), alone, strict=True):
        for name, vector in plot.vectors.items():
            assert np.array_equal(vector.data, other.vectors[name].data), name
    assert alone[0].vectors["v(a)"].data.tolist() == table[:, 2].tolist()
    with WaveformFile(path) as file:
        os.truncate(path, path.stat().st_size - 16)
        with pytest.raises(UserInputError, match="became shorter"):
            file.trace("v(out)", 1)


def test_a_killed_run_keeps_its_complete_points(raw):
    path = raw(header(TRAN, 0) + rows([[0, 1, 2], [3, 4, 5], [6, 7, 8]]) + b"\x01" * 13)
    (head,) = read_headers(path)
    assert (head.points, head.is_truncated) == (3, True)
    assert read_raw(path)[0].vectors["i(v1)"].data.tolist() == [6, 7, 8]


def test_a_file_cut_short_keeps_its_complete_points(raw):
    path = raw(header(TRAN, 10) + rows([[0, 1], [2, 3], [4, 5]]) + b"\0" * 8)
    (head,) = read_headers(path)
    assert (head.points, head.is_truncated) == (2, True)
    assert read_raw(path)[0].vectors["v(out)"].data.tolist() == [2, 3]
    path = raw(header(TRAN, 10, data="Values") + b" 0\t0\n\t1\n\t2\n\n 1\t3\n\t4\n\t5.")
    assert [(h.points, h.is_truncated) for h in read_headers(path)] == [(1, True)]
    assert read_raw(path)[0].vectors["i(v1)"].data.tolist() == [2]


def test_a_failed_analysis_has_no_points(raw):
    (plot,) = read_raw(raw(header(TRAN, 0)))
    assert plot.points == 0
    assert list(plot.vectors) == ["time", "v(out)", "i(v1)"]
    path = raw(header(TRAN, 0) + header(TRAN, 1) + rows([[0], [1], [2]]))
    assert [(h.points, h.is_truncated) for h in read_headers(path)] == [(0, False), (1, False)]
    # Of a sweep that ends before it begins ngspice leaves the head unfinished.
    unfinished = header(AC, 0, plot="AC Analysis", flags="complex").partition(b"\t0\t")[0]
    (head,) = read_headers(raw(unfinished + header(TRAN, 1) + rows([[0], [1], [2]])))
    assert (head.plot_name, head.title, head.points) == ("Transient Analysis", "* a title: with a colon", 1)


def test_points_never_written_before_another_plot(raw):
    """A run into a pipe cannot go back to write its count; the next header tells."""
    tricky = struct.pack("<3d", 1.0, 2.0, 3.0)[:16] + b"Title: x"
    path = raw(header(TRAN, 0) + rows([[0], [1], [2]]) + tricky + header(TRAN, 1) + rows([[5], [6], [7]]))
    assert [(h.points, h.is_truncated) for h in read_headers(path)] == [(2, True), (1, False)]
    assert read_raw(path)[1].vectors["time"].data.tolist() == [5]


@pytest.mark.parametrize("data", ["Binary", "Values"])
def test_a_plot_without_variables_is_passed_over(raw, data):
    """What a `.pz` writes that found neither poles nor zeros; in ASCII with a lone "0"."""
    empty = header([], 1, plot="Pole-Zero Analysis", data=data) + (b"0\t" if data == "Values" else b"")
    full = header(TRAN, 1) + rows([[0], [1], [2]])
    for content in (empty + full, full + empty, full + empty + full):
        path = raw(content)
        heads = read_headers(path)
        assert len(heads) == content.count(b"Title:")
        assert all(head.has_data for head in heads)
        assert [plot.analysis for plot in read_raw(path)] == ["tran"] * content.count(b"Transient")
    assert read_raw(raw(empty)) == []
    assert read_raw(raw(header([], 10**17, data=data))) == []


def test_the_table_of_constants_is_no_data(raw):
    """A `write` before any analysis gives it."""
    (head,) = read_headers(raw(header([("pi", "notype")], 1, plot="constants") + rows([[3.14]])))
    assert not head.has_data


def test_a_header_cut_off_after_a_whole_plot_is_passed_over(raw):
    whole = header(TRAN, 1) + rows([[0], [1], [2]])
    following = header(AC, 2, plot="AC Analysis", flags="complex")
    for length in range(len(following)):
        assert len(read_headers(raw(whole + following[:length]))) == 1, following[:length]


def test_names_become_canonical_and_doubles_are_kept(raw):
    variables = [
        ("frequency", "frequency"),
        ("V(Out)", "voltage"),
        ("v1#branch", "current"),
        ("i(@m1[id])", "current"),
        ("NET5", "voltage"),
        ("v(out)", "voltage"),
        ("v(v(a)-v(b))", "voltage"),
        ("@m1[gm]", "admittance"),
        ("db(v(out))", "decibel"),
        ("let", "notype"),
    ]
    numbers = np.arange(20, dtype="<c16").tobytes()
    (plot,) = read_raw(raw(header(variables, 2, plot="AC Analysis", flags="complex") + numbers))
    assert list(plot.vectors) == [
        "frequency", "v(out)", "i(v1)", "@m1[id]", "v(net5)", "v(out)#2", "v(a)-v(b)", "@m1[gm]",
        "db(v(out))", "let",
    ]  # fmt: skip
    assert plot.vectors["@m1[gm]"].unit == "S"
    assert plot.vectors["db(v(out))"].data.dtype == np.float64


@pytest.mark.parametrize(
    ("plot", "variable", "analysis", "name", "unit", "axis"),
    [
        ("DC transfer characteristic", ("v(v-sweep)", "voltage"), "dc", "v-sweep", "V", "v-sweep"),
        (
            "DC transfer characteristic",
            ("temp-sweep", "temp-sweep"),
            "dc",
            "temp-sweep",
            "degC",
            "temp-sweep",
        ),
        ("Integrated Noise", ("v(onoise_total)", "voltage"), "noise_integrated", "onoise_total", "V", None),
        (
            "Noise Spectral Density Curves",
            ("frequency", "frequency"),
            "noise",
            "frequency",
            "Hz",
            "frequency",
        ),
        ("Transfer Function", ("v(Transfer_function)", "voltage"), "tf", "transfer_function", "", None),
        ("Transfer Function", ("v(v1#Input_impedance)", "voltage"), "tf", "v1#input_impedance", "Ohm", None),
        ("Pole-Zero Analysis", ("v(pole(1))", "voltage"), "pz", "pole(1)", "rad/s", None),
        ("Sensitivity Analysis", ("v(r1:kf)", "voltage"), "sens", "r1:kf", "", None),
        ("Spectrum", ("frequency", "frequency"), "other", "frequency", "Hz", "frequency"),
        ("Transient Analysis (linearized)", ("time", "time"), "tran", "time", "s", "time"),
    ],
)
def test_analyses_names_and_units(raw, plot, variable, analysis, name, unit, axis):
    (found,) = read_raw(raw(header([variable], 1, plot=plot) + rows([[1.0]])))
    assert (found.analysis, found.axis_name) == (analysis, axis)
    assert [(v.name, v.unit) for v in found.vectors.values()] == [(name, unit)]


def test_only_wanted_signals_and_the_axis(raw):
    path = raw(header(TRAN, 2) + rows([[0, 1], [2, 3], [4, 5]]))
    (plot,) = read_raw(path, signals=["i(v1)"])
    assert list(plot.vectors) == ["time", "i(v1)"]
    assert plot.vectors["i(v1)"].data.tolist() == [4, 5]


def test_blocks_are_put_together(raw):
    count = 400_000
    table = np.arange(3.0 * count).reshape(count, 3)
    (plot,) = read_raw(raw(header(TRAN, count) + table.tobytes()))
    for index, vector in enumerate(plot.vectors.values()):
        assert np.array_equal(vector.data, table[:, index])
    (head,) = read_headers(raw(header(TRAN, 0) + table.tobytes()))
    assert head.points == count


def test_a_memory_cap_is_an_error_with_figures(raw):
    path = raw(header(TRAN, 100_000) + bytes(2_400_000))
    with pytest.raises(UserInputError, match="2 MB of data, more than the 1 MB"):
        RawFileReader(max_bytes=2**20).read(path)
    assert len(RawFileReader().read(path)[0].vectors) == 3
    assert read_raw(path, signals=[], max_bytes=2**20)[0].points == 100_000


HOSTILE = {
    "empty": b"",
    "text": b"hello world\n",
    "no newline": b"x" * 200,
    "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "zeros": bytes(100),
    "one line without end": b"Title: " + b"a" * 300_000,
    "endless fields": b"Title: x\n" + b"Option: y\n" * 5_000,
    "ltspice": "Title: * x\nDate: y\n".encode("utf-16-le"),
    "json": b'{"schema_version": 1}\n',
    "NUL": header(TRAN, 1).replace(b"title", b"ti\0le"),
    "huge points, no data, ascii": header(TRAN, "9" * 30, data="Values"),
    "negative points": header(TRAN, -1),
    "float points": header(TRAN, "1e9"),
    "no points": header(TRAN, 1).replace(b"No. Points: 1\n", b""),
    "no flags": header(TRAN, 1).replace(b"Flags: real\n", b""),
    "more variables claimed": header(TRAN, 1).replace(b"Variables: 3", b"Variables: 300"),
    "fewer variables claimed": header(TRAN, 1).replace(b"Variables: 3", b"Variables: 1"),
    "variables of no number": header(TRAN, 1).replace(b"Variables: 3", b"Variables: many"),
    "variables claimed, none named": header([], 1).replace(b"Variables: 0", b"Variables: 2"),
    "variables left out": header(TRAN, 1).partition(b"Variables:\n")[0] + b"Binary:\n",
    "variables out of order": header(TRAN, 1).replace(b"\t1\t", b"\t7\t"),
    "variable without a name": header(TRAN, 1).replace(b"\t1\tv(out)\tvoltage", b"\t1\t"),
    "junk after the data": header(TRAN, 1) + rows([[0], [1], [2]]) + b"junk\n" * 10,
    "ascii under Binary": header(TRAN, 1) + b" 0\t0.0000e+00\n\t1.0000e+00\n\t2.0000e+00\n",
    "ascii of letters": header(TRAN, 1, data="Values") + b" 0\tone\n\ttwo\n\tthree\n",
    "ascii complex without imaginary part": header(AC, 1, flags="complex", data="Values") + b" 0\t1\n\t2\n",
    "more ascii values": header(TRAN, 1, data="Values") + b"0 1 2 3 4 5 6 7\n",
    "long ascii line": header(TRAN, 1, data="Values") + b"1" * 200_000,
    "a length for each vector": header(
        [(f"v{i}", f"notype dims={i + 1}") for i in range(100)], 100, flags="real unpadded"
    ),
    "cut header": header(TRAN, 1)[:-20],
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_typed_errors(raw, content):
    path = raw(content)
    with pytest.raises(UserInputError) as caught:
        read_raw(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("points", ["4000000000000", "99999999999999999"])
def test_a_claim_of_more_points_than_the_file_has_allocates_nothing(raw, points):
    path = raw(header(TRAN, points) + rows([[0], [1], [2]]))
    (plot,) = read_raw(path)
    assert plot.points == 1


def test_huge_dims_allocate_nothing(raw):
    variables = [("time", "time"), ("w", "notype dims=99999999,99999999")]
    path = raw(header(variables, 10**9, flags="real unpadded") + rows([[0], [1]]))
    assert read_raw(path)[0].points == 1


def test_missing_folder_fifo_and_device(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "missing.raw", tmp_path, tmp_path / "fifo", Path("/dev/zero"), Path("a\0b")):
        with pytest.raises(UserInputError):
            read_headers(path)


_pieces = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            header(TRAN, 2), header(TRAN, 0), header(AC, 1, flags="complex"),
            header(TRAN, 1, data="Values"), header(TRAN, 10**12), header(TRAN, 3, flags="real unpadded"),
            rows([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), b" 0\t1.0\n\t2.0\n\t3.0\n", b"Title: x\n",
            b"Flags: complex\n", b"No. Points: 99\n", b"Variables:\n", b"Binary:\n", b"Values:\n", b"\n",
        ]
    ),
)  # fmt: skip


def _read_or_refuse(path: Path) -> None:
    try:
        headers = read_headers(path)
        plots = read_raw(path)
    except UserInputError:
        return
    assert len(headers) == len(plots)
    size = path.stat().st_size
    for head, plot in zip(headers, plots, strict=True):
        assert head.points == plot.points == len(next(iter(plot.vectors.values())).data)
        assert head.data_offset <= size


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_pieces, max_size=6), st.data())
def test_any_file_is_read_or_refused(tmp_path, pieces, data):
    content = bytearray(b"".join(pieces))
    for _ in range(data.draw(st.integers(0, 3))):
        if content:
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "fuzz.raw"
    path.write_bytes(content)
    _read_or_refuse(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 6), st.integers(0, 20), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1), st.data()
)
def test_what_is_written_is_read(tmp_path, variables, points, is_complex, is_ascii, seed, data):
    names = [("time", "time"), *((f"v({i})", "voltage") for i in range(1, variables))]
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(points, variables)) * 10.0 ** rng.integers(-300, 300, size=(points, variables))
    values = table + 1j * table[::-1] if is_complex else table
    flags = "complex" if is_complex else "real"
    if is_ascii:

        def shown(z):
            return (
                f"{z.real!r},{z.imag!r}".replace("np.float64(", "").replace(")", "")
                if is_complex
                else repr(float(z))
            )

        body = "".join(
            f" {i}\t" + "\n\t".join(map(shown, row)) + "\n\n" for i, row in enumerate(values)
        ).encode()
    else:
        body = values.astype("<c16" if is_complex else "<f8").tobytes()
    kept = data.draw(st.integers(0, len(body))) if data.draw(st.booleans()) else len(body)
    path = tmp_path / "round.raw"
    path.write_bytes(
        header(names, points, flags=flags, data="Values" if is_ascii else "Binary") + body[:kept]
    )
    (plot,) = read_raw(path)
    assert plot.points <= points
    if kept == len(body):
        assert plot.points == points
    for index, vector in enumerate(plot.vectors.values()):
        expected = values[: plot.points, index]
        assert np.array_equal(vector.data, expected.real if index == 0 else expected)
    if not is_ascii:
        width = (16 if is_complex else 8) * variables
        assert plot.points == kept // width


def test_a_file_whose_plot_has_no_name_as_ngspice_writes_it_adds_nothing(tmp_path: Path) -> None:
    """A circuit's own commands may leave anything under the names of the pieces."""
    whole = (
        b"Title: t\nDate: d\nPlotname: Operating Point\nFlags: real\nNo. Variables: 1\nNo. Points: 1\n"
        b"Variables:\n\t0\tv(a)\tvoltage\nValues:\n 0\t1.0\n\n"
    )
    piece = tmp_path / "piece"
    piece.write_bytes(whole + whole.replace(b"Plotname: ", b"plotname:"))
    assert len(read_headers(piece)) == 2
    out = BytesIO()
    with pytest.raises(UserInputError, match="no name"):
        append_plots(out, piece, behind=" (op1)")
    assert out.getvalue() == b""
