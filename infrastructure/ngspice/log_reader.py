"""Reads what ngspice prints: which of the known failures and warnings it tells of, and where.

ngspice spreads its words over stdout and stderr, repeats them for every step and ends many failed
runs with exit code 0, so text is half of the verdict (the other half is in verdict.py). The texts
are those of ngspice 39 (each rule was seen there); rules are wide enough for small changes of
other versions. Codes: the closed list in docs/simulation.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from shared.message import Message, msg

Severity = Literal["error", "warning"]
_Match = re.Match[str]

_MAX_QUOTE = 160
_MAX_FINDINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing the log tells."""

    severity: Severity
    code: str
    message: Message
    number: int | None = None
    """ngspice's line number; it does not say of which file."""
    card: str | None = None
    """The line ngspice quotes (lower case, rewritten); never shown, only searched for."""
    element: str | None = None
    node: str | None = None
    word: str | None = None
    """A word the line in question must contain: a parameter, a file name, a command."""
    analysis: str | None = None
    """Kind of the analysis it is about: tran, op, dc ..."""
    advice: Message | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """All findings, in order, each told once."""

    findings: tuple[Finding, ...]
    quit_by_deck: bool
    """A control block ended ngspice itself (`quit`)."""
    aborted: bool
    """ngspice said that an analysis was aborted or the circuit not loaded."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are failures."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    make: Callable[[_Match], Finding]


def _rule(pattern: str, make: Callable[[_Match], Finding]) -> _Rule:
    return _Rule(re.compile(pattern, re.IGNORECASE), make)


def quoted(text: str) -> str:
    """A piece of ngspice's text short enough and printable enough to show."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _MAX_QUOTE else flat[: _MAX_QUOTE - 3] + "..."


def progress_value(line: str) -> float | None:
    """The number in ``Reference value :  7.2e-02``: seconds in a transient run, else Hz or a swept value."""
    match = _REFERENCE.search(line)
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


_REFERENCE = re.compile(r"Reference value\s*:\s*([-+.\deE]+)")


# ---- rules for one line ------------------------------------------------------------------------


def _missing_include(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-include",
        message=msg("The included file {file} was not found.", file=quoted(m["file"])),
        word=m["file"],
        advice=msg("Check the path; it is looked for from the folder of the including file."),
    )


def _missing_section(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-section",
        message=msg(
            "The library {file} has no section {section}.",
            file=quoted(m["file"]),
            section=quoted(m["section"]),
        ),
        word=m["section"],
        advice=msg("Check the name behind the file name in the .lib line."),
    )


def _undefined_subcircuit(m: _Match) -> Finding:
    words = m["card"].split()
    name = next((word for word in reversed(words) if "=" not in word and word.lower() != "params:"), words[0])
    return Finding(
        severity="error",
        code="undefined-subcircuit",
        message=msg(
            "{element} uses the subcircuit {name}, which is not defined.", element=words[0], name=name
        ),
        card=m["card"],
        element=words[0],
        word=name,
        advice=msg("Define it with .subckt or include the file that does."),
    )


def _subcircuit_ports(m: _Match) -> Finding:
    # ngspice 39 puts its own x before the instance's name.
    element = m["element"][1:] if m["element"].lower().startswith("xx") else m["element"]
    few = m["how"].lower() == "few"
    text = (
        msg("{element} has fewer nodes than the subcircuit {name}.", element=element, name=m["name"])
        if few
        else msg("{element} has more nodes than the subcircuit {name}.", element=element, name=m["name"])
    )
    code = "too-few-nodes" if few else "too-many-nodes"
    return Finding(severity="error", code=code, message=text, element=element, word=m["name"])


def _undefined_element(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="undefined-element",
        message=msg(
            "{element} refers to {name}, which is not in the circuit.", element=m["element"], name=m["name"]
        ),
        element=m["element"],
        word=m["name"],
    )


def _swept_source_missing(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="undefined-element",
        message=msg("The analysis sweeps {name}, which is not in the circuit.", name=m["name"]),
        word=m["name"],
        analysis="dc",
    )


def _noise_source(m: _Match) -> Finding:
    if "no ac" in m[0].lower():
        text = msg("The noise source {name} has no AC value.", name=m["name"])
        advice = msg('Add "AC 1" to it.')
        code = "bad-analysis"
    else:
        text = msg("The noise source {name} is not in the circuit.", name=m["name"])
        advice = msg("Name an independent source of the circuit.")
        code = "undefined-element"
    return Finding(severity="error", code=code, message=text, advice=advice, analysis="noise", word=m["name"])


def _bad_frequency(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="bad-analysis",
        message=msg("ngspice does not accept the analysis: {reason}", reason=quoted(m[0])),
        analysis=m["kind"].lower(),
    )


def _nothing_saved(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="nothing-saved",
        message=msg("No data were kept, so the analysis was not run: {what}.", what=quoted(m["what"])),
        advice=msg("The .save or .probe lines name nothing that is in the circuit."),
        word=".save",
    )


def _fatal(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="analysis-failed",
        message=msg("ngspice gave up: {reason}", reason=quoted(m["reason"])),
    )


def _missing_data_file(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-data-file",
        message=msg("A model's data file {file} could not be opened.", file=quoted(m["file"])),
        word=m["file"].strip("'\""),
        advice=msg("Put it beside the circuit, inside the project, and name it relative to the circuit."),
    )


def _command_unknown(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("ngspice does not know the command {command}.", command=quoted(m["command"])),
        word=m["command"],
    )


def _command_failed(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("The command {command} in the control block failed.", command=quoted(m["command"])),
        word=m["command"],
    )


def _command_error(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("A command in the control block failed: {reason}", reason=quoted(m["reason"])),
        word=m["name"],
    )


def _memory(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="memory-limit",
        message=msg("The run needed more memory than it is allowed."),
        advice=msg("Save fewer signals, shorten the run, or raise the memory limit."),
    )


def _temporary_file(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="no-temporary-file",
        message=msg("ngspice could not make a temporary file: {reason}", reason=quoted(m["reason"])),
        advice=msg("Check that /tmp exists, can be written and has room."),
    )


def _no_analysis(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="no-analysis",
        message=msg("The circuit asks for no analysis."),
        advice=msg("Add a line such as .op, .ac or .tran."),
    )


def _unknown_vector(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="unknown-vector",
        message=msg("There is no signal {name}.", name=quoted(m["name"])),
        word=m["name"],
    )


def _measurement(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="measurement-failed",
        message=msg("The measurement {name} found nothing.", name=quoted(m["name"])),
        word=m["name"],
    )


def _option(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="bad-option",
        message=msg("The option {name} has a value ngspice cannot read; it was ignored.", name=m["name"]),
        word=m["name"],
    )


def _initial_condition(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="unknown-node",
        message=msg("An initial condition names {node}, which is not in the circuit.", node=m["node"]),
        node=m["node"],
        word=m["node"],
    )


def _ignored_parameter(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="unknown-parameter",
        message=msg("ngspice does not know the parameter {name} and ignored it.", name=quoted(m["name"])),
        word=m["name"],
    )


def _low_resistance(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="value-adjusted",
        message=msg(
            "The resistance of {element} is missing or too low; ngspice took 1 mOhm.", element=m["element"]
        ),
        element=m["element"],
    )


def _out_of_range(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="math-domain",
        message=msg(
            "A behavioural source took {function} of a number out of its range.", function=m["function"]
        ),
    )


_RULES: tuple[_Rule, ...] = (
    _rule(r"could not find (?:include|library) file (?P<file>.+)", _missing_include),
    _rule(r"library file (?P<file>.+?), section definition (?P<section>\S+) not found", _missing_section),
    _rule(r"library file (?P<file>.+?) not found", _missing_include),
    _rule(r"unknown subckt:\s*(?P<card>\S.*)", _undefined_subcircuit),
    _rule(
        r'too (?P<how>few|many) parameters for subcircuit type "(?P<name>[^"]+)" \(instance: (?P<element>[^)]+)\)',
        _subcircuit_ports,
    ),
    _rule(r"fatal error: (?P<element>\S+): unknown controlling source (?P<name>\S+)", _undefined_element),
    _rule(r"(?P<element>\S+): coupling to non-exist[ae]nt inductor (?P<name>[^\s.]+)", _undefined_element),
    _rule(r'source, or resistor named "(?P<name>[^"]+)" is not in the circuit', _swept_source_missing),
    _rule(r"noise input source (?P<name>\S+) (?:has no ac value|not in circuit)", _noise_source),
    _rule(r"(?P<kind>AC|NOISE|DISTO|SP) (?:start|stop)freq\s*\S+\s*\S+", _bad_frequency),
    _rule(r"no data saved for (?P<what>.+?); analysis not run", _nothing_saved),
    _rule(r"fatal error: (?P<reason>.+)", _fatal),
    _rule(r"cannot open file (?P<file>\S.*)", _missing_data_file),
    _rule(r"^\s*(?P<command>\S+): no such command available", _command_unknown),
    _rule(r"^\s*command '(?P<command>[^']+)' failed", _command_failed),
    _rule(r"(?P<reason>no such device or model name (?P<name>\S+))", _command_error),
    _rule(r'(?P<reason>RHS "(?P<name>[^"]*)" invalid)', _command_error),
    _rule(
        r"can'?t allocate|out of memory|cannot allocate memory|virtual memory exhausted|bad_alloc", _memory
    ),
    _rule(r"tmpfile\(\)\s*:\s*(?P<reason>.+)", _temporary_file),
    _rule(r"no simulations run", _no_analysis),
    _rule(r"vector (?P<name>\S+) is not available", _unknown_vector),
    _rule(r"no such vector (?P<name>\S+)\s*$", _unknown_vector),
    _rule(r"error: measure\s+(?P<name>\S+)", _measurement),
    _rule(r"bad type given for option (?P<name>\S+)", _option),
    _rule(r"IC on non-existent node - (?P<node>[^,\s]+)", _initial_condition),
    _rule(r"unrecognized parameter \((?P<name>[^)]*)\)\s*-\s*ignored", _ignored_parameter),
    _rule(r"(?:warning:\s*)?(?P<element>\S+): resistance to+ low", _low_resistance),
    _rule(r"error: \S+ out of range for (?P<function>\w+)", _out_of_range),
)

# Lines that say nothing new: follow-ups of an error told already, and notes of a healthy run.
_SILENT = re.compile(
    r"no compatibility mode|circuit not parsed|no circuit loaded|there aren't any circuits|simulation\(s\) aborted"
    r"|simulation interrupted|exit\(1\)|no resource usage|further gmin increment|gmin step|source step"
    r"|doanalyses|trying gmin|supplies reduced|transient op|no \.measure possible|this operation is not defined"
    r"|model issue on line|check line|please check|dc value|gnuplot|can't open viewport|termcap"
    r"|last gmin|reducing trtol|plot not available|netlist line no",
    re.IGNORECASE,
)
_ERROR_LINE = re.compile(r"^\s*(?:fatal\s+)?error\b\s*[:,]?\s*(?P<text>.+)", re.IGNORECASE)
_WARNING_LINE = re.compile(r"^\s*warning\b\s*[:,-]?\s*(?P<text>.+)", re.IGNORECASE)
_NOT_LOADED = re.compile(
    r"circuit not parsed|no circuit loaded|there aren't any circuits|simulation\(s\) aborted|fatal error in ngspice",
    re.IGNORECASE,
)
_QUIT = re.compile(r"^ngspice-\S+ done\s*$", re.MULTILINE)


def read_log(stdout: str, stderr: str) -> LogReading:
    """The findings of one run's output."""
    lines = [line for text in (stderr, stdout) for line in re.split(r"[\r\n]+", text) if line.strip()]
    found = [*_blocks(lines), *_convergence(lines), *_lines(lines)]
    return LogReading(
        findings=tuple(_once(found)),
        quit_by_deck=_QUIT.search(stdout) is not None,
        aborted=any(_NOT_LOADED.search(line) for line in lines),
    )


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
        for rule in _RULES:
            if match := rule.pattern.search(line):
                yield rule.make(match)
                break
        else:
            if not _SILENT.search(line) and not _in_block(lines, index):
                yield from _unknown_line(line)


def _unknown_line(line: str) -> Iterator[Finding]:
    if match := _ERROR_LINE.match(line) or _WARNING_LINE.match(line):
        yield Finding(
            severity="warning",
            code="ngspice-message",
            message=msg("ngspice says: {text}", text=quoted(match["text"])),
        )


# ---- blocks: an announcement, the offending line, a reason -----------------------------------------

_ON_LINE = re.compile(r"error on line\s*(?P<number>\d+)?.*:\s*$", re.IGNORECASE)
_NO_MODEL = re.compile(r"can't find model '(?P<name>[^']*)'", re.IGNORECASE)
_MODEL_TYPE = re.compile(r"model type mismatch in line", re.IGNORECASE)
_NETLIST_LINE = re.compile(r"netlist line no\.\s*(?P<number>\d+)", re.IGNORECASE)
_UNDEFINED = re.compile(r"undefined parameter \[(?P<name>[^\]]*)\]", re.IGNORECASE)
_EXPRESSION = re.compile(r"expression err:\s*(?P<text>.*)", re.IGNORECASE)
_FORMULA = re.compile(r"\|\s*\.param\s+(?P<name>[^\s=|]+)\s*=", re.IGNORECASE)
_FUNCTION = re.compile(r"parameter mismatch for function call in str:\s*(?P<card>.+)", re.IGNORECASE)
_MISMATCH = re.compile(r"mismatch of \.subckt", re.IGNORECASE)
_CHECK_CARD = re.compile(r"check line\s+(?P<card>\.subckt.*)", re.IGNORECASE)
_CHECK_ENDS = re.compile(r"check \.ends in line number\s+(?P<number>\d+)", re.IGNORECASE)
_IN_LINE = re.compile(r"error: (?P<what>not enough parameters|bad syntax) (?:in|of) line", re.IGNORECASE)
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
            # Inside a subcircuit the card is flattened; the line quoted before is as written.
            card = quoted_card or _at(lines, index + 1)
            yield _card_finding(card, number, reason, model, mismatch=mismatch, before=before)
            model, quoted_card, mismatch = None, None, False


def _card_finding(  # noqa: PLR0911 - one return a reason
    card: str, number: int | None, reason: str, model: str | None, *, mismatch: bool, before: str
) -> Finding:
    element = card.split(maxsplit=1)[0] if card else ""

    def finding(code: str, message: Message, advice: Message | None = None) -> Finding:
        is_directive = element.startswith(".")
        return Finding(
            severity="error",
            code=code,
            message=message,
            number=number,
            card=card,
            element=None if is_directive else element,
            word=None if is_directive else model,
            advice=advice,
        )

    words = reason.lower()
    if mismatch:
        return finding("model-type-mismatch", msg("{element} uses a model of another kind.", element=element))
    if unknown := re.search(r"unknown parameter \((.*?)\)", reason, re.IGNORECASE):
        if model is not None and unknown[1].lower() == model.lower():
            return finding(
                "bad-value",
                msg(
                    "{element}: {value} is neither a number nor a model.",
                    element=element,
                    value=quoted(model),
                ),
            )
        return finding(
            "unknown-parameter",
            msg("{element} has no parameter {name}.", element=element, name=quoted(unknown[1])),
        )
    if "modelname" in words or "definition of model" in words:
        name = model or _last_word(reason, "definition of model")
        if name is None:
            return finding(
                "too-few-nodes",
                msg("{element} has too few nodes or names no model.", element=element),
                msg("Compare the line with the element's form: all nodes first, then the model's name."),
            )
        return finding(
            "undefined-model",
            msg("{element} uses the model {name}, which is not defined.", element=element, name=quoted(name)),
            msg("Define it with .model or include the file that does."),
        )
    if "already exists" in words:
        return finding("duplicate-element", msg("There are two elements called {element}.", element=element))
    if "unimplemented control card" in words:
        return finding("unknown-directive", msg("ngspice does not know the directive {name}.", name=element))
    if element.startswith("."):
        return finding(
            "bad-analysis",
            msg("ngspice does not accept {name}: {reason}", name=element, reason=quoted(reason)),
        )
    if function := re.search(r"no such function '(.*?)'", before):
        return finding(
            "bad-expression",
            msg("{element} calls the unknown function {name}.", element=element, name=quoted(function[1])),
        )
    if element[:1].lower() == "b" or "syntax error" in before.lower():
        return finding(
            "bad-expression", msg("ngspice cannot read the expression of {element}.", element=element)
        )
    return finding(
        "bad-line",
        msg("ngspice does not accept {element}: {reason}", element=element, reason=quoted(reason)),
    )


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
        message=msg("A line is not SPICE: ngspice cannot make anything of it."),
        card=card,
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
                word=".ends",
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
                yield Finding(
                    severity="error",
                    code="undefined-parameter",
                    message=msg("The parameter {name} is not defined.", name=quoted(match["name"])),
                    number=number,
                    word=match["name"],
                    advice=msg("Define it with .param."),
                )
        elif (match := _EXPRESSION.search(line)) and not _UNDEFINED.search(_at(lines, index - 2)):
            yield Finding(
                severity="error",
                code="bad-expression",
                message=msg(
                    "The expression {text} cannot be computed.", text=quoted(match["text"].rstrip("}"))
                ),
                number=number,
            )


# ---- convergence -------------------------------------------------------------------------------

_SINGULAR = re.compile(r"singular matrix:?\s*check nodes?\s+(?P<node>\S+)", re.IGNORECASE)
_STEPPING = re.compile(r"starting (?:dynamic |true )?(?P<how>gmin|source) stepping", re.IGNORECASE)
_TRANSIENT_OP = re.compile(r"transient op started", re.IGNORECASE)
_GAVE_UP = re.compile(r"doanalyses:\s*(?P<kind>\w+):\s*(?P<what>.*)", re.IGNORECASE)
_ABORTED = re.compile(r"simulation\(s\) aborted", re.IGNORECASE)
_TOO_SMALL = re.compile(r"timestep too small", re.IGNORECASE)
_NO_CONVERGENCE = re.compile(
    r"no convergence|iteration limit|did not converge|too many iterations", re.IGNORECASE
)
_TIME = re.compile(r"time = (?P<time>[-+.\deE]+)")
_TROUBLE_NODE = re.compile(r'trouble with node "(?P<node>[^"]+)"', re.IGNORECASE)
_TROUBLE_ELEMENT = re.compile(r"trouble with (?:\S+:)?(?:\S+) ?instance (?P<element>\S+)", re.IGNORECASE)


def _convergence(lines: Sequence[str]) -> Iterator[Finding]:
    """Failures and rescues of the solver, analysis by analysis.

    A singular matrix that came first is the cause of a failed operating point; one met on the way
    to a solution is worth a warning, because the rescue may rest on a leakage ngspice made up.
    """
    singular: str | None = None
    singular_first = False
    rescue: str | None = None
    for line in lines:
        if (match := _SINGULAR.search(line)) and singular is None:
            singular, singular_first = match["node"], rescue is None
        if match := _STEPPING.search(line):
            rescue = match["how"].lower()
        elif _TRANSIENT_OP.search(line):
            rescue = "transient"
        elif match := _GAVE_UP.search(line):
            failure = _solver_failure(
                match["kind"].lower(), match["what"], singular if singular_first else None
            )
            if failure is not None:
                yield failure
            singular, singular_first, rescue = None, False, None
    if singular is not None:
        yield _rescued_singular(singular)
    elif rescue is not None:
        yield _rescued(rescue)


def _solver_failure(kind: str, what: str, singular: str | None) -> Finding | None:
    node = found["node"] if (found := _TROUBLE_NODE.search(what)) else None
    element = found["element"] if (found := _TROUBLE_ELEMENT.search(what)) else None
    time = _TIME.search(what)
    if not (_TOO_SMALL.search(what) or _NO_CONVERGENCE.search(what) or "singular" in what.lower()):
        return None
    if time is not None:
        return Finding(
            severity="error",
            code="timestep-too-small",
            message=msg(
                "The transient analysis got stuck at {time} s: its time step became too small.",
                time=time["time"],
            ),
            node=node,
            element=element,
            analysis=kind,
            advice=msg(
                "Look for a jump without a rise time, a missing parasitic, or a model out of its range there."
            ),
        )
    if singular is not None:
        return _singular_failure(singular, kind)
    return Finding(
        severity="error",
        code="no-convergence",
        message=(
            msg("The operating point did not converge; the trouble is at node {node}.", node=node)
            if node
            else msg("The operating point did not converge.")
        ),
        node=node,
        element=element,
        analysis=kind,
        advice=msg("Give a starting point with .nodeset, or look for a circuit without a stable state."),
    )


def _singular_failure(node: str, kind: str) -> Finding:
    element = _branch_element(node)
    return Finding(
        severity="error",
        code="singular-matrix",
        message=(
            msg(
                "The equations have no single solution: {element} is in a loop of voltage sources or inductors.",
                element=element,
            )
            if element
            else msg("The equations have no single solution: check node {node}.", node=node)
        ),
        node=None if element else node,
        element=element,
        analysis=kind,
        advice=msg("Look for sources or inductors in parallel, and nodes without a path to ground."),
    )


def _rescued_singular(node: str) -> Finding:
    element = _branch_element(node)
    return Finding(
        severity="warning",
        code="singular-matrix",
        message=(
            msg(
                "The equations have no single solution at {element}; ngspice went on with a guess.",
                element=element,
            )
            if element
            else msg(
                "The equations have no single solution at node {node}; ngspice went on with a guess.",
                node=node,
            )
        ),
        node=None if element else node,
        element=element,
        advice=msg(
            "Give the node a path to ground for direct current; until then its voltage is not to be trusted."
        ),
    )


def _branch_element(node: str) -> str | None:
    name, mark, _ = node.partition("#branch")
    return name if mark else None


def _rescued(how: str) -> Finding:
    texts = {
        "gmin": ("gmin-stepping", msg("The operating point was found only by gmin stepping.")),
        "source": ("source-stepping", msg("The operating point was found only by source stepping.")),
        "transient": ("transient-op", msg("The operating point was found only by a transient run-up.")),
    }
    code, message = texts[how]
    return Finding(severity="warning", code=code, message=message)
