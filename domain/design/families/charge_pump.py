"""The charge pump of four switches: doubles a voltage or inverts it, without a coil.

C1 is charged from the input in one half of the period and put in series with it (or turned over) in the
other. Output resistance coth(T/(8 Ron C1))/(f C1): 1/(f C1) at low, 8 Ron at high frequencies; ripple up to
(I T/2)(1/C2 + 1/(C1 + C2)). Sources: Makowski, Maksimovic, PESC 1995; Seeman, Sanders, "Analysis and
optimization of switched-capacitor DC-DC power converters", IEEE Trans. Power Electronics 23 (2008).
"""

from __future__ import annotations

import math
from dataclasses import replace

from domain.design import kit
from domain.design.families import buck_request
from domain.design.families.buck_netlist import periods
from domain.design.kit import assumed, at_least, at_most, beyond, impossible, spice, with_unit
from shared.message import msg

_DEAD = 0.01
"""Of the period, between the two phases."""
_SWITCH_OHM, _SHARE = 5.0, 0.4
_MARGIN, _RIPPLE, _MOST_F, _LEAST_F = 0.9, 0.02, 470e-6, 1e-9
_SAME = 1e-3
_NEAR, _LEAST_SHARE = 0.06, 0.8  # an output that was asked for, to the one without load
_BY_NAME = {each.name: each for each in buck_request.QUANTITIES}


def _ideal(request: kit.Request) -> float:
    return float(request["vin"] * (2 if request["form"] == "doubler" else -1))


def _form(request: kit.Request) -> str | None:
    """By the output, where there is one."""
    vin, vout = request["vin"], request["vout"]
    return None if vin is None or vout is None else "inverter" if vout < 0 or vout == vin else "doubler"


_QUANTITIES: tuple[kit.Quantity, ...] = (
    replace(_BY_NAME["vin"], within=(1.5, 40), example=5, takes_rest=True, required=False, default=5.0),
    replace(_BY_NAME["vout"], within=(-40, 80), example=10, required=False),
    replace(_BY_NAME["iout"], within=(10e-6, 0.5), example=0.02, required=False, default=0.01,
            takes_bare=False),
    replace(_BY_NAME["load_ohm"], within=(3, 1e7), example=500),
    replace(_BY_NAME["fsw"], within=(1e3, 2e6), example=100e3, default=100e3),
    replace(_BY_NAME["ripple_v"], default=lambda request: _RIPPLE * abs(_ideal(request))),
    replace(_BY_NAME["switch_ohm"], within=(0.01, 100), example=2),
    replace(_BY_NAME["tolerance"], words=rf"{_BY_NAME['tolerance'].words}|droop|drop|跌落|压降", default=0.05,
            within=(0.01, 0.3)),
)  # fmt: skip


def _says(sentence: kit.Sentence) -> kit.Said:
    """As of a converter; an output that is the input turned over is the form, and no figure of its own."""
    volts = sentence.of("V")
    if len(volts) == 1 and volts[0].value < 0:  # alone it is what is wanted
        turned = tuple(replace(each, value=abs(each.value)) for each in sentence.mentions)
        said = buck_request.says(replace(sentence, mentions=turned), _QUANTITIES)
        note = assumed(msg("input voltage"), with_unit(-volts[0].value, "V", 3))
        return replace(said, notes=(*said.notes, note), stated=said.stated - {"vin"})
    said = buck_request.says(sentence, _QUANTITIES)
    vin, vout = said.values.get("vin"), said.values.get("vout")
    if vin is None or vout is None or abs(vout) != abs(vin):
        return said
    return replace(said, stated=said.stated - {"vout"})


def complete(request: kit.Request) -> kit.Said:
    """Load and ripple from their other forms. Raises CircuitError for an output that is neither."""
    vin, vout = request["vin"], request["vout"]
    vin = vin or abs(vout or 0.0) / (2 if request["form"] == "doubler" else 1)
    if not vin:
        return kit.Said(values={})
    ideal = _ideal(request.having(vin=vin))
    vout = -vin if request["form"] == "inverter" and vout == vin else vout
    is_under_load = vout is not None and _LEAST_SHARE <= vout / ideal < 1 and not request.states("tolerance")
    if vout is not None and abs(vout / ideal - 1) > _NEAR and not is_under_load:
        raise impossible(
            msg("A four-switch charge pump makes about {twice} or {minus} from {vin}, not {vout}.",
                twice=with_unit(2 * vin, "V", 3), minus=with_unit(-vin, "V", 3), vin=with_unit(vin, "V", 3),
                vout=with_unit(vout, "V", 3)),
            msg("Ask for one of them, or for a boost or buck-boost converter."),
        )  # fmt: skip
    current = request["iout"]
    if current is None and request["load_ohm"]:
        current = abs(ideal) / request["load_ohm"]
    ripple = request["ripple_v"] or request.get("ripple_v_share", 0.0) * abs(ideal) or None
    guessed = request["vout"] is None and not request.states("form")
    notes = [assumed(msg("circuit"), msg("doubler"))] * guessed
    values = {"vin": vin, "iout": current, "ripple_v": ripple, "vout": ideal}
    if vout is not None and is_under_load and vout / ideal < 1 - _NEAR:  # what is left of it under load
        values["tolerance"] = 1 - vout / ideal
    if vout is not None and not math.isclose(vout, ideal, rel_tol=_SAME):
        notes.append(msg("A charge pump of this kind does not regulate: asked for {vout}, it makes {ideal} "
                         "without load and less under load.",
                         ideal=with_unit(ideal, "V", 3), vout=with_unit(vout, "V", 3)))  # fmt: skip
    return kit.Said(values=values, notes=tuple(notes))


def _output_ohm(request: kit.Request, ohm: float, farad: float) -> float:
    """Of both phases together, with the switches on for half a period less the dead time."""
    period = 1 / request["fsw"]
    return float(period / farad / math.tanh((0.5 - _DEAD) * period / (4 * ohm * farad)))


def size(request: kit.Request, correction: kit.Correction) -> kit.Sized:
    """C1 and C2 of E6. Raises CircuitError for a drop that no capacitor gives."""
    ideal, current, period = _ideal(request), request["iout"], 1 / request["fsw"]
    most = _MARGIN * request["tolerance"] * abs(ideal) / current / correction["stiffness"]
    ohm = request["switch_ohm"] or at_most(min(_SWITCH_OHM, _SHARE * most / 8), "E6")
    farad = at_least(max(period / most, _LEAST_F), "E6")
    while farad <= _MOST_F and _output_ohm(request, ohm, farad) > most:
        farad = at_least(1.1 * farad, "E6")
    if farad > _MOST_F:
        advice = msg("Raise the switching frequency, or lower the load current or the on-resistance.")
        least = _output_ohm(request, ohm, _MOST_F)
        raise beyond(msg("output resistance"), "Ω", most, least, advice, digits=2)
    ripple = _MARGIN * request["ripple_v"] * correction["ripple_v"]
    store = farad  # charge comes at once at low frequencies: the output falls in both halves
    while period / 2 * current * (1 / store + 1 / (farad + store)) > ripple:
        store = at_least(1.1 * store, "E6")
    resistance = _output_ohm(request, ohm, farad)
    made = ideal * (1 - current * resistance / abs(ideal))
    ohms, volts, amps = with_unit(resistance, "Ω", 3), with_unit(made, "V", 3), with_unit(current, "A", 3)
    note = msg("Output resistance {ohm}: about {volts} at {current}.", volts=volts, ohm=ohms, current=amps)
    cycles = math.ceil(5 * resistance * store * request["fsw"])
    return kit.Sized(parts={"C1": farad, "C2": store, "Rload": abs(made) / current}, notes=(note,),
                     figures={"switch_ohm": ohm, "made_v": made, "cycles": cycles})  # fmt: skip


def netlist(deck: kit.Deck, request: kit.Request, sized: kit.Sized) -> None:
    """Two phases that do not overlap, four switches, both capacitors as they stand under load."""
    period, made, is_doubler = 1 / request["fsw"], sized.figures["made_v"], request["form"] == "doubler"
    edge, on_time = _DEAD / 4 * period, (0.5 - _DEAD) * period
    deck.part(f"Vin in 0 DC {spice(request['vin'])}", msg("input voltage"))
    for name, delay in (("p1", 0.0), ("p2", period / 2)):
        wave = " ".join(spice(each) for each in (delay, edge, edge, on_time - edge, period))
        deck.part(f"V{name} {name} 0 DC 0 PULSE(0 1 {wave})", msg("drive of one phase"))
    deck.part("S1 in cp p1 0 switch", msg("charges C1 from the input"))
    deck.part("S2 cn 0 p1 0 switch", msg("charges C1 from the input"))
    deck.part(f"S3 {'in cn' if is_doubler else 'cp 0'} p2 0 switch", msg("connects C1 to the output"))
    deck.part(f"S4 {'cp out' if is_doubler else 'cn out'} p2 0 switch", msg("connects C1 to the output"))
    deck.part(f"C1 cp cn {spice(sized.parts['C1'])} IC={spice(request['vin'])}", msg("flying capacitor"))
    deck.part(f"C2 out 0 {spice(sized.parts['C2'])} IC={spice(made)}", msg("output capacitor"))
    deck.part(f"Rload out 0 {spice(sized.parts['Rload'])}", msg("load"))
    deck.rule()
    deck.cards(f".model switch SW(VT=0.5 VH=0 RON={spice(sized.figures['switch_ohm'])} ROFF=100Meg)")


def _output(request: kit.Request) -> kit.Bounds:
    """From the drop that is allowed to what it makes without load."""
    ideal = _ideal(request)
    low, high = sorted((ideal * (1 - request["tolerance"]), ideal))
    return kit.Bounds(minimum=low, maximum=high)


FAMILY = kit.Family(
    key="charge_pump",
    name=msg("four-switch charge pumps (voltage inverter or doubler)"), one=msg("a charge pump"),
    examples={"en": "charge pump inverter, 5 V to -5 V, 20 mA",
              "zh": "5V转-5V、20mA的电荷泵"},
    words=kit.Words(
        named=(
            r"(?:(?:inverting|doubling|switched[\s-]capacitor|capacitive|voltage) )*charge[\s-]?pump"
            r"(?: (?:voltage )?(?:inverter|doubler|converter|circuit))*|"
            r"switched[\s-]capacitor (?:voltage )?(?:inverter|doubler|converter)|"
            r"(?:开关电容)?(?:倍压|反压|反相|负压|升压)?(?:型|式)?电荷泵(?:倍压|反相|反压)?(?:器|电路|电源|变换器)?|"
            r"开关电容(?:倍压|反压|反相|电压)*(?:变换|转换)?(?:器|电路)|(?:icl|max|lm|tps)7?[67]660\w?"
        ),
        plain=r"voltage[\s-]doubler(?: circuit)?|倍压(?:器|电路)",
        excludes=r"(?<![a-z])ac(?![a-z])|交流|rectif|整流|pll|锁相|phase[\s-]l|loop filter|环路|buck|diode|"
                 r"dickson|二极管|三倍|四倍|tripl|quadrupl",
    ),
    quantities=_QUANTITIES,
    choices=(
        kit.Choice(
            name="form", label=msg("circuit"), default=_form, is_told=False, options=(
                kit.Option(key="doubler", label=msg("doubler"),
                           words=r"doubl\w*|twice|二?倍压|两倍|2倍|升压"),
                kit.Option(key="inverter", label=msg("voltage inverter"),
                           words=r"(?<![\d.])-\s?\d+(?:\.\d+)?\s?v|invert\w*|negative|反压|反相|反转|负压|负电压|负电源"),
            ),
        ),
    ),
    goals=(
        kit.GoalRow(
            metric="vout", label=msg("Output voltage"), unit="V", quantity="tolerance", is_corrected=False,
            expression="avg(v(out))", bounds=_output, helped_by="stiffness",
        ),
        kit.GoalRow(metric="ripple", label=msg("Ripple"), unit="V", quantity="ripple_v",
                    expression="pp(v(out))", bounds=lambda request: kit.Bounds(maximum=request["ripple_v"])),
    ),
    title="Charge pump {form}, {vin:g} V, {iout:A3}",
    remarks=(msg("Rout = coth(T / (8 Ron C1)) / (f C1): 1 / (f C1), or 8 Ron if greater."),),
    analyses=lambda request, sized, _goals: (periods(1 / request["fsw"], 0.5, int(sized.figures["cycles"])),),
    size=size, netlist=netlist,
    says=_says,
    complete=complete,
)  # fmt: skip
