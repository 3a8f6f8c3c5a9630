"""Matches of the demo server in which something happens: time runs out, moves are taken back, people argue."""

from typing import Final

from domain.clocks.calendar import DAY
from domain.match.commands import (
    AnswerOffer,
    DeclineMatch,
    FlagPlayer,
    MakeOffer,
    PlayMove,
    RemindPlayer,
)
from services.app.disputes import AppealAction, ClaimAction, RuleAction
from services.app.rulings import Verdict
from services.demo.match_plan import (
    HOUR,
    MINUTE,
    SERVER,
    MatchPlan,
    PlannedChat,
    PlannedStep,
    move_steps,
    other_move,
)
from services.demo.move_times import times_before
from services.demo.people import ARBITER, BY_NAME, SECOND_ARBITER
from services.demo.planner import Planner

_LATER: Final = 400
"""The time after which the scheduler notices that something is due, ms."""


def special_matches(planner: Planner) -> list[MatchPlan]:
    """Plan one match of each kind."""
    return [
        _lost_on_time(planner),
        _given_back(planner),
        _dismissed(planner),
        _open_claim(planner),
        _taken_back(planner),
        _agreed_draw(planner),
        _reminded(planner),
        _declined(planner),
    ]


def _lost_on_time(planner: Planner) -> MatchPlan:
    """Plan a match in which somebody has not come back."""
    game = planner.take_key("line", plies=16)
    plan = planner.running(game, ("ulla", "lucia"), 11, 26 * DAY, ("--days=3",))
    flagged = _last_move(plan) + 3 * DAY + _LATER
    plan.steps.append(PlannedStep(flagged, SERVER, FlagPlayer(ply=11)))
    return plan


def _given_back(planner: Planner) -> MatchPlan:
    """Plan a match lost on time that an arbiter has let go on, and that was then played to its end."""
    game = planner.take_key("goliath", plies=15)
    players, ply = ("jonas", "nadia"), 8
    planned = planner.running(game, players, ply, 61 * DAY, ("--days=3",))
    late = players[game.seats[ply]]
    other = next(name for name in players if name != late)
    flagged = _last_move(planned) + 3 * DAY + _LATER
    claimed, ruled = flagged + 5 * HOUR, flagged + 29 * HOUR
    left = game.seats[ply:]
    hours = [BY_NAME[players[seat]].hours for seat in left]
    times = times_before(planner.chance, ruled, hours, 6.0, DAY)
    shift = ruled + 2 * HOUR - times[0]
    planned.steps += [
        PlannedStep(flagged, SERVER, FlagPlayer(ply=ply)),
        PlannedStep(claimed, late, ClaimAction(ply, "A storm cut our line from Friday to Monday, as the provider's notice "
             "shows. I could not move, and I would like to play on.")),
        PlannedStep(claimed + 3 * HOUR, other, PlannedChat("Fine with me, I saw the news. Let us play on.")),
        PlannedStep(ruled, ARBITER, RuleAction(
            Verdict("back", ply=ply, time=((late, 2 * DAY),)),
            "The line was down, and the opponent agrees. The match goes on where it stood, with two more days.",
        )),
        *move_steps(game, players, [at + shift for at in times], ply),
    ]  # fmt: skip
    return planned


def _dismissed(planner: Planner) -> MatchPlan:
    """Plan a match that is over, with a claim that was dismissed, and an appeal that changed nothing."""
    game = planner.take_key("pow2", plies=20)
    players = ("dagny", "viktor")
    plan = planner.finish(game, players, planner.now - 19 * DAY)
    over = _last_act(plan)
    loser = players[0 if game.winners == (1,) else 1]
    plan.steps += [
        PlannedStep(over + 7 * HOUR, loser, ClaimAction(max(1, len(game.moves) // 2), "I typed this move on my phone "
             "and meant the line beside it.")),
        PlannedStep(over + 21 * HOUR, ARBITER, RuleAction(
            Verdict("dismissed"), "The preview showed the move before it was sent. A slip is no fault of the server; "
            "an undo was possible, and was not proposed.")),
        PlannedStep(over + 26 * HOUR, loser, AppealAction("The preview was too small to see it.")),
        PlannedStep(over + 45 * HOUR, SECOND_ARBITER, RuleAction(
            Verdict("dismissed"), "The coordinates stand beside the board in every size. The result stands.")),
    ]  # fmt: skip
    return plan


def _open_claim(planner: Planner) -> MatchPlan:
    """Plan a running match with a claim on which nobody has ruled yet."""
    game = planner.take_key("halves", plies=26)
    plan = planner.running(game, ("farida", "kofi"), 17, 11 * HOUR)
    claim = ClaimAction(
        14,
        "My answer was lost with a dead battery, and a whole day of my time with it. I ask for one day more.",
    )
    plan.steps.append(PlannedStep(planner.now - 5 * HOUR, "farida", claim))
    return plan


def _taken_back(planner: Planner) -> MatchPlan:
    """Plan a running match in which a slip was taken back by consent."""
    game = planner.take_key("pow2", 2, 20)
    ply = 8
    plan = planner.running(game, ("sven", "anneke"), 13, 9 * HOUR)
    step = next(i for i, one in enumerate(plan.steps) if _is_move_at(one, ply))
    moved = plan.steps[step].at
    mover = plan.steps[step].actor
    other = next(name for name in plan.players if name != mover)
    before = max(one.at for one in plan.steps if one.at < moved)
    part = (moved - before) // 4
    plan.steps[step:step] = [
        PlannedStep(before + part, mover, PlayMove(text=other_move(game, ply), ply=ply)),
        PlannedStep(before + part + MINUTE, mover, MakeOffer(kind="undo")),
        PlannedStep(
            before + part + 2 * MINUTE,
            mover,
            PlannedChat("Sorry, wrong line - may I take that back?"),
        ),
        PlannedStep(before + 2 * part, other, AnswerOffer(accept=True)),
        PlannedStep(before + 2 * part + MINUTE, other, PlannedChat("Of course.")),
    ]
    return plan


def _agreed_draw(planner: Planner) -> MatchPlan:
    """Plan a match that its players have called a draw."""
    game = planner.take_key("torere", plies=14)
    players = ("goran", "oskar")
    plan = planner.running(game, players, 12, 33 * DAY)
    last = _last_act(plan)
    plan.steps += [
        PlannedStep(last + 2 * HOUR, players[0], MakeOffer(kind="draw")),
        PlannedStep(
            last + 2 * HOUR + MINUTE, players[0], PlannedChat("We are going in circles. Draw?")
        ),
        PlannedStep(last + 8 * HOUR, players[1], AnswerOffer(accept=True)),
    ]
    return plan


def _reminded(planner: Planner) -> MatchPlan:
    """Plan a running match whose player to move was reminded."""
    game = planner.take_key("goliath", plies=13)
    plan = planner.running(game, ("priya", "rosa"), 9, 9 * DAY, ("--nagtime=7",))
    reminded = _last_move(plan) + 7 * DAY + _LATER
    plan.steps.append(PlannedStep(reminded, SERVER, RemindPlayer(ply=9)))
    return plan


def _declined(planner: Planner) -> MatchPlan:
    """Plan a match that a player did not want to play."""
    game = planner.take_key("torere", plies=2)
    plan = planner.running(game, ("quinn", "emre"), 1, 48 * DAY)
    declined = _last_act(plan) + 4 * HOUR
    plan.steps.append(PlannedStep(declined, "emre", DeclineMatch()))
    return plan


def _last_move(plan: MatchPlan) -> int:
    return max(one.at for one in plan.steps if isinstance(one.action, PlayMove))


def _last_act(plan: MatchPlan) -> int:
    return max(one.at for one in plan.steps)


def _is_move_at(step: PlannedStep, ply: int) -> bool:
    return isinstance(step.action, PlayMove) and step.action.ply == ply
