"""A match in each of its states, and commands of every kind: what may be refused, and when.

A state that a match may newly be in gets a row in `STATES`; a new kind of command needs one in `EXAMPLES`.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, get_args

from msgspec import UNSET
from msgspec.structs import replace

from domain.clocks.time_control import DAY, TimeControl
from domain.fairness import Commitment
from domain.match.commands import (
    AnswerOffer,
    Command,
    DeclineMatch,
    EndVacation,
    FlagPlayer,
    GiveRuling,
    ImportMatch,
    MakeAppeal,
    MakeClaim,
    MakeOffer,
    PlayMove,
    RemindPlayer,
    ResignMatch,
    ResumeMatch,
    RevealText,
    StartMatch,
    StartVacation,
    SubstitutePlayer,
)
from domain.match.events import MatchSource
from domain.match.imports import import_command
from domain.match.offers import OFFER_KINDS
from domain.match.state import MatchState, position_of
from domain.records import SERVER_ACCOUNT
from domain.rules import rules_by_id
from domain.tournament import commands
from domain.tournament.state import AdjudicatedPairing, MatchReport
from domain.tournament.terms import TournamentTerms
from tests.helpers.given import ALICE, BOB, CAROL, Match, Turn, alternating, challenge

ARBITER, OTHER_ARBITER, STRANGER = b"arbiter1", b"arbiter2", b"mallory."
TEXT: Final = bytes(32)
KEPT: Final = (b"a text of 32 bytes that is kept.", b"another one that the other kept.")
COMMITTED: Final = tuple(Commitment(sha256(text).digest()) for text in KEPT)
RECORD: Final = b"the moves of a match that was played elsewhere"
ELSEWHERE: Final = MatchSource("record", "", 1, b"", 0, sha256(RECORD).digest())
CLOCK: Final = ("--days=3", "--nagtime=1")
Turns = Sequence[Turn]


def _gathering(*commitments: Commitment) -> Turns:
    actor, start = challenge("powerdrain", *CLOCK)
    assert isinstance(start, StartMatch)
    return [(actor, replace(start, gather=True, commitments=commitments))]


def _gathering_texts() -> Turns:
    ((actor, start),) = _gathering()
    return [(actor, replace(start, commitments=UNSET, text=b"one"))]


def _invited(turn: Turn, **more: Any) -> Turn:
    return turn[0], replace(turn[1], lapse=14 * DAY, **more)


def _imported() -> Turns:
    there = Match(challenge("pow2", *CLOCK), *alternating("m13-j7", "a13-d7"))
    return [(SERVER_ACCOUNT, import_command(there.state, (ALICE, BOB), ELSEWHERE))]


FRESH: Final[Turns] = [challenge("pow2", *CLOCK)]
RUNNING: Final[Turns] = [*FRESH, *alternating("m13-j7", "a13-d7")]
OVER: Final[Turns] = [*RUNNING, (ALICE, ResignMatch())]
CLAIMED: Final[Turns] = [*OVER, (BOB, MakeClaim(ply=1, text=TEXT))]
_CLAIM: Final = len(OVER) + 2
"""The number of the claim's event, after the end that follows from the resignation."""
RULED: Final[Turns] = [
    *CLAIMED,
    (ARBITER, GiveRuling(claim=_CLAIM, upheld=True, text=TEXT, winners=(0,))),
]
SEALED: Final[Turns] = _gathering(*COMMITTED)
THREE: Final = challenge("halves", "-manual_start", *CLOCK, seats=(ALICE, BOB, CAROL))
ACCEPT: Final = AnswerOffer(accept=True)

STATES: Final[dict[str, Callable[[int], Turns]]] = {
    "not there": lambda _: [],
    "gathering": lambda _: _gathering(COMMITTED[0], Commitment()),
    "gathering texts": lambda _: _gathering_texts(),
    "sealed": lambda _: SEALED,
    "half revealed": lambda _: [*SEALED, (ALICE, RevealText(text=KEPT[0]))],
    "drawn": lambda _: [*SEALED, *zip((ALICE, BOB), map(RevealText, KEPT), strict=True)],
    "drawn at once": lambda _: [challenge("powerdrain")],
    "fresh": lambda _: FRESH,
    "invited": lambda _: [_invited(FRESH[0])],
    "invited, and one has moved": lambda _: [_invited(FRESH[0]), *alternating("m13-j7")],
    "invited, and declined": lambda _: [_invited(FRESH[0]), (BOB, DeclineMatch())],
    "invited to a deal": lambda _: [_invited(_gathering(COMMITTED[0], Commitment())[0])],
    "invited to a server's deal": lambda _: [
        _invited(_gathering(COMMITTED[0], Commitment())[0], server_deals=True)
    ],
    "sealed, and the server may deal": lambda _: [*SEALED, (ALICE, MakeOffer(kind="deal"))],
    "without clocks": lambda _: [challenge("torere")],
    "running": lambda _: RUNNING,
    "offered": lambda _: [*RUNNING, (ALICE, MakeOffer(kind="draw"))],
    "paused": lambda _: [*RUNNING, (ALICE, MakeOffer(kind="pause")), (BOB, ACCEPT)],
    "on vacation": lambda now: [*RUNNING, (ALICE, StartVacation(until=now + 9 * DAY))],
    "one has left": lambda _: [THREE, (CAROL, ResignMatch())],
    "a puzzle": lambda _: [challenge("one", seats=(ALICE,))],
    "claimed": lambda _: CLAIMED,
    "ruled": lambda _: RULED,
    "appealed": lambda _: [*RULED, (BOB, MakeAppeal(claim=_CLAIM, text=TEXT))],
    "over": lambda _: OVER,
    "declined": lambda _: [*FRESH, (BOB, DeclineMatch())],
    "imported": lambda _: _imported(),
    "imported, and goes on": lambda _: [*_imported(), (ALICE, ACCEPT), (BOB, ACCEPT)],
}
"""The commands that lead to each state, by its name; the argument is the time of the first, ms."""


def _starts(_: MatchState, _now: int) -> Iterator[Command]:
    yield from (turn[1] for turn in (*FRESH, *SEALED, THREE))
    yield StartMatch(rules="nonsense/1", options=("-no",), seats=(ALICE, ALICE))


def _moves(state: MatchState, _: int) -> Iterator[Command]:
    texts = ["a1", "a1-a2", "done", "what is no move", "?" * 600]
    if state.started and not state.has_no_position:
        rules = rules_by_id(state.rules)
        texts += [rules.write(move) for move in list(rules.moves(position_of(state)))[:2]]
    for text in texts:
        yield from (PlayMove(text=text, ply=ply) for ply in (None, state.ply, 3, 99_999))


def _answers(_: MatchState, _now: int) -> Iterator[Command]:
    for accept in (True, False):
        yield from (AnswerOffer(accept=accept, text=text) for text in (b"", b"32", bytes(64)))
    for digest in (b"", b"short", *(one.digest for one in COMMITTED)):
        yield AnswerOffer(accept=True, commitment=Commitment(digest))
    yield AnswerOffer(accept=True, commitment=Commitment(TEXT, TEXT))


def _rulings(state: MatchState, _: int) -> Iterator[Command]:
    for claim in (None, _CLAIM, 99):
        ruling = GiveRuling(claim=claim, upheld=True, text=TEXT)
        yield from (ruling, replace(ruling, upheld=False), replace(ruling, text=b"short"))
        yield from (replace(ruling, annul=True), replace(ruling, winners=(9,)))
        for ply in (-1, 0, state.ply, 99):
            yield replace(ruling, back_to=ply, time=((0, DAY),))


def _imports(_: MatchState, _now: int) -> Iterator[Command]:
    command = _imported()[0][1]
    assert isinstance(command, ImportMatch)
    yield from (command, replace(command, rules="nonsense/1"), replace(command, next=None))


OF_TOURNAMENTS: Final[dict[type, Command]] = {
    commands.DraftTournament: commands.DraftTournament(
        terms=TournamentTerms("round-robin", "goliath/1", (), TimeControl(), 7)
    ),
    commands.OpenEntry: commands.OpenEntry(),
    commands.EnterTournament: commands.EnterTournament(rating=1500),
    commands.LeaveTournament: commands.LeaveTournament(),
    commands.StartTournament: commands.StartTournament(),
    commands.ReportResults: commands.ReportResults(reports=(MatchReport(0, 1, 9, "1-0"),)),
    commands.WithdrawPlayer: commands.WithdrawPlayer(account=ALICE, kind="silent", text=TEXT),
    commands.InvitePlayers: commands.InvitePlayers(accounts=(BOB, CAROL)),
    commands.NameTeam: commands.NameTeam(players=(ALICE, BOB)),
    commands.JoinTeam: commands.JoinTeam(captain=ALICE, rating=1500),
    commands.VolunteerAsSubstitute: commands.VolunteerAsSubstitute(rating=1500),
    commands.SubstituteInTournament: commands.SubstituteInTournament(
        account=ALICE, substitute=CAROL, text=TEXT
    ),
    commands.ConfirmPlaces: commands.ConfirmPlaces(),
    commands.AppointDirectors: commands.AppointDirectors(accounts=(BOB,)),
    commands.AdjudicateMatches: commands.AdjudicateMatches(
        results=(AdjudicatedPairing(0, "1/2"),), text=bytes(32)
    ),
    commands.EndRound: commands.EndRound(stage=1),
    commands.PairRound: commands.PairRound(stage=1),
    commands.ChallengeOnLadder: commands.ChallengeOnLadder(player=0),
    commands.DropSilent: commands.DropSilent(),
    commands.EndLadder: commands.EndLadder(),
    commands.CancelTournament: commands.CancelTournament(),
}


def _of_tournaments(command: Command) -> Callable[[MatchState, int], Iterator[Command]]:
    """A command of tournaments, which no match obeys; where there is no match it is a tournament's."""
    return lambda state, _: iter([command] if state.started else [])


EXAMPLES: Final[dict[type, Callable[[MatchState, int], Iterator[Command]]]] = {
    StartMatch: _starts,
    PlayMove: _moves,
    MakeOffer: lambda *_: map(MakeOffer, (*OFFER_KINDS, "count", "nonsense", "?", "x" * 300)),
    AnswerOffer: _answers,
    RevealText: lambda *_: map(RevealText, (b"", b"32", *KEPT, bytes(64), bytes(65))),
    ResignMatch: lambda *_: iter((ResignMatch(),)),
    DeclineMatch: lambda *_: iter((DeclineMatch(),)),
    ResumeMatch: lambda *_: iter((ResumeMatch(),)),
    StartVacation: lambda _, now: map(StartVacation, (-1, 0, now, now + DAY, 1 << 60)),
    EndVacation: lambda _, now: map(EndVacation, (-1, 0, now, now + DAY, 1 << 60)),
    RemindPlayer: lambda state, _: map(RemindPlayer, (None, state.ply, 3, 99_999)),
    FlagPlayer: lambda state, _: map(FlagPlayer, (None, state.ply, 3, 99_999)),
    MakeClaim: lambda state, _: (
        MakeClaim(ply=ply, text=text) for ply in (-1, 0, state.ply, 99) for text in (TEXT, b"t")
    ),
    GiveRuling: _rulings,
    MakeAppeal: lambda *_: (MakeAppeal(claim=claim, text=TEXT) for claim in (_CLAIM, 1, 99)),
    ImportMatch: _imports,
    SubstitutePlayer: lambda *_: (
        SubstitutePlayer(seat=seat, account=account)
        for seat in (-1, 0, 1, 9)
        for account in (ALICE, STRANGER)
    ),
    **{kind: _of_tournaments(command) for kind, command in OF_TOURNAMENTS.items()},
}
"""Some commands of each kind, for a state and a time in ms."""

KINDS: Final = get_args(Command)
SENDERS: Final = (ALICE, BOB, CAROL, STRANGER, ARBITER, OTHER_ARBITER, SERVER_ACCOUNT)


def every_command(state: MatchState, now: int, *kinds: type) -> Iterator[Turn]:
    """Commands of these kinds, all by default, from everybody: some make sense in some state, some in none."""
    for kind in kinds or KINDS:
        for command in EXAMPLES[kind](state, now):
            yield from ((sender, command) for sender in SENDERS)
