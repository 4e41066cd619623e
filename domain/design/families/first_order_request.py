"""What a first-order filter may be asked for, and what follows from it: the cut-off and its window."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from domain.design import kit, quantity_words, single_pole
from domain.design.families import filter_rows as rows
from domain.design.kit import impossible, missing, with_unit
from shared.message import Message, msg

RC_WORDS = r"(?<![a-z])r-?c(?![a-z])|阻容"
RL_WORDS = (
    r"(?<![a-z])(?:r-?l|l-?r)(?![a-z_]|\s*[=:]|\s*(?:is|为|是)|\s*\d)|阻感|"
    r"(?:电感|inductor).{0,6}(?:电阻|resistor).{0,8}滤波"
)
_ANY = (1e-15, 1e15)
QUANTITIES = (
    *rows.filter_quantities((1e-9, 1e15), example_hz=1e3, name="wanted_hz"), rows.LOSS, rows.PEAKING,
    kit.Quantity(
        name="loss_hz", label=msg("pass-band edge"), dimensions=("Hz",), takes_bare=False, within=_ANY,
        words=r"pass[\s-]?band (?:edge )?(?:up to|to|at)|通带(?:内)?到", example=1e3,
        before=r"(?:pass[\s-]?band|insertion) (?:loss|attenuation)[^,;]*?(?:at|@)",
    ),
    kit.Quantity(name="tau_s", label=msg("time constant"), dimensions=("s",), takes_rest=True, within=_ANY,
                 words=r"time[\s-]?constant|tau|τ|时间常数|时常数|rc\s*=", example=1e-3),
    kit.Quantity(
        name="source_ohm", label=msg("source resistance"), dimensions=("Ohm",), within=(0, 1e15), example=50,
        words=(
            r"(?:source|generator)(?: (?:resistance|impedance))?|signal generator|driven (?:by|from)|driver|"
            r"(?<![a-z])r_?s(?![a-z])|信号源|源(?:电阻|阻抗|内阻)|内阻"
        ),
        default=0.0, is_told=False,
    ),
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), within=_ANY, example=10e3,
        words=(
            rf"load(?: (?:resistance|impedance|resistor))?|{quantity_words.NEXT_INPUT}|"
            r"(?<![a-z])(?:r_load|drives|driving)(?![a-z])|负载|"
            # "RL = 1k" is the load, the RL of "RL low-pass, 75 ohm" the kind of circuit
            r"(?<![a-z])r_?l(?![a-z])(?=\s*(?:=|:|is(?![a-z])|of(?![a-z])|为|是|取)?\s*\d)"
        ),
    ),
    kit.Quantity(
        name="resistor_ohm", label=msg("resistor"), dimensions=("Ohm",), takes_rest=True, within=_ANY,
        words=(r"(?<![a-z])r\d?(?![a-z])|(?<!load )resistor|(?<!source )(?<!load )(?<!generator )resistance|"
               r"(?<!负载)(?<!源)电阻|阻值"),
        example=10e3,
    ),
    kit.Quantity(
        name="capacitor_f", label=msg("capacitor"), dimensions=("F",), takes_rest=True, within=_ANY,
        words=r"(?<![a-z])c\d?(?![a-z])|capacitor|capacitance|cap(?![a-z])|电容|容值", example=10e-9,
    ),
    kit.Quantity(name="inductor_h", label=msg("inductor"), dimensions=("H",), takes_rest=True, within=_ANY,
                 words=r"(?<![a-z])l\d?(?![a-z])|inductor|inductance|电感", example=10e-3),
    replace(rows.GAIN, within=(-1e15, 1e15), default=None),
)  # fmt: skip


def parts_said(sentence: kit.Sentence, filled: kit.Filled) -> Mapping[str, Any]:
    """RC or RL, and R, C and L as values or as ranges to choose from."""
    has_inductor = "inductor_h" in filled.values and "capacitor_f" not in filled.values
    parts = "rl" if (not sentence.has(RC_WORDS) and sentence.has(RL_WORDS)) or has_inductor else "rc"
    reactive = filled.values.get("capacitor_f" if parts == "rc" else "inductor_h")
    resistor = filled.values.get("resistor_ohm")
    reactance, reactance_limits = _value_or_range(
        reactive, single_pole.C_LIMITS if parts == "rc" else single_pole.L_LIMITS
    )
    resistance, resistor_limits = _value_or_range(resistor, single_pole.R_LIMITS)
    return {
        "parts": parts, "resistor_ohm": resistance, "reactance": reactance,
        "resistor_limits": resistor_limits, "reactance_limits": reactance_limits,
        # Where a range was given the middle of it is no part value.
        "capacitor_f": reactance if parts == "rc" else None,
        "inductor_h": reactance if parts == "rl" else None,
    }  # fmt: skip


def _value_or_range(
    mention: kit.Mention | None, limits: tuple[float, float]
) -> tuple[float | None, tuple[float, float]]:
    if mention is None:
        return None, limits
    if mention.upper is not None:
        return None, (mention.value, mention.upper)
    if mention.bound is None:
        return mention.value, limits
    return None, (limits[0], mention.value) if mention.bound == "at_most" else (mention.value, limits[1])


def requirement(request: kit.Request) -> single_pole.FirstOrderRequirement:
    """What the parts are chosen for."""
    names = single_pole.FirstOrderRequirement.__dataclass_fields__
    values = {name: value for name, value in request.items() if name in names and value is not None}
    for name in ("resistor_limits", "reactance_limits"):
        values[name] = tuple(values[name])
    return single_pole.FirstOrderRequirement(**values)


def restore(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Before the cut-off that was asked was stored, only the window around it was."""
    if "wanted_hz" in parameters:
        return parameters
    cutoff, low, high = (parameters[name] for name in ("cutoff_hz", "lowest_cutoff_hz", "highest_cutoff_hz"))
    width = (high - low) / (high + low) if 0 < low < high < math.inf else 0.05
    derived = ["cutoff_hz", "highest_cutoff_hz", "lowest_cutoff_hz"]
    return {**parameters, "wanted_hz": cutoff, "tolerance": width, "derived": derived}


def complete(request: kit.Request) -> kit.Said:
    """The cut-off to aim at, and the window that keeps every goal. Raises CircuitError."""
    if request["gain"] is not None and request["gain"] > 1.0:
        raise impossible(
            msg(
                "An RC or RL filter is passive and cannot have a gain of {gain}.",
                gain=f"{request['gain']:.4g}",
            ),
            msg(
                "Ask for an active filter, for example: Sallen-Key low-pass, order 2, cut-off 1 kHz, gain 2."
            ),
        )
    if min(*request["resistor_limits"], *request["reactance_limits"]) <= 0:
        raise impossible(msg("Resistance, capacitance and inductance must be above zero."),
                         msg("Check the signs and units of the given part values."))  # fmt: skip
    notes: list[Message] = []
    tolerance = request["tolerance"] or 0.05
    wanted = request["wanted_hz"]
    if wanted is None and request["tau_s"] is not None:
        wanted = 1 / (2 * math.pi * request["tau_s"])
    if wanted is None and request["resistor_ohm"] is not None and request["reactance"] is not None:
        draft = requirement(request.having(cutoff_hz=1.0, lowest_cutoff_hz=0.0, highest_cutoff_hz=math.inf))
        wanted = draft.cutoff_of(request["resistor_ohm"], request["reactance"])
        hertz = with_unit(wanted, "Hz")
        notes.append(msg("The cut-off follows from the given values: {frequency}.", frequency=hertz))
    stop = request["attenuation_db"], request["attenuation_hz"]
    passing = request["loss_db"], request["loss_hz"]
    low, high = single_pole.kept_cutoffs(request["kind"], wanted, tolerance, stop, passing)
    target = single_pole.aim_between(low, high, wanted, tolerance)
    if target is None:
        raise missing(msg("cut-off frequency"), "1 kHz")
    if wanted is None:
        low, high = max(low, target * (1 - tolerance)), min(high, target * (1 + tolerance))
        hertz = with_unit(target, "Hz")
        notes.append(msg("No cut-off given; {frequency} satisfies the other goals.", frequency=hertz))
    values = {
        "wanted_hz": target if wanted is None else wanted, "cutoff_hz": target,
        "lowest_cutoff_hz": low, "highest_cutoff_hz": high,
    }  # fmt: skip
    stated = () if request["tau_s"] is None else ("wanted_hz",)
    return kit.Said(values=values, stated=frozenset(stated), notes=tuple(notes))
