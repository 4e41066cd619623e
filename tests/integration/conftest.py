"""What the tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from application.conversation import project_context
from tests.ground.forked_commands import ForkedCommands


@pytest.fixture(autouse=True)
def _patient_collectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the machine is busy a turn would leave out what a test looks for in its request."""
    monkeypatch.setattr(project_context, "LIMIT_S", 30.0)


@pytest.fixture(scope="session")
def forked_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """The command line without the time its imports take."""
    commands = ForkedCommands(tmp_path_factory.mktemp("commands"))
    yield commands
    commands.close()
