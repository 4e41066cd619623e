"""Cards in the form of another program, which ngspice refuses with the name of something else.

Sources: Xyce Reference Guide, 2.1 ".SENS", ".DC" and 2.3 "Y devices"; LTspice help, ".dc"; the
shapes ngspice 39 takes were tried.
"""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType

from domain.circuit.elements import Element
from domain.circuit.statements import Statement
from shared.late_patterns import late_pattern
from shared.message import Message, msg

_ANY = ""
POINTS_NOT_READ = msg(
    "The file with the points of {word} was not read: it is missing, too long or no table, or the circuit is "
    "not LTspice's. Write the points into the PWL, or use the XSPICE model filesource.",
    word="",
)
"""Which of these it is, only those can say who look for the file."""
_FORMS: tuple[tuple[str, re.Pattern[str], Message], ...] = (
    (
        ".",
        late_pattern(r"\.sens\s.*?\b(?:param|objfunc|acobjfunc|objvars)\s*=", re.IGNORECASE),
        msg("This is how Xyce writes .sens. ngspice takes one output and finds the sensitivity to every "
            "part: .sens v(out)."),
    ),
    (
        ".",
        late_pattern(r"\.dc\s+(?:\S+\s+){0,6}?(?P<word>dec|oct|lin|list)\s", re.IGNORECASE),
        msg("ngspice has no {word} sweep for .dc. Write the source, start, stop and step: .dc V1 0 5 0.1.",
            word=""),
    ),
    (
        ".",
        late_pattern(r"\.dc\s+(?P<word>param)\s", re.IGNORECASE),
        msg("ngspice cannot sweep a parameter with .dc. Use .step param, or sweep a source: .dc V1 0 5 0.1."),
    ),
    (
        "k",
        late_pattern(r"(?P<word>k\S*)\s+(?:l\S*\s+)+[\d.{]\S*\s+[a-z][\w.-]*\s*$", re.IGNORECASE),
        msg("{word} names the model of a core, which only PSpice and Xyce have. ngspice couples linear "
            "inductors: remove the model.", word=""),
    ),
    (
        "ceg",
        late_pattern(
            r"(?P<word>c\S*\s+\S+\s+\S+\s+q|[eg]\S*\s+\S+\s+\S+\s+value)\s*=\s*(?=[^\s{'\"])"
            r"(?![a-z_]\w*(?:\s|$))",  # a parameter's bare name is fine
            re.IGNORECASE,
        ),
        msg("Put the expression of {word} in braces, as ngspice requires: {{...}}.", word=""),
    ),
    (
        "vi",
        late_pattern(r"(?P<word>[vi]\S*)\s.*\bwavefile\s*=", re.IGNORECASE),
        msg("The wave file of {word} was not read: it is missing, not PCM, or too long. "
            "ngspice needs its points as PWL.", word=""),
    ),
    (
        "vi",
        late_pattern(r"(?P<word>[vi]\S*)\s+\S+\s+\S+\s+type\s*=\s*[vi]dc\b", re.IGNORECASE),
        msg("{word} is a source in ahkab's format. Write it like V1 1 0 DC 1 AC 1.", word=""),
    ),
    (
        _ANY,
        late_pattern(r"[^$]*(?P<word>\$\{\w+\})"),
        msg("{word} is a placeholder: this file is a template that another program fills in.", word=""),
    ),
    (
        "l",
        late_pattern(r"(?P<word>l\S*)\s+\S+\s+\S+\s+flux\s*=", re.IGNORECASE),
        msg("{word} is given by its flux, which only LTspice understands. Give its inductance.", word=""),
    ),
    (
        "vi",
        late_pattern(r"(?P<word>[vi]\S*)\s.*\bpwl\s*\(?\s*file\s*=", re.IGNORECASE),
        POINTS_NOT_READ,
    ),
    (
        "eg",
        late_pattern(r"(?P<word>[eg]\S*)\s+\S+\s+\S+\s+(?:opamp|transformer|vcr|vccap)\s", re.IGNORECASE),
        msg("{word} is an ideal HSPICE element that ngspice does not have. Write its gain, E1 out 0 in+ "
            "in- 1meg, or an expression.", word=""),
    ),
    (
        "u",
        late_pattern(
            r"(?P<word>u\S*)\s+(?:(?:and|nand|or|nor|xor|nxor|inv|buf|bufa|inva|anda|nanda|ora|nora|stim|dff|jkff|"
            r"srff|tff|dltch|pullup|pulldn|dlyline|add|logicexp|pindly|constraint)|"
            r"(?:and|nand|or|nor|xor|nxor|inv|buf)3?a?)\s*(?:\([\d\s,]*\))?\s+\S+\s+\S+\s+\S",
            re.IGNORECASE,
        ),
        msg("{word} is a PSpice and Xyce digital device that ngspice 39 does not have. Use its XSPICE "
            "models, such as d_and.", word=""),
    ),
    (
        "eg",
        late_pattern(
            r"(?P<word>[eg]\S*)\s+\S+\s+\S+\s+[^\s=]+\s+[^\s=]+\s.*\b(?:max|min)\s*=", re.IGNORECASE
        ),
        msg("{word} has limits (MAX, MIN), which only HSPICE knows. Use a B source: "
            "B1 out 0 V=min(max(1000*v(a,b),-10),10).", word=""),
    ),
    (
        ".",
        late_pattern(r"\.(?P<word>tran|dc|ac|noise)\s.*\b(?:start|stop|step|tstart|tstop|tstep|nsteps)\s*=",
                     re.IGNORECASE),
        msg("In ngspice .{word} takes its numbers in order, without names or equals signs.",
            word=""),
    ),
    (
        "w",
        late_pattern(
            r"(?P<word>w\S*)\s.*\b(?:rlgcmodel|rlgcfile|tabularmodel|fsmodel|umodel)\s*=", re.IGNORECASE
        ),
        msg(
            "{word} is an HSPICE transmission line; W is a switch in ngspice. Use a lossy line (O, Y or P).",
            word="",
        ),
    ),
    (
        ".",
        late_pattern(r"\.meas\w*\s+(?:\S+\s+)?\S+?\s*=\s*param\s*\(", re.IGNORECASE),
        msg("Write this measurement without parentheses, as ngspice reads it: .meas tran p param='a*b'."),
    ),
    (
        ".",
        late_pattern(r"\.meas\w*\s+\S+\s+\S+\s+err\w*\s.*\bfile\s*=", re.IGNORECASE),
        msg("Unlike in Xyce, .meas in ngspice cannot compare with a file. Remove the line."),
    ),
)  # fmt: skip
"""With which letters such a card begins, what it looks like, what ngspice has in its place; `word` is what
the text names."""

_DEVICES_OF_XYCE = frozenset({
    "acc", "adc", "add", "and", "awl", "buf", "dac", "delay", "dff", "dltch", "ext", "genext", "inv", "jkff",
    "lin", "memristor", "nand", "neuron", "neuronpop", "nor", "not", "nxor", "or", "pde", "pgbr", "pgbs",
    "pggb", "pgtr", "powergridbranch", "powergridbusshunt", "powergridgenbus", "powergridtransformer", "rlc2",
    "rom", "rxn", "synapse", "tff", "transline", "vsrc", "xor",
})  # fmt: skip
"""What follows the Y of Xyce's devices that have no letter of their own."""


def foreign_form(card: Statement) -> Message | None:
    """What to write in place of a card that has another program's form; None for ngspice's own."""
    if card.keyword in ("include", "lib"):  # whose ${NAME} may be a variable of the system
        return None
    raw = card.raw.lstrip()
    if not raw:
        return None
    for pattern, message in _forms_of(raw[:1].lower(), has_placeholder="${" in raw):
        if match := pattern.match(raw):
            return Message(
                message.template, MappingProxyType({k: match[k].split()[0] for k in message.params})
            )
    return None


@cache
def _forms_of(first: str, *, has_placeholder: bool) -> tuple[tuple[re.Pattern[str], Message], ...]:
    """Those a card can have that begins with a letter."""
    return tuple(
        (pattern, message)
        for letters, pattern, message in _FORMS
        if (has_placeholder if letters == _ANY else first in letters)
    )


def foreign_device(element: Element) -> Message | None:
    """A Y device of Xyce (``YPDE D1 a k model``); ngspice's Y is a lossy line."""
    kind = element.name[1:].lower()
    if element.letter != "y" or kind not in _DEVICES_OF_XYCE:
        return None
    return msg(
        "{name} is a Xyce device that ngspice does not have; Y is a lossy transmission line in ngspice.",
        name=element.name.upper(),
    )
