"""What each element is on the page: upright or lying, which end first, and how far along the signal's way."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domain.circuit.elements import GROUND
from domain.circuit.schematic.figures import Bridge, Crossed, Quad, bridges_in, crossed_in, quads_in
from domain.circuit.schematic.filter_stages import FilterStage, filter_stages_in
from domain.circuit.schematic.gates import Gate, gates_in
from domain.circuit.schematic.heights import STRAIGHT, heights_of
from domain.circuit.schematic.parts import TRANSISTORS, TWO_POLES, Page, Part
from domain.circuit.schematic.rails import Rails, find_rails
from domain.circuit.schematic.rings import rings_in
from domain.circuit.schematic.stacked import input_bridges, pump_clocks
from domain.circuit.schematic.symbols import Sides
from domain.circuit.schematic.tees import TwinT, twin_tees_in
from domain.circuit.schematic.twins import twin_rows
from shared.late_patterns import late_pattern

MOST_WIRED = 9
"""A net of more pins is told by name at each."""
_OUTPUT = late_pattern(r"(?i)v?_?o(?:ut(?:put)?)?[pn+\-]?_?\d*|y\d*|q\d*")
_INPUT = late_pattern(r"(?i)v?_?i(?:n(?:put)?)?[pn+\-]?_?\d*")
_INWARD = late_pattern(
    r"(?i)\d?(?:v?in|clk|clock|en|set|reset|rst|trig|d|a|b|fb|ctrl|ref|sel|cin)[pn+\-_]?\d*[pn+\-]?"
)
_OUTWARD = late_pattern(r"(?i)\d?(?:v?out|o|q|qb|y|z|s|sum|cout|disch|dis|sw)[pn+\-_]?\d*")
_THERMAL = ("x4", "x5", "x6")
"""Roles of a transistor's terminals behind the fourth."""
_BELOW_GROUND = -0.02
"""Of the negative supply: what stands lower than that hangs from ground."""
_LOAD_SHARE = 0.25
"""Of the largest channel current: what a resistor between inner nodes carries when it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """By the part's place in `Page.parts` where it is a tuple."""

    rails: Rails
    drawn: tuple[int, ...]
    """Parts that are drawn: the sources of rails are told in the legend."""
    upright: tuple[bool, ...]
    turns: tuple[int, ...]
    flips: tuple[bool, ...]
    sides: tuple[Sides, ...]
    ranks: Mapping[str, float]
    """Of nets, along the way of the signal."""
    heights: Mapping[str, float]
    pairs: tuple[tuple[int, int], ...]
    """Left and right member."""
    loads: tuple[tuple[int, int], ...]
    """What is above or below pairs, or in columns that share their gates: facing each other."""
    windings: tuple[tuple[int, int], ...]
    """Coupled inductors, side by side: nearer to the signal's start, further."""
    bridges: tuple[Bridge, ...]
    crossed: tuple[Crossed, ...]
    """Pairs whose couplings are elements; those of wires are among the pairs."""
    quads: tuple[Quad, ...]
    gates: tuple[Gate, ...]
    twin_tees: tuple[TwinT, ...]
    filter_stages: tuple[FilterStage, ...]
    led_back: frozenset[int]
    """Transistors whose input comes from the end of a ring of stages, at the start of which they stand."""
    labelled: frozenset[str]
    """Nets told by name at each pin."""


def roles_of(page: Page) -> Roles:
    return _Roles(page).found()


class _Roles:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.rails = find_rails(page)
        self.signs = self.rails.signs
        gone = {each.name for each in self.rails.sources}
        self.drawn = tuple(at for at, part in enumerate(page.parts) if part.name not in gone)
        if page.scope:  # a terminal that is a supply stands at its pins already
            self.drawn = tuple(
                at
                for at in self.drawn
                if not (page.parts[at].kind == "port" and page.parts[at].pins[0].net in self.signs
                        and self._pins_at(page.parts[at].pins[0].net) > 1)
            )  # fmt: skip
        self.parts = page.parts
        self.at: dict[str, list[tuple[int, str]]] = {}
        for at in self.drawn:
            for pin in self.parts[at].pins:
                self.at.setdefault(pin.net, []).append((at, pin.role))
        self.heights = heights_of([self.parts[at] for at in self.drawn], self.signs)
        self.rectifiers = bridges_in(self.parts, self.drawn, self.signs)
        self.in_bridges = frozenset(at for bridge in self.rectifiers for at in bridge.diodes)
        crossed = crossed_in(self.parts, self.drawn, self.at, self.signs)
        self.latches = [{each.left, each.right} for each in crossed if not each.couplings]
        self.crossed = [each for each in crossed if each.couplings]
        self.bridges = input_bridges(self.parts, self.drawn, self.at)
        self.clocks = pump_clocks(self.parts, self.at, self.signs)
        self.pairs = self._pairs()
        self.windings = self._windings()
        self.rings = rings_in(self.parts, self.drawn, self.signs, self._outputs({}))
        self.led_back = frozenset(at for ring in self.rings for at in ring.first)
        self.ranks = self._ranks()

    def _pins_at(self, net: str) -> int:
        return sum(pin.net == net for part in self.page.parts for pin in part.pins)

    def found(self) -> Roles:
        upright = self._upright()
        count = len(self.parts)
        turns, flips = [0] * count, [False] * count
        sides = [Sides()] * count
        for at in self.drawn:
            part = self.parts[at]
            if part.kind in TWO_POLES:
                turns[at] = self._turn(part, upright=upright[at])
            elif part.kind in TRANSISTORS:
                flips[at] = at not in self.led_back and self._faces_right(part)
                joined = ("", part.net("com"), part.net("out") if part.kind == "q" else "")
                if part.net("bulk") not in (*joined, *self.signs):
                    sides[at] = Sides(right=("bulk",))
            elif part.kind == "amp":
                flips[at] = self._plus_above(part) or any(at == upper for _, upper, _ in self.bridges)
                sides[at] = self._amp_sides(part)
            elif part.kind == "box":
                sides[at] = self._box_sides(part)
            elif part.kind == "port":
                flips[at] = self._is_output(part.pins[0].net)
        pairs, loads = self._ordered_pairs(flips)
        above = 0 if self.rails.hangs_from_ground else 1
        quads = quads_in(self.parts, pairs, self.at, lambda net: self.signs.get(net) == above)
        for quad in quads:
            pairs = quad.among(pairs)
            for at, faces_right in zip((*quad.upper, *quad.lower), quad.flips, strict=True):
                flips[at] = faces_right
        gates, twin_tees, filter_stages, crossed = self._stand_in_figures(turns, flips, upright)
        windings = tuple(sorted(each, key=self._mean_rank) for each in self.windings)
        for _, right in windings:
            flips[right] = True
        most = {net for net, pins in self.at.items() if len(pins) > MOST_WIRED and net not in self.signs}
        most |= self._temperatures()
        return Roles(
            rails=self.rails,
            drawn=self.drawn,
            upright=tuple(upright),
            turns=tuple(turns),
            flips=tuple(flips),
            sides=tuple(sides),
            ranks=self.ranks,
            heights=self.heights,
            pairs=pairs,
            loads=loads,
            windings=tuple((left, right) for left, right in windings),
            bridges=self.rectifiers,
            crossed=crossed,
            quads=quads,
            gates=gates,
            twin_tees=twin_tees,
            filter_stages=filter_stages,
            led_back=self.led_back,
            labelled=frozenset(most),
        )

    def _temperatures(self) -> set[str]:
        """Nets at a transistor's thermal terminals: no way of the signal leads there."""
        return {
            pin.net for at in self.drawn for pin in self.parts[at].pins
            if (pin.role in _THERMAL or (pin.role == "bulk" and self.parts[at].net(_THERMAL[0])))
            and self.parts[at].kind == "m" and pin.net not in self.signs
        }  # fmt: skip

    def _stand_in_figures(
        self, turns: list[int], flips: list[bool], upright: list[bool]
    ) -> tuple[tuple[Gate, ...], tuple[TwinT, ...], tuple[FilterStage, ...], tuple[Crossed, ...]]:
        """Their parts stand as the figure wants it."""
        twin_tees = tuple(
            each.turned_to(self.ranks) for each in twin_tees_in(self.parts, self.at, self.signs)
        )
        for at, turn in (pair for each in twin_tees for pair in each.turns(self.parts, self.signs).items()):
            turns[at], upright[at] = turn, turn in (0, 2)
        held = {at for twin in twin_tees for at in twin.parts}
        filter_stages = tuple(
            stage for stage in filter_stages_in(self.parts, self.drawn, self.at, self.signs)
            if not stage.parts & held
        )  # fmt: skip
        for stage in filter_stages:
            flips[stage.amplifier] = True
            for at, turn in stage.turns(self.parts).items():
                turns[at], upright[at] = turn, False
        for at, turn in self._fed_back():
            turns[at] = turns[at] if upright[at] else turn
        taken = {at for each in self.crossed for at in (each.left, each.right)}
        gates = tuple(
            gate for gate in gates_in(self.parts, self.drawn, self.at, self.signs)
            if not gate.transistors & taken
        )  # fmt: skip
        for at in {at for gate in gates for at in gate.transistors}:
            flips[at] = False
        crossed = tuple(map(self._from_left, self.crossed))
        for each in crossed:
            flips[each.left], flips[each.right] = True, False
            for coupling, role in zip(each.couplings, ("out", "in"), strict=True):
                ends = {*self.parts[coupling].nets}
                for at in (at for at in self.drawn if self.parts[at].kind in "rc"):
                    if {*self.parts[at].nets} == ends:  # the coupling, and what is parallel to it
                        turns[at] = 1 if self.parts[at].nets[0] == self.parts[each.left].net(role) else 3
                        upright[at] = False
        return gates, twin_tees, filter_stages, crossed

    def _fed_back(self) -> Iterator[tuple[int, int]]:
        """What lies between an amplifier's output and its inverting input leads to the output's side."""
        for amplifier in self.drawn:
            part = self.parts[amplifier]
            if part.kind != "amp" or part.net("n") in (part.net("out"), *self.signs):
                continue
            for at, _ in self.at.get(part.net("n"), ()):
                if self.parts[at].kind in "rcld" and {*self.parts[at].nets} == {
                    part.net("n"),
                    part.net("out"),
                }:
                    yield at, 1 if self.parts[at].nets[0] == part.net("n") else 3

    # ---- pairs

    def _windings(self) -> list[tuple[int, int]]:
        """The first two inductors of each core, each once."""
        place = {self.parts[at].name.lower(): at for at in self.drawn if self.parts[at].kind == "l"}
        found: list[tuple[int, int]] = []
        taken: set[int] = set()
        for coupling in self.page.couplings:
            here = [place[name.lower()] for name in coupling.inductors if name.lower() in place]
            free = [at for at in dict.fromkeys(here) if at not in taken]
            if len(free) == 2 == len(here):
                found.append((free[0], free[1]))
                taken |= {*free}
        return found

    def _mean_rank(self, at: int) -> float:
        known = [self.ranks[net] for net in self.parts[at].nets if net in self.ranks]
        return sum(known) / len(known) if known else 0.0

    def _pairs(self) -> list[tuple[int, int]]:
        """Two of a kind on one emitter or source node that is no rail, with different inputs."""
        groups: dict[tuple[str, str, int], list[int]] = {}
        for at in self.drawn:
            part = self.parts[at]
            if part.kind in TRANSISTORS:
                com = self._tail(part)
                if com is not None:
                    groups.setdefault((com, part.kind, part.polarity), []).append(at)
        pairs = []
        coupled = {at for each in self.crossed for at in (each.left, each.right)}
        for _, members in sorted(groups.items()):
            by_out: dict[str, int] = {}
            for at in members:  # of inputs that are parallel, as of a gate, one
                by_out.setdefault(self.parts[at].net("out"), at)
            if len(by_out) == 2 and not {*members} & coupled:
                one, other = by_out.values()
                first, second = self.parts[one], self.parts[other]
                if first.net("in") != second.net("in") and not by_out.keys() <= self.signs.keys():
                    pairs.append((one, other))
        pairs += [
            (first, second) for first, second in map(sorted, self.latches)
            if not any({first, second} & {*pair} for pair in pairs)
        ]  # fmt: skip
        return pairs

    def _from_left(self, each: Crossed) -> Crossed:
        """The one nearer to the output stands right."""
        nets = [self.parts[at].net("out") for at in (each.left, each.right)]
        if (self.ranks.get(nets[0], 0), nets[0]) <= (self.ranks.get(nets[1], 0), nets[1]):
            return each
        return Crossed(each.right, each.left, each.couplings[::-1])

    def _tail(self, part: Part) -> str | None:
        """The common node of a pair this transistor may be in, through a degeneration resistor too."""
        com = part.net("com")
        if com in self.signs or part.net("in") == part.net("out"):
            return None
        pins = self.at[com]
        if len(pins) == 2:
            other = next((at for at, _ in pins if self.parts[at] is not part), None)
            if other is not None and self.parts[other].kind == "r":
                far = next((net for net in self.parts[other].nets if net != com), com)
                return far if far not in self.signs else None
        return com

    def _ordered_pairs(
        self, flips: list[bool]
    ) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        """Inputs outward; what loads them face to face. The one nearer to the signal's start stands left."""
        pairs, loads = [], []
        taken: set[int] = set()
        for first, second in self.pairs:
            a, b = self.parts[first], self.parts[second]
            first_out = self._reach(a.net("out"))
            second_out = self._reach(b.net("out"))
            key_a = (self.ranks.get(a.net("in"), 0), first_out)
            key_b = (self.ranks.get(b.net("in"), 0), second_out)
            if {first, second} in self.latches:  # two of them on the same nets stand above each other
                in_order = (first_out, a.net("out")) <= (second_out, b.net("out"))
                left, right = (first, second) if in_order else (second, first)
                flips[left], flips[right] = True, False
                pairs.append((left, right))
                taken |= {left, right}
                continue
            left, right = (first, second) if key_a <= key_b else (second, first)
            mirror = self._mirror_on(self.parts[left].net("out"), self.parts[right].net("out"))
            if mirror is not None:  # the output of a mirror load leads on: to the right
                out_left = self.parts[mirror[1]].net("out") == self.parts[left].net("out")
                if out_left:
                    left, right = right, left
                loads.append(mirror)
                flips[mirror[0]], flips[mirror[1]] = True, False
                taken |= {*mirror}
            flips[left], flips[right] = False, True
            pairs.append((left, right))
            taken |= {left, right}
        for left, right in twin_rows(self.parts, self.drawn, (*pairs, *loads), self.signs, self._reach):
            loads.append((left, right))
            flips[left], flips[right] = True, False
            taken |= {left, right}
        for first, second in self._mirrors():
            if not {first, second} & taken:
                flips[first], flips[second] = True, False
                taken |= {first, second}
        return tuple(pairs), tuple(loads)

    def _reach(self, net: str) -> float:
        """How far a net leads towards the output: what goes on stands right."""
        onward = sum(role in ("in", "p", "n") for _, role in self.at.get(net, ()))
        return self.ranks.get(net, 0) + onward

    def _mirrors(self) -> list[tuple[int, int]]:
        """(connected as a diode, its mate)."""
        found = []
        for at in self.drawn:
            part = self.parts[at]
            if part.kind in TRANSISTORS and part.net("in") == part.net("out"):
                mates = [
                    other for other, role in self.at[part.net("in")]
                    if role == "in" and other != at and self.parts[other].polarity == part.polarity
                    and self.parts[other].net("out") != part.net("in")
                ]  # fmt: skip
                found += [(at, mate) for mate in mates[:1]]
        return found

    def _mirror_on(self, first: str, second: str) -> tuple[int, int] | None:
        for diode, mate in self._mirrors():
            if {self.parts[diode].net("out"), self.parts[mate].net("out")} == {first, second}:
                return diode, mate
        return None

    # ---- the way of the signal

    def _ranks(self) -> dict[str, float]:
        edges, back = self._edges()
        starts = self._starts()
        ahead = _steps(starts, edges)
        goals = [net for net in self._outputs(ahead) if net not in starts]
        behind = _steps(goals, back)
        far = max(behind.values(), default=0)
        ranks: dict[str, float] = {}
        for net in self.at:
            if net in self.signs:
                continue
            if net in ahead and net in behind and goals:
                ranks[net] = (ahead[net] + far - behind[net]) / 2
            elif net in ahead:
                ranks[net] = float(ahead[net])
            elif net in behind:
                ranks[net] = float(far - behind[net]) / 2 + max(ahead.values(), default=0) / 2 - 1
        known = list(ranks.values())
        middle = sum(known) / len(known) if known else 0.0
        for net in self.at:
            if net not in self.signs and net not in ranks:
                near = [
                    ranks[other] for at, _ in self.at[net] for other in self.parts[at].nets if other in ranks
                ]
                ranks[net] = sum(near) / len(near) if near else middle
        if goals and goals[0] in ahead:
            ranks |= self._beyond(
                max(ahead.get(net, 0) for net in goals), max(map(ranks.__getitem__, goals)), ahead
            )
        self._go_around(ranks)
        for first, second in self.pairs:  # one stage
            for role in ("out", "in"):
                nets = [self.parts[at].net(role) for at in (first, second)]
                if role == "out" and all(net in ranks for net in nets):
                    mean = sum(ranks[net] for net in nets) / 2
                    ranks.update(dict.fromkeys(nets, mean))
        return ranks

    def _go_around(self, ranks: dict[str, float]) -> None:
        """Of rings: the signal goes around once; what takes it stands behind the stage it takes it from."""
        for ring in self.rings:
            first = ranks[ring.nets[0]]
            ranks.update({net: first + number for number, net in enumerate(ring.nets)})
            for at in self.drawn:
                base, out = self.parts[at].net("in"), self.parts[at].net("out")
                if base in ring.nets and out in ranks and out not in ring.nets:
                    ranks[out] = max(ranks[out], ranks[base] + 1)

    def _beyond(self, last: int, rank: float, ahead: Mapping[str, int]) -> dict[str, float]:
        """Of amplifiers that follow on the output and lead back from there, as of a state-variable filter."""
        found: dict[str, float] = {}
        for at in self.drawn:
            part = self.parts[at]
            if part.kind == "amp" and ahead.get(part.net("out"), 0) > last:
                found |= {
                    net: rank + ahead[net] - last
                    for net in (part.net("p"), part.net("n"), part.net("out"))
                    if ahead.get(net, 0) > last
                }
        return found

    def _edges(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        edges: dict[str, list[str]] = {}
        back: dict[str, list[str]] = {}

        def join(a: str, b: str) -> None:
            if a not in self.signs and b not in self.signs and a != b:
                edges.setdefault(a, []).append(b)
                back.setdefault(b, []).append(a)

        outs = {self.parts[at].net("out") for at in self.drawn if self.parts[at].kind == "amp"}
        driven = outs if len(outs) > 1 else set()  # a chain: what leads back to an output is no way to it
        for at in self.drawn:
            part = self.parts[at]
            if part.kind in TRANSISTORS:
                base, out, com = part.net("in"), part.net("out"), part.net("com")
                join(base, out)
                join(base, com)
                join(com, out)
            elif part.kind == "amp":
                join(part.net("p"), part.net("out"))
                join(part.net("n"), part.net("out"))
            elif part.kind == "box":
                self._join_box(part, join)
            elif part.kind in "egfhb":
                for control in part.controls:
                    join(control, part.nets[0])
                    join(control, part.nets[1])
            elif part.kind in TWO_POLES:
                a, b = part.nets
                for one, other in ((a, b), (b, a)):
                    if other not in driven:
                        join(one, other)
        for first, second in self.windings:
            for one in self.parts[first].nets:
                for other in self.parts[second].nets:
                    join(one, other)
                    join(other, one)
        return edges, back

    def _join_box(self, part: Part, join: object) -> None:
        free = [(p.net, "") for p in part.pins if p.net not in self.signs]
        inward = [(p.net, _number_in(p.role)) for p in part.pins if _INWARD.fullmatch(p.role)]
        outward = [(p.net, _number_in(p.role)) for p in part.pins if _OUTWARD.fullmatch(p.role)]
        numbers = {number for _, number in inward} & {number for _, number in outward}
        is_multiple = len(numbers) > 1 and "" not in numbers  # halves of one package
        assert callable(join)
        for a, one in inward or free:
            for b, other in outward or free:
                if not is_multiple or one == other:
                    join(a, b)

    def _starts(self) -> list[str]:
        signal = [
            part for part in self.parts
            if part.kind in "vi"
            and (part.style not in ("dc", "port", "") or part.name.lower() in self.page.swept)
        ]  # fmt: skip
        flags = [part.pins[0].net for part in self.parts if part.kind == "port"]
        ports = [net for net in flags if net not in self.signs and not self._is_output(net)]
        nets = [net for part in signal for net in part.nets if net not in self.signs] or ports
        nets = [net for net in nets if net not in self.clocks]
        if nets:
            gates = [net for net in nets if self._only_switches(net)]
            return [net for net in nets if net not in gates] or nets
        sources = [net for part in self.parts if part.kind in "vi" for net in part.nets if net in self.at]
        sources = [net for net in sources if net not in self.signs]
        if sources:
            return sources
        inputs = [part.net("in") for part in self.parts if part.kind in TRANSISTORS]
        inputs = [part.net("p") for part in self.parts if part.kind == "amp"] + inputs
        free = [net for net in inputs if net not in self.signs]
        return free[:1] or [net for net in self.at if net not in self.signs][:1]

    def _only_switches(self, net: str) -> bool:
        """A clock or a gate drive: it feeds nothing but controls."""
        touched = [role for at, role in self.at.get(net, ()) if self.parts[at].kind not in "vi"]
        return not touched

    def _outputs(self, ahead: Mapping[str, int]) -> list[str]:
        known = [net for net in self.page.observed if net in self.at and net not in self.signs]
        ports = [part.pins[0].net for part in self.parts if part.kind == "port"]
        named = [net for net in self.at if _OUTPUT.fullmatch(net) and net not in self.signs]
        ends = [net for net in ports if self._is_output(net)] or [
            net for part in self.parts if part.style == "port" for net in part.nets if net not in self.signs
        ]
        found = ends or [net for net in known if not _INPUT.fullmatch(net)] or named
        last = max(ahead.values(), default=-1)
        exact = [net for net in found if _OUTPUT.fullmatch(net)] or found
        goals = exact or [net for net, steps in ahead.items() if steps == last][:1]
        return [*goals, *(net for net in self._alike(goals) if net not in goals)]

    def _alike(self, outputs: Sequence[str]) -> list[str]:
        """Of boxes of one make that are not in a chain: where one leads to an output, all do."""
        boxes = [self.parts[at] for at in self.drawn if self.parts[at].kind == "box"]
        pins = [((box.values, pin.role), pin.net) for box in boxes for pin in box.pins]
        kinds = {kind for kind, net in pins if net in outputs}
        alone = [net for _, net in pins if len({kind for kind, end in pins if end == net}) == 1]
        return [net for kind, net in pins if kind in kinds and net in alone and net not in self.signs]

    def _is_output(self, net: str) -> bool:
        if _OUTPUT.fullmatch(net):
            return True
        if _INPUT.fullmatch(net) or net in self.signs:
            return False
        roles = [
            (self.page.parts[at].kind, role)
            for at, part in enumerate(self.page.parts)
            for role in (pin.role for pin in part.pins if pin.net == net)
            if part.kind != "port"
        ]
        return bool(roles) and any(
            role == "out" and kind in ("amp", *TRANSISTORS) for kind, role in roles
        ) and not any(role == "in" for _, role in roles)  # fmt: skip

    # ---- upright or lying

    def _upright(self) -> list[bool]:
        upright = [False] * len(self.parts)
        channels = {
            self.parts[at].net(role)
            for at in self.drawn
            if self.parts[at].kind in TRANSISTORS
            for role in ("out", "com")
        }
        strongest = max(
            (self._fall(self.parts[at]) for at in self.drawn if self.parts[at].kind in TRANSISTORS),
            default=0.0,
        )
        spans = [
            {self.parts[at].net("out"), self.parts[at].net("com")}
            for at in self.drawn if self.parts[at].kind in TRANSISTORS
        ]  # fmt: skip
        grounded = {
            part.nets[1] for part in self.parts if part.kind == "d" and part.nets[0] in self.signs
        } | {part.nets[0] for part in self.parts if part.kind == "d" and part.nets[1] in self.signs}
        for at in self.drawn:
            part = self.parts[at]
            if part.kind in TRANSISTORS:
                upright[at] = True
            if part.kind not in TWO_POLES:
                continue
            a, b = part.nets
            is_meter = part.kind == "v" and part.style == "dc" and part.ohms == 0 and not {a, b} & channels
            if a in self.signs or b in self.signs or (part.kind in "viegfhb" and not is_meter):
                upright[at] = True
            elif part.kind == "r" and part.ohms and strongest > 0:
                current = abs(self.heights[a] - self.heights[b]) / part.ohms
                upright[at] = ({a, b} & channels != set()) and current > _LOAD_SHARE * strongest
            elif part.kind == "d" and strongest > 0:
                current = abs(self.heights[a] - self.heights[b]) * STRAIGHT
                upright[at] = ({a, b} & channels != set()) and current > _LOAD_SHARE * strongest
            if (part.kind in "cd" and {a, b} in spans) or (part.kind == "c" and self.clocks & {a, b}):
                upright[at] = True
            if part.kind == "d" and {a, b} & grounded and self._is_bridge(part):
                upright[at] = True
        for at in {at for pair in self.windings for at in pair} | self.in_bridges | self._across_bridges():
            upright[at] = True
        for at in {at for each in self.crossed for at in each.couplings}:
            upright[at] = False
        for at in (*self._fed_from_below(), *(resistor for resistor, _, _ in self.bridges)):
            upright[at] = True
        for at in self._behind_windings():
            upright[at] = True
        self._follow_chains(upright)
        self._with_parallel(upright)
        return upright

    def _across_bridges(self) -> set[int]:
        """What a rectifier feeds, and what feeds it: it stands beside the legs."""
        ends = [{bridge.plus, bridge.minus} for bridge in self.rectifiers]
        return {
            at for at in self.drawn if self.parts[at].kind in TWO_POLES
            and at not in self.in_bridges and {*self.parts[at].nets} in ends
        }  # fmt: skip

    def _fall(self, part: Part) -> float:
        """The current of a channel at the pseudo operating point."""
        return abs(self.heights[part.net("out")] - self.heights[part.net("com")]) * STRAIGHT

    def _fed_from_below(self) -> list[int]:
        """Resistors of sources that come in along the signal's way, as in a ladder: they stand on them."""
        found: list[tuple[float, int]] = []
        for at in self.drawn:
            source = self.parts[at]
            if (
                source.kind != "v"
                or source.nets[1] not in self.signs
                or len(self.at.get(source.nets[0], ())) != 2
            ):
                continue
            mate = next(other for other, _ in self.at[source.nets[0]] if other != at)
            if self.parts[mate].kind == "r":
                found.append((self.ranks[source.nets[0]], mate))
        first = min((rank for rank, _ in found), default=0.0)
        return [mate for rank, mate in found if rank > first + 0.4]

    def _behind_windings(self) -> set[int]:
        """What is in series with a winding and the switch or transistor that leads it to a rail."""
        found: set[int] = set()
        for winding in {at for pair in self.windings for at in pair}:
            for start in self.parts[winding].nets:
                net, at, chain = start, winding, list[int]()
                while net not in self.signs and len(self.at[net]) == 2 and len(chain) < len(self.parts):
                    at = next((other for other, _ in self.at[net] if other != at), at)
                    part = self.parts[at]
                    if part.kind not in "rcld" or net not in part.nets:
                        break
                    chain.append(at)
                    net = next((far for far in part.nets if far != net), net)
                if chain and any(self._leads_to_rail(other, net) for other, _ in self.at.get(net, ())):
                    found |= {*chain}
        return found

    def _leads_to_rail(self, at: int, net: str) -> bool:
        part = self.parts[at]
        channel = (part.net("out"), part.net("com")) if part.kind in TRANSISTORS else part.nets
        return (
            part.kind in ("s", *TRANSISTORS) and net in channel and any(far in self.signs for far in channel)
        )

    def _is_bridge(self, part: Part) -> bool:
        """A leg of a rectifier: its mate leads from a rail to the same node."""
        for net in part.nets:
            mates = [
                self.parts[at]
                for at, _ in self.at[net]
                if self.parts[at].kind == "d" and self.parts[at] is not part
            ]
            for mate in mates:
                far = next((each for each in mate.nets if each != net), net)
                opposite = (part.nets[0] == net) == (mate.nets[1] == net)
                if far in self.signs and opposite:
                    own_far = next((each for each in part.nets if each != net), net)
                    return sum(self.parts[at].kind == "d" for at, _ in self.at[own_far]) >= 2
        return False

    def _follow_chains(self, upright: list[bool]) -> None:
        """Behind a node with two pins a standing element is followed by another: R and C to ground."""
        wound = {at for pair in self.windings for at in pair}
        changed = True
        while changed:
            changed = False
            for net, pins in self.at.items():
                if len(pins) != 2 or net in self.signs or net in self.page.observed or _OUTPUT.fullmatch(net):
                    continue
                (first, _), (second, _) = pins
                if first == second or {first, second} & wound:
                    continue
                kinds = self.parts[first].kind, self.parts[second].kind
                if all(kind in "rcld" for kind in kinds) and upright[first] != upright[second]:
                    low = first if upright[first] else second
                    if self._hangs(low, net):
                        upright[first] = upright[second] = True
                        changed = True

    def _hangs(self, at: int, net: str) -> bool:
        """The standing one leads from the net to a rail, not along a stage."""
        far = next((each for each in self.parts[at].nets if each != net), net)
        feeds = any(self.parts[other].kind in TRANSISTORS and role != "in" for other, role in self.at[far])
        return far in self.signs or len(self.at[far]) == 2 or feeds

    def _with_parallel(self, upright: list[bool]) -> None:
        """What lies between the same two nodes stands, or lies, together."""
        by_ends: dict[frozenset[str], list[int]] = {}
        for at in self.drawn:
            if self.parts[at].kind in TWO_POLES:
                by_ends.setdefault(frozenset(self.parts[at].nets), []).append(at)
        for group in by_ends.values():
            if any(upright[at] for at in group):
                for at in group:
                    upright[at] = True

    def _turn(self, part: Part, *, upright: bool) -> int:
        """0: its first pin above; 2: below; 1: left; 3: right."""
        a, b = part.nets
        if part.kind == "d" and any(self.parts[at] is part for at in self.in_bridges):
            return 2
        if not upright:
            return 1 if (self.ranks.get(a, 0), a) <= (self.ranks.get(b, 0), b) else 3
        levels = self._levels(a, b)
        if self._hangs_from_ground(part):
            levels = (int(a == GROUND), int(b == GROUND))
        if levels is not None:
            return 0 if levels[0] > levels[1] else 2
        if part.kind in "vehb" or (part.kind == "d" and self._is_bridge(part)):
            return 2 if part.kind == "d" else 0
        return self._turn_within(part, a, b)

    def _hangs_from_ground(self, part: Part) -> bool:
        """A load below the rail that ground is where all supplies are negative."""
        if not self.rails.hangs_from_ground or part.kind not in "rld" or GROUND not in part.nets:
            return False
        far = next((net for net in part.nets if net != GROUND), GROUND)
        return far not in self.signs and self.heights.get(far, 0.0) < _BELOW_GROUND

    def _turn_within(self, part: Part, a: str, b: str) -> int:
        """Of one that stands between two inner nodes."""
        if sense := [each.plus for each in self.rectifiers if {a, b} == {each.plus, each.minus}]:
            return 0 if a in sense else 2
        if (a in self.clocks) != (b in self.clocks):
            return 2 if a in self.clocks else 0
        if upper := [self.parts[up] for at, up, _ in self.bridges if self.parts[at] is part]:
            return 0 if a == upper[0].net("n") else 2
        if part.kind == "r" and (self._is_on_source(a) or self._is_on_source(b)):
            return 2 if self._is_on_source(a) else 0
        high_a, high_b = self.heights.get(a, 0), self.heights.get(b, 0)
        if abs(high_a - high_b) < 1e-6 and self._leads_down(a, part) != self._leads_down(b, part):
            return 2 if self._leads_down(a, part) else 0
        return 0 if high_a > high_b or (high_a == high_b and part.kind != "d") else 2

    def _levels(self, a: str, b: str) -> tuple[int, int] | None:
        """Of an element at a rail, how high its ends are; None for one that is at none, or between equals."""
        sign_a, sign_b = self.signs.get(a), self.signs.get(b)
        if sign_a is None and sign_b is None:
            return None
        values = {1: 2, 0: 0, -1: -2}
        level_a = values[sign_a] if sign_a is not None else int((sign_b or 0) < 1)
        level_b = values[sign_b] if sign_b is not None else int((sign_a or 0) < 1)
        return (level_a, level_b) if level_a != level_b else None

    def _leads_down(self, net: str, part: Part) -> bool:
        """Nothing but one element to ground is behind this end."""
        others = [self.parts[at] for at, _ in self.at[net] if self.parts[at] is not part]
        return len(others) == 1 and any(self.signs.get(each, 1) < 1 for each in others[0].nets)

    def _is_on_source(self, net: str) -> bool:
        pins = self.at[net]
        return len(pins) == 2 and any(
            self.parts[at].kind == "v" and self.parts[at].nets[0] == net for at, _ in pins
        )

    def _faces_right(self, part: Part) -> bool:
        """Its input on the right: where the signal comes from there."""
        base = self.ranks.get(part.net("in"))
        others = [self.ranks[net] for net in (part.net("out"), part.net("com")) if net in self.ranks]
        if base is None or not others or part.net("in") in (part.net("out"), part.net("com")):
            return False
        return base > max(others) + 0.5

    def _plus_above(self, part: Part) -> bool:
        """The inverting input is above, where feedback leads around; below where the other is held."""
        if (
            part.net("p") in self.signs
        ):  # both at supplies: the higher one above, so that their marks do not meet
            return part.net("n") in self.signs and self.signs[part.net("p")] > self.signs[part.net("n")]
        if part.net("n") == part.net("out") or part.net("n") in self.signs:
            return True
        fed = [
            at for at, _ in self.at.get(part.net("n"), ())
            if self.parts[at].kind in "rcld" and part.net("out") in self.parts[at].nets
        ]  # fmt: skip
        if fed:
            return False
        p, n = self.ranks.get(part.net("p"), 0), self.ranks.get(part.net("n"), 0)
        return p <= n

    def _amp_sides(self, part: Part) -> Sides:
        rest = [pin for pin in part.pins if pin.role not in ("p", "n", "out")]
        top = [pin.role for pin in rest if self.signs.get(pin.net) == 1]
        bottom = [pin.role for pin in rest if self.signs.get(pin.net, 1) < 1]
        for pin in rest:
            if pin.role not in top and pin.role not in bottom:
                high = self.heights.get(pin.net, 0) > 0 or len(top) < len(bottom)
                (top if high else bottom).append(pin.role)
        return Sides(top=tuple(top), bottom=tuple(bottom))

    def _box_sides(self, part: Part) -> Sides:
        left: list[str] = []
        right: list[str] = []
        top: list[str] = []
        bottom: list[str] = []
        free = []
        for pin in part.pins:
            sign = self.signs.get(pin.net)
            if sign == 1:
                top.append(pin.role)
            elif sign == -1 or (sign == 0 and not _INWARD.fullmatch(pin.role)):
                bottom.append(pin.role)
            elif _OUTWARD.fullmatch(pin.role) and not pin.role.isdigit():
                right.append(pin.role)
            elif _INWARD.fullmatch(pin.role) and not pin.role.isdigit():
                left.append(pin.role)
            else:
                free.append(pin)
        free.sort(key=lambda pin: (self.ranks.get(pin.net, 0), pin.terminal))
        total = len(free) + len(left) + len(right)
        while free:
            if len(left) < (total + 1) // 2:
                left.append(free.pop(0).role)
            else:
                right.append(free.pop(0).role)
        return Sides(tuple(left), tuple(right), tuple(top), tuple(bottom))


def _number_in(role: str) -> str:
    return "".join(filter(str.isdigit, role))


def _steps(starts: Iterable[str], edges: Mapping[str, list[str]]) -> dict[str, int]:
    """Of each net that is reached, how many steps away it is."""
    found = dict.fromkeys(starts, 0)
    waiting = deque(found)
    while waiting:
        net = waiting.popleft()
        for other in edges.get(net, ()):
            if other not in found:
                found[other] = found[net] + 1
                waiting.append(other)
    return found
