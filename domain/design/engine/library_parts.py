"""Parts of the model library that a sentence may name: any family has a kind of part by one row of choices.

A part number of a kind that the family has, but the library lacks, is refused with the names it has where the
circuit is to be built with it; where it is only spoken of, and of a kind that the circuit has no place for,
it is said to be left out.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from domain.design.engine.declaration import Choice, Family, Option
from domain.design.engine.op_amps import OP_AMPS
from domain.design.sentence import Sentence, in_any_case
from shared.errors import CircuitError
from shared.message import Message, msg

_VT = 0.02585
_ALSO = {
    "LM741": (r"[uμ]a[\s-]?741[a-z]{0,3}",),
    "LM358": (r"lm2904[a-z]{0,3}",),
    "LM324": (r"lm2902[a-z]{0,3}",),
    "NE5532": (r"(?:sa|lm)5532[a-z]{0,3}",),
    "MCP6002": (r"mcp600[14][a-z]{0,3}",),
    "LMV358": (r"lmv3(?:21|24)[a-z]{0,3}",),
    "AD8605": (r"ad860[68][a-z]{0,3}",),
    "OPA2134": (r"opa(?:4)?134[a-z]{0,3}",),
    "AO3401A": (r"ao3401[a-z]{0,3}",),
    "TL082": (r"tl084[a-z]{0,3}",),
}
"""By part: how the same amplifier is called with another number of them in a package, or by another maker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diode:
    """What sizing needs to know of a diode of the library; its model says the same (SI units)."""

    saturation_a: float
    emission: float
    series_ohm: float
    reverse_v: float
    """Continuous rating."""
    average_a: float
    recovery_s: float
    """Transit time."""

    def drop(self, current: float) -> float:
        """Forward voltage at a current, 27 °C: n VT ln(1 + I / IS) + I RS."""
        return self.emission * _VT * math.log1p(current / self.saturation_a) + current * self.series_ohm


def _rectifier(reverse_v: float) -> Diode:
    return Diode(
        saturation_a=5e-9, emission=1.8, series_ohm=0.04, reverse_v=reverse_v, average_a=1, recovery_s=3e-6
    )


DIODES = {
    "1N5819": Diode(
        saturation_a=0.57e-6, emission=1.05, series_ohm=0.06, reverse_v=40, average_a=1, recovery_s=0
    ),
    "1N4148": Diode(
        saturation_a=2.5e-9, emission=1.75, series_ohm=0.8, reverse_v=100, average_a=0.2, recovery_s=4e-9
    ),
    "1N4001": _rectifier(50),
    "1N4002": _rectifier(100),
    "1N4004": _rectifier(400),
    "1N4007": _rectifier(1000),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mosfet:
    """What sizing needs to know of a MOSFET of the library (SI units)."""

    on_ohm: float
    """At 10 V between gate and source, 27 °C."""
    blocks_v: float
    drain_a: float
    """Continuous rating."""
    threshold_v: float
    slope: float
    """Transconductance over overdrive (A/V2)."""
    gate_v: float = 20
    """The most between gate and source."""

    @property
    def series_ohm(self) -> float:
        """Of what lies in series with the channel."""
        return self.on_ohm - 1 / (self.slope * (10 - self.threshold_v))


MOSFETS = {
    "BSS138": Mosfet(on_ohm=0.7, blocks_v=50, drain_a=0.22, threshold_v=1.3, slope=0.35),
    "2N7000": Mosfet(on_ohm=1.2, blocks_v=60, drain_a=0.2, threshold_v=2, slope=0.26),
    "IRF540N": Mosfet(on_ohm=0.038, blocks_v=100, drain_a=33, threshold_v=3.1, slope=30),
    "IRLZ44N": Mosfet(on_ohm=0.018, blocks_v=55, drain_a=47, threshold_v=1.6, slope=60),
}

PMOSFETS = {
    "AO3401A": Mosfet(on_ohm=0.041, blocks_v=30, drain_a=4, threshold_v=0.9, slope=32, gate_v=12),
    "IRF9540N": Mosfet(on_ohm=0.1, blocks_v=100, drain_a=23, threshold_v=3.1, slope=12),
}
"""P-channel: voltages and currents without their sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Parts of one kind."""

    label: Message
    generic: Message
    lacks: Message
    """That the library does not have the part."""
    numbers: str
    """What reads as the number of such a part."""
    names: tuple[str, ...]
    """Those of the library."""


KINDS = {
    "opamp": Kind(
        label=msg("op-amp"),
        generic=msg("any op-amp"),
        lacks=msg("The model library does not have the op-amp that the request names."),
        numbers=(
            r"opa\d{2,4}|ad\d{3,4}|lm\d{3}|lm[cv]\d{3,4}|ne\d{4}|tl[cv]?\d{3,4}|mcp\d{3,4}|lf\d{3}|[uµμ]a\d{3}"
            r"|op[\s-]?\d{2,3}|lt\d{4}|max\d{4}"
        ),
        names=tuple(OP_AMPS),
    ),
    "diode": Kind(
        label=msg("diode"),
        generic=msg("any diode"),
        lacks=msg("The model library does not have the diode that the request names."),
        numbers=(
            r"1n\d{3,4}|ss\d{2,3}|sb\d{3,4}|mbr\d{3,4}|stps\d{2,4}|bat\d{2}|bas\d{2}|bav\d{2}|uf\d{4}|fr\d{3}"
            r"|pmeg\d{4}"
        ),
        names=tuple(DIODES),
    ),
    "mosfet": Kind(
        label=msg("N-channel MOSFET"),
        generic=msg("any MOSFET"),
        lacks=msg("The model library does not have the N-channel MOSFET that the request names."),
        numbers=(
            r"irf(?!9|r9)[a-z]{0,3}\d{2,4}|irl[a-z]{0,3}\d{2,4}|2n700[02]|bss(?!84)\d{2,3}|bs170|"
            r"ao(?!34[01][1357]|4407)\d{4}|si(?!23)\d{4}|fd[a-z]\d{3,4}"
            r"|csd\d{5}|bsc\d{3}|ntd\d{4}"
        ),
        names=tuple(MOSFETS),
    ),
    "pmosfet": Kind(
        label=msg("P-channel MOSFET"),
        generic=msg("any P-channel MOSFET"),
        lacks=msg("The model library does not have the P-channel MOSFET that the request names."),
        numbers=r"irfr?9\d{3}|ao34[01][1357]|ao4407|si23\d{2}|bss84|fqp27p06|dmp\d{4}",
        names=tuple(PMOSFETS),
    ),
    "transistor": Kind(
        label=msg("transistor"),
        generic=msg("any transistor"),
        lacks=msg("The model library does not have the transistor that the request names."),
        numbers=r"2n(?!7)\d{4}|bc\d{3}|bd\d{3}|mmbt\d{4}|pn\d{4}|s[s]?[89]0\d{2}|tip\d{2,3}",
        names=("2N2222", "2N2907", "2N3904", "2N3906", "BC547", "BC557"),
    ),
}

_TO_BE_USED = re.compile(
    r"(?:(?<![a-z])(?:with|using|uses?|based on|from|by)(?: an?| the| one| my)?|用|采用|基于|选|换成)\s*$",
    re.IGNORECASE,
)
"""In front of a part that the circuit is to be built with."""
_OTHER_CHANNEL = {"mosfet": "pmosfet", "pmosfet": "mosfet"}


def part_choice(kind: str) -> Choice:
    """The row of a family's choices that lets a sentence name a part of a kind.

    Its name is the kind, and so is that of its first option: no part is named, the family uses its own.
    """
    of = KINDS[kind]
    return Choice(
        name=kind,
        label=of.label,
        is_told=False,
        options=(
            Option(key=kind, label=of.generic, words="(?!)"),
            *(Option(key=name, label=msg("{text}", text=name), words=_written(name)) for name in of.names),
        ),
    )


def judge_parts(family: Family, sentence: Sentence) -> list[Message]:
    """What has to be told of named parts. Raises CircuitError for one to be used that the library lacks, or
    of the other channel than the circuit's."""
    has = {choice.name for choice in family.choices}
    notes = []
    for key, kind in KINDS.items():
        for found in in_any_case(_number_of(kind.numbers)).finditer(sentence.text):
            name = next((each for each in kind.names if in_any_case(_written(each)).match(found[0])), None)
            if key not in has and _OTHER_CHANNEL.get(key) in has:
                other = KINDS[_OTHER_CHANNEL[key]]
                raise CircuitError(
                    msg(
                        "{part} has the wrong type ({kind}); this circuit needs: {other}.",
                        part=found[0].upper(), kind=kind.label, other=other.label,
                    ),
                    advice=_instead(other),
                    error_type="unknown_circuit",
                )  # fmt: skip
            if key not in has:
                notes.append(
                    msg("This circuit has no use for {part}; it was not used.", part=found[0].upper())
                )
            elif name is None and _TO_BE_USED.search(sentence.text, 0, found.start()):
                raise CircuitError(kind.lacks, advice=_instead(kind), error_type="unknown_circuit")
            elif name is None:
                notes.append(
                    msg("The model library does not have {part}; it was not used.", part=found[0].upper())
                )
            elif name in _ALSO and not in_any_case(_called(name)).match(found[0]):
                notes.append(
                    msg(
                        "{part} is taken as {name}, which has the same figures.",
                        part=found[0].upper(),
                        name=name,
                    )
                )
    return notes


def _instead(kind: Kind) -> Message:
    return msg(
        "Name one it has ({names}), or none: what the circuit needs is then assumed.",
        names=", ".join(kind.names),
    )


def _number_of(numbers: str) -> str:
    return rf"(?<![a-z0-9])(?:{numbers})[a-z]{{0,3}}(?![a-z0-9])"


def _written(name: str) -> str:
    """A part's number as people write it: "TL-072", "1N 5819", "OPA 2134", "LM358N", "IRF540", "uA741"."""
    return rf"(?<![a-z0-9])(?:{'|'.join((_called(name), *_ALSO.get(name, ())))})(?![a-z0-9])"


def _called(name: str) -> str:
    made = re.match(r"\d?[A-Z]+", name)
    letters = made[0] if made else ""
    return rf"{letters}[\s-]?{name[len(letters) :].rstrip('N')}[a-z]{{0,3}}"
