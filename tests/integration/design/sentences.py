"""Sentences people write, and beside each the numbers its circuit must show.

The numbers are worked out by hand from the sentence (textbook attenuation of the response, less what the
tolerance of the cut-off may cost); nothing here comes from the designer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class FilterCase:
    """A filter: -3 dB frequency, pass-band gain and attenuation as measured on an AC sweep."""

    text: str
    family: str
    kind: str
    """lowpass or highpass."""
    cutoff_hz: float
    cutoff_tolerance: float = 0.05
    gain: float = 1.0
    gain_tolerance: float = 0.05
    at_least: tuple[tuple[float, float], ...] = ()
    """(frequency in Hz, dB below the pass band at least)."""
    at_most: tuple[tuple[float, float], ...] = ()
    """(frequency in Hz, dB below the pass band at most)."""
    peaking_db: tuple[float, float] | None = None
    """(least, most) the response rises above its DC (low-pass) gain."""


@dataclass(frozen=True, kw_only=True)
class BuckCase:
    """A buck converter: averages and ripples over whole periods of the steady state."""

    text: str
    vin: float
    vout: float
    iout: float
    fsw: float
    ripple_v: float
    tolerance: float = 0.02
    inductor_ripple_a: float | None = None
    efficiency: float | None = None
    family: str = "buck"


FILTERS = (
    # first order: 20 dB per decade, |H(10 fc)| = -20.04 dB, |H(2 fc)| = -6.99 dB
    FilterCase(
        text="RC low pass with fc = 3.4 kHz",
        family="first_order",
        kind="lowpass",
        cutoff_hz=3400,
        at_least=((34e3, 19.0),),
        at_most=((34e3, 21.0),),
    ),
    FilterCase(
        text="设计一个一阶RC低通滤波器，截止频率为1kHz",
        family="first_order",
        kind="lowpass",
        cutoff_hz=1000,
        at_least=((10e3, 19.0),),
        at_most=((10e3, 21.0),),
    ),
    FilterCase(
        text="一阶高通，转折频率一百赫兹",
        family="first_order",
        kind="highpass",
        cutoff_hz=100,
        at_least=((10, 19.0),),
        at_most=((10, 21.0),),
    ),
    FilterCase(
        text="I need a first-order RL high-pass filter, cutoff 100k, R=50 ohm",
        family="first_order",
        kind="highpass",
        cutoff_hz=100e3,
        at_least=((10e3, 19.0),),
        at_most=((1e6, 0.1),),
    ),
    FilterCase(
        text="RL低通滤波器，L=10mH，截止频率 ５ｋＨｚ，容差±2%",
        family="first_order",
        kind="lowpass",
        cutoff_hz=5000,
        cutoff_tolerance=0.02,
        at_least=((50e3, 19.5),),
    ),
    FilterCase(
        # tau = 1 ms: fc = 1 / (2 pi 1 ms) = 159.15 Hz
        text="RC low-pass filter with a time constant of 1 ms",
        family="first_order",
        kind="lowpass",
        cutoff_hz=159.155,
    ),
    FilterCase(
        # R and C given: fc = 1 / (2 pi 10k 10n) = 1591.5 Hz
        text="RC low-pass, R = 10k, C = 10nF",
        family="first_order",
        kind="lowpass",
        cutoff_hz=1591.55,
        cutoff_tolerance=0.001,
    ),
    FilterCase(
        # (Rs + R) / load = 12 % would be 1 dB
        text=(
            "passive low-pass, cut-off 20 kHz, source resistance 600 ohm, load 100k, passband loss "
            "less than 1 dB"
        ),
        family="first_order",
        kind="lowpass",
        cutoff_hz=20e3,
        gain=0.945,
        gain_tolerance=0.06,
    ),
    FilterCase(
        # 26 dB at 10 kHz: fc <= 10 kHz / sqrt(10**2.6 - 1) = 501.8 Hz, and 5 % below is enough
        text="RC低通滤波器，10kHz处衰减不少于26dB",
        family="first_order",
        kind="lowpass",
        cutoff_hz=478,
        cutoff_tolerance=0.05,
        at_least=((10e3, 26.0),),
    ),
    # Butterworth of order n: |H|**2 = 1 / (1 + (f/fc)**(2 n))
    FilterCase(
        text="设计一个截止频率为1kHz的二阶巴特沃斯低通滤波器",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=1000,
        at_least=((10e3, 39.0), (3e3, 18.0)),
        at_most=((500, 0.5), (10e3, 41.0)),
        peaking_db=(0.0, 0.1),
    ),
    FilterCase(
        text="4th order Sallen-Key high-pass at 250 Hz, Chebyshev 0.5 dB ripple",
        family="sallen_key",
        kind="highpass",
        cutoff_hz=250,
        at_least=((125, 28.0), (25, 80.0)),
        peaking_db=None,
    ),
    FilterCase(
        # Bessel, order 3: 3 fc is 21.1 dB down, 0.5 fc is 0.69 dB down
        text="三阶贝塞尔低通，截止 20千赫",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=20e3,
        at_least=((60e3, 19.5),),
        at_most=((60e3, 22.5), (10e3, 0.9)),
        peaking_db=(0.0, 0.05),
    ),
    FilterCase(
        text="Sallen-Key 2nd order Butterworth low pass with 10 kHz cutoff and gain of 2",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=10e3,
        gain=2.0,
        at_least=((100e3, 39.0),),
        peaking_db=(0.0, 0.1),
    ),
    FilterCase(
        text="五阶巴特沃斯高通滤波器，截止频率50Hz，通带增益4倍",
        family="sallen_key",
        kind="highpass",
        cutoff_hz=50,
        gain=4.0,
        at_least=((5, 97.0), (25, 28.0)),
        at_most=((100, 0.2),),
    ),
    FilterCase(
        text="low-pass filter, -3 dB at 1 kHz, at least 40 dB attenuation at 4 kHz",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=1000,
        at_least=((4000, 40.0),),
        peaking_db=(0.0, 0.2),
    ),
    FilterCase(
        text="有源低通滤波器，截止频率2kHz，在20kHz处衰减不少于60dB",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=2000,
        at_least=((20e3, 60.0),),
    ),
    FilterCase(
        # Chebyshev 1 dB, order 5: -3 dB at 1.034 times the ripple edge; 45 dB at twice the edge
        text="5th order Chebyshev low-pass, passband edge 10 kHz, ripple 1 dB",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=10338,
        at_least=((20e3, 43.0),),
        at_most=((9900, 1.2),),
        peaking_db=(0.0, 0.15),
    ),
    FilterCase(
        # even Chebyshev: 0.5 dB above the DC gain inside the pass band
        text="四阶切比雪夫低通滤波器，纹波0.5dB，-3dB截止频率3kHz",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=3000,
        at_least=((9e3, 46.0),),
        peaking_db=(0.3, 0.5),
    ),
    FilterCase(
        # f0 = 10 kHz, Q = 5: the peak is Q / sqrt(1 - 1/(4 Q**2)) = 14.02 dB, -3 dB at 1.5427 f0
        text="2nd order low pass, Q=5, f0=10k",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=15427,
        peaking_db=(13.4, 14.6),
    ),
    FilterCase(
        text="8th order Butterworth low-pass filter at 100 kHz, tolerance 1%",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=100e3,
        cutoff_tolerance=0.01,
        at_least=((200e3, 47.0),),
        peaking_db=(0.0, 0.2),
    ),
    FilterCase(
        # the pass band is the ripple band: Chebyshev 0.5 dB, order 5, is -3 dB at 1.0593 times 3.4 kHz
        text="low-pass, pass band 0-3.4 kHz with less than 0.5 dB ripple, at least 50 dB above 10 kHz",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=3602,
        at_least=((10e3, 50.0),),
        at_most=((3300, 0.6),),
        peaking_db=(0.0, 0.1),
    ),
    FilterCase(
        # 75 ohm is the R of the RL filter, and 1 MHz its corner: L = 75 / (2 pi 1 MHz) = 11.9 uH
        text="RL high-pass, 75 ohm, cutoff 1 MHz",
        family="first_order",
        kind="highpass",
        cutoff_hz=1e6,
        at_least=((100e3, 19.0),),
        at_most=((100e3, 21.0),),
    ),
    FilterCase(
        # order 4: 1 dB at 1 kHz puts -3 dB at 1.18 kHz, and 4 kHz is then 42 dB down
        text="巴特沃斯低通：通带截止频率1kHz，通带最大衰减1dB，阻带截止频率4kHz，阻带最小衰减40dB",
        family="sallen_key",
        kind="lowpass",
        cutoff_hz=1190,
        cutoff_tolerance=0.06,
        at_least=((4000, 40.0),),
        at_most=((1000, 1.0),),
    ),
)

BUCKS = (
    BuckCase(
        text="做一个 12V 转 5V、2A 的降压电路，开关频率 300kHz，纹波小于 30mV",
        vin=12,
        vout=5,
        iout=2,
        fsw=300e3,
        ripple_v=30e-3,
    ),
    BuckCase(
        text="buck: 24 -> 3.3 V @ 3 A, 500kHz, ripple < 1%",
        vin=24,
        vout=3.3,
        iout=3,
        fsw=500e3,
        ripple_v=33e-3,
    ),
    BuckCase(
        text=(
            "synchronous buck converter, 9-15 V input, 1.8 V output, 10 A, 1 MHz, inductor ripple "
            "30%, efficiency above 90%"
        ),
        vin=12,
        vout=1.8,
        iout=10,
        fsw=1e6,
        ripple_v=18e-3,
        inductor_ripple_a=3.0,
        efficiency=0.9,
    ),
    BuckCase(
        text="输入12伏，输出5伏，电流500毫安，电感纹波30%的降压变换器，输出精度1%",
        vin=12,
        vout=5,
        iout=0.5,
        fsw=300e3,
        ripple_v=50e-3,
        tolerance=0.01,
        inductor_ripple_a=0.15,
    ),
    BuckCase(
        text="设计一个降压变换器：输入24V，输出12V，负载电流5A，开关频率200kHz，输出纹波不超过50mV",
        vin=24,
        vout=12,
        iout=5,
        fsw=200e3,
        ripple_v=50e-3,
    ),
    BuckCase(
        text="step-down 48V to 5V, 10W, 150 kHz, ripple 2%",
        vin=48,
        vout=5,
        iout=2,
        fsw=150e3,
        ripple_v=0.1,
    ),
    BuckCase(
        text="I want 3V3 at 500mA from a 5 V supply using a buck regulator, 1 MHz",
        vin=5,
        vout=3.3,
        iout=0.5,
        fsw=1e6,
        ripple_v=33e-3,
    ),
    BuckCase(
        text="3.3V/1A from a 24 V rail, 400 kHz",
        vin=24,
        vout=3.3,
        iout=1,
        fsw=400e3,
        ripple_v=33e-3,
    ),
    BuckCase(
        # on for 1.7 % of the time: edges and time steps must be shorter than that
        text="buck 60V to 1V 10A 100kHz synchronous ripple 5 mV",
        vin=60,
        vout=1,
        iout=10,
        fsw=100e3,
        ripple_v=5e-3,
    ),
    BuckCase(
        text="12 V battery (9 to 16 V), I need 5 V at 2.5 A; buck converter, 500 kHz, at most 25 mV ripple",
        vin=12,
        vout=5,
        iout=2.5,
        fsw=500e3,
        ripple_v=25e-3,
    ),
    BuckCase(
        text="非同步BUCK，Vin=20V，Vout=8V，Iout=0.8A，fs=250kHz，电感电流纹波40%",
        vin=20,
        vout=8,
        iout=0.8,
        fsw=250e3,
        ripple_v=80e-3,
        inductor_ripple_a=0.32,
    ),
)

REFUSALS = (
    ("design a VCO at 10 MHz", "unknown_circuit"),
    ("50Hz 四阶带阻滤波器", "unknown_circuit"),
    ("half-bridge converter 12 V to 5 V 1 A", "unknown_circuit"),
    ("hello", "unknown_circuit"),
    ("二阶低通滤波器", "missing_goal"),
    ("buck converter from 12 V, 1 A", "missing_goal"),
    ("降压电路 5V 转 12V 1A", "impossible_goal"),
    ("Butterworth low-pass, order 20, 1 kHz", "impossible_goal"),
    ("RC low-pass, cut-off 1 kHz, at least 40 dB at 10 kHz", "impossible_goal"),
)
"""(sentence, error_type): the designer must say no, with these words."""
