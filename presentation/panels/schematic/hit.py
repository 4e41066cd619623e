"""What is under the pointer in a drawing."""

from __future__ import annotations

from typing import NamedTuple


class Hit(NamedTuple):
    """An element, or a net; both "" beside everything."""

    element: str = ""
    net: str = ""


NOWHERE = Hit()
