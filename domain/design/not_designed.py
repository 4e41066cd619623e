"""Circuits known by name that no family designs yet: they are refused by that name.

A row falls away when a family of its key exists and claims the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.message import Message, msg


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDesigned:
    """One kind of circuit."""

    words: str
    """Regular expression of its names."""
    what: Message
    """The kind, after "cannot design"."""
    family: str = ""
    """Keys of the families that design it, as soon as there are any."""
    is_general: bool = False
    """Words for many circuits (an oscillator): nothing is refused by them that is called by name."""


NOT_DESIGNED: tuple[NotDesigned, ...] = (
    NotDesigned(words=r"notch|band[\s-]?(?:stop|reject)|陷波|带阻", what=msg("a notch or band-stop filter"),
                family="notch"),
    NotDesigned(words=r"band[\s-]?pass|(?<![a-z])bpf?(?![a-z])|带通", what=msg("a band-pass filter"),
                family="band_pass wide_band_pass"),
    NotDesigned(words=r"all[\s-]?pass|全通", what=msg("an all-pass filter"), family="all_pass"),
    NotDesigned(words=r"buck[\s/-]*boost|升降压|降升压|inverting (?:converter|regulator)",
                what=msg("a buck-boost converter"), family="buck_boost"),
    NotDesigned(words=r"(?<!buck)(?<!buck[ -])boost|step(?:ping)?[\s-]?up|升压",
                what=msg("a boost converter"),
                family="boost"),
    NotDesigned(words=r"fly[\s-]?back(?! diode)|反激(?!二极管)|forward converter|正激|sepic|"
                      r"(?<![a-z])[cć]uk|zeta converter|half[\s-]?bridge|半桥|"
                      r"full[\s-]?bridge|全桥|"
                      r"(?<![a-z])llc(?![a-z])|(?<![a-z])pfc(?![a-z])",
                what=msg("an isolated or multi-switch converter")),
    NotDesigned(words=r"^(?!.*(?:fly[\s-]?back|反激|forward|正激)).*?(?:(?<!non-)(?<!non )(?<!not )isolated|"
                      r"(?<![非不])隔离(?!一下|度|放大|\s?\d+\s?db|[要更]?好))",
                what=msg("an isolated or multi-switch converter"), family="flyback"),
    NotDesigned(words=r"linear regulator|linear power|线性稳压|"
                      r"线性电源|zener|齐纳|稳压管|(?<![a-z])lm?78\d\d|lm317",
                what=msg("a linear regulator"), is_general=True),
    NotDesigned(words=r"charge[\s-]?pump|电荷泵", what=msg("this kind of charge pump"), is_general=True),
    NotDesigned(words=r"(?:push[\s-]?pull|推挽)[^,;，。；]{0,12}?(?:convert|变换|电源|isolat|隔离)",
                what=msg("an isolated or multi-switch converter")),
    NotDesigned(words=r"^(?!.*(?:transistor|output stage|buffer|audio|互补|三极管|缓冲|[输末]出?级|扩流|喇叭|"
                      r"耳机)).*?"
                      r"(?:push[\s-]?pull|推挽)", what=msg("an isolated or multi-switch converter"),
                is_general=True),
    NotDesigned(words=r"(?:twin[\s-]?t|双\s?t)(?![a-z])(?!.*(?:oscillat|振荡))",
                what=msg("a notch or band-stop filter"), family="notch"),
    NotDesigned(words=r"gyrator|回转器|switched[\s-]?capacitor|开关电容|"
                      r"(?<![a-z])gm-?c(?![a-z])", what=msg("a switched-capacitor or gyrator filter")),
    NotDesigned(words=r"ellipt|cauer|椭圆|考尔|inverse[\s-]?cheb|"
                      r"cheb\w*[\s-]?(?:type[\s-]?)?(?:ii|2)(?![a-z\d])|反切比雪夫|"
                      r"切比雪夫\s?(?:ii|2|二)\s?型|"
                      r"legendre|勒让德|gaussian|高斯|linkwitz|papoulis",
                what=msg("an elliptic, inverse Chebyshev, Legendre, Gaussian or Linkwitz-Riley response")),
    NotDesigned(words=r"(?<![a-z])r?-?l-?c(?![a-z]).{0,20}(?:filter|滤波|low|high|pass|低通|高通|ladder|梯形)|"
                      r"(?:low|high)[\s-]?pass\s*\(?(?:r?-?lc)(?![a-z])|ladder|梯形|"
                      r"(?<![a-z])(?:pi|π|t)[\s-]?(?:section|network|型)",
                what=msg("an LC, RLC or ladder filter"), family="lc_ladder", is_general=True),
    NotDesigned(words=r"crystal|晶体(?!管)|晶振|(?<![a-z])saw\s?(?:filter|滤波)|声表|microstrip|微带",
                what=msg("a crystal, SAW or microstrip circuit"), family="pierce_oscillator"),
    NotDesigned(words=r"(?<![a-z])[fi]ir(?![a-z])|digital filter|数字滤波|dsp", what=msg("a digital filter")),
    NotDesigned(words=r"(?<![a-z])pll(?![a-z])|锁相|(?<![a-z])vco(?![a-z])|phase[\s-]?lock|压控振荡|"
                      r"voltage[\s-]controlled oscillator|loop filter|环路滤波",
                what=msg("a voltage-controlled oscillator or phase-locked loop"), family="pll_loop_filter"),
    NotDesigned(words=r"mono[\s-]?stable|one[\s-]?shot|单稳", what=msg("a monostable"), family="monostable"),
    NotDesigned(words=r"oscillat|振荡|震荡|colpitts|hartley|wien|(?:ne|lm)\s?555|"
                      r"555\s?(?:timer|定时|电路|芯片|振荡|oscil|astable)",
                what=msg("this kind of oscillator"),
                is_general=True),
    NotDesigned(words=r"class[\s-](?:b|ab|c|d)(?![a-z])|(?<!甲)[乙丙丁]类|(?:ab|b|"
                      r"c|d)类|"
                      r"^(?!.*(?:common[\s-]?(?:emitter|source)|共射|共源|emitter[\s-]follower|射极跟随)).*?"
                      r"(?:class[\s-]a(?![a-z])|甲类|(?<![a-z])a类)", what=msg("a power amplifier")),
    NotDesigned(words=r"power amplifier|功率放大|功放", what=msg("a power amplifier"), is_general=True),
    NotDesigned(words=r"(?<!audio )mixer(?! (?:amplifier|amp)|"
                      r".{0,60}(?:inputs?|added|channels?|mics?|op[\s-]?amp)(?![a-z]))|混频",
                what=msg("a mixer")),
    NotDesigned(words=r"common[\s-](?:emitter|source|base|gate|collector|drain)|"
                      r"共(?:射|源|基|栅|集|漏)|instrumentation|仪表放大|仪用|"
                      r"difference amplifier|"
                      r"差分放大|audio amplifier|"
                      r"cascode|共源共栅|trans[\s-]?impedance|跨阻|comparator|比较器|schmitt|施密特|"
                      r"integrator|积分(?:器|电路)|differentiator|微分(?:器|电路)|"
                      r"(?<!运算)(?<!运)放大器|(?<!operational )(?<!op )(?<!op-)amplifier",
                what=msg("this kind of amplifier, comparator or integrator"), is_general=True),
    NotDesigned(words=r"(?<![a-z])mains(?![a-z])(?![\s-]*(?:hum|noise|interference|pick|notch))|"
                      r"市电(?!干扰|噪声|嗡|频率|纹波|哼|.{0,2}整流[后成])|"
                      r"阻容降压|\d{3}\s?v\s?ac(?![a-z])|ac\s?(?:220|110|230|120|240)|ac[\s/-]dc",
                what=msg("a mains or AC supply")),
    NotDesigned(words=r"变压器|"
                      r"(?<!dc )(?<!dc-)transformer", what=msg("a mains or AC supply"), is_general=True),
    NotDesigned(words=r"\d{2}\s?v\s?ac(?![a-z])|交流|(?<!同步)(?<!市电)(?<!二极管)(?<!肖特基)(?<!非同步)整流(?!管|二极管|后的?(?:直流|电压|\s?\d)|出来)|"
                      r"(?:half|full)[\s-]wave|bridge[\s-]rectifier", what=msg("a mains or AC supply"),
                family="rectifier"),
    NotDesigned(words=r"(?<!usb )(?<!car )(?<!phone )charger|(?<!给手机)充电(?!宝|器?(?:那种|那样|一样))",
                what=msg("a battery charger")),
    NotDesigned(words=r"constant[\s-]current|恒流|led driver|led\s?驱动",
                what=msg("this kind of current source or LED driver"), family="led_driver"),
    NotDesigned(words=r"(?:long[\s-]tail\w*|differential) pairs?(?![a-z])|差分对", is_general=True,
                what=msg("a differential pair"), family="bjt_differential_pair"),
    NotDesigned(words=r"(?:bidirectional|both (?:directions|ways)|双向|i2c|i²c).{0,40}(?:level|shift|"
                      r"translat|电平|\d\s?v)|"
                      r"(?:level|shift|translat|电平|\d\s?v).{0,40}(?:bidirectional|both (?:directions|"
                      r"ways)|双向|i2c|i²c)",
                what=msg("a level shifter for both directions"), family="bidirectional_level_shifter"),
    NotDesigned(words=r"multi[\s-]?phase|多相|"
                      r"^(?!.*(?:op[\s-]?amp|differential)).*?(?:two|dual|2|multiple|双路|[两2]路|多路)\s*outputs?|"
                      r"双路输出|[两2]路输出|多路输出", what=msg("a multi-phase or multi-output converter")),
)  # fmt: skip
