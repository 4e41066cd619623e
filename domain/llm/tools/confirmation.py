"""Which calls of a model have to be confirmed by the user: rules, defaults, and what he asked for himself.

Judged is the computed effect (`domain.llm.tools.effect`), never the words a model puts to it. The order:

1. a rule that denies, if it fits any path of the call: deny wins over everything;
2. a protected file: always asked about, whatever other rules allow;
3. a rule that asks, if it fits any path;
4. a rule that allows, if it fits every path;
5. the defaults (`_default_reasons`), each waived where the user asked for just that in so many words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

from domain.llm.tools.effect import ComputedEffect, PathEffect
from domain.llm.tools.result import EffectClass
from domain.llm.tools.wishes import folded, is_asked_for, names_of
from shared.message import Message, msg

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
    "protected": msg("changes a file you have protected"),
    "critical": msg("changes a model library"),
    "batch": msg("more than {count} files in one turn", count=MOST_FILES_UNASKED),
    "overwrite": msg("overwrites a file that was not read in this conversation"),
    "suffix": msg("changes what kind of file it is"),
    "outside": msg("reaches outside the project"),
    "high_risk": msg("can't be taken back completely"),
    "rule": msg("a rule of yours asks for it"),
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
    """A rule as plain JSON types."""
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
