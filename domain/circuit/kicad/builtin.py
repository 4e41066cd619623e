"""The subcircuits KiCad's simulation symbols lean on (``Simulation_SPICE.sp``), written anew.

That file comes with KiCad and is not beside a sheet. Ports and parameters are KiCad's; the equations are
those of a single-pole op-amp: gain GAIN, pole at POLE hertz, offset VOFF, output resistance ROUT, output
within its supplies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FILE = "simulation_spice.sp"
_OP_AMP = "\n".join((
    ".subckt kicad_builtin_opamp in+ in- vcc vee out params: POLE=20 GAIN=20k VOFF=10m ROUT=10",
    "V_off in+ plus dc {VOFF}",
    "G_gain 0 stage plus in- 100u",
    "R_gain stage 0 {GAIN/100u}",
    "C_pole stage 0 {100u/(6.283185307*GAIN*POLE)}",
    "E_low low 0 vee 0 1",
    "E_high high 0 vcc 0 1",
    "D_low low stage limit",
    "D_high stage high limit",
    ".model limit D N=0.01",
    "E_out drive 0 stage 0 1",
    "R_out drive out {ROUT}",
    ".ends",
))  # fmt: skip
_SET = "POLE={POLE} GAIN={GAIN} VOFF={VOFF} ROUT={ROUT}"


def _several(name: str, ports: str, count: int) -> tuple[str, str]:
    placed = (
        f"X{number} in{number}+ in{number}- vcc vee out{number} kicad_builtin_opamp {_SET}"
        for number in range(1, count + 1)
    )
    head = f".subckt {name} {ports} params: POLE=20 GAIN=20k VOFF=10m ROUT=10"
    return "\n".join((head, *placed, ".ends")), _OP_AMP


SUBCIRCUITS: Mapping[str, Sequence[str]] = {
    "kicad_builtin_opamp": (_OP_AMP,),
    "kicad_builtin_opamp_dual": _several(
        "kicad_builtin_opamp_dual", "out1 in1- in1+ vee in2+ in2- out2 vcc", 2
    ),
    "kicad_builtin_opamp_quad": _several(
        "kicad_builtin_opamp_quad",
        "out1 in1- in1+ vcc in2+ in2- out2 out3 in3- in3+ vee in4+ in4- out4",
        4,
    ),
    "kicad_builtin_vdiff": (".subckt kicad_builtin_vdiff in+ in- out\nE1 out 0 in+ in- 1\n.ends",),
    "kicad_builtin_varistor": (
        ".subckt kicad_builtin_varistor A B threshold=1k rdyn=1 rleak=100MEG\n"
        "B1 A B I=abs(V(A,B)) > {threshold} ? (abs(V(A,B))-{threshold})/{rdyn}*sgn(V(A,B)) : 0\n"
        "R1 A B {rleak}\n"
        ".ends",
    ),
}
"""The blocks of lines that each needs, its own first, by its name."""
