"""Learns from the known requests which circuit words speak for and where figures belong.

Reads ``resources/known_texts/request.*.tsv`` (kind, tab, text, and after another tab what it states, in SI
units: ``vin=12 vout=5``) and writes ``kinds.*.tsv`` and ``figures.*.tsv`` beside them, two minutes' work:
``python -m scripts.learn_requests``. To be run when known requests, families or what is looked at of a text
were changed.

Both are linear models fitted by maximum likelihood with a quadratic penalty (Bishop, "Pattern Recognition and
Machine Learning", sections 4.3.4 and 5.5).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from domain.design.catalogue import FAMILIES, as_read, found_by_rules
from domain.design.engine.declaration import Quantity
from domain.design.known_requests import NO_REQUEST, kind_features, weight_of
from domain.design.placing import NOWHERE, figure_features, may_be
from domain.design.sentence import Mention, Sentence
from infrastructure.persistence.known_texts import (
    FIGURES,
    KINDS,
    LANGUAGES,
    Known,
    digest,
    known_texts,
    learnt_file,
)

_PENALTY, _FIGURE_PENALTY = 0.01, 0.2
_STEPS = 60
_TYPED_AT_CHECKPOINTS = 0.3
"""Weight of a text typed at a checkpoint: they are many."""
_NO_REQUEST = 1.5
"""Weight of a text that asks for nothing of ours: to take one for a circuit is worse than to ask back."""
_STEP = 0.05
"""Nats in which weights are written."""
_LEAST = 2
"""Steps below which a weight is left out."""
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_FEWEST = 2
"""Texts that have a feature that is looked at."""
_READ_OTHERWISE = frozenset({"order"})
"""What sentences say in ways that are no figure of their own: "2nd order"."""
_SAME = 0.03
_FACTORS = {
    "amplitude_v": (0.5, math.sqrt(2)),
    "supply_v": (0.5, 2.0),
    "output_vpp": (2.0,),
    "hysteresis_v": (2.0,),
}
"""What may be written beside the value itself: from peak to peak, effective, of either side of ground."""


class Example(NamedTuple):
    """Something to learn from."""

    features: set[str]
    meant: str
    instead: Sequence[str] = ()
    """What it could have been, itself too; none: any."""
    weight: float = 1.0


def kinds() -> list[Example]:
    """Texts with the circuit they ask for."""
    return [
        *(
            Example(
                _looked_at(each.text), each.kind, weight=_NO_REQUEST if each.kind == NO_REQUEST else 1.0
            )
            for each in known_texts("request")
        ),
        *(
            Example(_looked_at(each.text), NO_REQUEST, weight=_TYPED_AT_CHECKPOINTS)
            for each in known_texts("checkpoint")
        ),
        *(
            Example(_looked_at(text), key)
            for key, each in FAMILIES.items()
            for text in each.examples.values()
        ),
    ]  # fmt: skip


def _looked_at(text: str) -> set[str]:
    return kind_features(text, as_read(text)[0], found_by_rules(text))


def figures() -> Iterator[Example]:
    """The figures of all texts that say what theirs are."""
    for known in known_texts("request"):
        if known.values is None or known.kind == NO_REQUEST:
            continue
        quantities = FAMILIES[known.kind].family.quantities
        sentence = as_read(known.text)[0]
        meant = meanings(sentence, quantities, known)
        for place, mention in enumerate(sentence.mentions):
            instead = [NOWHERE, *(each.name for each in quantities if may_be(mention, each))]
            if place not in meant and any(_is_alike(mention, sentence.mentions[each]) for each in meant):
                continue  # says again what another says
            if meant.get(place, NOWHERE) in instead:
                yield Example(
                    figure_features(sentence, mention, known.kind), meant.get(place, NOWHERE), instead
                )


def meanings(sentence: Sentence, quantities: Sequence[Quantity], known: Known) -> dict[int, str]:
    """By figure of a sentence (its place among them), which quantity has its value."""
    by_name = {each.name: each for each in quantities}
    places = {
        name: [i for i, each in enumerate(sentence.mentions) if _states(each, by_name[name], value)]
        for name, value in (known.values or {}).items()
        if name not in _READ_OTHERWISE
    }
    meant: dict[int, str] = {}
    for name, may in sorted(places.items(), key=lambda each: len(each[1])):
        free = [place for place in may if place not in meant]
        if free:
            meant[free[0]] = name
    return meant


def _is_alike(one: Mention, other: Mention) -> bool:
    return one.dimension == other.dimension and math.isclose(one.middle, other.middle, rel_tol=0.01)


def _states(mention: Mention, quantity: Quantity, value: float) -> bool:
    if not may_be(mention, quantity):
        return False
    ends = [mention.value, mention.middle, *([] if mention.upper is None else [mention.upper])]
    if mention.upper is not None:
        ends.append(mention.upper - mention.value)
    written = [abs(end * factor) for end in ends for factor in (1.0, *_FACTORS.get(quantity.name, ()))]
    if mention.dimension == "dB" and "x" in quantity.dimensions:
        written += [10 ** (abs(end) / 20) for end in ends]
    return any(math.isclose(each, abs(value), rel_tol=_SAME, abs_tol=1e-18) for each in written)


def learnt(examples: Sequence[Example], penalty: float, scale: Any) -> list[str]:
    """The lines of `domain.design.learnt.Weights`."""
    counted = Counter(feature for example in examples for feature in example.features)
    vocabulary = {f: i for i, f in enumerate(sorted(f for f, n in counted.items() if n >= _FEWEST))}
    classes = sorted({each for example in examples for each in (example.meant, *example.instead)})
    weights = _fitted(examples, vocabulary, classes, penalty, scale)
    steps = np.rint(weights / _STEP).astype(int)
    rows = [" ".join(classes)]
    for feature, row in (("", len(vocabulary)), *vocabulary.items()):
        told = [
            f"{np.base_repr(k, 36).lower():0>2}{steps[row, k]:+d}"
            for k in np.nonzero(abs(steps[row]) >= _LEAST)[0]
        ]
        if told:
            rows.append(f"{feature}\t{' '.join(told)}")
    return rows


def _fitted(
    examples: Sequence[Example],
    vocabulary: dict[str, int],
    classes: Sequence[str],
    penalty: float,
    scale: Any,
) -> Any:
    """Weights by feature and class; the last row is what holds of any text."""
    number, size = len(classes), len(vocabulary)
    column = {name: place for place, name in enumerate(classes)}
    known = [[vocabulary[f] for f in sorted(each.features) if f in vocabulary] for each in examples]
    flat = [(row, each, scale(len(ids))) for row, ids in enumerate(known) for each in ids]
    rows, columns, values = zip(*flat, strict=True)
    shape = len(examples), size
    features = csr_matrix((np.array(values, dtype=np.float32), (rows, columns)), shape=shape)
    turned = features.T.tocsr()
    meant = np.array([column[each.meant] for each in examples])
    counts = np.array([each.weight for each in examples], dtype=np.float32)
    out = np.zeros((len(examples), number), dtype=np.float32)
    for row, each in enumerate(examples):
        if each.instead:
            out[row] = -1e9
            out[row, [column[name] for name in each.instead]] = 0

    def loss(flat_weights: Any) -> tuple[float, Any]:
        weights = flat_weights.reshape(size + 1, number).astype(np.float32)
        likely = features @ weights[:size] + weights[size] + out
        likely -= likely.max(axis=1, keepdims=True)
        np.exp(likely, out=likely)
        likely /= likely.sum(axis=1, keepdims=True)
        right = likely[np.arange(len(examples)), meant]
        value = -(counts * np.log(right + 1e-30)).sum() + penalty / 2 * (weights[:size] ** 2).sum()
        likely[np.arange(len(examples)), meant] -= 1
        likely *= counts[:, None]
        slope = np.vstack([turned @ likely + penalty * weights[:size], likely.sum(axis=0)])
        return float(value), slope.ravel().astype(np.float64)

    found = minimize(
        loss, np.zeros((size + 1) * number), jac=True, method="L-BFGS-B",
        options={"maxiter": _STEPS, "maxcor": 5},
    )  # fmt: skip
    return found.x.reshape(size + 1, number)


def main() -> None:
    mark = digest()
    for name, lines in (
        (KINDS, learnt(kinds(), _PENALTY, weight_of)),
        (FIGURES, learnt(list(figures()), _FIGURE_PENALTY, lambda _: 1.0)),
    ):
        for language in LANGUAGES:
            own = [line for line in lines[1:] if (_CHINESE.search(line) is not None) == (language == "zh")]
            path = learnt_file(name, language)
            path.write_text("\n".join([mark, lines[0], *own]) + "\n", encoding="utf-8")
            print(f"{path.name}: {len(own)} features, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
