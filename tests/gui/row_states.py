"""A row of each kind in each of its states, as the pictures of the look show them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from application.conversation.goals_shown import GoalsNow
from application.ports.events import Done, SimulationProgressed, StudyProgressed
from domain.design.checkpoint_intent import CheckpointIntent
from domain.llm.attachments import Attachment
from domain.llm.chat import ProviderChoice, Usage, WebSource
from domain.llm.compression import Compression
from domain.llm.costs import AnswerUse, Cost, RequestFacts
from domain.llm.provider_settings import WAYS_ON
from domain.llm.tools.text_files import diff_texts
from domain.simulation.goals import DesignGoal, GoalVerdict
from domain.simulation.result import Quantity
from presentation.panels.conversation.charts import Chart, ChartLine
from presentation.panels.conversation.items import (
    AnswerText,
    AttachedItem,
    CompressedRow,
    Confirmation,
    Decision,
    Designable,
    DesignEnd,
    ErrorBlock,
    GoalsCard,
    Interrupted,
    Item,
    Narration,
    Note,
    OperationCard,
    Retry,
    RowEdit,
    SimulationCard,
    Steps,
    Understood,
    UserText,
    WorkedElsewhere,
    card_of,
)
from presentation.panels.conversation.names import CircuitNames, Names
from presentation.panels.conversation.study_charts import picture_of
from presentation.progress_words import progress_of
from shared.message import msg
from tests.gui.test_confirmation_card import card_of_everything

OLD = "* RC\nV1 in 0 AC 1\nR1 in out 1k\nC1 out 0 10n\n.end\n"
LONG = OLD + "".join(f"R{n} in out {n}k\n" for n in range(2, 42))
GOALS = (
    DesignGoal(metric="cutoff", expression="bandwidth(v(out))", unit="Hz", minimum=9.5e3, maximum=10.5e3),
    DesignGoal(metric="peaking", expression="max(v(out))", unit="dB", maximum=0.5, stated=False),
)
EASED = (replace(GOALS[1], maximum=0.8, stated=True),)
NAMES = Names(
    files=frozenset({"rc.cir", "big.cir"}),
    circuits={"rc.cir": CircuitNames(nodes=frozenset({"in", "out"}), elements=frozenset({"r1", "v1"}))},
)
_MANY = "".join(f"L{n} in out {n}u\n" for n in range(1, 41))
_TIME = "2026-11-23T14:07:00+00:00"
_STUDY = StudyProgressed(
    key="mc",
    kind="monte_carlo",
    done=612,
    total=1000,
    failed=2,
    rate_hz=129.0,
    remaining_s=3.0,
    best={"f_c": 9_870.0, "peak": 0.12},
    best_run=208,
)
_USE = AnswerUse(
    message_id="a",
    created=_TIME,
    provider="zhipu",
    model="glm-4.6",
    usage=Usage(prompt_tokens=12_400, completion_tokens=310, total_tokens=12_710, cached_tokens=7_700),
    cost=Cost(amounts={"USD": 0.008}),
    facts=RequestFacts(first_s=0.7, seconds=3.4),
)
_CHART = Chart(
    lines=(ChartLine(expression="v(out)", color=0, strokes=(((56, 12), (200, 14), (280, 40), (392, 90)),)),),
    x_ends=("10\u00a0Hz", "1\u00a0MHz"),
    y_ends=("−48\u00a0dB", "0\u00a0dB"),
    grid=(123.2, 190.4, 257.6, 324.8),
)
_MONTE_CARLO = {
    "statistics": {
        "f_c": {
            "unit": "Hz", "mean": 9_980.0, "sigma": 310.0, "min": 9_050.0, "max": 10_900.0,
            "histogram": {
                "edges": [9_050.0 + 185 * n for n in range(11)],
                "counts": [2, 7, 19, 34, 46, 41, 28, 14, 6, 1],
            },
        },
        "peak": {
            "unit": "dB", "mean": 0.12, "sigma": 0.03, "min": 0.04, "max": 0.21,
            "histogram": {"edges": [0.04, 0.08, 0.12, 0.16, 0.21], "counts": [20, 81, 74, 23]},
        },
    },
    "goals": [{"metric": "f_c", ">=": 9_500.0, "<=": 10_500.0}],
    "yield": {"passed": 178, "n": 200, "low": 0.839, "high": 0.926},
}  # fmt: skip
_WORST_CASE = {
    "statistics": {
        "f_c": {"unit": "Hz", "nominal": 10_000.0, "min": 8_600.0, "max": 11_900.0,
                "effects": {"R1": -510.0, "C1": 980.0, "RL": 40.0, "V1": None}},
    },
}  # fmt: skip
_PROSE = """Ripple is $\\Delta I = V/(fL)$; the pole of `rc.cir:3` is at **10 kHz**, see v(out) and `out` [1].

| part | now | proposed |
|---|--:|--:|
| R1 | 1 k | 1.59 k |

1. Change R1
   - keep C1
2. Simulate

```spice
* RC low-pass
V1 in 0 AC 1
R1 in out {r} ; load
.ac dec 10 1 1meg
```
"""


def _verdicts(*values: float) -> tuple[GoalVerdict, ...]:
    return tuple(
        GoalVerdict(goal=goal, measured=Quantity(value=value, unit=goal.unit), met=goal.is_met_by(value))
        for goal, value in zip(GOALS, values, strict=True)
    )


def _attached(kind: str, name: str, mime: str) -> AttachedItem:
    made = Attachment(kind=kind, name=name, mime=mime, size=4_000, sha256="0" * 64, characters=900)  # type: ignore[arg-type]
    return AttachedItem.of(made)


def row_states() -> tuple[Item, ...]:
    """All of them; waits begin now."""
    changed = diff_texts(OLD, OLD.replace("1k", "1.59k"), path="rc.cir")
    read = [OperationCard(key=f"r{n}", tool="read_file", path=f"part{n}.lib", state="done") for n in range(6)]
    intent = CheckpointIntent(kind="goals", text="0.8 dB of peaking is fine", goals=GOALS[:1] + EASED)
    return (
        UserText(key="u", text="A low-pass\nof 10 kHz.", created=_TIME,
                 attached=(_attached("file", "bom.csv", "text/csv"),)),
        UserText(key="v", text="Use 1 % metal film.", created=_TIME, versions=("v0", "v")),
        CompressedRow(key="z", done=Compression(
            compression_id="z", until="", text="Goals: 10 kHz.", summary="Goals: 10 kHz.", messages=18,
            tokens_before=21_400, tokens_after=640)),
        UserText(key="u-edit", text="Use X7R.", created=_TIME, edit=RowEdit(text="Use NP0.")),
        AnswerText(key="live", text="Each stage loses", reasoning="The gain falls.", is_streaming=True),
        AnswerText(key="a", text=_PROSE, reasoning="thinking of R and C", model="glm-4.6", created=_TIME,
                   thought_s=3.0, use=_USE,
                   sources=(WebSource(title="RC filter", url="https://example.org/rc"),)),
        AnswerText(key="long", text=f"```spice\n{OLD}{_MANY}```", can_regenerate=True),
        AnswerText(key="refusal", text=f"I do not understand that. {WAYS_ON}", model="builtin"),
        Designable(key="families", sentences=(msg("Wien bridge, 1 kHz"),)),
        Narration(key="n", text=msg("{text}", text="Round 1 of rc.cir is simulated.")),
        GoalsNow(key="now", path="rc.cir", verdicts=_verdicts(1e4, 0.3), run=12, is_older=True,
                 before=(GOALS[0], EASED[0])),
        GoalsNow(key="now-none", path="rc.cir"),
        GoalsCard(key="g", goals=GOALS, assumptions=(msg("{text}", text="The load is 10 kΩ."),)),
        OperationCard(key="r", tool="read_file", path="rc.cir", state="done", duration_s=0.02),
        OperationCard(key="run", tool="read_file", path="rc.cir"),
        OperationCard(key="o", tool="rewrite_file", path="rc.cir", state="done", standing="stands",
                      diff=changed),
        OperationCard(key="undone", tool="rewrite_file", path="rc.cir", state="done", standing="undone",
                      diff=changed),
        OperationCard(key="big", tool="rewrite_file", path="big.cir", state="done", standing="stands",
                      is_new_file=True, diff=diff_texts("", LONG, path="big.cir")),
        OperationCard(key="bad", tool="rewrite_file", path="rc.cir", state="failed",
                      summary=msg("{path} was changed since it was read.", path="rc.cir")),
        OperationCard(key="mc", tool="run_monte_carlo", path="rc.cir", state="running", can_end=True,
                      progress=progress_of(_STUDY, 5.0)),
        OperationCard(key="mc-done", tool="run_study", path="rc.cir", state="done", duration_s=3.1,
                      summary=msg("Simulated {path} {count} {count:time|times}, {failed} failed.",
                                  path="rc.cir", count=200, failed=2),
                      study=picture_of(_MONTE_CARLO)),
        OperationCard(key="worst", tool="run_study", path="rc.cir", state="done", duration_s=0.4,
                      summary=msg("Simulated {path} {count} {count:time|times}, {failed} failed.",
                                  path="rc.cir", count=7, failed=0),
                      study=picture_of(_WORST_CASE)),
        Steps(key="steps", items=tuple(read)),
        SimulationCard(key="s-run", tool="run_simulation", path="rc.cir", can_end=True,
                       progress=progress_of(SimulationProgressed(key="s-run", share=0.4), 2.0)),
        SimulationCard(key="s", tool="run_simulation", path="rc.cir", state="done", duration_s=0.12,
                       round_number=1, verdicts=_verdicts(1e4, 0.8), chart=_CHART),
        SimulationCard(key="s-bad", tool="run_simulation", path="rc.cir", state="failed", duration_s=0.1,
                       summary=msg("{text}", text="rc.cir:3: unknown subcircuit opamp2q")),
        SimulationCard(key="s-stop", tool="run_simulation", path="rc.cir", state="stopped"),
        SimulationCard(key="s-not", tool="run_simulation", path="rc.cir", state="not_run"),
        Decision(key="d", kind="checkpoint", number=1, met=1, total=2, can_undo=True),
        Decision(key="d-met", kind="checkpoint", number=2, met=2, total=2, can_undo=True, all_met=True),
        Decision(key="d-bad", kind="checkpoint", number=3, total=2, has_failed=True),
        Decision(key="d-was", kind="checkpoint", number=4, met=1, total=2, state="chosen", answer="continue"),
        Decision(key="d-gone", kind="checkpoint", number=5, met=1, total=2, state="expired"),
        Decision(key="d-wait", kind="pending_run", text="a low-pass of 10 kHz"),
        Understood(key="un", intent=intent, state="asks", others=("question", "instruction"),
                   changed=EASED, before=GOALS, verdicts=_verdicts(9_970.0, 0.62)),
        Understood(key="un-was", intent=intent, state="closed", changed=GOALS[1:]),
        Confirmation(key="c", card=card_of_everything()),
        Confirmation(key="c-gone", card=card_of_everything(), state="expired"),
        ErrorBlock(key="e", message=msg("No answer received"), advice=msg("Try it again; rc.cir:3 is kept."),
                   error_type="connection", model="qwen3", created=_TIME),
        ErrorBlock(key="e-offers", message=msg("No answer received"), error_type="rate_limit", created=_TIME,
                   model="glm-4.6", offers=(ProviderChoice(provider="zhipu", model="glm-4.5-air"),)),
        ErrorBlock(key="e-long", message=msg("No answer received"), error_type="context_length",
                   can_begin_anew=True, created=_TIME),
        ErrorBlock(key="e-was", message=msg("No answer received"), is_spent=True),
        Retry(key="t", reason=msg("No answer received"), attempt=2, ends=time.monotonic() + 9,
              characters=612),
        Retry(key="t-turn", attempt=0, ends=0.0, at_work=("Buck 12 V to 5 V", "Filter noise"),
              reason=msg("Waiting for its turn: {count} {count:request|requests} to the provider "
                         "{count:is|are} running", count=3)),
        Interrupted(key="i", reason="user", characters=82, created=_TIME,
                    not_run=(card_of("t1", "patch_file", {"path": "rc.cir"}),
                             card_of("t2", "run_simulation", {}))),
        Interrupted(key="i-lost", reason="cut", characters=612, created=_TIME),
        WorkedElsewhere(key="elsewhere"),
        Interrupted(key="i-limit", reason="limit", can_continue=False),
        DesignEnd(key="end", done=Done(stop_reason="goals_met", project=Path(), circuit="rc.cir",
                                       goals_met=True,
                                       verdicts=_verdicts(1e4, 0.3), rounds=2, round_number=2)),
        Note(key="doubt", is_doubt=True,
             text=msg("These figures of the answer are in no result: {figures}.", figures="98.6 %")),
        Note(key="no", text=msg("No project is open.")),
    )  # fmt: skip
