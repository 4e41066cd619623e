"""Linear models whose weights were learnt from texts of known meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_STEP = 0.05


class Weights:
    """By feature and class the nats it speaks for the class; rows are read when they are asked for."""

    def __init__(self, files: Iterable[Sequence[str]]) -> None:
        """Of each file the lines: the classes, separated by blanks; then a feature, a tab and what it speaks
        for: two characters for the number of the class (base 36) and a number of twentieths each. The feature
        "" is what is so of any text."""
        self._rows: dict[str, str] = {}
        self._read: dict[str, tuple[tuple[str, float], ...]] = {}
        for classes, *rows in files:
            self.classes: tuple[str, ...] = tuple(classes.split(" "))
            self._rows.update((feature, told) for feature, _, told in (row.partition("\t") for row in rows))

    def of(self, feature: str) -> tuple[tuple[str, float], ...]:
        """What a feature speaks for: (class, nats)."""
        read = self._read.get(feature)
        if read is None:
            row = self._rows.get(feature, "").split()
            read = tuple((self.classes[int(each[:2], 36)], int(each[2:]) * _STEP) for each in row)
            if row:
                self._read[feature] = read
        return read

    def scores(self, features: Iterable[str], classes: Sequence[str]) -> dict[str, float]:
        """What features speak for each of some classes, in nats."""
        found = dict.fromkeys(classes, 0.0)
        for feature in features:
            for name, nats in self.of(feature):
                if name in found:
                    found[name] += nats
        return found
