"""The transimpedance amplifier: the current of a photodiode through Rf, stable by Cf.

With a one-pole op-amp the denominator is 1 + s (Rf Cf + 1 / wt) + s^2 Rf (Cd + Cf) / wt, wt = 2 pi GBW: f0 of
sqrt(GBW / (2 pi Rf (Cd + Cf))), and Cf sets its Q, here that of Butterworth or below.
Sources: Graeme, "Photodiode Amplifiers: Op Amp Solutions", McGraw-Hill 1996, chapters 3 and 4; Texas
Instruments, "Transimpedance Considerations for High-Speed Amplifiers", SBOA122.
"""

from __future__ import annotations

import math

from domain.design import kit, opamp, supplies
from domain.design.kit import around, nearest, spice, told_apart, unreachable, with_unit
from shared.message import msg

_LEAST_F = 0.1e-12
"""Of Cf: less is the board's."""
_ROOM = 1.3
"""By which f0 lies above the bandwidth."""


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Rf of E96, the slowest op-amp that is fast enough, Cf of E24 for a response without a peak."""
    rf = nearest(request["transimpedance_ohm"] * correction["transimpedance_ohm"], "E96")
    wanted = request["bandwidth_hz"] * correction["bandwidth_hz"]
    given = opamp.given_gbw_hz(request)
    for gbw in opamp.GBW_CLASSES_HZ if given is None else (given,):
        cf = _feedback_farad(rf, request["diode_farad"], gbw, _ROOM * wanted)
        f0 = math.sqrt(gbw / (2 * math.pi * rf * (request["diode_farad"] + cf)))
        if f0 >= _ROOM * wanted and 1 / (2 * math.pi * rf * cf) >= 0.99 * wanted:
            break
    else:
        asked, limit = told_apart("Hz", request["bandwidth_hz"], f0 / _ROOM / 1.05, digits=3)
        advice = msg("Lower the transimpedance or the bandwidth, or use a faster op-amp.")
        raise unreachable(msg("bandwidth"), asked, limit, advice)
    note = msg("Rf = {rf}, Cf = {cf}, an op-amp with a gain-bandwidth product of {gbw}.",
               rf=with_unit(rf, "Ω"), cf=with_unit(cf, "F"), gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts={"Rf": rf, "Cf": cf}, figures={"gbw_hz": gbw}, notes=(note,))


def _feedback_farad(rf: float, diode: float, gbw: float, wanted_hz: float) -> float:
    """Cf (F): that of Butterworth, or the larger one that leaves `wanted_hz`, where the op-amp is faster."""
    wt, cf = 2 * math.pi * gbw, 0.0
    for _ in range(20):  # Cf stands in f0 as well
        f0 = math.sqrt(wt / (rf * (diode + cf)))
        cf = max((math.sqrt(2) / f0 - 1 / wt) / rf, 0.0)
    return nearest(max(cf, 1 / (2 * math.pi * rf * wanted_hz), _LEAST_F), "E24")


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The photodiode as a current source with its capacitance, the op-amp and its feedback."""
    amplitude = supplies.amplitude_v(request, request["transimpedance_ohm"], share=0.25)
    sine = f"SIN(0 {spice(amplitude)} {opamp.mid_band_hz(request)})"
    deck.part(f"Iin 0 d DC 0 AC 1 {sine}", msg("photocurrent: 1 A for .ac, a sine at mid band for .tran"))
    deck.part("Vin d in DC 0", msg("measures the current"))
    deck.part(f"Cd in 0 {spice(request['diode_farad'])}", msg("capacitance of the photodiode"))
    rails = supplies.write_rails(deck, request, "divider")
    deck.part(f"Rf out in {spice(sized.parts['Rf'])}", msg("sets the transimpedance"))
    deck.part(f"Cf out in {spice(sized.parts['Cf'])}", msg("keeps the loop stable, without a peak"))
    deck.part(
        f"X1 {rails.ground} in vcc {rails.low} out {request['opamp']}",
        rails.op_amp_at_ground,
    )
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


FAMILY = kit.Family(
    key="transimpedance_amplifier",
    name=msg("transimpedance amplifiers for photodiodes"), one=msg("a transimpedance amplifier"),
    examples={"en": "transimpedance amplifier, 100 kohm, 1 MHz, photodiode 10 pF",
              "zh": "跨阻100kΩ、带宽1MHz的跨阻放大器，光电二极管电容10pF"},
    words=kit.Words(
        named=(
            r"trans[\s-]?impedance(?: (?:op[\s-]?amps?|amplifier|amp))?|(?<![a-z])tia(?![a-z])|"
            r"photo[\s-]?diode "
            r"(?:pre)?amp(?:lifier)?(?![a-z])|current[\s-]to[\s-]voltage converter|"
            r"跨(?:导)?阻(?:抗)?(?:前置)?(?:放大(?:器|电路)?)?|"
            r"光电(?:二极管|检测)(?:前置)?放大(?:器|电路)|(?:电流(?:-|转|/)?电压|i[/-]?v)(?:转换|变换)(?:器|电路)"
        ),
        excludes=r"cmos|common[\s-]gate|共栅",
    ),
    quantities=(
        kit.Quantity(
            name="transimpedance_ohm", label=msg("transimpedance"), dimensions=("Ohm",), takes_rest=True,
            words=r"trans[\s-]?(?:impedance|resistance)|gain|(?<![a-z])r_?f(?![a-z])|跨(?:导)?阻|增益|反馈电阻",
            within=(100, 100e6), example=100e3, required=True, ratio=("A", "V"),
        ),
        opamp.BANDWIDTH,
        kit.Quantity(name="diode_farad", label=msg("capacitance of the photodiode"), dimensions=("F",),
                     words=r"capacit\w*|(?<![a-z])c_?[dj](?![a-z])|photo\w*|电容", takes_rest=True,
                     within=(1e-12, 10e-9), example=10e-12, default=10e-12),
        opamp.SUPPLY,
        opamp.GBW,
        kit.TOLERANCE,
    ),
    choices=(opamp.OPAMP, supplies.RAILS),
    judge=supplies.judged("divider"),
    goals=(
        kit.GoalRow(
            metric="transimpedance", label=msg("Transimpedance"), unit="Ohm", quantity="transimpedance_ohm",
            expression=lambda request: f"at(re(v(out)/i(vin)),{opamp.mid_band_hz(request)})",
            bounds=lambda request: around(-request["transimpedance_ohm"], request["tolerance"]),
        ),
        opamp.BANDWIDTH_GOAL,
        kit.GoalRow(metric="peaking", label=msg("Peaking"), unit="dB", is_corrected=False,
                    expression="db(peak(v(out))/dcgain(v(out)))",
                    bounds=lambda _request: kit.Bounds(maximum=1.0)),
    ),
    title="Transimpedance amplifier, {transimpedance_ohm:Ohm}, {bandwidth_hz:Hz}",
    remarks=(msg("Vout = -Rf I; f0 = sqrt(GBW / (2 pi Rf (Cd + Cf))), its Q by Cf."),),
    analyses=lambda request, sized, _goals: (opamp.sweep(request, sized.figures["gbw_hz"]),),
    size=size, netlist=netlist,
)  # fmt: skip
