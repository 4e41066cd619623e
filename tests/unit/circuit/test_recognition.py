"""Circuits recognised by how they are connected: families, examples, other names and orders."""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path

import pytest

from domain.circuit.dependencies import SourceFile, SourceRefusal, resolve_dependencies
from domain.circuit.netlist import Netlist
from domain.circuit.recognition.recognised import MADE_OF, Recognised
from domain.circuit.recognition.recogniser import recognise
from domain.circuit.recognition.words import FIGURES, KINDS, ROLES, UNNAMED
from domain.design.catalogue import FAMILIES, propose, understand
from infrastructure.llm_adapters.builtin.explain import explained
from presentation.translation import Translator

ROOT = Path(__file__).parents[3]
OWN = {
    "load_switch": {"switch"},
    "monostable": {"monostable_timer"},
    "bidirectional_level_shifter": {"line_level_shifter"},
    "bjt_differential_pair": {"differential_pair", "current_mirror"},
    "led_driver": {"current_sink", "zener_regulator"},
    "first_order": {"rc_low_pass"},
    "sallen_key": {"sallen_key_low_pass"},
    "wide_band_pass": {"sallen_key_high_pass", "sallen_key_low_pass"},
    "buck": {"buck_converter"},
    "boost": {"boost_converter"},
    "buck_boost": {"buck_boost_converter"},
    **{key: {f"{key}_converter"} for key in ("sepic", "cuk", "flyback", "forward")},
    "lc_ladder": {"lc_ladder_low_pass"},
    "matching_network": {"lc_ladder_low_pass"},  # by its response it is one
    "transimpedance_amplifier": {"transimpedance"},
    "timer_555": {"astable_timer"},
    "band_pass": {"multiple_feedback_band_pass"},
    "multiple_feedback": {"multiple_feedback_low_pass"},
    "ldo_regulator": {"low_dropout_regulator", "differential_pair", "current_mirror"},
    "lc_band_ladder": {"lc_ladder_band_pass"},
    "rectifier": {"bridge_rectifier"},
    "state_variable": {"state_variable_filter"},
    "notch": {"twin_t_notch", "voltage_follower"},
    "active_load_stage": {"common_source", "diode_connected"},
    "non_inverting_schmitt": {"schmitt_trigger"},
    "mos_cascode": {"cascode"},
    "two_stage_opamp": {"differential_pair", "current_mirror", "common_source"},
    "mos_inverter": {"cmos_inverter"},
    "class_ab_stage": {"push_pull", "diode_connected"},
    "class_a_stage": {"emitter_follower", "current_mirror"},
    "cmos_gate": {"nand_gate"},
    "mos_current_mirror": {"cascode_mirror"},
}
"""Of families whose stage has another name than they."""
EXAMPLES = {
    "bandgap-reference/bandgap.cir": {"bandgap_reference"},
    "buck-converter/buck.cir": {"buck_converter"},
    "loaded-follower/follower.cir": {"voltage_follower"},
    "miller-opamp/opamp.cir": {"differential_pair", "current_mirror", "common_source"},
    "sallen-key-filter/filter.cir": {"sallen_key_low_pass"},
    "wien-oscillator/oscillator.cir": {"wien_oscillator"},
}


class _Reader:
    def read(self, reference: str, *, including_file: Path) -> SourceFile | SourceRefusal:
        for folder in (including_file.parent, ROOT / "resources" / "spice_models"):
            if (folder / reference).is_file():
                return SourceFile(path=folder / reference, data=(folder / reference).read_bytes())
        return SourceRefusal(path=Path(reference), reason="missing")

    def find(self, name: str) -> Path | None:
        return None


def recognised(text: str, path: Path = ROOT / "x.cir") -> Recognised:
    return recognise(resolve_dependencies(Netlist.parse(text.encode(), path=path), _Reader()))


def kinds(found: Recognised) -> set[str]:
    return {stage.kind for stage in found.stages}


def figures_of(found: Recognised) -> list[tuple[str, float]]:
    told = [figure for stage in found.stages for figure in stage.figures]
    return sorted((each.name.rstrip("0123456789"), round(each.value, 9)) for each in told)


def deck(family: str) -> str:
    return propose(understand(FAMILIES[family].examples["en"]), str).netlist


def disguised(text: str, seed: int) -> str:
    """The same circuit with other names of elements and nodes and its lines in another order."""
    draw = random.Random(seed)
    names: dict[str, str] = {"0": "0"}
    head, *lines = text.splitlines()
    depth, top, rest = 0, [], []
    for line in lines:
        word = line.split()[0].lower() if line.split() else ""
        depth += word == ".subckt"
        (top if depth == 0 and word[:1].isalpha() else rest).append(line)
        depth -= word == ".ends"
    parsed = Netlist.parse(
        "\n".join(["t", *top, *[x for x in rest if x.lower().startswith(".model")]]).encode()
    )
    shown = []
    for number, element in enumerate(parsed.elements):
        fields = [field.text for field in element.statement.fields]
        for node in {f.text for f in (*element.nodes, *element.control_nodes)}:
            names.setdefault(node, f"k{draw.randrange(10**9)}")
        count = len(element.nodes) + len(element.control_nodes)
        renamed = [names[each] for each in fields[1 : 1 + count]]
        body = " ".join(fields[1 + count :])
        shown.append(f"{fields[0][0]}{seed}{number} {' '.join(renamed)} {body}")
    draw.shuffle(shown)
    return "\n".join(
        [head, *shown, *[x for x in rest if not re.match(r"(?i)\.(ic|nodeset|end)\b", x)], ".end\n"]
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_s_own_circuit_is_recognised_also_disguised(family: str) -> None:
    wanted = OWN.get(family, {family})
    text = deck(family)
    plain = recognised(text)
    assert wanted <= kinds(plain), plain.lines()
    assert plain.unrecognised == ()
    for say in (str, Translator("zh")):
        told = explained("x.cir", [MADE_OF, *(f"  {line}" for line in plain.lines())], say)
        assert 2 < told.count("\n") < 15
        assert not re.search(r"[a-z]_[a-z]", told), told
    for seed in (1, 2):
        other = recognised(disguised(text, seed))
        assert sorted(stage.kind for stage in other.stages) == sorted(stage.kind for stage in plain.stages)
        assert figures_of(other) == figures_of(plain)


@pytest.mark.parametrize(("place", "wanted"), EXAMPLES.items())
def test_the_examples_are_recognised(place: str, wanted: set[str]) -> None:
    path = ROOT / "resources" / "examples" / place
    assert wanted <= kinds(recognised(path.read_text("utf-8"), path))


def test_what_follows_is_told_with_its_formula() -> None:
    stage = recognised(deck("inverting_amplifier")).stages[0]
    gain = stage.figures[0]
    assert (gain.name, gain.value, gain.formula) == ("gain", pytest.approx(-10), "-RF/RI")
    assert stage.elements["feedback"] == ("R2",)


def test_both_biquads_have_the_center_and_q_that_were_asked_for() -> None:
    for sentence in ("KHN filter 1 kHz, Q 10, low-pass output", "Tow-Thomas band-pass 1 kHz, Q 10"):
        stage = recognised(propose(understand(sentence), str).netlist).stages[0]
        told = {figure.name: figure.value for figure in stage.figures}
        assert (stage.kind, told["center"], told["q"]) == (
            "state_variable_filter", pytest.approx(1000, rel=0.02), pytest.approx(10, rel=0.05),
        )  # fmt: skip


def test_a_band_stop_ladder_is_read_at_its_load_not_in_a_trap() -> None:
    text = propose(understand("LC band-stop filter, 3rd order, 10 MHz, bandwidth 1 MHz, 50 ohm"), str).netlist
    (stage,) = recognised(text).stages
    assert (stage.kind, stage.nodes["out"]) == ("lc_notch", "out")
    assert stage.figures[0].value == pytest.approx(1e7, rel=0.02)


def test_supplies_inputs_outputs_feedback_and_loads() -> None:
    path = ROOT / "resources" / "examples" / "miller-opamp" / "opamp.cir"
    found = recognised(path.read_text("utf-8"), path)
    assert found.supplies == {"vdd": 1.8}
    assert found.inputs == {"in": "VIN"}
    assert found.outputs == ("out",)
    assert found.roles["cm"] == "bias"
    assert found.loads == ("CL",)
    assert ("CC", "RZ") in {each.elements for each in found.feedback if each.sign == "negative"}
    pair = next(stage for stage in found.stages if stage.kind == "differential_pair")
    assert pair.elements["tail"] == ("M5",)
    assert pair.nodes["load"] == "M3"


def test_all_that_can_be_told_has_words() -> None:
    """Kinds, roles and figures as they stand in the sources of the recogniser."""
    kinds_told: set[str] = set()
    figures: set[str] = set()
    for path in (ROOT / "domain/circuit/recognition").glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                name = getattr(call.func, "attr", getattr(call.func, "id", ""))
                {"add": kinds_told, "Figure": figures}.get(name, set()).add(str(call.args[0].value))
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add" and len(call.args) > 1:
                keys = call.args[1].keys if isinstance(call.args[1], ast.Dict) else []
                roles = {str(key.value) for key in keys if isinstance(key, ast.Constant)}
                assert roles <= {*ROLES, *UNNAMED}, path
    assert len(kinds_told) > 30
    assert kinds_told <= {*KINDS}
    assert figures <= {*FIGURES}


OTHERS = [
    ("V1 p 0 12\nVG g 0 PULSE(0 1 0 1n 1n 1u 3u)\nS1 p s g 0 sw\nD1 0 s d\nL1 s o 10u\nC1 o 0 10u\nRL o 0 5\n"
     "RS s x 10\nCS x 0 1n\n.model sw sw\n.model d d", "rc_snubber"),
    ("V1 p 0 12\nVG g 0 PULSE(0 5 0 1n 1n 1m 3m)\nRG g b 330\nRP b 0 1k\nM1 o b 0 0 n\nL1 p x 1\nR1 x o 400\n"
     "D1 o z d\nD2 p z d\n.model n nmos\n.model d d", "switch"),
    ("V1 p 0 12\nR1 p a 10k\nQ1 a b 0 n\nQ2 b b 0 n\nQ3 o a b n\nRL p o 1k\n.model n npn", "wilson_mirror"),
    ("V1 p 0 12\nR1 p a 10k\nQ1 a a 0 n\nQ2 o a e n\nRE e 0 1k\nRL p o 1k\n.model n npn", "widlar_source"),
    ("V1 p 0 9\nR1 p b 1.5k\nD1 b 0 d\nQ1 o b e n\nRE e 0 220\nRL p o 100\n.model n npn\n.model d d",
     "current_source"),
    ("V1 p 0 12\nR1 p b 10k\nQ1 o b s n\nQ2 b s 0 n\nRS s 0 22\nRL p o 100\n.model n npn", "current_sink"),
    ("V1 p 0 12\nVR r 0 0.2\nX1 r s g amp\nM1 o g s s nn\nRS s 0 10\nRL p o 100\n.subckt amp p n q\n"
     "E1 q 0 p n 1e5\n.ends\n.model nn nmos", "current_sink"),
    ("V1 a 0 9\nD1 a m d\nD2 m b d\nR1 b 0 330\n.model d d\n.dc V1 0 9 0.1", "diode_string"),
    ("V1 p 0 5\nVI i 0 PULSE(0 5 0 1n 1n 1u 2u)\nM1 o i p p pp\nM2 o i 0 0 nn\nCL o 0 1p\n"
     ".model pp pmos\n.model nn nmos",
     "cmos_inverter"),
    ("V1 p 0 5\nVI i 0 PULSE(0 5 0 1n 1n 1u 2u)\nVJ j 0 0\nM1 o i a p pp\nM2 a j p p pp\nM3 o i 0 0 nn\n"
     "M4 o j 0 0 nn\n.model pp pmos\n.model nn nmos",
     "nor_gate"),
    ("V1 p 0 12\nV2 m 0 -12\nVI i 0 SIN(0 1 1k)\nQ1 p i o n\nQ2 m i o q\nRL o 0 8\n.model n npn\n"
     ".model q pnp", "push_pull"),
    ("VI i 0 SIN(0 10 50)\nD1 i o d\nC1 o 0 100u\nRL o 0 1k\n.model d d", "half_wave_rectifier"),
    ("VI a b SIN(0 10 50)\nD1 a o d\nD2 b o d\nD3 0 a d\nD4 0 b d\nC1 o 0 100u\nRL o 0 1k\n"
     ".model d d", "bridge_rectifier"),
    ("VI i 0 AC 1\nV1 p 0 10\nI1 t 0 1m\nQ1 c i t n\nQ2 d 0 t n\nR1 p c 5k\nR2 p d 5k\n"
     ".model n npn", "differential_pair"),
    ("V1 p 0 9\nL1 p c 10u\nC1 c e 100p\nC2 e 0 1n\nC3 c 0 1p\nR1 p b 10k\nR2 b 0 10k\nCB b 0 10n\n"
     "Q1 c b e n\nRE e 0 1k\n"
     ".model n npn", "colpitts_oscillator"),
]  # fmt: skip


@pytest.mark.parametrize(("cards", "wanted"), OTHERS)
def test_other_circuits(cards: str, wanted: str) -> None:
    found = recognised(f"t\n{cards}\n.end\n")
    assert wanted in kinds(found), found.lines()


NEVER = [  # circuit, what it must not be taken for
    ("V1 p 0 5\nVI i 0 AC 1\nC1 i b 3u\nQ1 c b 0 n\nRB c b 220k\nRC p c 1k5\nR1 c d 220\nC2 d o 1u\n"
     "RL o 0 1meg\nCL o 0 300p\n.print ac v(o)\n.model n npn", "emitter_follower"),
    ("V1 p 0 12\nVI i 0 AC 1\nR1 i b 2k\nR2 b e 5k\nR6 e 0 100\nR5 f e 910\nR3 p c 20k\nQ1 c b 0 n\n"
     "Q2 p c f n\n.model n npn", "differential_pair"),
    ("V1 p 0 5\nVI i 0 AC 1\nC1 i x 1n\nC2 x b 1n\nR6 x e 5k\nR1 p b 20k\nR2 b 0 22k\nQ1 p b e n\n"
     "R4 e 0 1k\n.model n npn", "common_base"),
    ("VI i 0 SIN(0 3 1k)\nR1 i m 5k\nD1 m 0 d\nD2 0 m d\nX1 0 m o amp\nR2 m o 10k\n.subckt amp p n q\n"
     "E1 q 0 p n 1e5\n.ends\n.model d d(bv=30)", "zener_regulator"),
    ("V1 p 0 12\nVI i 0 AC 1\nI1 p x 1m\nQ1 x i 0 n\nD1 x y d\nR8 y 0 150\nQ5 o x e n\nR9 e 0 150\n"
     "RL p o 1k\n.model n npn\n.model d d", "half_wave_rectifier"),
    ("V1 p 0 5\nVI i 0 SIN(0 5 1k)\nR6 i a 25k\nQ4 c a e n\nQ5 o c e n\nR9 e 0 20\nR7 p c 1k\nR8 p o 1k\n"
     ".model n npn", "differential_pair"),
    ("VA a 0 SIN(0 1 1meg)\nVB b 0 SIN(0 1 1k)\nB1 o 0 V=10*V(a)*V(b)\nR1 o 0 1k", "comparator"),
    ("V1 p 0 10\nRG g 0 1meg\nJ1 d g s j\nRD p d 2k\nRS s 0 680\nL1 d x 10m\nCX x g 1p\nC1 g 0 40p\n"
     "C2 d 0 40p\n.model j njf", "current_source"),
    ("V1 p 0 5\nVI i 0 0\nXN i b o p nor\n.subckt nor a b o v\nM1 m a v v pp\nM2 o b m v pp\n"
     "M3 o a 0 0 nn\nM4 o b 0 0 nn\n.ends\nVB b 0 PULSE(0 5 0 1n 1n 1u 2u)\n.model pp pmos\n.model nn nmos",
     "comparator"),
    ("V1 a 0 5\nR1 a 0 1k", "decoupling"),
    ("V1 a 0 5\nD1 a b d\nR1 b 0 330\n.model d d\n.dc V1 0 5 0.1", "half_wave_rectifier"),
    ("VI i 0 SIN(0 3 1k)\nR1 i m 5k\nD1 m 0 d\nD2 0 m d\nC1 m o 2n\nR2 o 0 10k\n.model d d",
     "voltage_doubler"),
]  # fmt: skip


@pytest.mark.parametrize(("cards", "wrong"), NEVER)
def test_what_it_is_not_is_not_claimed(cards: str, wrong: str) -> None:
    assert wrong not in kinds(recognised(f"t\n{cards}\n.end\n"))


def test_what_is_not_known_stays_unknown() -> None:
    found = recognised("t\nV1 a 0 1\nE1 b 0 a 0 2\nG1 c 0 b 0 1m\nR1 c 0 1k\n.end\n")
    assert {"E1", "G1"} <= set(found.unrecognised)
    assert recognised("t\n.end\n").stages == ()
    ring = "t\nV1 p 0 5\nQ1 p b e n\nR1 b x 1k\nR2 x y 1k\nR3 y b 1k\nRE e 0 1k\n.model n npn\n.end\n"
    assert "Q1" not in recognised(ring).unrecognised
