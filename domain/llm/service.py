"""How a service behind the network is treated while it fails: circuit breaker, pace, counts, remedies.

Pure: time comes in as the number of seconds of some clock that only goes forward. The rules are those of
M. Nygard's circuit breaker ("Release It!"): closed, open after several failures in a row, half-open after
a while, when one request may try.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal

from domain.llm.chat import ProviderChoice, Usage
from domain.llm.costs import CURRENCIES, Cost
from shared.message import msg
from shared.setting import read_as, setting

_PROXIES = ("http", "https", "socks5", "socks5h")

BreakerState = Literal["closed", "open", "half_open"]

COUNTED: frozenset[str] = frozenset(
    {"unreachable", "timeout", "connection_lost", "server_error", "overloaded", "rate_limited"}
)
"""Kinds of errors that say that the service does not work; only before the first piece of an answer."""

ELSEWHERE: frozenset[str] = COUNTED | {
    "no_key",
    "auth",
    "forbidden",
    "no_balance",
    "quota",
    "unknown_model",
    "context_too_long",
    "bad_response",
    "empty_answer",
    "service_paused",
}
"""Kinds of errors that another model may not have. A refused content is refused for the content."""


def _proxy(value: object) -> str:
    from urllib.parse import urlsplit  # a quick command must not pay for it

    if not isinstance(value, str):
        raise TypeError(value)
    parts = urlsplit(value)
    if value and (parts.scheme not in _PROXIES or not parts.hostname or (parts.port or 1) < 1):
        raise ValueError(value)
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """The way to servers on the network; a server on this computer is always reached directly."""

    # fmt: off
    proxy: str = setting("", msg("Proxy"), read=_proxy, example='"socks5://HOST:1080"',
        variables=("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"),
        help=msg("Address with http, https, socks5 or socks5h; empty = as the environment says."))
    certificates: Path | None = setting(None, msg("Certificates"),
        read=lambda value: None if value == "" else read_as("Path", value),
        variables=("SSL_CERT_FILE", "SSL_CERT_DIR"),
        help=msg("A PEM file, or a folder of them, to trust as well: your company's own."))
    # fmt: on


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
    """The models of a user that may answer when the chosen one fails."""

    choices: tuple[ProviderChoice, ...] = ()
    is_automatic: bool = False
    """They are asked one after the other; else they are only named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRule:
    """When a service is left alone, and how fast it is asked."""

    failures: int = 5
    """Calls that fail in a row (each after its retries) until the breaker opens."""
    open_s: float = 60.0
    per_second: int = 5
    """Requests that may begin within any second."""
    parallel: int = 3


REMOTE_RULE = ServiceRule()
LOCAL_RULE = ServiceRule(failures=3, open_s=30.0)
"""For a server on this computer: it is started, not waited for."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """That a call may go; `is_probe`: the only one while the breaker is half-open."""

    opened: int
    """How often the breaker had opened when it was given."""
    is_probe: bool = False


class Breaker:
    """Keeps calls away from a service that failed several times in a row."""

    _LONGEST_S = 3600.0

    def __init__(self, rule: ServiceRule) -> None:
        self._rule = rule
        self._failures = 0
        self._opened = 0
        self._until: float | None = None
        self._probe: Ticket | None = None

    @property
    def failures(self) -> int:
        return self._failures

    def state(self, now: float) -> BreakerState:
        """Open: nobody may call; half-open: one may, to try."""
        if self._until is None:
            return "closed"
        return "open" if now < self._until else "half_open"

    def left_s(self, now: float) -> float:
        """Seconds until one may try again; 0 when that is now."""
        return 0.0 if self._until is None else max(self._until - now, 0.0)

    def admit(self, now: float) -> Ticket | None:
        """Leave for a call, None for none. Every ticket is given back by one of the methods below."""
        match self.state(now):
            case "closed":
                return Ticket(self._opened)
            case "half_open" if self._probe is None:
                self._probe = Ticket(self._opened, is_probe=True)
                return self._probe
        return None

    def answered(self, ticket: Ticket) -> None:
        """The service answered, be it with a refusal that is no fault of its own."""
        self._return(ticket)
        self._failures, self._until, self._probe = 0, None, None

    def failed(self, ticket: Ticket, now: float, *, asked_s: float = 0.0) -> None:
        """The call failed; `asked_s`: how long the service wants to be left alone.

        A call from before the breaker opened says nothing new.
        """
        self._return(ticket)
        if ticket.opened != self._opened or (self._until is not None and not ticket.is_probe):
            return
        self._failures += 1
        if ticket.is_probe or self._failures >= self._rule.failures:
            self._opened += 1
            self._until = now + min(max(self._rule.open_s, asked_s), self._LONGEST_S)

    def withdrawn(self, ticket: Ticket) -> None:
        """The call was given up before it said anything: somebody else may try."""
        self._return(ticket)

    def _return(self, ticket: Ticket) -> None:
        if self._probe is ticket:
            self._probe = None


class Pace:
    """At most so many beginnings a second, over any `window_s` seconds: within it they may come at once."""

    def __init__(self, per_second: int, *, window_s: int = 1) -> None:
        self._begins: deque[float] = deque(maxlen=per_second * window_s)
        self._window_s = window_s

    def wait_s(self, now: float) -> float:
        """Take the next place; how long to wait for it."""
        full = len(self._begins) == self._begins.maxlen
        begin = max(now, self._begins[0] + self._window_s) if full else now
        self._begins.append(begin)
        return begin - now


SUMS = (
    *("calls", "failures", "retries", "refused", "stopped", "first_pieces", "first_piece_s"),
    *("prompt_tokens", "completion_tokens", "unpriced"),
    *(f"cost_{currency.lower()}" for currency in CURRENCIES),
)
"""What is counted of a service over all runs."""


@dataclass(slots=True, kw_only=True)
class ServiceCounts:
    """What happened with a service since the program started."""

    calls: int = 0
    failures: int = 0
    """Calls that ended in an error, of whatever kind."""
    retries: int = 0
    refused: int = 0
    """Calls that the breaker kept away."""
    stopped: int = 0
    """Calls that were given up by their caller."""
    first_pieces: int = 0
    first_piece_s: float = 0.0
    """Seconds until the first piece, of all answers together."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unpriced: int = 0
    """Answers whose cost is not known."""
    cost_usd: float = 0.0
    cost_cny: float = 0.0
    cost_eur: float = 0.0
    last_first_piece_s: float | None = None
    last_error: str = ""
    errors: dict[str, int] = field(default_factory=dict)
    """Kind of error -> how often, retries included."""

    def sums(self) -> dict[str, float]:
        """What can be added up over runs, by its names."""
        return {name: getattr(self, name) for name in SUMS}

    def note_first_piece(self, seconds: float) -> None:
        """An answer began `seconds` after it was asked for."""
        self.first_pieces += 1
        self.first_piece_s += seconds
        self.last_first_piece_s = seconds

    def note_answer(self, usage: Usage | None, cost: Cost) -> None:
        if usage is not None:
            self.prompt_tokens += usage.prompt_tokens
            self.completion_tokens += usage.completion_tokens
        self.unpriced += cost.unknown
        self.cost_usd += cost.amounts.get("USD", 0.0)
        self.cost_cny += cost.amounts.get("CNY", 0.0)
        self.cost_eur += cost.amounts.get("EUR", 0.0)

    def note_error(self, kind: str) -> None:
        self.last_error = kind
        self.errors[kind] = self.errors.get(kind, 0) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReport:
    """One service as people see it."""

    provider: str
    server: str
    """Host and port."""
    is_local: bool
    state: BreakerState
    reopens_at: datetime | None
    """When it may be asked again, None when it may be now."""
    running: int
    """Calls under way."""
    calls: int
    failures: int
    retries: int
    refused: int
    stopped: int
    mean_first_piece_s: float | None
    last_first_piece_s: float | None
    last_error: str
    errors: Mapping[str, int]

    def to_plain(self) -> dict[str, object]:
        """The fields by their names, as JSON takes them."""
        plain: dict[str, object] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["reopens_at"] = None if self.reopens_at is None else self.reopens_at.isoformat("T", "seconds")
        plain["errors"] = dict(self.errors)
        return plain
