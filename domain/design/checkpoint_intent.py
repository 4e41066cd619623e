"""What a text typed at a checkpoint means: one of the checkpoint's choices, an instruction, or a question.

Rules for Chinese and English. A choice is read only when every word of the text belongs to it; a text that
contains a change is an instruction; nothing doubtful ever accepts or stops a design.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import Any, Literal, NamedTuple, get_args

from domain.design.checkpoint_asides import without_deed, without_denied, without_rest, without_sigh
from domain.design.checkpoint_vocabulary import Role
from domain.design.checkpoint_words import COUNTED, Phrase, phrases, plain, without_tag
from domain.design.goal_change import SPREAD, goals_changed_by, goals_left_by, name_of, words_of
from domain.design.sentence import read_sentence
from domain.llm.json_repair import read_json
from domain.simulation.goals import DesignGoal
from shared.message import Message

IntentKind = Literal[
    "continue", "optimize", "fix", "accept", "stop", "undo", "go_back", "goals", "instruction", "question",
    "unclear",
]  # fmt: skip

LONGEST = 400
"""Characters that a choice or a change of goals takes; who says more instructs or asks."""
_READ_OF_LONG = 300
"""Of a longer text, at each of its ends."""
_SENTENCE_END = re.compile(r"(?<=[?!;。\n])|(?<=\.)(?=\s)")
_CLAUSE_END = re.compile(r"[,;]|\band\b|并且|而且|并|同时")
_INVERTED = re.compile(
    r"(?:and |but |so |or |then )?(?:(?:is|are|was|were|does|did|am)\s(?=[a-z])"
    r"|(?:can|could|should|will|would|might)\s(?:an?|the|this|that|these|those|it|they|there|[rclqdv]\d{1,3}|[\d.]+\s?%?\s[a-z]+)\b|(?:has|had)\s"
    r"(?:an?|the|this|that|these|those|it|its|my|our|your|there|any|all|each|we|they|[rclqdv]\d{1,3})\b)"
)
"""How an English sentence begins that asks, also without a question mark."""
_TRIES = 8
"""Places in a model's answer at which its object may begin."""
_LEAST_CONFIDENCE = 0.6
_ALIASES = {
    "optimise": "optimize", "change_goals": "goals", "goal": "goals", "fix_error": "fix", "goback": "go_back",
    "revert": "undo", "end": "stop", "next": "continue", "go_on": "continue",
}  # fmt: skip
_ENDING = frozenset(("accept", "stop", "undo"))
_ABOUT: frozenset[Role] = frozenset(("part", "quantity", "value", "goal", "error", "round"))
_CHOICES: frozenset[Role] = frozenset(
    ("continue", "optimize", "fix", "accept", "stop", "undo", "enough", "done", "back")
)
_GOING_ON: tuple[Role, ...] = ("continue", "optimize", "fix", "undo", "back")
_CHANGES: tuple[Role, ...] = ("change", "pick", "edit")
_CHANGES_OF_PARTS: tuple[Role, ...] = (
    "change",
    "pick",
    "part",
    "new",
    "quote",
    "if",
    "asks",
    "tell",
    "round",
)
_HOLDING = re.compile(r"\b(?:keep|hold|maintain)(?:ing)?\b|保持|维持")
"""Of a goal that stays."""
_TOLD_TO_CONFIRM = re.compile(
    r"\b(?:is|was|are|were|isn't|wasn't|does|did|has|had|kills?|limits?|sets?|causes?|gets?|got|went)\b[^,]*,\s?(?:right|correct|no|yes|eh)$"
    r"|[对是]吧$|[对是]不对$"
)
"""What is told, to be confirmed: "round 3 was better, right?"."""
_EITHER = re.compile(
    r"是[^,;。]{1,30}还是(?![用要改回])"
    r"|^(?:[这那该][个种版款]?)?(?:电路|设计|方案|结果|版本|运放|放大器|滤波器|管子|它|[rclqdu]\d{1,3})[^,;。]{0,6}能(?!不能)[^,;。]*吗$"
)
"""A Chinese question between two, or for what something can do ("这个电路能用在音频上吗")."""
_SAYS_MORE: frozenset[Role] = frozenset(
    (*_CHANGES, "asks", "tell", "but", "if", "not", "wants", "value", "quote", "new", "wish")
)
"""What makes words beside a choice more than a reason for it."""
_TAKING: frozenset[Role] = frozenset(("pick", "round", "quantity", "yes", "pause", "done", "accept", "wants"))
_OF_GOALS: frozenset[Role] = frozenset(("goal", "edit", "quantity", "yes", "wants", "error"))
_OF_ERRORS: frozenset[Role] = frozenset(
    (
        "error",
        "fix",
        "change",
        "pick",
        "edit",
        "other",
        "pause",
        "part",
        "continue",
        "optimize",
        "wants",
        "yes",
    )
)
_GRANTED: frozenset[Role] = frozenset(
    ("concede", "quantity", "value", "goal", "not", "yes", "error", "other", "pause")
)
_PAUSE = Phrase("pause")
_ONLY_CHOICES: frozenset[Role] = _CHOICES | {"yes", "not", "round", "error", "pause"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointIntent:
    """What was meant by a text."""

    kind: IntentKind
    text: str
    """What was typed, whole."""
    goals: tuple[DesignGoal, ...] | None = None
    """Of kind goals: all of them, with those that the text changes; None when it does not say which."""
    round_number: int = 0
    """Of kind go_back: to which round, from 1."""
    is_sure: bool = True
    """False: ask before it is carried out."""
    asks_back: str | Message = ""
    """Of kind unclear: what to ask, as a model read it, or why it cannot be."""
    told: tuple[Message, ...] = ()
    """Of kind goals: what changes beside them."""
    has_waited: bool = False
    """Nothing was done before a click."""

    @property
    def leads_on(self) -> bool:
        """Whether something can be carried out: another checkpoint, an answer, an end."""
        return self.kind != "unclear" and (self.kind != "go_back" or self.round_number > 0)


def read_checkpoint_text(
    text: str,
    *,
    goals: Sequence[DesignGoal],
    goals_met: bool,
    has_failed: bool,
    can_undo: bool,
    rounds: int,
) -> CheckpointIntent:
    """What a text typed at the checkpoint behind round `rounds` means; of any length, in linear time.

    `has_failed`: the round's simulation did not finish. What this checkpoint does not have (nothing to undo,
    no such round) is unclear.
    """
    typed = text.strip()
    here = _Checkpoint(goals_met, has_failed, can_undo, rounds)
    if len(typed) > LONGEST:
        shown = plain(f"{typed[:_READ_OF_LONG]}\n{typed[-_READ_OF_LONG:]}")
        found = _long(here, shown)
    else:
        wanted = without_denied(typed)
        asked = without_rest(wanted)
        shown = without_deed(plain(wanted))
        if (left := goals_left_by(asked, goals)) is not None:
            return CheckpointIntent(kind="goals", text=typed, goals=left or None, is_sure=bool(left))
        if (
            _may_change_goals(without_sigh(plain(asked)), goals)
            and (changed := goals_changed_by(asked, goals)) is not None
        ):
            return CheckpointIntent(kind="goals", text=typed, goals=changed)
        found = _joined([each for part in _sentences(shown) if (each := _sentence(here, part)) is not None])
        if found.kind in {"instruction", "unclear"} and _asks_more(plain(asked), goals):
            found = _Read("goals", is_sure=False)
    return CheckpointIntent(
        kind=found.kind, text=typed, round_number=found.round_number, is_sure=found.is_sure
    )


def intent_from_model(
    answer: str, options: Collection[str], read: CheckpointIntent
) -> CheckpointIntent | None:
    """What a model made of a text by the task INTENT_ANALYSIS; None when its answer cannot be used.

    `options` are the choices it was given, `read` what the rules make of the same text. The object is taken
    out of fences and prose. What it does not understand stays what the rules take it for; no model turns an
    instruction, a question, or what the rules are sure of, into an end of the design or an undo.
    """
    found = _object_in(answer)
    word = None if found is None else found.get("intent")
    if found is None or not isinstance(word, str):
        return None
    name = "_".join(word.strip().lower().replace("-", " ").replace("_", " ").split())
    kind = next((each for each in get_args(IntentKind) if each == _ALIASES.get(name, name)), None)
    if kind is None or kind not in {*options, "instruction", "question", "unclear"}:
        return None
    if kind in _ENDING and kind != read.kind and (read.is_sure or read.kind in {"instruction", "question"}):
        return None
    if kind == "go_back" and not read.round_number:
        return None
    if kind == "unclear" and read.kind not in {"instruction", "question", "unclear"}:
        return None
    confidence, back = found.get("confidence"), found.get("question")
    is_sure = isinstance(confidence, int | float) and confidence >= _LEAST_CONFIDENCE
    return CheckpointIntent(
        kind=kind,
        text=read.text,
        goals=read.goals if kind == "goals" else None,
        round_number=read.round_number if kind == "go_back" else 0,
        is_sure=is_sure and kind != "unclear",
        asks_back=back.strip() if kind == "unclear" and isinstance(back, str) else "",
    )


def _object_in(answer: str) -> dict[str, Any] | None:
    """The last object with an intent in an answer, whatever stands around it."""
    end = answer.rfind("}") + 1
    start = end
    for _ in range(_TRIES):
        start = answer.rfind("{", 0, start)
        if start < 0:
            return None
        value = read_json(answer[start:end])
        if isinstance(value, dict) and "intent" in value:
            return value
    return None


class _Checkpoint(NamedTuple):
    """Where a text is read."""

    goals_met: bool
    has_failed: bool
    can_undo: bool
    rounds: int


class _Read(NamedTuple):
    """What a sentence means."""

    kind: IntentKind
    is_sure: bool = True
    round_number: int = 0
    is_assent: bool = False
    """A bare "good": in the eyes of another sentence it says nothing."""


_UNCLEAR = _Read("unclear", is_sure=False)


def _sentences(shown: str) -> list[str]:
    return [part for each in _SENTENCE_END.split(shown) if (part := each.strip(" ,.;!。"))]


def _joined(found: Sequence[_Read]) -> _Read:
    """What several sentences mean together: a change counts before a question, a question before a choice."""
    is_asked = bool(found) and found[-1].kind == "question"
    if is_asked and not any(each.is_sure for each in found if each.kind in {"instruction", "goals"}):
        return _Read("question", found[-1].is_sure)  # "the gain dropped. Because of C2?"
    for kind in ("instruction", "goals", "question"):
        same = [each for each in found if each.kind == kind]
        if same:
            return _Read(kind, any(each.is_sure for each in same))
    found = [each for each in found if not each.is_assent] or found
    kinds = {each.kind for each in found}
    if kinds == {"continue", "optimize"}:
        return _Read("optimize")
    if len(kinds) == 1:
        return found[0]._replace(is_sure=all(each.is_sure for each in found))
    if len(kinds - {"unclear"}) == 1:  # a choice, and something that is not understood
        choice = next(each for each in found if each.kind != "unclear")
        is_harmless = choice.kind in {
            "continue",
            "optimize",
            "fix",
            "accept",
        }  # asked about before it is done
        return choice._replace(is_sure=False) if is_harmless else _UNCLEAR
    return _UNCLEAR


def _long(here: _Checkpoint, shown: str) -> _Read:
    """A long text asks when it ends as a question, or changes nothing and asks; else it instructs."""
    found = [each for part in _sentences(shown) if (each := _sentence(here, part)) is not None]
    kinds = {each.kind for each in found}
    if shown.endswith("?") or ("question" in kinds and "instruction" not in kinds):
        return _Read("question")
    return _Read("instruction", any(each == _Read("instruction") for each in found))


def _may_change_goals(shown: str, goals: Sequence[DesignGoal]) -> bool:
    """Whether a text is about goals alone, and not about parts, a condition, or an end of the design."""
    named = SPREAD.sub(" ", shown)
    for goal in goals:
        for words in (name_of(goal), words_of(goal)):
            named = re.sub(words, " ", named, flags=re.IGNORECASE)
    clauses = [[each for each in phrases(part) if each.role != "filler"] for part in _CLAUSE_END.split(named)]
    roles = {each.role for clause in clauses for each in clause}
    if roles & {"part", "quote", "if", "not", "tell", "back", "round"} or roles & _ENDING:
        return False
    return not any(
        clause
        and clause[0].role in {*_CHANGES, "optimize"}
        and len(clause) > 1
        and not _has(clause, "value")
        and not all(each.role in _CHANGES for each in clause)  # "纹波再压一压，改成 15 mV": of the goal alone
        for clause in (clauses if len(clauses) > 1 else [])
    )


def _asks_more(shown: str, goals: Sequence[DesignGoal]) -> bool:
    """Whether each clause bounds a quantity, or changes a goal: "Zin above 1M, and gain 26 dB"."""
    if _asks_more_of_it(shown):
        return True
    clauses = [each for part in re.split(r"[,;]", shown) if (each := part.strip())]
    bounds = [_asks_more_of_it(each) for each in clauses]
    return any(bounds) and all(
        is_bound or goals_changed_by(re.sub(r"^(?:另外|and|also)\s?", "", each), goals) is not None
        for is_bound, each in zip(bounds, clauses, strict=True)
    )


def _asks_more_of_it(shown: str) -> bool:
    """Whether a text bounds a quantity and says nothing of parts or choices: "THD below 1 %, gain >= 20"."""
    found = phrases(_HOLDING.sub(" ", shown))
    others: tuple[Role, ...] = (*_CHANGES_OF_PARTS, *_CHOICES)
    return (
        _has(found, "quantity", "goal", "wants")
        and _has(found, "value")
        and not _has(found, *others)
        and any(each.bound is not None for each in read_sentence(shown).mentions)
    )


def _has(found: Sequence[Phrase], *roles: Role) -> bool:
    return any(each.role in roles for each in found)


def _sentence(here: _Checkpoint, sentence: str) -> _Read | None:
    """What one sentence means; None for one that says nothing."""
    body, is_asked = sentence.rstrip("? "), sentence.endswith("?")
    is_told = is_asked and _TOLD_TO_CONFIRM.search(body) is not None
    untagged = without_tag(body)
    is_part = body.endswith("吧") and _has(phrases(body), "accept")  # "就这样吧"
    if untagged is not None and not is_part and not _has(phrases(untagged), "asks"):
        body, is_asked = untagged, False
    is_doubtful = is_asked
    found = _told(body)
    if found and found[0].role == "wish":
        found = _told(body.rstrip("吗么嘛呢嗎"))[1:]
        is_asked, is_doubtful = False, True
    elif (wished := _wished(found)) is not None:
        found, is_asked, is_doubtful = wished, False, True
    elif found and found[0].role == "hint":
        found, is_asked, is_doubtful = found[1:], False, True
        if not all(each.role in _ONLY_CHOICES for each in found):
            return _Read("instruction", is_sure=False)
    if not found:
        return _Read("question", is_sure=False) if is_asked else None
    if is_told or _INVERTED.match(body) or _EITHER.search(body) or _asks(found, is_english=body.isascii()):
        return _Read("question")
    if found[0].role == "undo":  # "undo your last change"
        found = [found[0], *(each for each in found[1:] if each.role != "edit")]
    if [each.role for each in found[:2]] == ["pick", "back"]:  # "用回第一轮的"
        found = found[1:]
    is_choice = all(each.role in _ONLY_CHOICES for each in found)
    read = _choice(here, found) if is_choice else _content(here, found)
    if not is_choice or read.kind == "unclear":
        read = _with_reason(here, found) or read
    if is_asked and (read.kind in {"instruction", "unclear"} or _has(found, "not")):
        return _Read("question", is_sure=read.kind == "unclear")
    if is_doubtful and read.kind in {"accept", "stop"}:
        return _Read("question", is_sure=False)
    return read._replace(is_sure=False) if is_doubtful and read.kind not in {"instruction", "goals"} else read


def _wished(found: list[Phrase]) -> list[Phrase] | None:
    """What is wished behind a reason: "the simulation failed, can you repair it"."""
    if [each.role for each in found if each.role in {"wish", "asks", "tell"}] != ["wish"]:
        return None
    place = next(number for number, each in enumerate(found) if each.role == "wish")
    return [*found[:place], *found[place + 1 :]] if found[place - 1] == _PAUSE else None


def _told(text: str) -> list[Phrase]:
    """The phrases that say something; what is only conceded does not ("even though the ripple is high")."""
    said = [each for each in phrases(text) if each.role != "filler"]
    found = _without_concessions(said)
    if {each.role for each in found} == {"value", "yes"}:
        return [each for each in found if each.role == "yes"]  # "4.93 is fine for me"
    while found and (found[0].role == "pause" or (found[0].role == "but" and len(found) < len(said) - 1)):
        found.pop(0)
    return found


def _without_concessions(found: list[Phrase]) -> list[Phrase]:
    """Without clauses that grant something and want nothing, unless nothing else was said."""
    if not _has(found, "concede"):
        return found
    clauses: list[list[Phrase]] = [[]]
    for number, each in enumerate(found):
        opens = each.role == "concede" and found[number + 1 : number + 2] not in ([], [_PAUSE])
        if each.role == "pause" or opens:
            clauses.append([])
        clauses[-1].append(each)
    said = [
        part for part in clauses if not (_has(part, "concede") and {each.role for each in part} <= _GRANTED)
    ]
    return [each for part in said for each in part if each.role != "concede"]


def _asks(found: Sequence[Phrase], *, is_english: bool) -> bool:
    """Whether a sentence wants to know something: "use what is cheapest" does not."""
    if found[0].role == "tell":
        return True
    if _has(found, "asks"):
        is_order = found[0].role in {*_CHANGES, "continue", "optimize", "fix", "but"}
        return not (is_english and is_order)
    return _has(found, "tell") and not _has(found, *_CHANGES, "but", "value", *_CHOICES)


def _with_reason(here: _Checkpoint, found: Sequence[Phrase]) -> _Read | None:
    """A choice behind words that only give a reason ("round 1 was better, go back"); None for any other.

    It is never sure: whoever carries it out asks before.
    """
    numbers = {each.number for each in found if each.role == "round" and each.number}
    if len(numbers) == 1 and {each.role for each in found} <= _TAKING:
        return _of_rounds(here, {"back", "round"}, numbers)._replace(is_sure=False)  # "use round 1"
    clauses = _clauses(found)
    if len(clauses) == 2 and _has(clauses[0], "undo", "stop", "back") and _has(clauses[1], "quantity"):
        found = [*clauses[1], _PAUSE, *clauses[0]]  # "undo, that killed the phase margin"
    elif len(clauses) == 2 and clauses[1][0].role in {"accept", "yes", "enough"}:
        is_reason = {each.role for each in clauses[1][1:]} == {"other"}
        if is_reason and {each.role for each in clauses[0]} == {"accept"}:
            found = [*clauses[1], _PAUSE, *clauses[0]]  # "take it, good enough for the demo board"
    if len(clauses) > 1 and {each.role for each in clauses[-1]} == {"not", "wants"}:
        found = [each for clause in clauses[:-1] for each in (*clause, _PAUSE)][
            :-1
        ]  # "stop, I don't want this"
    pauses = [number for number, each in enumerate(found) if each.role == "pause"]
    chosen = list(found[pauses[-1] + 1 :]) if pauses else []
    if len(numbers) == 1 and [each.role for each in chosen] == ["pick", "round"]:
        chosen = [Phrase("back"), chosen[1]]  # "round 1 did better, use round 1"
        found = [*found[: pauses[-1]], *chosen]
    praised: tuple[Role, ...] = ("yes", "quantity") if _has(chosen, "undo", "back") else ("yes",)
    butted = next((n for n in range(len(found) - 1, -1, -1) if found[n].role == "but"), 0)
    if butted and found[butted + 1 :] and not _has(found[:butted], "part", "value", "but", *_CHANGES):
        chosen = list(found[butted + 1 :])  # "not perfect, but I accept it"
        found = [*(each for each in found[:butted] if each.role != "not"), _PAUSE, *chosen]
    if any(
        _has(clause, *(_SAYS_MORE - {"value"} if _has(clause, "yes", "accept") else _SAYS_MORE))
        or (_has(clause, "part") and not _has(clause, *praised))
        for clause in _clauses(found)
    ):
        return None  # a part is no reason, unless something is said of it
    if not _has(chosen, *_CHOICES) or any(each.role not in _ONLY_CHOICES for each in chosen):
        return None
    if numbers and here.rounds not in numbers and _has(chosen, "accept"):
        chosen = [Phrase("back")]  # "round 2 was the best, take it"
    if [each.role for each in chosen] == ["done"] and _has(found, "yes"):
        chosen = [Phrase("accept")]  # "the gain is fine, done"
    if _has(chosen, "back") and not _has(chosen, "round"):
        chosen += [each for each in found if each.role == "round" and each not in chosen]
    read = _choice(here, chosen)
    return None if read.kind == "unclear" else read._replace(is_sure=False)


def _clauses(found: Sequence[Phrase]) -> list[list[Phrase]]:
    return [list(clause) for is_pause, clause in groupby(found, _PAUSE.__eq__) if not is_pause]


def _content(here: _Checkpoint, found: Sequence[Phrase]) -> _Read:  # noqa: PLR0911, PLR0912 - one a rule
    """What a sentence means that is more than a choice."""
    said = [each for each in found if each.role != "pause"]
    about = _has(said, *_ABOUT)
    roles = {each.role for each in said}
    if here.has_failed and "error" in roles and roles <= _OF_ERRORS:
        return _Read("fix", is_sure=False)
    if "goal" in roles and roles <= _OF_GOALS:
        return _Read("goals", is_sure=_has(said, "edit") or len(said) == 1)
    if _names_goals(found):
        return _Read("goals", is_sure=False)  # "new spec: 30 dB, 9 V"
    if {"wants", "value"} <= roles <= {"wants", "value", "quantity", "goal", "yes"}:
        return _Read("goals", is_sure=False)  # "we need 12 V"
    if roles == {"quantity", "goal", "not"}:
        return _Read("goals", is_sure=False)  # "功耗那条不要了", where there is no such goal
    if (
        "goal" in roles
        and _has((said[0], said[-1]), *_CHANGES)
        and roles <= _OF_GOALS | {"change", "part", "other"}
    ):
        return _Read("goals", is_sure=False)  # "drop the requirement on the input impedance"
    if _has(said, "if"):
        is_meant = about or _has(said, *_CHANGES, *_CHOICES, "but")
        return _Read("instruction", is_sure=False) if is_meant else _UNCLEAR
    if _has(said, "quote", "error") and _has(said, "fix"):
        return _Read("instruction", is_sure=False)
    if _has(said, "quote") and not _has(said, *_CHANGES):
        return _UNCLEAR
    if _has(said, "new"):
        return _Read("instruction", is_sure=False)
    if _has(said, *_CHANGES) and len(said) > 1:
        return _Read("instruction")
    is_thing = _has(said, "part", "quantity")
    if is_thing and _has(said, "value", "wants", "but", "not", "continue", "optimize", "fix"):
        return _Read("instruction")
    if _has(said, "but") and (about or _has(said, *_CHOICES)):
        return _Read("instruction", is_sure=False)
    if is_thing or (_has(said, "fix") and about):
        return _Read("instruction", is_sure=False)
    if roles <= {"continue", "optimize", "other", "yes", "round"} and roles & {"continue", "optimize"}:
        return _Read("optimize" if "optimize" in roles else "continue", is_sure=False)
    return _UNCLEAR


def _names_goals(found: Sequence[Phrase]) -> bool:
    """Whether figures stand behind "new targets:"; they are more than goals that are there already."""
    head = next((number for number, each in enumerate(found) if each.role == "pause"), 0)
    return (
        0 < head <= 2  # "goals:", "new goals:"
        and found[head - 1].role == "goal"
        and _has(found[head:], "value")
        and not _has(found[head:], *_CHANGES, *_CHOICES, "but", "if", "not")
    )


def _choice(here: _Checkpoint, found: Sequence[Phrase]) -> _Read:
    """What a sentence means in which nothing but words of choices stands."""
    said = _without_negations(found)
    if said is None:
        return _UNCLEAR
    roles: set[Role] = {each.role for each in said if each.role != "pause"}
    is_spelled = not any(each.is_typo for each in said)
    numbers = {each.number for each in said if each.role == "round" and each.number}
    if "back" in roles or numbers:
        read = _of_rounds(here, roles, numbers)
    else:
        read = _of_words(here, said, roles - {"round"})
    if read.kind == "undo" and not here.can_undo:
        return _UNCLEAR
    return read if is_spelled else read._replace(is_sure=False)


def _without_negations(found: Sequence[Phrase]) -> list[Phrase] | None:
    """The phrases with "don't stop" as a going on; None where what is not wanted leaves nothing to do."""
    said: list[Phrase] = []
    is_negated = is_enough = False
    said_no = len(list(takewhile(lambda each: each.role == "not", found)))
    for each in found[said_no:] if said_no > 1 else found:  # "no no no, put it back"
        if each.role == "not":
            is_negated = True
        elif each.role == "pause":
            is_negated = False  # "no, go on"
        elif not is_negated:
            said.append(each)
        elif each.role in {"stop", "enough"}:
            said.append(Phrase("continue"))
            is_negated = False
        elif each.role in {"accept", "done"}:
            said.append(Phrase("continue", is_typo=True))  # to be asked about
            is_negated = False
        elif each.role in {"continue", "optimize"}:
            is_enough = True
        else:
            return None
    answers_no = _has(found, "not") and not _has(found, "stop", "enough", "accept", "done")
    if (answers_no or is_enough) and not _has(said, *(_CHOICES if is_enough else _GOING_ON)):
        return None
    return said


def _of_rounds(  # noqa: PLR0911 - one a rule
    here: _Checkpoint, roles: set[Role], numbers: set[int]
) -> _Read:
    """Which round is gone back to."""
    if COUNTED in numbers:
        return (
            _Read("continue", is_sure=False)
            if roles <= {"round", "yes", "continue", "optimize"}
            else _UNCLEAR
        )
    if roles - {"back", "round", "yes", "undo", "continue", "accept"} or len(numbers) > 1:
        return _UNCLEAR
    named = next(iter(numbers), -1)
    number = here.rounds - 1 if named < 0 else named
    if "back" not in roles and "undo" in roles:
        return _Read("undo", is_sure=named > 0) if named < 0 or number == here.rounds else _UNCLEAR
    if number == here.rounds and "accept" in roles:
        return _Read("accept")
    if not numbers or number < 1:
        return _Read("undo", is_sure=False) if "accept" not in roles else _UNCLEAR
    if number >= here.rounds:  # "proceed with round 4" behind the third
        is_next = number == here.rounds + 1 and "continue" in roles and roles <= {"continue", "round", "yes"}
        return _Read("continue") if is_next else _UNCLEAR
    return _Read("go_back", is_sure=named > 0 and "back" in roles, round_number=number)


def _of_words(  # noqa: PLR0911 - one a rule
    here: _Checkpoint, said: Sequence[Phrase], roles: set[Role]
) -> _Read:
    """The one choice that the words name; several that differ are unclear."""
    meant = roles - {"yes", "error"}
    if not meant:
        if "yes" not in roles or "error" in roles:
            return _UNCLEAR
        kind: IntentKind = "fix" if here.has_failed else "accept" if here.goals_met else "continue"
        return _Read(kind, is_sure=False, is_assent=True)
    if meant <= {"fix", "continue", "optimize"} and ("fix" in meant or "error" in roles):
        return _Read("fix") if here.has_failed else _Read("instruction", is_sure=False)
    if "error" in roles:
        return _UNCLEAR
    if meant <= {"continue", "optimize"}:
        return _Read("optimize" if "optimize" in meant else "continue")
    if "accept" in meant and meant <= {"accept", "done", "enough", "stop"}:
        return _Read("accept", is_sure="stop" not in meant)
    if meant <= {"done", "enough"} and here.goals_met:  # "that'll do"
        return _Read("accept", is_sure=False)
    if meant == {"done"}:
        return _Read("accept", is_sure=False) if "yes" in roles else _UNCLEAR  # "perfect, we're done"
    if meant <= {"stop", "done", "enough"}:
        return _Read("stop", is_sure="stop" in meant)
    if meant == {"stop", "optimize"} and said[0].role == "stop":  # "stop optimizing"
        return _Read("stop", is_sure=False)
    if meant == {"stop", "continue"} and said[-1].role == "stop":  # "one last round, then stop"
        return _Read("continue", is_sure=False)
    return _Read("undo") if meant == {"undo"} else _UNCLEAR
