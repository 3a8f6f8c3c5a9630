"""What each code means to a program: one table for the terminal, the web and the documentation.

`docs/errors.md` shows this table; a test keeps table, page and `domain.errors.Code` together.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from domain.errors import Code

FINE: Final = 0
"""Exit code: the command was accepted or answered."""

REFUSED: Final = 1
"""Exit code: the command was refused, for good."""

UNKNOWN: Final = 2
"""Exit code: the command was not delivered, or its outcome is not known. With its key it is safe to repeat."""


class Problem(msgspec.Struct, frozen=True):
    """A code's exit code, its HTTP status and what it means."""

    exit: int
    status: int
    meaning: str


PROBLEMS: Final[Mapping[Code, Problem]] = {
    Code.UNKNOWN_COMMAND: Problem(REFUSED, 404, "there is no such command"),
    Code.USAGE: Problem(REFUSED, 400, "the command is not written as its form says"),
    Code.TOO_LONG: Problem(REFUSED, 413, "the text is longer than the limit"),
    Code.UNKNOWN_GAME: Problem(REFUSED, 404, "there is no such game"),
    Code.UNKNOWN_OPTION: Problem(REFUSED, 422, "the game has no such option"),
    Code.BAD_OPTION: Problem(
        REFUSED, 422, "an option is repeated, contradicted or its value out of range"
    ),
    Code.BAD_PLAYERS: Problem(REFUSED, 422, "the game is not played by these players"),
    Code.BAD_SETUP: Problem(REFUSED, 422, "the setup or position is none of the game's"),
    Code.UNKNOWN_RULES: Problem(REFUSED, 422, "there is no such version of the rules"),
    Code.BAD_REQUEST: Problem(REFUSED, 400, "the request is not of the form asked for"),
    Code.UNREADABLE_MOVE: Problem(REFUSED, 422, "the move is not in the game's notation"),
    Code.UNKNOWN_OFFER: Problem(REFUSED, 422, "this can't be proposed"),
    Code.BAD_NAME: Problem(REFUSED, 422, "the userid is not of the form asked for"),
    Code.BAD_PASSWORD: Problem(REFUSED, 422, "the password is not of the form asked for"),
    Code.NAME_TAKEN: Problem(REFUSED, 409, "the userid belongs to somebody"),
    Code.BAD_ADDRESS: Problem(
        REFUSED, 422, "a mail address is not of the form asked for, repeated or one too many"
    ),
    Code.UNKNOWN_USER: Problem(REFUSED, 404, "there is no such user"),
    Code.WRONG_PASSWORD: Problem(REFUSED, 401, "the password is not this user's"),
    Code.PASSWORD_NEEDED: Problem(
        REFUSED, 403, "this asks for the password, or for who has given it within ten minutes"
    ),
    Code.TOO_MANY_ATTEMPTS: Problem(
        REFUSED, 429, "too many wrong passwords were given for the userid; try again later"
    ),
    Code.UNAUTHORIZED: Problem(REFUSED, 401, "the request says not who it is from"),
    Code.UNKNOWN_TOKEN: Problem(REFUSED, 401, "the token is not one, or not any more"),
    Code.MISSING_SCOPE: Problem(REFUSED, 403, "the token was not made for this"),
    Code.NOT_A_PLAYER: Problem(REFUSED, 403, "the user does not play in this match"),
    Code.NOT_AN_ARBITER: Problem(REFUSED, 403, "the user is no arbiter"),
    Code.NOT_WANTED: Problem(REFUSED, 403, "another player does not want this of the user"),
    Code.UNKNOWN_BOARD: Problem(REFUSED, 404, "there is no match of this number"),
    Code.WRONG_GAME: Problem(REFUSED, 409, "the match is one of another game"),
    Code.UNKNOWN_PLY: Problem(REFUSED, 404, "the match has not come to this ply"),
    Code.BEYOND_END: Problem(REFUSED, 409, "the match has fewer events than were heard of"),
    Code.DAMAGED: Problem(UNKNOWN, 503, "what is stored of the match can't be read"),
    Code.NOT_STARTED: Problem(REFUSED, 409, "the match waits for its players to accept it"),
    Code.MATCH_OVER: Problem(REFUSED, 409, "the match has ended"),
    Code.ALREADY_STARTED: Problem(REFUSED, 409, "the match has started already"),
    Code.STALE_PLY: Problem(REFUSED, 409, "the match does not stand at the ply that was meant"),
    Code.NOT_YOUR_TURN: Problem(REFUSED, 409, "another player is to move"),
    Code.ILLEGAL_MOVE: Problem(REFUSED, 422, "the rules forbid the move here"),
    Code.OFFER_STANDS: Problem(REFUSED, 409, "this was proposed or accepted before"),
    Code.NO_OFFER: Problem(REFUSED, 409, "there is no offer to answer"),
    Code.NO_DRAFT: Problem(REFUSED, 409, "no move was submitted that could be confirmed"),
    Code.NOT_PAUSED: Problem(REFUSED, 409, "the match is not paused"),
    Code.TIME_OVER: Problem(REFUSED, 409, "the player's time had run out"),
    Code.TOO_EARLY: Problem(REFUSED, 409, "it is not time for this yet"),
    Code.TOO_LATE: Problem(REFUSED, 409, "this could be done only earlier in the match"),
    Code.WRONG_TEXT: Problem(REFUSED, 422, "the text is not the one that the player committed to"),
    Code.TOO_MANY: Problem(REFUSED, 409, "there are as many of these as there may be"),
    Code.UNKNOWN_CHALLENGE: Problem(REFUSED, 404, "there is no open challenge of this id"),
    Code.OWN_CHALLENGE: Problem(REFUSED, 409, "a challenge is taken by others than who made it"),
    Code.ID_REUSED: Problem(REFUSED, 409, "the key was used for another command before"),
    Code.TOO_MANY_REFUSALS: Problem(
        REFUSED, 429, "too many commands of the player were refused at this ply"
    ),
    Code.TOO_FAST: Problem(
        REFUSED, 429, "more commands than the limit came from the user; try again later"
    ),
    Code.NOT_FOUND: Problem(REFUSED, 404, "there is no such place"),
    Code.NOT_ALLOWED: Problem(REFUSED, 405, "this can't be done with this place"),
    Code.NOT_ACCEPTABLE: Problem(REFUSED, 406, "there is no such form of the answer"),
    Code.BUSY: Problem(UNKNOWN, 503, "not taken, since too much waits; try again later"),
    Code.PENDING: Problem(UNKNOWN, 202, "taken, but not known to be decided or kept yet"),
    Code.UNAVAILABLE: Problem(UNKNOWN, 503, "the server can't be reached or can't be relied on"),
    Code.SEEDS_MISSING: Problem(
        REFUSED, 503, "the server lacks the secret that its draws come from, and refused it"
    ),
    Code.INTERNAL: Problem(REFUSED, 500, "the server failed on this command and refused it"),
}


def server_failure(error: RedisError) -> str:
    """Say what is wrong with the server of the matches."""
    if isinstance(error, RedisConnectionError | RedisTimeoutError):
        return f"the server does not answer ({str(error).rstrip('.')}); look whether it is running"
    return f"the server failed ({error})"
