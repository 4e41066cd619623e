"""LTspice's special functions, switches and functions in ngspice's words, held to formulas."""

from __future__ import annotations

import math

import pytest

from domain.simulation.expressions import evaluate
from tests.integration.analyses.conftest import Simulate, plots_of

DECKS: dict[str, tuple[str, dict[str, float]]] = {
    "a transconductor multiplies": (
        "V1 a 0 0\nV2 b 0 0.1\nV3 c 0 1\nA1 a b c 0 0 0 out 0 OTA G=1m linear Vhigh=5 Vlow=-5\nR1 out 0 10k\n"
        ".op\n",
        {"v(out)": 1.0},
    ),
    "a transconductor at its limits of current": (
        "V1 a 0 AC 1\nA1 0 a 0 0 0 0 out 0 OTA G=1m ref=1 Iout=20u Vhigh=1e308 Vlow=-1e308\nR1 out 0 10k\n"
        "A2 0 a 0 0 0 0 low 0 OTA G=1m ref=-1 asym isource=20u isink=-5u Vhigh=1e308 Vlow=-1e308\n"
        "R2 low 0 10k\nA3 0 a 0 0 0 0 top 0 OTA G=1m ref=1 Iout=1m Vhigh=1 Vlow=-1\nR3 top 0 10k\n"
        "A4 a 0 0 0 0 0 0 0 OTA g=0 in=1p\n.op\n",
        {"v(out)": 0.2, "v(low)": -0.05, "v(top)": 1.01},
    ),
    "a transconductor with a pole": (
        "V1 a 0 AC 1\nA1 0 a 0 0 0 0 out 0 OTA G=1m Iout=1m Rout=1k Cout=1u Vhigh=1e308 Vlow=-1e308\n"
        ".ac dec 20 1 100k\n",
        {"dcgain(v(out))": 1.0, "bandwidth(v(out))": 1e3 / (2 * math.pi)},
    ),
    # g at the threshold is the geometric mean of both ends
    "smooth switches": (
        "V1 in 0 1\nVc c 0 2\nR1 in a 1k\nS1 a 0 c 0 two\nR2 in b 1k\nS2 b 0 c 0 one\n"
        ".model two SW(Ron=1 Roff=1Meg Vt=2 Vh=-.5 level=2)\n.model one SW(Ron=1 Roff=1Meg Vt=2 Vh=-.5)\n"
        "V2 high 0 10\nS3 high lim c 0 three\nR3 lim 0 1\n"
        ".model three SW(level=2 Ron=.1 Roff=1G Vt=0 Vh=-.1 ilimit=10m)\n.op\n",
        {"v(a)": 0.5, "v(b)": 0.5, "v(lim)": 10e-3},
    ),
    "a transfer function of parameters without equals signs": (
        "V1 in 0 AC 1\nE1 out 0 in 0 Laplace={A}/({tau}*s+1)\nR1 out 0 1k\n.param tau 80m\n.param A 90\n"
        "R2 in b R=limit(1k,30k,V(out)+{A})\nR3 b 0 1k\n.ac dec 20 10m 1k\n",
        {"dcgain(v(out))": 90, "bandwidth(v(out))": 1 / (2 * math.pi * 80e-3), "dcgain(v(b))": 0.5},
    ),
    "tables of parameters, and a diode without resistance": (
        ".param n=2.5\n.param level=table(n,1,10,2,20,3,40) low=table(n-5,1,10,2,20)\n"
        ".param high={table(n*2,1,10,2,20)}\n"
        "V1 a 0 {level}\nV2 b 0 {low}\nV3 c 0 {high}\nR1 a 0 1k\nR2 b 0 1k\nR3 c 0 1k\n"
        "V4 d 0 10\nD1 d e limit\nR4 e 0 1\n.model limit D(ron=0 ilimit=1)\n.op\n",
        {"v(a)": 30, "v(b)": 10, "v(c)": 20, "v(e)": 1},
    ),
    "a repeated source of parameters, and an area behind a model": (
        ".param f=1k top=2\nV1 a 0 PWL REPEAT FOREVER (0 0 {0.5/f} {top} {1/f} 0) ENDREPEAT\nR1 a 0 1k\n"
        "I1 0 b 1m\nD1 b 0 small 10\nI2 0 c 10m\nD2 c 0 large 100\n"
        ".model small D(IS=1f)\n.model large D(IS=1f)\n.tran 10u 5m\n",
        {"max(v(a))": 2, "avg(v(a))": 1, "avg(v(c)-v(b))": 0},
    ),
    "diodes of straight lines": (
        "V1 a 0 10.7\nD1 a b ideal\nR1 b 0 100\nV2 c 0 -20\nD2 c d both\nR2 d 0 100\nV3 e 0 1\nD3 e 0 lim\n"
        ".model ideal D(Ron=.1 Roff=1Meg Vfwd=.7)\n.model both D(Ron=1 Roff=1G Vfwd=.6 Vrev=10 Rrev=100)\n"
        ".model lim D(Ron=1m Roff=1G Vfwd=0 Ilimit=2)\n"
        "V4 f 0 -50\nR4 f g 1\nD4 g 0 short\n.model short D(Ron=0 Roff=175k Vrev=40)\n.op\n",
        {"v(b)": 10 * 100 / 100.1, "v(d)": -5.0, "i(b_d3)": 2.0, "v(g)": -40.01},
    ),
    "inductors lose something, but for coupled ones": (
        "V1 a 0 1\nL1 a b 1m\nR1 b 0 1m\nL2 a c 1m Rser=3m\nR2 c 0 1m\nL3 a d 1m Rser=0\nR3 d 0 1m\n"
        "L4 a e 1m\nR4 e 0 1m\nL5 f 0 1m\nR5 f 0 1\nK1 L4 L5 0.9\n.op\n",
        {"v(b)": 0.5, "v(c)": 0.25, "v(d)": 1.0, "v(e)": 1.0},
    ),
    # V(b) lags by atan(w R C), with w R C = 10.05: this is a peak of it after 150 of the 160 periods.
    "a sine that is quick beside the stop time": (
        "V1 a 0 SINE(0 1 {f})\nR1 a b 1k\nC1 b 0 100n\n.param f=16k\n.tran 10m\n",
        {"10*at(v(b), 9.40526378m)": 0.98983},
    ),
    "edges of no time take a tenth of pulse or pause, and a width of none is a triangle": (
        "V1 a 0 PULSE(0 5 0 0 0 5u 10u)\nR1 a 0 1k\nV2 b 0 PULSE 0 5 0 0 1u {w} {2*w} AC 1\nR2 b 0 1k\n"
        ".param w=5u\nV3 c 0 PULSE(0 1 0 5u 5u 0 10u)\nR3 c 0 1k\nV4 d 0 PULSE(0 1 1m)\nR4 d 0 1k\n"
        "V5 pulse1 0 PULSE(0 1 0 1u 1u 5u 10u)\nR5 pulse1 0 1k\n.tran 2m\n",
        {"avg(v(a))": 2.75, "avg(v(b))": 5 * (5 + 1.4 / 2) / 10, "avg(v(c))": 0.5, "at(v(d), 1.00001m)": 1,
         "avg(v(pulse1))": 0.6},
    ),
    "a width that comes to 0, and signs before braces": (
        ".param w=0 v=2 z=-1 T=10u\nV1 a 0 PULSE(0 5 0 1n 1n {w} {T})\nR1 a 0 1k\n"
        "V2 b 0 PULSE(0 5 0 1n 1n {w+5u} {T})\nR2 b 0 1k\nV3 c 0 -{v}\nR3 c 0 1k\n"
        "V4 d 0 PULSE(-{v} +{v} 0 0 0 {w} {T})\nR4 d 0 1k\nV5 e 0 5\nR5 e f 1k\nM1 f 0 0 0 PM\n"
        ".model PM NMOS (LEVEL=1 VTO=-{v} KP=1m)\nV6 g 0 -{z}\nR6 g 0 1k\n"
        "E1 h 0 g 0 -{v}\nR7 h 0 1k\n.tran 10n 1m\n",
        {"1k*avg(v(a))": 0.505, "avg(v(b))": 2.5005, "avg(v(c))": -2.0, "max(v(d))": 2.0, "min(v(d))": -2.0,
         "avg(v(d))": -2.0, "at(v(f), 0)": 3.0, "avg(v(g))": 1.0, "avg(v(h))": -2.0},
    ),
    "level 8 is BSIM3, not PSpice's BSIM4": (
        "V1 vdd 0 5\nR1 vdd a 2k\nM1 a vdd 0 0 n8 l=2u w=6u\nR2 vdd b 2k\nM2 b vdd 0 0 n49 l=2u w=6u\n"
        ".model n8 NMOS(LEVEL = 8 version=3.3 tox=25n nch=1.7e17\n+ vth0=0.5 u0=476 vsat=1.2e5 rdsw=2330)\n"
        ".model n49 NMOS(level=49 version=3.3 tox=25n nch=1.7e17 vth0=0.5 u0=476 vsat=1.2e5 rdsw=2330)\n"
        ".op\n",
        {"v(a)-v(b)": 0.0},
    ),
    "a model in square brackets, a node behind a capacitor, and what stands behind the end": (
        "V1 a 0 3\nS1 a b a 0 SW\nR1 b 0 1k\nC1 b float 1n\n.model SW SW[Ron=1k Vt=1]\n.op\n.end\n"
        "R2 b 0 1m\n.include nothing.asc\n",
        {"v(b)": 1.5, "v(float)": 0.0},
    ),
    # Charged from 1.5 V towards 5 V, discharged towards 5 V / 11, no state of it lasts; its edges take 20 ns.
    "a relaxation oscillator, and flip-flops that begin with a one": (
        "V1 vcc 0 5\nR1 vcc c 1k\nC1 c 0 1n\nA1 c 0 0 0 0 0 hi 0 BUF Ref=3.5\n"
        "A2 c 0 0 0 0 lo 0 0 BUF Ref=1.5\nA3 hi lo 0 0 0 0 q 0 SRFLOP\n"
        "A5 hi lo 0 0 0 0 one 0 SRFLOP ic=1\nA6 c 0 hi 0 0 0 too 0 DFLOP ic=1\n"
        "S1 c 0 q 0 sw\n.model sw SW(Ron=100 Roff=1G Vt=.5)\nR9 q 0 1k\n.tran 0 20u 0 5n\n",
        {"1e-6*frequency(v(q))": 1 / (math.log(3.5 / 1.5) + math.log(3.0455 / 1.0455) / 11 + 0.02),
         "at(v(q), 0.1n)": 0, "at(v(one), 0.1n)": 1, "at(v(too), 0.1n)": 1},
    ),
    "sources that are switched on": (
        ".param a=2\nV1 in 0 5\nR1 in 0 1\nV2 s 0 SINE(1 2 100k)\nR2 s 0 1\nV3 x 0 {2*a} Rser=1\nR3 x 0 1\n"
        "I1 0 y 1m\nR4 y 0 1k\nXX1 z ref\nR5 z 0 1k\n.subckt ref out\nV1 out 0 3\n.ends\n"
        "V4 p m PULSE(0 1 1u 1n 1n 1)\nS1 in w p m sw\nR6 w 0 1\n.model sw SW(Ron=1 Roff=1G Vt=.5)\n"
        ".tran 0 40u 0 0.1u startup\n",
        {"at(v(in), 0)": 0.0, "at(v(in), 10u)": 2.5, "at(v(in), 30u)": 5.0, "at(v(s), 0)": 0.0,
         "at(v(s), 12.5u)": 1.875, "at(i(v2), 32.5u)": -3.0, "at(v(x), 30u)": 2.0, "at(v(y), 10u)": 0.5,
         "at(v(z), 0)": 3.0, "at(v(w), 30u)": 2.5},
    ),
    "a bridge of bare diodes with a floating side": (
        "V1 s 0 SINE(0 10 10k)\nR1 n s 5\nD1 g n D\nD2 n c D\nD3 g 0 D\nD4 0 c D\nC1 c g 10u\n.model D D\n"
        ".tran 1m\n",
        {"at(v(c)-v(g), 1m)": 8.299},
    ),
    "what senses an inductor": (
        "V1 a 0 SINE(0 1 1k) AC 1\nL1 a b 1m\nR1 b 0 1k\nH1 h 0 L1 500\nF1 0 f L1 2\nR2 f 0 100\nR3 h 0 1k\n"
        ".ac lin 1 1 1\n",
        {"vm(h)": 0.5, "vm(f)": 0.2},
    ),
    "transfer functions by words": (
        "V1 a 0 AC 1\nE1 b 0 a 0 Laplace=pow(wc,2)/(pow(s,2)+2*zeta*wc*s+pow(wc,2))\n"
        "B1 c 0 V=2*V(a) Laplace=wc/(s+wc)\n.param wc=2*pi*1k zeta=1/sqrt(8)\n.ac lin 1 1k 1k\n",
        {"vm(b)": math.sqrt(2), "vm(c)": math.sqrt(2)},
    ),
    "a sweep downwards, and commas between parameters": (
        "X1 a 0 half r1=1k, r2=3k\nV1 a 0 1\nI1 0 b 0\nR9 b 0 1k\n"
        ".subckt half p n\nR1 p m {r1}\nR2 m n {r2}\n.ends\n.dc V1 0 -5 0.5\n",
        {"at(v(a), -5)": -5.0, "at(v(x1.m), -4)": -3.0},
    ),
    "a gate's delay and edges": (
        "V1 a 0 PULSE(0 5 100n 2n 2n 200n)\nV2 b 0 5\nA1 a b 0 0 0 qn q 0 AND Vhigh=5 Td=20n Trise=10n\n"
        "R1 q 0 1k\nR2 qn 0 1k\n.tran 1n 600n 0 1n\n",
        {"at(v(q), 119n)": 0.0, "at(v(q), 133n)": 5e3 / 1001, "at(v(qn), 133n)": 0.0},
    ),
    "set and reset": (
        "V1 s 0 PULSE(0 5 10n 100p 100p 2n 100n)\nV2 r 0 PULSE(0 5 30n 100p 100p 2n 100n)\n"
        "A1 s r 0 0 0 qb q 0 SRFLOP Vhigh=5 Vlow=0 Td=1n\nA2 s 0 0 0 0 0 only 0 SRFLOP\n"
        "R1 q 0 10k\nR2 qb 0 10k\nR3 only 0 1G\n.tran 100p 45n 0 100p\n",
        {"at(v(q), 5n)": 0, "at(v(q), 20n)": 5, "at(v(q), 40n)": 0, "at(v(qb), 40n)": 5,
         "at(v(only), 40n)": 1},
    ),
    # Both end at 22 ns, as in pulse-width modulators: a gate has no delay, and the reset is the stronger.
    "a set that comes through a gate ends with the reset": (
        "V1 s 0 PULSE(0 5 0 1n 1n 20n 200n)\nV2 r 0 PULSE(0 5 15n 1n 1n 5n 200n)\n"
        "A1 s 0 0 0 0 0 g 0 OR Vhigh=5\nA2 g r 0 0 0 qb q 0 SRFLOP Vhigh=5\n"
        "R1 q 0 10k\nR2 qb 0 10k\n.tran 100p 45n 0 100p\n",
        {"at(v(q), 10n)": 5, "at(v(q), 40n)": 0, "at(v(qb), 40n)": 5},
    ),
    "a flip-flop takes its input at the rising edge": (
        "V1 d 0 PULSE(0 5 5n 100p 100p 17n 40n)\nV2 c 0 PULSE(0 5 10n 100p 100p 5n 20n)\n"
        "A1 d 0 c 0 0 qb q 0 DFLOP Vhigh=5 Td=1n\nR1 q 0 10k\nR2 qb 0 10k\n.tran 100p 40n 0 100p\n",
        {"at(v(q), 15n)": 5, "at(v(q), 35n)": 0, "at(v(qb), 35n)": 5},
    ),
    "a Schmitt trigger": (
        "V1 a m PWL(0 0 1m 1 2m 0)\nV2 m 0 3\nA1 a m m m m m q m SCHMITT Vt=.5 Vh=.2 Vhigh=2\nR1 q m 1G\n"
        ".tran 1u 2m 0 1u\n",
        {"at(v(q), 0.69m)": 3, "at(v(q), 0.71m)": 5, "at(v(q), 1.69m)": 5, "at(v(q), 1.71m)": 3},
    ),
    "sample and hold": (
        "V1 in 0 PWL(0 0 20u 2 40u 4)\nV2 s 0 PULSE(0 1 10u 10n 10n 1u 100u)\nV3 one 0 1\n"
        "A1 in 0 s 0 0 0 held 0 SAMPLEHOLD Rout=100\nR1 held 0 100Meg\n"
        "A2 in 0 0 one 0 0 same 0 SAMPLEHOLD\nR2 same 0 100Meg\n.tran 100n 30u 0 100n\n",
        {"at(v(held), 25u)": 1.0, "at(v(same), 25u)": 2.5},
    ),
    "a controlled clamp": (
        "V1 c 0 2\nV2 s 0 10\nR1 s out 1k\nA1 c 0 0 0 0 0 out 0 VARISTOR Rclamp=10\n.op\n",
        {"v(out)": 2 + 8 / 101},
    ),
    "a modulator": (
        "V1 f 0 .5\nV2 a 0 2\nA1 f a 0 0 0 0 out 0 MODULATOR mark=2k space=1k\nR1 out 0 1G\n"
        ".tran 1u 4m 0 1u\n",
        {"frequency(v(out))": 1500, "max(v(out))": 2},
    ),
    "a phase detector": (
        "V1 a 0 PULSE(0 1 10n 100p 100p 2n 50n)\nV2 b 0 PULSE(0 1 20n 100p 100p 2n 30n)\n"
        "A1 a b 0 0 0 0 out 0 PHASEDET Iout=1m Vhigh=1 Vlow=0\nR1 out 0 1k\n.tran 100p 75n 0 100p\n",
        {"at(v(out), 15n)": 1, "at(v(out), 30n)": 0, "at(v(out), 55n)": -1, "at(v(out), 70n)": 0},
    ),
    "functions": (
        "V1 in 0 -2\nV2 t 0 3\n" + "".join(
            f"B{number} n{number} 0 V={text}\nR{number} n{number} 0 1k\n"
            for number, text in enumerate((
                "int(1.3*V(in))", "round(2.6)", "hypot(V(t),4)", "atan2(1,V(in)+1)", "cbrt(V(in)*4)",
                "pwr(V(in),3)", "pwrs(V(in),3)", "arctan(V(t)/3)", "mod(V(t)+2,3)", "xor(V(t),0)",
                "ustep(V(in))",
            ))
        ) + "G1 0 g t 0 table=(0 0, 4 {2*2})\nR99 g 0 1\n.op\n",
        {"v(n0)": -2, "v(n1)": 3, "v(n2)": 5, "v(n3)": 0.75 * math.pi, "v(n4)": -2, "v(n5)": 8,
         "v(n6)": -8, "v(n7)": math.pi / 4, "v(n8)": 2, "v(n9)": 1, "v(n10)": 0, "v(g)": 3},
    ),
    "integral and delay": (
        "V1 in 0 PULSE(0 2 1m 1n 1n 1)\nB1 a 0 V=idt(V(in),3)\nB2 b 0 V=delay(V(in),2m)+1\nR1 a 0 1k\n"
        "R2 b 0 1k\n.tran 10u 5m 0 10u\n",
        {"at(v(a), 0.5m)": 3, "at(v(a), 4m)": 3 + 2 * 3e-3, "at(v(b), 2.9m)": 1, "at(v(b), 3.2m)": 3},
    ),
    "a transfer function with parameters": (
        ".param R=1k\n.param C=1u T=R*C\nV1 in 0 AC 1\nE1 out 0 in 0 Laplace=1/(1+{T}*s)\nR1 out 0 1k\n"
        ".ac dec 20 1 100k\n",
        {"bandwidth(v(out))": 1e3 / (2 * math.pi)},
    ),
    "parameters called like functions, a blank in a value, and TC without a sign": (
        ".param Ln=2u max={2*Ln+ln(1)} VT=2\nR8 a f {VT}\nR9 f 0 2\nV1 a 0 1\n"
        "R1 a b {1k*Ln/1u}\nR2 b 0 {max*1e9}\n"
        "X1 a c two min=3k\nR3 c 0 1k\nR4 a d 2 k\nR5 d 0 2\nR6 a e 1k TC 10m\nR7 e 0 1k\n"
        ".subckt two p n min=1k\nR1 p n {min}\n.ends\n.options temp=127\n.op\n",
        {"v(b)": 4 / 6, "v(c)": 0.25, "v(d)": 0.5, "v(e)": 1 / 3, "v(f)": 0.5},
    ),
    "capacitors that are charged at the start": (
        "V1 a 0 1\nR1 a b 1k\nC1 b 0 1u IC={2*x}\nC2 a c 1u ic=-3v\nR2 c 0 1k\nXX1 d held\nR3 d 0 1k\n"
        ".subckt held p\nC1 p 0 1u IC=5\n.ends\n.param x=2\nC3 0 a 1u IC=0\n.tran 0 3m 0 1u\n",
        {"at(v(b), 0)": 4, "1k*at(i(v1), 0)": -1, "at(v(b), 1m)": 1 + 3 / math.e,
         "at(v(c), 1m)": 4 / math.e, "at(v(d), 1m)": 5 / math.e},
    ),
    "cards only LTspice takes": (
        ".param C=4n7\n.param gain 2\n.options baudrate=1k numdgt=7\n.temp = 27\n"
        "V1 in 0 PWL(1u 0 +1u 1 +1u 3 10u 3)\n"
        "I1 in 0 1u load\nR1 in out 1k noiseless\nC1 out 0 {C} Rpar=1k noiseless=True\n"
        "B1 x 0 I={gain/2} Rpar=2 tripdv=1 tripdt=1n\n"
        ".save V(nowhere)\n.tran 1n 1m 0 1u\n",
        {"at(v(in), 2.5u)": 2, "at(v(out), 0.9m)": 1.5, "at(v(x), 1u)": -2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DECKS)
async def test_ltspice(name: str, simulate: Simulate) -> None:
    deck, expected = DECKS[name]
    result = await simulate(f"* x.asc\n{deck}.backanno\n.end\n".encode())
    plots = await plots_of(result)
    assert result.dialect == "ltspice"
    for expression, value in expected.items():
        assert evaluate(expression, plots).value == pytest.approx(value, rel=0.01, abs=2e-3), expression


async def test_random_numbers_are_spread_and_repeat_themselves(simulate: Simulate) -> None:
    deck = (
        "* x.asc\nB1 a 0 V=rand(time*1Meg)\nB2 b 0 V=white(time*1Meg)\nR1 a 0 1\nR2 b 0 1\n"
        ".tran 100n 400u 0 100n\n.backanno\n.end\n"
    )
    first, second = [await plots_of(await simulate(deck.encode())) for _ in range(2)]
    for plots in (first, second):
        assert evaluate("min(v(a))", plots).value > 0
        assert evaluate("max(v(a))", plots).value < 1
        assert evaluate("avg(v(a))", plots).value == pytest.approx(0.5, abs=0.05)
        assert evaluate("rms(v(a))", plots).value == pytest.approx(1 / math.sqrt(3), abs=0.05)
        assert evaluate("avg(v(b))", plots).value == pytest.approx(0, abs=0.05)
    assert evaluate("at(v(a), 77.5u)", first).value == evaluate("at(v(a), 77.5u)", second).value


async def test_what_cannot_be_built_is_named(simulate: Simulate) -> None:
    result = await simulate(
        b"* x.asc\nV1 c 0 1\nA1 c 0 0 0 0 0 q 0 COUNTER cycles=4\nR1 q 0 1\n.op\n.backanno\n.end\n"
    )
    told = [str(note.message) for note in result.notes if note.line == 3]
    assert told == ["A1 is a special function of LTspice that ngspice does not have (COUNTER)."]


async def test_ratings_of_a_part_say_nothing_to_ngspice(simulate: Simulate) -> None:
    result = await simulate(
        b'* x.asc\nV1 a 0 1\nQ1 a a 0 N mfg="x" MTBF=1 ppPkg=2\nC1 a 0 1n Rser=1 type="X7R" ppPkg=1\n'
        b".model N NPN\n.op\n.backanno\n.end\n"
    )
    assert result.ok
