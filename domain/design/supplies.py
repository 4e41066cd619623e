"""The supplies of op-amp circuits: two about ground, or a single one and a mid-rail that signals are about.

On a single supply the signal ground is half of it: a divider with a capacitor where nothing but an op-amp's
input hangs on it, the same divider behind a follower where signal or bias currents flow into it.
Sources: Texas Instruments, "Op Amps for Everyone", SLOD006B, chapter 4 and appendix A; Analog Devices,
AN-581, "Biasing and Decoupling Op Amps in Single Supply Applications".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from domain.circuit.figures import with_unit
from domain.design.deck import Deck, spice
from domain.design.engine.declaration import Choice, Option, Request
from domain.design.engine.op_amps import OP_AMPS, RAIL_TO_RAIL, OpAmpPart
from domain.design.engine.wording import assumed
from domain.design.understanding import impossible
from shared.message import Message, msg

Reference = Literal["divider", "buffer", "none"]
"""What makes the signal ground on a single supply; none where ground serves."""

SINGLE, DUAL = "single", "dual"
_DUAL_V = 15.0
_SINGLE_V = 5.0
_MOST_BARE_SINGLE_V = 5.5
"""Up to it a supply without a sign is a single one: that of logic, USB and the parts made for it."""
_MOST_DUAL_V = 18.0
"""Above it no usual op-amp bears the double, so a supply without a sign is a single one again."""
_LEAST_ROOM = 0.1
"""Of the supply: with less to either side of the mid-rail there is no use in it."""
_SHARE_OF_ROOM = 2.0
_DIVIDER_OHM, _DIVIDER_FARAD = 100e3, 10e-6

_VOLTS = r"\+?[\d.]+\s?(?:v(?:olts?|dc)?(?![a-z])|伏)"
_SINGLE = (
    r"single[\s-](?:power |voltage )?(?:suppl|rail|sided)|one suppl|unipolar suppl|单[一路]?(?:电源|供电)|"
    rf"single(?=,? {_VOLTS})|{_VOLTS} single(?![\s-](?:ended|pole|stage|order))|单(?=\s?{_VOLTS})|"
    rf"{_VOLTS}(?: suppl(?:y|ies))? only(?![a-z])|only (?:an? |have )*{_VOLTS}|只[有用]\s?{_VOLTS}|"
    r"(?:no|without an?y?) negative (?:suppl|rail)|[没无]有?负(?:电源|压)|"
    r"(?<!two )(?<!dual )(?<!split )(?<!two \dv )(?<!2 \dv )batter(?:y|ies)|"
    r"coin cell|(?<![a-z])usb(?![a-z])|(?<!双)电池"
)


def _suggested(request: Request) -> str | None:
    """What a supply that nobody called single or dual is; None: nothing was said of supplies at all."""
    part, volts = OP_AMPS.get(request["opamp"]), request["supply_v"]
    is_low = part is not None and part.supplies_v[1] < 2 * _SINGLE_V
    if volts is None:
        return SINGLE if is_low else None
    if any((request.get(name) or 0.0) < 0 for name in ("upper_v", "lower_v")):
        return DUAL
    if volts <= _MOST_BARE_SINGLE_V or is_low:
        return SINGLE
    return DUAL if volts <= _MOST_DUAL_V else SINGLE


RAILS = Choice(
    name="rails",
    label=msg("kind of supply"),
    options=(
        Option(
            key=DUAL,
            label=msg("two supplies (“single supply” asks for one)"),
            told=msg("two supplies"),
            words=(
                rf"(?:suppl\w+|rails?|电源|供电)(?: of|为|:)?\s?±\s?{_VOLTS}|"
                rf"^(?!.*(?:{_SINGLE})).*(?:±\s?{_VOLTS}|\+\s?[\d.]+\s?v?\s?(?:/|,|and|和|、)?\s?-\s?[\d.]+|"
                r"(?:dual|split|symmetric\w*|bipolar|two|both)[\s-](?:power )?(?:suppl|rail|batter)|"
                rf"双电源|正负双?电源|对称电源|(?:dual|split)(?=,? {_VOLTS}))"
            ),
        ),
        Option(
            key=SINGLE,
            label=msg("a single supply (“±” asks for two)"),
            told=msg("a single supply"),
            words=_SINGLE,
        ),
    ),
    default=_suggested,
)
"""Whether the one voltage of the supply stands on either side of ground, or above it alone."""


def default_supply_v(request: Request) -> float:
    """±15 V or 5 V, as far as the op-amp that was named takes it."""
    part = OP_AMPS.get(request.get("opamp", ""))
    least, most = part.supplies_v if part else (0.0, 2 * _DUAL_V)
    if request.get("rails") == SINGLE:
        return _SINGLE_V if least <= _SINGLE_V else 12.0
    return min(_DUAL_V, most / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rails:
    """What a netlist hangs its parts on."""

    is_single: bool
    supply_v: float
    """Of each of two supplies, or of the one."""
    low: str
    """Node of the op-amp's lower supply."""
    ground: str
    """Node that signals are about."""
    middle_v: float
    """Voltage of that node."""
    lowest_v: float
    highest_v: float
    """Between these an output may stand."""

    @property
    def op_amp_at_ground(self) -> Message:
        """The role of an op-amp whose non-inverting input is at the signal ground."""
        if self.ground == "0":
            return msg("op-amp, its non-inverting input grounded")
        return msg("op-amp, its non-inverting input at the mid-rail")

    @property
    def room_v(self) -> float:
        """How far an output may go from the middle to either side."""
        return min(self.middle_v - self.lowest_v, self.highest_v - self.middle_v)


def is_single(request: Request) -> bool:
    return request.get("rails") == SINGLE


def ground_of(request: Request) -> str:
    """Node that signals are about, where a single supply has a mid-rail."""
    return "ref" if is_single(request) else "0"


def limits(request: Request) -> OpAmpPart:
    """Of the op-amp that was named, else of the macro model on a single supply."""
    return OP_AMPS.get(request["opamp"], RAIL_TO_RAIL)


def rails_of(request: Request, reference: Reference) -> Rails:
    """The rails of a circuit whose signal ground is `reference` on a single supply."""
    supply = request["supply_v"]
    part = limits(request)
    if not is_single(request):
        low, high = (part.output_low_v, part.output_high_v) if request["opamp"] in OP_AMPS else (1.3, 1.3)
        return Rails(
            is_single=False, supply_v=supply, low="vee", ground="0", middle_v=0.0,
            lowest_v=low - supply, highest_v=supply - high,
        )  # fmt: skip
    return Rails(
        is_single=True, supply_v=supply, low="0", ground="0" if reference == "none" else "ref",
        middle_v=supply / 2, lowest_v=part.output_low_v, highest_v=supply - part.output_high_v,
    )  # fmt: skip


def amplitude_v(request: Request, gain: float, share: float = 0.4, most: float = 1.0) -> float:
    """Of a test signal that stays inside the output swing behind a gain: a share of a supply of two, in two
    digits."""
    swing = float(request["supply_v"])
    if is_single(request):
        swing = _SHARE_OF_ROOM * rails_of(request, "divider").room_v
    return min(most, _rounded_down(share * swing / gain))


def _rounded_down(value: float) -> float:
    digit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.floor(value / digit + 1e-9) * digit


def write_rails(deck: Deck, request: Request, reference: Reference) -> Rails:
    """The supplies, nodes `vcc` and `vee` or ground, and on a single one the mid-rail, node `ref`."""
    rails = rails_of(request, reference)
    if not rails.is_single:
        deck.part(f"Vcc vcc 0 DC {spice(rails.supply_v)}", msg("positive supply"))
        deck.part(f"Vee vee 0 DC {spice(-rails.supply_v)}", msg("negative supply"))
        return rails
    deck.part(f"Vcc vcc 0 DC {spice(rails.supply_v)}", msg("the only supply"))
    if reference != "none":
        node = "ref" if reference == "divider" else "mid"
        deck.part(f"Rm1 vcc {node} {spice(_DIVIDER_OHM)}", msg("mid-rail: half of the supply"))
        deck.part(f"Rm2 {node} 0 {spice(_DIVIDER_OHM)}", msg("mid-rail: half of the supply"))
        deck.part(
            f"Cm {node} 0 {spice(_DIVIDER_FARAD)}", msg("keeps noise of the supply out of the mid-rail")
        )
    if reference == "buffer":
        deck.part(f"Xm mid ref vcc 0 ref {request['opamp']}", msg("follower: the mid-rail carries current"))
    return rails


def write_start(deck: Deck, request: Request) -> None:
    """Where the search for the operating point begins: with op-amps of the library it may lose itself."""
    outputs = deck.outputs("X")
    if is_single(request) and request["opamp"] in OP_AMPS and deck.outputs("Rm1"):
        levels = " ".join(f"v({node})={spice(request['supply_v'] / 2)}" for node in dict.fromkeys(outputs))
        deck.cards(f".nodeset {levels}")


def judged(reference: Reference | Callable[[Request], Reference]) -> Callable[[Request], tuple[Message, ...]]:
    """What is told of the supplies of a circuit with this signal ground; it refuses what they cannot do."""

    def judge(request: Request) -> tuple[Message, ...]:
        _refuse_supply(request)
        if not is_single(request):
            if request.states("supply_v"):
                return ()
            return (assumed(msg("supply (±)"), with_unit(request["supply_v"], "V")),)
        made = reference(request) if callable(reference) else reference
        rails = rails_of(request, made)
        told = {name: with_unit(value, "V", 3) for name, value in (
            ("supply", rails.supply_v), ("middle", rails.middle_v), ("lowest", rails.lowest_v),
            ("highest", rails.highest_v))}  # fmt: skip
        if made == "none":
            return (msg("Single supply of {supply}: the output swings from {lowest} to {highest}.", **told),)
        _refuse_without_room(request, rails)
        if made == "divider":
            return (
                msg(
                    "Single supply of {supply}: signals are about a mid-rail of {middle} from a divider; the "
                    "output may swing from {lowest} to {highest}.",
                    **told,
                ),
            )
        return (
            msg(
                "Single supply of {supply}: signals are about a mid-rail of {middle} from a buffered "
                "divider; the output may swing from {lowest} to {highest}.",
                **told,
            ),
        )

    return judge


def _refuse_supply(request: Request) -> None:
    part = OP_AMPS.get(request["opamp"])
    across = request["supply_v"] * (1 if is_single(request) else 2)
    if part is None or part.supplies_v[0] <= across <= part.supplies_v[1]:
        return
    least, most = part.supplies_v
    raise impossible(
        msg(
            "The {part} takes {least} to {most} between its supply pins, not {across}.",
            part=request["opamp"], least=with_unit(least, "V"), most=with_unit(most, "V"),
            across=with_unit(across, "V"),
        ),
        msg("Choose a supply in that range, or another op-amp: {names}.", names=_taking(across)),
    )  # fmt: skip


def _refuse_without_room(request: Request, rails: Rails) -> None:
    part = limits(request)
    has_room = rails.room_v >= _LEAST_ROOM * rails.supply_v
    if has_room and part.input_low_v <= rails.middle_v <= rails.supply_v - part.input_high_v:
        return
    raise impossible(
        msg(
            "On a single supply of {supply} the {part} leaves the output {lowest} to {highest} and the "
            "inputs {from} to {to}: too little about a mid-rail of {middle}.",
            supply=with_unit(rails.supply_v, "V"), part=request["opamp"],
            lowest=with_unit(rails.lowest_v, "V", 3), highest=with_unit(rails.highest_v, "V", 3),
            middle=with_unit(rails.middle_v, "V"),
            **{"from": with_unit(part.input_low_v, "V", 3),
               "to": with_unit(rails.supply_v - part.input_high_v, "V", 3)},
        ),
        msg("Raise the supply, or name a rail-to-rail op-amp: {names}.",
            names=_taking(rails.supply_v, near=0.1)),
    )  # fmt: skip


def _taking(across_v: float, near: float = 50.0) -> str:
    """The op-amps of the library that take a supply and come so near to it with their output."""
    return ", ".join(
        name
        for name, part in OP_AMPS.items()
        if part.supplies_v[0] <= across_v <= part.supplies_v[1]
        and max(part.output_low_v, part.output_high_v) <= near
    ) or str(msg("none of the library"))
