"""Examine the machine: what of the program works here, found by trying."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from domain.llm.service import NetworkSettings
from shared.errors import EnvironmentProblem
from shared.message import Message, msg
from shared.processes import ProcessLimits, ProcessManager
from shared.setting import about, described

if TYPE_CHECKING:
    from application.ports.credentials import KeyStore
    from application.ports.model_settings import TokenVocabularies
    from application.ports.simulation import Simulator

State = Literal["ok", "warning", "missing", "unused"]
_PROBE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One point of the examination."""

    name: str
    state: State
    message: Message
    advice: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExaminationReport:
    """All points, in order."""

    findings: tuple[Finding, ...]
    can_simulate: bool


class HasLibrary(Protocol):
    """The part of the batch simulator that is examined."""

    async def library(self) -> tuple[Path, str]:
        """libngspice's path and version. Raises EnvironmentProblem."""


class ExamineEnvironment:
    """The use case behind `doctor`."""

    def __init__(
        self,
        *,
        simulator: Simulator,
        library: HasLibrary,
        processes: ProcessManager,
        environment: Mapping[str, str],
        keys: KeyStore | None = None,
        vocabularies: TokenVocabularies | None = None,
    ) -> None:
        self._key_store = keys
        self._vocabularies = vocabularies
        self._simulator = simulator
        self._library = library
        self._processes = processes
        self._environment = environment

    async def simulation(self) -> ExaminationReport:
        """Only what simulating needs: the engine ("ngspice") and what confines it ("confinement")."""
        engine = await self._engine()
        box = await self._confinement() if engine.state == "ok" else ()
        return ExaminationReport(
            findings=(engine, *box), can_simulate=all(found.state != "missing" for found in (engine, *box))
        )

    async def __call__(self) -> ExaminationReport:
        """Try everything once; nothing is changed."""
        simulation = await self.simulation()
        system = await asyncio.to_thread(platform.platform)  # it may ask `uname`
        findings = (
            Finding(
                name="Python",
                state="ok",
                message=msg("{version} on {system}", version=platform.python_version(), system=system),
            ),
            *simulation.findings[:1],
            *(await self._library_of_many_runs() if simulation.can_simulate else ()),
            *simulation.findings[1:],
            await self._web_engine(),
            await self._fonts(),
            *await self._keys(),
            *await self._tokens(),
            self._proxy(),
        )
        return ExaminationReport(findings=findings, can_simulate=simulation.can_simulate)

    async def _engine(self) -> Finding:
        try:
            version = await self._simulator.version()
        except EnvironmentProblem as error:
            return Finding(name="ngspice", state="missing", message=error.message, advice=error.advice)
        return Finding(name="ngspice", state="ok", message=msg("{version}", version=version))

    async def _library_of_many_runs(self) -> tuple[Finding, ...]:
        """libngspice, without which there are single runs only."""
        try:
            path, version = await self._library.library()
        except EnvironmentProblem as error:
            advice = msg("Single simulations work without it; studies and optimization need it.")
            missing = Finding(name="libngspice", state="warning", message=error.message, advice=error.advice)
            return missing, Finding(name="libngspice", state="warning", message=advice)
        told = msg("{version} ({path})", version=version, path=path)
        return (Finding(name="libngspice", state="ok", message=told),)

    async def _tokens(self) -> tuple[Finding, ...]:
        """What counts tokens here."""
        found = self._vocabularies
        if found is None:
            return ()
        names = await asyncio.to_thread(found.names)
        if not found.is_installed:
            told = msg("estimated, within 8 %: the package tiktoken is not installed")
        elif not names:
            told = msg("estimated, within 8 %: no vocabulary is on this computer")
        else:
            told = msg("exact for OpenAI's models ({names}); estimated for others", names=", ".join(names))
            return (Finding(name="tokens", state="ok", message=told),)
        advice = msg(
            "For exact counts of OpenAI's models: make langchain (of a wheel: pip install tiktoken), "
            "then providers vocabulary"
        )
        return (Finding(name="tokens", state="unused", message=told, advice=advice),)

    async def _keys(self) -> tuple[Finding, ...]:
        """Where keys of providers are kept here."""
        if self._key_store is None:
            return ()
        found = await asyncio.to_thread(self._key_store.stores)
        if found.keyring:
            kept = msg("in the system keyring ({name})", name=found.keyring)
            return (Finding(name="keys", state="ok", message=kept),)
        state: State = "ok" if found.has_file else "unused"
        kept = msg("in the encrypted file") if found.has_file else msg("none is stored on this machine")
        return (
            Finding(
                name="keys",
                state=state,
                message=msg("{kept}; no keyring: {reason}", kept=kept, reason=found.no_keyring or ""),
                advice=None
                if found.has_file
                else msg("Set them in the environment, or store them in a file with a passphrase: "
                         "`providers key set NAME`."),
            ),
        )  # fmt: skip

    async def _confinement(self) -> tuple[Finding, ...]:
        box = await self._simulator.confinement()
        notes = tuple(Finding(name="confinement", state="warning", message=note) for note in box.notes)
        if not (box.bubblewrap or box.landlock_abi):
            return (
                Finding(
                    name="confinement",
                    state="missing",
                    message=msg(
                        "ngspice cannot be confined here: a netlist from an unknown source "
                        "could run programs."
                    ),
                    advice=msg("Install bubblewrap (Debian, Ubuntu: sudo apt-get install bubblewrap)."),
                ),
                *notes,
            )
        advice = msg("Install bubblewrap too (Debian, Ubuntu: sudo apt-get install bubblewrap).")
        held = Finding(
            name="confinement",
            state="ok",
            message=msg("active: {layers}", layers=", ".join(box.layers)),
            advice=None if box.bubblewrap else advice,
        )
        return (held, *notes)

    async def _web_engine(self) -> Finding:
        try:
            version = await asyncio.to_thread(metadata.version, "PyQt6-WebEngine")
        except metadata.PackageNotFoundError:
            return Finding(
                name="WebEngine",
                state="unused",
                message=msg("not installed; the conversation uses its plain view"),
            )
        code = "import PyQt6.QtWebEngineWidgets"
        outcome = await self._processes.run(
            [sys.executable, "-I", "-c", code], limits=ProcessLimits(wall_s=_PROBE_S)
        )
        if outcome.exit_code == 0:
            return Finding(name="WebEngine", state="ok", message=msg("{version}", version=version))
        reason = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        return Finding(
            name="WebEngine",
            state="unused",
            message=msg(
                "{version} cannot be loaded ({reason}); the conversation uses its plain view",
                version=version,
                reason=reason[-1] if reason else outcome.exit_code,
            ),
        )

    async def _fonts(self) -> Finding:
        program = await asyncio.to_thread(shutil.which, "fc-list", path=self._environment.get("PATH"))
        if program is None:
            return Finding(name="fonts", state="unused", message=msg("not checked: fc-list is missing"))
        outcome = await self._processes.run(
            [program, ":lang=zh", "family"],
            limits=ProcessLimits(wall_s=_PROBE_S),
            env={"HOME": self._environment.get("HOME", os.sep)},
        )
        families = sorted(set(outcome.stdout.decode("utf-8", "replace").split("\n")) - {""})
        if not families:
            return Finding(
                name="fonts",
                state="unused",
                message=msg("no Chinese font found; the window needs one to show Chinese"),
                advice=msg("Debian, Ubuntu: sudo apt-get install fonts-wqy-microhei"),
            )
        return Finding(name="fonts", state="ok", message=msg("Chinese: {family}", family=families[0]))

    def _proxy(self) -> Finding:
        variables = about(described(NetworkSettings)["proxy"]).variables
        names = sorted(name for name in self._environment if name.upper() in variables)
        if not names:
            return Finding(name="proxy", state="ok", message=msg("none set"))
        # Names only: a proxy's address may hold a password.
        return Finding(name="proxy", state="ok", message=msg("set by {names}", names=", ".join(names)))
