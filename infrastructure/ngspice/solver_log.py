"""What the solver's words mean: operating points found with help or not at all, stuck time steps.

ngspice tries dynamic and true gmin stepping, source stepping and a transient run-up, and prints
each step; only what remains at the end of an analysis is worth telling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from infrastructure.ngspice.findings import Finding
from shared.message import msg

_SINGULAR = re.compile(r"singular matrix:?\s*check nodes?\s+(?P<node>\S+)", re.IGNORECASE)
_STEPPING = re.compile(r"starting (?:dynamic |true )?(?P<how>gmin|source) stepping", re.IGNORECASE)
_TRANSIENT_OP = re.compile(r"transient op started", re.IGNORECASE)
_GAVE_UP = re.compile(r"doanalyses:\s*(?:(?P<kind>\w+):)?\s*(?P<what>.*)", re.IGNORECASE)
_TOO_SMALL = re.compile(r"timestep too small", re.IGNORECASE)
_NO_CONVERGENCE = re.compile(
    r"no convergence|iteration limit|did not converge|too many iterations", re.IGNORECASE
)
_FROM_GIVEN = re.compile(r"using transient initial conditions", re.IGNORECASE)
_TIME = re.compile(r"time = (?P<time>[-+.\deE]+)")
_TROUBLE_NODE = re.compile(r'trouble with node "(?P<node>[^"]+)"', re.IGNORECASE)
_TROUBLE_ELEMENT = re.compile(r"trouble with (?:\S+:)?(?:\S+) ?instance (?P<element>\S+)", re.IGNORECASE)


def solver_findings(lines: Sequence[str]) -> Iterator[Finding]:
    """Failures and rescues of the solver, analysis by analysis.

    A singular matrix that came first is the cause of a failed operating point; one met on the way
    to a solution is worth a warning, because the rescue may rest on a leakage ngspice made up.
    """
    singular: str | None = None
    singular_first = False
    rescue: str | None = None
    is_from_given = False
    for line in lines:
        if (match := _SINGULAR.search(line)) and singular is None:
            singular, singular_first = match["node"], rescue is None
        if match := _STEPPING.search(line):
            rescue = match["how"].lower()
        elif _TRANSIENT_OP.search(line):
            rescue = "transient"
        elif _FROM_GIVEN.search(line):
            is_from_given = True
        elif match := _GAVE_UP.search(line):
            first = singular if singular_first else None
            kind = (match["kind"] or "").lower()  # some endings are told without
            failure = _solver_failure(kind, match["what"], first, is_from_given=is_from_given)
            if failure is not None:
                yield failure
            singular, singular_first, rescue, is_from_given = None, False, None, False
    if singular is not None:
        yield _rescued_singular(singular)
    elif rescue is not None:
        yield _rescued(rescue)


def _solver_failure(kind: str, what: str, singular: str | None, *, is_from_given: bool) -> Finding | None:
    node = found["node"] if (found := _TROUBLE_NODE.search(what)) else None
    element = found["element"] if (found := _TROUBLE_ELEMENT.search(what)) else None
    time = _TIME.search(what)
    if not (_TOO_SMALL.search(what) or _NO_CONVERGENCE.search(what) or "singular" in what.lower()):
        return None
    if time is not None or (not kind and _TOO_SMALL.search(what)):
        return Finding(
            severity="error",
            code="timestep-too-small",
            message=msg("The transient analysis got stuck: its time step became too small.")
            if time is None
            else msg(
                "The transient analysis got stuck at {time} s: its time step became too small.",
                time=time["time"],
            ),
            node=node,
            element=element,
            analysis=kind or None,
            advice=msg(
                "Look for a jump without a rise time, a missing parasitic, or a model outside its "
                "range at that point."
            ),
        )
    if singular is not None:
        return _singular_failure(singular, kind)
    if is_from_given and _TOO_SMALL.search(what):
        return Finding(
            severity="error",
            code="timestep-too-small",
            message=msg(
                "The transient analysis found no solution at its start; with uic it starts without an "
                "operating point."
            ),
            node=node,
            element=element,
            analysis=kind or None,
            advice=msg("Leave out uic, or give the voltages at the start with .ic."),
        )
    return Finding(
        severity="error",
        code="no-convergence",
        message=(
            msg("The operating point did not converge; problem at node {node}.", node=node)
            if node
            else msg("The operating point did not converge.")
        ),
        node=node,
        element=element,
        analysis=kind or None,
        advice=msg("Give a starting point with .nodeset, or check whether the circuit lacks a stable state."),
    )


def _singular_failure(node: str, kind: str) -> Finding:
    element = _branch_element(node)
    return Finding(
        severity="error",
        code="singular-matrix",
        message=(
            msg(
                "The equations have no unique solution: {element} is in a loop of voltage sources or "
                "inductors.",
                element=element,
            )
            if element
            else msg("The equations have no unique solution: check node {node}.", node=node)
        ),
        node=None if element else node,
        element=element,
        analysis=kind or None,
        advice=msg("Look for sources or inductors in parallel, and nodes without a path to ground."),
    )


def _rescued_singular(node: str) -> Finding:
    element = _branch_element(node)
    return Finding(
        severity="warning",
        code="singular-matrix",
        message=(
            msg(
                "The equations have no unique solution at {element}; ngspice continued with a guess.",
                element=element,
            )
            if element
            else msg(
                "The equations have no unique solution at node {node}; ngspice continued with a guess.",
                node=node,
            )
        ),
        node=None if element else node,
        element=element,
        advice=msg("Give the node a DC path to ground; until then voltages of this run are not reliable."),
    )


def _branch_element(node: str) -> str | None:
    name, mark, _ = node.partition("#branch")
    return name if mark else None


def _rescued(how: str) -> Finding:
    hard = msg("The operating point was hard to find (ngspice needed {how}); the values found are valid.",
               how=f"{how} stepping")  # fmt: skip
    texts = {
        "gmin": ("gmin-stepping", hard),
        "source": ("source-stepping", hard),
        "transient": (
            "transient-op",
            msg("The operating point was found only by letting the circuit start; it may not have settled."),
        ),
    }
    code, message = texts[how]
    advice = msg(
        "If a node's DC voltage is not what you expect, give the expected one with .nodeset, for example "
        ".nodeset v(out)=5."
    )
    return Finding(severity="warning", code=code, message=message, advice=advice)
