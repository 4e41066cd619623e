"""Secrets are blacked out in logs and texts, whatever way they come in."""

from __future__ import annotations

import base64
import io
import json
import logging
import random
import string
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from shared import redaction
from shared.redaction import redact, redact_known, register_secret

CANARY = 'sk+canary/0123"456=789'


@pytest.fixture(autouse=True)
def own_secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redaction, "_secrets", redaction._Secrets())
    before = logging.getLogRecordFactory()
    redaction.install()
    yield
    logging.setLogRecordFactory(before)


def test_every_spelling_of_a_registered_secret_is_found() -> None:
    register_secret(CANARY)
    coded = base64.b64encode(CANARY.encode()).decode()
    for form in (CANARY, quote(CANARY, safe=""), json.dumps(CANARY), repr(CANARY), coded):
        assert redact_known(f"<{form}>").count("[key]") == 1, form
    assert redact_known("nothing to see") == "nothing to see"


def test_what_looks_like_a_key_is_found_in_errors_and_left_in_data() -> None:
    for text in ("sk-abcdef123456", f"Bearer {'x' * 30}", f"{'0a' * 16}.{'Z' * 16}"):
        assert "[key]" in redact(f"used {text} here")
        assert redact_known(f"used {text} here") == f"used {text} here"
    for text in ("R1 in out 1k", "desk-top-model", "sk-1", "task-force-number-one"):
        assert redact(text) == text


def test_short_secrets_do_not_eat_words() -> None:
    register_secret("abc")
    assert redact_known("abcdef abc, x_abc") == "abcdef [key], x_abc"


def test_any_log_record_comes_out_clean() -> None:
    rng = random.Random(5)
    keys = [
        "".join(rng.choices(string.ascii_letters + string.digits + "+/=-_.%\"'\\", k=24)) for _ in range(20)
    ]
    for key in keys:
        register_secret(key)
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    logger = logging.getLogger("test_redaction")
    logger.addHandler(handler)
    logger.propagate = False
    try:
        for key in keys:
            logger.warning("plain %s", key)
            logger.warning("in a mapping %s", {"Authorization": f"Bearer {key}"})
            logger.warning("bad arguments %d", key)
            try:
                raise ValueError(key) from RuntimeError(f"cause {key}")
            except ValueError:
                logger.exception("it failed", stack_info=True)
    finally:
        logger.removeHandler(handler)
    text = written.getvalue()
    assert text.splitlines().count("it failed") == len(keys)
    assert "ValueError: [key]" in text
    assert not [key for key in keys if key in text or repr(key)[1:-1] in text]


def test_a_log_drives_no_terminal() -> None:
    record = logging.getLogRecordFactory()(
        "server", logging.INFO, "f", 1, "%s", ("a\x1b[2Jb\u202ec\rd",), None
    )
    assert record.getMessage() == "a\u241b[2Jb\ufffdc\u240dd"
