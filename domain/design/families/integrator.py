"""The inverting integrator and differentiator of one op-amp, each tamed by a resistor.

Integrator: -1 / (s R C) above 1 / (2 pi Rf C), where Rf holds the output at DC. Differentiator: -s R C below
1 / (2 pi R1 C), where R1 keeps the loop stable. Both have a gain of 1 at 1 / (2 pi R C).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 2.5; Texas Instruments, "Op Amps for
Everyone", SLOD006B, chapters 3 and 6.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.families.amplifier_rows import NEITHER_MORE
from domain.design.kit import around, best_pair, nearest, spice, values_between, with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, enough_gbw_hz, write_opamp
from shared.message import msg

_OHM = 10e3
_CORNER = 100.0
"""Between the frequency of gain 1 and the corner of the resistor that tames."""
_FASTER = 3000.0
_DIFFERENTIATOR = r"differentiat(?:or|ing)|微分"


def _differentiates(request: kit.Request) -> bool:
    return bool(request["form"] == "differentiator")


def complete(request: kit.Request) -> kit.Said:
    """The frequency of gain 1 from the time constant R C."""
    tau = request["time_s"]
    if tau is None or request["unity_hz"] is not None:
        return kit.Said(values={})
    return kit.Said(values={"unity_hz": 1 / (2 * math.pi * tau)}, stated=frozenset({"unity_hz"}))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12 and R of E96 whose product comes nearest, and the resistor that tames of E24."""
    product = 1 / (2 * math.pi * request["unity_hz"] * correction["unity_hz"])
    middle = min(max(product / _OHM, 100e-12), 1e-6)
    c, r = best_pair(
        values_between(middle / 3, 3 * middle, "E12"),
        lambda each: product / each,
        "E96",
        lambda one, two: abs(math.log(one * two / product)) + 1e-4 * abs(math.log(one / middle)),
    )
    other = r / _CORNER if _differentiates(request) else r * _CORNER
    parts = {"R1": r, "C1": c, "R2": nearest(other, "E24")}
    note = msg("R = {r}, C = {c}.", r=with_unit(r, "Ω"), c=with_unit(c, "F"))
    gbw = enough_gbw_hz(request, _FASTER * request["unity_hz"])
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, R and C, the resistor that tames, the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    sine = f"SIN(0 1 {spice(request['unity_hz'])})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the unity-gain frequency for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    if _differentiates(request):
        deck.part(f"R2 in x {parts['R2']}", msg("keeps the loop stable"))
        deck.part(f"C1 x n {parts['C1']}", msg("sets the time constant together with R1"))
        deck.part(f"R1 out n {parts['R1']}", msg("feedback: sets the time constant together with C1"))
    else:
        deck.part(f"R1 in n {parts['R1']}", msg("sets the time constant together with C1"))
        deck.part(f"C1 out n {parts['C1']}", msg("feedback: sets the time constant together with R1"))
        deck.part(f"R2 out n {parts['R2']}", msg("holds the output at DC"))
    deck.part(
        f"X1 {rails.ground} n vcc {rails.low} out {request['opamp']}",
        rails.op_amp_at_ground,
    )
    write_opamp(deck, request, sized.figures["gbw_hz"])


def _row(metric: str, times: float) -> kit.GoalRow:
    """Gain at so many times the frequency of gain 1: its quadrature part, positive of an integrator."""

    def wanted(request: kit.Request) -> float:
        return -times if _differentiates(request) else 1 / times

    return kit.GoalRow(
        metric=metric, label=msg("Gain at {times} times that frequency", times=f"{times:g}"), unit="1",
        quantity="unity_hz", is_corrected=metric == "unity_gain",
        expression=lambda request: f"at(im(v(out)),{spice(times * request['unity_hz'])})",
        bounds=lambda request: around(wanted(request), request["tolerance"]),
    )  # fmt: skip


FAMILY = kit.Family(
    key="integrator",
    name=msg("op-amp integrators and differentiators"), one=msg("an integrator"),
    examples={"en": "op-amp integrator, unity gain at 1 kHz",
              "zh": "运放积分器，1kHz处增益为1"},
    words=kit.Words(
        named=(
            r"(?:inverting |miller |lossy |active )?(?:op[\s-]?amps? )?(?:integrat(?:or|ing)|"
            r"differentiat(?:or|ing))"
            r"(?: (?:op[\s-]?amps?|amplifier|circuit))*|(?:反相)?(?:运放|有源)?(?:积分|"
            r"微分)(?:运算)?(?:放大)?(?:器|电路)"
        ),
        excludes=rf"passive|无源|(?<![a-z])rc(?![a-z])|switched|开关电容|pid|{NEITHER_MORE}",
    ),
    quantities=(
        kit.Quantity(
            name="unity_hz", label=msg("unity-gain frequency"), dimensions=("Hz",), takes_rest=True,
            words=r"unity|gain of (?:1|one)|frequency|(?<![a-z])f_?[0u]?(?![a-z])|单位增益|增益为1|频率",
            within=(0.1, 100e3), example=1e3, required=True,
        ),
        kit.Quantity(
            name="time_s", label=msg("time constant"), dimensions=("s",), takes_rest=True, within=(1e-6, 2),
            words=r"time constant|tau|(?<![a-z])rc(?![a-z])|时间常数", example=1e-3,
        ),
        SUPPLY,
        GBW,
        kit.TOLERANCE,
    ),
    choices=(
        OPAMP,
        kit.Choice(
            name="form", label=msg("circuit"), is_told=False,
            options=(
                kit.Option(key="integrator", label=msg("integrator"), words=r"integrat(?:or|ing)|积分"),
                kit.Option(key="differentiator", label=msg("differentiator"), words=_DIFFERENTIATOR),
            ),
        ),
        supplies.RAILS,
    ),
    judge=supplies.judged("buffer"),
    goals=(_row("unity_gain", 1), _row("gain_below", 0.2), _row("gain_above", 5)),
    title="{form}, gain 1 at {unity_hz:Hz}",
    remarks=lambda request: (
        msg("Vout = -R1 C1 dVin/dt.")
        if _differentiates(request)
        else msg("Vout = -1 / (R1 C1) integral of Vin."),
    ),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 50 {spice(request['unity_hz'] / 1000)} {spice(1000 * request['unity_hz'])}",
    ),
    size=size, netlist=netlist,
    complete=complete,
)  # fmt: skip
