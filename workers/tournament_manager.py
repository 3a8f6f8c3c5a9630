"""The manager of tournaments: pairs Swiss rounds, starts matches, reports their results, and ends those of leavers.

Where a substitute has taken over a place, it has the matches of that place taken over.

It acts by ordinary commands alone. The id of a start follows from tournament and pairing, and that of a report or a round from
the tournament's last event and what it says. So it may be killed at any point, and several may run: each match is started
once, and each result counted once.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final

import msgspec
import redis
from msgspec import UNSET
from redis.exceptions import RedisError

from domain.aggregates import TournamentSnapshot, unpack
from domain.match.commands import CommandEnvelope, GiveRuling, StartMatch, SubstitutePlayer
from domain.match.history import unpack_snapshot
from domain.records import SERVER_ACCOUNT, AccountId, CommandId, command_id
from domain.rules import Seat
from domain.tournament.commands import ReportResults
from domain.tournament.results import PairResult
from domain.tournament.state import Adjudication, TournamentState, WithdrawnPlayer
from domain.tournament.swiss_rounds import waits_for_round
from domain.tournament.terms import TournamentTerms
from domain.tournament.three_results import SEATS
from domain.tournament.withdrawals import WithdrawalKind
from infra.people.statements import ROUND_ENDED
from infra.process.failpoints import failpoint
from infra.projections.tournaments import PairedMatch, Tournaments, reports_of
from infra.store.gateway import submission_of
from infra.store.leases import LaneLeases
from infra.store.port import AlreadyDecided, NotAccepted, Store
from workers.rulings_on_three import ruling_on_three
from workers.scheduler import RETRY_SECONDS
from workers.swiss_pairing import pair_round

logger = logging.getLogger(__name__)

SENDER: Final = "tournament"
"""The manager's name in the ids of its commands, and its reply channel, to which nobody listens."""

MOST_TOURNAMENTS: Final = 50
"""Tournaments that are looked at in a tick."""

MOST_STARTS: Final = 500
"""Matches of a tournament that are started in a tick, which bounds the manager's part of the inboxes."""

MOST_REPORTS: Final = 500
"""Results of one report."""

_WINNERS: Final[Mapping[PairResult, tuple[Seat, ...]]] = {
    PairResult.FIRST_WON: (0,),
    PairResult.FIRST_BY_FORFEIT: (0,),
    PairResult.SECOND_WON: (1,),
    PairResult.SECOND_BY_FORFEIT: (1,),
    PairResult.DRAWN: (0, 1),
    PairResult.BOTH_FORFEITED: (),
}

MOST_ENDS: Final = 100
"""Matches of a tournament that are ended in a tick."""


PAIRING_RETRY_SECONDS: Final = 60
"""How long a round waits that could not be paired."""
MOST_TAKEOVERS: Final = 100
"""Seats of a tournament's matches that are taken over in a tick."""


class TournamentManager:
    """Call `tick` once a second; several of them do no harm.

    `timer` returns seconds that only run forwards.
    """

    def __init__(
        self,
        store: Store,
        lanes: LaneLeases,
        client: redis.Redis,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._tournaments = Tournaments(client)
        self._timer = timer
        self._sent: dict[CommandId, float] = {}
        """When a command that waits may be sent again."""
        self._failed: set[int] = set()
        """Tournaments whose failure is in the log."""

    def tick(self) -> None:
        """Send what the tournaments need that wait for the server."""
        now = self._timer()
        self._sent = {id_: at for id_, at in self._sent.items() if at > now}
        try:
            numbers = self._tournaments.waiting(MOST_TOURNAMENTS)
        except LookupError:
            return  # their list is being rebuilt
        for number in numbers:
            try:
                self._advance(number)
            except RedisError:
                raise
            except Exception:
                # whatever is wrong with it, the others go on
                if number not in self._failed:
                    logger.exception("ALARM: tournament %d can't go on", number)
                self._failed.add(number)

    def _advance(self, number: int) -> None:
        (data,) = self._store.snapshots([number])
        found = unpack(data)
        if not isinstance(found, TournamentSnapshot) or found.state.terms is None:
            return
        matches = self._tournaments.matches(number)
        new = self._starts(number, found.state, found.state.terms, matches)
        if reports := reports_of(matches, MOST_REPORTS):
            key = sha256(msgspec.msgpack.encode(reports)).hexdigest()
            id_ = command_id(SENDER, SERVER_ACCOUNT, f"{number} {found.state.seq} {key}")
            new.append(CommandEnvelope(number, id_, SERVER_ACCOUNT, ReportResults(reports=reports)))
        new += self._ends(number, found.state, matches)
        new += self._round(number, found.state, found.state.terms)
        new += _takeovers(number, matches)
        self._send([one for one in new if one.id not in self._sent])

    def _starts(
        self,
        number: int,
        state: TournamentState,
        terms: TournamentTerms,
        matches: dict[int, PairedMatch],
    ) -> list[CommandEnvelope]:
        """Return the starts of matches that have not begun."""
        known = {n for n, one in matches.items() if not one.needs_start}
        missing = islice(((n, one) for n, one in state.seated if n not in known), MOST_STARTS)
        wanted = {start_id(number, n): (n, one) for n, one in missing}
        ids = [id_ for id_ in wanted if id_ not in self._sent]
        found = []
        for id_, board in zip(ids, self._store.allocate_all(ids) if ids else (), strict=True):
            pairing, one = wanted[id_]
            seats = tuple(state.entrants[player].account for player in one)
            start = start_match(number, pairing, terms, seats, state.opening)
            found.append(CommandEnvelope(board, id_, SERVER_ACCOUNT, start))
        return found

    def _ends(
        self, number: int, state: TournamentState, matches: dict[int, PairedMatch]
    ) -> list[CommandEnvelope]:
        """Return the rulings that end matches, in the names of those who took out a player or adjudicated them."""
        found: list[CommandEnvelope] = []
        pairings = dict(state.seated) if state.unfinished or state.adjudicated else {}
        for pairing, match in sorted(matches.items()):
            # a ladder has forgotten the matches of long ago
            if not match.is_to_end or pairing not in pairings or len(found) >= MOST_ENDS:
                continue
            pair = pairings[pairing]
            if len(pair) == SEATS:
                played = unpack_snapshot(self._store.snapshots([match.board])[0]).state
                by, ruling = ruling_on_three(pairing, pair, played, state)
            elif pairing in state.unfinished:
                left = [one for one in state.withdrawn if one.player in pair]
                by, ruling = left[0].by, _ruling_on_leavers(pair, left)
            else:
                made = state.adjudicated[pairing]
                by, ruling = made.by, _ruling_by_adjudication(made)
            id_ = command_id(SENDER, by, f"{number} end {pairing}")
            if id_ not in self._sent:
                found.append(CommandEnvelope(match.board, id_, by, ruling))
        return found

    def _round(
        self, number: int, state: TournamentState, terms: TournamentTerms
    ) -> list[CommandEnvelope]:
        """Return the command that pairs the next Swiss round, if the tournament waits for it."""
        id_ = command_id(SENDER, SERVER_ACCOUNT, f"{number} round {state.stage + 1} {state.seq}")
        if id_ in self._sent or not waits_for_round(state):
            return []
        try:
            command = pair_round(state, terms)
        except Exception:
            # a library does it: without its answer the round waits, and all else goes on
            if number not in self._failed:
                logger.exception("ALARM: a round of tournament %d can't be paired", number)
            self._failed.add(number)
            self._sent[id_] = self._timer() + PAIRING_RETRY_SECONDS
            return []
        return [CommandEnvelope(number, id_, SERVER_ACCOUNT, command)]

    def _send(self, new: Sequence[CommandEnvelope]) -> None:
        if not new:
            return
        failpoint("tournament.ready")
        answers = self._store.submit([submission_of(one, 0, SENDER) for one in new])
        failpoint("tournament.sent")
        until = self._timer() + RETRY_SECONDS
        shape, lanes = self._store.layout(), set()
        for one, answer in zip(new, answers, strict=True):
            if not isinstance(answer, NotAccepted):
                self._sent[one.id] = until
            if isinstance(answer, NotAccepted | AlreadyDecided):
                logger.debug("tournament: command %s is answered %r", one.id.hex(), answer)
            lanes.add(shape.lane_of(one.match))
        for lane in lanes:
            self._lanes.request(lane)


def _takeovers(number: int, matches: Mapping[int, PairedMatch]) -> list[CommandEnvelope]:
    """Return the commands by which substitutes take over seats; the id follows from the order to do so."""
    wanted = (
        CommandEnvelope(
            match.board,
            command_id(SENDER, SERVER_ACCOUNT, f"{number} seat {pairing} {seat} {order.seq}"),
            SERVER_ACCOUNT,
            SubstitutePlayer(seat=seat, account=order.account),
        )
        for pairing, match in sorted(matches.items())
        for seat, order in match.to_take_over
    )
    return [*islice(wanted, MOST_TAKEOVERS)]


def _ruling_on_leavers(pair: tuple[int, ...], left: Sequence[WithdrawnPlayer]) -> GiveRuling:
    """Return the ruling on a match, whose reasons are those of the withdrawal and stored with the tournament."""
    first = left[0]
    is_lost = len(left) == 1 and first.kind == WithdrawalKind.SILENT
    winners = (1 - pair.index(first.player),) if is_lost else None
    return GiveRuling(
        claim=None, upheld=True, text=first.text, winners=winners, annul=winners is None
    )


def _ruling_by_adjudication(made: Adjudication) -> GiveRuling:
    """Return the ruling that gives a match its adjudicated result; that of a round's end has a reason of its own."""
    winners = _WINNERS[PairResult(made.result)]
    return GiveRuling(
        claim=None,
        upheld=True,
        text=made.text or ROUND_ENDED.digest,
        winners=winners or None,
        annul=not winners,
    )


def start_match(
    number: int,
    pairing: int,
    terms: TournamentTerms,
    seats: tuple[AccountId, ...],
    opening: str = "",
) -> StartMatch:
    """Return the command that starts the match of a pairing, the same each time."""
    return StartMatch(
        rules=terms.rules,
        options=terms.options,
        seats=seats,
        terms=terms.clock,
        pairing=(number, pairing),
        opening=opening or UNSET,
    )


def start_id(number: int, pairing: int) -> CommandId:
    """Return the id of the command that starts the match of a pairing."""
    return command_id(SENDER, SERVER_ACCOUNT, f"{number} start {pairing}")
