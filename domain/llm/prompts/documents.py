"""Prompts as JSON documents: reading what a person may have written by hand, and making what is kept.

    task templates   {"schema_version": 1, "templates": {"FIX_ERROR": {"content": ..., "variables": [...]}}}
    identity         {"schema_version": 1, "identity": {"content": ..., "variables": [...], "values": {...}}}
    preferences      {"schema_version": 1, "my_preferences": "...", "projects": {"/real/path": "..."}}

In a user's file of templates the entries may also stand at the top, and only `content` is needed; the rest
is inherited from the built-in template. Whatever is not understood is left out and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from domain.llm.prompts.catalogue import FORMATS, TASKS, FormatName, TaskName, Wording
from domain.llm.prompts.fallbacks import (
    FALLBACK_CONTENTS,
    FALLBACK_FORMATS,
    FALLBACK_IDENTITY,
    IDENTITY_VARIABLES,
)
from domain.llm.prompts.library import (
    MOST_CHARACTERS,
    IdentityPrompt,
    IdentityVariable,
    Preferences,
    PromptLibrary,
    PromptTemplate,
    is_variable_name,
    names_in,
)
from shared.message import Message, msg

SCHEMA_VERSION = 1
_OTHER_WORDINGS: tuple[Wording, ...] = ("small", "no_tools")
_TOP_ENTRIES = ("schema_version", "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file of prompts as it was found."""

    path: str
    content: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDocuments:
    """All files; one that is missing or is no JSON object is None (and `warnings` has the reason)."""

    tasks: Document | None
    formats: Document | None
    identity: Document | None
    custom_tasks: tuple[Document, ...] = ()
    """The later ones win."""
    custom_identity: Document | None = None
    preferences: Document | None = None
    warnings: tuple[Message, ...] = ()


def understand(documents: PromptDocuments) -> PromptLibrary:
    """The prompts in force. Never raises: what is damaged is replaced and told in `warnings`."""
    warnings = [*documents.warnings, *_newer(documents)]
    templates = {task: _builtin(task, documents.tasks, warnings) for task in TASKS}
    for document in documents.custom_tasks:
        for task, content in _customs(document, warnings):
            templates[task] = replace(templates[task], content=content, source="custom")
    return PromptLibrary(
        templates=templates,
        formats={name: _format(name, documents.formats, warnings) for name in FORMATS},
        identity=_identity(documents, warnings),
        preferences=_preferences(documents.preferences, warnings),
        warnings=tuple(warnings),
        format_variants=_format_variants(documents.formats),
    )


def _format_variants(document: Document | None) -> dict[FormatName, dict[Wording, str]]:
    entries = entries_of(document.content) if document else {}
    return {name: _variants(entries.get(name)) for name in FORMATS}


def entries_of(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The templates of a document: under "templates", or at its top."""
    nested = content.get("templates")
    if isinstance(nested, Mapping):
        return nested
    return {key: value for key, value in content.items() if key not in _TOP_ENTRIES}


def with_templates(content: Mapping[str, Any], changes: Mapping[TaskName, str | None]) -> dict[str, Any]:
    """A user's document with texts put in (or taken out, for None); everything else in it is kept."""
    entries = {key: entry for key, entry in entries_of(content).items() if key != "templates"}
    for task, text in changes.items():
        if text is None:
            entries.pop(task, None)
        else:
            before = entries.get(task)
            entries[task] = {**(before if isinstance(before, Mapping) else {}), "content": text}
    others = {key: value for key, value in content.items() if key in _TOP_ENTRIES or "templates" in content}
    return {**others, "schema_version": _version_to_keep(content), "templates": entries}


def identity_document(
    content: Mapping[str, Any], text: str, variables: Iterable[IdentityVariable]
) -> dict[str, Any]:
    """A user's identity as it is kept, in place of the one in `content`."""
    variables = tuple(variables)
    others = content if "identity" in content else {}
    return {
        **others,
        "schema_version": _version_to_keep(content),
        "identity": {
            "content": text,
            "variables": [each.name for each in variables],
            "required_variables": [each.name for each in variables if each.is_required],
            "values": {each.name: each.value for each in variables if each.value is not None},
        },
    }


def preferences_document(
    content: Mapping[str, Any], *, mine: str | None, projects: Mapping[str, str]
) -> dict[str, Any]:
    """A document of preferences with changes put in: None keeps what is there, "" takes a project out."""
    before = content.get("projects")
    kept = {**(before if isinstance(before, Mapping) else {}), **projects}
    return {
        **content,
        "schema_version": _version_to_keep(content),
        "my_preferences": content.get("my_preferences", "") if mine is None else mine,
        "projects": {path: text for path, text in kept.items() if text},
    }


def _version_to_keep(content: Mapping[str, Any]) -> int:
    version = content.get("schema_version")
    return version if isinstance(version, int) and version > SCHEMA_VERSION else SCHEMA_VERSION


def _newer(documents: PromptDocuments) -> Iterator[Message]:
    for document in (*documents.custom_tasks, documents.custom_identity, documents.preferences):
        if document is not None and _version_to_keep(document.content) > SCHEMA_VERSION:
            yield msg(
                "{path} was written by a newer version; unknown settings are ignored.",
                path=document.path,
            )


def _builtin(task: TaskName, document: Document | None, warnings: list[Message]) -> PromptTemplate:
    entry = entries_of(document.content).get(task) if document else None
    if not isinstance(entry, Mapping) or not _is_usable(entry.get("content")):
        if document is not None:
            warnings.append(
                msg("The built-in prompt {name} is damaged; a short one is used instead.", name=task)
            )
        entry = {"content": FALLBACK_CONTENTS[task], "variables": sorted(names_in(FALLBACK_CONTENTS[task]))}
        return _template(task, entry, version="", is_fallback=True)
    version = str(entry.get("version") or (document.content.get("version", "") if document else ""))
    return _template(task, entry, version=version, is_fallback=False)


def _template(task: TaskName, entry: Mapping[str, Any], *, version: str, is_fallback: bool) -> PromptTemplate:
    content = str(entry["content"])
    variables = _names(entry.get("variables"))
    required = frozenset(_names(entry.get("required_variables")))
    return PromptTemplate(
        task=task,
        description=str(entry.get("description") or ""),
        content=content,
        variables=(*variables, *sorted(required - set(variables))),
        required=required,
        version=version,
        source="fallback" if is_fallback else "builtin",
        default_content=content,
        variants=_variants(entry),
    )


def _variants(entry: object) -> dict[Wording, str]:
    """The other wordings of a built-in text."""
    texts = entry.get("variants") if isinstance(entry, Mapping) else None
    texts = texts if isinstance(texts, Mapping) else {}
    return {wording: str(text) for wording in _OTHER_WORDINGS if _is_usable(text := texts.get(wording))}


def _customs(document: Document, warnings: list[Message]) -> Iterator[tuple[TaskName, str]]:
    for key, entry in entries_of(document.content).items():
        task = next((task for task in TASKS if task == key), None)
        text = entry.get("content") if isinstance(entry, Mapping) else entry
        if task is None:
            warnings.append(
                msg("{path}: there is no prompt called {name}; it is ignored.", path=document.path, name=key)
            )
        elif not _is_usable(text):
            warnings.append(
                msg(
                    "{path}: the text of {name} is empty, too long or not text; the built-in one is used.",
                    path=document.path,
                    name=key,
                )
            )
        else:
            yield task, text


def _format(name: FormatName, document: Document | None, warnings: list[Message]) -> str:
    entry = entries_of(document.content).get(name) if document else None
    text = entry.get("content") if isinstance(entry, Mapping) else entry
    if _is_usable(text):
        return str(text)
    if document is not None:
        warnings.append(msg("The built-in prompt {name} is damaged; a short one is used instead.", name=name))
    return FALLBACK_FORMATS[name]


def _identity(documents: PromptDocuments, warnings: list[Message]) -> IdentityPrompt:
    builtin = _identity_entry(documents.identity)
    if builtin is None:
        if documents.identity is not None:
            warnings.append(
                msg("The built-in prompt {name} is damaged; a short one is used instead.", name="identity")
            )
        builtin = {"content": FALLBACK_IDENTITY, "variables": list(IDENTITY_VARIABLES)}
    content, variables = str(builtin["content"]), _identity_variables(builtin, ())
    found = IdentityPrompt(
        content=content,
        variables=variables,
        version=str(documents.identity.content.get("version", "")) if documents.identity else "",
        source="fallback" if content == FALLBACK_IDENTITY else "builtin",
        default_content=content,
        default_variables=variables,
        variants=_variants(builtin),
    )
    custom = _identity_entry(documents.custom_identity)
    if custom is not None:
        own = _identity_variables(custom, variables)
        return replace(found, content=str(custom["content"]), variables=own, source="custom")
    if documents.custom_identity is not None:
        warnings.append(
            msg(
                "{path}: the text of {name} is empty, too long or not text; the built-in one is used.",
                path=documents.custom_identity.path,
                name="identity",
            )
        )
    return found


def _identity_entry(document: Document | None) -> Mapping[str, Any] | None:
    """The identity of a document: under "identity", or at its top."""
    if document is None:
        return None
    nested = document.content.get("identity", document.content)
    entry = nested if isinstance(nested, Mapping) else {"content": nested}
    return entry if _is_usable(entry.get("content")) else None


def _identity_variables(
    entry: Mapping[str, Any], inherited: tuple[IdentityVariable, ...]
) -> tuple[IdentityVariable, ...]:
    """The variables of an identity; what the program knows needs no value, the user's own have one."""
    if "variables" not in entry and inherited:
        return inherited
    values = entry.get("values")
    values = values if isinstance(values, Mapping) else {}
    required = _names(entry.get("required_variables"))
    names = dict.fromkeys((*_names(entry.get("variables")), *required, *_names(list(values))))
    return tuple(
        IdentityVariable(
            name=name,
            is_required=name in required,
            value=None if name in IDENTITY_VARIABLES else str(values.get(name) or ""),
        )
        for name in names
    )


def _preferences(document: Document | None, warnings: list[Message]) -> Preferences:
    if document is None:
        return Preferences()
    mine, projects = document.content.get("my_preferences", ""), document.content.get("projects", {})
    if not isinstance(mine, str) or not isinstance(projects, Mapping):
        warnings.append(msg("{path}: the preferences are not valid and were skipped.", path=document.path))
    return Preferences(
        mine=mine if isinstance(mine, str) else "",
        projects=(
            {str(path): text for path, text in projects.items() if isinstance(text, str)}
            if isinstance(projects, Mapping)
            else {}
        ),
    )


def _is_usable(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= MOST_CHARACTERS


def _names(value: object) -> tuple[str, ...]:
    """Variable names of a list; whatever else is in it is left out."""
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(name for name in value if isinstance(name, str) and is_variable_name(name)))
