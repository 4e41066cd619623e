"""Pictures are made to fit what a provider takes."""

from __future__ import annotations

import io
import random

import pytest
from PIL import Image

from domain.llm.chat import ChatRequest, ProviderError, WireImage, WireMessage
from infrastructure.llm_adapters.images import with_fitting_images


def saved(size: tuple[int, int], kind: str, mode: str = "RGB", *, noise: bool = False) -> bytes:
    picture = Image.new(mode, size)
    if noise:
        picture = Image.frombytes("RGB", size, random.Random(1).randbytes(size[0] * size[1] * 3))
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def fitting(data: bytes, mime: str = "image/png", **limits: int) -> WireImage:
    request = ChatRequest(
        messages=(WireMessage(role="user", text="?", images=(WireImage(data=data, mime=mime),)),)
    )
    fitted = with_fitting_images(request, **{"side": 64, "most_bytes": 100_000, **limits})
    (image,) = fitted.messages[0].images
    return image


def size_of(image: WireImage) -> tuple[int, int]:
    return Image.open(io.BytesIO(image.data)).size


def test_what_fits_is_sent_as_it_is() -> None:
    data = saved((64, 32), "PNG")
    assert fitting(data) == WireImage(data=data)
    jpeg = saved((64, 32), "JPEG")
    assert fitting(jpeg, "image/png") == WireImage(data=jpeg, mime="image/jpeg")


@pytest.mark.parametrize(
    ("size", "mode", "scaled"),
    [((640, 320), "RGB", (64, 32)), ((65, 650), "RGBA", (6, 64)), ((128, 128), "P", (64, 64))],
)
def test_large_ones_are_scaled(size: tuple[int, int], mode: str, scaled: tuple[int, int]) -> None:
    assert size_of(fitting(saved(size, "PNG", mode))) == scaled


def test_other_formats_are_turned_into_png() -> None:
    assert fitting(saved((10, 10), "GIF", "P"), "image/gif").mime == "image/png"


def test_heavy_ones_become_jpeg() -> None:
    data = saved((600, 600), "PNG", noise=True)
    image = fitting(data, side=600, most_bytes=200_000)
    assert image.mime == "image/jpeg"
    assert len(image.data) <= 200_000


@pytest.mark.parametrize("data", [b"", b"no picture", saved((10, 10), "PNG")[:40]])
def test_what_is_no_picture_is_said(data: bytes) -> None:
    with pytest.raises(ProviderError, match="cannot be sent") as caught:
        fitting(data, side=5)
    assert caught.value.kind == "bad_request"
