"""LTspice's special functions (A lines) and its smooth switches, built of what ngspice 39 has.

Sources: the LTspice help ("A. Special Functions", "S. Voltage Controlled Switch") and the pages of LTwiki on
the undocumented ones. Gates and flip-flops are XSPICE's, between bridges: they switch at a time step that
ngspice takes anyway (LTspice shortens steps for `tripdt`), and an edge of no length takes 1 ns. The
transconductor and the switches are behavioural sources, right in every analysis; their noise is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from domain.circuit.numbers import read_number
from shared.late_patterns import late_pattern

_SETTING = late_pattern(r"(?P<key>\w+)\s*+=\s*+(?P<value>\{[^}]*\}|\"[^\"]*\"|[^\s,()]+(?P<call>\()?)")
_EDGE, _AT_ONCE = "1n", "1p"
"""Seconds: an edge without a length of its own, and the shortest delay XSPICE has."""
_SOON = "1n"
"""Seconds: flip-flops follow their inputs from half of it on in a transient analysis."""
_HELD = "1.5n"
"""Seconds for which a latch's reset lasts longer: a set that ends together with it may come through a gate,
which has no delay in LTspice and an edge here."""
_UNLIMITED = 1e30
"""Volts and amperes from which on a limit is none."""
_KNEE = 0.01
"""Volts in which the transconductor's current fades at its output's limits."""
_GATES = {"buf": "d_or", "inv": "d_or", "and": "d_and", "or": "d_or", "xor": "d_xor"}
_SCHMITTS = frozenset({"schmitt", "schmtbuf", "schmtinv", "diffschmitt", "diffschmtbuf", "diffschmtinv"})
_FLIP_FLOPS = frozenset({"dflop", "srflop", "phasedet"})
FUNCTIONS = frozenset(_GATES) | _SCHMITTS | _FLIP_FLOPS | {
    "ota", "varistor", "modulate", "modulator", "samplehold"
}  # fmt: skip
"""Those that can be built, lower case."""
_STRAIGHT = frozenset({"ron", "roff", "vfwd", "vrev", "rrev", "ilimit", "revilimit", "epsilon", "revepsilon"})
"""What makes a diode of LTspice's one of straight lines (LTspice help, "D. Diode")."""
_CORNER = 2e-4
"""Volts over which the straight lines of such a diode pass into each other, unless the model says it."""
_SWITCH_WORDS = frozenset({"ilimit", "vser", "level", "oneway", "epsilon", "lser", "noiseless"})


class NotBuilt(ValueError):
    """The line uses what cannot be built; its text names that."""


def settings_of(text: str) -> tuple[dict[str, str], frozenset[str]]:
    """``name=value`` pairs and single words of a line's rest, lower case but for the values.

    Raises NotBuilt for a value that is a call (``g=table(...)``).
    """
    found: dict[str, str] = {}
    for match in _SETTING.finditer(text):
        if match["call"] and match["key"].lower() not in ("en", "in", "enk", "ink"):
            raise NotBuilt(f"{match['key']}={match['value']}...)")
        found[match["key"].lower()] = match["value"].strip('"')
    flags = re.findall(r"[a-z]\w*", _SETTING.sub(" ", text).lower())
    return found, frozenset(flags)


def number_text(value: str) -> str:
    """A value as ngspice reads it in braces: a number without its unit, or an expression."""
    number = read_number(value)
    if number is not None and not value.startswith("{"):
        return f"{number.value:.12g}"
    return f"({value.strip('{}')})"


def _number(value: str | None) -> float | None:
    number = None if value is None else read_number(value)
    return None if number is None else number.value


def special_function(name: str, pins: Sequence[str], kind: str, rest: str) -> list[str]:
    """Elements and models in place of ``name pins kind rest``; `pins` are the eight nodes.

    Raises NotBuilt for another function, or a setting that cannot be kept.
    """
    settings, flags = settings_of(rest)
    kind = kind.lower()
    if kind not in FUNCTIONS or any("{" in pin for pin in pins):
        raise NotBuilt(kind.upper())
    parts = _Parts(name, pins, settings, flags)
    if kind == "ota":
        parts.transconductor()
    elif kind == "varistor":
        parts.varistor()
    elif kind in ("modulate", "modulator"):
        parts.modulator()
    elif kind == "samplehold":
        parts.sample_and_hold()
    else:
        parts.digital(kind)
    return parts.lines


class _Parts:
    """One special function taken apart."""

    def __init__(
        self, name: str, pins: Sequence[str], settings: Mapping[str, str], flags: frozenset[str]
    ) -> None:
        self.lines: list[str] = []
        self._name = name
        self._pins = pins
        self._common = pins[7]
        self._settings = settings
        self._flags = flags

    def _get(self, key: str, default: str) -> str:
        return number_text(self._settings.get(key, default))

    def _is_used(self, pin: int) -> bool:
        """Whether terminal `pin` (from 1) is connected: an unused one lies at the common."""
        return self._pins[pin - 1].lower() != self._common.lower()

    def _node(self, what: str) -> str:
        return f"{self._name}#{what}"

    def _seen(self, first: int, second: int | None = None) -> str:
        other = self._common if second is None else self._pins[second - 1]
        return f"v({self._pins[first - 1]},{other})"

    # ---- analog ----------------------------------------------------------------------------------

    def transconductor(self) -> None:
        """I = Iout tanh(G u / Iout), u = (V(2,1) + ref) [V(3,4)], fading beyond Vhigh and Vlow."""
        name, out, common = self._name, self._pins[6], self._common
        if not self._is_used(7):
            return  # a mere noise source: nothing comes out of it
        seen = f"({self._seen(2, 1)}+{self._get('ref', '0')})"
        if self._is_used(3) or self._is_used(4):
            seen += f"*{self._seen(3, 4)}"
        wanted = f"({self._get('g', '1')})*{seen}"
        source = self._settings.get("isource", self._settings.get("isrc", self._settings.get("iout", "10u")))
        sink = self._settings.get("isink")
        most, least = number_text(source), number_text(sink) if sink else f"(-{number_text(source)})"
        if "linear" in self._flags or (_number(source) or 0) >= _UNLIMITED:
            current = wanted
        elif sink is None:
            current = f"{most}*tanh({wanted}/{most})"
        else:
            # (each half has slope G at 0; one that is 0 gives nothing)
            up = f"max({most},1e-15)"
            down = f"max(-{least},1e-15)"
            current = f"({wanted}>0?{up}*tanh({wanted}/{up}):{down}*tanh({wanted}/{down}))"
        at = f"v({out},{common})"
        factors = []
        high, low = self._settings.get("vhigh", "2"), self._settings.get("vlow", "0")
        if abs(_number(high) or 0) < _UNLIMITED:
            factors.append(("max", f"0.5*(1-tanh(({at}-{number_text(high)})/{2 * _KNEE}))"))
        if abs(_number(low) or 0) < _UNLIMITED:
            factors.append(("min", f"0.5*(1+tanh(({at}-{number_text(low)})/{2 * _KNEE}))"))
        if factors:
            self.lines.append(f"b_{name}_i {self._node('i')} 0 v={current}")
            self.lines.append(f"r_{name}_i {self._node('i')} 0 1")
            own = f"v({self._node('i')})"
            current = "+".join(f"{part}({own},0)*{factor}" for part, factor in factors)
            if len(factors) == 1:
                current += f"+{'min' if factors[0][0] == 'max' else 'max'}({own},0)"
        self.lines.append(f"b_{name} {common} {out} i={current}")
        self._load("rout", None)

    def varistor(self) -> None:
        """Clamps V(7,8) at plus and minus V(1,2)."""
        name, out, common = self._name, self._pins[6], self._common
        clamp, at = f"abs({self._seen(1, 2)})", f"v({out},{common})"
        on = self._get("rclamp", "1")
        self.lines.append(
            f"b_{name} {out} {common} i={at}*1e-12+max({at}-{clamp},0)/{on}+min({at}+{clamp},0)/{on}"
        )

    def modulator(self) -> None:
        """V(2) sin(2 pi integral of space + (mark - space) V(1))."""
        name = self._name
        mark, space = self._get("mark", "1"), self._get("space", "0")
        control, wave = self._node("f"), self._node("sine")
        self.lines.append(f"b_{name}_f {control} 0 v={self._seen(1)}")
        self.lines.append(f"a_{name}_sine {control} {wave} m_{name}_sine")
        self.lines.append(
            f".model m_{name}_sine sine(cntl_array=[0 1] freq_array=[{{{space}}} {{{mark}}}] "
            "out_low=-1 out_high=1)"
        )
        amplitude = f"{self._seen(2)}*" if self._is_used(2) else ""
        self._drive(7, f"{amplitude}v({wave})", "1")

    def sample_and_hold(self) -> None:
        """Follows V(1,2) while 4 is high; at an edge of 3 it takes one value."""
        name = self._name
        level = self._get("ref", "0.5")
        value, held = self._node("in"), self._node("held")
        self.lines.append(f"b_{name}_in {value} 0 v={self._seen(1, 2)}")
        for number, (pin, above) in enumerate(((4, True), (3, False))):
            if not self._is_used(pin):
                continue
            on = self._node(f"on{number}")
            if above:
                self._gated(f"{number}", value, held, f"{self._seen(pin)}-({level})", on)
            else:  # one capacitor follows while the clock is low, the other while it is high
                first, copy = self._node("first"), self._node("copy")
                self._gated("a", value, first, f"({level})-{self._seen(pin)}", f"{on}a")
                self.lines.append(f"c_{name}_first {first} 0 1n")
                self.lines.append(f"e_{name}_copy {copy} 0 {first} 0 1")
                self._gated("b", copy, held, f"{self._seen(pin)}-({level})", f"{on}b")
        self.lines.append(f"c_{name}_held {held} 0 1n")
        high, low = self._settings.get("vhigh", "10"), self._settings.get("vlow", "-10")
        self._drive(7, f"limit(v({held}),{number_text(low)},{number_text(high)})", "1k")

    def _gated(self, what: str, first: str, second: str, control: str, node: str) -> None:
        name = self._name
        self.lines.append(f"b_{name}_{what} {node} 0 v={control}")
        self.lines.append(f"s_{name}_{what} {first} {second} {node} 0 m_{name}_{what}")
        self.lines.append(f".model m_{name}_{what} sw(vt=0 vh=0 ron=1 roff=1e15)")

    def _drive(self, pin: int, expression: str, rout: str) -> None:
        """An output behind its resistance."""
        if not self._is_used(pin):
            return
        name, inner = f"{self._name}_{pin}", self._node(f"out{pin}")
        self.lines.append(f"b_{name} {inner} {self._common} v={expression}")
        self.lines.append(f"r_{name} {inner} {self._pins[pin - 1]} {{{self._get('rout', rout)}}}")
        if (_number(self._settings.get("cout")) or 1) != 0 and "cout" in self._settings:
            self.lines.append(f"c_{name} {self._pins[pin - 1]} {self._common} {{{self._get('cout', '0')}}}")

    def _load(self, key: str, default: str | None) -> None:
        """Rout and Cout across the output, as far as they are given."""
        name, out = self._name, self._pins[6]
        if (value := self._settings.get(key, default)) is not None:
            self.lines.append(f"r_{name}_out {out} {self._common} {{{number_text(value)}}}")
        if (value := self._settings.get("cout")) is not None and _number(value) != 0:
            self.lines.append(f"c_{name}_out {out} {self._common} {{{number_text(value)}}}")

    # ---- digital ---------------------------------------------------------------------------------

    def digital(self, kind: str) -> None:
        """Gates, Schmitt triggers, flip-flops and the phase detector: bridge, XSPICE device, bridge."""
        inputs = {pin: self._node(f"d{pin}") for pin in range(1, 6) if self._is_used(pin)}
        wanted = {6: self._is_used(6), 7: self._is_used(7) or kind == "phasedet"}
        name = self._name
        output = {pin: self._node(f"q{pin}") for pin in (6, 7)}
        delay = self._settings.get("td")
        slow = f"{{max({number_text(delay)},{_AT_ONCE})}}" if delay else _AT_ONCE
        if kind in _SCHMITTS:
            self._trigger(kind, output, slow)
        else:
            self._bridges_in(inputs)
            if kind in _GATES:
                self._gate(kind, inputs, output, slow)
            elif kind == "dflop":
                data, clock, preset, clear = (inputs.get(pin) for pin in (1, 3, 4, 5))
                if data is None or clock is None:
                    raise NotBuilt("DFLOP")
                self.lines.append(
                    f"a_{name}_f {data} {clock} {preset or 'NULL'} {clear or 'NULL'} "
                    f"{output[7]} {output[6]} m_{name}_f"
                )
                self.lines.append(
                    f".model m_{name}_f d_dff(clk_delay={slow} set_delay={slow} reset_delay={slow} "
                    f"ic={self._first_state()} rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})"
                )
            elif kind == "srflop":
                self._latch(inputs, output, slow)
            else:
                self._phase_detector(inputs, output)
                return
        self._bridges_out({pin: output[pin] for pin in (6, 7) if wanted[pin]})

    def _threshold(self) -> str:
        low, high = self._get("vlow", "0"), self._get("vhigh", "1")
        return number_text(self._settings["ref"]) if "ref" in self._settings else f"({low}+{high})/2"

    def _bridges_in(self, inputs: Mapping[int, str]) -> None:
        name, common = self._name, self._common
        analog = {}
        for pin in inputs:
            analog[pin] = self._pins[pin - 1]
            if common != "0":
                analog[pin] = self._node(f"in{pin}")
                self.lines.append(f"e_{name}_{pin} {analog[pin]} 0 {self._pins[pin - 1]} {common} 1")
        if not inputs:
            raise NotBuilt("0")
        self.lines.append(
            f"a_{name}_in [{' '.join(analog.values())}] [{' '.join(inputs.values())}] m_{name}_in"
        )
        at = self._threshold()
        self.lines.append(
            f".model m_{name}_in adc_bridge(in_low={{{at}}} in_high={{{at}}} "
            f"rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})"
        )

    def _gate(self, kind: str, inputs: Mapping[int, str], output: Mapping[int, str], slow: str) -> None:
        name = self._name
        used = list(inputs.values())
        if len(used) == 1:
            self.lines.append(f"a_{name}_g {used[0]} {output[7]} m_{name}_g")
            self.lines.append(f".model m_{name}_g d_buffer(rise_delay={slow} fall_delay={slow})")
        else:
            self.lines.append(f"a_{name}_g [{' '.join(used)}] {output[7]} m_{name}_g")
            self.lines.append(f".model m_{name}_g {_GATES[kind]}(rise_delay={slow} fall_delay={slow})")
        self._inverted(output)

    def _inverted(self, output: Mapping[int, str]) -> None:
        name = self._name
        self.lines.append(f"a_{name}_n {output[7]} {output[6]} m_{name}_n")
        self.lines.append(f".model m_{name}_n d_inverter(rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})")

    def _trigger(self, kind: str, output: Mapping[int, str], slow: str) -> None:
        """A switch with hysteresis, whose threshold ngspice meets with shorter time steps."""
        name, state, seen = self._name, self._node("s"), self._node("d")
        self.lines.append(f"v_{name}_s {state}v 0 1")
        second = self._pins[1] if kind.startswith("diff") or self._is_used(2) else self._common
        self.lines.append(f"s_{name} {state}v {state} {self._pins[0]} {second} m_{name}_s")
        self.lines.append(f"r_{name}_s {state} 0 1k")
        at = number_text(self._settings["vt"]) if "vt" in self._settings else self._threshold()
        self.lines.append(f".model m_{name}_s sw(vt={{{at}}} vh={{{self._get('vh', '0')}}} ron=1 roff=1g)")
        self.lines.append(f"a_{name}_in [{state}] [{seen}] m_{name}_in")
        self.lines.append(
            f".model m_{name}_in adc_bridge(in_low=0.5 in_high=0.5 rise_delay={_AT_ONCE} "
            f"fall_delay={_AT_ONCE})"
        )
        self.lines.append(f"a_{name}_g {seen} {output[7]} m_{name}_g")
        self.lines.append(f".model m_{name}_g d_buffer(rise_delay={slow} fall_delay={slow})")
        self._inverted(output)

    def _latch(self, inputs: Mapping[int, str], output: Mapping[int, str], slow: str) -> None:
        """Set, reset; the latter is the stronger."""
        name = self._name
        first, second = inputs.get(1), inputs.get(2)
        if first is None and second is None:
            raise NotBuilt("SRFLOP")
        # An operating point leaves it as it is: one that followed its inputs there would have none in an
        # oscillator, where they follow it.
        alone, one = self._node("set"), self._node("one")
        self.lines.append(f"v_{name}_one {one}v 0 PWL(0 0 {_SOON} 1)")
        self.lines.append(f"a_{name}_one [{one}v] [{one}] m_{name}_one")
        self.lines.append(
            f".model m_{name}_one adc_bridge(in_low=0.5 in_high=0.5 rise_delay={_AT_ONCE} "
            f"fall_delay={_AT_ONCE})"
        )
        if first is None or second is None:  # an input that is not connected never asks for anything
            never = self._node("never")
            self.lines.append(f"a_{name}_never {never} m_{name}_never")
            self.lines.append(f".model m_{name}_never d_pulldown")
            first, second = first or never, second or never
        held = self._node("held")
        self.lines.append(f"a_{name}_h {second} {held} m_{name}_h")
        self.lines.append(f".model m_{name}_h d_buffer(rise_delay={_AT_ONCE} fall_delay={_HELD})")
        second = held
        self.lines.append(f"a_{name}_a [{first} ~{second}] {alone} m_{name}_a")
        self.lines.append(f".model m_{name}_a d_and(rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})")
        self.lines.append(f"a_{name}_f {alone} {second} {one} NULL NULL {output[7]} {output[6]} m_{name}_f")
        self.lines.append(
            f".model m_{name}_f d_srlatch(ic={self._first_state()} sr_delay={slow} enable_delay={_AT_ONCE} "
            f"set_delay={_AT_ONCE} reset_delay={_AT_ONCE} rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})"
        )

    def _first_state(self) -> int:
        """`ic` of a flip-flop: a voltage above the middle of its levels is a one."""
        volts = _number(self._settings.get("ic"))
        levels = [_number(self._get(key, usual)) for key, usual in (("vlow", "0"), ("vhigh", "1"))]
        middle = sum(level or 0.0 for level in levels) / 2
        return int(volts is not None and volts > middle)

    def _phase_detector(self, inputs: Mapping[int, str], output: Mapping[int, str]) -> None:
        """Two flip-flops that clear each other: a current from the edge of 1 to that of 2, or back."""
        name, one, clear = self._name, self._node("one"), self._node("clear")
        if 1 not in inputs or 2 not in inputs:
            raise NotBuilt("PHASEDET")
        self.lines.append(f"a_{name}_one {one} m_{name}_one")
        self.lines.append(f".model m_{name}_one d_pullup")
        for pin, out in ((1, output[7]), (2, output[6])):
            self.lines.append(f"a_{name}_f{pin} {one} {inputs[pin]} NULL {clear} {out} {out}n m_{name}_f")
        self.lines.append(
            f".model m_{name}_f d_dff(clk_delay={_AT_ONCE} set_delay={_AT_ONCE} reset_delay={_AT_ONCE} "
            f"ic=0 rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})"
        )
        self.lines.append(f"a_{name}_c [{output[7]} {output[6]}] {clear} m_{name}_c")
        self.lines.append(f".model m_{name}_c d_and(rise_delay={_AT_ONCE} fall_delay={_AT_ONCE})")
        analog = self._steps_of(output)
        self.lines.append(
            f"b_{name} {self._common} {self._pins[6]} "
            f"i={self._get('iout', '10u')}*(v({analog[7]})-v({analog[6]}))"
        )
        self._load("rout", None)

    def _steps_of(self, output: Mapping[int, str]) -> dict[int, str]:
        """Voltages of 0 and 1 for digital nodes, with the edges asked for."""
        name = self._name
        analog = {pin: self._node(f"a{pin}") for pin in output}
        rise, fall = self._settings.get("trise"), self._settings.get("tfall", self._settings.get("trise"))
        edges = [
            f"{{max({number_text(text)},{_AT_ONCE})}}" if text and _number(text) != 0 else _EDGE
            for text in (rise, fall)
        ]
        self.lines.append(
            f"a_{name}_out [{' '.join(output.values())}] [{' '.join(analog.values())}] m_{name}_out"
        )
        self.lines.append(
            f".model m_{name}_out dac_bridge(out_low=0 out_high=1 out_undef=0.5 t_rise={edges[0]} "
            f"t_fall={edges[1]})"
        )
        return analog

    def _bridges_out(self, output: Mapping[int, str]) -> None:
        if not output:
            self.lines.clear()
            return
        analog = self._steps_of(output)
        low, high = self._get("vlow", "0"), self._get("vhigh", "1")
        for pin, node in analog.items():
            self._drive(pin, f"{low}+({high}-{low})*v({node})", "1")


def smooth_switch(name: str, nodes: Sequence[str], card: str) -> list[str] | None:
    """A switch of LTspice's whose model card (behind its type) has what ngspice's has not, as a source.

    Negative hysteresis is LTspice's smooth transition. None for a switch that ngspice has. Raises NotBuilt.
    """
    settings, flags = settings_of(card.replace("(", " ").replace(")", " "))
    hysteresis = _number(settings.get("vh"))
    is_smooth = hysteresis is not None and hysteresis < 0
    if not is_smooth or not ((settings.keys() | flags) & _SWITCH_WORDS or is_smooth):
        return None

    def get(key: str, default: str) -> str:
        return number_text(settings.get(key, default))

    first, second, plus, minus = nodes
    on, off = get("ron", "1"), get("roff", "1e12")
    x = f"(v({plus},{minus})-{get('vt', '0')})/abs({get('vh', '0')})"
    if _number(settings.get("level")) == 2:
        log = f"log({off}/{on})/3.14159265358979*atan({x})-log({off}*{on})/2"
    else:  # a cubic in the logarithm, flat at both ends
        inside = f"limit({x},-1,1)"
        log = f"log({off}/{on})*(0.75*{inside}-0.25*({inside})**3)-log({off}*{on})/2"
    across = f"v({first},{second})"
    lines: list[str] = []
    if "lser" in settings and _number(settings["lser"]) != 0:
        lines.append(f"l_{name} {first} {name}#l {{{get('lser', '0')}}}")
        first, across = f"{name}#l", f"v({name}#l,{second})"
    ahead = get("vser", "0")
    beyond = f"max({across}-{ahead},0)"
    if "oneway" not in flags:
        beyond = across if "vser" not in settings else f"({beyond}+min({across}+{ahead},0))"
    current = f"exp({log})*{beyond}"
    if "ilimit" in settings:
        most = get("ilimit", "1")
        current = f"{most}*tanh({current}/{most})"
    return [*lines, f"b_{name} {first} {second} i={current}"]


_SHORT = "1m"
"""Ohms of a diode whose `ron` is 0, or so little that it is meant: the solver needs a slope."""
_LEAST = 1e-4
"""Below these ohms the round corner's tail would be milliamperes at volts: with `ron=0.1n` no operating point
is found, or one in which the diode gives power."""


def _not_nothing(ohms: str) -> str:
    """A resistance as it can be divided by."""
    number = _number(ohms)
    return number_text(ohms) if number is None or number >= _LEAST else _SHORT


def straight_diode(name: str, nodes: Sequence[str], card: str) -> list[str] | None:
    """A diode of LTspice's whose model (behind its type) has straight lines instead of a junction, as a
    source: `Roff` to `Vfwd`, `Ron` above, `Rrev` below -`Vrev`. None for a junction. Raises NotBuilt.

    The lines pass into each other over `epsilon` (`revepsilon`), as in LTspice; a corner that is sharp there
    is round over 0.2 mV here, which the solver needs.
    """
    settings, _ = settings_of(card.replace("(", " ").replace(")", " "))
    if not settings.keys() & _STRAIGHT:
        return None

    def get(key: str, default: str) -> str:
        return number_text(settings.get(key, default))

    def beyond(volts: str, corner: str, most: str | None, ohms: str) -> str:
        width = number_text(corner) if _number(corner) != 0 else f"{_CORNER:g}"
        current = f"(1/{ohms}-1/{off})*0.5*(({volts})+sqrt(({volts})**2+({width})**2))"
        return current if most is None else f"{number_text(most)}*tanh(({current})/{number_text(most)})"

    anode, cathode = nodes
    off = get("roff", "1e12")
    on, back = (_not_nothing(settings.get(key, get("ron", "1"))) for key in ("ron", "rrev"))
    across = f"v({anode},{cathode})"
    ahead = beyond(f"{across}-{get('vfwd', '0')}", settings.get("epsilon", "0"), settings.get("ilimit"), on)
    current = f"{across}/{off}+{ahead}"
    if "vrev" in settings:
        behind = beyond(
            f"-{across}-{get('vrev', '0')}",
            settings.get("revepsilon", "0"),
            settings.get("revilimit"),
            back,
        )
        current += f"-({behind})"
    return [f"b_{name} {anode} {cathode} i={current}"]
