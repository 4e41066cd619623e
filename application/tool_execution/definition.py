"""What a tool is: one definition from which its schema, the check of its arguments and its help come; and
what it gets beside its arguments: its project, session, and the services it may use.

Arguments are pydantic models with plain fields. Models and people write numbers as text and leave out
what they don't need, so that is understood where it has one meaning only; unknown names are refused with
the nearest known one, because a misspelt option silently dropped does something else than was asked.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from domain.llm.chat import USUAL_ROOM, ResultRoom, WebSource
from domain.llm.tools.effect import ComputedEffect
from domain.llm.tools.look import ToolLook
from domain.llm.tools.result import EffectClass, ToolCall, ToolGroup, ToolResult
from shared.message import Message
from shared.safe_json import MOST_NESTED, is_too_deep, read_bounded

if TYPE_CHECKING:
    from application.components.billing import CountParts
    from application.components.finding import FindComponents
    from application.goal_checks.case_runs import RunCases
    from application.goal_checks.since_when import FindCulprit
    from application.optimization.influencing import FindInfluence
    from application.optimization.optimizing import OptimizeCircuit
    from application.ports.project import ProjectFiles
    from application.ports.project_view import ProjectView
    from application.ports.reports import ReportMaker
    from application.ports.simulation import ModelLibrary, ResultStore, SourceReaders, WaveformReader
    from application.results.exporting import ExportResult
    from application.search.searching import SearchProject
    from application.search.web_searching import SearchWeb
    from application.simulation.checking import CheckCircuit
    from application.simulation.convergence import AnalyzeConvergence
    from application.simulation.device_tables import DeviceTables
    from application.simulation.measuring import MeasureResult
    from application.simulation.simulating import RunSimulation
    from application.studies.studying import RunStudy
    from application.tool_execution.operations import Operations
    from domain.llm.web_search import WebSearchSettings
    from shared.cpu_executor import CpuTaskExecutor

Category = Literal["file", "search", "simulation", "report", "server"]
"""report: what is made of results for people and other programs; server: of a server that the user has set
up, which is offered beside the categories of a node."""

_LONGEST_NUMBER = 18
_PROBLEMS_TOLD = 5
_SHORT_LIST = 8
_SHOWN = 60
_NOT_SENT = frozenset(
    ("title", "$defs", "default", "minLength", "maxLength", "minItems", "maxItems", "additionalProperties")
) | frozenset(("ge", "le", "gt", "lt", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
"""What a model is not sent of a schema: it costs tokens, and a call that is wrong in it is told so."""
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "file_path": ("path",),
    "filepath": ("path",),
    "filename": ("path",),
    "file": ("path",),
    "file_name": ("path",),
    "target_file": ("path",),
    "circuit": ("path",),
    "netlist": ("path",),
    "source": ("path",),
    "data_source": ("path",),
    "folder": ("path",),
    "directory": ("path",),
    "target": ("destination", "to"),
    "new_path": ("destination",),
    "text": ("content",),
    "file_text": ("content",),
    "contents": ("content",),
    "code": ("content",),
    "old": ("search",),
    "old_str": ("search",),
    "old_string": ("search",),
    "old_text": ("search",),
    "new": ("replace",),
    "new_str": ("replace",),
    "new_string": ("replace",),
    "new_text": ("replace",),
    "patch": ("diff",),
    "changes": ("diff",),
    "symbol_name": ("query",),
    "search_type": ("kind",),
    "pattern": ("query",),
    "measurements": ("expressions", "measure"),
    "metrics": ("measure", "expressions"),
    "constraints": ("goals",),
    "signals": ("observation_points",),
    "fixed_values": ("set",),
    "params": ("parameters",),
    "tolerances": ("parameters",),
    "variations": ("parameters",),
}
"""What models call arguments, and what these are called here; understood where it is no argument itself."""


EXAMPLE = "Example: "
"""Stands before the example at the end of a tool's description."""


def unlisted(default: Any, **limits: Any) -> Any:
    """A field of arguments that is understood, but not among those that models are told of."""
    return Field(default, json_schema_extra={"unlisted": True}, **limits)


class Arguments(BaseModel):
    """Base of all arguments: unknown names are refused, NaN and infinity too."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A]):
    """One tool."""

    name: str
    title: Message
    """Its name for people."""
    look: ToolLook
    """How its calls are shown."""
    description: str
    """For the model: what it does, when to use it, when not, an example."""
    category: Category
    effect: EffectClass
    groups: frozenset[ToolGroup] = frozenset()
    """What it has in common with others, where that matters besides category and effect."""
    is_core: bool = False
    """Also a model with little room is shown it."""
    arguments: type[A]
    run: Callable[[A, ToolContext, ToolCall], Awaitable[ToolResult]]
    timeout_s: float | None = 60.0
    """None for a tool that has its own limit."""
    creates_project: bool = False
    """It may be the first thing that happens in a folder that does not exist yet."""
    preview: Callable[[A, ToolContext], Awaitable[ComputedEffect]] | None = None
    """What a call would do, computed from the files; changes nothing. Raises CircuitAIError when the call
    would be refused. Without it the effect is this tool's class on the paths among its arguments."""

    @property
    def schema(self) -> dict[str, Any]:
        """The tool in OpenAI's form, without references and alternatives, which small servers misread.

        Its parameters are shared: not to be changed.
        """
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": _parameters(self.arguments),
            },
        }

    def read_arguments(self, given: Mapping[str, object]) -> A:
        """The checked arguments. Raises BadArgumentsError."""
        if is_too_deep(given):
            raise BadArgumentsError(f"they are nested more than {MOST_NESTED} deep", usage=self.usage)
        fields = self.arguments.model_fields
        present = {
            name: value
            for name, value in self._named_here(given).items()
            if value is not None or name not in fields or fields[name].is_required()
        }
        try:
            return self.arguments.model_validate(present)
        except ValidationError as error:
            found = error.errors(include_url=False)
            problems = [self._problem(item) for item in found]
            if not any(item["loc"] for item in found):  # before the names were looked at
                strange = [name for name in present if name not in fields]
                problems += [self._problem({"loc": (name,), "type": "extra_forbidden"}) for name in strange]
        told = problems[:_PROBLEMS_TOLD]
        if len(problems) > len(told):
            told.append(f"and {len(problems) - len(told)} more")
        raise BadArgumentsError("; ".join(told), usage=self.usage)

    def _named_here(self, given: Mapping[str, object]) -> dict[str, object]:
        """The arguments under the names they have here."""
        fields = self.arguments.model_fields
        named = {name: value for name, value in given.items() if name in fields}
        for name, value in given.items():
            if name not in fields:
                meant = next((each for each in _SYNONYMS.get(name, ()) if each in fields), name)
                named[name if meant in given else meant] = value
        return named

    @property
    def brief_schema(self) -> dict[str, Any]:
        """The schema for models with little room: the first sentence and the example, bare arguments."""
        schema = self.schema
        function = schema["function"]
        first, _, _ = self.description.partition(". ")
        example = self.description[self.description.index(EXAMPLE) :]
        bare = {name: _bare(each) for name, each in function["parameters"]["properties"].items()}
        parameters = {"type": "object", "properties": bare, "required": function["parameters"]["required"]}
        brief = {"name": self.name, "description": f"{first}. {example}", "parameters": parameters}
        return {"type": "function", "function": brief}

    @property
    def usage(self) -> str:
        """Its arguments in a line: ``path (string, required), start_line (integer)``."""
        parameters = self.schema["function"]["parameters"]
        required = parameters.get("required", ())
        words = [
            f"{name} ({_type_word(schema)}{', required' if name in required else ''})"
            for name, schema in parameters["properties"].items()
        ]
        return ", ".join(words) or "none"

    def _problem(self, error: Mapping[str, Any]) -> str:
        if not error["loc"]:
            return str(error["msg"]).removeprefix("Value error, ")
        *owner, name = error["loc"]
        shown = ".".join(_shown(part) for part in (*owner, name))
        if error["type"] == "missing":
            return f"{shown} is missing"
        if error["type"] == "extra_forbidden":
            known = list(self.arguments.model_fields)
            near = difflib.get_close_matches(str(name)[:_SHOWN].lower(), known, n=1, cutoff=0.5)
            hint = f" (did you mean {near[0]}?)" if near and not owner else ""
            return f"{shown} is not an argument of {self.name}{hint}"
        text = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
        if "valid string" in text:
            text = "should be a text"
        got = "" if isinstance(error["input"], Mapping) else f", got {_shown(error['input'])}"
        return f"{shown} {text}{got}"


class ToolServices(Protocol):
    """The use cases tools are thin callers of; each is made when a tool first asks for it."""

    @property
    def sources(self) -> SourceReaders:
        """Readers of circuits and of what they include."""

    @property
    def model_library(self) -> ModelLibrary:
        """The models that come with the program."""

    @property
    def components(self) -> FindComponents:
        """What the libraries hold."""

    @property
    def bill(self) -> CountParts:
        """The parts of a circuit."""

    @property
    def device_tables(self) -> DeviceTables:
        """gm/Id tables of MOSFET models."""

    @property
    def check(self) -> CheckCircuit:
        """A circuit checked without a simulator."""

    @property
    def simulate(self) -> RunSimulation:
        """One run of a circuit."""

    @property
    def run_cases(self) -> RunCases | None:
        """The kept cases of a circuit; None where the user does not want them simulated."""

    @property
    def study(self) -> RunStudy:
        """Many runs: sweeps, corners, samples."""

    @property
    def optimize(self) -> OptimizeCircuit:
        """A search for better values."""

    @property
    def influence(self) -> FindInfluence:
        """What each value of a circuit does to a goal."""

    @property
    def since_when(self) -> FindCulprit:
        """The edit that lost a goal."""

    @property
    def measure(self) -> MeasureResult:
        """Quantities of a stored run."""

    @property
    def export(self) -> ExportResult:
        """Tables and pictures of a stored run."""

    @property
    def make_report(self) -> ReportMaker:
        """A circuit's design report as files."""

    @property
    def analyze_convergence(self) -> AnalyzeConvergence:
        """Why a circuit does not converge, and what helps."""

    @property
    def results(self) -> ResultStore:
        """The stored runs."""

    @property
    def waveform_reader(self) -> WaveformReader:
        """What is in a raw file."""

    @property
    def search(self) -> SearchProject:
        """The project's texts, by words and by meaning."""

    @property
    def cpu(self) -> CpuTaskExecutor:
        """Reads and searches in worker processes, which a stop ends at once."""

    @property
    def search_web(self) -> SearchWeb | None:
        """The web; None where it cannot be searched."""

    def view(self, root: Path) -> ProjectView:
        """A project's files as tools may see them."""


class Gate(Protocol):
    """Decides about a call whose arguments are checked; see application.tool_execution.executor."""

    async def __call__(
        self, tool: Tool[Any], arguments: Any, context: ToolContext, call: ToolCall
    ) -> ToolResult | None:
        """None when it may run, else its result. Raises CircuitAIError when that can't be decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """One project and one session, for all calls of a run."""

    project: ProjectFiles
    session_id: str
    operations: Operations
    services: ToolServices
    gate: Gate | None = None
    """Asked right before a call runs: None lets it run, else this is its result."""
    seen_versions: MutableMapping[str, str] = field(default_factory=dict)
    """Relative path -> version hash of what the model read or wrote; shared by all calls of the session."""
    shown_versions: Mapping[str, str] = field(default_factory=dict)
    """The same of what it was shown with a message since."""
    told_changes: MutableMapping[tuple[str, str], str] = field(default_factory=dict)
    """(Relative path, the version it saw) -> the version it knows by all that has changed since, which the
    newest message tells."""

    said: Callable[[], Sequence[str]] = tuple
    """What the user said in the conversation, oldest first."""
    main_circuit: Callable[[], str] = str
    """What the user works on, relative to the project; "" where it is not known."""
    replaced_calls: Callable[[], Collection[str]] = frozenset
    """Ids of calls in versions of the conversation that were replaced: the model knows nothing of them."""
    is_on_network: bool = False
    """The model that calls is not on this computer: some files are kept back from it."""
    room_now: Callable[[], ResultRoom] = lambda: USUAL_ROOM
    """How much of a result the model that is asked now is sent."""
    web_search: WebSearchSettings | None = None
    """What the general web search asks; None when it is switched off."""
    web_sources: Callable[[], Sequence[WebSource]] = tuple
    """The pages that searches of the turn have found so far."""

    def known_versions(self) -> dict[str, str]:
        """Of the files the model has read or written: the version it saw last. One that it was only shown
        is not among them: it is no reason to write over that unasked."""
        known = {name: self.shown_versions.get(name, seen) for name, seen in self.seen_versions.items()}
        return {name: self.told_changes.get((name, version), version) for name, version in known.items()}

    @property
    def room(self) -> ResultRoom:
        """How much of a result is sent."""
        return self.room_now()

    @property
    def view(self) -> ProjectView:
        """The project's files as tools may see them."""
        view = self.services.view(self.project.root)
        return view.for_network() if self.is_on_network else view


class BadArgumentsError(ValueError):
    """The arguments of a call are not those of its tool; the text says which and why, for the model."""

    def __init__(self, problems: str, *, usage: str = "") -> None:
        super().__init__(problems)
        self.usage = usage


def _shown(value: object) -> str:
    """A value for an error text, short whatever it is."""
    if isinstance(value, int) and abs(value) > 10**_LONGEST_NUMBER:
        return "a huge number"
    if isinstance(value, list | tuple | dict):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    text = value if isinstance(value, str) else repr(value)
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")


def _type_word(schema: Mapping[str, Any]) -> str:
    return "|".join(map(str, schema["enum"])) if "enum" in schema else str(schema.get("type", "any"))


@cache
def _parameters(arguments: type[Arguments]) -> dict[str, Any]:
    """Made once a process: to make all takes 12 ms, at the first message of each window and session."""
    return _plain_schema(arguments.model_json_schema())


def _plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A pydantic schema with its references put in place and its optional types as plain types."""
    definitions = schema.get("$defs", {})

    def simplify(node: Any) -> Any:
        if isinstance(node, list):
            return [simplify(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        if "$ref" in node:
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return simplify({**definitions[node["$ref"].rpartition("/")[2]], **rest})
        if "anyOf" in node:
            choices = [item for item in node["anyOf"] if item.get("type") != "null"]
            rest = {key: value for key, value in node.items() if key != "anyOf"}
            return simplify({**choices[0], **rest})
        return {
            key: {name: simplify(item) for name, item in value.items() if not item.get("unlisted")}
            if key == "properties"
            else simplify(value)
            for key, value in node.items()
            if key not in _NOT_SENT
        }

    simplified: dict[str, Any] = simplify(schema)
    simplified.pop("description", None)
    simplified.setdefault("properties", {})
    simplified.setdefault("required", [])
    return simplified


def _bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """An argument's type alone, with a short list of what it may be."""
    keys = ("type", "enum") if len(schema.get("enum", ())) <= _SHORT_LIST else ("type",)
    return {key: schema[key] for key in keys if key in schema} | (
        {"items": {"type": schema["items"]["type"]}} if "items" in schema else {}
    )


def _whole(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("should be a whole number")
    if isinstance(value, str):
        if not re.fullmatch(rf"[+-]?\d{{1,{_LONGEST_NUMBER}}}", value.strip(), re.ASCII):
            raise ValueError("should be a whole number")
        return int(value)
    return value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("should be a number")
    return value


def _switch(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError("should be true or false")


def _texts(value: object) -> object:
    """A list of texts; one text alone, a list written as JSON text and numbers are understood too."""
    if isinstance(value, str):
        found = _json(value) if value.lstrip().startswith("[") else None
        value = found if isinstance(found, list) else [value]
    return [_number_text(item) for item in value] if isinstance(value, list) else value


def _assignments(value: object) -> object:
    """Values by name; numbers become texts, an object as JSON text and ``R1=2k, C1=1n`` are understood."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _json(value)
    elif isinstance(value, str):
        pairs = [each.partition("=") for each in re.split(r"[,;]?\s+|[,;]", value.strip())]
        if all(name and equals and text for name, equals, text in pairs):
            return {name: text for name, _, text in pairs}
    if not isinstance(value, dict):
        return value
    return {name: _number_text(item) for name, item in value.items()}


def _number_text(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(value) if is_number and abs(value) < 10**_LONGEST_NUMBER else value  # type: ignore[arg-type]


def _json(text: str) -> object:
    try:
        return read_bounded(text)
    except ValueError:
        return None


Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number; "5" and 5.0 are understood, true is not."""
Number = Annotated[float, BeforeValidator(_number)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Assignments = Annotated[dict[str, str], BeforeValidator(_assignments)]
