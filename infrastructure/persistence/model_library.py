"""The model library: the files of ``resources/spice_models``."""

from __future__ import annotations

from functools import cached_property

from domain.circuit.model_library import LibraryModel, read_library_model
from shared.paths import MODEL_LIBRARY


class ShippedModels:
    """Implements application.ports.simulation.ModelLibrary."""

    @cached_property
    def models(self) -> tuple[LibraryModel, ...]:
        """Every model, by name. Blocking at its first use."""
        files = sorted(MODEL_LIBRARY.glob("*.lib"), key=lambda path: path.name.casefold())
        return tuple(read_library_model(path.stem, path.read_bytes().decode("ascii")) for path in files)
