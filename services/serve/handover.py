"""How `serve` is replaced by the program that is installed now, while its Valkeys, sockets and roles stay.

The process executes the program in its own place. So its id, its children and its open files stay, for a service manager it
is the same process, and the sockets listen all the time. The roles of the old program end once those of the new one
serve: until then there are both, as there may be several of each role at any time.
"""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from infra.valkey.process import ChildById
from infra.valkey.server import HandedServer

logger = logging.getLogger(__name__)

VARIABLE: Final = "MATCHPOST_HANDOVER"
"""Environment variable with the `Handover` as JSON; not a setting."""

_TRIED_SECONDS: Final = 30.0
"""How long the new program may take to name its version."""


class Handover(msgspec.Struct, frozen=True):
    """The open files and running processes that the program before has left. A new field needs a default."""

    servers: dict[str, HandedServer] = {}
    """By their names in the log."""
    sockets: dict[str, int] = {}
    """See `services.serve.sockets.KeptSockets`."""
    roles: tuple[int, ...] = ()
    """Ids of the processes at work."""


def take_over() -> Handover:
    """Return what the program before has left in this process, once; it is empty at a first start."""
    return msgspec.json.decode(os.environ.pop(VARIABLE, "{}"), type=Handover)


def hand_over(left: Handover, environment: Mapping[str, str]) -> None:
    """Execute the program by which this process was started, as it is installed now; return only if that fails.

    It is tried first: one that can't name its version does not replace a server that works.
    """
    program, handler = sys.argv[0], signal.getsignal(signal.SIGUSR2)
    try:
        tried = subprocess.run(  # noqa: S603 - our own program
            [program, "--version"],
            check=True,
            capture_output=True,
            text=True,
            timeout=_TRIED_SECONDS,
        )
        logger.info("%s takes over; Valkey and the sockets stay", tried.stdout.strip())
        for file in (*(one.lock for one in left.servers.values()), *left.sockets.values()):
            os.set_inheritable(file, True)
        # a second one that comes while the new program starts would end it
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        os.execve(program, sys.argv, {**environment, VARIABLE: msgspec.json.encode(left).decode()})  # noqa: S606
    except (OSError, subprocess.SubprocessError) as error:
        why = str(error)
        signal.signal(signal.SIGUSR2, handler)
    logger.error("this program goes on, because the one in its place does not start: %s", why)


def end_roles(pids: Sequence[int], deadline: float) -> None:
    """End the processes of the program before; those that have not ended after so many seconds are killed."""
    roles = [ChildById(pid) for pid in pids]
    for one in roles:
        one.terminate()
    end = time.monotonic() + deadline
    for one in roles:
        with suppress(subprocess.TimeoutExpired):
            one.wait(max(0.0, end - time.monotonic()))
    for one in roles:
        if one.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()
