"""The data file of models: every row is sound, and found under the names people use."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from domain.llm.chat import ModelAbilities
from domain.llm.costs import Price
from domain.settings import UserSettings
from infrastructure.llm_adapters.model_facts import (
    FILE,
    abilities_of,
    facts_of,
    price_of,
    rows,
    small_model_of,
)
from infrastructure.llm_adapters.provider_facts import PROVIDERS
from infrastructure.persistence.settings import change_settings, load_settings


def test_every_row_is_sound() -> None:
    assert len({row.names.pattern for row in rows()}) == len(rows()) > 10
    for row in rows():
        abilities = row.abilities
        assert row.source.startswith("https://"), row
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", row.as_of), row
        assert row.basis in ("read", "quoted", "known"), row
        assert abilities.tools in ("yes", "prompted", "no", None), row
        assert abilities.context_tokens is None or abilities.context_tokens >= 8192, row
        assert (abilities.output_tokens or 0) <= (abilities.context_tokens or 10**9), row
        if row.price is not None:
            assert row.price.provider in PROVIDERS, row
            assert 0 < row.price.price.input < row.price.price.output, row
            assert (row.price.price.cached or 0) < row.price.price.input, row
            assert row.basis in ("read", "quoted"), row
    known = {
        "models",
        "context",
        "output",
        "tools",
        "vision",
        "thinking",
        "price",
        "as_of",
        "basis",
        "source",
    }
    assert all(row.keys() <= known for row in json.loads(FILE.read_text())["rows"])


def test_models_are_found_under_the_names_of_their_providers() -> None:
    assert facts_of("zai-org/GLM-4.6") is facts_of("glm-4.6") is not None
    assert abilities_of("zhipu", "glm-4.6v").vision is True
    assert abilities_of("zhipu", "glm-4.6").vision is False
    assert abilities_of("openai", "gpt-4.1-mini").context_tokens == 1_047_576
    for provider in ("zhipu", "deepseek", "openai", "claude", "gemini"):
        model = PROVIDERS[provider].default_model
        assert abilities_of(provider, model).context_tokens, model
    assert abilities_of("vllm", "nobody/knows-7b") == ModelAbilities()


def test_a_price_holds_for_its_provider_at_its_own_address_as_long_as_it_is_said() -> None:
    found = price_of("openai", "gpt-5-mini")
    assert found == Price(input=0.25, cached=0.025, output=2.0)
    assert price_of("openai", "gpt-5-mini", is_own_address=False) is None
    assert price_of("openai-compatible", "gpt-5-mini") is None
    assert price_of("zhipu", "glm-4.7") is None
    assert price_of("gemini", "gemini-3.8-flash", today=date(2026, 12, 31)) is not None
    assert price_of("gemini", "gemini-3.8-flash", today=date(2027, 1, 1)) is None
    own = Price(input=4, output=16, currency="CNY")
    assert price_of("zhipu", "glm-4.7", added={"zhipu glm-4.7": own}, is_own_address=False) == own


def test_small_models_are_of_known_providers() -> None:
    named = json.loads(FILE.read_text())["small_models"]
    assert named.keys() <= PROVIDERS.keys()
    assert all(model in PROVIDERS[provider].models for provider, model in named.items())
    assert small_model_of("ollama") == ""


def test_what_the_user_knows_comes_first_and_is_kept(tmp_path: Path) -> None:
    own = {
        "tiny": ModelAbilities(tools="prompted", context_tokens=4096),
        "zhipu glm-4.6": ModelAbilities(context_tokens=100_000),
    }
    change_settings(tmp_path, lambda _: UserSettings(models=own))
    added = load_settings(tmp_path).models
    assert added == own
    assert abilities_of("vllm", "tiny", added=added) == own["tiny"]
    merged = abilities_of("zhipu", "glm-4.6", added=added)
    assert (merged.context_tokens, merged.tools) == (100_000, "yes")
    assert abilities_of("siliconflow", "glm-4.6", added=added).context_tokens == 200_000


@pytest.mark.parametrize(
    "row",
    [{"tools": "maybe"}, {"vision": 1}, {"context_tokens": 0}, {"context_tokens": "many"}, {"nose": 1}, 5],
)
def test_a_row_that_is_none_is_told(tmp_path: Path, row: object) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"models": {"m": row}}))
    settings = load_settings(tmp_path)
    assert settings.models == {}
    assert len(settings.warnings) == 1
