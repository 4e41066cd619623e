"""What a front end may use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from application.groups.conversations import Conversations
    from application.groups.design import Design
    from application.groups.models import Models
    from application.groups.outside import Outside
    from application.groups.program import Program
    from application.groups.project import Project
    from application.groups.simulation import Simulation


class Application:
    """The use cases of the program in six groups; each group, and each use case, is made at its first use.

    A quick command pays only for what it touches: `check` loads neither numpy nor LangGraph.
    """

    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    @cached_property
    def program(self) -> Program:
        """Events, tasks, stopping, language, this machine, what the window remembers."""
        from application.groups.program import Program

        return Program(self._outside)

    @cached_property
    def simulation(self) -> Simulation:
        """Circuits checked, simulated and measured, and what a result shows."""
        from application.groups.simulation import Simulation

        return Simulation(self._outside.simulation, self._outside.program)

    @cached_property
    def design(self) -> Design:
        """From what is wanted to the values that meet it."""
        from application.groups.design import Design

        return Design(self._outside, self.simulation, self.project, lambda: self.conversations.chat)

    @cached_property
    def models(self) -> Models:
        """Language models and searches of the web: their keys, settings and trials."""
        from application.groups.models import Models

        return Models(self._outside.models, self._outside.program)

    @cached_property
    def project(self) -> Project:
        """Projects: their files, what was done to them, searching them, keeping them tidy."""
        from application.groups.project import Project

        return Project(self._outside, self.simulation)

    @cached_property
    def conversations(self) -> Conversations:
        """Conversations with a model that has the project's tools."""
        from application.groups.conversations import Conversations, ToolUseCases

        tools = ToolUseCases(
            self._outside,
            simulation=lambda: self.simulation,
            design=lambda: self.design,
            models=lambda: self.models,
            project=lambda: self.project,
        )
        return Conversations(
            self._outside,
            tools=tools,
            search_web=lambda: self.models.search_web,
            watch_goals=lambda: self.design.watch_goals if self._outside.program.watches_goals else None,
        )

    def warm_up(self) -> Iterator[None]:
        """Import what is slow to import, in pieces; off the loop, after the first paint.

        The graph, then what the first message and the first design would import on the loop.
        """
        from application.graph import AGENT, WORKFLOW
        from shared.uninterrupted import imported

        yield from imported((*AGENT, *WORKFLOW))
        self.models.providers.list()  # what was set and which keys there are is known from now on
        for group, use_case in ((self.conversations, "chat"), (self.design, "run")):
            getattr(group, use_case)
            yield

    async def close(self) -> None:
        """Cancel what runs, kill what does not end, release executors."""
        program = self._outside.program
        await program.tasks.shutdown()
        program.stop.close()
        await program.processes.kill_all()
        if "project" in vars(self):  # what was never made has nothing to close
            await self.project.close()
        await program.cpu.shutdown()
