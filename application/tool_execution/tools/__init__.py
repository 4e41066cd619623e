"""The tools themselves; application.tool_execution.registry lists them."""
