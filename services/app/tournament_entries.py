"""The conditions of entries to tournaments that the decider can't know: clubs, codes, sanctions, finished matches and ratings."""

from domain.errors import Code, Refusal
from domain.match.state import is_bot, robot_level
from domain.records import AccountId
from domain.rules import game_keys
from domain.tournament.entry_terms import EVERY_FLAG
from domain.tournament.state import TournamentState
from domain.tournament.terms import TournamentTerms
from infra.redis.reads import read_all
from services.app import clubs
from services.app.context import Actor, App
from services.app.sanctions import check_may_start
from services.app.sentences import SAY


def rating_of_entrant(app: App, actor: Actor, state: TournamentState, account: AccountId) -> int:
    """Return the rating of an account that may enter: the actor's, or that of a robot; bots can't."""
    if is_bot(actor.account):
        raise Refusal(Code.AGAINST_TERMS, SAY("bot-tournaments"))
    terms = state.terms
    assert terms is not None
    check_may_start(app, actor.account)
    other = (
        terms.club and account == actor.account and not clubs.is_member(app, terms.club, account)
    )
    if other:
        raise Refusal(Code.AGAINST_TERMS, SAY("tournament-of-club"))
    if robot_level(account) is None:
        _check_finished(app, account, terms)
    return app.ratings.player(terms.rules.partition("/")[0], account).display_value


def _check_finished(app: App, account: AccountId, terms: TournamentTerms) -> None:
    """Refuse an account that has finished too few matches, or lost too many of them on time, in all games."""
    least, most = terms.least_finished, terms.entry.most_flags
    if not least and most == EVERY_FLAG:
        return
    reads = (app.standings.read_player(key, account) for key in game_keys())
    rows = read_all(app.data, *reads)
    finished, timed = sum(one.played for one in rows), sum(one.timed for one in rows)
    if finished < least:
        raise Refusal(Code.AGAINST_TERMS, SAY("few-finished", least=least, count=finished))
    if 100 * timed > most * finished:
        raise Refusal(Code.AGAINST_TERMS, SAY("many-flags", most=most, timed=timed, count=finished))


def check_code(app: App, actor: Actor, number: int, state: TournamentState, code: str) -> None:
    """Refuse an entry without the tournament's code, if it has one; the organiser needs none."""
    needed = state.terms is not None and state.terms.by_code and actor.account != state.organiser
    if needed and not app.tournament_codes.is_right(number, code):
        raise Refusal(Code.AGAINST_TERMS, SAY("wrong-code") if code else SAY("code-needed"))


def captain_of(account: AccountId, state: TournamentState) -> AccountId:
    """Return the captain of the only team that names an account."""
    captains = [team.captain for team in state.teams if account in team.named]
    if not captains:
        raise Refusal(Code.AGAINST_TERMS, SAY("no-team-yet"))
    if len(captains) > 1:
        raise Refusal(Code.AGAINST_TERMS, SAY("which-team"))
    return captains[0]
