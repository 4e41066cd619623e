"""Retries, breaker, pace and counts of services, on a clock of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest

from domain.llm.chat import (
    ChatRequest,
    ProviderError,
    ProviderErrorType,
    StreamChunk,
    Usage,
    WireMessage,
)
from domain.llm.service import COUNTED, ELSEWHERE, Pace
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.service_manager import GuardedClient, Service, ServiceManager
from infrastructure.llm_adapters.timing import RetryPolicy
from infrastructure.llm_adapters.wire_errors import error_of_response
from infrastructure.persistence.model_settings import ServiceCountsFile
from infrastructure.persistence.user_json import SERVICE_COUNTS_FILE as COUNTS_FILE
from tests.fakes.scripted_chat_client import ScriptedChatClient

HI = ChatRequest(messages=(WireMessage(role="user", text="hi"),))
BEGAN = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
GOOD = [StreamChunk(text="ok"), StreamChunk(finish_reason="stop", usage=Usage(prompt_tokens=5))]
PEER = Peer(server="api.test", provider="zhipu", key="k")


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds
        await asyncio.sleep(0)

    def now(self) -> datetime:
        return BEGAN + timedelta(seconds=self.seconds)


def failing(status: int = 503, *, body: bytes = b"{}", **headers: str) -> ProviderError:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return error_of_response(PEER, status, names, body)


class Bench:
    """A manager on a clock, and a client whose answers are scripted."""

    def __init__(self, *scripts: list[StreamChunk | float | asyncio.Event | Exception], local: bool = False):
        self.clock = Clock()
        policy = RetryPolicy(sleep=self.clock.sleep, uniform=lambda _low, high: high)
        self.manager = ServiceManager(retries=policy, clock=self.clock, now=self.clock.now)
        self.server = ScriptedChatClient(*scripts)
        self.client: GuardedClient = self.manager.guard(
            self.server, provider="zhipu", server="api.test", is_local=local
        )

    @property
    def service(self) -> Service:
        return self.manager.service("zhipu", "api.test", is_local=False)

    async def ask(self) -> list[StreamChunk]:
        async with aclosing(self.client.stream(HI)) as chunks:
            return [chunk async for chunk in chunks]

    async def fails(self) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await self.ask()
        return caught.value


async def settled() -> None:
    """Let every task go on until it waits for something else than a turn of the loop."""
    for _ in range(20):
        await asyncio.sleep(0)


def three(
    *, status: int = 503, **headers: str
) -> list[list[StreamChunk | float | asyncio.Event | Exception]]:
    """A call that fails three times."""
    return [[failing(status, **headers)] for _ in range(3)]


async def test_what_counts_against_a_service_is_another_models_chance() -> None:
    assert COUNTED < ELSEWHERE < set(get_args(ProviderErrorType))
    assert "content_blocked" not in ELSEWHERE


async def test_retries_back_off_and_are_told_and_summed() -> None:
    dear = failing()
    dear.usage = Usage(prompt_tokens=3)
    bench = Bench([dear], [failing(500)], GOOD)
    chunks = await bench.ask()
    notices = [chunk.retry for chunk in chunks if chunk.retry]
    assert [(notice.attempt, notice.wait_s) for notice in notices] == [(1, 2.0), (2, 4.0)]
    assert bench.clock.slept == [2.0, 4.0]
    assert chunks[-1].usage == Usage(prompt_tokens=8)
    (report,) = bench.manager.report()
    assert (report.calls, report.failures, report.retries, report.state) == (1, 0, 2, "closed")
    assert report.errors == {"overloaded": 1, "server_error": 1}


@pytest.mark.parametrize(
    ("header", "waited"), [("7", [7.0]), ("0.5", [2.0]), ("61", []), ("Sun, 01 Mar 2026 12:00:09 GMT", [9.0])]
)
async def test_retry_after_is_the_least_that_is_waited(header: str, waited: list[float]) -> None:
    error = failing(429, retry_after=header, date="Sun, 01 Mar 2026 12:00:00 GMT")
    bench = Bench([error], GOOD)
    if waited:
        await bench.ask()
    else:
        assert await bench.fails() is error
    assert bench.clock.slept == waited


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"code":"1113","message":"no balance"}}',
        b'{"error":{"code":"1304","message":"daily"}}',
        b'{"error":{"code":"1308","message":"until 2026-03-01 18:00:00"}}',
        b'{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}',
    ],
)
async def test_money_and_quota_are_never_asked_for_again(body: bytes) -> None:
    bench = Bench([failing(429, body=body, retry_after="1")])
    assert (await bench.fails()).error_type in {"no_balance", "quota"}
    assert (len(bench.server.requests), bench.clock.slept) == (1, [])
    # The service answered: such errors do not open its breaker.
    assert bench.manager.report()[0].state == "closed"


@pytest.mark.parametrize("begins", ["shown", "not shown"])
async def test_after_the_first_piece_nothing_is_asked_again(begins: str) -> None:
    error = failing()
    error.has_begun = begins == "not shown"
    bench = Bench([*([StreamChunk(text="a")] if begins == "shown" else []), error])
    chunks: list[StreamChunk] = []

    async def read() -> None:
        async with aclosing(bench.client.stream(HI)) as stream:
            async for chunk in stream:
                chunks.append(chunk)

    with pytest.raises(ProviderError):
        await read()
    assert "".join(chunk.text for chunk in chunks) == ("a" if begins == "shown" else "")
    assert len(bench.server.requests) == 1
    # A transfer that breaks is no failure to connect.
    assert bench.service.is_open is False


@pytest.mark.parametrize(("local", "calls", "left_s"), [(False, 5, 60.0), (True, 3, 30.0)])
async def test_breaker_opens_and_one_probe_closes_it(local: bool, calls: int, left_s: float) -> None:
    bench = Bench(*(script for _ in range(calls) for script in three()), GOOD, GOOD, local=local)
    for _ in range(calls):
        assert (await bench.fails()).error_type == "overloaded"
    asked = len(bench.server.requests)
    assert asked == 3 * calls
    error = await bench.fails()
    opens = bench.clock.now() + timedelta(seconds=left_s)
    assert (error.error_type, error.exit_code, len(bench.server.requests)) == ("service_paused", 3, asked)
    assert f"{opens:%H:%M:%S}" in str(error)
    report = bench.manager.report()[0]
    assert (report.state, report.reopens_at, report.refused) == ("open", opens, 1)
    bench.clock.seconds += left_s - 0.5
    assert (await bench.fails()).error_type == "service_paused"
    bench.clock.seconds += 0.5
    assert bench.manager.report()[0].state == "half_open"
    assert (await bench.ask())[0].text == "ok"
    assert bench.manager.report()[0].state == "closed"
    await bench.ask()


async def test_a_probe_that_fails_is_not_repeated_and_opens_again() -> None:
    bench = Bench(*(script for _ in range(5) for script in three()), [failing()])
    for _ in range(5):
        await bench.fails()
    bench.clock.seconds += 60
    asked = len(bench.server.requests)
    assert (await bench.fails()).error_type == "overloaded"
    assert len(bench.server.requests) == asked + 1
    assert bench.manager.report()[0].reopens_at == bench.clock.now() + timedelta(seconds=60)
    assert (await bench.fails()).error_type == "service_paused"


async def test_only_one_may_probe_and_a_stopped_probe_lets_the_next_try() -> None:
    go = asyncio.Event()
    bench = Bench(*(script for _ in range(5) for script in three()), [go, *GOOD], GOOD)
    for _ in range(5):
        await bench.fails()
    bench.clock.seconds += 60
    probe = asyncio.create_task(bench.ask())
    await settled()
    assert bench.server.opened == 16
    assert (await bench.fails()).error_type == "service_paused"
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    assert (await bench.ask())[0].text == "ok"
    assert bench.manager.report()[0].stopped == 1


async def test_storm_of_429_ends_in_a_pause_as_long_as_the_server_asks() -> None:
    bench = Bench(*([failing(429, retry_after="300")] for _ in range(9)))
    results = await asyncio.gather(*(bench.fails() for _ in range(9)))
    asked = [error.error_type for error in results].count("rate_limited")
    # Three at a time: two were under way when the fifth failed.
    assert 5 <= asked <= 7
    assert len(bench.server.requests) == asked
    assert [error.error_type for error in results].count("service_paused") == 9 - asked
    assert bench.manager.report()[0].reopens_at == bench.clock.now() + timedelta(seconds=300)


async def test_a_listing_that_works_closes_the_breaker() -> None:
    bench = Bench(*(script for _ in range(3) for script in three()), GOOD, local=True)
    for _ in range(3):
        await bench.fails()
    assert await bench.client.models() == ("scripted",)
    await bench.ask()


async def test_a_trial_is_asked_once_in_any_case_and_shows_that_the_service_lives() -> None:
    bench = Bench(*(script for _ in range(3) for script in three()), [failing()], GOOD, GOOD, local=True)
    for _ in range(3):
        await bench.fails()
    trial = bench.manager.trial(bench.server, provider="zhipu", server="api.test", is_local=True)
    with pytest.raises(ProviderError):
        _ = [chunk async for chunk in trial.stream(HI)]
    assert bench.service.is_open
    assert len(bench.server.requests) == 10
    assert "".join([chunk.text async for chunk in trial.stream(HI)]) == "ok"
    assert not bench.service.is_open
    await bench.ask()


async def test_an_answer_begun_before_the_breaker_opened_closes_it() -> None:
    go = asyncio.Event()
    bench = Bench([go, *GOOD], *(script for _ in range(5) for script in three()), GOOD)
    early = asyncio.create_task(bench.ask())
    await settled()
    assert bench.server.opened == 1
    for _ in range(5):
        await bench.fails()
    assert bench.service.is_open
    go.set()
    await early
    await bench.ask()


async def test_three_at_a_time_and_five_a_second() -> None:
    most, running = 0, 0

    class Counting(ScriptedChatClient):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
            nonlocal most, running
            running += 1
            most = max(most, running)
            try:
                async with aclosing(super().stream(request)) as chunks:
                    async for chunk in chunks:
                        await asyncio.sleep(0)
                        yield chunk
            finally:
                running -= 1

    bench = Bench()
    server = Counting(*(GOOD for _ in range(12)))
    bench.client = bench.manager.guard(server, provider="zhipu", server="api.test", is_local=False)
    await asyncio.gather(*(bench.ask() for _ in range(12)))
    assert (most, running) == (3, 0)
    assert bench.clock.seconds >= 2.0


def test_pace_holds_within_any_second() -> None:
    pace = Pace(5)
    begins = [at + pace.wait_s(at) for at in (0.0, 0.1, 0.2, 0.3, 0.9, 0.95, 1.05, 1.06, 1.2, 5.0)]
    assert all(later - earlier >= 1.0 - 1e-9 for earlier, later in zip(begins, begins[5:], strict=False))
    assert begins[-1] == 5.0


async def test_other_calls_are_tried_again_too() -> None:
    bench = Bench()
    answers: list[ProviderError | int] = [failing(), 7]

    async def ask() -> int:
        answer = answers.pop(0)
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    assert await bench.service.call(ask) == 7
    assert bench.clock.slept == [2.0]
    refusal = failing(401)
    answers.append(refusal)
    with pytest.raises(ProviderError) as caught:
        await bench.service.call(ask)
    assert caught.value is refusal
    assert bench.manager.report()[0].failures == 1


async def test_counts_are_added_up_over_runs_and_processes(tmp_path: Path) -> None:
    file = ServiceCountsFile(user_home=tmp_path)
    for _ in range(2):  # two runs
        bench = Bench([failing()], GOOD, GOOD)
        bench.manager.keep = ServiceCountsFile(user_home=tmp_path).add
        await bench.ask()
        await bench.client.close()
        await bench.client.close()  # what was kept is not kept twice
        await bench.ask()
        await bench.client.close()
    (counts,) = (await asyncio.to_thread(file.load)).values()
    assert (counts["calls"], counts["retries"], counts["failures"], counts["first_pieces"]) == (4, 2, 0, 4)
    await asyncio.to_thread((tmp_path / COUNTS_FILE).write_text, '{"zhipu api.test": {"calls": "x"}, "a": 5}')
    assert (await asyncio.to_thread(file.load))["zhipu api.test"]["calls"] == 0


async def test_counts_that_cannot_be_kept_stop_nothing(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "home").write_text, "a file")
    bench = Bench(GOOD)
    bench.manager.keep = ServiceCountsFile(user_home=tmp_path / "home").add
    await bench.ask()
    await bench.client.close()
    assert bench.server.is_closed


async def test_report_is_plain_json_and_knows_no_key() -> None:
    bench = Bench(GOOD)
    await bench.ask()
    plain = bench.manager.report()[0].to_plain()
    assert (plain["calls"], plain["state"], plain["reopens_at"], plain["running"]) == (1, "closed", None, 0)
    assert plain["mean_first_piece_s"] == 0.0
