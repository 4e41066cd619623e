"""What we know: circuits, simulation, design. Pure: no I/O, no Qt, no asyncio, no LangGraph."""
