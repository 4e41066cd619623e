"""Regular expressions that are compiled when they are first used.

Compiling is slow (a tenth to some milliseconds each) and a module's patterns are many: a quick command that
imports the module would pay for all of them and use a few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LatePattern:
    """Stands in for a pattern; takes on its methods at the first use: later ones cost nothing more."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for each in dir(compiled):
            if not each.startswith("__"):
                self.__dict__[each] = getattr(compiled, each)
        return getattr(compiled, name)


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, at the first use. For module-level patterns: a mistake in one shows only then."""
    return cast("re.Pattern[AnyStr]", _LatePattern(pattern, flags))
