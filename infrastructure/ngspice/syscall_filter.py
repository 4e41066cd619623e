"""The seccomp filter of the box, as ready BPF bytes.

A netlist never needs a socket, a second process, a link or a change of permissions; native code in
a hostile code model might. The filter is a deny list: unknown libraries keep working, and system
calls newer than this table answer ENOSYS. Numbers: Linux ``asm/unistd_64.h`` (x86_64) and
``asm-generic/unistd.h`` (aarch64). Layout of the BPF program: ``linux/filter.h``, ``linux/seccomp.h``.
"""

from __future__ import annotations

import struct
from typing import Literal

Machine = Literal["x86_64", "aarch64"]

PID_MARK = 0x50494421
"""Stands for the process id in the program; the launcher puts its own there (execve keeps it)."""

_AUDIT_ARCH: dict[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN: dict[str, int] = {"x86_64": 0, "aarch64": 1}

# name: (x86_64, aarch64); None where the architecture has no such call.
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Network and other ways to talk.
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "sendmmsg": (307, 269),
    "recvfrom": (45, 207),
    "recvmsg": (47, 212),
    "recvmmsg": (299, 243),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # Other processes. clone() is looked at below.
    "fork": (57, None),
    "vfork": (58, None),
    "execveat": (322, 281),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "setpriority": (141, 140),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "move_pages": (279, 239),
    "migrate_pages": (256, 238),
    # What a file system shows, and who may see it: Landlock does not judge these.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "link": (86, None),
    "linkat": (265, 37),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    # The kernel itself.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "syslog": (103, 116),
    "personality": (135, 92),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "nfsservctl": (180, 42),
    "lookup_dcookie": (212, 18),
    # Other identities.
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setgroups": (116, 159),
    "capset": (126, 91),
}

# A caller that gets ENOSYS falls back to the older call, which is judged above or below.
_ABSENT: dict[str, tuple[int | None, int | None]] = {
    "clone3": (435, 435),
    "openat2": (437, 437),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}

_CLONE = (56, 220)
_EXECVE = (59, 221)
_KILL = (62, 129)
_TGKILL = (234, 131)
_PRLIMIT64 = (302, 261)
_IOCTL = (16, 29)
_OPEN = (2, None)
_OPENAT = (257, 56)

# From 424 on all architectures share their numbers; of the newer ones only these are let through:
# close_range, faccessat2, epoll_pwait2, landlock_*, futex_waitv, cachestat, map_shadow_stack,
# futex_wake, futex_wait, futex_requeue.
_FIRST_SHARED = 424
_NEW_ALLOWED = (436, 439, 441, 444, 445, 446, 449, 451, 453, 454, 455, 456)

_EPERM, _ENOSYS = 1, 38
_ALLOW, _ERRNO, _KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
_CLONE_THREAD = 0x00010000
_O_ACCMODE_TRUNC = 0o1003
_O_TRUNC = 0o1000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_X32_BIT = 0x40000000

_LD_ABS, _AND, _JEQ, _JGE, _RET = 0x20, 0x54, 0x15, 0x35, 0x06
_OFFSET_NR, _OFFSET_ARCH = 0, 4

_Instruction = tuple[int, int, int, int]


def _argument(index: int) -> int:
    """Offset of the low word of an argument in ``struct seccomp_data`` (both machines little-endian)."""
    return 16 + 8 * index


def _answer(number: int | None, action: int) -> list[_Instruction]:
    if number is None:
        return []
    return [(_JEQ, 0, 1, number), (_RET, 0, 0, action)]


def _when(number: int | None, body: list[_Instruction]) -> list[_Instruction]:
    """Run `body` (which always returns) for one system call."""
    return [] if number is None else [(_JEQ, 0, len(body), number), *body]


def _own_process_only(number: int | None) -> list[_Instruction]:
    return _when(
        number,
        [
            (_LD_ABS, 0, 0, _argument(0)),
            (_JEQ, 0, 1, PID_MARK),
            (_RET, 0, 0, _ALLOW),
            (_RET, 0, 0, _ERRNO | _EPERM),
        ],
    )


def _threads_only(number: int | None) -> list[_Instruction]:
    return _when(
        number,
        [
            (_LD_ABS, 0, 0, _argument(0)),
            (_AND, 0, 0, _CLONE_THREAD),
            (_JEQ, 0, 1, _CLONE_THREAD),
            (_RET, 0, 0, _ALLOW),
            (_RET, 0, 0, _ERRNO | _EPERM),
        ],
    )


def _own_limits_only(number: int | None) -> list[_Instruction]:
    return _when(
        number,
        [
            (_LD_ABS, 0, 0, _argument(0)),
            (_JEQ, 1, 0, 0),
            (_JEQ, 0, 1, PID_MARK),
            (_RET, 0, 0, _ALLOW),
            (_RET, 0, 0, _ERRNO | _EPERM),
        ],
    )


def _no_terminal_injection(number: int | None) -> list[_Instruction]:
    return _when(
        number,
        [
            (_LD_ABS, 0, 0, _argument(1)),
            (_JEQ, 1, 0, _TIOCSTI),
            (_JEQ, 0, 1, _TIOCLINUX),
            (_RET, 0, 0, _ERRNO | _EPERM),
            (_RET, 0, 0, _ALLOW),
        ],
    )


def _no_truncating_reader(number: int | None, flags_argument: int) -> list[_Instruction]:
    """Refuse O_RDONLY|O_TRUNC, which empties a file Landlock before ABI 3 only lets be read."""
    return _when(
        number,
        [
            (_LD_ABS, 0, 0, _argument(flags_argument)),
            (_AND, 0, 0, _O_ACCMODE_TRUNC),
            (_JEQ, 0, 1, _O_TRUNC),
            (_RET, 0, 0, _ERRNO | _EPERM),
            (_RET, 0, 0, _ALLOW),
        ],
    )


def _unknown_calls() -> list[_Instruction]:
    known = [step for number in _NEW_ALLOWED for step in _answer(number, _ALLOW)]
    return [
        *known,
        (_JGE, 0, 1, _FIRST_SHARED),
        (_RET, 0, 0, _ERRNO | _ENOSYS),
        (_RET, 0, 0, _ALLOW),
    ]


def build_filter(machine: Machine, *, may_execute: bool = True) -> bytes:
    """The filter as an array of ``struct sock_filter``, with `PID_MARK` where the own pid belongs.

    `may_execute`: the launcher has still to become ngspice; a process that hosts it has not.
    """
    column = _COLUMN[machine]
    program: list[_Instruction] = [
        (_LD_ABS, 0, 0, _OFFSET_ARCH),
        (_JEQ, 1, 0, _AUDIT_ARCH[machine]),
        (_RET, 0, 0, _KILL_PROCESS),
        (_LD_ABS, 0, 0, _OFFSET_NR),
    ]
    if machine == "x86_64":
        program += [(_JGE, 0, 1, _X32_BIT), (_RET, 0, 0, _ERRNO | _ENOSYS)]
    program += _threads_only(_CLONE[column])
    program += _own_process_only(_KILL[column])
    program += _own_process_only(_TGKILL[column])
    program += _own_limits_only(_PRLIMIT64[column])
    if not may_execute:
        program += _answer(_EXECVE[column], _ERRNO | _EPERM)
    program += _no_terminal_injection(_IOCTL[column])
    program += _no_truncating_reader(_OPEN[column], 1)
    program += _no_truncating_reader(_OPENAT[column], 2)
    for numbers in _ABSENT.values():
        program += _answer(numbers[column], _ERRNO | _ENOSYS)
    for numbers in _REFUSED.values():
        program += _answer(numbers[column], _ERRNO | _EPERM)
    program += _unknown_calls()
    return b"".join(struct.pack("<HBBI", *step) for step in program)
