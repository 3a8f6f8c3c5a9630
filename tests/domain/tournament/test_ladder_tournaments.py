"""Ladders from their start to confirmed places: challenges, places, silence, leavers, and what is forgotten."""

import random
from collections import Counter

import msgspec
import pytest

from domain import aggregates
from domain.clocks.time_control import DAY
from domain.errors import Code
from domain.records import SERVER_ACCOUNT
from domain.tournament import commands, events
from domain.tournament.form_terms import LadderTerms
from domain.tournament.forms import form_of
from domain.tournament.ladder import LadderMatch, after_win, why_not
from domain.tournament.state import AdjudicatedPairing, MatchReport, Pairing, Phase
from tests.domain.tournament.plain_model import LETTERS, PlainLadder
from tests.helpers.tournaments import ORGANISER, PLAYERS, Tournament

LADDER = {"form": "ladder", "section": 0, "capacity": 0, "when_full": False}
REASONS = bytes(32)


def ladder(players=4, **rules):
    """A ladder that runs; player 0 is first, who was rated highest."""
    found = Tournament()
    found.draft(**LADDER, ladder=LadderTerms(**rules))
    found.enter(players)
    found.do(ORGANISER, commands.StartTournament())
    return found


def account(found, number):
    return found.state.entrants[number].account


def challenge(found, below, above):
    """Challenge, and return the number of the pairing."""
    found.do(account(found, below), commands.ChallengeOnLadder(player=above))
    return found.state.count - 1


def refused(found, below, above):
    return found.refuses(account(found, below), commands.ChallengeOnLadder(player=above))


def order(found):
    return list(found.state.ladder.order)


def table(found):
    form = form_of(found.state.terms)
    (section,) = form.tables(found.state)
    return form.table(section, found.state, found.state.terms)


def test_one_who_waited_for_room_at_the_start_can_enter_once_there_is_room():
    found = Tournament()
    found.draft(**(LADDER | {"capacity": 2}), ladder=LadderTerms())
    found.enter(3)
    found.do(ORGANISER, commands.StartTournament())
    waiting = PLAYERS[2]
    full = found.refuses(waiting, commands.EnterTournament(rating=1500))
    assert full == (Code.TOO_MANY, "the ladder has no room for another player")
    found.do(account(found, 0), commands.LeaveTournament())
    found.do(waiting, commands.EnterTournament(rating=1500))
    assert [account(found, one) for one in order(found)] == [PLAYERS[0], waiting]
    found.holds()


def test_the_table_has_places_points_and_cells():
    found = ladder(3)
    first = challenge(found, 2, 1)
    found.report("0-1", first=first)
    challenge(found, 2, 0)
    lines = table(found).lines
    assert [(one.player, one.place, one.points, one.left) for one in lines] == [
        (0, 1, 0, 1),
        (2, 2, 1, 1),
        (1, 3, 0, 0),
    ]
    assert [(one.pairing, one.other, one.half) for one in lines[1].cells] == [
        (0, 1, "1"),
        (1, 0, ""),
    ]


def test_a_leaver_may_come_back_after_their_matches():
    """Where all are then, and who may enter, is as the plain ladder has it."""
    found = ladder(3)
    number, leaver, again = (
        challenge(found, 2, 1),
        account(found, 1),
        commands.EnterTournament(rating=1_500),
    )
    assert found.refuses(leaver, again) == (Code.ALREADY_ENTERED, "you have already entered")
    assert found.refuses(ORGANISER, commands.LeaveTournament(account=leaver))[0] is Code.TOO_LATE
    found.do(leaver, commands.LeaveTournament())
    assert found.refuses(leaver, again)[0] is Code.TOO_EARLY
    gone = Code.NOT_ENTERED, "there is no such entry"
    assert found.refuses(leaver, commands.LeaveTournament()) == gone
    found.report("0-1", first=number)
    found.do(leaver, again)
    assert order(found) == [0, 2, 1]
    assert len(found.state.entrants) == 3
    found.holds()


def test_nobody_who_plays_on_it_rules_over_a_ladder():
    found = ladder(3)
    found.do(ORGANISER, commands.EnterTournament(rating=1_000))
    command = commands.WithdrawPlayer(account=account(found, 0), kind="silent", text=REASONS)
    assert found.refuses(ORGANISER, command)[0] is Code.AGAINST_TERMS
    number = challenge(found, 1, 0)
    judged = commands.AdjudicateMatches(results=(AdjudicatedPairing(number, "0-1"),), text=REASONS)
    assert found.refuses(ORGANISER, judged)[0] is Code.AGAINST_TERMS


def due(found):
    return aggregates.next_due(found.state)


def test_the_silent_drop_at_midnight_but_not_who_is_first_or_plays():
    found = ladder(5, silence=30, drop=2)
    challenge(found, 2, 1)
    at = due(found)
    assert at % DAY == 0
    assert 0 <= at - (found.state.ladder.players[3].seen + 30 * DAY) < DAY
    assert found.refuses(SERVER_ACCOUNT, commands.DropSilent())[0] is Code.TOO_EARLY
    found.wait(31)
    assert found.refuses(PLAYERS[0], commands.DropSilent())[0] is Code.NOT_ALLOWED
    assert aggregates.due_command(found.state, at, spare_robots=False) == commands.DropSilent()
    assert found.do(SERVER_ACCOUNT, commands.DropSilent()) == [events.SilentDropped(players=(3, 4))]
    assert order(found) == [0, 1, 2, 3, 4]
    assert due(found) > at
    found.report("1/2")
    found.do(PLAYERS[5], commands.EnterTournament(rating=1))
    found.wait(25)
    number = challenge(found, 5, 4)
    found.wait(6)
    assert found.do(SERVER_ACCOUNT, commands.DropSilent()) == [
        events.SilentDropped(players=(1, 2, 3))
    ]
    assert order(found) == [0, 4, 5, 1, 2, 3]
    assert found.state.ladder.players[1].change == -2
    found.report("0-1", first=number)
    found.holds()


def test_its_organiser_ends_it_and_it_is_over_with_its_last_match():
    found = ladder(3)
    number = challenge(found, 2, 0)
    assert found.refuses(PLAYERS[0], commands.EndLadder())[0] is Code.NOT_AN_ORGANISER
    assert found.do(ORGANISER, commands.EndLadder()) == [events.LadderEnded()]
    ended = (Code.TOO_LATE, "the ladder has been ended")
    assert refused(found, 1, 0) == ended
    assert found.refuses(ORGANISER, commands.EndLadder()) == ended
    assert found.refuses(PLAYERS[9], commands.EnterTournament(rating=1)) == ended
    assert found.refuses(SERVER_ACCOUNT, commands.DropSilent()) == ended
    assert due(found) == 0
    assert found.refuses(ORGANISER, commands.ConfirmPlaces())[0] is Code.TOO_EARLY
    assert found.report("0-1", first=number)[1:] == [events.TournamentFinished()]
    assert order(found) == [2, 0, 1]
    # a ruling sets the match back, and it ends once more
    found.report("", first=number, seq=10)
    assert found.state.phase is Phase.RUNNING
    assert found.report("1-0", first=number, seq=11)[1:] == [events.TournamentFinished()]
    found.do(ORGANISER, commands.ConfirmPlaces())
    assert [tuple(one) for one in map(msgspec.structs.astuple, found.state.places[0])] == [
        (2, 1, 0),
        (0, 2, 100),
        (1, 3, 0),
    ]
    found.holds()


def test_matches_of_long_ago_are_forgotten_and_their_points_are_not():
    found = ladder(4, rest=40)
    old, runs = challenge(found, 1, 0), challenge(found, 3, 2)
    found.report("0-1", first=old)
    found.wait(39)
    challenge(found, 3, 0)
    assert [number for number, _ in found.state.pairings] == [old, runs, 2]
    assert refused(found, 0, 1)[1].endswith("the next is possible in 1 day")
    found.wait(1)
    challenge(found, 2, 0)
    assert [number for number, _ in found.state.pairings] == [runs, 2, 3]
    assert old not in found.state.reports
    assert old not in found.state.ladder.ended
    assert found.state.count == 4
    assert found.state.left == 3
    assert found.state.ladder.players[1].won == 1
    before = found.state
    # what a ruling makes of it now is in the log, and changes nothing
    done = found.report("1-0", first=old, seq=12)
    assert done == [events.ResultsCounted(reports=(MatchReport(old, 100, 12, "1-0"),))]
    assert (found.state.ladder, found.state.reports) == (before.ladder, before.reports)
    assert found.state.left == 3
    found.holds()


def test_an_adjudicated_match_is_kept_until_it_has_ended_itself():
    found = ladder(3, rest=0)
    number = challenge(found, 1, 0)
    judged = commands.AdjudicateMatches(results=(AdjudicatedPairing(number, "1/2"),), text=REASONS)
    found.do(ORGANISER, judged)
    found.wait(100)
    challenge(found, 1, 0)
    assert number in dict(found.state.pairings)
    found.report("1/2", first=number)
    challenge(found, 2, 0)
    assert number not in dict(found.state.pairings)
    assert found.state.adjudicated == {}
    found.holds()


def test_its_commands_are_for_ladders_alone_and_it_pairs_no_round():
    found = Tournament()
    found.draft()
    found.enter(3)
    refusal = (Code.NOT_ALLOWED, "this tournament isn't a ladder")
    assert found.refuses(PLAYERS[0], commands.ChallengeOnLadder(player=1)) == refusal
    assert found.refuses(ORGANISER, commands.EndLadder()) == refusal
    assert found.refuses(SERVER_ACCOUNT, commands.DropSilent()) == refusal
    assert ladder(2).refuses(SERVER_ACCOUNT, commands.PairRound(stage=1))[0] is Code.NOT_ALLOWED
    late = Tournament()
    late.draft(**LADDER, ladder=LadderTerms())
    late.enter(2)
    assert late.refuses(PLAYERS[0], commands.ChallengeOnLadder(player=1))[0] is Code.NOT_STARTED


def test_a_forged_challenge_is_found():
    found = ladder(4, reach=1)
    challenge(found, 1, 0)
    forged = events.SectionPaired(players=(3, 0), pairings=(Pairing(1, 0, 3),))
    with pytest.raises(Exception, match="the rules give"):
        aggregates.verify(found.number, found.forged(found.state.seq, body=forged))


RULES = {
    "reach": [1, 2, 5],
    "running": [1, 2, 3],
    "rest": [0, 3, 45],
    "insertion": [True, False],
    "silence": [7, 20],
    "drop": [0, 1, 4],
}


class BothLadders:
    """A ladder and a plain one, which take the same random steps."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        rules = {name: self.chance.choice(some) for name, some in RULES.items()}
        count = self.chance.randrange(2, 9)
        self.found = ladder(count, **rules)
        names = [account(self.found, one) for one in range(count)]
        self.plain = PlainLadder(names, rules, self.now)
        self.seqs = Counter()

    @property
    def now(self):
        return self.found.seconds

    def accepts(self, actor, command):
        return isinstance(self.found.decided(actor, command), aggregates.Decision)

    def anybody(self):
        return self.chance.choice(PLAYERS[:12])

    def challenge(self):
        order, below = self.plain.order, self.anybody()
        above = self.chance.choice(order)
        if self.chance.random() < 0.8:
            below = self.chance.choice(order)
            above = order[max(0, order.index(below) - self.chance.randint(1, 3))]
        command = commands.ChallengeOnLadder(player=self.found.state.number_of(above))
        assert self.accepts(below, command) == self.plain.may_challenge(below, above, self.now)
        if self.found.state.count > len(self.plain.games):
            self.plain.challenge(below, above)

    def result(self, *, again=False):
        """Report a result of a match that runs, or again of one that is over and not forgotten."""
        held = dict(self.found.state.pairings)
        games = enumerate(self.plain.games)
        some = [n for n, g in games if n in held and not g["void"] and g["live"] != again]
        if not some:
            return
        number, results = self.chance.choice(some), [*LETTERS, *([""] if again else [])]
        result = self.chance.choice(results)
        self.seqs[number] += 1
        self.found.report(result, first=number, seq=self.seqs[number])
        self.plain.result(number, result, self.now)

    def correct(self):
        self.result(again=True)

    def wait(self):
        self.found.wait(self.chance.choice([1, 2, 5, 10, 40]))

    def enter(self):
        player = self.anybody()
        accepted = self.accepts(player, commands.EnterTournament(rating=1_000))
        assert accepted == self.plain.enter(player, self.now)

    def leave(self):
        player = self.anybody()
        if player in self.plain.order[1:]:
            self.found.do(player, commands.LeaveTournament())
            self.plain.leave(player)

    def take_out(self):
        player = self.anybody()
        if player in self.plain.order[1:]:
            command = commands.WithdrawPlayer(account=player, kind="silent", text=REASONS)
            self.found.do(ORGANISER, command)
            self.plain.take_out(player, self.now)

    def drop(self):
        accepted = self.accepts(SERVER_ACCOUNT, commands.DropSilent())
        assert accepted == bool(self.plain.drop_silent(self.now))

    def agree(self):
        """Assert that order, running matches and records are the same."""
        names = [account(self.found, one) for one in order(self.found)]
        assert names == self.plain.order
        assert self.found.state.left == len([game for game in self.plain.games if game["live"]])
        for number, one in enumerate(self.found.state.ladder.players):
            record = self.plain.record(account(self.found, number))
            assert (one.won, one.drawn, one.lost) == record


STEPS = {
    BothLadders.challenge: 30,
    BothLadders.result: 22,
    BothLadders.wait: 10,
    BothLadders.enter: 6,
    BothLadders.drop: 6,
    BothLadders.correct: 4,
    BothLadders.leave: 2,
    BothLadders.take_out: 1,
}


def play_both(seed):
    """Take 60 random steps, and compare after each; return how many challenges and drops there were."""
    both = BothLadders(seed)
    for _ in range(60):
        (step,) = both.chance.choices([*STEPS], [*STEPS.values()])
        step(both)
        both.agree()
    both.found.do(ORGANISER, commands.EndLadder())
    both.found.holds()
    drops = sum(isinstance(one, events.SilentDropped) for one in both.found.bodies)
    return Counter(challenges=both.found.state.count, drops=drops)


def test_random_ladders_are_as_the_plain_ones():
    taken = sum(map(play_both, range(50)), Counter())
    assert taken["challenges"] > 250
    assert taken["drops"] > 50


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_random_ladders_are_as_the_plain_ones(part):
    taken = sum((play_both(1_000 + 100 * part + seed) for seed in range(100)), Counter())
    assert taken["challenges"] > 600


# --- a ladder says why somebody can't be challenged, and who stands where after wins a


LADDER_RULES = LadderTerms(reach=2, running=2, rest=7, insertion=True, silence=30, drop=2)
ORDER = [5, 3, 8, 1, 7, 2]
NOW = 1_000 * DAY
RECENT = "the last match of these two is too recent; the next is possible in "


@pytest.mark.parametrize(
    ("challenger", "challenged", "ended", "said"),
    [
        (3, 3, None, "nobody can challenge themselves"),
        (3, 9, None, "only players of the ladder can challenge and be challenged"),
        (3, 8, None, "only players above can be challenged"),
        (1, 5, None, "only players up to 2 places above can be challenged, and this is 3 places above"),
        (3, 5, NOW, f"{RECENT}7 days"),
        (3, 5, NOW - 1, f"{RECENT}7 days"),
        (3, 5, NOW - DAY, f"{RECENT}6 days"),
        (3, 5, NOW - 7 * DAY + 1, f"{RECENT}1 day"),
        (3, 5, NOW - 7 * DAY, "None"),
        (8, 5, None, "None"),
    ],
)  # fmt: skip
def test_who_may_be_challenged_and_when_again(challenger, challenged, ended, said):
    older = LadderMatch(3, 5, ended=NOW - 40 * DAY)
    for pair in ((challenger, challenged), (challenged, challenger)):
        matches = [older] if ended is None else [LadderMatch(*pair, ended=ended), older]
        assert str(why_not(LADDER_RULES, ORDER, matches, challenger, challenged, NOW)) == said


@pytest.mark.parametrize("insertion", [True, False])
def test_a_win_changes_nothing_for_one_who_is_above_by_then_or_has_left(insertion):
    assert after_win(ORDER, 5, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 9, 1, insertion=insertion) == ORDER
    assert after_win(ORDER, 1, 9, insertion=insertion) == ORDER
