"""The LangGraph graph: state, nodes, edges, builder, runtime."""
