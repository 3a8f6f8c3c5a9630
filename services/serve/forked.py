"""Commands of `matchpost` as processes that are forked from this one, which has imported what they need.

An import costs a process of its own some tenths of a second and tens of megabytes. A forked one has the modules of
this process, and shares those pages of memory until it changes them.

The forked process begins as one that was executed: its own process group, environment and standard input, the
signals' default handlers, no open file but those it is given, and its own command line in the list of processes.
It returns to nothing here: it ends by `os._exit`. So what this process was about to do stays as it is.
"""

import ctypes
import gc
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Final, NoReturn

from infra.process.liveness import LIVENESS
from infra.process.machine import few_collections
from infra.valkey.process import ChildById, end_with_parent
from services.serve.logging import close_security_log

_ALL_SIGNALS: Final = signal.valid_signals()

_FAILED: Final = 1
"""The exit code of a process that an exception ends."""

_ARG_START, _ARG_END = 45, 46
"""Fields of `/proc/self/stat` after the name: where the command line is in memory (proc_pid_stat(5))."""


class SharedImports:
    """Imports modules for all processes that are forked later, in a thread: this one may wait for servers meanwhile."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules
        self._error: BaseException | None = None
        # no daemon: a process that can't serve must not end in the middle of an import
        self._thread = Thread(target=self._import, name="imports")

    def start(self) -> None:
        """Begin to import."""
        self._thread.start()

    def wait(self) -> None:
        """Wait until all is imported; the exception of an import that failed passes through."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        # what is imported is no garbage; a process that looked at all of it would have copies of those pages
        gc.freeze()

    def _import(self) -> None:
        try:
            with few_collections():
                for module in self._modules:
                    import_module(module)
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            self._error = error


def fork_command(
    argv: Sequence[str], *, env: Mapping[str, str] | None = None, pass_fds: Sequence[int] = ()
) -> ChildById:
    """Start `matchpost` with the words after the program's name, as `infra.valkey.process.spawn` would.

    In `serve` call it in the main thread, beside which only that of the signs of life may run: it holds no lock that the
    child would need. Where other threads have roles, a lock that one of them holds may keep a child from its start; so
    call it there only for a child whose signs of life are watched.
    """
    _flush()  # what is still buffered would be written twice
    # otherwise the child might meet garbage from here, and close a file that has got the same number there
    gc.collect()
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL_SIGNALS)
    try:
        pid = os.fork()
        if not pid:
            _become(argv, os.environ if env is None else env, pass_fds, parent, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    # here too, because it may be killed with its group before it has run at all
    with suppress(OSError):
        os.setpgid(pid, pid)
    return ChildById(pid)


def _become(
    argv: Sequence[str],
    env: Mapping[str, str],
    files: Sequence[int],
    parent: int,
    mask: set[int | signal.Signals],
) -> NoReturn:
    code: object = _FAILED
    try:
        end_with_parent(parent)
        os.setpgid(0, 0)
        gc.freeze()
        LIVENESS.forget()
        close_security_log()
        _reset_signals()
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _keep_files(files)
        environment = dict(env)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = list(argv)
        _show(argv)
        main = import_module("services.cli.main").main
        code = main(argv[1:])
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001 - as Python does at the end of a program
        traceback.print_exc()
    finally:
        with suppress(OSError, ValueError):  # as of a pipe that nobody reads
            _flush()
        os._exit(code if isinstance(code, int) else _FAILED)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is when the caller has closed it
            stream.flush()


def _reset_signals() -> None:
    """Reset the handlers of the process that was forked; signals that it ignores stay ignored."""
    signal.set_wakeup_fd(-1)
    for number in _ALL_SIGNALS:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _keep_files(kept: Sequence[int]) -> None:
    """Close all files but the standard streams and these; the standard input becomes an empty one."""
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    edges = [2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]
    for low, high in pairwise(edges):
        os.closerange(low + 1, high)


def _show(argv: Sequence[str]) -> None:
    """Show the command in place of the one that this process was started with, as far as there is room; Linux only."""
    if sys.platform != "linux":
        return
    fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    if start < end:  # both are 0 where the kernel does not tell
        shown = "\0".join([Path(argv[0]).name, *argv[1:]]).encode()[: end - start - 1]
        ctypes.memmove(start, shown.ljust(end - start, b"\0"), end - start)
