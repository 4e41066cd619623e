"""What a request wants in words and no figure holds: "and keep it quiet", "with a smaller inductor".

Such a wish is not read where the request without it asks for the same; it is told then, with what can be
asked for instead. Knows how wishes are put, not what the circuits are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from domain.circuit.preferred_values import nearest
from domain.design.engine.declaration import DERIVED, STATED, Family, Quantity, Request
from domain.design.engine.wording import figure, joined
from domain.design.sentence import in_any_case
from shared.message import Message, msg

_MOST = 4
"""Wishes that are looked at, and quantities that are named."""
_PIECE = re.compile(
    r"[,;!，；。！]|\.(?=\s|$)|(?<![a-z])(?=(?:and|but|with|without|plus|including)(?![a-z]))|并且|而且|同时|(?=(?:还要|最好|尽量))",
    re.IGNORECASE,
)
_FIGURE = re.compile(
    r"\d|(?<![a-z])(?:unity|single|one|two|three|four|half|double|zero)(?![a-z])", re.IGNORECASE
)
_COMPARISON = (
    r"(?<![a-z])(?:less|more|[a-z]{3,}er|better|worse)(?![a-z])|[更再][大小高低快慢]|太[大小高低快慢吵]"
)
_LONGEST, _SHORTEST = 60, 4
_MARKS = " ,;.!，；。！"
_JOINED = re.compile(
    r"(?P<adds>and|but|plus)(?: also| then| please)*\s+|(?P<has>with|without|including)\s+", re.IGNORECASE
)
_QUALITY = (
    r"(?<![a-z])(?:quiet|silent|noise(?:less)?|noisy|hiss|hum|clean|small(?:er|est)?|tiny|compact|"
    r"cheap(?:er|est)?|low[\s-](?:cost|power)|inexpensive|efficien(?:t|cy)|hot|cool|heat|battery life|"
    r"accura(?:te|cy)|precis(?:e|ion)|stab(?:le|ility)|fast(?:er|est)?|slow(?:er)?|loud(?:er|est)?|reliable|"
    r"robust|safe|sturdy|protect(?:ed|ion)|hi-?fi|as [a-z]+ as possible|"
    r"(?:sharp|steep|flat|strong|weak|wid|narrow|bigg|larg|high|low|simpl|quiet|light)er|"
    r"(?:good|better|nice|decent|excellent|high|low|little|less|more|min(?:imal|imum)|max(?:imum)?) [a-z]+)"
    r"(?![a-z])"
    r"|安静|噪[声音]|体积|小巧|便宜|成本|效率|省电|功耗|发热|精[度确准]|稳定|可靠|保护|软启动|尽量|尽可能"
)
_MUST_BE = (
    r"(?<![a-z])(?:need|want|must|should|has to|have to|keep|make|made|prefer|ideally|avoid|no|never|not|"
    r"protect|prevent|limit|add|include|allow|survive|withstand|tolerate|mute|turn|switch)s?"
    r"(?![a-z])|[要需应]|最好"
)
_OF_ITSELF = (
    r"(?:ultra[\s-]|very |really |super )?low[\s-](?:noise|power|distortion|drift|cost)|"
    r"(?:very |really |super )?(?:noiseless|quiet|silent|cheap|steep|sharp)|"
    r"(?:highly |power[\s-]|very |high[\s-])(?:efficien(?:t|cy)|accura\w+|precis\w+)|"
    r"低噪声?|低功耗|低失真|低成本|高效率?(?!果)|高精度"
)
"""Such words within what asks for the circuit: "a low-noise preamp"."""
_ASIDE = re.compile(
    r"(?:please|thanks?|thank you|hi|hello|hey|so|because|since|for|from|as i|i['’]?m|i am|i have|we have|"
    r"my|our|(?:it|this|that)(?:['’]s| is| will be)? (?:for|going|used)|that['’]s|"
    r"请|谢|因为|我[是有在的]|用[在于来]|给)(?![a-z])"
    r"|.*(?<![a-z])(?:simulat\w*|plot\w*|show|explain|tell|verify|check|report|draw|measur\w*|design|build)(?![a-z])"
    r"|.*(?<![a-z])(?:want|need|have|like|going) (?:it )?to (?!be |stay |keep )"
    r"|.*(?:仿真|画出|解释|告诉|说明|报告|测量|设计)",
    re.IGNORECASE,
)
"""Why something is asked, for what, or what else is to be done."""
_OF_OTHERS = re.compile(
    r"(?:my|your|our|their|me|us|arduino|esp\w*|raspberry|stm\w*|it)(?![a-z])|的时候", re.IGNORECASE
)
"""With which it is used, not what it has."""
_PURPOSE = re.compile(
    r"(?:\b(?:for|to|from|work\w*|us(?:e|ed|ing)|compatible|goes?)\b|用[于在])[^,;\d]*$", re.IGNORECASE
)
_MORE = r"(?<![a-z])(?:more|loud|high|bigg|larg|fast|wid|strong|better)(?:er)?(?![a-z])|[更再][大高快]"
_LESS = r"small|less|low|quiet|silent|nois|tiny|compact|clean|cool|hot|小|低|静|少"
_MEANT: tuple[tuple[str, str], ...] = (
    (r"quiet|silent|nois|hiss|hum|clean|安静|噪[声音]", r"^ripple|noise|distortion"),
    (r"small|tiny|compact|light|体积|小巧", r"^(?:inductance|capacitance)$"),
    (
        r"efficien|low[\s-]power|battery|hot|cool|heat|效率|省电|功耗|发热",
        r"efficiency|quiescent|quiet_a|supply_current",
    ),
    (r"accura|precis|精", r"^tolerance$"),
    (r"fast|快", r"bandwidth|rise|fsw"),
    (r"stab|稳定", r"phase_margin"),
    (r"loud|strong", r"^(?:gain|power_w|amplitude_v)$"),
    (r"sharp|steep|陡", r"^order$"),
    (r"flat|平坦", r"ripple_db"),
)
"""Words of a quality, and the names of quantities in which it may be asked for."""


def unread_wishes(text: str, without: Callable[[str], bool]) -> Iterator[str]:
    """The wishes of a text that change nothing: `without` tells whether a text still asks the same."""
    told: list[tuple[int, int]] = []
    for start, end in list(_wishes(text))[:_MOST]:
        if without(f"{text[:start]} {text[end:]}"):
            told.append((start, end))
            yield " ".join(_JOINED.sub("", text[start:end].strip(_MARKS), count=1).split())
    for found in list(re.finditer(_OF_ITSELF, text, re.IGNORECASE))[:_MOST]:
        is_new = not any(start <= found.start() < end for start, end in told)
        if is_new and without(f"{text[: found.start()]} {text[found.end() :]}"):
            yield found[0]


def _wishes(text: str) -> Iterator[tuple[int, int]]:
    """Where the pieces of a text stand that want something and have no figure."""
    start, is_list = 0, False
    for end in (*(found.start() for found in _PIECE.finditer(text)), len(text)):
        piece = text[start:end].strip(_MARKS)
        is_list = _is_wish(piece, text[:start], is_list=is_list)
        if is_list:
            yield start, end
        start = end


def _is_wish(piece: str, before: str, *, is_list: bool) -> bool:
    """Whether a piece wants something; `is_list`: what stands before it does, and "and" goes on with it."""
    if len(piece) < 2 or _FIGURE.search(piece):
        return False
    joint = _JOINED.match(piece)
    rest = piece if joint is None else piece[joint.end() :]
    if not rest.strip() or _ASIDE.match(rest) or re.search(r"并且$|而且$|同时$", piece):
        return False
    if re.search(_QUALITY, rest, re.IGNORECASE):
        return bool(before.strip())
    if joint is None or not before.strip():
        return False
    if joint["has"]:
        return not (_OF_OTHERS.match(rest) or _PURPOSE.search(before))
    is_wanted = is_list or re.search(_MUST_BE, rest, re.IGNORECASE) is not None
    return joint["adds"].lower() == "and" and is_wanted


def not_read(wish: str, family: Family, request: Request) -> Message | None:
    """That a wish had no effect, and what to ask instead; None where its quantity has been asked for."""
    meant = _meant(wish, family.quantities)
    if any(request.states(each.name) or each.name in request.get(DERIVED, ()) for each in meant):
        return None
    told = [_as_example(each, wish, request) for each in meant[:_MOST]]
    if told:
        return msg("“{text}” has no effect without a figure, for example: {what}.",
                   text=wish, what=joined(told))  # fmt: skip
    return msg("“{text}” has no effect: this circuit has no goal for it.", text=wish)


def told_of_wish(text: str, family: Family, request: Request) -> Message | None:
    """What a wish without a figure, behind a design, could be asked by; None where it is none."""
    wish = " ".join(text.strip(_MARKS + "?？").split())
    is_wish = re.search(_QUALITY, wish, re.IGNORECASE) or (
        re.search(_COMPARISON, wish, re.IGNORECASE) and _meant(wish, family.quantities)
    )
    if _FIGURE.search(wish) or _ASIDE.match(wish) or len(wish) > _LONGEST or not is_wish:
        return None
    told = not_read(wish, family, request.having(**{STATED: (), DERIVED: ()}))
    also = () if told is None or has_example(told) else also_asked(family, request)
    return msg("{text} {advice}", text=told, advice=also[0]) if told is not None and also else told


def has_example(told: Message) -> bool:
    """Whether the note of a wish says with which figure it could be asked."""
    return "what" in told.params


def also_asked(family: Family, request: Request) -> tuple[Message, ...]:
    """What else a circuit can be asked for, where a part of a request had no effect."""
    free = [each.label for each in family.quantities if not request.states(each.name) and each.is_told]
    if not free:
        return ()
    return (msg("This circuit can also be asked for: {what}.", what=joined(free[: 2 * _MOST])),)


def _meant(wish: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities that a wish names, else those in which its quality can be asked for."""
    named = [each for each in quantities if _is_named(each, wish)]
    names = [name for words, name in _MEANT if re.search(words, wish, re.IGNORECASE)]
    if not names:
        return named
    meant = [each for each in quantities if any(re.search(name, each.name) for name in names)]
    return [each for each in meant if each in named] or meant


def _is_named(quantity: Quantity, wish: str) -> bool:
    """Whether a whole word of a quantity stands in a wish: the c of a capacitor begins many words."""
    found = in_any_case(quantity.words).finditer(wish) if quantity.words else ()
    return any(len(each[0]) >= _SHORTEST for each in found)


def _as_example(quantity: Quantity, wish: str, request: Request) -> Message:
    """A quantity with a figure: half of what it is where less is wanted, twice where more is."""
    value = request.get(quantity.name) or quantity.example
    if quantity.is_whole:  # an order: steeper
        value = min(2 * value, quantity.within[1])
    is_share = "%" in quantity.dimensions[:1] and quantity.limit != "at_most"
    if not (is_share or {"deg", "dB"} & set(quantity.dimensions[:1]) or quantity.is_whole):
        if re.search(_LESS, wish, re.IGNORECASE):
            value = nearest(value / 2, "E6")
        elif re.search(_MORE, wish, re.IGNORECASE):
            value = nearest(2 * value, "E6")
    return figure(quantity.label, quantity.text(value))
