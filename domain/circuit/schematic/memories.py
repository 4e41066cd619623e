"""What a reading for ngspice makes of transfer functions, integrals over time and delays: parts of their own
beside the source that is written with them (`domain.circuit.translation`). Nobody drew them, and they are not
drawn; the source is, with what it follows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from domain.circuit.elements import GROUND

_KINDS = r"(?:laplace|idt|sdt|idtmod|delay|absdelay)"
_HELPER = re.compile(rf"[bcgrtv]_(?P<own>{_KINDS}_\d+_.+)", re.IGNORECASE)
_AFTER_START = re.compile(r"\(time>0\?\((?P<inner>.*)\):0\)", re.IGNORECASE | re.DOTALL)
_DELAY = re.compile(r"\btd=\{(?P<time>[^}]*)\}", re.IGNORECASE)
_WRAPPED = re.compile(
    r"\(\((?P<low>[^()]*)\)\+\((?P<call>v\([^()]*\))-\((?P=low)\)\)"
    r"-\((?P<size>[^()]*)\)\*floor\(\((?P=call)-\((?P=low)\)\)/\((?P=size)\)\)\)",
    re.IGNORECASE,
)
"""An integral that begins anew at every multiple of a size."""
_TRANSFER = "H(s)"
_DEEPEST = 8


class Drawable(Protocol):
    """A part of a page."""

    @property
    def name(self) -> str: ...
    @property
    def nets(self) -> tuple[str, ...]: ...
    @property
    def controls(self) -> tuple[str, ...]: ...
    @property
    def value(self) -> str:
        """Its value or expression as written."""

    @property
    def full(self) -> str:
        """Its whole card."""


class Followed(NamedTuple):
    """What a source follows, in the words it was written with."""

    text: str
    """``H(s)·V(in)``, ``2*idt(V(in))``."""
    controls: tuple[str, ...]
    """Nets it looks at."""
    seen: tuple[str, str] | None
    """The two nets of which it takes the voltage, where a transfer function is of nothing else."""


def followed_by(parts: Sequence[Drawable]) -> tuple[frozenset[str], dict[str, Followed]]:
    """The names of the parts that only realise what another is written with; and of each of those others, by
    its name in lower case, what it follows."""
    known = {each.name.lower(): each for each in parts}
    if not any(_HELPER.fullmatch(name) for name in known):
        return frozenset(), {}
    hidden, found = set[str](), dict[str, Followed]()
    for part in parts:
        own = _own_names(part.name)
        net = own.search(part.full)
        if net is None or _HELPER.fullmatch(part.name):
            continue
        reader = _Reader(known, own)
        is_call = own.search(part.value) is not None
        text, controls = reader.read(part.value if is_call else net[0], part.controls)
        if not reader.names:
            continue
        found[part.name.lower()] = Followed(text, controls, None if is_call else reader.seen)
        hidden |= {each.name for each in parts if _realises(each, reader.names)}
    return frozenset(hidden), found


def _own_names(owner: str) -> re.Pattern[str]:
    """The nets that belong to an element, alone or within ``v(...)``."""
    return re.compile(
        rf"(?P<call>v\()?(?<![\w.])(?P<own>{_KINDS}_\d+_{re.escape(owner)})(?P<out>_out)?(?!\w)(?(call)\))",
        re.IGNORECASE,
    )


def _realises(part: Drawable, names: frozenset[str] | set[str]) -> bool:
    match = _HELPER.fullmatch(part.name)
    if match is None:
        return False
    mine = [name for name in names if f"{match['own'].lower()}_".startswith(f"{name}_")]
    return any(all(net == GROUND or f"{net}_".startswith(f"{name}_") for net in part.nets) for name in mine)


class _Reader:
    """Puts what was written back in the place of the nets of one element."""

    def __init__(self, known: Mapping[str, Drawable], own: re.Pattern[str]) -> None:
        self.names = set[str]()
        """Lower case, of what was put back."""
        self.seen: tuple[str, str] | None = None
        self._known = known
        self._own = own

    def read(self, text: str, controls: Sequence[str], depth: int = 0) -> tuple[str, tuple[str, ...]]:
        """The text, and the nets, without those of the element's own."""
        nets = [net for net in controls if net != GROUND and not self._own.fullmatch(net)]
        text = _WRAPPED.sub(r"\g<call>", text)

        def written(match: re.Match[str]) -> str:
            name = match["own"].lower()
            is_transfer = name.startswith("laplace")
            source = self._known.get(f"b_{name}_in" if is_transfer else f"b_{name}")
            if source is None or depth > _DEEPEST:
                return match[0]
            self.names.add(name)
            inner, others = self.read(source.value, source.controls, depth + 1)
            nets.extend(others)
            if is_transfer:
                both = (*source.controls, GROUND)[:2]
                is_pair = re.fullmatch(r"v\([^()]*\)", source.value, re.IGNORECASE) is not None
                self.seen = (both[0], both[1]) if is_pair else None
                inner = re.sub(r"(?i)(v\([^(),]+),\s*0\s*\)", r"\1)", inner)
                return f"{_TRANSFER}·{inner}" if is_pair else f"{_TRANSFER}·({inner})"
            started = _AFTER_START.fullmatch(inner)
            inner = inner if started is None else started["inner"]
            line = self._known.get(f"t_{name}")
            time = None if line is None else _DELAY.search(line.full)
            return f"{name.partition('_')[0]}({inner})" if time is None else f"delay({inner},{time['time']})"

        return self._own.sub(written, text), tuple(dict.fromkeys(nets))
