"""From what is wanted to the values that meet it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from application.conversation.chatting import ChatWithModel
    from application.goal_checks.previewing import PreviewChange
    from application.goal_checks.since_when import FindCulprit, Run
    from application.groups.outside import Outside
    from application.groups.project import Project
    from application.groups.simulation import Simulation
    from application.optimization.influencing import FindInfluence
    from application.optimization.optimizing import OptimizeCircuit
    from application.optimization.pulling import PullCurve
    from application.optimization.tuning import TuneCircuit
    from application.project.goals_watch import WatchGoals
    from application.project.taking_edits_back import TakeEditBack
    from application.reports.circuit_report import ReportCircuit
    from application.reports.kept_studies import KeptStudies
    from application.reports.making import MakeReport
    from application.workflow.designing import DesignCircuit
    from application.workflow.goals_of_circuit import ReadGoals
    from application.workflow.going_back import GoBackToRound


class Design:
    """Designs, and the search for better values."""

    def __init__(
        self, outside: Outside, simulation: Simulation, project: Project, chat: Callable[[], ChatWithModel]
    ) -> None:
        """`chat` has the models that may design."""
        self._chat = chat
        self._project = project
        self._outside = outside
        self._simulation = simulation

    @cached_property
    def run(self) -> DesignCircuit:
        """From a sentence to a proved circuit."""
        from application.workflow.designing import DesignCircuit

        return DesignCircuit(
            projects=self._outside.project.projects,
            simulate=self._simulation.run,
            measure=self._simulation.measure,
            checkpointers=self._outside.conversations.checkpointers,
            tracer=self._outside.program.tracer,
            narrators=self._outside.conversations.narrators,
            chat=self._chat,
            checkpoint_texts=self._outside.conversations.checkpoint_texts,
            request_texts=self._outside.conversations.request_texts,
        )

    @cached_property
    def read_goals(self) -> ReadGoals:
        """What a sentence asks of a circuit that is there."""
        from application.workflow.goals_of_circuit import ReadGoals

        return ReadGoals(projects=self._outside.project.projects, chat=self._chat)

    @cached_property
    def go_back(self) -> GoBackToRound:
        """To a round of a design that has ended."""
        from application.workflow.going_back import GoBackToRound

        outside = self._outside
        return GoBackToRound(
            outside.project.projects, outside.program.events, outside.conversations.narrators
        )

    @cached_property
    def optimize(self) -> OptimizeCircuit:
        from application.optimization.optimizing import OptimizeCircuit

        simulation, program = self._outside.simulation, self._outside.program
        return OptimizeCircuit(
            batch=simulation.batch_at,
            simulator=simulation.simulator,
            waveforms=simulation.waveforms,
            sources=simulation.sources,
            results=simulation.results,
            events=program.events,
            settings=simulation.settings,
            write_file=program.write_file,
            tables=self._simulation.device_tables,
            libraries=lambda: program.libraries,
        )

    @cached_property
    def tune(self) -> TuneCircuit:
        """Keep a circuit loaded for values that change under a slider."""
        from application.optimization.tuning import TuneCircuit

        simulation, program = self._outside.simulation, self._outside.program
        return TuneCircuit(
            batch=simulation.batch,
            sources=simulation.sources,
            settings=simulation.settings,
            libraries=lambda: program.libraries,
        )

    @cached_property
    def influence(self) -> FindInfluence:
        """What each value of a circuit does to one goal."""
        from application.optimization.influencing import FindInfluence

        return FindInfluence(tune=self.tune)

    @cached_property
    def pull(self) -> PullCurve:
        """Values that follow what somebody moves in the plot."""
        from application.optimization.pulling import PullCurve

        return PullCurve(tune=self.tune)

    @cached_property
    def since_when(self) -> FindCulprit:
        """Which edit of a circuit lost a goal."""
        from application.goal_checks.since_when import FindCulprit

        simulation = self._outside.simulation
        return FindCulprit(
            projects=self._outside.project.projects,
            batch=simulation.batch,
            sources=simulation.sources,
            settings=simulation.settings,
            libraries=lambda: self._outside.program.libraries,
            runs_of=self._runs_of,
        )

    def _runs_of(self, root: Path, circuit: Path) -> tuple[Run, ...]:
        from application.goal_checks.since_when import Run
        from application.project.browsing import MOST_RESULTS

        found = self._outside.project.results.newest(root, MOST_RESULTS, with_studies=True)
        return tuple(
            Run(created=each.created, sha256=each.netlist_sha256)
            for each in found
            if each.is_ours and each.circuit == circuit
        )

    @cached_property
    def take_edit_back(self) -> TakeEditBack:
        """That edit out of the files again, and no later one."""
        from application.project.taking_edits_back import TakeEditBack

        return TakeEditBack(projects=self._outside.project.projects, operations=self._project.operations)

    @cached_property
    def watch_goals(self) -> WatchGoals:
        """The goals of all circuits that an edit touches."""
        from application.project.goals_watch import WatchGoals

        simulation = self._outside.simulation
        return WatchGoals(
            projects=self._outside.project.projects,
            batch=simulation.batch,
            sources=simulation.sources,
            settings=simulation.settings,
            libraries=lambda: self._outside.program.libraries,
        )

    @cached_property
    def preview_change(self) -> PreviewChange:
        """What a change would do to the goals and curves of the circuits that read it."""
        from application.goal_checks.previewing import PreviewChange

        simulation = self._outside.simulation
        return PreviewChange(
            projects=self._outside.project.projects,
            batch=simulation.batch,
            sources=simulation.sources,
            settings=simulation.settings,
            libraries=lambda: self._outside.program.libraries,
        )

    @cached_property
    def report(self) -> ReportCircuit:
        """What a design report tells of a circuit."""
        from application.reports.circuit_report import ReportCircuit

        return ReportCircuit(
            browse=self._project.browse,
            share=self._project.share,
            simulate=self._simulation.run,
            measure=self._simulation.measure,
            waveforms=self._simulation.waveforms,
            export=self._simulation.export,
            schematics=self._simulation.schematic,
            kept=self.kept_studies,
        )

    @cached_property
    def kept_studies(self) -> KeptStudies:
        """The studies of a circuit that a report can tell."""
        from application.reports.kept_studies import KeptStudies

        return KeptStudies(catalogue=self._outside.project.results, read=self._simulation.read_study)

    @cached_property
    def make_report(self) -> MakeReport:
        """A design report as files."""
        from application.reports.making import MakeReport

        program = self._outside.program
        return MakeReport(
            gather=lambda: self.report, pages=lambda: program.report_pages, write_file=program.write_file
        )
