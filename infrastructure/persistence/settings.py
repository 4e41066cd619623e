"""The user's settings, in ``settings.json`` of his own folder.

Read by every sub-command, so with the standard library alone: importing pydantic would take longer
than all the rest of a quick command. Of what an entry is about (models, prices, limits) nothing is imported
where the file does not hold it: a third of such a command went into that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from infrastructure.persistence.regular import read_regular_file
from shared import paths
from shared.bounded_json import read_bounded
from shared.message import Message, msg

if TYPE_CHECKING:
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.chat import ModelAbilities, ProviderChoice
    from domain.llm.costs import Price
    from domain.llm.service import NetworkSettings
    from domain.search.embedding import EmbeddingSettings
    from domain.simulation.retention import RetentionPolicy

SCHEMA_VERSION = 1
_MAX_BYTES = 2**20

Language = Literal["auto", "en", "zh"]
_LANGUAGES: tuple[Language, ...] = ("auto", "en", "zh")

_LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSettings:
    """What the user chose. Keys of providers never are among it; None = as it is by default."""

    language: Language = "auto"
    """Language of texts; "auto" follows the system."""
    libraries: tuple[Path, ...] = ()
    """Folders (or single files) every circuit may include from."""
    ngspice_path: Path | None = None
    """The simulator's program; None = the one found on PATH."""
    agent: AgentLimits | None = None
    """How far one turn of a chat may go by itself."""
    small_model: ProviderChoice | None = None
    """The model that makes titles of conversations; None = their first words serve."""
    alternatives: tuple[ProviderChoice, ...] = ()
    """Models to ask, or to offer, when the chosen one fails; none = those that were tested are offered."""
    network: NetworkSettings | None = None
    """Proxy and certificates for servers on the network."""
    models: Mapping[str, ModelAbilities] = field(default_factory=dict)
    """What the user knows of models, by name or by provider and name; before what the program knows."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """What models cost, by name or by provider and name; before what the program knows."""
    switch_automatically: bool = False
    """The alternatives are asked without a question, where the project may be sent to them."""
    embedding: EmbeddingSettings | None = None
    """The server for searches by meaning; None = no such search, nothing is sent."""
    results: RetentionPolicy | None = None
    """How much room the results of each project may take; held after each run."""
    run_bytes: int | None = None
    """What the files of one run may take together (bytes)."""
    unknown: Mapping[str, Any] = field(default_factory=dict)
    """Entries of other versions of this program, kept as they are."""
    warnings: tuple[Message, ...] = ()
    """What was wrong with the file these were read from; never saved."""

    def language_in(self, environment: Mapping[str, str]) -> Literal["en", "zh"]:
        """The language of texts; "auto" looks into `environment` as gettext does."""
        if self.language != "auto":
            return self.language
        locale = next((environment[name] for name in _LOCALE_VARIABLES if environment.get(name)), "")
        # LANGUAGE lists what the user reads, best first, but not for the plain C locale.
        wished = environment.get("LANGUAGE", "").split(":")[0] if locale not in ("", "C", "POSIX") else ""
        return "zh" if (wished or locale).lower().startswith("zh") else "en"


def load_settings(home: Path) -> UserSettings:
    """The settings under the user's folder `home`; defaults where there are none.

    Never raises: what cannot be read or understood is replaced by its default and told in `warnings`.
    A file that is no JSON object at all is kept aside, beside its old place.
    """
    path = home / paths.SETTINGS_FILE
    try:
        data = read_regular_file(Path(os.path.realpath(path)), max_bytes=_MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return UserSettings()
    except (OSError, ValueError) as error:
        return UserSettings(
            warnings=(
                msg(
                    "The settings {path} cannot be read ({reason}); defaults are used.",
                    path=path,
                    reason=error,
                ),
            )
        )
    try:
        content = read_bounded(data)
        if not isinstance(content, dict):
            raise TypeError("not an object")
    except (ValueError, TypeError, RecursionError):
        return UserSettings(warnings=(_keep_aside(path),))
    return _understand(content, path)


def save_settings(home: Path, settings: UserSettings) -> None:
    """Write the settings atomically. Raises EnvironmentProblem when that is not possible."""
    from domain.llm.costs import price_to_plain
    from infrastructure.persistence.atomic import write_atomically, write_problem

    path = home / paths.SETTINGS_FILE
    content = {
        **settings.unknown,
        "schema_version": SCHEMA_VERSION,
        "language": settings.language,
        "libraries": [str(library) for library in settings.libraries],
        "ngspice_path": None if settings.ngspice_path is None else str(settings.ngspice_path),
        "agent": None if settings.agent is None else asdict(settings.agent),
        "small_model": None if settings.small_model is None else _choice_to_plain(settings.small_model),
        "alternatives": [_choice_to_plain(choice) for choice in settings.alternatives],
        "network": None
        if settings.network is None
        else {
            "proxy": settings.network.proxy,
            "certificates": settings.network.certificates and str(settings.network.certificates),
        },
        "models": {name: _abilities_to_plain(row) for name, row in settings.models.items()},
        "prices": {name: price_to_plain(price) for name, price in settings.prices.items()},
        "switch_automatically": settings.switch_automatically,
        "embedding": None if settings.embedding is None else asdict(settings.embedding),
        "results": _results_to_plain(settings),
    }
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_problem(error, path) from error
    text = json.dumps(content, ensure_ascii=False, indent=2)
    write_atomically(path, (text + "\n").encode("utf-8", "surrogateescape"), inside=home)


def _understand(content: dict[str, Any], path: Path) -> UserSettings:
    warnings: list[Message] = []

    def entry(name: str, read: Callable[[Any], T], default: T) -> T:
        value = content.pop(name, None)
        if value is None:
            return default
        try:
            return read(value)
        except (ValueError, TypeError):
            warnings.append(
                msg(
                    "The setting {name} in {path} is not understood; its default is used.",
                    name=name,
                    path=path,
                )
            )
            return default

    version = entry("schema_version", _number, SCHEMA_VERSION)
    if version > SCHEMA_VERSION:
        warnings.append(
            msg("{path} was written by a newer version; what is not known here is ignored.", path=path)
        )
    results = entry("results", _results, _NOTHING_SAID)
    return UserSettings(
        language=entry("language", _language, "auto"),
        libraries=entry("libraries", _places, ()),
        ngspice_path=entry("ngspice_path", _place, None),
        agent=entry("agent", _limits, None),
        small_model=entry("small_model", _model, None),
        alternatives=entry("alternatives", _models, ()),
        network=entry("network", _network, None),
        models=entry("models", _abilities, {}),
        prices=entry("prices", _prices, {}),
        switch_automatically=entry("switch_automatically", _yes_or_no, False),
        embedding=entry("embedding", _embedding, None),
        results=results[0],
        run_bytes=results[1],
        unknown=content,
        warnings=tuple(warnings),
    )


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("a whole number is needed")
    return value


def _language(value: Any) -> Language:
    if value not in _LANGUAGES:
        raise ValueError(value)
    chosen: Language = value
    return chosen


def _place(value: Any) -> Path | None:
    """An absolute path; `~` is the user's home."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError(value)
    path = Path(value).expanduser() if value.startswith("~/") else Path(value)
    if not path.is_absolute():
        raise ValueError(value)
    return path


def _places(value: Any) -> tuple[Path, ...]:
    if not isinstance(value, list):
        raise TypeError("a list of folders is needed")
    return tuple(place for place in map(_place, value) if place is not None)


_LIMIT_RANGES = {
    "rounds": (1, 200),
    "warn_round": (1, 200),
    "calls_per_answer": (1, 50),
    "model_seconds": (1, 86_400),
    "continuations": (0, 20),
    "parallel": (1, 16),
    "calls_per_second": (1, 1000),
    "session_tokens": (0, 10**12),
    "session_cost": (0, 10**6),
}
_FRACTIONS = ("model_seconds", "session_cost")


def _limits(value: Any) -> AgentLimits:
    """Any of the limits by name; those left out keep their defaults."""
    from domain.llm.agent_limits import AgentLimits
    from domain.llm.costs import CURRENCIES

    if not isinstance(value, dict):
        raise TypeError("an object of limits is needed")
    numbers = dict(value)
    currency = numbers.pop("currency", AgentLimits().currency)
    if currency not in CURRENCIES:
        raise ValueError(currency)
    for name, number in numbers.items():
        if name not in _LIMIT_RANGES:
            raise ValueError(name)
        lowest, highest = _LIMIT_RANGES[name]
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise TypeError(name)
        if not lowest <= number <= highest or (name not in _FRACTIONS and number != int(number)):
            raise ValueError(name)
    read = {name: number if name in _FRACTIONS else int(number) for name, number in numbers.items()}
    return AgentLimits(**read, currency=currency)


def _embedding(value: Any) -> EmbeddingSettings | None:
    from domain.search.embedding import read_embedding

    return read_embedding(value)


def _prices(value: Any) -> dict[str, Price]:
    """``{"glm-4.6": {"input": 4, "cached": 0.8, "output": 16, "currency": "CNY"}}``."""
    from domain.llm.costs import read_price

    if not isinstance(value, dict):
        raise TypeError("an object of prices is needed")
    return {name: read_price(row) for name, row in value.items()}


def _model(value: Any) -> ProviderChoice | None:
    """``{"provider": "ollama", "model": "qwen3:4b", "base_url": ""}``; provider alone = its default model."""
    from domain.llm.chat import ProviderChoice

    if not isinstance(value, dict) or not value.keys() <= {"provider", "model", "base_url"}:
        raise ValueError(value)
    if not all(isinstance(text, str) for text in value.values()) or not value.get("provider", "").strip():
        raise ValueError(value)
    return ProviderChoice(**value)


def _choice_to_plain(choice: ProviderChoice) -> dict[str, str]:
    return {"provider": choice.provider, "model": choice.model, "base_url": choice.base_url}


def _models(value: Any) -> tuple[ProviderChoice, ...]:
    if not isinstance(value, list):
        raise TypeError("a list of models is needed")
    return tuple(choice for choice in map(_model, value) if choice is not None)


_PROXIES = ("http", "https", "socks5", "socks5h")


def _network(value: Any) -> NetworkSettings:
    """``{"proxy": "socks5://HOST:1080", "certificates": "/etc/company-ca.pem"}``; either may be missing."""
    from urllib.parse import urlsplit

    from domain.llm.service import NetworkSettings

    if not isinstance(value, dict) or not value.keys() <= {"proxy", "certificates"}:
        raise ValueError(value)
    proxy, certificates = value.get("proxy") or "", value.get("certificates")
    if not isinstance(proxy, str):
        raise TypeError("the address of a proxy is needed")
    if proxy:
        parts = urlsplit(proxy)
        if parts.scheme not in _PROXIES or not parts.hostname or (parts.port or 1) < 1:
            raise ValueError(proxy)
    return NetworkSettings(proxy=proxy, certificates=_place(certificates) if certificates else None)


_ABILITIES = ("tools", "vision", "thinking", "context_tokens", "output_tokens")


def _abilities_to_plain(row: ModelAbilities) -> dict[str, Any]:
    return {name: value for name in _ABILITIES if (value := getattr(row, name)) is not None}


def _abilities(value: Any) -> dict[str, ModelAbilities]:
    """``{"my-model": {"tools": "prompted", "context_tokens": 8192}}``; what is left out is not known."""
    from domain.llm.chat import ModelAbilities

    if not isinstance(value, dict):
        raise TypeError("an object of models is needed")
    found: dict[str, ModelAbilities] = {}
    for model, row in value.items():
        if not isinstance(row, dict) or not row.keys() <= set(_ABILITIES):
            raise ValueError(model)
        for name, told in row.items():
            if name == "tools":
                if told not in ("yes", "prompted", "no"):
                    raise ValueError(told)
            elif name in ("vision", "thinking"):
                _yes_or_no(told)
            elif _number(told) < 1:
                raise ValueError(told)
        found[model] = ModelAbilities(**row)
    return found


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false is needed")
    return value


_NOTHING_SAID: tuple[RetentionPolicy | None, int | None] = (None, None)


def _results_to_plain(settings: UserSettings) -> dict[str, Any] | None:
    kept = settings.results
    plain = {} if kept is None else {"max_bytes": kept.max_bytes, "keep": kept.keep}
    return {**plain, "run_bytes": settings.run_bytes} if settings.run_bytes else plain or None


def _results(value: Any) -> tuple[RetentionPolicy | None, int | None]:
    """``{"max_bytes": 5368709120, "keep": 20, "run_bytes": 1073741824}``.

    Null bytes = no limit, what is left out its default; of one run 1 MiB to 1 TiB.
    """
    from domain.simulation.request import LEAST_RUN_BYTES, MOST_RUN_BYTES
    from domain.simulation.retention import DEFAULT_POLICY, RetentionPolicy

    if not isinstance(value, dict) or not value.keys() <= {"max_bytes", "keep", "run_bytes"}:
        raise ValueError(value)
    run_bytes = value.get("run_bytes")
    if run_bytes is not None and not LEAST_RUN_BYTES <= _number(run_bytes) <= MOST_RUN_BYTES:
        raise ValueError(run_bytes)
    keep = _number(value.get("keep", DEFAULT_POLICY.keep))
    most = value.get("max_bytes", DEFAULT_POLICY.max_bytes)
    if keep < 0 or (most is not None and _number(most) < 0):
        raise ValueError(value)
    # Without a limit of size nothing is removed by itself: `keep` alone would remove all others.
    return RetentionPolicy(keep=keep, max_bytes=2**62 if most is None else most), run_bytes


def _keep_aside(path: Path) -> Message:
    from datetime import UTC, datetime

    aside = path.with_name(f"{path.name}.broken-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
    try:
        path.replace(aside)
    except OSError as error:
        return msg(
            "The settings {path} cannot be understood; defaults are used ({reason}).",
            path=path,
            reason=error.strerror,
        )
    return msg(
        "The settings {path} could not be understood; defaults are used. The old file is kept as {aside}.",
        path=path,
        aside=aside,
    )
