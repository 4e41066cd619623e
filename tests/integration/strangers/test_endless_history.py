"""History of a cloned project that is a few kilobytes in git and gigabytes on the disk."""

import os
from pathlib import Path

import pytest

from infrastructure.persistence.sessions import MAX_TRANSCRIPT_BYTES, SessionFiles
from tests.integration.strangers.conftest import SESSION


def test_a_transcript_larger_than_any_is_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "p" / ".circuit_ai" / "conversations"
    folder.mkdir(parents=True)
    place = folder / f"{SESSION}.jsonl"
    place.touch()
    os.truncate(place, 2 * MAX_TRANSCRIPT_BYTES + 1)  # sparse
    listed = SessionFiles(folder).list()
    assert [(info.session_id, info.is_ours) for info in listed] == [(SESSION, False)]
    assert "cannot be read" in caplog.text
