"""Static gates of complementary transistors: each network drawn as its function is, in series or parallel.

A node is the output of a gate where a network of n-channel transistors leads to the rail below, one of
p-channel transistors to the rail above, and both have the same inputs. What is in series stands one above the
other, what is parallel side by side; the last column of both networks is one line, where the output is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from domain.circuit.schematic.parts import Part
from domain.circuit.schematic.symbols import text_width

Pins = Mapping[str, Sequence[tuple[int, str]]]
"""Of nets: parts, by their places, and the roles of their pins."""
_FEWEST_INPUTS = 2
_MOST = 16
"""Transistors of one network."""
_ROOM = 4
"""From a transistor's text to the next column: the lead of its gate and a wire."""


class Network(NamedTuple):
    """Transistors between two nodes: one, or networks in series (from above) or parallel (from the left)."""

    part: int = -1
    inner: tuple[Network, ...] = ()
    is_series: bool = False

    @property
    def leaves(self) -> tuple[int, ...]:
        return tuple(at for each in self.inner for at in each.leaves) if self.inner else (self.part,)


class Gate(NamedTuple):
    """A gate's transistors in rows from above: parts, and where across."""

    rows: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def transistors(self) -> frozenset[int]:
        return frozenset(at for row in self.rows for at, _ in row)


class _Edge(NamedTuple):
    above: str
    below: str
    network: Network


def gates_in(
    parts: Sequence[Part], drawn: Iterable[int], pins: Pins, signs: Mapping[str, int]
) -> tuple[Gate, ...]:
    """Gates of two inputs or more; an inverter is a column anyway."""
    found = []
    outs: dict[str, None] = {}
    for at in drawn:
        if parts[at].kind == "m" and parts[at].net("out") not in signs:
            outs[parts[at].net("out")] = None
    for out in outs:
        both = [_network(out, polarity, parts, pins, signs) for polarity in (-1, 1)]
        above, below = both
        if above is None or below is None:
            continue
        inputs = [{parts[at].net("in") for at in network.leaves} for network in (above, below)]
        if inputs[0] == inputs[1] and len(inputs[0]) >= _FEWEST_INPUTS and not inputs[0] & {out, *signs}:
            found.append(_arranged(above, below, parts))
    return tuple(found)


def _network(
    out: str, polarity: int, parts: Sequence[Part], pins: Pins, signs: Mapping[str, int]
) -> Network | None:
    """What leads from the output to one rail; None where it is no series and parallel of channels."""
    edges: list[_Edge] = []
    waiting, seen = [out], {out}
    while waiting:
        net = waiting.pop()
        here = [(at, role) for at, role in pins.get(net, ()) if role in ("out", "com")]
        channels = [at for at, _ in here if parts[at].kind == "m" and parts[at].polarity == polarity]
        if net != out and len(channels) != len(pins[net]):
            return None  # something else is at a node within
        for at in channels:
            part = parts[at]
            if part.net("out") != net:
                continue
            far = part.net("com")
            edges.append(_Edge(net, far, Network(at)))
            if far not in seen and far not in signs:
                waiting.append(far)
            seen.add(far)
        if net == out and any(parts[at].net("com") == out for at in channels):
            return None
    rails = seen & signs.keys()
    if not edges or len(edges) > _MOST or len(rails) != 1 or (signs[next(iter(rails))] > 0) != (polarity < 0):
        return None
    edge = _reduced(edges, out)
    if edge is None:
        return None
    return _upside_down(edge.network) if polarity < 0 else edge.network


def _reduced(edges: list[_Edge], out: str) -> _Edge | None:
    """Parallel and series ones put together until one is left."""
    while len(edges) > 1:
        for at, one in enumerate(edges):
            side = [each for each in edges if each[:2] == one[:2]]
            if len(side) > 1:
                inner = tuple(part for each in side for part in _flat(each.network, is_series=False))
                edges = [each for each in edges if each not in side]
                edges.insert(at, _Edge(one.above, one.below, Network(inner=inner)))
                break
            behind = [each for each in edges if each.above == one.below]
            before = [each for each in edges if each.below == one.below]
            if len(behind) == 1 == len(before) and one.below != out:
                inner = (
                    *_flat(one.network, is_series=True),
                    *_flat(behind[0].network, is_series=True),
                )
                edges = [each for each in edges if each not in (one, behind[0])]
                edges.insert(min(at, len(edges)), _Edge(one.above, behind[0].below, Network(-1, inner, True)))
                break
        else:
            return None
    return edges[0]


def _flat(network: Network, *, is_series: bool) -> tuple[Network, ...]:
    return network.inner if network.inner and network.is_series == is_series else (network,)


def _upside_down(network: Network) -> Network:
    """From the rail to the output, where that is below."""
    inner = tuple(map(_upside_down, network.inner))
    return network._replace(inner=inner[::-1] if network.is_series else inner)


def _arranged(above: Network, below: Network, parts: Sequence[Part]) -> Gate:
    """An input's two transistors are near: what is nearest to the output is in the last column."""
    depth: dict[str, int] = {}
    for network, step in ((above, -1), (below, 1)):
        for at, deep in _depths(network, 0, step):
            depth[parts[at].net("in")] = depth.get(parts[at].net("in"), 0) + deep
    wide = max(text_width(text) for at in (*above.leaves, *below.leaves)
               for text in (parts[at].name, *parts[at].values))  # fmt: skip
    pitch = int(wide) + _ROOM
    rows: list[list[tuple[int, int]]] = []
    width = max(_size(above)[0], _size(below)[0])
    for network, is_above in ((above, True), (below, False)):
        own = _rows(_sorted(network, depth, parts), is_above=is_above)
        left = width - _size(network)[0]
        rows += [[(at, (left + x) * pitch) for at, x in row] for row in own]
    return Gate(tuple(map(tuple, rows)))


def _depths(network: Network, start: int, step: int) -> Iterator[tuple[int, int]]:
    """Of each transistor, how many rows are between it and the output."""
    if not network.inner:
        yield network.part, start
    for each in network.inner[::step] if network.is_series else network.inner:
        yield from _depths(each, start, step)
        start += _size(each)[1] if network.is_series else 0


def _sorted(network: Network, depth: Mapping[str, int], parts: Sequence[Part]) -> Network:
    inner = [_sorted(each, depth, parts) for each in network.inner]
    if not network.is_series:  # a sort keeps the circuit's order of equals
        inner.sort(key=lambda each: -min(depth[parts[at].net("in")] for at in each.leaves))
    return network._replace(inner=tuple(inner))


def _size(network: Network) -> tuple[int, int]:
    """Columns and rows."""
    if not network.inner:
        return 1, 1
    sizes = [_size(each) for each in network.inner]
    wide, high = [size[0] for size in sizes], [size[1] for size in sizes]
    return (max(wide), sum(high)) if network.is_series else (sum(wide), max(high))


def _rows(network: Network, *, is_above: bool) -> list[list[tuple[int, int]]]:
    """Of a network: its transistors and their columns, row by row; short branches are at the output."""
    width, height = _size(network)
    if not network.inner:
        return [[(network.part, 0)]]
    rows: list[list[tuple[int, int]]] = [[] for _ in range(height)]
    x = y = 0
    for each in network.inner:
        own = _rows(each, is_above=is_above)
        wide, high = _size(each)
        if network.is_series:
            shift, start = width - wide, y
            y += high
        else:
            shift, start = x, height - high if is_above else 0
            x += wide
        for number, row in enumerate(own):
            rows[start + number] += [(at, shift + place) for at, place in row]
    return rows
