"""Every model of the library in bare ngspice, held against the figures of its data sheet."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from domain.design.engine.op_amps import OP_AMPS
from infrastructure.persistence.examples import ShippedModels

MODELS = {model.name: model for model in ShippedModels().models}


def measured(folder: Path, model: str, cards: str, commands: str) -> dict[str, float]:
    """What ngspice prints for `commands` on `cards` beside the model's own text."""
    deck = f"t\n{MODELS[model].text}\n{cards}\n.control\n{commands}\n.endc\n.end\n"
    (folder / "deck.cir").write_text(deck)
    done = subprocess.run(
        ["ngspice", "-n", "-b", "deck.cir"], cwd=folder, capture_output=True, text=True, check=False
    )
    found = re.findall(r"^(\S+)\s+=\s+(-?[\d.]+(?:e[+-]?\d+)?)", done.stdout, re.MULTILINE | re.IGNORECASE)
    assert found, done.stdout + done.stderr
    return {name.lower(): float(value) for name, value in found}


# (IC, VCE, hFE from, to) ..., (IC, IB, VBE(sat) from, to, VCE(sat) below), (IC, VCE, fT above), (VCB, Cob)
TRANSISTORS = {
    "2N3904": ([(1e-4, 1, 40, 300), (1e-3, 1, 70, 300), (1e-2, 1, 100, 300), (5e-2, 1, 60, 300),
                (0.1, 1, 30, 300)], (1e-2, 1e-3, 0.65, 0.85, 0.2), (1e-2, 20, 300e6), (5, 4e-12)),
    "2N3906": ([(1e-4, 1, 60, 300), (1e-3, 1, 80, 300), (1e-2, 1, 100, 300), (5e-2, 1, 60, 300),
                (0.1, 1, 30, 300)], (1e-2, 1e-3, 0.65, 0.85, 0.25), (1e-2, 20, 250e6), (5, 4.5e-12)),
    "2N2222": ([(1e-3, 10, 50, 300), (1e-2, 10, 75, 300), (0.15, 10, 100, 300), (0.5, 10, 40, 300)],
               (0.15, 0.015, 0.6, 1.2, 0.3), (0.02, 20, 300e6), (10, 8e-12)),
    "2N2907": ([(1e-3, 10, 100, 450), (1e-2, 10, 100, 300), (0.15, 10, 100, 300), (0.5, 10, 50, 300)],
               (0.15, 0.015, 0.6, 1.3, 0.4), (0.05, 20, 200e6), (10, 8e-12)),
    "BC547": ([(1e-5, 5, 100, 300), (2e-3, 5, 200, 450), (0.1, 5, 60, 300)],
              (1e-2, 5e-4, 0.6, 0.8, 0.25), (1e-2, 5, 250e6), (10, 4.5e-12)),
    "BC557": ([(1e-5, 5, 100, 300), (2e-3, 5, 180, 460), (0.1, 5, 60, 300)],
              (1e-2, 5e-4, 0.6, 0.8, 0.3), (1e-2, 5, 250e6), (10, 6e-12)),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSISTORS)
def test_transistors(tmp_path: Path, name: str) -> None:
    gains, (ic_sat, ib_sat, vbe_low, vbe_high, vce_sat), (ic_t, vce_t, ft), (vcb, cob) = TRANSISTORS[name]
    sign = -1 if " PNP" in MODELS[name].text else 1
    for ic, vce, low, high in gains:
        cards = f"Q1 c b e {name}\nIE e 0 {sign * ic}\nVB b 0 0\nVC c 0 {sign * (vce - 0.7)}"
        found = measured(tmp_path, name, cards, "op\nlet h=i(vc)/i(vb)\nprint h")
        assert low <= found["h"] <= high, ic
    cards = f"Q1 c b 0 {name}\nIC 0 c {sign * ic_sat}\nIB 0 b {sign * ib_sat}"
    found = measured(tmp_path, name, cards, "op\nprint v(b)\nprint v(c)")
    assert vbe_low <= sign * found["v(b)"] <= vbe_high
    assert 0.01 < sign * found["v(c)"] < vce_sat
    cards = f"Q1 c b e {name}\nIE e 0 {sign * ic_t}\nVB b 0 0\nVC c 0 {sign * (vce_t - 0.7)}"
    base = measured(tmp_path, name, cards, "op\nlet ib=-i(vb)\nprint ib")["ib"]
    cards = f"Q1 c b 0 {name}\nIB 0 b DC {base} AC 1\nVC c 0 {sign * vce_t}"
    found = measured(tmp_path, name, cards, "ac lin 1 50meg 50meg\nlet ft=50meg*mag(i(vc))\nprint ft")
    assert ft < found["ft"] < 2 * ft
    cards = f"Q1 c b e {name}\nRE e b 1g\nVB b 0 0\nVC c 0 DC {sign * vcb} AC 1"
    found = measured(tmp_path, name, cards, "ac lin 1 1meg 1meg\nlet c=mag(i(vc))/6.283185e6\nprint c")
    assert 0.3 * cob < found["c"] < cob


FORWARD = {
    "1N4148": [(5e-3, 0.62, 0.72), (1e-2, 0.65, 1.0), (0.1, 0.8, 1.0)],
    "1N5819": [(0.1, 0.28, 0.4), (1, 0.4, 0.6), (3, 0.5, 0.9)],
    **{name: [(0.01, 0.55, 0.75), (1, 0.85, 1.0)] for name in ("1N4001", "1N4002", "1N4004", "1N4007")},
}


@pytest.mark.parametrize("name", FORWARD)
def test_diodes(tmp_path: Path, name: str) -> None:
    for current, low, high in FORWARD[name]:
        found = measured(tmp_path, name, f"D1 a 0 {name}\nI1 0 a {current}", "op\nprint v(a)")
        assert low <= found["v(a)"] <= high
    volts = 100 if name == "1N4148" else float(re.search(r"rectifier, (\d+) V", MODELS[name].title)[1])  # type: ignore[index]
    found = measured(tmp_path, name, f"D1 0 k {name}\nV1 k 0 {volts}", "op\nlet ir=-i(v1)\nprint ir")
    assert 0 < found["ir"] < 5e-6
    if name == "1N4148":
        cards = f"D1 a k {name}\nV1 a 0 PULSE(1.69 -5.3 20n 0.1n 0.1n 1)\nRL k 0 100"
        found = measured(tmp_path, name, cards, "tran 0.02n 60n\nmeas tran t0 when i(v1)=0 cross=1\n"
                         "meas tran t1 when i(v1)=0.001 fall=1")  # fmt: skip
        assert 0.2e-9 < found["t1"] - found["t0"] < 4e-9


ZENERS = {"1N4728": (3.3, 76e-3, 10), "1N4733": (5.1, 49e-3, 7), "1N4735": (6.2, 41e-3, 2),
          "1N4739": (9.1, 28e-3, 5), "1N4742": (12, 21e-3, 9)}  # fmt: skip


@pytest.mark.parametrize("name", ZENERS)
def test_zeners(tmp_path: Path, name: str) -> None:
    volts, current, ohms = ZENERS[name]
    cards = f"D1 0 k {name}\nI1 0 k DC {current} AC 1\nD2 a 0 {name}\nI2 0 a 0.2"
    commands = "op\nprint v(k)\nprint v(a)\nac lin 1 1k 1k\nlet rz=mag(v(k))\nprint rz"
    found = measured(tmp_path, name, cards, commands)
    assert found["v(k)"] == pytest.approx(volts, rel=0.02)
    assert 0.5 * ohms < found["rz"] <= ohms
    assert 0.7 < found["v(a)"] < 1.2


# GBW, slew rate, input current, supply current, supplies, swing
OPAMPS = {
    "LM358": (0.7e6, 0.3e6, 45e-9, 0.35e-3, (5, 0), (3.5, 0.005)),
    **dict.fromkeys(
        ("TL071", "TL072", "TL074"), (3000000.0, 13000000.0, -6.5e-11, 0.0014, (15, -15), (13.5, -13.5))
    ),
    **dict.fromkeys(("TL081", "TL082"), (3e6, 13e6, -3e-11, 1.4e-3, (15, -15), (13.5, -13.5))),
    "LM324": (1.2e6, 0.5e6, 20e-9, 0.175e-3, (5, 0), (3.5, 0.005)),
    "NE5532": (10e6, 9e6, -200e-9, 4e-3, (15, -15), (13, -13)),
    "OPA2134": (8e6, 20e6, -5e-12, 4e-3, (15, -15), (13.8, -14.5)),
    "OP07": (0.6e6, 0.3e6, -1.8e-9, 2.7e-3, (15, -15), (13, -13)),
    "LM741": (1e6, 0.5e6, -80e-9, 1.7e-3, (15, -15), (14, -14)),
    "MCP6002": (1e6, 0.6e6, -1e-12, 0.1e-3, (5, 0), (4.975, 0.025)),
    "LMV358": (1e6, 1e6, -15e-9, 0.105e-3, (5, 0), (4.99, 0.065)),
    "AD8605": (10e6, 5e6, -0.2e-12, 1e-3, (5, 0), (4.98, 0.02)),
}


@pytest.mark.parametrize("name", OPAMPS)
def test_op_amps(tmp_path: Path, name: str) -> None:
    gbw, slew, bias, supply, (high, low), swing = OPAMPS[name]
    mid = (high + low) / 2
    rails = f"VP vp 0 {high}\nVM vm 0 {low}\n"
    cards = f"{rails}VIN ip 0 DC {mid} AC 1\nX1 ip n vp vm out {name}\nLf out n 1g\nCf n 0 1"
    commands = ("op\nprint v(out)\nprint i(vp)\nprint i(vin)\nac dec 20 1 100meg\n"
                "meas ac gbw when vdb(out)=0\nmeas ac ph find vp(out) when vdb(out)=0")  # fmt: skip
    found = measured(tmp_path, name, cards, commands)
    assert found["v(out)"] == pytest.approx(mid, abs=1e-3)
    assert found["i(vp)"] == pytest.approx(-supply, rel=0.02)
    assert found["i(vin)"] == pytest.approx(bias, rel=0.05, abs=1e-11)  # below it gmin is seen
    assert found["gbw"] == pytest.approx(gbw, rel=0.1)
    assert 180 + found["ph"] * 180 / 3.14159 > 55  # phase margin as a follower, degrees
    step = (mid - 1.2, mid + 0.8) if low == 0 else (-5, 5)
    pulse = f"PULSE({step[0]} {step[1]} 1u 1n 1n 40u 200u)"
    cards = f"{rails}VIN ip 0 {pulse}\nX1 ip out vp vm out {name}\nRL out 0 100k"
    commands = (f"tran 10n 40u 0 20n\nmeas tran t1 when v(out)={mid - 0.5} rise=1\n"
                f"meas tran t2 when v(out)={mid + 0.5} rise=1")  # fmt: skip
    found = measured(tmp_path, name, cards, commands)
    assert 1 / (found["t2"] - found["t1"]) == pytest.approx(slew, rel=0.1)
    cards = (f"{rails}VIN ip 0 {mid + 0.5}\nVN n 0 {mid}\nX1 ip n vp vm o1 {name}\nX2 n ip vp vm o2 {name}\n"
             "R1 o1 0 1meg\nR2 o2 0 1meg")  # fmt: skip
    found = measured(tmp_path, name, cards, "op\nprint v(o1)\nprint v(o2)")
    is_rail_to_rail = high - low - swing[0] < 0.1
    assert found["v(o1)"] == pytest.approx(swing[0], abs=0.01 if is_rail_to_rail else 0.05)
    assert found["v(o2)"] == pytest.approx(swing[1], abs=0.01 if is_rail_to_rail else 0.05)
    part = OP_AMPS[name]
    assert part.gbw_hz == gbw
    assert (high - part.output_high_v, low + part.output_low_v) == (
        pytest.approx(found["v(o1)"], abs=0.05),
        pytest.approx(found["v(o2)"], abs=0.05),
    )
    assert f"supplies {part.supplies_v[0]:g} V to {part.supplies_v[1]:g} V apart" in MODELS[name].text


@pytest.mark.parametrize("name", [name for name in OPAMPS if OPAMPS[name][4][1]])
def test_a_follower_behind_resistors_is_not_found_stuck_at_a_supply(tmp_path: Path, name: str) -> None:
    cards = (
        "Vin in 0 0\nVcc vcc 0 15\nVee vee 0 -15\nRa in a 49.9k\nRb a p 4.99k\nCa a out 4.7n\nCb p 0 820p\n"
        f"X1 p out vcc vee out {name}"
    )
    stuck = 0.01 + 60e3 * abs(OPAMPS[name][2])  # beyond what the input current makes at the resistors
    assert abs(measured(tmp_path, name, cards, "op\nprint v(out)")["v(out)"]) < stuck


def test_ideal_op_amps(tmp_path: Path) -> None:
    cards = "V1 i 0 1\nR1 i n 1k\nR2 n o 10k\nX1 0 n o OPAMP_IDEAL"
    found = measured(tmp_path, "OPAMP_IDEAL", cards, "op\nprint v(o)")
    assert found["v(o)"] == pytest.approx(-10, rel=1e-4)
    cards = "V1 i 0 AC 1\nX1 i 0 o OPAMP_1POLE a0=2e5 gbw=10meg"
    commands = "ac dec 20 1 100meg\nmeas ac gbw when vdb(o)=0\nmeas ac a0 find vdb(o) at=1"
    found = measured(tmp_path, "OPAMP_1POLE", cards, commands)
    assert found["gbw"] == pytest.approx(10e6, rel=0.01)
    assert found["a0"] == pytest.approx(106, abs=0.1)


def test_the_timer(tmp_path: Path) -> None:
    """Astable with 10 kOhm, 47 kOhm, 10 nF; monostable with 10 kOhm, 100 nF."""
    cards = ("V1 vcc 0 5\nRA vcc d 10k\nRB d c 47k\nC1 c 0 10n\nX1 0 c out vcc ctrl c d vcc NE555\n"
             "RL out 0 1k\nCc ctrl 0 10n\n.ic v(c)=0")  # fmt: skip
    commands = ("tran 1u 8m uic\nmeas tran t1 when v(out)=2 rise=3\nmeas tran t2 when v(out)=2 rise=8\n"
                "meas tran t3 when v(out)=2 fall=8\nmeas tran hi max v(c) from=4m to=8m\n"
                "meas tran lo min v(c) from=4m to=8m\nmeas tran vh max v(out)")  # fmt: skip
    found = measured(tmp_path, "NE555", cards, commands)
    period = (found["t2"] - found["t1"]) / 5
    assert 1 / period == pytest.approx(1.44 / (104e3 * 10e-9), rel=0.02)
    assert (found["t3"] - found["t2"]) / period == pytest.approx(57 / 104, rel=0.02)
    assert (found["hi"], found["lo"]) == (pytest.approx(10 / 3, rel=0.01), pytest.approx(5 / 3, rel=0.01))
    assert 3.3 < found["vh"] < 4.1
    # Steps of half a period and Gear's method find the thresholds, too: each period is that of the others.
    coarse = commands.replace("tran 1u 8m uic", "option method=gear\ntran 100u 8m 0 400u uic") + "".join(
        f"\nmeas tran r{number} when v(out)=2 rise={number}" for number in (4, 5, 6)
    )
    found = measured(tmp_path, "NE555", cards, coarse)
    assert (found["t2"] - found["t1"]) / 5 == pytest.approx(period, rel=0.01)
    for first, second in (("t1", "r4"), ("r4", "r5"), ("r5", "r6")):
        assert found[second] - found[first] == pytest.approx(period, rel=0.01)
    cards = ("V1 vcc 0 5\nR1 vcc c 10k\nC1 c 0 100n\nVT t 0 PULSE(5 0 1m 1u 1u 100u 10m)\n"
             "X1 0 t out vcc ctrl c c vcc NE555\nRL out 0 1k")  # fmt: skip
    commands = "tran 2u 4m\nmeas tran t1 when v(out)=2 rise=1\nmeas tran t2 when v(out)=2 fall=last"
    found = measured(tmp_path, "NE555", cards, commands)
    assert found["t2"] - found["t1"] == pytest.approx(1.1e-3, rel=0.02)


@pytest.mark.parametrize(
    ("name", "vto", "kp", "lam"), [("NMOS_L1", 0.7, 110e-6, 0.04), ("PMOS_L1", 0.8, 50e-6, 0.05)]
)
def test_level_1(tmp_path: Path, name: str, vto: float, kp: float, lam: float) -> None:
    sign = -1 if name.startswith("P") else 1
    cards = f"M1 d g 0 0 {name} W=10u L=1u\nVD d 0 {3 * sign}\nVG g 0 {sign * (vto + 1)}"
    found = measured(tmp_path, name, cards, "op\nlet id=abs(i(vd))\nprint id")
    assert found["id"] == pytest.approx(kp / 2 * 10 * (1 + 3 * lam), rel=1e-3)


@pytest.mark.parametrize(
    ("name", "threshold", "on"), [("NMOS_180", 0.38, 560e-6), ("PMOS_180", 0.45, 250e-6)]
)
def test_bsim(tmp_path: Path, name: str, threshold: float, on: float) -> None:
    sign = -1 if name.startswith("P") else 1
    cards = f"M1 d g 0 0 {name} W=1u L=0.18u\nVD d 0 {1.8 * sign}\nVG g 0 {{}}"
    found = measured(tmp_path, name, cards.format(1.8 * sign), "op\nlet id=abs(i(vd))\nprint id")
    assert found["id"] == pytest.approx(on, rel=0.03)
    found = measured(tmp_path, name, cards.format(0), "op\nlet id=abs(i(vd))\nprint id")
    assert found["id"] < 1e-9
    cards = f"M1 d g 0 0 {name} W=10u L=1u\nVD d 0 {0.1 * sign}\nVG g 0 0"
    commands = f"dc vg 0 {sign} {0.01 * sign}\nlet id=abs(i(vd))\nmeas dc vt when id=1u"
    assert abs(measured(tmp_path, name, cards, commands)["vt"]) == pytest.approx(threshold, abs=0.02)


# ID and range of VGS(th); ID and the most of RDS(on) at 10 V; VDS, ID and least gfs; Ciss, Coss, Crss at 25 V
MOSFETS = {
    "2N7000": (1e-3, (0.8, 3), 0.5, 5, (10, 0.2, 0.1), (20e-12, 11e-12, 4e-12)),
    "BSS138": (1e-3, (0.8, 1.5), 0.22, 3.5, (10, 0.22, 0.12), (27e-12, 13e-12, 6e-12)),
    "AO3401A": (0.25e-3, (0.5, 1.3), 4, 0.05, (5, 4, 12), (638e-12, 70e-12, 49e-12)),
    "IRF540N": (0.25e-3, (2, 4), 16, 0.044, (50, 16, 21), (1960e-12, 250e-12, 40e-12)),
    "IRLZ44N": (0.25e-3, (1, 2), 25, 0.022, (25, 25, 21), (1700e-12, 400e-12, 150e-12)),
    "IRF9540N": (0.25e-3, (2, 4), 11, 0.117, (50, 11, 5.3), (1300e-12, 400e-12, 240e-12)),
}


@pytest.mark.parametrize("name", MOSFETS)
def test_power_mosfets(tmp_path: Path, name: str) -> None:
    i_th, (low, high), i_on, on_ohm, (vds, i_gm, gfs), (ciss, coss, crss) = MOSFETS[name]
    sign = -1 if " PCHAN" in MODELS[name].text else 1
    cards = (
        f"MT t t 0 {name}\nIT 0 t {sign * i_th}\n"
        f"MO o on 0 {name}\nIO 0 o {sign * i_on}\nVO on 0 {sign * 10}\n"
        f"MC c gc 0 {name}\nVC c 0 DC {sign * 25} AC 1\nVGC gc 0 0\n"
        f"MI i gi 0 {name}\nVI i 0 {sign * 25}\nVGI gi 0 0 AC 1\nMB b 0 0 {name}\nIB b 0 {sign * i_gm}\n"
        f"MG d g 0 {name}\nVD d 0 {sign * vds}\nVG g 0 0"
    )
    commands = (
        f"op\nprint v(t)\nprint v(o)\nprint v(b)\nac lin 1 1meg 1meg\nlet w=6.2831853e6\n"
        "let coss=abs(imag(i(vc)))/w\nlet crss=abs(imag(i(vgc)))/w\nlet ciss=abs(imag(i(vgi)))/w\n"
        f"print coss\nprint crss\nprint ciss\ndc vg 0 {sign * 10} {sign * 0.01}\n"
        f"let id=abs(i(vd))\nlet gm=abs(deriv(id))\nmeas dc gfs find gm when id={i_gm}"
    )
    found = measured(tmp_path, name, cards, commands)
    assert low < sign * found["v(t)"] < high
    assert 0.2 * on_ohm < sign * found["v(o)"] / i_on < on_ohm
    assert -1.3 < sign * found["v(b)"] < -0.6  # the body diode
    assert found["gfs"] > gfs
    assert found["ciss"] == pytest.approx(ciss, rel=0.1)
    assert (found["coss"], found["crss"]) == (pytest.approx(coss, rel=0.15), pytest.approx(crss, rel=0.25))


def test_every_model_is_tried_here_and_says_where_it_is_from() -> None:
    tried = {*TRANSISTORS, *FORWARD, *ZENERS, *OPAMPS, "OPAMP_IDEAL", "OPAMP_1POLE", "NE555",
             "NMOS_L1", "PMOS_L1", "NMOS_180", "PMOS_180", *MOSFETS}  # fmt: skip
    assert set(MODELS) == tried
    for model in MODELS.values():
        card = r"\.subckt" if model.is_subcircuit else r"\.model"
        assert re.search(rf"^{card} {re.escape(model.name)} ", model.text, re.MULTILINE)
        assert re.search(r"of our own.*\(.+\)|definition", model.source)
