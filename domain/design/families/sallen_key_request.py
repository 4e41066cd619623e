"""What a Sallen-Key filter must do, read from a sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.circuit.preferred_values import SeriesName, with_unit
from domain.design.families.filter_requests import (
    COMMON_SLOTS,
    PASS_BAND_LOSS,
    PEAKING,
    FilterKind,
    FilterRequest,
    order_of,
    read_filter,
)
from domain.design.prototypes import Response, attenuation_db, frequency_of, prototype, ripple_edge
from domain.design.sentence import Sentence
from domain.design.understanding import Filled, Slot, impossible, left_out, missing_goal
from shared.errors import CircuitError
from shared.message import Message, msg

HIGHEST_ORDER = 10
DEFAULT_RIPPLE_DB = 0.5
DEFAULT_SUPPLY_V = 15.0
_RIPPLE_MARGIN = 0.9
"""Chebyshev filters are sized for this part of the allowed ripple, so that real parts keep it."""
_ATTENUATION_MARGIN_DB = 0.2
_LOSS_MARGIN = 0.93
"""A pass-band loss is sized for this part of what is allowed."""

_SLOTS = (
    *COMMON_SLOTS,
    Slot(
        name="ripple_db",
        dimensions=("dB",),
        words=r"ripple|纹波|波纹|波动|起伏|cheb\w*|切比雪夫|契比雪夫",
        takes_bare=False,
    ),
    Slot(
        name="gain",
        dimensions=("x", "dB"),
        words=r"(?<![a-z])gain|增益|放大倍数|放大|(?<![a-z])[ak]v?(?=\s*=)",
        takes_rest=False,
    ),
    Slot(name="q", dimensions=(), words=r"(?<![a-z])q(?:\s*值|\s*factor)?(?![a-z])|quality factor|品质因数"),
    Slot(name="damping", dimensions=(), words=r"damping(?: ratio| factor)?|阻尼(?:比|系数)|ζ"),
    PASS_BAND_LOSS,
    PEAKING,
    Slot(
        name="gbw",
        dimensions=("Hz",),
        words=(
            r"gbw?p?(?![a-z])|gain[\s-]?bandwidth(?: product)?|增益带宽积?|"
            r"unity[\s-]gain (?:bandwidth|frequency)"
        ),
    ),
    Slot(
        name="supply",
        dimensions=("V",),
        words=r"suppl\w+|power(?:ed)?|rails?|供电|电源|vcc|vdd",
        before=r"±|\+/?-|正负",
        takes_rest=True,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SallenKeyRequirement:
    """What the filter must do. SI units; plain JSON types."""

    kind: FilterKind
    response: Response
    order: int
    cutoff_hz: float
    """The -3 dB frequency aimed at (with `q`: the natural frequency)."""
    wanted_hz: float
    """The -3 dB frequency (with `q`: the natural frequency) asked for; `cutoff_hz` may differ from it
    inside the tolerance."""
    stated_hz: float | None
    """The frequency in the words of the user (a ripple edge differs from `wanted_hz`)."""
    is_ripple_edge: bool
    tolerance: float
    ripple_db: float
    """Allowed pass-band ripple (Chebyshev), else 0."""
    ripple_is_stated: bool
    gain: float
    gain_is_stated: bool
    q: float | None
    loss_db: float | None
    """Allowed loss at `stated_hz`, the end of the pass band (not Chebyshev)."""
    attenuation_db: float | None
    attenuation_hz: float | None
    gbw_hz: float | None
    supply_v: float
    resistor_series: SeriesName
    peaking_db: float | None = None
    """Allowed peak above the pass-band level (not Chebyshev); None when nothing was said of it."""

    @property
    def design_ripple_db(self) -> float:
        """The ripple the prototype is made for."""
        return self.ripple_db * _RIPPLE_MARGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassBand:
    """What the pass band looks like and how its end is meant."""

    response: Response
    ripple_db: float
    loss_db: float | None
    is_ripple_edge: bool


def read_sallen_key(sentence: Sentence) -> tuple[SallenKeyRequirement, list[Message], tuple[Message, ...]]:
    """Requirement, assumptions, and remarks about numbers that were not used. Raises CircuitError."""
    if sentence.has(r"single[\s-]supply|单电源|single [\d.+ ]*v"):
        raise CircuitError(
            msg(
                "Filters on a single supply are not known yet; the op-amps get a positive and a negative "
                "supply."
            ),
            advice=msg("Ask for a symmetrical supply, for example ±5 V."),
            error_type="unknown_circuit",
        )
    request, filled = read_filter(sentence, _SLOTS)
    notes = list(request.assumptions)
    response = _response(sentence, notes)
    ripple_db = _ripple(filled, response, notes)
    q = filled.value("q")
    damping = filled.value("damping")
    if q is None and damping is not None and damping > 0:
        q = 1 / (2 * damping)
    loss_db = abs(filled.value("loss_db") or 0.0) or None
    if loss_db is not None and response != "chebyshev" and request.cutoff_hz is None:
        raise missing_goal(
            msg("A pass-band loss is allowed, but the end of the pass band is not said."),
            msg("Add it, for example: pass band up to 1 kHz."),
        )
    band = _PassBand(
        response=response,
        ripple_db=ripple_db,
        loss_db=loss_db,
        is_ripple_edge=_says_ripple_edge(sentence, request, loss_db),
    )
    order = _order(sentence, request, band, q, notes)
    stated_hz = request.cutoff_hz
    if stated_hz is None:
        stated_hz = _cutoff_from_attenuation(request, response, order, ripple_db, notes)
    is_edge = response == "chebyshev" and order > 1 and band.is_ripple_edge
    wanted_hz = _half_power_hz(band, request, order, stated_hz)
    if response == "chebyshev" and not is_edge and not request.says_minus_3_db:
        notes.append(msg("The cut-off is taken as the -3 dB frequency, not as the end of the ripple band."))
    if not request.tolerance_is_stated:
        notes.append(
            msg(
                "No tolerance was said: the cut-off may be off by {percent} %.",
                percent=f"{100 * request.tolerance:g}",
            )
        )
    if q is not None:
        notes.append(msg("With a Q given, the frequency is the natural frequency f0, where the gain is Q."))
    gain, gain_is_stated = _gain(filled)
    supply_v = abs(filled.value("supply") or DEFAULT_SUPPLY_V)
    _check_ranges(order, supply_v, filled.value("gbw"))
    requirement = SallenKeyRequirement(
        kind=request.kind,
        response=response,
        order=order,
        cutoff_hz=_aim(request, response, order, ripple_db, wanted_hz) if q is None else wanted_hz,
        wanted_hz=wanted_hz,
        stated_hz=stated_hz,
        is_ripple_edge=is_edge,
        tolerance=request.tolerance,
        ripple_db=ripple_db,
        ripple_is_stated=bool({"ripple_db", "peaking_db"} & set(filled.values)),
        gain=gain,
        gain_is_stated=gain_is_stated,
        q=q,
        loss_db=None if response == "chebyshev" else loss_db,
        attenuation_db=request.attenuation_db,
        attenuation_hz=request.attenuation_hz,
        gbw_hz=filled.value("gbw"),
        supply_v=supply_v,
        resistor_series=request.resistor_series,
        peaking_db=_peaking(filled, response),
    )
    return requirement, notes, left_out(filled.unused)


def _response(sentence: Sentence, notes: list[Message]) -> Response:
    words: tuple[tuple[Response, str], ...] = (
        ("chebyshev", r"cheb[iy]|tscheby|切比雪夫|契比雪夫"),
        ("bessel", r"bessel|贝塞尔|贝赛尔|(?:linear|maximally flat) (?:phase|delay)|线性相位"),
        ("butterworth", r"butterworth|巴特沃|maximally flat|最大?平坦"),
    )
    found = [response for response, pattern in words if sentence.has(pattern)]
    if {"butterworth", "bessel"} <= set(found) and not sentence.has(r"butterworth|巴特沃"):
        found.remove("butterworth")
    if len(found) > 1:
        raise impossible(
            msg("The request names more than one filter response."),
            msg("Name one of Butterworth, Chebyshev and Bessel."),
        )
    if found:
        return found[0]
    if sentence.has(r"(?:(?<!no )ripple|纹波|波纹).{0,12}d\s?b|d\s?b.{0,12}(?:ripple|纹波|波纹)"):
        notes.append(msg("A pass-band ripple was given: a Chebyshev response is designed."))
        return "chebyshev"
    if not sentence.has(r"(?<![a-z])q(?![a-z])|品质因数"):
        notes.append(msg("No response was said: Butterworth is designed."))
    return "butterworth"


def _ripple(filled: Filled, response: Response, notes: list[Message]) -> float:
    ripple = filled.value("ripple_db") or filled.value("peaking_db") or filled.value("loss_db")
    if response != "chebyshev":
        return 0.0
    if ripple is None:
        notes.append(msg("No ripple was said: {ripple} dB is allowed.", ripple=f"{DEFAULT_RIPPLE_DB:g}"))
        return DEFAULT_RIPPLE_DB
    ripple = abs(ripple)
    if not 0.01 <= ripple <= 3.02:
        raise impossible(
            msg("A Chebyshev ripple of {ripple} dB is not possible here.", ripple=f"{ripple:g}"),
            msg("Give a ripple between 0.01 and 3 dB, for example 0.5 dB."),
        )
    return min(ripple, 3.0)


def _peaking(filled: Filled, response: Response) -> float | None:
    """A response without ripple is held to a ripple that was said by its peak."""
    if response == "chebyshev":
        return None
    peaking = filled.value("peaking_db")
    return filled.value("ripple_db") if peaking is None else peaking


def _order(
    sentence: Sentence,
    request: FilterRequest,
    band: _PassBand,
    q: float | None,
    notes: list[Message],
) -> int:
    order = order_of(sentence)
    if order is not None and not 1 <= order <= HIGHEST_ORDER:
        raise impossible(
            msg("A Sallen-Key filter of order {order} is not designed.", order=order),
            msg("Ask for an order from 1 to {highest}.", highest=HIGHEST_ORDER),
        )
    if q is not None:
        return _order_with_q(order, q)
    if request.attenuation_db is None or request.attenuation_hz is None or request.cutoff_hz is None:
        if order is None:
            notes.append(msg("No order was said: order 2 is designed."))
        return order or 2
    needed = _least_order(request, band)
    if order is None and needed is not None:
        notes.append(msg("Order {order} is the lowest that keeps the attenuation.", order=needed))
        return needed
    if order is None:
        raise impossible(
            msg(
                "{decibels} dB at {frequency} would need an order above {highest}.",
                decibels=f"{request.attenuation_db:g}",
                frequency=with_unit(request.attenuation_hz, "Hz"),
                highest=HIGHEST_ORDER,
            ),
            msg(
                "Move the stop-band frequency away from the cut-off, ask for less attenuation, or take "
                "Chebyshev."
            ),
        )
    return order


def _least_order(request: FilterRequest, band: _PassBand) -> int | None:
    """The smallest order that keeps the attenuation, with the help of half the tolerance of the cut-off
    (of none of it when the cut-off follows from a pass-band loss)."""
    room = 0.0 if band.loss_db is not None else 0.5 * request.tolerance
    assert request.cutoff_hz is not None
    assert request.attenuation_hz is not None
    assert request.attenuation_db is not None
    for order in range(1, HIGHEST_ORDER + 1):
        cutoff = _half_power_hz(band, request, order, request.cutoff_hz)
        ratio = (
            request.attenuation_hz / cutoff if request.kind == "lowpass" else cutoff / request.attenuation_hz
        )
        reached = attenuation_db(
            prototype(band.response, order, band.ripple_db * _RIPPLE_MARGIN), ratio * (1 + room)
        )
        if reached >= request.attenuation_db + _ATTENUATION_MARGIN_DB:
            return order
    return None


def _half_power_hz(band: _PassBand, request: FilterRequest, order: int, stated_hz: float) -> float:
    """The -3 dB frequency behind the stated one, which may be the end of the pass band."""
    if band.response == "chebyshev" and order > 1 and band.is_ripple_edge:
        edge = ripple_edge(order, band.ripple_db)
    elif band.response != "chebyshev" and band.loss_db is not None:
        edge = frequency_of(prototype(band.response, order), band.loss_db * _LOSS_MARGIN)
    else:
        return stated_hz
    return stated_hz / edge if request.kind == "lowpass" else stated_hz * edge


def _order_with_q(order: int | None, q: float) -> int:
    if order not in (None, 2):
        raise impossible(
            msg("A Q can be given for order 2 only, not for order {order}.", order=order),
            msg("Leave out the Q and name a response (Butterworth, Chebyshev, Bessel), or ask for order 2."),
        )
    if not 0.5 < q <= 20:
        raise impossible(
            msg("A Sallen-Key stage with Q = {q} is not designed.", q=f"{q:g}"),
            msg("Give a Q above 0.5 and up to 20, for example 0.707."),
        )
    return 2


def _relative(kind: FilterKind, frequency: float, cutoff: float) -> float:
    return frequency / cutoff if kind == "lowpass" else cutoff / frequency


def _cutoff_from_attenuation(
    request: FilterRequest, response: Response, order: int, ripple_db: float, notes: list[Message]
) -> float:
    """The cut-off that just keeps the attenuation, when only that was said."""
    if request.attenuation_db is None or request.attenuation_hz is None:
        raise missing_goal(
            msg("The request does not say the cut-off frequency."),
            msg("Add it, for example: cut-off 1 kHz."),
        )
    limit = _attenuating_limit(request, response, order, ripple_db)
    room = 1 + request.tolerance
    cutoff = limit / room if request.kind == "lowpass" else limit * room
    notes.append(
        msg("The cut-off was not said: {frequency} keeps the other goals.", frequency=with_unit(cutoff, "Hz"))
    )
    return cutoff


def _attenuating_limit(request: FilterRequest, response: Response, order: int, ripple_db: float) -> float:
    """The cut-off beyond which the stop-band attenuation is lost (Hz), by bisection."""
    assert request.attenuation_db is not None
    assert request.attenuation_hz is not None
    sections = prototype(response, order, ripple_db * _RIPPLE_MARGIN)
    low, high = 1e-3, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        is_enough = attenuation_db(sections, middle) >= request.attenuation_db + _ATTENUATION_MARGIN_DB
        low, high = (low, middle) if is_enough else (middle, high)
    return request.attenuation_hz / high if request.kind == "lowpass" else request.attenuation_hz * high


def _aim(request: FilterRequest, response: Response, order: int, ripple_db: float, wanted_hz: float) -> float:
    """The wanted cut-off, moved inside the tolerance where the attenuation needs it."""
    if request.attenuation_db is None:
        return wanted_hz
    limit = _attenuating_limit(request, response, order, ripple_db)
    reach = 0.8 * request.tolerance
    if request.kind == "lowpass":
        aim, is_kept = min(wanted_hz, limit), limit >= wanted_hz * (1 - reach)
    else:
        aim, is_kept = max(wanted_hz, limit), limit <= wanted_hz * (1 + reach)
    if is_kept:
        return aim
    sections = prototype(response, order, ripple_db * _RIPPLE_MARGIN)
    reached = attenuation_db(sections, _relative(request.kind, request.attenuation_hz or 1.0, wanted_hz))
    raise impossible(
        msg(
            "Order {order} gives {reached} dB at {frequency}, not {decibels} dB.",
            order=order,
            reached=f"{reached:.1f}",
            frequency=with_unit(request.attenuation_hz or 0.0, "Hz"),
            decibels=f"{request.attenuation_db:g}",
        ),
        msg("Leave the order open so that it is chosen, raise it, or move the frequencies apart."),
    )


def _says_ripple_edge(sentence: Sentence, request: FilterRequest, loss_db: float | None) -> bool:
    return not request.says_minus_3_db and (
        loss_db is not None
        or sentence.has(
            r"ripple (?:edge|band\s?width|band)|pass[\s-]?band (?:edge|"
            r"frequency|up to|to|from|(?:is |of )?\d)|通带(?:为|是|范围)?(?:边缘|频率|截止|\s*\d)|"
            r"纹波(?:带宽|边缘)|等纹波"
        )
    )


def _gain(filled: Filled) -> tuple[float, bool]:
    mention = filled.values.get("gain")
    if mention is None:
        return 1.0, False
    gain = 10 ** (mention.value / 20) if mention.dimension == "dB" else mention.value
    if not 1.0 - 1e-9 <= gain <= 1000:
        raise impossible(
            msg("A Sallen-Key filter with a pass-band gain of {gain} is not designed.", gain=mention.text),
            msg("Ask for a gain from 1 to 1000 (0 to 60 dB), for example 2."),
        )
    return gain, True


def _check_ranges(order: int, supply_v: float, gbw_hz: float | None) -> None:
    if not 2.5 <= supply_v <= 40:
        raise impossible(
            msg("Supplies of ±{supply} V do not suit the op-amps.", supply=f"{supply_v:g}"),
            msg("Give a supply from ±2.5 V to ±40 V, for example ±15 V."),
        )
    if gbw_hz is not None and gbw_hz <= 0:
        raise impossible(
            msg("A gain-bandwidth product must be above zero."),
            msg("Give the op-amp's gain-bandwidth product, for example 10 MHz."),
        )
    assert 1 <= order <= HIGHEST_ORDER
