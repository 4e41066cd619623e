"""By which words a sentence means the quantities that many circuits have."""

from __future__ import annotations

from dataclasses import dataclass

SUPPLY = (
    r"suppl\w+|power(?:ed)?|rails?|batter\w+|running (?:on|off|from)|runs? (?:on|off|from)|"
    r"single(?=,? ?\+?[\d.]+ ?v)|供电|电源|电池|单(?=\s?[\d.]+\s?[v伏])|(?<![a-z])v(?:cc|dd)(?![a-z])"
)
LOAD = (
    r"load|driv(?:es?|ing)(?: an?)?|负载|(?<![a-z])r_?l(?:oad)?(?![a-z])|"
    r"into(?= (?:an? )?[\d.]+\s?[kKmM]?(?![a-zA-Z]))|带(?=\s?[\d.]+)"
)
NEXT_INPUT = (
    r"(?:后[级面]|下一级|next stage|following stage)[^\d,;。、]{0,8}"
    r"(?:输入)?(?:阻抗|电阻|impedance|resistance)|"
    r"(?<![a-z])adc(?:'?s)? ?[的(（]?(?:input (?:impedance|resistance)|输入(?:阻抗|电阻))"
)
"""The input resistance of what follows: a load."""
INPUT_OHM = (
    r"(?<!adc )(?<!adc's )(?<!stage )input (?:resistance|impedance|z(?![a-z]))s?|"
    r"(?<![a-z])[rz]_?in(?![a-z])|inputs?(?= ?(?:$|[,.;]))|"
    r"(?<!后[级面])(?<!下一级)(?<!adc)(?<!adc的)输入(?:电阻|阻抗)"
)
BAND_FROM = (
    r"(?:band ?width|pass ?band|(?:frequency )?(?:response|range)|flat|带宽|通带|频响|频带|频率(?:范围)?)"
    r"(?= ?(?:of |from |:|为|从|是)?\s?[\d.]+[^,;。、]{0,10}(?:-|~|\bto\b|到|至))"
)
"""In front of a range of frequencies whose lower end is the lower corner."""


@dataclass(frozen=True, slots=True)
class Role:
    """What stands in front of a quantity and straight behind it, whichever circuit has it."""

    before: str = "(?!)"
    after: str = "(?!)"


_REACHES = (
    r"(?:good|flat|alive|usable|useful|works?|working|amplif\w+|pass(?:es|ing)?|holds?|response|"
    r"band ?width|wide enough)"
)
ROLES = {
    "vin": Role(
        before=r"unregulated(?: input)?(?: of)?|(?<![a-z])in\s?:|进线|未稳压的?|母线",
        after=r"(?: ?dc)? (?:bus|line|mains|adapter|brick|wall wart|battery|source|unregulated)(?![a-z])"
              r"|\s?(?:直流)?(?:进(?![制行])|母线|供入|适配器|电瓶|蓄电池)",
    ),
    "vout": Role(
        before=r"(?<![a-z])(?:wants|needs|requires|takes)(?: an?)?|"
               r"(?:must|should|has to|to|shall|can) (?:supply|deliver|provide|give|produce|make|put out)|"
               r"(?<![a-z])out\s?:|delivers|produces|secondary(?: side)?(?: must| should)?(?: [a-z]+){0,2}|"
               r"(?<![输引])出",
        after=r"(?: ?dc)? (?:at the output|on the output|regulated)(?![a-z])|\s?(?<!输)出(?![现发])",
    ),
    "iout": Role(before=r"(?:load|output)(?: current)?(?: of| up to)?|能?带(?:载)?|最大给|输出(?:电流)?"),
    "low_hz": Role(
        before=r"(?:bottom|low(?:er|est)?)(?: end| limit| edge| frequency|"
               r" cut-?off)?(?: [a-z]+){0,3}(?: to| at| of)|"
               r"(?:down|starting|onwards?|upwards?) (?:to|at|from)|低频(?:端|响应)?(?:要?到|截止)?|"
               r"(?:下限|最低频率)",
        after=r"\s?(?:and (?:up|above)|up(?:wards?)?(?![a-z ]*to)|onwards?)(?![a-z])|\s?(?:起|以上都)",
    ),
    "bandwidth_hz": Role(
        before=rf"(?:top|upp?er)(?: end| limit| edge| frequency| cut-?off)?(?: [a-z]+){{0,3}}(?: to| at| of)|"
               rf"{_REACHES}(?: [a-z]+){{0,2}} (?:to|at|for)|高频(?:端)?(?:要?到|截止)?|(?:[要能做]|工作|"
               rf"宽)到|上限|最高频率",
        after=r" (?:of )?(?:bandwidth|bw)(?![a-z])",
    ),
    "output_ohm": Role(before=r"output(?: should| must)?(?: (?:act|look|behave)s?)? like|"
                              r"r_?out(?: [a-z]+){0,3}"),
    "fsw": Role(before=r"(?:switch|stepp|clock|chopp)(?:ing|ed|es)?(?: [\d.]+ ?v)? (?:at|@)"),
    "gbw_hz": Role(before=r"(?:gain[\s-]?bandwidth(?: product)?|gbw?p?|(?:增益)?带宽积|"
                          r"单位增益带宽)(?: [a-z]+){0,3}",
                   after=r" (?:of )?(?:gain[\s-]?bandwidth|gbw?p?)(?![a-z])"),
    "gain": Role(
        before=r"amplif[a-z]+[^\d,;。]{0,40}(?<![a-z])by|amplification|magnification|(?<![a-z])a_?(?:0|v|ol|u)(?![a-z])|(?<![a-z])a(?=\s?=)|放大倍数|电压放大",
        after=r"[\s-]?fold(?![a-z])",
    ),
    "load_ohm": Role(
        before=r"(?<![a-z])sees|loaded (?:by|with)|(?:next|following) (?:stage|circuit)(?: [a-z]+){0,2}|"
               r"followed by(?: an?)?|后级|后接|后面接?|下一级",
        after=r"\s?(?:afterwards|behind it|in the next stage|antenna|天线|hanging)",
    ),
    "load_farad": Role(before=r"带(?:动|载)?|驱动|(?<![a-z])c_?l(?:oad)?(?![a-z])|(?:on|into|"
                              r"driv\w+)(?: an?| a load of)?"),
    "input_ohm": Role(before=r"present(?:s|ing)?(?: [a-z]+){0,4}|look(?:s|ing)? like|"
                             r"not load(?: [a-z]+){0,5}|输入端?看进去|each input(?: must|"
                             r" should)?(?: [a-z]+){0,3}"),
    "source_ohm": Role(
        before=r"(?:wants?|needs?|likes?) to see|(?:transmitter|generator)(?: [a-z]+){0,4}|"
               r"(?:模块|发射机|电台|信号源)[^\d,;。]{0,8}",
        after=r"\s?(?:transmitter|generator|模块|发射机|信号源)|\s?(?:at|on|from) its output(?![a-z])",
    ),
    "rating_v": Role(after=r"[\s-]?(?:rated |的)?(?:switch|mosfet|fet|transistor|part|device|mos管|"
                           r"管子?)(?![a-z])"),
    "drop_v": Role(before=r"(?<![a-z])(?:los(?:e|es|ing)|wast(?:e|es|ing)|drops?)(?: [a-z]+){0,3}|损耗?|掉",
                   after=r" (?:drop|loss|lost)(?![a-z])|\s?(?:的)?压降"),
    "dropout_v": Role(before=r"dropout|drop(?: [a-z]+){0,3}|"
                             r"压差", after=r" (?:of )?(?:headroom|dropout)(?![a-z])"),
    "drive_a": Role(
        before=r"(?:pin|gpio|port)(?: [a-z]+){0,3}|(?:pin|gpio|port|io口?|引脚|"
               r"口)[^\d,;。]{0,16}(?:at most|under|below|max\w*|最多|只能|"
               r"不超过|限)",
        after=r" (?:per|from (?:the|a|each)|out of (?:the|a)) (?:pin|gpio|port)",
    ),
    "trigger_s": Role(
        before=r"(?:press|push|trigger|button|pulse at the input)[^\d,;。]{0,20}|(?:按键|触发|按下|"
               r"输入脉冲)[^\d,;。]{0,8}",
        after=r" (?:button |trigger |key )(?:press|push|pulse)",
    ),
    "supply_v": Role(before=r"hangs? on|fed (?:from|by)|living on|powered (?:from|by|"
                            r"off)|run(?:s|ning)?(?: it)? (?:on|off|from)", after=r"\s?(?:供|电池)"),
    "attenuation_hz": Role(
        before=r"(?:down|attenuated|suppressed)?[^\d,;。]{0,12}(?<![a-z])by|harmonics?(?: [a-z]+){0,2}|"
               r"stop[\s-]?band|谐波|阻带",
        after=r"\s?(?:处|时|上|的地方)?(?:要|得|至少|必须|需要)*(?:压|滤|衰减(?!别|不)|抑制|降)|"
              r"[)）]?(?: [a-z]+){0,2} (?:must|should|has to|needs to) be (?:down|attenuated|suppressed|"
              r"reduced)",
    ),
    **dict.fromkeys(
        ("wanted_hz", "stated_hz", "cutoff_hz"),
        Role(before=r"-3 ?db(?: [a-z]+){0,3}", after=r"\s?[(（]?-3 ?db(?! [a-z]*(?:gain|loss))"),
    ),
    "upper_v": Role(before=r"(?<![a-z])(?:passes|exceeds|(?:rises?|climbs|goes) (?:above|past|over)|above|"
                           r"over)|"
                           r"超过|高于|高过|升到"),
    "lower_v": Role(before=r"(?<![a-z])(?:(?:falls?|sinks?|drops?|goes) (?:below|under|to)|below|under)|"
                           r"低于|降到|跌到"),
    "phase_margin_deg": Role(after=r"\s?(?:°|degrees?|deg|度)?(?: of)?(?: phase)? margin"),
    "width_s": Role(
        before=r"(?:on|high|lit|closed|stays?)(?: [a-z]+){0,2} for|保持|持续|[亮响开通](?=\s?\d)|脉宽",
        after=r"[\s-]?(?:long |wide )?pulses?(?! at)|\s?(?:的)?(?:高电平|脉宽)",
    ),
    "width_hz": Role(before=r"宽度?", after=r"\s?(?:wide(?![a-z])|宽)"),
    "kvco_hz": Role(before=r"k_?vco|压控(?:增益|灵敏度)?", after=r"\s?/\s?v(?![a-z])"),
    "gate_v": Role(before=r"gate(?: [a-z]+){0,3}|栅(?:源|极)?(?:电压)?(?:最[大高多]|不(?:能|许|得)?超过|"
                          r"耐压)?"),
    "loss_hz": Role(after=r"(?:处|时|的地方)?的?(?:损失|衰减)(?:别|不|小于|只)"),
    "diode_v": Role(before=r"(?:rectifier|schottky|diode)(?: [a-z]+)? drops?(?: [a-z]+)?"),
    "duty": Role(
        before=r"(?<![a-z])(?:on|high)(?: for)?(?: about)?|导通|高电平(?:占|时间)?",
        after=r" of (?:the|each|every) (?:time|period|cycle)",
    ),
    "slower_hz": Role(
        before=r"(?:goes|went|drops?|dropped|falls?|fell|slows?|slowed|down|moves?|moved|降|变|掉)"
               r"(?: down)?(?:\s?(?:to|at|到|为|成))",
    ),
    "added_farad": Role(before=r"(?:extra|added|adding|additional|h[au]ng\w*|并(?:联|上|了)?|加(?:上|"
                               r"了)?)[^\d,;。]{0,12}"),
}  # fmt: skip
"""One table for all circuits, beside the words of their own."""
BAND = "low_hz", "bandwidth_hz"
IN_ORDER = (
    BAND, ("slower_hz", "ring_hz"), ("lower_v", "upper_v"), ("low_v", "high_v"),
    ("lowest_c", "highest_c"), ("light_a", "iout"), ("diode_v", "vout"), ("ripple_v", "vout"),
    ("dropout_v", "vout"), ("drop_v", "supply_v"),
)  # fmt: skip
"""(less, more): where the words leave open which of two figures is which, their size tells."""
