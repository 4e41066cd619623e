"""Pictures made to fit what a provider takes, and freed of what a camera writes into them: place, owner."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from domain.llm.chat import ChatRequest, ProviderError, WireImage
from infrastructure.attachments.decoding import DAMAGE, as_seen, prepare_pillow
from shared.message import msg

_TAKEN = {"PNG": "image/png", "JPEG": "image/jpeg"}
"""Formats every provider reads; others are turned into one of them."""
_PHOTOS = frozenset({"JPEG", "MPO"})
_QUALITIES = (90, 75, 60)
_SMALLEST_SIDE = 256
_MARK_BYTES = 24
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


def marked(request: ChatRequest) -> tuple[ChatRequest, Mapping[bytes, bytes]]:
    """The request with a short mark in place of each picture, and the pictures by their mark's base64.

    JSON of several pictures is one call, which would hold all threads for a tenth of a second; so they are
    put into the body afterwards, by `with_pictures`.
    """
    pictures: dict[bytes, bytes] = {}

    def mark(image: WireImage) -> WireImage:
        name = os.urandom(_MARK_BYTES)
        pictures[base64.b64encode(name)] = image.data
        return replace(image, data=name)

    messages = tuple(
        replace(message, images=tuple(map(mark, message.images))) if message.images else message
        for message in request.messages
    )
    return replace(request, messages=messages), pictures


def with_pictures(body: bytes, pictures: Mapping[bytes, bytes]) -> bytes:
    """The body with the pictures in place of their marks, in base64 as every provider takes them."""
    for name, data in pictures.items():
        body = body.replace(name, base64.b64encode(data))
    return body


@lru_cache(maxsize=8)  # a turn sends its pictures again in every round
def _fitting(image: WireImage, side: int, most_bytes: int) -> WireImage:
    from PIL import Image

    prepare_pillow()
    try:
        with Image.open(io.BytesIO(image.data)) as picture:
            if picture.width * picture.height > _MOST_PIXELS:
                raise _unusable(f"{picture.width} x {picture.height}")
            kind = picture.format or ""
            has_exif = bool(picture.getexif())
            fits = max(picture.size) <= side and len(image.data) <= most_bytes
            if kind in _TAKEN and fits and not has_exif:
                return replace(image, mime=_TAKEN[kind])
            picture.draft(None, (side, side))  # of a photo only as much is decoded as is sent
            pixels = as_seen(picture)
    except DAMAGE as error:
        raise _unusable(str(error)) from error
    while True:
        pixels.thumbnail((side, side))
        for mime, data in _encodings(pixels, is_photo=kind in _PHOTOS):
            if len(data) <= most_bytes or side <= _SMALLEST_SIDE:
                return WireImage(data=data, mime=mime)
        side = max(side * 3 // 4, _SMALLEST_SIDE)


def _encodings(pixels: object, *, is_photo: bool) -> Iterator[tuple[str, bytes]]:
    """Schematics and curves as PNG, else (and photos) as JPEG on white, the best first."""
    from PIL import Image

    assert isinstance(pixels, Image.Image)
    if not is_photo:
        yield "image/png", _saved(pixels, "PNG")
    flat = pixels
    if pixels.mode == "RGBA":
        flat = Image.new("RGB", pixels.size, "white")
        flat.paste(pixels, mask=pixels.getchannel("A"))
    for quality in _QUALITIES:
        yield "image/jpeg", _saved(flat, "JPEG", quality=quality)


def _saved(pixels: object, kind: str, **options: int) -> bytes:
    from PIL import Image

    assert isinstance(pixels, Image.Image)
    out = io.BytesIO()
    pixels.save(out, kind, **options)
    return out.getvalue()


def _unusable(said: str) -> ProviderError:
    return ProviderError(
        msg("The picture cannot be sent: {said}", said=said[:200]),
        kind="bad_request",
        advice=msg("Send it as PNG or JPEG, below 100 million pixels."),
    )
