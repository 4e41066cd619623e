"""The examples that come with the program; a person works on a copy.

The model library: the files of ``resources/spice_models``.
"""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from pathlib import Path

from application.project.browsing import Example
from domain.circuit.model_library import LibraryModel, read_library_model
from infrastructure.persistence.confined import write_problem
from shared.errors import UserInputError
from shared.message import msg
from shared.paths import MODEL_LIBRARY

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "examples"
_NOT_IN_NAMES = '/\\:*?"<>|'
_MOST_COPIES = 1000


class BundledExamples:
    """Implements application.project.browsing.Examples."""

    def list(self) -> tuple[Example, ...]:
        found = []
        for folder in sorted(FOLDER.iterdir()) if FOLDER.is_dir() else ():
            circuits = sorted(folder.glob("*.cir"))
            main = next((path for path in circuits if path.stem == "filter"), None)
            if circuits:
                found.append(Example(name=folder.name, circuit=main or circuits[0]))
        return tuple(found)

    def new_folder(self, name: str, into: Path) -> Path:
        """Make an empty folder in `into`, under a name that is free; returns it.

        Raises UserInputError for what cannot be a name, EnvironmentProblem when it cannot be made.
        """
        plain = name.strip().rstrip(".")
        if not plain or plain != Path(plain).name or any(each in plain for each in _NOT_IN_NAMES):
            raise UserInputError(
                msg("{name} cannot be used as a folder name.", name=name),
                advice=msg("Use letters, digits, spaces, - and _."),
            )
        for number in range(1, _MOST_COPIES):
            target = into / (plain if number == 1 else f"{plain}-{number}")
            try:
                into.mkdir(parents=True, exist_ok=True)
                target.mkdir()
            except FileExistsError:
                if not into.is_dir():
                    raise UserInputError(msg("{path} is not a folder.", path=into)) from None
                continue
            except OSError as error:
                raise write_problem(error, target) from error
            return target
        raise UserInputError(
            msg("There are too many copies of {name} in {path}.", name=name, path=into),
            advice=msg("Remove some of them."),
        )

    def copy(self, name: str, into: Path) -> Path:
        """Copy one into the folder `into`, under a name that is free; returns the copy.

        Raises UserInputError for an unknown name, EnvironmentProblem when it cannot be written.
        """
        source = FOLDER / name
        if source.parent != FOLDER or not source.is_dir():
            raise UserInputError(msg("There is no example {name}.", name=name))
        for number in range(1, _MOST_COPIES):
            target = into / (name if number == 1 else f"{name}-{number}")
            if os.path.lexists(target):
                continue
            try:
                into.mkdir(parents=True, exist_ok=True)
                shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
            except OSError as error:
                raise write_problem(error, target) from error
            return target
        raise UserInputError(
            msg("There are too many copies of {name} in {path}.", name=name, path=into),
            advice=msg("Remove some of them."),
        )


class ShippedModels:
    """Implements application.ports.simulation.ModelLibrary."""

    @cached_property
    def models(self) -> tuple[LibraryModel, ...]:
        """Every model, by name. Blocking at its first use."""
        files = sorted(MODEL_LIBRARY.glob("*.lib"), key=lambda path: path.name.casefold())
        return tuple(read_library_model(path.stem, path.read_bytes().decode("ascii")) for path in files)
