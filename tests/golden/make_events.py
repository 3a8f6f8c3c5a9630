"""Record the bytes of whole matches and tournaments in which every kind of event happens.

`python -m tests.golden.make_events` adds to `events-2.json` the matches and tournaments that it does not hold yet.
What is recorded is kept as it is: these bytes are hashed for ever. An event whose bytes have changed
gets a field at its end with a default, and a match here in which it has one; `events-1.json` holds
the bytes of an earlier form, which are read like these.
"""

import json
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from unittest import mock

from msgspec.structs import replace

from domain.clocks.time_control import DAY
from domain.fairness import Commitment
from domain.match import commands
from domain.match.conditional_moves import ConditionalMove
from domain.match.events import MatchSource
from domain.match.imports import import_command
from domain.records import SERVER_ACCOUNT
from domain.tournament import parts
from domain.tournament.commands import (
    AdjudicateMatches,
    AppointDirectors,
    CancelTournament,
    ChallengeOnLadder,
    ConfirmPlaces,
    DraftTournament,
    DropSilent,
    EndLadder,
    EndRound,
    EnterTournament,
    InvitePlayers,
    JoinTeam,
    LeaveTournament,
    NameTeam,
    PairRound,
    StartTournament,
    SubstituteInTournament,
    VolunteerAsSubstitute,
    WithdrawPlayer,
)
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import (
    KnockoutTerms,
    LadderTerms,
    LeagueTerms,
    SwissTerms,
    TeamTerms,
)
from domain.tournament.state import AdjudicatedPairing, Pairing
from tests.helpers.given import ALICE, BOB, CAROL, Match, challenge, pow2
from tests.helpers.tournaments import OF_THREES, ORGANISER, PLAYERS, Tournament, terms_of_three

FILE = Path(__file__).parent / "events-2.json"

BEGIN = 1_790_000_000_000
"""In September 2026, ms: as long as the times of real events."""


def plain():
    """The match of `events-1.json`."""
    return Match(
        pow2("-fast"),
        (ALICE, commands.PlayMove(text="i5-g4:g5")),
        (BOB, commands.PlayMove(text="a13-c11")),
        (ALICE, commands.MakeOffer(kind="draw")),
        (BOB, commands.AnswerOffer(accept=False)),
        (BOB, commands.ResignMatch()),
    )


def timed():
    """Two with clocks: a conditional move, a reminder, a pause, a vacation, an undo, a flag."""
    match = Match()
    match.do(*challenge("pow2", "-exact", "--bank=10+1", "--weekends=off", "--unrated"), BEGIN)
    match.lay(1, ConditionalMove(1, None, "a13-c11"))
    match.do(ALICE, commands.PlayMove(text="m13-m9"), BEGIN + DAY)
    match.do(SERVER_ACCOUNT, commands.RemindPlayer(ply=2), BEGIN + 13 * DAY)
    match.do(ALICE, commands.MakeOffer(kind="pause"), BEGIN + 13 * DAY)
    match.do(BOB, commands.AnswerOffer(accept=True), BEGIN + 13 * DAY + 1)
    match.do(BOB, commands.ResumeMatch(), BEGIN + 20 * DAY)
    match.do(ALICE, commands.StartVacation(until=BEGIN + 29 * DAY), BEGIN + 20 * DAY)
    match.do(ALICE, commands.EndVacation(until=BEGIN + 23 * DAY), BEGIN + 22 * DAY)
    match.do(BOB, commands.MakeOffer(kind="undo"), BEGIN + 22 * DAY)
    match.do(ALICE, commands.AnswerOffer(accept=True), BEGIN + 22 * DAY)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=1), BEGIN + 60 * DAY)
    return match


def gathered():
    """Two who give entropy for the draw, with clocks; then one declines."""
    alice, start = challenge("powerdrain", "-p", "--days=3", "--nagtime=1")
    match = Match()
    match.do(alice, replace(start, gather=True, text=b"a text of the challenger"), BEGIN)
    match.do(BOB, commands.AnswerOffer(accept=True, text=b"a text of the other"), BEGIN + 1)
    match.do(BOB, commands.DeclineMatch(), BEGIN + 2)
    return match


def three():
    """Three, in their second turns; the players place the tiles."""
    match = Match()
    start = challenge("halves", "-manual_start", "--days=3", seats=(ALICE, BOB, CAROL))
    match.do(*start, BEGIN)
    match.play("1", "2", "3", "4", at=BEGIN)
    return match


def flagged():
    """Three, of whom one's flag falls and then one resigns."""
    match = three()
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=4), BEGIN + 3 * DAY)
    match.do(CAROL, commands.ResignMatch(), BEGIN + 4 * DAY)
    return match


def resigned():
    """Three, of whom one resigns and then one's flag falls."""
    match = three()
    match.do(ALICE, commands.ResignMatch(), BEGIN + DAY)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=4), BEGIN + 3 * DAY)
    return match


OWN = (b"a text of alice's that nobody can guess", b"a text of bob's that nobody can guess")
KEPT = bytes(range(32))
WORD = sha256(b"a word of bob's").digest()


def called(*commitments, **more):
    """A challenge whose players commit first."""
    alice, start = challenge("powerdrain", "-p", "--days=3")
    return alice, replace(start, gather=True, commitments=commitments, **more)


def committed():
    """Two who commit, and reveal their own texts; one is on vacation before that."""
    match = Match()
    match.do(*called(Commitment(sha256(OWN[0]).digest()), Commitment()), BEGIN)
    match.do(BOB, commands.StartVacation(until=BEGIN + 2 * DAY), BEGIN)
    match.do(
        BOB,
        commands.AnswerOffer(accept=True, commitment=Commitment(sha256(OWN[1]).digest())),
        BEGIN + DAY,
    )
    match.do(BOB, commands.RevealText(text=OWN[1]), BEGIN + DAY + 1)
    match.do(ALICE, commands.RevealText(text=OWN[0]), BEGIN + DAY + 2)
    return match


def kept_text():
    """Two who commit, of whom the server keeps one's text; who is to reveal does not."""
    match = Match()
    match.kept = {1: KEPT}
    match.do(*called(Commitment(sha256(OWN[0]).digest()), Commitment()), BEGIN)
    other = Commitment(sha256(KEPT + WORD).digest(), WORD)
    match.do(BOB, commands.AnswerOffer(accept=True, commitment=other), BEGIN + 1)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=0), BEGIN + 1 + 3 * DAY)
    return match


ARBITER, OTHER_ARBITER = bytes.fromhex("a1" * 8), bytes.fromhex("a2" * 8)


def digest(text):
    """A salted text as it is in an event."""
    return sha256(bytes(16) + text.encode()).digest()


def disputed():
    """Three: two left, so that it was over; a claim, a ruling, an appeal, another ruling; annulled."""
    match = flagged()
    match.do(BOB, commands.MakeClaim(ply=4, text=digest("the server was away")), BEGIN + 5 * DAY)
    ruling = commands.GiveRuling(
        claim=9, upheld=True, text=digest("it was"), back_to=4, time=((1, DAY),)
    )
    match.do(ARBITER, ruling, BEGIN + 6 * DAY)
    match.do(ALICE, commands.MakeAppeal(claim=9, text=digest("not for me")), BEGIN + 7 * DAY)
    again = commands.GiveRuling(claim=9, upheld=False, text=digest("no matter"))
    match.do(OTHER_ARBITER, again, BEGIN + 8 * DAY)
    own = commands.GiveRuling(claim=None, upheld=True, text=digest("nobody plays"), annul=True)
    match.do(ARBITER, own, BEGIN + 9 * DAY)
    return match


def imported():
    """The timed match goes on elsewhere, as it stood when its players transferred it."""
    source = Match()
    source.do(*challenge("pow2", "-exact", "--bank=10+1", "--weekends=off"), BEGIN)
    source.play("m13-m9", "a13-c11", at=BEGIN + DAY)
    more = commands.GiveRuling(
        claim=None, upheld=True, text=digest("it was away"), time=((1, DAY),)
    )
    source.do(ARBITER, more, BEGIN + DAY)
    source.do(ALICE, commands.MakeOffer(kind="transfer"), BEGIN + 2 * DAY)
    source.do(BOB, commands.AnswerOffer(accept=True), BEGIN + 2 * DAY)
    origin = MatchSource("record", "", source.board, b"", 0, bytes(range(32)))
    here = Match(board=2)
    here.do(SERVER_ACCOUNT, import_command(source.state, (BOB, CAROL), origin), BEGIN + 3 * DAY)
    here.do(BOB, commands.AnswerOffer(accept=True), BEGIN + 4 * DAY)
    here.do(CAROL, commands.AnswerOffer(accept=True), BEGIN + 5 * DAY)
    here.play("m9-m13", "a1-a5", at=BEGIN + 6 * DAY)
    return here


LAPSE = 14 * DAY


def proposed():
    """Two by name, with a draw of the challenger's alone, and then the other accepts."""
    alice, start = challenge("powerdrain", "-p", "--days=3")
    match = Match()
    match.do(alice, replace(start, text=b"a text of the challenger", lapse=LAPSE), BEGIN)
    match.do(BOB, commands.AnswerOffer(accept=True), BEGIN + 5 * DAY)
    match.do(BOB, commands.ResignMatch(), BEGIN + 6 * DAY)
    return match


def invited():
    """Three by name: the challenger moves, one accepts, one moves."""
    words = "-manual_start", "--days=3", "--nagtime=1"
    alice, start = challenge("halves", *words, seats=(ALICE, BOB, CAROL))
    match = Match()
    match.do(alice, replace(start, lapse=LAPSE), BEGIN)
    match.play("1", at=BEGIN + 1)
    match.do(CAROL, commands.AnswerOffer(accept=True), BEGIN + DAY)
    match.play("2", "3", "4", at=BEGIN + 2 * DAY)
    return match


def lapsed():
    """Two by name, of whom one never answered."""
    alice, start = challenge("pow2", "--days=3")
    match = Match()
    match.do(alice, replace(start, lapse=LAPSE), BEGIN)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=0), BEGIN + LAPSE)
    return match


def dealt():
    """Two by name, for whom the server deals as soon as the other accepts."""
    match = Match()
    match.kept = {0: KEPT, 1: KEPT}
    own = Commitment(sha256(KEPT).digest())
    match.do(*called(own, Commitment(), lapse=LAPSE, server_deals=True), BEGIN)
    match.do(BOB, commands.AnswerOffer(accept=True, commitment=own), BEGIN + DAY)
    return match


def agreed():
    """Two by name with a sealed deal, who agree that the server deals without one's text."""
    match = Match()
    own = [Commitment(sha256(text).digest()) for text in OWN]
    match.do(*called(own[0], Commitment(), lapse=LAPSE), BEGIN)
    match.do(BOB, commands.AnswerOffer(accept=True, commitment=own[1]), BEGIN + DAY)
    match.do(ALICE, commands.RevealText(text=OWN[0]), BEGIN + DAY + 1)
    match.do(BOB, commands.MakeOffer(kind="deal"), BEGIN + DAY + 2)
    match.do(ALICE, commands.AnswerOffer(accept=True), BEGIN + DAY + 3)
    return match


def paired():
    """A match of a tournament, set up by chance; one resigns."""
    _, start = challenge("powerdrain", "-p", "--days=3")
    match = Match()
    match.do(SERVER_ACCOUNT, replace(start, pairing=(7, 2)), BEGIN)
    match.do(BOB, commands.ResignMatch(), BEGIN + DAY)
    return match


def tournament():
    """A tournament from its draft to its places, of which one player leaves, and whose last result is corrected."""
    found = Tournament()
    found.draft()
    found.enter(2)
    found.do(PLAYERS[1], LeaveTournament())
    found.do(PLAYERS[3], EnterTournament(rating=1700))
    found.do(PLAYERS[2], EnterTournament(rating=1600))
    found.report("1-0", "1/2", "+-")
    found.report("", first=2, seq=10)
    found.report("0-1", first=2, seq=11)
    found.do(ORGANISER, ConfirmPlaces())
    return found


def cancelled():
    """A tournament that its organiser cancels."""
    found = Tournament()
    found.draft(when_full=False, starts=BEGIN + 400 * DAY, club="club", robots=True)
    found.do(ORGANISER, EnterTournament(rating=1400, account=PLAYERS[4]), CancelTournament())
    return found


def left():
    """A tournament of which one player leaves with a word, and one without."""
    found = Tournament()
    found.draft()
    found.enter(3)
    found.report("1-0")
    for player, kind in ((PLAYERS[0], "accepted"), (PLAYERS[1], "silent")):
        found.do(ORGANISER, WithdrawPlayer(account=player, kind=kind, text=digest("gone")))
    return found


def knockout():
    """A knockout of four: a drawn tie, more matches, a round that ends by date, and a match that a director adjudicates."""
    found = Tournament()
    ties = KnockoutTerms(1, third_place=True)
    found.draft(form="knockout", section=0, capacity=0, when_full=False, days=20, knockout=ties)
    found.enter(4)
    found.do(ORGANISER, AppointDirectors(accounts=(PLAYERS[7],)), StartTournament())
    found.report("1-0", "1/2")
    found.do(SERVER_ACCOUNT, EndRound(stage=1))
    given = AdjudicateMatches(results=(AdjudicatedPairing(3, "0-1"),), text=digest("far ahead"))
    found.do(PLAYERS[7], given)
    found.report("1/2", first=4)
    found.report("1-0", first=5)
    found.do(PLAYERS[7], ConfirmPlaces())
    return found


def ladder():
    """A ladder: a challenge that is won, a newcomer, a leaver, players who drop for silence, and its end."""
    found = Tournament()
    found.draft(form="ladder", section=0, capacity=0, when_full=False, ladder=LadderTerms())
    found.enter(3)
    found.do(ORGANISER, StartTournament())
    found.do(PLAYERS[0], ChallengeOnLadder(player=1))
    found.report("0-1")
    found.do(PLAYERS[3], EnterTournament(rating=1_400))
    found.do(PLAYERS[1], LeaveTournament())
    found.wait(60)
    found.do(SERVER_ACCOUNT, DropSilent())
    found.do(ORGANISER, EndLadder(), ConfirmPlaces())
    return found


def league():
    """A league of two seasons: one leaves after the first, another comes back, and a third enters while it runs."""
    found = Tournament()
    rules = LeagueTerms(size=3, up=1, down=1, seasons=2)
    found.draft(form="league", section=0, capacity=0, when_full=False, days=30, league=rules)
    found.enter(6)
    found.do(ORGANISER, StartTournament())
    found.report("1-0", "1/2", "0-1", "1-0")
    found.do(PLAYERS[0], LeaveTournament())
    found.do(PLAYERS[1], LeaveTournament(), EnterTournament(rating=1600))
    found.do(PLAYERS[6], EnterTournament(rating=1700))
    found.do(SERVER_ACCOUNT, PairRound(stage=2))
    found.report(*["1-0"] * 8, first=4)
    found.do(ORGANISER, ConfirmPlaces())
    return found


def taken_over():
    """A match of a tournament in which a substitute takes over the seat to move."""
    _, start = challenge("pow2", "-fast", "--days=3")
    match = Match()
    match.do(SERVER_ACCOUNT, replace(start, pairing=(7, 2)), BEGIN)
    match.do(ALICE, commands.PlayMove(text="i5-g4:g5"), BEGIN + DAY)
    match.do(SERVER_ACCOUNT, commands.SubstitutePlayer(seat=1, account=CAROL), BEGIN + 2 * DAY)
    match.do(CAROL, commands.PlayMove(text="a13-c11"), BEGIN + 3 * DAY)
    return match


def substituted():
    """A tournament in which a volunteer takes over a place, and one takes the offer back."""
    found = Tournament()
    found.draft(when_full=False)
    found.enter(4)
    found.do(ORGANISER, StartTournament())
    found.do(PLAYERS[5], VolunteerAsSubstitute(rating=1650))
    waiting = found.state.volunteers[0].account
    found.do(waiting, LeaveTournament())
    left = found.state.entrants[0].account
    found.do(
        ORGANISER, SubstituteInTournament(account=left, substitute=PLAYERS[5], text=digest("gone"))
    )
    return found


def begun_with():
    """A match of a tournament that begins with an opening; one of its own moves is lost on time."""
    _, start = challenge("pow2", "--bank=3+1")
    match = Match()
    given = replace(start, pairing=(7, 2), opening="m13-j7 a13-d7 m1-i3")
    match.do(SERVER_ACCOUNT, given, BEGIN)
    match.play("a1-a5", at=BEGIN + DAY)
    match.do(SERVER_ACCOUNT, commands.FlagPlayer(ply=4), BEGIN + 4 * DAY)
    return match


MATCHES = {
    "agreed": agreed, "dealt": dealt, "invited": invited, "lapsed": lapsed, "paired": paired,
    "taken over": taken_over, "proposed": proposed, "imported": imported, "committed": committed,
    "disputed": disputed, "kept": kept_text, "plain": plain, "timed": timed, "gathered": gathered,
    "flagged": flagged, "resigned": resigned, "with an opening": begun_with,
}  # fmt: skip


def swiss():
    """A Swiss tournament of five over three rounds: byes, a round that ends by date, and a player who leaves."""
    found = Tournament()
    terms = SwissTerms(3)
    found.draft(form="swiss", section=0, capacity=0, when_full=False, days=20, swiss=terms)
    found.enter(5)
    found.do(ORGANISER, StartTournament())
    rounds = (((0, 2), (3, 1)), 4), (((3, 0), (1, 4)), 2)
    for stage, (pairs, bye) in enumerate(rounds, 1):
        pairings = tuple(Pairing(stage, *pair) for pair in pairs)
        found.do(SERVER_ACCOUNT, PairRound(stage=stage, pairings=pairings, byes=(bye,)))
        found.report("1-0", first=2 * stage - 2)
        if stage == 1:
            found.do(SERVER_ACCOUNT, EndRound(stage=stage))
    gone = found.state.entrants[4].account
    left_by = WithdrawPlayer(account=gone, kind="accepted", text=digest("ill"))
    found.do(ORGANISER, left_by)
    pairings = (Pairing(3, 0, 1), Pairing(3, 2, 3))
    found.do(SERVER_ACCOUNT, PairRound(stage=3, pairings=pairings))
    found.report("1/2", "0-1", first=4)
    found.do(ORGANISER, ConfirmPlaces())
    return found


def teams():
    """Two teams of two: a captain names players again, one is out by that, and all play."""
    found = Tournament()
    rules = {"form": "teams", "section": 0, "capacity": 0, "when_full": False, "tiebreaks": ()}
    found.draft(**rules, teams=TeamTerms(2))
    for at in (0, 2):
        captain, *players = PLAYERS[at : at + 3]
        found.do(captain, NameTeam(players=(captain, *players)))
        for one in (captain, *players):
            if found.state.number_of(one) is None:
                found.do(one, JoinTeam(captain=captain, rating=1500 - at))
        found.do(captain, NameTeam(players=(captain, players[0])))
    found.do(ORGANISER, StartTournament())
    found.report("1-0", "1/2")
    found.do(ORGANISER, ConfirmPlaces())
    return found


def invited():
    """A tournament for invited players, with lots: one is invited no longer, and one is by the entry that is taken back."""
    found = Tournament()
    found.draft(seed_by_lot=True, entry=EntryTerms(invited=True, most_flags=20), by_code=True)
    found.do(ORGANISER, InvitePlayers(accounts=PLAYERS[:3]))
    found.enter(2)
    for one in PLAYERS[1:3]:
        found.do(ORGANISER, LeaveTournament(account=one))
    found.do(ORGANISER, EnterTournament(rating=1400))
    found.do(ORGANISER, InvitePlayers(accounts=PLAYERS[5:6]))
    found.do(PLAYERS[5], EnterTournament(rating=1350))
    return found


def thematic():
    """A thematic tournament that is only drafted."""
    found = Tournament()
    terms = terms_of_three(rules="pow2/1")
    found.do(ORGANISER, DraftTournament(terms=terms, opening="m13-j7 a13-d7 m1-i3"))
    return found


def threes():
    """Groups of three among four: one leaves, another goes to a substitute, and all else is played."""
    found = Tournament()
    found.draft(**OF_THREES | {"cycles": 4, "tiebreaks": ("direct",)})
    found.enter(4)
    found.do(ORGANISER, StartTournament())
    new, (gone, other, *_) = PLAYERS[9], found.state.entrants
    found.do(new, VolunteerAsSubstitute(rating=1300))
    taken = SubstituteInTournament(account=other.account, substitute=new, text=digest("ill"))
    left_by = WithdrawPlayer(account=gone.account, kind="silent", text=digest("gone"))
    found.do(ORGANISER, taken, left_by)
    for number, result in enumerate(("1-2-3", "1-2-2", "1-1-3", "1-1-1")):
        if number not in found.state.unfinished:
            found.report(result, first=number)
    found.do(ORGANISER, ConfirmPlaces())
    return found


def divided():
    """A tournament whose start, last round and places are in several events each, by the limits of `small_parts`."""
    found = Tournament()
    found.draft(when_full=False, capacity=0, days=5, tiebreaks=("wins", "lot"), seed_by_lot=True)
    found.enter(7)
    found.do(ORGANISER, StartTournament())
    found.wait(days=5)
    found.do(SERVER_ACCOUNT, EndRound(stage=1))
    found.do(ORGANISER, ConfirmPlaces())
    return found


@contextmanager
def small_parts():
    """Divide what is of few players as what is of many; events of thousands would be long here."""
    with (
        mock.patch.object(parts, "MOST_NUMBERED", 3),
        mock.patch.object(parts, "MOST_DRAWN", 4),
        mock.patch.object(parts, "MOST_PLACES", 4),
    ):
        yield


TOURNAMENTS = {
    "cancelled tournament": cancelled, "invited tournament": invited, "knockout": knockout, "ladder": ladder, "league": league,
    "left tournament": left, "substituted tournament": substituted, "swiss": swiss, "teams": teams,
    "threes": threes, "tournament": tournament, "thematic tournament": thematic,
    "divided tournament": divided,
}  # fmt: skip
ALL = MATCHES | TOURNAMENTS
IN_SMALL_PARTS = {"divided tournament"}


def made(name):
    """Return a match or a tournament, and the context in which it is decided again."""
    context = small_parts if name in IN_SMALL_PARTS else nullcontext
    with context():
        return ALL[name](), context


def record(kept):
    """Return what is recorded with the matches and tournaments that are new."""
    new = {name: [data.hex() for data in made(name)[0].events] for name in ALL}
    return new | kept


if __name__ == "__main__":
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    FILE.write_text(json.dumps(record(kept), indent=1) + "\n")
