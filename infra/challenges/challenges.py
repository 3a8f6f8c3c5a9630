"""The challenges themselves: opened, taken, withdrawn, started; the package says in which order."""

import secrets
from collections.abc import Callable, Sequence

import msgspec
import redis
from msgspec.structs import replace

from domain.errors import Code, Refusal
from domain.match.events import AccountId, CommandId
from infra import keys, scripts
from infra.challenges import record
from infra.challenges.indexes import Indexes
from infra.challenges.record import MOST, Challenge, Proposal, State, pack, read_id, unpack
from infra.clients import Clock, to_ms


class _Seen(msgspec.Struct, frozen=True):
    """A record as it was read."""

    now: int
    """When, in ms since 1970."""
    data: bytes
    """As stored; empty for none."""
    challenge: Challenge | None
    """None for none, and for one that has expired."""


class Challenges:
    """The challenges on a server. Errors of the server pass through; safe for several threads.

    `clock` gives the time in ms instead of the server's TIME: the port for tests. `draw(n)` gives
    one of 0 to n-1 by chance, and is asked where the maker of a challenge sits.
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
        self._indexes = Indexes(client)

    # opening and reading

    def open(
        self,
        account: AccountId,
        proposal: Proposal,
        command: CommandId,
        commitment: bytes = b"",
    ) -> Challenge:
        """Open a challenge; `command` repeated gives the same one as it is by then.

        `commitment` is what its maker commits to for the draw, who keeps a text for it.

        Refused as `read_proposal` does, as `too-many`, as `id-reused` when the command opened
        something else, and as `unknown-user` for an account that is no more. Killed on the way, it
        leaves a challenge that nobody knows of, for an hour or until the command is repeated.
        """
        proposal = record.read_proposal(proposal)
        while True:
            seen, challenge = self._place(account, proposal, command, commitment)
            if challenge.state is State.DRAFT:
                # crash window: it is there for an hour, and nobody sees it
                self._note_opened(seen, challenge)
                # crash window: the same, and it counts as one of the account's
                challenge = replace(challenge, state=State.OPEN)
                if not self._swap(seen, challenge.id, challenge):
                    continue
            if challenge.state is State.OPEN:
                # crash window: it can be taken by who knows its id, and is not listed
                self._indexes.show(challenge)
            return challenge

    def get(self, id_: str) -> Challenge:
        """Return a challenge, open or not; `unknown-challenge` when it is none or has expired."""
        (challenge,) = self._read_all([read_id(id_)])
        return _known(challenge, id_)

    def listed(self, game: str | None = None, start: int = 0, count: int = 20) -> list[Challenge]:
        """Give `count` challenges that can be taken, from index `start`, the newest first.

        Fewer only at the end of the list. `game` is the key of a game that there is.
        """
        while True:
            ids = self._indexes.page(game, start, count)
            found = self._read_all(ids)
            waiting = [one for one in found if one and one.state is State.OPEN]
            if len(waiting) == len(ids):
                return waiting
            self._indexes.strike(game, {*ids} - {one.id for one in waiting})

    def count(self, game: str | None = None) -> int:
        """Count those that can be taken; one that was over when it was last listed may be in."""
        return self._indexes.count(game)

    def of(self, account: AccountId) -> list[Challenge]:
        """Return the challenges that an account has opened or joined and that wait, newest first."""
        found = self._tidy(account, keys.opened(account)) + self._tidy(
            account, keys.joined(account)
        )
        return sorted(found, key=lambda one: (one.created, one.id), reverse=True)

    def unstarted(self) -> list[Challenge]:
        """Return the challenges that are full and have no match yet, the oldest first.

        Whoever was to start one may have been killed, so anybody may: see `take`.
        """
        ids = self._indexes.filling()
        found = [one for one in self._read_all(ids) if one]
        waiting = [one for one in found if one.state in (State.OPEN, State.TAKEN)]
        self._indexes.settle({*ids} - {one.id for one in waiting})
        taken = [one for one in waiting if one.state is State.TAKEN]
        return sorted(taken, key=lambda one: (one.created, one.id))

    # taking and starting

    def take(self, id_: str, account: AccountId, commitment: bytes = b"") -> Challenge:
        """Take a free seat; the same account again gets the same seat, and the challenge as it is.

        `commitment` is as in `open`; what was committed to first stays.

        Once the last seat is taken its state is `TAKEN`: then start the match of those `seated`
        with a command of the id `start_id`, and call `done`. `unknown-challenge` for one that is
        none, not any more, or full; `own-challenge`, `too-many`, and `unknown-user` for an account
        that is no more.
        """

        def join(challenge: Challenge) -> Challenge:
            if account in challenge.takers and challenge.state is not State.WITHDRAWN:
                return challenge
            record.check_takeable(challenge, account)
            self._note_joined(account, challenge)
            return record.join(challenge, account, self._draw, commitment)

        taken = self._change(read_id(id_), join)
        # crash window: it is listed and full; who reads the list strikes it
        if taken.state is not State.OPEN:
            self._indexes.hide(taken)
        return taken

    def done(self, id_: str, board: int) -> Challenge:
        """Note the board of the match that was started; doing it twice is harmless.

        `ValueError` if the challenge is not full, or has another board; `unknown-challenge` when
        nothing is known of it any more.
        """
        started = self._change(read_id(id_), lambda challenge: record.start(challenge, board))
        # crash window: all who remember that it waits find that it does not
        self._clear(started)
        return started

    # leaving

    def withdraw(self, account: AccountId, id_: str) -> Challenge:
        """Withdraw a challenge of one's own, or give back the seat taken in another's.

        `not-a-player` for who has neither, `already-started` when it is full, and
        `unknown-challenge`. To withdraw it twice is harmless.
        """
        changed = self._change(read_id(id_), lambda one: record.withdraw(one, account))
        # crash window: all who remember it find that it waits no more
        if changed.state is State.WITHDRAWN:
            self._clear(changed)
        else:
            # who takes the seat again at this moment is not noted, as one who joins while erased
            self._indexes.drop(keys.joined(account), [changed.id])
        return changed

    def forget(self, account: AccountId) -> None:
        """Erase the account's open challenges, and give back the seats it has in others.

        What is full stays. Doing it twice is harmless. Who deletes an account calls this once more
        when its record is gone: before that, another challenge may be opened. One who joins while
        being erased may stay seated, as one who was erased after the last seat was taken.
        """
        for name in (keys.opened(account), keys.joined(account)):
            ids = self._indexes.listed(name)
            for id_ in ids:
                self._erase(id_, account)
            # crash window: until here all is noted that the account may be in
            self._indexes.drop(name, ids)

    # records

    def _place(
        self, account: AccountId, proposal: Proposal, command: CommandId, commitment: bytes
    ) -> tuple[_Seen, Challenge]:
        """Return the record of a command, which is made if there is none."""
        attempt = 0
        while True:
            id_ = record.make_id(command, attempt)
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
            # 50 bits of two commands agree; the next choice is the same at each repetition
            attempt += 1

    def _make(self, new: Challenge) -> tuple[_Seen, Challenge]:
        """Return the record of this id, which is the new one if there is none."""
        while True:
            seen = self._see(new.id)
            if seen.challenge:
                return seen, seen.challenge
            made = replace(new, created=seen.now)
            if self._swap(seen, new.id, made):
                return _Seen(seen.now, pack(made), made), made

    def _change(self, id_: str, change: Callable[[Challenge], Challenge]) -> Challenge:
        """Change a record, whole or not at all; `change` may refuse, and may be asked again."""
        while True:
            seen = self._see(id_)
            old = _known(seen.challenge, id_)
            new = change(old)
            if new == old or self._swap(seen, id_, new):
                return new

    def _erase(self, id_: str, account: AccountId) -> None:
        while True:
            seen = self._see(id_)
            old = seen.challenge
            left = record.forget(old, account) if old else None
            if left == old:
                return
            if self._swap(seen, id_, left):
                break
        if old and left is None:
            # crash window: lists lead to nothing
            self._indexes.hide(old)

    def _see(self, id_: str) -> _Seen:
        now, (data,) = self._read([id_])
        return _Seen(now, data or b"", _unpack(data, now))

    def _read_all(self, ids: Sequence[str]) -> list[Challenge | None]:
        now, found = self._read(ids)
        return [_unpack(data, now) for data in found]

    def _read(self, ids: Sequence[str]) -> tuple[int, list[bytes | None]]:
        """Return the time, and records as stored."""
        with self._client.pipeline(transaction=False) as pipe:
            pipe.time()
            for id_ in ids:
                pipe.get(keys.challenge(id_))
            time, *found = pipe.execute()
        return self._clock() if self._clock else to_ms(time), found

    def _swap(self, seen: _Seen, id_: str, new: Challenge | None) -> bool:
        """Store a changed record, or none, if it is still as it was read."""
        made = (pack(new), new.kept(seen.now)) if new else (b"", 0)
        return scripts.compare_and_set(self._client, keys.challenge(id_), seen.data, *made)

    # what leads to records

    def _note_opened(self, seen: _Seen, challenge: Challenge) -> None:
        """Note a draft under its account; where that is refused the draft goes."""
        try:
            self._enlist(challenge.account, keys.opened(challenge.account), challenge.id)
        except Refusal:
            # the same command, on its way elsewhere, may have found room and opened it: that stays
            self._swap(seen, challenge.id, None)
            raise

    def _note_joined(self, account: AccountId, challenge: Challenge) -> None:
        self._enlist(account, keys.joined(account), challenge.id)
        # crash window: the account remembers a challenge in which it has no seat
        if challenge.missing == 1:
            self._indexes.fill(challenge.id)
            # crash window: it is remembered as about to be full, and is not

    def _enlist(self, account: AccountId, name: str, id_: str) -> None:
        if self._indexes.enlist(account, name, id_):
            return
        self._tidy(account, name)
        if not self._indexes.enlist(account, name, id_):
            raise Refusal(
                Code.TOO_MANY,
                f"{MOST} challenges wait that you have opened, or that you have joined; "
                "that is the most",
            )

    def _tidy(self, account: AccountId, name: str) -> list[Challenge]:
        """Return the challenges of one of an account's lists that wait; strike those that are over."""
        ids = self._indexes.listed(name)
        found = [one for one in self._read_all(ids) if one and not record.is_over(one, account)]
        self._indexes.drop(name, {*ids} - {one.id for one in found})
        return [one for one in found if account in one.players and one.state is not State.DRAFT]

    def _clear(self, challenge: Challenge) -> None:
        """Forget everywhere that a challenge waits."""
        self._indexes.hide(challenge)
        self._indexes.settle([challenge.id])
        self._indexes.drop(keys.opened(challenge.account), [challenge.id])
        for account in challenge.takers:
            self._indexes.drop(keys.joined(account), [challenge.id])


def _unpack(data: bytes | None, now: int) -> Challenge | None:
    """Read a record; None for none, and for one that has expired."""
    challenge = unpack(data) if data else None
    return None if challenge is None or challenge.is_gone(now) else challenge


def _known(challenge: Challenge | None, id_: str) -> Challenge:
    if challenge is None or challenge.state is State.DRAFT:
        raise Refusal(
            Code.UNKNOWN_CHALLENGE, f"there is no challenge {id_}; it may have expired, look again"
        )
    return challenge
