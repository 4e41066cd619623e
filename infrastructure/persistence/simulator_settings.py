"""What the user set for the circuits of each project, in ``simulator_settings.json`` of his own folder.

Kept by the project's path and never inside the project: a cloned project must not bring folders that its own
circuits may then read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.circuit.dialects import DIALECTS
from domain.circuit.simulator_settings import ModelFile, SimulatorSettings
from infrastructure.persistence.user_json import JsonFile
from shared.errors import UserInputError
from shared.message import msg

FILE = "simulator_settings.json"
SCHEMA_VERSION = 1
_FROM_ENVIRONMENT = ("PDK_ROOT", "PDK")


class SimulatorSettingsFile:
    """Implements application.ports.simulation.SimulatorSettingsStore."""

    def __init__(self, *, user_home: Path, environment: Mapping[str, str]) -> None:
        self._file = JsonFile(
            user_home,
            FILE,
            refusal=_damaged,
            new={"projects": {}},
            version=SCHEMA_VERSION,
            max_bytes=4 * 2**20,
        )
        self._environment = environment

    def of_circuit(self, circuit: Path) -> SimulatorSettings:
        """The settings of the nearest folder at or above `circuit` that has some; else plain ones.

        $PDK_ROOT and $PDK of the user's environment stand in for variables that are not set, ~ for his
        home. Raises UserInputError when the file is damaged.
        """
        start = Path(os.path.realpath(circuit))
        try:
            projects = self._file.load()["projects"]
            entries = (projects.get(str(folder)) for folder in (start, *start.parents))
            return self._understood(next((entry for entry in entries if isinstance(entry, dict)), {}))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise _damaged(self._file.path) from error

    def save(self, folder: Path, settings: SimulatorSettings) -> None:
        """Keep the settings of a project's folder. Raises EnvironmentProblem, UserInputError."""
        with self._file.change() as content:
            if not isinstance(content.get("projects"), dict):
                raise _damaged(self._file.path)
            content["projects"][os.path.realpath(folder)] = {
                "dialect": settings.dialect,
                "libraries": [str(path) for path in settings.libraries],
                "model_files": [{"path": str(m.path), "section": m.section} for m in settings.model_files],
                "variables": {
                    name: value
                    for name, value in settings.variables.items()
                    if name != "HOME" and value != self._environment.get(name)
                },
            }

    def _understood(self, entry: Mapping[str, Any]) -> SimulatorSettings:
        dialect = entry.get("dialect")
        if dialect is not None and dialect not in DIALECTS:
            raise ValueError(dialect)
        variables = {
            name: self._environment[name]
            for name in (*_FROM_ENVIRONMENT, "HOME")
            if self._environment.get(name, "").startswith("/")
        }
        variables |= {
            str(name): self._place(str(value)) for name, value in entry.get("variables", {}).items()
        }
        return SimulatorSettings(
            dialect=dialect,
            libraries=tuple(Path(self._place(str(path))) for path in entry.get("libraries", [])),
            model_files=tuple(
                ModelFile(path=Path(self._place(str(model["path"]))), section=model.get("section"))
                for model in entry.get("model_files", [])
            ),
            variables=variables,
        )

    def _place(self, text: str) -> str:
        home = self._environment.get("HOME")
        return home + text[1:] if home and (text == "~" or text.startswith("~/")) else text


def _damaged(path: Path) -> UserInputError:
    return UserInputError(
        msg("The simulator settings {path} are damaged.", path=path),
        advice=msg("Fix or delete the file."),
        file=path,
    )
