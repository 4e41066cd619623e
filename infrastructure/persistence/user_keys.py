"""The user's own keys, in ``shortcuts.json`` of his own folder: ``{"keys": {"run": ["F9"]}}``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from application.project.user_keys import LONGEST_KEY, MOST_KEYS, KeptKeys
from infrastructure.persistence.user_json import JsonFile
from shared.message import Message, msg

FILE = "shortcuts.json"
SCHEMA_VERSION = 1


class UserKeysFile:
    """Implements application.project.user_keys.UserKeys."""

    def __init__(self, *, user_home: Path) -> None:
        self._file = JsonFile(
            user_home, FILE, when_damaged="set aside", new={"keys": {}}, version=SCHEMA_VERSION
        )

    def load(self) -> KeptKeys:
        """The keys; what is no list of keys is left out and told."""
        path = self._file.path
        try:
            return _understood(self._file.read(), path)
        except (FileNotFoundError, NotADirectoryError):
            return KeptKeys()
        except OSError as error:
            told = msg("{path} cannot be read ({reason}).", path=path, reason=error)
        except ValueError:
            aside = self._file.set_aside()
            told = (
                msg("{path} is damaged and was not used.", path=path)
                if aside is None
                else msg(
                    "{path} is damaged and was not used. It is kept as {aside}.", path=path, aside=aside.name
                )
            )
        return KeptKeys(warnings=(told,))

    def change(self, changes: Mapping[str, tuple[str, ...] | None]) -> KeptKeys:
        """Write only what is named: another window's changes stay."""
        with self._file.change() as content:
            if not isinstance(content.get("keys"), dict):
                content["keys"] = {}
            for name, keys in changes.items():
                if keys is None:
                    content["keys"].pop(name, None)
                else:
                    content["keys"][name] = list(keys)
        return _understood(content, self._file.path)


def _understood(content: Mapping[str, Any], path: Path) -> KeptKeys:
    found, warnings = dict[str, tuple[str, ...]](), list[Message]()
    kept = content.get("keys", {})
    for name, keys in kept.items() if isinstance(kept, dict) else ():
        if _is_list_of_keys(keys):
            found[name] = tuple(keys)
        else:
            warnings.append(msg("The keys of {name} in {path} are not understood.", name=name, path=path))
    return KeptKeys(keys=found, warnings=tuple(warnings))


def _is_list_of_keys(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_KEYS
        and all(isinstance(key, str) and 0 < len(key) <= LONGEST_KEY for key in value)
    )
