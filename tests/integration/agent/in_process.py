"""One turn through the real application in this process, and what it left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from application.app import Application
from application.conversation.turn_deps import ChatRequest, Emit
from application.ports.events import ChatEvent, TurnEnded
from domain.llm.chat import ProviderChoice
from tests.fakes.llm_server import FakeLLMServer


async def turn(
    app: Application,
    server: FakeLLMServer,
    project: Path,
    text: str = "Go.",
    *,
    session_id: str = "",
    emit: Emit | None = None,
) -> tuple[TurnEnded, list[ChatEvent]]:
    events: list[ChatEvent] = []
    choice = ProviderChoice(provider="openai-compatible", model="m", base_url=server.base_url)
    request = ChatRequest(project=project, text=text, session_id=session_id, choice=choice)
    return await app.conversations.chat(request, emit=emit or events.append), events


def messages_of(project: Path) -> list[dict[str, Any]]:
    """The messages of the project's only conversation, each as it stands now."""
    (session,) = (project / ".circuit_ai" / "conversations").glob("*.jsonl")
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    found = [line["message"] for line in lines if line["event"] in ("message", "replaced")]
    return list({message["id"]: message for message in found}.values())
