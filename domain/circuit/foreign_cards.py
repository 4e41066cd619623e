"""What other SPICEs write on a card: patterns, tables, and the rewrites that need its text alone."""

from __future__ import annotations

import re

from domain.circuit.numbers import read_number
from domain.circuit.simulator_settings import Dialect
from domain.circuit.statements import Field, Statement
from shared.late_patterns import late_pattern

NOT_CIRCUIT: dict[Dialect, frozenset[str]] = {
    "ngspice": frozenset(),
    "ltspice": frozenset({"backanno", "wave", "ferret", "machine", "endmachine", "savebias", "loadbias",
                          "text", "state", "rule", "output", "net"}),
    "pspice": frozenset({"probe", "probe64", "probe/csdf", "stimulus", "stmlib", "autoconverge", "vector",
                         "watch", "savebias", "loadbias", "aliases", "endaliases", "mc", "wcase",
                         "distribution"}),
    "hspice": frozenset({"protect", "unprotect", "prot", "unprot", "probe", "biaschk", "lin", "hdl"}),
}  # fmt: skip
"""Cards that say nothing of the circuit, or that have no counterpart."""

TELLING = frozenset({"net", "mc", "wcase", "stimulus", "machine", "loadbias", "hdl", "alter", "data"})
"""Those whose loss changes what the run gives."""

MICRO = late_pattern(r"(?<=[\d.])(?:\xc2\xb5|\xce\xbc|\xb5)(?![\x80-\xff])")
SERIES = late_pattern(
    r"(?<!\s)\s++(?P<key>rser|rpar|cpar|lser|rlshunt)\s*+=\s*+(?P<value>\{[^}]*\}|[^\s,]+)", re.IGNORECASE
)
BARE_AREA = late_pattern(r"^(?P<head>d\S*\s+\S+\s+\S+\s+[^\s=]+)\s+(?=[\d.][^\s=]*(?:\s|$))", re.IGNORECASE)
"""A diode up to the number behind its model, which is its area (ngspice misses the model then)."""
RATING = late_pattern(
    r"(?<!\s)\s++(?:tol|pwr|irms|vrms|ipk|mfg|pn|type|mtbf|pppkg)\s*+=\s*+(?:\"[^\"]*\"|[^\s\",]+)",
    re.IGNORECASE,
)
MAKER = late_pattern(r"(?i)\bmfg\s*=\s*[^\s)]+")
"""The maker on an LTspice model card, which ngspice would take for a parameter."""
LEVEL_8 = late_pattern(
    r"(?P<head>\s*\.model\s+\S+\s+[np]mos\b.*?\blevel\s*=\s*)8(?:\.0*)?(?![\w.])", re.IGNORECASE | re.DOTALL
)
"""BSIM3 of LTspice; in its mode for PSpice ngspice takes the 8 for PSpice's, which is BSIM4."""
BARE_DIODE = late_pattern(r"\s*\.model\s+\S+\s+d\s*", re.IGNORECASE)
"""LTspice's diode without a parameter. Without any charge ngspice finds no way through the moment a bridge
with a floating side turns over; LTspice does. 1 fF is less than any node has."""
LONE_UNIT = late_pattern(
    r"^(?P<kept>\s*[rcl]\S*\s+\S+\s+\S+\s+[-+]?[\d.]\S*)\s+"
    r"(?P<word>(?:meg|mil|[munpfkgt]|\xc2\xb5|\xce\xbc)(?:ohms?|f|h)?|ohms?|[fh])\s*$",
    re.IGNORECASE,
)
"""A value with a blank in it: LTspice computes with the number before the blank (``C1 a b 84.9 u`` is 84.9 F,
as measured on its results)."""
RATED_VOLTAGE = late_pattern(r"(?<!\s)\s++v\s*+=\s*+[\d.]+\w*(?=\s|$)", re.IGNORECASE)
"""What LTspice keeps of a part and does not simulate."""
RKM = late_pattern(r"(?<=\s)(?P<whole>\d+)(?P<scale>meg|[kmunpfgtr])(?P<part>\d+)(?=\s|$)", re.IGNORECASE)
VALUE_BRACE = late_pattern(r"(?P<word>\bvalue)\s*(?P<brace>\{)", re.IGNORECASE)
LAPLACE = late_pattern(
    r"^(?P<head>[eg]\S*\s+\S+\s+\S+)\s+(?:(?P<cp>\S+)\s+(?P<cn>\S+)\s+laplace\s*=\s*(?P<lt>.+)|"
    r"laplace\s*\{(?P<input>[^{}]*)\}\s*=?\s*[{(](?P<ps>.*)[})])\s*$",
    re.IGNORECASE,
)
LAPLACE_OF_SOURCE = late_pattern(
    r"^b(?P<name>\S*)\s+(?P<nodes>\S+\s+\S+)\s+(?P<kind>[vi])\s*=\s*(?P<input>.+?)\s+laplace\s*=\s*(?P<lt>.+)$",
    re.IGNORECASE,
)
"""``B1 out 0 V=V(in) Laplace=1/(1+s)`` of LTspice."""
FILE = late_pattern(r"^\s*\.\w+\s+(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>.*?))\s*$")
"""The path of a `.lib` or `.include`: LTspice takes the rest of the card, blanks and all."""
OF_CIRCUIT = late_pattern(
    r"^(?P<key>[rcl]\S*\s+\S+\s+\S+\s+(?:[rcl]\s*=\s*)?)"
    r"(?P<expression>(?=[^={]*[-+*/(])(?=.*\b[vi]\s*\()[^={]+?)(?=\s+\w+\s*=|\s*$)",
    re.IGNORECASE,
)
"""A value that reads a voltage or a current, without braces: ``R1 a b R=1k+V(x)*10``."""
OWN_LIBRARY = late_pattern(
    r"(?:^|/)(?:standard\.(?:dio|bjt|mos|jft|cap|ind|bead|res)|(?:ltc|adi|ad)\d*\.lib|"
    r"(?:ltc?|adr)\d+[\w.-]*\.(?:sub|lib)|(?:ne555|pc817|4n2[57]|cny17|moc205)\.sub|"
    r"universalop-?amps?\d*[ab]?\.(?:sub|lib)|opamps?\.sub|(?:nom|nomd|eval|evald|evalaa|breakout|bipolar|diode|"
    r"analog|analog_p|abm|source|jfet|pwrmos|opamp)\.lib)$",
    re.IGNORECASE,
)
"""Libraries that come with LTspice and PSpice."""
HAS_AC = late_pattern(r"\bac\b", re.IGNORECASE)
SUFFIX = late_pattern(r"\.\w{1,8}$")
GLOBAL_NET = late_pattern(r"(?<=[\s,(])\$G_\w+", re.IGNORECASE)
RANDOM = {
    "mc": ".func mc(nominal,tolerance) {aunif(nominal,(nominal)*(tolerance))}",
    "flat": ".func flat(half) {aunif(0,half)}",
}
"""LTspice's functions of chance that ngspice calls otherwise (LTspice help, `.param`)."""
CHANCE = frozenset({*RANDOM, "gauss", "agauss", "unif", "aunif", "limit"})
MEMORY = late_pattern(r"\b(?:idtmod|idt|sdt|delay|absdelay)\s*\(", re.IGNORECASE)
MOST_MEMORIES = 20
"""Integrals and delays inside one."""
LONGEST = 100_000
LONGEST_CALL, MOST_CALLS, MOST_DEEP = 5_000, 500, 60
"""Letters of a card whose functions are rewritten, of what one call becomes (each within another makes it
several times as long), how many calls, and brackets in each other: each call's end is looked for anew."""
_BRACKET = late_pattern(r"[()]")
OPTION = late_pattern(
    r"(?<!\s)\s++(?:baudrate|delay|plotwinsize|numdgt|measdgt|fastaccess|noopiter|meascplxfmt|maxclocks|"
    r"nomarch|startclocks|topologycheck|trytocompact|flagloads|mindeltagmin|ptranmax|ptrantau|threads|"
    r"thev_induc|nomarch|accept|sstol|reject_number_tails)(?:\s*=\s*(?:\{[^}]*\}|\S+))?(?=\s|$)",
    re.IGNORECASE,
)
"""What LTspice's `.options` set of its windows and its own solver."""
BARE_PARAMETER = late_pattern(
    r"^(?P<head>\s*\.param\s+)(?P<name>[a-z_]\w*)\s+(?P<value>[-+\d.{][^=]*)$", re.IGNORECASE
)
RKM_OF_PARAMETER = late_pattern(
    r"=\s*(?P<whole>\d+)(?P<scale>meg|[kmunpfgtr])(?P<part>\d+)(?=\s|$)", re.IGNORECASE
)
TRIP = late_pattern(r"(?<!\s)\s++trip(?:dv|dt)\s*=\s*(?:\{[^}]*\}|\S+)", re.IGNORECASE)
"""How LTspice shortens its time steps at a source's jumps."""
START_OF_SOURCE = late_pattern(r"(?<!\s)\s++ic\s*=\s*(?:\{[^}]*\}|\S+)", re.IGNORECASE)
"""Where LTspice begins its search for the operating point of a B source."""
NOISELESS = late_pattern(r"(?<!\s)\s++noiseless(?:\s*=\s*\w+)?(?=\s|$)", re.IGNORECASE)
COMMA_OF_PARAMETERS = late_pattern(r"\s*,\s*(?=[a-z_]\w*\s*=)", re.IGNORECASE)
"""Between what an X line sets: ``a0=0.6, a1=-0.9``."""
CURRENT_TABLE = late_pattern(
    r"^(?P<name>i\S*)\s+(?P<a>\S+)\s+(?P<b>\S+)\s+tbl\s*=?\s*\((?P<points>[^()]*)\)\s*$", re.IGNORECASE
)
"""A load whose current LTspice reads off a table of its voltage: ``I1 a 0 tbl(0 0, 3 4m)``."""
LOAD = late_pattern(r"(?<!\s)\s++load(?=\s|$)", re.IGNORECASE)
CURRENT_AT_START = late_pattern(r"\bI\([^()]*\)\s*+=?\s*+(?:\{[^}]*\}|\S+)", re.IGNORECASE)
"""``I(L1)=0`` on an `.ic` card, where LTspice can do without the sign."""
COUNTS_OF_FOUR = late_pattern(r"(?P<head>\s*\.four\w*\s+\S+)(?:\s+-?\d+)+(?=\s)", re.IGNORECASE)
"""``.four 1k 10 -1 V(out)``: how many harmonics and periods, which ngspice takes for vectors."""
BARE_START = late_pattern(r"\b(?P<node>V\([^()]*\))\s++(?!=)", re.IGNORECASE)
"""``V(a) 1`` on it."""
CHARGED = late_pattern(
    r"^\s*(?P<name>c\S*)\s+(?P<a>[\w$#.]+)\s+(?P<b>[\w$#.]+)\s.*?\bic\s*=\s*(?P<start>\{[^{}]*\}|'[^']*'|[^\s{}']+)",
    re.IGNORECASE,
)
"""A capacitor that is charged at the start."""
CHARGE = late_pattern(
    r"^(?P<head>\s*c\S*\s+(?P<a>\S+)\s+(?P<b>\S+)\s+q)\s*=\s*(?P<charge>[^{'\s].*?)\s*$", re.IGNORECASE
)
"""A capacitor by its charge: ``C1 a b Q=1u*x``, x its voltage."""
PWL = late_pattern(r"\bpwl\s*\((?P<points>[^()]*)\)", re.IGNORECASE)
TABLE = late_pattern(
    r"^(?P<name>[eg]\S*)\s+(?P<n>\S+\s+\S+)\s+(?P<cp>\S+)\s+(?P<cn>\S+)\s+(?:table|tbl)\s*=?\s*\("
    r"(?P<points>.*)\)\s*$",
    re.IGNORECASE,
)
STARTUP_S = "20u"
"""How long LTspice takes to switch the sources on after `startup`."""
CONSTANT_SOURCE = late_pattern(
    r"^\s*\S+\s+\S+\s+\S+\s+(?:dc\s*=?\s*)?(?P<value>\{[^{}]*\}|[-+.\d][^\s(){}]*)"
    r"(?:\s+ac\b[^()]*)?\s*$",
    re.IGNORECASE,
)
"""A voltage or current source whose value is the same at all times."""
MODIFIERS = frozenset({"startup", "steady", "nodiscard", "step"})
BARE_AT = late_pattern(
    r"\b(?P<key>(?:at|td|rise|fall|cross)(?=\s+(?:[\d.{+-]|last\b))|(?:from|to)(?=\s+[\w.{(+-]))\s+",
    re.IGNORECASE,
)
"""In a measurement, without the equals sign."""
MEAS_KINDS = frozenset({"tran", "ac", "dc", "op", "noise", "sp", "tf"})
STARTED_AT = late_pattern(
    r"(?P<times>\.tran\s+[^\s=]+\s+[^\s=]+)(?P<uic>(?:\s+uic)?)\s+start\s*=\s*(?P<start>\S+)(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""HSPICE's name for what is the third number in ngspice."""


def names_a_section(written: str, statement: Statement) -> bool:
    """``.lib file section``: the last word is no part of a path, and what is before it names a file."""
    first, _, last = written.rpartition(" ")
    if not first or statement.keyword != "lib":
        return False
    return SUFFIX.search(last) is None and SUFFIX.search(first.strip("\"' ")) is not None


def with_signed_steps(raw: str) -> str:
    """``.dc V1 0 -5 0.01``: LTspice gives a step the sign it has to have; ngspice would compute nothing."""
    words = raw.split()
    for at in range(1, len(words) - 3, 4):
        start, stop, step = (read_number(word) for word in words[at + 1 : at + 4])
        if start and stop and step and (stop.value - start.value) * step.value < 0:
            step_text = words[at + 3]
            words[at + 3] = step_text[1:] if step_text.startswith("-") else f"-{step_text.lstrip('+')}"
            raw = " ".join(words)
    return raw


def relative_times(raw: str) -> str:
    """``PWL(1u 0 +2n 1)``: a time with a sign counts from the one before."""
    match = PWL.search(raw)
    words = re.split(r"[\s,]+", match["points"].strip()) if match else []
    if match is None or not any(word.startswith("+") for word in words[::2]):
        return raw
    now, new = 0.0, []
    for index, word in enumerate(words):
        number = read_number(word)
        if index % 2:
            new.append(word)
            continue
        if number is None or word.startswith("{"):
            return raw
        now = now + number.value if word.startswith("+") else number.value
        new.append(f"{now:.15g}")
    return f"{raw[: match.start('points')]}{' '.join(new)}{raw[match.end('points') :]}"


def as_table(raw: str) -> str:
    """``G1 a b c d table=(x1, y1, ...)``: a table of the voltage V(c,d)."""
    match = TABLE.match(raw)
    if match is None:
        return raw
    points = re.findall(r"\{[^}]*\}|[^\s,()]+", match["points"])
    kind = "v" if raw[:1] in "eE" else "i"
    look = f"v({match['cp']},{match['cn']})"
    return f"b_{match['name']} {match['n']} {kind}=pwl({look},{','.join(points)})"


def by_charge(raw: str) -> str:
    """LTspice's x, the voltage of a capacitor given by its charge, is said by its nodes."""
    match = CHARGE.match(raw)
    if match is None:
        return raw
    charge = re.sub(r"(?i)\bx\b", f"v({match['a']},{match['b']})", match["charge"])
    return f"{match['head']}={{{charge}}}"


def plain_name(name: str) -> str:
    return name.replace(".", "_").replace("/", "_")


def written(statement: Statement, name: Field) -> str:
    """A subcircuit's name, in the undecoded letters of its card."""
    return plain_name(statement.raw[name.start : name.end])


def micro(raw: str) -> str:
    return raw if raw.isascii() else MICRO.sub("u", raw)


def without_torn_brackets(raw: str) -> str:
    """A model's card without its parentheses, where some are not closed or close nothing.

    They mean nothing there: LTspice passes over them, while ngspice looks for the end without end and takes
    all memory. Those inside an expression in braces stay. Square ones say nothing either (``SW[]``).
    """
    raw = re.sub(r"(\{[^{}]*\})|[\[\]]", lambda found: found[1] or " ", raw)
    outside = re.sub(r"\{[^{}]*\}", "", raw)
    if outside.count("(") == outside.count(")"):
        return raw
    return re.sub(r"(\{[^{}]*\})|[()]", lambda found: found[1] or " ", raw)


def is_zero(text: str) -> bool:
    number = read_number(text)
    return number is not None and number.value == 0 and not number.rest


def thousandth(text: str) -> str:
    number = read_number(text)
    if number is not None and not text.startswith("{"):
        return f"{number.value / 1000:.12g}"
    return f"{{({text.strip('{}')})/1000}}"


def without_rkm(match: re.Match[str]) -> str:
    scale = match["scale"]
    return f"{match['whole']}.{match['part']}{'' if scale in 'rR' else scale}"


def closing(text: str, opening: int) -> int:
    """Index behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for bracket in _BRACKET.finditer(text, opening):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            return bracket.end()
    return len(text)


def depth_of(text: str) -> int:
    """How many parentheses stand in each other at most; one that nothing closes counts as well."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket == "(" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
