"""An eight-answer turn for a fake server, written so that a doubled, lost or misplaced effect shows."""

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
    answer("All done."),
)
CALLS = 9


def next_answer(body: dict[str, Any]) -> Script:
    """What the model says to a request, from the request alone."""
    messages = body["messages"]
    start = max(place for place, message in enumerate(messages) if message["role"] == "user")
    if "NEXT" in str(messages[start]["content"]):
        return answer("Nothing else.")
    return ANSWERS[answers_so_far(body)]


def answers_so_far(body: dict[str, Any]) -> int:
    """Answers of the running turn that the request already knows."""
    messages = body["messages"]
    start = max(place for place, message in enumerate(messages) if message["role"] == "user")
    return sum(bool(message.get("tool_calls")) for message in messages[start:])
