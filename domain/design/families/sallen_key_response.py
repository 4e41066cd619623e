"""The response of a Sallen-Key filter: ripple, order, -3 dB frequency, prototype, and what is measured of it.

Poles and their sources: `domain.design.prototypes`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from domain.design import kit, prototypes
from domain.design.engine import wording
from domain.design.families import filter_rows as rows
from domain.design.kit import around, impossible, refuse_beyond, spice, with_unit
from shared.message import Message, msg

_RIPPLE_MARGIN = 0.9
"""Chebyshev filters are sized for this part of the allowed ripple, so that real parts keep it."""
_LOSS_MARGIN = 0.93
"""A pass-band loss is sized for this part of what is allowed."""
_ATTENUATION_MARGIN_DB = 0.2
_FLATNESS_DB = 0.5
_GAIN_ROOM_DB = 0.25
_PROOF = 3.0
"""Times the cut-off: there the attenuation shows the order."""


def _response(request: kit.Request) -> str | None:
    """Only a Chebyshev response ripples; with a Q there is none to choose."""
    if request["ripple_db"] is not None:
        return "chebyshev"
    return None if request["q"] or request["damping"] else "butterworth"


BESSEL_WORDS = r"bessel|贝[塞赛]尔"
FLAT_WORDS = r"maximally flat|最大?平坦|最平坦"
RESPONSE = kit.Choice(
    name="response", label=msg("response"), default=_response,
    options=(
        kit.Option(
            key="butterworth", label=msg("Butterworth"),
            words=rf"{rows.BUTTERWORTH_WORDS}|^(?!.*{BESSEL_WORDS}).*(?:{FLAT_WORDS})(?! (?:phase|delay))",
        ),
        kit.Option(key="chebyshev", label=msg("Chebyshev"), words=rows.CHEBYSHEV_WORDS),
        kit.Option(
            key="bessel", label=msg("Bessel"),
            words=rf"{BESSEL_WORDS}|(?:linear|maximally flat) (?:phase|delay)|线性相位",
        ),
    ),
)  # fmt: skip


def sections(request: kit.Request, ripple: float = 1.0) -> tuple[prototypes.Section, ...]:
    """The prototype, relative to the -3 dB frequency, sized for `ripple` times the usual ripple."""
    if request["q"] is not None:
        return (prototypes.Section(1.0, request["q"]),)
    return prototypes.prototype(
        request["response"], request["order"], _RIPPLE_MARGIN * ripple * request["ripple_db"]
    )


def has_ripple(request: kit.Request) -> bool:
    """Whether the pass band ripples."""
    return bool(request["response"] == "chebyshev" and request["order"] > 1)


def _half_power_hz(request: kit.Request) -> float:
    """The -3 dB frequency behind the one that was said, which may be the end of the pass band."""
    edge = 1.0
    if has_ripple(request) and request["is_ripple_edge"]:
        edge = prototypes.ripple_edge(request["order"], request["ripple_db"])
    elif request["response"] != "chebyshev" and request["loss_db"]:
        edge = prototypes.frequency_of(sections(request), request["loss_db"] * _LOSS_MARGIN)
    return rows.shifted(request["kind"], request["stated_hz"], 1 / edge)


def _top(request: kit.Request) -> kit.Said:
    """The ripple of a Chebyshev response; another one is held to a ripple that was said by its peak."""
    is_said = request.states("ripple_db") or request.states("peaking_db")
    ripple, peaking = request["ripple_db"], request["peaking_db"]
    values: dict[str, Any] = {"ripple_is_stated": is_said}
    if request["response"] != "chebyshev":
        if peaking is None and request.states("ripple_db"):
            peaking = ripple
        values |= {"ripple_db": 0.0, "peaking_db": peaking}
        return kit.Said(values=values, stated=frozenset({"peaking_db"} if is_said else ()))
    wanted = ripple or peaking or request["loss_db"]
    if wanted is not None:
        refuse_beyond(rows.RIPPLE, wanted, 0.01, 3.02)
    notes = () if wanted else (wording.assumed(rows.RIPPLE.label, "0.5 dB"),)
    values |= {"ripple_db": min(wanted or 0.5, 3.0), "peaking_db": None}
    return kit.Said(values=values, stated=frozenset({"ripple_db"} if is_said else ()), notes=notes)


def _order(request: kit.Request, notes: list[Message]) -> int:
    """As said, as a Q needs it, or the least that keeps the attenuation."""
    order: int | None = request["order"]
    if request["q"] is not None:
        if order not in (None, 2):
            raise impossible(
                msg("A Q can be given for order 2 only, not for order {order}.", order=order),
                msg("Omit the Q and name a response (Butterworth, Chebyshev, Bessel), or ask for order 2."),
            )
        return 2
    if order is not None:
        return order
    if not (request["attenuation_db"] and request["stated_hz"]):
        notes.append(wording.assumed(msg("order"), "2"))
        return 2

    # Half the tolerance of the cut-off helps, none where the cut-off follows from a pass-band loss.
    room = 1.0 if request["loss_db"] else 1 + 0.5 * (request["tolerance"] or 0.05)

    def reached_db(order: int) -> float:
        asked = request.having(order=order)
        ratio = room * rows.depth(asked, _half_power_hz(asked))
        return prototypes.attenuation_db(sections(asked), ratio) - _ATTENUATION_MARGIN_DB

    order = rows.least_order(request, range(1, 11), reached_db)
    notes.append(msg("Order {order} is the lowest that meets the attenuation.", order=order))
    return order


def complete(request: kit.Request) -> kit.Said:
    """Ripple, Q, order; the -3 dB frequency, and where to aim inside its tolerance. Raises CircuitError."""
    top = _top(request)
    notes, stated = list(top.notes), set(top.stated)
    q = request["q"]
    if q is None and request["damping"]:
        q, stated = 1 / (2 * request["damping"]), {*stated, "q"}
    known = request.having(**top.values, q=q)
    says_edge = request["cutoff_at"] == "edge" or (request["loss_db"] and not request.states("cutoff_at"))
    needs_edge = request["loss_db"] and request["response"] != "chebyshev"
    if request["stated_hz"] is None and (needs_edge or not request["attenuation_db"]):
        raise wording.missing(msg("cut-off frequency"), "1 kHz")
    known = known.having(is_ripple_edge=bool(says_edge))
    known = known.having(order=_order(known, notes))
    known = known.having(is_ripple_edge=has_ripple(known) and bool(says_edge))
    tolerance = request["tolerance"] or 0.05
    wanted_db, limit = request["attenuation_db"], math.inf
    if wanted_db:
        # How far into the stop band the cut-off may move before the attenuation is lost.
        reach = prototypes.frequency_of(sections(known), wanted_db + _ATTENUATION_MARGIN_DB)
        limit = rows.shifted(request["kind"], request["attenuation_hz"], 1 / reach)
    if request["stated_hz"] is None:
        found = rows.shifted(request["kind"], limit, 1 / (1 + tolerance))
        known = known.having(stated_hz=found)
        hertz = with_unit(found, "Hz")
        notes.append(msg("No cut-off given; {frequency} satisfies the other goals.", frequency=hertz))
    wanted = _half_power_hz(known)
    ratio = 1.0
    if wanted_db and q is None:
        ratio = min(1.0, limit / wanted if request["kind"] == rows.LOW_PASS else wanted / limit)
        if ratio < 1 / (1 + 0.8 * tolerance):
            reached = prototypes.attenuation_db(sections(known), rows.depth(request, wanted))
            raise impossible(
                msg("Order {order} gives {reached} dB at {frequency}, not {decibels} dB.",
                    order=known["order"], reached=f"{reached:.1f}", decibels=f"{wanted_db:g}",
                    frequency=with_unit(request["attenuation_hz"], "Hz")),
                msg("Leave the order open so that it is chosen automatically, raise it, or move the "
                    "frequencies apart."),
            )  # fmt: skip
    if q is not None:
        notes.append(msg("With a Q given, the frequency is the natural frequency f0, where the gain is Q."))
    elif has_ripple(known) and not known["is_ripple_edge"] and not request.states("cutoff_at"):
        notes.append(msg("The cut-off is taken as the -3 dB frequency, not as the ripple-band edge."))
    values = {
        **top.values, "q": q, "order": known["order"], "is_ripple_edge": known["is_ripple_edge"],
        "stated_hz": known["stated_hz"], "wanted_hz": wanted,
        "cutoff_hz": rows.shifted(request["kind"], wanted, ratio),
    }  # fmt: skip
    return kit.Said(values=values, stated=frozenset(stated), notes=tuple(notes))


def cutoff_definition(request: kit.Request) -> Message:
    """What "cut-off" means in this design."""
    if request["q"] is not None:
        return msg(
            "The frequency given is the natural frequency f0, where the gain is Q times the pass-band gain."
        )
    if request["is_ripple_edge"]:
        return msg(
            "The frequency given is the edge of the ripple band; the goal is the corresponding -3 dB "
            "frequency."
        )
    return msg("The cut-off is where the gain is 3 dB below the pass band.")


def _far(request: kit.Request) -> float:
    """How far above its cut-off a high-pass's pass-band gain is measured: a Chebyshev response still
    ripples a decade above."""
    return 5.0 * request["order"] if has_ripple(request) else 10.0


def _reference(request: kit.Request) -> str:
    """The pass-band gain: at DC, or well above a high-pass's cut-off."""
    if request["kind"] == rows.LOW_PASS:
        return "dcgain(v(out))"
    return f"gain(v(out),{spice(_far(request) * request['wanted_hz'])})"


def _relative(request: kit.Request, hz: float) -> str:
    """The gain at a frequency over that of the pass band, dB."""
    return f"db(gain(v(out),{spice(hz)})/{_reference(request)})"


def _corner(request: kit.Request) -> kit.Bounds:
    ratio = 1.0 if request["q"] is None else prototypes.half_power_frequency(sections(request))
    return around(rows.shifted(request["kind"], request["wanted_hz"], ratio), request["tolerance"])


def _pass_gain(request: kit.Request) -> kit.Bounds:
    decibels = 20 * math.log10(request["gain"])
    if request["kind"] == rows.HIGH_PASS:
        decibels -= prototypes.attenuation_db(sections(request), 1 / _far(request))
    return kit.Bounds(minimum=decibels - _GAIN_ROOM_DB, maximum=decibels + _GAIN_ROOM_DB, target=decibels)


def _ripple(request: kit.Request) -> str:
    """Top of the response over the lowest point inside the pass band (the ripple minimum next the edge)."""
    bottom = _reference(request)
    if request["order"] > 2:
        lowest = prototypes.ripple_edge(request["order"], _RIPPLE_MARGIN * request["ripple_db"])
        lowest *= math.cos(math.pi / request["order"])
        bottom = f"gain(v(out),{spice(rows.shifted(request['kind'], request['wanted_hz'], lowest))})"
    return f"db(peak(v(out))/{bottom})"


def _stop_hz(request: kit.Request) -> float:
    said: float | None = request["attenuation_db"] and request["attenuation_hz"]
    return said or rows.shifted(request["kind"], request["wanted_hz"], _PROOF)


def _attenuation(request: kit.Request) -> kit.Bounds:
    """As said, else what the order shows in the stop band, less what the tolerance may cost."""
    if request["attenuation_db"]:
        return kit.Bounds(maximum=-request["attenuation_db"])
    slack = 1.0 + 20 * request["order"] * math.log10(1 + request["tolerance"])
    return kit.Bounds(maximum=-math.floor(prototypes.attenuation_db(sections(request), _PROOF) - slack))


GOALS = (
    replace(rows.CUTOFF_GOAL, quantity="stated_hz", bounds=_corner),
    kit.GoalRow(
        metric="q", label=msg("Quality factor Q"), unit="1", quantity="q",
        expression=lambda request: f"gain(v(out),{spice(request['wanted_hz'])})/{_reference(request)}",
        bounds=lambda request: around(request["q"], 0.1), when=lambda request: request["q"] is not None,
        is_corrected=False, helped_by="gbw_hz",
    ),
    kit.GoalRow(metric="passband_gain", label=msg("Passband gain"), unit="dB", quantity="gain",
                expression=lambda request: f"db({_reference(request)})", bounds=_pass_gain,
                is_corrected=False, helped_by="gbw_hz"),
    kit.GoalRow(metric="ripple", label=msg("Ripple"), unit="dB", quantity="ripple_db", expression=_ripple,
                bounds=lambda request: kit.Bounds(maximum=max(request["ripple_db"], 0.1),
                target=request["ripple_db"]), when=has_ripple),
    replace(
        rows.PEAKING_GOAL, helped_by="gbw_hz",
        expression=lambda request: f"db(peak(v(out))/{_reference(request)})",
        bounds=lambda request: kit.Bounds(
            maximum=_FLATNESS_DB if request["peaking_db"] is None else request["peaking_db"]
        ),
        when=lambda request: (
            not has_ripple(request) and (request["q"] is None or request["peaking_db"] is not None)
        ),
    ),
    replace(rows.LOSS_GOAL, helped_by="gbw_hz",
            expression=lambda request: _relative(request, request["stated_hz"]),
            when=lambda request: bool(request["loss_db"]) and request["response"] != "chebyshev"),
    replace(rows.ATTENUATION_GOAL, helped_by="gbw_hz",
            expression=lambda request: _relative(request, _stop_hz(request)), bounds=_attenuation,
            when=lambda request: bool(request["attenuation_db"]) or request["q"] is None),
)  # fmt: skip


def sweep(request: kit.Request, _sized: kit.Sized, goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    """Two decades to either side; a high-pass's ends in its pass band, before the op-amps give out."""
    edges = [request["stated_hz"], *rows.frequencies_in(goals)]
    stop = 100 * max(edges)
    if request["kind"] == rows.HIGH_PASS:
        stop = 2 * _far(request) * request["wanted_hz"]
    return (f".ac dec 200 {spice(min(edges) / 100)} {spice(stop)}",)
