"""Failures and warnings ngspice tells in a single line.

The texts are those of ngspice 39, each seen there; the patterns leave room for small changes of
other versions. The first rule that matches a line is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from infrastructure.ngspice.findings import Finding, quoted
from shared.message import msg

_Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern searched in a line and what it means."""

    pattern: re.Pattern[str]
    make: Callable[[_Match], Finding]


def _rule(pattern: str, make: Callable[[_Match], Finding]) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), make)


def _missing_include(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-include",
        message=msg("The included file {file} was not found.", file=quoted(m["file"])),
        word=m["file"],
        begins=(".inc", ".lib"),
        advice=msg("Check the path; it is looked for from the folder of the including file."),
    )


def _include_refused(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-include",
        message=msg("An included file could not be opened."),
        begins=(".inc",),
    )


def _include_without_name(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-include",
        message=msg("A directive names no file to include."),
        begins=(".inc", ".lib"),
    )


def _section_without_end(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="missing-section",
        message=msg("A library section has no .endl."),
    )


def _shorted_source(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="shorted-source",
        message=msg("Both ends of {element} are at the same node.", element=m["element"]),
        element=m["element"],
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
        begins=(".lib",),
        advice=msg("Check the name behind the file name in the .lib line."),
    )


_FLATTENED = re.compile(r"^(?:x[^\s.]*\.)+(?=.)", re.IGNORECASE)
"""The instances in front of a name of a subcircuit's inside."""


def _undefined_subcircuit(m: _Match) -> Finding:
    words = m["card"].split()
    element = words[0].rpartition(".")[2]
    name = next((word for word in reversed(words) if "=" not in word and word.lower() != "params:"), words[0])
    name = _FLATTENED.sub("", name) if "." in words[0] else name
    return Finding(
        severity="error",
        code="undefined-subcircuit",
        message=msg(
            "{element} uses the subcircuit {name}, which is not defined.", element=element, name=name
        ),
        card=m["card"],
        element=element,
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


def _shorted_input(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="bad-analysis",
        message=msg("The input of the pole-zero analysis is shorted."),
        analysis="pz",
        advice=msg(
            'Give the source there "AC 1": ngspice takes a voltage source without AC as a short circuit.'
        ),
    )


def _nothing_saved(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="nothing-saved",
        message=msg("No data were kept, so the analysis was not run: {what}.", what=quoted(m["what"])),
        advice=msg("The .save or .probe lines name nothing that is in the circuit."),
        begins=(".save", ".probe"),
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
        advice=msg(
            "Put it beside the circuit or inside its project, name it relative to the circuit, "
            "and in lower case: ngspice lowers the name."
        ),
    )


def _command_unknown(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("ngspice does not know the command {command}.", command=quoted(m["command"])),
        begins=(m["command"],),
    )


def _command_failed(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("The command {command} in the control block failed.", command=quoted(m["command"])),
        begins=(m["command"],),
    )


def _command_error(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="control-command-failed",
        message=msg("A command in the control block failed: {reason}", reason=quoted(m["reason"])),
        word=m["name"],
    )


def _file_refused(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="file-not-opened",
        message=msg(
            "{file} could not be opened: {reason}", file=quoted(m["file"]), reason=quoted(m["reason"])
        ),
        word=m["file"],
        advice=msg(
            "A run reads the files of its project and writes only into its own folder: "
            "use a plain file name, the file is put beside the result."
        ),
    )


def _memory(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="memory-limit",
        message=msg("The run needed more memory than it is allowed."),
        advice=msg("Save fewer signals, shorten the run, or raise the memory limit."),
    )


def _data_not_written(_: _Match) -> Finding:
    return Finding(
        severity="error",
        code="disk-full",
        message=msg("ngspice could not write all of its data: the disk is full."),
        advice=msg("Free some space and simulate again."),
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
        begins=(".opt",),
    )


def _initial_condition(m: _Match) -> Finding:
    return Finding(
        severity="warning",
        code="unknown-node",
        message=msg("An initial condition names {node}, which is not in the circuit.", node=m["node"]),
        node=m["node"],
        word=m["node"],
        begins=(".ic", ".nodeset"),
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


def _malformed(m: _Match) -> Finding:
    return Finding(
        severity="error",
        code="bad-line",
        message=msg("{element} has too few nodes or values.", element=quoted(m["element"])),
        element=m["element"],
    )


def _assumed(m: _Match) -> Finding:
    # ngspice 39 calls this fatal for a lossy line, and goes on
    return Finding(
        severity="warning",
        code="value-adjusted",
        message=msg(
            "{element} lacks a value, ngspice took one: {reason}",
            element=m["element"],
            reason=quoted(m["reason"]),
        ),
        element=m["element"],
    )


LAST_WORDS = _rule(r"^\s*doanalyses: (?!pause requested)(?P<reason>[^:]+)$", _fatal)
"""Why analyses ended, in ngspice's own general words; for runs no other rule has an error of. A pause is what
`stop when ...` asks for."""

LINE_RULES: tuple[Rule, ...] = (
    _rule(r"could not find (?:include|library) file (?P<file>.+)", _missing_include),
    _rule(r"\.(?:include|lib) filename missing", _include_without_name),
    _rule(r"\.endl not found", _section_without_end),
    _rule(r"instance (?P<element>\S+) is a shorted", _shorted_source),
    _rule(r"\.include statement failed", _include_refused),
    _rule(r"library file (?P<file>.+?), section definition (?P<section>\S+) not found", _missing_section),
    _rule(r"library file (?P<file>.+?) not found", _missing_include),
    _rule(r"unknown subckt:\s*(?P<card>\S.*)", _undefined_subcircuit),
    _rule(
        r'too (?P<how>few|many) parameters for subcircuit type "(?P<name>[^"]+)"'
        r" \(instance: (?P<element>[^)]+)\)",
        _subcircuit_ports,
    ),
    _rule(r"fatal error: (?P<element>\S+): unknown controlling source (?P<name>\S+)", _undefined_element),
    _rule(r"(?P<element>\S+): coupling to non-exist[ae]nt inductor (?P<name>[^\s.]+)", _undefined_element),
    _rule(r'source, or resistor named "(?P<name>[^"]+)" is not in the circuit', _swept_source_missing),
    _rule(r"noise input source (?P<name>\S+) (?:has no ac value|not in circuit)", _noise_source),
    _rule(r"(?P<kind>AC|NOISE|DISTO|SP) (?:start|stop)freq\s*\S+\s*\S+", _bad_frequency),
    _rule(r"no data saved for (?P<what>.+?); analysis not run", _nothing_saved),
    _rule(r"mal ?formed \w line:\s*(?P<element>\S+)", _malformed),
    _rule(r"fatal error: (?P<element>\S+): (?P<reason>.+ not given, assumed .+)", _assumed),
    _rule(r"fatal error: (?P<reason>.+)", _fatal),
    _rule(r"doanalyses: the input signal is shorted", _shorted_input),
    _rule(r"cannot open file (?P<file>\S.*)", _missing_data_file),
    _rule(r"^\s*(?P<command>\S+): no such command available", _command_unknown),
    _rule(r"^\s*command '(?P<command>[^']+)' failed", _command_failed),
    _rule(r"(?P<reason>no such device or model name (?P<name>\S+))", _command_error),
    _rule(r'(?P<reason>RHS "(?P<name>[^"]*)" invalid)', _command_error),
    _rule(
        r"^\s*(?P<file>[^:(]+): (?P<reason>no such file or directory|permission denied"
        r"|read-only file system|is a directory)\s*$",
        _file_refused,
    ),
    _rule(
        r"can'?t allocate|out of memory|cannot allocate memory|virtual memory exhausted|bad_alloc", _memory
    ),
    _rule(r"rawfile write error", _data_not_written),
    _rule(r"tmpfile\(\)\s*:\s*(?P<reason>.+)", _temporary_file),
    _rule(r"no simulations run", _no_analysis),
    _rule(r"vector (?P<name>\S+) is not available", _unknown_vector),
    _rule(r"no such vector (?P<name>\S+)\s*$", _unknown_vector),
    _rule(r"error: measure\s+(?P<name>\S+)", _measurement),
    _rule(r"bad type given for option (?P<name>\S+)", _option),
    _rule(r"IC on non-existent node - (?P<node>[^,\s]+)", _initial_condition),
    _rule(r"unrecognized parameter \((?P<name>[^)]*)\)\s*-\s*ignored", _ignored_parameter),
    _rule(r"(?:warning:\s*)?(?P<element>\S+): resistance to+ low", _low_resistance),
)
