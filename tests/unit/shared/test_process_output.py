"""What is kept of a program's output, and how it is cut into lines."""

from hypothesis import given
from hypothesis import strategies as st

from shared.processes import _CappedOutput, _LineCutter

chunks = st.lists(st.binary(max_size=40), max_size=20)
text_chunks = st.lists(st.text("ab\r\n", max_size=6).map(str.encode), max_size=20)


@given(text_chunks)
def test_lines_do_not_depend_on_how_the_stream_was_cut(parts):
    cutter = _LineCutter()
    lines = [line for part in parts for line in cutter.cut(part)] + list(cutter.rest())
    whole = b"".join(parts).decode().replace("\r\n", "\n").replace("\r", "\n")
    assert lines == whole.removesuffix("\n").split("\n") if whole else lines == []


@given(
    st.lists(
        st.binary(min_size=1, max_size=5000).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b""))
    )
)
def test_a_long_line_is_given_once_by_its_beginning(parts):
    cutter = _LineCutter()
    lines = [line for part in [*parts, b"\n"] for line in cutter.cut(part)]
    assert lines == [b"".join(parts)[:8192].decode("utf-8", "replace")]


@given(chunks, st.integers(min_value=2, max_value=60))
def test_what_fits_is_kept_whole_and_else_head_and_tail(parts, cap):
    output = _CappedOutput(cap)
    for part in parts:
        output.add(part)
    whole, kept = b"".join(parts), output.value()
    half = cap // 2
    if len(whole) <= 2 * half:
        assert kept == whole
        assert output.dropped == 0
    else:
        assert kept.startswith(whole[:half])
        assert kept.endswith(whole[-half:])
        assert output.dropped == len(whole) - 2 * half
