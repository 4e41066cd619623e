"""The directives of a netlist as they are written, for completion and for looking at one: form and meaning.

In forms ``<word>`` is to be filled in, ``[ ]`` may be left out. Of a template the words in ``<>`` are written
over one after the other.
"""

from __future__ import annotations

from typing import NamedTuple

from shared.message import Message, msg


class Form(NamedTuple):
    """One directive, element line, waveform or function."""

    form: str
    meaning: Message
    template: str
    """What is put into the text; "" = its name."""


DIRECTIVES: dict[str, Form] = {
    "op": Form(".op", msg("operating point: the DC solution"), ".op"),
    "dc": Form(".dc <source> <from> <to> <step> [<source2> <from> <to> <step>]",
               msg("DC sweep of a source (or of temp, or of a resistor)"), ".dc <V1> <0> <5> <0.1>"),
    "ac": Form(".ac dec|oct|lin <points> <from> <to>", msg("small-signal frequency response"),
               ".ac dec <20> <1> <1meg>"),
    "tran": Form(".tran <step> <stop> [<start> [<max step>]] [uic]", msg("transient analysis over time"),
                 ".tran <1u> <1m>"),
    "noise": Form(".noise v(<node>[,<ref>]) <source> dec|oct|lin <points> <from> <to>",
                  msg("noise at a node, referred to a source"), ".noise v(<out>) <V1> dec <10> <1> <1meg>"),
    "tf": Form(".tf v(<node>)|i(<source>) <source>",
               msg("DC transfer function with input and output resistance"), ".tf v(<out>) <V1>"),
    "sens": Form(".sens v(<node>) [ac dec <points> <from> <to>]",
                 msg("sensitivity of an output to every part"), ".sens v(<out>)"),
    "pz": Form(".pz <in> <in ref> <out> <out ref> cur|vol pol|zer|pz", msg("poles and zeros"),
               ".pz <in> <0> <out> <0> vol pz"),
    "disto": Form(".disto dec|oct|lin <points> <from> <to> [<f2 over f1>]",
                  msg("small-signal distortion"), ".disto dec <10> <1k> <1meg>"),
    "sp": Form(".sp dec|oct|lin <points> <from> <to>", msg("S-parameters between ports"),
               ".sp dec <10> <1meg> <1g>"),
    "four": Form(".four <frequency> <v(node)> ...", msg("Fourier analysis of a transient"),
                 ".four <1k> v(<out>)"),
    "meas": Form(".meas <analysis> <name> <function> <signal> [from=] [to=]",
                 msg("measure a value from the data of a run"), ".meas tran <name> MAX v(<out>)"),
    "param": Form(".param <name>=<value>", msg("define parameters, which are read in braces"),
                  ".param <name>=<1k>"),
    "csparam": Form(".csparam <name>=<value>", msg("a parameter that a control block sees as a vector"),
                    ".csparam <name>=<1k>"),
    "func": Form(".func <name>(<a>,<b>) {<expression>}", msg("define a function for expressions"),
                 ".func <f>(<x>) {<x*2>}"),
    "model": Form(".model <name> <type>(<parameter>=<value> ...)", msg("define a device model"),
                  ".model <name> <d>(<is=1e-14>)"),
    "subckt": Form(".subckt <name> <pins> [<parameter>=<default>]",
                   msg("begin a subcircuit; an X line makes an instance of it"),
                   ".subckt <name> <in> <out>"),
    "ends": Form(".ends [<name>]", msg("end of the subcircuit"), ".ends"),
    "include": Form('.include "<file>"', msg("read another file at this place"), '.include "<file>"'),
    "lib": Form('.lib "<file>" <section>', msg("read one section of a library"), '.lib "<file>" <section>'),
    "endl": Form(".endl [<section>]", msg("end of the library section"), ".endl"),
    "global": Form(".global <node> ...", msg("nodes that are the same in all subcircuits"),
                   ".global <vdd>"),
    "ic": Form(".ic v(<node>)=<value>", msg("voltage of a node at the beginning of a transient"),
               ".ic v(<out>)=<0>"),
    "nodeset": Form(".nodeset v(<node>)=<value>", msg("a guess that the operating point begins with"),
                    ".nodeset v(<out>)=<0>"),
    "options": Form(".options <name>[=<value>] ...", msg("settings of the simulator"),
                    ".options <reltol=1e-3>"),
    "save": Form(".save all | v(<node>) i(<source>) @<device>[<quantity>]",
                 msg("which signals the result keeps"), ".save all"),
    "print": Form(".print <analysis> v(<node>) ...", msg("signals to be printed; they are kept"),
                  ".print tran v(<out>)"),
    "plot": Form(".plot <analysis> v(<node>) ...", msg("signals to be plotted as text; they are kept"),
                 ".plot tran v(<out>)"),
    "probe": Form(".probe alli | v(<node>) i(<element>) p(<element>)",
                  msg("save currents and power of elements"), ".probe alli"),
    "temp": Form(".temp <degrees C>", msg("temperature of the circuit"), ".temp <27>"),
    "step": Form(".step [dec|oct] [param] <name> <from> <to> <step> | list <values>",
                 msg("repeat the run for values of a parameter, source or temperature"),
                 ".step param <name> list <1k> <2k>"),
    "if": Form(".if (<condition>)", msg("cards that are read only when the condition holds"),
               ".if (<condition>)"),
    "elseif": Form(".elseif (<condition>)", msg("otherwise, when this condition holds"),
                   ".elseif (<condition>)"),
    "else": Form(".else", msg("otherwise"), ".else"),
    "endif": Form(".endif", msg("end of the conditional cards"), ".endif"),
    "control": Form(".control", msg("begin of a block of commands for the simulator"), ".control"),
    "endc": Form(".endc", msg("end of the block of commands"), ".endc"),
    "title": Form(".title <words>", msg("title of the circuit"), ".title <words>"),
    "end": Form(".end", msg("end of the circuit"), ".end"),
}  # fmt: skip
"""By keyword without the dot."""

ELEMENTS: dict[str, Form] = {
    "r": Form("R<name> <n+> <n-> <ohms> [tc1=] [m=]", msg("resistor"), "<n1> <n2> <1k>"),
    "c": Form("C<name> <n+> <n-> <farads> [ic=]", msg("capacitor"), "<n1> <n2> <100n>"),
    "l": Form("L<name> <n+> <n-> <henries> [ic=]", msg("inductor"), "<n1> <n2> <10u>"),
    "k": Form("K<name> <L1> <L2> <coupling>", msg("coupling of inductors"), "<L1> <L2> <0.99>"),
    "v": Form("V<name> <n+> <n-> [dc] <volts> [ac <magnitude>] [waveform]", msg("voltage source"),
              "<n1> <0> <5>"),
    "i": Form("I<name> <n+> <n-> [dc] <amperes> [ac <magnitude>] [waveform]",
              msg("current source; the current flows from n+ through the source to n-"), "<n1> <0> <1m>"),
    "d": Form("D<name> <anode> <cathode> <model>", msg("diode"), "<anode> <cathode> <model>"),
    "q": Form("Q<name> <collector> <base> <emitter> [<substrate>] <model>", msg("bipolar transistor"),
              "<c> <b> <e> <model>"),
    "m": Form("M<name> <drain> <gate> <source> <bulk> <model> [l=] [w=]", msg("MOSFET"),
              "<d> <g> <s> <b> <model>"),
    "j": Form("J<name> <drain> <gate> <source> <model>", msg("JFET"), "<d> <g> <s> <model>"),
    "z": Form("Z<name> <drain> <gate> <source> <model>", msg("MESFET"), "<d> <g> <s> <model>"),
    "x": Form("X<name> <nodes> <subcircuit> [<parameter>=<value>]", msg("instance of a subcircuit"),
              "<nodes> <subcircuit>"),
    "e": Form("E<name> <n+> <n-> <c+> <c-> <gain>", msg("voltage source controlled by a voltage"),
              "<n1> <0> <c1> <0> <1>"),
    "g": Form("G<name> <n+> <n-> <c+> <c-> <siemens>", msg("current source controlled by a voltage"),
              "<n1> <0> <c1> <0> <1m>"),
    "f": Form("F<name> <n+> <n-> <V source> <gain>", msg("current source controlled by a current"),
              "<n1> <0> <V1> <1>"),
    "h": Form("H<name> <n+> <n-> <V source> <ohms>", msg("voltage source controlled by a current"),
              "<n1> <0> <V1> <1k>"),
    "b": Form("B<name> <n+> <n-> V=<expression> | I=<expression>", msg("behavioral source"),
              "<n1> <0> V={<v(a)*2>}"),
    "s": Form("S<name> <n+> <n-> <c+> <c-> <model>", msg("switch controlled by a voltage"),
              "<n1> <n2> <c1> <0> <model>"),
    "w": Form("W<name> <n+> <n-> <V source> <model>", msg("switch controlled by a current"),
              "<n1> <n2> <V1> <model>"),
    "t": Form("T<name> <a+> <a-> <b+> <b-> z0=<ohms> td=<seconds>", msg("lossless transmission line"),
              "<a> <0> <b> <0> z0=<50> td=<1n>"),
}  # fmt: skip
"""By letter; the template is what stands behind the name."""

WAVEFORMS: dict[str, Form] = {
    "pulse": Form("PULSE(<v1> <v2> <delay> <rise> <fall> <width> <period>)", msg("pulses"),
                  "PULSE(<0> <5> <0> <1n> <1n> <5u> <10u>)"),
    "sin": Form("SIN(<offset> <amplitude> <frequency> [<delay> <damping> <phase>])", msg("sine wave"),
                "SIN(<0> <1> <1k>)"),
    "pwl": Form("PWL(<t1> <v1> <t2> <v2> ...)", msg("straight lines between points"),
                "PWL(<0> <0> <1m> <5>)"),
    "exp": Form("EXP(<v1> <v2> <rise delay> <rise tau> <fall delay> <fall tau>)",
                msg("exponential rise and fall"), "EXP(<0> <5> <0> <1u> <5u> <1u>)"),
    "sffm": Form("SFFM(<offset> <amplitude> <carrier> <index> <signal>)", msg("frequency modulation"),
                 "SFFM(<0> <1> <10k> <5> <1k>)"),
    "am": Form("AM(<amplitude> <offset> <modulating> <carrier> <delay>)", msg("amplitude modulation"),
               "AM(<1> <1> <1k> <100k> <0>)"),
    "dc": Form("DC <value>", msg("DC value"), "DC <5>"),
    "ac": Form("AC <magnitude> [<phase>]", msg("magnitude for small-signal analyses"), "AC <1>"),
}  # fmt: skip

MEASUREMENTS: dict[str, Form] = {
    "max": Form("MAX <signal> [from=] [to=]", msg("largest value"), "MAX <v(out)>"),
    "min": Form("MIN <signal> [from=] [to=]", msg("smallest value"), "MIN <v(out)>"),
    "avg": Form("AVG <signal> [from=] [to=]", msg("mean over the span"), "AVG <v(out)>"),
    "rms": Form("RMS <signal> [from=] [to=]", msg("root mean square over the span"), "RMS <v(out)>"),
    "pp": Form("PP <signal> [from=] [to=]", msg("peak to peak"), "PP <v(out)>"),
    "integ": Form("INTEG <signal> [from=] [to=]", msg("integral over the span"), "INTEG <v(out)>"),
    "find": Form("FIND <signal> AT=<x> | WHEN <signal>=<value>", msg("value at a place"),
                 "FIND <v(out)> AT=<1m>"),
    "when": Form("WHEN <signal>=<value> [rise|fall|cross=<n>]", msg("where a signal crosses a value"),
                 "WHEN <v(out)>=<2.5> RISE=<1>"),
    "deriv": Form("DERIV <signal> AT=<x>", msg("slope at a place"), "DERIV <v(out)> AT=<1m>"),
    "trig": Form("TRIG <signal> VAL=<v> RISE=<n> TARG <signal> VAL=<v> RISE=<n>",
                 msg("distance between two crossings"),
                 "TRIG <v(in)> VAL=<0.5> RISE=<1> TARG <v(out)> VAL=<0.5> RISE=<1>"),
    "param": Form("PARAM='<expression>'", msg("computed from other measurements"), "PARAM='<a/b>'"),
    "min_at": Form("MIN_AT <signal>", msg("where it is smallest"), "MIN_AT <v(out)>"),
    "max_at": Form("MAX_AT <signal>", msg("where it is largest"), "MAX_AT <v(out)>"),
}  # fmt: skip

MODEL_TYPES: dict[str, Form] = {
    "d": Form("d(is= n= rs= cjo= bv= tt=)", msg("diode"), "d(<is=1e-14>)"),
    "npn": Form("npn(bf= is= vaf= cje= cjc= tf=)", msg("NPN transistor"), "npn(<bf=100>)"),
    "pnp": Form("pnp(bf= is= vaf= cje= cjc= tf=)", msg("PNP transistor"), "pnp(<bf=100>)"),
    "nmos": Form("nmos(level= vto= kp= lambda=)", msg("N-channel MOSFET"), "nmos(level=1 <vto=0.7 kp=100u>)"),
    "pmos": Form("pmos(level= vto= kp= lambda=)", msg("P-channel MOSFET"), "pmos(level=1 <vto=-0.7 kp=40u>)"),
    "vdmos": Form("vdmos([pchan] vto= kp= rd= cgs= cgdmax=)", msg("power MOSFET"), "vdmos(<vto=3 kp=10>)"),
    "njf": Form("njf(vto= beta= lambda=)", msg("N-channel JFET"), "njf(<vto=-2>)"),
    "pjf": Form("pjf(vto= beta= lambda=)", msg("P-channel JFET"), "pjf(<vto=-2>)"),
    "sw": Form("sw(vt= vh= ron= roff=)", msg("switch controlled by a voltage"),
               "sw(<vt=0.5 ron=1 roff=1meg>)"),
    "csw": Form("csw(it= ih= ron= roff=)", msg("switch controlled by a current"),
                "csw(<it=1m ron=1 roff=1meg>)"),
    "r": Form("r(tc1= tc2= rsh=)", msg("resistor"), "r(<tc1=0>)"),
    "c": Form("c(tc1= tc2= cj=)", msg("capacitor"), "c(<tc1=0>)"),
    "l": Form("l(tc1= tc2=)", msg("inductor"), "l(<tc1=0>)"),
    "nmf": Form("nmf(vto= beta= alpha=)", msg("N-channel MESFET"), "nmf(<vto=-2>)"),
    "pmf": Form("pmf(vto= beta= alpha=)", msg("P-channel MESFET"), "pmf(<vto=-2>)"),
    "ltra": Form("ltra(r= l= c= len=)", msg("lossy transmission line"), "ltra(<r=0.1 l=250n c=100p len=1>)"),
    "urc": Form("urc(k= fmax= rperl= cperl=)", msg("distributed RC line"), "urc(<rperl=1k cperl=1p>)"),
}  # fmt: skip

MODELS_OF: dict[str, frozenset[str]] = {
    "d": frozenset({"d"}),
    "q": frozenset({"npn", "pnp"}),
    "m": frozenset({"nmos", "pmos", "vdmos"}),
    "j": frozenset({"njf", "pjf"}),
    "z": frozenset({"nmf", "pmf"}),
    "s": frozenset({"sw"}),
    "w": frozenset({"csw"}),
    "r": frozenset({"r", "res"}),
    "c": frozenset({"c", "cap"}),
    "l": frozenset({"l", "ind"}),
    "o": frozenset({"ltra"}),
    "u": frozenset({"urc"}),
    "y": frozenset({"txl"}),
    "p": frozenset({"cpl"}),
}
"""Types of models that fit an element's letter."""

OPTIONS: dict[str, Message] = {
    "reltol": msg("relative tolerance, 1e-3 unless set"),
    "abstol": msg("tolerance of currents, 1p unless set"),
    "vntol": msg("tolerance of voltages, 1u unless set"),
    "chgtol": msg("tolerance of charges"),
    "trtol": msg("how much truncation errors are overestimated; 7 unless set"),
    "gmin": msg("least conductance, 1e-12 unless set"),
    "rshunt": msg("a resistance from each node to ground"),
    "method": msg("integration: trap or gear"),
    "maxord": msg("highest order of gear"),
    "itl1": msg("iterations of the operating point, 100 unless set"),
    "itl2": msg("iterations of a point of a sweep, 50 unless set"),
    "itl4": msg("iterations of a point in time, 10 unless set"),
    "temp": msg("temperature of the circuit, 27 unless set"),
    "tnom": msg("temperature at which model parameters hold"),
    "scale": msg("factor of lengths and widths"),
    "savecurrents": msg("save the currents of all elements"),
}

PINS: dict[str, tuple[str, ...]] = {
    "d": ("anode", "cathode"),
    "q": ("collector", "base", "emitter", "substrate"),
    "m": ("drain", "gate", "source", "bulk"),
    "j": ("drain", "gate", "source"),
    "z": ("drain", "gate", "source"),
    "s": ("n+", "n-", "c+", "c-"),
    "e": ("n+", "n-", "c+", "c-"),
    "g": ("n+", "n-", "c+", "c-"),
    "t": ("a+", "a-", "b+", "b-"),
    **dict.fromkeys("rclvibfhw", ("n+", "n-")),
}
"""What the nodes of an element line are called, in their order."""
PIN_WORDS: dict[str, Message] = {
    "anode": msg("anode"),
    "cathode": msg("cathode"),
    "collector": msg("collector"),
    "base": msg("base"),
    "emitter": msg("emitter"),
    "substrate": msg("substrate"),
    "drain": msg("drain"),
    "gate": msg("gate"),
    "source": msg("source"),
    "bulk": msg("bulk"),
}
EXPRESSION_FUNCTIONS: tuple[str, ...] = (
    *("abs", "sqrt", "exp", "ln", "log10", "min", "max", "pow", "sin", "cos", "tan", "atan", "int", "sgn"),
    *("ternary_fcn", "agauss", "gauss", "aunif", "unif", "limit"),
)
