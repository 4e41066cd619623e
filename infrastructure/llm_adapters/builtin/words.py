# ruff: noqa: E501 - a pattern a line reads better than one broken up
"""The words of the built-in model's questions, both languages: a pattern for each intent, and what sentences hold besides."""

from __future__ import annotations

import re
from collections.abc import Sequence

ANY_CASE = re.IGNORECASE
NAME = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z][A-Za-z0-9_]{0,11}(?:\.[A-Za-z]\w*)?(?![A-Za-z0-9_])")
LETTERS = "rclqmdjvixsebgfhtkz"
NODE = re.compile(
    r"\bv\(\s*([\w.+-]+)(?:\s*,\s*[\w.+-]+)?\s*\)|(?<!bias )(?<!operating )(?<!quiescent )(?<!q-)(?<!db )\b(?:node|net|point)\s+[\"'“]?([\w.+-]+)"
    r"|(?:节点|结点)\s*([A-Za-z0-9_]+)|([A-Za-z0-9_]+)\s*(?:节点|结点|点的?电压|[那这]个?(?:节?点|端))",
    ANY_CASE,
)
NOT_A_NODE = frozenset({"is", "the", "are", "of", "in", "on", "has", "does", "and", "voltage", "voltages"})
PARAMETER = re.compile(
    r"(?:with|where|for|when|if|at|如果|当|取)?\s*([A-Za-z]\w*(?:\.\w+)?)\s*(?:(?:从|由|\bfrom\b)\s*[\d.]+\s?\w*\s*)?(?:=|is|were|was|becomes?|became|goes (?:up |down )?to|went to|drops? to|rises? to|(?:sags?|dips?|falls?|sinks?|climbs?|creeps?) (?:up |down )?to|at|(?:changed|set|raised|lowered|reduced|increased|swapped)? ?to|取|为|等于|[改换变调][成为到]|是|用)\s*(?:只有|about|only)?\s*$",
    ANY_CASE,
)
OVER_HEAT = re.compile(
    r"\b(?:with|over|vs\.?|versus|against|across|on) (?:the )?temp(?:erature)?\b(?! of)|\btemp(?:erature)? (?:drift|sweep|dependence|coefficient)\b|\b(?:drifts?|moves?|shifts?|chang\w+|var\w+) .{0,12}temp(?:erature)?\b|\b(?:hot and cold|cold and hot)\b|高低温|随温度|温漂|温度(?:漂移|特性|系数|影响)|(?:跟|和|与)温度.{0,4}关系",
    ANY_CASE,
)
"""Over temperature, from nowhere to nowhere in particular."""
AT_HEAT = re.compile(
    r"(?:(?:环境)?温度)?(?:(?:升|降|变|涨|加热|冷却)?[到至成]|为|是|在|=)?\s*$|(?:\b(?:if|when|with|once)\s+)?(?:\b(?:the|it|its)\s+)?(?:\b(?:temp(?:erature)?)\b)?\s*(?:\b(?:is|at|of|goes (?:up |down )?to|rises to|drops to|reaches|to|hits|gets to)\b)?\s*$",
    ANY_CASE,
)
"""How a temperature begins: "the temperature rises to 85 °C", "温度升到85度"."""
OVER_LOAD = re.compile(
    r"\b(?:vs\.?|versus|against|over|with|as a function of) (?:the )?(?:output |load )?(?:load|current)\b|随负载(?:电流|电阻)?|(?:跟|和|与)负载(?:电流|电阻)?(?:的)?关系",
    ANY_CASE,
)
BY_SO_MUCH = re.compile(
    r"(?:\bby\s+(?:about\s+|another\s+)?|(?P<zh_more>提高|增加|增大|升高|加大|抬高)(?:了|约|大概)?\s*|(?P<zh_less>降低|减小|减少)(?:了|约|大概)?\s*)$",
    ANY_CASE,
)
"""Before a quantity by which something is to change."""
DOWN_TO = re.compile(
    r"\b(?:lower|reduce|decrease|cut|drop|bring down|shrink)\b[^.,;]*\b(?:down )?to\b|[降减压缩][低小少]?[到至为]|压到",
    ANY_CASE,
)
UP_TO = re.compile(
    r"\b(?:raise|increase|boost|improve|extend|widen)\b[^.,;]*\b(?:up )?to\b|(?:提[高升]|增[大加]|升[高]?|加[大宽]|扩[展大]|拓宽|抬高)[到至为]",
    ANY_CASE,
)
"""Says from which side a figure is to come to its value."""
HEATS = re.compile(r"temperature|温度|\btemp\b", ANY_CASE)
DEGREES = re.compile(r"\s*(?:°|度|degrees?|deg\b|c\b)", ANY_CASE)
DOWN = re.compile(
    r"\bhow (?:far|much) down\b|\bhow (?:many|much) db\b.{0,16}\b(?:down|below|lower|am|is|do|does|off|lost)\b|\bdb down\b|(?:掉|降|衰减|跌)了?多少\s*(?:db|分贝)?",
    ANY_CASE,
)
"""Asks for the gain without its name."""
FULL_NODE_FIGURE = re.compile(r"\bv\(", ANY_CASE)
QUESTION = re.compile(
    r"[?]\s*$|^(?:and |so |then |ok |okay |now |please |pls |(?:can|could|would) you (?:please )?|i(?:'d| would) like to |let me |let's )*"
    r"(?:what|what's|whats|which|how|is|are|does|do|why|where|when|can|will|tell me|give me|show me|show|see|know|measure|calculate|compute|find|check|get|plot|report|look at)\b"
    r"|\bwhat(?:'s| is| are)\b|\b(?:whether|wonder\w*|curious)\b|\bhow (?:much|many|large|big|high|low|wide|long|fast|far|does|do|is)\b|\b(?:tell|give|show) me\b"
    r"|多少|多大|多高|多宽|多久|多长|多快|几|吗|么|(?P<a_not_a>[\u3400-\u9fff])不(?P=a_not_a)|了没有?[?？]?$|怎么|什么|哪|是否|有没有|测|求|计算|[看算查][一看算]?[下看算眼]|看看?|给我|告诉|给出|显示|想知道",
    ANY_CASE,
)
WHOLE_BETA = re.compile(r"\b(?:beta|h_?fe|bf)\b|β|放大系数|电流增益", ANY_CASE)
SERIES = re.compile(r"\bE\s?(6|12|24|48|96|192)\b")
"""The preferred values wished for."""
WITHIN = re.compile(
    r"(?:\bwithin|±|\+/-|不超过|偏差|误差|在)\s*(?:±)?\s*(?P<share>\d+(?:\.\d+)?)\s*%\s*(?:of|以内|之内|内|around|about|from)?",
    ANY_CASE,
)
OTHERWISE = re.compile(
    r"\b(?:why|without|instead|rather|should|chang\w*|replac\w*|swap\w*|compar\w*|than|limit\w*|unless|if|suppose|would|want|need|make|making"
    r"|made|remov\w*|delet\w*|add|adding|design\w*|build|best|better|improv\w*|typical\w*|theor\w+|formula|equation|defin\w+|mean by|means"
    r"|everyone|in general|generally|usually|before|until|while|doubl\w+|halv\w+|clip\w*|saturat\w*|slope|roll-?off|largest|maximum|allowed|stable|oscillat\w*|how (?:large|big|high|small|low|far) can|how (?:can|do|could|should|to)|what is an?|explain|set|increase|reduce|raise|lower|with(?=\s+(?:an?|no)\b))\b"
    r"|突然|为[什何啥]|怎[么样]+(?!样[?？]?$)|如何|如果|假[如设]|要是|不要|去掉|拿掉|没有(?!尖|峰|过|超)|换|改|比[较起]|优化|设计|建议|公式|定义|什么[是叫]|一般|通常|想要|应该|加倍|减半|翻倍|斜率|滚降|截幅|削[波顶底]|失真之前|最大(?:能|可以|允许)|能(?:接|给|加|带|承受)|设[为成]|调[到成高低]|提高|降低|增大|减小|变[成为]",
    ANY_CASE,
)
"""Words by which a sentence with a figure is more than the question for it."""
POLITE = re.compile(
    r"^(?:(?:hi|hello|hey|ok(?:ay)?|well|thanks|thank you|great|cool|nice|hmm+|sorry|quick question|one more(?: thing| question)?|question|btw|by the way|你好|您好|大家好|请问(?:一下)?|麻烦(?:你|您)?|谢谢|好的?|嗯+|对了|另外|顺便(?:问)?(?:一下)?|老师|大佬|各位)[\s,.!:，。！：;；]+)+"
    r"|[\s,，]*(?:\b(?:pls|plz|please|thanks|thank you|thx|cheers)\b|谢谢(?:了|啦)?|麻烦了|拜托了?)[\s.!。！]*(?=[?？]?$)",
    ANY_CASE,
)
"""What a question begins and ends with besides itself."""
ADVICE = re.compile(
    r"\bwhat (?:should|can|could|must|would|do) (?:i|we|you) (?:change|do|use|adjust|tweak|try)\b|\bwhat (?:to|needs? to be) chang\w*|\bwhich (?:\w+ ){0,2}?(?:should|can|could|do|would|must) (?:i|we|you)\b"
    r"|\bhow (?:can|do|could|should|would) (?:i|we|you)\b|\bany (?:ideas?|suggestions?|advice)\b|\bfix (?:it|this|that)\b|\bdo something about\b|处理一下|解决一下|\bwhere (?:do|should) i (?:start|turn)\b"
    r"|[改调换加].{1,8}还是[改调换加]|怎么(?:做|实现)|该?[改调动换](?:什么|哪|谁)|(?:要|得|应|应该|需要|可以|能)(?:怎么|如何|怎样)?(?:改|调|动|换)(?:哪|什么|谁)|怎么(?:改|调|办|弄)|怎样(?:才能|改)|如何(?:才能|改)|有(?:什么|啥)(?:办法|建议)|从哪(?:里|儿)?(?:下手|入手)",
    ANY_CASE,
)
"""Asks which way to go, and wants nothing changed yet."""
WHAT_VALUE = re.compile(
    r"\b(?:what|which) (?:value|size)\b|\bvalue (?:of|for) \w+ (?:that|which|for|to|so)\b|\bhow (?:large|big|small|high|much)\b.{0,12}\b(?:should|must|does|do|has|have|needs?)\b|\bwhat (?:r|c|l)\w{1,4} (?:do|would|should|gives?|makes?)\b|\bwhat (?:should|must|would|does|will) \w+ (?:have to |need to )?be\b"
    r"|(?:取|选|要|应该?|需要|得)(?:是|取|选|用)?多(?:大|少)|多(?:大|少)(?:才|合适|能|可以|比较好)|取值",
    ANY_CASE,
)
"""Asks for the value that would do."""
_KEEP = r"(?:keep(?:ing)?|leav(?:e|ing)(?!\s+(?:the\s+)?\w+\s+(?:out|off|away)\b)|hold(?:ing)?(?! back)|maintain(?:ing)?|without (?:touch|chang|alter|modify)ing|(?:don['’]?t|do not|not|never) (?:touch|change|alter|modify|move|shift|mess with)(?:ing)?)"
KEPT = re.compile(
    rf"[,;]?\s*(?:\b(?:but|and|while|whilst|with)\s+)?\b{_KEEP}\s+(?P<en>[^,.;?!]+?)(?=\s+(?:and|but|or|so|then)\s+(?:use|using|change|set|make|move|tell|show|run|sim\w*|adjust|only|get|bring)\b|[,.;?!]|\s*$)"
    r"|[，,]?\s*(?:但是?|同时|并且?|而且?)?保持(?P<keep>[^，,。;；!！?？]+?)(?:不变|不动|一样|恒定)?(?=$|[，,。;；!！?？])"
    r"|[，,]?\s*(?:但是?|同时|其中|而)?(?P<zh>[^，,。;；!！?？]{1,16}?)(?:都|的值|先|就|和现在|跟现在)?(?:不要(?:动|变|改)|不能?(?:动|变|改)(?!多)|别(?:动|改|变)|固定|保持不变|一样就行)"
    r"|[，,]?\s*(?:但是?)?(?:不要?|别)(?:改|动|改动|改变|碰)(?P<not>[^，,。;；!！?？]+)",
    ANY_CASE,
)
"""What is to stay as it is."""
ONLY = re.compile(
    r"\b(?:only|just|solely) (?:by )?(?:chang\w*|adjust\w*|us(?:e|ing)|touch\w*|mov\w*|tun\w*)(?: with)?\s+(?P<en>[^,.;?!]+)|\bby (?:only |just )?(?:chang\w*|adjust\w*|tun\w*|scal\w*|vary\w*)\s+(?:only |just )?(?P<by>[^,.;?!]+)"
    r"|\b(?:with|using|via|by|and)?\s*(?:the\s+)?(?P<last>(?:resistors?|caps?|capacitors?|inductors?|coils?)(?:\s+(?:and|or)\s+(?:resistors?|caps?|capacitors?))?)\s+only\b"
    r"|只(?:能|要|许|准)?(?:改|动|调|换|用)(?P<zh>[^，,。;；!！?？]+)",
    ANY_CASE,
)
OF_SUPPLY_SHARE = re.compile(
    r"(?P<half>\bhalf (?:of )?(?:the |its )?(?:supply|vcc|vdd)(?: voltage)?|\b(?:vcc|vdd|v_?supply)\s*/\s*2|\bmid-?(?:supply|rail)|(?:电源(?:电压)?|VCC|VDD)的?(?:一半|二分之一|1/2|/2)|(?:半|1/2|二分之一)(?:个)?(?:电源(?:电压)?|VCC|VDD))"
    r"|(?P<third>\b(?:a|one) third of (?:the )?(?:supply|vcc|vdd)|\b(?:vcc|vdd)\s*/\s*3|(?:电源(?:电压)?|VCC|VDD)的?三分之一)",
    ANY_CASE,
)
"""A share of the supply as an aim."""
TIMES = re.compile(
    r"(?P<twice>\bdoubl\w+|\btwice\b|[翻加]一?倍|两倍|2倍)|(?P<half>\bhalv\w+|\bhalf\b|减半|一半)", ANY_CASE
)
"""A value against the one that is there."""
SHORTED = re.compile(
    r"\bshort(?:s|ed|ing)?(?: out)?\s+(?:the\s+)?(?P<a>[A-Z]\w*)|\b(?P<b>[A-Z]\w*)\s+(?:is |gets? |goes |were |was |fails |being )?(?:a )?short(?:ed|s)?(?:[- ]circuit(?:ed)?)?\b|(?P<c>[A-Za-z][A-Za-z0-9_]*)\s*(?:短路|短接)|(?:短路|短接)\s*(?P<d>[A-Za-z][A-Za-z0-9_]*)",
)
"""A part with a wire across it."""
REMOVED = re.compile(
    r"\b(?P<open>\w+) (?:goes|went|is|gets|becomes|fails?|failed|blows?|blew|being|was|turns)(?: an?)? open(?:[- ]circuit(?:ed)?)?\b|\b(?P<falls>\w+) (?:falls off|fell off|breaks|comes? (?:loose|off)|is missing|opens up)\b|(?P<zh_open>[A-Za-z]\w*)\s*(?:开路|断路|断开|脱焊|虚焊|漏装|没装|没焊|漏焊|没接|掉了|坏了|失效)|"
    r"\b(?P<gone>\w+) (?:is|are|was|were|gets?|got) (?:remov\w+|taken (?:out|away)|left out|omitted|deleted|disconnected|unsoldered)\b"
    r"|\b(?:remov\w+|leav\w+ out|leave (?P<it>it|this|that) out|leave (?P<mid>\w+) out|(?:take|pull|yank|lift|rip)(?:ed|s)? (?P<mid2>\w+) (?:out|away|off)|(?:pull|lift) (?:out )?(?P<mid3>[A-Z]\w*)|omit\w*|delet\w+|without|disconnect\w*|unsolder\w*|took out|drop(?:ped|ping)?)\b\s*(?P<en>\w+(?:'s)?)?"
    r"|(?:去掉|拿掉|拆掉|删掉|去除|断开|不要|不接|不加|没有|取消|拿走)(?P<zh>\s*[A-Za-z]\w*|它|这个)?|[把将]?(?P<zh2>[A-Za-z]\w*)\s*(?:去掉|拿掉|拆掉|删掉|断开|拿走|取消)",
    ANY_CASE,
)
DESIGNED = re.compile(
    r"\b(?:an?|one|new)\s+(?:[\w.-]+\s+){0,4}?(?:filter|amplifier|converter|regulator|oscillator|low-?pass|high-?pass|circuit|stage|divider|buffer|mirror|comparator|buck|boost)\b"
    r"|(?<![这那该哪整])(?<![这那][一1])[一1]?[个款](?:[^，。]{0,12})?(?:滤波器|放大器|变换器|转换器|振荡器|稳压器|电路|低通|高通)"
    r"|\d\s*(?:[kKmMGg]?Hz|[kM]?Ω|V|A)\s*(?:的)?\s*(?:rc|lc|rl)?\s*(?:low-?pass|high-?pass|filter|amplifier|低通|高通|带通|滤波器|放大器)",
    ANY_CASE,
)
"""A circuit to be made, or one in general: no question about one that is there."""
HYPOTHESIS = re.compile(
    r"\bwhat (?:if|happens|would|will)\b|\bwould happen\b|\bhappens?\b|\bsuppose\b|\bif\b.{0,40}\b(?:were|was|is|became|goes|went|had|has|use|used|double|halve|remove|leave|take|drop|change|replace)\b|\bhow (?:much )?(?:does|do|would|will)\b.{0,40}\b(?:change|drop|fall|rise|differ|suffer)\b.{0,30}\b(?:if|when|without|with)\b"
    r"|\bsurviv\w+\b|\b(?:sags?|droops?|dips?)\b|\bstill (?:work|ok|okay|fine|good|alright|in)\b|如果|假如|假设|要是|会怎么?样|(?:分别|各自?)(?:怎么|如何|会)变|能省|会有(?:什么|多大)|的话|还(?:能|会|够|行|正常)",
    ANY_CASE,
)
PARTS: Sequence[tuple[str, str]] = (
    (r"npn", "npn"), (r"pnp", "pnp"), (r"n-?(?:channel|沟道)\s*mos\w*|nmos|n沟道|n-?mos", "nmos"),
    (r"p-?(?:channel|沟道)\s*mos\w*|pmos|p沟道|p-?mos", "pmos"), (r"\bmos(?:fets?)?\b|场效应管|mos\s?管", "mos"),
    (r"zeners?|齐纳|稳压(?:二极)?管", "zener"), (r"schottky|肖特基", "schottky"),
    (r"op-?\s?amps?|opamps?|operational amplifiers?|运(?:算)?放(?:大器)?", "op-amp"),
    (r"rectifiers?|整流(?:二极)?管", "rectifier"), (r"diodes?|二极管", "diode"), (r"timers?|555|定时器", "timer"),
    (r"bjts?|bipolar transistors?|transistors?|三极管|晶体管|双极(?:型晶体)?管", "transistor"),
)  # fmt: skip
OF_LIBRARY = re.compile(
    r"\b(?:librar\w+|find|search|any|recommend|suggest|look(?:ing)? for|have|is there|are there|need|an?)\b|库|推荐|找|有没有|有哪些|有什么|换",
    ANY_CASE,
)
"""Speaks of parts that can be had."""
TRAITS: Sequence[tuple[str, str]] = (
    (r"low[- ]?(?:er[- ])?noise|quiet|低噪声?|噪声(?:低|小|更低|要低)", "low-noise"), (r"rail[- ]to[- ]rail|轨到轨|满摆幅", "rail-to-rail"),
    (r"\bprecision|low[- ]offset|精密|低失调", "precision"), (r"\bjfet|场效应管?输入", "JFET"),
    (r"single[- ]supply|单电源", "single supply"), (r"\baudio\b|音频", "audio"), (r"logic[- ]level|逻辑电平", "logic-level"),
)  # fmt: skip
"""Words of a part's title in the model library."""
COUNTED: Sequence[tuple[str, str]] = (
    (r"mosfets?|mos\s?管?|场效应管", "MOSFET"), (r"bjts?|bipolar transistors?|三极管", "bipolar transistor"),
    (r"transistors?|晶体管", "MOSFET|bipolar transistor|JFET"), (r"resistors?|电阻", "resistor"),
    (r"capacitors?|caps|电容", "capacitor"), (r"inductors?|coils?|电感", "inductor"), (r"diodes?|二极管", "diode"),
    (r"nodes?|nets?|节点", "node"), (r"(?:elements?|components?|parts?|devices?)|元件|器件", ""),
)  # fmt: skip
OF_LETTER: Sequence[tuple[str, str]] = (
    (r"resist\w*|电阻|(?<![A-Za-z0-9_])Rs?(?![A-Za-z0-9_])", "r"), (r"capacit\w*|\bcaps?\b|电容|(?-i:(?<![A-Za-z0-9_])Cs?(?![A-Za-z0-9_]))", "c"), (r"induct\w*|\bcoils?\b|电感|(?-i:(?<![A-Za-z0-9_])Ls?(?![A-Za-z0-9_]))", "l"),
)  # fmt: skip
LOWER = re.compile(
    r"\b(?:reduce|lower|decrease|less|smaller|minimi[sz]e|cut|down|so (?:high|large|big|noisy)|too (?:high|large|big|noisy))\b"
    r"|降低|减小|减少|降到|太[大高]|(?:这么|那么|过|很)[大高]|[更]?[小低]一?[点些]",
    ANY_CASE,
)
RAISE = re.compile(
    r"\b(?:increase|raise|improve|more|higher|larger|widen|maximi[sz]e|boost|extend|up|so (?:low|small|narrow|poor|bad)|too (?:low|small|narrow))\b"
    r"|提高|增大|增加|加宽|拓宽|扩展|展宽|太[小低窄]|(?:这么|那么|过|很)[小低窄差]|[更]?[大高宽]一?[点些]",
    ANY_CASE,
)
NEUTRAL = frozenset({
    "what", "what's", "whats", "is", "are", "the", "a", "an", "of", "in", "at", "for", "and", "to", "it", "its",
    "my", "this", "our", "please", "me", "tell", "give", "show", "get", "measure", "calculate", "compute",
    "find", "check", "how", "much", "large", "high", "big", "low", "small", "wide", "fast", "circuit",
    "netlist", "file", "with", "by", "from", "on", "when", "amplifier", "stage", "filter", "converter", "opamp",
    "op-amp", "now", "ok", "then", "total", "value", "signal", "small-signal", "frequency", "voltage",
    "midband", "mid-band", "do", "does", "i", "we", "have", "there", "的", "是", "多少", "多大", "在", "时", "处", "下",
    "请", "测量", "测", "一下", "求", "计算", "看", "看看", "电路", "这个", "当前", "我", "给", "告诉", "为", "有", "多高", "值", "呢", "吗",
    "和", "与", "大概", "取", "取为", "等于", "当", "设", "用", "如果", "情况下", "变成", "约", "那", "里", "中", "为多少", "是多少", "有多大",
    "load", "vs", "versus", "ac", "dc", "degrees", "带", "sine", "wave", "负载", "over", "equivalent", "pls", "hi", "hello", "could", "you", "can", "here", "just", "only", "about", "roughly", "around", "right",
    "inverting", "inverted", "db", "掉了", "掉", "几个", "几", "的时候", "时候", "多少伏", "是多少伏", "伏", "分贝", "大不大", "大吗", "高不高",
    "现在", "目前", "麻烦", "谢谢", "到底", "一共", "大约", "差不多", "能", "到",
    "有多少", "怎么样", "如何", "帮", "查", "输出", "时的", "处的", "下的", "的值", "多宽", "多快", "了", "放大器", "滤波器", "运放",
})  # fmt: skip
CIRCUIT_WORD = r"(?:\s+(?:circuit|netlist|filter|amplifier|converter|file)|\s*(?:电路|网表|里|中|的))"
INDEFINITE = re.compile(r"\b(?:an?|any|some|which|no|find|what)\s*$|(?:找|有|哪些|哪种|个|款)\s*$", ANY_CASE)
"""In front of a kind of part: no file of that name is meant."""
LEANS = re.compile(
    r"^(?:ok(?:ay)?,? |so |then )?(?:and|now|what about|how about|try|again|same|the other|also|instead|with)\b"
    r"|^(?:那么?|再|换成?|试试|改用|还有|另[一外]|如果|同样|接着|然后)",
    ANY_CASE,
)
CHANGES = re.compile(
    r"\b(?:make|set|change|get|bring|adjust|tune|optimi[sz]e|reduce|lower|decrease|increase|raise|want|need|swap|replace)\b|"
    r"改[成为到]|调[到成为整]|优化|降[到至低]|提[高到]|升[到高]|设[为成到]|换[成为]|要求",
    ANY_CASE,
)
"""Something is wished, not asked."""
OTHER = re.compile(r"\bthe other (?:one|circuit)\b|另[一外](?:一?个)", ANY_CASE)

NO_NAMES = frozenset({
    "DC", "AC", "DB", "HZ", "GBW", "THD", "BW", "RMS", "MHZ", "KHZ", "CCM", "DCM", "NPN", "PNP", "ESR", "FFT", "SPICE",
    "E6", "E12", "E24", "E48", "E96", "E192",
    "IC", "IB", "IE", "VCE", "VBE", "VC", "VB", "VE", "ICQ", "VCEQ", "ID", "VDS", "VGS", "IL",
    "LDO", "LPF", "HPF", "BPF", "BJT", "BJTS", "JFET", "MOS", "MOSFET", "CMOS", "FET", "FETS", "LED", "LEDS", "VCO", "SMPS", "MC", "SNR", "ENBW",
})  # fmt: skip
DEGREES_TO = re.compile(
    r"\s*(?:°|度|°?c)?\s*(?:(?:all the way |up |down )*to|(?:[升降变涨热冷跑扫加减调]|扫描|变化|上升|下降|逐渐|一直)?到|至|~|-)\s*",
    ANY_CASE,
)
JUST_BEFORE = r"(?:{words})\s*(?:的?(?:误差|容差|精度|公差))?\s*(?:[:=±]|为|取|tolerance|of|at)?\s*$"
JUST_BEHIND = r"\s*(?:的|tolerance|for|of)?\s*(?:the\s+)?(?:{words})"
OF_SUPPLY = re.compile(
    r"\b(?:supply|total|quiescent|consum\w*|draws?|circuit|much)\b|功耗|耗电|总|电源|消耗|多少|多大", ANY_CASE
)
CLAUSE = re.compile(r"[,，;；、]|\band\b|和", ANY_CASE)
RUNS = re.compile(
    r"\s*(?:次|runs?\b|samples?\b|times\b|trials?\b|points?\b|steps\b|values\b|点(?!电|流)|个?样本|个点|个值|档|iterations?\b|(?:point |run |sample )?monte|步)",
    ANY_CASE,
)

BY_KIND: Sequence[tuple[str, str]] = (
    (r"\btail\b|尾(?=电流|管)", "role:tail"), (r"\bbypass cap\w*|旁路电容", "role:bypass"),
    (r"\boutput coupling cap\w*|输出耦合电容", "role:output_coupling"), (r"\bcoupling cap\w*|耦合电容", "role:input_coupling"),
    (r"\b(?:compensation|miller) (?:cap\w*|network)|(?:补偿|米勒)电容", "role:compensation"),
    (r"\boutput cap\w*|输出(?:滤波)?电容", "role:output_capacitor"), (r"\bcollector resist\w*|集电极电阻", "role:load"),
    (r"\bemitter resist\w*|(?:发射极|射极)电阻", "role:foot"), (r"\bbias(?:ing)? resist\w*|偏置电阻", "role:bias"),
    (r"\b(?:pass|power)[- ](?:device|transistor|element|fet|mosfet)\b|调整管|功率管", "q*"),
    (r"\bdiodes?\b|二极管|续流管", "d*"), (r"\bmosfets?\b|\bfets?\b|mos\s?管|开关管", "m*"),
    (r"\btransistors?\b|\bbjts?\b|三极管|晶体管", "q*"), (r"\bswitch\b|(?<!元)开关(?!频率|电源|管)", "s*"),
    (r"induct\w*|\bcoils?\b|电感", "l*"), (r"\bload\b|负载", "load"),
)  # fmt: skip
"""Parts called by what they are, and the names these have; `role:` of what they are in a stage."""

REGULATOR = re.compile(
    r"(?:(?:linear|voltage|series) )?\b(?:ldo|regulator)\b|稳压(?:器|芯片|电路)|LDO", ANY_CASE
)
"""What burns the power of which is that of its pass device."""

THINGS: Sequence[tuple[str, str, str]] = (
    ("op-amp", r"\bop-?\s?amps?\b|运(?:算)?放(?:大器)?", "xegb"), ("MOSFET", r"\b(?:gate|drain) (?:current|voltage)s?\b|栅极|漏极|\b(?:mosfets?|[np]mos|fets?)\b|mos\s?管|场效应管", "mjx"),
    ("bipolar transistor", r"\b(?:base|collector|emitter) (?:current|voltage)s?\b|基极|集电极|发射极|\b(?:bjts?|npn|pnp|bipolar transistors?)\b|三极管|双极(?:型晶体)?管", "qx"),
    ("transistor", r"\btransistors?\b|晶体管", "qmjzx"), ("diode", r"\bdiodes?\b|二极管|稳压管|续流管", "dx"),
    ("inductor", r"\binductors?\b|\bcoils?\b|(?<!寄生)电感(?!性)", "lkx"), ("transformer", r"\btransformers?\b|变压器", "kx"),
    ("switch", r"\bswitch(?:es)?\b|开关(?:管)?(?!频率|电源)", "swmqx"), ("crystal", r"\bcrystals?\b|\bquartz\b|晶振|石英", "yx"),
    ("relay", r"\brelays?\b|继电器", "x"), ("comparator", r"\bcomparators?\b|比较器", "xegb"),
)  # fmt: skip
"""Things a circuit may have: how they are called, and the letters of elements one of which it has then."""

OF_SIGNALS = re.compile(
    r"\b(?:in|out)puts?\b|\b(?:waveforms?|curves?|traces?|responses?|bode|voltages?|currents?|signals?|sin(?:e|us\w*)?|swing\w*|amplitudes?|headroom|rails?|stage|amp\w*|v\(|gain|magnitude|phase)"
    r"|输[入出]|波形|曲线|响应|电压|电流|幅[频度值]|相频|波特|伯德|信号|摆幅|动态|电路|不失真|削[波顶底]",
    ANY_CASE,
)
"""Speaks of what a circuit has: else a picture of a cat would be one of the output."""

OTHER_FEED = re.compile(
    r"(?P<volts>\d+(?:\.\d+)?)\s*V(?:olts?)?\s*(?:的)?(?:supply|batter\w+|rail|电源|供电|电池)|(?:\b(?:supply|rail)\b|电源(?:电压)?|供电(?:电压)?)[^\d.,?!，。？]{0,10}(?P<of_volts>\d+(?:\.\d+)?)\s*V\b",
    ANY_CASE,
)
"""Another supply."""

OTHER_LOAD = re.compile(
    r"(?P<ohms>\d+(?:\.\d+)?)\s*(?P<scale>k|meg|M)?\s*(?:ohms?|Ω|欧姆?)\s*(?:的)?(?:load\w*|headphones?|speaker\w*|earphones?|负载|耳机|喇叭|扬声器|输入)|(?:\bloads?|负载)[^\d.,?!，。？]{0,12}(?P<of_ohms>\d+(?:\.\d+)?)\s*(?P<of_scale>k|meg|M)?\s*(?:ohms?|Ω|欧姆?)",
    ANY_CASE,
)
"""Another load."""

OF_LOAD_BEFORE = re.compile(
    r"(?:\b(?:driv(?:es?|ing)|into|loaded (?:with|by))(?: (?:an?|about|only|just))?|(?<![A-Za-z])(?:load|output)(?: current| resistance| capacitance)? (?:(?:current )?(?:of|is|was|were|at|becomes?|drops to|rises to|goes to))(?: (?:about|only|just))?"
    r"|驱动|带(?:动)?|负载(?:电流|电阻|电容)?(?:只有|为|是|等于|取)?|负载电流(?:变[成为]|升到|降到|增?加到|减小?到|到))\s*$",
    ANY_CASE,
)
OF_LOAD_BEHIND = re.compile(
    r"\s*(?:of (?:full |rated )|的)?(?:output |capacitive |resistive )?(?:out\b(?! of)|(?:hanging )?(?:on|at|across) (?:the )?output|(?:of )?output current|load(?!ed|ing)(?! (?:current|step|transient|regulation))|负载(?!调整率|阶跃))",
    ANY_CASE,
)
"""How a load is told by a quantity: "driving 5 pF", "a 600 Ω load", "at 10 % load"."""

OF_FEED_BEFORE = re.compile(
    r"(?:\b(?:at|with|from|for|under|on|off)\s+(?:an?\s+|only\s+|just\s+)?|(?P<feed>输入|电源|供电)(?:电压)?(?:只有|为|是|降到|掉到|升到|变成)?\s*)$",
    ANY_CASE,
)
OF_FEED_BEHIND = re.compile(
    r"\s*(?:的)?\s*(?:(?P<input>in\b(?! the)|input|输入)|(?P<supply>supply|rail|batter\w+|电源|供电))|\s*(?P<when>时|的时候|情况下|下)",
    ANY_CASE,
)
"""How another input or supply voltage is told: "at 24 V input", "输入24V时"."""
OF_POWER = re.compile(
    r"\bsaturat\w*|\btriode\b|\bregion\b|饱和|放大区|线性区|\bpower\b|\bdissipat\w*|\bloss(?:es)?\b|\bhot\b|功耗|功率|耗散|损耗|发热",
    ANY_CASE,
)

LOAD_SHARE = re.compile(
    r"(?P<none>\bno[- ]load\b|\bunloaded\b|\bwithout (?:a |any |the )?load\b|空载|不带负载|(?:去掉|拿掉|断开|拆掉)负载|负载(?:断开|去掉|拿掉|开路))|\bhalf(?: the)? load\b|半载|一半负载",
    ANY_CASE,
)
"""A load told by its share of the present one."""

ORDERED = re.compile(
    r"^(?:please |now |ok,? |okay,? |can you |could you |let'?s |go |just )*(?:change|set|make|put|replace|swap|increase|raise|decrease|reduce|lower|double|halve|bump|drop|turn)\b|^(?:请|帮我|麻烦|麻烦你|给我)*[把将][^,，]*(?:改|换|调|设|增|减|降|提)",
    ANY_CASE,
)
"""Begins with what is to be done."""
WATCHED = re.compile(
    r"(?:\band\b|\bthen\b|[,;，；])\s*(?:please |then |also )?(?:tell me|show me|see|let me see|let me know|report|check|look)\s+(?:what|how)\b[^.?!]*"
    r"|[,，;；]\s*(?:再|然后|并)?(?:看看?|告诉我|看一下|帮我看)[^。？！]*$",
    ANY_CASE,
)
"""What is looked at behind an order, which stays one: "and tell me what happens to the swing"."""

INSTEAD = re.compile(r"\binstead of\b|\brather than\b|而不是", ANY_CASE)
"""Beside a value that is told: of a circuit with that value."""

CARRIES = re.compile(
    r"\b(?:can|could|does|will|is) (?:it|this|that|the \w+)\b.{0,24}\b(?:drive|handle|feed|supply|power|run|work|take|manage|cope)\b|带得动|能带|能驱动|能不能|行不行|可以吗",
    ANY_CASE,
)
"""Asks whether it copes with that."""

TO_KNOW = re.compile(
    r"\b(?:like|want|need|love|curious|interested|trying|try)(?:ed)? to (?:know|see|understand|learn|find out|check|tell|hear)\b|想(?:要)?(?:知道|了解|看看?|确认|问)",
    ANY_CASE,
)
"""Wishes to be told, not to be done."""

ASKED_LATER = re.compile(
    r"[.!?;,]\s*(?:does|do|is|are|did|will|would(?! you)|could(?! you)|can(?! you)|has|have|how|what|why)\b|划算|值不值|还是",
    ANY_CASE,
)
"""A clause behind the first one asks."""

FLATNESS: Sequence[tuple[str, float]] = (
    (r"\bmaximally flat\b|\bbutterworth\b|最平坦|最大平坦|巴特沃[斯兹]", 0.7071), (r"\bbessel\b|贝塞尔", 0.5774),
)  # fmt: skip
"""What shapes of a response mean for the Q of two poles."""

MOVED_BY = re.compile(
    r"(?:(?P<less>\b(?:drop\w*|los[et]\w*|fall\w*|fell|shrink\w*|lower|less|smaller|low|down|decreas\w*|reduc\w*|degrad\w*))|\b(?:grow\w*|ris\w*|rose|gain(?:s|ed|ing)|higher|more|larger|up|increas\w*|high))\b[^.,;?!\d]{0,12}\d+(?:\.\d+)?\s*%"
    r"|\d+(?:\.\d+)?\s*%\s*(?:(?P<less2>low|lower|less|smaller|down|below)|(?:high|higher|more|larger|up|above))\b"
    r"|(?:(?P<less_zh>[掉低小少减跌]|下降|降低|减少|减小|变小|偏小|偏低)|(?:增|升|涨|大|高|偏大|偏高|增加|增大))[了到约大概]{0,2}\s*\d+(?:\.\d+)?\s*%",
    ANY_CASE,
)
"""A value told by how much it moves: "loses 15 %"."""

DRIVES = re.compile(
    r"\b(?:drive|driving|apply|feed|inject|with|input|send|use|try|put)\b.*\b(?:sin(?:e|us\w*)?|square|step|pulse)\b|(?:输入|加|给|用|激励).{0,16}(?:正弦|方波|阶跃|脉冲)",
    ANY_CASE,
)
"""Another signal is to be put to the input."""

BECOMES = re.compile(
    r"(?:会|将)?变[成为化]?(?:了)?多少|\bhow much (?:does|do|will|would)\b.{0,40}\b(?:change|move|drift|drop|fall|rise|shift)s?\b",
    ANY_CASE,
)
"""Asks what a quantity becomes, beside what it is."""

BETA = re.compile(
    r"(?:\b(?:beta|h_?fe|bf)\b|β|放大系数|电流增益)\s*(?:值)?\s*(?:[=≈~]|was|were|is|of|to|at|drops?|falls?|goes|only|just|about|around|down|up|只有|只剩|只|变为|变成|变|降到|降|掉到|为|是|到|有|约|大概|\s){0,8}(?P<value>\d+)(?!\s*(?:\.\d|%|to\b|~|-|到|至|\d))",
    ANY_CASE,
)
"""A current gain a transistor is to have."""

BARE_FREQUENCY = re.compile(
    r"(?<!switching )(?<!mains )(?<!signal )(?<!input )\bfreq(?:uency)?\b(?! response| range| sweep| domain)|(?<!开关)(?<!工作)(?<!信号)(?<!输入)频率(?!响应|特性|范围|扫|补偿)",
    ANY_CASE,
)
"""A frequency of which no more is said: the circuit's own."""

CAUSES = re.compile(
    r"\b(?:what|which|who)\b[^.?!]*?\b(?:limits?|determines?|sets?|dominates?|affects?|controls?|influences?|matters?|depends?)\b|\bwhy\b"
    r"|(?:主要)?(?:由|受|跟|和|与)?(?:什么|哪|谁)[^,，。?？]{0,12}(?:决定|限制|影响|有关)|取决于|为什么|为何",
    ANY_CASE,
)
"""Asks what something hangs on."""

CORNERS = re.compile(
    r"\b(?:slow|fast|typical|hot|cold|worst)(?:[- ](?:slow|fast))? corner\b(?! freq)|[快慢]角|\b(?:(?:process|pvt|temperature|temp|voltage|supply|worst|all|every|over|across|at|the|run) )*"
    r"(?:(?:process|pvt)[- ]corners?(?: (?:analysis|simulation|sweep|run)s?)?|corners\b(?: (?:analysis|simulation|sweep|run)s?)?"
    r"|corner (?:analysis|simulation|sweep|run)s?)|\b(?:ss|tt|ff)[ ,/、和]+(?:ss|tt|ff)\b|\bpvt\b"
    r"|(?:各个?|全部|所有|三个|五个)?(?:工艺|PVT|温度|电压|极限)?(?<!直)(?<!拐)(?<!直拐)(?:工艺|PVT)角|(?:工艺|PVT|温度|电压)?(?:角仿真|角分析|边角)|[\u3400-\u9fff]\s*corner",
    ANY_CASE,
)
"""Corners of process, supply and temperature; a "corner" alone is a frequency."""

_OR = r"\bor\b|还是|\bvs\b|\bversus\b"

STEPS_BACK = re.compile(
    r"(?:please |can you |now )*(?:(?:go|step|roll|take me) ?back|undo|revert|take back)(?: (?:the|my|these|those))?(?: (?:last|latest|previous))?"
    r" (?P<en>two|three|four|five|\d) (?:steps?|changes?|edits?|times)(?: back)?"
    r"|(?:请|帮我)*(?:撤销|撤回|回退|退回|还原|取消)(?:掉)?(?:最近|最后|前面?|刚才)?的?(?P<zh>[两二三四五]|\d)(?:步|次|个)(?:的)?(?:修改|改动|操作|更改)?",
    ANY_CASE,
)
"""The whole of a sentence that takes several changes back."""

INTENTS: Sequence[tuple[str, str]] = (
    ("steps_back", r""),
    ("undo",
     r"^(?=.{0,40}$)(?!.*\d)(?!.*[?？吗])(?:.*\b(?:undo|revert|roll ?back)\b.*|[^，,。]*(?:撤销|撤回|回退|还原)[^，,。]*)[。.!！\s]*$|^(?:please |now |ok,? |no,? )*(?:undo|revert|take back|roll back)(?: (?:that|it|this|(?:the|that|my|this)?\s?(?:last|latest|previous|most recent)?\s?(?:change|edit|step|modification|one|thing)s?))?(?: please| again)?[\s.!]*$|"
     r"^(?:请|麻烦|帮我|还是)*(?:把)?(?:撤销|撤回|回退|还原|取消)(?:掉)?(?:刚才|刚刚|上次|上一步|上一次|最后|一下|那个|这个|那次|这次)*的?(?:一[步次])?(?:修改|改动|操作|更改|变更)?(?:吧|了)?[。！\s]*$|^(?:还是|请|帮我)*(?:把)?(?:刚才|刚刚|上次|上一步|上一次|最后|那个|这个)*的?(?:一[步次])?(?:修改|改动|操作|更改)?(?:再)?(?:改回(?:去|来|原样)?|撤销|撤回|退回去?|恢复(?:原样|回去|原来的)?|还原)(?:掉|吧|一下|了)*[。！\s]*$|^(?:please |then |no,? )*(?:let's |can we |could you )?(?:go|change|put|set|switch|get|take|bring|restore)\b.{0,40}\b(?:back|restore)\b(?! (?:to )?\d).{0,12}(?:what|how|where|values?|before|previous|old|original|as (?:it|they) w|it was)|^restore (?:the )?(?:previous|old|original|last)|^(?:刚才?|刚刚)?(?:改|设)的?.{0,6}(?:不要了?|不算|作废|取消)(?:了)?[，,。\s]*(?:恢复|改回|还原|退回)?.{0,6}$|^(?:恢复|还原|改回|回到)(?:到|成)?(?:最开始|最初|初始|原状|原来|之前|以前|改之前|原先|修改前|上一[次个]).{0,6}$|\b(?:go|change it|put it|set it|switch) back (?:to )?(?:what it was|how it was|as it was|the (?:old|original|previous) (?:value|one))"),
    ("compare",
     r"^(?:和|跟|与|比).{0,8}(?:最初|第一次|一开始|原始).*比|\bcompare\b.*\b(?:runs?|simulations?|results?|before|previous|last)\b|\b(?:last|previous|latest) (?:two|2) (?:runs?|simulations?|results?)\b|\bhow (?:do|did)\b.*\b(?:runs|results|simulations)\b.*\b(?:differ|compare)\b|\b(?:better|worse|different|same) (?:than|from|as) (?:before|the last|last time|the previous)\b|\bwhat(?: has|'s| is| did| got)? (?:changed?|different)\b|\b(?:what|which)\b.{0,24}\b(?:did (?:i|we) change|(?:have|has) (?:i|we|been) changed|(?:i|we) changed|(?:were|was|got) changed)\b|\bdifferences? between\b.*\b(?:runs?|simulations?|results?)\b|\b(?:did|has|have)\b(?!.*\d).*\b(?:go(?:ne)?|got(?:ten)?|get|chang\w+|improv\w+|drop\w*|f[ae]ll\w*|ris\w+|risen|increas\w+|decreas\w+|mov\w+|shift\w*|become|worsen\w*|degrad\w+)\b(?: (?:up|down|better|worse|higher|lower|larger|smaller))?|\bbefore (?:and|vs\.?|versus|/) ?(?:after|now)\b|\bany (?:changes?|differences?|improvements?) (?:in|of|to)\b|\b(?:than|from|with|to|vs\.?|versus|against|since) (?:in |at |of |on )?(?:the )?(?:last|previous|earlier|prior|old|first) (?:run|simulation|result|one|time|sim)\b|\bold (?:and|vs\.?|versus) new\b|"
     r"(?:比较|对比|比一[比下]|对照).*(?:仿真|结果|运行|(?:最近|上|前|这|后|近)(?:两|2|二|几|一)?次)|(?:和|跟|与|比)上[一]?次.*(?:比|不同|区别|变化|差)|变了(?:什么|多少|哪些|没有?|吗|么)|改了(?:什么|哪些|啥|哪几)|(?:两|2|二)次(?:仿真|运行|结果)\S{0,4}(?:差|不同|区别|对比|比较)|(?:变[大小高低好差多少宽窄快慢]|升高|降低|提高|改善|恶化|增大|减小|上升|下降)了?(?:还是.{1,4})?(?:吗|没有?|么)[?？。]?$|有(?:什么|啥|哪些)(?:变化|不同|不一样|区别)|前后.{0,6}(?:比|变|差|不同|区别|对照)|(?:改|修改|调整)之?前(?:和|跟|与|、)?(?:改|修改|调整)?之?后|(?:前后|新旧|这|最近|最后)(?:两|2|二)次|(?:上|前|之前)[一]?次(?:仿真|运行|结果)?.{0,8}(?:高|低|大|小|好|差|多|少|变|比)了?|(?:上|前|最近|最后|这|后)(?:两|2|二)次.*(?:比|不同|不一样|区别|差|变)|(?:比|和|跟|与|较)(?:之前|以前|刚才|原来|上次|先前|改之?前|修改前|上一?次).*(?:比|不同|区别|变化|差|好|坏|变|[大小高低多少快慢宽窄]|增|减|改善|提高|下降|上升)"),
    ("supply_rejection", r""),
    ("dropout", r""),
    ("regulation", r""),
    ("load_step", r"\b(?:step\w*|jump\w*)\b|跳|突变|阶跃"),
    ("failure",
     r"\bwhy (?:did|does|do|has|is|was|won't|doesn't|didn't)\b.*\b(?:fail\w*|not (?:run|converge|work|simulate)|run|converge|simulate|errors?)\b|\bwhat went wrong\b|\bwhat(?:'s| is) wrong\b|"
     r"(?:报错|失败|不收敛|出错)了?.{0,8}(?:看看|怎么|为什么|原因|分析)|(?:为什么|为何|怎么).*(?:失败|不收敛|报错|出错|跑不[起动通]|仿真不了)|(?:失败|报错|不收敛|出错)的?原因|哪里(?:出错|错)"),
    ("set_goal",
     r"\b(?:set|add|define|make)\b.*\bgoals?\b|\bgoals?\s*:|"
     r"(?:设|加|添加|增加|定).*目标|目标\s*[:是为]"),
    ("check_goals",
     r"\b(?:goals?|specs?|specifications?|requirements?|targets?)\b.*\b(?:met|reached|fulfilled|satisf\w+|ok|passed|missed)\b|\b(?:meets?|fulfils?|check|pass(?:es)?)\b.*\b(?:goals?|specs?|requirements?|targets?)\b|"
     r"目标.*(?:达到|达成|达标|满足|完成|实现)|(?:达标|满足(?:要求|指标|目标))了?[吗么没]|是否(?:达标|满足)"),
    ("count",
     r"\bhow many\b|(?:(?<!哪)几|多少)[个只颗]|数量"),
    ("swap", r""),
    ("stimulus", DRIVES.pattern),
    ("driven",
     r"\b(?:for|at|from|of|given|when|under)\b.*\bsin(?:e|us\w*)?\b|正弦"),
    ("battery", r"\bbatter(?:y|ies)\b|\d\s*m?Ah\b|电池|毫安时"),
    ("clipping",
     r"\b(?:limits?|limiting|bounds?|restricts?|stops?)\b.{0,24}\b(?:swing|amplitude)\b|(?:限制|决定).{0,8}(?:摆幅|最大输出)|(?:摆幅|最大输出)\S{0,6}(?:受|被|由).{0,8}(?:限制|决定|限)|\bclip\w*|\b(?:largest|biggest|maximum|max|highest|most)\b.{0,24}\b(?:undistorted|clean|linear)\b|\b(?:undistorted|unclipped|clean)\b.{0,24}\b(?:largest|biggest|max\w*|swing|output|amplitude)\b|\bhow (?:large|big|high|far|much|hard)\b.{0,60}\b(?:before|until|without)\b.{0,24}\b(?:clip|distort|saturat|flatten|limit|hit\w* the rail|run\w* out)\w*"
     r"|\bhow (?:far|much)\b.{0,24}\bswing\b|\bhead-?room\b|\b(?:max\w*|largest|biggest|available|possible)\b.{0,16}\bswing\b"
     r"|削[波顶底平]|截幅|失真之?前|(?:最大|多大).{0,10}(?:不失真|无失真)|不失真.{0,10}(?:最大|多大|输出|输入|幅|摆)|(?:最大|能有多大的?).{0,6}(?:输出)?(?:摆幅|幅度)|动态范围"),
    ("plot",
     r"\b(?:plot|graph|chart|bode)\b|\b(?:draw|sketch)\s+(?:me|us|the|an?|out|v\()\b|\b(?:show|see|view|display)\b.{0,24}\b(?:waveforms?|curves?|traces?|response plot|frequency response)\b|画|绘|(?:看|显示|给|(?<!输)出).{0,12}(?:曲线|波形图?|频率?响应)|(?:曲线|波特|伯德|波形)图"),
    ("other_beta", BETA.pattern),
    ("what_if", rf"{HYPOTHESIS.pattern}|\bshort(?:s|ed|ing)?\b|短[路接]|[漏没][装焊]|{BECOMES.pattern}|{CARRIES.pattern}|{INSTEAD.pattern}|{MOVED_BY.pattern}|\b(?:remove|take out|leave out|disconnect|unsolder|without)\b|去掉|拿掉|拆掉|断开|开路|不接"),
    ("either", _OR),
    ("losses",
     r"\bwhere\b.*\b(?:loss(?:es)?|lost|lose|power (?:go|goes)|heat|wasted)\b|\bloss(?:es)? (?:breakdown|budget|split|distribution)\b|\b(?:which|what) (?:part|component|element|one|of|resistor|transistor|diode|device)s?\b.*\b(?:loss|dissipat\w*|burn\w*|hott(?:er|est)|most power|wastes?|heat)\b|\bbreak ?down\b.*\bloss|\b(?:main|biggest|largest|greatest|major|top|dominant) (?:contributors?|sources?|causes?|parts?|share)\b.{0,12}\b(?:loss(?:es)?|heat|dissipation|power)\b|(?:损耗|损失).{0,6}(?:哪|谁|分布|在什么)|(?:哪|谁).{0,8}(?:损耗|发热|最热|耗散)"),
    ("find_part",
     rf"^(?:i (?:need|want|would like) )?(?:an? |the |some )?(?:{'|'.join(pattern for pattern, _ in TRAITS)})\W*(?:的)?(?:{'|'.join(pattern for pattern, _ in PARTS)})|^(?:list|show)\b(?!.*\b(?:circuit|netlist|file|here|my|this)\b).*\b(?:have|all|available|your|librar\w+|models?)\b|\b(?:data|datasheet|specs?|pinout|pins) (?:of|for)\b|^(?:an? |some )?(?:small[- ]signal |power |fast |n-?channel |p-?channel )?(?:npn|pnp|nmos|pmos|mosfets?|op-?\s?amps?|opamps?|zeners?|schottky|rectifier diodes?|diodes?|transistors?)\b(?!.*\b(?:regulator|amplifier|follower|mirror|oscillator|buffer|source|stage|switch|circuit|filter|converter|comparator|driver|gain|mirror|pair|inverter)\b).*\d|^(?=\S*\d)[A-Za-z0-9]+\s*的?(?:参数|资料|手册|引脚|数据)|^[-\d.]+\s?[a-z]+\s*(?:的)?(?:zener(?: diode)?|schottky(?: diode)?|(?:npn|pnp)(?: transistor)?|稳压(?:二极)?管|齐纳(?:二极)?管|肖特基(?:二极管)?|三极管)$|"
     r"\b(?:find|which|what|any|anything|something|alternatives?|substitutes?|replacements?|equivalents?|do you have|is there|are there|list|recommend|suggest|look for|search)\b|"
     r"(?<!没)找(?!不到)|有没有|有哪些|有什么|推荐|替代|代换|哪些|哪种|库里|有.*[吗么]"),
    ("corners", CORNERS.pattern),
    ("monte_carlo",
     r"monte[ -]?carlo|\bmc\b|"
     r"\bspread\b|%.*\b(?:vary|variation)\b|分散性|离散|蒙特卡[洛罗]|\byields?\b|\bhow many\b.*\b(?:stay|pass(?! ?(?:transistor|device|element|fet|mosfet|band))|fall|meet|are|remain|lie)\b|良率|成品率|合格率|良品率"),
    ("worst_case",
     r"worst[ -]?case|\bat worst\b|\bworst\b.*\b(?:could|can|may|might)\b|(?<!cut )(?<!cut-)(?<!roll )(?<!turn )\boff by\b|\btoleranc\w+ (?:analys[ie]s|stud(?:y|ies)|simulations?|runs?|check|sweep)\b|(?:公差|容差)(?:分析|仿真)|"
     r"最坏(?:的)?情?况?|最差(?:的)?情?况?|最不利|极限情况|(?:差|偏差?|误差|变化|波动)(?:了|各|都|有|是)?\s*[±正负]*\d+(?:\.\d+)?\s*%.{0,12}(?:影响|变|差|偏)"),
    ("heat",
     r"°|degrees|temperature|\b(?:hot and cold|cold and hot)\b|高低温|(?<![\d.])-\d+\s?(?:to|到|至|~)\s?\d+(?![\d.]*\s?[a-z%])|"
     r"温度|温漂|\d\s*度|-?\d+\s?(?:to|到|至|~)\s?-?\d+\s?c(?![a-z])"),
    ("listed", r"^\W*(?:step|sweep|try)\b(?:\s+\S+){3,}|[从由]\s*[\d.]+\s?\w*\s*[换改]|\d\s?\w*\s*(?:[,、/]|and|or|和|与)\s*-?\d"),
    ("sweep",
     rf"{WHOLE_BETA.pattern}|{OVER_LOAD.pattern}|"
     r"\b(?:versus|vs|as a function of)\b|随|\bsweep\b(?! analysis)|^how\b.*\bfrom\b.+\bto\b|\b(?:step(?!\s+(?:response|size|load))|vary)\b|"
     r"扫描|扫一?下|扫参|扫到|从.{1,12}扫|从.{1,16}(?:变化?|增|降|升|改|加|减|调)[到至成]|\b(?:var(?:y|ies|ied)|goes|going|moves?|chang\w+|range\w*|swing\w*|anywhere|anything) (?:anywhere )?(?:from|between)\b"),
    ("conduction",
     r"\b[cd]cm\b|\b(?:dis)?continuous (?:conduction|mode)|(?:连续|断续)(?:导通|导电|模式|电流)|[连断]续(?:的)?(?:模式|状态|还是)"),
    ("advice", ADVICE.pattern),
    ("improve",
     r"^(?:please |now |can you |could you |help me |let's )*(?:increase|raise|improve|lower|reduce|decrease|boost|widen|maximi[sz]e|minimi[sz]e|optimi[sz]e)\b|^(?:请|帮我|能不能)*(?:把)?[^，。?？]{0,10}(?:提高|降低|增大|减小|改善|加宽|拓宽)(?:一点|一些|一下|点)?[。！]?$"),
    ("tune",
     r"^(?:please |now |can you )*bias\b|^(?:please |now |can you |could you )*(?:double|halve|cut|triple)\b|减半|翻一?倍|加倍|降(?:低|到)?一半|^(?!.*(?:多少|几|吗|怎么|什么|如果|负载|温度|[?？,，;；。])).{0,16}(?:(?:增加|提高|降低|减小|减少|增大|加大|升高|下降)[了约]?\s*[\d.]|(?:要|得|该)(?:是|为|到|有)?\s*[-\d.])|^(?!.*\b(?:from|at|what|how|is|was|within|between|sweep|step|go|back|compare\w*|relative|respect|due|close|down|up|load|temp\w*)\b)[a-z0-9][\w -]{1,30}\bto\s+[-\d.]+\s*\S{0,6}(?: please)?[\s.!]*$|^[^=?？,，]{1,30}=\s*[-\d.]+\s*[^\s=]{0,6}(?: please)?[\s.!]*$|\b(?:find|give|tell)\b.{0,16}\bvalue (?:of|for) \w+ (?:that|which|for|to|so)\b|\bwhat (?:should|must|would|does|will) \w+ (?:have to |need to )?be\b|压到|稳(?:定)?[到在]|\b(?:make|set|change|get|bring|adjust|tune|optimi[sz]e|reduce|lower|decrease|increase|raise|want|need|should be|must be|move|shift|push|put|tweak|trim|scale|bump|pick|choose|select|adapt|size|retune|like)\b|想要?|需要|选|"
     r"改[成为到]|调[到成为整]|优化|降[到至低]|提[高到]|升[到高]|使|达到|设[为成到]|变[成为]|减小到|增大到|做到|控制在|压到|降下来|取多|\b(?:what|which) (?:value|size)|调\S{0,8}[,，]?(?:让|使|把)|(?:让|使得?|把).{1,16}(?:等于|正好|刚好|为|是|在)|不(?:要)?(?:超过|低于|高于|小于|大于)|\bdoes (?:\w+ )?(?:need|have) to\b|\bso (?:that )?(?:it|the|v|i)\b.*\b(?:is|comes?|becomes?|gets?)\b|\bdown to\b|\bbelow\b|\babove\b|\bget(?:s|ting)?\b"),
    ("limits",
     r"\b(?:what|which|who)\b.*\b(?:hurts?|degrades?|spoils?|kills?|drives?|ruins?|costs?|shapes?|harms?|(?<!has )worsens?)\b|\b(?:dominant|main|key|critical|biggest|strongest|most important|limiting) (?:part|component|element|factor|resistor|cap\w*|cause|reason|contributor|influence)s?\b|\b(?:what|which|who)\b.*\b(?:limit\w*|determin\w*|decid\w*|dictat\w*|defin(?:es|ing)|fix(?:es|ing)|sets?|setting|dominat\w*|affect\w*|control\w*|influenc\w*|govern\w*|restrict\w*|constrain\w*|hold(?:s|ing)? back|contribut\w*|depends?|responsible)\b|\bwhy (?:is|are)\b.*\b(?:low|high|small|large|poor|bad|narrow|big|noisy)\b|\bhow (?:can|do|could|would|should|to)\b.*\b(?:increase|raise|improve|reduce|lower|decrease|widen|get|make|extend)\b|\b(?:what|which)\b.*\b(?:influences?|effects?|impact|matters?|cause\w*|sensitive|strongest|critical|biggest|main)\b|\bwhich\b.*\b(?:most|strongest|best|damp\w*|helps?)\b|\bwhy\b|\bwhere does\b.*\b(?:come from|lose|lost)\b|\bwhich\b.{0,40}\bnoise\b|\bcontribut\w*.{0,16}\bnoise\b|\bwhat (?:\w+ )?(?:dominat|contribut|caus|mak)\w*.{0,24}\bnoise\b|\bnoise\b.{0,30}\b(?:from|contribut\w*|dominat\w*|due to)|噪声.{0,12}(?:主要|来自|来源|贡献|哪)|(?:哪|谁|什么).{0,14}噪声.{0,6}(?:贡献|最大|主要)|\b(?:reason|cause|explanation) (?:for|of|why)\b|\bsensitiv\w+\b|\bwhere (?:does|did|has|is) (?:the|my|all)\b.{0,24}\b(?:go(?:es|ne|ing)?|lost)\b|\bbottleneck\b|\bdepends? (?:on|most)\b|"
     r"什么.*(?:限制|决定|影响)|受.*(?:限制|影响|制约)|由.*决定|谁.*(?:影响|决定|限制)|对.{1,20}影响|影响.{0,4}(?:大|多大)|哪[些个].*(?:影响|决定|限制)|(?:限制|影响|决定).*的?(?:因素|是什么|是哪)|瓶颈|取决于|灵敏度|敏感|为(?:什么|何|啥)|怎么(?:这么|那么|还|会|才|只有|总)|原因|(?:主要|关键)(?:是|由|靠|看)|跟?(?:谁|哪个|哪些|什么)(?:元件|电阻|电容|参数)?(?:有关|关系(?:最)?大)|(?:怎样|怎么|如何).*(?:提高|增大|增加|降低|减小|改善|加宽|拓宽|扩展|展宽)"),
    ("across",
     r"\bvoltage (?:across|over|on|at)\b|\bacross\b|两端.{0,6}电压|压降|承受.{0,4}电压|耐压|上的.{0,4}电压"),
    ("output_impedance",
     r"\boutput (?:impedance|resistance)\b|\bz_?out\b|\br_?out\b|输出(?:阻抗|电阻)"),
    ("point",
     r"\b(?:voltages? (?:at|of|on) (?:all|every|each)|all (?:of )?(?:the )?(?:node |dc )*voltages|(?:every|each) node|node voltages|dc (?:node )?voltages|bias voltages)\b|(?:各个?|所有|全部|每个)的?节点.{0,4}电压|节点电压|\bsaturat\w*(?! current)|\b(?:in|is|are)\b.*\b(?:active|triode|linear|cut-?off|conducting|turned (?:on|off)|(?:on|off)(?=\s*(?:[?.,!]|$|or\b|at\b|when\b|all\b|now\b)))\b(?! frequency)|\bheadroom\b|\boperating (?:point|region)s?\b|\bbias(?:ed| point)\b|\bq-?point\b|\bwhich region\b|\bregion\b|"
     r"饱和(?!电流)|导通|截止(?!频率)|工作点|工作(?:在|于|区|状态)|静态(?!电流|功耗)|放大区|线性区|什么区"),
    ("terminal",
     r"\b(?:collector|emitter|base|drain|gate)(?:[- ](?:emitter|source))?\s(?:voltage|current)s?\b|\bvoltage (?:at|on|of) (?:the |its )?(?:collector|emitter|base|drain|gate|source)\b|\bcurrents?\b.{0,24}\b(?:collector|emitter|base|drain|gate)\b|(?<![A-Za-z0-9_])(?:v(?:ce|be|cb|ds|gs|c|b|e|d|g)|i(?:c|b|e|d)|gm|gds|vth|vdsat|vov)(?![A-Za-z0-9_(])|"
     r"跨导|阈值电压|过驱动|集电极|发射极(?!电阻|电容)|基极|漏极|栅极"),
    ("role",
     r"\bwhy\b.*\b(?:there|needed|used|need|have)\b|\bwhat(?:'s| is| does| do| are)?\b.*\b(?:do(?! to\b| (?:i|we|you)\b)|does(?=\s*(?:[?.!,]|$|in\b|here\b))|doing|for(?=\s*(?:[?.!,]|$|in\b|here\b|there\b))|role|purpose|function)\b|\b(?:role|purpose|function|job) of\b|\bwhy is there\b|\b(?:explain|describe)\b(?! (?:how|why))|"
     r"干[什嘛]么?|作用|用途|用来|做什么|有什么用|起什么"),
    ("supply",
     r"\b(?:which|what)\b.*\b(?:supply|supplies|rails?)\b(?! current)|\bsupply voltages?\b|"
     r"(?:电源|供电)(?:电压)?(?:是|有|多|为|用|[?]|$)|(?:哪|什么).*(?:电源|供电)"),
    ("ports",
     r"\b(?:which|what|where)\b.*\b(?:node|net|terminal|pin)\b.*\b(?:in|out)puts?\b|\b(?:which|what|where)\b.*\b(?:in|out)puts?\b.*\b(?:node|net)\b|\bwhere is the (?:in|out)put\b|"
     r"(?:输入|输出).*(?:哪个?|什么)(?:节点|端|点)|哪个?(?:节点|端|点)?是?.*(?:输入|输出)(?:端|节点)?|(?:输入|输出)(?:节点|端)(?:是|在)"),
    ("quantities", r""),
    ("switching", r""),
    ("duty", r"\bduty\b|占空比"),
    ("power",
     r"\bpower\b|\bdissipat\w*|\bloss(?:es)?\b|\bburn(?:t|s|ed|ing)?\b|\bwatts?\b|\bhot\b|"
     r"功耗|功率|耗散|发热|损耗"),
    ("current",
     r"\bcurrents?\b|"
     r"电流|耗电"),
    ("voltage",
     r"\bv\(|\bvoltages?\b|\bnode \w+ (?:at|sit\w* at)\b|"
     r"电压|电位"),
    ("node",
     r"\bwhat(?:'s| is)?\b.*\b(?:node|net)\b(?!.*\bvoltage\b)|\bconnect\w*\b|"
     r"节点.*(?:是什么|是干|连|接)|(?:连|接)(?:了|着|到)?(?:哪|什么)"),
    ("scatter", r"%"),
    ("figure",
     r""),
)  # fmt: skip
"""In the order in which they are looked for; the last one fits any sentence."""

_CIRCUIT = r"(?:circuit|netlist|schematic|filter|amp(?:lifier)?|op-?amp|oscillator|converter|regulator|supply|stage|thing|design)"
EXPLAIN = re.compile(
    rf"\b(?:tell me about|talk me through|summari[sz]e|explain|describe)\b (?:this|the|my|that) {_CIRCUIT}\b|\b(?:explain|tell me|describe) how (?:it|this|that|the \w+) (?:works?|oscillates?|amplifies|filters?|regulates?|converts?)\b|"
    r"\b(?:explain|describe|analy[sz]e)\b[^.?!]*\b(?:this|the|my) (?:circuit|netlist|schematic)\b"
    r"|\bwhat (?:does|is) (?:this|the|my) (?:circuit|netlist)(?: do(?:ing)?| for)?\s*\??\s*$"
    r"|\bhow does (?:this|the|my) circuit work\b|\bwh?at does (?:this|the|my) circ\w+ do\b"
    r"|\b(?:does|is|do) (?:this|it|everything|the circuit)\b[^.?!]*\b(?:ok|okay|right|fine|correct)\b"
    r"|(?:电路|网表|设计).{0,4}(?:有没有|有什么|有)(?:什么)?问题|(?:电路|网表).{0,4}对不对"
    r"|(?:这|该)个?(?:电路|网表)(?:图)?(?:是|有|的)?(?:干什么|干嘛|做什么|什么电路|什么用|什么作用|作用|原理|功能)"
    r"|(?:解释|分析|说明|讲解|讲|介绍)(?:一下)?(?:下)?(?:这个|该|当前|我的|一?下)*(?:电路|网表)"
    r"|(?:每个|各个?|所有|全部|这些)(?:的)?(?:元件|器件|零件|电阻电容|部分)(?:分别|各自|都)?(?:的?作用|起|有|是|干|做)"
    r"|\b(?:what|explain|describe)\b[^.?!]*\b(?:each|every|all(?: of)? the|all these|the individual) (?:part|component|element|resistor|device)s?\b(?![^.?!]*\b(?:power|current|voltage)\b)"
    r"|(?:几阶|什么类型|哪种类型|什么结构|什么拓扑)|\bwhat (?:kind|type|sort|order) (?:of (?:filter|circuit|amplifier|converter) )?is (?:this|it)\b|\bwhich (?:topology|kind of circuit)\b"
    r"|(?:这个?|该|本)(?:电路|网表|滤波器|放大器|振荡器|稳压器|变换器|电源)(?:图)?是?(?:怎么|如何|怎样)(?:工作|运作|运行)的?"
    r"|\bwalk me through\b|\bhow (?:does|do) (?:it|this thing|this stage|that) work\b",
    ANY_CASE,
)
"""Asks what the circuit is that is meant when none is named."""

CLAUSES = re.compile(
    r"(?<=[.?!:])\s+|(?<=[A-Za-z])\s+[-–—]+\s+(?=[A-Za-z])|[。？！；]\s*|[,;，]\s*(?:(?:and then|and|then|so|but|maybe|perhaps|also|now)\s+)?|\s+(?:and then|and|then)\s+"
    r"|\s*(?:然后|接着|并且|顺便|(?<=[\u3400-\u9fff\w])再(?=[看测跑算仿])|(?<=[\u3400-\u9fffA-Za-z0-9])看看?(?=.{2}))\s*",
    ANY_CASE,
)

TIMES_NOW = re.compile(
    r"\b(?P<twice>(?i:double|twice))\s+(?:the (?:value of )?)?(?P<a>[A-Z]\w{0,6})\b|\b(?P<half>(?i:halve|half))\s+(?:the (?:value of )?)?(?P<b>[A-Z]\w{0,6})\b"
    r"|(?P<c>[A-Z]\w{0,6})\s*(?:的值)?(?:翻一?倍|加倍|加大一倍|增大一倍|翻番)|(?P<d>[A-Z]\w{0,6})\s*(?:的值)?(?:减半|减(?:小|少|掉)?一半|降低?一半|变为一半)"
)
"""A value against the one that is there."""

SWAPS = re.compile(
    r"\b(?:swap\w*|replac\w*|chang\w*|us(?:e|ing)|put|substitut\w*|try|switch\w*)\b|换|改用|替换|改成|用",
    ANY_CASE,
)

SHAPES: Sequence[tuple[str, str]] = (
    (r"\bsin(?:e|us\w*)?\b|正弦", "sine"), (r"\bsquare\b|方波", "square"), (r"\bstep\b|阶跃", "step"), (r"\bpulse\b|脉冲", "square"),
)  # fmt: skip

TIMES_A_FIGURE = re.compile(
    r"(?P<count>\d+(?:\.\d+)?|ten|two|three|five|half|twice|a decade above|one decade above|an octave above)\s*(?:times|x|倍)?\s*(?:the|of|its)?\s*(?:the\s*)?$"
    r"|(?P<zh>十|[两二三四五]|\d+)倍\s*$",
    ANY_CASE,
)

SEVERAL_KINDS = re.compile(
    r"(?P<kinds>(?:[^,，。;；\d%]{0,12}?(?:resist\w*|capacit\w*|caps?\b|induct\w*|coils?\b|电阻|电容|电感)){2,3})[^,，。;；\d%]{0,12}$",
    ANY_CASE,
)

SEVERAL_BEHIND = re.compile(
    r"\s*(?:tolerances?|的)?\s*(?:on|for|of|in)?\s*(?:both|all)?\s*(?:the\s+)?(?P<kinds>(?:resist\w*|capacit\w*|caps?\b|induct\w*|coils?\b|电阻|电容|电感)\s*(?:and|&|和|与|、)\s*(?:resist\w*|capacit\w*|caps?\b|induct\w*|coils?\b|电阻|电容|电感))",
    ANY_CASE,
)

COUNTS = {"ten": 10.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "half": 0.5, "twice": 2.0, "a decade above": 10.0, "one decade above": 10.0,
           "an octave above": 2.0, "十": 10.0, "两": 2.0, "二": 2.0, "三": 3.0, "四": 4.0, "五": 5.0}  # fmt: skip

CAPACITY = re.compile(r"(?P<size>\d+(?:\.\d+)?)\s*(?P<milli>m(?=Ah)|毫(?=安时))?\s*(?:Ah\b|安时)", ANY_CASE)
"""The charge of a battery."""

OVER_FREQUENCY = re.compile(
    r"\bbode\b|\bfrequency\b|\bresponse\b|\bspectrum\b|幅频|相频|频率|频响|波特|伯德", ANY_CASE
)
"""A curve over frequency, not time."""

OF_BIAS = re.compile(
    r"\bbias(?:ing|ed)?\b|\b(?:operating|quiescent|q)[- ]?point\b|偏置|工作点|静态", ANY_CASE
)
"""Speaks of how the transistors stand without a signal."""

WITHIN_DB = re.compile(
    r"(?:\bwithin|±|\+/-|\binside|不超过|偏差|误差|变化|在)\s*(?:±|\+/-)?\s*(?P<room>\d+(?:\.\d+)?)\s*db\s*(?!\w)(?:以内|之内|内)?",
    ANY_CASE,
)
"""How far a figure in decibels may go."""

OF_KIND_BEHIND = re.compile(
    r"\s*(?:的)?\s*(?P<kind>resistors?|res|capacitors?|caps?|inductors?|coils?|chokes?|电阻|电容|电感)(?![A-Za-z\u3400-\u9fff]*(?:误差|公差))",
    ANY_CASE,
)
"""Behind a value that a part of this kind has: "a 47 uH inductor"."""
KIND_LETTERS = {"r": "r", "c": "c", "i": "l", "l": "l", "电阻": "r", "电容": "c", "电感": "l"}

SUPPLIES = r"(?:input|supply) voltage|\binput(?= from)|(?:输入|电源|供电)电压|输入(?=从)|\bv_?(?:in|cc|dd)\b|\bsupply\b"

TERMS = re.compile(
    r"(?<!gain )\bat dc\b|\bswitching frequency\b|开关频率|\b(?:cmrr|psrr|common[- ]mode (?:rejection|gain|range|input range)(?: ratio)?|(?:power[- ])?supply rejection(?: ratio)?|input common[- ]mode range|icmr)\b"
    r"|(?<!low )(?<!low-)\b(?:input |output )?offset(?: voltage| current)?s?\b|\b(?:right|left)[- ]half[- ]plane (?:zero|pole)s?\b|\bRHP zeros?\b"
    r"|\b(?:full|rated) load\b|满载|额定负载|\bdrop-?out(?: voltage)?\b|\b(?:line|load) regulation\b|\bundershoots?\b|\bstarts? up (?:by itself|on its own)\b|\binrush(?: current)?\b"
    r"|\bjitter\b|\bphase noise\b|\b(?:snr|sinad|enob|sfdr|inl|dnl|vswr|swr|s-?parameters?|imd|ip3|oip3|iip3|emi|emc|mtbf)\b|\bnoise figure\b|\bintermodulation\b|\breturn loss\b|\binsertion loss\b"
    r"|\bjunction temperature\b|\bthermal resistance\b|\breverse recovery\b|\bhysteresis\b|\bcrest factor\b|\bband-?gap\b|\bcrosstalk\b"
    r"|共模抑制比?|电源抑制比?|共模(?:输入)?(?:范围|电压范围)|失调(?:电压|电流)?|[左右]半平面零?极?点|压差|跌落电压|(?:线性|负载|电压)调整率|下冲|欠冲|浪涌(?:电流)?"
    r"|\b(?:first|second|third) stage\b|第[一二三]级|首级|末级|抖动|相位噪声|信噪比|无杂散|驻波比?|噪声系数|互调|三阶|插入损耗|回波损耗|结温|热阻|反向恢复|迟滞|回差|带隙|串扰|谐振腔",
    ANY_CASE | re.ASCII,
)
"""What the trade asks about a circuit and nothing here measures."""

SUPPLY_REJECTION = re.compile(r"psrr|supply rejection|电源抑制", ANY_CASE)
"""Of the terms the one that is measured where nothing else is asked."""

NAMES_A_THING = re.compile(
    r"\s*(?:(?:power )?rail|bus|line|output|电源轨|母线|轨)\b|\s*m?Ah\b|\s*安时", ANY_CASE
)
"""Behind a quantity by which a thing is called: "the 5 V rail"."""

DROPOUT = re.compile(
    r"\bdrop-?out(?: voltage)?|压差|跌落电压|(?:输入|电源|供电)(?:电压)?(?:最低|最小|低|降)到?(?:多少|多低|哪).{0,12}(?:稳|正常|工作|维持|调整)"
    r"|\b(?:lowest|minimum|min) (?:input|supply|v_?in)\b|\bhow low can (?:the )?(?:input|supply|v_?in|vcc|vdd)(?: voltage)? (?:go|be|get|drop|fall|sag)",
    ANY_CASE,
)

QUIESCENT = re.compile(
    r"\b(?:quiescent|ground|no-?load|idle|standby) (?:current|power)|静态(?:工作)?电流|静态功耗|待机|空载电流|接地电流",
    ANY_CASE,
)
"""What a regulator takes for itself."""

SWITCHING = re.compile(r"switching frequency|开关频率", ANY_CASE)

REGULATION = re.compile(r"(?P<line>line regulation|(?:线性|电源)调整率)|load regulation|负载调整率", ANY_CASE)

UNDERSHOOT = re.compile(r"undershoot|下冲|欠冲", ANY_CASE)

EVENTS = re.compile(
    r"\b(?:load (?:step|transient|jump)s?|soft[- ]?start\w*|mismatch\w*|dead[- ]?time)\b|软启动|失配|死区"
    r"|负载(?:阶跃|跳变|瞬态)|负载[^,，。;；?？]{0,14}?(?:跳|突变|突然)|(?:突然|突变)[^,，。;；?？]{0,6}负载|\bload (?:suddenly )?(?:steps|jumps)\b|\bstep(?:ping|s)? (?:the )?i?load\b",
    ANY_CASE,
)
"""What cannot be done here to a circuit: an answer that leaves it out is none."""

KINDRED: Sequence[frozenset[str]] = (
    frozenset({"cutoff", "bandwidth", "upper_cutoff"}), frozenset({"cutoff", "bandwidth", "lower_cutoff"}),
    frozenset({"gain", "dc_gain"}), frozenset({"noise", "input_noise"}), frozenset({"vout", "swing"}),
    frozenset({"ripple", "inductor_ripple"}), frozenset({"peaking", "quality"}), frozenset({"gain", "peaking"}),
)  # fmt: skip
"""Figures of which one's words may mean the other."""

FILLER = frozenset({
    "this", "that", "thats", "these", "those", "there", "here", "then", "than", "them", "they", "its", "it's", "i'm", "i'd", "i've", "i'll", "you're",
    "we're", "don't", "doesn't", "isn't", "aren't", "can't", "won't", "didn't", "let's", "what's", "and", "but", "not", "nor", "for", "from", "into",
    "onto", "with", "about", "also", "too", "very", "really", "actually", "just", "only", "even", "still", "already", "again", "once", "now", "please",
    "thanks", "okay", "yes", "sure", "maybe", "perhaps", "some", "any", "all", "each", "every", "both", "either", "one", "two", "three", "four", "few",
    "bit", "lot", "lots", "more", "less", "most", "least", "much", "many", "like", "say", "says", "said", "think", "know", "see", "look", "looks", "need",
    "want", "wants", "take", "takes", "give", "gives", "get", "gets", "got", "let", "keep", "put", "use", "using", "used", "work", "works", "try", "run",
    "runs", "running", "mean", "means", "seem", "seems", "sits", "sit", "sitting", "stay", "stays", "end", "ends", "side", "part", "parts", "thing", "things",
    "way", "rest", "own", "other", "others", "same", "new", "old", "first", "second", "last", "next", "near", "far", "well", "fine", "good", "bad", "real",
    "right", "left", "wrong", "whole", "full", "half", "alone", "away", "out", "off", "over", "under", "up", "down", "before", "after", "while", "since",
    "because", "so", "such", "per", "via", "plus", "minus", "percent", "ohm", "ohms", "hertz", "volt", "volts", "amp", "amps", "cycles", "cycle", "periods",
    "period", "seconds", "times", "decade", "octave", "degrees", "instead", "rather", "expect", "expected", "assume", "assuming", "roughly", "exactly",
    "nominal", "ideal", "standard", "available", "possible", "my", "our", "your", "his", "was", "were", "been", "being", "has", "have", "had", "did", "does",
    "done", "will", "would", "could", "should", "must", "might", "may", "can", "who", "whom", "whose", "which", "what", "when", "where", "why", "how",
    "the", "are", "is", "am", "be", "to", "of", "in", "on", "at", "as", "by", "if", "or", "no", "it", "we", "you", "me", "us", "someone", "something",
    "anything", "everything", "nothing", "hand", "bench", "board", "actual", "final", "little", "quite", "pretty", "fairly", "handle", "steps", "step",
    "change", "changes", "drop", "drops", "rise", "rises", "fall", "falls", "vary", "varies", "move", "moves", "shift", "shifts", "drift", "drifts", "swing", "sweep", "它", "好一点", "好点", "好些", "一点", "stop", "stops", "bring", "kick", "itself", "hurt", "hurts", "matter", "matters", "worth", "going", "goes", "come", "comes", "turn", "turns", "time",
})  # fmt: skip
"""Words that say nothing of a circuit."""
