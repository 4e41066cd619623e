# ruff: noqa: E501 - a row of words reads better whole
"""The figures the built-in model knows by name: the words for each, and the expressions that measure it.

A new figure is one row. Expressions are those of inspect_data (docs/measurements.md); `{x}` is the signal at
the output over the one at the input, `{out}` the voltage at the output, `{f}` a place of the axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from domain.circuit.figures import with_unit
from shared.message import Message, msg

Kind = Literal["ac", "tran", "noise", "level"]
"""The analysis a figure is taken from; "level": of the operating point, or where there is only a transient
analysis the mean at its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure."""

    words: str
    """A regular expression, both languages."""
    name: Message
    unit: str
    kind: Kind
    expressions: tuple[str, ...]
    """The first that has a value counts."""
    at: str = ""
    """At a place of the axis; "" where there is none."""
    place: str = ""
    """The place when none is given: of an impedance."""
    sensed: str = ""
    """What sensitivities are taken of, when it is another expression: a gain as a factor."""
    is_better_low: bool = False
    of: str = ""
    """Letters of the elements it is a quantity of: `{part}` is the one named, else the only one; `{n0}` its first node.
    "*": of any that is named, else of the supplies (`measuring.quantity_of`)."""
    is_aside: bool = False
    """Only in what is studied, tuned or changed: a plain question for it is answered with all of the part's figures."""


FIGURES: dict[str, Figure] = {
    "phase_margin": Figure(
        words=r"phase margins?|(?-i:(?<![A-Za-z0-9_])PM(?![A-Za-z0-9_]))|(?:is|stays?|remains?) (?:it|this|the (?:loop|amp\w*|circuit)) (?:still |really |always )?stable|loop stability|how stable\b|稳定性|稳定裕度|相位裕[度量]|相角裕度", name=msg("phase margin"), unit="deg", kind="ac",
        expressions=("phase_margin({x})",),
    ),
    "gain_margin": Figure(
        words=r"gain margins?|增益裕[度量]|幅值裕度", name=msg("gain margin"), unit="dB", kind="ac",
        expressions=("gain_margin({x})",),
    ),
    "ugf": Figure(
        words=r"unity[- ]gain(?: (?:frequency|freq|bandwidth))?|gain[- ]bandwidth(?: product)?|\bgbw\b|单位增益(?:频率|带宽)?|增益带宽积",
        name=msg("unity-gain frequency"), unit="Hz", kind="ac", expressions=("ugf({x})",),
    ),
    "lower_cutoff": Figure(
        words=r"low(?:er|[- ]freq(?:uency)?|[- ]end)?[- ](?:(?:corner|cut[- ]?off|limit|end)(?: frequency| freq)?|-?3 ?db(?: frequency| point)?)|下限(?:截止|转折)?(?:频率)?|低频(?:截止|转折)(?:频率)?|低频端|低端(?:截止)?频率|low(?:er)?[- ]?freq(?:uency|uencies)? (?:(?:response |end )?roll[- ]?off|response)|roll-?off at low(?:er)? freq\w+|(?:falls?|drops?|rolls?|droops?) (?:off )?(?:under|below|at low(?:er)? frequenc\w+)|\bbass(?: (?:cut-?off|corner|roll-?off|end|response))?|低频(?:时|段|处|部分)?.{0,8}?(?:下降|[往下]?掉|衰减|跌|滚降)|低频截止",
        name=msg("lower cut-off frequency"), unit="Hz", kind="ac", expressions=("lowcut({x})",), is_better_low=True,
    ),
    "upper_cutoff": Figure(
        words=r"(?:upper|high(?:er|[- ]freq(?:uency)?|[- ]end)?)[- ](?:(?:corner|cut[- ]?off|limit|end)(?: frequency| freq)?|-?3 ?db(?: frequency| point)?)|上限(?:截止|转折)?(?:频率)?|高频(?:截止|转折)(?:频率)?|高频端|高端(?:截止)?频率|high(?:er)?[- ]?freq(?:uency|uencies)? (?:(?:response |end )?roll[- ]?off|response)|roll-?off at high(?:er)? freq\w+|(?:falls?|drops?|rolls?|droops?) (?:off )?(?:above|beyond|at high(?:er)? frequenc\w+)|\btreble(?: (?:cut-?off|corner|roll-?off|end|response))?|高频(?:时|段|处|部分)?.{0,14}?(?:下降|[往下]?掉|衰减|跌|滚降)|高频截止",
        name=msg("upper cut-off frequency"), unit="Hz", kind="ac", expressions=("highcut({x})",),
    ),
    "cutoff": Figure(
        words=r"cut-?off(?: frequency| freq)?|(?<=the )cut off(?! freq)|cut off freq(?:uency)?|(?-i:(?<![A-Za-z0-9_.])f_?[c0](?![A-Za-z0-9_(]))|corner(?: frequency| freq)?|-?3 ?db[- ]?(?:point|frequency|freq|corner|点|频率|处)|截止频率|截止点|转折频率|拐点频率|截频",
        name=msg("cut-off frequency"), unit="Hz", kind="ac", expressions=("highcut({x})", "lowcut({x})"),
    ),
    "bandwidth": Figure(
        words=r"(?:-?3 ?db )?band[- ]?wi(?:d?th|dt)|\bbw\b|(?:-?3 ?db ?)?(?:带宽|通频带)", name=msg("bandwidth"), unit="Hz", kind="ac",
        expressions=("bandwidth({x})",),
    ),
    "dc_gain": Figure(
        words=r"dc gain|gain at dc|open[- ]loop gain|low[- ]frequency gain|直流增益|开环增益|低频增益", name=msg("DC gain"), unit="dB",
        kind="ac", expressions=("db(dcgain({x}))",), sensed="mag(dcgain({x}))",
    ),
    "gain": Figure(
        words=r"(?<![a-z])(?:voltage |mid-?band |small-signal )?(?:gain|amplification)(?![a-z])|how much does it amplify|how far down|attenuat(?:ion|es?|ing)|(?:电压|中频)?(?:增益|放大倍数)|衰减",
        name=msg("gain"), unit="dB", kind="ac", expressions=("db(max(mag({x})))",), at="db(gain({x},{f}))",
        sensed="max(mag({x}))",
    ),
    "group_delay": Figure(
        words=r"group[- ]delays?|群延[时迟]", name=msg("group delay"), unit="s", kind="ac", expressions=("max(group_delay({x}))",),
        at="at(group_delay({x}),{f})", is_better_low=True,
    ),
    "peaking": Figure(
        words=r"(?:gain |pass-?band )?peaking|resonan\w+ peak|(?:gain )?peak (?:in|of) the (?:pass-?band|response)|通带.{0,6}?尖峰|尖峰|谐振峰|峰化|起峰",
        name=msg("peaking (above the gain at low frequencies)"), unit="dB", kind="ac", expressions=("db(max(mag({x})))-db(dcgain({x}))",),
        is_better_low=True,
    ),
    "quality": Figure(
        words=r"\bq(?:[- ]factor|[- ]value)?(?= (?:of|is|as)\b|[?]|$)|(?<=the )q\b|quality factor|品质因数|(?<![A-Za-z0-9_])Q\s?值|(?-i:(?<![A-Za-z0-9_])Q(?![A-Za-z0-9_']))", name=msg("Q"), unit="",
        kind="ac", expressions=("q({x})",),
    ),
    "phase": Figure(
        words=r"phase(?: shift| angle)?|相位|相移", name=msg("phase"), unit="deg", kind="ac", expressions=(),
        at="ph(at({x},{f}))",
    ),
    "input_impedance": Figure(
        words=r"input (?:impedance|resistance)|\bz_?in\b|\br_?in\b|输入(?:阻抗|电阻)", name=msg("input impedance"),
        unit="Ohm", kind="ac", expressions=(), at="at(mag({in}/{i_in}),{f})", place="1k",
    ),
    "input_noise": Figure(
        words=r"input[- ]referred (?:noise|voltage noise)|input noise|(?:等效)?输入(?:参考)?噪声", name=msg("input-referred noise"),
        unit="V", kind="noise", expressions=("noise_total(inoise)",), is_better_low=True,
    ),
    "noise": Figure(
        words=r"(?:total |integrated )?(?:output )?noise(?: voltage)?|(?:总)?(?:输出)?噪声", name=msg("output noise"), unit="V",
        kind="noise", expressions=("noise_total(onoise)",), at="at(onoise,{f})", is_better_low=True,
    ),
    "inductor_ripple": Figure(
        words=r"(?:inductor|coil)(?:['’]s)?(?: current)? ripple(?: current)?|ripple current|current ripple|ripple (?:current )?(?:of|in|through) (?:the )?(?:inductor|coil|l\d\w*\b|i\(l\w*\))|电感(?:的)?(?:电流)?纹波(?:电流)?|纹波电流|电流纹波|电感电流的?(?:纹波|峰峰值)",
        name=msg("ripple of the inductor's current (peak to peak)"), unit="A", kind="tran", expressions=("ripple(i({part}))",), of="l",
        is_better_low=True,
    ),
    "efficiency": Figure(
        words=r"efficiency|efficient|效率", name=msg("efficiency"), unit="1", kind="tran", expressions=("avg({p_load},{tail})/-avg({p_in},{tail})",),
    ),
    "ripple": Figure(
        words=r"(?:output )?(?:voltage )?ripple|(?:输出(?:端)?(?:的)?(?:电压)?(?:的)?)?纹波(?:电压)?", name=msg("ripple (peak to peak)"), unit="V", kind="tran",
        expressions=("ripple({out})",), is_better_low=True,
    ),
    "rise_time": Figure(
        words=r"rise ?times?|rise(?= and fall)|上升时间|上升(?=[和与、]下降时间)", name=msg("rise time"), unit="s", kind="tran", expressions=("rise_time({out})",),
        is_better_low=True,
    ),
    "fall_time": Figure(
        words=r"fall ?times?|下降时间", name=msg("fall time"), unit="s", kind="tran", expressions=("fall_time({out})",),
        is_better_low=True,
    ),
    "slope": Figure(
        words=r"(?:stop-?band )?(?:roll-?off|fall-?off|slope)(?: rate| slope)?(?: (?:in )?(?:db )?(?:per|/) ?dec(?:ade)?)?|db (?:per|/) ?dec(?:ade)?|滚降(?:斜率|速度)?|(?:衰减|下降)?斜率|每十倍频(?:程)?.{0,8}?(?:db|分贝)",
        name=msg("slope beyond the cut-off, per decade"), unit="dB", kind="ac",
        expressions=("db(gain({x},100*highcut({x})))-db(gain({x},10*highcut({x})))",),
    ),
    "startup_time": Figure(
        words=r"(?:start-?up|turn-?on) time|how (?:long|fast|quick\w*)\b.{0,40}?\b(?:start\w*|oscillat\w*|swinging|come up|build up|power up)\b|\btak\w+ (?:so |too )?long (?:to|till|until|before)\b.{0,24}\b(?:start\w*|oscillat\w*|swing\w*|come up|build up)\b|起振(?:时间|要多久|需要多久|多久|有多快|多长时间)?|(?:启动|开机|上电|软启动)(?:的)?时间|多(?:久|长时间)(?:才|能|可以|会)*(?:起振|启动|起来)",
        name=msg("time to 90 % of the final size"), unit="s", kind="tran", expressions=("cross({out},0.9*max({out},{tail}))",), is_better_low=True,
    ),
    "settling_time": Figure(
        words=r"settl(?:e|ing)[ -]?time|\bwhen\b.{0,40}?\bwithin\b|how (?:long|fast|quick\w*)\b.{0,40}?\bsettl\w+|settl\w+ (?:to within|within)|how long (?:until|till|before|does it take)\b.{0,40}?\b(?:within|settle\w*|final|stable|steady)|(?:建立|稳定|调节)时间|多(?:久|长时间|快)(?:输出)?(?:才|能|可以|会)*稳(?:定)?(?:下来)?|(?:稳定|建立)(?:下来)?(?:要|需要|得)?多(?:久|长时间)", name=msg("settling time"), unit="s", kind="tran",
        expressions=("settling_time({out})",), is_better_low=True,
    ),
    "overshoot": Figure(
        words=r"overshoots?(?:ing)?|step response|过冲|超调量?|阶跃响应", name=msg("overshoot"), unit="1", kind="tran", expressions=("overshoot({out})",),
        is_better_low=True,
    ),
    "slew_rate": Figure(
        words=r"slew[- ]?rate|压摆率|摆率", name=msg("slew rate"), unit="V/s", kind="tran", expressions=("slew_rate({out})",),
    ),
    "duty": Figure(
        words=r"duty[- ]?cycle of (?:the )?output|output(?:'s)? duty(?:[- ]?cycle)?|输出(?:的)?占空比", name=msg("duty cycle of the output"), unit="1",
        kind="tran", expressions=("duty({out})",),
    ),
    "drive_duty": Figure(
        words=r"(?!)", name=msg("duty cycle of the drive"), unit="1", kind="tran", expressions=("duty({drive})",), is_aside=True,
    ),
    "drive_frequency": Figure(
        words=r"(?!)", name=msg("switching frequency"), unit="Hz", kind="tran", expressions=("frequency({drive})",), is_aside=True,
    ),
    "period": Figure(
        words=r"(?:oscillation|output) period|period of (?:the )?(?:oscillation|output)|(?:振荡|输出)(?:的)?周期", name=msg("period of the output"), unit="s",
        kind="tran", expressions=("period({out})",),
    ),
    "rms_out": Figure(
        words=r"\brms (?:output(?: voltage)?|v_?out)|output rms|输出(?:电压)?(?:的)?有效值", name=msg("output voltage, rms"), unit="V", kind="tran",
        expressions=("rms({out},{tail})",),
    ),
    "frequency": Figure(
        words=r"(?:oscillation|output) frequency|frequency of (?:the )?(?:oscillation|output)|(?:what|which) frequency (?:does|is) (?:it|this|the circuit|the output)\b.{0,16}?(?:oscillat\w*|run\w*|at)\b|how fast (?:does|is) (?:it|this|the circuit) oscillat\w*|振荡频率|输出频率|振荡(?:在|的)?(?:多少|什么|多大)(?:频率|赫兹|Hz)",
        name=msg("frequency of the output"), unit="Hz", kind="tran", expressions=("frequency({out})",),
    ),
    "thd": Figure(
        words=r"\bthd\b|(?:total )?harmonic distortion|distortion|\bharmonics?\b|(?:总)?谐波(?:失真|含量|成分)?|失真度?", name=msg("total harmonic distortion"),
        unit="1", kind="tran", expressions=(), at="thd({out},{f})", place="source", is_better_low=True,
    ),
    "peak_out": Figure(
        words=r"(?<!to[ -])(?:peak|maximum|max|highest) (?:output(?: voltage)?|v_?out)(?! swing| current| power)|output peaks?|输出(?:电压)?(?:的)?(?:峰值|最高值)|(?:冲|飙|蹿)到?(?:了)?多高|输出.{0,4}最高(?:能)?(?:到|是|为|有)", name=msg("highest output voltage"), unit="V",
        kind="tran", expressions=("max({out})",),
    ),
    "swing": Figure(
        words=r"(?:output )?(?:voltage )?swing|(?:output (?:voltage )?)?(?:\bpeak[- ]to[- ]peak|\bpk[- ]?(?:to[- ]?)?pk|\bp-p|(?<![A-Za-z0-9_.(])(?<!node )v_?pp(?! (?:supply|rail|pin|node))|(?<=\dV)pp|(?<=\d V)pp)\b(?! (?:\w+ )?(?:current|input|ripple|noise|sine|square|triangle|drive|source|ramp|signal at the input)\b)(?: (?:value|amplitude|level))?(?: (?:of |at )?(?:the )?(?:output(?: voltage)?|voltage))?|(?:output )?amplitude(?: of (?:the )?(?:output|oscillation))?|output (?:waveform|signal)|输出(?:的)?(?:波形|信号)|(?:输出)?摆幅|峰峰值|(?:输出)?幅[度值](?!频)",
        name=msg("output swing (peak to peak)"), unit="V", kind="tran", expressions=("pp({out},{tail})",),
    ),
    "collector_current": Figure(
        words=r"(?:collector|bias|quiescent|standing|idle|operating) current|(?<![A-Za-z0-9_.])i_?cq?(?![A-Za-z0-9_(])|集电极(?:静态)?电流|(?:静态|偏置)(?:工作)?电流",
        name=msg("collector current"), unit="A", kind="level", expressions=("ic({part})",), of="q", is_aside=True,
    ),
    "drain_current": Figure(
        words=r"(?:drain|bias|quiescent|standing|idle|operating) current|(?<![A-Za-z0-9_.])i_?dq?(?![A-Za-z0-9_(])|漏极?(?:静态)?电流|(?:静态|偏置)(?:工作)?电流",
        name=msg("drain current"), unit="A", kind="level", expressions=("id({part})",), of="m", is_aside=True,
    ),
    "collector_emitter": Figure(
        words=r"collector[- ](?:to[- ])?emitter voltage|(?<![A-Za-z0-9_.])v_?ceq?(?![A-Za-z0-9_(])|集射(?:极)?(?:间)?电压|管压降", name=msg("collector-emitter voltage"),
        unit="V", kind="level", expressions=("v({n0},{n2})",), of="q", is_aside=True,
    ),
    "collector_voltage": Figure(
        words=r"(?:dc )?collector(?: node| dc)?(?: voltage| potential)?|voltage (?:at|on|of) (?:the )?collector|(?<![A-Za-z0-9_.])v_?cq?(?![A-Za-z0-9_(])|集电极(?:的)?(?:静态|直流)?(?:电压|电位)",
        name=msg("collector voltage"), unit="V", kind="level", expressions=("v({n0})",), of="q", is_aside=True,
    ),
    "inductor_peak": Figure(
        words=r"peak (?:inductor|coil) current|(?:inductor|coil) peak current|电感(?:的)?峰值电流|电感电流(?:的)?(?:峰值|最大值)|(?<!负载)(?<!输出)(?<!的)峰值电流|peak current(?! of| through| in)", name=msg("peak current of the inductor"), unit="A",
        kind="tran", expressions=("max(i({part}),{tail})",), of="l", is_aside=True,
    ),
    "gate_source": Figure(
        words=r"gate[- ](?:to[- ])?source voltage|(?<![A-Za-z0-9_.])v_?gs(?![A-Za-z0-9_(])|栅源(?:极)?(?:间)?电压", name=msg("gate-source voltage"), unit="V",
        kind="level", expressions=("v({n1},{n2})",), of="m", is_aside=True,
    ),
    "drain_source": Figure(
        words=r"drain[- ](?:to[- ])?source voltage|(?<![A-Za-z0-9_.])v_?ds(?![A-Za-z0-9_(])|漏源(?:极)?(?:间)?电压", name=msg("drain-source voltage"), unit="V",
        kind="level", expressions=("v({n0},{n2})",), of="m", is_aside=True,
    ),
    "base_emitter": Figure(
        words=r"base[- ](?:to[- ])?emitter voltage|(?<![A-Za-z0-9_.])v_?be(?![A-Za-z0-9_(])|基射(?:极)?(?:间)?电压|发射结电压", name=msg("base-emitter voltage"),
        unit="V", kind="level", expressions=("v({n1},{n2})",), of="q", is_aside=True,
    ),
    "transconductance": Figure(
        words=r"trans-?conductance|(?<![A-Za-z0-9_.])gm(?![A-Za-z0-9_(])|跨导", name=msg("transconductance"), unit="S", kind="level",
        expressions=("@{part}[gm]",), of="mqj", is_aside=True,
    ),
    "power": Figure(
        words=r"(?:total |supply |quiescent |static |input )?power(?! suppl| transistor| device| element| mosfet| fet| rail| stage| amp|-)(?: consumption| draw| dissipation| loss)?|dissipat\w*|\bhow (?:hot|warm)\b|\bhot\b|(?:静态|总|整机)?功耗|(?<!功)耗散(?:功率)?|(?<![A-Za-z])功率(?!管|器件|级)|发热|损耗",
        name=msg("power taken"), unit="W", kind="level", expressions=("{power}",), of="*", is_aside=True, is_better_low=True,
    ),
    "current": Figure(
        words=r"(?:supply|total|quiescent|idle|standby|input|battery) current(?: draw| consumption)?|current (?:draw|consumption)|(?:电源|总|静态|输入|待机)(?:工作)?电流|耗电(?:流|量)?|(?<!inductor )(?<!coil )(?<!collector )(?<!drain )(?<!base )(?<!emitter )(?<!load )(?<!output )\bcurrents?\b(?! ripple| source| mirror| limit| gain| sense)|(?<!电感)(?<!集电极)(?<!漏极)(?<!负载)(?<!输出)(?<!纹波)电流(?!源|纹波|镜|增益)",
        name=msg("current"), unit="A", kind="level", expressions=("{current}",), of="*", is_aside=True,
    ),
    "node": Figure(
        words=r"(?!)", name=msg("voltage of the node"), unit="V", kind="level", expressions=("avg({out},{tail})",), is_aside=True,
    ),
    "vout": Figure(
        words=r"(?:dc |mean |average )?output voltage|(?:(?<=\dV )|(?<=\d V )|(?<=\d volts ))out\b(?! of)|\bv_?out\b|\boutput\b(?! (?:node|impedance|resistance|current|power))|输出(?:端)?(?:的)?(?:直流)?电压|输出(?!阻抗|电阻|电流|功率|电容|节点|端口|级|滤波|噪|纹|匹配|频率|管|摆幅|电感)",
        name=msg("output voltage"), unit="V", kind="level", expressions=("avg({out},{tail})",), at="at({out},{f})",
    ),
}  # fmt: skip
"""In the order in which their words are looked for: the longer ones first."""


OF_PARTS_OR_SUPPLY = frozenset(key for key, figure in FIGURES.items() if figure.of == "*")
"""Quantities of the parts that are named, else of the supplies."""


def shown(value: float, unit: str) -> str:
    """A figure for people: ``15.9 kHz``, ``-3.01 dB``, ``45°``, ``0.27 %``."""
    if not math.isfinite(value):
        return "-"
    if unit == "deg":
        return f"{value:.4g}°"
    return with_unit(value, unit.replace("Ohm", "Ω"))


def number(value: float) -> str:
    """A number for an expression or a card."""
    return f"{value:.9g}"
