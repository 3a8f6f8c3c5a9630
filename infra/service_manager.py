"""The service manager that has started this process, such as systemd, by sd_notify(3).

It hears once that the process serves, and from then on that it is alive. Without `NOTIFY_SOCKET` in the
environment there is none, and nothing is sent.
"""

import os
import socket
from collections.abc import MutableMapping


class ServiceManager:
    """A listener to this process's liveness (`infra.liveness`)."""

    def __init__(self, environ: MutableMapping[str, str] = os.environ) -> None:
        """Take its variables out of the environment: children must not report in place of this process."""
        self._address = environ.pop("NOTIFY_SOCKET", "").replace("@", "\0", 1)
        own = environ.pop("WATCHDOG_PID", "") in ("", str(os.getpid()))
        self._watches = "WATCHDOG_USEC" in environ and own
        environ.pop("WATCHDOG_USEC", None)

    def beat(self) -> None:
        """Report that this process is alive, if its unit has a watchdog."""
        if self._watches:
            self._send("WATCHDOG=1")

    def serving(self) -> None:
        """Report that this process serves."""
        self._send("READY=1")

    def _send(self, state: str) -> None:
        if self._address:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.sendto(state.encode(), self._address)
