"""What cards and rows say, for both views."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from application.conversation.goals_shown import GoalsNow
from application.conversation.session_marks import STOPS
from application.tool_execution.taking_back import UndoChoice
from domain.llm.chat import ProviderChoice
from domain.llm.costs import AnswerUse, cached_share, shown_cost
from domain.llm.provider_settings import BUILTIN
from domain.llm.tools.look import CardKind
from domain.llm.tools.text_files import LineDiff
from domain.simulation.goals import DesignGoal
from domain.simulation.verdict import tells_partial
from presentation.figures import short_count
from presentation.panels.conversation.blocks import Button, Buttons, Said
from presentation.panels.conversation.items import (
    AnswerText,
    Decision,
    ErrorBlock,
    Interrupted,
    OperationCard,
    Retry,
    SimulationCard,
)
from presentation.provider_words import provider_title
from presentation.use_words import seconds_of, use_lines
from shared.errors import CircuitAIError
from shared.local_time import clock_time
from shared.message import Message, msg, template
from shared.origin import host_of

ButtonKind = Literal["", "primary", "ok", "warn", "quiet"]

UNDO_WAYS: Mapping[UndoChoice, Message] = {
    "current": msg("Keep the file as it is"),
    "restore": msg("Restore the old content"),
    "merge": msg("Merge both changes"),
}
CODE_ACTS: tuple[tuple[str, Message], ...] = (
    ("insert_code", msg("Insert as file…")),
    ("run_code", msg("Run…")),
    ("copy_code", msg("Copy")),
)
"""What can be done with a netlist in an answer; with other code the last."""
_WORD = re.compile(r"\s+|\S+")


def answering(choice: ProviderChoice) -> Message:
    """What answers, as the button of the choice names it."""
    if choice.provider == BUILTIN:
        return msg("Built-in designer")
    return msg("{text}", text=choice.model) if choice.model else provider_title(choice.provider)


def split_words(line: str) -> list[str]:
    """Words and the blanks between them; joined they are the line."""
    return _WORD.findall(line)


def verb_of(card: OperationCard) -> Message:
    if card.state == "running":
        return card.look.running
    if card.state in ("failed", "stopped", "not_run") and card.look.writes:
        return msg("Not changed")
    if card.is_new_file:
        return msg("Created")
    return card.look.done


def doing(card: OperationCard | SimulationCard) -> Message:
    """What is done while it runs: ``Simulating``, ``Changing filter.cir``."""
    verb = card.look.running
    if not card.path or verb.params:  # a tool without a word of ours is named itself
        return verb
    return msg("{doing} {file}", doing=verb, file=card.path)


def unfinished(cards: Sequence[OperationCard | SimulationCard]) -> Said:
    """``Not completed: Changing filter.cir, Simulating filter.cir``."""
    named = [part for card in cards for part in (msg(", "), doing(card))]
    return (msg("Not completed"), msg(": "), *named[1:])


def notes_of_goals(item: GoalsNow) -> tuple[Message, ...]:
    """What there is to know about the figures of goals."""
    if not item.verdicts:
        told = msg(
            "This circuit has no goals yet. “Change…” sets them, or say them: /goals cutoff 10 kHz ±2 %"
        )
        return (told,)
    if not item.run:
        return (msg("No run of this circuit has ended well yet: the goals are not measured."),)
    return (msg("The circuit has changed since run {number}.", number=item.run),) if item.is_older else ()


def ways_of_goals(item: GoalsNow) -> tuple[tuple[str, Message], ...]:
    """Acts and labels of the buttons below them; none below those of a conversation of others."""
    if not item.is_ours:
        return ()
    ways: list[tuple[str, Message]] = [("goals_edit", msg("Change…"))]
    if item.verdicts and (item.is_older or not item.run):
        ways.insert(0, ("run_again", msg("Simulate")))
    if item.before is not None:
        ways.append(("goals_turn", msg("Redo") if item.is_undone else msg("Undo")))
    return tuple(ways)


def changed_goals(item: GoalsNow) -> tuple[tuple[DesignGoal | None, DesignGoal | None], ...]:
    """What a change has made of goals, each as it was and as it is; nothing of one that was taken back."""
    if item.before is None or item.is_undone:
        return ()
    was = {goal.metric: goal for goal in item.before}
    now = {verdict.goal.metric: verdict.goal for verdict in item.verdicts}
    pairs = ((was.get(metric), now.get(metric)) for metric in dict.fromkeys((*was, *now)))
    return tuple(
        (old, new) for old, new in pairs if old is None or new is None or not new.is_same_demand(old)
    )


_STEPS: Mapping[CardKind, Callable[..., Message]] = {
    "read": template("{count} read"),
    "change": template("{count} written"),
    "delete": template("{count} deleted"),
    "simulate": template("{count} simulated"),
    "study": template("{count} {count:study|studies}"),
    "plain": template("{count} other"),
}


def steps_text(cards: Sequence[OperationCard | SimulationCard]) -> Said:
    """``12 steps: 8 read, 3 written, 1 simulated``."""
    counts = Counter(card.look.card for card in cards)
    told = [_STEPS[kind](count=counts[kind]) for kind in _STEPS if counts[kind]]
    parts = [part for each in told for part in (msg(", "), each)]
    return (msg("{count} steps", count=len(cards)), msg(": "), *parts[1:])


def icon_of(card: OperationCard) -> str:
    return "file-plus" if card.is_new_file else card.look.icon


def is_gone(card: OperationCard) -> bool:
    """Whether what was done took the file away: there are no lines to go to."""
    return card.look.card == "delete"


def lines_of(diff: LineDiff) -> Message:
    """Where a change is: ``lines 17–19``, in the new file."""
    first = diff.hunks[0].new_line
    last = diff.hunks[-1].new_line + max(len(diff.hunks[-1].added) - 1, 0)
    if last <= first:
        return msg("line {line}", line=first)
    return msg("lines {first}–{last}", first=first, last=last)


def decision_texts(item: Decision) -> tuple[Message, Message]:
    """What a question is about, and how it stands."""
    if item.kind == "pending_run":
        return msg("A design was interrupted here"), msg("“{text}”", text=item.text)
    title = msg("Checkpoint {number}", number=item.number) if item.number else msg("The existing circuit")
    return title, _standing(item)


def _standing(item: Decision) -> Message:
    goals = msg("{met} of {total} {total:goal|goals} met", met=item.met, total=item.total)
    figures = msg("this round failed") if item.has_failed else goals
    if item.state == "expired":
        return msg("not decided: the run was stopped")
    if item.state == "waits":
        return msg("{figures}; the design waits here", figures=figures)
    if item.state == "chosen" and not item.chosen:
        is_back = item.answer == "go_back"
        how = msg("went back to an earlier round") if is_back else msg("answered by a message")
        return msg("{figures}; {how}", figures=figures, how=how)
    if item.is_exhausted:
        return msg("{figures}; the last attempt changed nothing", figures=figures)
    if item.rests is not None:
        return msg("{figures}; {why}", figures=figures, why=item.rests)
    return figures


def choice_text(item: Decision, choice: str) -> Message:
    return {
        "accept": msg("Accept") if item.goals_met else msg("Accept design"),  # one line at 440 px
        "continue": _another_round(item),
        "fix": msg("Fix error"),
        "until": msg("Run until met"),
        "goals": msg("Change goals"),
        "undo": msg("Undo"),
        "stop": msg("Stop"),
        "resume": msg("Resume"),
        "anew": msg("Start over"),
    }[choice]


def _another_round(item: Decision) -> Message:
    if item.is_exhausted:
        return msg("Try again")
    return msg("Optimize further") if item.number else msg("Optimize")


def choice_kind(item: Decision, choice: str, *, is_first: bool) -> ButtonKind:
    """How a button of an open decision looks; one of them is filled, unless a chip below is."""
    if choice in ("stop", "undo"):
        return "quiet"
    if not is_first or item.is_behind_chip:
        return ""
    if choice == "fix":
        return "warn"
    return "ok" if choice == "accept" else "primary"


def interruption_texts(item: Interrupted) -> tuple[Message, Message | None]:
    """What an interrupted turn says, and how far it came."""
    title = STOPS.get(item.reason, STOPS["interrupted"])
    if not item.characters:
        return title, None
    return title, msg("after {count} {count:character|characters}", count=item.characters)


def choice_hint(item: Decision, choice: str) -> Message | None:
    """What a button does, where its word does not say it."""
    return {
        "accept": msg("Ends the design; the circuit stays as it is now"),
        "continue": msg("One more round with corrected values"),
        "fix": msg("One more round that corrects what the simulator reports"),
        "until": msg(
            "Continues without asking until the goals are met, two rounds gain nothing, three fixes fail, or "
            "the rounds are used up"
        ),
        "goals": msg("The next round uses the goals you then confirm"),
        "undo": msg("Restores the file as it was before round {number}", number=item.number),
        "stop": msg("Ends the design here; the best circuit is kept in the file"),
    }.get(choice)


def meta_of(item: AnswerText) -> str:
    model = "" if item.model == "builtin" else item.model  # the input names it, in the user's language
    return " · ".join(part for part in (model, clock_time(item.created)) if part)


def foot_of(use: AnswerUse | None) -> tuple[Said, ...]:
    """What stands under an answer: time, tokens, cost where it is known; nothing of the built-in model's."""
    if use is None or use.provider == BUILTIN:
        return ()
    parts: list[Said] = []
    if use.facts is not None and use.facts.seconds:
        parts.append(seconds_of(use.facts.seconds))
    usage, share = use.usage, cached_share(use.usage)
    if usage.prompt_tokens or usage.completion_tokens:
        sent, answered = short_count(usage.prompt_tokens), short_count(usage.completion_tokens)
        if usage.cached_tokens and share is not None:
            cached = f"{share:.0%}"
            parts.append(
                msg(
                    "{sent} in ({cached} cached), {answered} out", sent=sent, cached=cached, answered=answered
                )
            )
        else:
            parts.append(msg("{sent} in, {answered} out", sent=sent, answered=answered))
    if spent := shown_cost(use.cost):
        parts.append(spent)
    return tuple(each for part in parts for each in (" · ", part))[1:]


def use_tip(use: AnswerUse | None) -> tuple[Said, ...]:
    """What an answer took, a line each; nothing of the built-in model's."""
    if use is None or use.provider == BUILTIN:
        return ()
    lines: list[Said] = [use.model]
    for line in use_lines(use):
        lines += ["\n", line]
    return tuple(lines)


def thought_title(item: AnswerText) -> Message:
    """What stands over the thoughts of an answer."""
    if item.thought_s is None:
        return msg("Thoughts")
    return msg("Thought for {seconds} s", seconds=f"{max(item.thought_s, 1):.0f}")


def simulation_verb(item: SimulationCard) -> Message:
    if item.state == "failed" and tells_partial(item.summary):
        return msg("Simulated in part")
    return {
        "running": msg("Simulating"),
        "failed": msg("Simulation failed"),
        "stopped": msg("Simulation stopped"),
        "not_run": msg("Not simulated"),
    }.get(item.state, msg("Simulated"))


def simulation_ways(item: SimulationCard) -> tuple[tuple[str, Message], ...]:
    """(act, words) of the buttons below a simulation that gave nothing."""
    if item.state == "stopped":
        return (("run_again", msg("Run again")),)
    return (("log", msg("Show log")),) if item.state == "failed" and item.path else ()


class Way(NamedTuple):
    """A way out of an error."""

    act: str
    text: Message
    remark: Message | None = None
    argument: str = ""


_MOST_OFFERS = 2
_OF_THE_REQUEST = frozenset(("missing_goal", "impossible_goal"))
_OF_THE_DISK = frozenset(("disk_full", "read_only", "busy"))
"""Errors that another model would have as well."""


CHOOSE_MODEL, WHAT_CAN_BE_DESIGNED = msg("Choose a model"), msg("What I can design")


_WAYS_ON = re.compile(r"(?:^|(?<=[.。]))[^.。\n]*`providers`[^\n]*\Z", re.MULTILINE)
"""`domain.llm.provider_settings.WAYS_ON` in any language: the command is named in no other last sentence."""


def refusal_of(item: AnswerText) -> tuple[str, tuple[Buttons, ...]]:
    """An answer's text, and of a refusal of the built-in model the ways on that its end names."""
    end = _WAYS_ON.search(item.text) if item.model in ("", BUILTIN) else None
    if end is None:
        return item.text, ()
    buttons = (
        Button(act="model", label=CHOOSE_MODEL, kind="primary"),
        Button(act="designable", label=WHAT_CAN_BE_DESIGNED),
    )
    return item.text[: end.start()].rstrip(), (Buttons(buttons),)


def lists_circuits(item: ErrorBlock) -> bool:
    """Whether its advice is the list of what can be designed: a button shows that."""
    is_unknown = item.error_type == "unknown_circuit" and (item.is_spent or bool(error_ways(item)))
    return is_unknown and item.advice is not None and "circuits" in item.advice.params


def error_ways(item: ErrorBlock) -> tuple[Way, ...]:
    """Ways out of an error, what helps most first."""
    if not item.can_retry or item.is_spent:
        return ()
    if item.error_type == "unknown_circuit":
        return (Way("model", CHOOSE_MODEL), Way("designable", WHAT_CAN_BE_DESIGNED))
    if item.error_type in _OF_THE_REQUEST:  # the same words give the same answer
        return (Way("model", CHOOSE_MODEL),)
    ways = [
        Way("anew", msg("Ask in a new conversation"), msg("nothing of this one is sent"))
        if item.can_begin_anew
        else Way("retry", msg("Try again"))
    ]
    if item.error_type in _OF_THE_DISK:
        return tuple(ways)
    for number, choice in enumerate(item.offers[:_MOST_OFFERS]):
        name: Message | str = choice.model or provider_title(choice.provider)
        remark = choice.provider if choice.model else None
        host = host_of(choice.base_url)
        if host:
            told: Message | None = msg("{provider} at {host}", provider=choice.provider, host=host)
        else:
            told = None if remark is None else msg("{text}", text=remark)
        ways.append(Way("switch", msg("Ask {model} instead", model=name), told, str(number)))
    ways.append(Way("model", msg("Choose another model")))
    if item.model:
        ways.append(Way("offline", msg("Use the built-in designer instead"), msg("offline")))
    return tuple(ways)


def error_details(item: ErrorBlock) -> str:
    """For a report: the kind of the error, what did not answer, when. The same in every language."""
    parts = (item.error_type, item.model or "builtin", item.created)
    return "\n".join(part for part in parts if part)


def retry_notes(item: Retry) -> tuple[Message, ...]:
    """What there is to know about a wait: whose requests it waits for, what is kept meanwhile."""
    notes = []
    if item.at_work:
        names = ", ".join(f"“{_short(name)}”" for name in item.at_work[:_MOST_NAMED])
        names += " …" if len(item.at_work) > _MOST_NAMED else ""
        notes.append(msg("Running in {names}", names=names))
    if item.characters:
        notes.append(msg("{count} {count:character was|characters were} kept.", count=item.characters))
    return tuple(notes)


_MOST_NAMED = 3
_LONGEST_NAME = 40


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME].rstrip()}…"


def now() -> str:
    """ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def with_advice(error: CircuitAIError) -> Message:
    """What went wrong, and what to do about it."""
    if error.advice is None:
        return error.message
    return msg("{problem} {advice}", problem=error.message, advice=error.advice)


def busy() -> Message:
    return msg("A run is in progress in this conversation. Stop it first.")


def as_change_of_design() -> Message:
    """What is said of a message of free work that the design of the conversation would take."""
    return msg("The design can take this: its goals change with it, and the circuit is sized again for them.")


def unsaved() -> Message:
    """A buffer could not be written."""
    return msg("An open file could not be saved, so nothing was started.")
