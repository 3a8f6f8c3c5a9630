"""Terms that no tournament can have, of each form; and how many players there may be."""

from typing import Any

import pytest

from domain.errors import Code
from domain.tournament.commands import DraftTournament
from domain.tournament.entry_terms import EntryTerms
from domain.tournament.form_terms import (
    KnockoutTerms,
    LadderTerms,
    LeagueTerms,
    StageTerms,
    SwissTerms,
    TeamTerms,
)  # fmt: skip
from domain.tournament.forms import check_terms
from domain.tournament.terms import MOST_IN_LEAGUE, SWISS_TIEBREAKS
from tests.helpers.tournaments import OF_THREES, ORGANISER, Tournament, terms_of_three

ALL: dict[str, Any] = {"section": 0, "capacity": 0, "when_full": False}
FORMS: dict[str, dict[str, Any]] = {
    "robin": {},
    "knockout": {**ALL, "form": "knockout", "knockout": KnockoutTerms()},
    "ladder": {**ALL, "form": "ladder", "ladder": LadderTerms()},
    "league": {**ALL, "form": "league", "days": 30, "league": LeagueTerms(4, 1, 1, 3)},
    "swiss": {**ALL, "form": "swiss", "swiss": SwissTerms(5), "tiebreaks": SWISS_TIEBREAKS},
    "teams": {**ALL, "form": "teams", "tiebreaks": (), "teams": TeamTerms(2)},
    "threes": OF_THREES,
}
OTHER = "these terms are those of another form of tournament"
REACH = "a challenge goes up to 1 to 50 places, and a player has 1 to 20 matches at a time"
SILENT = (
    "the silent drop after 7 to 365 days, or never with 0, by up to 100 places; 0 is to the bottom"
)
PROMOTED = "no more are promoted and relegated than the 4 players of a division"

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("robin", {"options": ("-goliath_first", "-count")}, "aren't in their recorded form"),
    ("robin", {"form": "lottery"}, "no form of tournament 'lottery'"),
    ("robin", {"rules": "one/1"}, "isn't a game for two"),
    ("robin", {"section": 16}, "a section has 3 to 15 players"),
    ("robin", {"cycles": 3}, "each pair plays 1 to 2 matches"),
    ("robin", {"points": (50, 100, 0)}, "points go down from win to draw to loss"),
    ("robin", {"points": (10_001, 0, 0)}, "points go down from win to draw"),
    ("robin", {"tiebreaks": ("rating-reversed",)}, "the tie-breaks are some of"),
    ("robin", {"tiebreaks": ("wins", "wins")}, "sonneborn-berger wins buchholz, each once"),
    ("robin", {"tiebreaks": ("lot", "wins")}, ""),
    ("robin", {"capacity": 2}, "room for 3 to 10000 players"),
    ("robin", {"capacity": 5_358, "section": 15, "cycles": 2}, "room for 3 to 5357 players"),
    ("robin", {"capacity": 0}, "needs a number of players"),
    ("robin", {"least_rating": 1600, "most_rating": 1500}, "the lowest rating must not be above"),
    ("robin", {"stages": (StageTerms(1, 3, 3),) * 3}, "up to 3 stages"),
    ("robin", {"stages": (StageTerms(0, 3, 3),)}, "at least one goes on from each"),
    ("robin", {"stages": (StageTerms(1, 2, 3),)}, "and at least 3 in all"),
    ("robin", {"stages": (StageTerms(1, 3, 16),)}, "a section has 3 to 15"),
    ("robin", {"days": 1001}, "lasts up to 1000 days"),
    ("robin", {"entry": EntryTerms(most_flags=101)}, "most_flags is a number from 0 to 100"),
    ("knockout", {"knockout": None}, OTHER),
    ("knockout", {"section": 3}, OTHER),
    ("knockout", {"cycles": 7}, "a tie has 1 to 6 matches"),
    ("knockout", {"knockout": KnockoutTerms(extra=7)}, "up to 6 more if it is drawn"),
    ("knockout", {"tiebreaks": ("lot",)}, ""),
    ("ladder", {"ladder": None}, OTHER),
    ("ladder", {"section": 5}, OTHER),
    ("ladder", {"days": 5}, OTHER),
    ("ladder", {"seed_by_lot": True}, ""),
    ("ladder", {"when_full": True, "capacity": 9}, "a ladder doesn't start when it is full, because players enter while it runs"),
    ("ladder", {"ladder": LadderTerms(reach=0)}, REACH),
    ("ladder", {"ladder": LadderTerms(running=21)}, REACH),
    ("ladder", {"ladder": LadderTerms(rest=366)}, "the same two wait up to 365 days after their last match"),
    ("ladder", {"ladder": LadderTerms(silence=6)}, SILENT),
    ("ladder", {"ladder": LadderTerms(drop=-1)}, SILENT),
    ("league", {"league": None}, OTHER),
    ("league", {"section": 4}, OTHER),
    ("league", {"stages": (StageTerms(1, 3, 3),)}, OTHER),
    ("league", {"league": LeagueTerms(2, 0, 0, 1)}, "a section has 3 to 15 players"),
    ("league", {"league": LeagueTerms(4, 3, 2, 1)}, PROMOTED),
    ("league", {"league": LeagueTerms(4, -1, 2, 1)}, PROMOTED),
    ("league", {"league": LeagueTerms(4, 1, 1, 0)}, "a league has 1 to 20 seasons"),
    ("league", {"league": LeagueTerms(4, 1, 1, 21)}, "a league has 1 to 20 seasons"),
    ("league", {"days": 0}, "a league needs the days of its seasons"),
    ("league", {"cycles": 3}, "each pair plays 1 to 2 matches"),
    ("league", {"capacity": MOST_IN_LEAGUE + 1}, "a tournament has room for 3 to 300 players"),
    ("swiss", {"swiss": None}, OTHER),
    ("swiss", {"section": 3}, OTHER),
    ("swiss", {"cycles": 2}, OTHER),
    ("swiss", {"knockout": KnockoutTerms()}, OTHER),
    ("swiss", {"form": "round-robin", "section": 3}, OTHER),
    ("swiss", {"seed_by_lot": True}, ""),
    ("swiss", {"swiss": SwissTerms(1)}, "2 to 15 rounds"),
    ("swiss", {"swiss": SwissTerms(16)}, "2 to 15 rounds"),
    ("swiss", {"capacity": 201}, "6 to 200 players"),
    ("swiss", {"capacity": 5}, "6 to 200 players"),
    ("teams", {"teams": None}, OTHER),
    ("teams", {"section": 3}, OTHER),
    ("teams", {"capacity": 8}, OTHER),
    ("teams", {"robots": True}, OTHER),
    ("teams", {"teams": TeamTerms(1)}, "2 to 20 players play for a team"),
    ("teams", {"teams": TeamTerms(21)}, "2 to 20 players play for a team"),
    ("teams", {"cycles": 3}, "1 to 2 matches"),
    ("threes", {"rules": "goliath/1"}, "isn't a game for three"),
    ("threes", {"cycles": 0}, "1 to 9 rounds"),
    ("threes", {"section": 3}, OTHER),
    ("threes", {"points": (100, 200, 0)}, "from the first place to the third"),
    ("threes", {"tiebreaks": ("wins",)}, "the tie-breaks are some of direct sonneborn-berger"),
    ("threes", {"capacity": 100}, "room for 3 to 99 players"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "changes", "said"), BAD)
def test_terms_that_no_tournament_can_have_are_refused(
    form: str, changes: dict[str, Any], said: str
) -> None:
    check_terms(terms_of_three(**FORMS[form]))
    draft = DraftTournament(terms=terms_of_three(**{**FORMS[form], **changes}))
    code, sentence = Tournament().refuses(ORGANISER, draft)
    assert code in (Code.BAD_OPTION, Code.UNKNOWN_OPTION)
    assert said in sentence


@pytest.mark.parametrize(
    ("form", "changes", "most"),
    [
        ("robin", {"section": 15}, 10_000),
        ("robin", {"section": 15, "cycles": 2}, 5_357),
        ("ladder", {}, 1_500),
        ("knockout", {}, 1_500),
    ],
)
def test_the_most_players_follow_from_the_matches(
    form: str, changes: dict[str, Any], most: int
) -> None:
    terms = terms_of_three(**{**FORMS[form], **changes, "capacity": 0, "when_full": False})
    assert terms.room == most
