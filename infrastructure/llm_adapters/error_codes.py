"""What the error codes, types and phrases of servers mean, as rows of data.

Codes are compared as lower-case text; words and the number ranges of the providers do not collide.
Sources: OpenAI "Error codes"; docs.bigmodel.cn "api-code" (four digits); SiliconFlow's error bodies (five
digits); DashScope "Error codes"; Google AIP-193; llama.cpp `server` (error types).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from domain.llm.chat import ProviderErrorType


@dataclass(frozen=True, slots=True)
class Verdict:
    """What kind of error it is and whether the same request may succeed a moment later."""

    kind: ProviderErrorType
    is_retryable: bool = False


_CODE_ROWS: tuple[tuple[Iterable[object], Verdict], ...] = (
    # OpenAI's words, and those of servers that follow it
    (("invalid_api_key", "authentication_error", "account_deactivated"), Verdict("auth")),
    (("permission_error", "unsupported_country_region_territory"), Verdict("forbidden")),
    (("insufficient_quota", "billing_hard_limit_reached"), Verdict("quota")),
    (("billing_not_active", "billing_error", "insufficient_balance"), Verdict("no_balance")),
    (("rate_limit_exceeded", "rate_limit_error"), Verdict("rate_limited", True)),
    (("overloaded_error", "engine_overloaded", "unavailable_error"), Verdict("overloaded", True)),
    (("model_not_found", "model_not_exist", "unknown_model"), Verdict("unknown_model")),
    (
        ("context_length_exceeded", "model_context_window_exceeded", "exceed_context_size_error"),
        Verdict("context_too_long"),
    ),
    (
        ("content_filter", "content_policy_violation", "responsibleaipolicyviolation", "moderation_blocked"),
        Verdict("content_blocked"),
    ),
    # OpenAI's Responses API, in `response.failed`
    (
        ("invalid_prompt", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation"),
        Verdict("content_blocked"),
    ),
    (
        (
            *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url"),
            *("image_too_large", "image_too_small", "image_parse_error", "invalid_image_mode"),
            *("image_file_too_large", "unsupported_image_media_type", "empty_image_file"),
            *("failed_to_download_image", "image_file_not_found"),
        ),
        Verdict("bad_request"),
    ),
    # Qwen's DashScope
    (("invalidapikey", "invalid_access_token"), Verdict("auth")),
    (("accessdenied", "model.accessdenied", "accessdenied.unpurchased"), Verdict("forbidden")),
    (("arrearage",), Verdict("no_balance")),
    (("throttling.allocationquota",), Verdict("quota")),
    (("throttling", "throttling.ratequota", "throttling.burstrate"), Verdict("rate_limited", True)),
    (("modelnotfound", "model_not_supported"), Verdict("unknown_model")),
    (("datainspectionfailed", "data_inspection_failed"), Verdict("content_blocked")),
    # Google
    (("unauthenticated",), Verdict("auth")),
    (("permission_denied",), Verdict("forbidden")),
    (("resource_exhausted",), Verdict("rate_limited", True)),
    # DeepSeek, as a finish reason
    (("insufficient_system_resource",), Verdict("overloaded", True)),
    # Zhipu. 1113 arrives with HTTP 429.
    (range(1000, 1005), Verdict("auth")),
    ((1110, 1111, 1112, 1120, 1121), Verdict("forbidden")),
    ((1113,), Verdict("no_balance")),
    ((1210, 1212, 1213, 1214, 1215), Verdict("bad_request")),
    ((1211,), Verdict("unknown_model")),
    (range(1220, 1223), Verdict("forbidden")),
    ((1234,), Verdict("server_error", True)),
    ((1261,), Verdict("context_too_long")),
    ((1300, 1301), Verdict("content_blocked")),
    ((1302, 1303), Verdict("rate_limited", True)),
    ((1304, 1308, 1310), Verdict("quota")),
    ((1305, 1312), Verdict("overloaded", True)),
    ((1309, 1311, 1313), Verdict("forbidden")),
    # SiliconFlow
    ((20012, 30003), Verdict("unknown_model")),
    ((20015,), Verdict("bad_request")),
    ((30001,), Verdict("no_balance")),
    ((50505, 50508), Verdict("overloaded", True)),
    ((50507,), Verdict("server_error", True)),
)

CODES = {str(code): verdict for codes, verdict in _CODE_ROWS for code in codes}
"""Codes and types that say what happened whatever the HTTP status is."""

VAGUE_TYPES = {
    "invalid_request_error": Verdict("bad_request"),
    "badrequesterror": Verdict("bad_request"),
    "invalid_argument": Verdict("bad_request"),
}
"""Types too general to outweigh a status (DeepSeek sends them with 401 and 402 too)."""

STATUSES: dict[int, Verdict] = {
    401: Verdict("auth"),
    402: Verdict("no_balance"),
    403: Verdict("forbidden"),
    407: Verdict("unreachable"),
    408: Verdict("timeout", True),
    409: Verdict("server_error", True),
    425: Verdict("server_error", True),
    429: Verdict("rate_limited", True),
    434: Verdict("forbidden"),  # Zhipu: no right to this interface
    451: Verdict("forbidden"),
    501: Verdict("server_error"),
    503: Verdict("overloaded", True),
    504: Verdict("timeout", True),
    505: Verdict("server_error"),
    529: Verdict("overloaded", True),
}


def verdict_of_status(status: int) -> Verdict:
    if status in STATUSES:
        return STATUSES[status]
    if status >= 500:
        return Verdict("server_error", True)
    return Verdict("bad_request" if status >= 400 else "bad_response")


_CONTEXT_TEXTS = re.compile(
    r"maximum context length"
    r"|context[ _]length[ _]exceeded"
    r"|exceeds? (the |this model's )?(available |maximum )?context (size|length|window)"
    r"|prompt is too long"
    r"|input is too long for requested model"
    r"|input token count .{0,40}exceeds the maximum"
    r"|range of input length should be"
    r"|reduce the length of the (messages|prompt)"
    r"|tokens to keep from the initial prompt is greater than the context length",
    re.IGNORECASE,
)
_OUTPUT_LIMIT_TEXTS = re.compile(r"max_(completion_)?tokens.{0,40} is too large", re.IGNORECASE)
_BALANCE_TEXTS = re.compile(r"insufficient (account )?balance|余额不足|欠费", re.IGNORECASE)
_QUOTA_TEXTS = re.compile(r"exceeded your current quota", re.IGNORECASE)
_KEY_TEXTS = re.compile(
    r"(invalid|incorrect) (api[ _-]?key|token)|api[ _-]?key not valid|api[ _-]?key is invalid", re.IGNORECASE
)
_MODEL_TEXTS = re.compile(
    r"\bmodel\b.{0,120}(not found|does not exist|not exist)|unknown model", re.IGNORECASE
)
_MAY_BE_ABOUT_CONTEXT = frozenset({None, 400, 413, 422, 500})


def verdict_of_text(text: str, status: int | None) -> Verdict | None:
    """What a server's words say beyond doubt; None when they leave doubt.

    A conversation is held to be too long only by phrases that can mean nothing else, and never on a
    rate limit: compacting on the wrong error destroys a conversation for nothing.
    """
    if (
        status in _MAY_BE_ABOUT_CONTEXT
        and _CONTEXT_TEXTS.search(text)
        and not _OUTPUT_LIMIT_TEXTS.search(text)
    ):
        return Verdict("context_too_long")
    if _BALANCE_TEXTS.search(text):
        return Verdict("no_balance")
    if _QUOTA_TEXTS.search(text):
        return Verdict("quota")
    if status in {None, 400, 401, 403} and _KEY_TEXTS.search(text):
        return Verdict("auth")
    if status in {None, 400, 404} and _MODEL_TEXTS.search(text):
        return Verdict("unknown_model")
    return None
