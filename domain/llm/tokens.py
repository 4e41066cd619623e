"""How many tokens a text or a request costs, without a model's vocabulary; and texts cut to a budget.

The one place where tokens are counted. No vocabulary is shipped: cl100k alone is 1.7 MB, and only OpenAI's
models use the two that are published (`infrastructure/llm_adapters/vocabularies.py` counts with them).
`count_tokens` follows the word splitting of cl100k instead (within 8 % of it for
English, Chinese, netlists, tables of numbers, JSON and code; tests/unit/llm/test_token_counts has the
reference counts) and is put right for each model from the usage that its answers tell (`TokenFactors`).
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, isfinite

from domain.llm.chat import ChatRequest, WireImage, WireMessage

_PIECES = re.compile(
    r"[^\S\r\n]?[A-Za-z]{1,8}"  # a word with the blank before it; longer ones are several tokens
    r"|[0-9]{1,3}"
    r"| ?[!-/:-@\[-`{-~]{1,4}\n?"
    r"|\s*\n|[^\S\n]+"
    r"|[\s\S]"
)
"""What is one token of cl100k's splitting, or nearly so."""

PER_MESSAGE = 4
"""Tokens around a message: its role and its separators."""
PER_REQUEST = 3
_PER_CALL = 8

_IMAGE_BASE = 85
_IMAGE_TILE = 170
_TILE_SIDE = 512
_LARGEST_SIDE = 2048
_UNKNOWN_SIZE = (1024, 1024)


Counter = Callable[[str], int]
"""Counts the tokens of a text."""


def count_tokens(text: str) -> int:
    """The tokens of `text` in cl100k's vocabulary, within 8 %; 0 only for an empty one.

    About 40 ns a character: of large texts count off the loop. Short ones are remembered: each request of a
    conversation sends those of the one before.
    """
    return _remembered(text) if len(text) <= _LONGEST_REMEMBERED else _counted(text)


def _counted(text: str) -> int:
    return len(_PIECES.findall(text))


_LONGEST_REMEMBERED = 4096
_remembered = lru_cache(maxsize=8192)(_counted)


def image_tokens(width: int, height: int) -> int:
    """The tokens of a picture of this many pixels: 85, and 170 for each tile of 512 x 512 (OpenAI, GLM-4V).

    Larger sides are scaled to 2048 pixels before, as they are when sent.
    """
    scale = min(1.0, _LARGEST_SIDE / max(width, height, 1))
    across, down = (max(ceil(side * scale / _TILE_SIDE), 1) for side in (width, height))
    return _IMAGE_BASE + _IMAGE_TILE * across * down


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG, GIF, JPEG or WebP by its head; None for what is none of them."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return _jpeg_size(data) if data.startswith(b"\xff\xd8") else None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    """From the first chunk of RFC 9649: extended, lossless or lossy."""
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """From the frame header (SOF) of ITU-T T.81, which comes before any pixels."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + max(length, 2)
    return None


def request_tokens(request: ChatRequest, count: Counter = count_tokens) -> int:
    """The tokens of a whole request: messages, calls, pictures, tool schemas and what is around them.

    Reasoning is left out: most providers are not sent it.
    """
    return PER_REQUEST + sum(_parts(request, count))


def _parts(request: ChatRequest, count: Counter) -> Iterator[int]:
    for message in request.messages:
        yield _message_tokens(message, count)
    for tool in request.tools:
        yield count(json.dumps(tool, ensure_ascii=False))


def _message_tokens(message: WireMessage, count: Counter) -> int:
    calls = sum(count(call.name + call.arguments) + _PER_CALL for call in message.tool_calls)
    images = sum(image_tokens(*_size(image)) for image in message.images)
    return PER_MESSAGE + count(message.text) + calls + images


def _size(image: WireImage) -> tuple[int, int]:
    return image_size(image.data) or _UNKNOWN_SIZE


@dataclass(frozen=True, slots=True)
class TokenFactor:
    """What a model's tokens are of ours, and from how many answers that is known."""

    factor: float = 1.0
    answers: int = 0


class TokenFactors:
    """Puts counts right for each model, from what its answers told about their requests.

    Pure. A model is named by provider and model.
    """

    _LEAST = 200
    """Tokens; what is around the messages of a small request outweighs its words."""
    _RANGE = (0.4, 2.5)
    """Outside of it usage does not measure the vocabulary: some servers count only what they had not
    cached."""
    _MEMORY = 20
    """Answers: a model that is changed behind its name is followed."""

    def __init__(self, known: Mapping[str, TokenFactor] | None = None) -> None:
        self._known = dict(known or {})

    def __getitem__(self, model: str) -> TokenFactor:
        return self._known.get(model, TokenFactor())

    def to_plain(self) -> dict[str, dict[str, float]]:
        return {
            model: {"factor": round(one.factor, 4), "answers": one.answers}
            for model, one in self._known.items()
        }

    def corrected(self, model: str, counted: int) -> int:
        """What `counted` tokens of ours are for this model."""
        return round(counted * self[model].factor)

    def learn(self, model: str, *, counted: int, told: int) -> bool:
        """Take what an answer told about a request that was counted; whether that said something."""
        lowest, highest = self._RANGE
        if counted < self._LEAST or not lowest <= told / counted <= highest:
            return False
        old = self[model]
        answers = min(old.answers + 1, self._MEMORY)
        factor = old.factor + (told / counted - old.factor) / answers
        self._known[model] = TokenFactor(factor, answers)
        return True


def read_factors(content: object) -> dict[str, TokenFactor]:
    """The factors in parsed JSON; what is no factor is left out."""
    if not isinstance(content, Mapping):
        return {}
    found: dict[str, TokenFactor] = {}
    for model, row in content.items():
        if not isinstance(row, Mapping):
            continue
        factor, answers = row.get("factor"), row.get("answers")
        if not (isinstance(model, str) and isinstance(factor, int | float) and isinstance(answers, int)):
            continue
        if isfinite(factor) and 0.1 <= factor <= 10 and answers > 0:
            found[model] = TokenFactor(float(factor), min(answers, 1000))
    return found


class LineBudget:
    """Takes whole lines while they fit into a number of tokens and of characters.

    Both are counted with one line end a line.
    """

    def __init__(self, *, tokens: int, characters: int) -> None:
        self._tokens = tokens
        self._characters = characters

    def takes(self, line: str) -> bool:
        """Whether `line` fits into what is left; if so it is taken off."""
        if len(line) + 1 > self._characters or (tokens := count_tokens(line + "\n")) > self._tokens:
            return False
        self._tokens -= tokens
        self._characters -= len(line) + 1
        return True


def head_and_tail(
    lines: Sequence[str], *, tokens: int, characters: int, head: float = 0.6, tail: float = 0.3
) -> tuple[int, int]:
    """How many lines to keep at the beginning and at the end: (n, 0) with n = len(lines) when all fit.

    The head gets the share `head` of both budgets and the tail `tail`; the rest is for the mark that
    says what is missing. At least one line of the head is kept, whatever its length.
    """
    whole = LineBudget(tokens=tokens, characters=characters)
    if all(whole.takes(line) for line in lines):
        return len(lines), 0
    budget = LineBudget(tokens=int(tokens * head), characters=int(characters * head))
    kept = next((i for i, line in enumerate(lines) if not budget.takes(line)), len(lines))
    kept = max(kept, 1)
    budget = LineBudget(tokens=int(tokens * tail), characters=int(characters * tail))
    rest = lines[kept:]
    at_end = next((i for i, line in enumerate(reversed(rest)) if not budget.takes(line)), len(rest))
    return kept, at_end
