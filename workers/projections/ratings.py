"""How strong players are: `infra.projections.ratings` says what is kept, `domain.ratings` what it means.

A rating depends on those of the opponents at that time, so matches are taken in the order in which they
ended, across all shards: the same order whenever this is made anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from openskill.models import PlackettLuce

from domain.match.events import AccountId
from domain.ratings import UNIT, Skill
from infra.projections.pending import Due
from infra.projections.ratings import (
    Point,
    Rating,
    pack,
    players_key,
    series_key,
    table_key,
    unpack,
)
from infra.projections.shelf import Read, Write
from infra.projections.specs import RATINGS
from workers.projections.finished import counts
from workers.projections.ordered import OrderedProjection
from workers.projections.projection import Fact

_MODEL: Final = PlackettLuce()

Player = tuple[str, AccountId]
"""A game and one who plays it."""


def rate(skills: Sequence[Skill], ranks: Sequence[int]) -> list[Skill]:
    """Return the skills after a match with these places, 1 for the first."""
    teams = [[_MODEL.create_rating([skill.mu / UNIT, skill.sigma / UNIT])] for skill in skills]
    rated = _MODEL.rate(teams, ranks=[float(rank) for rank in ranks])
    return [Skill(round(team[0].mu * UNIT), round(team[0].sigma * UNIT)) for team in rated]


class RatingsProjection(OrderedProjection):
    """A rating for each player and game, and what it was after each match."""

    spec = RATINGS

    def told(self, fact: Fact) -> str | None:
        """Keep game, players and places of a match that counts."""
        finished = counts(fact)
        if finished is None or not finished.rated:
            return None
        seats = zip(fact.cast.seats, finished.ranks, strict=True)
        places = ",".join(f"{account.hex()}={rank}" for account, rank in seats)
        return f"{fact.cast.game}|{places}"

    def due_needs(self, due: Sequence[Due]) -> Sequence[Read]:
        """Ask for the ratings of all who played."""
        return [
            ("HMGET", players_key(game), *(account.hex() for account in accounts))
            for game, accounts in _players(due).items()
        ]

    def due_fold(self, due: Sequence[Due], found: Sequence[Any]) -> Sequence[Write]:
        """Rate one match after the other."""
        ratings = _found(due, found)
        writes = [write for turn in due for write in _rated(turn, ratings)]
        return [*writes, *_table_writes(ratings)]


def _read(turn: Due) -> tuple[str, dict[AccountId, int]]:
    """Return the game of a match, and the place of each player."""
    game, _, places = turn.text.partition("|")
    pairs = (place.split("=") for place in places.split(","))
    return game, {AccountId.fromhex(account): int(rank) for account, rank in pairs}


def _players(due: Sequence[Due]) -> dict[str, list[AccountId]]:
    """Return all who played, by game."""
    found: dict[str, dict[AccountId, None]] = {}
    for turn in due:
        game, places = _read(turn)
        found.setdefault(game, {}).update(dict.fromkeys(places))
    return {game: list(accounts) for game, accounts in found.items()}


def _found(due: Sequence[Due], found: Sequence[Any]) -> dict[Player, Rating]:
    """Return the ratings as they stood before."""
    return {
        (game, account): Rating() if data is None else unpack(data)
        for (game, accounts), row in zip(_players(due).items(), found, strict=True)
        for account, data in zip(accounts, row, strict=True)
    }


def _rated(turn: Due, ratings: dict[Player, Rating]) -> Iterator[Write]:
    """Rate a match: `ratings` are as after it, and each player has one more point."""
    game, places = _read(turn)
    at, board, _ = turn.place
    before = [ratings[game, account] for account in places]
    after = rate([rating.skill for rating in before], list(places.values()))
    for account, rating, skill in zip(places, before, after, strict=True):
        ratings[game, account] = Rating(skill, rating.matches + 1, board, at)
        yield "RPUSH", series_key(game, account), pack(Point(board, at, skill))


def _table_writes(ratings: Mapping[Player, Rating]) -> Iterator[Write]:
    for (game, account), rating in ratings.items():
        yield "HSET", players_key(game), account.hex(), pack(rating)
        yield "ZADD", table_key(game), rating.skill.ordinal, account.hex()
