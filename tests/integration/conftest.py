"""What the tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ground.forked_commands import ForkedCommands


@pytest.fixture(scope="session")
def forked_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedCommands]:
    """The command line without the time its imports take."""
    commands = ForkedCommands(tmp_path_factory.mktemp("commands"))
    yield commands
    commands.close()
