"""The second-order band-pass filter with multiple feedback: one op-amp, two equal capacitors.

With C1 = C2 = C: R3 = 2 Q / (w0 C), R1 = R3 / (2 H), R2 = R3 / (4 Q^2 - 2 H), H the gain at the centre,
negative.
Sources: Kugelstadt, "Active Filter Design Techniques", Texas Instruments, SLOD006B chapter 16, section
16.5.2; Sedra, Smith, "Microelectronic Circuits", 7th ed., section 17.8.
"""

from __future__ import annotations

import math

from domain.design import kit, supplies
from domain.design.families import resonance_rows as rows
from domain.design.families.amplifier_rows import gain_row
from domain.design.kit import around, best_pair, nearest, spice, unreachable, values_between, with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, enough_gbw_hz, write_opamp
from shared.message import msg

_FASTER = 100.0
"""GBW over Q f0: the centre comes out low by the inverse."""


_QUANTITIES = (
        rows.CENTER,
        rows.WIDTH,
        rows.QUALITY,
        gain_row((0.1, 100), 2, default=1.0),
        SUPPLY,
        GBW,
        kit.TOLERANCE,
    )  # fmt: skip


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12 and R3 of E96 whose product comes nearest, R1 and R2 of E96."""
    quality = request["quality"] * correction["quality"]
    gain = request["gain"] * correction["gain"]
    if gain >= 1.9 * quality**2:
        raise unreachable(
            msg("gain"),
            f"{request['gain']:.4g}",
            f"{1.9 * request['quality'] ** 2:.3g}",
            msg("Lower the gain or narrow the bandwidth: this circuit gives at most twice the square of Q.")
            if request["width_hz"] is not None
            else msg("Lower the gain or raise Q: this circuit gives at most twice the square of Q."),
        )
    product = 2 * quality / (2 * math.pi * request["center_hz"] * correction["center_hz"])
    c = product / min(max(20e3 * quality, 10e3), 1e6)
    c, r3 = best_pair(
        values_between(max(c / 3, 20e-12), max(3 * c, 68e-12), "E12"),
        lambda each: product / each,
        "E96",
        lambda one, two: abs(math.log(one * two / product)) + 1e-4 * abs(math.log(one / c)),
    )
    parts = {
        "R1": nearest(r3 / (2 * gain), "E96"),
        "R2": nearest(r3 / (4 * quality**2 - 2 * gain), "E96"),
        "R3": r3,
        "C1": c,
    }
    gbw = enough_gbw_hz(request, _FASTER * request["quality"] * request["center_hz"])
    note = msg("R1 = {r1}, R2 = {r2}, R3 = {r3}, C = {c}.", c=with_unit(c, "F"),
               **{name.lower(): with_unit(parts[name], "Ω") for name in ("R1", "R2", "R3")})  # fmt: skip
    return kit.Sized(parts=parts, figures={"gbw_hz": gbw}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, five parts and the op-amp."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    amplitude = supplies.amplitude_v(request, request["gain"])
    sine = f"SIN(0 {spice(amplitude)} {spice(request['center_hz'])})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the center for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    deck.part(f"R1 in x {parts['R1']}", msg("sets the gain"))
    deck.part(f"R2 x {rails.ground} {parts['R2']}", msg("sets the center together with R3"))
    deck.part(f"C1 x n {parts['C1']}", msg("to the inverting input"))
    deck.part(f"C2 x out {parts['C1']}", msg("feedback, equals C1"))
    deck.part(f"R3 out n {parts['R3']}", msg("feedback: sets Q"))
    deck.part(
        f"X1 {rails.ground} n vcc {rails.low} out {request['opamp']}",
        rails.op_amp_at_ground,
    )
    write_opamp(deck, request, sized.figures["gbw_hz"])


_NAMED = (
    r"(?:(?:active|multiple[\s-]?feedback|mfb|second[\s-]order|2nd[\s-]order|2[\s-]pole|"
    r"op[\s-]?amps?) )*"
    r"(?:band[\s-]?pass(?!e[ds]|ing)|(?<![a-z])bpf?(?![a-z]))(?: (?:active|mfb|"
    r"multiple[\s-]?feedback))*(?: filter)?|"
    r"only (?:lets?|pass(?:es|ing)?) [^,;.]{0,24}(?:around|near|close to)[^,;.]{0,12}|"
    r"只(?:让|允许|通过?)[^,;。]{0,16}(?:附近|左右)[^,;。]{0,6}通过|"
    r"(?:(?:有源|多重反馈|多路(?:负)?反馈|无限增益|二阶|2阶)(?:多路反馈)?)*带通(?:有源)?(?:滤波)?(?:器|电路)?"
)
_ELSEWHERE = r"4th|fourth|6th|third|3rd|[346]阶|butterw|巴特沃"


def claims(sentence: kit.Sentence) -> float:
    """By name, unless the band is too wide for one resonance."""
    is_other = sentence.has(rf"{rows.OTHER_BANDS}|{_ELSEWHERE}") or rows.is_wide(sentence)
    return 1.0 if sentence.has(_NAMED) and not is_other else 0.0


FAMILY = kit.Family(
    key="band_pass",
    name=msg("second-order band-pass filters (multiple feedback)"),
    one=msg("a multiple-feedback band-pass filter"),
    examples={"en": "band-pass filter, center 1 kHz, Q 5, gain 2",
              "zh": "中心频率1kHz、Q值5、增益2的带通滤波器"},
    words=kit.Words(named=_NAMED),
    claims=claims,
    quantities=_QUANTITIES,
    choices=(OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=(
        rows.CENTER_GOAL,
        rows.QUALITY_GOAL,
        kit.GoalRow(metric="gain", label=msg("Gain"), unit="1", quantity="gain",
                    expression=lambda request: f"gain(v(out)/v(in),{spice(request['center_hz'])})",
                    bounds=lambda request: around(request["gain"], max(0.05, request["tolerance"]))),
    ),
    title="Band-pass filter, {center_hz:Hz}, Q {quality:.4g}, gain {gain:.4g}",
    remarks=(msg("R3 = 2 Q / (w0 C), R1 = R3 / (2 gain), R2 = R3 / (4 Q^2 - 2 gain)."),),
    analyses=lambda request, _sized, _goals: (
        f".ac dec 200 {spice(request['center_hz'] / 100)} {spice(100 * request['center_hz'])}",
    ),
    size=size, netlist=netlist,
    says=rows.says_resonance(_QUANTITIES),
    complete=rows.complete_resonance,
)  # fmt: skip
