"""Sallen-Key low-pass and high-pass filters of order 1 to 10: Butterworth, Chebyshev, Bessel.

A filter of order n is a cascade of n // 2 Sallen-Key stages and, for odd n, a buffered RC, by rising Q. Its
response: `sallen_key_response`; stages, their parts and op-amps: `domain.design.sallen_key_stage`. "Cut-off"
is the -3 dB frequency of every response, unless the sentence says ripple edge (Chebyshev), a pass-band loss
at an edge, or a Q (order 2: then it is the natural frequency f0, where the gain is Q).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.design import kit, supplies
from domain.design.families import filter_rows as rows
from domain.design.families import sallen_key_response
from domain.design.families.filter_requests import filter_kind, filter_reader, order_of
from domain.design.kit import with_unit
from domain.design.opamp import GBW, OPAMP, SUPPLY, given_gbw_hz
from domain.design.sallen_key_stage import demands, gain_bandwidth, size_stage, size_stages, write_stage
from shared.message import msg

_NAMED = r"sallen|萨伦|赛伦|萨林|sk\s?(?:滤波|filter|结构)|压控电压源|vcvs"
_ACTIVE = (
    rf"{rows.BUTTERWORTH_WORDS}|{rows.CHEBYSHEV_WORDS}|{sallen_key_response.BESSEL_WORDS}|{sallen_key_response.FLAT_WORDS}|"
    r"(?<![a-z])active|有源|op[\s-]?amp|operational amplifier|运放|运算放大器"
)
_NEEDS_ORDER = (
    r"(?<![a-z])gain|增益|放大\S{0,3}倍|(?<![a-z])q\s*(?:=|:|of|is|为|值)|"
    # a limit on a peak or a ripple: only a filter of a higher order has one
    r"(?:peak(?:ing)?|ripple|峰值|尖峰|纹波|波纹)[^,;，；。]{0,14}\d\s?(?:db|分贝)|"
    r"\d\s?(?:db|分贝)\s*(?:of )?(?:pass[\s-]?band )?(?:peak|ripple|纹波|波纹)"
)
QUANTITIES = (
    *rows.filter_quantities((1e-3, 1e9), example_hz=1e3, name="stated_hz"),
    replace(rows.order_quantity(1, 10), required=False),
    rows.RIPPLE,
    rows.GAIN,
    kit.Quantity(
        name="q", label=msg("quality factor Q"), dimensions=("none",), within=(0.501, 20), example=0.707,
        words=r"(?<![a-z])q(?:\s*值|\s*factor)?(?![a-z])|quality factor|品质因数",
    ),
    kit.Quantity(
        name="damping", label=msg("damping ratio"), dimensions=("none",), within=(1e-3, 1e3), example=0.7,
        words=r"damping(?: ratio| factor)?|阻尼(?:比|系数)|ζ",
    ),
    rows.LOSS,
    rows.PEAKING,
    GBW,
    SUPPLY,
)  # fmt: skip


def _claims(sentence: kit.Sentence) -> float:
    """By name; an active filter, a response, an order above one, or a demand that needs one."""
    if sentence.has(_NAMED):
        return 1.0
    if sentence.has(rows.MULTIPLE_FEEDBACK_WORDS):
        return 0.0
    if not sentence.has(rows.FILTER_WORDS) or sentence.has(r"passive|无源|(?<![a-z])r-?[cl](?![a-z])|阻容"):
        return 0.0
    order = order_of(sentence)
    if (order or 0) > 1 or sentence.has(_ACTIVE):
        return 0.8
    attenuates = any(abs(each.value) > 3.1 for each in sentence.of("dB"))
    is_demanding = attenuates and not sentence.has("passband loss|通带衰减|插入?损耗?")
    is_filter = filter_kind(sentence) is not None and order is None
    return 0.7 if is_filter and (is_demanding or sentence.has(_NEEDS_ORDER)) else 0.0


def reader(quantities: Sequence[kit.Quantity]) -> Callable[[kit.Sentence], kit.Said]:
    """The end of a pass band with a loss is said, the -3 dB frequency behind it is not."""
    read = filter_reader(quantities, cutoff="stated_hz")

    def says(sentence: kit.Sentence) -> kit.Said:
        said = read(sentence)
        return replace(said, stated=said.stated - {"stated_hz"}) if said.values.get("loss_db") else said

    return says


def restore(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Before this family was declared, flags told what was said."""
    if kit.STATED in parameters:
        return parameters
    old, names = parameters, ("q", "loss_db", "peaking_db", "attenuation_db")
    stated = [name for name in names if old.get(name) is not None]
    stated += [name for name in ("gain", "ripple") if old[f"{name}_is_stated"]]
    stated += [] if old["loss_db"] else ["stated_hz"]
    return {
        **old, kit.STATED: sorted("ripple_db" if name == "ripple" else name for name in stated),
        kit.DERIVED: ["cutoff_hz", "wanted_hz"],
        "cutoff_at": "edge" if old["is_ripple_edge"] else "half_power",
    }  # fmt: skip


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Stages with parts that can be bought, and an op-amp that is fast enough."""
    kind, gain, cutoff = request["kind"], request["gain"], request["cutoff_hz"]
    asked = demands(kind, sallen_key_response.sections(request), cutoff, gain)
    gbw = gain_bandwidth(kind, asked, given_gbw_hz(request), correction["gbw_hz"])
    aimed = demands(
        kind,
        sallen_key_response.sections(request, correction["ripple_db"]),
        cutoff * correction["stated_hz"],
        gain,
    )
    parts: dict[str, float] = {}
    figures = {"gbw_hz": gbw}
    stages = size_stages(kind, aimed, gbw, request["resistor_series"], size_stage)
    for number, stage in enumerate(stages, start=1):
        parts |= stage.parts(number)
        figures |= {f"f{number}": stage.frequency_hz} | ({} if stage.q is None else {f"q{number}": stage.q})
    note = msg("Op-amps with a gain-bandwidth product of {gbw} are assumed; slower ones shift the cut-off.",
               gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts=parts, figures=figures, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, one stage behind the other, and the op-amp's macro model."""
    rows.write_cascade(deck, request, sized, write_stage)


def title(request: kit.Request) -> str:
    response = request["response"].capitalize() if request["q"] is None else f"Q = {request['q']:g}"
    kind, hertz = request["kind"].replace("pass", "-pass"), with_unit(request["stated_hz"], "Hz")
    return f"Sallen-Key {kind} filter, order {request['order']}, {response}, {hertz}"


FAMILY = kit.Family(
    key="sallen_key",
    name=msg("Sallen-Key low-pass and high-pass filters of order 1 to 10 (Butterworth, Chebyshev, Bessel)"),
    one=msg("an active Sallen-Key filter"),
    examples={"en": "4th-order Butterworth low-pass filter, cut-off 1 kHz",
              "zh": "截止频率为1kHz的二阶巴特沃斯低通滤波器"},
    words=kit.Words(
        named=_NAMED,
    ),
    claims=_claims,
    quantities=QUANTITIES,
    choices=(sallen_key_response.RESPONSE, rows.CUTOFF_AT, OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=sallen_key_response.GOALS,
    title=title,
    remarks=lambda request: (sallen_key_response.cutoff_definition(request),),
    analyses=sallen_key_response.sweep,
    size=size, netlist=netlist,
    says=reader(QUANTITIES),
    complete=sallen_key_response.complete,
    restore=restore,
    factors=lambda _, tuning: {"stated_hz": tuning["scale"], "ripple_db": tuning["ripple_scale"]},
)  # fmt: skip
