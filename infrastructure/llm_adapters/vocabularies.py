"""Exact token counts of OpenAI's models by tiktoken, where it is installed and its vocabulary on the machine.

A vocabulary lies in the folder that TIKTOKEN_CACHE_DIR names, or in the user's own, where `fetch` puts it
when the user asks for it. It is used only when its hash is right, so tiktoken never goes to the network by
itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from application.ports.model_settings import VocabularyState
from domain.llm.service import NetworkSettings
from shared.errors import EnvironmentProblem, UserInputError
from shared.message import Message, msg

CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_FOLDER = "vocabularies"
_MOST_BYTES = 16 * 2**20
_FETCH_S = 120.0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A file of tokens, as tiktoken 0.14 names and checks it."""

    url: str
    sha256: str
    models: re.Pattern[str]
    """Names of the models that use it (tiktoken.model, and the later gpt-5 and gpt-6)."""

    @property
    def file_name(self) -> str:
        """As tiktoken looks for it."""
        return hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()


_PLACE = "https://openaipublic.blob.core.windows.net/encodings/"
VOCABULARIES: dict[str, Vocabulary] = {
    "o200k_base": Vocabulary(
        _PLACE + "o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        re.compile(r"(ft:)?(chatgpt-4o|gpt-4o|gpt-4\.[15]|gpt-[5-9]|o[1-9](?!\d))"),
    ),
    "cl100k_base": Vocabulary(
        _PLACE + "cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        re.compile(r"(ft:)?(gpt-4(?![.o\d])|gpt-3\.?5|text-embedding-(3|ada-002))"),
    ),
}

Counter = Callable[[str], int]


def vocabulary_of(model: str) -> str:
    """The name of the vocabulary that a model uses, "" where none is known."""
    name = model.rpartition("/")[2].strip().lower()
    return next((each for each, row in VOCABULARIES.items() if row.models.match(name)), "")


class Vocabularies:
    """Implements application.ports.model_settings.TokenVocabularies."""

    def __init__(
        self,
        *,
        user_home: Path,
        environment: Mapping[str, str],
        write: Callable[[Path, bytes], None],
        network: Callable[[], NetworkSettings | None] = lambda: None,
    ) -> None:
        self._own = user_home / _FOLDER
        self._given = environment.get(CACHE_VARIABLE, "").strip()
        self._network = network
        self._write = write
        self._counters: dict[str, Counter | None] = {}

    @property
    def is_installed(self) -> bool:
        return importlib.util.find_spec("tiktoken") is not None

    def names(self) -> tuple[str, ...]:
        """The vocabularies that are here, whole and right."""
        return tuple(name for name in VOCABULARIES if self._folder_of(name) is not None)

    def state_of(self, model: str) -> VocabularyState | None:
        """The vocabulary of a model; None where none is known."""
        name = vocabulary_of(model)
        if not name:
            return None
        host = urlsplit(VOCABULARIES[name].url).netloc
        return VocabularyState(model=model, name=name, host=host, is_here=self._folder_of(name) is not None)

    def counter(self, model: str) -> Counter | None:
        """What counts a text's tokens exactly for this model; None where that is not possible here.

        The first call for a vocabulary takes half a second; a text's special tokens count as plain text.
        """
        name = vocabulary_of(model)
        if not name:
            return None
        if name not in self._counters:
            self._counters[name] = self._load(name)
        return self._counters[name]

    async def fetch(self, name: str) -> Path:
        """Get a vocabulary from OpenAI's server, on the user's request only; where it lies then.

        Raises UserInputError for an unknown name, EnvironmentProblem.
        """
        row = VOCABULARIES.get(name)
        if row is None:
            raise UserInputError(
                msg("Unknown vocabulary {name}.", name=name),
                advice=msg("Available: {names}.", names=", ".join(VOCABULARIES)),
                error_type="bad_usage",
            )
        content = await self._download(name, row.url)
        if hashlib.sha256(content).hexdigest() != row.sha256:
            raise _not_fetched(name, msg("what came is another file (its hash differs)"))
        target = self._own / row.file_name
        await asyncio.to_thread(self._keep, target, content)
        self._counters.pop(name, None)
        return target

    def _keep(self, target: Path, content: bytes) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        self._write(target, content)

    async def _download(self, name: str, url: str) -> bytes:
        import httpx

        from infrastructure.llm_adapters.addresses import is_loopback
        from infrastructure.llm_adapters.connections import new_connections
        from infrastructure.llm_adapters.timing import Timeouts

        make = partial(new_connections, Timeouts(), is_local=is_loopback(url), network=self._network())
        content = bytearray()
        try:
            async with (
                asyncio.timeout(_FETCH_S),
                await asyncio.to_thread(make) as http,
                http.stream("GET", url) as answer,
            ):
                answer.raise_for_status()
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > _MOST_BYTES:
                        raise _not_fetched(name, msg("what came is another file (its hash differs)"))
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError, TimeoutError) as error:
            raise _not_fetched(name, str(error) or type(error).__name__) from error
        return bytes(content)

    def _folder_of(self, name: str) -> Path | None:
        row = VOCABULARIES[name]
        for folder in (*([Path(self._given)] if self._given else []), self._own):
            try:
                content = (folder / row.file_name).read_bytes()
            except OSError:
                continue
            if hashlib.sha256(content).hexdigest() == row.sha256:
                return folder
        return None

    def _load(self, name: str) -> Counter | None:
        folder = self._folder_of(name) if self.is_installed else None
        if folder is None:
            return None
        os.environ[CACHE_VARIABLE] = str(folder)  # where tiktoken looks, and finds what was just checked
        encoding = importlib.import_module("tiktoken").get_encoding(name)
        return lambda text: len(encoding.encode_ordinary(text))


def _not_fetched(name: str, reason: str | Message) -> EnvironmentProblem:
    return EnvironmentProblem(
        msg("The vocabulary {name} cannot be fetched: {reason}", name=name, reason=reason),
        advice=msg(
            "Check the network and the proxy, or put the file into the folder that TIKTOKEN_CACHE_DIR names."
        ),
        error_type="no_vocabulary",
    )
