"""Pillow, told not to talk: what is odd about a picture is no matter for a person's terminal."""

from __future__ import annotations

import logging
import math
import struct
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

logging.getLogger("PIL").setLevel(logging.CRITICAL)  # what could not be read is told by our own errors

DAMAGE = (OSError, ValueError, SyntaxError, EOFError, LookupError, TypeError, struct.error)
"""What Pillow raises for damaged and hostile files; its UnidentifiedImageError is an OSError."""


_OPAQUE = frozenset({"1", "L", "RGB", "CMYK", "YCbCr", "LAB", "HSV"})


def prepare_pillow() -> None:
    """Before a picture of a stranger is opened; costs nothing the second time.

    It would warn of broken EXIF data on standard error, and of some large pictures while it refuses others:
    who calls has a limit of his own.
    """
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None
    warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")


def as_seen(picture: Image) -> Image:
    """Upright, in RGB or (where something shines through) RGBA with eight bits a colour, nothing beside it.

    Grey values of 16 bits are scaled, those of more by their range: Pillow would cut them off at 255.
    """
    from PIL import ImageOps

    upright = ImageOps.exif_transpose(picture)
    if upright.mode.startswith("I;16"):
        upright = upright.point(lambda value: value * (1 / 257)).convert("L")
    elif upright.mode in ("I", "F"):
        low, high = upright.getextrema()
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        span = high - low if math.isfinite(high - low) and high > low else 1
        upright = upright.point(lambda value: value * (255 / span) - low * (255 / span)).convert("L")
    made = upright.convert("RGB" if upright.mode in _OPAQUE else "RGBA")
    made.info.clear()  # else it would be saved with the pixels
    return made
