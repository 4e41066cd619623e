"""`providers key set|remove|status NAME`: a key comes from a hidden prompt or standard input alone."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from presentation.cli.terminal import read_hidden_line, read_input
from shared.errors import UserInputError
from shared.message import Message, msg
from shared.redaction import register_secret

if TYPE_CHECKING:
    from application.app import Application
    from application.ports.credentials import KeyPlace
    from domain.llm.chat import ProviderInfo
    from presentation.json_output import Output

ACTIONS = ("set", "remove", "status")
_LARGEST_INPUT = 16 << 10

PLACES: dict[KeyPlace, Message] = {
    "environment": msg("in the environment"),
    "keyring": msg("in the system keyring"),
    "file": msg("in the encrypted file"),
    "session": msg("for this session only"),
}


async def run_key(args: argparse.Namespace, app: Application, out: Output) -> int:
    """Exit code 2 for wrong usage, 3 when no place can keep the key."""
    action, info = _order(args, app)
    if action == "status":
        _say_status(app, info, out)
        return 0
    if action == "remove":
        await unlock_keys(app, info.name, out)
        gone = await asyncio.to_thread(app.models.keys.remove, info.name)
        left = app.models.keys.status(info.name, info.key_variable).place
        told = (
            msg("The key of {name} was removed.", name=info.name)
            if gone
            else msg("No key for {name} was stored.", name=info.name)
        )
        out.say(told)
        if left == "environment":
            out.say(msg("The environment still contains one ({variable}).", variable=info.key_variable))
        out.json_or_nothing({"ok": True, "provider": info.name, "removed": list(gone), "place": left})
        return 0
    key, passphrase = await _read_key(info, out)
    if passphrase:
        await asyncio.to_thread(app.models.keys.unlock, passphrase)
    place = await _kept(app, info, key, out)
    out.say(msg("The key of {name} is stored {place}.", name=info.name, place=PLACES[place]))
    if app.models.keys.status(info.name, info.key_variable).place == "environment":
        out.note(msg("The environment contains another one, which takes precedence ({variable}).",
                     variable=info.key_variable))  # fmt: skip
    out.json_or_nothing({"ok": True, "provider": info.name, "place": place})
    return 0


async def unlock_keys(app: Application, provider: str, out: Output) -> None:
    """Ask for the passphrase when the provider's key is in the encrypted file and a person is there.

    Raises UserInputError ("wrong_passphrase"), EnvironmentProblem.
    """
    info = _holders(app).get(provider)
    if info is None:
        return
    status = await asyncio.to_thread(app.models.keys.status, info.name, info.key_variable)
    if status.needs_passphrase and _is_person_there(out):
        passphrase = await _hidden(out, msg("Passphrase of the encrypted keys: "))
        await asyncio.to_thread(app.models.keys.unlock, passphrase)


def _holders(app: Application) -> dict[str, ProviderInfo]:
    """Whose keys are kept: providers of models, search engines, servers of vectors."""
    from domain.llm.chat import ProviderInfo
    from domain.search.embedding import EMBEDDING_SERVERS

    vectors = {
        row.key_name: ProviderInfo(
            name=row.key_name,
            title=row.title,
            needs_key=False,
            has_key=False,
            base_url=row.base_url,
            key_variable=row.key_variable,
            key_page=row.key_page,
        )
        for row in EMBEDDING_SERVERS.values()
        if row.key_name
    }

    engines = {
        info.key_name: ProviderInfo(
            name=info.key_name,
            title=info.title,
            needs_key=True,
            has_key=info.has_key,
            base_url=info.base_url,
            key_variable=info.key_variable,
            key_page=info.key_page,
        )
        for info in app.models.search_web.engines.list()
        if info.needs_key
    }
    return vectors | engines | {info.name: info for info in app.models.providers.list() if info.key_variable}


def _order(args: argparse.Namespace, app: Application) -> tuple[str, ProviderInfo]:
    words = [args.name, *args.words] if args.name else list(args.words)
    if len(words) > 2 or args.key:
        # Never quoted: what is there too much is most likely the key itself.
        raise UserInputError(
            msg("Do not pass keys as arguments: they are visible to other users and saved in the shell "
                "history."),
            advice=msg("Omit it: you will be asked for it; a script passes it on standard input. "
                       "Replace any key that has been on a command line."),
            error_type="key_on_command_line",
        )  # fmt: skip
    known = _holders(app)
    if len(words) != 2 or words[0] not in ACTIONS or words[1] not in known:
        raise UserInputError(
            msg("Which provider? providers key set|remove|status NAME."),
            advice=msg("Known providers: {names}.", names=", ".join(known)),
            error_type="bad_usage",
        )
    return words[0], known[words[1]]


def _say_status(app: Application, info: ProviderInfo, out: Output) -> None:
    place = app.models.keys.status(info.name, info.key_variable).place
    if place is None:
        out.say(msg("There is no key for {name}.", name=info.name))
    else:
        out.say(msg("The key of {name} is stored {place}.", name=info.name, place=PLACES[place]))
    out.json_or_nothing({"ok": True, "provider": info.name, "place": place})


async def _read_key(info: ProviderInfo, out: Output) -> tuple[str, str]:
    """The key, and from a pipe a second line that is the passphrase of the encrypted file."""
    if _is_person_there(out):
        prompt = msg("Key of {name} (it is not shown): ", name=info.name)
        return await _hidden(out, prompt), ""
    data = await read_input(_LARGEST_INPUT)
    lines = [*data.decode("utf-8", "replace").splitlines()[:2], "", ""]
    for line in lines:
        register_secret(line)
    return lines[0].strip(), lines[1]


async def _kept(app: Application, info: ProviderInfo, key: str, out: Output) -> KeyPlace:
    """In the best place that outlives this command."""
    stores = await asyncio.to_thread(app.models.keys.stores)
    if stores.keyring:
        return await asyncio.to_thread(app.models.keys.set, info.name, key, server=info.base_url)
    if not app.models.keys.is_unlocked and _is_person_there(out):
        out.say(msg("No keyring here ({reason}): the key is stored in an encrypted file.",
                    reason=stores.no_keyring or ""))  # fmt: skip
        passphrase = await _hidden(out, msg("Passphrase of the encrypted keys: "))
        if not stores.has_file and passphrase != await _hidden(out, msg("Repeat passphrase: ")):
            raise UserInputError(
                msg("The two passphrases differ; nothing was saved."),
                advice=msg("Run the command again."),
                error_type="bad_passphrase",
            )
        await asyncio.to_thread(app.models.keys.unlock, passphrase)
    return await asyncio.to_thread(app.models.keys.set, info.name, key, place="file", server=info.base_url)


async def _hidden(out: Output, prompt: Message) -> str:
    """A line that is not shown."""
    text = await read_hidden_line(out.translate(prompt))
    register_secret(text)
    return text


def _is_person_there(out: Output) -> bool:
    return sys.stdin.isatty() and not out.as_json
