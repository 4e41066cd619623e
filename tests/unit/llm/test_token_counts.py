"""Counted tokens against those of a real vocabulary.

The reference counts are cl100k's, made once with the library gpt-tokenizer 4.0 for these very texts.
"""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

import pytest

from domain.llm.chat import ChatRequest, WireImage, WireMessage, WireToolCall
from domain.llm.tokens import (
    TokenFactors,
    count_tokens,
    head_and_tail,
    image_size,
    image_tokens,
    read_factors,
    request_tokens,
)
from infrastructure.persistence.model_settings import TokenFactorsFile
from infrastructure.persistence.user_json import FACTORS_FILE

ENGLISH = (
    "Design a low-pass filter with a corner frequency of ten kilohertz and at least forty decibels of "
    "attenuation one decade above it. Simulate it, show me the phase margin, and tell me which component "
    "dominates the error. If the simulation does not converge, explain why and suggest a change."
)
CHINESE = (
    "这个电路是一个两级运算放大器，第一级为差分输入对，第二级为共源放大级，中间用密勒电容补偿。"
    "请把负载电容改为二十皮法，重新仿真，并告诉我相位裕度和单位增益带宽是多少。如果相位裕度低于六十度，"
    "就增大补偿电容，再检查一次压摆率。运行失败时请说明原因，并给出修改建议。"
)
NETLIST = """* two stage opamp
.include models/nmos_180n.lib
M1 n1 inn tail 0 nch W=20u L=0.5u m=2
M2 n2 inp tail 0 nch W=20u L=0.5u m=2
M3 n1 n1 vdd vdd pch W=40u L=0.5u
M4 n2 n1 vdd vdd pch W=40u L=0.5u
M5 tail bias 0 0 nch W=40u L=1u
Cc n2 out 2.2p
Rz n2 nz 1.5k
CL out 0 10p
.param vcm=0.9 ib=20u
.ac dec 20 1 1g
.meas ac gbw when vdb(out)=0 cross=1
.end
"""
TABLE = """frequency,gain,phase
1.000000e+00,2.576363e+01,62.15412
1.258925e+00,-9.187443e+00,-88.21096
1.584893e+00,1.459132e+01,179.99812
1.995262e+00,-2.857143e-03,0.00125
"""
SCHEMA = (
    '{"type": "function", "function": {"name": "run_simulation", "description": "Runs a circuit with '
    'ngspice and returns measurements.", "parameters": {"type": "object", "properties": {"file": {"type": '
    '"string", "description": "Path of the netlist"}, "timeout_s": {"type": "number", "minimum": 1}}, '
    '"required": ["file"], "additionalProperties": false}}}'
)
MIXED = "把 R1 从 10k 改成 22k，然后运行 .tran 1u 5m，检查 v(out) 的上升时间是否小于 3 µs。"

REFERENCE = (
    ("english", ENGLISH, 61),
    ("chinese", CHINESE, 140),
    ("netlist", NETLIST, 196),
    ("table", TABLE, 90),
    ("schema", SCHEMA, 90),
    ("mixed", MIXED, 47),
)


@pytest.mark.parametrize(("name", "text", "tokens"), REFERENCE, ids=[row[0] for row in REFERENCE])
def test_counts_are_those_of_a_real_vocabulary(name: str, text: str, tokens: int) -> None:
    assert count_tokens(text) == pytest.approx(tokens, rel=0.1), name


def test_a_chinese_text_is_no_quarter_of_its_characters() -> None:
    """2,000 characters are 1,400 to 2,400 tokens in the vocabularies of today; a budget keeps to it."""
    text = (CHINESE * 20)[:2000]
    assert 1_400 <= count_tokens(text) <= 2_400
    lines = [text[at : at + 50] for at in range(0, 2000, 50)]
    head, tail = head_and_tail(lines, tokens=500, characters=10_000)
    shown = "\n".join([*lines[:head], *lines[len(lines) - tail :]])
    assert 350 < count_tokens(shown) <= 500
    assert len(shown) < 500


def test_only_nothing_is_nothing() -> None:
    assert count_tokens("") == 0
    assert all(count_tokens(text) > 0 for text in ("a", " ", "\n", "\t", "é", "\ud800", "\x00", "🙂"))


def test_a_sum_of_lines_is_about_the_whole() -> None:
    lines = NETLIST.splitlines(keepends=True)
    assert sum(map(count_tokens, lines)) == pytest.approx(count_tokens(NETLIST), rel=0.05)


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(512, 512, 255), (513, 512, 425), (1024, 1024, 765), (4096, 4096, 2805), (8192, 512, 765), (1, 1, 255)],
)
def test_pictures(width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height) == tokens


def test_sizes_are_read_from_heads() -> None:
    png = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">II", 640, 480)
    gif = b"GIF89a" + struct.pack("<HH", 320, 200)
    app = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14)
    jpeg = b"\xff\xd8" + app + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640)
    assert [image_size(data) for data in (png, gif, jpeg)] == [(640, 480), (320, 200), (640, 480)]
    for data in (png, gif, jpeg, b"\xff\xd8\xff\xe0\x00\x00"):
        assert all(image_size(data[:end]) is None for end in range(min(len(data) - 1, 9)))


def test_all_of_a_request_counts() -> None:
    plain = ChatRequest(messages=(WireMessage(role="user", text=ENGLISH),))
    call = WireToolCall(provider_id="1", name="run_simulation", arguments='{"file": "a.cir"}')
    rich = ChatRequest(
        messages=(
            WireMessage(role="user", text=ENGLISH, images=(WireImage(data=b"?"),)),
            WireMessage(role="assistant", tool_calls=(call,), reasoning=CHINESE),
        ),
        tools=({"type": "function", "function": {"name": "run_simulation"}},),
    )
    assert request_tokens(plain) == count_tokens(ENGLISH) + 7
    assert request_tokens(rich) > request_tokens(plain) + 765 + 20
    assert request_tokens(rich) < request_tokens(plain) + 765 + 60


def test_factors_come_to_what_a_model_tells_and_follow_it() -> None:
    factors = TokenFactors()
    assert factors.corrected("zhipu glm", 1000) == 1000
    for _ in range(3):
        assert factors.learn("zhipu glm", counted=1000, told=700)
    assert factors.corrected("zhipu glm", 1000) == 700
    assert factors.corrected("zhipu other", 1000) == 1000
    for _ in range(80):
        factors.learn("zhipu glm", counted=1000, told=1200)
    assert factors.corrected("zhipu glm", 1000) == pytest.approx(1200, abs=15)


@pytest.mark.parametrize(("counted", "told"), [(100, 90), (1000, 0), (1000, 30), (1000, 9000), (0, 0)])
def test_usage_that_measures_no_vocabulary_is_left_out(counted: int, told: int) -> None:
    factors = TokenFactors()
    assert not factors.learn("m", counted=counted, told=told)
    assert factors.corrected("m", 1000) == 1000


def test_damaged_factors_are_left_out() -> None:
    rows = {
        "good": {"factor": 0.8, "answers": 3},
        "nan": {"factor": float("nan"), "answers": 3},
        "huge": {"factor": 1e9, "answers": 3},
        "none": {"factor": 1.0, "answers": 0},
        "text": "0.8",
        "half": {"factor": 0.8},
    }
    assert list(read_factors(rows)) == ["good"]
    assert read_factors([1]) == read_factors(None) == {}


async def test_what_was_learned_outlives_the_program(tmp_path: Path) -> None:
    request = ChatRequest(messages=(WireMessage(role="user", text=ENGLISH * 10),))
    counted = request_tokens(request)
    files = [TokenFactorsFile(user_home=tmp_path) for _ in range(4)]
    await asyncio.gather(*(file.learn("p m", request, counted * 3 // 4) for file in files))
    again = TokenFactorsFile(user_home=tmp_path)
    assert await asyncio.to_thread(again.count, "p m", request) == pytest.approx(counted * 0.75, rel=0.01)
    await asyncio.to_thread((tmp_path / FACTORS_FILE).write_text, "{", "utf-8")
    assert await asyncio.to_thread(again.count, "p m", request) == counted


async def test_a_folder_that_takes_no_file_stops_no_answer(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "home").write_text, "a file", "utf-8")
    request = ChatRequest(messages=(WireMessage(role="user", text=ENGLISH * 10),))
    file = TokenFactorsFile(user_home=tmp_path / "home")
    await file.learn("p m", request, 100)
    assert await asyncio.to_thread(file.count, "p m", request) == request_tokens(request)
