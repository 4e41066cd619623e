"""What a project's circuits need of their simulator: its dialect, libraries, model files, variables.

Design kits such as SKY130 are written for a compatibility mode and find their files through variables
(``.lib "$PDK_ROOT/sky130A/libs.tech/ngspice/sky130.lib.spice" tt``), which a confined ngspice does not see:
we expand them ourselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from shared.late_patterns import late_pattern

Dialect = Literal["ngspice", "ltspice", "pspice", "hspice"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

_REFERENCE = late_pattern(
    rb"""^(?P<head>\s*\.(?:lib|inc\w*)\s+["']?)(?:\$\{(?P<braced>\w+)\}|\$(?P<plain>\w+)|(?P<home>~)(?=/))""",
    re.IGNORECASE | re.MULTILINE,
)


class ModelFile(NamedTuple):
    """A library every circuit of the project is given."""

    path: Path
    section: str | None = None
    """Library section (``tt``); None for the whole file."""

    @property
    def card(self) -> str:
        return f'.include "{self.path}"' if self.section is None else f'.lib "{self.path}" {self.section}'


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorSettings:
    """The settings of one project; they belong to the user, never to the project's own files."""

    dialect: Dialect | None = None
    """None = told by each circuit's text."""
    libraries: tuple[Path, ...] = ()
    """Folders its circuits may include from."""
    model_files: tuple[ModelFile, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    """``PDK_ROOT`` -> folder; HOME stands for ``~``."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Folders and files the circuits may read: libraries, model files, and where variables point."""
        pointed = [
            Path(text) for name, text in self.variables.items() if name != "HOME" and text.startswith("/")
        ]
        return (*self.libraries, *(model.path for model in self.model_files), *pointed)


def with_variables(data: bytes, variables: Mapping[str, str]) -> bytes:
    """A file's bytes with the variables at the head of `.include` and `.lib` paths put in."""

    def value(match: re.Match[bytes]) -> bytes:
        name = match["braced"] or match["plain"] or b"HOME"
        text = variables.get(name.decode("ascii", "replace"))
        return match[0] if text is None else match["head"] + text.encode("utf-8", "surrogateescape")

    return _REFERENCE.sub(value, data) if variables else data
