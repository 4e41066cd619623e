"""A drawing that is too wide for a page, cut into strips from left to right."""

from __future__ import annotations

import math
import re

_ROOT = re.compile(
    r'(?P<start><svg [^>]*?)width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)" '
    r'viewBox="(?P<x>[-\d.]+) (?P<y>[-\d.]+) (?P<wide>[\d.]+) (?P<high>[\d.]+)"'
)
_WIDEST = 1_150.0
"""Pixels that a page shows side by side: texts of 12 are then some 5 points high."""
_OVERLAP = 64.0
"""What is at a cut is in both strips."""
_MOST = 8


def strips_of(svg: str) -> list[str]:
    """The drawing whole where it fits, else its strips; those of a very wide one are reduced."""
    root = _ROOT.search(svg)
    wide = 0.0 if root is None else float(root["wide"])
    if root is None or wide <= _WIDEST:
        return [svg]
    count = min(math.ceil((wide - _OVERLAP) / (_WIDEST - _OVERLAP)), _MOST)
    step = (wide - _OVERLAP) / count
    left, width, high = float(root["x"]), step + _OVERLAP, root["high"]
    return [
        f'{svg[: root.start()]}{root["start"]}width="{width:.0f}" height="{root["height"]}" '
        f'viewBox="{left + step * part:.1f} {root["y"]} {width:.1f} {high}"{svg[root.end() :]}'
        for part in range(count)
    ]
