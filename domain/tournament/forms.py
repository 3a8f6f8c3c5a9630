"""The forms of tournaments by name, and the check of a tournament's terms."""

from collections.abc import Mapping
from typing import Final

from domain.errors import Code, Refusal
from domain.rules import rules_by_id
from domain.tournament.bracket import Knockout
from domain.tournament.entry_terms import check_entry_terms
from domain.tournament.form import FormRules
from domain.tournament.ladder_form import Ladder
from domain.tournament.lots import check_lots
from domain.tournament.round_robin import RoundRobin
from domain.tournament.seasons import League
from domain.tournament.sentences import SAY
from domain.tournament.swiss_rounds import Swiss
from domain.tournament.team_form import Teams
from domain.tournament.terms import (
    LOT,
    MOST_DAYS,
    MOST_FINISHED,
    MOST_POINTS,
    ONE_POINT,
    TournamentForm,
    TournamentTerms,
)
from domain.tournament.three_form import Threes
from domain.tournament.three_results import SEATS
from domain.tournament.tie_breaks import FROM_RESULTS

FORMS: Final[Mapping[str, FormRules]] = {
    TournamentForm.ROUND_ROBIN: RoundRobin(),
    TournamentForm.KNOCKOUT: Knockout(),
    TournamentForm.SWISS: Swiss(),
    TournamentForm.LADDER: Ladder(),
    TournamentForm.LEAGUE: League(),
    TournamentForm.TEAMS: Teams(),
    TournamentForm.THREES: Threes(),
}


_OWN_TERMS: Final[Mapping[str, str]] = {
    TournamentForm.KNOCKOUT: "knockout",
    TournamentForm.SWISS: "swiss",
    TournamentForm.LEAGUE: "league",
    TournamentForm.LADDER: "ladder",
    TournamentForm.TEAMS: "teams",
}
"""The field of the terms that each form has alone; the others are played in sections."""


def form_of(terms: TournamentTerms) -> FormRules:
    """Return the form of a tournament."""
    return FORMS[terms.form]


def check_terms(terms: TournamentTerms) -> None:
    """Refuse terms that no tournament can have: `bad-option`, or as the game refuses its options."""
    rules = rules_by_id(terms.rules)
    if rules.write_options(rules.read_options(terms.options)) != terms.options:
        raise Refusal(Code.BAD_OPTION, SAY("options"))
    if terms.form not in FORMS:
        raise Refusal(Code.BAD_OPTION, SAY("form", form=terms.form[:24]))
    if terms.form == TournamentForm.THREES and SEATS not in rules.players:
        raise Refusal(Code.BAD_OPTION, SAY("not-for-three", game=rules.title))
    if terms.form != TournamentForm.THREES and 2 not in rules.players:  # noqa: PLR2004 - a pair
        raise Refusal(Code.BAD_OPTION, SAY("not-for-two", game=rules.title))
    given = [name for name in _OWN_TERMS.values() if getattr(terms, name) is not None]
    own = _OWN_TERMS.get(terms.form)
    in_sections = terms.section or terms.stages
    if given != ([own] if own else []) or (own and in_sections):
        raise Refusal(Code.BAD_OPTION, SAY("terms-of-form"))
    form_of(terms).check(terms)
    _check_points(terms)
    check_lots(terms)
    _check_entry(terms)


def _check_points(terms: TournamentTerms) -> None:
    """Refuse points and tie-breaks that can't be."""
    win, draw, loss = terms.points
    if not MOST_POINTS >= win >= draw >= loss >= 0:
        raise Refusal(Code.BAD_OPTION, SAY("points", most=MOST_POINTS // ONE_POINT))
    named = set(terms.tiebreaks)
    if len(named) < len(terms.tiebreaks) or not named <= {*FROM_RESULTS, LOT}:
        raise Refusal(Code.BAD_OPTION, SAY("tiebreaks", names=" ".join(FROM_RESULTS)))


def _check_entry(terms: TournamentTerms) -> None:
    """Refuse a room, a start, an end and ratings that can't be."""
    if terms.capacity and terms.capacity not in range(terms.least, terms.most + 1):
        raise Refusal(Code.BAD_OPTION, SAY("capacity", least=terms.least, most=terms.most))
    if terms.when_full and not terms.capacity:
        raise Refusal(Code.BAD_OPTION, SAY("when-full"))
    if not 0 <= terms.days <= MOST_DAYS:
        raise Refusal(Code.BAD_OPTION, SAY("days", most=MOST_DAYS))
    if not 0 <= terms.least_finished <= MOST_FINISHED:
        raise Refusal(Code.BAD_OPTION, SAY("finished", most=MOST_FINISHED))
    low, high = terms.least_rating, terms.most_rating
    if low < 0 or high < 0 or 0 < high < low:
        raise Refusal(Code.BAD_OPTION, SAY("ratings"))
    check_entry_terms(terms.entry)
