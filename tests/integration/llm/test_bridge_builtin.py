"""The built-in model with the real tools and the real simulator: its plans fit what the tools answer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import application.tool_execution.run_tool  # noqa: F401 - its first import reads files, which the loop must not
from application.app import Application
from bootstrap import build
from domain.llm.answers import accept_calls
from domain.llm.chat import ChatRequest, WireMessage
from domain.llm.netlists_in_text import complete_netlists
from infrastructure.llm_adapters.builtin.chat import MOST_ROUNDS, BuiltinChatClient
from presentation.translation import Translator

DECK = """RC low-pass
Vin in 0 AC 1
R1 in out 1k
C1 out 0 159.155n
.ac dec 50 10 100k
.meas ac cutoff when vdb(out)=-3.0103
.end
"""


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    app = build(environment={"CIRCUIT_DESIGN_AI_HOME": str(tmp_path / "home")})
    try:
        yield app
    finally:
        await app.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


async def turn(app: Application, project: Path, text: str) -> tuple[list[str], str]:
    """A whole turn: the tools it called, and its answer."""
    client = BuiltinChatClient(speaker=Translator)
    messages = [WireMessage(role="user", text=text)]
    called: list[str] = []
    for _ in range(MOST_ROUNDS + 1):
        request = ChatRequest(messages=tuple(messages), tools=app.conversations.run_tool.executor.schemas())
        chunks = [chunk async for chunk in client.stream(request)]
        calls = chunks[-1].tool_calls
        said = "".join(chunk.text for chunk in chunks)
        messages.append(WireMessage(role="assistant", text=said, tool_calls=calls))
        if not calls:
            return called, said
        for accepted in accept_calls(calls, lambda: ""):
            result = await app.conversations.run_tool(accepted.name, accepted.arguments, project=project)
            called.append(accepted.name)
            messages.append(WireMessage(role="tool", text=result.content, name=accepted.name))
    raise AssertionError(f"it goes on and on: {called}")


async def test_simulate_and_measure(app: Application, project: Path) -> None:
    (project / "rc.cir").write_text(DECK)
    called, said = await turn(app, project, "measure highcut(v(out)) of rc.cir")
    assert called == ["inspect_data", "run_simulation", "inspect_data"]
    assert "- cutoff = 1 kHz" in said
    assert "- highcut(v(out)) = 1 kHz" in said
    called, _ = await turn(app, project, "measure highcut(v(out)) of rc.cir")
    assert called == ["inspect_data"]
    called, said = await turn(app, project, "把 rc.cir 的 R1 改成 2kΩ，然后仿真")
    assert called == ["read_file", "patch_file", "run_simulation"]
    assert (project / "rc.cir").read_text() == DECK.replace("1k\n", "2k\n")
    assert "“R1 in out 2k”" in said
    assert re.search(r"- cutoff = (?:500|499\.99\d)", said)
    called, said = await turn(app, project, "测量 rc.cir 的 highcut(v(out))")
    assert called == ["inspect_data"]
    assert re.search(r"- highcut\(v\(out\)\) = (?:500|499\.99\d)", said)
    await turn(app, project, "set R1 to 4k in rc.cir")
    called, said = await turn(app, project, "测量 rc.cir 的 highcut(v(out))")
    assert called == ["inspect_data", "run_simulation", "inspect_data"]
    assert re.search(r"- highcut\(v\(out\)\) = (?:250|249\.99\d|250\.00\d)", said)


async def test_questions_about_a_circuit(app: Application, project: Path) -> None:
    short = re.sub(r"\.meas.*\n", "", DECK.replace("100k", "300"))  # it ends before the corner
    (project / "rc.cir").write_text(short)
    called, said = await turn(app, project, "what limits the bandwidth of rc.cir?")
    looked = ["analyze_file", "read_file", "run_simulation", "inspect_data"]
    assert called == [*looked, "run_simulation", "inspect_data", "run_study"]
    assert "is 1 kHz" in said
    assert re.search(r"(R1|C1) -1%, (?!\1)(R1|C1) -1%\. To raise it: make \1, \2 smaller\.", said)
    # A study is done again in a wider sweep; a figure that has no value there either says why.
    _, said = await turn(app, project, "monte carlo of the bandwidth of rc.cir with 5% resistors, 3 runs")
    assert re.search(r"bandwidth: mean \S+ k?Hz, σ", said)
    flat = re.sub("C1.*", "C1 out 0 1e-30", short)
    (project / "flat.cir").write_text(flat)
    _, said = await turn(app, project, "worst case of the bandwidth of flat.cir with 5% resistors")
    assert re.search(r"bandwidth: no value: The response does not cross", said)
    (project / "rc.cir").write_text(DECK)
    called, said = await turn(app, project, "把 rc.cir 的截止频率调到 2kHz")
    assert called[-4:] == ["read_file", "patch_file", "run_simulation", "inspect_data"]
    after = re.search(r"截止频率 1 kHz → (\S+) kHz（要求 2 kHz", said)
    assert after is not None
    assert float(after[1]) == pytest.approx(2, rel=0.01)
    changed = re.search(r"R1 in out (\S+)", (project / "rc.cir").read_text())
    assert changed is not None
    assert float(changed[1]) == pytest.approx(500, rel=0.011)
    _, said = await turn(
        app, project, "worst case of the cut-off of rc.cir with 5% resistors and 10% capacitors"
    )
    assert re.search(r"cut-off frequency: nominal 2\.?\d* kHz, from 1\.7\d* kHz to 2\.3\d* kHz", said)
    called, said = await turn(app, project, "compare the last two runs of rc.cir")  # of which a study is none
    assert called.count("inspect_data") == 4
    assert re.search(r"run \d+ → run \d+:\n- .*: 1\.?\d* kHz → 2\.?\d* kHz, \+", said)
    numbers = re.findall(r"run (\d+)", said)
    _, named = await turn(app, project, f"compare run {numbers[1]} with run {numbers[0]} of rc.cir")
    assert named == said
    _, said = await turn(app, project, f"what is the cut-off in run {numbers[0]} of rc.cir?")
    assert re.search(rf"^rc\.cir, run {numbers[0]}:\n- cut-off frequency .*: 1\.?\d* kHz$", said)
    _, said = await turn(app, project, "compare run 998 with run 999 of rc.cir")
    assert "999" in said


async def test_waves_are_compared_by_their_size(app: Application, project: Path) -> None:
    deck = "wave\nV1 in 0 SIN(0 1 1k)\nR1 in out 1k\nR2 out 0 1k\n.tran 5u 10m\n.end\n"
    for text in (deck, deck.replace("R2 out 0 1k", "R2 out 0 3k")):
        (project / "wave.cir").write_text(text)
        await turn(app, project, "run wave.cir")
    _, said = await turn(app, project, "compare the last two runs of wave.cir")
    assert re.search(r"\(pp\(v\(out\),0\.008,0\.01\)\): 1 V → 1\.5 V, \+50%\n", said)
    assert "max(" in said
    assert "min(" in said
    assert "avg(" not in said
    _, said = await turn(app, project, "compare the output voltage of run 1 with run 2 of wave.cir")
    assert re.search(r"avg\(.* → .*V, .*V$", said, re.MULTILINE)  # no share of a mean of nothing


async def test_a_filter_is_moved_as_a_whole(app: Application, project: Path) -> None:
    buffer = "\nE1 out 0 b out 1meg\n"
    deck = f"Sallen-Key\nV1 in 0 AC 1\nR1 in a 16k\nR2 a b 16k\nC1 a out 1.4n\nC2 b 0 700p{buffer}"
    (project / "sk.cir").write_text(f"{deck}.ac dec 50 100 1meg\n.end\n")
    called, said = await turn(app, project, "make the cutoff of sk.cir 20 kHz")
    assert "run_study" not in called
    assert re.search(r"10\.0\d kHz → (19\.[89]|20\.[012])\d* kHz \(required: 20 kHz", said)
    text = (project / "sk.cir").read_text()
    assert "C1 a out 1.4n" in text  # as Q and the flat response are
    assert re.search(r"R1 in a (\S+)\nR2 a b \1\n", text)


async def test_change_inside_a_long_file(app: Application, project: Path) -> None:
    head = "".join(f"R{number} a{number} 0 1k\n" for number in range(100, 900))
    (project / "long.cir").write_text(f"long\nVin in 0 1\n{head}R7 in 0 1k\n.op\n.end\n")
    called, _ = await turn(app, project, "set R7 to 4k7 in long.cir")
    assert called == ["read_file", "read_file", "patch_file"]
    assert (project / "long.cir").read_text() == f"long\nVin in 0 1\n{head}R7 in 0 4.7k\n.op\n.end\n"


async def test_looking_around(app: Application, project: Path) -> None:
    (project / "rc.cir").write_text(DECK)
    for text, tool, part in (
        ("list the files", "list_project_files", "rc.cir"),
        ("show lines 3-3 of rc.cir", "read_file", "R1 in out 1k"),
        ("search 159.155n", "search_project", "rc.cir:4"),
        ("where is R1 used?", "search_project", "rc.cir:3"),
        ("show rc.cir", "read_file", DECK.strip()),
        ("outline of rc.cir", "analyze_file", ".meas"),
        ("analyze rc.cir", "analyze_file", "RC low-pass filter R1, C1: in → out; corner frequency 1 kHz"),
        ("Check rc.cir", "analyze_file", "The checks find nothing wrong in rc.cir."),
        ("分析 rc.cir", "analyze_file", "RC 低通滤波器 R1, C1：in → out；转折频率 1 kHz"),
    ):
        called, said = await turn(app, project, text)
        assert (called, part in said) == ([tool], True), said
        assert complete_netlists(said) == ()  # what is repeated is no proposal


@pytest.mark.parametrize(
    ("text", "said_part"),
    [
        ("Design a 1 kHz RC low-pass filter", "all goals are met"),
        ("设计一个二阶 Sallen-Key 巴特沃斯低通滤波器，截止频率 10 kHz", "全部达标"),
    ],
)
async def test_design(app: Application, project: Path, text: str, said_part: str) -> None:
    called, said = await turn(app, project, text)
    assert called[:2] == ["list_project_files", "rewrite_file"]
    assert said_part in said
    first = _circuits(project)
    await turn(app, project, text)
    [second] = _circuits(project) - first
    assert second.endswith("_2.cir")


def _circuits(project: Path) -> set[str]:
    return {path.name for path in project.glob("*.cir")}


async def test_failures_in_plain_words(app: Application, project: Path) -> None:
    (project / "bad.cir").write_text("bad\nV1 a 0 1\nQ1 a b 0 nomodel\n.op\n.end\n")
    called, said = await turn(app, project, "simulate bad.cir")
    assert called == ["run_simulation"]
    assert said.startswith("The simulation failed:\n- ")
    assert "nomodel" in said
    called, said = await turn(app, project, "show baad.cir")
    assert "File baad.cir does not exist" in said
    assert "bad.cir" in said
    called, said = await turn(app, project, "change R1 to 2k in bad.cir")
    assert called == ["read_file"]
    assert "no element or parameter named R1" in said


STAGE = """Common-emitter amplifier
.include 2N3904.lib
VCC vcc 0 12
VIN in 0 DC 0 AC 1
C1 in b 10u
R1 vcc b 47k
R2 b 0 10k
RC vcc c 4.7k
RE e 0 1k
CE e 0 47u
C2 c out 10u
RL out 0 10k
Q1 c b e 2N3904
.ac dec 20 1 1g
.end
"""


async def test_wishes_beside_a_stage(app: Application, project: Path) -> None:
    (project / "ce.cir").write_text(STAGE)
    # Without a part, as a trial: the file is as it was.
    _, said = await turn(app, project, "what happens to the gain of ce.cir if I leave CE out?")
    before, after = map(
        float, re.findall(r"([\d.]+) dB (?:→|,)", said)[:1] + re.findall(r"→ ([\d.]+) dB", said)
    )
    assert before > 40 > 12 > after
    assert (project / "ce.cir").read_text() == STAGE
    # A yield by the range of a node, a spread of a transistor's current.
    _, said = await turn(app, project, "V(c) of ce.cir between 5 and 6 V, 5% resistors, 40 runs: what yield?")
    assert re.search(r"Yield: [\d.]+ % \(\d+ of 40;", said)
    _, said = await turn(
        app, project, "run 40 Monte Carlo of ce.cir with 5% resistors and tell me the spread of Ic"
    )
    assert re.search(r"collector current: mean 1\.[34]\d* mA", said)
    # A change is told by what it does to the figure asked for; a kept part stays.
    _, said = await turn(app, project, "set RC to 3.3k in ce.cir and tell me the gain")
    assert re.search(r"gain .*: 4[3-5][\d.]* dB → 4[0-3][\d.]* dB", said)
    called, _ = await turn(
        app, project, "adjust R1 in ce.cir so that the collector voltage is half the supply"
    )
    assert "patch_file" in called
    _, said = await turn(app, project, "what is V(c) in ce.cir")
    volts = re.search(r"= ([\d.]+) V", said)
    assert volts is not None
    assert float(volts[1]) == pytest.approx(6, abs=0.07)


async def test_an_op_amp_of_the_library_works_when_hot(app: Application, project: Path) -> None:
    supplies = "VP vp 0 12\nVN vn 0 -12\nVin in 0 DC 1 AC 1\n"
    deck = f"Follower\n.include LM358.lib\n{supplies}X1 in out vp vn out LM358\nRL out 0 10k\n.op\n.end\n"
    (project / "hot.cir").write_text(deck)
    _, said = await turn(app, project, "V(out) of hot.cir at 125 °C")
    assert re.search(r"= (?:1|1\.000\d*|999\.9\d* m|0\.999\d*) ?V", said)
