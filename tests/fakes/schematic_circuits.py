"""Circuits whose drawings are held to limits: crossings, bends, wire. The netlists are our own."""

from __future__ import annotations

GOLDEN: dict[str, str] = {
    "rc_low_pass": """RC low-pass
V1 in 0 AC 1
R1 in out 1k
C1 out 0 100n
.ac dec 10 1 1meg
""",
    "common_emitter": """Common emitter
VCC vcc 0 12
VIN in 0 SIN(0 10m 1k) AC 1
C1 in b 10u
R1 vcc b 68k
R2 b 0 12k
RC vcc c 3.3k
RE e 0 1k
CE e 0 100u
Q1 c b e BC547
C2 c out 10u
RL out 0 10k
.model BC547 npn
""",
    "differential_pair": """Differential pair, mirror load
VDD vdd 0 3.3
VIP inp 0 DC 1.5 AC 1
VIN inn 0 DC 1.5
M1 x inp t 0 nmos
M2 out inn t 0 nmos
M3 x x vdd vdd pmos
M4 out x vdd vdd pmos
IB t 0 20u
CL out 0 1p
.model nmos nmos
.model pmos pmos
""",
    "two_transistors": """Two-transistor feedback amplifier
VCC vcc 0 12
VIN in 0 AC 1
CIN in b1 10u
Q1 c1 b1 e1 BC547
RC1 vcc c1 47k
RE1 e1 0 470
Q2 c2 c1 e2 BC547
RC2 vcc c2 4.7k
RE2 e2 0 1k
CE2 e2 0 100u
RB e2 b1 220k
CO c2 out 10u
RL out 0 10k
RF out e1 47k
.model BC547 npn
""",
    "bridge_rectifier": """Full bridge rectifier with regulator
VAC a b SIN(0 17 50)
D1 a p D1N4007
D2 b p D1N4007
D3 0 a D1N4007
D4 0 b D1N4007
C1 p 0 2200u
RZ p z 1k
DZ 0 z BZX12
Q1 p z out BD139
RL out 0 100
C2 out 0 100u
.model BD139 npn
.model D1N4007 d
.model BZX12 d
""",
    "colpitts": """Colpitts
VCC vcc 0 9
RB1 vcc b 22k
RB2 b 0 10k
CB b 0 10n
Q1 c b e 2N2222
RE e 0 1k
L1 vcc c 1u
C1 c e 100p
C2 e 0 470p
CO c out 10p
RL out 0 10k
.model 2N2222 npn
""",
    "r_2r_ladder": """R-2R ladder
V0 d0 0 5
V1 d1 0 0
V2 d2 0 5
V3 d3 0 5
R0 n0 0 20k
RA0 d0 n0 20k
RB0 n0 n1 10k
RA1 d1 n1 20k
RB1 n1 n2 10k
RA2 d2 n2 20k
RB2 n2 out 10k
RA3 d3 out 20k
RL out 0 1meg
.op
""",
    "instrumentation_amplifier": """Instrumentation amplifier
VCC vcc 0 15
VEE vee 0 -15
V1 in1 0 AC 1
V2 in2 0 AC 0
XU1 in1 a vcc vee o1 op
XU2 in2 b vcc vee o2 op
RF1 o1 a 10k
RG a b 1k
RF2 b o2 10k
R1 o1 p 10k
R2 o2 n 10k
R3 n out 10k
R4 p 0 10k
XU3 p n vcc vee out op
.subckt op p n vcc vee out
E1 x 0 p n 1e5
R1 x out 10
RS vcc vee 1meg
.ends
""",
    "dickson_pump": """Dickson charge pump
VDD vdd 0 5
VCLK1 c1 0 PULSE(0 5 0 10n 10n 490n 1u)
VCLK2 c2 0 PULSE(5 0 0 10n 10n 490n 1u)
D1 vdd n1 dm
C1 n1 c1 100n
D2 n1 n2 dm
C2 c2 n2 100n
D3 n2 n3 dm
C3 n3 c1 100n
D4 n3 out dm
CO out 0 1u
RL out 0 10k
.model dm d
.tran 10n 200u
""",
    "twin_t": """Twin-T notch
VIN in 0 AC 1
R1 in a 10k
R2 a out 10k
C3 a 0 20n
C1 in b 10n
C2 b out 10n
R3 b 0 5k
RL out 0 1meg
.ac dec 10 10 100k
""",
    "boost": """Boost converter
VIN vin 0 5
L1 vin sw 10u
S1 sw 0 g 0 swm
VG g 0 PULSE(0 5 0 10n 10n 1u 2u)
D1 sw out dm
C1 out 0 100u
RL out 0 10
.model dm d
.model swm sw
""",
    "folded_cascode": """Folded cascode OTA
VDD vdd 0 3.3
VIP inp 0 DC 1.5 AC 1
VIN inn 0 1.5
M1 d1 inp t 0 nmos
M2 d2 inn t 0 nmos
IT t 0 20u
I1 vdd d1 30u
I2 vdd d2 30u
VB1 vb1 0 2
M3 o1 vb1 d1 vdd pmos
M4 out vb1 d2 vdd pmos
VB2 vb2 0 1.2
M5 o1 vb2 s5 0 nmos
M6 out vb2 s6 0 nmos
M7 s5 o1 0 0 nmos
M8 s6 o1 0 0 nmos
CL out 0 2p
.model nmos nmos
.model pmos pmos
""",
    "series_regulator": """Series regulator with error amplifier
VIN vin 0 15
Q1 vin b1 out TIP31
Q2 b1 fb z BC547
RB vin b1 2.2k
DZ 0 z BZX5V6
RZ out z 1k
RA out fb 10k
RC fb 0 10k
CL out 0 10u
RL out 0 50
.model TIP31 npn
.model BC547 npn
.model BZX5V6 d
""",
    "lc_ladder": """LC ladder
V1 in 0 AC 1
RS in a 50
C1 a 0 1n
L2 a b 2u
C3 b 0 2n
L4 b out 2u
C5 out 0 1n
RL out 0 50
""",
    "timer": """Astable 555
VCC vcc 0 5
XU1 0 trg out vcc cv trg dis vcc ne555
RA vcc dis 1k
RB dis trg 10k
CT trg 0 100n
CV cv 0 10n
RL out 0 1k
.subckt ne555 gnd trig out reset cont thres disch vcc
R1 vcc cont 5k
R2 cont 1 5k
R3 1 gnd 5k
C1 trig out 1p
C2 thres disch 1p
C3 reset 0 1p
.ends
""",
    "audio_amplifier": """Discrete audio amplifier
VP vp 0 35
VN vn 0 -35
VIN in 0 AC 1
CIN in i1 2.2u
RIN i1 b1 1k
RB b1 0 22k
CF b1 0 330p
IT vp t1 2m
Q1 c1 b1 t1 BC556
Q2 c2 fb t1 BC556
R1 c1 vn 2.2k
R2 c2 vn 2.2k
Q3 v c1 e3 MJE340
R3 e3 vn 100
CC c1 v 47p
IV vp u 8m
QB u bb v MJE340
RB1 u bb 1.5k
RB2 bb v 1k
CBB u v 10u
Q4 vp u d1 MJE340
Q5 vn v d2 MJE350
RD d1 d2 220
Q6 vp d1 e6 MJL3281
Q7 vn d2 e7 MJL1302
RE6 e6 out 0.22
RE7 out e7 0.22
D1 out vp D1N4007
D2 vn out D1N4007
RF out fb 22k
CFB out fb 10p
RG fb cg 1k
CG cg 0 220u
RZ out zz 10
CZ zz 0 100n
LO out spk 2u
RO out spk 10
RL spk 0 8
CP1 vp 0 100u
CP2 vn 0 100u
.model BC556 pnp
.model MJE340 npn
.model MJE350 pnp
.model MJL3281 npn
.model MJL1302 pnp
.model D1N4007 d
""",
}
