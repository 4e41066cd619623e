"""The user's settings, in ``settings.json`` of his own folder. What they are, `domain.settings` says.

What he set for the circuits of each project is in ``simulator_settings.json`` beside it, by the project's
path and never inside the project: a cloned project must not bring folders that its own circuits could read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import Field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.circuit.simulator_settings import DIALECTS, ModelFile, SimulatorSettings
from domain.settings import UserSettings
from infrastructure.persistence.user_json import JsonFile
from shared import paths
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.setting import WrongSetting, about, default_of, described, field_to_plain, read_field

if TYPE_CHECKING:
    from domain.search.embedding import EmbeddingSettings

SCHEMA_VERSION = 1


def load_settings(home: Path) -> UserSettings:
    """The settings under the user's folder `home`; defaults where there are none.

    Never raises: what cannot be read or understood is replaced by its default and told in `warnings`.
    A file that is no JSON object at all is kept aside, beside its old place.
    """
    file = _file(home)
    try:
        return _understood(file.read(), file.path)
    except (FileNotFoundError, NotADirectoryError):
        return UserSettings()
    except OSError as error:
        told = msg(
            "The settings {path} cannot be read ({reason}); defaults are used.", path=file.path, reason=error
        )
    except ValueError:
        aside = file.set_aside()
        told = (
            msg("{path} is damaged and was not used.", path=file.path)
            if aside is None
            else msg(
                "{path} is damaged and was not used. It is kept as {aside}.", path=file.path, aside=aside
            )
        )
    return UserSettings(warnings=(told,))


def change_settings(
    home: Path, change: Callable[[UserSettings], UserSettings], *, chosen: str = ""
) -> UserSettings:
    """Change the settings as they are now on the disk, and keep them; returns them.

    What is not changed stays in the file as it is, also what is not understood; the setting `chosen` is
    written all the same. Raises EnvironmentProblem ("damaged", "busy", a full or read-only disk).
    """
    file = _file(home)
    with file.change() as content:
        old = _understood(content, file.path)
        new = change(old)
        for name, one in described(UserSettings).items():
            value = getattr(new, name)
            if value == getattr(old, name) and name != chosen:
                continue
            content[name] = field_to_plain(one, value)
            if value == default_of(one):
                del content[name]
    return new


class UserSettingsFile:
    """Implements application.ports.preferences.UserSettingsStore. Each change writes what it names alone."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home
        self._file = _file(user_home)

    @property
    def path(self) -> Path:
        return self._file.path

    def load(self) -> UserSettings:
        return load_settings(self._home)

    def set(self, name: str, value: Any) -> UserSettings:
        group, one = _field_of(name)
        found = read_field(one, value)
        if found == default_of(one):
            return self.reset((name,))
        whole = group or name
        with self._file.change() as content:
            kept = content.get(group) if group else content
            holder: dict[str, Any] = kept if isinstance(kept, dict) else {}
            holder[one.name] = field_to_plain(one, found)
            if group:
                content[group] = holder
            read_field(described(UserSettings)[whole], content[whole])  # what else is in it may be wrong
        return _understood(content, self.path)

    def reset(self, names: Collection[str]) -> UserSettings:
        with self._file.change() as content:
            for name in names:
                group, one = _field_of(name)
                holder = content.get(group) if group else content
                if isinstance(holder, dict):
                    holder.pop(one.name, None)
                if group and not content.get(group):
                    content.pop(group, None)
        return _understood(content, self.path)


def _field_of(name: str) -> tuple[str, Field[Any]]:
    """The group ("" = none) and the field of a setting. Raises KeyError."""
    group, _, inner = name.rpartition(".")
    if not group:
        return "", described(UserSettings)[name]
    parts = about(described(UserSettings)[group]).parts
    assert parts is not None, name
    return group, described(parts())[inner]


class EmbeddingSettingsFile:
    """Implements application.ports.search.EmbeddingStore. Blocking."""

    def __init__(self, *, user_home: Path) -> None:
        self._home = user_home

    def load(self) -> EmbeddingSettings | None:
        """As set; None when none is, or when it is not understood (which the program tells at its start)."""
        return load_settings(self._home).embedding

    def save(self, settings: EmbeddingSettings | None) -> None:
        """Keep it. Raises EnvironmentProblem: "damaged", "busy", a full or read-only disk."""
        change_settings(self._home, lambda old: replace(old, embedding=settings), chosen="embedding")


def _file(home: Path) -> JsonFile:
    return JsonFile(home, paths.SETTINGS_FILE, version=SCHEMA_VERSION)


def _understood(content: Mapping[str, Any], path: Path) -> UserSettings:
    warnings: list[Message] = []
    given: list[str] = []
    found: dict[str, Any] = {}
    version = content.get("schema_version", SCHEMA_VERSION)
    if isinstance(version, bool) or not isinstance(version, int):
        warnings.append(_not_understood("schema_version", path, WrongSetting("schema_version", _WHOLE)))
    elif version > SCHEMA_VERSION:
        warnings.append(
            msg("{path} was written by a newer version; unknown settings are ignored.", path=path)
        )
    for name, one in described(UserSettings).items():
        value = content.get(name)
        if value is None:
            continue
        try:
            found[name] = read_field(one, value)
        except WrongSetting as error:
            warnings.append(_not_understood(name, path, error))
            continue
        given += [name, *(f"{name}.{inner}" for inner in value)] if isinstance(value, dict) else [name]
    return UserSettings(**found, given=frozenset(given), warnings=tuple(warnings))


_WHOLE = msg("a whole number")


def _not_understood(name: str, path: Path, error: WrongSetting) -> Message:
    return msg(
        "The setting {name} in {path} is not understood ({reason}); its default is used.",
        name=name,
        path=path,
        reason=error.message,
    )


_OF_SIMULATOR = "simulator_settings.json"
_FROM_ENVIRONMENT = ("PDK_ROOT", "PDK")


class SimulatorSettingsFile:
    """Implements application.ports.simulation.SimulatorSettingsStore."""

    def __init__(self, *, user_home: Path, environment: Mapping[str, str]) -> None:
        self._file = JsonFile(
            user_home,
            _OF_SIMULATOR,
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
