"""What is recognised, in words for people: names of stages, what they do, roles of parts, figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.message import Message, msg


class Kind(NamedTuple):
    """A stage's name and what it is for (None where the name says it)."""

    name: Message
    purpose: Message | None = None


KINDS: Mapping[str, Kind] = {
    # transistors
    "common_emitter": Kind(msg("common-emitter stage"), msg("amplifies the voltage and inverts it")),
    "common_source": Kind(msg("common-source stage"), msg("amplifies the voltage and inverts it")),
    "common_base": Kind(
        msg("common-base stage"), msg("amplifies without inverting, with a low input resistance")
    ),
    "common_gate": Kind(
        msg("common-gate stage"), msg("amplifies without inverting, with a low input resistance")
    ),
    "emitter_follower": Kind(msg("emitter follower"), msg("drives what follows, with a gain just below 1")),
    "source_follower": Kind(msg("source follower"), msg("drives what follows, with a gain below 1")),
    "cascode": Kind(
        msg("cascode stage"), msg("amplifies with a high output resistance and little Miller effect")
    ),
    "folded_cascode": Kind(
        msg("folded cascode"), msg("steers the signal current into a branch of the other polarity")
    ),
    "darlington": Kind(msg("Darlington stage"), msg("multiplies the current gains of two transistors")),
    "differential_pair": Kind(
        msg("differential pair"), msg("amplifies the difference of its inputs and rejects what they share")
    ),
    "current_mirror": Kind(msg("current mirror"), msg("copies the reference current")),
    "wilson_mirror": Kind(
        msg("Wilson current mirror"), msg("copies the reference current with a high output resistance")
    ),
    "cascode_mirror": Kind(
        msg("cascode current mirror"), msg("copies the reference current with a high output resistance")
    ),
    "widlar_source": Kind(
        msg("Widlar current source"), msg("derives a small current from a larger reference current")
    ),
    "current_source": Kind(msg("current source"), msg("supplies a bias current")),
    "current_sink": Kind(msg("constant-current sink"), msg("holds the current of its load")),
    "diode_connected": Kind(msg("diode-connected transistor"), msg("sets a bias voltage, or acts as a load")),
    "vbe_multiplier": Kind(msg("VBE multiplier"), msg("sets the bias of the output stage")),
    "push_pull": Kind(
        msg("push-pull output stage"), msg("one half delivers the load current, the other half draws it")
    ),
    "cmos_inverter": Kind(msg("CMOS inverter"), msg("inverts the logic level")),
    "nand_gate": Kind(msg("CMOS NAND gate"), msg("its output is low when all inputs are high")),
    "nor_gate": Kind(msg("CMOS NOR gate"), msg("its output is high when all inputs are low")),
    "level_shifter": Kind(msg("level shifter"), msg("passes a logic level on to another supply")),
    "ring_oscillator": Kind(msg("ring oscillator"), msg("an odd number of inverters in a ring")),
    "switch": Kind(msg("switching transistor")),
    "high_side_switch": Kind(
        msg("high-side switch"), msg("connects the load to the supply and disconnects it")
    ),
    "reverse_protection": Kind(
        msg("reverse-polarity protection"), msg("conducts only with the right polarity of the supply")
    ),
    "line_level_shifter": Kind(
        msg("level shifter for both directions"), msg("passes a low level on from either side")
    ),
    "telescopic_opamp": Kind(
        msg("telescopic cascode"), msg("raises the gain of the pair by the output resistance of cascodes")
    ),
    "two_stage_amplifier": Kind(
        msg("two-stage operational amplifier"), msg("a differential input stage followed by a gain stage")
    ),
    # op-amps
    "voltage_follower": Kind(msg("voltage follower"), msg("drives what follows, with a gain of 1")),
    "inverting_amplifier": Kind(msg("inverting amplifier")),
    "non_inverting_amplifier": Kind(msg("non-inverting amplifier")),
    "summing_amplifier": Kind(msg("summing amplifier"), msg("adds its inputs with a weight each")),
    "difference_amplifier": Kind(msg("difference amplifier"), msg("amplifies the difference of its inputs")),
    "instrumentation_amplifier": Kind(
        msg("instrumentation amplifier"),
        msg("amplifies the difference of its inputs without loading them"),
    ),
    "integrator": Kind(msg("integrator"), msg("its output is the integral of its input")),
    "differentiator": Kind(msg("differentiator"), msg("its output is the derivative of its input")),
    "transimpedance": Kind(msg("transimpedance amplifier"), msg("turns the input current into a voltage")),
    "logarithmic_amplifier": Kind(msg("logarithmic amplifier")),
    "comparator": Kind(msg("comparator"), msg("its output shows which input is higher")),
    "schmitt_trigger": Kind(msg("Schmitt trigger"), msg("compares with hysteresis")),
    "boosted_amplifier": Kind(
        msg("amplifier with a booster transistor"), msg("the transistor delivers the output current")
    ),
    "bandgap_reference": Kind(
        msg("bandgap reference"), msg("generates a nearly temperature-independent voltage")
    ),
    # filters
    "sallen_key_low_pass": Kind(msg("Sallen-Key low-pass filter")),
    "sallen_key_high_pass": Kind(msg("Sallen-Key high-pass filter")),
    "sallen_key_band_pass": Kind(msg("Sallen-Key band-pass filter")),
    "multiple_feedback_low_pass": Kind(msg("multiple-feedback low-pass filter")),
    "multiple_feedback_high_pass": Kind(msg("multiple-feedback high-pass filter")),
    "multiple_feedback_band_pass": Kind(msg("multiple-feedback band-pass filter")),
    "state_variable_filter": Kind(
        msg("state-variable filter"), msg("low-pass and band-pass outputs at once, Q set by one resistor")
    ),
    "twin_t_notch": Kind(msg("twin-T notch filter"), msg("rejects one frequency")),
    "rc_low_pass": Kind(msg("RC low-pass filter")),
    "rc_high_pass": Kind(msg("RC high-pass filter")),
    "rc_band_pass": Kind(msg("RC band-pass filter")),
    "rc_notch": Kind(msg("RC notch filter"), msg("rejects one frequency")),
    "rl_low_pass": Kind(msg("RL low-pass filter")),
    "rl_high_pass": Kind(msg("RL high-pass filter")),
    "rl_band_pass": Kind(msg("RL band-pass filter")),
    "rl_notch": Kind(msg("RL notch filter"), msg("rejects one frequency")),
    "lc_ladder_low_pass": Kind(msg("LC low-pass filter")),
    "lc_ladder_high_pass": Kind(msg("LC high-pass filter")),
    "lc_ladder_band_pass": Kind(msg("LC band-pass filter")),
    "lc_notch": Kind(msg("LC notch filter"), msg("rejects one frequency")),
    "attenuator": Kind(msg("resistive attenuator")),
    "voltage_divider": Kind(msg("voltage divider")),
    "bias_divider": Kind(msg("bias divider"), msg("sets a DC voltage")),
    # oscillators and timers
    "colpitts_oscillator": Kind(msg("Colpitts oscillator")),
    "clapp_oscillator": Kind(msg("Clapp oscillator")),
    "hartley_oscillator": Kind(msg("Hartley oscillator")),
    "pierce_oscillator": Kind(msg("Pierce crystal oscillator")),
    "wien_oscillator": Kind(msg("Wien bridge oscillator")),
    "phase_shift_oscillator": Kind(msg("RC phase-shift oscillator")),
    "relaxation_oscillator": Kind(
        msg("relaxation oscillator"), msg("charges and discharges its capacitor between two thresholds")
    ),
    "pll_loop_filter": Kind(
        msg("loop filter of a PLL"), msg("sets bandwidth and phase margin of the phase-locked loop")
    ),
    "astable_timer": Kind(msg("555 timer, astable"), msg("oscillates by itself")),
    "monostable_timer": Kind(msg("555 timer, monostable"), msg("produces one pulse per trigger")),
    # supplies
    "buck_converter": Kind(msg("buck converter"), msg("steps the voltage down by switching")),
    "boost_converter": Kind(msg("boost converter"), msg("steps the voltage up by switching")),
    "buck_boost_converter": Kind(
        msg("inverting buck-boost converter"), msg("generates a negative voltage by switching")
    ),
    "sepic_converter": Kind(msg("SEPIC converter"), msg("steps the voltage up or down by switching")),
    "cuk_converter": Kind(msg("Cuk converter"), msg("generates a negative voltage by switching")),
    "flyback_converter": Kind(msg("flyback converter"), msg("stores energy in the core and passes it on")),
    "forward_converter": Kind(msg("forward converter"), msg("passes energy on while the switch is on")),
    "charge_pump": Kind(msg("charge pump"), msg("moves charge by a capacitor between switches")),
    "rcd_clamp": Kind(
        msg("RCD clamp"), msg("takes the leakage inductance's energy, holds the switch's voltage")
    ),
    "rc_snubber": Kind(msg("RC snubber"), msg("damps the ringing of a switching node")),
    "diode_string": Kind(msg("diodes with a series resistor"), msg("the resistor sets their current")),
    "half_wave_rectifier": Kind(msg("half-wave rectifier")),
    "full_wave_rectifier": Kind(msg("full-wave rectifier")),
    "bridge_rectifier": Kind(msg("bridge rectifier")),
    "voltage_doubler": Kind(msg("voltage doubler")),
    "voltage_multiplier": Kind(msg("voltage multiplier")),
    "low_dropout_regulator": Kind(
        msg("low-dropout regulator"),
        msg("compares the output with a reference and drives the gate of the pass transistor"),
    ),
    "zener_regulator": Kind(msg("Zener regulator"), msg("holds the output at the Zener voltage")),
    "zener_follower_regulator": Kind(
        msg("Zener regulator with a pass transistor"),
        msg("holds the output a base-emitter voltage below the Zener voltage"),
    ),
    "series_regulator": Kind(
        msg("series regulator"), msg("compares the output with a reference and drives the pass transistor")
    ),
    "adjustable_regulator": Kind(msg("adjustable voltage regulator")),
    "fixed_regulator": Kind(msg("fixed voltage regulator")),
    # small parts
    "coupling": Kind(msg("coupling capacitors")),
    "bypass": Kind(msg("bypass capacitors")),
    "decoupling": Kind(msg("supply decoupling")),
}
"""Every kind of stage the recogniser gives."""

BIASING = frozenset(
    {"current_mirror", "wilson_mirror", "cascode_mirror", "widlar_source", "current_source", "bias_divider"}
    | {"diode_connected"}
)
"""Kinds that serve the others: told behind them."""

UNNAMED = frozenset({"resistors", "capacitors", "inductors", "parts"})
"""Roles whose name says no more than the elements' letters."""

ROLES: Mapping[str, Message] = {
    "active_load": msg("active load"),
    "amplifier": msg("amplifier"),
    "amplifiers": msg("amplifiers"),
    "at_input": msg("at the inverting input"),
    "bias": msg("bias"),
    "branches": msg("branch resistors"),
    "bypass": msg("bypass capacitor"),
    "capacitor": msg("capacitor"),
    "cascodes": msg("cascode transistors"),
    "charging": msg("charging resistors"),
    "coupling": msg("coupling capacitor"),
    "crossed": msg("cross-coupled pair"),
    "crystal": msg("crystal"),
    "damper": msg("damping"),
    "degeneration": msg("degeneration"),
    "difference": msg("difference resistors"),
    "diode": msg("diode"),
    "diodes": msg("diodes"),
    "divider": msg("divider"),
    "driver": msg("driver"),
    "drivers": msg("drivers"),
    "emitter_resistors": msg("emitter resistors"),
    "feedback": msg("feedback"),
    "flying": msg("flying capacitor"),
    "foot": msg("emitter or source resistor"),
    "gain_setting": msg("gain setting"),
    "helper": msg("helper transistor"),
    "holds_base": msg("AC-grounds the base"),
    "inductor": msg("inductor"),
    "inner": msg("inner part"),
    "input": msg("input"),
    "input2": msg("second input"),
    "input_coupling": msg("input coupling"),
    "junctions": msg("junctions"),
    "lines": msg("line capacitance"),
    "load": msg("load"),
    "controlled_oscillator": msg("controlled oscillator"),
    "loop_filter": msg("loop filter"),
    "losses": msg("losses"),
    "phase_detector": msg("phase detector and charge pump"),
    "lower": msg("lower resistor"),
    "mate": msg("mate"),
    "mirror": msg("current mirror"),
    "mirror_cascodes": msg("cascodes of the mirror"),
    "output": msg("output transistor"),
    "output_capacitor": msg("output capacitor"),
    "output_coupling": msg("output coupling"),
    "parallel": msg("in parallel"),
    "pass": msg("pass transistor"),
    "primary": msg("primary winding"),
    "pull_down": msg("pull-down"),
    "pull_up": msg("pull-up"),
    "pull_ups": msg("pull-ups"),
    "pumps": msg("pump capacitors"),
    "rectifier": msg("synchronous rectifier"),
    "reference": msg("reference"),
    "regulator": msg("regulator"),
    "reset": msg("reset winding"),
    "reservoir": msg("reservoir capacitor"),
    "second": msg("second transistor"),
    "secondary": msg("secondary winding"),
    "second_stage": msg("second stage"),
    "compensation": msg("Miller compensation"),
    "sections": msg("RC sections"),
    "sense": msg("sense resistor"),
    "series": msg("series resistor"),
    "series_arm": msg("series arm"),
    "series_resistance": msg("series resistance of the capacitor"),
    "sets_current": msg("sets the current"),
    "shunt": msg("shunt"),
    "shunt_arm": msg("shunt arm"),
    "source_resistance": msg("source resistance"),
    "steadying": msg("control-voltage decoupling capacitor"),
    "switch": msg("switch"),
    "switches": msg("switches"),
    "tail": msg("tail current"),
    "tank": msg("tank"),
    "timer": msg("timer"),
    "to_ground": msg("to ground"),
    "transistor": msg("transistor"),
    "transistors": msg("transistors"),
    "upper": msg("upper resistor"),
    "upper_output": msg("upper output transistor"),
    "upper_reference": msg("upper reference transistor"),
    "winding": msg("winding resistance"),
    "zener": msg("Zener diode"),
    "integrators": msg("integrators"),
    "third": msg("third amplifier"),
    "setting_frequency": msg("sets f0"),
    "setting_q": msg("sets Q"),
    "loop_break": msg("opens the loop for measurement"),
    "low_dropout_regulator.compensation": msg("compensation"),
    "nand_gate.series": msg("in series"),
    "nor_gate.series": msg("in series"),
    "cascode.upper": msg("upper transistor"),
    "folded_cascode.upper": msg("upper transistor"),
}
"""What an element does in its stage; ``kind.role`` where that differs from the other kinds."""

FIGURES: Mapping[str, Message] = {
    "center": msg("center frequency"),
    "collector_current": msg("collector current"),
    "common_mode_gain": msg("common-mode gain"),
    "corner": msg("corner frequency"),
    "duty": msg("duty cycle"),
    "frequency": msg("frequency"),
    "gain": msg("gain"),
    "hysteresis_share": msg("share of the output swing fed back"),
    "input_resistance": msg("input resistance"),
    "lower_corner": msg("lower corner frequency"),
    "order": msg("order"),
    "output_current": msg("output current"),
    "output_voltage": msg("output voltage"),
    "pulse_width": msg("pulse width"),
    "q": msg("quality factor Q"),
    "ratio": msg("ratio"),
    "reference_current": msg("reference current"),
    "reference_factor": msg("output to reference voltage"),
    "transresistance": msg("transresistance"),
    "unity_gain_frequency": msg("unity-gain frequency"),
    "upper_corner": msg("upper corner frequency"),
    "voltage": msg("voltage"),
    "weight": msg("gain of input {number}", number=""),
}
"""What follows from the values; ``weight1`` has its number behind it."""
