"""What a buck converter must do, read from a sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from domain.circuit.preferred_values import with_unit
from domain.design.buck_power_stage import OperatingPoint
from domain.design.sentence import Mention, Sentence
from domain.design.understanding import Filled, Slot, fill_slots, impossible, left_out, missing_goal
from shared.message import Message, msg

Rectifier = Literal["diode", "synchronous"]

DEFAULT_FSW_HZ = 300e3
DEFAULT_RIPPLE = 0.01
DEFAULT_INDUCTOR_RIPPLE = 0.3
DEFAULT_TOLERANCE = 0.02

_INDUCTOR_RIPPLE_WORDS = (
    r"(?:inductor (?:current )?ripple|ripple current|current ripple)(?: ratio| factor)?|"
    r"电感(?:电流)?的?(?:纹波|波动)(?:电流|系数|率|比)?|纹波电流|电流纹波|"
    r"Δ\s?i_?l?|delta i"
)
_RIPPLE_WORDS = (
    r"(?<!current )(?<!inductor )ripple(?! current)|"
    r"(?<!电流)(?<!电感)(?<!电流的)(?<!电感的)(?:纹波|波纹)(?!电流)(?:电压)?|"
    r"Δ\s?v\w*|vpp|p-p|峰峰值?|pk-pk"
)
_CURRENT_WORDS = (
    r"load|output current|i_?out|(?<![a-z])i_?o(?![a-z])|(?<!ripple )(?<!inductor )current(?! ripple)|"
    r"(?<!纹波)(?<!电感)电流(?!的?(?:纹波|波动))|负载|带载"
)

_SLOTS = (
    Slot(
        name="vin",
        dimensions=("V",),
        words=(
            r"(?<!dc )input|(?<![a-z])v_?in(?![a-z])|输入|供电|电池|"
            r"battery|source|supply|bus|母线"
        ),
        before=r"from|从|由|将|把|(?<![a-z])in\s*[:=]",
        after=r"\s*(?:dc\s*)?_?in(?![a-z])",
    ),
    Slot(
        name="vout",
        dimensions=("V",),
        words=r"output|(?<![a-z])v_?out(?![a-z])|(?<![a-z])v_?o(?![a-z])|输出|得到|产生",
        before=(
            r"(?<![a-z])to|into|降(?:压)?(?:到|至|为|成)|转(?:换)?(?:到|至|为|成)?|"
            r"变(?:换)?(?:到|至|为|成)|(?<![a-z])out\s*[:=]"
        ),
        after=r"\s*(?:dc\s*)?_?out(?![a-z])",
    ),
    Slot(name="ripple_v", dimensions=("V",), words=_RIPPLE_WORDS),
    Slot(name="ripple_share", dimensions=("%",), words=_RIPPLE_WORDS, takes_bare=False),
    Slot(
        name="diode_v",
        dimensions=("V",),
        words=r"diode|forward (?:drop|voltage)|(?<![a-z])v_?f(?![a-z])|二极管|正向|压降(?!到)",
    ),
    # "ripple ratio 0.4" without a unit is a share of the load current
    Slot(name="inductor_ripple", dimensions=("%", "A"), words=_INDUCTOR_RIPPLE_WORDS),
    Slot(
        name="iout",
        dimensions=("A",),
        words=_CURRENT_WORDS,
        before="@",
        after=r"\s*(?:max(?:imum)?\s*)?(?:output|load|输出|负载)",
        takes_rest=True,
    ),
    Slot(
        name="load_ohm",
        dimensions=("Ohm",),
        words=r"load|负载|(?<![a-z])r_?l(?:oad)?(?![a-z])",
        takes_rest=True,
    ),
    Slot(name="power_w", dimensions=("W",), words=r"power|功率", takes_rest=True),
    Slot(
        name="fsw_hz",
        dimensions=("Hz",),
        words=r"switching(?: frequency)?|f_?sw?(?![a-z])|frequency|开关频率|工作频率|频率",
        takes_rest=True,
    ),
    Slot(
        name="tolerance",
        dimensions=("%",),
        words=r"tolerance|accura\w*|error|regulation|误差|偏差|容差|精度",
        before=r"±|\+/?-|正负",
    ),
    Slot(name="efficiency", dimensions=("%",), words=r"efficien\w*|效率|η"),
    Slot(
        name="inductance", dimensions=("H",), words=r"induct\w*|(?<![a-z])l\d?(?![a-z])|电感", takes_rest=True
    ),
    Slot(
        name="capacitance",
        dimensions=("F",),
        words=r"capacit\w*|(?<![a-z])c\w{0,3}(?![a-z])|电容",
        takes_rest=True,
    ),
    Slot(name="esr", dimensions=("Ohm",), words=r"(?<![a-z])esr(?![a-z])|等效串联电阻"),
    Slot(name="winding_ohm", dimensions=("Ohm",), words=r"(?<![a-z])dcr(?![a-z])|winding|绕组|直流电阻"),
    Slot(
        name="switch_ohm",
        dimensions=("Ohm",),
        words=r"r_?(?:ds_?)?\(?on\)?(?![a-z])|on[\s-]resistance|导通电阻|内阻",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuckRequirement:
    """What the converter must do. SI units; plain JSON types. None = to be chosen."""

    vin: float
    """Input the circuit is simulated at."""
    vin_lowest: float
    vin_highest: float
    vout: float
    iout: float
    fsw: float
    ripple_v: float
    """Largest output ripple, peak to peak."""
    ripple_is_stated: bool
    inductor_ripple_a: float
    """Largest inductor ripple, peak to peak."""
    inductor_ripple_is_stated: bool
    tolerance: float
    tolerance_is_stated: bool
    rectifier: Rectifier
    rectifier_is_stated: bool
    efficiency: float | None
    inductance: float | None
    capacitance: float | None
    esr: float | None
    winding_ohm: float | None
    switch_ohm: float | None
    diode_v: float | None

    def at(self, vin: float) -> OperatingPoint:
        """The operating point at full load and some input voltage."""
        return OperatingPoint(vin=vin, vout=self.vout, iout=self.iout, fsw=self.fsw)


def read_buck(sentence: Sentence) -> tuple[BuckRequirement, list[Message], tuple[Message, ...]]:
    """Requirement, assumptions, and remarks about numbers that were not used. Raises CircuitError."""
    notes: list[Message] = []
    (vin, low, high), vout, filled = _voltages(sentence, notes)
    _check_voltages(low, vin, vout)
    iout = _load_current(filled, vout)
    fsw = _switching_frequency(filled, notes)
    ripple_v, ripple_is_stated = _ripple(filled, vout, notes)
    inductor_ripple, inductor_is_stated = _inductor_ripple(filled, iout)
    tolerance = filled.value("tolerance")
    if tolerance is None:
        notes.append(
            msg(
                "No tolerance was said: the output may be off by {percent} %.",
                percent=f"{100 * DEFAULT_TOLERANCE:g}",
            )
        )
    rectifier, rectifier_is_stated = _rectifier(sentence, filled, vin, vout, notes)
    if high > low:
        notes.append(
            msg(
                "The parts are sized for {low} to {high} V; the fixed duty of the netlist is that for "
                "{vin} V.",
                low=f"{low:g}",
                high=f"{high:g}",
                vin=f"{vin:g}",
            )
        )
    requirement = BuckRequirement(
        vin=vin,
        vin_lowest=low,
        vin_highest=high,
        vout=vout,
        iout=iout,
        fsw=fsw,
        ripple_v=ripple_v,
        ripple_is_stated=ripple_is_stated,
        inductor_ripple_a=inductor_ripple,
        inductor_ripple_is_stated=inductor_is_stated,
        tolerance=_share(tolerance, DEFAULT_TOLERANCE),
        tolerance_is_stated=tolerance is not None,
        rectifier=rectifier,
        rectifier_is_stated=rectifier_is_stated,
        efficiency=_efficiency(filled),
        inductance=_positive(filled, "inductance"),
        capacitance=_positive(filled, "capacitance"),
        esr=_positive(filled, "esr"),
        winding_ohm=_positive(filled, "winding_ohm"),
        switch_ohm=_positive(filled, "switch_ohm"),
        diode_v=_positive(filled, "diode_v"),
    )
    return requirement, notes, left_out(filled.unused)


def _voltages(sentence: Sentence, notes: list[Message]) -> tuple[tuple[float, float, float], float, Filled]:
    """((nominal, lowest, highest) input, output, everything else)."""
    sentence = _ranges_joined(sentence)
    known = _linked_voltages(sentence)
    spreads = _spreads(sentence)
    rest = [m for m in sentence.mentions if m not in known.values()]
    span = next((m for m in rest if m.dimension == "V" and m.upper is not None), None)
    if span is not None:
        rest.remove(span)
    filled = fill_slots(sentence, [slot for slot in _SLOTS if slot.name not in known], rest)
    known |= {name: filled.values[name] for name in ("vin", "vout") if name in filled.values}
    if span is not None:
        _use_span(known, span)
    spare = [m for m in filled.unused if m.dimension == "V"]
    _use_spare(known, spare, notes)
    missing = {name for name in ("vin", "vout") if name not in known}
    if missing == {"vin"}:
        raise missing_goal(
            msg("The request does not say the input voltage."), msg("Add it, for example: 12 V input.")
        )
    if missing:
        raise missing_goal(
            msg("The request does not say the output voltage and from which input voltage."),
            msg("Add them, for example: 12 V to 5 V."),
        )
    source = known["vin"] if span is None or known["vin"].upper is not None else span
    low, high = source.value, source.value if source.upper is None else source.upper
    values = dict(filled.values)
    if (spread := spreads.get(known["vin"])) is not None and low == high:
        low, high = low * (1 - spread.value), high * (1 + spread.value)
        values = {name: mention for name, mention in values.items() if mention != spread}
    if (spread := spreads.get(known["vout"])) is not None:
        values["tolerance"] = spread
    used = {*known.values(), *spreads.values()}
    unused = tuple(m for m in filled.unused if m not in used)
    return (known["vin"].middle, low, high), known["vout"].value, Filled(values=values, unused=unused)


def _use_span(known: dict[str, Mention], span: Mention) -> None:
    """A range is the input; a voltage outside of it that was taken for the input ("9-36V input buck 5V") is
    the output."""
    assert span.upper is not None
    if "vin" in known and not span.value <= known["vin"].value <= span.upper and "vout" not in known:
        known["vout"] = known.pop("vin")
    known.setdefault("vin", span)


def _spreads(sentence: Sentence) -> dict[Mention, Mention]:
    """The percentage written straight behind a voltage: `12 V ± 10 %`."""
    pairs = zip(sentence.mentions, sentence.mentions[1:], strict=False)
    return {
        left: right
        for left, right in pairs
        if left.dimension == "V"
        and right.dimension == "%"
        and right.is_tolerance
        and not sentence.text[left.end : right.start].strip("±+/-( ")
    }


def _linked_voltages(sentence: Sentence) -> dict[str, Mention]:
    """`12 V -> 5 V`, `12V转5V`, `12-5 V`: input and output in one expression."""
    for index, _ in sentence.links:
        left, right = sentence.mentions[index], sentence.mentions[index + 1]
        if left.dimension == right.dimension and left.dimension in ("V", "none"):
            return {"vin": left, "vout": right}
    return {}


def _ranges_joined(sentence: Sentence) -> Sentence:
    """The sentence with "9 to 16 V" as one range: nothing steps *down* to more, so with a lower voltage
    beside it, it is a range of the input."""
    for index, kind in sentence.links:
        left, right = sentence.mentions[index], sentence.mentions[index + 1]
        others = [m for m in sentence.of("V") if m not in (left, right)]
        is_rising = left.dimension == right.dimension == "V" and left.value < right.value
        if kind == "to" and is_rising and any(m.value < left.value for m in others):
            span = replace(left, upper=right.value, end=right.end, bound=None)
            mentions = (*sentence.mentions[:index], span, *sentence.mentions[index + 2 :])
            links = tuple((i - (i > index), k) for i, k in sentence.links if i != index)
            return replace(sentence, mentions=mentions, links=links)
    return sentence


def _use_spare(known: dict[str, Mention], spare: list[Mention], notes: list[Message]) -> None:
    """Voltages no word names: the one that is missing, or the larger one is the input."""
    missing = [name for name in ("vin", "vout") if name not in known]
    if len(missing) == 1 and spare:
        known[missing[0]] = spare[0]
    elif len(missing) == 2 and len(spare) >= 2:
        low, high = sorted(spare[:2], key=lambda m: m.value)
        known |= {"vin": high, "vout": low}
        notes.append(
            msg(
                "{high} V is taken as the input and {low} V as the output.",
                high=f"{high.value:g}",
                low=f"{low.value:g}",
            )
        )


def _check_voltages(vin_lowest: float, vin: float, vout: float) -> None:
    if vout <= 0 or vin <= 0:
        raise impossible(
            msg(
                "A buck converter has a positive input and output, not {vin} V and {vout} V.",
                vin=f"{vin:g}",
                vout=f"{vout:g}",
            ),
            msg("Give positive voltages, for example 12 V to 5 V."),
        )
    if vout >= vin_lowest:
        raise impossible(
            msg(
                "A buck converter only steps down: {vout} V cannot be made from {vin} V.",
                vout=f"{vout:g}",
                vin=f"{vin_lowest:g}",
            ),
            msg(
                "Raise the input or lower the output voltage; stepping up needs a boost converter, which "
                "is not known yet."
            ),
        )
    if vin > 1000:
        raise impossible(
            msg("An input of {vin} is beyond a single-switch buck converter.", vin=with_unit(vin, "V")),
            msg("Give an input of up to 1000 V."),
        )


def _load_current(filled: Filled, vout: float) -> float:
    current, load, power = (filled.value(name) for name in ("iout", "load_ohm", "power_w"))
    if current is None and load is not None and load > 0:
        current = vout / load
    if current is None and power is not None:
        current = power / vout
    if current is None:
        raise missing_goal(
            msg("The request does not say the output current (or the load resistance or power)."),
            msg("Add it, for example: 2 A."),
        )
    if not 0 < current <= 200:
        raise impossible(
            msg("An output current of {current} is not possible.", current=with_unit(current, "A")),
            msg("Give a current above zero and up to 200 A, for example 2 A."),
        )
    return current


def _switching_frequency(filled: Filled, notes: list[Message]) -> float:
    fsw = filled.value("fsw_hz")
    if fsw is None:
        notes.append(
            msg("No switching frequency was said: {frequency}.", frequency=with_unit(DEFAULT_FSW_HZ, "Hz"))
        )
        return DEFAULT_FSW_HZ
    if not 1e3 <= fsw <= 10e6:
        raise impossible(
            msg("A switching frequency of {frequency} is not possible.", frequency=with_unit(fsw, "Hz")),
            msg("Give a switching frequency from 1 kHz to 10 MHz, for example 300 kHz."),
        )
    return fsw


def _ripple(filled: Filled, vout: float, notes: list[Message]) -> tuple[float, bool]:
    absolute, share = filled.value("ripple_v"), filled.value("ripple_share")
    ripple = absolute if absolute is not None else None if share is None else share * vout
    if ripple is None:
        ripple = DEFAULT_RIPPLE * vout
        notes.append(
            msg("No output ripple was said: at most {ripple} peak to peak.", ripple=with_unit(ripple, "V"))
        )
        return ripple, False
    if not 1e-5 * vout <= ripple <= 0.2 * vout:
        raise impossible(
            msg(
                "An output ripple of {ripple} on {vout} V is not designed for.",
                ripple=with_unit(ripple, "V"),
                vout=f"{vout:g}",
            ),
            msg("Give a ripple from 0.001 % to 20 % of the output voltage, for example 1 %."),
        )
    return ripple, True


def _inductor_ripple(filled: Filled, iout: float) -> tuple[float, bool]:
    mention = filled.values.get("inductor_ripple")
    if mention is None:
        return DEFAULT_INDUCTOR_RIPPLE * iout, False
    ripple = mention.middle if mention.dimension == "A" else mention.middle * iout
    if not 0.01 * iout <= ripple <= 1.9 * iout:
        raise impossible(
            msg("An inductor current ripple of {ripple} is not designed for.", ripple=with_unit(ripple, "A")),
            msg("Give 1 % to 190 % of the output current, for example 30 %."),
        )
    return ripple, True


def _rectifier(
    sentence: Sentence, filled: Filled, vin: float, vout: float, notes: list[Message]
) -> tuple[Rectifier, bool]:
    if sentence.has(r"non[\s-]?synchronous|\basynchronous|非同步|异步|diode|二极管|schottky|肖特基|续流"):
        return "diode", True
    if sentence.has(r"synchron|同步"):
        return "synchronous", True
    # The diode's share of the output power; the other parts lose about 3 %.
    diode_loss = (filled.value("diode_v") or 0.4) * (1 - vout / vin) / vout
    if (filled.value("efficiency") or 0.0) > 0.97 / (1 + diode_loss):
        notes.append(msg("For this efficiency a synchronous rectifier is designed."))
        return "synchronous", False
    notes.append(msg("No rectifier was said: a Schottky diode is used."))
    return "diode", False


def _efficiency(filled: Filled) -> float | None:
    efficiency = filled.value("efficiency")
    if efficiency is not None and not 0 < efficiency <= 0.995:
        raise impossible(
            msg("An efficiency of {percent} % is not possible.", percent=f"{100 * efficiency:g}"),
            msg("Give an efficiency of up to 99.5 %, for example 90 %."),
        )
    return efficiency


def _positive(filled: Filled, name: str) -> float | None:
    value = filled.value(name)
    if value is not None and value <= 0:
        raise impossible(
            msg("The part value {value} is not above zero.", value=filled.values[name].text),
            msg("Check the signs and units of the given part values."),
        )
    return value


def _share(value: float | None, default: float) -> float:
    if value is None:
        return default
    if not 0.0005 <= value < 0.5:
        raise impossible(
            msg("A tolerance of {percent} % is not possible.", percent=f"{100 * value:g}"),
            msg("Give a tolerance between 0 and 100 %, for example 5 %."),
        )
    return value
