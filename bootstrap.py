"""Where the program is put together: adapters (`composition/`) under the use cases (`application/groups/`).

Two steps: `build()` makes everything cheap; `Application.warm_up()` imports what is slow (the graph), off the
loop after the first paint. Each part is made at its first use, so that a quick sub-command pays only for
what it touches.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from application.app import Application
from composition.program import ProgramAdapters
from shared import redaction

if TYPE_CHECKING:
    from application.ports.simulation import Simulator
    from composition.conversations import ConversationAdapters
    from composition.models import ModelAdapters
    from composition.project import ProjectAdapters
    from composition.simulation import SimulationAdapters

_OF_TRACERS = ("LANGSMITH_", "LANGCHAIN_")
_SWITCHED_OFF = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    # A checkpoint file from someone else must not be able to revive arbitrary types.
    "LANGGRAPH_STRICT_MSGPACK": "true",
}


def _switch_off_tracing() -> None:
    """Before LangChain is imported: variables in the user's shell would make it upload every run.

    There are many (one for an older version even stops every model call), so all of them go.
    """
    for name in [name for name in os.environ if name.upper().startswith(_OF_TRACERS)]:
        del os.environ[name]
    os.environ.update(_SWITCHED_OFF)


class Adapters:
    """Implements application.groups.outside.Outside; a group's module is imported when it is first used."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        simulator: Simulator | None,
    ) -> None:
        self.program = ProgramAdapters(environment)
        self._given_simulator = simulator

    @cached_property
    def simulation(self) -> SimulationAdapters:
        from composition.simulation import SimulationAdapters

        return SimulationAdapters(self.program, self._given_simulator)

    @cached_property
    def models(self) -> ModelAdapters:
        from composition.models import ModelAdapters

        return ModelAdapters(self.program)

    @cached_property
    def project(self) -> ProjectAdapters:
        from composition.project import ProjectAdapters

        return ProjectAdapters(self.program)

    @cached_property
    def conversations(self) -> ConversationAdapters:
        from composition.conversations import ConversationAdapters

        return ConversationAdapters(self.program)


def build(
    *,
    environment: Mapping[str, str] | None = None,
    simulator: Simulator | None = None,
) -> Application:
    """The application, cheap to make. Tests hand in fakes at the ports."""
    _switch_off_tracing()
    redaction.install()
    environment = os.environ if environment is None else environment
    redaction.register_environment(environment)  # also for commands that ask no key store: exports
    adapters = Adapters(environment, simulator=simulator)
    if "asyncio" in sys.modules:
        # Made on a running loop it delivers there; threads may be first to use it.
        adapters.program.events  # noqa: B018
    return Application(adapters)
