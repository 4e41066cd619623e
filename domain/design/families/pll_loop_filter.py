"""The loop filter of a charge-pump PLL, second order, by bandwidth and phase margin, in the phase domain.

Equations and sources: `domain.design.loop_filter`.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.kit import beyond, impossible, missing, spice, with_unit
from domain.design.loop_filter import exact, loop_gain, of_preferred_values
from shared.message import msg

_LEAST_RATIO = 10.0
"""Reference frequency over bandwidth: below, the loop is no longer a continuous one."""
_LEAK_OHM, _INTEGRATOR_F = 1e12, 1e-9
_MOST_F, _LEAST_F = 100e-6, 1e-12
_BANDWIDTH, _RATIO = msg("loop bandwidth"), msg("divider ratio N")
_ATTENUATION = msg("attenuation at the reference frequency")

_QUANTITIES = (
    kit.Quantity(name="bandwidth_hz", label=_BANDWIDTH, dimensions=("Hz",), takes_rest=True, within=(10, 5e6),
                 words=r"(?:loop )?band[\s-]?width|(?<![a-z])l?bw(?![a-z])|crossover|(?:环路)?带宽|穿越频率",
                 example=20e3,
                 default=lambda request: request["reference_hz"] / 20 if request["reference_hz"] else 20e3),
    kit.Quantity(
        name="kvco_hz", label=msg("VCO gain"), dimensions=("Hz",), within=(1e3, 10e9), example=20e6,
        required=True,
        words=r"k_?vco|vco (?:gain|sensitivity)|sensitivity|tuning|压控增益|(?:vco|压控)?灵敏度|增益",
        after=r"\s*(?:/|per |每)\s*(?:v(?![a-z])|伏)",
    ),
    kit.Quantity(
        name="reference_hz", label=msg("reference frequency"), dimensions=("Hz",), within=(1e3, 500e6),
        example=1e6, words=r"ref\w*|comparison|pfd|phase detector|f_?pd|f_?ref|参考|鉴相|比较",
    ),
    kit.Quantity(
        name="output_hz", label=msg("output frequency"), dimensions=("Hz",), within=(1e3, 50e9),
        words=r"(?<![a-z])out(?:put)?(?![a-z])|f_?out|vco (?:at|frequency)|carrier|输出|射频|压控频率",
        before=r"(?<![a-z])vco(?: (?:of|is|runs|around|near|to))*"
               r"(?=\s?=?\s?[\d.]+\s?[kmg]?hz(?!\s?(?:/|per |每)))",
        example=900e6,
    ),
    kit.Quantity(name="ratio", label=_RATIO, dimensions=("none", "x"), within=(1, 1e6), example=900,
                 words=r"(?<![a-z])n(?![a-z])|divi\w*(?: ratio| by)?|分频比?"),
    kit.Quantity(name="pump_a", label=msg("charge-pump current"), dimensions=("A",), takes_rest=True,
                 within=(1e-6, 20e-3), words=r"charge[\s-]?pump|i_?cp|current|电荷泵|电流",
                 example=1e-3, default=1e-3),
    kit.Quantity(name="phase_margin_deg", label=msg("phase margin"), dimensions=("none",), limit="at_least",
                 words=r"phase[\s-]margin|(?<![a-z])pm(?![a-z])|相位裕[度量]",
                 within=(30, 70), example=50, default=50.0),
    kit.Quantity(name="spur_db", label=_ATTENUATION, dimensions=("dB",), takes_rest=True,
                 words=r"spur\w*|attenuat\w*|suppress\w*|杂散|衰减|抑制", limit="at_least", within=(1, 150),
                 example=40, has_sign=False),
    kit.TOLERANCE,
)  # fmt: skip


def complete(request: kit.Request) -> kit.Said:
    """N and the reference of each other. Raises CircuitError without N, or for too wide a loop."""
    ratio, reference, output = request["ratio"], request["reference_hz"], request["output_hz"]
    if ratio is None and reference and output:
        ratio = output / reference
    if reference is None and ratio and output:
        reference = output / ratio
    if ratio is None:
        raise missing(_RATIO, "900")
    if reference is None and request["spur_db"] is not None:
        raise missing(msg("reference frequency"), "1 MHz")
    bandwidth = request["bandwidth_hz"]
    if reference and bandwidth and bandwidth > 1.001 * reference / _LEAST_RATIO:
        raise impossible(
            msg("A loop bandwidth of {bandwidth} is more than a tenth of the reference frequency "
                "{reference}: the loop samples its phase too seldom for it.",
                bandwidth=with_unit(bandwidth, "Hz", 3),
                reference=with_unit(reference, "Hz", 3)),
            msg("Lower the bandwidth, or raise the reference frequency."),
        )  # fmt: skip
    return kit.Said(values={"ratio": ratio, "reference_hz": reference})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C1 and C2 of E12, R2 of E96. Raises CircuitError for capacitors, or an attenuation, out of reach."""
    bandwidth = request["bandwidth_hz"] * correction["bandwidth_hz"]
    gain = request["pump_a"] * request["kvco_hz"] / request["ratio"]
    least, _, most = exact(gain, bandwidth, request["phase_margin_deg"])
    if not _LEAST_F <= least <= most <= _MOST_F:
        farad, limit = (least, _LEAST_F) if least < _LEAST_F else (most, _MOST_F)
        advice = msg("Change the charge-pump current or the bandwidth.")
        raise beyond(msg("loop capacitor"), "F", farad, limit, advice, digits=2)
    c1, r2, c2 = parts = of_preferred_values(gain, bandwidth, request["phase_margin_deg"])
    if request["spur_db"] is not None:
        reached = -20 * math.log10(abs(loop_gain(gain, request["reference_hz"], parts)))
        if reached < request["spur_db"]:
            raise beyond(_ATTENUATION, "dB", request["spur_db"], reached, msg("Lower the bandwidth."))
    note = msg("Zero at {zero}, pole at {pole}.", zero=with_unit(1 / (2 * math.pi * r2 * c2), "Hz", 3),
               pole=with_unit((c1 + c2) / (2 * math.pi * r2 * c1 * c2), "Hz", 3))  # fmt: skip
    return kit.Sized(parts={"C1": c1, "R2": r2, "C2": c2}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The open loop for phases, a volt a radian: detector and charge pump, filter, oscillator, divider."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    deck.part("Vin in 0 DC 0 AC 1", msg("phase error, 1 V for 1 rad"))
    deck.part(
        f"Gpump 0 tune in 0 {spice(request['pump_a'] / 2 / math.pi)}", msg("phase detector and charge pump")
    )
    deck.part(f"C1 tune 0 {parts['C1']}", msg("loop filter: pole"))
    deck.part(f"R2 tune z {parts['R2']}", msg("loop filter: zero"))
    deck.part(f"C2 z 0 {parts['C2']}", msg("loop filter: zero"))
    deck.part(f"Rleak tune 0 {spice(_LEAK_OHM)}", msg("DC path"))
    gm = 2 * math.pi * request["kvco_hz"] * _INTEGRATOR_F
    deck.part(
        f"Gvco 0 phase tune 0 {spice(gm)}", msg("oscillator: its phase is the integral of the tuning voltage")
    )
    deck.part(f"Cvco phase 0 {spice(_INTEGRATOR_F)}", msg("integrates, with Gvco"))
    deck.part(f"Rvco phase 0 {spice(_LEAK_OHM)}", msg("DC path"))
    deck.part(f"Edivide out 0 phase 0 {spice(1 / request['ratio'])}", msg("divider: the loop gain is V(out)"))


FAMILY = kit.Family(
    key="pll_loop_filter",
    name=msg("loop filters of charge-pump PLLs (second order)"), one=msg("a PLL loop filter"),
    examples={"en": "PLL loop filter, 20 kHz bandwidth, phase margin 50, Kvco 20 MHz/V, Icp 1 mA, N = 900",
              "zh": "锁相环环路滤波器，带宽20kHz，相位裕度50，压控灵敏度20MHz/V，电荷泵电流1mA，分频比900"},
    words=kit.Words(
        named=(
            r"^(?=.*(?:loop[\s-]?filter|环路滤波))(?!.*(?:active|有源|digital|数字)).*|"
            r"^(?=.*(?:pll|锁相|phase[\s-]lock))(?=.*(?:band[\s-]?width|带宽|phase[\s-]margin|相位裕|k_?vco)).*"
        ),
        excludes=r"buck|boost|converter|变换器|op[\s-]?amp|运放",
    ),
    quantities=_QUANTITIES,
    goals=(
        kit.GoalRow(metric="loop_bandwidth", label=msg("Loop bandwidth"), unit="Hz", quantity="bandwidth_hz",
                    expression="ugf(v(out))"),
        kit.GoalRow(metric="phase_margin", label=msg("Phase margin"), unit="deg", quantity="phase_margin_deg",
                    expression="phase_margin(v(out))", is_corrected=False),
        kit.GoalRow(
            metric="spur_attenuation", label=msg("Attenuation of the loop at the reference frequency"),
            unit="dB", quantity="spur_db", is_corrected=False,
            expression=lambda request: f"-db(gain(v(out),{spice(request['reference_hz'])}))",
        ),
    ),
    title="PLL loop filter {bandwidth_hz:Hz3}, {phase_margin_deg:g} deg",
    remarks=(msg("L(s) = Icp Kvco Z(s) / (N s), opened at the phase detector."),),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 100 {spice(request['bandwidth_hz'] / 300)} "
        f"{spice(3 * max(request['reference_hz'] or 0.0, 100 * request['bandwidth_hz']))}",
    ),
    output="", size=size, netlist=netlist,
    complete=complete,
)  # fmt: skip
