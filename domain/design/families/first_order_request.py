"""What a first-order filter may be asked for, and what follows from it: the cut-off and its window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from domain.circuit.preferred_values import with_unit
from domain.design.engine.declaration import Quantity, Request, Said
from domain.design.engine.wording import missing
from domain.design.families.filter_requests import PASS_BAND_LOSS, PEAKING
from domain.design.sentence import Mention, Sentence
from domain.design.single_pole import C_LIMITS, L_LIMITS, R_LIMITS, FirstOrderRequirement
from domain.design.understanding import Filled, impossible
from shared.message import Message, msg

RC_WORDS = r"(?<![a-z])r-?c(?![a-z])|阻容"
RL_WORDS = (
    r"(?<![a-z])(?:r-?l|l-?r)(?![a-z_]|\s*[=:]|\s*(?:is|为|是)|"
    r"\s*\d)|阻感|(?:电感|inductor).{0,6}(?:电阻|resistor).{0,8}滤波"
)
_ANY = (1e-15, 1e15)

QUANTITIES = (
    Quantity(
        name="loss_db", label=msg("pass-band loss"), dimensions=("dB",),
        words=PASS_BAND_LOSS.words, takes_bare=False,
        has_sign=False, within=(0, 60), example=1,
    ),
    Quantity(
        name="peaking_db", label=msg("peaking"), dimensions=("dB",), words=PEAKING.words, takes_bare=False,
        within=(1e-6, 60), example=0.1,
    ),
    Quantity(
        name="loss_hz", label=msg("pass-band edge"), dimensions=("Hz",), takes_bare=False,
        within=_ANY, example=1e3,
        words=r"pass[\s-]?band (?:edge )?(?:up to|to|at)|通带(?:内)?到",
        before=r"(?:pass[\s-]?band|insertion) (?:loss|attenuation)[^,;]*?(?:at|@)",
    ),
    Quantity(
        name="tau_s", label=msg("time constant"), dimensions=("s",), takes_rest=True, within=_ANY,
        example=1e-3,
        words=r"time[\s-]?constant|tau|τ|时间常数|时常数|rc\s*=",
    ),
    Quantity(
        name="source_ohm", label=msg("source resistance"), dimensions=("Ohm",), within=(0, 1e15), example=50,
        words=(
            r"(?:source|generator)(?: (?:resistance|impedance))?|"
            r"signal generator|driven (?:by|from)|driver|"
            r"(?<![a-z])r_?s(?![a-z])|信号源|源(?:电阻|阻抗|内阻)|内阻"
        ),
        default=0.0, is_told=False,
    ),
    Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), within=_ANY, example=10e3,
        words=(
            r"load(?: (?:resistance|impedance|resistor))?|(?<![a-z])r_load(?![a-z])|负载|"
            # "RL = 1k" is the load, the RL of "RL low-pass, 75 ohm" the kind of circuit
            r"(?<![a-z])r_?l(?![a-z])(?=\s*(?:=|:|is(?![a-z])|of(?![a-z])|为|是|取)?\s*\d)"
        ),
    ),
    Quantity(
        name="resistor_ohm", label=msg("resistor"), dimensions=("Ohm",), takes_rest=True,
        within=_ANY, example=10e3,
        words=(
            r"(?<![a-z])r\d?(?![a-z])|(?<!load )resistor|"
            r"(?<!source )(?<!load )(?<!generator )resistance|"
            r"(?<!负载)(?<!源)电阻|阻值"
        ),
    ),
    Quantity(
        name="capacitor_f", label=msg("capacitor"), dimensions=("F",), takes_rest=True,
        within=_ANY, example=10e-9,
        words=r"(?<![a-z])c\d?(?![a-z])|capacitor|capacitance|cap(?![a-z])|电容|容值",
    ),
    Quantity(
        name="inductor_h", label=msg("inductor"), dimensions=("H",), takes_rest=True, within=_ANY,
        example=10e-3,
        words=r"(?<![a-z])l\d?(?![a-z])|inductor|inductance|电感",
    ),
    Quantity(
        name="gain", label=msg("gain"), dimensions=("x", "dB"), words=r"(?<![a-z])gain|增益|放大倍数|放大",
        within=(-_ANY[1], _ANY[1]), example=1,
    ),
)  # fmt: skip


def parts_said(sentence: Sentence, filled: Filled) -> Mapping[str, Any]:
    """RC or RL, and R, C and L as values or as ranges to choose from."""
    parts = "rl" if sentence.has(RL_WORDS) and not sentence.has(RC_WORDS) else "rc"
    if parts == "rc" and "inductor_h" in filled.values and "capacitor_f" not in filled.values:
        parts = "rl"
    reactive = filled.values.get("capacitor_f" if parts == "rc" else "inductor_h")
    resistor = filled.values.get("resistor_ohm")
    reactance = _fixed(reactive)
    return {
        "parts": parts,
        "resistor_ohm": _fixed(resistor),
        "reactance": reactance,
        "resistor_limits": _limits(resistor, R_LIMITS),
        "reactance_limits": _limits(reactive, C_LIMITS if parts == "rc" else L_LIMITS),
        # Where a range was given the middle of it is no part value.
        "capacitor_f": reactance if parts == "rc" else None,
        "inductor_h": reactance if parts == "rl" else None,
    }


def _fixed(mention: Mention | None) -> float | None:
    return (
        None if mention is None or mention.upper is not None or mention.bound is not None else mention.value
    )


def _limits(mention: Mention | None, default: tuple[float, float]) -> tuple[float, float]:
    if mention is None or _fixed(mention) is not None:
        return default
    if mention.upper is not None:
        return mention.value, mention.upper
    return (default[0], mention.value) if mention.bound == "at_most" else (mention.value, default[1])


def requirement(request: Request) -> FirstOrderRequirement:
    """What the parts are chosen for."""
    names = FirstOrderRequirement.__dataclass_fields__
    values = {name: value for name, value in request.items() if name in names and value is not None}
    for name in ("resistor_limits", "reactance_limits"):
        values[name] = tuple(values[name])
    return FirstOrderRequirement(**values)


def restore(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Before the cut-off that was asked was stored, only the window around it was."""
    if "wanted_hz" in parameters:
        return parameters
    cutoff, low, high = (parameters[name] for name in ("cutoff_hz", "lowest_cutoff_hz", "highest_cutoff_hz"))
    width = (high - low) / (high + low) if 0 < low < high < math.inf else 0.05
    derived = ["cutoff_hz", "highest_cutoff_hz", "lowest_cutoff_hz"]
    return {**parameters, "wanted_hz": cutoff, "tolerance": width, "derived": derived}


def complete(request: Request) -> Said:
    """The cut-off to aim at, and the window that keeps every goal. Raises CircuitError."""
    if request["gain"] is not None and request["gain"] > 1.0:
        raise impossible(
            msg("An RC or RL filter is passive: it has no gain of {gain}.", gain=f"{request['gain']:.4g}"),
            msg(
                "Ask for an active filter, for example: Sallen-Key low-pass, order 2, cut-off 1 kHz, gain 2."
            ),
        )
    if min(*request["resistor_limits"], *request["reactance_limits"]) <= 0:
        raise impossible(
            msg("Resistance, capacitance and inductance must be above zero."),
            msg("Check the signs and units of the given part values."),
        )
    notes: list[Message] = []
    tolerance = request["tolerance"] or 0.05
    wanted = request["wanted_hz"]
    if wanted is None and request["tau_s"] is not None:
        wanted = 1 / (2 * math.pi * request["tau_s"])
    if wanted is None and request["resistor_ohm"] is not None and request["reactance"] is not None:
        draft = requirement(request.having(cutoff_hz=1.0, lowest_cutoff_hz=0.0, highest_cutoff_hz=math.inf))
        wanted = draft.cutoff_of(request["resistor_ohm"], request["reactance"])
        notes.append(
            msg("The cut-off follows from the given values: {frequency}.", frequency=with_unit(wanted, "Hz"))
        )
    low, high = _window(request, wanted, tolerance)
    target = _target(wanted, low, high, tolerance)
    if target is None:
        raise missing(msg("cut-off frequency"), "1 kHz")
    if wanted is None:
        low, high = max(low, target * (1 - tolerance)), min(high, target * (1 + tolerance))
        notes.append(
            msg(
                "The cut-off was not said: {frequency} keeps the other goals.",
                frequency=with_unit(target, "Hz"),
            )
        )
    return Said(
        values={
            "wanted_hz": target if wanted is None else wanted,
            "cutoff_hz": target,
            "lowest_cutoff_hz": low,
            "highest_cutoff_hz": high,
        },
        stated=frozenset(() if request["tau_s"] is None else ("wanted_hz",)),
        notes=tuple(notes),
    )


def _window(request: Request, wanted: float | None, tolerance: float) -> tuple[float, float]:
    """The cut-offs that keep the tolerance and every attenuation; raises when there is none."""
    low = 0.0 if wanted is None else wanted * (1 - tolerance)
    high = math.inf if wanted is None else wanted * (1 + tolerance)
    bounds: list[tuple[float, bool]] = []
    is_low_pass = request["kind"] == "lowpass"
    attenuation_db, attenuation_hz = request["attenuation_db"], request["attenuation_hz"]
    if attenuation_db and attenuation_hz:
        ratio = math.sqrt(10 ** (attenuation_db / 10) - 1)
        bounds.append((attenuation_hz / ratio if is_low_pass else attenuation_hz * ratio, is_low_pass))
    loss_db, loss_hz = request["loss_db"], request["loss_hz"]
    if loss_db and loss_hz:
        ratio = math.sqrt(10 ** (abs(loss_db) / 10) - 1)
        bounds.append((loss_hz / ratio if is_low_pass else loss_hz * ratio, not is_low_pass))
    for bound, is_upper in bounds:
        low, high = (low, min(high, bound)) if is_upper else (max(low, bound), high)
    if low > high:
        raise impossible(
            msg(
                "A first-order filter cannot do this: it falls by only 20 dB per decade, so the cut-off "
                "would have to be "
                "below {high} and above {low} at once.",
                high=with_unit(high, "Hz"),
                low=with_unit(low, "Hz"),
            ),
            msg(
                "Move the frequencies apart, or ask for a higher order, for example: Sallen-Key "
                "low-pass, order 4, cut-off 1 kHz."
            ),
        )
    return low, high


def _target(wanted: float | None, low: float, high: float, tolerance: float) -> float | None:
    """Where to aim inside the window, a little off its ends."""
    if wanted is not None:
        middle = math.sqrt(low * high)
        return min(max(wanted, min(low * 1.01, middle)), max(high * 0.99, middle))
    if math.isfinite(high):
        return math.sqrt(low * high) if low > 0 else high / (1 + tolerance)
    return low * (1 + tolerance) if low > 0 else None
