"""CMOS NAND and NOR gates of two to four inputs: transistors in series are wider by their number.

Each input switches alone while the others let it; the delay is that of the input farthest from the output.
Source: Sedra, Smith, "Microelectronic Circuits", 7th ed., sections 14.1 and 14.4.
"""

from __future__ import annotations

from dataclasses import replace

from domain.design import kit
from domain.design.families import logic_rows as rows
from domain.design.kit import spice, unreachable, with_unit
from domain.design.mosfet import KP, nmos, pmos, write_nmos, write_pmos
from shared.message import msg

_MARGIN, _LEAST_RATIO = 1.3, 1.0
_MOST = 4
_SLOT = 20
"""Of delays, in which an input stands."""


def _count(request: kit.Request) -> int:
    return int(request["inputs"])


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """The widths by the delay, of one that stands alone; those in series times their number."""
    supply, load, count = request["supply_v"], request["load_farad"], _count(request)
    delay = request["delay_s"] * correction["delay_s"] / _MARGIN
    is_nand = request["form"] == "nand"
    pull_down, pull_up = (count, 1) if is_nand else (1, count)
    slope = delay * KP * supply / rows.alpha(supply)
    # their own drains: those that stand side by side all, of those in series the last and the nodes between
    own = (1 if is_nand else count) * rows.drain_farad(pull_down)
    own += (count if is_nand else 1) * rows.drain_farad(rows.WIDER_P * pull_up) + (
        count - 1
    ) * rows.drain_farad(count * (1 if is_nand else rows.WIDER_P))
    ratio = max(load / (slope - own), _LEAST_RATIO) if slope > own else rows.MOST_RATIO * 10
    widest = ratio * max(pull_down, rows.WIDER_P * pull_up)
    if widest > rows.MOST_RATIO:
        limit = request["delay_s"] * min(widest / rows.MOST_RATIO, 10.0)
        raise unreachable(
            rows.DELAY_LABEL, with_unit(request["delay_s"], "s", 3), with_unit(limit, "s", 3),
            msg("Lower the load capacitance, or allow more delay."),
        )  # fmt: skip
    parts = {"W/L N": ratio * pull_down, "W/L P": ratio * rows.WIDER_P * pull_up}
    note = msg("W/L = {n} (NMOS), {p} (PMOS).", n=f"{parts['W/L N']:.3g}", p=f"{parts['W/L P']:.3g}")
    return kit.Sized(parts=parts, notes=(note,))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """The inputs, each switched in its turn, the transistors in series and side by side, the load."""
    parts, count, is_nand = sized.parts, _count(request), request["form"] == "nand"
    slot, edge, high = _SLOT * request["delay_s"], request["delay_s"] / 20, request["supply_v"]
    idle, other = (high, 0.0) if is_nand else (0.0, high)
    for n in range(1, count + 1):
        times = f"{spice((2 * n - 1) * slot)} {spice(edge)} {spice(edge)} {spice(slot)}"
        pulse = f"PULSE({spice(idle)} {spice(other)} {times} {spice(1000 * slot)})"
        deck.part(f"Vin{n} in{n} 0 DC {spice(idle)} AC 1 {pulse}", msg("input {number}", number=n))
    deck.part(f"Vcc vcc 0 DC {spice(high)}", msg("supply"))
    rail, series = ("0", nmos) if is_nand else ("vcc", pmos)
    beside, far = (pmos, "vcc") if is_nand else (nmos, "0")
    letters = ("N", "P") if is_nand else ("P", "N")
    roles = (msg("pulls the output down"), msg("pulls the output up"))
    for n in range(1, count + 1):
        top, bottom = "out" if n == 1 else f"x{n - 1}", rail if n == count else f"x{n}"
        role = roles[0] if is_nand else roles[1]
        deck.part(
            series(f"M{letters[0]}{n}", f"{top} in{n} {bottom} {rail}", parts[f"W/L {letters[0]}"]), role
        )
    for n in range(1, count + 1):
        role = roles[1] if is_nand else roles[0]
        deck.part(beside(f"M{letters[1]}{n}", f"out in{n} {far} {far}", parts[f"W/L {letters[1]}"]), role)
    deck.part(f"CL out 0 {spice(request['load_farad'])}", msg("load"))
    write_nmos(deck)
    write_pmos(deck)


def _place(n: int) -> float:
    """The middle of the slot of an input in slots; 0: before all."""
    return 2 * n - 0.1 if n else 0.9


def _level(metric: str, form: str, n: int = 0) -> kit.GoalRow:
    return rows.level_goal(
        metric,
        lambda request: _place(n) * _SLOT * request["delay_s"],
        n,
        when=lambda request: request["form"] == form and _count(request) >= n,
    )


_QUANTITIES = (
    rows.DELAY,
    rows.GATE_LOAD,
    rows.LOGIC_SUPPLY,
    kit.Quantity(
        name="inputs", label=msg("number of inputs"), dimensions=("none",), is_whole=True, within=(2, _MOST),
        words=r"number of inputs|输入端?数", example=2, default=2.0,
    ),
    replace(kit.TOLERANCE, is_told=False),
)  # fmt: skip

FAMILY = kit.Family(
    key="cmos_gate",
    name=msg("CMOS NAND and NOR gates of two to four inputs"), one=msg("a CMOS gate"),
    examples={"en": "2-input CMOS NAND gate, delay below 5 ns, load 1 pF, 5 V supply",
              "zh": "二输入CMOS与非门，延迟小于5ns，负载电容1pF，电源5V"},
    words=kit.Words(
        named=(r"(?:(?:static )?cmos )?(?<![a-z])(?:nand|nor)\d?(?![a-z])(?: (?:logic )?gates?)?"
               r"(?: (?:in|using) cmos)?|"
               r"(?:cmos)?(?:逻辑)?(?:与非|或非)(?:逻辑)?(?:门)?(?:电路)?"),
        excludes=r"flash|latch|锁存|flip|触发器|oscillat|振荡|xor|异或|ttl|bjt|npn|三极管",
    ),
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="form", label=msg("gate"),
            options=(kit.Option(key="nand", label=msg("NAND"), words=r"nand|与非"),
                     kit.Option(key="nor", label=msg("NOR"), words=r"(?<![a-z])nor\d?(?![a-z])|或非")),
        ),
    ),
    goals=(
        rows.delay_goal("fall_delay", lambda request: f"in{_count(request)}",
                        lambda request: 2 * _count(request) - (request["form"] == "nor")),
        rows.delay_goal("rise_delay", lambda request: f"in{_count(request)}",
                        lambda request: 2 * _count(request) - (request["form"] == "nand")),
        _level("low_level", "nand"),
        *(_level("high_level", "nand", n) for n in range(1, _MOST + 1)),
        _level("high_level", "nor"),
        *(_level("low_level", "nor", n) for n in range(1, _MOST + 1)),
    ),
    title=lambda request: (
        f"{request['form'].upper()} gate, {_count(request)} inputs, {with_unit(request['delay_s'], 's')}, "
        f"{request['supply_v']:g} V"
    ),
    remarks=(msg("Delay = alpha CL / (KP W/L VDD); transistors in series are wider."),),
    analyses=lambda request, _sized, _goals: (
        ".tran {0} {1} 0 {0}".format(
            spice(request["delay_s"] / 50), spice((2 * _count(request) + 1) * _SLOT * request["delay_s"])
        ),
    ),
    size=size, netlist=netlist,
    says=rows.counted(_QUANTITIES, "inputs", r"inputs?|输入端?|路输入"),
)  # fmt: skip
