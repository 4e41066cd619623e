"""What all declared filters share: quantities, choices, goals, and how a response decides on its order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from domain.circuit.numbers import parse_number
from domain.design import kit, supplies
from domain.design.kit import spice, unreachable, with_unit
from domain.design.opamp import write_opamp
from domain.design.prototypes import attenuation_db, prototype, ripple_edge
from shared.message import msg

LOW_PASS, HIGH_PASS = "lowpass", "highpass"
_BLOCKS = (
    r"(?:kill|block|remov|reject|stop|suppress|attenuat|cut(?:s|ting)? (?:off|out)|filter(?:s|"
    r"ing)? out|get rid|"
    r"tak\w+ out)"
)
_BLOCKED = r"的?(?:全部?|都|频率|信号|噪声|部分|成分)*(?:被)?(?:去掉|滤[掉除去]|去除|衰减|抑制|切掉|不要)"
_HERTZ = r"(?:about |around |大约|约)?[\d.]+\s?[kmg]?(?:hz|赫兹?)"


def _blocks(english: str, chinese: str) -> str:
    """What is taken out on one side of a frequency: "kill everything above 3 kHz", "3kHz以上的都滤掉"."""
    return (
        rf"{_BLOCKS}\w*[^.;]{{0,30}}(?<![a-z])(?:{english})\s{_HERTZ}|{_HERTZ}{chinese}{_BLOCKED}|"
        rf"(?:去掉|滤[掉除去]|去除|抑制)[^,;。]{{0,6}}?{_HERTZ}{chinese}"
    )


LETS_LOWS_THROUGH = (
    r"low[\s-]?pass|(?<![a-z])lpf?(?![a-z])|high[\s-]?cut|anti[\s-]?alias|treble[\s-]cut|"
    r"(?:sub-?woofer|hiss|pwm(?: to [a-z]+)?) (?:filter|cross-?over)|低通|高频滤除|高切|抗混叠|"
    + _blocks("above|over|higher than", "以上")
)
LETS_HIGHS_THROUGH = (
    r"high[\s-]?pass|(?<![a-z])hpf?(?![a-z])|low[\s-]?cut|bass[\s-]cut|"
    r"(?:rumble|tweeter|dc[\s-]block(?:ing)?) (?:filter|cross-?over)|高通|低频滤除|低切|"
    + _blocks("below|under|lower than", "以下")
)
FILTER_WORDS = rf"{LETS_LOWS_THROUGH}|{LETS_HIGHS_THROUGH}|filter|滤波"
THREE_DB = (
    r"\(?-?\b3(?:\.0\d?)?\s?db\)?[\s-]*(?:cut|band|corner|freq|point|edge|截止|带宽|转折|频率|点)|"
    r"(?:cut[\s-]?off|bandwidth|corner|截止频率|转折频率|带宽|"
    r"截止)(?: frequency)?\s*\(?\s*-?3(?:\.0\d?)?\s?db\)?"
    r"|hz\s*[,(]?\s*-3(?:\.0\d?)?\s?db|-3(?:\.0\d?)?\s?db\s*(?:at|"
    r"@|in|=|:|处|在)|(?:处|at \S+\s?k?hz:?)\s*-3(?:\.0\d?)?\s?db"
)
"""The 3 dB that say what a cut-off is, and ask for no attenuation."""
MULTIPLE_FEEDBACK_WORDS = (
    r"multiple[\s-]?(?:loop )?feedback|(?<![a-z])mfb(?![a-z])|(?<![a-z])rauch(?![a-z])|"
    r"多重(?:负)?反馈|多路(?:负)?反馈|多环反馈|无限增益|劳赫"
)
BUTTERWORTH_WORDS, CHEBYSHEV_WORDS = r"butterw|巴特沃", r"cheb[iy]|tscheb|[切契]比雪夫"

BUTTERWORTH = kit.Option(
    key="butterworth", label=msg("Butterworth"), words=rf"{BUTTERWORTH_WORDS}|maximally flat|最(?:大)?平坦"
)
RESPONSE = kit.Choice(
    name="response",
    label=msg("response"),
    options=(
        BUTTERWORTH,
        kit.Option(key="chebyshev", label=msg("Chebyshev"), words=rf"{CHEBYSHEV_WORDS}|ripple|纹波|波纹"),
    ),
)
PARTS = kit.Choice(
    name="parts",
    label=msg("part values"),
    is_told=False,
    options=(
        kit.Option(key="E24", label=msg("{series} values", series="E24"), words=r"(?<![a-z0-9])e24(?!\d)"),
        kit.Option(key="E96", label=msg("{series} values", series="E96"), words=r"(?<![a-z0-9])e96(?!\d)"),
        kit.Option(key="E12", label=msg("{series} values", series="E12"), words=r"(?<![a-z0-9])e12(?!\d)"),
        kit.Option(key="exact", label=msg("exact values"), words=r"exact|精确(?:值|元件)|理想(?:值|元件)"),
    ),
)
TERMINATION = kit.Choice(
    name="termination",
    label=msg("termination"),
    is_told=False,
    options=(
        kit.Option(key="double", label=msg("source and load"), words=r"doubl[ey][\s-]|双端接"),
        kit.Option(
            key="single",
            label=msg("load only"),
            words=r"sing(?:ly|le)[\s-](?:end(?:ed)? )?terminat|voltage source|单端接|单终端|电压源",
        ),
    ),
)
"""Of a ladder: without a source resistance it begins with a part in the line."""
CUTOFF_AT = kit.Choice(
    name="cutoff_at",
    label=msg("cut-off"),
    is_told=False,
    options=(
        kit.Option(key="half_power", label=msg("half-power point"), words=THREE_DB),
        kit.Option(
            key="edge",
            label=msg("ripple edge"),
            words=(
                rf"^(?!.*(?:{THREE_DB})).*(?:ripple (?:edge|band\s?width|band|up to)|pass[\s-]?band (?:edge|"
                r"frequency|up to|to|from|(?:is |of )?\d)|通带(?:为|是|范围)?(?:边缘|频率|截止|\s*\d)|"
                r"[纹波]{2}(?:带宽|边缘)|等纹波)"
            ),
        ),
    ),
)

_LOSS_WORDS = (
    r"(?:pass[\s-]?band|insertion) (?:loss|attenuation)|(?<![a-z])a_?p(?:ass)?(?![a-z])|"
    r"通带(?:内)?(?:的)?(?:最大)?(?:允许)?(?:损耗|衰减|损失)|插入?损耗?"
)
_RIPPLE_WORDS = r"ripple|纹波|波纹|波动|起伏|cheb\w*|[切契]比雪夫"
LOSS = kit.Quantity(
    name="loss_db", label=msg("pass-band loss"), dimensions=("dB",), words=_LOSS_WORDS, takes_bare=False,
    has_sign=False, within=(0, 60), example=1,
)  # fmt: skip
LADDER_OHM = kit.Quantity(
    name="resistance_ohm", label=msg("source and load resistance"), dimensions=("Ohm",), takes_rest=True,
    words=r"source|generator|terminat\w*|impedance|resistance|matched|system|源|端接|阻抗|特性阻抗|内阻|匹配|系统",
    within=(1, 10e3), example=50, default=50,
)  # fmt: skip
LADDER_LOSS = kit.Quantity(
    name="loss_db", label=msg("pass-band loss"), dimensions=("dB",), takes_bare=False, within=(0.01, 3),
    example=0.5, words=rf"{_RIPPLE_WORDS}|{_LOSS_WORDS}",
    default=lambda request: 0.5 if request["response"] == "chebyshev" else 1.0,
)  # fmt: skip
"""Of a Chebyshev response its ripple."""
RIPPLE = kit.Quantity(
    name="ripple_db", label=msg("ripple"), dimensions=("dB",), words=_RIPPLE_WORDS, takes_bare=False,
    has_sign=False, within=(0, 3.02), example=0.5,
)  # fmt: skip
PEAKING = kit.Quantity(
    name="peaking_db", label=msg("peaking"), dimensions=("dB",), takes_bare=False, within=(1e-6, 60),
    example=0.1, words=r"(?<![a-z])peak(?:ing|s)?(?![a-z])|峰值|尖峰|峰化|凸峰|鼓包",
)  # fmt: skip
"""How far the response may stand above its pass-band level."""
GAIN = kit.Quantity(
    name="gain", label=msg("gain"), dimensions=("x", "dB"), within=(1, 1000), example=2,
    default=1.0, is_told=False,
    words=r"(?<![a-z])gain|增益|放大倍数|放大|(?<![a-z])[ak]v?(?=\s*=)",
)  # fmt: skip


def filter_quantities(
    cutoff_hz: tuple[float, float], *, example_hz: float, name: str = "cutoff_hz"
) -> tuple[kit.Quantity, ...]:
    """Cut-off (`name` in the parameters), attenuation and tolerance, with the cut-offs a family can do."""
    return (
        kit.Quantity(
            name=name, label=msg("cut-off frequency"), dimensions=("Hz",), takes_rest=True, within=cutoff_hz,
            example=example_hz, required=True, weak=r"(?<![a-z])at(?![a-z])|@|在",
            words=(
                r"cut[\s-]?off|cutting|corner|break (?:frequency|point)|(?<![a-z])f_?c(?![a-z])|"
                r"(?<![a-z])f_?0(?!\d)|f_?3db|-?3(?:\.01)?\s?db|bandwidth|带宽|截止|转折|拐点|拐角|"
                r"passband edge|通带(?:边缘|频率|截止)|ripple edge|(?<![a-z])f_?p(?:ass)?(?![a-z])|"
                r"natural frequency|自然频率|特征频率|固有频率|极点频率|pole frequency"
            ),
        ),
        kit.Quantity(
            name="attenuation_hz", label=msg("stop-band edge"), dimensions=("Hz",), within=(1e-9, 1e15),
            example=2e6, weak=r"(?<![a-z])(?:at|beyond|above|below|from)(?![a-z])|@|在",
            words=r"stop[\s-]?band (?:edge|frequency)|阻带(?:频率|边缘)|(?<![a-z])f_?s(?:top)?(?![a-z])",
            before=(
                r"(?:attenuat\w*|rejects?|rejection|suppress\w*|down|loss|衰减|抑制|db)\s*"
                r"(?:of \S+\s?db\s*)?(?:(?:at|beyond|above|below|from|by|for)(?![a-z])|@|在)|"
                r"stop[\s-]?band(?: edge| frequency| starts?| begins?)*(?: at| from)?|"
                r"阻带(?:起始|截止|边缘)?(?:频率)?"
            ),
            after=(
                r"(?:(?:处|时|以上|以外|以下|外)\s*[,:]?|的|\s)*(?:衰减|抑制|at least|to be|"
                r"is|are|down by|down|attenuat\w*(?: by| of)?|by|"
                r"rejects?|rejection|不少于|不小于|不低于|至少|大于等于|大于|超过|达到|达|为|要|有|>=?|"
                r"≥|\s)*-?\d+(?:\.\d+)?\s?(?:db|分贝)(?!\s*(?:ripple|纹波))"
            ),
        ),
        kit.Quantity(
            name="attenuation_db", label=msg("attenuation"), dimensions=("dB",), takes_rest=True,
            takes_bare=False, within=(0, 160), example=40,
            words=(
                r"(?<!band )(?<!band)attenuat\w*|reject\w*|suppress\w*|"
                r"(?<!通带)(?<!通带内)(?<!通带最大)(?<!通带内最大)(?<!通带允许)(?<!通带最大允许)衰减|抑制|"
                r"(?<![a-z])down(?![a-z])|阻带|stop[\s-]?band|(?<![a-z])a_?s(?:top)?(?=\s*[=:≥>])"
            ),
        ),
        kit.TOLERANCE,
    )  # fmt: skip


def order_quantity(low: int, high: int) -> kit.Quantity:
    """The order, as `order_of` reads it."""
    return kit.Quantity(
        name="order", label=msg("order"), dimensions=("none",), words="(?!)", within=(low, high), example=5,
        required=True, is_whole=True,
    )  # fmt: skip


def shifted(kind: str, hz: float, ratio: float) -> float:
    """A frequency `ratio` times as far into the stop band as `hz` (below 1: into the pass band)."""
    return hz * ratio if kind == LOW_PASS else hz / ratio


def depth(request: kit.Request, cutoff_hz: float) -> float:
    """How many times as far into the stop band as a cut-off the attenuation is asked for."""
    ratio: float = request["attenuation_hz"] / cutoff_hz
    return ratio if request["kind"] == LOW_PASS else 1 / ratio


def least_order(request: kit.Request, orders: Iterable[int], reached_db: Callable[[int], float]) -> int:
    """The first of some orders that keeps the attenuation. Raises CircuitError when none does."""
    order = 0
    for order in orders:
        if reached_db(order) >= request["attenuation_db"]:
            return order
    advice = msg("Move the two frequencies apart, or ask for less attenuation.")
    wanted, reached = f"{request['attenuation_db']:g} dB", f"{reached_db(order):.3g} dB"
    raise unreachable(msg("attenuation"), wanted, reached, advice)


def pass_band_edge(request: kit.Request) -> float:
    """End of the pass band over the -3 dB frequency of a low-pass: of the ripple, or half way."""
    return (
        0.5
        if request["response"] == "butterworth"
        else ripple_edge(int(request["order"]), request["loss_db"])
    )


def away(request: kit.Request, ratio: float) -> float:
    """A frequency `ratio` times as far into the stop band as the cut-off (below 1: into the pass band)."""
    return shifted(request["kind"], request["cutoff_hz"], ratio)


def predicted_db(request: kit.Request, order: int, ratio: float) -> float:
    """Attenuation of the exact response at `ratio` times the cut-off, towards the stop band."""
    return attenuation_db(prototype(request["response"], order, request["loss_db"]), ratio)


def stop_hz(request: kit.Request) -> float:
    """Where the attenuation is measured: as said, else at twice the cut-off as a proof of the order."""
    return float(request["attenuation_hz"] or away(request, 2.0))


def attenuation(request: kit.Request) -> kit.Bounds:
    """The attenuation to be kept at `stop_hz`: as said, else what the order gives, a little less."""
    if request["attenuation_db"]:
        return kit.Bounds(maximum=-request["attenuation_db"])
    exact = predicted_db(request, int(request["order"]), 2 / (1 + request["tolerance"]))
    return kit.Bounds(maximum=-round(exact - 0.5, 1))


def _pass_band(request: kit.Request) -> str:
    """The least gain of the pass band over its greatest, dB."""
    edge = away(request, pass_band_edge(request) * (1 - request["tolerance"]))
    inside = away(request, 1 / 90)  # the sweep goes a hundredth into the pass band
    far = max(edge * 0.02, inside) if request["kind"] == LOW_PASS else min(edge * 50, inside)
    return f"db(min(v(out),{spice(min(edge, far))},{spice(max(edge, far))})/peak(v(out)))"


def frequencies_in(goals: Sequence[kit.DesignGoal]) -> list[float]:
    """The frequencies at which goals measure a gain: a sweep must reach beyond them."""
    found = (match for goal in goals for match in re.finditer(r"gain\(v\(out\),([^)]+)\)", goal.expression))
    return [parse_number(match[1]) for match in found]


def sweep(request: kit.Request, _sized: kit.Sized, goals: Sequence[kit.DesignGoal]) -> tuple[str]:
    """An .ac card from well inside the pass band to beyond every frequency a goal measures."""
    edges = [request["cutoff_hz"], *frequencies_in(goals)]
    below, above = (100, 3) if request["kind"] == LOW_PASS else (3, 100)
    return (f".ac dec 200 {spice(min(edges) / below)} {spice(max(edges) * above)}",)


def write_cascade(deck: kit.Deck, request: kit.Request, sized: kit.Sized, write: Callable[..., None]) -> None:
    """A filter whose stages `write` writes."""
    amplitude = supplies.amplitude_v(request, request["gain"])
    sine = f"SIN(0 {spice(amplitude)} {spice(request['stated_hz'])})"
    deck.part(
        f"Vin in {supplies.ground_of(request)} DC 0 AC 1 {sine}",
        msg("input: 1 V for .ac, a sine at the cut-off for .tran"),
    )
    rails = supplies.write_rails(deck, request, "buffer")
    count = (request["order"] + 1) // 2
    for n in range(1, count + 1):
        deck.rule()
        hertz, q = with_unit(sized.figures[f"f{n}"], "Hz"), sized.figures.get(f"q{n}")
        if q is None:
            deck.note(msg("Stage {number}: first order, f0 = {frequency}", number=n, frequency=hertz))
        else:
            deck.note(
                msg("Stage {number}: f0 = {frequency}, Q = {q}", number=n, frequency=hertz, q=f"{q:.4g}")
            )
        nodes = "in" if n == 1 else f"s{n - 1}", "out" if n == count else f"s{n}"
        write(deck, request["kind"], n, sized.parts, nodes, opamp=request["opamp"], rails=rails)
    write_opamp(deck, request, sized.figures["gbw_hz"])


CUTOFF_GOAL = kit.GoalRow(
    metric="cutoff",
    label=msg("Corner, −3 dB"),
    unit="Hz",
    quantity="cutoff_hz",
    expression=lambda request: f"{'highcut' if request['kind'] == LOW_PASS else 'lowcut'}(v(out))",
)
LOSS_GOAL = kit.GoalRow(
    metric="passband_loss",
    label=msg("Passband loss"),
    unit="dB",
    quantity="loss_db",
    expression=_pass_band,
    bounds=lambda request: kit.Bounds(minimum=-request["loss_db"]),
    is_corrected=False,
)
PEAKING_GOAL = kit.GoalRow(
    metric="peaking",
    label=msg("Peaking"),
    unit="dB",
    quantity="peaking_db",
    expression="db(peak(v(out)))",
    bounds=lambda request: kit.Bounds(maximum=request["peaking_db"]),
    is_corrected=False,
)
ATTENUATION_GOAL = kit.GoalRow(
    metric="attenuation",
    label=msg("Attenuation"),
    unit="dB",
    quantity="attenuation_db",
    expression=lambda request: f"db(gain(v(out),{spice(stop_hz(request))})/peak(v(out)))",
    bounds=attenuation,
    is_corrected=False,
)
