"""The stream of a running graph, which the window and the command line follow."""

from __future__ import annotations

from langgraph.config import get_stream_writer

from shared.events import Event


def tell(event: Event) -> None:
    """Put an event into the graph's own stream."""
    get_stream_writer()(event)
