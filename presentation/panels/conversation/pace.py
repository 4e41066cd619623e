"""How fast an answer comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from domain.llm.tokens import count_tokens

_WINDOW_S = 3.0
_LEAST_S = 0.5


class Pace:
    """Tokens a second over the last seconds, estimated from the text."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._pieces: deque[tuple[float, int]] = deque()
        self._sum = 0

    def begin(self) -> None:
        """Another answer."""
        self._began = self._clock()
        self._pieces.clear()
        self._sum = 0

    def take(self, text: str) -> None:
        """A piece has come."""
        count = count_tokens(text)
        self._pieces.append((self._clock(), count))
        self._sum += count
        self._forget()

    @property
    def per_s(self) -> float | None:
        """None while too little has come to tell."""
        self._forget()
        elapsed = min(self._clock() - self._began, _WINDOW_S)
        return self._sum / elapsed if elapsed >= _LEAST_S and self._sum else None

    def _forget(self) -> None:
        oldest = self._clock() - _WINDOW_S
        while self._pieces and self._pieces[0][0] < oldest:
            self._sum -= self._pieces.popleft()[1]
