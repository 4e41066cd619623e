"""The L-section of one coil and one capacitor between two resistances, at one frequency.

With Q = sqrt(R_high / R_low - 1) the series part has the reactance Q R_low, the shunt part, across the higher
resistance, R_high / Q. The pair of preferred values with the least reflection is taken.
Source: Bowick, "RF Circuit Design", 2nd ed., chapter 4; Pozar, "Microwave Engineering", 4th ed., section 5.1.
"""

from __future__ import annotations

import math
from itertools import product

from domain.design import kit
from domain.design.families.two_ends import two_ends
from domain.design.kit import beyond, impossible, spice, values_between, with_unit
from shared.message import msg

_LEAST_RATIO, _MOST_RATIO = 1.2, 40.0
_NEAR = 1.12
"""So far from the exact value preferred ones are looked at."""
_PARTS = {"C": (0.5e-12, 10e-6, "F"), "L": (1e-9, 10e-3, "H")}
"""Least and greatest value one can buy or wind."""
_RETURN_LOSS = msg("return loss")


_QUANTITIES = (
    kit.Quantity(
        name="frequency_hz", label=msg("frequency"), dimensions=("Hz",), takes_rest=True,
        words=r"freq\w*|cent(?:er|re)|band|频率|频段|工作", weak=r"(?<![a-z])at(?![a-z])|@|在",
        within=(1e3, 3e9), example=14e6, required=True,
    ),
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), within=(0.5, 20e3), example=300,
        words=r"load|antenna(?: cable| feed(?:line)?)?|output|"
              r"(?<![a-z])r_?l(?:oad)?(?![a-z])|(?<![a-z])z_?l(?![a-z])|负载|天线|输出",
        before=r"(?<![a-z])to|into|and|with|到|至|成|和|与", after=r"\s*(?:load|antenna|负载|天线)",
        required=True,
    ),
    kit.Quantity(
        name="source_ohm", label=msg("source resistance"), dimensions=("Ohm",), within=(0.5, 20e3),
        words=r"source|generator|input|line|cable|transmitter|radio|(?<![a-z])[rz]_?s(?![a-z])|源|输入|发射机|电台",
        before=r"from|between|从|由|把|将", after=r"\s*(?:source|generator|line|coax|transmit|radio|源|电台)",
        takes_rest=True, example=50, default=50.0,
    ),
    kit.Quantity(
        name="return_loss_db", label=_RETURN_LOSS, dimensions=("dB",), takes_rest=True, limit="at_least",
        words=r"return loss|s11|match\w*|reflection|回波损耗|反射", has_sign=False, within=(6, 30),
        example=20, default=20.0,
    ),
)  # fmt: skip


def _is_low_pass(request: kit.Request) -> bool:
    return bool(request["form"] == "low_pass")


def _ends(request: kit.Request) -> tuple[float, float, float]:
    """The lower and the higher resistance (Ohm), and Q between them."""
    low, high = sorted((request["source_ohm"], request["load_ohm"]))
    return low, high, math.sqrt(high / low - 1)


def reflection(request: kit.Request, henry: float, farad: float) -> float:
    """The magnitude of the reflection at the frequency, seen from the source."""
    low, high, _ = _ends(request)
    omega = 2 * math.pi * request["frequency_hz"]
    series, shunt = (1j * omega * henry, 1j * omega * farad) if _is_low_pass(request) else (
        1 / (1j * omega * farad), 1 / (1j * omega * henry))  # fmt: skip
    seen = series + 1 / (shunt + 1 / high)  # from the lower end; without loss the other end reflects as much
    return float(abs((seen - low) / (seen + low)))


def says(sentence: kit.Sentence) -> kit.Said:
    """The two resistances, also as "from 50 ohm to 300 ohm"; everything else by its words."""
    ends, rest = two_ends(sentence)
    found, unused = kit.read_quantities(tuple(each for each in _QUANTITIES if each.name not in ends), rest)
    values = {**found, **ends}
    return kit.Said(values=values, stated=frozenset(values), notes=kit.left_out(unused))


def complete(request: kit.Request) -> kit.Said:
    """Raises CircuitError for resistances that match already, or are too far apart for one section."""
    if request["source_ohm"] is None or request["load_ohm"] is None:
        return kit.Said(values={})
    low, high, _ = _ends(request)
    told = {"low": with_unit(low, "Ω"), "high": with_unit(high, "Ω")}
    if high / low < _LEAST_RATIO:
        raise impossible(
            msg("{low} and {high} match as they are.", **told),
            msg("Connect them without a network, or give two resistances that differ."),
        )
    if high / low > _MOST_RATIO:
        raise impossible(
            msg("{low} and {high} are too far apart for one section: its values would have to be too exact.",
                **told),
            msg("Match to {middle} first, and from there with a second section.",
                middle=with_unit(math.sqrt(low * high), "Ω", 2)),
        )  # fmt: skip
    return kit.Said(values={})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """L of E24 and C of E96. Raises CircuitError for parts nobody can buy."""
    del correction  # nothing is measured that the values could be corrected by: the best pair is taken
    low, high, quality = _ends(request)
    omega = 2 * math.pi * request["frequency_hz"]
    series, shunt = quality * low, high / quality
    exact = {"L": series / omega, "C": 1 / (omega * shunt)}
    if not _is_low_pass(request):
        exact = {"L": shunt / omega, "C": 1 / (omega * series)}
    for letter, value in exact.items():
        least, most, unit = _PARTS[letter]
        if not least <= value <= most:
            advice = msg("Choose another frequency or other resistances: the parts follow from them.")
            raise beyond(msg("part value"), unit, value, least if value < least else most, advice, digits=2)
    coils = values_between(exact["L"] / _NEAR, exact["L"] * _NEAR, "E24")
    capacitors = values_between(exact["C"] / _NEAR, exact["C"] * _NEAR, "E96")
    henry, farad = min(product(coils, capacitors), key=lambda pair: reflection(request, *pair))
    reached = -20 * math.log10(max(reflection(request, henry, farad), 1e-6))
    if reached < request["return_loss_db"]:
        advice = msg("Preferred values come no closer; ask for less.")
        raise beyond(_RETURN_LOSS, "dB", request["return_loss_db"], reached, advice, digits=3)
    note = msg("Q = {q}.", q=f"{quality:.2g}")
    return kit.Sized(parts={"L1": henry, "C1": farad}, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Source and load with their resistances; the shunt part stands at the end with the higher one."""
    coil, capacitor = (spice(sized.parts[name]) for name in ("L1", "C1"))
    deck.part("Vin s 0 DC 0 AC 2", msg("source: 1 V when matched"))
    deck.part(f"Rs s in {spice(request['source_ohm'])}", msg("source resistance"))
    shunt_node = "out" if request["load_ohm"] > request["source_ohm"] else "in"
    if _is_low_pass(request):
        deck.part(f"L1 in out {coil}", msg("series"))
        deck.part(f"C1 {shunt_node} 0 {capacitor}", msg("shunt, at the higher resistance"))
    else:
        deck.part(f"C1 in out {capacitor}", msg("series"))
        deck.part(f"L1 {shunt_node} 0 {coil}", msg("shunt, at the higher resistance"))
    deck.part(f"Rload out 0 {spice(request['load_ohm'])}", msg("load"))


def _at(request: kit.Request) -> str:
    return spice(request["frequency_hz"])


FAMILY = kit.Family(
    key="matching_network",
    name=msg("L-sections that match two resistances"), one=msg("a matching network"),
    examples={"en": "L match from 50 ohm to 300 ohm at 14 MHz",
              "zh": "14MHz，50Ω匹配到300Ω的L型匹配网络"},
    words=kit.Words(
        named=(
            r"(?:impedance|antenna|(?<![a-z])l(?:[\s-]section)?|(?<![a-z])ell|lc)[\s-]match\w*"
            r"(?:[\s-](?:network|section|circuit))?|match\w*[\s-](?:network|section|circuit)|"
            r"(?<![a-z])l[\s-](?:network|section)(?: from| to| at|,)|"
            r"^(?:please )?match\w*(?: a| an| the)?\s[\d.]+|match\w* (?:from )?[\d.]+\s?(?:ohms?|Ω|k)|"
            r"(?:阻抗|天线|l型?)匹配(?:网络|电路)?|匹配(?:网络|电路)|(?<![a-z])l型网络|匹配到|匹配至|匹配成"
        ),
        excludes=(
            r"attenuat|pads?(?![a-z])|(?<![a-z'’])(?:pi|t|tee)[\s-]|π|transformer|balun|amplif|op[\s-]?amp|mirror|pair|"
            r"filter|ladder|stub|transmission|衰减|变压器|巴伦|放大|运放|镜像|对管|滤波|传输线|微带"
        ),
    ),
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="form", label=msg("circuit"),
            options=(
                kit.Option(key="low_pass", label=msg("low-pass section (series L, shunt C)"),
                           words=r"low[\s-]?pass|series (?:l|coil|inductor)|harmonic|低通|串联电感|谐波"),
                kit.Option(key="high_pass", label=msg("high-pass section (series C, shunt L)"),
                           words=r"high[\s-]?pass|series c(?:ap\w*)?(?![a-z])|dc block|高通|串联电容|隔直"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(
            metric="return_loss", label=msg("Return loss"), unit="dB", quantity="return_loss_db",
            expression=lambda request: f"-db(gain(2*v(in)/v(s)-1,{_at(request)}))", is_corrected=False,
        ),
        kit.GoalRow(
            metric="insertion_loss", label=msg("Insertion loss"), unit="dB", is_corrected=False,
            expression=lambda request: (
                f"-db(gain(v(out)/v(s),{_at(request)})"
                f"*2*sqrt({request['source_ohm'] / request['load_ohm']:.9g}))"
            ),
            bounds=lambda _request: kit.Bounds(maximum=1.0),
        ),
    ),
    title="L match {source_ohm:Ohm} to {load_ohm:Ohm}, {frequency_hz:Hz}",
    remarks=(msg("Q = sqrt(R high / R low - 1), X series = Q R low, X shunt = R high / Q."),),
    analyses=lambda request, _sized, _goals: (
        f".ac lin 401 {spice(request['frequency_hz'] / 2)} {spice(request['frequency_hz'] * 1.5)}",
    ),
    says=says, complete=complete, size=size, netlist=netlist,
)  # fmt: skip
