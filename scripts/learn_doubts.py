"""Learns what speaks for a figure of an answer that stands in nothing, and what against it.

Reads answers whose truth is known (``tests/unit/agentic_loop/answers/*.json`` and, of further authors,
``learnt_answers/*.json`` beside them: scenes with what was called and resulted, and what the answers are)
and writes ``domain/llm/agentic_loop/learnt_doubts.py``, minutes' work: ``python -m scripts.learn_doubts``.
To be run when answers, or what is looked at of a figure (`weighing.py`), were changed.

Which figure of a false answer is the wrong one is told by the rules (`backing.py`, `contradictions.py`). The
model is linear, fitted by maximum likelihood with a quadratic penalty (Bishop, "Pattern Recognition and
Machine Learning", sections 4.3.2 and 5.5). Printed is how many false answers are caught and how many true
ones questioned, of each author by weights that were learnt from the others: without weighing, and with it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from domain.circuit.figures_in_text import figures_in, figures_in_words, plain, without_code
from domain.llm.agentic_loop.backing import Judged
from domain.llm.agentic_loop.evidence import Evidence, doubts_about
from domain.llm.agentic_loop.known import MOST_FIGURES, Known
from domain.llm.agentic_loop.part_values import values_of_parts
from domain.llm.agentic_loop.weighing import Weighing
from tests.unit.agentic_loop.test_final_answers import past_of

_ROOT = Path(__file__).resolve().parents[1]
_MENDED = _ROOT / "tests" / "unit" / "agentic_loop" / "answers"
"""Sets on which the rules were mended: what these doubt there is hardly ever true."""
_UNSEEN = _MENDED.with_name("learnt_answers")
_LEARNT = _ROOT / "domain" / "llm" / "agentic_loop" / "learnt_doubts.py"
_PENALTY = 1.0
_FEWEST = 4
"""Figures that have a word that is looked at."""
_OF_WORD = 0.7
"""How much less a word counts than what is reckoned."""
_CAUGHT = 4.0
"""Weight of a wrong figure of the sets in which the rules were mended: the tests want them caught."""
_BESIDE = 0.2
"""Weight of a figure of a false answer that no rule tells to be the wrong one."""
_AT = -0.1
"""Nats from which more speaks against a figure than for it."""
_FOLDS = 8


class Item(NamedTuple):
    """A figure that stands in nothing known."""

    features: dict[str, float]
    is_wrong: bool
    is_weighed: bool
    """The rules doubt it, and no quantity is named that has another value."""
    weight: float


class Answer(NamedTuple):
    """One answer, and what is weighed of it."""

    author: str
    is_true: bool
    is_questioned: bool
    """By what is not weighed."""
    items: Sequence[Item]


def answers(path: Path) -> Iterator[Answer]:
    """The answers of one set."""
    held = json.loads(path.read_text(encoding="utf-8"))
    evidence = {name: past_of(scene).evidence for name, scene in held["scenes"].items()}
    for name, is_true, text in held["answers"]:
        yield _answer(path, evidence[name], text, is_true=is_true)


def _answer(path: Path, evidence: Evidence, text: str, *, is_true: bool) -> Answer:
    flat = plain(without_code(text)).replace("**", "  ")
    figures = [each for each in islice(figures_in(flat), MOST_FIGURES) if each.value]
    figures += islice(figures_in_words(flat), MOST_FIGURES)
    parts, known = list(values_of_parts(flat)), Known(evidence.backing)
    judged = Judged(flat, figures, parts, known, evidence.backing)
    weighing: Weighing | None = None
    found = doubts_about(text, evidence)
    spoken = [*found.stale, *found.contradicted]
    wrong = [(at, at + len(each)) for each in spoken if (at := flat.find(plain(each))) >= 0]
    items, is_questioned = [], bool(spoken or found.claims)
    of_parts = {flat[start:end].strip() for start, end in (*judged.strange_parts(), *judged.unknown_parts())}
    is_questioned |= any(plain(each) in of_parts for each in found.figures)
    for figure in figures:
        is_doubtful = judged.is_doubtful(figure)
        if not is_doubtful and (judged.is_known(figure) or not judged.is_told(figure)):
            continue
        if is_doubtful and judged.is_named_otherwise(figure):
            is_questioned = True
        is_wrong = not is_true and (is_doubtful or any(b <= figure.start < e for b, e in wrong))
        weight = 1.0 if is_true else _BESIDE if not is_wrong else _CAUGHT if path.parent == _MENDED else 1.0
        is_weighed = is_doubtful and not judged.is_named_otherwise(figure)
        weighing = weighing or Weighing(flat, figures, parts, known)
        items.append(Item(judged.features(figure, weighing), is_wrong, is_weighed, weight))
    return Answer(path.stem, is_true, is_questioned, items)


def fitted(items: Sequence[Item]) -> dict[str, float]:
    """What each feature speaks against a figure; "" what is so of any."""
    counted = Counter(name for each in items for name in each.features)
    names = sorted(name for name, count in counted.items() if count >= _FEWEST)
    column = {name: place for place, name in enumerate(names)}
    table = np.zeros((len(items), len(names) + 1))
    table[:, -1] = 1.0
    for row, each in zip(table, items, strict=True):
        for name, size in each.features.items():
            if name in column:
                row[column[name]] = size * (_OF_WORD if name[0] in "<>" else 1.0)
    meant = np.array([each.is_wrong for each in items], float)
    weight = np.array([each.weight for each in items])

    def loss(found: Any) -> tuple[float, Any]:
        likely = 1 / (1 + np.exp(-np.clip(table @ found, -40, 40)))
        right = np.where(meant > 0, likely, 1 - likely)
        slope = table.T @ (weight * (likely - meant))
        slope[:-1] += _PENALTY * found[:-1]
        return float(-(weight * np.log(right + 1e-12)).sum() + _PENALTY / 2 * (found[:-1] ** 2).sum()), slope

    found = minimize(loss, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x
    learnt = {
        name: size * (_OF_WORD if name[0] in "<>" else 1.0) for name, size in zip(names, found, strict=False)
    }
    return learnt | {"": found[-1] - _AT}


def doubts(answer: Answer, weights: dict[str, float]) -> bool:
    """Whether an answer is questioned."""
    return answer.is_questioned or any(
        each.is_weighed
        and weights[""] + sum(weights.get(name, 0.0) * size for name, size in each.features.items()) > 0
        for each in answer.items
    )


def _of(some: Sequence[Answer]) -> list[Item]:
    return [item for each in some for item in each.items]


def write(weights: dict[str, float]) -> None:
    """Write them as the program reads them."""
    rows = "\n".join(
        f"{name} {round(20 * size)}" for name, size in sorted(weights.items()) if round(20 * size) or not name
    )
    head = '"""The weights of `weighing.py`, twentieths of nats: made by `python -m scripts.learn_doubts`."""'
    _LEARNT.write_text(f'{head}\n\nLEARNT = """\n{rows}\n"""\n', encoding="utf-8")


def main() -> None:
    mended = [answer for path in sorted(_MENDED.glob("*.json")) for answer in answers(path)]
    unseen = [answer for path in sorted(_UNSEEN.glob("*.json")) for answer in answers(path)]
    authors = sorted({each.author for each in unseen})
    score = Counter[tuple[str, bool]]()
    for fold in range(_FOLDS):
        own = set(authors[fold::_FOLDS])
        weights = fitted(_of([*mended, *(each for each in unseen if each.author not in own)]))
        for each in unseen:
            if each.author in own:
                score["all", each.is_true] += 1
                score["rules", each.is_true] += doubts(each, {"": 1.0})
                score["weighed", each.is_true] += doubts(each, weights)
    for what in ("rules", "weighed"):
        print(
            f"{what}: {score[what, False]} of {score['all', False]} false ones caught, "
            f"{score[what, True]} of {score['all', True]} true ones questioned"
        )
    weights = fitted(_of([*mended, *unseen]))
    write(weights)
    lost = Counter(each.author for each in mended if not each.is_true and not doubts(each, weights))
    print(f"of the sets with mended rules, missed: {dict(lost)}")


if __name__ == "__main__":
    main()
