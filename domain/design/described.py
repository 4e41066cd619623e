"""Circuits that a sentence describes without calling them by name: "amplify 10 mV by 40 dB with one BJT".

A row is the ideas that have to stand in a sentence, in whatever order; the row with the most ideas wins.
It is asked only when no family is called by its name or by words that let one think of it.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from domain.design.sentence import Sentence

_AMPLIFY = (
    r"multipl\w+|(?<![a-z])amplif\w*|(?<![a-z])(?:pre-?)?amp(?![a-z])|(?<![a-z])gain(?![a-z])|(?<!\d)x\d|\dx(?![a-z])|"
    r"times (?:as )?(?:larg|big|high|great|strong|loud|more)\w*|(?<![a-z])g\s?=|(?:up|by) [\d.]+ ?db|放大|"
    r"乘以?\s?\d|增益|\d\s?倍(?!频)"
)
_TRANSISTOR = (
    r"(?<![a-z])(?:bjt|npn)s?(?![a-z])|(?:one|single|1|a) (?:bipolar )?transistor|2n\d{4}|(?<![a-z])bc5\d\d|"
    r"(?<![a-z])ce(?=[ ,:;]|$)|单管|[一1]只?(?:个)?(?:三极|晶体)管|(?:三极|晶体)管"
)
_MOS = r"(?<![a-z])(?:n-?mos|mos(?:fet)?|n-?channel|n-?fet)s?(?![a-z])|场效应管|(?<![a-z])n?mos管"
_OPAMP = r"op[\s-]?amps?(?![a-z])|运放|运算放大|(?<![a-z])(?:tl0[678]\d|lm358|lm324|ne5532|opa?\d{3,4})"
_INVERTED = (
    r"(?<![a-z])flip(?:s|ped|ping)?(?![a-z])|极性反|反一下|(?<!non)(?<!non[- ])(?<![a-z])invert(?:s|ed|"
    r"ing)?(?![a-z])|180|(?<!非)反相|倒相|反向"
)
_RANGE_TO_RANGE = (
    r"(?<![\d.])0\s?(?:m?v)?\s?(?:to|-|~|到|至)\s?[\d.]+\s?m?v.{1,40}(?<![\d.])0\s?(?:m?v)?\s?(?:to|-|"
    r"~|到|至)\s?[\d.]+\s?v"
)
_NEGATIVE_GAIN = (
    r"by -\s?\d|-\s?\d+(?:\.\d+)?\s?(?:倍|x(?![a-z])|times)|(?:gain|增益)\s?(?:of |= ?|为)?-\s?\d"
)
_UPRIGHT = (
    r"same (?:polarity|sign|phase)|non[\s-]?invert\w*|not invert\w*|同相|不反相|without inver\w+|in phase"
)
_CURRENT_MIRROR = (
    r"current[\s-]mirror|cop(?:y|ies) (?:an? |the )?[\d.]+\s?[munμ]?a(?![a-z])|"
    r"(?<![a-z])mirror(?![a-z]).{0,10}\d\s?[mun]?a|mirror\w* (?:a |the )?current|"
    r"电流镜|镜像"
)
_SEVERAL = (
    r"(?:\d+|two|three|four|several)\s?(?:[a-z]+[\s-]){0,2}(?:signals?|inputs?|channels?|sources?|voltages?)|"
    r"[\d两三四多几]\s?[路个]"
)
_WEIGHTS = r"weight\w*|权重|加权|系数"
_OTA = r"(?<![a-z])ota(?![a-z])|trans[\s-]?conductance amp|跨导放大"
_SUM = (
    r"(?<![a-z])(?:sum|add|mix|combin)(?:es?|s|m?ed|m?ing|ming)?(?![a-z])|混[到起]|合成|汇总|合并|相加|求和|加起来|叠加|"
    r"混合|混音|混成|调音台"
)
_DIFFERENCE = (
    r"(?<![a-z])differences?(?: between| of)|subtract\w*|v\w* ?(?:-|minus) ?v\w*|(?:相减|之差|求差|"
    r"(?<![a-z])[uv]\w?\d?减|差值|的差)"
)
_PHOTODIODE = (
    r"photo[\s-]?(?:diode|detector|sensor)|光电(?:二极管|探测|传感)|光电池|光敏(?!电阻)|(?<![a-z])pd(?![a-z])"
)
_CURRENT_INTO_VOLTAGE = r"\d\s?[munp]?a.{0,16}(?:to|into|gives?|->|转|变|成|对应).{0,4}\d\s?m?v"
_SENSOR = (
    r"strain[\s-]gau|load[\s-]cell|thermo[\s-]?couple|wheatstone|bridge[\s-](?:sensor|signal)|(?<![a-z])ecg|"
    r"(?<![a-z])eeg|应变|称重|热电偶|电桥|心电|脑电"
)
_OSCILLATE = (
    r"clock(?: source)?(?![a-z])|时钟|oscillat\w*|generat(?:or|e|es|ing)(?![a-z])|(?:test|signal|tone|"
    r"sine(?:[\s-]?wave)?) source|(?<![a-z])tone(?![a-z])|振荡|"
    r"震荡|(?:信号)?发生|产生|信号源"
)
_SINE = r"(?<![a-z])sin(?:e|us|usoid\w*)?(?![a-z])|正弦"
_SQUARE = r"square|rectangular|clock(?![a-z])|方波|时钟"
_HERTZ = r"\d\s?[kmg]?(?:hz|赫)|\d\s?[千兆]赫"
_RADIO = r"\d\s?(?:mhz|兆赫)"
_LC = r"(?<![a-z])lc(?![a-z])|inductor|coil|tank|电感|线圈"
_RESONATOR = r"crystal|quartz|xtal|晶体(?!管)|晶振|石英"
_INVERTERS = r"inverter (?:chain|loop)|(?<![a-z])inverters(?![a-z])|反相器"
_RING = r"(?<![a-z])ring(?![a-z])|loop of|环"
_BLINK = r"blink\w*|flash(?:es|ing|er)?(?![a-z])|闪"
_TIMER = r"(?<!\d)555(?!\d)"
_HUM = r"(?<!\d)(?:50|60)\s?(?:hz|赫)"
_REMOVE = (
    r"hum(?![a-z])|remov\w+|reject\w*|suppress\w*|get rid|kill|block|filter out|tak(?:e|ing) out|"
    r"滤[掉除去]|去[掉除]|消[除掉]|抑制|干扰|陷"
)
_ONE_FREQUENCY = r"^(?!.*(?:low[\s-]?pass|high[\s-]?pass|低通|高通|dc[\s-]dc|ripple|纹波))"
_PAD = r"(?<![a-z])pad(?![a-z])|attenuat\w*|衰减"
_DECIBELS = r"\d\s?(?:db|分贝)"
_DECIBELS_ANYWHERE = rf"\A(?!.*\d\s?[kmg]?(?:hz|赫)).*{_DECIBELS}"
_IMPEDANCE = r"(?<![\d.])(?:50|75|300|600)\s?(?:ohms?|Ω|ω|欧)"
_BAND = r"band[\s-]?pass|(?<![a-z])bpf?(?![a-z])|带通"
_BAND_STOP = r"band[\s-]?(?:stop|reject)|notch|带阻|陷波"
_ENDS = r"both (?:ends|sides)|terminat\w+|in and out|source and load|两端|端接|匹配"
_ZENER = r"zener|稳压(?:二极)?管|齐纳"
_SERIES_TRANSISTOR = (
    r"pass[\s-]?(?:transistor|element|device)|(?:transistor|bjt|npn|darlington)|三极管|调整管|晶体管|扩流"
)
_REGULATE = r"regulat\w*|stabili[sz]\w*|steady|稳[压到定住]|稳\s?\d|稳压"
_LINEAR = (
    r"^(?!.*(?:switcher|switch(?:ing|ed)[\s-](?:mode|regulator|converter|frequency|at)|开关电源|开关频率))"
    r".*(?:(?<![a-z])linear(?![a-z])|no switching|without switching|线性|不[要用]开关)"
)
_TWO_VOLTAGES = r"\d\s?(?:v|伏).{1,60}?\d\s?(?:v|伏)"
_ISOLATED = r"isolat|隔离|transformer|变压器"
_LOW_DROP = r"low[\s-]?drop|little headroom|dropout|低压[差降]|压差"
_LOGIC = r"logic|gpio|mcu|digital|(?<![a-z])i/?o(?![a-z])|逻辑|单片机|数字|信号"
_LEVELS = (
    r"(?:to|into|->|转|变|成|到)\s?(?:a )?\+?(?:1\.[28]|2\.5|3\.3|5)\s?v.{0,12}(?:logic|level|电平|"
    r"逻辑|信号|$)|电平"
)
_NO_CURRENT = r"^(?!.*(?:\d\s?m?a(?![a-z])|安|watt|瓦|\d\s?w(?![a-z])))"
_DOUBLE = r"doubl\w+|twice|倍压|两倍|翻倍|加倍"
_NEGATE = r"(?<![\d.])-\s?\d+(?:\.\d+)?\s?(?:v|伏)|negative (?:rail|voltage|supply)|负(?:电压|电源|压)"
_NO_COIL = (
    r"without (?:an? )?(?:inductor|coil)s?|no (?:inductor|coil|magnetics)|inductor-?less|不[用要]电感|"
    r"无电感|电容"
)
_DIRECT = r"^(?!.*(?<![a-z])(?:v\s?ac|ac|rms)(?![a-z]))(?!.*(?:交流|变压器|transformer))"
_ALTERNATING = (
    r"有效值|次级|secondary|(?<![a-z])rms|\d\s?v?\s?(?:ac|rms)(?![a-z])|(?<![a-z])ac(?![a-z])|交流|"
    r"变压器|transformer"
)
_MADE_DC = r"(?<![a-z])dc(?![a-z])|rectif\w*|smooth\w*|直流|整流|滤波"
_TRIP = (
    r"(?<![a-z])(?:trips?|switch(?:es)?|flips?|toggles?|turns? (?:on|high|low))(?![a-z])|compar\w*|"
    r"翻转|比较|触发"
)
_HYSTERESIS = r"hysteresis|回差|[滞回]环|滞回|迟滞|滞后(?!网络|rc|补偿|超前)"
_REFERENCE = r"(?<![a-z])reference|基准|参考"
_STEADY = (
    r"(?:does not|doesn.?t|not|without) (?:mov\w+|chang\w+|drift\w*|depend\w*|"
    r"var\w+).{0,12}temperature|不随温度|与温度无关"
)
_TEMPERATURE = r"temperature|drift|tempco|ppm|温度|温漂|温补"
_BUFFER = r"buffer\w*|unity[\s-]gain|gain of (?:1|one)(?![\d.])|voltage follow\w*|缓冲|跟随|隔离|单位增益"
_DRIVE_LOAD = (
    r"(?:solenoid|relay|motor|lamp|fan|valve|heater|load|led strip)s?(?![a-z])|加热|电磁阀|继电器|电机|马达|"
    r"风扇|灯|阀|负载"
)
_ON_OFF = (
    r"(?:turn|switch)(?:s|es|ed|ing)? (?:on|off|an?|the|it)|(?:switch|control|driv)\w* |通断|开关|控制|驱动"
)
_PINS = (
    r"gpio|mcu|micro|logic|(?:3\.3|5)\s?v (?:pin|signal|control)|单片机|(?:3\.3|5)v(?:控制|信号|逻辑)|"
    r"引脚|逻辑电平|[io]+口"
)
_DIVIDE = (
    r"attenuat\w*|衰减|(?<![a-z])divid\w*|scal\w+|(?:bring|tak|step)\w* .{0,20}down|分压|缩小|降到|"
    r"衰减到|分到|分成|缩到|缩成"
)
_CONVERTER = r"(?<![a-z])adcs?(?![a-z])|模数|采样"
_SPEAKER = r"speaker|loudspeaker|headphone|喇叭|扬声器|耳机|音箱"
_WATTS = r"\d\s?m?(?:watts?|w|瓦)(?![a-z])"
_INTEGRATE = r"integrat\w*|积分|ramp from"
_TWO_STAGES = r"(?:two|2)[\s-]stages?|[两二2]级"
_CONSTANT_CURRENT = (
    r"constant[\s-](?:current|[\d.]+\s?m?a(?![a-z]))|current[\s-]limiter|current[\s-](?:source|sink)|"
    r"恒流|电流源|恒定.{0,4}电流"
)
_LAMP = r"(?<![a-z])leds?(?![a-z])|发光二极管"
_TIME_CONSTANT = r"time constant|(?<![a-z])tau(?![a-z])|时间常数"
_RC = r"(?<![a-z])rc(?![a-z])|resistor (?:and|plus) (?:an? |one |1 )?(?:single )?capacitor|阻容"
_CORNER = r"corner|cut-?off|-3 ?db|smooth\w*|clean\w* up|转折|截止|滤"
_NO_ORDER = r"^(?!.*(?:(?<![a-z])order|(?<![a-z])poles?(?![a-z])|阶|极点))"
_LETS_LOWS = (
    r"(?:let|pass)\w* .{0,30}(?:below|under)|(?:remove|block|cut|reject|filter)\w* .{0,30}above|"
    r"滤[掉除]高频|去[掉除]高频"
)
_LETS_HIGHS = (
    r"(?:let|pass)\w* .{0,30}above|(?:remove|block|cut|reject|filter)\w* .{0,30}(?:below|dc(?![a-z]))|"
    r"滤[掉除]低频|去[掉除](?:低频|直流)|隔直"
)


_SELECT = (
    r"only (?:let|pass)\w* |只(?:让|允许|通过?).{0,16}(?:附近|左右|通过)|pick\w* out|singl\w+ out|"
    r"select\w* (?:one|a|the)|only (?:one|the) (?:tone|frequency|band)|选频|挑出来|"
    r"窄带|"
    r"只[要留].{0,16}(?:段|之间)"
)
_SUPPRESS_ONE = (
    r"挖[掉去]|只(?:压|抑制|去掉|滤掉)|这[一个]+(?:频率|点|段)|单一频率|one (?:single )?frequency|"
    r"just that (?:tone|frequency)"
)
_SEVERAL_OUTPUTS = (
    r"三[个路]?输出|多个输出|同时.{0,10}(?:输出|抽出|高通|低通)|all three|three outputs|simultaneous\w*|"
    r"at the same time"
)
_LOW_OUTPUT = r"低通|(?<![a-z])lp(?![a-z])|low[\s-]?pass"
_BAND_OUTPUT = r"带通|(?<![a-z])bp(?![a-z])|band[\s-]?pass"
_UP_AND_DOWN = (
    r"(?:above|over) (?:or|and) below|up (?:or|and) down|higher or lower|[能可]升.{0,3}[能可]?降|升降都|"
    r"比输[出入]高.{0,10}比输[出入]?低|有时高有时低"
)
_SAME_POLARITY = (
    r"non[\s-]?invert\w*|positive|same polarity|同相|不反相|正(?:电压|输出|极性|的输出)|同极性|"
    r"极性不[能要]?反"
)
_TWO_COILS = (
    r"(?:two|2) (?:inductors|coils)|[两2]个?电感|input current.{0,10}continuous|电流.{0,8}连续|"
    r"non[\s-]?pulsating|"
    r"coupling cap|capacit\w* (?:energy|transfer)|energy.{0,24}cap|电容传递|能量传递|"
    r"(?<![a-z])ch?[uú]k(?![a-z])"
)
_FORWARD = r"(?:single|one|two|[12])[\s-]switch forward|foo?rward (?:converter|supply|topology)|正激"
_RESET = (
    r"(?:reset|tertiary|demagneti[sz]\w+) winding|output (?:choke|inductor)|freewheel\w*|"
    r"复位绕组|第三绕组|去磁|"
    r"输出电感|"
    r"滤波电感|续流管"
)
_LEAKAGE = r"leakage|漏感"
_CLAMP = r"clamp\w*|spike|钳[位到在制]|箝位|尖峰|吸收"
_PRIMARY = r"primary|flyback|drain|transformer|winding|原边|初级|反激|漏极|变压器|绕组"
_LOOP = r"kvco|(?<![a-z])icp(?![a-z])|charge[\s-]pump current|鉴相|锁相|(?<![a-z])pll(?![a-z])"
_LOOP_FILTER = r"loop (?:filter|bandwidth|bw)|环路|环宽|滤波"
_DERIVATIVE = (
    r"求导|导数|变化率|(?<![a-z])d[iuv]/dt|微分时间|(?<![a-z])d项|rate of change|derivative|(?:边沿|"
    r"edges?).{0,8}(?:尖?脉冲|spikes)"
)
_ACCUMULATE = (
    r"(?:反相|运放).{0,4}积分|积分(?:时间|常数)|斜坡|时间累积|(?<![a-z])i项|ramp(?:s|ing)?(?![a-z])|"
    r"accumulat\w+"
)
_BALANCED = r"差分|平衡|balanced|differential|(?<![a-z])xlr"
_SINGLE_ENDED = r"单端|single[\s-]ended|不平衡|unbalanced"
_SHUNT = r"shunt|sense resistor|current[\s-]sens\w+|[采取]样电阻|检流|分流器|电流采样"
_HIGH_SIDE = r"high[\s-]side|common[\s-]mode|高侧|高端|共模|上管"
_COMPLEMENTARY = r"complementary|push[\s-]?pull|互补|推挽|对管"
_OUTPUT_STAGE = r"output stage|buffer|headphone|speaker|booster|输出级|末级|扩流|缓冲|耳机|喇叭|扬声器|交越"
_MILLER = r"miller|密勒|米勒"
_STACKED = r"stack\w*|on top of|叠|串起来"


_THERE = (
    r"(?<![a-z])(?:my|this|the|our|its) (?:[\w-]+ ){0,3}(?:stage|circuit|amp|amplifier|op-?amp|filter|"
    r"oscillator|regulator|converter|driver)(?![a-z])|(?<![a-z])too \w+|is only|problem|what is|how does|"
    r"(?:gets?|is|are) (?:hot|warm|noisy|unstable|broken|dead|dim)(?![a-z])|"
    r"(?<![a-z])(?:measured|yesterday|broke|who|why)(?![a-z])|(?<![a-z])(?:clip|flicker|overheat)\w*|"
    r"distort(?:s|ed|ing)(?![a-z])|(?:does|do|did|will)(?: not|n.t) (?:start|work|oscillate|regulate|"
    r"switch|turn|light|reach|blink)|^(?:does|is|are|did) |不够|太[高低大小强弱慢快暗]|"
    r"(?<!低)失真(?![小低])|不起振|"
    r"为什么|怎么(?!做|设计|搭)|有\s?\d*\s?(?:hz|赫兹?)?的?(?:工频)?(?:干扰|噪声|哼声)|坏了|发热|误动作|原理|区别|"
    r"问题|噪声很?大|这个|我的(?!传感器)"
)
"""Speaks of a circuit that is there, or complains of one."""
_LEAST_HEADROOM_V = 2.5


@dataclass(frozen=True, slots=True)
class _Row:
    family: str
    ideas: tuple[str, ...]


_RINGS = r"(?<![a-z])ring(?:s|ing)?(?![a-z])|振铃"
_INTO_EMITTER = r"(?:signal|driven|fed|input)[^,;.]{0,16}(?:into|to|at|in) the emitter|发射极(?:输入|进)"
_SMOOTHED = r"reservoir|smoothing cap|filter cap|bulk cap|滤波电容|储能电容"
_BRIDGE = r"(?<![a-z])bridge(?![a-z])|四个?二极管|整流桥|桥堆"
_BACKWARDS = (
    r"(?:batter(?:y|ies)|supply|leads?|power|plug)[^,.;]{0,24}(?:backwards?|revers\w+|wrong way|the wrong)|"
    r"接反|反接|插反"
)
_ROWS = (
    _Row(
        "rc_snubber",
        (_RINGS, r"(?<![a-z])r (?:and|\+) c(?![a-z])|(?<![a-z])rc(?![a-z])|电阻.{0,3}电容", _HERTZ),
    ),
    _Row("common_base", (_INTO_EMITTER, _TRANSISTOR, _AMPLIFY)),
    _Row("rectifier", (_ALTERNATING, _BRIDGE, _SMOOTHED)),
    _Row("reverse_protection", (_BACKWARDS, rf"{_MOS}|p-?fet|pmos|block\w*|protect\w*|防|保护")),
    _Row("lc_ladder", (_LC, r"(?<![a-z])passive|无源|抑制谐波|harmonic", r"low[\s-]?pass|低通", _IMPEDANCE)),
    _Row("state_variable", (_SEVERAL_OUTPUTS, _LOW_OUTPUT, _BAND_OUTPUT)),
    _Row("band_pass", (_SELECT, _HERTZ)),
    _Row("notch", (_SUPPRESS_ONE, _HERTZ)),
    _Row("sepic", (_UP_AND_DOWN, _SAME_POLARITY, r"\d\s?v")),
    _Row("cuk", (_NEGATE, _TWO_COILS, r"\d\s?v")),
    _Row("flyback", (_ISOLATED, _TWO_VOLTAGES)),
    _Row("forward", (_FORWARD, _TWO_VOLTAGES)),
    _Row("forward", (_RESET, rf"{_ISOLATED}|forward|正激", _TWO_VOLTAGES)),
    _Row("rcd_clamp", (_LEAKAGE, _CLAMP, _PRIMARY)),
    _Row("pll_loop_filter", (_LOOP, _LOOP_FILTER)),
    _Row("integrator", (_DERIVATIVE,)),
    _Row("integrator", (_ACCUMULATE, r"运放|op[\s-]?amp|\d")),
    _Row("difference_amplifier", (_BALANCED, _SINGLE_ENDED)),
    _Row("difference_amplifier", (_SHUNT, _HIGH_SIDE)),
    _Row("difference_amplifier", (_SHUNT, _HIGH_SIDE, _AMPLIFY)),
    _Row("non_inverting_amplifier", (_SHUNT, _AMPLIFY)),
    _Row("inverting_amplifier", (r"极性反|反一下|flip(?:s|ped)?(?![a-z])", r"信号|signal")),
    _Row("class_ab_stage", (_COMPLEMENTARY, _OUTPUT_STAGE)),
    _Row("mos_cascode", (_STACKED, _MOS, rf"{_MILLER}|{_AMPLIFY}")),
    _Row("cascode", (_STACKED, _MILLER, rf"{_TRANSISTOR}|管")),
    _Row("series_regulator", (_REGULATE, _SERIES_TRANSISTOR, _TWO_VOLTAGES)),
    _Row("schmitt_trigger", (_HYSTERESIS, r"\d\s?m?(?:v|伏)")),
    _Row("voltage_divider", (_NO_CURRENT, _DIVIDE, _TWO_VOLTAGES)),
    _Row("pierce_oscillator", (_RESONATOR, r"反相门|反相器|inverter|u04|非门")),
    _Row("common_emitter", (_AMPLIFY, _TRANSISTOR)),
    _Row("emitter_follower", (_BUFFER, _TRANSISTOR)),
    _Row("common_source", (_AMPLIFY, _MOS)),
    _Row("source_follower", (_BUFFER, _MOS)),
    _Row("inverting_amplifier", (_AMPLIFY, _INVERTED)),
    _Row("inverting_amplifier", (_AMPLIFY, _INVERTED, _OPAMP)),
    _Row("inverting_amplifier", (_AMPLIFY, _NEGATIVE_GAIN)),
    _Row("inverting_amplifier", (_AMPLIFY, _NEGATIVE_GAIN, _OPAMP)),
    _Row("non_inverting_amplifier", (_AMPLIFY, _UPRIGHT)),
    _Row("non_inverting_amplifier", (_AMPLIFY, _UPRIGHT, _OPAMP)),
    _Row("non_inverting_amplifier", (_AMPLIFY, _OPAMP)),
    _Row("non_inverting_amplifier", (_BUFFER, _OPAMP)),
    _Row("non_inverting_amplifier", (_RANGE_TO_RANGE,)),
    _Row("summing_amplifier", (_SUM, _SEVERAL)),
    _Row("summing_amplifier", (_SUM, _WEIGHTS)),
    _Row("summing_amplifier", (_SUM, _SEVERAL, _OPAMP)),
    _Row("summing_amplifier", (_SUM, _SEVERAL, _AMPLIFY)),
    _Row("difference_amplifier", (_DIFFERENCE, _AMPLIFY)),
    _Row("difference_amplifier", (_DIFFERENCE, _AMPLIFY, _OPAMP)),
    _Row("instrumentation_amplifier", (_SENSOR, _AMPLIFY)),
    _Row("instrumentation_amplifier", (_SENSOR, _AMPLIFY, _OPAMP)),
    _Row("differential_pair", (_OTA,)),
    _Row("transimpedance_amplifier", (_PHOTODIODE,)),
    _Row("transimpedance_amplifier", (_PHOTODIODE, _AMPLIFY)),
    _Row("transimpedance_amplifier", (_PHOTODIODE, _OPAMP, rf"{_AMPLIFY}|(?<![a-z])gbw|bandwidth|带宽")),
    _Row("transimpedance_amplifier", (_CURRENT_INTO_VOLTAGE, _OPAMP)),
    _Row("transimpedance_amplifier", (r"current|电流", _CURRENT_INTO_VOLTAGE)),
    _Row("integrator", (_INTEGRATE, _OPAMP)),
    _Row("current_mirror", (_CURRENT_MIRROR,)),
    _Row("current_mirror", (_CURRENT_MIRROR, _TRANSISTOR)),
    _Row("mos_current_mirror", (_CURRENT_MIRROR, _MOS)),
    _Row("wien_oscillator", (_OSCILLATE, _SINE, _HERTZ)),
    _Row("colpitts_oscillator", (_OSCILLATE, _SINE, _HERTZ, _RADIO)),
    _Row("colpitts_oscillator", (_OSCILLATE, _LC, _HERTZ)),
    _Row("colpitts_oscillator", (_OSCILLATE, _LC, _SINE, _HERTZ)),
    _Row("pierce_oscillator", (_RESONATOR, _OSCILLATE)),
    _Row("relaxation_oscillator", (_OSCILLATE, _SQUARE, _HERTZ)),
    _Row("relaxation_oscillator", (_OSCILLATE, _SQUARE, _OPAMP, _HERTZ)),
    _Row("ring_oscillator", (_INVERTERS, _RING)),
    _Row("ring_oscillator", (_INVERTERS, r"odd number|奇数个?|chas\w+|首尾", _HERTZ)),
    _Row("hartley_oscillator", (_OSCILLATE, r"tapped (?:coil|inductor)|抽头(?:电感|线圈)", _HERTZ)),
    _Row("relaxation_oscillator", (_SQUARE, _OPAMP, _HERTZ)),
    _Row(
        "matching_network", (r"antenna|天线|(?<![a-z])rig(?![a-z])", r"match\w*|匹配|wants? to see", _HERTZ)
    ),
    _Row("emitter_follower", (_BUFFER, _TRANSISTOR, _AMPLIFY)),
    _Row("ring_oscillator", (_INVERTERS, _OSCILLATE)),
    _Row("ring_oscillator", (_INVERTERS, _OSCILLATE, _HERTZ, r"\d\s?(?:-?stages?|级)")),
    _Row("timer_555", (_TIMER,)),
    _Row("timer_555", (_BLINK, _LAMP)),
    _Row("notch", (_ONE_FREQUENCY, _HUM, _REMOVE)),
    _Row("attenuator", (_PAD, _DECIBELS_ANYWHERE)),  # at a frequency it is what a filter does
    _Row("attenuator", (_PAD, _DECIBELS, _IMPEDANCE)),
    _Row("lc_band_ladder", (_BAND, _IMPEDANCE)),
    _Row("lc_band_ladder", (_BAND, _IMPEDANCE, _ENDS)),
    _Row("lc_band_ladder", (_BAND_STOP, _IMPEDANCE, _ENDS)),
    _Row("forward", (r"forward(?! voltage| drop| bias)|正激", _ISOLATED, _TWO_VOLTAGES)),
    _Row("flyback", (r"fly[\s-]?back|反激", _ISOLATED, _TWO_VOLTAGES)),
    _Row("series_regulator", (_ZENER, _SERIES_TRANSISTOR)),
    _Row("series_regulator", (_REGULATE, _ZENER, _SERIES_TRANSISTOR)),
    _Row("series_regulator", (_LINEAR, _TWO_VOLTAGES)),
    _Row("ldo_regulator", (_REGULATE, _LOW_DROP)),
    _Row("ldo_regulator", (_REGULATE, _LINEAR, _LOW_DROP)),
    _Row("level_shifter", (_LOGIC, _LEVELS, _NO_CURRENT)),
    _Row("charge_pump", (_DIRECT, _DOUBLE, r"\d\s?v")),
    _Row("charge_pump", (_DIRECT, _NEGATE, _NO_COIL)),
    _Row("rectifier", (_ALTERNATING, _MADE_DC)),
    _Row("schmitt_trigger", (_TRIP, _HYSTERESIS)),
    _Row("schmitt_trigger", (_TRIP, r"\d\s?(?:m?v|伏).{0,30}\d\s?(?:m?v|伏)", r"rising|falling|上升|下降")),
    _Row("bandgap_reference", (_REFERENCE, _TEMPERATURE)),
    _Row("bandgap_reference", (_STEADY, r"\d\s?v")),
    _Row("load_switch", (_DRIVE_LOAD, _ON_OFF, _PINS)),
    _Row("load_switch", (_DRIVE_LOAD, _ON_OFF, _MOS)),
    _Row("load_switch", (_DRIVE_LOAD, _ON_OFF, _TRANSISTOR)),
    _Row("voltage_divider", (_DIVIDE, _CONVERTER)),
    _Row("voltage_divider", (r"(?<![a-z])(?:two|2) resistors|[两2]个?电阻", _TWO_VOLTAGES)),
    _Row("voltage_divider", (_DIVIDE, _RANGE_TO_RANGE)),
    _Row("class_ab_stage", (_SPEAKER, _WATTS)),
    _Row("two_stage_opamp", (_OPAMP, _TWO_STAGES)),
    _Row("led_driver", (_CONSTANT_CURRENT, r"^(?=.*\d\s?(?:m?a(?![a-z])|毫?安)).*\d\s?(?:v|伏)")),
    _Row("led_driver", (_LAMP, r"\d\s?(?:m?a(?![a-z])|毫?安)")),
    _Row("current_source", (_CONSTANT_CURRENT, r"jfet|结型")),
    _Row("first_order", (_NO_ORDER, _RC, _CORNER)),
    _Row("first_order", (_NO_ORDER, _RC, _LETS_LOWS)),
    _Row("first_order", (_NO_ORDER, _RC, _LETS_HIGHS)),
    _Row("first_order", (_NO_ORDER, _RC, _TIME_CONSTANT)),
)


def described(sentence: Sentence, families: Container[str], *, least: int = 1) -> str:
    """The family whose ideas a sentence holds, the most of them, `least` or more, by its key; "" for none, or
    two as many.

    What speaks of a circuit that is there describes no new one.
    """
    if _holds(sentence, _THERE):
        return ""
    if "sepic" in families and _straddles(sentence) and not _holds(sentence, _LINEAR):
        return "sepic"
    best: dict[str, int] = {}
    for row in _ROWS:
        if row.family in families and all(_holds(sentence, idea) for idea in row.ideas):
            best[row.family] = max(best.get(row.family, 0), len(row.ideas))
    most = max(best.values(), default=0)
    if most < least:
        return ""
    keys = [key for key, count in best.items() if count == most]
    if len(keys) != 1:
        return ""
    return "ldo_regulator" if keys[0] == "series_regulator" and _has_little_headroom(sentence) else keys[0]


def _straddles(sentence: Sentence) -> bool:
    """Whether a supply's only output lies within the range of its input: neither up nor down will do."""
    volts = sentence.of("V")
    ranges = [each for each in volts if each.upper is not None]
    if len(volts) != 2 or len(ranges) != 1 or not (sentence.of("A") or sentence.of("W")):
        return False
    (span,), output = ranges, next(each for each in volts if each.upper is None)
    return span.value < output.value < (span.upper or span.value)


def _has_little_headroom(sentence: Sentence) -> bool:
    """Whether an emitter follower between the two voltages would have too little over it to regulate."""
    volts = sorted(each.middle for each in sentence.of("V"))
    return len(volts) == 2 and 0 < volts[1] - volts[0] < _LEAST_HEADROOM_V


def _holds(sentence: Sentence, idea: str) -> bool:
    return re.search(idea, sentence.text, re.IGNORECASE) is not None
