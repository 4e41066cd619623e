"""A turn of eleven answers for a fake server, written so that a doubled, lost or misplaced effect shows.

One call fails twice, so that its second result has advice; the last answer is cut off and gone on with.
"""

from __future__ import annotations

from typing import Any

from tests.fakes.llm_server import Call, Script, answer, call

NOTES = "start\nEND\n"
DECK = "RC low-pass\nVin in 0 DC 0 AC 1\nR1 in out 1k\nC1 out 0 1u\n.ac dec 10 1 100k\n.end\n"
FINAL_NOTES = "start\n* one\n* two\n* three\nEND\n"
FINAL_DECK = DECK.replace("1k", "2k")
QUESTION = "Build the filter step by step."
NEXT_QUESTION = "NEXT: and now?"


def _write(path: str, content: str) -> Call:
    return call("rewrite_file", {"path": path, "content": content})


def _line(text: str) -> Call:
    return call("patch_file", {"path": "notes.md", "search": "END", "replace": f"* {text}\nEND"})


# Every call has the same provider id, as some servers send them.
ANSWERS = (
    answer(
        "Notes first. ",
        reasoning="I begin.",
        calls=[_write("notes.md", NOTES)],
    ),
    answer("", calls=[_line("one")]),
    answer("Two edits at once.", calls=[_line("two"), _line("three")]),
    answer("", calls=[_write("rc.cir", DECK)]),
    answer("Now the proof.", calls=[call("run_simulation", {"file_path": "rc.cir"})]),
    answer("", calls=[call("read_file", {"path": "notes.md"}), call("list_project_files", {})]),
    answer(
        "One more value.",
        calls=[call("patch_file", {"path": "rc.cir", "search": "R1 in out 1k", "replace": "R1 in out 2k"})],
    ),
    answer("", calls=[call("patch_file", {"path": "rc.cir", "search": "R7", "replace": "R8"})]),
    answer("Once more.", calls=[call("patch_file", {"path": "rc.cir", "search": "R7", "replace": "R8"})]),
    answer("So there is no R7.", calls=[call("read_file", {"path": "rc.cir"})]),
)
CALLS = 12
FAILING = 2
FINAL_ANSWER = "All done: the notes are written, the filter is simulated, R1 is 2k."
_CUT_AT = 32


def next_answer(body: dict[str, Any]) -> Script:
    """What the model says to a request, from the request alone."""
    if "NEXT" in str(body["messages"][_start_of_turn(body)]["content"]):
        return answer("Nothing else.")
    number = answers_so_far(body)
    if number < len(ANSWERS):
        return ANSWERS[number]
    if not is_continuation(body):
        return answer(FINAL_ANSWER[:_CUT_AT], finish_reason="length")
    before = body["messages"][-2]["content"]
    assert FINAL_ANSWER.startswith(before), before
    return answer(FINAL_ANSWER[len(before) :])


def is_continuation(body: dict[str, Any]) -> bool:
    """Whether the request asks for the rest of an answer that was cut off."""
    return "was cut off at its end" in str(body["messages"][-1]["content"])


def answers_so_far(body: dict[str, Any]) -> int:
    """Answers of the running turn that the request already knows."""
    messages = body["messages"][_start_of_turn(body) :]
    return sum(bool(message.get("tool_calls")) for message in messages)


def _start_of_turn(body: dict[str, Any]) -> int:
    """Where the user's newest message is; what the program itself says to the model is none."""
    return max(
        place
        for place, message in enumerate(body["messages"])
        if message["role"] == "user" and not str(message["content"]).startswith("(A note of the program")
    )
