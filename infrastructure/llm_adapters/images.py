"""Pictures made to fit what a provider takes."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import lru_cache

from domain.llm.chat import ChatRequest, ProviderError, WireImage
from shared.message import msg

_TAKEN = {"PNG": "image/png", "JPEG": "image/jpeg"}
"""Formats every provider reads; others are turned into one of them."""
_QUALITIES = (90, 75, 60)
_SMALLEST_SIDE = 256
_MOST_PIXELS = 100_000_000


def with_fitting_images(request: ChatRequest, *, side: int, most_bytes: int) -> ChatRequest:
    """The request with every picture at most `side` pixels long and `most_bytes` large.

    Blocking (decoding and scaling). Raises ProviderError ("bad_request") for what is no picture.
    """
    messages = tuple(
        replace(message, images=tuple(_fitting(image, side, most_bytes) for image in message.images))
        if message.images
        else message
        for message in request.messages
    )
    return replace(request, messages=messages)


@lru_cache(maxsize=4)  # a turn sends its pictures again in every round
def _fitting(image: WireImage, side: int, most_bytes: int) -> WireImage:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(image.data)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise _unusable(f"{picture.width} x {picture.height}")
            kind = picture.format or ""
            if kind in _TAKEN and max(picture.size) <= side and len(image.data) <= most_bytes:
                return replace(image, mime=_TAKEN[kind])
            is_opaque = picture.mode in {"1", "L", "RGB", "CMYK", "YCbCr", "I;16"}
            pixels = picture.convert("RGB" if is_opaque else "RGBA")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise _unusable(str(error)) from error
    while True:
        pixels.thumbnail((side, side))
        for mime, data in _encodings(pixels):
            if len(data) <= most_bytes or side <= _SMALLEST_SIDE:
                return WireImage(data=data, mime=mime)
        side = max(side * 3 // 4, _SMALLEST_SIDE)


def _encodings(pixels: object) -> list[tuple[str, bytes]]:
    """Schematics and curves as PNG, else as JPEG on white, the best first."""
    from PIL import Image

    assert isinstance(pixels, Image.Image)
    found = [("image/png", _saved(pixels, "PNG"))]
    flat = pixels
    if pixels.mode == "RGBA":
        flat = Image.new("RGB", pixels.size, "white")
        flat.paste(pixels, mask=pixels.getchannel("A"))
    found += [("image/jpeg", _saved(flat, "JPEG", quality=quality)) for quality in _QUALITIES]
    return found


def _saved(pixels: object, kind: str, **options: int) -> bytes:
    from PIL import Image

    assert isinstance(pixels, Image.Image)
    out = io.BytesIO()
    pixels.save(out, kind, **options)
    return out.getvalue()


def _unusable(said: str) -> ProviderError:
    return ProviderError(
        msg("The picture can't be sent: {said}", said=said[:200]),
        kind="bad_request",
        advice=msg("Send it as PNG or JPEG, below 100 million pixels."),
    )
