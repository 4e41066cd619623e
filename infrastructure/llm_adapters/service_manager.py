"""Every call to a language model or another service on the network goes through here.

Each service (provider and server) has a circuit breaker, a pace, a number of places for calls at the same
time, and counts. A request is sent again only while nothing of its answer has come; each pause is told to
who reads the stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count
from typing import TypeVar

from application.ports.conversation import ChatClient
from domain.llm.chat import ChatRequest, PlaceNotice, ProviderError, RetryNotice, StreamChunk, Usage
from domain.llm.costs import PriceList, cost_of
from domain.llm.service import (
    COUNTED,
    LOCAL_RULE,
    REMOTE_RULE,
    Breaker,
    Pace,
    ServiceCounts,
    ServiceReport,
    ServiceRule,
    Ticket,
)
from infrastructure.llm_adapters.error_texts import Peer
from infrastructure.llm_adapters.timing import RetryPolicy
from infrastructure.llm_adapters.wire_errors import failure
from shared.errors import CircuitAIError
from shared.message import msg

_logger = logging.getLogger(__name__)

T = TypeVar("T")

Learn = Callable[[ChatRequest, StreamChunk], Awaitable[None]]
"""Told of every request that was answered at its first try, with the last chunk of the answer."""


Check = Callable[[ChatRequest], Awaitable[None]]
"""Raises ProviderError for a request that need not be sent to know that it will be refused."""


class Service:
    """One service: made by `ServiceManager`, shared by all who call it."""

    def __init__(
        self, manager: ServiceManager, provider: str, server: str, *, is_local: bool, rule: ServiceRule
    ) -> None:
        self.provider = provider
        self.server = server
        self.is_local = is_local
        self.counts = ServiceCounts()
        self._manager = manager
        self._breaker = Breaker(rule)
        self._pace = Pace(rule.per_second)
        self._places = asyncio.Semaphore(rule.parallel)
        self._running = 0
        self._kept: dict[str, float] = {}
        """The sums that were handed to the manager's `keep` already."""

    async def keep(self) -> None:
        """Add what happened since the last time to the counts over all runs. Never raises: only counts."""
        keep = self._manager.keep
        now = self.counts.sums()
        new = {name: value - self._kept.get(name, 0) for name, value in now.items()}
        if keep is None or not any(new.values()):
            return
        self._kept = now
        try:
            await asyncio.to_thread(keep, f"{self.provider} {self.server}", new)
        except CircuitAIError as error:
            _logger.warning("The counts of %s were not kept: %s", self.server, error)

    async def call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The result of `ask`, tried again as the policy says. Raises ProviderError."""
        async with self.visit() as visit, aclosing(visit.attempts()) as attempts:
            async for notice in attempts:
                if notice is not None:
                    continue
                try:
                    result = await ask()
                except ProviderError as error:
                    visit.note(error)
                else:
                    visit.answered()
                    return result
        raise AssertionError("attempts end by an error or a result")

    @asynccontextmanager
    async def visit(self) -> AsyncIterator[Visit]:
        """A place among the calls of this service; given back at the end.

        Raises ProviderError ("service_paused") while the service is left alone.
        """
        async with self._places:
            now = self._manager.clock()
            ticket = self._breaker.admit(now)
            if ticket is None:
                self.counts.refused += 1
                raise self._left_alone(now)
            self.counts.calls += 1
            self._running += 1
            visit = Visit(self, self._manager, ticket)
            try:
                yield visit
            finally:
                self._running -= 1
                visit.close()

    @property
    def running(self) -> int:
        """Calls under way."""
        return self._running

    @property
    def is_full(self) -> bool:
        """Whether the next call has to wait for a place."""
        return self._places.locked()

    def clock(self) -> float:
        return self._manager.clock()

    async def take_pace(self) -> None:
        wait_s = self._pace.wait_s(self._manager.clock())
        if wait_s > 0:
            await self._manager.retries.sleep(wait_s)

    @property
    def is_open(self) -> bool:
        return self._breaker.state(self._manager.clock()) != "closed"

    def lives(self) -> None:
        """The service answered something that was asked beside these calls."""
        self._breaker.answered(Ticket(0))

    def settle(self, ticket: Ticket, error: ProviderError | None, *, has_begun: bool) -> None:
        if error is None or has_begun or error.error_type not in COUNTED:
            self._breaker.answered(ticket)
            return
        was_open = self.is_open
        now = self._manager.clock()
        self._breaker.failed(ticket, now, asked_s=error.retry_after_s or 0.0)
        if self.is_open and (ticket.is_probe or not was_open):
            seconds = self._breaker.left_s(now)
            _logger.warning("%s is left alone for %.0f s: %s", self.server, seconds, error)

    def withdraw(self, ticket: Ticket) -> None:
        """A call was given up before anything came of it."""
        self.counts.stopped += 1
        self._breaker.withdrawn(ticket)

    def report(self) -> ServiceReport:
        now = self._manager.clock()
        left_s = self._breaker.left_s(now)
        counts = self.counts
        return ServiceReport(
            provider=self.provider,
            server=self.server,
            is_local=self.is_local,
            state=self._breaker.state(now),
            reopens_at=self._manager.now() + timedelta(seconds=left_s) if left_s else None,
            running=self._running,
            calls=counts.calls,
            failures=counts.failures,
            retries=counts.retries,
            refused=counts.refused,
            stopped=counts.stopped,
            mean_first_piece_s=counts.first_piece_s / counts.first_pieces if counts.first_pieces else None,
            last_first_piece_s=counts.last_first_piece_s,
            last_error=counts.last_error,
            errors=dict(counts.errors),
        )

    def _left_alone(self, now: float) -> ProviderError:
        left_s = self._breaker.left_s(now)
        at = self._manager.now() + timedelta(seconds=left_s)
        said = (
            msg(
                "{count} requests in a row failed; the next is sent after {time}.",
                count=self._breaker.failures,
                time=f"{at:%H:%M:%S}",
            )
            if left_s
            else msg(
                "{count} requests in a row failed; a probe request is in progress.",
                count=self._breaker.failures,
            )
        )
        peer = Peer(server=self.server, provider=self.provider, is_loopback=self.is_local)
        error = failure(peer, "service_paused", said)
        error.retry_after_s = left_s
        return error


class Visit:
    """One call of a service: its attempts, and what came of it."""

    def __init__(self, service: Service, manager: ServiceManager, ticket: Ticket) -> None:
        self._service = service
        self._policy = manager.retries
        self._clock = manager.clock
        self._ticket = ticket
        self._is_settled = False
        self._began = 0.0
        self._error: ProviderError | None = None
        self.has_begun = False
        """Something of the answer has come: it is not asked for again."""

    async def attempts(self) -> AsyncGenerator[RetryNotice | None, None]:
        """One item an attempt (None), and one a pause before it begins (its notice).

        Raises the last attempt's ProviderError when there is no other attempt.
        """
        for attempt in count(1):
            self._error = None
            await self._service.take_pace()
            self._began = self._clock()
            yield None
            if self._error is None:
                return
            pause_s = self._pause_s(attempt, self._error)
            if pause_s is None:
                raise self._error
            self._service.counts.retries += 1
            yield RetryNotice(attempt=attempt, wait_s=pause_s, error=self._error)
            await self._policy.sleep(pause_s)

    def begin(self) -> None:
        if not self.has_begun:
            self.has_begun = True
            self._service.counts.note_first_piece(self._clock() - self._began)
            self._settle(None)

    def note(self, error: ProviderError) -> None:
        self._error = error
        self.has_begun = self.has_begun or error.has_begun
        self._service.counts.note_error(error.error_type)

    def answered(self) -> None:
        self.begin()

    def close(self) -> None:
        """The call is over, whatever became of it."""
        if self._error is not None:
            self._service.counts.failures += 1
            self._settle(self._error)
        if not self._is_settled:
            self._is_settled = True
            self._service.withdraw(self._ticket)

    def _settle(self, error: ProviderError | None) -> None:
        if not self._is_settled:
            self._is_settled = True
            self._service.settle(self._ticket, error, has_begun=self.has_begun)

    def _pause_s(self, attempt: int, error: ProviderError) -> float | None:
        """Seconds until the next attempt; None: there is none."""
        if self.has_begun or self._ticket.is_probe or self._service.is_open:
            return None
        return self._policy.pause_s(attempt, error)


@dataclass(frozen=True, slots=True, eq=False)
class GuardedClient:
    """Implements application.ports.conversation.ChatClient: a client's calls through the manager."""

    client: ChatClient
    service: Service
    learn: Learn | None = None
    check: Check | None = None
    prices: PriceList = lambda _model: None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer; it is tried again only while nothing of it has come, and each pause is told.

        Raises ProviderError ("service_paused" when the service is left alone). The usage includes that of
        discarded attempts.
        """
        discarded: Usage | None = None
        if self.check is not None:
            await self.check(request)
        running, began = self.service.running, self.service.clock()
        is_waiting = self.service.is_full
        if is_waiting:
            yield StreamChunk(place=PlaceNotice(running=running))
        async with self.service.visit() as visit, aclosing(visit.attempts()) as attempts:
            if is_waiting:
                waited_s = self.service.clock() - began
                yield StreamChunk(place=PlaceNotice(running=0, waited_s=waited_s))
            async for notice in attempts:
                if notice is not None:
                    yield StreamChunk(retry=notice)
                    continue
                try:
                    async with aclosing(_generator(self.client.stream(request))) as chunks:
                        async for chunk in chunks:
                            if chunk.retry is None:
                                visit.begin()
                            if chunk.finish_reason is not None and discarded is None and self.learn:
                                await self.learn(request, chunk)
                            whole = _with_discarded(chunk, discarded)
                            if whole.finish_reason is not None:
                                price = self.prices(whole.model)
                                self.service.counts.note_answer(whole.usage, cost_of(whole.usage, price))
                            yield whole
                except ProviderError as error:
                    visit.note(error)
                    if error.usage is not None:
                        discarded = (discarded or Usage()) + error.usage

    async def models(self) -> tuple[str, ...]:
        """Names of the models it offers; asked also while the service is left alone, and a sign of life.

        Raises ProviderError; not retried.
        """
        names = await self.client.models()
        self.service.lives()
        return names

    async def close(self) -> None:
        await self.client.close()
        await self.service.keep()


class TrialClient(GuardedClient):
    """A client that a person tries: asked once, also while its service is left alone.

    An answer is a sign of life, a failure counts for nothing.
    """

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer, asked for once. Raises ProviderError."""
        async with aclosing(_generator(self.client.stream(request))) as chunks:
            async for chunk in chunks:
                self.service.lives()
                yield chunk


class ServiceManager:
    """The services of one program. `clock` only goes forward, in seconds; `now` is the time of day."""

    def __init__(
        self,
        *,
        retries: RetryPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        remote: ServiceRule = REMOTE_RULE,
        local: ServiceRule = LOCAL_RULE,
        keep: Callable[[str, Mapping[str, float]], None] | None = None,
    ) -> None:
        self.keep = keep
        """Adds the counts of a service to those of all runs; blocking."""
        self.retries = retries or RetryPolicy()
        self.clock = clock
        self.now = now
        self._rules = {True: local, False: remote}
        self._services: dict[tuple[str, str], Service] = {}

    def service(self, provider: str, server: str, *, is_local: bool) -> Service:
        """The service of a provider at a server (host and port), the same one each time."""
        found = self._services.get((provider, server))
        if found is None:
            found = Service(self, provider, server, is_local=is_local, rule=self._rules[is_local])
            self._services[provider, server] = found
        return found

    def guard(
        self,
        client: ChatClient,
        *,
        provider: str,
        server: str,
        is_local: bool,
        learn: Learn | None = None,
        check: Check | None = None,
        prices: PriceList = lambda _model: None,
    ) -> GuardedClient:
        """`client`, whose calls go through the service from now on; `prices` are for its counts."""
        service = self.service(provider, server, is_local=is_local)
        return GuardedClient(client, service, learn, check, prices)

    def trial(self, client: ChatClient, *, provider: str, server: str, is_local: bool) -> TrialClient:
        """`client`, to be tried by a person."""
        return TrialClient(client, self.service(provider, server, is_local=is_local))

    def report(self) -> tuple[ServiceReport, ...]:
        """How every service that was asked stands now."""
        return tuple(service.report() for service in self._services.values())


def _with_discarded(chunk: StreamChunk, discarded: Usage | None) -> StreamChunk:
    if chunk.finish_reason is None or discarded is None:
        return chunk
    return replace(chunk, usage=discarded + (chunk.usage or Usage()))


async def _generator(chunks: AsyncIterator[StreamChunk]) -> AsyncGenerator[StreamChunk, None]:
    try:
        async for chunk in chunks:
            yield chunk
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()
