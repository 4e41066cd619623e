"""The CMOS level shifter: a crossed PMOS pair on the higher supply, NMOS driven from the lower, an inverter.

An NMOS driven with the lower supply must overpower the PMOS it pulls against: KP Wn (VL - VT)^2 is several
times KP_P Wp (VH - VT)^2. Delays as in `logic_rows`. Sources: Rabaey, Chandrakasan, Nikolic, "Digital
Integrated Circuits", 2nd ed., section 6.2.3; Sedra, Smith, "Microelectronic Circuits", 7th ed., section 14.4.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import logic_rows as rows
from domain.design.families.buck_request import says
from domain.design.kit import impossible, spice, unreachable, with_unit
from domain.design.mosfet import KP, KP_P, THRESHOLD_V, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_STRONGER = 4.0
"""The pull-down against the crossed pair."""
_SHARES = (0.08, 0.22, 0.2)
"""Of the delay: input inverter, crossed pair, output inverter."""
_LEAST_RATIO = 0.5


def _ratio(load: float, delay: float, supply_v: float, own: float) -> float:
    """W/L of an NMOS whose inverter drives a load, its own drains (F each W/L) included; inf: never."""
    room = delay * KP * supply_v / rows.alpha(supply_v) - own
    return max(load / room, _LEAST_RATIO) if room > 0 else float("inf")


def complete(request: kit.Request) -> kit.Said:
    """Raises CircuitError for a shift down."""
    low, high = request["vin"], request["vout"]
    if low is not None and high is not None and high <= low:
        raise impossible(
            msg("A level shifter with a crossed pair only shifts up: it cannot make {vout} V from {vin} V.",
                vout=f"{high:g}", vin=f"{low:g}"),
            msg("Ask for a shift from the lower to the higher supply."),
        )  # fmt: skip
    return kit.Said(values={})


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """From the load back: output inverter, crossed pair, pull-downs, input inverter."""
    low, high = request["vin"], request["vout"]
    delay = request["delay_s"] * correction["delay_s"]
    first, pair, last = (share * delay for share in _SHARES)
    own = rows.drain_farad(1 + rows.WIDER_P)
    out = _ratio(request["load_farad"], last, high, own)
    pull = _STRONGER * KP_P / KP * ((high - THRESHOLD_V) / (low - THRESHOLD_V)) ** 2
    # per W/L of a crossed PMOS: its own drain, the other's gate, the drain of what pulls against it
    each = rows.drain_farad(1 + pull) + rows.gate_farad(0, 1)
    room = pair * KP_P * high / rows.alpha(high) - each
    crossed = max(rows.gate_farad(out, out * rows.WIDER_P) / room, _LEAST_RATIO) if room > 0 else float("inf")
    given = _ratio(rows.gate_farad(pull * crossed, 0.0), first, low, own)
    widest = max(out * rows.WIDER_P, pull * crossed, given * rows.WIDER_P)
    if not widest <= rows.MOST_RATIO:
        slowest = min(max(widest / rows.MOST_RATIO, 1.2), 20.0)
        asked, limit = (
            with_unit(each, "s", 3) for each in (request["delay_s"], slowest * request["delay_s"])
        )
        advice = msg("Lower the load capacitance, or allow more delay.")
        raise unreachable(rows.DELAY_LABEL, asked, limit, advice)
    parts = {
        "W/L in": given, "W/L down": pull * crossed, "W/L crossed": crossed, "W/L out": out,
    }  # fmt: skip
    note = msg("W/L = {down} (pull-down), {crossed} (crossed pair), {out} (output NMOS).",
               down=f"{parts['W/L down']:.3g}", crossed=f"{crossed:.3g}", out=f"{out:.3g}")  # fmt: skip
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """A pulse of the lower supply, the inverters on either side of the crossed pair, the load."""
    parts, delay = sized.parts, request["delay_s"]
    low, edge = spice(request["vin"]), spice(delay / 20)
    pulse = f"PULSE(0 {low} {spice(2 * delay)} {edge} {edge} {spice(20 * delay)} {spice(60 * delay)})"
    deck.part(f"Vin in 0 DC 0 AC 1 {pulse}", msg("input: a pulse"))
    deck.part(f"Vddl vddl 0 DC {low}", msg("lower supply"))
    deck.part(f"Vddh vddh 0 DC {spice(request['vout'])}", msg("higher supply"))
    deck.part(nmos("M1", "nin in 0 0", parts["W/L in"]), msg("inverts the input"))
    deck.part(pmos("M2", "nin in vddl vddl", rows.WIDER_P * parts["W/L in"]), msg("inverts the input"))
    deck.part(nmos("M3", "x in 0 0", parts["W/L down"]), msg("pulls down while the input is high"))
    deck.part(nmos("M4", "y nin 0 0", parts["W/L down"]), msg("pulls down while the input is low"))
    deck.part(pmos("M5", "x y vddh vddh", parts["W/L crossed"]), msg("crossed pair"))
    deck.part(pmos("M6", "y x vddh vddh", parts["W/L crossed"]), msg("crossed pair"))
    deck.part(nmos("M7", "out x 0 0", parts["W/L out"]), msg("output inverter"))
    deck.part(pmos("M8", "out x vddh vddh", rows.WIDER_P * parts["W/L out"]), msg("output inverter"))
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    write_nmos(deck)
    write_pmos(deck)


def _delay(metric: str, count: int) -> kit.GoalRow:
    def expression(request: kit.Request) -> str:
        low, high = spice(request["vin"] / 2), spice(request["vout"] / 2)
        return f"cross(v(out),{high},{count})-cross(v(in),{low},{count})"

    return kit.GoalRow(
        metric=metric, label=msg("Delay, rising") if count == 1 else msg("Delay, falling"), unit="s",
        quantity="delay_s",
        expression=expression,
    )  # fmt: skip


_QUANTITIES = (
    kit.Quantity(name=kit.OUTPUT, label=msg("higher supply"), dimensions=("V",), within=(1.8, 20), example=5,
                 required=True, words=r"output|high(?:er)?|(?<![a-z])v_?(?:out|ddh|cch)(?![a-z])|输出|高压",
                 before=r"(?<![a-z])to|转(?:换)?(?:到|至|为|成)?|变(?:换)?(?:到|至|为|成)?|到",
                 after=r"\s*out(?![a-z])"),
    kit.Quantity(name=kit.INPUT, label=msg("lower supply"), dimensions=("V",), within=(1.1, 15), example=1.8,
                 required=True, words=r"input|low(?:er)?|(?<![a-z])v_?(?:in|ddl|ccl)(?![a-z])|输入|低压",
                 before=r"from|从|由|将|把", after=r"\s*in(?![a-z])"),
    rows.DELAY,
    rows.GATE_LOAD,
    replace(kit.TOLERANCE, is_told=False),
)  # fmt: skip

FAMILY = kit.Family(
    key="level_shifter",
    name=msg("CMOS level shifters from a lower to a higher supply"), one=msg("a level shifter"),
    examples={"en": "level shifter from 1.8 V to 5 V, delay below 20 ns, load 1 pF",
              "zh": "1.8V转5V的电平转换电路，延迟小于20ns，负载电容1pF"},
    words=kit.Words(
        named=(r"(?:(?:cmos|logic|voltage) )*level[\s-]?"
               r"(?:shift(?:er|ing)?|translat(?:or|ion|er)|conver(?:ter|sion))"
               r"(?: circuit)?|(?:cmos|逻辑)?(?:信号)?电平(?:转换|移位|平移|变换)(?:器|电路)?"),
        excludes=r"op[\s-]?amp|运放|bi-?directional|two[\s-]way|both (?:directions|ways)|双向|i[i2²]c|"
                 r"(?<![a-z])sda|open[\s-]drain|开漏|bss138|(?:high|low)[\s-]side|高边|load switch|负载开关|"
                 r"pull[\s-]?ups?|上拉|单总线|1-wire|bjt|npn|三极管|rs-?232|差分",
    ),
    quantities=_QUANTITIES,
    goals=(
        _delay("rise_delay", 1),
        _delay("fall_delay", 2),
        kit.GoalRow(metric="high_level", label=msg("High level"), unit="V",
                    expression=lambda request: f"at(v(out),{spice(20 * request['delay_s'])})",
                    bounds=lambda request: kit.Bounds(minimum=(1 - rows.LEVEL) * request["vout"])),
        kit.GoalRow(metric="low_level", label=msg("Low level"), unit="V",
                    expression=lambda request: f"at(v(out),{spice(40 * request['delay_s'])})",
                    bounds=lambda request: kit.Bounds(maximum=rows.LEVEL * request["vout"])),
    ),
    title="Level shifter {vin:g} V to {vout:g} V, {delay_s:s}",
    remarks=(msg("KP Wn (VL - VT)^2 = 4 KP_P Wp (VH - VT)^2: the NMOS overpowers the PMOS."),),
    analyses=lambda request, _sized, _goals: (
        ".tran {0} {1} 0 {0}".format(spice(request["delay_s"] / 50), spice(42 * request["delay_s"])),
    ),
    size=size, netlist=netlist,
    says=lambda sentence: says(sentence, _QUANTITIES),
    complete=complete,
)  # fmt: skip
