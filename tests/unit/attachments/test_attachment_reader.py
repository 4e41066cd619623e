"""What an attached file is found to be: by its content, and never by an exception of the library."""

from __future__ import annotations

import io
import os
import random
import re
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfWriter

from domain.llm.attachments import (
    LARGEST_ATTACHMENT,
    Attachment,
    attachment_from_plain,
    clean_name,
    name_in_fence,
)
from domain.llm.chat import ChatRequest, ProviderError, WireImage, WireMessage
from domain.llm.tokens import image_size
from infrastructure.attachments.reader import FileReader, text_of_pdf
from infrastructure.llm_adapters.images import with_fitting_images
from shared.errors import UserInputError
from tests.ground.campaign import Campaign, campaigns
from tests.integration.search.test_documents import pdf

FORMATS = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp", "GIF": "image/gif",
           "BMP": "image/bmp", "TIFF": "image/tiff"}  # fmt: skip


def drawn(kind: str, size: tuple[int, int] = (31, 17), **options: object) -> bytes:
    out = io.BytesIO()
    Image.effect_noise(size, 60).convert("RGB").save(out, kind, **options)
    return out.getvalue()


def refused(name: str, content: bytes) -> str:
    with pytest.raises(UserInputError) as caught:
        FileReader().examine(name, content)
    assert name[:20] in str(caught.value)
    assert caught.value.advice is not None
    return caught.value.error_type


@pytest.mark.parametrize("kind", FORMATS)
def test_pictures_are_known_by_their_content(kind: str) -> None:
    content = drawn(kind)
    found = FileReader().examine("notes.txt", content)
    assert found is not None
    attachment = found.attachment
    assert (attachment.kind, attachment.mime) == ("image", FORMATS[kind])
    assert (attachment.width, attachment.height, attachment.size) == (31, 17, len(content))
    assert attachment_from_plain(attachment.to_plain()) == attachment
    shown = Image.open(io.BytesIO(FileReader().preview(content, 8)))
    assert max(shown.size) == 8
    if kind in ("PNG", "JPEG", "WEBP", "GIF"):
        assert image_size(content) == (31, 17)


def test_a_picture_on_its_side_is_turned_and_loses_what_the_camera_wrote() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "a camera"
    content = drawn("JPEG", (40, 20), exif=exif.tobytes())
    found = FileReader().examine("photo.jpg", content)
    assert found is not None
    assert (found.attachment.width, found.attachment.height) == (20, 40)
    request = ChatRequest(messages=(WireMessage(role="user", images=(WireImage(data=content),)),))
    (image,) = with_fitting_images(request, side=2048, most_bytes=1 << 20).messages[0].images
    assert image.mime == "image/jpeg"
    sent = Image.open(io.BytesIO(image.data))
    assert sent.size == (20, 40)
    assert not sent.getexif()
    assert b"a camera" not in image.data


@pytest.mark.parametrize(
    ("kind", "mode", "most"), [("PNG", "I;16", 65535), ("TIFF", "I", 10**6), ("TIFF", "F", 1.5)]
)
def test_more_than_eight_bits_are_scaled_not_cut_off(kind: str, mode: str, most: float) -> None:
    ramp = Image.linear_gradient("L").convert("F").point(lambda value: value * (most / 255))
    out = io.BytesIO()
    ramp.convert("I").convert(mode).save(out, kind) if mode != "F" else ramp.save(out, kind)
    request = ChatRequest(messages=(WireMessage(role="user", images=(WireImage(data=out.getvalue()),)),))
    (image,) = with_fitting_images(request, side=200, most_bytes=1 << 20).messages[0].images
    for data in (image.data, FileReader().preview(out.getvalue(), 200)):
        seen = Image.open(io.BytesIO(data)).convert("L")
        low, middle, high = (seen.getpixel((100, y)) for y in (3, 100, 196))
        assert (low < 20, 100 < middle < 150, high > 235) == (True, True, True)


def test_texts_are_taken_in_any_encoding_and_binary_files_refused() -> None:
    for text, encoding in (("R1 a b 1k", "utf-8"), ("电阻 R1", "gb18030"), ("R1 Ω", "utf-16")):
        found = FileReader().examine("a.cir", text.encode(encoding))
        assert found is not None
        assert (found.attachment.kind, found.attachment.characters) == ("file", len(text))
    assert FileReader().examine("x", b"%PDF-1.7\n...") is None
    assert refused("data.bin", bytes(range(256)) * 8) == "binary_file"
    assert refused("empty.txt", b"") == "empty_file"
    assert refused("large.txt", b"x" * (LARGEST_ATTACHMENT + 1)) == "attachment_too_large"
    page = FileReader().examine("page.png", b"<html><script>alert(1)</script></html>")
    assert page is not None
    assert page.attachment.kind == "file"


def test_a_picture_that_claims_more_than_memory_is_refused_unread() -> None:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    for side in (9_000, 60_000, 2**31 - 1):
        head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
        bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 999))
        assert refused("bomb.png", bomb + chunk(b"IEND", b"")) == "picture_too_large"
    assert refused("half.png", drawn("PNG")[:60]) == "broken_picture"
    assert refused("half.jpg", drawn("JPEG", (300, 300))[:9_000]) == "broken_picture"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"")
    os.truncate(tmp_path / "large", LARGEST_ATTACHMENT + 1)
    (tmp_path / "link").symlink_to(tmp_path / "note")
    (tmp_path / "note").write_bytes(b"R1")
    assert FileReader().read_file(tmp_path / "link") == b"R1"
    kinds = []
    for name in ("pipe", "large", "none", "."):
        with pytest.raises(UserInputError) as caught:
            FileReader().read_file(tmp_path / name)
        kinds.append(caught.value.error_type)
    assert kinds == ["not_a_file", "attachment_too_large", "file_not_found", "not_a_file"]


def test_a_document_without_text_says_so() -> None:
    writer, out = PdfWriter(), io.BytesIO()
    writer.add_blank_page(200, 200)
    writer.write(out)
    with pytest.raises(ValueError, match="no_text"):
        FileReader().document_text(out.getvalue())
    with pytest.raises(ValueError, match="unreadable"):
        FileReader().document_text(b"%PDF-1.4\nnothing")


def test_of_a_long_document_beginning_and_end_are_read() -> None:
    content = pdf([f"This is page {n}" for n in range(1, 9)], {})
    ticks = iter(range(0, 1000, 4))  # four seconds a page
    text = text_of_pdf(content, lambda: float(next(ticks)))
    assert "[pages 4 to 5 of 8 are left out]" in text
    shown = re.findall(r"^\[page (\d)|This is page (\d)", text, re.MULTILINE)
    assert [number or said for number, said in shown] == [n for n in "123678" for _ in range(2)]


def test_names_can_not_break_out() -> None:
    name = clean_name('a\n\x1b[31m\u202e"><data>\ud800' + "x" * 500 + ".png")
    assert name.isprintable()
    assert len(name) <= 120
    assert name.endswith(".png")
    assert not set(name_in_fence(name)) & set('<>"&')
    assert clean_name("\n") == "file"


def test_what_a_transcript_says_of_attachments_is_not_believed() -> None:
    plain = Attachment(kind="image", name="a", mime="image/png", size=1, sha256="0" * 64).to_plain()
    for change in ({"type": "link"}, {"sha256": "../../etc/passwd"}, {"sha256": 7}, {"type": None}):
        assert attachment_from_plain({**plain, **change}) is None
    odd = attachment_from_plain(
        {**plain, "mime_type": "text/../..", "size": "many", "width": -3, "text_sha256": "../x", "name": None}
    )
    assert odd is not None
    assert odd.stored_name == odd.stored_text_name == "0" * 64
    assert (odd.size, odd.width, odd.name) == (0, 0, "file")


@campaigns(fast=60, whole=6_000)
def test_damaged_pictures_are_refused_or_whole(campaign: Campaign) -> None:
    taken = 0
    for rng in campaign.cases():
        content = _damaged(drawn(rng.choice(list(FORMATS))), rng)
        try:
            found = FileReader().examine("x", content)
        except UserInputError:
            continue
        if found is None or not found.attachment.is_picture:
            continue
        taken += 1
        FileReader().preview(content, 16)
        request = ChatRequest(messages=(WireMessage(role="user", images=(WireImage(data=content),)),))
        try:
            with_fitting_images(request, side=20, most_bytes=1 << 20)
        except ProviderError as error:
            pytest.fail(f"taken, and then not sent: {error}")
    assert taken or campaign.only is not None  # a case that is repeated alone need not be one of them


def _damaged(content: bytes, rng: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if len(data) < 12:
            break
        match rng.randrange(4):
            case 0:
                data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:
                del data[rng.randrange(12, len(data) + 1) :]
            case 2:
                at = rng.randrange(len(data))
                data[at:at] = rng.randbytes(rng.randint(1, 9))
            case _:
                data += rng.randbytes(rng.randint(1, 20))
    return bytes(data)
