"""The filter is run here by a small BPF interpreter, call by call, for both processors."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from infrastructure.ngspice import syscall_filter
from infrastructure.ngspice.syscall_filter import PID_MARK, Machine, build_filter

ALLOW, KILL = 0x7FFF0000, 0x80000000
EPERM, ENOSYS = 0x00050000 | 1, 0x00050000 | 38
ARCH: dict[Machine, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
both_machines = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


def answer(machine: Machine, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the kernel would do: a cBPF machine with the instructions the filter uses."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, *padded)
    program = list(struct.iter_unpack("<HBBI", build_filter(machine)))
    accumulator, at = 0, 0
    while True:
        code, jump_true, jump_false, value = program[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x15:
            at += jump_true if accumulator == value else jump_false
        elif code == 0x35:
            at += jump_true if accumulator >= value else jump_false
        elif code == 0x06:
            return value
        else:
            raise AssertionError(f"unknown instruction {code:#x}")


@both_machines
def test_another_processor_mode_is_killed(machine: Machine) -> None:
    assert answer(machine, 0, arch=0x40000003) == KILL


@both_machines
def test_what_a_simulation_needs_is_allowed(machine: Machine) -> None:
    needed = {
        "x86_64": (0, 1, 3, 9, 10, 12, 59, 228, 231),
        "aarch64": (63, 64, 57, 222, 226, 214, 221, 113, 94),
    }
    assert {answer(machine, number) for number in needed[machine]} == {ALLOW}


@both_machines
def test_what_is_refused_is_refused(machine: Machine) -> None:
    column = ("x86_64", "aarch64").index(machine)
    for name, numbers in syscall_filter._REFUSED.items():
        if (number := numbers[column]) is not None:
            assert answer(machine, number) == EPERM, name
    for name, numbers in syscall_filter._ABSENT.items():
        assert answer(machine, numbers[column] or -1) == ENOSYS, name


@both_machines
def test_calls_newer_than_the_table_are_absent(machine: Machine) -> None:
    assert answer(machine, 424 + 200) == ENOSYS
    assert answer(machine, 449) == ALLOW


def test_x32_calls_are_absent() -> None:
    assert answer("x86_64", 0x40000000 | 41) == ENOSYS


@both_machines
def test_threads_yes_processes_no(machine: Machine) -> None:
    clone = {"x86_64": 56, "aarch64": 220}[machine]
    assert answer(machine, clone, 0x3D0F00) == ALLOW, "pthread_create"
    assert answer(machine, clone, 0x4111) == EPERM, "vfork and posix_spawn"
    assert answer(machine, clone, 17) == EPERM, "fork"


@both_machines
def test_signals_and_limits_only_for_itself(machine: Machine) -> None:
    kill, tgkill, prlimit = {"x86_64": (62, 234, 302), "aarch64": (129, 131, 261)}[machine]
    assert answer(machine, kill, PID_MARK, 6) == ALLOW
    assert answer(machine, kill, PID_MARK + 1, 9) == EPERM
    assert answer(machine, kill, 2**64 - 1, 9) == EPERM, "kill(-1)"
    assert answer(machine, tgkill, PID_MARK, 1, 6) == ALLOW
    assert answer(machine, tgkill, 7, 7, 6) == EPERM
    assert answer(machine, prlimit, 0, 7) == ALLOW
    assert answer(machine, prlimit, 7, 7) == EPERM


@both_machines
def test_a_reader_that_truncates_is_refused(machine: Machine) -> None:
    openat = {"x86_64": 257, "aarch64": 56}[machine]
    assert answer(machine, openat, 0, 0, 0o1000) == EPERM
    assert answer(machine, openat, 0, 0, 0o1001) == ALLOW, "a writer is Landlock's business"
    assert answer(machine, openat, 0, 0, 0) == ALLOW


@both_machines
def test_no_typing_into_the_terminal(machine: Machine) -> None:
    ioctl = {"x86_64": 16, "aarch64": 29}[machine]
    assert answer(machine, ioctl, 0, 0x5412) == EPERM
    assert answer(machine, ioctl, 0, 0x5401) == ALLOW


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_numbers_are_those_of_the_kernel(machine: Machine, header: str) -> None:
    path = Path(header)
    if not path.exists():
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text())
    kernel = {name: int(number) for name, number in found}
    column = ("x86_64", "aarch64").index(machine)
    tables = {**syscall_filter._REFUSED, **syscall_filter._ABSENT}
    wrong = {
        name: (numbers[column], kernel[name])
        for name, numbers in tables.items()
        if name in kernel and numbers[column] != kernel[name]
    }
    assert wrong == {}
