"""What is taken out of a text typed at a checkpoint before it is read: what is not wanted, what stays.

Knows how people say such things in Chinese and English, not what is wanted.
"""

from __future__ import annotations

import re

_DEED = re.compile(
    r"\b(?:that|this|the|your|my)(?: (?:last|latest|recent|previous|first|second))? "
    r"(?:change|edit|modification|tweak|update|adjustment|replacement)"
    r"(?= (?:made|makes|has|had|did|didn't|does|doesn't|is|was|broke|ruined|killed|hurt|cost)\b)"
)
"""A change that something is told of is a deed, no wish."""
_SIGH = re.compile(
    r"^(?:算了|哎|唉|nah|hm+|forget it|no wait|oh|well|actually)\s?,\s?(?=\S)"
    r"|^(?:nah|nope|ugh+|argh+|meh)\s(?=(?:that|this|the|it|it's|its)\s)"
)
"""What is said before one changes one's mind."""
_DENIED = re.compile(
    r"[,，]?\s*(?:\b(?:and\s)?not|\binstead\sof|\brather\sthan|而不是|不是)\s?[-+]?\d[\d.]*\s?[a-zA-ZΩμ%]{0,4}(?=\W|$)",
    re.IGNORECASE,
)
"""A figure that is not wanted: "40 dB, not 26"."""
_FIGURE = r"[-+]?\d[\d.]*"
_UNIT = r"(?:%|°|[pnuμmkMG]?(?:Hz|dB|ohms?|[VAWΩFHs])|meg|[kMmunp])(?![a-zA-Z])"
_GIVEN_UP = re.compile(
    rf"(?:\b(?:forget(?:\sabout)?|never\smind|(?:there\sis\s)?no\sneed\sfor|(?:we|i)\s(?:do\snot|don't)\sneed)"
    rf"\s(?:the\s)?|(?:不用|用不着|不需要|不必|不要求?|没必要)(?:到|有)?\s?){_FIGURE}\s?(?P<unit>{_UNIT})?"
    rf"(?P<named>(?:\s[a-z]+)?)(?:了|那么[高大多])?\s?[,，;]\s?(?P<new>{_FIGURE})(?P<own>\s?{_UNIT})?",
    re.IGNORECASE,
)
"""A figure that is given up for the one behind it, which may lack its unit: "forget 40 dB, 36 is plenty"."""
_REST = re.compile(
    r"(?:[,，;]\s*|\b)(?:(?:and|but|just|please|then)\s)*(?:(?:leave|keep|hold)\s)?(?:all\s)?(?:the\s)?"
    r"(?:(?:rest|others?|everything\selse)\b(?:\s(?:as\s(?:it|they)?\s?(?:is|are)|alone|unchanged|untouched|the\ssame|stays?))*)"
    r"|[,，;]?(?:其[他它余]|别)的?(?:指标|目标|参数)?[都就先]?(?:保持)?(?:不[变动]|别动|不用[动改管]|照旧|一样)"
    r"|\s(?:(?:would|will)\sbe|is)\s(?:better|nicer|great|nice|fine|(?:good\s)?enough|acceptable|plenty|ok|okay|sufficient|ideal)(?:\sfor\s(?:me|us))?\b"
    r"|(?<=\w)\s(?:goal|target|spec|limit)(?=\s(?:to|of|is|at|=)\s)|的?(?:目标|指标|要求|限制)(?=[改设调放定为到])"
    r"|[,，;]?\s*(?:(?:there\sis\s)?no\sneed\s(?:for\sit\s)?to\sbe|(?:it\s)?(?:doesn't|does\snot)\s(?:have|need)\sto\sbe)"
    r"\s(?:so|that|as|too)\s\w+|[,，;]?(?:不用|不必|用不着|没必要)(?:那么|这么|太)[^,，;。\d]{1,3}了?"
    r"|\b(?:i|we)\s(?:can|could)\s(?:accept|tolerate)\b|[就也我]*(?:可以接受|能接受)|[就也](?:可以|[够行]了?|成)|即可"
    r"|\brather\s|,?\ssay\b(?=\s\d)"
    r"|[,，;]\s*(?:with\s)?(?:the\s)?same\s±?[\d.]+\s?%?\s(?:tolerance|band|window|accuracy)"
    r"|[,，;]\s*(?:精度|误差|容差|公差|偏差)?(?:还是|仍是|仍为|保持|依旧是?)±?[\d.]+\s?%(?:不变)?"
    r"|[,，;]\s*±?[\d.]+\s?%的?(?:精度|误差|容差|公差|偏差)?(?:不变|照旧|保持不变)"
    r"|[,，;]\s*[\d.]+\s?[a-zμΩ%]{0,4}\s(?:is|was)\s(?:way\s|much\s|far\s)?too\s[a-z]+"
    r"|[,，;]\s*[\d.]+\s?[a-zA-ZμΩ%]{0,4}太[松严紧高低大小宽]了?",
    re.IGNORECASE,
)
"""What says only that the rest stays, or that a figure is liked."""
_HEAD = re.compile(
    r"^(?:(?:please\s)?(?:add|include)(?:\s(?:one\smore|another|a\s(?:new|further)))?"
    r"(?:\s(?:thing|requirement|goal|spec|condition))?|one\smore\s(?:thing|requirement|goal|spec|condition)"
    r"|change\sof\s(?:plans?|goals?|specs?)|(?:再|另外|还|那)*(?:加上?|补充|增加|追加|有)[一1]?[条个项点](?:要求|指标|目标|条件|规格)?)"
    r"\s?[:,：，]\s?",
    re.IGNORECASE,
)
"""What only says that a demand follows."""
_LATER = re.compile(
    r"\b(?:in|for|after)\s(?:an?|\d+)\s?(?:min(?:ute)?s?|h(?:ou)?rs?|days?|weeks?)\b|\d+\s?(?:分钟|个?小时|天)[之以]?后",
    re.IGNORECASE,
)
"""A time of the clock or the calendar, which is none of a circuit."""


def without_denied(typed: str) -> str:
    """A text without figures that are not wanted ("40 dB, not 26") and times of day."""
    return _LATER.sub("later", _DENIED.sub("", _GIVEN_UP.sub(_given, typed)))


def _given(found: re.Match[str]) -> str:
    return f"{found['named']} {found['new']}{found['own'] or found['unit'] or ''}".strip()


def without_rest(wanted: str) -> str:
    """The same without what says only that the rest stays, or that a figure is liked."""
    return _HEAD.sub("", _REST.sub("", wanted))


def without_sigh(shown: str) -> str:
    """A text in plain characters without what is said before one changes one's mind."""
    return _SIGH.sub("", shown)


def without_deed(shown: str) -> str:
    """The same with changes that something is told of as deeds."""
    return _DEED.sub("step", without_sigh(shown))
