"""What servers complain of, as kinds of errors; what may be quoted of it."""

from __future__ import annotations

import json
import socket
import ssl
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from domain.llm.chat import ProviderErrorType
from infrastructure.llm_adapters.addresses import is_loopback
from infrastructure.llm_adapters.error_codes import CODES, verdict_of_status
from infrastructure.llm_adapters.error_texts import Peer, advice_on, quote, text_of
from infrastructure.llm_adapters.wire_errors import (
    error_of_payload,
    error_of_response,
    error_of_transport,
    is_error_payload,
    read_complaint,
    read_retry_after,
)
from tests.ground.cases import for_each

KEY = "sk-test-0123456789"
PEER = Peer(server="api.example.com", provider="openai-compatible", model="m-1", key=KEY)
ROOT = Path(__file__).parents[3]


def refused(status: int, body: Any, headers: Mapping[str, str] | None = None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return error_of_response(PEER, status, headers or {}, raw)


def test_every_kind_has_a_text_and_an_advice() -> None:
    for kind in get_args(ProviderErrorType):
        assert str(text_of(kind, PEER, "x"))
        assert str(advice_on(kind, PEER))
        assert str(advice_on(kind, replace(PEER, is_loopback=True)))


@for_each(
    ("code", "kind", "is_retryable"),
    [
        *((code, "auth", False) for code in ("1000", "1001", "1002", "1003", "1004")),
        ("1110", "forbidden", False),
        ("1113", "no_balance", False),
        ("1210", "bad_request", False),
        ("1211", "unknown_model", False),
        ("1220", "forbidden", False),
        ("1234", "server_error", True),
        ("1261", "context_too_long", False),
        ("1300", "content_blocked", False),
        ("1301", "content_blocked", False),
        ("1302", "rate_limited", True),
        ("1303", "rate_limited", True),
        ("1304", "quota", False),
        ("1305", "overloaded", True),
        ("1308", "quota", False),
        ("1309", "forbidden", False),
        ("1312", "overloaded", True),
    ],
)
def test_codes_of_zhipu_outweigh_the_status(code: str, kind: str, is_retryable: bool) -> None:
    error = refused(429, {"error": {"code": code, "message": "…"}})
    assert (error.error_type, error.retryable, error.provider_code) == (kind, is_retryable, code)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(20012, "unknown_model"), (20015, "bad_request"), (30001, "no_balance"), (50505, "overloaded")],
)
def test_codes_of_siliconflow(code: int, kind: str) -> None:
    assert refused(400, {"code": code, "message": "x", "data": None}).error_type == kind


@for_each(
    ("status", "kind", "is_retryable"),
    [
        (400, "bad_request", False),
        (401, "auth", False),
        (402, "no_balance", False),
        (403, "forbidden", False),
        (404, "bad_request", False),
        (408, "timeout", True),
        (413, "bad_request", False),
        (418, "bad_request", False),
        (422, "bad_request", False),
        (429, "rate_limited", True),
        (500, "server_error", True),
        (501, "server_error", False),
        (502, "server_error", True),
        (503, "overloaded", True),
        (504, "timeout", True),
        (520, "server_error", True),
        (529, "overloaded", True),
        (302, "bad_response", False),
    ],
)
def test_status_alone(status: int, kind: str, is_retryable: bool) -> None:
    error = refused(status, b"")
    assert (error.error_type, error.retryable, error.status) == (kind, is_retryable, status)
    assert f"HTTP {status}" in str(error)


def test_a_missing_key_is_said_so() -> None:
    peer = Peer(server="s", provider="openai-compatible")
    error = error_of_response(peer, 401, {}, b'"Invalid token"')
    assert error.error_type == "no_key"
    assert "CIRCUIT_AI_OPENAI_COMPATIBLE_API_KEY" in str(error.advice)
    assert "providers key set openai-compatible" in str(error.advice)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "the request exceeds the available context size. try increasing the context size",
        "Requested tokens (9000) exceed context window of 2048",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        "Range of input length should be [1, 30720]",
        "Input is too long for requested model.",
    ],
)
def test_a_context_that_is_too_long_by_unmistakable_words(text: str) -> None:
    assert (
        refused(400, {"error": {"message": text, "code": "invalid_request_error"}}).error_type
        == "context_too_long"
    )
    assert refused(429, {"error": {"message": text}}).error_type == "rate_limited"


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "'max_completion_tokens' is too large: 9. This model's maximum context length is 8 tokens",
        "The context is invalid",
        "tokens must be an integer",
        "messages too long ago",
        "",
    ],
)
def test_other_errors_are_no_long_context(text: str) -> None:
    assert refused(400, {"error": {"message": text}}).error_type == "bad_request"


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (400, "Incorrect API key provided: x", "auth"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
        (403, "Insufficient Balance", "no_balance"),
        (429, "账户已欠费，请充值", "no_balance"),
        (429, "You exceeded your current quota, please check your plan", "quota"),
        (404, "The model `x` does not exist or you do not have access to it.", "unknown_model"),
        (400, "model 'x' not found", "unknown_model"),
    ],
)
def test_words_that_leave_no_doubt(status: int, text: str, kind: str) -> None:
    error = refused(status, {"error": {"message": text}})
    assert (error.error_type, error.retryable) == (kind, False)


@for_each(
    ("body", "text", "code"),
    [
        ({"error": {"message": "m", "type": "t", "code": None}}, "m", ""),
        ({"error": {"message": "m", "code": 429}}, "m", "429"),
        ({"error": "text"}, "text", "text"),
        ({"error": "short", "message": "the long story"}, "the long story", "short"),
        ({"error": {"foo": 1}}, '{"foo": 1}', ""),
        ({"code": 20012, "message": "m"}, "m", "20012"),
        ({"message": "m", "data": None}, "m", ""),
        ({"detail": "Not Found"}, "Not Found", ""),
        ({"detail": [{"msg": "x"}]}, '[{"msg": "x"}]', ""),
        ("Invalid token", "Invalid token", ""),
        ([{"error": {"code": 400, "message": "m"}}], "m", "400"),
        ([], "", ""),
        (None, "", ""),
        (b"", "", ""),
        (b"plain words", "plain words", ""),
        (b"<html><head><title> 502 &amp; Bad </title>", "502 & Bad", ""),
        (b"<html><body><h1>No <b>way</b></h1>", "No way", ""),
        (b"<html>", "", ""),
        (b"<title" * 50_000, "", ""),
        (b"<title>" + b"<" * 90_000 + b"</title>", "<" * 90_000, ""),
        (b'data: {"error": {"message": "m"}}\n\n', "m", ""),
        (b"\xff\xfe", "��", ""),
        (b'{"error":' + b"[" * 100_000, '{"error":' + "[" * 100_000, ""),
    ],
)
def test_shapes_of_complaints(body: Any, text: str, code: str) -> None:
    found = read_complaint(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert (found.text, found.code) == (text, code)


@for_each(
    ("payload", "event", "expected"),
    [
        ({"error": {"message": "x"}}, "", True),
        ({"error": None, "choices": []}, "", False),
        ({"choices": [], "message": "x"}, "error", False),
        ({"message": "x"}, "", True),
        ({"object": "error", "code": 1}, "", True),
        ({"detail": "x"}, "", True),
        ({"error_code": 0, "text": "x"}, "", False),
        ({"usage": {}, "message": "x"}, "", False),
        ({"type": "ping", "message": "x"}, "", False),
        ({"id": "x"}, "", False),
        ({"id": "x"}, "error", True),
        ("x", "error", True),
        ("x", "", False),
        ([], "", False),
    ],
)
def test_what_is_an_error_in_a_stream(payload: Any, event: str, expected: bool) -> None:
    assert is_error_payload(payload, event) is expected


def test_vague_types_count_only_without_a_status() -> None:
    error = {"error": {"message": "x", "type": "invalid_request_error", "code": "invalid_request_error"}}
    assert error_of_payload(PEER, error).error_type == "bad_request"
    assert refused(401, error).error_type == "auth"
    assert refused(402, error).error_type == "no_balance"


def test_a_model_without_tools_gets_its_own_advice() -> None:
    error = refused(400, {"error": {"message": "registry.ollama.ai/library/x does not support tools"}})
    assert "can call tools" in str(error.advice)


@for_each(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "tomorrow"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 -0000", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 01 Jan 2024 00:00:00 +99999999999999999999"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2300"}, None),
        ({"retry-after": "9" * 40}, 30 * 24 * 3600.0),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand\x1b[31mred\x00", "two lines and [31mred"),
        ("right\u202eto left \ud800", "right to left"),
        (f"echo {KEY} echo", "echo [key] echo"),
        ("Incorrect API key provided: sk-proj-ab******yz.", "Incorrect API key provided: [key]"),
        ("Authorization: Bearer abcdefgh123", "Authorization: Bearer [key]"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_quotes(text: str, shown: str) -> None:
    assert quote(text, KEY) == shown
    quote(text, KEY).encode()


@pytest.mark.parametrize("key", ["pa/ss+word==", 'qu"ote\\key', KEY, "abc"])
def test_a_key_is_found_in_every_form(key: str) -> None:
    from urllib.parse import quote as url_quote

    for form in (key, url_quote(key, safe=""), json.dumps(key)):
        shown = quote(f"before {form} after", key)
        assert shown.replace('"', "") == "before [key] after"


def test_a_short_key_leaves_words_alone() -> None:
    assert quote("abc of abcdef", "abc") == "[key] of abcdef"


def test_no_key_nothing_to_hide() -> None:
    assert quote("plain words", "") == "plain words"


def _caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


@for_each(
    ("error", "kind", "is_retryable"),
    [
        (httpx.ConnectTimeout("x"), "timeout", True),
        (httpx.PoolTimeout("x"), "timeout", True),
        (
            _caused(httpx.ConnectError("x"), ConnectionRefusedError(111, "Connection refused")),
            "unreachable",
            True,
        ),
        (
            _caused(httpx.ConnectError("x"), socket.gaierror(socket.EAI_NONAME, "unknown")),
            "unreachable",
            False,
        ),
        (_caused(httpx.ConnectError("x"), socket.gaierror(socket.EAI_AGAIN, "later")), "unreachable", True),
        (_caused(httpx.ConnectError("x"), ssl.SSLCertVerificationError(1, "expired")), "unreachable", False),
        (
            _caused(httpx.ConnectError("x"), ExceptionGroup("all", [OSError(113, "No route to host")])),
            "unreachable",
            True,
        ),
        (httpx.ProxyError("407 Proxy Authentication Required"), "unreachable", False),
        (httpx.ReadError("x"), "connection_lost", True),
        (httpx.WriteError("x"), "connection_lost", True),
        (
            httpx.RemoteProtocolError("Server disconnected without sending a response."),
            "connection_lost",
            True,
        ),
        (
            httpx.RemoteProtocolError("peer closed connection without sending complete message body"),
            "connection_lost",
            True,
        ),
        (httpx.RemoteProtocolError("illegal status line"), "bad_response", False),
        (httpx.DecodingError("incorrect header check"), "bad_response", False),
        (httpx.UnsupportedProtocol("x"), "bad_request", False),
    ],
)
def test_errors_of_the_network(error: Exception, kind: str, is_retryable: bool) -> None:
    found = error_of_transport(PEER, error)
    assert (found.error_type, found.retryable, found.status) == (kind, is_retryable, None)
    assert "api.example.com" in str(found)


def test_a_connection_that_does_not_come_is_no_matter_of_a_slow_model() -> None:
    assert "network connection" in str(error_of_transport(PEER, httpx.ConnectTimeout("")).advice)


def test_a_connection_that_breaks_without_a_word_is_told_in_the_words_of_the_system() -> None:
    error = _caused(httpx.ReadError(""), OSError(104, "Connection reset by peer"))
    assert "Connection reset by peer" in str(error_of_transport(PEER, error))


def test_why_a_connection_failed_is_said() -> None:
    error = _caused(httpx.ConnectError("All connection attempts failed"), OSError(113, "No route to host"))
    assert "No route to host" in str(error_of_transport(PEER, error))


@for_each(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://127.8.9.1", True),
        ("http://127.1", True),
        ("http://[::1]:11434", True),
        ("http://[::ffff:127.0.0.1]", True),
        ("http://0.0.0.0:1", True),
        ("https://LOCALHOST.:1/v1", True),
        ("http://models.localhost", True),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://10.0.0.1", False),
        ("https://api.openai.com/v1", False),
        ("http://[::2]", False),
        ("http://dead.beef", False),
        ("http://", False),
    ],
)
def test_loopback_addresses(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


def test_the_manual_explains_every_kind() -> None:
    manual = (ROOT / "docs" / "providers.md").read_text("utf-8")
    assert not [kind for kind in get_args(ProviderErrorType) if f"`{kind}`" not in manual]


def test_codes_are_compared_in_lower_case() -> None:
    assert not [code for code in CODES if code != code.lower()]
    assert verdict_of_status(499).kind == "bad_request"


def test_a_quota_says_when_it_is_renewed() -> None:
    peer = Peer(server="open.bigmodel.cn", provider="zhipu", key="k")
    text = "已达到 5 小时的使用上限。您的限额将在 2026-03-01 18:30:00 重置。"
    body = json.dumps({"error": {"code": "1308", "message": text}}).encode()
    error = error_of_response(peer, 429, {"retry-after": "1"}, body)
    assert (error.error_type, error.retryable) == ("quota", False)
    assert "2026-03-01 18:30:00" in str(error.advice)
