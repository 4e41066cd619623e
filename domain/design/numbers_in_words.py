"""Numbers and measures said in words, in figures: "two and a half kilohms", "五十赫兹", "once a second"."""

from __future__ import annotations

import re
import unicodedata

GAIN_OF = re.compile(r"gain (?:of )?$", re.IGNORECASE)
_RANGE_IN_WORDS = re.compile(
    r"(?:介于|在)?\s*(?P<low>[-+]?\d[\d.]*\s*[a-zA-ZμΩ%]{0,4})\s*[到至和与~-]\s*"
    r"(?P<high>[-+]?\d[\d.]*\s*[a-zA-ZμΩ%]{0,4})\s*之间"
)
"""A Chinese range in words."""
_DIGITS = dict(zip("零〇一二两三四五六七八九", (0, 0, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9), strict=True))
_TENS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_RUN = re.compile(
    r"(?P<percent>百分之)?(?P<number>[零〇一二两三四五六七八九十百千万]+(?:点[零〇一二三四五六七八九]+)?)"
    r"(?P<unit>\s*(?:阶|路|通道|输入(?!端|级|电|阻|信|直|交|为|是|要)|"
    r"个?元件|(?<!一)[个种](?=[^\d,;。]{0,6}(?:信号|音源|声源|话筒|麦克风|传感器))|"
    r"兆(?![赫欧瓦分])|k(?![a-zA-Z])|分钟|小时|[个只颗](?=.{0,4}(?:led|LED|发光|灯))|倍(?!频)|极点|[皮纳奈微毫千兆吉kMGmunpμ]?(?:赫|伏|安|欧|法(?!兰)|"
    r"(?<!一)度(?=[^\d,;。]{0,3}(?:相位|裕|以|到|至|$|[,;。]))|亨|秒|瓦|分贝|Hz|HZ|hz|dB|V|A|Ω|F|H))?)"
)
_ENGLISH_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90, "hundred": 100, "a": 1, "half": 0.5,
}  # fmt: skip
_ENGLISH_RUN = re.compile(
    r"(?<!\d )(?<!\d)\b(?P<first>"
    + "|".join(_ENGLISH_NUMBERS)
    + r")(?:[ -](?P<scale>hundred|thousand|million))?"
    r"(?=[ -]?fold(?![a-z])|[ -](?:[a-z]+[ -])?(?:signals|channels|inverters|resonators)(?![a-z])|"
    r"[ -](?:[a-z]+ )?(?:blinks|flashes|pulses|cycles) (?:a|per|each) |[ -]watts?(?![a-z])|"
    r"[ -]times(?! the (?:\w+[ -])?(?:corner|cut|frequency|band|resonan))(?= (?:as|more|the)|[ ,.;]|$)|"
    r"[ -](?:kil|meg)ohm|[ -](?:k|meg|[mμunpk](?:a|v|w|f|h|s))(?![a-z])|"
    r"[ -](?:kilo|mega|milli|micro|nano|pico)?(?:hertz|hz|khz|mhz|volts?|amps?|amperes?|ohms?|"
    r"farads?|henr|inputs?(?![a-z])|(?:white |red |blue |green )?leds?(?![a-z])|"
    r"channels?|degrees?(?![a-z])|minutes?(?![a-z])|"
    r"seconds?(?![ -](?:order|degree|stage))|decibels?|db|percent|"
    r"times (?:big|larg|high|great|strong|loud|as|more)))",
    re.IGNORECASE,
)
_TENS_AND_ONES = re.compile(
    r"\b(?P<tens>twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)[ -]"
    r"(?P<ones>one|two|three|four|five|six|seven|eight|nine)(?![a-z])",
    re.IGNORECASE,
)
_DIGIT_WORD = "one|two|three|four|five|six|seven|eight|nine"
_POINT = re.compile(
    rf"\b(?P<whole>{_DIGIT_WORD}|ten|twelve|fifteen)[ -]point"
    rf"(?P<decimals>(?:[ -](?:{_DIGIT_WORD}))+)(?![a-z])",
    re.IGNORECASE,
)
"""`one point five`."""
_COUNTED = re.compile(
    r"\b(?:(?P<number>two|three|four|five|six|seven|eight|nine|ten)(?=[ -](?:[a-z]+[ -]){0,2}(?:signals|"
    r"sources|microphones|mics|tracks|pickups|elements?|inputs?)(?![a-z]))|"
    r"(?P<fold>dual|triple|quad)(?=[ -](?:inputs?|channels?)(?![a-z])))",
    re.IGNORECASE,
)
"""How many of what a circuit joins: "three audio sources", "quad input"."""
_FOLDS = {"dual": 2, "triple": 3, "quad": 4}
_ONES = "一二两三四五六七八九"
_TENTHS = re.compile(
    rf"(?<=[误偏容公允]差|效率|空比)(?P<before>[^\d,;。]{{0,3}}?)(?P<tenths>[{_ONES}1-9])成(?P<rest>[{_ONES}]?)|"
    rf"(?P<alone>[{_ONES}1-9])成(?P<more>[{_ONES}]?)(?=以内|之内|的?(?:误差|偏差|容差|效率|占空))"
)
"""`误差一成`: tenths."""
_TAKES_NUMBER = re.compile(
    r"(?:增益|放大(?:倍数)?|乘以?|(?<![a-z])q值?|(?<![a-z])pm|裕度|品质因数)[为是取到约要=: ]{0,2}$",
    re.IGNORECASE,
)
"""In front of a numeral without unit."""
_PER_SECOND = re.compile(
    r"(?:(?P<often>once|twice)|(?P<times>\d+(?:\.\d+)?)\s?(?:[a-z]+ )?(?:times|x|pulses|cycles|blinks|"
    r"flashes))"
    r"\s(?:a|1|per|each|every)\s(?:second|minute)|"
    r"每(?:一)?(?:秒|分)钟?(?P<what>[^\d,;。]{0,6}?)(?P<count>\d+(?:\.\d+)?|[一二两三四五六七八九十]+)\s?[次下个]|"
    r"(?:every|once in|每(?:隔)?)\s?(?P<period>\d+(?:\.\d+)?)\s?(?P<milli>m|毫)?(?:s|sec|seconds?|"
    r"秒)(?:钟)?(?![a-z])"
    r"(?:\s?(?P<oft>once|[一1]次|[一1]下))?",
    re.IGNORECASE,
)
"""How often something happens, in words."""
_ONCE_IN = re.compile(
    r"(?P<period>\d+(?:\.\d+)?|[一二两三四五六七八九十半])\s?(?:个)?秒(?:钟)?(?P<what>[^\d,;。、]{0,3}?)[一1][次下]"
)
"""`两秒闪一次`."""
_UNITY = re.compile(
    r"unity[\s-]gain[\s-](?=(?:inverting|summing|difference|instrumentation)(?![a-z]))|"
    r"单位增益的?(?=反相|差[分动]|加法|仪表)",
    re.IGNORECASE,
)
"""A gain of one in front of what has it: at a unity-gain frequency it is none."""
_SIGN_IN_WORDS = re.compile(
    r"\b(?P<sign>minus|plus|negative) (?P<number>\d+(?:\.\d+)?|"
    + "|".join(word for word in _ENGLISH_NUMBERS if word not in ("a", "half"))
    + r")(?![\w.%])(?P<unit>[\s-]?times(?![a-z])|[\s-]?(?:k|m|μ)?(?:v|volts?|a|amps?|db|hz|%|percent|°c|"
    r"degrees?)(?![a-z]))?(?!\s*(?:or|/) minus)",
    re.IGNORECASE,
)
_BY_NUMBER = re.compile(
    r"(?<=(?<![a-z])by )(?:two|three|four|five|six|seven|eight|nine|ten)(?![a-z])", re.IGNORECASE
)
_VALUE_IN_WORDS = re.compile(
    r"(?:(?<=gain )|(?<=gain of )|(?<=gain is )|(?<=gain about )|(?<=gain around )|(?<=gain of about )|"
    r"(?<=gain of around )|(?<=(?<![a-z])q )|(?<=(?<![a-z])q of )|(?<=factor of )|"
    r"(?<=weight of ))"
    rf"(?P<first>{'|'.join(_ENGLISH_NUMBERS)})(?! half)"
    r"(?: (?P<scale>hundred|thousand|million))?(?![a-z-])",
    re.IGNORECASE,
)
_HALVES = re.compile(
    r"(?<![a-z])(?:halv(?:e[sd]?|ing)|doubl(?:e[sd]?|ing)|twice as (?:big|large|high|strong|much))"
    r"(?= (?:the |its |a |my )?(?:signals?|voltages?|amplitude|inputs?|level)(?![a-z])| and |"
    r"\s?(?:[,;.:]|$))",
    re.IGNORECASE,
)
"""A gain said by a verb; "doubles 5 V" is a conversion."""
_BULLET = re.compile(r"\s*\n\s*[-*•·–]\s+")
"""In front of each line of a list: no minus, and no range from the line before."""
_EVEN = re.compile(
    r"(?:亮灭|高低|通断)(?:电平|的)?(?:时间)?[各对](?:占|为)?一?半|half on,? (?:and )?half off|"
    r"equal(?:ly long)? on[\s-](?:and|/)[\s-]off(?: times)?",
    re.IGNORECASE,
)
_DUTY_SHARE = re.compile(
    r"((?:duty(?:[\s-](?:cycle|factor|ratio))?|占空比?)\s?(?:=|:|of|is|为|是|取|约)?\s?)(0?\.\d+)(?!\d|\s?%|太)",
    re.IGNORECASE,
)
_SIDE_IN_WORDS = re.compile(
    r"\b(?P<first>five|six|seven|eight|nine|ten|twelve|fifteen|sixteen|eighteen|twenty|thirty|forty)"
    r"(?= (?:in|out)(?:\s*[,.;]|$))|"
    r"(?:(?<=input )|(?<=output )|(?<=steady )|(?<=reflected )|(?<=let['’]s say ))"
    r"(?P<other>five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen|eighteen|twenty|thirty|forty)"
    r"(?=\s*(?:[,.;]|$))",
    re.IGNORECASE,
)
"""`sixteen in, nine out`."""
_AND_A_HALF = re.compile(r"\b(" + "|".join(_ENGLISH_NUMBERS) + r"|\d+) and a half(?![a-z])", re.IGNORECASE)
_PART_OF_A = re.compile(
    r"\b(?:an? |one )?(?P<part>half|quarter|third)(?P<whole> of (?:the|each) (?:time|period|cycle)|"
    r" (?:(?:of )?an? )?(?=(?:kilo|mega|milli|micro|nano)?-?(?:hertz|volt|amp|ohm|farad|henr|second|"
    r"watt|decibel|db(?![a-z])|"
    r"percent|degree)|[mkuμ]?(?:hz|v|a|w)(?![a-z])))",
    re.IGNORECASE,
)
"""`half an amp`, `a quarter of the time`."""
_DECIMAL_COMMA = re.compile(
    r"(?<![\d.,])(0|(?<![\u4e00-\u9fff])(?<![\u4e00-\u9fff] )\d+),(\d{1,2})"
    r"(?=\s?(?:k|meg|M|[mnpuμ])?(?:V|A|W|F|H|s|Hz|Ohms?|ohms?|Ω|ω|dB|%)(?![a-zA-Z]))"
)
"""`3,3 V`, but not "增益11,5V供电"; in thousands three digits follow."""
_KILOHM = re.compile(r"(?<=\d)([\s-]?)(kil|meg)ohm", re.IGNORECASE)
_PER_AMPERE = re.compile(
    r"(?<=\d)\s?v(?:olts?)? (?:out(?:put)? )?(?:per|for (?:each|every)) (?:an? |one )?"
    r"(?P<scale>micro|milli|nano|[munμ])?-?a(?:mp(?:ere)?s?)?(?![a-z])",
    re.IGNORECASE,
)
"""`1 V per microamp`."""
_PER_SCALES = {"micro": "u", "milli": "m", "nano": "n", "μ": "u"}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}


def in_figures(text: str) -> str:
    """A text in half-width characters, with numbers, ranges and measures that are said in words as figures
    with their units."""
    text = _BULLET.sub(", ", text)
    text = text.replace("\uff0c", ", ")  # parts clauses: 555\uff0c800Hz is no number
    text = unicodedata.normalize("NFKC", text).replace("µ", "μ")
    text = re.sub(r"[‐‑‒–—−﹣]+", "-", text)
    text = re.sub(r"(?<!正)负(?=\d+(?:\.\d+)?\s?[vV伏])", "-", text)
    text = re.sub(rf"零下(?=\s?[\d{_ONES}十百])|(?<!正)负(?=[\d.]+\s?(?:摄氏)?(?:度|°|到|至|~))", "-", text)
    text = re.sub(
        r"半个?(?=\s?(?:dB|分贝|[微毫千兆]?(?:伏|安|瓦|赫|秒|欧)|[mkM]?(?:[VAW]|Hz)\b))", "0.5", text
    )
    text = re.sub(rf"(?<![分点])([{_ONES}])([安伏瓦秒])半(?![个导])", _and_a_half, text)
    text = re.sub(rf"([{_ONES}十])分之([{_ONES}])(?!\d)", _fraction, text)
    text = re.sub(r"(\d)\s?megs(?![a-z])", r"\1 meg", re.sub(r"(?<=\d)\s?kc(?![a-z])", " kHz", text))
    text = re.sub(r"(?<!half )(?<!of )\ban(?= (?:ampere|ohm)(?![a-z]))", "1", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<![a-z])(n?(?:and|or))([2-4])(?!\d)", r"\2-input \1", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=\d)\s?\.\.+\s?(?=[-+]?\d)", "~", text)
    text = re.sub(r"(?<=\d)(?=deg(?:rees?)?(?![a-z]))", " ", text)
    text = re.sub(r"(?<=\d)\+(?=\s?%)", "", text)
    text = re.sub(r"(?<=\d)\s?[x×*]\s?(?=[vu]_?i)", "x ", text, flags=re.IGNORECASE)  # Vout = -50 x Vin
    text = re.sub(r"(?<![a-z])thrice(?![a-z])", "3 times", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<![\d/.])1/([2-8])(?=\s?[mukMGμ]?(?:A|V|W|Hz|s)(?![a-zA-Z]))", _half, text)
    text = re.sub(r"(?<![\w.)])(?:x|\*|times)\s?\(?\s?(-\d+(?:\.\d+)?)\)?(?![\w.%])", r"\1x", text)
    text = re.sub(r"(?<![a-z0-9])(555),(?=\d{3}(?!\d))", r"\1, ", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=\d) (?=[fFqQ]\s?[=:]\s?\d)", ", ", text)  # Io=0.8 f=50kHz: no farads
    text = _POINT.sub(_pointed, text)
    text = re.sub(
        r"\+/?-(?=\s?[\d.])|正负(?=\s?[\d.])|plus(?: or |[ /-])minus ", "±", re.sub(r"[×✕]", "x", text)
    )
    text = _RANGE_IN_WORDS.sub(r"\g<low>~\g<high>", re.sub(r"[～〜∼]", "~", text))
    text = re.sub(r"[→⟶➔⇒]", "->", text)
    text = re.sub(r"(?<=\d[vV])(?=\d+(?:\.\d+)?\s?m?[aAwW](?![a-zA-Z]))", " ", text)  # 5V1A
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(
        r"(?<!\d )(?<![a-zA-Z0-9_.])x\s?(\d+(?:\.\d+)?)(?![a-zA-Z0-9_]|\.\d)", r"\1x", text
    )  # gain x4
    text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    text = _AND_A_HALF.sub(lambda half: f"{_ENGLISH_NUMBERS.get(half[1].lower(), half[1])}.5", text)
    text = _TENS_AND_ONES.sub(
        lambda both: str(_ENGLISH_NUMBERS[both["tens"].lower()] + _ENGLISH_NUMBERS[both["ones"].lower()]),
        text,
    )
    text = _COUNTED.sub(_counted, _TENTHS.sub(_in_percent, text))
    text = _PER_AMPERE.sub(_per_ampere, _PART_OF_A.sub(_part_of_a, text))
    text = _SIGN_IN_WORDS.sub(_signed, text)
    text = _PER_SECOND.sub(_in_hertz, _ENGLISH_RUN.sub(_english_number, text))
    text = _KILOHM.sub(lambda ohm: f"{ohm[1]}{'k' if ohm[2][0] in 'kK' else 'meg'}ohm", text)
    text = _ONCE_IN.sub(_once_in, text)
    text = _VALUE_IN_WORDS.sub(_english_number, text)
    text = _SIDE_IN_WORDS.sub(
        lambda word: str(_ENGLISH_NUMBERS[(word["first"] or word["other"]).lower()]), text
    )
    text = _HALVES.sub(
        lambda word: f"{word[0]} (gain {'0.5' if word[0].lower().startswith('hal') else '2'})", text
    )
    text = re.sub(r"(?<=\d)个(?=\s?(?:dB|分贝))", "", text)
    text = re.sub(r"(?<=占空比)([是为取]?)一半", r"\g<1>50%", text)
    text = _EVEN.sub(" duty 50% ", text)
    text = _DUTY_SHARE.sub(lambda duty: f"{duty[1]}{100 * float(duty[2]):.4g}%", text)
    text = re.sub(r"(?<![\d/])50\s?[/:]\s?50(?![\d/])", "50 %", text)
    text = re.sub(r"(?<=\d)[\s-]?fold(?![a-z])", "x", text)
    text = _BY_NUMBER.sub(lambda by: str(_ENGLISH_NUMBERS[by[0].lower()]), text)
    return _CHINESE_RUN.sub(_chinese_digits, _UNITY.sub("gain 1x ", text))


def _half(match: re.Match[str]) -> str:
    return f"{1 / int(match[1]):.4g}"


def _counted(match: re.Match[str]) -> str:
    return str(_FOLDS[match["fold"].lower()] if match["fold"] else _ENGLISH_NUMBERS[match["number"].lower()])


def _in_percent(match: re.Match[str]) -> str:
    tenths, rest = match["tenths"] or match["alone"], match["rest"] or match["more"]
    percent = 10 * (_DIGITS.get(tenths) or int(tenths)) + _DIGITS.get(rest, 0)
    return f"{match['before'] or ''}{percent}%"


def _and_a_half(match: re.Match[str]) -> str:
    return f"{_DIGITS[match[1]]}.5{match[2]}"


def _fraction(match: re.Match[str]) -> str:
    return f"{_DIGITS[match[2]] / (_DIGITS.get(match[1]) or 10):.4g}"


def _pointed(match: re.Match[str]) -> str:
    decimals = "".join(
        str(_ENGLISH_NUMBERS[each]) for each in re.split("[ -]", match["decimals"].lower().strip(" -"))
    )
    return f"{_ENGLISH_NUMBERS[match['whole'].lower()]}.{decimals}"


def _part_of_a(match: re.Match[str]) -> str:
    share = {"half": 0.5, "quarter": 0.25, "third": 1 / 3}[match["part"].lower()]
    is_of_time = match["whole"].lower().endswith(("time", "period", "cycle"))
    return f"{100 * share:.4g} %{match['whole']}" if is_of_time else f"{share:.4g} "


def _signed(match: re.Match[str]) -> str:
    """`minus five volts`, `from plus 5`: signs in words are those of voltages."""
    sign = "+" if match["sign"].lower() == "plus" else "-"
    number = _ENGLISH_NUMBERS.get(match["number"].lower())
    if number is None:
        return f"{sign}{match['number']}{match['unit'] or ''}"
    is_gain = GAIN_OF.search(match.string, 0, match.start()) is not None
    return f"{sign}{number}{match['unit'] or ('' if is_gain else ' V')}"


def _per_ampere(match: re.Match[str]) -> str:
    scale = (match["scale"] or "").lower()
    return f" V/{_PER_SCALES.get(scale, scale)}A"


def _in_hertz(match: re.Match[str]) -> str:
    """`twice a second` and `每分钟30次` as a frequency, `every 2 seconds` and `2秒一次` as one too."""
    if match["period"]:
        seconds = float(match["period"]) * (0.001 if match["milli"] else 1.0)
        return f"{1 / seconds:.6g} Hz" if seconds else match[0]
    word = (match["often"] or match["oft"] or "").lower()
    said = match["times"] or match["count"] or "1"
    times = {"once": 1.0, "twice": 2.0}.get(word) or (
        float(said) if said[0].isascii() else _chinese_value(said)
    )
    is_minute = "min" in match[0].lower() or "分" in match[0]
    return f" {match['what'] or ''} {times / (60 if is_minute else 1):.6g} Hz "


def _once_in(match: re.Match[str]) -> str:
    said = match["period"]
    seconds = 0.5 if said == "半" else float(said) if said[0].isascii() else _chinese_value(said)
    return f" {match['what']} {1 / seconds:.6g} Hz " if seconds else match[0]


def _english_number(match: re.Match[str]) -> str:
    number = _ENGLISH_NUMBERS[match["first"].lower()] * _SCALES.get((match["scale"] or "").lower(), 1)
    return f"{number:g}" if number < 1e5 else str(int(number))


def _chinese_digits(match: re.Match[str]) -> str:
    if match.string[: match.start()].endswith("每"):  # 每一路: each
        return match[0]
    if match[0] == "一路" and match.string[: match.start()].endswith(("到", "成", "为", "进")):  # 混到一路
        return match[0]
    percent, run, unit = match["percent"], match["number"], match["unit"] or ""
    if percent:
        return f"{_chinese_value(run):g}%{unit}"
    if not unit.strip() and not _TAKES_NUMBER.search(match.string, 0, match.start()):
        return match[0]
    if run in "千万" and match.start() > 0 and match.string[match.start() - 1] in "0123456789. ":
        return match[0]
    before = match.string[match.start() - 1 : match.start()]
    gap = " " if before.isascii() and before.isalpha() else ""  # 10kHz四阶: not the unit's digit
    return f"{gap}{_chinese_value(run):.12g}{unit}"


def _chinese_value(run: str) -> float:
    """Value of a Chinese numeral; a last 千 after 十 or 百 is the unit prefix kilo (五百千赫)."""
    whole, _, decimals = run.partition("点")
    if whole.endswith("千") and {*whole} & {"十", "百"}:
        return 1000 * _chinese_value(whole[:-1])
    myriads, has_myriad, rest = whole.rpartition("万")
    total = 10000.0 * (_below_myriad(myriads) if myriads else 1) if has_myriad else 0.0
    total += _below_myriad(rest)
    fraction = "".join(str(_DIGITS[c]) for c in decimals)
    return total + (float(f"0.{fraction}") if fraction else 0.0)


def _below_myriad(run: str) -> float:
    if run and all(c in _DIGITS for c in run):
        return float("".join(str(_DIGITS[c]) for c in run))
    total, digit = 0, None
    for c in run:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _TENS:
            total += (digit or 1) * _TENS[c]
            digit = None
    return float(total + (digit or 0))
