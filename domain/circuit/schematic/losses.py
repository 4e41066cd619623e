"""What a reading for ngspice puts beside a part: nobody drew it, and it is not drawn.

Losses that other simulators write into a part's own line (``C1 a 0 10u Rser=20m``), what holds a capacitor at
its IC, what lets a source rise from 0, what senses a current (`domain.circuit.translation`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from domain.circuit.foreign_cards import STARTUP_S

_LOSS = re.compile(r"(?:r_rser|l_lser|r_rpar|c_cpar|r_rlshunt)_(?P<of>.+)", re.IGNORECASE)
_START = re.compile(r"b_start_(?P<of>c.*)", re.IGNORECASE)
_SENSED = re.compile(r"v_sensed_(?P<of>.+)", re.IGNORECASE)
_WHOLE = re.compile(r"v_startup_(?P<of>v.*)", re.IGNORECASE)
_RISE = re.compile(rf" PWL\(0 0 {STARTUP_S} (\S+)\)$")
_RISEN = re.compile(r"b_startup_(?P<of>v.*)", re.IGNORECASE)


def losses_of(parts: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[frozenset[str], dict[str, str]]:
    """Of parts as name and nets: the names of those that stand beside another for ngspice only, and for each
    net between a part and these the net that the part is drawn at."""
    nets_of = {name.lower(): tuple(net.lower() for net in nets) for name, nets in parts}
    losses, outer = set[str](), dict[str, str]()
    for name, nets in parts:
        if len(nets) != 2:
            continue
        low = nets_of[name.lower()]
        if (name.lower(), low[0]) == ("v_startup", "startup#rise"):
            losses.add(name)
        for pattern in (_LOSS, _START, _SENSED, _WHOLE, _RISEN):
            found = pattern.fullmatch(name)
            owner = found["of"].lower() if found else ""
            if owner not in nets_of:
                continue
            if pattern is _LOSS:
                losses.add(name)
                if low[1].startswith(f"{owner}#"):
                    outer[nets[1]] = outer.get(nets[0], nets[0])
            elif pattern is _SENSED and low[1] == f"{owner}#sensed":
                losses.add(name)
                outer[nets[1]] = outer.get(nets[0], nets[0])
            elif pattern is _RISEN and low[0] == f"{owner}#risen":
                losses.add(name)
                outer[nets[0]] = nets[1]
            elif (pattern is _WHOLE and low[0] == f"{owner}#whole") or (
                # Behind a loss the capacitor's node is an inner one, and so is this one's.
                pattern is _START and set(low) == set(nets_of[owner][:2])
            ):
                losses.add(name)
    return frozenset(losses), outer


def without_rise(card: str) -> str:
    """A source's card without the way of its own DC value from 0, which `startup` of LTspice gives it."""
    found = _RISE.search(card)
    return (
        card if found is None or not card[: found.start()].endswith(f" {found[1]}") else card[: found.start()]
    )


def rising_of(name: str, nets: Sequence[str]) -> str:
    """The source (lower case) whose waveform a part among these is; "" for any other."""
    found = _WHOLE.fullmatch(name)
    owner = found["of"].lower() if found else ""
    return owner if owner and nets and nets[0].lower() == f"{owner}#whole" else ""
