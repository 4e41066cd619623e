"""The inverting adder: two to five inputs, each with its resistor into the virtual ground.

Vout = -sum(wi Vi) with wi = Rf / Ri, lessened by the finite open-loop gain; bandwidth GBW / (1 + sum(wi)).
Sources: Sedra, Smith, "Microelectronic Circuits", 7th ed., section 2.2.4; Texas Instruments, "Op Amps for
Everyone", SLOD006B, chapter 3.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from domain.design import kit, opamp, supplies
from domain.design.families.amplifier_rows import NEITHER_MORE, gain_row
from domain.design.families.logic_rows import count_of
from domain.design.kit import around, impossible, left_out, nearest, read_quantities, spice, with_unit
from shared.message import Message, msg

_MOST = 5
_FEEDBACK_OHM = (20e3, 68e3)
_SETTLED = 20.0  # a slot over the time constant of the bandwidth
_WEIGHT = (
    r"\d+(?:\.\d+)?(?:x|倍)?(?!\s?(?:[\d.%]|[kmgnuμ](?![a-z])|[kmgnuμ]?(?:hz|v|a|ohms?|欧|db|Ω|w)(?![a-z])))"
)
_WEIGHTS = re.compile(
    r"(?:weight(?:s|ed)?|gains?|coefficients?|权重|加权|系数|增益)(?: of|: ?|为|分别为|是|=|\s)*"
    rf"(?P<list>{_WEIGHT}(?:(?:\s?[,、/:]\s?(?:and )?|\s?(?:and|和)\s?){_WEIGHT})+)",
    re.IGNORECASE,
)
_WEIGHTED = re.compile(
    rf"(?:按|以|(?<![a-z])in (?:the )?ratio )?\s?(?P<list>{_WEIGHT}(?:(?:\s?[,、/:]\s?(?:and )?|"
    rf"\s?(?:and|和)\s?){_WEIGHT})+)"
    r"\s?(?:的|times)?\s?(?:权重|比例|系数|加权|weight)",
    re.IGNORECASE,
)
_QUANTITIES = (
    kit.Quantity(
        name="inputs", label=msg("number of inputs"), dimensions=("none",), is_whole=True, within=(2, _MOST),
        words=r"(?:audio |analog |signal )?(?:input|channel|way|mic(?:rophone)?|source|signal|"
        r"track)s?(?![a-z])|路|个?输入|通道",
        example=3, default=2,
    ),
    gain_row((0.05, 200), 1, default=1.0),
    opamp.BANDWIDTH,
    opamp.SUPPLY,
    opamp.GBW,
    kit.TOLERANCE,
)  # fmt: skip
_PLURAL = (
    r"[ -](?!op[\s-]?amps?|opamps|resistors|volts|amps|boards|stages|supplies|rails|poles|wires|times|"
    r"different)"
    r"(?:[a-z]+[ -]){0,2}?(?!op[\s-]?amps?|opamps|resistors|boards|stages)[a-z]{2,}s(?![a-z])|"
    r"\s?(?:[个只支把条根台轨组]|路)(?!运放|电阻|电源|版|月|人)"
)
"""Behind a number: what is counted."""
_LETTERS = re.compile(r"(?<![A-Za-z\d])[A-Z](?:\s?\+\s?[A-Z]){1,4}(?![A-Za-z\d])")
_SUM = re.compile(
    r"=\s?-\s?(?P<list>\(?(?:\s?\+?\s?(?:\d+(?:\.\d+)?\s?[*x]?\s?)?[uv]_?i?n?_?\d){2,})", re.IGNORECASE
)
_TERM = re.compile(r"(\d+(?:\.\d+)?)?\s?[*x]?\s?[uv]_?i?n?_?\d", re.IGNORECASE)


def _things(text: str) -> float | None:
    """How many things are joined, whatever they are: "three sensors", "-(A + B + C)", 五把吉他."""
    if (terms := _LETTERS.search(text)) is not None:
        return float(terms[0].count("+") + 1)
    count = count_of(text, _PLURAL)
    return count if count is not None and 2 <= count <= _MOST else None


def says(sentence: kit.Sentence) -> kit.Said:
    """A list of weights, a sum written out, or one gain for all inputs."""
    found = _WEIGHTS.search(sentence.text) or _WEIGHTED.search(sentence.text) or _SUM.search(sentence.text)
    if found is None:
        values, unused = read_quantities(_QUANTITIES, sentence)
        if "inputs" not in values and (count := _things(sentence.text)) is not None:
            values["inputs"] = count
        return kit.Said(values=values, stated=frozenset(values), notes=left_out(unused))
    start, end = found.span("list")
    rest = tuple(each for each in sentence.mentions if not start <= each.start < end)
    values, unused = read_quantities(_QUANTITIES, replace(sentence, mentions=rest, links=()))
    weights = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", found["list"])]
    weights = [float(term or 1) for term in _TERM.findall(found["list"])] or weights
    if not 2 <= len(weights) <= _MOST or not all(0.05 <= each <= 200 for each in weights):
        raise impossible(msg("An adder has two to {most} inputs with weights of 0.05 to 200.", most=_MOST),
                         msg("Name the weights, for example: weights 1, 2 and 4."))  # fmt: skip
    stated = frozenset({*values, "weights"})
    return kit.Said(values={**values, "weights": weights}, stated=stated, notes=left_out(unused))


def complete(request: kit.Request) -> kit.Said:
    """The weight of each input, and the largest as the gain."""
    weights = request.get("weights")
    if weights is None:
        count, gain = int(request["inputs"] or 2), request["gain"] or 1.0
        return kit.Said(values={f"weight_{n}": gain for n in range(1, count + 1)} | {"inputs": count})
    values = {f"weight_{n}": each for n, each in enumerate(weights, 1)}
    return kit.Said(values={**values, "inputs": len(weights), "gain": max(weights)})


def _weights(request: kit.Request) -> list[float]:
    return [request[f"weight_{n}"] for n in range(1, int(request["inputs"]) + 1)]


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """Rf of E24 for which resistors of E96 come nearest to all weights; an op-amp that is fast enough."""
    weights = [each * correction["gain"] for each in _weights(request)]
    noise_gain = 1 + sum(weights)
    weights = [each * (1 + noise_gain / opamp.OPEN_LOOP_GAIN) for each in weights]

    def miss(rf: float) -> float:
        return max(abs(math.log(rf / each / nearest(rf / each, "E96"))) for each in weights)

    rf = min(kit.values_between(*_FEEDBACK_OHM, "E24"), key=miss)
    parts = {f"R{n}": nearest(rf / each, "E96") for n, each in enumerate(weights, 1)}
    gbw = opamp.fast_enough(request, correction, noise_gain)
    note = msg("Rf = {rf}, an op-amp with a gain-bandwidth product of {gbw}.", rf=with_unit(rf, "Ω"),
               gbw=with_unit(gbw, "Hz"))  # fmt: skip
    return kit.Sized(parts={**parts, "Rf": rf}, figures={"gbw_hz": gbw}, notes=(note,))


def _slot_s(request: kit.Request) -> float:
    return float(_SETTLED / (2 * math.pi * request["bandwidth_hz"]))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """One source an input, high one after the other, the resistors and the op-amp."""
    weights, slot = _weights(request), _slot_s(request)
    amplitude, ground = supplies.amplitude_v(request, max(weights)), supplies.ground_of(request)
    edge = slot / 100
    for n in range(1, len(weights) + 1):
        times = f"{spice(edge)} {spice(edge)} {spice(slot - 2 * edge)} 1k"
        pulse = f"PULSE(0 {spice(amplitude)} {spice((n - 0.5) * slot)} {times})"
        deck.part(
            f"Vin{n} in{n} {ground} DC 0 AC 1 {pulse}", msg("input {number}, goes high in turn", number=n)
        )
    rails = supplies.write_rails(deck, request, "buffer")
    for n in range(1, len(weights) + 1):
        deck.part(f"R{n} in{n} n {spice(sized.parts[f'R{n}'])}", msg("weight of input {number}", number=n))
    deck.part(f"Rf out n {spice(sized.parts['Rf'])}", msg("feedback"))
    deck.part(
        f"X1 {rails.ground} n vcc {rails.low} out {request['opamp']}",
        rails.op_amp_at_ground,
    )
    opamp.write_opamp(deck, request, sized.figures["gbw_hz"])


def _goal(n: int) -> kit.GoalRow:
    label: Message = msg("Weight of input {number}", number=n)

    def expression(request: kit.Request) -> str:
        place = spice((n + 0.4) * _slot_s(request))
        if not supplies.is_single(request):
            return f"at(v(out),{place})/at(v(in{n}),{place})"
        middle = f"at(v(ref),{place})"
        return f"(at(v(out),{place})-{middle})/(at(v(in{n}),{place})-{middle})"

    return kit.GoalRow(
        metric=f"weight_{n}", label=label, unit="1", quantity="gain" if n == 1 else f"weight_{n}",
        expression=expression, bounds=lambda request: around(-request[f"weight_{n}"], request["tolerance"]),
        is_corrected=False, when=lambda request: request["inputs"] >= n,
    )  # fmt: skip


FAMILY = kit.Family(
    key="summing_amplifier",
    name=msg("summing op-amp amplifiers (inverting adders)"), one=msg("a summing amplifier"),
    examples={"en": "summing amplifier, 3 inputs, weights 1, 2 and 4",
              "zh": "三路反相加法器，权重1、2、4"},
    words=kit.Words(
        named=(r"(?:inverting )?(?:op[\s-]?amps? )?(?<![a-z])(?:summ(?:ing|er)|add(?:er|ing))(?![a-z])"
               r"(?: (?:op[\s-]?amps?|amplifier|amp|circuit|mixer))*|"
               r"(?:audio )?mixer (?:amplifier|amp)|audio mixer|"
               r"(?:\d\s?路|[二三四五两]路)?(?:反相)?(?:输入)?(?:运放)?"
               r"(?:加权)?(?:加法|求和)(?:运算)?(?:放大)?(?:器|电路)?"),
        excludes=(r"full[\s-]adder|half[\s-]adder|全加器|半加器|binary|logic|逻辑|non[\s-]?inverting|同相|"
                  + NEITHER_MORE),
    ),
    quantities=_QUANTITIES,
    choices=(opamp.OPAMP, supplies.RAILS),
    judge=supplies.judged("buffer"),
    goals=tuple(_goal(n) for n in range(1, _MOST + 1)),
    title=lambda request: (
        f"Summing amplifier, weights {' '.join(f'{each:.4g}' for each in _weights(request))}"
    ),
    remarks=(msg("Vout = -(Rf / R1 V1 + Rf / R2 V2 + ...)."),),
    analyses=lambda request, _sized, _goals: (
        f".tran {spice(_slot_s(request) / 100)} {spice((request['inputs'] + 0.5) * _slot_s(request))}",
    ),
    size=size, netlist=netlist,
    says=says,
    complete=complete,
)  # fmt: skip
