"""Queries about players, ratings, finished matches and scores.

Matches as rows of lists, also those whose rows have left Redis.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from domain.errors import Code, Refusal
from domain.game.protocol import PuzzleScore
from domain.match.history import PackedSnapshot, replay, unpack_snapshot
from domain.match.state import MatchState, deadline, positions
from domain.records import AccountId
from domain.rules import AnyRules, game_keys, rules_by_id
from infra.people.accounts import Profile
from infra.projections.finished_matches import FinishedMatchRow as FinishedRow
from infra.projections.head_to_head import PairRecord
from infra.projections.leaderboards import LeaderboardRow as ScoreRow
from infra.projections.leaderboards import puzzle_name
from infra.projections.match_lists import MatchListRow
from infra.projections.ratings import Rating, RatingPoint, pool_with_bots
from infra.redis.reads import read_one
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.sentences import SAY

_PAIR: Final = 2

_COMPLETED: Final = 8
"""Userids that are offered while one is typed."""

_SHORTEST: Final = 2
"""The fewest letters that are completed."""

_SCORES_KEPT: Final = 2_000


def find_player(app: App, userid: str) -> tuple[AccountId, Profile]:
    """Return a player's account and what others may know of it; `unknown-user`."""
    account = app.accounts.id_of(userid)
    profile = app.accounts.record_of(account)
    if profile is None:
        raise Refusal(Code.UNKNOWN_USER, SAY("no-user", name=userid[:24]))
    return account, profile


def has_player(app: App, userid: str) -> bool:
    """Return whether there is a player of this userid."""
    try:
        app.accounts.id_of(userid)
    except Refusal:
        return False
    return True


def names_starting(app: App, text: str) -> list[str]:
    """Return userids that begin with a text, in alphabetical order; a few, and none for less than two letters."""
    return app.accounts.names_starting(text, _COMPLETED) if len(text) >= _SHORTEST else []


def ratings_of(app: App, account: AccountId, *, bots: bool = False) -> dict[str, Rating]:
    """Return a player's ratings by game, of those in which a rated match was finished; with `bots` those with bots."""
    games = game_keys()
    wanted = [(pool(game, bots=bots), account) for game in games]
    found = read_one(app.data, app.ratings.read_players(wanted))
    return {game: one for game, one in zip(games, found, strict=True) if one.matches}


def pool(game: str, *, bots: bool) -> str:
    """Return the pool of a game's ratings: of its matches with bots, or without any."""
    return pool_with_bots(game) if bots else game


def rating_series(
    app: App, game: str, account: AccountId, most: int
) -> tuple[Rating, list[RatingPoint]]:
    """Return a player's rating, and what it was after each of the last `most` matches."""
    now = app.ratings.player(game, account)
    return now, app.ratings.series(game, account, max(0, now.matches - most), most)


def head_to_head(app: App, game: str, one: AccountId, other: AccountId) -> PairRecord:
    """Return how a player did against another; `bad-players` for the same player twice."""
    if one == other:
        raise Refusal(Code.BAD_PLAYERS, SAY("against-self"))
    return app.head_to_head.of(game, one, other)


def finished_matches(
    app: App, game: str, players: Sequence[AccountId], start: int, count: int
) -> list[FinishedRow]:
    """Return finished matches of a game, of one player, or of two, the last ended first."""
    return app.history.of(game, *_pair(players), start, count)


def count_finished(app: App, game: str, players: Sequence[AccountId]) -> int:
    """Count the finished matches of a game, of one player, or of two."""
    return app.history.count(game, *_pair(players))


def _pair(players: Sequence[AccountId]) -> tuple[AccountId | None, AccountId | None]:
    if len(players) > _PAIR:
        raise Refusal(Code.USAGE, SAY("two-at-most"))
    one, other = (*players, None, None)[:_PAIR]
    return one, other


def best_scores(
    app: App, rules: AnyRules, options: Sequence[str] = (), start: int = 0, count: int = 50
) -> list[ScoreRow]:
    """Return the best score of each player of a puzzle, the best first, from the `start`th on.

    Options that the puzzle does not have are refused as its rules do.
    """
    return app.scores.best(_puzzle(rules, options), start, count)


def best_score_of(app: App, rules: AnyRules, account: AccountId) -> ScoreRow | None:
    """Return the best score of a player of a puzzle; None without any."""
    return app.scores.best_of(_puzzle(rules), account)


def count_scores(app: App, rules: AnyRules) -> int:
    """Count the players who have finished a puzzle."""
    return app.scores.count(_puzzle(rules))


def _puzzle(rules: AnyRules, options: Sequence[str] = ()) -> str:
    return puzzle_name(rules.key, rules.write_options(rules.read_options(options)))


def score_of(app: App, row: ScoreRow) -> PuzzleScore:
    """Return the best score of a match by replay, which is done once because the match has ended."""
    known = _scores(row)
    if not known:
        with refuse_damaged(app.damage, row.board):
            state = replay(app.store.events(row.board))
        rules = rules_by_id(state.rules)
        found = [score for position in positions(state) if (score := rules.score(position))]
        known.append(min(found, key=lambda score: score.rank))
    return known[0]


@lru_cache(_SCORES_KEPT)
def _scores(_: ScoreRow) -> list[PuzzleScore]:
    """Return the cache of a row's score: a list, empty at first."""
    return []


def listed_matches(
    app: App, boards: Iterable[int], known: Mapping[int, MatchListRow] | None = None
) -> dict[int, MatchListRow]:
    """Return the rows of matches by board, in the order of the boards; `known` rows are not read again."""
    wanted = list(dict.fromkeys(boards))
    found = dict(known or {})
    missing = [board for board in wanted if board not in found]
    if missing:
        found |= {row.board: row for row in app.lists.rows(missing) if row is not None}
    found = with_older(app, wanted, found)
    return {board: found[board] for board in wanted if board in found}


def with_older(
    app: App, boards: Iterable[int], known: Mapping[int, MatchListRow]
) -> dict[int, MatchListRow]:
    """Return these rows, and those of the matches that have left Redis.

    The match itself has all that is shown, also from the archive; one that can't be read is left out.
    """
    found = dict(known)
    missing = [board for board in dict.fromkeys(boards) if board not in found]
    for board, snapshot in zip(missing, _snapshots(app, missing), strict=True):
        try:
            state = unpack_snapshot(snapshot).state
        except msgspec.MsgspecError:
            continue
        if state.started:
            found[board] = _row_of(board, state)
    return found


def _snapshots(app: App, boards: Sequence[int]) -> list[PackedSnapshot | None]:
    """Return snapshots, None for those that can't be read."""
    try:
        return app.store.snapshots(boards) if boards else []
    except Refusal:
        if len(boards) == 1:
            return [None]
        # the archive can't be read, but others are in Redis
        return [snapshot for board in boards for snapshot in _snapshots(app, [board])]


def _row_of(board: int, state: MatchState) -> MatchListRow:
    result = state.result
    return MatchListRow(
        board=board,
        seq=state.seq,
        rules=state.rules,
        options=state.options,
        seats=state.seats,
        waits=() if state.over else state.waits,
        since=0,
        ply=state.ply,
        at=0,
        winners=result.winners if result else None,
        reason=result.reason if result else "",
        invited=state.invited,
        tournament=state.pairing[0] if state.pairing else 0,
    )


class RunningMatch(NamedTuple):
    """Of a match that goes on, beside its row in a list."""

    deadline: int | None
    """When the flag of the player to move falls, ms; None without a limit."""
    last_move: str | None


NOT_RUNNING: Final = RunningMatch(None, None)


def running_matches(app: App, rows: Sequence[MatchListRow]) -> dict[int, RunningMatch]:
    """Return those of these matches that go on, by board, in one round trip; one that can't be read is left out."""
    boards = [row.board for row in rows if not row.over]
    found: dict[int, RunningMatch] = {}
    for board, data in zip(boards, app.store.snapshots(boards), strict=True):
        with suppress(msgspec.MsgspecError):
            state = unpack_snapshot(data).state
            last = state.first_moves(state.ply)[-1] if state.ply else None
            found[board] = RunningMatch(deadline(state), last)
    return found
