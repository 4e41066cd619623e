"""Failures and warnings ngspice tells in a single line.

The texts are those of ngspice 39, each seen there; the patterns leave room for small changes of
other versions. The first rule that matches a line is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from infrastructure.ngspice.findings import Finding, Severity, quoted
from shared.message import Message, msg

_WORDS = ("word", "name", "section", "file", "node")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern searched in a line, and what it means.

    The parameters of `message` are how a group of the pattern is shown: `quoted` or as it stands (`str`). The
    groups `element`, `node`, `card`, `kind` (of analysis), `command` and the first of `_WORDS` say where to
    look in the circuit.
    """

    pattern: re.Pattern[str]
    severity: Severity
    code: str
    message: Message
    advice: Message | None
    analysis: str | None
    begins: tuple[str, ...]
    groups: Callable[[re.Match[str]], Mapping[str, str]]

    def make(self, match: re.Match[str]) -> Finding:
        groups = self.groups(match)
        shown = {name: show(groups[name]) for name, show in self.message.params.items() if callable(show)}
        return Finding(
            severity=self.severity,
            code=self.code,
            message=Message(self.message.template, MappingProxyType(shown)),
            advice=self.advice,
            element=groups.get("element"),
            node=groups.get("node"),
            analysis=groups["kind"].lower() if "kind" in groups else self.analysis,
            card=groups.get("card"),
            word=next((groups[name] for name in _WORDS if name in groups), None),
            begins=(groups["command"],) if "command" in groups else self.begins,
        )


def _rule(
    pattern: str,
    code: str,
    message: Message,
    advice: Message | None = None,
    *,
    severity: Severity = "error",
    analysis: str | None = None,
    begins: tuple[str, ...] = (),
    groups: Callable[[re.Match[str]], Mapping[str, str]] = lambda match: match.groupdict(),
) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), severity, code, message, advice, analysis, begins, groups)


_FLATTENED = re.compile(r"^(?:x[^\s.]*\.)+(?=.)", re.IGNORECASE)
"""The instances in front of a name of a subcircuit's inside."""


def _call_of_subcircuit(match: re.Match[str]) -> dict[str, str]:
    words = match["card"].split()
    name = next((word for word in reversed(words) if "=" not in word and word.lower() != "params:"), words[0])
    return {
        "card": match["card"],
        "element": words[0].rpartition(".")[2],
        "name": _FLATTENED.sub("", name) if "." in words[0] else name,
    }


LAST_WORDS = _rule(
    r"^\s*doanalyses: (?!pause requested)(?P<reason>[^:]+)$",
    "analysis-failed",
    msg("ngspice gave up: {reason}", reason=quoted),
)
"""Why analyses ended, in ngspice's own general words; for runs no other rule has an error of. A pause is what
`stop when ...` asks for."""

# ngspice 39 puts its own x before the name of a subcircuit's instance.
_WRONG_PORTS = (
    r' parameters for subcircuit type "(?P<name>[^"]+)" \(instance: (?:x(?=x))?(?P<element>[^)]+)\)'
)
_INCLUDE_NOT_FOUND = (
    "missing-include",
    msg("The included file {file} was not found.", file=quoted),
    msg("Check the path; it is relative to the folder of the including file."),
)
_NOT_IN_CIRCUIT = (
    "undefined-element",
    msg("{element} refers to {name}, which is not in the circuit.", element=str, name=str),
)
_COMMAND_FAILED = (
    "control-command-failed",
    msg("A command in the control block failed: {reason}", reason=quoted),
)
_NO_SIGNAL = ("unknown-vector", msg("There is no signal {name}.", name=quoted))

LINE_RULES: tuple[Rule, ...] = (
    _rule(
        r"could not find (?:include|library) file (?P<file>.+)", *_INCLUDE_NOT_FOUND, begins=(".inc", ".lib")
    ),
    _rule(r"(?P<card>\.(?:include|lib)) filename missing", "missing-include",
          msg("A directive names no file to include."), begins=(".inc", ".lib")),
    _rule(r"\.endl not found", "missing-section", msg("A library section has no .endl.")),
    _rule(r"instance (?P<element>\S+) is a shorted", "shorted-source",
          msg("Both ends of {element} are at the same node.", element=str)),
    _rule(r"\.include statement failed", "missing-include", msg("An included file could not be opened."),
          begins=(".inc",)),
    _rule(r"library file (?P<file>.+?), section definition (?P<section>\S+) not found", "missing-section",
          msg("The library {file} has no section {section}.", file=quoted, section=quoted),
          msg("Check the section name after the file name in the .lib line."), begins=(".lib",)),
    _rule(r"library file (?P<file>.+?) not found", *_INCLUDE_NOT_FOUND, begins=(".inc", ".lib")),
    _rule(r"unknown subckt:\s*(?P<card>\S.*)", "undefined-subcircuit",
          msg("{element} uses the subcircuit {name}, which is not defined.", element=str, name=str),
          msg("Define it with .subckt, or include the file that defines it."), groups=_call_of_subcircuit),
    _rule(f"too few{_WRONG_PORTS}", "too-few-nodes",
          msg("{element} has fewer nodes than the subcircuit {name}.", element=str, name=str)),
    _rule(f"too many{_WRONG_PORTS}", "too-many-nodes",
          msg("{element} has more nodes than the subcircuit {name}.", element=str, name=str)),
    _rule(r"fatal error: (?P<element>\S+): unknown controlling source (?P<name>\S+)", *_NOT_IN_CIRCUIT),
    _rule(r"(?P<element>\S+): coupling to non-exist[ae]nt inductor (?P<name>[^\s.]+)", *_NOT_IN_CIRCUIT),
    _rule(r'source, or resistor named "(?P<name>[^"]+)" is not in the circuit', "undefined-element",
          msg("The analysis sweeps {name}, which is not in the circuit.", name=str), analysis="dc"),
    _rule(r"noise input source (?P<name>\S+) has no ac value", "bad-analysis",
          msg("The noise source {name} has no AC value.", name=str), msg('Add "AC 1" to it.'),
          analysis="noise"),
    _rule(r"noise input source (?P<name>\S+) not in circuit", "undefined-element",
          msg("The noise source {name} is not in the circuit.", name=str),
          msg("Specify an independent source of the circuit."), analysis="noise"),
    _rule(r"(?P<reason>(?P<kind>AC|NOISE|DISTO|SP) (?:start|stop)freq\s*\S+\s*\S+)", "bad-analysis",
          msg("ngspice does not accept the analysis: {reason}", reason=quoted)),
    _rule(r"no data saved for (?P<what>.+?); analysis not run", "nothing-saved",
          msg("No data were saved, so the analysis was not run: {what}.", what=quoted),
          msg("The .save or .probe lines name nothing that is in the circuit."), begins=(".save", ".probe")),
    _rule(r"mal ?formed \w line:\s*(?P<element>\S+)", "bad-line",
          msg("{element} has too few nodes or values.", element=quoted)),
    _rule(  # ngspice 39 calls this fatal for a lossy line, and goes on
        r"fatal error: (?P<element>\S+): (?P<reason>.+ not given, assumed .+)",
        "value-adjusted",
        msg("{element} lacks a value; ngspice assumed one: {reason}", element=str, reason=quoted),
        severity="warning",
    ),
    _rule(r"fatal error: (?P<reason>.+)", "analysis-failed", msg("ngspice gave up: {reason}", reason=quoted)),
    _rule(r"doanalyses: the input signal is shorted", "bad-analysis",
          msg("The input of the pole-zero analysis is shorted."),
          msg('Give the source there "AC 1": ngspice treats a voltage source without AC as a short circuit.'),
          analysis="pz"),
    _rule(
        r"cannot open file (?P<file>(?=\S)['\"]*(?P<word>.*?)['\"]*)$",
        "missing-data-file",
        msg("A model's data file {file} could not be opened.", file=quoted),
        msg(
            "Put it beside the circuit or inside its project, refer to it relative to the circuit, and "
            "in lower case: ngspice lowercases the name."
        ),
    ),
    _rule(
        r"^\s*osdi: no such command available",
        "osdi-unavailable",
        msg("The installed ngspice was built without OSDI, so it cannot load Verilog-A models."),
        msg("Install an ngspice that was built with OSDI."),
        begins=("pre_osdi", "osdi", "*#pre_osdi", "*# pre_osdi"),
    ),
    _rule(r"^\s*(?P<command>\S+): no such command available", "control-command-failed",
          msg("ngspice does not know the command {command}.", command=quoted)),
    _rule(r"^\s*command '(?P<command>[^']+)' failed", "control-command-failed",
          msg("The command {command} in the control block failed.", command=quoted)),
    _rule(r"(?P<reason>no such device or model name (?P<name>\S+))", *_COMMAND_FAILED),
    _rule(r'(?P<reason>RHS "(?P<name>[^"]*)" invalid)', *_COMMAND_FAILED),
    _rule(
        r"^\s*(?P<file>[^:(]+): (?P<reason>no such file or directory|permission denied"
        r"|read-only file system|is a directory)\s*$",
        "file-not-opened",
        msg("{file} could not be opened: {reason}", file=quoted, reason=quoted),
        msg(
            "A run reads the files of its project and writes only into its own folder: use a plain "
            "file name; the file is placed beside the result."
        ),
    ),
    _rule(r"can'?t allocate|out of memory|cannot allocate memory|virtual memory exhausted|bad_alloc",
          "memory-limit", msg("The run needed more memory than allowed."),
          msg("Save fewer signals, shorten the run, or raise the memory limit.")),
    _rule(r"rawfile write error", "disk-full",
          msg("ngspice could not write all of its data: the disk is full."),
          msg("Free some space and simulate again.")),
    _rule(r"tmpfile\(\)\s*:\s*(?P<reason>.+)", "no-temporary-file",
          msg("ngspice could not create a temporary file: {reason}", reason=quoted),
          msg("Check that /tmp exists, is writable and has free space.")),
    _rule(r"no simulations run", "no-analysis", msg("The netlist contains no analysis."),
          msg("Add a line such as .op, .ac or .tran.")),
    _rule(r"vector (?P<name>\S+) is not available", *_NO_SIGNAL, severity="warning"),
    _rule(r"no such vector (?P<name>\S+)\s*$", *_NO_SIGNAL, severity="warning"),
    _rule(r"error: measure\s+(?P<name>\S+)", "measurement-failed",
          msg("The measurement {name} failed: no point meets its condition.", name=quoted),
          severity="warning"),
    _rule(r"bad type given for option (?P<name>\S+)", "bad-option",
          msg("The value of option {name} cannot be read by ngspice and was ignored.", name=str),
          severity="warning", begins=(".opt",)),
    _rule(r"IC on non-existent node - (?P<node>[^,\s]+)", "unknown-node",
          msg("An initial condition names {node}, which is not in the circuit.", node=str),
          severity="warning", begins=(".ic", ".nodeset")),
    _rule(r"unrecognized parameter \((?P<name>[^)]*)\)\s*-\s*ignored", "unknown-parameter",
          msg("ngspice does not know the parameter {name} and ignored it.", name=quoted), severity="warning"),
    _rule(r"\b(?P<what>P[ds]) = (?P<value>\S+) is less than W\b", "ngspice-message",
          msg("{what} = {value} of a MOSFET is less than its width W.", what=str, value=str),
          severity="warning"),
    _rule(r"(?:warning:\s*)?(?P<element>\S+): resistance to+ low", "value-adjusted",
          msg("The resistance of {element} is missing or too low; ngspice took 1 mOhm.", element=str),
          severity="warning"),
)  # fmt: skip
