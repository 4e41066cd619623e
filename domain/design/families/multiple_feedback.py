"""Multiple-feedback low-pass and high-pass filters of order 1 to 8: Butterworth, Chebyshev, Bessel.

A cascade of n // 2 inverting stages and, for odd n, an inverting first-order one, by rising Q. The response
and its goals: `sallen_key_response`; stages and their parts: `domain.design.multiple_feedback_stage`.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import filter_rows as rows
from domain.design.families import sallen_key
from domain.design.families.sallen_key_response import sections
from domain.design.kit import with_unit
from domain.design.multiple_feedback_stage import in_deck, size_stage, write_stage
from domain.design.opamp import given_gbw_hz
from domain.design.sallen_key_stage import demands, gain_bandwidth, size_stages
from shared.message import msg

_INVERTING = (
    r"inverting (?:active )?(?:low|high)[\s-]?pass|inverting (?:active )?filter|"
    r"反相[^,;。]{0,8}(?:滤波|低通|高通)"
)
_MORE_GAIN = 2.0
"""Times the bandwidth a Sallen-Key stage needs: the loop sees 1 + gain, and the capacitors more."""
_QUANTITIES = tuple(
    replace(row, within=(0.1, 100), has_sign=False)
    if row is rows.GAIN
    else replace(row, within=(1, 8))
    if row.name == "order"
    else replace(row, within=(0.501, 10))
    if row.name == "q"
    else row
    for row in sallen_key.QUANTITIES
)


def _claims(sentence: kit.Sentence) -> float:
    """By name, or an inverting filter; a band-pass is the family `band_pass`."""
    if sentence.has(r"band[\s-]?pass|(?<![a-z])bpf?(?![a-z])|带通|notch|带阻|陷波"):
        return 0.0
    return 1.0 if sentence.has(f"{rows.MULTIPLE_FEEDBACK_WORDS}|{_INVERTING}") else 0.0


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Stages with parts that can be bought, and an op-amp that is fast enough."""
    kind, gain, cutoff = request["kind"], request["gain"], request["cutoff_hz"]
    asked = demands(kind, sections(request), cutoff, gain)
    seen = [(section, hz, _MORE_GAIN * max(each, 1.0)) for section, hz, each in asked]
    gbw = gain_bandwidth(kind, seen, given_gbw_hz(request), correction["gbw_hz"])
    aimed = demands(kind, sections(request, correction["ripple_db"]), cutoff * correction["stated_hz"], gain)
    parts: dict[str, float] = {}
    figures = {"gbw_hz": gbw}
    for number, stage in enumerate(
        size_stages(kind, aimed, gbw, request["resistor_series"], size_stage), start=1
    ):
        section, hertz, _ = aimed[number - 1]
        parts |= {in_deck(name, number): value for name, value in stage.items()}
        figures |= {f"f{number}": hertz} | ({} if section.q is None else {f"q{number}": section.q})
    note = msg("Op-amps with a gain-bandwidth product of {gbw} are assumed; slower ones shift the cut-off.",
               gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts=parts, figures=figures, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source, supplies, one stage behind the other, and the op-amp's macro model."""
    rows.write_cascade(deck, request, sized, write_stage)


FAMILY = replace(
    sallen_key.FAMILY,
    key="multiple_feedback",
    name=msg(
        "multiple-feedback low-pass and high-pass filters of order 1 to 8 (Butterworth, Chebyshev, Bessel)"
    ),
    one=msg("a multiple-feedback filter"),
    examples={"en": "multiple-feedback low-pass filter, 2nd order, cut-off 1 kHz, gain 10",
              "zh": "多重反馈低通滤波器，四阶巴特沃斯，截止频率1kHz，增益2倍"},
    words=kit.Words(named=f"{rows.MULTIPLE_FEEDBACK_WORDS}|{_INVERTING}"),
    claims=_claims,
    quantities=_QUANTITIES,
    title=lambda request: sallen_key.title(request).replace("Sallen-Key", "Multiple-feedback"),
    size=size, netlist=netlist,
    says=sallen_key.reader(_QUANTITIES),
)  # fmt: skip
