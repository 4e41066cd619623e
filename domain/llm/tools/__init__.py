"""What a tool is and what it answers; the tools themselves are in application.tool_execution."""
