"""Which calls of a model have to be confirmed by the user: rules, defaults, and what he asked for himself.

Judged is the computed effect (`domain.llm.tools.effect`), never the words a model puts to it. The order:

1. a rule that denies, if it fits any path of the call: deny wins over everything;
2. a protected file: always asked about, whatever other rules allow;
3. a rule that asks, if it fits any path;
4. a rule that allows, if it fits every path;
5. the defaults (`_default_reasons`), each waived where the user asked for just that in so many words.

In so many words: "Delete old.cir", 把 old.cir 删掉. A verb and a file's name in one sentence prove nothing:
"Remove R1 from a.cir", "delete all but a.cir", "the log says: delete a.cir". A wish is a clause that is built
as one: the verb with the files as its object, or the files with 把/将 before the verb. What is built
otherwise is asked about.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.result import EffectClass
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_DOUBT = late_pattern(
    r"\b(?:not|\w+n['’]t|never|no|nothing|without|keep|except|but|unless|if|when|before|after|until|how|why|"
    r"what|whether|should|would|explain|instead)\b|[?？]|不|别|勿|莫|未|没|除了|除非|保留|无需|如果|若|之前|之后|"
    r"以前|以后|怎|为什么|为何|吗|呢|是否|解释"
)
_CODE = late_pattern(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = late_pattern(r"^[ \t]*>.*$", re.MULTILINE)
_SENTENCE = late_pattern(r".+?(?:[.!?](?=\s|$)|[。！？；;\n]|$)", re.DOTALL)
_LONGEST_SENTENCE = 300
_CHINESE = late_pattern(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")

# The names of the effect stand as marks in the sentence; other files are told by their suffix.
_MARK = "\x00{}\x00"
_FILE = r"[`'\"“‘「《]?(?:\x00\d+\x00|[^\s,，、;；:：\x00]{0,120}?\w\.[a-z][a-z0-9]{0,5})[`'\"”’」》]?"
_FILES = rf"(?P<files>{_FILE}(?:\s*(?:,\s*and\b|,|，|、|&|\band\b|以及|和|及|与)\s*{_FILE})*)"

_NOUN = r"(?:files?|circuits?|netlists?|folders?|director(?:y|ies)|librar(?:y|ies))"
_POLITE = (
    r"(?:(?:please|pls|now|first|then|next|finally|also|just|ok(?:ay)?|yes|sure|kindly|go ahead and|can you"
    r"|could you|you (?:can|may)|i (?:want|need) (?:you )?to|let us|let['’]s)\b[\s,]*)*"
)
_THE = rf"(?:(?:the|this|that|these|those|my|our)\s+)?(?:(?:old|whole|entire|existing)\s+)?(?:{_NOUN}\s+)?"
_THANKS = (
    r"(?:[\s,]*\b(?:completely|entirely|now|please|thanks|thank you|for me|from (?:the|this|my) project)\b)*"
)
_ACTION = (
    r"(?:simulate|run|read|look|list|show|tell|report|check|create|write|make|move|rename|copy|continue|open"
    r"|delete|remove|erase|overwrite|replace|rewrite|change|edit|modify|update|fix)\b"
)
_BEFORE = (
    rf"(?:{_POLITE}{_ACTION}[^\x00]{{0,120}}?(?:[,;]\s*(?:and\s+|then\s+)*|\s(?:and\s+|then\s+)+))?{_POLITE}"
)
_AFTER = rf"(?:(?:[,;]|\s)\s*(?:(?:and|then|also|please)\s+)*{_ACTION}.*)?"

_CN_NOUN = r"(?:文件夹|文件|目录|电路|网表|库)"
_CN_POLITE = (
    r"(?:请|麻烦|劳驾|帮我|帮忙|给我|替我|你|您|我要|我想|我需要|可以|现在|首先|先|然后|再|接着|最后|顺便|直接|好的|好|就"
    r"|[\s，,])*"
)
_CN_WHICH = rf"(?:\s*(?:这|那)?(?:[一二两三四五六七八九十几]|些)?个?{_CN_NOUN}?)\s*"
_CN_ALL = r"(?:都|全部|全|统统|彻底|完全|直接|给我|从项目[中里])*\s*"
_CN_END = r"(?:掉|了|吧|一下|即可|就行|就好|[\s，,]*谢谢|\s)*"
_CN_AFTER = r"(?:(?:[，,；;]\s*)?(?:然后|再|接着|最后|并且?)[^\x00]*)?"
_CN_OBJECT = rf"(?:掉|一下|了)?\s*(?:旧|这个|那个)?{_CN_NOUN}?\s*[:：]?\s*{_FILES}{_CN_WHICH}"
_CN_BEFORE = rf"{_CN_POLITE}(?:把|将)\s*{_CN_NOUN}?\s*{_FILES}{_CN_WHICH}"
_NO_FILE = r"(?:(?!\w\.[a-z])[^\x00])"

_OVERWRITE = r"(?:overwrite|replace|rewrite)"
_CN_OVERWRITE = r"(?:覆盖|替换|重写)"
_CHANGE = r"(?:change|edit|modify|update|patch|fix|overwrite|replace|rewrite)"
_CN_CHANGE = r"(?:修改|更改|编辑|更新|覆盖|替换|重写)"


def _any_of(*forms: str) -> re.Pattern[str]:
    # A group's name counts once in a pattern: each form has one of its own.
    numbered = [form.replace("(?P<files>", f"(?P<files{n}>") for n, form in enumerate(forms)]
    return late_pattern("|".join(f"(?:{form})" for form in numbered), re.DOTALL)


_WISHES: Mapping[str, re.Pattern[str]] = {
    "delete": _any_of(
        rf"{_BEFORE}(?:delete|remove|erase)\s+{_THE}{_FILES}(?:\s+{_NOUN})?{_THANKS}{_AFTER}",
        rf"{_CN_BEFORE}{_CN_ALL}(?:删除|删掉|删去|移除|删){_CN_END}{_CN_AFTER}",
        rf"{_CN_POLITE}(?:删除|删掉|删去|移除){_CN_OBJECT}{_CN_END}{_CN_AFTER}",
    ),
    "overwrite": _any_of(
        rf"{_BEFORE}{_OVERWRITE}\s+(?:the\s+(?:whole\s+)?contents?\s+of\s+)?{_THE}{_FILES}(?:\s+{_NOUN})?"
        rf"{_THANKS}(?:\s*,?\s*\b(?:with|by|using|from|so|to|as)\b.*)?{_AFTER}",
        rf"{_CN_BEFORE}(?:的(?:全部|整个|所有)?内容)?{_CN_ALL}(?:用[^\x00]{{1,60}}?)?{_CN_OVERWRITE}(?:[为成掉].*)?"
        rf"{_CN_END}{_CN_AFTER}",
        rf"{_CN_POLITE}(?:用[^\x00]{{1,60}}?)?{_CN_OVERWRITE}{_CN_OBJECT}(?:的(?:全部|整个|所有)内容)?"
        rf"(?:[为成].*)?{_CN_END}{_CN_AFTER}",
    ),
    "critical": _any_of(
        rf"{_BEFORE}{_CHANGE}\s+{_THE}{_FILES}(?:[\s,].*)?",
        rf"{_BEFORE}{_CHANGE}\s+{_NO_FILE}{{1,80}}?\s(?:in|of|inside|within)\s+{_THE}{_FILES}(?:[\s,].*)?",
        rf"{_POLITE}(?:in|inside|within)\s+{_THE}{_FILES}\s*,?\s*{_POLITE}{_CHANGE}\b.*",
        rf"{_CN_POLITE}{_CN_CHANGE}{_CN_OBJECT}(?:[中里内的，,\s].*)?{_CN_END}",
        rf"{_CN_POLITE}(?:在|把|将)?\s*{_CN_NOUN}?\s*{_FILES}{_CN_WHICH}(?:[中里内的]|[，,\s])*{_NO_FILE}{{0,80}}?{_CN_CHANGE}.*",
    ),
    "suffix": _any_of(
        rf"{_BEFORE}(?:rename|move)\s+{_THE}(?P<files>{_FILE}(?:\s+{_NOUN})?\s+(?:to|into|as)\s+{_FILE}){_THANKS}{_AFTER}",
        rf"{_CN_POLITE}(?:把|将)\s*{_CN_NOUN}?\s*(?P<files>{_FILE}{_CN_WHICH}(?:重命名|改名|更名|移动)\s*[为成到至]\s*{_FILE})"
        rf"{_CN_END}{_CN_AFTER}",
        rf"{_CN_POLITE}(?:重命名|改名|更名|移动)\s*{_CN_NOUN}?\s*(?P<files>{_FILE}\s*[为成到至]\s*{_FILE}){_CN_END}{_CN_AFTER}",
    ),
}
"""For each reason of `domain.llm.tools.confirmation` that a wish can waive: how it is said."""


def is_asked_for(said: str, reason: str, effect: ComputedEffect) -> bool:
    """Whether the user's message asks for this effect in so many words, every path by its whole name.

    Each path has to be an object of the verb, in a sentence without any word of doubt, condition,
    question or negation. Quotations and code are no wish. The rest is asked about.
    """
    wish = _WISHES.get(reason)
    own = [path for path in effect.paths if not _lies_within(path, effect.paths)]
    if wish is None or not own:
        return False
    names = list(dict.fromkeys(folded(name) for path in own for name in names_of(path)))
    text = folded(_QUOTED_LINE.sub("", _CODE.sub("\n", said))).replace("\x00", "")
    found: set[int] = set()
    for sentence in _SENTENCE.findall(text):
        if len(sentence) > _LONGEST_SENTENCE or _DOUBT.search(sentence):
            continue
        match = wish.fullmatch(_marked(sentence, names).strip(" \t\r\n.!。！;；"))
        objects = "".join(part for part in match.groupdict().values() if part) if match else ""
        found |= {int(number) for number in re.findall(r"\x00(\d+)\x00", objects)}
    return found == set(range(len(names)))


def _marked(sentence: str, names: Sequence[str]) -> str:
    """The sentence with marks for the names that stand in it whole: old/amp.cir does not name amp.cir."""
    for number, name in sorted(enumerate(names), key=lambda item: -len(item[1])):
        # No blanks between Chinese words: one of their characters ends a name as a blank does.
        word = r"\w" if _CHINESE.search(name) else r"[^\W\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
        left = "" if _CHINESE.search(name) else rf"(?<!{word})"
        whole = rf"{left}(?<![./\\*\x00-])(?:\./)?{re.escape(name)}(?!{word}|[/\\*-]|\.\w)"
        sentence = re.sub(whole, _MARK.format(number), sentence)
    return sentence


def _lies_within(path: PathEffect, others: Sequence[PathEffect]) -> bool:
    return any(other.is_folder and path.path.startswith(f"{other.path}/") for other in others)


def names_of(path: PathEffect) -> tuple[str, ...]:
    return (path.path, path.moved_to) if path.moved_to else (path.path,)


def folded(name: str) -> str:
    """As names are compared: one Unicode spelling, letter case aside (cautious where it counts)."""
    return unicodedata.normalize("NFC", name).casefold().removeprefix("./").rstrip("/")


Decision = Literal["allow", "ask", "deny"]

Reason = Literal[
    "delete", "protected", "critical", "batch", "overwrite", "suffix", "outside", "high_risk", "rule"
]
"""Why a call is asked about (or refused: "rule")."""

MOST_FILES_UNASKED = 10
"""Files that exist and are changed, moved or deleted in a turn before the user is asked."""

EVERY_PATH = "**"

CRITICAL_SUFFIXES = frozenset({".lib", ".mod"})
"""Model libraries: other circuits rest on them, and none of their own lines tells which."""

DECISIONS: tuple[Decision, ...] = get_args(Decision)
EFFECTS: tuple[EffectClass, ...] = get_args(EffectClass)

_BY_HAND: frozenset[Reason] = frozenset({"delete", "protected", "outside", "high_risk", "rule"})
"""What a person who wrote the call himself is asked about: the rest he has asked for by writing it."""

REASONS: Mapping[Reason, Message] = {
    "delete": msg("deletes"),
    "protected": msg("affects a file you have protected"),
    "critical": msg("changes a model library"),
    "batch": msg("more than {count} files in one turn", count=MOST_FILES_UNASKED),
    "overwrite": msg("overwrites a file that was not read in this conversation"),
    "suffix": msg("changes the file type"),
    "outside": msg("reaches outside the project"),
    "high_risk": msg("cannot be undone completely"),
    "rule": msg("one of your rules requires confirmation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a project. All three parts have to fit."""

    decision: Decision
    tool: str = "*"
    """Name of a tool; * and ? stand for any characters."""
    path: str = EVERY_PATH
    """Relative to the project; * and ? stand for characters of one name, ** for any folders."""
    effect: EffectClass | Literal["*"] = "*"

    def __str__(self) -> str:
        return f"{self.decision} {self.tool} {self.path}" + ("" if self.effect == "*" else f" {self.effect}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What the user has decided for one project."""

    rules: tuple[Rule, ...] = ()
    protected: tuple[str, ...] = ()
    """Files and folders always asked about, relative to the project."""
    consents: tuple[str, ...] = ()
    """Servers this project's contents may always be sent to: scheme, host and port."""

    def protects(self, path: str) -> bool:
        """Whether a file is protected, by itself or by a folder it lies in."""
        name = folded(path)
        return any(name == kept or name.startswith(f"{kept}/") for kept in map(folded, self.protected))


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is known beside the call itself."""

    said: str = ""
    """The user's message that began the turn."""
    made_here: frozenset[str] = frozenset()
    """Files this conversation has made itself."""
    files_before: int = 0
    """Existing files touched in this turn before the call, since the user last allowed something."""
    is_by_hand: bool = False
    """A person wrote the call, not a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What is to happen with a call."""

    decision: Decision
    reasons: tuple[Reason, ...] = ()
    rule: Rule | None = None
    """The rule that decided, if one did."""


def judge(
    tool: str, effect: ComputedEffect, permissions: Permissions, known: Circumstances | None = None
) -> Verdict:
    """Whether a call is allowed, has to be asked about, or is denied."""
    known = known or Circumstances()
    if (rule := _fitting("deny", tool, effect, permissions.rules, any)) is not None:
        return Verdict(decision="deny", reasons=("rule",), rule=rule)
    reasons: list[Reason] = []
    is_change = effect.effect not in ("read", "simulate")
    if is_change and any(permissions.protects(name) for path in effect.paths for name in names_of(path)):
        reasons.append("protected")
    if (asking := _fitting("ask", tool, effect, permissions.rules, any)) is not None:
        reasons.append("rule")
    allowing = _fitting("allow", tool, effect, permissions.rules, all)
    if not reasons and allowing is not None:
        return Verdict(decision="allow", rule=allowing)
    if is_change and allowing is None:
        reasons += _default_reasons(effect, known)
    if known.is_by_hand:
        reasons = [reason for reason in reasons if reason in _BY_HAND]
    return Verdict(decision="ask" if reasons else "allow", reasons=tuple(reasons), rule=asking)


def _default_reasons(effect: ComputedEffect, known: Circumstances) -> list[Reason]:
    """What the defaults ask about, without what the user has asked for himself."""
    if effect.effect == "outside":
        return ["outside"]
    found: list[Reason] = []
    if effect.effect == "delete":
        found.append("delete")
    if any(_is_critical(path, known) for path in effect.paths):
        found.append("critical")
    if any(path.overwrites and not path.was_read for path in effect.paths):
        found.append("overwrite")
    if any(_changes_suffix(path) for path in effect.paths):
        found.append("suffix")
    found = [reason for reason in found if not is_asked_for(known.said, reason, effect)]
    if effect.effect != "create" and known.files_before + effect.files > MOST_FILES_UNASKED:
        found.append("batch")
    if effect.is_high_risk:
        found.append("high_risk")
    return found


def rules_for_always(tool: str, effect: ComputedEffect, reasons: Iterable[Reason]) -> tuple[Rule, ...]:
    """The rules "always allow" adds: as narrow as what was asked; none where always asking is the point."""
    reasons = set(reasons)
    if reasons & {"protected", "rule", "high_risk"} or not reasons:
        return ()
    if reasons & {"delete", "batch", "outside"}:
        return (Rule(decision="allow", tool=tool, effect=effect.effect),)
    return tuple(
        Rule(decision="allow", tool=tool, path=_literal(name), effect=effect.effect)
        for name in dict.fromkeys(name for path in effect.paths for name in names_of(path))
    )


def names_critical(effect: ComputedEffect) -> bool:
    """Whether it has to be known which files the conversation has made itself."""
    return any(_suffix(path.path) in CRITICAL_SUFFIXES for path in effect.paths)


def _is_critical(path: PathEffect, known: Circumstances) -> bool:
    exists = path.bytes_before is not None and not path.is_folder
    return exists and _suffix(path.path) in CRITICAL_SUFFIXES and path.path not in known.made_here


def _changes_suffix(path: PathEffect) -> bool:
    return bool(path.moved_to) and not path.is_folder and _suffix(path.path) != _suffix(path.moved_to)


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return f".{name.rpartition('.')[2].lower()}" if "." in name[1:] else ""


# --- rules ------------------------------------------------------------------------------------------


def _fitting(
    decision: Decision,
    tool: str,
    effect: ComputedEffect,
    rules: Iterable[Rule],
    how_many: Callable[[Iterable[bool]], bool],
) -> Rule | None:
    names = [name for path in effect.paths for name in names_of(path)]
    # An effect that names not all of its files can't be allowed by their names.
    is_whole = effect.files <= len(effect.paths)
    for rule in rules:
        if rule.decision != decision or rule.effect not in ("*", effect.effect):
            continue
        if not fits_tool(rule.tool, tool):
            continue
        if rule.path == EVERY_PATH:
            return rule
        fits = _pattern(rule.path, is_path=True).fullmatch
        if names and (is_whole or decision != "allow") and how_many(bool(fits(folded(n))) for n in names):
            return rule
    return None


def fits_tool(pattern: str, name: str) -> bool:
    """Whether a rule for tools of this pattern is one for the tool of this name."""
    return _pattern(pattern, is_path=False).fullmatch(folded(name)) is not None


@lru_cache(maxsize=512)
def _pattern(text: str, *, is_path: bool) -> re.Pattern[str]:
    """A glob as a regular expression; `[` has no meaning of its own, a backslash takes the next one's."""
    parts = []
    one = "[^/]" if is_path else "."
    for token in re.findall(r"\*\*/|\*\*|\*|\?|\\.|.", folded(text), re.DOTALL):
        match token:
            case "**/" if is_path:
                parts.append("(?:.*/)?")
            case "**" | "**/":
                parts.append(".*" + re.escape(token[2:]))
            case "*":
                parts.append(f"{one}*")
            case "?":
                parts.append(one)
            case _:
                parts.append(re.escape(token.removeprefix("\\") if len(token) > 1 else token))
    return re.compile("".join(parts), re.DOTALL)


def _literal(path: str) -> str:
    return re.sub(r"([*?\\])", r"\\\1", path)


def rule_to_plain(rule: Rule) -> dict[str, str]:
    return {"decision": rule.decision, "tool": rule.tool, "path": rule.path, "effect": rule.effect}


def rule_from_plain(plain: Mapping[str, Any]) -> Rule:
    """The rule `rule_to_plain` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    decision, effect = plain["decision"], plain.get("effect", "*")
    tool, path = plain.get("tool", "*"), plain.get("path", EVERY_PATH)
    if decision not in DECISIONS or effect not in ("*", *EFFECTS):
        raise ValueError(f"{decision} {effect}")
    if not (isinstance(tool, str) and isinstance(path, str) and tool and path):
        raise TypeError("tool and path have to be texts")
    return Rule(decision=decision, tool=tool, path=path, effect=effect)
