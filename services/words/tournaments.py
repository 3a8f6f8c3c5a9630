"""Tournaments in words: phases, terms, starts, points and tie-breaks.

All clauses are without a capital at the beginning and a full stop at the end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from domain.clocks.length import longest
from domain.clocks.time_control import TimeControl
from domain.rules import rules_by_id
from domain.tournament.forms import form_of
from domain.tournament.results import PairResult
from domain.tournament.standings import CANCELLED, TableCell
from domain.tournament.state import LadderPlayer, Phase, TournamentState
from domain.tournament.terms import (
    LOT,
    MOST_ENTRANTS,
    MOST_IN_ONE_TABLE,
    ONE_POINT,
    TournamentForm,
    TournamentTerms,
)
from domain.tournament.three_form import ThreeCell
from infra.languages.wording import N_, Wording
from infra.projections.tournaments import TournamentRow
from services.app.tournaments import NextSeason
from services.words.agreements import variant_words
from services.words.entry_conditions import entry_clauses
from services.words.named_match import terms_line

_PHASES: Final[Mapping[str, str]] = {
    Phase.DRAFT: N_("being prepared"),
    Phase.ENTRY: N_("open for entry"),
    Phase.RUNNING: N_("being played"),
    Phase.FINISHED: N_("all matches are over, the places are not confirmed yet"),
    Phase.CONFIRMED: N_("over, the places are confirmed"),
    Phase.CANCELLED: N_("cancelled before the start"),
}
_TIE_BREAKS: Final[Mapping[str, str]] = {
    "direct": N_("direct encounter"),
    "sonneborn-berger": N_("Sonneborn-Berger"),
    "wins": N_("wins"),
    "buchholz": N_("Buchholz"),
    LOT: N_("lot"),
}
_HALF: Final = 2
_MONTH: Final = 30

LONG_MATCH: Final = 60
"""Moves of the match by which a tournament says how long one can last: games have no most of their own."""


_FORM_NAMES: Final[Mapping[str, str]] = {
    TournamentForm.ROUND_ROBIN: N_("Round robin"),
    TournamentForm.KNOCKOUT: N_("Knockout"),
    TournamentForm.SWISS: N_("Swiss"),
    TournamentForm.LADDER: N_("Ladder"),
    TournamentForm.LEAGUE: N_("League"),
    TournamentForm.TEAMS: N_("Teams"),
    TournamentForm.THREES: N_("Groups of three"),
}


def form_name(form: str, words: Wording) -> str:
    """Return the name of a form, such as `Knockout`."""
    return words.gettext(_FORM_NAMES[form])


def phase_name(phase: str, words: Wording) -> str:
    """Return a phase, such as `open for entry`."""
    return words.gettext(_PHASES[phase])


def tie_break_name(name: str, words: Wording) -> str:
    """Return the name of a tie-break, such as `direct encounter`."""
    return words.gettext(_TIE_BREAKS[name])


def points_text(points: Fraction, words: Wording) -> str:
    """Return points as tables show them, such as `2½`; other fractions to the hundredth."""
    whole, rest = divmod(points, 1)
    if rest and points.denominator == _HALF:
        return f"{whole or ''}½"
    return words.number(round(float(points), 2)) if rest else str(whole)


def game_line(rules: str, options: tuple[str, ...], words: Wording) -> str:
    """Return a game with its options in words, such as `Pow2, Tiles each: 7`."""
    found = rules_by_id(rules)
    return ", ".join([found.title, *variant_words(found, options, words)])


def start_sentence(given: TournamentTerms | TournamentRow, words: Wording) -> str:
    """Return when a tournament starts, and what happens at its date with too few players."""
    _, at = words.gettext, words.moment(given.starts)
    full, least = {"count": given.room}, {"least": given.least}
    if given.when_full and given.starts:
        return _(
            "it starts when %(count)s players have entered, at the latest on %(moment)s; with fewer "
            "than %(least)s players it is cancelled then",
            moment=at,
            **full,
            **least,
        )
    if given.when_full:
        return _("it starts when %(count)s players have entered", **full)
    if given.starts:
        return _(
            "it starts on %(moment)s; with fewer than %(least)s players it is cancelled then",
            moment=at,
            **least,
        )
    return _("its organiser starts it")


def terms_lines(
    terms: TournamentTerms, words: Wording, club: str = "", opening: str = ""
) -> list[str]:
    """Return the terms of a tournament but for its start, a clause each; `club` is the name of its club."""
    return [*_terms(terms, words, club, opening)]


def _terms(terms: TournamentTerms, words: Wording, club: str, opening: str) -> Iterator[str]:
    _ = words.gettext
    yield _("game: %(game)s", game=game_line(terms.rules, terms.options, words))
    if opening:
        yield _("each match begins with %(moves)s", moves=opening)
    yield terms_line(terms.clock, words)
    yield _longest(terms.clock, words)
    yield from _FORMS[terms.form](terms, words)
    if terms.seed_by_lot:
        yield _("a lot decides who meets whom, and not the rating")
    if terms.form not in (TournamentForm.LADDER, TournamentForm.THREES):
        win, draw, loss = (points_text(Fraction(one, ONE_POINT), words) for one in terms.points)
        yield _(
            "points: %(win)s for a win, %(draw)s for a draw, %(loss)s for a loss",
            win=win,
            draw=draw,
            loss=loss,
        )
    breaks = ", ".join(tie_break_name(one, words) for one in terms.tiebreaks)
    if breaks:
        yield _("if points are equal: %(tiebreaks)s, in this order", tiebreaks=breaks)
    if terms.capacity:
        yield _("room for %(count)s players; those who enter later wait", count=terms.capacity)
    yield from _conditions(terms, words, club)


def _round_robin(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield how sections are played, and how many go on."""
    _ = words.gettext
    played = {"most": terms.section}
    if terms.cycles > 1:
        yield _(
            "round robin in sections of up to %(most)s: each plays each twice, with sides exchanged",
            **played,
        )
    else:
        yield _("round robin in sections of up to %(most)s: each plays each once", **played)
    for number, stage in enumerate(terms.stages, 2):
        yield words.ngettext(
            "stage %(number)s: the best of each section and the next best, %(total)s in all, in sections of up to "
            "%(most)s",
            "stage %(number)s: the best %(count)s of each section and the next best, %(total)s in all, in sections of "
            "up to %(most)s",
            stage.first,
            number=number,
            total=stage.total,
            most=stage.section,
        )
    yield _("all matches of a player begin together")


def _knockout(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield how ties are played, and decided."""
    _, ties = words.gettext, terms.knockout
    assert ties is not None
    if terms.cycles > 1:
        yield _(
            "knockout: %(count)s matches in each tie, with sides exchanged; the winner goes on",
            count=terms.cycles,
        )
    else:
        yield _("knockout: one match in each tie; the winner goes on")
    if terms.seed_by_lot and ties.extra:
        yield words.ngettext(
            "a drawn tie gets %(count)s more match; if it is still drawn, the player with the better lot goes on",
            "a drawn tie gets %(count)s more matches; if it is still drawn, the player with the better lot goes on",
            ties.extra,
        )
    elif terms.seed_by_lot:
        yield _("of a drawn tie, the player with the better lot goes on")
    elif ties.extra:
        yield words.ngettext(
            "a drawn tie gets %(count)s more match; if it is still drawn, the player rated higher at entry goes on",
            "a drawn tie gets %(count)s more matches; if it is still drawn, the player rated higher at entry goes on",
            ties.extra,
        )
    else:
        yield _("of a drawn tie, the player rated higher at entry goes on")
    if ties.third_place:
        yield _("the losers of the semifinals play for third place")
    yield _("all matches of a round begin together, once the round before is over")


def _swiss(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield how rounds are paired, and when they end."""
    _, swiss = words.gettext, terms.swiss
    assert swiss is not None
    yield _(
        "Swiss: %(count)s rounds, in each of which players of about the same points meet",
        count=swiss.rounds,
    )
    yield _("nobody meets the same player again as long as that can be avoided")
    yield _("who is left without an opponent gets the points of a win, once at most")
    yield _("all matches of a round begin together, once the round before is over")
    if terms.days:
        yield words.ngettext(
            "a round lasts %(count)s day at most; a match that is not over then is drawn",
            "a round lasts %(count)s days at most; matches that are not over then are drawn",
            terms.days,
        )


def side_and_number(cell: TableCell) -> str:
    """Return an opponent in a column of a round: the number, after `○` for the first move and `●` for the second."""
    return f"{'○' if cell.first else '●'}{cell.other + 1}"


def _ladder(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield whom players challenge, and how places change."""
    _, ngettext, rules = words.gettext, words.ngettext, terms.ladder
    assert rules is not None
    yield ngettext(
        "ladder: a challenge goes to a player up to %(count)s place above, who has the first move",
        "ladder: a challenge goes to a player up to %(count)s places above, who has the first move",
        rules.reach,
    )
    yield _("the match of a challenge begins at once, without asking the other")
    if rules.insertion:
        yield _("a challenger who wins takes the place, and all between move down one")
    else:
        yield _("a challenger who wins changes places with the other")
    yield ngettext(
        "a player has up to %(count)s match at a time",
        "a player has up to %(count)s matches at a time",
        rules.running,
    )
    if rules.rest:
        yield ngettext(
            "the same two meet again %(count)s day after their last match at the earliest",
            "the same two meet again %(count)s days after their last match at the earliest",
            rules.rest,
        )
    if rules.silence and rules.drop:
        yield ngettext(
            "who has had no match for %(days)s days drops %(count)s place, but for the first",
            "who has had no match for %(days)s days drops %(count)s places, but for the first",
            rules.drop,
            days=rules.silence,
        )
    elif rules.silence:
        yield _(
            "who has had no match for %(days)s days drops to the bottom, but for the first",
            days=rules.silence,
        )
    yield _("players enter and leave while it runs; newcomers are at the bottom")
    yield _("it goes on until its organiser ends it")


def record_text(record: LadderPlayer) -> str:
    """Return how many matches a player has won, drawn and lost, such as `5-1-2`."""
    return f"{record.won}-{record.drawn}-{record.lost}"


def last_change(record: LadderPlayer, words: Wording) -> str:
    """Return the last change of a player's place with its day; empty if there was none."""
    if not record.change:
        return ""
    day = words.day(record.changed)
    if record.change > 0:
        return words.ngettext(
            "%(count)s place up on %(day)s",
            "%(count)s places up on %(day)s",
            record.change,
            day=day,
        )
    return words.ngettext(
        "%(count)s place down on %(day)s",
        "%(count)s places down on %(day)s",
        -record.change,
        day=day,
    )


def _league(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield how divisions are played, who changes them, and when."""
    _, ngettext, rules = words.gettext, words.ngettext, terms.league
    assert rules is not None
    if terms.cycles > 1:
        yield _(
            "league in divisions of %(most)s: each plays each twice, with sides exchanged",
            most=rules.size,
        )
    else:
        yield _("league in divisions of %(most)s: each plays each once", most=rules.size)
    yield ngettext(
        "%(count)s season of %(days)s days",
        "%(count)s seasons of %(days)s days each",
        rules.seasons,
        days=terms.days,
    )
    if rules.seasons > 1:
        yield _(
            "after a season the first %(up)s of a division are promoted, and the last %(down)s are relegated",
            up=rules.up,
            down=rules.down,
        )
        yield _(
            "a season begins on its day; matches of the one before that go on then count there, and move nobody any more"
        )
        yield _(
            "players are in the next season unless they leave; newcomers enter at any time, and begin at the bottom"
        )


def _teams(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield who plays in a team, and how teams are placed."""
    _, rules = words.gettext, terms.teams
    assert rules is not None
    if terms.cycles > 1:
        yield _(
            "teams of %(count)s: each team plays each other team twice, with sides exchanged",
            count=rules.size,
        )
    else:
        yield _("teams of %(count)s: each team plays each other team once", count=rules.size)
    yield _(
        "captains name their players in order: the first plays the first of the other team, and so on"
    )
    yield _(
        "a team gets 2 match points for outscoring the other team, and 1 if both score the same"
    )
    yield _("of teams with equal match points, the one whose players have scored more is ahead")
    yield _("all matches begin together")


def _threes(terms: TournamentTerms, words: Wording) -> Iterator[str]:
    """Yield how groups are made, and the points of their places."""
    _ = words.gettext
    yield words.ngettext(
        "groups of three: %(count)s round, whose matches begin together",
        "groups of three: %(count)s rounds, whose matches all begin together",
        terms.cycles,
    )
    yield _(
        "as far as possible nobody meets the same player twice, and everybody has each seat equally often"
    )
    first, second, third = (points_text(Fraction(one, ONE_POINT), words) for one in terms.points)
    yield _(
        "points: %(first)s for first place, %(second)s for second, %(third)s for third; players who share places share their points",
        first=first,
        second=second,
        third=third,
    )
    yield _(
        "with a number of players that three doesn’t divide, one or two have a bye in each round, with the points of second place"
    )
    if terms.days:
        yield words.ngettext(
            "a match that is not over after %(count)s day is shared by those who still play it",
            "a match that is not over after %(count)s days is shared by those who still play it",
            terms.days,
        )


def place_clause(cell: ThreeCell, names: Sequence[str], words: Wording) -> str:
    """Return a place in a match for three with the two others, such as `place 1 against anna and bob`; `names` are theirs."""
    _, others = words.gettext, words.names(names)
    if cell.half == CANCELLED:
        return _("not counted, against %(names)s", names=others)
    place = cell.half.rstrip("=")
    if cell.half == place:
        return _("place %(place)s against %(names)s", place=place, names=others)
    return _("place %(place)s, shared, against %(names)s", place=place, names=others)


def team_name(captain: str, words: Wording) -> str:
    """Return what a team is called, such as `alice’s team`."""
    return words.gettext("%(captain)s’s team", captain=captain)


_FORMS: Final[Mapping[str, Callable[[TournamentTerms, Wording], Iterator[str]]]] = {
    TournamentForm.ROUND_ROBIN: _round_robin,
    TournamentForm.KNOCKOUT: _knockout,
    TournamentForm.SWISS: _swiss,
    TournamentForm.LADDER: _ladder,
    TournamentForm.LEAGUE: _league,
    TournamentForm.TEAMS: _teams,
    TournamentForm.THREES: _threes,
}


def table_title(state: TournamentState, terms: TournamentTerms, at: int, words: Wording) -> str:
    """Return the heading of one of the tables, from 1, such as `Section 2 of 3`."""
    _, sections = words.gettext, form_of(terms).tables(state)
    if terms.league is not None and sections:
        season, division = division_at(state, at)
        return _("Season %(season)s, division %(division)s", season=season, division=division)
    if terms.teams is not None:
        return _("Players")
    if len(sections) < 2:  # noqa: PLR2004 - with one there is nothing to number
        return _("Table")
    stage = sections[at - 1].stage
    own = [number for number, one in enumerate(sections, 1) if one.stage == stage]
    number, count = own.index(at) + 1, len(own)
    if state.stage == 1:
        return _("Section %(number)s of %(count)s", number=number, count=count)
    if count == 1:
        return _("Stage %(stage)s", stage=stage)
    return _(
        "Stage %(stage)s, section %(number)s of %(count)s", stage=stage, number=number, count=count
    )


def division_at(state: TournamentState, at: int) -> tuple[int, int]:
    """Return the season and the division of one of a league's tables; all are numbers from 1."""
    season = state.sections[at - 1].stage
    before = sum(one.stage < season for one in state.sections)
    return season, at - before


def division_change(change: int | None, words: Wording) -> str:
    """Return how a player changes divisions after a season, as `division_changes` has it; empty for not at all."""
    if change is None:
        return words.gettext("not in the next season")
    if change > 0:
        return words.gettext("promoted")
    return words.gettext("relegated") if change else ""


def season_sentence(season: NextSeason, words: Wording) -> str:
    """Return when the next season of a league begins, and whether the player is in it."""
    _ = words.gettext
    if not season.begins:
        return _("the next season begins once three players are in it")
    values = {"number": season.number, "moment": words.moment(season.begins)}
    if season.stays:
        return _("season %(number)s begins on %(moment)s, and you are in it", **values)
    return _("season %(number)s begins on %(moment)s", **values)


def round_name(ties: int, number: int, words: Wording) -> str:
    """Return the name of a round of a knockout with so many ties, such as `Semifinals`."""
    _ = words.gettext
    names = {1: _("Final"), 2: _("Semifinals"), 4: _("Quarterfinals")}
    return names.get(ties) or _("Round %(number)s", number=number)


def _longest(clock: TimeControl, words: Wording) -> str:
    """Return how long a match can last, in months."""
    days = longest(clock, LONG_MATCH)
    if days is None:
        return words.gettext("a match can last without end")
    return words.ngettext(
        "a match of %(moves)s moves lasts %(count)s month at most",
        "a match of %(moves)s moves lasts %(count)s months at most",
        -(-days // _MONTH),
        moves=LONG_MATCH,
    )


def _conditions(terms: TournamentTerms, words: Wording, club: str) -> Iterator[str]:
    """Yield who may enter."""
    _, least, most = words.gettext, terms.least_rating, terms.most_rating
    if least and most:
        yield _("for ratings from %(least)s to %(most)s", least=least, most=most)
    elif least:
        yield _("for ratings of at least %(least)s", least=least)
    elif most:
        yield _("for ratings of at most %(most)s", most=most)
    if terms.least_finished:
        yield words.ngettext(
            "for players who have finished at least %(count)s match",
            "for players who have finished at least %(count)s matches",
            terms.least_finished,
        )
    yield from entry_clauses(terms.entry, words)
    if terms.by_code:
        yield _("for players who know its code")
    if club:
        yield _("for members of %(club)s", club=club)
    if terms.robots:
        yield _("the organiser may enter robots")


def substitute_clause(substitute: str, player: str, words: Wording) -> str:
    """Return who has taken over whose place, such as `anna, for bob`."""
    return words.gettext("%(substitute)s, for %(player)s", substitute=substitute, player=player)


def volunteers_clause(names: Sequence[str], words: Wording) -> str:
    """Return who would take over the place of a player who leaves."""
    return words.gettext("substitutes: %(names)s", names=words.names(names))


_RESULTS: Final[Mapping[str, str]] = {
    PairResult.FIRST_WON: "1 : 0",
    PairResult.SECOND_WON: "0 : 1",
    PairResult.DRAWN: "½ : ½",
    PairResult.FIRST_BY_FORFEIT: "+ : \N{MINUS SIGN}",
    PairResult.SECOND_BY_FORFEIT: "\N{MINUS SIGN} : +",
    PairResult.BOTH_FORFEITED: "\N{MINUS SIGN} : \N{MINUS SIGN}",
}


def result_text(result: str) -> str:
    """Return a `PairResult` as pages show it, such as `½ : ½`."""
    return _RESULTS[result]


def progress(row: TournamentRow, words: Wording) -> str:
    """Return how far a tournament in a list is: its entrants, or how many of its matches are over."""
    _ = words.gettext
    if row.phase in (Phase.DRAFT, Phase.ENTRY, Phase.CANCELLED):
        if row.room not in (MOST_IN_ONE_TABLE, MOST_ENTRANTS):
            entered = min(row.entered, row.room)
            taken = _("%(count)s of %(room)s players", count=entered, room=row.room)
            waits = row.entered - entered
            return (
                _("%(players)s, %(count)s waiting", players=taken, count=waits) if waits else taken
            )
        return words.ngettext("%(count)s player", "%(count)s players", row.entered)
    players = words.ngettext("%(count)s player", "%(count)s players", row.entered)
    over = _("%(done)s of %(all)s matches over", done=row.counted, all=row.pairings)
    return f"{players}, {over}"
