"""What cards and rows say, for both views."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from domain.llm.tools.line_diff import LineDiff
from presentation.panels.conversation.items import (
    WRITING_TOOLS,
    AnswerText,
    CardState,
    Decision,
    ErrorBlock,
    Interrupted,
    OperationCard,
    Retry,
    SimulationCard,
)
from presentation.panels.conversation.moments import clock_time
from shared.message import Message, msg
from shared.origin import host_of

if TYPE_CHECKING:
    from application.tool_execution.taking_back import UndoChoice

ButtonKind = Literal["", "primary", "ok", "warn", "quiet"]

UNDO_WAYS: Mapping[UndoChoice, Message] = {
    "current": msg("Keep the file as it is"),
    "restore": msg("Put the old content back"),
    "merge": msg("Join both changes"),
}
_DONE: Mapping[str, Message] = {
    "create_folder": msg("Made the folder"),
    "move_file": msg("Moved"),
    "rename_file": msg("Renamed"),
    "delete_file": msg("Deleted"),
    "rewrite_file": msg("Changed"),
    "patch_file": msg("Changed"),
    "read_file": msg("Read"),
    "list_project_files": msg("Listed the files"),
    "search_project": msg("Searched the project"),
    "search_exact": msg("Searched"),
    "web_search": msg("Searched the web"),
    "find_references": msg("Found uses"),
    "analyze_file": msg("Analysed"),
    "inspect_data": msg("Inspected"),
    "get_file_summary": msg("Looked over"),
    "get_dependencies": msg("Followed the includes"),
    "run_parametric_sweep": msg("Swept"),
    "run_monte_carlo": msg("Monte Carlo"),
    "run_pvt_analysis": msg("Corners"),
    "run_worst_case": msg("Worst case"),
    "run_sensitivity": msg("Sensitivities"),
    "optimize_parameters": msg("Optimised"),
    "analyze_convergence": msg("Examined convergence"),
    "generate_chart": msg("Drew a chart"),
    "export_waveform_data": msg("Exported curves"),
}
_RUNNING: Mapping[str, Message] = {
    "create_folder": msg("Making the folder"),
    "move_file": msg("Moving"),
    "rename_file": msg("Renaming"),
    "delete_file": msg("Deleting"),
    "rewrite_file": msg("Changing"),
    "patch_file": msg("Changing"),
    "read_file": msg("Reading"),
    "list_project_files": msg("Listing the files"),
    "search_project": msg("Searching the project"),
    "search_exact": msg("Searching"),
    "web_search": msg("Searching the web"),
    "find_references": msg("Looking for uses"),
    "analyze_file": msg("Analysing"),
    "inspect_data": msg("Inspecting"),
    "get_file_summary": msg("Looking over"),
    "get_dependencies": msg("Following the includes"),
    "run_parametric_sweep": msg("Sweeping"),
    "run_monte_carlo": msg("Running Monte Carlo"),
    "run_pvt_analysis": msg("Running corners"),
    "run_worst_case": msg("Looking for the worst case"),
    "run_sensitivity": msg("Computing sensitivities"),
    "optimize_parameters": msg("Optimising"),
    "analyze_convergence": msg("Examining convergence"),
    "generate_chart": msg("Drawing a chart"),
    "export_waveform_data": msg("Exporting curves"),
}
_ICONS: Mapping[str, str] = {
    "delete_file": "trash-2",
    "create_folder": "folder-plus",
    "move_file": "file-pen",
    "rename_file": "file-pen",
    "rewrite_file": "file-pen",
    "patch_file": "file-pen",
    "read_file": "search",
    "list_project_files": "list-tree",
    "analyze_file": "file-code",
    "get_file_summary": "file-text",
    "get_dependencies": "link",
    "run_parametric_sweep": "activity",
    "run_monte_carlo": "activity",
    "run_pvt_analysis": "activity",
    "run_worst_case": "activity",
    "run_sensitivity": "activity",
    "optimize_parameters": "target",
    "analyze_convergence": "activity",
    "generate_chart": "chart-line",
    "export_waveform_data": "download",
    "inspect_data": "table-2",
    "web_search": "globe",
}
_INTERRUPTED: Mapping[str, Message] = {
    "user": msg("Stopped by you"),
    "stopped": msg("Stopped by you"),
    "interrupted": msg("Interrupted"),
    "app_shutdown": msg("Interrupted: the program was closed"),
    "session_switch": msg("Stopped: another conversation was opened"),
    "timeout": msg("Stopped: it took too long"),
    "limit": msg("A limit of the turn was reached"),
    "loop": msg("Ended: it went in circles"),
    "length": msg("Cut at the model's output limit"),
    "content_filter": msg("Withheld by the provider"),
    "cut": msg("The answer broke off"),
    "error": msg("Broken off by an error"),
    "unanswered": msg("No answer came"),
}
_WORD = re.compile(r"\s+|\S+")


def split_words(line: str) -> list[str]:
    """Words and the blanks between them; joined they are the line."""
    return _WORD.findall(line)


def verb_of(card: OperationCard) -> Message:
    """What a card's head says was done."""
    if card.state == "running":
        return _RUNNING.get(card.tool, msg("Running {tool}", tool=card.tool))
    if card.state in ("failed", "stopped", "not_run") and card.tool in WRITING_TOOLS:
        return msg("Not changed")
    if card.is_new_file:
        return msg("Created")
    return _DONE.get(card.tool, msg("Ran {tool}", tool=card.tool))


def doing(card: OperationCard | SimulationCard) -> Message:
    """What is done while it runs: ``Simulating``, ``Changing filter.cir``."""
    verb = simulation_verb("running") if isinstance(card, SimulationCard) else verb_of(card)
    if not card.path or verb.params:  # a tool without a word of ours is named itself
        return verb
    return msg("{doing} {file}", doing=verb, file=card.path)


def icon_of(card: OperationCard) -> str:
    """The icon of what was done."""
    return "file-plus" if card.is_new_file else _ICONS.get(card.tool, "search")


def is_gone(card: OperationCard) -> bool:
    """Whether what was done took the file away: there are no lines to go to."""
    return card.tool == "delete_file"


def lines_of(diff: LineDiff) -> Message:
    """Where a change is: ``lines 17–19``, in the new file."""
    first = diff.hunks[0].new_line
    last = diff.hunks[-1].new_line + max(len(diff.hunks[-1].added) - 1, 0)
    if last <= first:
        return msg("line {line}", line=first)
    return msg("lines {first}–{last}", first=first, last=last)


def decision_texts(item: Decision) -> tuple[Message, Message]:
    """Title and state of a decision."""
    if item.kind == "pending_run":
        return msg("A design was interrupted here"), msg("“{text}”", text=item.text)
    title = msg("Checkpoint {number}", number=item.number)
    if item.state == "expired":
        return title, msg("not decided: the run was stopped")
    if item.has_failed:
        return title, msg("the simulation failed")
    if item.is_exhausted:
        text = msg("{met} of {total} goals met; nothing more can be gained", met=item.met, total=item.total)
        return title, text
    return title, msg("{met} of {total} goals met", met=item.met, total=item.total)


def choice_text(item: Decision, choice: str) -> Message:
    """The word on a button."""
    if choice == "continue" and item.has_failed:
        return msg("Fix error")
    return {
        "accept": msg("Accept design"),
        "continue": msg("Optimise further"),
        "goals": msg("Change goals"),
        "undo": msg("Undo"),
        "stop": msg("Stop"),
        "resume": msg("Go on with it"),
        "anew": msg("Begin anew"),
    }[choice]


def choice_kind(item: Decision, choice: str, *, is_first: bool) -> ButtonKind:
    """How a button of an open decision looks; one of them is filled."""
    if choice in ("stop", "undo"):
        return "quiet"
    if choice == "continue" and item.has_failed:
        return "warn"
    if not is_first:
        return ""
    return "ok" if choice == "accept" else "primary"


def interruption_texts(item: Interrupted) -> tuple[Message, Message | None]:
    """What an interrupted turn says, and how far it came."""
    title = _INTERRUPTED.get(item.reason, _INTERRUPTED["interrupted"])
    if not item.characters:
        return title, None
    return title, msg("after {count} characters", count=item.characters)


def choice_hint(item: Decision, choice: str) -> Message | None:
    """What a button does, where its word does not say it."""
    return {
        "accept": msg("Ends the design; the best circuit stays in the file"),
        "continue": msg("One more round with corrected values"),
        "goals": msg("The next round is designed and judged by the goals you then confirm"),
        "undo": msg("Puts the file back as it was before round {number}", number=item.number),
        "stop": msg("Ends the design here; the best circuit stays in the file"),
    }.get(choice)


def meta_of(item: AnswerText) -> str:
    """Model and time of an answer."""
    return " · ".join(part for part in (item.model, clock_time(item.created)) if part)


def thought_title(item: AnswerText) -> Message:
    """What stands over the thoughts of an answer."""
    if item.thought_s is None:
        return msg("Thoughts")
    return msg("Thought for {seconds} s", seconds=f"{max(item.thought_s, 1):.0f}")


def simulation_verb(state: CardState) -> Message:
    """What a simulation's card says was done."""
    return {
        "running": msg("Simulating"),
        "failed": msg("Simulation failed"),
        "stopped": msg("Simulation stopped"),
        "not_run": msg("Not simulated"),
    }.get(state, msg("Simulated"))


def state_text(state: CardState) -> Message:
    """How a call ended."""
    return {
        "running": msg("running"),
        "done": msg("done"),
        "stopped": msg("stopped"),
        "not_run": msg("not run"),
    }.get(state, msg("failed"))


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


def error_ways(item: ErrorBlock) -> tuple[Way, ...]:
    """Ways out of an error, what helps most first."""
    if not item.can_retry or item.is_spent:
        return ()
    ways = [
        Way("anew", msg("Ask it in a new conversation"), msg("nothing of this one is sent"))
        if item.can_begin_anew
        else Way("retry", msg("Try again"))
    ]
    for number, choice in enumerate(item.offers[:_MOST_OFFERS]):
        name = choice.model or choice.provider
        remark = choice.provider if choice.model else None
        host = host_of(choice.base_url)
        if host:
            told: Message | None = msg("{provider} at {host}", provider=choice.provider, host=host)
        else:
            told = None if remark is None else msg("{text}", text=remark)
        ways.append(Way("switch", msg("Ask {model} instead", model=name), told, str(number)))
    ways.append(Way("model", msg("Choose another model")))
    if item.model:
        ways.append(Way("offline", msg("Go on with the built-in designer"), msg("offline")))
    return tuple(ways)


def error_details(item: ErrorBlock) -> str:
    """For a report: the kind of the error, what did not answer, when. The same in every language."""
    parts = (item.error_type, item.model or "builtin", item.created)
    return "\n".join(part for part in parts if part)


def retry_texts(item: Retry) -> tuple[Message, Message | None]:
    """What happened, and what is kept."""
    kept = msg("{count} characters are kept.", count=item.characters) if item.characters else None
    return item.reason, kept
