"""What plain questions about a circuit mean, in both languages, as engineers type them."""

from __future__ import annotations

from typing import Any

from infrastructure.llm_adapters.builtin.commands import Change, Several, understand_command
from infrastructure.llm_adapters.builtin.comparing import moved
from infrastructure.llm_adapters.builtin.reading import Ask
from tests.ground.cases import for_each

FILES = ("broken.cir", "buck.cir", "ce.cir", "opamp.cir", "rc.cir")

QUESTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("what's the collector voltage?", "point", {}),
    ("帮我看一下三极管的Vce", "point", {}),
    ("gain at 1k?", "figure", {"figures": ("gain",), "at": 1000.0, "at_unit": "Hz"}),
    ("20Hz的时候增益掉了几个dB", "figure", {"figures": ("gain",), "at": 20.0, "at_unit": "Hz"}),
    ("phase at 1khz, is it inverting?", "figure", {"figures": ("phase",), "at": 1000.0, "at_unit": "Hz"}),
    ("whats the -3db bandwith", "figure", {"figures": ("bandwidth",)}),
    ("输出失真大不大?", "figure", {"figures": ("thd",)}),
    ("输出峰峰值是多少伏", "figure", {"figures": ("swing",)}),
    ("What is the peak to peak output?", "figure", {"figures": ("swing",)}),
    ("what is the output voltage, peak-to-peak?", "figure", {"figures": ("swing",)}),
    (
        "What is the peak-to-peak value of v(out)?",
        "voltage",
        {"figures": ("swing",), "nodes": ("out",)},
    ),
    ("Vpp of v(out)?", "voltage", {"figures": ("swing",), "nodes": ("out",)}),
    ("what is the peak output?", "figure", {"figures": ("peak_out",)}),
    ("what is the peak-to-peak ripple?", "figure", {"figures": ("ripple",)}),
    ("Make the output 4 V peak to peak", "tune", {"figures": ("swing",), "value": 4.0, "unit": "V"}),
    ("I want the output to be 4 Vpp", "tune", {"figures": ("swing",), "value": 4.0, "unit": "V"}),
    ("how does it compare to the last run?", "compare", {}),
    ("Compare run 5 with run 3", "compare", {"query": "3 5"}),
    ("Compare this run with run 3", "compare", {"query": "3"}),
    ("compare the gain of run 3 with that of run 5", "compare", {"figures": ("gain",), "query": "3 5"}),
    (
        "What is the peak to peak output in run 3 and in run 5?",
        "compare",
        {"figures": ("swing",), "query": "3 5"},
    ),
    ("Is the ripple in run 5 better than in run 3?", "compare", {"figures": ("ripple",), "query": "3 5"}),
    ("What is the gain in run 3?", "compare", {"figures": ("gain",), "query": "of 3"}),
    ("比较第3次和第5次仿真", "compare", {"query": "3 5"}),
    ("和第3次仿真比较", "compare", {"query": "3"}),
    ("Plot run 3 and run 5", "plot", {"numbered": (3, 5)}),
    ("plot the gain of run 2", "plot", {"figures": ("gain",), "query": "ac", "numbered": (2,)}),
    ("go back to run 3", "restore", {"numbered": (3,)}),
    ("回到第3次仿真", "restore", {"numbered": (3,)}),
    ("go back two steps", "undo", {"runs": 2}),
    ("show gain before and after", "compare", {"figures": ("gain",)}),
    ("对比最近两次的相位裕度", "compare", {"figures": ("phase_margin",)}),
    ("run all corners and show me the gain", "corners", {"figures": ("gain",)}),
    ("做一下工艺角仿真", "corners", {"query": "process"}),
    ("what is the corner frequency", "figure", {"figures": ("cutoff",)}),
    ("what dominates the low frequency roll-off", "limits", {"figures": ("lower_cutoff",)}),
    ("增益主要取决于哪几个电阻", "limits", {"figures": ("gain",), "query": "r"}),
    (
        "retune the filter to 3.4k",
        "tune",
        {"figures": ("cutoff",), "value": 3400.0, "unit": "Hz", "is_bare": True},
    ),
    ("explain what Q3 does", "role", {"names": ("Q3",)}),
    ("how much power does the LDO burn", "power", {"names": ("q*",)}),
    ("what sets the frequency?", "limits", {"figures": ("cutoff",), "is_bare": True}),
    (
        "how far does the frequency drift with 5% parts",
        "worst_case",
        {"figures": ("cutoff",), "tolerances": (("", 0.05),), "is_bare": True},
    ),
    ("did the cutoff go up or down?", "compare", {"figures": ("cutoff",)}),
    ("增益比之前大了多少?", "compare", {"figures": ("gain",)}),
    ("compare this run with the frist one", "compare", {"query": "first"}),
    ("anything better than 2N2222 for low noise?", "find_part", {"names": ("2N2222",), "query": "low-noise"}),
    ("what limits the output swing?", "clipping", {"figures": ("swing",)}),
    ("三极管β变化时增益变多少", "sweep", {"figures": ("gain",), "names": ("beta",)}),
    (
        "看看零下40度到125度的输出电压",
        "sweep",
        {"figures": ("vout",), "names": ("temp",), "span": (-40.0, 125.0)},
    ),
    ("whats the bias current", "figure", {"figures": ("collector_current",)}),
    ("how many dB down at 10k", "figure", {"figures": ("gain",), "at": 10000.0, "at_unit": "Hz"}),
    ("what's the switching frequency", "figure", {"figures": ("drive_frequency",)}),
    ("尾电流多大", "current", {"names": ("role:tail",)}),
    (
        "lower the cut off by half",
        "tune",
        {"figures": ("cutoff",), "value": 2.0, "unit": "x", "way": "lower", "is_change": True},
    ),
    ("get 3.3V out", "tune", {"figures": ("vout",), "value": 3.3, "unit": "V"}),
    ("what's different now", "compare", {}),
    ("截止频率变了没有", "compare", {"figures": ("cutoff",)}),
    ("low noise op amp?", "find_part", {"query": "op-amp low-noise"}),
    ("LM358的参数", "find_part", {"query": "LM358"}),
    ("灵敏度分析", "limits", {}),
    ("step R1 1k 2k 5k", "sweep", {"names": ("R1",), "points": (1000.0, 2000.0, 5000.0)}),
    ("温度从-20度扫到80度", "sweep", {"names": ("temp",), "span": (-20.0, 80.0)}),
    ("刚才改了哪些参数", "compare", {}),
    ("show me what changed since the first run", "compare", {"query": "first"}),
    ("is the GBW still ok in the slow corner?", "corners", {"figures": ("ugf",)}),
    ("what sets the dropout voltage?", "dropout", {"query": "limits"}),
    ("what hurts the phase margin", "limits", {"figures": ("phase_margin",)}),
    ("dominant part for the cutoff", "limits", {"figures": ("cutoff",)}),
    ("cutoff to 1 kHz", "tune", {"figures": ("cutoff",), "value": 1000.0, "unit": "Hz"}),
    (
        "bias Q1 at 1.5 mA",
        "tune",
        {"figures": ("collector_current",), "names": ("Q1",), "value": 0.0015, "unit": "A"},
    ),
    ("MC with 2% resistors and 5% capacitors", "monte_carlo", {"tolerances": (("r", 0.02), ("c", 0.05))}),
    (
        "vout over load 1 mA to 200 mA",
        "sweep",
        {"figures": ("vout",), "names": ("load",), "span": (0.001, 0.2)},
    ),
    (
        "how much does the gain vary with 5% resistors?",
        "worst_case",
        {"figures": ("gain",), "tolerances": (("r", 0.05),)},
    ),
    ("gain before vs now", "compare", {"figures": ("gain",)}),
    ("npn transistor for 100 mA", "find_part", {"value": 0.1, "unit": "A", "query": "npn"}),
    ("what does U3 do?", "role", {"names": ("U3",)}),
    ("推荐一个快恢复二极管模型", "find_part", {"query": "diode", "unanswered": "快恢复"}),
    (
        "V(c)在4.5到6V之间，电阻5%，良率多少",
        "monte_carlo",
        {
            "figures": ("node",),
            "nodes": ("c",),
            "value": 4.5,
            "upper": 6.0,
            "unit": "V",
            "span": (4.5, 6.0),
            "tolerances": (("r", 0.05),),
            "is_yield": True,
        },
    ),
    ("why is CE there", "role", {"names": ("CE",)}),
    ("will the bias hold up from -40 to 85C?", "sweep", {"names": ("temp",), "span": (-40.0, 85.0)}),
    (
        "R2从8k扫到12k,看看集电极电流",
        "sweep",
        {"figures": ("collector_current",), "names": ("R2",), "span": (8e3, 12e3)},
    ),
    (
        "if I use 5% resistors how much will V(c) spread?",
        "monte_carlo",
        {"figures": ("node",), "nodes": ("c",), "tolerances": (("r", 0.05),)},
    ),
    ("跑一次rc.cir的蒙特卡洛，电阻5%", "monte_carlo", {"file": "rc.cir", "tolerances": (("r", 0.05),)}),
    ("what limits the bandwidth of rc.cir?", "limits", {"file": "rc.cir", "figures": ("bandwidth",)}),
    ("what is holding back the low frequency response?", "limits", {"figures": ("lower_cutoff",)}),
    ("what constrains the high-frequency response", "limits", {"figures": ("upper_cutoff",)}),
    ("What limits the gain of ce.cir?", "limits", {"file": "ce.cir", "figures": ("gain",)}),
    ("which parts determine the ripple in buck.cir?", "limits", {"file": "buck.cir", "figures": ("ripple",)}),
    (
        "what is the gain of ce.cir at 10 kHz?",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "at": 10000.0, "at_unit": "Hz"},
    ),
    (
        "phase at 1 MHz in opamp.cir",
        "figure",
        {"file": "opamp.cir", "figures": ("phase",), "at": 1000000.0, "at_unit": "Hz"},
    ),
    (
        "output at 2 ms in rc.cir",
        "figure",
        {"file": "rc.cir", "figures": ("vout",), "at": 0.002, "at_unit": "s"},
    ),
    ("what is V(out) in buck.cir", "voltage", {"file": "buck.cir", "nodes": ("out",)}),
    ("current through R1 in ce.cir", "current", {"file": "ce.cir", "names": ("R1",)}),
    ("how much power does RC dissipate in ce.cir?", "power", {"file": "ce.cir", "names": ("RC",)}),
    ("is Q1 saturated in ce.cir?", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("is Q1 in ce.cir in the active region?", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("what is the input impedance of ce.cir?", "figure", {"file": "ce.cir", "figures": ("input_impedance",)}),
    ("what's the phase margin of the opamp?", "figure", {"file": "opamp.cir", "figures": ("phase_margin",)}),
    (
        "make the cut-off of rc.cir 2 kHz",
        "tune",
        {"file": "rc.cir", "figures": ("cutoff",), "value": 2000.0, "unit": "Hz"},
    ),
    (
        "optimise R1 in rc.cir so that the cut-off is 3 kHz",
        "tune",
        {"file": "rc.cir", "figures": ("cutoff",), "names": ("R1",), "value": 3000.0, "unit": "Hz"},
    ),
    (
        "reduce the ripple of buck.cir below 20 mV",
        "tune",
        {"file": "buck.cir", "figures": ("ripple",), "value": 0.02, "unit": "V", "bound": "at_most"},
    ),
    (
        "I want a gain of 30 dB from ce.cir",
        "tune",
        {"file": "ce.cir", "figures": ("gain",), "value": 30.0, "unit": "dB"},
    ),
    (
        "run a monte carlo of rc.cir with 5% resistors",
        "monte_carlo",
        {"file": "rc.cir", "tolerances": (("r", 0.05),)},
    ),
    (
        "what yield do I get with 1 % parts in rc.cir if the cut-off must be between 1.5k and 1.7k?",
        "monte_carlo",
        {
            "file": "rc.cir",
            "figures": ("cutoff",),
            "value": 1500.0,
            "upper": 1700.0,
            "unit": "none",
            "span": (1500.0, 1700.0),
            "tolerances": (("", 0.01),),
            "is_yield": True,
        },
    ),
    (
        "worst case of the cut-off of rc.cir with 5% resistors and 10% capacitors",
        "worst_case",
        {"file": "rc.cir", "figures": ("cutoff",), "tolerances": (("r", 0.05), ("c", 0.1))},
    ),
    (
        "sweep R1 from 1k to 10k in rc.cir",
        "sweep",
        {"file": "rc.cir", "names": ("R1",), "span": (1000.0, 10000.0)},
    ),
    (
        "gain of ce.cir at 85 °C",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "parameters": (("temp", "85"),)},
    ),
    (
        "how does the gain of ce.cir change from -40 to 125 °C?",
        "sweep",
        {"file": "ce.cir", "figures": ("gain",), "names": ("temp",), "span": (-40.0, 125.0)},
    ),
    ("compare the last two runs of rc.cir", "compare", {"file": "rc.cir"}),
    ("why did broken.cir fail?", "failure", {"file": "broken.cir"}),
    (
        "set a goal for ce.cir: gain > 40 dB",
        "set_goal",
        {"file": "ce.cir", "figures": ("gain",), "value": 40.0, "unit": "dB", "bound": "at_least"},
    ),
    ("are the goals of ce.cir met?", "check_goals", {"file": "ce.cir"}),
    ("undo that", "undo", {}),
    ("which NPN transistors do you have?", "find_part", {"query": "npn"}),
    (
        "find an op-amp with GBW over 2 MHz",
        "find_part",
        {"value": 2000000.0, "unit": "Hz", "bound": "at_least", "query": "op-amp"},
    ),
    ("which zeners do you have", "find_part", {"query": "zener"}),
    ("what does RE do in ce.cir?", "role", {"file": "ce.cir", "names": ("RE",)}),
    (
        "how many transistors are in opamp.cir?",
        "count",
        {"file": "opamp.cir", "query": "MOSFET|bipolar transistor|JFET"},
    ),
    ("which supply does ce.cir use?", "supply", {"file": "ce.cir"}),
    (
        "Why is the gain of my amplifier ce.cir so low?",
        "limits",
        {"file": "ce.cir", "figures": ("gain",), "way": "raise"},
    ),
    (
        "how can I increase the bandwidth of ce.cir?",
        "limits",
        {"file": "ce.cir", "figures": ("bandwidth",), "way": "raise"},
    ),
    (
        "what is the peak inductor current in buck.cir?",
        "current",
        {"file": "buck.cir", "names": ("l*",), "query": "peak"},
    ),
    ("what's the total output noise of ce.cir?", "figure", {"file": "ce.cir", "figures": ("noise",)}),
    (
        "what is the lower cut-off frequency of ce.cir?",
        "figure",
        {"file": "ce.cir", "figures": ("lower_cutoff",)},
    ),
    (
        "which components affect the phase margin of opamp.cir most?",
        "limits",
        {"file": "opamp.cir", "figures": ("phase_margin",)},
    ),
    ("Gain-bandwidth product of opamp.cir?", "figure", {"file": "opamp.cir", "figures": ("ugf",)}),
    (
        "please increase the bandwidth of rc.cir to 5 kHz",
        "tune",
        {"file": "rc.cir", "figures": ("bandwidth",), "value": 5000.0, "unit": "Hz"},
    ),
    (
        "set the gain of ce.cir to 100",
        "tune",
        {"file": "ce.cir", "figures": ("gain",), "value": 100.0, "unit": "x"},
    ),
    (
        "lower the lower cut-off of ce.cir to 100 Hz by changing CE",
        "tune",
        {"file": "ce.cir", "figures": ("lower_cutoff",), "names": ("CE",), "value": 100.0, "unit": "Hz"},
    ),
    (
        "get the phase margin of the opamp above 80 degrees",
        "tune",
        {
            "file": "opamp.cir",
            "figures": ("phase_margin",),
            "value": 80.0,
            "unit": "none",
            "bound": "at_least",
        },
    ),
    (
        "how much does the cutoff of rc.cir vary with 1% resistors and 5% capacitors? "
        "monte carlo with 500 runs",
        "monte_carlo",
        {"file": "rc.cir", "figures": ("cutoff",), "tolerances": (("r", 0.01), ("c", 0.05)), "runs": 500},
    ),
    (
        "worst case gain of ce.cir for 10% parts",
        "worst_case",
        {"file": "ce.cir", "figures": ("gain",), "tolerances": (("", 0.1),)},
    ),
    (
        "sweep CC from 0.5p to 5p in opamp.cir and show the phase margin",
        "sweep",
        {"file": "opamp.cir", "figures": ("phase_margin",), "names": ("CC",), "span": (5e-13, 5e-12)},
    ),
    (
        "what is the gain of the opamp at 125 °C?",
        "figure",
        {"file": "opamp.cir", "figures": ("gain",), "parameters": (("temp", "125"),)},
    ),
    ("what is the voltage at node c in ce.cir?", "voltage", {"file": "ce.cir", "nodes": ("c",)}),
    ("collector current of Q1 in ce.cir", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("total supply current of opamp.cir", "current", {"file": "opamp.cir", "query": "supply"}),
    ("how much power does opamp.cir consume?", "power", {"file": "opamp.cir", "query": "supply"}),
    ("are all transistors of opamp.cir in saturation?", "point", {"file": "opamp.cir"}),
    ("what's connected to node b in ce.cir?", "node", {"file": "ce.cir", "nodes": ("b",)}),
    ("what is the purpose of CC in opamp.cir?", "role", {"file": "opamp.cir", "names": ("CC",)}),
    ("do you have a 12 V zener?", "find_part", {"value": 12.0, "unit": "V", "query": "zener"}),
    ("rc.cir 的带宽受什么限制？", "limits", {"file": "rc.cir", "figures": ("bandwidth",)}),
    ("什么限制了 ce.cir 的增益", "limits", {"file": "ce.cir", "figures": ("gain",)}),
    ("buck.cir 的纹波主要由哪些元件决定？", "limits", {"file": "buck.cir", "figures": ("ripple",)}),
    (
        "ce.cir 在10kHz的增益是多少",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "at": 10000.0, "at_unit": "Hz"},
    ),
    (
        "opamp.cir 1MHz处的相位",
        "figure",
        {"file": "opamp.cir", "figures": ("phase",), "at": 1000000.0, "at_unit": "Hz"},
    ),
    (
        "rc.cir 2ms 时的输出电压",
        "figure",
        {"file": "rc.cir", "figures": ("vout",), "at": 0.002, "at_unit": "s"},
    ),
    ("buck.cir 的输出电压是多少？", "figure", {"file": "buck.cir", "figures": ("vout",)}),
    ("ce.cir 里流过 R1 的电流", "current", {"file": "ce.cir", "names": ("R1",)}),
    ("ce.cir 中 RC 的功耗多大？", "power", {"file": "ce.cir", "names": ("RC",)}),
    ("ce.cir 的 Q1 饱和了吗？", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("ce.cir 的 Q1 工作在什么区", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("ce.cir 的输入阻抗是多少", "figure", {"file": "ce.cir", "figures": ("input_impedance",)}),
    ("opamp 的相位裕度是多少？", "figure", {"file": "opamp.cir", "figures": ("phase_margin",)}),
    (
        "把 rc.cir 的截止频率调到 2kHz",
        "tune",
        {"file": "rc.cir", "figures": ("cutoff",), "value": 2000.0, "unit": "Hz"},
    ),
    (
        "优化 rc.cir 的 R1，使截止频率为3kHz",
        "tune",
        {"file": "rc.cir", "figures": ("cutoff",), "names": ("R1",), "value": 3000.0, "unit": "Hz"},
    ),
    (
        "把 buck.cir 的纹波降到 20mV 以下",
        "tune",
        {"file": "buck.cir", "figures": ("ripple",), "value": 0.02, "unit": "V", "bound": "at_most"},
    ),
    (
        "把 ce.cir 的增益改成 30 dB",
        "tune",
        {"file": "ce.cir", "figures": ("gain",), "value": 30.0, "unit": "dB"},
    ),
    (
        "对 rc.cir 做蒙特卡洛 200 次，电阻误差5%",
        "monte_carlo",
        {"file": "rc.cir", "tolerances": (("r", 0.05),), "runs": 200},
    ),
    (
        "rc.cir 用1%的元件，截止频率在1.5k到1.7k之间的良率有多少？",
        "monte_carlo",
        {
            "file": "rc.cir",
            "figures": ("cutoff",),
            "value": 1500.0,
            "upper": 1700.0,
            "unit": "none",
            "span": (1500.0, 1700.0),
            "tolerances": (("", 0.01),),
            "is_yield": True,
        },
    ),
    (
        "rc.cir 最坏情况，电阻5%，电容10%",
        "worst_case",
        {"file": "rc.cir", "tolerances": (("r", 0.05), ("c", 0.1))},
    ),
    ("扫描 rc.cir 的 C1，从10n到1u", "sweep", {"file": "rc.cir", "names": ("C1",), "span": (1e-08, 1e-06)}),
    (
        "ce.cir 在85℃时的增益",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "parameters": (("temp", "85"),)},
    ),
    (
        "温度从-40到125度时 ce.cir 的增益怎么变",
        "sweep",
        {"file": "ce.cir", "figures": ("gain",), "names": ("temp",), "span": (-40.0, 125.0)},
    ),
    ("比较 rc.cir 的最近两次仿真", "compare", {"file": "rc.cir"}),
    ("broken.cir 为什么仿真失败？", "failure", {"file": "broken.cir"}),
    (
        "给 ce.cir 设一个目标：增益大于 40dB",
        "set_goal",
        {"file": "ce.cir", "figures": ("gain",), "value": 40.0, "unit": "dB", "bound": "at_least"},
    ),
    ("ce.cir 的目标都达到了吗", "check_goals", {"file": "ce.cir"}),
    ("撤销刚才的修改", "undo", {}),
    ("找一个NPN管", "find_part", {"query": "npn"}),
    (
        "有没有GBW大于2MHz的运放？",
        "find_part",
        {"value": 2000000.0, "unit": "Hz", "bound": "at_least", "query": "op-amp"},
    ),
    ("有哪些稳压管", "find_part", {"query": "zener"}),
    ("有没有 2n3904", "find_part", {"query": "2N3904"}),
    ("ce.cir 里 RE 是干什么用的？", "role", {"file": "ce.cir", "names": ("RE",)}),
    ("opamp.cir 有几个晶体管？", "count", {"file": "opamp.cir", "query": "MOSFET|bipolar transistor|JFET"}),
    ("ce.cir 的电源电压是多少", "supply", {"file": "ce.cir"}),
    ("为什么 ce.cir 的增益这么低？", "limits", {"file": "ce.cir", "figures": ("gain",), "way": "raise"}),
    ("怎样提高 ce.cir 的带宽", "limits", {"file": "ce.cir", "figures": ("bandwidth",), "way": "raise"}),
    ("buck.cir 电感的峰值电流是多少", "current", {"file": "buck.cir", "names": ("l*",), "query": "peak"}),
    ("ce.cir 的总输出噪声有多大？", "figure", {"file": "ce.cir", "figures": ("noise",)}),
    ("ce.cir 的下限截止频率是多少", "figure", {"file": "ce.cir", "figures": ("lower_cutoff",)}),
    ("opamp.cir 的相位裕度主要取决于哪些元件", "limits", {"file": "opamp.cir", "figures": ("phase_margin",)}),
    ("opamp.cir 的单位增益带宽", "figure", {"file": "opamp.cir", "figures": ("ugf",)}),
    (
        "把 rc.cir 的带宽提高到 5kHz",
        "tune",
        {"file": "rc.cir", "figures": ("bandwidth",), "value": 5000.0, "unit": "Hz"},
    ),
    (
        "ce.cir 的增益调成 100 倍",
        "tune",
        {"file": "ce.cir", "figures": ("gain",), "value": 100.0, "unit": "x"},
    ),
    (
        "改变 CE，把 ce.cir 的下限截止频率降到 100Hz",
        "tune",
        {"file": "ce.cir", "figures": ("lower_cutoff",), "names": ("CE",), "value": 100.0, "unit": "Hz"},
    ),
    (
        "把 opamp.cir 的相位裕度提高到 80 度以上",
        "tune",
        {
            "file": "opamp.cir",
            "figures": ("phase_margin",),
            "value": 80.0,
            "unit": "none",
            "bound": "at_least",
        },
    ),
    (
        "rc.cir 电阻1%电容5%，蒙特卡洛500次看截止频率",
        "monte_carlo",
        {"file": "rc.cir", "figures": ("cutoff",), "tolerances": (("r", 0.01), ("c", 0.05)), "runs": 500},
    ),
    (
        "ce.cir 元件误差10%时最坏情况的增益",
        "worst_case",
        {"file": "ce.cir", "figures": ("gain",), "tolerances": (("", 0.1),)},
    ),
    (
        "opamp.cir 的 CC 从 0.5p 扫描到 5p，看相位裕度",
        "sweep",
        {"file": "opamp.cir", "figures": ("phase_margin",), "names": ("CC",), "span": (5e-13, 5e-12)},
    ),
    (
        "opamp.cir 125℃ 时的增益是多少",
        "figure",
        {"file": "opamp.cir", "figures": ("gain",), "parameters": (("temp", "125"),)},
    ),
    ("ce.cir 节点 c 的电压", "voltage", {"file": "ce.cir", "nodes": ("c",)}),
    ("ce.cir 中 Q1 的集电极电流", "point", {"file": "ce.cir", "names": ("Q1",)}),
    ("opamp.cir 的总电源电流", "current", {"file": "opamp.cir", "query": "supply"}),
    ("opamp.cir 的功耗是多少", "power", {"file": "opamp.cir", "query": "supply"}),
    ("opamp.cir 的管子都在饱和区吗", "point", {"file": "opamp.cir"}),
    ("ce.cir 的节点 b 连了哪些元件", "node", {"file": "ce.cir", "nodes": ("b",)}),
    ("opamp.cir 里 CC 起什么作用", "role", {"file": "opamp.cir", "names": ("CC",)}),
    ("有12V的稳压管吗", "find_part", {"value": 12.0, "unit": "V", "query": "zener"}),
    ("how hot does Q1 get in ce.cir, I mean how much power?", "power", {"file": "ce.cir", "names": ("Q1",)}),
    (
        "how far can the output of ce.cir swing before it clips?",
        "clipping",
        {"file": "ce.cir", "figures": ("swing",)},
    ),
    (
        "is the gain of ce.cir within 2 dB if the resistors are 5 % parts?",
        "worst_case",
        {"file": "ce.cir", "figures": ("gain",), "tolerances": (("r", 0.05),), "room": 2.0},
    ),
    ("how much current does the collector draw in ce.cir?", "point", {"file": "ce.cir"}),
    (
        "which part of ce.cir decides the lower corner?",
        "limits",
        {"file": "ce.cir", "figures": ("lower_cutoff",)},
    ),
    ("plot the output of ce.cir please", "plot", {"file": "ce.cir", "figures": ("vout",)}),
    (
        "画一下 ce.cir 从 10Hz 到 10MHz 的幅频曲线",
        "plot",
        {"file": "ce.cir", "query": "ac", "span": (10.0, 1e7)},
    ),
    (
        "ce.cir 温度从 -20 度升到 70 度，集电极电压会漂多少？",
        "sweep",
        {"file": "ce.cir", "figures": ("collector_voltage",), "names": ("temp",), "span": (-20.0, 70.0)},
    ),
    (
        "does the bias of ce.cir survive if VCC sags to 9 V?",
        "what_if",
        {"file": "ce.cir", "names": ("VCC",), "parameters": (("VCC", "9"),), "query": "bias"},
    ),
    (
        "如果 ce.cir 换成 β 只有 100 的管子会怎样",
        "sweep",
        {
            "file": "ce.cir",
            "figures": ("collector_current", "collector_emitter"),
            "names": ("beta",),
            "span": (100.0, 100.0),
        },
    ),
    (
        "how long does a 500 mAh battery last with ce.cir?",
        "battery",
        {"file": "ce.cir", "value": 0.5},
    ),
    (
        "THD of ce.cir for a 50 mV sine",
        "stimulus",
        {"file": "ce.cir", "figures": ("thd",), "value": 0.05, "query": "sine", "writes": False},
    ),
    (
        "what spread of fc has rc.cir with 5 % parts?",
        "monte_carlo",
        {"file": "rc.cir", "figures": ("cutoff",), "tolerances": (("", 0.05),)},
    ),
    (
        "如果 rc.cir 的 C1 容量掉 15%，截止频率怎样",
        "what_if",
        {"file": "rc.cir", "figures": ("cutoff",), "names": ("C1",), "parameters": (("C1", "*0.85"),)},
    ),
    (
        "plot the group delay of rc.cir",
        "plot",
        {"file": "rc.cir", "figures": ("group_delay",), "query": "ac"},
    ),
    (
        "how many dB down is rc.cir at 10 kHz?",
        "figure",
        {"file": "rc.cir", "figures": ("gain",), "at": 1e4, "at_unit": "Hz"},
    ),
    ("what power does the diode of buck.cir take?", "power", {"file": "buck.cir", "names": ("d*",)}),
    (
        "rms current in COUT of buck.cir - will a cheap one rated 500 mA burst?",
        "current",
        {
            "file": "buck.cir",
            "names": ("COUT",),
            "query": "rms",
            "unanswered": "will a cheap one rated 500 mA burst?",
        },
    ),
    (
        "the input of buck.cir droops to 9V, does the output voltage follow?",
        "what_if",
        {"file": "buck.cir", "figures": ("vout",), "parameters": (("input", "9"),)},
    ),
    (
        "is the bandwidth of ce.cir good or rather an illness?",
        "figure",
        {"file": "ce.cir", "figures": ("bandwidth",), "is_nearest": True},
    ),
)
LEANING: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (
        "what is the gain of ce.cir at 10 kHz?",
        "and at 100 kHz?",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "at": 100000.0, "at_unit": "Hz"},
    ),
    (
        "what is the cut-off of rc.cir with R1 = 1k?",
        "now with 2k",
        "figure",
        {"file": "rc.cir", "figures": ("cutoff",), "names": ("R1",), "parameters": (("R1", "2000"),)},
    ),
    (
        "what is the gain of ce.cir at 10 kHz?",
        "and the phase?",
        "figure",
        {"file": "ce.cir", "figures": ("phase",), "at": 10000.0, "at_unit": "Hz"},
    ),
    (
        "ce.cir 在10kHz的增益是多少",
        "那 100kHz 呢？",
        "figure",
        {"file": "ce.cir", "figures": ("gain",), "at": 100000.0, "at_unit": "Hz"},
    ),
    (
        "rc.cir 的 R1 取 1k 时截止频率是多少",
        "再试试 2k",
        "figure",
        {"file": "rc.cir", "figures": ("cutoff",), "names": ("R1",), "parameters": (("R1", "2000"),)},
    ),
    (
        "ce.cir 在10kHz的增益是多少",
        "那相位呢？",
        "figure",
        {"file": "ce.cir", "figures": ("phase",), "at": 10000.0, "at_unit": "Hz"},
    ),
)


def said_by(ask: object) -> tuple[str, dict[str, Any]]:
    """The intent, and all that is not left at its default."""
    assert isinstance(ask, Ask)
    fields = {name: field.default for name, field in Ask.__dataclass_fields__.items()}
    said = {name: value for name in fields if (value := getattr(ask, name)) != fields[name]}
    if ask.intent == "point":
        del said["query"]  # the sentence itself
    return said.pop("intent"), said


@for_each(("text", "intent", "holds"), QUESTIONS)
def test_a_question_is_understood(text: str, intent: str, holds: dict[str, Any]) -> None:
    assert said_by(understand_command(text, FILES)) == (intent, holds)


@for_each(
    "text",
    [
        "I'd like to know how far off the ideal 5.28 V the output voltage of buck.cir lands",
        "would a 10 MHz op amp move the cut-off of rc.cir?",
        "buck.cir: the supply is 9 V. does the output voltage change?",
        "buck.cir 输出纹波想降到 10mV 以内，换电容还是换电感划算",
    ],
)
def test_a_question_changes_nothing(text: str) -> None:
    command = understand_command(text, FILES)
    asked = command.commands if isinstance(command, Several) else (command,)
    assert not [each for each in asked if isinstance(each, Change)]
    assert not [each for each in asked if isinstance(each, Ask) and each.intent == "tune"]


@for_each(("before", "text", "intent", "holds"), LEANING)
def test_a_question_leans_on_the_one_before(
    before: str, text: str, intent: str, holds: dict[str, Any]
) -> None:
    previous = understand_command(before, FILES)
    assert said_by(understand_command(text, FILES, previous)) == (intent, holds)


@for_each(
    "text",
    [
        "make me a coffee of 20 dB",
        "what limits my patience",
        "why is the sky blue",
        "the gain is nice",
        "how many people use SPICE",
        "RC low-pass 1 kHz, gain 10",
        "why does a 1 kHz low-pass filter have a low gain?",
        "an amplifier with 40 dB gain at 10 kHz",
        "设计一个增益为 20 dB 的放大器",
        "为什么天是蓝的",
        "一个截止频率 1 kHz 的低通滤波器",
        "增益很重要",
    ],
)
def test_other_sentences_are_no_questions_about_a_circuit(text: str) -> None:
    assert not isinstance(understand_command(text, FILES), Ask)


@for_each(
    ("old", "new", "unit", "told"),
    [
        (1e3, 2e3, "Hz", "x: 1 kHz → 2 kHz, +100%"),
        (-634e-6, 0.9089, "V", "x: -634 uV → 908.9 mV, +909.5 mV"),
        (1e-6, 1.0, "V", "x: 1 uV → 1 V, +1 V"),
        (0.0, 1.0, "V", "x: 0 V → 1 V, +1 V"),
        (20.0, 26.0, "dB", "x: 20 dB → 26 dB, +6 dB"),
    ],
)
def test_a_move_is_told_by_its_share_only_where_that_says_something(
    old: float, new: float, unit: str, told: str
) -> None:
    assert moved("x", old, new, unit) == told
