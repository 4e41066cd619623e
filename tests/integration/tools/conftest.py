"""Calls tools as an agent does: the real executor, files, operation log and simulator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from application.components.billing import CountParts
from application.components.finding import FindComponents
from application.optimization.optimizing import OptimizeCircuit
from application.results.exporting import ExportResult
from application.search.searching import SearchProject
from application.simulation.checking import CheckCircuit
from application.simulation.convergence import AnalyzeConvergence
from application.simulation.device_tables import DeviceTables
from application.simulation.measuring import MeasureResult
from application.simulation.simulating import RunSimulation
from application.studies.studying import RunStudy
from application.tool_execution.definition import ToolContext, ToolServices
from application.tool_execution.executor import ToolExecutor
from application.tool_execution.operations import Operations
from application.tool_execution.registry import TOOLS
from domain.llm.tools.result import ToolCall, ToolResult
from infrastructure.components.index import SqliteComponentIndex
from infrastructure.exports.pictures import PictureFiles
from infrastructure.exports.tables import TableFiles
from infrastructure.ngspice.batch.simulator import NgspiceBatch
from infrastructure.ngspice.confined import ConfinedNgspice
from infrastructure.ngspice.runner import NgspiceRunner
from infrastructure.ngspice.stepped_runs import StepJoiner
from infrastructure.persistence.confined import write_atomically
from infrastructure.persistence.examples import ShippedModels
from infrastructure.persistence.project import ProjectFolder, ProjectFolders
from infrastructure.persistence.project_view import FolderView
from infrastructure.persistence.results import ResultFolders
from infrastructure.persistence.settings import SimulatorSettingsFile
from infrastructure.persistence.source_files import SourceReaderFactory
from infrastructure.search.project_index import SqliteProjectIndex
from infrastructure.waveforms.raw_file import RawFileReader
from shared.cpu_executor import CpuTaskExecutor
from shared.events import EventBus
from shared.paths import MODEL_LIBRARY
from shared.processes import ProcessManager
from shared.ulid import new_ulid


class Bench:
    """A project and a session in which tools are called."""

    def __init__(self, project: ProjectFolder, libraries: tuple[Path, ...]) -> None:
        self.project = project
        self.root = project.root
        self.processes = ProcessManager()
        self.cpu = CpuTaskExecutor(max_workers=1)
        self.executor = ToolExecutor(TOOLS)
        sources, results = SourceReaderFactory(), ResultFolders(user_home=project.private / "home")
        waveforms = RawFileReader()
        settings = SimulatorSettingsFile(user_home=project.private / "home", environment={})
        batch = NgspiceBatch(ConfinedNgspice(processes=self.processes))
        tables = DeviceTables(
            batch=batch,
            simulator=NgspiceRunner(ConfinedNgspice(processes=self.processes)),
            sources=sources,
            results=results,
            models=ShippedModels(),
            settings=settings,
            libraries=lambda: libraries,
        )
        self.services: ToolServices = SimpleNamespace(
            sources=sources,
            model_library=ShippedModels(),
            components=FindComponents(
                index=SqliteComponentIndex(project.private / "home"),
                cpu=lambda: self.cpu,
                shipped=MODEL_LIBRARY,
                libraries=lambda: libraries,
            ),
            bill=CountParts(
                sources=sources, settings=settings, libraries=lambda: libraries, write_file=write_atomically
            ),
            device_tables=tables,
            check=CheckCircuit(sources=sources, libraries=lambda: libraries),
            simulate=RunSimulation(
                simulator=NgspiceRunner(ConfinedNgspice(processes=self.processes)),
                waveforms=waveforms,
                sources=sources,
                results=results,
                joiner=StepJoiner(),
                events=EventBus(),
                settings=settings,
                libraries=lambda: libraries,
            ),
            run_cases=None,
            study=RunStudy(
                batch=lambda _cluster: batch,
                simulator=NgspiceRunner(ConfinedNgspice(processes=self.processes)),
                sources=sources,
                results=results,
                events=EventBus(),
                settings=settings,
                libraries=lambda: libraries,
            ),
            optimize=OptimizeCircuit(
                batch=lambda _cluster: batch,
                simulator=NgspiceRunner(ConfinedNgspice(processes=self.processes)),
                waveforms=waveforms,
                sources=sources,
                results=results,
                events=EventBus(),
                settings=settings,
                write_file=write_atomically,
                tables=tables,
                libraries=lambda: libraries,
            ),
            analyze_convergence=AnalyzeConvergence(
                simulator=NgspiceRunner(ConfinedNgspice(processes=self.processes)),
                sources=sources,
                results=results,
                settings=settings,
                libraries=lambda: libraries,
            ),
            since_when=SimpleNamespace(runs_of=lambda _root, _circuit: ()),  # no run was kept
            measure=MeasureResult(results=results, waveforms=waveforms),
            export=ExportResult(
                results=results,
                waveforms=waveforms,
                tables=TableFiles(),
                pictures=PictureFiles(cache=project.root.parents[1] / "matplotlib"),
                cpu=self.cpu,
            ),
            results=results,
            waveform_reader=waveforms,
            view=lambda root: FolderView(root=root, libraries=libraries),
            search=SearchProject(index=SqliteProjectIndex, cpu=self.cpu),
            cpu=self.cpu,
        )
        self.context = self.new_session()

    def new_session(self) -> ToolContext:
        return ToolContext(
            project=self.project,
            session_id="test-session",
            operations=Operations(log=self.project.operations, project=self.project),
            services=self.services,
        )

    async def call(self, name: str, /, **arguments: object) -> ToolResult:
        return await self.repeat(ToolCall(call_id=new_ulid(), name=name, arguments=arguments))

    async def repeat(self, call: ToolCall) -> ToolResult:
        return await self.executor.execute(call, self.context)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    async def close(self) -> None:
        await self.processes.kill_all()
        await self.cpu.shutdown()
        await asyncio.to_thread(self.project.close)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "diodes.lib").write_text(".model dfast d(is=1n)\n")
    return folder


@pytest.fixture
async def bench(tmp_path: Path, library: Path) -> AsyncIterator[Bench]:
    project = await asyncio.to_thread(ProjectFolders().open, tmp_path / "project", create=True)
    made = Bench(project, (library,))
    yield made
    await made.close()
