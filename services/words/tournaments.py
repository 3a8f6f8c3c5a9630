"""Tournaments in words: phases, terms, starts, points and tie-breaks.

All clauses are without a capital at the beginning and a full stop at the end.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from domain.clocks.length import longest
from domain.clocks.time_control import TimeControl
from domain.rules import rules_by_id
from domain.tournament.state import Phase
from domain.tournament.terms import (
    MOST_ENTRANTS,
    ONE_POINT,
    SECTION_SIZES,
    TournamentTerms,
)
from infra.languages.wording import N_, Wording
from infra.projections.tournaments import TournamentRow
from services.words.agreements import variant_words
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
}
_HALF: Final = 2
_MONTH: Final = 30

LONG_MATCH: Final = 60
"""Moves of the match by which a tournament says how long one can last: games have no most of their own."""


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
    full, least = {"count": given.room}, {"least": min(SECTION_SIZES)}
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


def terms_lines(terms: TournamentTerms, words: Wording, club: str = "") -> list[str]:
    """Return the terms of a tournament but for its start, a clause each; `club` is the name of its club."""
    return [*_terms(terms, words, club)]


def _terms(terms: TournamentTerms, words: Wording, club: str) -> Iterator[str]:
    _ = words.gettext
    yield _("game: %(game)s", game=game_line(terms.rules, terms.options, words))
    yield terms_line(terms.clock, words)
    yield _longest(terms.clock, words)
    played = {"most": terms.section}
    if terms.cycles > 1:
        yield _(
            "round robin in sections of up to %(most)s: each plays each twice, with sides exchanged",
            **played,
        )
    else:
        yield _("round robin in sections of up to %(most)s: each plays each once", **played)
    yield _("all matches of a player begin together")
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


def progress(row: TournamentRow, words: Wording) -> str:
    """Return how far a tournament in a list is: its entrants, or how many of its matches are over."""
    _ = words.gettext
    if row.phase in (Phase.DRAFT, Phase.ENTRY, Phase.CANCELLED):
        if row.room < MOST_ENTRANTS:
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
