"""JSON lines of the events that a design and a chat have in common."""

from __future__ import annotations

from typing import assert_never

from application.ports.events import ErrorOccurred, PhaseEntered, SessionOpened, ToolEnded, ToolStarted
from presentation.json_output import Output, plain

CommonEvent = SessionOpened | PhaseEntered | ToolStarted | ToolEnded | ErrorOccurred


def common_document(event: CommonEvent, out: Output) -> dict[str, object]:
    match event:
        case SessionOpened():
            problems = [out.translate(each) for each in event.problems]
            more: dict[str, object] = {"problems": problems} if problems else {}
            return {"type": "session", "session_id": event.session_id, **more}
        case PhaseEntered():
            return {"type": "phase", "phase": event.phase, "round": event.round_number}
        case ToolStarted():
            return {
                "type": "tool_start",
                "id": event.call_id,
                "name": event.name,
                "arguments": plain(event.arguments),
            }
        case ToolEnded():
            return {
                "type": "tool_end",
                "id": event.call_id,
                "name": event.name,
                "success": event.success,
                "summary": out.translate(event.summary),
            }
        case ErrorOccurred():
            return {
                "type": "error",
                "error_type": event.error_type,
                "message": out.translate(event.message),
                "advice": out.translate(event.advice) if event.advice else None,
                "offers": [
                    {"provider": offer.provider, "model": offer.model, "base_url": offer.base_url}
                    for offer in event.offers
                ],
            }
        case _:
            assert_never(event)
