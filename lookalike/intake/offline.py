"""Offline: a process asks the system to keep it from the network for the rest of its life.

Linux can filter what a process asks of the system (seccomp(2)). Sockets are refused, and so is io_uring,
which could open them unseen; what is open already stays open, and no right can be won back. macOS and
Windows have no such thing for everybody to use.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import sys
from typing import Final, NamedTuple


class Machine(NamedTuple):
    """How a kind of processor numbers the calls of Linux.

    Parameters
    ----------
    audit : int
        The name of its calling convention; another one on the same machine has other numbers.
    seccomp, socket, io_uring : int
        Numbers of calls.
    """

    audit: int
    seccomp: int
    socket: int
    io_uring: int


MACHINES: Final = {
    "x86_64": Machine(0xC000003E, seccomp=317, socket=41, io_uring=425),
    "aarch64": Machine(0xC00000B7, seccomp=277, socket=198, io_uring=425),
}
# Instructions of the filter: load a word, jump if equal, jump if at least, and return.
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
# Where the number of a call stands in what the filter is shown, and where its convention.
CALL, CONVENTION = 0, 4
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EACCES
# From here on, numbers of x86_64 belong to the calls of x32.
X32: Final = 0x40000000
SET_MODE_FILTER, ALL_THREADS, NO_NEW_PRIVILEGES = 1, 1, 38


class Instruction(ctypes.Structure):
    """One instruction: what, how far to jump if it holds and if not, and with which number."""

    _fields_ = (
        ("code", ctypes.c_uint16),
        ("holds", ctypes.c_uint8),
        ("fails", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    )


class Program(ctypes.Structure):
    """A filter as the system takes it."""

    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(Instruction)))


def go_offline() -> bool:
    """Give up sockets, in all threads and in every child to come.

    Returns
    -------
    bool
        Whether the system does it; False if this one has no way to.
    """
    machine = MACHINES.get(platform.machine())
    # On 32 bits of either processor the numbers are others.
    if not sys.platform.startswith("linux") or machine is None or sys.maxsize < 2**32:
        return False
    steps = (Instruction * 8)(
        Instruction(LOAD, 0, 0, CONVENTION),
        Instruction(JUMP_EQUAL, 0, 5, machine.audit),
        Instruction(LOAD, 0, 0, CALL),
        Instruction(JUMP_AT_LEAST, 3, 0, X32),
        Instruction(JUMP_EQUAL, 2, 0, machine.socket),
        Instruction(JUMP_EQUAL, 1, 0, machine.io_uring),
        Instruction(RETURN, 0, 0, ALLOW),
        Instruction(RETURN, 0, 0, REFUSE),
    )
    program = Program(len(steps), steps)
    libc = ctypes.CDLL(None, use_errno=True)
    # A filter may be set by everybody who renounces programs that run as somebody else.
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(
        libc.syscall(ctypes.c_long(machine.seccomp), SET_MODE_FILTER, ALL_THREADS, ctypes.byref(program)) == 0
    )
