"""What a buck converter may be asked for, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from domain.design import kit
from domain.design.engine.library_parts import part_choice
from domain.design.families import load_step
from domain.design.kit import assumed, impossible, left_out, number, read_conversion, refuse_beyond, with_unit
from shared.message import msg

_DIODE_WORDS = (
    r"non[\s-]?synchronous|\basynchronous|非同步|异步|diode|二极管|schottky|肖特基|续流"
    r"|(?<![a-z0-9])1n[\s-]?\d{3,4}"
)
_RIPPLE_WORDS = (
    r"(?<!current )(?<!inductor )ripple(?! current)(?: (?:on|at|of) (?:the )?output)?|"
    r"(?<!电流)(?<!电感)(?<!电流的)(?<!电感的)(?:纹波|波纹)(?!电流)(?:电压)?|Δ\s?v\w*|vpp|p-p|峰峰值?|pk-pk"
)
_INDUCTOR_RIPPLE_WORDS = (
    r"(?:inductor (?:current )?ripple|ripple current|current ripple)(?: ratio| factor)?|"
    r"电感(?:电流)?的?(?:纹波|波动)(?:电流|系数|率|比)?|纹波电流|电流纹波|Δ\s?i_?l?|delta i"
)
_USUAL_A = 0.5
"""Load of a converter of which nobody said one."""
_SHARE = "_share"
_SHARES = {"ripple_v": ("%",), "deviation_v": ("%",), "inductor_ripple_a": ("%", "none")}
"""With these units a ripple is a share of the output voltage or of the load current."""
_OHM = (1e-6, 1e3)

_RIPPLE = kit.Quantity(
    name="ripple_v", label=msg("output ripple"), dimensions=("V", "%"), words=_RIPPLE_WORDS, within=(0, 1e3),
    example=0.05, default=lambda request: 0.01 * request["vout"],
)  # fmt: skip
_INDUCTOR_RIPPLE = kit.Quantity(
    name="inductor_ripple_a", label=msg("inductor ripple current"), dimensions=("A", "%"),
    words=_INDUCTOR_RIPPLE_WORDS, within=(0, 400), example=0.6, is_told=False,
    default=lambda request: 0.3 * request["iout"],
)  # fmt: skip
QUANTITIES = (
    kit.Quantity(
        name="vout", label=msg("output voltage"), dimensions=("V",), within=(1e-3, 1000), example=5,
        words=(
            r"(?<!ripple on the )(?<!ripple at the )(?<!ripple of the )(?<!ripple on )output|"
            r"(?<![a-z])v_?out(?![a-z])|(?<![a-z])v_?o(?![a-z])|输出|得到|产生"
        ),
        required=True,
        before=(
            r"(?<![a-z])to|into|[升降](?:压)?(?:到|至|为|成)|转(?:换)?(?:到|至|为|成)?|变(?:换)?(?:到|至|为|成)|"
            r"(?<![a-z])out\s*[:=]"
        ),
        after=r"\s*(?:dc\s*)?_?out(?![a-z])",
    ),
    kit.Quantity(
        name="vin", label=msg("input voltage"), dimensions=("V",), within=(1e-3, 1000), example=12,
        words=r"(?<!dc )input|(?<![a-z])v_?in(?![a-z])|输入|供电|电池|battery|source|"
              r"(?<!must )(?<!should )(?<!shall )(?<!to )supply|bus|母线",
        before=r"from|从|由|将|把|(?<![a-z])in\s*[:=]", after=r"\s*(?:dc\s*)?_?in(?![a-z])", required=True,
    ),
    kit.Quantity(
        name="iout", label=msg("output current"), dimensions=("A",), within=(1e-6, 200), example=2,
        words=(r"load|output current|i_?out|(?<![a-z])i_?o(?![a-z])|"
               r"(?<!ripple )(?<!inductor )current(?! ripple)|"
               r"(?<!纹波)(?<!电感)电流(?!的?(?:纹波|波动))|负载|带载"),
        before="@", after=r"\s*(?:max(?:imum)?\s*)?(?:output|load|输出|负载)", takes_rest=True,
    ),
    _RIPPLE,
    kit.Quantity(name="diode_v", label=msg("diode drop"), dimensions=("V",), within=(1e-3, 10), example=0.4,
                 words=r"diode|schottky|forward (?:drop|voltage)|(?<![a-z])v_?f(?![a-z])|"
                       r"二极管|正向|压降(?!到)"),
    _INDUCTOR_RIPPLE,
    kit.Quantity(
        name="load_ohm", label=msg("load resistance"), dimensions=("Ohm",), within=(1e-6, 1e9), example=2.5,
        words=r"load|负载|(?<![a-z])r_?l(?:oad)?(?![a-z])", takes_rest=True,
    ),
    kit.Quantity(name="power_w", label=msg("output power"), dimensions=("W",), within=(1e-6, 1e5), example=10,
                 words=r"power|功率", takes_rest=True),
    kit.Quantity(
        name="fsw", label=msg("switching frequency"), dimensions=("Hz",), within=(1e3, 10e6), example=300e3,
        words=r"switch(?:es|ing|ed)?(?: frequency| at)?|f_?sw?(?![a-z])|frequency|"
              r"开关频率|工作频率|频率", takes_rest=True,
        default=300e3,
    ),
    replace(kit.TOLERANCE, takes_rest=False, before=r"±|\+/?-|正负", default=0.02,
            words=r"tolerance|accura\w*|error|regulation|误差|偏差|容差|精度"),
    kit.Quantity(
        name="efficiency", label=msg("efficiency"), dimensions=("%",), within=(0.01, 0.995), example=0.9,
        words=r"eff(?:icien\w*)?(?![a-z])|效率|η",
    ),
    kit.Quantity(
        name="inductance", label=msg("inductor"), dimensions=("H",), within=(1e-9, 10), example=22e-6,
        words=r"induct\w*|coil|choke|(?<![a-z])l\d?(?![a-z])|电感|线圈", takes_rest=True,
    ),
    kit.Quantity(
        name="capacitance", label=msg("capacitor"), dimensions=("F",), within=(1e-12, 1), example=100e-6,
        words=r"capacit\w*|(?<![a-z])c\w{0,3}(?![a-z])|电容", takes_rest=True,
    ),
    kit.Quantity(
        name="esr", label=msg("series resistance of the capacitor"), dimensions=("Ohm",), within=_OHM,
        words=r"(?<![a-z])esr(?![a-z])|等效串联电阻", example=5e-3,
    ),
    kit.Quantity(
        name="winding_ohm", label=msg("winding resistance"), dimensions=("Ohm",), within=_OHM, example=0.02,
        words=r"(?<![a-z])dcr(?![a-z])|winding|绕组|直流电阻",
    ),
    kit.Quantity(
        name="switch_ohm", label=msg("on-resistance of the switch"), dimensions=("Ohm",), within=_OHM,
        words=r"r_?(?:ds_?)?\(?on\)?(?![a-z])|on[\s-]resistance|导通电阻|内阻", example=0.02,
    ),
)  # fmt: skip


STEPPED = (*QUANTITIES, *load_step.QUANTITIES)
"""The quantities of a converter on which a load step is tried."""


def with_inductor_gain(gain: Callable[[kit.Request], float]) -> tuple[kit.Quantity, ...]:
    """The quantities of a converter in whose inductor `gain` times the load current flows."""
    ripple = replace(_INDUCTOR_RIPPLE, default=lambda request: 0.3 * request["iout"] * gain(request))
    return tuple(ripple if each is _INDUCTOR_RIPPLE else each for each in QUANTITIES)


def _rectifier(request: kit.Request) -> str:
    """A diode, unless its share of the output power leaves no room for the efficiency (the rest: 3 %)."""
    if load_step.is_to_little(request):  # a diode would let the output rise there
        return "synchronous"
    vin, vout, efficiency = request["vin"], request["vout"], request["efficiency"]
    if not (vin and vout and efficiency):
        return "diode"
    # of a converter that steps up all of the load current goes through it
    diode_loss = (request["diode_v"] or 0.4) * (1 - vout / vin if vout < vin else 1.0) / vout
    return "synchronous" if efficiency > 0.97 / (1 + diode_loss) else "diode"


RECTIFIER = kit.Choice(
    name="rectifier", label=msg("rectifier"), default=_rectifier,
    options=(
        kit.Option(key="diode", label=msg("Schottky diode"), words=_DIODE_WORDS),
        kit.Option(
            key="synchronous", label=msg("synchronous rectifier"),
            words=rf"^(?!.*(?:{_DIODE_WORDS})).*(?:synchron|(?<![a-z])sync(?![a-z])|同步)",
        ),
    ),
)  # fmt: skip

PARTS = (part_choice("diode"), part_choice("mosfet"))


def says(sentence: kit.Sentence, quantities: Sequence[kit.Quantity] = QUANTITIES) -> kit.Said:
    """The two voltages as a conversion, everything else by its words."""
    values: dict[str, Any] = {}
    if load_step.QUANTITIES[0] in quantities:
        sentence, values = load_step.says(sentence)
        if sentence.has(load_step.AT_START):  # an overshoot there is none of a load step
            quantities = [each for each in quantities if each not in load_step.QUANTITIES]
    found = read_conversion(sentence, sorted(quantities, key=lambda each: each.name != "vin"))
    for quantity in quantities:
        if (mention := found.values.get(quantity.name)) is not None:
            # "ripple ratio 0.4" without a unit is a share of the load current
            is_share = mention.dimension in _SHARES.get(quantity.name, ())
            values[f"{quantity.name}{_SHARE if is_share else ''}"] = number(quantity, mention)
    stated = frozenset(name.removesuffix(_SHARE) for name in values)
    if found.input_range is not None:
        values |= dict(zip(("vin_lowest", "vin_highest"), found.input_range, strict=True))
    return kit.Said(values=values, stated=stated, notes=(*found.notes, *left_out(found.unused)))


def complete(request: kit.Request) -> kit.Said:
    """Load current and ripples from what was said of them. Raises CircuitError for a higher output."""
    vin, vout = request["vin"], request["vout"]
    if vin is not None and vout is not None and vout >= request["vin_lowest"]:
        raise impossible(
            msg("A buck converter only steps down: it cannot make {vout} V from {vin} V.", vout=f"{vout:g}",
                vin=f"{request['vin_lowest']:g}"),
            msg("Raise the input or lower the output voltage; a boost converter steps up."),
        )  # fmt: skip
    return load_and_ripples(request)


def load_and_ripples(request: kit.Request, inductor_gain: float = 1.0) -> kit.Said:
    """Load current from load or power, ripples from their shares. Raises CircuitError out of range.

    `inductor_gain` times the load current flows in the inductor.
    """
    vin, vout, iout = request["vin"], request["vout"], request["iout"]
    values: dict[str, Any] = {}
    if vin is None or vout is None:
        return kit.Said(values=values)
    low, high = request["vin_lowest"], request["vin_highest"]
    if iout is None and request["load_ohm"]:
        iout = vout / request["load_ohm"]
    if iout is None and request["power_w"]:
        iout = request["power_w"] / vout
    notes = []
    is_said = False
    if iout is None and request.get("step_to_a"):
        iout, is_said = max(request["step_from_a"] or 0.0, request["step_to_a"]), True
    if iout is None:
        iout = _USUAL_A
        notes.append(assumed(msg("output current"), with_unit(iout, "A")))
    values = {
        "iout": iout,
        "ripple_v": request["ripple_v"],
        "inductor_ripple_a": request["inductor_ripple_a"],
    }
    mean = inductor_gain * iout
    for quantity, base, within in ((_RIPPLE, vout, (1e-5, 0.2)), (_INDUCTOR_RIPPLE, mean, (0.01, 1.9))):
        name = quantity.name
        share = request.get(f"{name}{_SHARE}")
        if values[name] is None and share is not None and base:
            values[name] = share * base
        if values[name] is not None and base:
            refuse_beyond(quantity, values[name], within[0] * base, within[1] * base)
    values["ripple_is_stated"] = request.states("ripple_v")
    if "deviation_v" in request:
        notes += load_step.complete(values, request)
    sized_for = msg(
        "The parts are sized for {low} to {high} V; the fixed duty cycle in the netlist is for {vin} V.",
        low=f"{low:g}",
        high=f"{high:g}",
        vin=f"{vin:g}",
    )
    if high > low:
        notes.append(sized_for)
    return kit.Said(values=values, stated=frozenset({"iout"} if is_said else ()), notes=tuple(notes))


def restore(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Before this family was declared, flags told what was said."""
    if kit.STATED in parameters:
        return parameters
    flags = {"ripple": "ripple_v", "inductor_ripple": "inductor_ripple_a"}
    flags |= {name: name for name in ("tolerance", "rectifier")}
    given = ("efficiency", "inductance", "capacitance", "esr", "winding_ohm", "switch_ohm", "diode_v")
    stated = {"vin", "vout", "iout", *(name for name in given if parameters[name] is not None)}
    stated |= {name for flag, name in flags.items() if parameters[f"{flag}_is_stated"]}
    return {**parameters, kit.STATED: sorted(stated)}
