"""A model that streams 500 tokens a second, in a process of its own: its work must not be ours.

with token_stream(reasoning_s=1, answer_s=4) as base_url:
    ...
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.fakes.llm_server import DONE, FakeLLMServer, Script, chunk, cut

TOKENS_PER_S = 500
TOKEN_LENGTH = 4
_TOGETHER = 4
"""Tokens in a piece: a timer of a busy machine can't be trusted for less than some milliseconds."""
_LATENESS_S = 0.0005
"""What a timer adds to each piece."""
_BRIEFLY = 0.1
"""The part of the answer that comes when the question asks for no more."""
LAST_WORDS = "That is all."

_SECTION = """## Stage {n}: where the corner goes

The buffer's gain falls below **one** near $f_0 = \\frac{{1}}{{2\\pi R\\sqrt{{C_3 C_4}}}}$, so the *positive*
feedback through `C{n}` is smaller and later than the equations of the ideal stage say.

| quantity | wanted | now | margin |
|---|---:|---:|---:|
| corner | 10 kHz | 9.98 kHz | +88 % |
| peaking | 0.1 dB | 0.087 dB | +13 % |

- first order: $\\Delta f / f \\approx -Q f_0 / GBW$
- second order: nothing that can be seen

```spice
R{n}3   o1   c    6.2k
C{n}3   c    out  6.8n
```

"""
_THOUGHT = "The gain of the buffer falls near f0, so I compare the loop gain at 10 kHz with the ideal one. "


def text_of(length: int) -> str:
    """Markdown of at least so many characters, its last words at its end."""
    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(_SECTION.format(n=len(parts) + 1))
    return "".join(parts) + LAST_WORDS


def script_of(reasoning_s: float, answer_s: float) -> Script:
    """The answer as the server sends it."""
    per_second = TOKENS_PER_S * TOKEN_LENGTH
    thought = (_THOUGHT * 1_000)[: round(reasoning_s * per_second)]
    frames = [chunk({"reasoning_content": part}) for part in cut(thought, TOKEN_LENGTH)]
    frames += [chunk({"content": part}) for part in cut(text_of(round(answer_s * per_second)), TOKEN_LENGTH)]
    pieces = [b"".join(frames[at : at + _TOGETHER]) for at in range(0, len(frames), _TOGETHER)]
    return Script(
        pieces=(*pieces, chunk({}, "stop"), DONE), piece_delay_s=_TOGETHER / TOKENS_PER_S - _LATENESS_S
    )


@contextmanager
def token_stream(*, reasoning_s: float, answer_s: float) -> Iterator[str]:
    """Start the server; gives its base URL. A question with "briefly" gets a tenth of the answer."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.gui.stories.token_stream", str(reasoning_s), str(answer_s)],
        cwd=Path(__file__).resolve().parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server, server.stdin, server.stdout:
        yield server.stdout.readline().strip()


def _asks_for_less(body: dict[str, Any]) -> bool:
    asked = [message["content"] for message in body["messages"] if message["role"] == "user"]
    return "briefly" in str(asked[-1])


def main(reasoning_s: str, answer_s: str) -> None:
    """Serve until nobody holds our input open any more."""
    whole = script_of(float(reasoning_s), float(answer_s))
    brief = script_of(float(reasoning_s) * _BRIEFLY, float(answer_s) * _BRIEFLY)
    with FakeLLMServer(lambda body: brief if _asks_for_less(body) else whole) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
