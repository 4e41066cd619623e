"""`.meas` cards as they are to be computed: expressions in ``par('...')``, names that are used twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from domain.circuit.cards import Measure
from domain.circuit.control_blocks import stops_itself
from domain.circuit.dependencies import DependencyTree
from domain.circuit.placed import Placed
from shared.late_patterns import late_pattern

Placing = tuple[Path, Measure]
_PAR = late_pattern(r"(?<=[\s=])par\s*\(\s*(?:'[^']*'|\{[^}]*\})\s*\)", re.IGNORECASE)
_WITH_PAR = frozenset(("save", "probe", "four", "print", "plot", "meas"))
_NAME = late_pattern(r"(?P<head>\s*\.?\S+\s+\S+\s+)(?P<name>[^\s=]+)")


def with_nodes_of_par(cards: Sequence[Placing], statements: Iterable[Placed]) -> list[Placing]:
    """Each ``par('expression')`` replaced by the node that has its value.

    ngspice 39 makes a behavioural source for each, in the order of the cards, whose nodes are `pa_00`,
    `pa_01` ...; they are in its data.
    """
    texts: dict[tuple[Path | None, int], str] = {}
    count = 0
    for placed in statements:
        statement = placed.statement
        if statement.kind != "directive" or statement.keyword not in _WITH_PAR:
            continue
        first = count
        count += len(_PAR.findall(statement.text))
        if statement.keyword == "meas" and count > first:
            numbers = iter(range(first, count))
            text = _PAR.sub(lambda _, numbers=numbers: f"v(pa_{next(numbers):02d})", statement.text)  # type: ignore[misc]
            texts[placed.file, statement.line] = text.strip()[1:]
    return [
        (path, replace(card, text=texts.get((path, card.line)) or texts.get((None, card.line)) or card.text))
        if texts
        else (path, card)
        for path, card in cards
    ]


def without_measures(tree: DependencyTree) -> DependencyTree:
    """The circuit as ngspice is given it: `.meas` cards are computed from its data, and one that it cannot
    read would cost the whole run. Those with ``par('...')`` stay, whose nodes it makes, and all under
    `autostop`, which ends the run by them."""
    if stops_itself(tree):
        return tree
    netlists = (tree.root, *tree.files.values())
    idle = {
        each.path: [card for card in each.directives("meas") if not _PAR.search(card.text)]
        for each in netlists
        if each.directives("meas")
    }
    files = {path: each.without(idle[path]) for path, each in tree.files.items() if idle.get(path)}
    return tree.with_texts(tree.root.without(idle.get(tree.root.path, [])), files)


def one_name_each(cards: Sequence[Placing]) -> list[Placing]:
    """Cards that share a name made different: the later one is called ``name@ac`` by its analysis, or
    ``name@2`` where that is the same too."""
    taken: dict[str, str] = {}
    found: list[Placing] = []
    for path, card in cards:
        name = card.name
        if name in taken:
            name = f"{card.name}@{card.analysis}" if taken[name] != card.analysis else f"{card.name}@2"
            number = 2
            while name in taken:
                number += 1
                name = f"{card.name}@{number}"
        taken[name] = card.analysis
        if name != card.name:
            text = _NAME.sub(lambda match, name=name: match["head"] + name, card.text, count=1)  # type: ignore[misc]
            found.append((path, replace(card, name=name, text=text)))
        else:
            found.append((path, card))
    return found
