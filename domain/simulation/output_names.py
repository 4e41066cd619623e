"""Which vectors are the output of a circuit, by what people call its node."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OUTPUTS = ("v(out)", "v(output)", "v(vout)", "v(o)")
_LIKE_OUTPUTS = re.compile(r"v\((?:[uv]?_?out[\w+-]*|\w*out\d*[+-]?|[uv]_?o\d*[+-]?)\)")
"""``v_out``, ``out2``, ``voutput``, ``signal_out``, ``vo1``, ``vo+``: where none has the plain name."""
_NUMBERED = re.compile(r"v\((?:[np]\d{3,}|nc_\d+)\)")
"""As LTspice calls nodes that nobody named."""


def outputs_of(names: Iterable[str]) -> list[str]:
    """Those of the vectors (lower case) that are outputs; [] where no node is called so."""
    there = list(names)
    return [each for each in _OUTPUTS if each in there] or [
        each for each in there if _LIKE_OUTPUTS.fullmatch(each)
    ]


def named_first(names: Iterable[str]) -> list[str]:
    """Nodes that somebody named before those with a number of LTspice's (``v(n001)``)."""
    return sorted(names, key=lambda each: _NUMBERED.fullmatch(each) is not None)
