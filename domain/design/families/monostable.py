"""The 555 as a monostable multivibrator: a falling edge at the trigger starts one pulse.

R charges C from 0 to two thirds of the supply: t = ln 3 R C (and the delays of the timer). The trigger has to
be over before the pulse is: a button, or a trigger that lasts longer, comes through a capacitor, and a diode
takes its release. Sources: Texas Instruments, "xx555 Precision Timers", SLFS022, section 8.3.1; Horowitz,
Hill, "The Art of Electronics", 3rd ed., section 7.1.4.
"""

from __future__ import annotations

import math

from domain.design import kit
from domain.design.kit import assumed, nearest, spice, with_unit
from shared.message import msg

_DELAY_S = 0.9e-6
"""From the threshold to the output."""
_OHM = (1e3, 1e6)
"""Below, the discharge transistor does not empty C; above, the leakage of a large C counts."""
_MIDDLE_OHM = 100e3
_FARAD = (100e-12, 1e-3)
_PULL_OHM = 10e3
_SHARE_OF_PULSE = 0.1
"""Time constant of the capacitor at the trigger."""
_TRIGGER_FARAD = (1e-9, 1e-6)
_LONG = 0.6
"""Of the pulse: a trigger that lasts longer needs the capacitor."""
_WIDTH = msg("pulse width")


def complete(request: kit.Request) -> kit.Said:
    """How long the trigger lasts, where nobody said it."""
    width, trigger, how = request["width_s"], request["trigger_s"], request["trigger"]
    if width is None:
        return kit.Said(values={})
    is_long = how == "long" or (trigger or 0.0) > _LONG * width
    told = (1.5 if is_long else 0.02) * width
    values = {"trigger": "long" if is_long else "short", "trigger_s": trigger or max(told, 0.5e-6)}
    if not is_long or trigger is not None:
        return kit.Said(values=values)
    return kit.Said(values=values, notes=(assumed(msg("length of the trigger"), with_unit(told, "s", 3)),))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C of E12, R of E96."""
    product = max(request["width_s"] * correction["width_s"] - _DELAY_S, 0.3 * request["width_s"]) / math.log(
        3
    )
    c = nearest(min(max(product / _MIDDLE_OHM, _FARAD[0]), _FARAD[1]), "E12")
    r = nearest(min(max(product / c, _OHM[0]), _OHM[1]), "E96")
    parts = {"R1": r, "C1": c}
    notes = [msg("R = {r}, C = {c}.", r=with_unit(r, "Ω"), c=with_unit(c, "F"))]
    if request["trigger"] == "long":
        farad = _SHARE_OF_PULSE * request["width_s"] / _PULL_OHM
        parts["C3"] = nearest(min(max(farad, _TRIGGER_FARAD[0]), _TRIGGER_FARAD[1]), "E12")
        notes.append(msg("A button that bounces when it is released may start a second pulse: 100 nF across "
                         "it helps."))  # fmt: skip
    return kit.Sized(parts=parts, notes=tuple(notes))


def _starts(request: kit.Request) -> float:
    return float(0.2 * request["width_s"])


def _stops(request: kit.Request) -> float:
    return float(_starts(request) + max(1.6 * request["width_s"], 1.2 * request["trigger_s"]))


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Supply, trigger, the timer of the model library, and its parts."""
    parts = {name: spice(value) for name, value in sized.parts.items()}
    supply, edge = spice(request["supply_v"]), spice(min(1e-4 * request["width_s"], 1e-6))
    stop = spice(10 * _stops(request))
    wave = f"{supply} 0 {spice(_starts(request))} {edge} {edge} {spice(request['trigger_s'])} {stop}"
    is_long = "C3" in parts
    deck.part(f"Vcc vcc 0 DC {supply}", msg("supply"))
    if is_long:
        deck.part(f"Vtrig press 0 DC {supply} PULSE({wave})", msg("button, or another long trigger"))
        deck.part(f"C3 press trig {parts['C3']}", msg("passes only the edge: the trigger may last longer"))
        deck.part(f"R3 vcc trig {spice(_PULL_OHM)}", msg("keeps the trigger high"))
        deck.part("D1 trig vcc dswitch", msg("takes the release of the button"))
    else:
        deck.part(f"Vtrig trig 0 DC {supply} PULSE({wave})", msg("trigger: active low"))
    deck.part(f"R1 vcc cap {parts['R1']}", msg("charges C1"))
    deck.part(f"C1 cap 0 {parts['C1']}", msg("sets the pulse width together with R1"))
    deck.part("C2 ctrl 0 10n", msg("decouples the control voltage"))
    deck.part("X1 0 trig out vcc ctrl cap cap vcc NE555", msg("timer"))
    deck.part(f"Rload out 0 {spice(request.get(kit.LOAD) or 10e3)}", msg("load"))
    deck.rule()
    deck.cards(".options method=gear trtol=1")
    if is_long:
        deck.cards(".model dswitch D(IS=2.5n N=1.75 RS=0.8)")
    deck.cards(f".ic v(cap)=0 v(ctrl)={spice(2 / 3 * request['supply_v'])}", ".include NE555.lib")


def _passing(request: kit.Request, count: int) -> str:
    return f"cross(v(out),{spice(request['supply_v'] / 2)},{count})"


ONCE = (
    r"^(?=.*(?:(?<!\d)555(?!\d)|timer (?:chip|ic)(?![a-z])))(?=.*(?:button|press|push|trigger|delay|"
    r"stays? (?:on|high)|"
    r"for \d[\d.]* ?(?:s|sec|m?s|min)|each time|once|按|触发|延时|保持|定时(?!器)|后(?:熄|灭|关)))"
    r"(?!.*(?:astable|blink|flash|twice a|times a|多谐(?!.{0,4}单)|无稳态|闪|hz|赫)).*"
)
"""Says of a 555 that something starts it, and that it is over after a while."""

FAMILY = kit.Family(
    key="monostable",
    name=msg("monostables (one-shots) with a 555"), one=msg("a monostable with a 555"),
    examples={"en": "555 one-shot, 10 ms pulse, 5 V supply",
              "zh": "555单稳态电路，脉宽10ms，电源5V"},
    words=kit.Words(
        named=(
            r"(?:(?:ne|lm)?555[\s-]?(?:timer)?(?: (?:in|as an?))? )?"
            r"(?:mono[\s-]?stable(?: (?:multivibrator|mode|circuit|timer))?|"
            r"(?:one|single)[\s-]shot(?: (?:pulse )?(?:generator|timer|circuit|multivibrator))?|"
            r"mono[\s-]?flop)"
            r"(?:,? (?:with|using|based on|from) (?:an? )?(?:ne|lm)?555(?: timer)?)?|"
            r"pulse[\s-]?(?:stretch\w*|lengthen\w*|extend\w*)|"
            rf"{ONCE}|(?:555)?(?:定时器|构成的|的)?单稳(?:态)?(?:多谐振荡|触发|延时)?(?:器)?(?:电路|模式)?|"
            r"脉冲(?:展宽|延长|拉长)(?:器|电路)?"
        ),
        excludes=r"astable|无稳态|blink|flash|闪烁|crystal|vco|压控|sampl|retrigger|可重复触发",
        refuses=(
            (r"(?<![a-z\d])(?:74|cd)?(?:hc|ls)?(?:121|123|221|4538|4098|4047)(?!\d)|op[\s-]?amp|运放|"
             r"comparator|比较器|"
             r"(?<![a-z])(?:bjt|npn)|discrete|三极管|分立",
             msg("A monostable with other parts than a 555 cannot be designed yet."),
             msg("Ask for a monostable with a 555.")),
        ),
    ),
    quantities=(
        kit.Quantity(
            name="width_s", label=_WIDTH, dimensions=("s",), takes_rest=True, takes_bare=False,
            required=True, has_sign=False,
            words=r"(?<!trigger )(?<!input )(?:pulse(?:[\s-]?width)?|width|duration|delay|output|for|stays?|"
                  r"lasts?)|"
                  r"脉宽|脉冲(?:宽度)?|宽度|延时|定时|保持|持续|输出|展宽到|(?<![a-z])t(?=\s?=)|亮",
            before=r"(?<![a-z])to(?: an?)?|into(?: an?)?|到|成|为", within=(5e-6, 1000), example=10e-3,
        ),
        kit.Quantity(
            name="trigger_s", label=msg("length of the trigger"), dimensions=("s",), within=(0.2e-6, 3000),
            words=r"trigger (?:pulses?|width|length|lasts?|of)|input pulses?|(?:pressed|held)(?: down)? for|"
                  r"触发(?:脉冲|信号)?(?:宽度|宽|持续)|触发脉冲|输入脉冲|按住",
            after=r"\s*(?:long |wide )?(?:trigger|input|"
                  r"pulses? from(?! an? (?:push[\s-]?)?button| an? switch)|"
                  r"pulses?,? (?:from(?! an? (?:push[\s-]?)?button| an? switch)|to|should|into)|"
                  r"的?(?:触发|输入|窄)脉冲)",
            example=1e-3,
        ),
        kit.Quantity(
            name="supply_v", label=msg("supply"), dimensions=("V",), takes_rest=True, within=(4.5, 16),
            words=r"suppl\w+|power(?:ed)?|rails?|batter\w+|供电|电源|电池|vcc|vdd", example=5, default=9.0,
        ),
        kit.TOLERANCE,
    ),
    choices=(
        kit.Choice(
            name="trigger", label=msg("trigger"), is_told=False,
            options=(
                kit.Option(key="short", label=msg("a short pulse"), words=r"short|narrow|窄"),
                kit.Option(key="long", label=msg("a button, or another long trigger"),
                           words=r"button|push|press|key|long trigger|按|触摸|长触发"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(
            metric="pulse_width", label=msg("Pulse width"), unit="s", quantity="width_s",
            expression=lambda request: f"{_passing(request, 2)}-{_passing(request, 1)}",
        ),
        kit.GoalRow(
            metric="rest_level", label=msg("Output before the trigger"), unit="V",
            expression=lambda request: f"max(v(out),0,{spice(0.9 * _starts(request))})",
            bounds=lambda _request: kit.Bounds(maximum=0.4),
        ),
        kit.GoalRow(
            metric="level_after", label=msg("Output after the pulse"), unit="V",
            expression=lambda request: (
                f"max(v(out),{spice(_starts(request) + 1.25 * request['width_s'])},{spice(_stops(request))})"
            ),
            bounds=lambda _request: kit.Bounds(maximum=0.4),
        ),
    ),
    title="555 monostable, {width_s:s}",
    remarks=(msg("t = ln 3 R C = 1.1 R C."),),
    analyses=lambda request, _sized, _goals: (
        ".tran {0} {1} 0 {0}".format(spice(request["width_s"] / 1000), spice(_stops(request))),
    ),
    has_load=True, size=size, netlist=netlist, complete=complete,
)  # fmt: skip
