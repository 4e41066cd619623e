"""Following a chat turn stays possible: the files of the product that one enters are counted."""

from scripts.flow_files import ROOT, measure


def test_a_turn_with_a_read_and_an_edit_enters_few_files() -> None:
    entered = dict(measure("chat", ROOT))
    assert entered["application/agent/loop.py"] > 5
    assert "application/tool_execution/tools/edits.py" in entered
    # A netlist that is written is checked, and the main circuit before a turn: one call, whose own files
    # (the reading of netlists) nobody has to open to follow a turn. Nor those that stand for a model here.
    beside = ("domain/circuit/", "application/simulation/", "infrastructure/llm_adapters/builtin/")
    flow = [file for file in entered if not file.startswith(beside)]
    assert len(flow) < 110, sorted(flow)
