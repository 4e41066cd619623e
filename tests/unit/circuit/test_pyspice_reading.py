"""Scripts of PySpice, followed and never run."""

from __future__ import annotations

import pytest

from domain.circuit.exchange.pyspice_reading import NotPySpice, looks_like_pyspice, read_pyspice

HEAD = "from PySpice.Spice.Netlist import Circuit, SubCircuit\nfrom PySpice.Unit import *\n"


def cards(body: str) -> list[str]:
    """The cards between title and `.end`, where nothing was missing."""
    read = read_pyspice(HEAD + body, "x")
    assert not read.missing, [str(each) for each in read.missing]
    return read.text.splitlines()[1:-1]


def test_elements_units_and_analyses() -> None:
    assert cards(
        "c = Circuit('bridge')\n"
        "c.V('in', 'in', c.gnd, 10@u_V)\n"
        "c.R(1, 'in', 1, 9@u_kΩ)\n"
        "c.R(2, 1, c.gnd, raw_spice='1k tc1=0.001')\n"
        "c.C('x', 1, 0, u_nF(4.7), initial_condition=1@u_V)\n"
        "c.L(1, 1, 2, 3 * 100@u_uH)\n"
        "c.D(1, 2, c.gnd, model='d1')\n"
        "c.BJT(1, 'in', 2, 0, model='q1', area=2)\n"
        "c.MOSFET(1, 'in', 2, 0, 0, model='m1', length=1@u_um, width=10e-6)\n"
        "c.VCVS('e', 3, 0, 1, 0, voltage_gain=2)\n"
        "c.CoupledInductor(1, 'L1', 'L2', .99)\n"
        "c.B('b', 4, 0, voltage_expression='v(1)*2')\n"
        "c.model('d1', 'D', IS=1e-14, RS=2@u_Ohm)\n"
        "s = c.simulator(temperature=27, nominal_temperature=27)\n"
        "a = s.ac(start_frequency=1@u_Hz, stop_frequency=1@u_MHz, number_of_points=10, variation='dec')\n"
        "b = s.dc(Vin=slice(0, 5, .1))\n"
        "print(a['out'])\n"
    ) == [
        "Vin in 0 10",
        "R1 in 1 9000",
        "R2 1 0 1k tc1=0.001",
        "Cx 1 0 4.7e-09 ic=1",
        "L1 1 2 0.0003",
        "D1 2 0 d1",
        "Q1 in 2 0 q1 area=2",
        "M1 in 2 0 0 m1 l=1e-06 w=1e-05",
        "Ee 3 0 1 0 2",
        "K1 L1 L2 0.99",
        "Bb 4 0 v=v(1)*2",
        ".model d1 D (IS=1e-14 RS=2)",
        ".temp 27",
        ".ac dec 10 1 1000000",
        ".dc Vin 0 5 0.1",
    ]


def test_sources_loops_and_what_a_source_says_of_itself() -> None:
    assert cards(
        "c = Circuit('x')\n"
        "src = c.SinusoidalVoltageSource('in', 'in', c.gnd, amplitude=2@u_V, frequency=1@u_kHz)\n"
        "c.PulseVoltageSource('p', 'p', 0, 0, 5, pulse_width=1@u_us, period=2@u_us)\n"
        "c.AcLine('line', 'l', 0, rms_voltage=10, frequency=50)\n"
        "for i, value in enumerate([1, 2], 1):\n"
        "    c.R(i, 'n%u' % i, f'n{i + 1}', value@u_kΩ)\n"
        "s = c.simulator(temperature=None, nominal_temperature=27)\n"
        "s.transient(step_time=src.period / 100, end_time=src.period * 2)\n"
    ) == [
        "Vin in 0 DC 0 AC 1 SIN(0 2 1000 0 0)",
        "Vp p 0 DC 0 PULSE(0 5 0 0 0 1e-06 2e-06)",
        "Vline l 0 DC 0 AC 1 SIN(0 14.1421356237 50 0 0)",
        "R1 n1 n2 1000",
        "R2 n2 n3 2000",
        ".tran 1e-05 0.002 0",
    ]


def test_subcircuits_of_the_script_and_functions() -> None:
    assert cards(
        "class Divider(SubCircuit):\n"
        "    NODES = ('a', 'b')\n"
        "    def __init__(self, name, top=1@u_kΩ):\n"
        "        SubCircuit.__init__(self, name, *self.NODES)\n"
        "        self.R(1, 'a', 'b', top)\n"
        "        self.R(2, 'b', self.gnd, top)\n"
        "def build(circuit, many):\n"
        "    for i in range(many):\n"
        "        circuit.X(i, 'half', 'in', 'o{}'.format(i))\n"
        "    return many\n"
        "if __name__ == '__main__':\n"
        "    c = Circuit('x')\n"
        "    c.subcircuit(Divider('half', top=2@u_kΩ))\n"
        "    build(c, 2)\n"
    ) == [
        ".subckt half a b",
        "R1 a b 2000",
        "R2 b 0 2000",
        ".ends half",
        "X0 in o0 half",
        "X1 in o1 half",
    ]


def test_what_cannot_be_followed_is_told_with_its_line() -> None:
    read = read_pyspice(
        HEAD + "import numpy as np\nc = Circuit('x')\nc.R(1, 1, 0, 1@u_kΩ)\nc.C(1, 1, 0, np.load('x'))\n"
        "c.R1.resistance = 5\nplt.plot(np.load('y'))\n",
        "x",
    )
    assert [each.params["line"] for each in read.missing] == [6, 7]
    assert read.text == "* x\nR1 1 0 1000\n.end\n"


@pytest.mark.parametrize("body", [
    "import os\nos.system('touch ran')\n",
    "c = Circuit('x')\nwhile True: pass\n",
    "c = Circuit('x'\n",
    "c = Circuit('x')\nreturn 1\n",
    f"c = {'(' * 5000}1{')' * 5000}\n",
    f"x = {'-' * 3000}1\n",
    "x = [[i for i in range(20000)] for j in range(20000)]\nc = Circuit('x')\n",
    "x = 10\nfor i in range(20000):\n    x = x * x\nc = Circuit('x')\n",
    "x = max(range(10**12))\ny = '%999999999d' % 1\nz = f'{1:999999999}'\nc = Circuit('x')\n",
    "def f(c): return f(c)\nc = Circuit('x')\nf(c)\n",
    "c = Circuit('x')\nc.__class__.__init__.__globals__['os']\n",
])  # fmt: skip
def test_a_script_that_builds_nothing_or_never_ends_is_refused(body: str) -> None:
    with pytest.raises(NotPySpice):
        read_pyspice(HEAD + body, "x")


def test_only_scripts_that_use_pyspice_are_taken_for_one() -> None:
    assert looks_like_pyspice(HEAD + "c = Circuit('x')\n")
    assert not looks_like_pyspice("print('Circuit(')\n")
