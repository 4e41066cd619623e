"""Every instance of every subcircuit of a circuit, and what nodes are called in the data of a run."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from domain.circuit.elements import Element, canonical_node

if TYPE_CHECKING:
    from domain.circuit.hierarchy import Block, Circuit

_DEEPEST = 40


def instances_of(
    circuit: Circuit, *, most: int
) -> Iterator[tuple[tuple[str, ...], Block, Mapping[str, str]]]:
    """Every instance of a block with its path and what its ports are called outside, outer ones first; at
    most `most`."""
    waiting: deque[tuple[tuple[str, ...], Block, Mapping[str, str]]] = deque([((), circuit.top, {})])
    seen = 0
    while waiting and seen < most:
        path, block, nodes = waiting.popleft()
        seen += 1
        yield path, block, nodes
        for element, _ in block.elements:
            inner = block.find_block(element.model.text) if element.letter == "x" and element.model else None
            if inner is None or len(path) > _DEEPEST:
                continue
            outside = [node_outside(each, path, nodes, circuit.global_nodes) for each in nodes_of(element)]
            waiting.append(((*path, element.key), inner, dict(zip(inner.ports, outside, strict=False))))


def nodes_of(element: Element) -> tuple[str, ...]:
    """The nodes of an element, as its block calls them."""
    return tuple(canonical_node(each.text) for each in element.nodes)


def node_outside(
    name: str, path: tuple[str, ...], ports: Mapping[str, str], everywhere: Collection[str]
) -> str:
    """What a block's node is called in the data: ``x1.n``, or what its port is connected to."""
    if name in ports:
        return ports[name]
    return name if not path or name in everywhere else ".".join((*path, name))
