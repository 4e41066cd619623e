"""Attachments before they are sent and when they are shown: files and bytes looked at, previews, texts."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from domain.llm.attachments import (
    MOST_ATTACHMENTS,
    Attachment,
    PreparedAttachment,
    clean_name,
    prepared_text,
)
from domain.llm.tools.text_files import decode
from shared.errors import CircuitAIError, EnvironmentProblem, UserInputError
from shared.message import Message, msg
from shared.uninterrupted import off_loop

if TYPE_CHECKING:
    from application.ports.attachments import AttachmentReader
    from application.ports.conversation import ChatModels
    from application.ports.project import ProjectFiles, Projects
    from domain.llm.chat import ProviderChoice
    from shared.cpu_executor import CpuTaskExecutor

BUILTIN = "builtin"
_LARGE_TEXT = 256_000
"""Bytes; a larger text is looked at in a worker process."""
_DECODED_IN_C = (b"\x89PNG", b"\xff\xd8")
"""Of pictures, which hold the loop's thread for no longer than a row."""
_PATIENCE_S = 30.0
"""For the text of a PDF."""
_ASKING_S = 3.0
"""For what other models can do."""


class Attachments:
    """Looks at what a user wants to attach, and shows what was attached."""

    def __init__(self, *, projects: Projects, reader: AttachmentReader, cpu: CpuTaskExecutor) -> None:
        self._projects = projects
        self._reader = reader
        self._cpu = cpu

    async def take_file(
        self, path: Path, *, project: Path | None = None, is_picture: bool = False
    ) -> PreparedAttachment:
        """A file, ready to be sent; `is_picture`: nothing else will do.

        Raises UserInputError: no file, empty, too large, broken, neither picture nor text.
        """
        content = await asyncio.to_thread(self._reader.read_file, path)
        source = "" if project is None else await asyncio.to_thread(self._place_in, project, path)
        return await self.take_bytes(path.name, content, is_picture=is_picture, source=source)

    async def take_bytes(
        self, name: str, content: bytes, *, is_picture: bool = False, source: str = ""
    ) -> PreparedAttachment:
        """Bytes (of the clipboard, of a file), ready to be sent; see `take_file`."""
        if len(content) > _LARGE_TEXT and not content.startswith(_DECODED_IN_C):
            found = await self._cpu.run(self._reader.examine, name, content)
        else:
            found = await asyncio.to_thread(self._reader.examine, name, content)
        if found is None:
            found = await self._document(name, content)
        if is_picture and not found.attachment.is_picture:
            raise UserInputError(
                msg("{name} is not a picture.", name=found.attachment.name),
                advice=msg("Pictures may be PNG, JPEG, WebP, GIF, BMP or TIFF. Attach a text or a PDF with "
                           "--attach."),
                error_type="not_a_picture",
            )  # fmt: skip
        if source:
            found = replace(found, attachment=replace(found.attachment, source=source))
        return found

    async def _document(self, name: str, content: bytes) -> PreparedAttachment:
        name = clean_name(name)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                text = await self._cpu.run(self._reader.document_text, content)
        except TimeoutError as error:
            raise _no_text(name, "too_slow") from error
        except (ValueError, EnvironmentProblem) as error:
            raise _no_text(name, str(error)) from error
        return await asyncio.to_thread(prepared_text, name, content, "application/pdf", text)

    async def preview(self, root: Path, attachment: Attachment, side: int) -> bytes:
        """A stored picture as PNG or JPEG, at most `side` pixels long.

        Raises EnvironmentProblem ("attachment_missing"), UserInputError.
        """

        def work() -> bytes:
            with self._opened(root) as project:
                content = project.attachments.read(attachment.stored_name)
            return self._reader.preview(content, side)

        return await asyncio.to_thread(work)

    async def preview_of(self, prepared: PreparedAttachment, side: int) -> bytes:
        """A picture that is not stored yet, as `preview`."""
        assert prepared.content is not None
        return await asyncio.to_thread(self._reader.preview, prepared.content, side)

    async def text(self, root: Path, attachment: Attachment) -> str:
        """The text of a stored file. Raises EnvironmentProblem ("attachment_missing")."""

        def work() -> str:
            with self._opened(root) as project:
                content = project.attachments.read(attachment.stored_text_name)
            return read_text(content)

        return await asyncio.to_thread(work)

    @contextlib.contextmanager
    def _opened(self, root: Path) -> Iterator[ProjectFiles]:
        project = self._projects.open(root)
        try:
            yield project
        finally:
            project.close()

    def _place_in(self, project: Path, path: Path) -> str:
        """Where in the project the file lies; "" when it is elsewhere."""
        try:
            with self._opened(project) as opened:
                return opened.place_of(path.absolute())
        except UserInputError as error:  # a place outside of it, or no project yet: the message will make it
            root, place = Path(os.path.realpath(project)), Path(os.path.realpath(path))
            is_inside = error.error_type == "no_project" and place.is_relative_to(root)
            return place.relative_to(root).as_posix() if is_inside else ""


def read_text(content: bytes) -> str:
    return decode(content).text


def _no_text(name: str, why: str) -> UserInputError:
    if why == "no_text":
        return UserInputError(
            msg("{name} contains no text: its pages are images.", name=name),
            advice=msg("Attach the relevant page as a picture (a screenshot)."),
            error_type="no_text",
        )
    if why == "too_slow":
        return UserInputError(
            msg("The text of {name} could not be read in {seconds} s.", name=name, seconds=_PATIENCE_S),
            advice=msg("Attach the relevant page as a picture (a screenshot), or its text."),
            error_type="unreadable_document",
        )
    return UserInputError(
        msg("The text of {name} cannot be read: the PDF is damaged or password-protected.", name=name),
        advice=msg("Open it and save it again, or attach the relevant page as a picture."),
        error_type="unreadable_document",
    )


# --- before a message is written ---------------------------------------------------------------------


async def refuse_unfit(
    attachments: Sequence[PreparedAttachment],
    choice: ProviderChoice,
    *,
    models: ChatModels,
    others: Callable[[], Sequence[ProviderChoice]],
) -> None:
    """Raise UserInputError for attachments that this model would not get, before anything is written.

    `others`: models of the user, of which those that can see are named in the advice.
    """
    if not attachments:
        return
    if len(attachments) > MOST_ATTACHMENTS:
        raise UserInputError(
            msg("{count} files are attached; a message can have at most {most}.",
                count=len(attachments), most=MOST_ATTACHMENTS),
            advice=msg("Send some of them with the next message."),
            error_type="too_many_attachments",
        )  # fmt: skip
    if choice.provider == BUILTIN:
        raise UserInputError(
            msg("The built-in model can neither see pictures nor read attached files."),
            advice=await _advice(
                choice,
                models,
                others,
                else_say=msg(
                    "Choose another model. A netlist can also be put into the project: the built-in "
                    "model works on its files."
                ),
            ),
            error_type="model_cannot_see",
        )
    if not any(prepared.attachment.is_picture for prepared in attachments):
        return
    if (await models.abilities(choice)).vision is False:
        raise UserInputError(
            msg("The model {model} cannot see pictures.", model=choice.model or choice.provider),
            advice=await _advice(
                choice,
                models,
                others,
                else_say=msg(
                    "Choose a model that can see, or send the message without the picture. Vision "
                    "models often have “vision” or a V in their names, for example glm-4.6v, qwen3-vl."
                ),
            ),
            error_type="model_cannot_see",
        )


async def _advice(
    choice: ProviderChoice,
    models: ChatModels,
    others: Callable[[], Sequence[ProviderChoice]],
    *,
    else_say: Message,
) -> Message:
    seeing: list[str] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_ASKING_S):
            for other in await asyncio.to_thread(others):
                if other != choice and await _sees(models, other):
                    seeing.append(f"{other.provider} {other.model}".strip())
    if not seeing:
        return else_say
    return msg("Models you have set up that see pictures: {names}.", names=", ".join(seeing))


async def _sees(models: ChatModels, choice: ProviderChoice) -> bool:
    if choice.provider == BUILTIN:
        return False
    try:
        return (await models.abilities(choice)).vision is True
    except CircuitAIError:  # no key, no server: then it is not offered
        return False


def refuse_kept_back(attachments: Sequence[PreparedAttachment], project: ProjectFiles) -> None:
    """Raise UserInputError for a file that ``.circuitaiignore`` keeps from the network. Blocking."""
    for prepared in attachments:
        source = prepared.attachment.source
        if source and project.is_kept_back(source):
            raise UserInputError(
                msg("{path} was not sent: it is listed in .circuitaiignore, and the model is on the network.",
                    path=source),
                advice=msg("Remove it from .circuitaiignore, or choose a model on this computer."),
                error_type="ignored",
            )  # fmt: skip


@contextlib.asynccontextmanager
async def kept(attachments: Sequence[PreparedAttachment], project: ProjectFiles) -> AsyncIterator[None]:
    """Contents are on the disk before the message that names them is written, inside of this.

    Until it names them nobody tidies up. Raises EnvironmentProblem (disk full; "attachment_missing" for one
    that should be there).
    """
    if not attachments:
        yield
        return
    held = contextlib.ExitStack()
    try:
        await off_loop(held.enter_context, project.attachments.holding())
        await off_loop(_keep_all, attachments, project)
        yield
    finally:
        held.close()


def _keep_all(attachments: Sequence[PreparedAttachment], project: ProjectFiles) -> None:
    store = project.attachments
    for prepared in attachments:
        attachment = prepared.attachment
        if prepared.content is None:
            store.read(attachment.stored_name)
            continue
        store.keep(attachment.stored_name, prepared.content)
        if prepared.text is not None:
            store.keep(attachment.stored_text_name, prepared.text)
