"""What a circuit family declares: its words, what may be asked, what is measured, how it is sized and drawn.

A family is one `Family`: rows of data, `size` with its published equations, and `netlist`. How a sentence is
read is in `reading`, what is done with the rows in `declared_family`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from domain.circuit.figures import with_unit
from domain.design.deck import Deck
from domain.design.sentence import Dimension, Sentence
from domain.design.understanding import Slot
from domain.simulation.goals import DesignGoal
from shared.message import Message, msg

STATED = "stated"
"""Parameter that lists the names of what the sentence said."""

DERIVED = "derived"
"""Parameter that lists the names of what followed from the rest: it follows changes too."""


SERIES, SERIES_FOR_ALL = "series", "series_for_all"
"""Parameters: the E-series that resistors are chosen from, and whether capacitors and inductors are too."""

LOAD = "added_load_ohm"
"""Parameter: a resistor at the output of a circuit whose design equations know no load."""


class Request(Mapping[str, Any]):
    """What was asked, by the names of quantities and choices; a quantity nobody asked for is None."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = dict(parameters)

    def __getitem__(self, name: str) -> Any:
        """A quantity in SI units, or the key of a choice."""
        return self._parameters[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def states(self, name: str) -> bool:
        """Whether the sentence said it; False for a default."""
        return name in self._parameters.get(STATED, ())

    def having(self, **changed: Any) -> Request:
        return Request({**self._parameters, **changed})

    def parameters(self) -> dict[str, Any]:
        return dict(self._parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """By which words a sentence means a family (regular expressions, whatever the letter case)."""

    named: str
    """Nothing else is called so."""
    plain: str = "(?!)"
    """Not its name, but with these it is what is usual; that is said then."""
    plausible: str = "(?!)"
    """Other words that let one think of it; that is said then."""
    excludes: str = "(?!)"
    """With these it is another circuit."""
    refuses: tuple[tuple[str, Message, Message], ...] = ()
    """(words, what cannot be designed, what to ask for instead)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity(Slot):
    """A number that may be asked for; its name is the key in the parameters, with its SI unit."""

    label: Message
    within: tuple[float, float]
    """Least and greatest value that can be designed."""
    example: float
    """Stands in examples, and for what is usual."""
    default: float | Callable[[Request], float | None] | None = None
    is_told: bool = True
    """Whether a default is told to the user."""
    is_whole: bool = False
    is_span: bool = False
    """Of a range the distance of its ends is meant: an output from 0 to 3 V swings 3 V."""
    is_peak: bool = False
    """Of a value from peak to peak half is meant: an amplitude of 2 Vpp is 1 V."""
    has_sign: bool = True
    """False: a minus is left out, the sign is the circuit's own."""
    ratio: tuple[Dimension, Dimension] | None = None
    """Units of two quantities whose quotient says it, the input's first: "20 mV should become 4 V"."""
    limit: str = ""
    """``at_least`` or ``at_most`` when it is only that: the other bound is refused."""

    def text(self, value: float, digits: int = 4) -> str:
        if "deg" in self.dimensions:
            return f"{value:.{digits}g}°"
        unit = next(each for each in self.dimensions if len(self.dimensions) == 1 or each != "dB")
        if unit == "%":
            return f"{100 * value:.{max(digits, 6)}g} %"
        if unit in ("x", "none"):
            return f"{value:.{digits}g}"
        return with_unit(value, "Ω" if unit == "Ohm" else unit, digits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One of the ways a circuit can be built."""

    key: str
    label: Message
    words: str
    told: Message | None = None
    """All that is told where it was asked for, without the words that ask for another; None: its label."""
    elsewhere: str = ""
    """Words that ask for it at a place of which the choice says nothing: of a design that is there, such a
    demand is none that is understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is chosen by words, not by a number. The first option is the default."""

    name: str
    label: Message
    options: tuple[Option, ...]
    is_told: bool = True
    default: Callable[[Request], str | None] | None = None
    """Key of the option that what was said suggests; None: the first, and it makes no difference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What a measured value must keep."""

    minimum: float | None = None
    maximum: float | None = None
    target: float | None = None


def around(target: float, tolerance: float) -> Bounds:
    """Within a relative tolerance on either side; `target` may be negative."""
    low, high = sorted((target * (1 - tolerance), target * (1 + tolerance)))
    return Bounds(minimum=low, maximum=high, target=target)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalRow:
    """Something measured on the result."""

    metric: str
    label: Message
    """What it is called beside its figure."""
    unit: str
    expression: str | Callable[[Request], str]
    """In the expression language, from what was asked."""
    bounds: Callable[[Request], Bounds] | None = None
    """None: the limit that `quantity` is, or around it by the tolerance."""
    quantity: str = ""
    """What it bounds: stated with it, changed with it, and with `is_corrected` aimed at differently."""
    is_corrected: bool = True
    """Whether a miss may be corrected by aiming `quantity` elsewhere."""
    helped_by: str = ""
    """A name in the correction whose growth helps when that cannot be done (a faster op-amp)."""
    when: Callable[[Request], bool] | None = None
    """None: always; without `bounds`, unless there is no value of `quantity`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What `size` found."""

    parts: Mapping[str, float]
    """Element values by name, SI units."""
    figures: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Other numbers `netlist` needs, such as the op-amp's gain-bandwidth product."""
    notes: tuple[Message, ...] = ()


Correction = Mapping[str, float]
"""By quantity: what to multiply the aim by, learnt from measurements (1 at the first shot)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a sentence says, before defaults."""

    values: Mapping[str, Any]
    stated: frozenset[str] = frozenset()
    notes: tuple[Message, ...] = ()


def nothing_follows(request: Request) -> Said:
    """The `complete` of a family whose quantities stand for themselves."""
    del request
    return Said(values={})


def nothing_to_tell(request: Request) -> tuple[Message, ...]:
    """The `judge` of a family whose quantities say all by themselves."""
    del request
    return ()


def as_stored(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The `restore` of a family whose parameters were never other ones."""
    return parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The data of a circuit family and its two functions."""

    key: str
    name: Message
    """In the plural, for the list of what can be designed."""
    one: Message
    """In the singular, in a sentence: ``an inverting amplifier``."""
    examples: Mapping[str, str]
    words: Words
    quantities: tuple[Quantity, ...]
    choices: tuple[Choice, ...] = ()
    goals: tuple[GoalRow, ...]
    title: str | Callable[[Request], str]
    """First line of the netlist, ASCII; the name of its file is made of it. A text names quantities, with
    their unit and its digits: ``{gain:.4g}``, ``{frequency_hz:Hz}``, ``{power_w:W3}``."""
    remarks: Sequence[Message] | Callable[[Request], Sequence[Message]]
    """The design equations, as comments."""
    analyses: Callable[[Request, Sized, Sequence[DesignGoal]], Sequence[str]]
    """Cards that reach every frequency and time the goals measure at."""
    size: Callable[[Request, Correction], Sized]
    """Preferred values by the published equations. Raises CircuitError (`wording.unreachable`)."""
    netlist: Callable[[Deck, Request, Sized], None]
    transistors: tuple[str, ...] = ()
    """Channels (``nmos``, ``pmos``) of the MOSFETs that a named model card may stand for."""
    output: str = "out"
    """Node at which a load hangs that the equations know nothing of; "" where there is none."""
    has_load: bool = False
    """Whether its netlist has a load there anyway, and takes the one that is asked for."""
    claims: Callable[[Sentence], float] | None = None
    """How surely a sentence means it (0 to 1), when `words` cannot tell (the order of a filter)."""
    says: Callable[[Sentence], Said] | None = None
    """Reads what is worded in ways no slot knows (the order of a filter)."""
    complete: Callable[[Request], Said] = nothing_follows
    """What follows from what was said (an order from an attenuation). Raises CircuitError."""
    judge: Callable[[Request], tuple[Message, ...]] = nothing_to_tell
    """What has to be told of a complete request (the supplies of op-amps). Raises CircuitError for what
    cannot be."""
    restore: Callable[[Mapping[str, Any]], Mapping[str, Any]] = as_stored
    """The parameters of a design that was stored by an earlier version."""
    factors: Callable[[Request, Mapping[str, Any]], Mapping[str, float]] | None = None
    """The correction of a proposal that was stored by an earlier version, from its tuning."""


TOLERANCE = Quantity(
    name="tolerance",
    label=msg("tolerance"),
    dimensions=("%",),
    words=r"tolerance|toleranz|accura\w*|error|误差|偏差|容差|精度|公差|允差",
    before=r"±|\+/?-|正负|within|以内",
    takes_rest=True,
    within=(1e-4, 0.9),
    example=0.05,
    default=0.05,
)
"""Allowed relative deviation of what is asked around a value."""
