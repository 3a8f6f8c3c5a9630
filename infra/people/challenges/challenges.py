"""Opens, takes, withdraws and starts challenges; the package explains the order of writes."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec
import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.state import robot_level
from domain.records import AccountId, CommandId
from infra.people.challenges import record
from infra.people.challenges.indexes import ChallengeIds, ChallengeIndexes
from infra.people.challenges.record import (
    MOST_CHALLENGES,
    Challenge,
    ChallengeState,
    Proposal,
    pack,
    read_id,
    unpack,
)
from infra.redis import keys, scripts
from infra.redis.clients import Clock, to_ms
from infra.redis.reads import Read, read_one
from infra.sentences import SAY


class _RecordRead(msgspec.Struct, frozen=True):
    """A record as it was read."""

    now: int
    """When, in ms since 1970."""
    data: bytes
    """As stored; empty for none."""
    challenge: Challenge | None
    """None for none, and for one that has expired."""


class ChallengesOverview(msgspec.Struct, frozen=True):
    """The challenges of a home page."""

    own: list[Challenge]
    """The waiting ones that the account has opened or joined, the newest first."""
    newest: list[Challenge]
    """The newest open ones."""
    total: int
    """The number of open ones; some that have ended may be counted."""


ListedChallenges: TypeAlias = tuple[ChallengeIds, dict[str, Challenge | None], int]
"""Ids, the challenges that they are of, and the number of open ones; see `ChallengesOverview`."""


class ChallengeStore:
    """The challenges on a server. Errors of the server pass through; thread-safe.

    `draw(n)` returns a random number from 0 to n-1: the seat of the challenger.
    """

    def __init__(
        self,
        client: redis.Redis,
        clock: Clock | None = None,
        draw: Callable[[int], int] = secrets.randbelow,
    ) -> None:
        self._client = client
        self._clock = clock
        self._draw = draw
        self._indexes = ChallengeIndexes(client)

    # opening and reading

    def open(
        self,
        account: AccountId,
        proposal: Proposal,
        command: CommandId,
        commitment: bytes = b"",
    ) -> Challenge:
        """Open a challenge; a repeated `command` returns the same one in its present state.

        `commitment` is that of the challenger for the draw, if the challenger keeps the text.

        Refused as `read_proposal` does, as `too-many`, as `id-reused` if the command opened
        something else, and as `unknown-user` for a deleted account. After a kill there may be a
        challenge that nobody sees, for an hour or until the command is repeated.
        """
        proposal = record.read_proposal(proposal)
        while True:
            seen, challenge = self._record_of(account, proposal, command, commitment)
            if challenge.state is ChallengeState.DRAFT:
                # crash window: it exists for an hour, and nobody sees it
                self._note_opened(seen, challenge)
                # crash window: the same, and it counts as one of the account's
                challenge = replace(challenge, state=ChallengeState.OPEN)
                if not self._swap(seen, challenge.id, challenge):
                    continue
            if challenge.state is ChallengeState.OPEN and challenge.proposal.listed:
                # crash window: it is not listed, and can be taken by its id only
                self._indexes.publish(challenge)
            return challenge

    def get(self, id_: str) -> Challenge:
        """Return a challenge, open or not; `unknown-challenge` if there is none, or it has expired."""
        (challenge,) = self._read_all([read_id(id_)])
        return _existing(challenge, id_)

    def list_open(
        self, game: str | None = None, start: int = 0, count: int = 20, *, club: str = ""
    ) -> list[Challenge]:
        """Return `count` open challenges from index `start`, the newest first.

        Fewer only at the end of the list. `game` is the key of an existing game. Those of a club are in its own list alone.
        """
        of = keys.open_challenges(game, club)
        while True:
            ids = self._indexes.page(of, start, count)
            found = self._read_all(ids)
            waiting = [one for one in found if one and one.state is ChallengeState.OPEN]
            if len(waiting) == len(ids):
                return waiting
            self._indexes.remove(of, {*ids} - {one.id for one in waiting})

    def count(self, game: str | None = None) -> int:
        """Return the number of open challenges; some that have ended may be counted."""
        return self._indexes.count(game)

    def of(self, account: AccountId) -> list[Challenge]:
        """Return the waiting challenges that an account has opened or joined, the newest first."""
        found = self._remove_ended(account, keys.challenges_opened(account)) + self._remove_ended(
            account, keys.challenges_joined(account)
        )
        return sorted(found, key=lambda one: (one.created, one.id), reverse=True)

    def read_ids(self, account: AccountId | None, count: int) -> Read[ChallengeIds]:
        """Return the read that `read_listed` needs first."""
        return self._indexes.read_ids(account, count)

    def read_listed(self, listed: ChallengeIds, now: int) -> Read[ListedChallenges]:
        """Return the read of the challenges that are listed, at a time in ms, and of their number."""
        ids = list(dict.fromkeys([*listed.own, *listed.newest]))

        def queue(pipe: Any) -> None:
            if listed.more:
                pipe.zcard(keys.open_challenges())

        def parse(found: list[Any]) -> ListedChallenges:
            records = {id_: _unpack(data, now) for id_, data in zip(ids, found, strict=False)}
            return listed, records, found[-1] if listed.more else len(listed.newest)

        return Read(queue, parse, list(map(keys.challenge, ids)))

    def overview_of(self, found: ListedChallenges) -> ChallengesOverview:
        """Return an account's waiting challenges, the newest open ones and the number of these."""
        listed, records, total = found
        account = listed.account
        if any(one is None or one.state is not ChallengeState.OPEN for one in records.values()):
            # some have ended: these remove them from the lists
            own = self.of(account) if account else []
            return ChallengesOverview(own, self.list_open(None, 0, listed.count), total)
        own = [one for id_ in dict.fromkeys(listed.own) if (one := records[id_])]
        newest = [one for id_ in listed.newest if (one := records[id_])]
        own.sort(key=lambda one: (one.created, one.id), reverse=True)
        return ChallengesOverview(own, newest, total)

    def full(self) -> list[Challenge]:
        """Return the full challenges without a match, the oldest first.

        Any process may start them, because the one that should may have been killed: see `take`.
        """
        ids = self._indexes.filling()
        found = [one for one in self._read_all(ids) if one]
        waiting = [one for one in found if one.state in (ChallengeState.OPEN, ChallengeState.TAKEN)]
        self._indexes.remove_filling({*ids} - {one.id for one in waiting})
        taken = [one for one in waiting if one.state is ChallengeState.TAKEN]
        return sorted(taken, key=lambda one: (one.created, one.id))

    # taking and starting

    def take(self, id_: str, account: AccountId, commitment: bytes = b"") -> Challenge:
        """Take a free seat; the same account again gets the same seat, in the present state.

        `commitment` is as in `open`; the first one stays.

        Once the last seat is taken the state is `TAKEN`: then start the match of the `seat_order`
        with a command of the id `start_id`, and call `mark_started`. `unknown-challenge` if there is none,
        or it has ended or is full; `own-challenge`, `too-many`, and `unknown-user` for a deleted
        account.
        """

        def join(challenge: Challenge) -> Challenge:
            if account in challenge.takers and challenge.state is not ChallengeState.WITHDRAWN:
                return challenge
            record.check_takeable(challenge, account)
            self._note_joined(account, challenge)
            return record.join(challenge, account, self._draw, commitment)

        taken = self._change(read_id(id_), join)
        # crash window: it is listed and full; readers of the list remove it
        if taken.state is not ChallengeState.OPEN:
            self._indexes.unpublish(taken)
        return taken

    def mark_started(self, id_: str, board: int) -> Challenge:
        """Note the board of the match that was started; safe to repeat.

        `ValueError` if the challenge is not full, or has another board; `unknown-challenge` if it
        no longer exists.
        """
        started = self._change(read_id(id_), lambda challenge: record.start(challenge, board))
        # crash window: the indexes still have it, and their readers find that it has ended
        self._clear(started)
        return started

    # leaving

    def withdraw(self, account: AccountId, id_: str) -> Challenge:
        """Withdraw the account's own challenge, or give back its seat in another's.

        `not-a-player` for an account without a seat, `already-started` if it is full, and
        `unknown-challenge`. Safe to repeat.
        """
        changed = self._change(read_id(id_), lambda one: record.withdraw(one, account))
        # crash window: the indexes still have it, and their readers find that it has ended
        if changed.state is ChallengeState.WITHDRAWN:
            self._clear(changed)
        else:
            # an account that takes the seat again at this moment is not noted
            self._indexes.remove_from_account(keys.challenges_joined(account), [changed.id])
        return changed

    def replace_note(self, id_: str, note: str) -> None:
        """Replace the note of a challenge; `unknown-challenge`."""
        self._change(
            read_id(id_), lambda one: replace(one, proposal=replace(one.proposal, note=note))
        )

    def forget(self, account: AccountId) -> None:
        """Erase the account's open challenges, and give back its seats in others.

        Full challenges stay. Safe to repeat, see `Accounts.delete`. An account that joins while it is
        deleted may keep its seat, like one that was deleted after the last seat was taken.
        """
        for name in (keys.challenges_opened(account), keys.challenges_joined(account)):
            ids = self._indexes.of_account(name)
            for id_ in ids:
                self._erase(id_, account)
            # crash window: until here all challenges of the account can still be found
            self._indexes.remove_from_account(name, ids)

    # records

    def _record_of(
        self, account: AccountId, proposal: Proposal, command: CommandId, commitment: bytes
    ) -> tuple[_RecordRead, Challenge]:
        """Return the record of a command; a new one if there is none."""
        attempt, secret = 0, b"" if proposal.listed else self._link_secret()
        while True:
            id_ = record.make_id(command, attempt, secret)
            new = Challenge(
                id=id_,
                command=command,
                account=account,
                proposal=proposal,
                created=0,
                commitments=((account, commitment),) if commitment else (),
            )
            seen, challenge = self._make(new)
            if challenge.command == command:
                record.check_same(challenge, account, proposal, commitment)
                return seen, challenge
            # the ids of two commands collide; the next choice is the same at each repetition
            attempt += 1

    def _link_secret(self) -> bytes:
        """Return the server's secret of the ids of challenges that are not listed."""
        self._client.set(keys.CHALLENGE_LINKS, secrets.token_bytes(32), nx=True)
        found: Any = self._client.get(keys.CHALLENGE_LINKS)
        return bytes(found)

    def _make(self, new: Challenge) -> tuple[_RecordRead, Challenge]:
        """Return the record of this id; the new one if there is none."""
        while True:
            seen = self._read_one(new.id)
            if seen.challenge:
                return seen, seen.challenge
            made = replace(new, created=seen.now)
            if self._swap(seen, new.id, made):
                return _RecordRead(seen.now, pack(made), made), made

    def _change(self, id_: str, change: Callable[[Challenge], Challenge]) -> Challenge:
        """Change a record, whole or not at all; `change` may refuse, and may be called again."""
        while True:
            seen = self._read_one(id_)
            old = _existing(seen.challenge, id_)
            new = change(old)
            if new == old or self._swap(seen, id_, new):
                return new

    def _erase(self, id_: str, account: AccountId) -> None:
        while True:
            seen = self._read_one(id_)
            old = seen.challenge
            left = record.forget(old, account) if old else None
            if left == old:
                return
            if self._swap(seen, id_, left):
                break
        if old and left is None:
            # crash window: the lists have an id without a record
            self._indexes.unpublish(old)

    def _read_one(self, id_: str) -> _RecordRead:
        now, (data,) = self._read([id_])
        return _RecordRead(now, data or b"", _unpack(data, now))

    def _read_all(self, ids: Sequence[str]) -> list[Challenge | None]:
        if not ids:
            return []
        now, found = self._read(ids)
        return [_unpack(data, now) for data in found]

    def _read(self, ids: Sequence[str]) -> tuple[int, list[bytes | None]]:
        """Return the time, and the records as stored."""
        *found, time = read_one(
            self._client, Read(lambda pipe: pipe.time(), list, list(map(keys.challenge, ids)))
        )
        return self._clock() if self._clock else to_ms(time), found

    def _swap(self, seen: _RecordRead, id_: str, new: Challenge | None) -> bool:
        """Store a changed record, or delete it for None, if it is still as it was read."""
        made = (pack(new), new.ttl_ms(seen.now)) if new else (b"", 0)
        return scripts.compare_and_set(self._client, keys.challenge(id_), seen.data, *made)

    # what leads to records

    def _note_opened(self, seen: _RecordRead, challenge: Challenge) -> None:
        """Note a draft under its account; if that is refused, delete the draft."""
        try:
            self._add_to_account(
                challenge.account, keys.challenges_opened(challenge.account), challenge.id
            )
        except Refusal:
            # the same command in another process may have opened it: then it stays
            self._swap(seen, challenge.id, None)
            raise

    def _note_joined(self, account: AccountId, challenge: Challenge) -> None:
        # a robot has no such list, because it may join any number
        if robot_level(account) is None:
            self._add_to_account(account, keys.challenges_joined(account), challenge.id)
        # crash window: a challenge is noted under an account that has no seat in it
        if challenge.free_seats == 1:
            self._indexes.add_filling(challenge.id)
            # crash window: it is in the set of those about to be full, and is not

    def _add_to_account(self, account: AccountId, name: str, id_: str) -> None:
        if self._indexes.add_to_account(account, name, id_):
            return
        self._remove_ended(account, name)
        if not self._indexes.add_to_account(account, name, id_):
            raise Refusal(
                Code.TOO_MANY,
                SAY("challenges", most=MOST_CHALLENGES),
            )

    def _remove_ended(self, account: AccountId, name: str) -> list[Challenge]:
        """Return the waiting challenges of one of an account's lists; remove those that have ended."""
        ids = self._indexes.of_account(name)
        found = [one for one in self._read_all(ids) if one and not record.is_over(one, account)]
        self._indexes.remove_from_account(name, {*ids} - {one.id for one in found})
        return [
            one for one in found if account in one.players and one.state is not ChallengeState.DRAFT
        ]

    def _clear(self, challenge: Challenge) -> None:
        """Forget everywhere that a challenge waits."""
        self._indexes.unpublish(challenge)
        self._indexes.remove_filling([challenge.id])
        self._indexes.remove_from_account(keys.challenges_opened(challenge.account), [challenge.id])
        for account in challenge.takers:
            self._indexes.remove_from_account(keys.challenges_joined(account), [challenge.id])


def _unpack(data: bytes | None, now: int) -> Challenge | None:
    """Read a record; None for none, and for one that has expired."""
    challenge = unpack(data) if data else None
    return None if challenge is None or challenge.is_expired(now) else challenge


def _existing(challenge: Challenge | None, id_: str) -> Challenge:
    if challenge is None or challenge.state is ChallengeState.DRAFT:
        raise Refusal(Code.UNKNOWN_CHALLENGE, SAY("no-challenge", challenge=id_))
    return challenge
