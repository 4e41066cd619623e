"""The designs of a conversation as data for a report: goals, rounds, what was tried, figures, versions.

Plain JSON, made from the transcript and, where they can still be read, the netlists in the object store and
the results; `docs/command-line.md` has the document's shape. What another version or another program wrote
is read as far as it is understood.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from application.design.round_history import begun_with, number_shown
from application.design.story import goals_from_plain, verdicts_from_plain, without_blocks
from domain.circuit.netlist import Netlist
from domain.design.round_table import TableRow, Trend, round_table
from domain.llm.transcript import Summary, design_left_open, extra_of, role_of, text_of, time_of_ulid, utc
from domain.simulation.goals import GoalVerdict, all_met
from shared.errors import CircuitAIError, UserInputError
from shared.message import msg, stored_message
from shared.safe_json import read_bounded

if TYPE_CHECKING:
    from application.ports.project import ProjectFiles
    from application.ports.project_view import ProjectView

SCHEMA_VERSION = 1
_MOST_BYTES = 16 << 20
"""Of a result's document."""
_UNDOING = ("undo_round", "go_back")
_Json = Mapping[str, Any]


def report_data(
    session_id: str, events: Sequence[_Json], project: ProjectFiles, view: ProjectView, *, program: str
) -> dict[str, Any]:
    """The document of a conversation's designs; `program` is the version of ours. Blocking.

    Raises UserInputError ("no_design") for a conversation without any.
    """
    summary = Summary.of(session_id, events)
    followed = _Follower(project, view)
    for event in events:
        followed.take(event)
    if not followed.designs:
        raise UserInputError(
            msg("There is no design in this conversation."),
            advice=msg("Choose a conversation of workflow mode; the list of conversations shows them."),
            error_type="no_design",
        )
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "design_report",
        "session_id": session_id,
        "session_name": summary.name,
        "created_at": summary.created_at,
        "updated_at": summary.updated_at,
        "versions": {
            "program": program,
            "simulators": sorted(followed.simulators),
            "models": sorted(followed.models),
        },
        "designs": followed.designs,
    }


class _Follower:
    """Follows a transcript; makes a document for each run of a design."""

    def __init__(self, project: ProjectFiles, view: ProjectView) -> None:
        self._project = project
        self._view = view
        self.designs: list[dict[str, Any]] = []
        self.simulators: set[str] = set()
        self.models: set[str] = set()
        self._state: dict[str, Any] = {}
        self._begins_from: bytes | None = None
        """The netlist of the finished design that this one refines."""
        self._judged: dict[int, tuple[tuple[GoalVerdict, ...], bytes | None]] = {}
        """Of the rounds that stand, by number: verdicts and netlist."""
        self._is_open = False
        self._design = ""
        self._is_chat = False
        """What is said is no part of the design that waits."""
        self._words: dict[str, str] = {}
        """Said since the last round, by message."""
        self._calls: list[dict[str, Any]] = []
        self._closing = ""
        self._untimed: list[dict[str, Any]] = []
        """Decisions of which only the order is known so far."""

    def take(self, event: _Json) -> None:
        stored = event.get("message")
        message: _Json = stored if isinstance(stored, Mapping) else {}
        was, self._design = self._design, design_left_open(self._design, event)
        if message and self._untimed:  # a button leaves no message: it was pressed right before this one
            for decision in self._untimed:
                decision["time"] = _time(message)
            self._untimed.clear()
        if event.get("event") == "turn":
            self._is_chat = event.get("state") == "started" and self._design == was
            if self._design != was:
                self._turn(event)
        if "update" in event:  # the design was taken up again
            self._is_chat = False
        if not self._is_open or self._is_chat:
            return
        design = self.designs[-1]
        if event.get("event") == "paused":
            design["state"] = "paused"
        elif event.get("event") == "set_aside":
            design["state"] = "set_aside"
        update = event.get("update")
        before = self._state
        if isinstance(update, Mapping):
            self._state = {**self._state, **update}
            self._goals(before, update, design)
        if "answer" in event and isinstance(event["answer"], str):
            self._decided(event, message, design)
            return
        is_round = self._is_round(update)
        if message:
            self._said(message, is_end=str(event.get("step", "")).endswith("/end"), is_round=is_round)
        if isinstance(update, Mapping) and "last_verdicts" in update and "iteration_count" in update:
            self._rounds(update, message, design, is_round=is_round)

    def _turn(self, event: _Json) -> None:
        begun = event.get("design")
        if isinstance(begun, Mapping):
            self._is_open = True
            known = begun_with(event)
            self._begins_from = self._netlist(_text(known.get("netlist_sha256")))
            self._state = {**known, "design_goals_summary": None}  # its goals are told
            self._judged, self._closing = {}, ""
            self._words, self._calls = {}, []
            self.designs.append(
                {
                    "turn_id": _text(event.get("turn_id")),
                    "started": time_of_ulid(_text(event.get("turn_id"))),
                    "text": _text(begun.get("text")),
                    "refines_an_earlier_one": isinstance(begun.get("refines"), Mapping),
                    "state": "open",
                    "circuit": _text(self._state.get("circuit_file_path")) or None,
                    "goals": [],
                    "assumptions": [],
                    "rounds": [],
                    "decisions": [],
                    "end": None,
                }
            )
        elif self._is_open:
            self._end(_text(event.get("stop_reason")))

    def _end(self, reason: str) -> None:
        design = self.designs[-1]
        standing = [each for each in design["rounds"] if not each["undone"]]
        if reason == "undone":
            for each in design["rounds"]:
                each["undone"] = True
            standing = []
        circuit = _text(self._state.get("circuit_file_path"))
        best = self._state.get("best_round")
        number = best.get("number") if isinstance(best, Mapping) else None
        design["state"] = "ended"
        design["end"] = {
            "stop_reason": reason,
            "goals_met": bool(standing) and reason == "goals_met",
            "rounds": len(standing),
            "round": number_shown(self._state) if standing else None,
            "best_round": number if isinstance(number, int) and standing else None,
            "circuit": circuit if circuit and reason != "undone" else None,
            "words": self._closing,
        }
        self._is_open = False

    def _goals(self, before: _Json, update: _Json, design: dict[str, Any]) -> None:
        if isinstance(path := update.get("circuit_file_path"), str) and path:
            design["circuit"] = path
        plain = update.get("design_goals_summary")
        if plain is None or plain == before.get("design_goals_summary"):
            return
        design["goals"] = [asdict(goal) for goal in goals_from_plain(plain)]
        intent = update.get("design_intent")
        items = intent.get("assumptions") if isinstance(intent, Mapping) else None
        told = (
            stored_message(item.get("template"), item.get("params"))
            for item in (items if isinstance(items, list) else ())
            if isinstance(item, Mapping)
        )
        design["assumptions"] = [str(message) for message in told if message is not None]

    def _decided(self, event: _Json, message: _Json, design: dict[str, Any]) -> None:
        design["decisions"].append(
            {
                "kind": _text(event.get("kind")),
                "after_round": _whole(self._state.get("iteration_count")),
                "answer": _text(event["answer"]),
                "words": text_of(message) if role_of(message) == "user" else "",
                "time": _time(message),
                "goals": design["goals"] if _changes_goals(event) else None,
            }
        )
        self._untimed += [] if message else design["decisions"][-1:]

    def _said(self, message: _Json, *, is_end: bool, is_round: bool) -> None:
        """What the designer said and did on the way to the next round."""
        match role_of(message):
            case "assistant":
                extra = extra_of(message)
                if model := _text(extra.get("model")):  # words of the program have none
                    self.models.add(" ".join(dict.fromkeys((_text(extra.get("provider")), model))).strip())
                words = without_blocks(text_of(message))
                if is_end:
                    self._closing = text_of(message)
                elif words and not is_round:  # an answer may have several lines, the last one whole
                    self._words[_text(message.get("id"))] = words
            case "tool":
                summary = extra_of(message).get("summary")
                told = (
                    stored_message(summary.get("template"), summary.get("params"))
                    if isinstance(summary, Mapping)
                    else None
                )
                self._calls.append(
                    {
                        "tool": _text(message.get("name")),
                        "success": message.get("status") != "error",
                        "summary": "" if told is None else str(told),
                    }
                )
            case _:
                pass

    def _is_round(self, update: object) -> bool:
        """Whether a step judged a round, and did not go back to one."""
        return (
            isinstance(update, Mapping)
            and "last_verdicts" in update
            and "iteration_count" in update
            and update.get("current_node") not in _UNDOING
            and bool(verdicts_from_plain(update["last_verdicts"]))
        )

    def _rounds(self, update: _Json, message: _Json, design: dict[str, Any], *, is_round: bool) -> None:
        number = _whole(update["iteration_count"])
        for each in design["rounds"]:  # undone, and continued from the one before
            each["undone"] |= each["number"] >= number + (0 if is_round else 1)
        standing = [each["number"] for each in design["rounds"] if not each["undone"]]
        self._judged = {key: found for key, found in self._judged.items() if key in standing}
        if is_round:
            design["rounds"].append(self._round(number, update, message))
        self._words, self._calls = {}, []

    def _round(self, number: int, update: _Json, message: _Json) -> dict[str, Any]:
        state = self._state
        verdicts = verdicts_from_plain(update["last_verdicts"])
        earlier = [found for _, found in sorted(self._judged.items())]
        last, before = earlier[-1] if earlier else ((), self._begins_from)
        previous = update.get("previous_round")
        if isinstance(previous, Mapping) and (found := verdicts_from_plain(previous.get("verdicts"))):
            # After going back it is an earlier one than the last.
            last, before = found, self._netlist(_text(previous.get("netlist_sha256")))
        this = update.get("last_round")  # an existing circuit's netlist stands only there
        sha256 = _text((this if isinstance(this, Mapping) else state).get("netlist_sha256"))
        netlist = self._netlist(sha256)
        table = round_table(
            number,
            [verdict.goal for verdict in verdicts],
            verdicts,
            last=last,
            best=self._best(),
            rounds=[*(found for found, _ in earlier), verdicts],
        )
        self._judged[number] = (verdicts, netlist)
        result = _text(state.get("sim_result_path"))
        error = state.get("error_context")
        return {
            "number": number,
            "time": _time(message),
            "circuit": _text(state.get("circuit_file_path")) or None,
            "netlist_sha256": sha256 or None,
            "result": result or None,
            "simulator": self._simulator(result),
            "goals_met": all_met(verdicts),
            "figures": [_row(row) for row in table.rows],
            "trend": None if table.trend is None else _trend(table.trend),
            "changes": None if netlist is None or before is None else list(netlist_changes(before, netlist)),
            "tried": {"words": list(self._words.values()), "calls": self._calls},
            "comment": without_blocks(text_of(message)),
            "error": error if isinstance(error, str) and error else None,
            "undone": False,
        }

    def _best(self) -> tuple[GoalVerdict, ...]:
        best = self._state.get("best_round")
        return verdicts_from_plain(best.get("verdicts")) if isinstance(best, Mapping) else ()

    def _netlist(self, sha256: str) -> bytes | None:
        try:
            return self._project.read_object(sha256)
        except (CircuitAIError, ValueError, OSError):  # lost, or never ours: the figures are worth having
            return None

    def _simulator(self, place: str) -> str | None:
        """What computed a result, as its document says; None when it is gone or says nothing."""
        try:
            path = self._view.locate_result(place) if place else None
            if path is None:
                return None
            with self._view.open(path if path.suffix == ".json" else path / "result.json") as file:
                content = read_bounded(file.read(_MOST_BYTES))
        except (CircuitAIError, ValueError, OSError):
            return None
        found = content.get("simulator") if isinstance(content, Mapping) else None
        version = _text(found.get("version")) if isinstance(found, Mapping) else ""
        self.simulators |= {version} if version else set()
        return version or None


def netlist_changes(before: bytes, after: bytes) -> Iterator[dict[str, str | None]]:
    """The elements, parameters and analyses in which two netlists differ, as their cards are written.

    ``{"name": "R1", "before": "R1 in out 10k", "after": "R1 in out 12k"}``; None for one that is not there.
    """
    old, new = _cards(before), _cards(after)
    for key in (*new, *(key for key in old if key not in new)):
        (was, name), (now, shown) = old.get(key, (None, "")), new.get(key, (None, ""))
        if was != now:
            yield {"name": shown or name, "before": was, "after": now}


def _cards(data: bytes) -> dict[str, tuple[str, str]]:
    """By a key: the card without superfluous spaces, and what it is called."""
    netlist = Netlist.parse(data)
    found: dict[str, tuple[str, str]] = {}
    for element in netlist.elements:
        name = ".".join((*element.scope, element.name))
        found[name.lower()] = (" ".join(element.statement.text.split()), name)
    for parameter in netlist.parameters:
        card = f".param {parameter.name}={parameter.value.text}"
        found[f".param {parameter.name.lower()}"] = (card, parameter.name)
    for place, analysis in enumerate(netlist.analyses):
        found[f".{analysis.kind} {place}"] = (f".{' '.join(analysis.text.split())}", f".{analysis.kind}")
    return found


def _row(row: TableRow) -> dict[str, Any]:
    """NaN is None."""
    return {
        "metric": row.goal.metric,
        "value": row.value if row.value == row.value else None,
        "unit": row.unit,
        "met": row.met,
        "margin": row.margin,
        "margin_share": row.margin_share,
        "last": row.last,
        "change": row.change,
        "course": row.course,
        "minimum": row.goal.minimum,
        "maximum": row.goal.maximum,
        "target": row.goal.target,
        "condition": row.goal.condition,
        "judged": row.judged.strip(),
    }


def _trend(found: Trend) -> dict[str, Any]:
    return {
        "direction": found.direction,
        "rounds": found.rounds,
        "without_gain": found.without_gain,
        "standing": found.standings[-1],
    }


def _changes_goals(event: _Json) -> bool:
    update = event.get("update")
    return isinstance(update, Mapping) and update.get("design_goals_summary") is not None


def _time(message: _Json) -> str:
    return utc(extra_of(message).get("timestamp")) or time_of_ulid(_text(message.get("id")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
