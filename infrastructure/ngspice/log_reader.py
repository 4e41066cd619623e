"""Reads what ngspice prints: which of the known failures and warnings it tells of, and where.

ngspice spreads its words over stdout and stderr, repeats them for every step and ends many failed
runs with exit code 0, so text is half of the verdict (the other half is in verdict.py). Single
lines are in log_rules.py, the solver's story in solver_log.py; here are the faults told in several
lines: an announcement, the offending line, a reason. Texts: ngspice 39.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from infrastructure.ngspice.findings import Finding, LogReading, quoted
from infrastructure.ngspice.log_rules import LAST_WORDS, LINE_RULES
from infrastructure.ngspice.solver_log import solver_findings
from shared.message import Message, msg

_MAX_FINDINGS = 50
_MAX_LINES = 10_000
_LONGEST_LINE = 2000
"""Characters of a line that are looked at: a deck decides how long they get, and patterns take their time."""
_REFERENCE = re.compile(r"Reference value\s*:\s*([-+.\deE]+)")


def progress_value(line: str) -> float | None:
    """The number in ``Reference value :  7.2e-02``: seconds in a transient run, else Hz or a swept value."""
    match = _REFERENCE.search(line)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


# Lines that say nothing new: follow-ups of an error told already, and notes of a healthy run.
_SILENT = re.compile(
    r"no compatibility mode|circuit not parsed|no circuit loaded|there aren't any circuits"
    r"|simulation\(s\) aborted|simulation interrupted|exit\(1\)|no resource usage|netlist line no"
    r"|further gmin increment|gmin step|source step|last gmin|trying gmin|supplies reduced|transient op"
    r"|doanalyses|singular matrix|no such function|parameter mismatch for function|out of range for"
    r"|model issue on line|check line|please check|dc value|reducing trtol|no \.measure possible"
    r"|values must be > 0 for log scale"
    r"|this operation is not defined|can't open viewport|plot not available|gnuplot|termcap|fopen\(/proc",
    re.IGNORECASE,
)
_ERROR_LINE = re.compile(r"^\s*(?:fatal\s+)?error\b\s*[:,]?\s*(?P<text>.+)", re.IGNORECASE)
_WARNING_LINE = re.compile(r"^\s*warning\b\s*[:,-]?\s*(?P<text>.+)", re.IGNORECASE)
_NOT_LOADED = re.compile(
    r"circuit not parsed|no circuit loaded|there aren't any circuits|simulation\(s\) aborted"
    r"|fatal error in ngspice",
    re.IGNORECASE,
)
_ODD_LINE = re.compile(r"check line no \d+:\s*;", re.IGNORECASE)
_BEGUN = re.compile(r"^Doing analysis at TEMP", re.MULTILINE)
_QUIT = re.compile(r"(?:^|\n)ngspice-\S+ done\s*\Z")
"""The last thing ngspice prints when a command ends it; a deck may `echo` the like before."""


def read_log(stdout: str, stderr: str) -> LogReading:
    """The findings of one run's output; of a flood only beginning and end are read."""
    lines = [*_telling_lines(stderr), *_telling_lines(stdout)]
    found = [*_blocks(lines), *solver_findings(lines), *_lines(lines)]
    if not any(finding.severity == "error" for finding in found):
        found += [LAST_WORDS.make(match) for line in lines if (match := LAST_WORDS.pattern.search(line))]
    return LogReading(
        findings=tuple(_once(found)),
        quit_by_deck=_QUIT.search(stdout) is not None,
        begun=_BEGUN.search(stdout) is not None,
        aborted=any(_NOT_LOADED.search(line) for line in lines),
    )


def _telling_lines(text: str) -> list[str]:
    """Lines without progress and without repetitions of the one before, at most `_MAX_LINES`."""
    # a controlled source with POLY or names of its own is an XSPICE device called a$poly$e1 to ngspice
    cut = (line[:_LONGEST_LINE] for line in re.split(r"[\r\n]+", text.replace("a$poly$", "")))
    lines = [line for line in cut if line.strip() and not _REFERENCE.search(line)]
    lines = [line for line, before in zip(lines, ["", *lines], strict=False) if line != before]
    half = _MAX_LINES // 2
    return lines if len(lines) <= _MAX_LINES else [*lines[:half], *lines[-half:]]


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Errors first; each (code, message) once; at most `_MAX_FINDINGS`."""
    ordered = sorted(findings, key=lambda finding: finding.severity != "error")
    seen: set[tuple[str, str]] = set()
    for finding in ordered:
        key = (finding.code, str(finding.message))
        if key not in seen and len(seen) < _MAX_FINDINGS:
            seen.add(key)
            yield finding


def _lines(lines: Sequence[str]) -> Iterator[Finding]:
    """Findings that stand in one line, and ngspice's own "Error"/"Warning" lines no rule knows."""
    for index, line in enumerate(lines):
        for rule in LINE_RULES:
            if match := rule.pattern.search(line):
                yield rule.make(match)
                break
        else:
            if not _SILENT.search(line) and not _in_block(lines, index) and not _is_remark(lines, index):
                yield from _unknown_line(line)


def _is_remark(lines: Sequence[str], index: int) -> bool:
    """ngspice tells of the first line with an odd sign that it takes it for a comment; with `;` it is one."""
    quoted_line = _at(lines, index + 2)
    return "Unusual leading characters" in lines[index] and _ODD_LINE.match(quoted_line) is not None


def _unknown_line(line: str) -> Iterator[Finding]:
    if match := _ERROR_LINE.match(line) or _WARNING_LINE.match(line):
        yield Finding(
            severity="warning",
            code="ngspice-message",
            message=msg("ngspice says: {text}", text=quoted(match["text"])),
        )


# ---- blocks: an announcement, the offending line, a reason -----------------------------------------

_ON_LINE = re.compile(r"error on line\s*(?P<number>\d+)?.*:\s*$", re.IGNORECASE)
_UNKNOWN_PARAMETER = re.compile(r"unknown parameter \((.*?)\)", re.IGNORECASE)
_NO_MODEL = re.compile(r"can't find model '(?P<name>[^']*)'", re.IGNORECASE)
_MODEL_TYPE = re.compile(r"model type mismatch in line", re.IGNORECASE)
_NETLIST_LINE = re.compile(r"netlist line no\.\s*(?P<number>\d+)", re.IGNORECASE)
_UNDEFINED = re.compile(r"undefined parameter \[(?P<name>[^\]]*)\]", re.IGNORECASE)
_EXPRESSION = re.compile(r"expression err:\s*(?P<text>.*)", re.IGNORECASE)
_FORMULA = re.compile(r":\s*\|\s*(?P<name>[^\s|]+)\s*\|\s*=\s*\|")
_FOLLOWS = re.compile(r"cannot compute substitute|formula\(\) error|expression err", re.IGNORECASE)
_FUNCTION = re.compile(r"parameter mismatch for function call in str:\s*(?P<card>.+)", re.IGNORECASE)
_MISMATCH = re.compile(r"mismatch of \.subckt", re.IGNORECASE)
_CHECK_CARD = re.compile(r"check line\s+(?P<card>\.subckt.*)", re.IGNORECASE)
_CHECK_ENDS = re.compile(r"check \.ends in line number\s+(?P<number>\d+)", re.IGNORECASE)
_IN_LINE = re.compile(r"error: (?P<what>not enough parameters|bad syntax) (?:in|of) line", re.IGNORECASE)
_OUT_OF_RANGE = re.compile(r"error: \S+(?: \S+)? out of range for (?P<function>\w+)", re.IGNORECASE)
_ANNOUNCES = (_ON_LINE, _NO_MODEL, _MODEL_TYPE, _IN_LINE, _MISMATCH)


def _in_block(lines: Sequence[str], index: int) -> bool:
    """The line announces a block or is quoted by the one before."""
    return any(
        pattern.search(line) for line in lines[max(index - 1, 0) : index + 1] for pattern in _ANNOUNCES
    )


def _blocks(lines: Sequence[str]) -> Iterator[Finding]:
    yield from _card_errors(lines)
    yield from _parameter_errors(lines)
    for index, line in enumerate(lines):
        if _MISMATCH.search(line):
            yield _subcircuit_mismatch(lines[index + 1 : index + 4])
        elif match := _IN_LINE.search(line):
            yield _refused_line(match["what"], _at(lines, index + 1))
        elif match := _OUT_OF_RANGE.search(line):
            yield _math_warning(match["function"], _at(lines, index + 1))
        elif match := _FUNCTION.search(line):
            yield Finding(
                severity="error",
                code="bad-expression",
                message=msg("A function is called with the wrong number of arguments."),
                card=match["card"],
            )


def _at(lines: Sequence[str], index: int) -> str:
    return lines[index].strip() if index < len(lines) else ""


def _card_errors(lines: Sequence[str]) -> Iterator[Finding]:
    """``Error on line 3 or its substitute:`` / the card / the reason."""
    model: str | None = None
    quoted_card: str | None = None
    mismatch = False
    for index, line in enumerate(lines):
        if match := _NO_MODEL.search(line):
            model, quoted_card = match["name"], _at(lines, index + 1)
        elif _MODEL_TYPE.search(line):
            mismatch, quoted_card = True, _at(lines, index + 1)
        elif match := _ON_LINE.search(line):
            number = int(match["number"]) if match["number"] else None
            reason = _at(lines, index + 2)
            if reason.lower().startswith("pterror"):
                reason = _at(lines, index + 3)
            before = _at(lines, index - 1) if index else ""
            if (own := _at(lines, index + 1)).startswith("."):
                # A missing model is told of an element: this fault is another one, of its own line.
                yield _card_finding(own, number, reason, None, mismatch=False, before=before)
                continue
            # Inside a subcircuit the card is flattened; the line quoted before is as written.
            card = quoted_card or own
            yield _card_finding(card, number, reason, model, mismatch=mismatch, before=before)
            model, quoted_card, mismatch = None, None, False


_Problem = tuple[str, Message, Message | None]


def _card_finding(
    card: str, number: int | None, reason: str, model: str | None, *, mismatch: bool, before: str
) -> Finding:
    element = card.split(maxsplit=1)[0] if card else ""
    is_directive = element.startswith(".")
    code, message, advice = (
        _model_problem(element, reason, model, mismatch=mismatch)
        or (_directive_problem(element, reason) if is_directive else None)
        or _verilog_a_problem(element, reason)
        or _element_problem(element, reason, before)
    )
    return Finding(
        severity="error",
        code=code,
        message=message,
        number=number,
        card=card,
        element=None if is_directive else element,
        word=None if is_directive else model,
        begins=(element,) if is_directive else (),
        advice=advice,
    )


def _model_problem(element: str, reason: str, model: str | None, *, mismatch: bool) -> _Problem | None:
    if mismatch:
        return "model-type-mismatch", msg("{element} uses a model of the wrong type.", element=element), None
    unknown = _UNKNOWN_PARAMETER.search(reason)
    is_value = model is not None and model[:1].isdigit() and element.rpartition(".")[2][:1].lower() in "rcl"
    if model is not None and (is_value or (unknown and unknown[1].lower() == model.lower())):  # 1OU
        text = msg(
            "{element}: {value} is neither a number nor a model.", element=element, value=quoted(model)
        )
        return "bad-value", text, None
    words = reason.lower()
    if "modelname" not in words and "definition of model" not in words:
        return None
    name = model or _last_word(reason, "definition of model")
    if name is None and "valid modelname" in words and element.rpartition(".")[2][:1].lower() == "m":
        text = msg("{element} has too few nodes, or no bin of its model covers its length and width.",
                   element=element)  # fmt: skip
        advice = msg("Compare L and W with lmin, lmax, wmin and wmax of its models, and count its nodes.")
        return "too-few-nodes", text, advice
    if name is None:
        text = msg("{element} has too few nodes or names no model.", element=element)
        advice = msg("Compare the line with the element's syntax: all nodes first, then the model name.")
        return "too-few-nodes", text, advice
    text = msg("{element} uses the model {name}, which is not defined.", element=element, name=quoted(name))
    return "undefined-model", text, msg("Define it with .model, or include the file that defines it.")


def _directive_problem(name: str, reason: str) -> _Problem:
    if "unimplemented control card" in reason.lower():
        if name.lower() == ".lib":
            text = msg(".lib needs a file and a section. For a file without sections use .include.")
            return "lib-without-section", text, None
        return "unknown-directive", msg("ngspice does not have the directive {name}.", name=name), None
    text = msg("ngspice does not accept {name}: {reason}", name=name, reason=quoted(reason))
    return "bad-analysis", text, None


def _verilog_a_problem(element: str, reason: str) -> _Problem | None:
    if element[:1].lower() != "n" or "unknown device type" not in reason.lower():
        return None
    text = msg("{element} is a Verilog-A device, and no loaded library has its model.",
               element=element)  # fmt: skip
    advice = msg("Check that the file of pre_osdi exists and was compiled for this ngspice.")
    return "osdi-missing", text, advice


def _element_problem(element: str, reason: str, before: str) -> _Problem:
    if unknown := _UNKNOWN_PARAMETER.search(reason):
        if unknown[1].lower().lstrip("+-") in ("inf", "nan"):
            text = msg("{element} gets a value that is not a finite number ({value}).",
                       element=element, value=unknown[1])  # fmt: skip
            return "bad-value", text, None
        text = msg("{element} has no parameter {name}.", element=element, name=quoted(unknown[1]))
        return "unknown-parameter", text, None
    if "already exists" in reason.lower():
        return "duplicate-element", msg("There are two elements called {element}.", element=element), None
    if function := re.search(r"no such function '(.*?)'", before):
        text = msg("{element} calls the unknown function {name}.", element=element, name=quoted(function[1]))
        return "bad-expression", text, None
    if element[:1].lower() == "b" or "syntax error" in before.lower():
        text = msg("ngspice cannot read the expression of {element}.", element=element)
        return "bad-expression", text, None
    text = msg("ngspice does not accept {element}: {reason}", element=element, reason=quoted(reason))
    return "bad-line", text, None


def _last_word(text: str, after: str) -> str | None:
    _, _, rest = text.lower().partition(after)
    words = rest.split()
    return words[-1] if words else None


def _refused_line(what: str, card: str) -> Finding:
    element = card.split(maxsplit=1)[0] if card else ""
    if what.lower().startswith("not enough"):
        return Finding(
            severity="error",
            code="too-few-nodes",
            message=msg("{element} has too few nodes or values.", element=quoted(element)),
            card=card,
            element=element or None,
        )
    # The text may come from a file that is no netlist at all: it is not repeated.
    return Finding(
        severity="error",
        code="bad-line",
        message=msg("Invalid line: ngspice cannot interpret it."),
        card=card,
    )


def _math_warning(function: str, where: str) -> Finding:
    found = re.match(r"in line (\S+)", where)
    element = found[1] if found else "?"
    return Finding(
        severity="warning",
        code="math-domain",
        message=msg(
            "{element} evaluated {function} of a number outside its domain.",
            element=element,
            function=function,
        ),
        element=found[1] if found else None,
    )


def _subcircuit_mismatch(following: Sequence[str]) -> Finding:
    for line in following:
        if match := _CHECK_CARD.search(line):
            return Finding(
                severity="error",
                code="subcircuit-mismatch",
                message=msg("This .subckt has no matching .ends."),
                card=match["card"],
            )
        if match := _CHECK_ENDS.search(line):
            return Finding(
                severity="error",
                code="subcircuit-mismatch",
                message=msg("This .ends has no matching .subckt."),
                number=int(match["number"]),
                begins=(".ends",),
            )
    return Finding(
        severity="error", code="subcircuit-mismatch", message=msg(".subckt and .ends lines do not match.")
    )


def _parameter_errors(lines: Sequence[str]) -> Iterator[Finding]:
    """``Netlist line no. 3:`` and what is wrong with a parameter or an expression there."""
    number: int | None = None
    lost: set[str] = set()
    for index, line in enumerate(lines):
        if match := _NETLIST_LINE.search(line):
            number = int(match["number"])
        elif match := _FORMULA.search(line):
            lost.add(match["name"].lower())
        elif match := _UNDEFINED.search(line):
            # A parameter whose own formula failed is no second fault.
            if match["name"].lower() not in lost:
                yield _undefined(match["name"], number, _at(lines, index + 2))
        elif (match := _EXPRESSION.search(line)) and not _UNDEFINED.search(_at(lines, index - 2)):
            yield Finding(
                severity="error",
                code="bad-expression",
                message=msg(
                    "The expression {text} cannot be evaluated.", text=quoted(match["text"].rstrip("}"))
                ),
                number=number,
            )
        elif _NETLIST_LINE.search(_at(lines, index - 1)) and not _FOLLOWS.search(line):
            yield Finding(
                severity="error",
                code="bad-expression",
                message=msg("ngspice cannot evaluate an expression: {reason}", reason=quoted(line)),
                number=number,
            )


_SIGNALS = frozenset((*"vi", *(letter + part for letter in "vi" for part in ("m", "p", "r", "i", "db", "d"))))
"""What calls up a signal in expressions of outputs."""


def _undefined(name: str, number: int | None, expression: str) -> Finding:
    """A name ngspice does not know in an expression: it calls functions parameters too."""
    is_called = re.search(rf"(?<![\w.]){re.escape(name)}\s*\(", expression, re.IGNORECASE) is not None
    if is_called and name.lower() in _SIGNALS:
        code = "bad-expression"
        text = msg("A parameter is evaluated before the simulation, where the circuit's {name}(...) is "
                   "not yet known.", name=name.lower())  # fmt: skip
        advice = msg("Use a behavioral source (B), or write the expression as the value of an R, L or C.")
    elif is_called:
        code = "undefined-function"
        text = msg("The function {name} is not defined.", name=quoted(name))
        advice = msg("Define it with .func.")
    else:
        code = "undefined-parameter"
        text = msg("The parameter {name} is not defined.", name=quoted(name))
        advice = msg("Define it with .param.")
    return Finding(severity="error", code=code, message=text, number=number, word=name, advice=advice)
