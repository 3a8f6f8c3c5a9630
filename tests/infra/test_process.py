import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from infra.valkey.process import DirectoryLock, LockedError, describe_exit, is_alive, spawn

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]

# starts a child that waits for its parent's death before it asks for a signal at that death
LATE_CHILD = """
import os, sys
from infra.valkey.process import end_with_parent
parent = os.getpid()
if os.fork() == 0:
    while os.getppid() == parent:
        pass
    end_with_parent(parent)
    print("outlived", flush=True)
"""


def test_a_child_ends_with_its_killed_parent(wait_until):
    program = (
        "import sys, time; from infra.valkey.process import spawn;"
        f"print(spawn({SLEEP!r}).pid, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
    wait_until(lambda: has_ended(child))


def test_a_child_whose_parent_died_before_it_asked_ends_at_once():
    done = subprocess.run(
        [sys.executable, "-c", LATE_CHILD], capture_output=True, timeout=20, check=True
    )
    assert done.stdout == b""


def test_a_child_is_in_a_process_group_of_its_own():
    with spawn(SLEEP) as child:
        assert os.getpgid(child.pid) == child.pid
        child.kill()


def test_a_child_is_not_started_from_another_thread():
    errors = []

    def start() -> None:
        try:
            spawn(SLEEP)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert errors == ["a child is started from the main thread: it would end with another"]


def test_a_locked_directory_names_its_owner(tmp_path: Path):
    first, second = DirectoryLock(tmp_path), DirectoryLock(tmp_path)
    first.acquire()
    first.acquire()
    with pytest.raises(LockedError, match=f"{tmp_path} is in use by process {os.getpid()}; stop"):
        second.acquire()
    first.release()
    first.release()
    second.acquire()
    assert second.is_held
    second.release()


def test_a_child_that_got_the_lock_holds_it_alone(tmp_path: Path):
    lock = DirectoryLock(tmp_path)
    lock.acquire()
    with spawn(SLEEP, pass_fds=(lock.descriptor,)) as child:
        lock.release()
        with pytest.raises(LockedError):
            lock.acquire()
        child.kill()
        child.wait()
        lock.acquire()
    lock.release()
    with pytest.raises(ValueError, match="not held"):
        _ = lock.descriptor


def test_an_exit_is_described():
    assert describe_exit(3) == "exited with 3"
    assert describe_exit(-signal.SIGKILL) == "was killed by SIGKILL"
    assert describe_exit(-99) == "was killed by signal 99"


def has_ended(pid: int) -> bool:
    """Whether the process is gone; one that nobody has waited for yet counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
