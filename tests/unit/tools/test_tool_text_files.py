"""Bytes to text and back: nothing changes that was not meant."""

from __future__ import annotations

import random

import pytest

from domain.llm.tools.text_files import (
    BinaryFileError,
    NotEncodableError,
    TextFile,
    VersionHash,
    decode,
    split_lines,
    version_hash,
)
from tests.ground.campaign import Campaign, campaigns
from tests.ground.cases import for_each

TEXTS = {
    "ascii": "RC low-pass\nR1 in out 1k\n",
    "western": "Tiefpass für 10µF, 2µA, é\nR1 in out 1k\n",
    "micro twice": "* mixer.asc\nCc a b 1.86µµ\n",
    "chinese": "低通滤波器：增益 20dB\nR1 in out 1k ; 输入电阻\n",
    "rare": "电阻\U00020087\nR1 in out 1k\n",
}


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        ("ascii", "utf-8", "utf-8"),
        ("chinese", "utf-8", "utf-8"),
        ("chinese", "utf-8-sig", "utf-8-sig"),
        ("western", "utf-8", "utf-8"),
        ("western", "latin-1", "latin-1"),
        ("micro twice", "latin-1", "latin-1"),
        ("chinese", "gbk", "gbk"),
        ("rare", "gb18030", "gb18030"),
        ("ascii", "gbk", "utf-8"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_texts_are_recognised_and_written_back(text: str, written: str, read: str, end: str) -> None:
    data = TEXTS[text].replace("\n", end).encode(written)
    file = decode(data)
    assert file.encoding == read
    assert file.text == TEXTS[text].replace("\n", end)
    assert file.line_end == end
    assert file.lines == tuple(TEXTS[text].split("\n")[:-1])
    assert file.to_bytes() == data


@pytest.mark.parametrize(("bom", "codec"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_utf_16_keeps_its_mark(bom: bytes, codec: str) -> None:
    data = bom + TEXTS["rare"].encode(codec)
    assert decode(data) == TextFile(text=TEXTS["rare"], encoding=codec)
    assert decode(data).to_bytes() == data


@pytest.mark.parametrize(
    "data",
    [
        b"R1 a 0 1k\0",
        b"\x89PNG\r\n\x1a\n\0\0",
        bytes(range(256)),
        b"\xff\xfeA",  # half a character
        b"\x01\x02\x03\x04 text",
        "T".encode("utf-32"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(BinaryFileError):
        decode(data)


@campaigns(fast=300, whole=20_000)
def test_any_bytes_come_back_or_are_refused(campaign: Campaign) -> None:
    for rng in campaign.cases():
        data = bytes(noise(rng))
        try:
            file = decode(data)
        except BinaryFileError:
            continue
        assert file.to_bytes() == data


def noise(rng: random.Random) -> list[int]:
    alphabet = rng.choice(
        [range(256), range(32, 256), b"R1 in 0 1k\r\n\xb5", range(0x80, 0xFF), b"\xef\xbb\xbf\xe4\xbd\n"]
    )
    start = rng.choice([b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
    return [*start, *rng.choices(list(alphabet), k=rng.randrange(60))]


def test_a_rewrite_takes_encoding_and_the_commonest_line_end() -> None:
    file = decode("电阻\r\nR1 a 0 1\r\n* x\n".encode("gbk"))
    assert file.line_ends == "mixed"
    assert file.with_text("电容\nC1 a 0 1\r\n").to_bytes() == "电容\r\nC1 a 0 1\r\n".encode("gbk")


def test_a_character_without_a_place_is_named_with_its_line() -> None:
    file = decode("für\n".encode("latin-1"))
    with pytest.raises(NotEncodableError) as caught:
        file.with_text("a\nb\nΩ\n").to_bytes()
    assert (caught.value.character, caught.value.line, caught.value.encoding) == ("Ω", 3, "latin-1")


@for_each(
    ("text", "lines"),
    [
        ("", ()),
        ("a", ("a",)),
        ("a\n", ("a",)),
        ("a\n\n", ("a", "")),
        ("a\r\nb", ("a", "b")),
        ("a\rb\n", ("a\rb",)),
        ("a\rb\r", ("a", "b")),
        ("a\x0bb\x0cc\u2028d\n", ("a\x0bb\x0cc\u2028d",)),
    ],
)
def test_lines_are_counted_as_ngspice_counts_them(text: str, lines: tuple[str, ...]) -> None:
    assert split_lines(text) == lines


def test_the_version_does_not_see_the_kind_of_line_end() -> None:
    assert version_hash(b"a\r\nb\r\n") == version_hash(b"a\nb\n") != version_hash(b"a\n\nb\n")


@campaigns(fast=100, whole=5000)
def test_the_version_of_pieces_is_that_of_the_whole(campaign: Campaign) -> None:
    for rng in campaign.cases():
        data = bytes(rng.choices(b"\r\na", k=rng.randrange(40)))
        streamed, position = VersionHash(), 0
        while position < len(data):
            size = rng.randrange(1, 5)
            streamed.update(data[position : position + size])
            position += size
        assert streamed.hexdigest() == version_hash(data)
