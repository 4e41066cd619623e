"""Any LangChain chat model as a client of ours: the class that the user's own settings name, imported late.

Its chunks are read as if they were frames of OpenAI's protocol, so that calls, limits, empty and cut answers
are met by the same rules as those of servers. What such a class loses before we see it: docs/providers.md.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from pydantic import ValidationError

from domain.llm.chat import ChatRequest, ModelAbilities, ProviderError, StreamChunk, WireMessage
from domain.llm.json_repair import Problem, parse_arguments
from domain.llm.provider_settings import ProviderSettings
from domain.llm.service import NetworkSettings
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.answer_reader import AnswerReader
from infrastructure.llm_adapters.bounded_answers import bounded
from infrastructure.llm_adapters.connections import Connections
from infrastructure.llm_adapters.dialect import Dialect
from infrastructure.llm_adapters.error_texts import Peer, quote
from infrastructure.llm_adapters.images import with_fitting_images
from infrastructure.llm_adapters.openai_request import asking_for_json, data_url, with_unique_ids
from infrastructure.llm_adapters.prompted_tools import CallsInText, as_prompted
from infrastructure.llm_adapters.sse import Frame
from infrastructure.llm_adapters.timing import Breath, Patience, Timeouts
from infrastructure.llm_adapters.wire_client import MOST_EMPTY_LINES
from infrastructure.llm_adapters.wire_errors import (
    bad_response,
    connection_lost,
    error_of_payload,
    error_of_response,
    error_of_transport,
    failure,
    timeout,
    wordless,
)
from shared.errors import UserInputError
from shared.message import Message, msg

_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_MODEL = ("model", "model_name", "model_id")
_ADDRESS = ("base_url", "openai_api_base", "api_base")
_SECRET = re.compile(r"(^|_)(api_?keys?|tokens?|secrets?|passwords?|credentials?)$", re.IGNORECASE)
_NO_KEY = "not-needed"
"""Given to a class with an address of its own and no key: it would send the environment's key there."""
_FRAME = Frame(data="{}")


def class_path(settings: ProviderSettings) -> str:
    """``module:Class`` of the user's settings. Raises UserInputError for none, or what is no such path."""
    path = settings.model_class.strip()
    if ":" not in path and "." in path:
        path = ":".join(path.rsplit(".", 1))
    if not path:
        raise _unusable(msg("No LangChain class is set."), "no_model_class")
    if not _PATH.fullmatch(path):
        raise _unusable(msg("{path} does not name a class.", path=path), "no_model_class")
    return path


def load_class(path: str) -> type[BaseChatModel]:
    """The class, imported. Blocking: langchain_openai takes two seconds of CPU.

    What lies in the folder the program was started in is not taken: that may be a stranger's project.
    Raises UserInputError.
    """
    module, _, name = path.partition(":")
    package = module.partition(".")[0]
    try:
        found = importlib.util.find_spec(package)
        if found is None:
            raise _missing(package)
        places = [Path(each) for each in (found.submodule_search_locations or [found.origin or ""])]
        if any(place.absolute().parent == Path.cwd() for place in places):
            raise _missing(package)
        kind = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise _missing((error.name or module).partition(".")[0]) from error
    except UserInputError:
        raise
    except Exception as error:
        raise _unusable(
            msg("{path} cannot be imported: {reason}", path=path, reason=quote(str(error), "")),
            "bad_model_class",
        ) from error
    if not (inspect.isclass(kind) and issubclass(kind, BaseChatModel)):
        raise _unusable(msg("{path} is not a LangChain chat model.", path=path), "bad_model_class")
    return kind


class LangChainClient:
    """Implements application.ports.conversation.ChatClient; the model is made at its first use."""

    def __init__(
        self,
        *,
        settings: ProviderSettings,
        base_url: str,
        model: str = "",
        api_key: str = "",
        provider: str = "langchain",
        dialect: Dialect | None = None,
        abilities: ModelAbilities | None = None,
        timeouts: Timeouts | None = None,
        network: NetworkSettings | None = None,
    ) -> None:
        self._path = class_path(settings)
        self._arguments = dict(settings.arguments)
        self._base_url = base_url
        self._abilities = abilities or ModelAbilities()
        self._dialect = dialect or Dialect()
        self._timeouts = timeouts or Timeouts()
        self._writes_calls_as_text = self._abilities.tools == "prompted"
        self._is_local = bool(base_url) and is_loopback(base_url)
        self._peer = Peer(
            server=urlsplit(base_url).netloc or self._path,
            provider=provider,
            model=model.strip(),
            key=api_key.strip(),
            is_loopback=self._is_local,
        )
        self._connections = Connections(self._peer, self._timeouts, is_local=self._is_local, network=network)
        self._made: BaseChatModel | None = None
        self._making = asyncio.Lock()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamChunk, None]:
        """The answer in pieces, the last with calls, finish reason, usage and model. Raises as a server's."""
        names = frozenset(str(tool.get("function", tool).get("name", "")) for tool in request.tools)
        answer = AnswerReader(self._peer, names)
        try:
            model = await self._model()
            if self._writes_calls_as_text:
                request = as_prompted(request)
            elif self._abilities.tools == "no":
                request = replace(request, tools=())
            in_text = CallsInText(names if self._writes_calls_as_text else frozenset())
            try:
                async with aclosing(self._read(model, request, answer)) as chunks:
                    async for chunk in chunks:
                        for piece in in_text.take(chunk):
                            yield piece
            except ProviderError:
                if rest := in_text.rest():
                    yield StreamChunk(text=rest)
                raise
        except ProviderError as error:
            error.has_begun, error.usage = answer.has_begun, answer.usage
            raise

    async def models(self) -> tuple[str, ...]:
        """LangChain has no list of models: makes the model, then says so as a server without a list does."""
        await self._model()
        error = failure(self._peer, "bad_request", msg("it has no list of models"))
        error.status = 405
        raise error

    async def close(self) -> None:
        await self._connections.close()

    # --- the model ------------------------------------------------------------------------------------

    async def _model(self) -> BaseChatModel:
        """Raises UserInputError, ProviderError."""
        async with self._making:
            if self._made is None:
                kind = await asyncio.to_thread(load_class, self._path)
                given = self._given(kind)
                if "http_async_client" in _names(kind):  # our proxies, certificates and bounds; no redirects
                    http = await self._connections.opened()
                    given["http_async_client"] = bounded(http, self._peer)
                self._made = await asyncio.to_thread(self._make, kind, given)
                if type(self._made).bind_tools is BaseChatModel.bind_tools:
                    self._writes_calls_as_text = True
            return self._made

    def _given(self, kind: type[BaseChatModel]) -> dict[str, Any]:
        """The arguments: ours, and the user's, who may name neither a key nor another place to send it to."""
        names = _names(kind)
        for name in self._arguments:
            if name in {*_MODEL, *_ADDRESS} or _is_secret(name):
                raise _unusable(
                    msg("The argument {name} has a field of its own.", name=name), "bad_model_arguments"
                )
        given: dict[str, Any] = {"cache": False}
        if self._peer.model:
            given |= dict.fromkeys(_first(_MODEL, names), self._peer.model)
        address = _first(_ADDRESS, names)
        if self._base_url and not address:
            raise _unusable(msg("{path} takes no address.", path=self._path), "bad_model_arguments")
        given |= dict.fromkeys(address if self._base_url else (), self._base_url)
        key = self._peer.key or (_NO_KEY if self._base_url else "")
        if key:
            keys = sorted((name for name in names if name.endswith("api_key")), key=len)
            given |= dict.fromkeys(keys[:1], key)
        given |= {"max_retries": 0} if "max_retries" in names else {}
        given |= {"stream_usage": True} if "stream_usage" in names else {}
        return given | self._arguments

    def _make(self, kind: type[BaseChatModel], given: Mapping[str, Any]) -> BaseChatModel:
        try:
            return kind(**given)
        except ValidationError as error:
            said = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        except Exception as error:  # noqa: BLE001 - a class of others may fail in any way
            said = str(error)
        reason = quote(said, self._peer.key)
        if "key" in reason.lower() and not self._peer.key:
            raise failure(self._peer, "no_key", reason)
        raise _unusable(
            msg("{path} cannot be made: {reason}", path=self._path, reason=reason), "bad_model_arguments"
        )

    # --- an answer ------------------------------------------------------------------------------------

    async def _read(
        self, model: BaseChatModel, request: ChatRequest, answer: AnswerReader
    ) -> AsyncGenerator[StreamChunk, None]:
        if any(message.images for message in request.messages):
            limits = {"side": self._dialect.image_side, "most_bytes": self._dialect.image_bytes}
            request = await asyncio.to_thread(with_fitting_images, request, **limits)
        first_s = self._timeouts.first_piece_local_s if self._is_local else self._timeouts.first_piece_s
        patience, breath = Patience(self._timeouts, first_s, bool(request.tools)), Breath()
        pieces, empty = 0, 0
        usage: UsageMetadata | None = None
        asked = model.bind_tools([dict(tool) for tool in request.tools]) if request.tools else model
        # No callbacks: the graph's would stream every piece twice.
        source = asked.astream(
            langchain_messages(asking_for_json(request)),
            config={"callbacks": []},
            **self._options(type(model), request),
        )
        try:
            async with aclosing(cast("AsyncGenerator[BaseMessage, None]", source)) as messages:
                while (message := await patience.next_piece(messages, answer)) is not None:
                    await breath.take()
                    pieces, empty = answer.pieces, empty + 1 if answer.pieces == pieces else 0
                    if empty > MOST_EMPTY_LINES:
                        raise wordless(self._peer, MOST_EMPTY_LINES)
                    usage = add_usage(usage, getattr(message, "usage_metadata", None))
                    for chunk in answer.take(_FRAME, _as_payload(message)):
                        yield chunk
        except (ProviderError, UserInputError):
            raise
        except TimeoutError as error:
            if not answer.is_over:
                waited = msg("silent for {seconds} s", seconds=f"{patience.limit_s:.0f}")
                raise timeout(self._peer, waited) from error
        except Exception as error:
            raise error_of_library(self._peer, error) from error
        for chunk in answer.take(_FRAME, self._closing(model, usage, is_over=answer.is_over)):
            yield chunk
        for chunk in answer.finish():
            yield chunk

    def _closing(self, model: BaseChatModel, usage: UsageMetadata | None, *, is_over: bool) -> dict[str, Any]:
        """What the end of the chunks says. OpenAI's classes tell why an answer ended, unless it was cut."""
        tells_reasons = any(base.__name__ == "BaseChatOpenAI" for base in type(model).__mro__)
        reason = None if is_over or tells_reasons else "stop"
        return {"choices": [{"delta": {}, "finish_reason": reason}], "usage": _usage(usage)}

    def _options(self, kind: type[BaseChatModel], request: ChatRequest) -> dict[str, Any]:
        names = kind.model_fields
        found: dict[str, Any] = {}
        if "temperature" in names and "temperature" not in self._arguments:
            found |= self._dialect.temperature_fields(request, self._peer.model)
        if request.max_tokens is not None and "max_tokens" in names:
            found["max_tokens"] = request.max_tokens
        return found


def langchain_messages(messages: Sequence[WireMessage]) -> list[BaseMessage]:
    """A request's messages as LangChain's; every call has a unique id, as in requests of our own."""
    found: list[BaseMessage] = []
    for message, ids in with_unique_ids(messages):
        match message.role:
            case "system":
                found.append(SystemMessage(message.text))
            case "tool":
                found.append(ToolMessage(message.text, tool_call_id=ids[0], name=message.name or None))
            case "assistant":
                calls = [
                    {"type": "tool_call", "id": wire_id, "name": call.name, "args": _parsed(call.arguments)}
                    for wire_id, call in zip(ids, message.tool_calls, strict=False)
                ]
                found.append(AIMessage(message.text, tool_calls=calls))
            case "user":
                pictures: list[str | dict[str, Any]] = [
                    {"type": "image_url", "image_url": {"url": data_url(image)}} for image in message.images
                ]
                text: list[str | dict[str, Any]] = [{"type": "text", "text": message.text}]
                found.append(HumanMessage([*pictures, *text] if pictures else message.text))
    return found


def error_of_library(peer: Peer, error: Exception) -> ProviderError:
    """What a library raised, by the status, body or cause it carries."""
    if isinstance(error.__cause__, ProviderError):  # of `bounded`
        return error.__cause__
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    body = getattr(error, "body", None)
    if isinstance(status, int):
        headers = getattr(response, "headers", None) or {}
        text = json.dumps({"error": body}) if isinstance(body, Mapping) and "error" not in body else body
        said = text if isinstance(text, str) else json.dumps(body) if body else str(error)
        return error_of_response(peer, status, headers, said.encode())
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx.HTTPError):
            return error_of_transport(peer, cause)
        if isinstance(cause, ConnectionError):
            return connection_lost(peer, str(cause))
        cause = cause.__cause__
    if isinstance(body, Mapping):
        return error_of_payload(peer, body if "error" in body else {"error": dict(body)})
    return bad_response(peer, f"{type(error).__name__}: {error}")


def _as_payload(message: BaseMessage) -> dict[str, Any]:
    """A chunk (or a whole answer) in the form of OpenAI's frames."""
    told = message.response_metadata
    reason = told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")
    delta: dict[str, Any] = {**_words(message)}
    pieces = getattr(message, "tool_call_chunks", None)
    if pieces is None:
        pieces = [
            {"index": index, "id": call.get("id"), "name": call["name"], "args": _dumped(call["args"])}
            for index, call in enumerate(getattr(message, "tool_calls", ()))
        ]
    if pieces:
        delta["tool_calls"] = [
            {
                "index": piece.get("index"),
                "id": piece.get("id"),
                "function": {"name": piece.get("name"), "arguments": piece.get("args")},
            }
            for piece in pieces
        ]
    name = told.get("model_name") or told.get("model")
    return {"choices": [{"delta": delta, "finish_reason": reason}], "model": name}


def _words(message: BaseMessage) -> dict[str, str]:
    """Text and reasoning of a chunk: several classes put them into blocks."""
    reasoning = [str(message.additional_kwargs.get("reasoning_content") or "")]
    content = message.content
    text: list[str] = []
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            text.append(block)
        elif block.get("type") in {"thinking", "reasoning"}:
            reasoning.append(str(block.get("thinking") or block.get("reasoning") or ""))
        else:
            text.append(str(block.get("text") or ""))
    return {"content": "".join(text), "reasoning_content": "".join(reasoning)}


def _usage(usage: UsageMetadata | None) -> dict[str, Any]:
    if usage is None:
        return {}
    return {
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
        "prompt_tokens_details": {"cached_tokens": usage.get("input_token_details", {}).get("cache_read", 0)},
        "completion_tokens_details": {
            "reasoning_tokens": usage.get("output_token_details", {}).get("reasoning", 0)
        },
    }


def _parsed(arguments: str) -> dict[str, Any]:
    found = parse_arguments(arguments)
    return {} if isinstance(found, Problem) else dict(found)


def _dumped(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def _names(kind: type[BaseChatModel]) -> frozenset[str]:
    """What the class takes: its fields by name and alias."""
    fields = kind.model_fields
    aliases = {field.alias for field in fields.values() if field.alias}
    hidden = {name for name, field in fields.items() if field.alias}
    return frozenset(aliases | (fields.keys() - hidden))


def _first(wanted: Sequence[str], names: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name in wanted if name in names)[:1]


def _is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and not name.startswith("max_")


def _missing(package: str) -> UserInputError:
    how = (
        msg("Install it with: make langchain (of a wheel: pip install langchain-openai)")
        if package in {"langchain_openai", "openai"}
        else msg("Install the package that has it into the program's environment (.venv).")
    )
    return UserInputError(
        msg("The Python package {package} is not installed.", package=package),
        advice=how,
        error_type="langchain_missing",
    )


def _unusable(what: Message, error_type: str) -> UserInputError:
    return UserInputError(
        what,
        advice=msg(
            "Enter class and arguments in the model settings, for example langchain_openai:ChatOpenAI."
        ),
        error_type=error_type,
    )
