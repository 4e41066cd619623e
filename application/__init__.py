"""What we do: use cases and the LangGraph graph. Speaks to the outside only through ports/."""
