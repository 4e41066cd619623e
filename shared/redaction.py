"""Keeps secrets out of whatever is written or shown: logs, traces, exports, texts of errors.

A key is registered when it is read, before anything is done with it; from then on every log record of
the process has it blacked out, wherever it was put (`install`). Texts that merely look like a key are
blacked out in logs, traces and errors too, but never in a user's own data.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType

from shared.late_patterns import late_pattern
from shared.message import for_terminal

BLACKED_OUT = "[key]"
_SHORTEST = 6
"""A shorter secret is blacked out only where it stands alone: it may be a part of any word."""
_LOOKS_LIKE_A_KEY = late_pattern(
    r"\b(?:sk|pk|rk|gsk|hf|ghp)[-_][\w*.-]{6,}"
    r"|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b"  # Zhipu: id and secret
    r"|(?<=Bearer )[^\s\"',]{6,}"
    r"|(?<=Basic )[A-Za-z0-9+/=]{12,}"
)


class _Secrets:
    """What is blacked out, and one pattern for all of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: set[str] = set()
        self.pattern: re.Pattern[str] | None = None

    def add(self, text: str) -> None:
        with self._lock:
            if text in self._texts:
                return
            self._set({*self._texts, text})

    def replace(self, texts: frozenset[str]) -> None:
        """Take these in place of all others."""
        with self._lock:
            self._set(set(texts))

    @property
    def texts(self) -> frozenset[str]:
        return frozenset(self._texts)

    def _set(self, texts: set[str]) -> None:
        forms = {form for secret in texts for form in _spellings(secret)}
        # The longest first: one key may begin like another.
        parts = [_pattern_of(form) for form in sorted(forms, key=len, reverse=True)]
        self._texts = texts
        self.pattern = re.compile("|".join(parts)) if parts else None


_secrets = _Secrets()


def register_secret(text: str) -> None:
    """From now on `text` is blacked out, in its usual spellings too (JSON, URL, base64)."""
    if text.strip():
        _secrets.add(text.strip())


def register_environment(environment: Mapping[str, str]) -> None:
    """Every key and passphrase of ours in these variables, whether or not this run will use it."""
    for name, value in environment.items():
        if name.startswith("CIRCUIT_AI_") and name.endswith(("_KEY", "_PASSPHRASE")):
            register_secret(value)


def registered() -> frozenset[str]:
    """The texts that are blacked out now."""
    return _secrets.texts


def register_only(texts: frozenset[str]) -> None:
    """Black out `texts` and nothing else that was registered before."""
    _secrets.replace(texts)


def redact_known(text: str) -> str:
    """`text` without registered secrets; nothing else is touched."""
    known = _secrets.pattern
    return text if known is None else known.sub(BLACKED_OUT, text)


def redact(text: str) -> str:
    """`text` without registered secrets and without what looks like a key."""
    return _LOOKS_LIKE_A_KEY.sub(BLACKED_OUT, redact_known(text))


def install() -> None:
    """Black out secrets (and control characters) in every log record of this process, and in the traces of
    uncaught errors."""
    if getattr(logging.getLogRecordFactory(), "redacts", False):
        return
    make = logging.getLogRecordFactory()

    def make_redacted(*args: object, **kwargs: object) -> logging.LogRecord:
        record: logging.LogRecord = make(*args, **kwargs)
        _clean(record)
        return record

    make_redacted.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make_redacted)
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show_redacted


def _clean(record: logging.LogRecord) -> None:
    """The message and the traceback are made now: later nobody could look into their arguments."""
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - arguments that don't fit, or whose text can't be made
        message = f"{record.msg} (its arguments do not fit)"
    record.msg, record.args = _shown(message), ()
    if isinstance(record.exc_info, tuple) and record.exc_info[0] is not None:
        record.exc_text = _shown("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
    if record.stack_info:
        record.stack_info = _shown(record.stack_info)


def _show_redacted(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(_shown("".join(traceback.format_exception(kind, error, trace))))


def _shown(text: str) -> str:
    """Without control characters too: servers and files are quoted in logs, and these read on terminals."""
    return for_terminal(redact(text))


def _spellings(secret: str) -> tuple[str, ...]:
    import base64
    from urllib.parse import quote, quote_plus

    data = secret.encode("utf-8", "surrogateescape")
    coded = base64.b64encode(data).decode().rstrip("=")
    forms = (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    return (*forms, coded) if len(secret) >= _SHORTEST else forms


def _pattern_of(form: str) -> str:
    text = re.escape(form)
    return text if len(form) >= _SHORTEST else rf"(?<!\w){text}(?!\w)"
