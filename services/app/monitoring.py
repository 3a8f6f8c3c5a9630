"""Figures of the whole server for monitoring: its processes, projections, mail and servers.

They stand beside those of `services.app.operator_figures`, which `matchpost queue` shows too.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec
import redis

from infra.durability.durability import Mode
from infra.durability.durability_notes import DurabilityNotes
from infra.health.heartbeats import HeartbeatRecord, Role, read_heartbeats
from infra.mail.outbox import Outbox
from infra.projections.lag import lag
from infra.projections.specs import SPECS
from infra.redis import keys
from infra.redis.server_info import ServerFigures, read_server_figures
from infra.settings.settings import Settings
from infra.store.damaged_matches import DamagedMatches
from infra.store.log_gate import read_ends
from infra.store.port import Watermark
from services.app.context import App

logger = logging.getLogger(__name__)

OVERDUE_MS: Final = 60_000
"""Milliseconds after which a missing reminder or flag is reported; a tick takes one second."""


class RoleFigures(msgspec.Struct, frozen=True):
    """The processes of a role on a host."""

    role: Role
    host: str
    alive: int
    silent: int
    """Those that were killed, hang, or can't reach the server; forgotten after a day."""
    oldest_ms: int
    """Age of the oldest heartbeat of those that are alive."""


class ProjectionFigures(msgspec.Struct, frozen=True):
    """How far a projection is behind the logs."""

    name: str
    leaves: int
    oldest_ms: int
    """How long ago the first of these leaves was received; 0 if there is none."""
    failures: int
    is_building: bool


class MailFigures(msgspec.Struct, frozen=True):
    """Outgoing mail."""

    waiting: int
    oldest_ms: int
    """How long the first of them has been due; 0 if none is."""
    is_relay_up: bool
    """Whether the relay took the connection when it was tried last."""


class MonitoringFigures(msgspec.Struct, frozen=True):
    """All of these at one moment."""

    expected: frozenset[Role]
    """Roles that have to run, by the settings of the process that reads, or because one ran within a day."""
    roles: tuple[RoleFigures, ...]
    projections: tuple[ProjectionFigures, ...]
    """Empty if what is stored of them can't be read."""
    mail: MailFigures
    overdue: int
    """Matches whose reminder or flag has been due for more than a minute."""
    set_aside: int
    """Commands that could not be decoded."""
    damaged: int
    """Matches that can't be read."""
    fault: str | None
    """Why no move is accepted, by the last verification; empty if moves are. None if nobody verifies."""
    replicas: int
    """Replicas that have to sync each move."""


def expected_roles(settings: Settings, ran: Collection[Role]) -> list[Role]:
    """Return the roles that have to run: by the settings, or because one `ran` recently.

    Command workers are not among them, because any worker of RQ will do.
    """
    wanted: Mapping[Role, bool] = {
        Role.PROJECTIONS: True,
        Role.SCHEDULER: True,
        Role.PUBLISHER: settings.durability.durable,
        Role.MAINTENANCE: False,  # a server may be run without one
        Role.ROBOTS: settings.robots > 0,
        Role.WEB: settings.http != "off",
        Role.MAIL: settings.smtp != "off" or settings.lmtp is not None,
        Role.MAILER: settings.has_mailer,
    }
    return [role for role, is_wanted in wanted.items() if is_wanted or role in ran]


def read_servers(parts: App) -> dict[str, tuple[ServerFigures, ...]]:
    """Return the figures of the servers of the data and of the queue; a server that is away is no error."""
    return {"data": read_server_figures(parts.data), "queue": read_server_figures(parts.queue)}


def read_monitoring_figures(parts: App) -> MonitoringFigures:
    """Return the figures; errors of the two servers pass through."""
    settings, data, now = parts.settings, parts.data, parts.store.now()
    shards = range(parts.store.layout().shards)
    beats = read_heartbeats(parts.queue)
    with data.pipeline(transaction=False) as pipe:
        for shard in shards:
            pipe.zcount(keys.due(shard), 0, now - OVERDUE_MS)
            pipe.xlen(keys.dead_letters(shard))
        found = pipe.execute()
    return MonitoringFigures(
        expected=frozenset(expected_roles(settings, {beat.role for beat in beats})),
        roles=_roles(beats, now),
        projections=_projections(parts, shards, now),
        mail=_mail(data, now),
        overdue=sum(found[::2]),
        set_aside=sum(found[1::2]),
        damaged=len(DamagedMatches(data).all()),
        fault=_fault(parts),
        replicas=settings.replicas if settings.durability is Mode.REPLICATED else 0,
    )


def _roles(beats: Sequence[HeartbeatRecord], now: int) -> tuple[RoleFigures, ...]:
    groups: dict[tuple[Role, str], list[HeartbeatRecord]] = {}
    for beat in beats:
        groups.setdefault((beat.role, beat.host), []).append(beat)
    return tuple(_group(*place, group, now) for place, group in sorted(groups.items()))


def _group(role: Role, host: str, beats: Sequence[HeartbeatRecord], now: int) -> RoleFigures:
    alive = [beat for beat in beats if not beat.is_silent(now) and not beat.is_gone]
    oldest = max((now - beat.at for beat in alive), default=0)
    return RoleFigures(role, host, len(alive), len(beats) - len(alive), max(0, oldest))


def _projections(parts: App, shards: Sequence[int], now: int) -> tuple[ProjectionFigures, ...]:
    # as a watermark of the store, without the write that promises it: nothing is built upon this one
    mark = Watermark(now, tuple(read_ends(parts.data, shards)))
    try:
        lags = [lag(parts.store, parts.data, spec, mark) for spec in SPECS]
    except ValueError as error:
        # pointers of a projection were changed by another program
        logger.warning("the lag of the projections can't be read: %s", error)
        return ()
    return tuple(
        ProjectionFigures(
            one.spec.name,
            one.events,
            0 if one.oldest is None else max(0, now - one.oldest),
            len(one.failures),
            one.building,
        )
        for one in lags
    )


def _mail(data: redis.Redis, now: int) -> MailFigures:
    outbox = Outbox(data)
    first = outbox.first_due()
    return MailFigures(
        outbox.size(), 0 if first is None else max(0, now - first), outbox.last_backoff() is None
    )


def _fault(parts: App) -> str | None:
    if not parts.durable:
        return ""
    note = DurabilityNotes(parts.queue).read()
    return None if note is None else note.fault
