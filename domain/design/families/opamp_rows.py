"""What op-amps of transistors share: quantities, goals, the sweep, and a bench that shows the open loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from domain.design import kit
from domain.design.families.amplifier_rows import GAIN_LABEL, GAIN_WORDS
from domain.design.families.differential_pair import LOAD_FARAD
from domain.design.kit import spice
from domain.design.opamp import GBW, SUPPLY, write_supplies
from shared.message import Message, msg

LEAST_DEGREES, MOST_DEGREES = 45, 75


def quantities(most_gain: float, least_hz: float, most_hz: float) -> tuple[kit.Quantity, ...]:
    """Gain, GBW, phase margin, load and supplies."""
    return (
        kit.Quantity(
            name="gain", label=GAIN_LABEL, dimensions=("x", "dB"), words=rf"{GAIN_WORDS}|open[\s-]loop|开环",
            takes_rest=True, limit="at_least", within=(100, most_gain), example=1000, default=1000.0,
        ),
        replace(GBW, takes_rest=True, limit="at_least", within=(least_hz, most_hz), example=1e6, default=1e6,
                words=rf"{GBW.words}|ugf|ugbw|band[\s-]?width|单位增益(?:带宽|频率)|带宽"),
        kit.Quantity(
            name="phase_margin_deg", label=msg("phase margin"), dimensions=("none",), limit="at_least",
            words=r"phase[\s-]margin|(?<![a-z])pm(?![a-z])|相位裕[度量]", example=60, default=60.0,
            within=(LEAST_DEGREES, MOST_DEGREES),
        ),
        LOAD_FARAD,
        replace(SUPPLY, default=5.0, is_told=True),
        replace(kit.TOLERANCE, is_told=False),
    )  # fmt: skip


GOALS = (
    kit.GoalRow(metric="gain_db", label=msg("Open-loop gain"), unit="dB", quantity="gain",
                expression="db(dcgain(v(out)))",
                bounds=lambda request: kit.Bounds(minimum=20 * math.log10(request["gain"]))),
    kit.GoalRow(
        metric="unity_gain_frequency", label=msg("Unity-gain frequency"), unit="Hz", quantity="gbw_hz",
        expression="ugf(v(out))",
    ),
    kit.GoalRow(metric="phase_margin", label=msg("Phase margin"), unit="deg", quantity="phase_margin_deg",
                expression="phase_margin(v(out))"),
)  # fmt: skip


def opamp_family(
    *, key: str, title: str, name: Message, one: Message, examples: Mapping[str, str],
    words: kit.Words, quantities: tuple[kit.Quantity, ...], remark: Message,
    size: Callable[[kit.Request, kit.Correction], kit.Sized],
    netlist: Callable[[kit.Deck, kit.Request, kit.Sized], None],
) -> kit.Family:  # fmt: skip
    """A family of CMOS op-amps; `title` is what stands before "op-amp" in that of the netlist."""

    def sweep(request: kit.Request, _sized: kit.Sized, _goals: Sequence[kit.DesignGoal]) -> tuple[str]:
        return (f".ac dec 30 0.1 {spice(100 * request['gbw_hz'])}",)

    return kit.Family(
        key=key, name=name, one=one, examples=examples, words=words, quantities=quantities, goals=GOALS,
        title=title + " op-amp, GBW {gbw_hz:Hz}, load {load_farad:F}", remarks=(remark,),
        analyses=sweep, transistors=("nmos", "pmos"),
        size=size, netlist=netlist,
    )  # fmt: skip


def write_bench(deck: kit.Deck, request: kit.Request) -> None:
    """The input, the supplies, the load, and the output fed back at DC only."""
    deck.part("Vin in 0 DC 0 AC 1", msg("non-inverting input: 1 V for .ac"))
    write_supplies(deck, request["supply_v"])
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    deck.part("Lfb out inn 1T", msg("test bench: closes the loop at DC"))
    deck.part("Cfb inn 0 1", msg("test bench: opens it for signals"))
