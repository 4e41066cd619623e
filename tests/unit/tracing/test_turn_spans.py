"""Spans of turns: kept as they begin and end, taken up, given to other tools, never in the way."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from application.ports.tracing import KeptSpan
from infrastructure.tracing.spans import SpanWriter, SqliteTraces, TurnSpans
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import msg
from shared.ulid import new_ulid, number_of

STORE = SqliteTraces()


async def a_turn(database: Path, turn_id: str, *, ends: BaseException | None = None) -> None:
    async with TurnSpans().turn(database, turn_id=turn_id, session_id="s1", name="turn") as turn:
        with turn.child("agent_loop", tools=3) as loop:
            with loop.child("llm_call 1", gen_ai__request__model="m", text="x" * 900) as call:
                call.note(gen_ai__usage__output_tokens=7)

            async def run(number: int) -> None:
                with loop.child(f"tool {number}"):
                    await asyncio.sleep(0)

            await asyncio.gather(*map(run, range(3)))
            if ends is not None:
                raise ends


def test_spans_form_the_tree_of_the_turn(tmp_path: Path) -> None:
    database, turn_id = tmp_path / "traces.sqlite", new_ulid()
    asyncio.run(a_turn(database, turn_id))

    (turn,) = STORE.turns(database)
    spans = {span.name: span for span in STORE.spans(database, turn.trace_id)}

    assert turn.trace_id == f"{number_of(turn_id):032x}"
    assert (turn.session_id, turn.status, turn.attributes["turn_id"]) == ("s1", "ok", turn_id)
    assert spans["agent_loop"].parent_id == turn.span_id
    for name in ("llm_call 1", "tool 0", "tool 1", "tool 2"):
        assert spans[name].parent_id == spans["agent_loop"].span_id, "also of those side by side"
    call = spans["llm_call 1"]
    assert call.attributes["gen_ai.request.model"] == "m"
    assert call.attributes["gen_ai.usage.output_tokens"] == 7
    assert len(str(call.attributes["text"])) == 200, "a trace holds names and sizes, not texts"
    assert all(span.seconds is not None and span.seconds >= 0 for span in spans.values())


@pytest.mark.parametrize(
    ("ends", "status", "error_type", "outcome"),
    [
        (UserInputError(msg("No file secret-key-1234."), error_type="no_file"), "error", "no_file", None),
        (RuntimeError("secret-key-1234"), "error", "RuntimeError", None),
        (asyncio.CancelledError(), "ok", "", "stopped"),
    ],
)
def test_an_end_is_noted_by_its_kind_alone(
    tmp_path: Path, ends: BaseException, status: str, error_type: str, outcome: str | None
) -> None:
    database = tmp_path / "traces.sqlite"
    with pytest.raises(type(ends)):
        asyncio.run(a_turn(database, new_ulid(), ends=ends))

    (turn,) = STORE.turns(database)
    assert (turn.status, turn.error_type, turn.attributes.get("outcome")) == (status, error_type, outcome)
    loop = next(span for span in STORE.spans(database, turn.trace_id) if span.name == "agent_loop")
    assert ("stack" in loop.attributes) is (status == "error")
    assert "a_turn" in str(loop.attributes.get("stack", "a_turn"))
    for file in tmp_path.iterdir():
        assert b"secret-key-1234" not in file.read_bytes()


def test_a_turn_taken_up_goes_on_with_its_trace(tmp_path: Path) -> None:
    database, turn_id = tmp_path / "traces.sqlite", new_ulid()
    asyncio.run(a_turn(database, turn_id))
    (first,) = STORE.turns(database)
    asyncio.run(a_turn(database, turn_id))

    (turn_now,) = STORE.turns(database)
    assert (turn_now.span_id, turn_now.started_ns) == (first.span_id, first.started_ns)
    assert (turn_now.ended_ns or 0) > (first.ended_ns or 0)
    assert [span.name for span in STORE.spans(database, first.trace_id)].count("agent_loop") == 2


def test_what_a_killed_program_was_doing_is_there(tmp_path: Path) -> None:
    database = tmp_path / "traces.sqlite"
    spans: Sequence[KeptSpan] = ()

    async def run() -> None:
        nonlocal spans
        async with TurnSpans().turn(database, turn_id=new_ulid(), session_id="s1", name="turn") as turn:
            with turn.child("agent_loop") as loop, loop.child("tool run_simulation"):
                # As another process finds it, which a kill would leave: once the writer has caught up.
                while len(spans) < 3:
                    await asyncio.sleep(0.005)
                    for found in await asyncio.to_thread(STORE.turns, database):
                        spans = await asyncio.to_thread(STORE.spans, database, found.trace_id)

    asyncio.run(run())
    assert [(span.name, span.ended_ns, span.status) for span in spans] == [
        ("turn", None, ""),
        ("agent_loop", None, ""),
        ("tool run_simulation", None, ""),
    ]
    exported = json.loads(STORE.otlp(spans))["resourceSpans"][0]["scopeSpans"][0]["spans"]
    unfinished = {"key": "circuit_design_ai.unfinished", "value": {"boolValue": True}}
    assert all(unfinished in span["attributes"] for span in exported)
    assert all(int(span["endTimeUnixNano"]) >= int(span["startTimeUnixNano"]) for span in exported)


def test_other_tools_get_otlp(tmp_path: Path) -> None:
    database, turn_id = tmp_path / "traces.sqlite", new_ulid()
    with pytest.raises(RuntimeError):
        asyncio.run(a_turn(database, turn_id, ends=RuntimeError()))
    (turn,) = STORE.turns(database)
    document = json.loads(STORE.otlp(STORE.spans(database, turn.trace_id)))

    (resource,) = document["resourceSpans"]
    service = {"key": "service.name", "value": {"stringValue": "circuit-design-ai"}}
    assert service in resource["resource"]["attributes"]
    spans = {span["name"]: span for span in resource["scopeSpans"][0]["spans"]}
    assert {span["traceId"] for span in spans.values()} == {turn.trace_id}
    assert "parentSpanId" not in spans["turn"]
    assert spans["agent_loop"]["parentSpanId"] == spans["turn"]["spanId"] == turn.span_id
    assert spans["turn"]["status"] == {"code": 2}, "STATUS_CODE_ERROR"
    assert spans["llm_call 1"]["status"] == {"code": 1}
    tokens = {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "7"}}
    assert tokens in spans["llm_call 1"]["attributes"], "64-bit numbers are texts in OTLP/JSON"


def test_old_traces_go_when_there_are_too_many(tmp_path: Path) -> None:
    database = tmp_path / "traces.sqlite"
    for number in range(6):
        writer = SpanWriter(database, most_bytes=64 * 1024)
        for part in range(60):
            writer.write(span_of(number, part))
        writer.close()
    SpanWriter(database, most_bytes=64 * 1024).close()

    left = [span.trace_id for span in STORE.turns(database)]
    assert 0 < len(left) < 6
    assert left[0] == f"{5:032x}", "the newest stays"
    assert database.stat().st_size <= 96 * 1024
    assert all(len(STORE.spans(database, trace)) == 60 for trace in left), "whole or gone"


def span_of(trace: int, part: int) -> KeptSpan:
    return KeptSpan(
        trace_id=f"{trace:032x}",
        span_id=f"{trace * 1000 + part + 1:016x}",
        parent_id="" if part == 0 else f"{trace * 1000 + 1:016x}",
        session_id="s",
        name="turn",
        started_ns=2**62 + trace * 1000 + part,
        ended_ns=2**62 + trace * 1000 + part + 1,
        status="ok",
        attributes={"text": "y" * 200},
    )


@pytest.mark.parametrize("obstacle", ["folder", "damaged", "newer"])
def test_a_trace_that_cannot_be_kept_is_not_in_the_way(
    tmp_path: Path, obstacle: str, caplog: pytest.LogCaptureFixture
) -> None:
    database = tmp_path / "traces.sqlite"
    if obstacle == "folder":
        database.mkdir()
    elif obstacle == "damaged":
        database.write_bytes(b"SQLite format 3\0" + b"?" * 5000)
    else:
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA user_version = 99")
    before = database.read_bytes() if obstacle == "damaged" else b""

    asyncio.run(a_turn(database, new_ulid()))

    assert "The trace of this turn is not kept" in caplog.text
    if obstacle == "damaged":
        assert database.read_bytes() == before
        with pytest.raises(EnvironmentProblem, match="cannot be read"):
            STORE.turns(database)


def test_rows_of_others_that_are_no_spans_are_told(tmp_path: Path) -> None:
    """SQLite keeps any type in any column: a cloned project's lists ended in TypeError."""
    database = tmp_path / "traces.sqlite"
    writer = SpanWriter(database)
    span = KeptSpan(
        trace_id="0" * 32, span_id="1" * 16, parent_id="", session_id="s", name="turn", started_ns=1,
        ended_ns=2, status="ok",
    )  # fmt: skip
    writer.write(span)
    writer.close()
    assert STORE.spans(database, span.trace_id) == [span]
    huge, deep = '{"a": 1' + "0" * 400 + "}", '{"a": ' + "[" * 900 + "]" * 900 + "}"
    for column, values in {
        "span_id": ("x", "1" * 17, b"1" * 16), "session_id": (b"s",), "name": (b"turn",),
        "started_ns": ("now", -1, 1.5), "ended_ns": ("9999-12-31", 2.5, b""), "status": (b"ok",),
        "error_type": (b"x",),
        "attributes": ("[]", "", b"{}", '{"a": null}', '{"a": NaN}', huge, deep),
    }.items():  # fmt: skip
        for value in values:
            with contextlib.closing(sqlite3.connect(database)) as connection, connection:
                connection.execute(f"UPDATE spans SET {column} = ?", (value,))
            with pytest.raises(EnvironmentProblem, match="cannot be read"):
                STORE.otlp(STORE.turns(database))
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("DELETE FROM spans")
        writer = SpanWriter(database)
        writer.write(span)
        writer.close()
