"""Reads the logs and has players told: each command of a match is one mail to each concerned.

Killed anywhere it goes on from the leaves it had noted as told, and makes the same letters under
the same ids, which the outbox takes once. So nothing here needs a lease, and several do no harm.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from domain.match.events import AccountId, CommandId, Envelope, MatchStarted, decode
from infra.accounts import Accounts, Profile
from infra.letters import Letter, Letters
from infra.mail.chats import Chats, Talk, lines_since
from infra.mail.composer import Told
from infra.mail.outbox import Outbox
from infra.mail.progress import Item, Progress
from infra.projections.notices import Kind, Table
from infra.store.port import Store
from workers.mail.build import EmailBuilder, addresses_of
from workers.mail.isolate import isolate_errors
from workers.projections.log_reader import LogChunk, LogReader
from workers.projections.notices import seated, told
from workers.projections.projection import Cast, Fact

logger = logging.getLogger(__name__)

OLD_MS: Final = 3 * 24 * 3_600_000
"""What happened so long ago is told no more: the mailer was off, and it is all on the pages."""

_AT_ONCE: Final = frozenset({Kind.REMINDER})
"""What can't wait for a digest: it would come after the deadline."""

_NOBODY: Final = Table(None)


class MatchMailer:
    """Tells players of their matches."""

    def __init__(
        self,
        store: Store,
        accounts: Accounts,
        progress: Progress,
        outbox: Outbox,
        writing: EmailBuilder,
        *,
        chats: Chats,
        letters: Letters,
    ) -> None:
        self._chats = chats
        self._letters = letters
        self._store = store
        self._accounts = accounts
        self._progress = progress
        self._outbox = outbox
        self._writing = writing
        self._reader = LogReader(store)
        self._profiles: dict[AccountId, Profile | None] = {}
        """Of those concerned in this round."""
        self._oldest = 0

    def round(self) -> int:
        """Tell of the next leaves of the logs; gives how many those were."""
        start = self._start()
        chunk = self._reader.read(start)
        self._profiles.clear()
        self._oldest = self._store.now() - OLD_MS
        for (board, command), facts in _commands(chunk):
            self._tell(board, command, facts[0])
        after = _past(chunk)
        self._progress.move(start, after)
        return sum(after) - sum(start)

    def _start(self) -> tuple[int, ...]:
        """Return up to where the logs have been told; what was before the first time never is."""
        ends = self._store.watermark().ends
        self._progress.begin(ends)
        found = self._progress.read()
        assert found is not None
        # logs that were put back from a backup end before what was told of them
        start = tuple(min(read, end) for read, end in zip(found, ends, strict=True))
        if start != found:
            logger.warning("the logs end before what was mailed of them; mail goes on from there")
            self._progress.move(found, start)
        return start

    def _tell(self, board: int, command: CommandId, fact: Fact) -> None:
        """Tell everybody concerned of a command; a match that can't be told keeps no other up."""
        if fact.event.at < self._oldest:
            return
        if not any(addresses_of(self._profile(account)) for account in fact.cast.seats):
            return  # as in most matches: what follows reads the whole of it
        with isolate_errors(f"match {board}"):
            for one in self._told(board, command, fact.cast):
                self._deliver(one, fact.event.at)

    def _told(self, board: int, command: CommandId, cast: Cast) -> Iterator[Told]:
        history = self._store.events(board)
        events = [decode(data) for data in history]
        own = [event for event in events if event.command == command]
        kinds = notices_of(cast, events, own)
        for account, its in kinds.items():
            yield Told(
                account=account,
                board=board,
                seat=cast.seats.index(account),
                seq=own[0].seq,
                kinds=tuple(its),
                history=tuple(history[: own[-1].seq]),
            )

    def _deliver(self, one: Told, at: int) -> None:
        profile = self._profile(one.account)
        to = addresses_of(profile)
        if not to or profile is None:
            return
        if profile.notify == "daily" and not _AT_ONCE.intersection(one.kinds):
            items = [Item(one.board, one.seq, kind, at) for kind in one.kinds]
            self._progress.keep(one.account, items, self._outbox.now())
            return
        talk = self._chats.of(one.account, one.board)
        said = self._said(talk)
        self._outbox.put_all(self._writing.told(replace(one, said=tuple(said)), to))
        if talk:
            # crash window: it is in the outbox, and is said again in the next mail of the match
            upto = max([talk.last, *(line.at for line in said)])
            self._chats.done(talk, upto, self._outbox.now())

    def _said(self, talk: Talk | None) -> list[Letter]:
        """Return what others said in a match and a player was not mailed yet."""
        return lines_since(self._letters, talk.account, talk.board, talk.first) if talk else []

    def _profile(self, account: AccountId) -> Profile | None:
        if account not in self._profiles:
            self._profiles[account] = self._accounts.record_of(account)
        return self._profiles[account]


def notices_of(
    cast: Cast, events: Sequence[Envelope], own: Sequence[Envelope]
) -> dict[AccountId, list[Kind]]:
    """Return whom a command's `own` events are told to, as what: as the notices have it.

    But a start is told to who asked for it, too: it is the first mail of the match, and so the one
    that is answered with moves.
    """
    found: dict[AccountId, list[Kind]] = {}
    table = _NOBODY
    for event in events[: own[-1].seq]:
        if event.seq >= own[0].seq:
            for account, kind in [*told(Fact(event, cast), table), *_own_start(event, cast)]:
                found.setdefault(account, []).append(kind)
        table = seated(table, event.body)
    return found


def _own_start(event: Envelope, cast: Cast) -> Iterator[tuple[AccountId, Kind]]:
    if isinstance(event.body, MatchStarted) and event.actor in cast.seats:
        yield event.actor, Kind.STARTED


def _commands(chunk: LogChunk) -> Iterable[tuple[tuple[int, CommandId], list[Fact]]]:
    """Group facts by the command that led to them."""
    found: dict[tuple[int, CommandId], list[Fact]] = {}
    for fact in chunk.facts:
        found.setdefault((fact.event.match, fact.event.command), []).append(fact)
    return found.items()


def _past(chunk: LogChunk) -> tuple[int, ...]:
    """Return the counts after a chunk, and after what of it can't be read."""
    counts = list(chunk.counts)
    for leaf in chunk.unreadable:
        if counts[leaf.shard] == leaf.index:
            logger.error(
                "ALARM: leaf %d of shard %d can't be told by mail: %s",
                *(leaf.index, leaf.shard, leaf.error),
            )
            counts[leaf.shard] += 1
    return tuple(counts)
