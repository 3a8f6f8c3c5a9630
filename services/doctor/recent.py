"""The diagnosis for pages and the API: made by one of those who ask, and kept for some seconds."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from msgspec.structs import replace

from infra.settings.settings import Settings
from infra.valkey.server import NotRunningError, socket_url
from services.doctor.checks import judge
from services.doctor.facts import Facts, gather
from services.doctor.findings import Finding

KEPT_SECONDS: Final = 10.0
"""How long findings are shown again, because the checks take some round trips and a few syncs of the disk."""


class Diagnosis(NamedTuple):
    """The facts that the doctor has gathered, and its findings."""

    facts: Facts
    findings: tuple[Finding, ...]


class RecentDiagnosis:
    """The diagnosis of a server, at most `KEPT_SECONDS` old; thread-safe."""

    def __init__(
        self,
        settings: Settings,
        look: Callable[[Settings], Facts] = gather,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._look = look
        self._monotonic = monotonic
        self._checking = Lock()
        self._found: Diagnosis | None = None
        self._checked = float("-inf")

    def read(self) -> Diagnosis:
        """Return the diagnosis; those who ask while it is being made wait for it."""
        with self._checking:
            if self._found is None or self._monotonic() - self._checked >= KEPT_SECONDS:
                facts = self._look(_as_serve_has_them(self._settings))
                self._found, self._checked = (
                    Diagnosis(facts, tuple(judge(facts))),
                    self._monotonic(),
                )
            return self._found


def _as_serve_has_them(settings: Settings) -> Settings:
    """Return settings without the address that `serve` gives to its processes, which is of its own server.

    So the doctor sees that the disk of the data is here.
    """
    try:
        own = socket_url(settings.data)
    except NotRunningError:
        return settings
    if settings.redis_url != own:
        return settings
    return replace(settings, redis_url=None, queue_url=settings.queue_url or own)
