"""The meaning of each code for a program: one table for the terminal, the web and the documentation.

`docs/errors.md` shows this table; a test keeps table, page and `domain.errors.Code` together.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from domain.errors import Code, Refusal
from infra.sentences import SAY

EXIT_OK: Final = 0
"""Exit code: the command was accepted or answered."""

EXIT_REFUSED: Final = 1
"""Exit code: the command was refused, for good."""

EXIT_UNKNOWN: Final = 2
"""Exit code: the command was not delivered, or its outcome is not known. With its key it is safe to repeat."""


class CodeInfo(msgspec.Struct, frozen=True):
    """A code's exit code, its HTTP status and what it means."""

    exit: int
    status: int
    meaning: str


CODE_INFO: Final[Mapping[Code, CodeInfo]] = {
    Code.UNKNOWN_COMMAND: CodeInfo(EXIT_REFUSED, 404, "there is no such command"),
    Code.USAGE: CodeInfo(EXIT_REFUSED, 400, "the command is not written as its form says"),
    Code.TOO_LONG: CodeInfo(EXIT_REFUSED, 413, "the text is longer than the limit"),
    Code.UNKNOWN_GAME: CodeInfo(EXIT_REFUSED, 404, "there is no such game"),
    Code.UNKNOWN_OPTION: CodeInfo(EXIT_REFUSED, 422, "the game has no such option"),
    Code.BAD_OPTION: CodeInfo(
        EXIT_REFUSED, 422, "an option is repeated, contradicted or its value out of range"
    ),
    Code.BAD_PLAYERS: CodeInfo(EXIT_REFUSED, 422, "the game can't be played by these players"),
    Code.BAD_SETUP: CodeInfo(EXIT_REFUSED, 422, "the setup is not valid in the game"),
    Code.UNKNOWN_RULES: CodeInfo(EXIT_REFUSED, 422, "there is no such version of the rules"),
    Code.BAD_REQUEST: CodeInfo(EXIT_REFUSED, 400, "the request is not of the form asked for"),
    Code.UNREADABLE_MOVE: CodeInfo(EXIT_REFUSED, 422, "the move is not in the game's notation"),
    Code.UNKNOWN_OFFER: CodeInfo(EXIT_REFUSED, 422, "this can't be proposed"),
    Code.BAD_NAME: CodeInfo(EXIT_REFUSED, 422, "no new account can have the userid"),
    Code.BAD_PASSWORD: CodeInfo(EXIT_REFUSED, 422, "no new password can be this"),
    Code.NAME_TAKEN: CodeInfo(
        EXIT_REFUSED, 409, "the userid, or one like it, is or was somebody's"
    ),
    Code.BAD_ADDRESS: CodeInfo(
        EXIT_REFUSED, 422, "a mail address is not of the form asked for, repeated or one too many"
    ),
    Code.UNKNOWN_USER: CodeInfo(EXIT_REFUSED, 404, "there is no such user"),
    Code.WRONG_PASSWORD: CodeInfo(EXIT_REFUSED, 401, "the password is not this user's"),
    Code.PASSWORD_NEEDED: CodeInfo(
        EXIT_REFUSED,
        403,
        "this needs the password, unless it was given within the last ten minutes",
    ),
    Code.TOO_MANY_ATTEMPTS: CodeInfo(
        EXIT_REFUSED, 429, "too many wrong passwords were given for the userid; try again later"
    ),
    Code.SUSPENDED: CodeInfo(EXIT_REFUSED, 403, "the operators have suspended the account"),
    Code.SIGNUPS_CLOSED: CodeInfo(EXIT_REFUSED, 403, "this server makes no new accounts"),
    Code.CROSS_SITE: CodeInfo(EXIT_REFUSED, 403, "a page of another site sent the request"),
    Code.UNAUTHORIZED: CodeInfo(
        EXIT_REFUSED, 401, "the request does not prove which user it is from"
    ),
    Code.UNKNOWN_TOKEN: CodeInfo(
        EXIT_REFUSED, 401, "the token does not exist, was ended or has expired"
    ),
    Code.MISSING_SCOPE: CodeInfo(EXIT_REFUSED, 403, "the token was not made for this"),
    Code.NOT_A_PLAYER: CodeInfo(EXIT_REFUSED, 403, "the user does not play in this match"),
    Code.NOT_AN_ARBITER: CodeInfo(EXIT_REFUSED, 403, "the user is no arbiter"),
    Code.NOT_WANTED: CodeInfo(EXIT_REFUSED, 403, "another player does not want this from the user"),
    Code.UNKNOWN_BOARD: CodeInfo(EXIT_REFUSED, 404, "there is no match of this number"),
    Code.WRONG_GAME: CodeInfo(EXIT_REFUSED, 409, "the match is one of another game"),
    Code.UNKNOWN_PLY: CodeInfo(EXIT_REFUSED, 404, "the match has not come to this ply"),
    Code.BEYOND_END: CodeInfo(
        EXIT_REFUSED, 409, "the match has fewer events than the request names"
    ),
    Code.DAMAGED: CodeInfo(EXIT_UNKNOWN, 503, "what is stored of the match can't be read"),
    Code.NOT_STARTED: CodeInfo(EXIT_REFUSED, 409, "the match waits for its players to accept it"),
    Code.MATCH_OVER: CodeInfo(EXIT_REFUSED, 409, "the match has ended"),
    Code.ALREADY_STARTED: CodeInfo(EXIT_REFUSED, 409, "the match has already started"),
    Code.STALE_PLY: CodeInfo(
        EXIT_REFUSED, 409, "the match does not stand at the ply that was meant"
    ),
    Code.NOT_YOUR_TURN: CodeInfo(EXIT_REFUSED, 409, "another player is to move"),
    Code.ILLEGAL_MOVE: CodeInfo(EXIT_REFUSED, 422, "the rules forbid the move here"),
    Code.OFFER_STANDS: CodeInfo(EXIT_REFUSED, 409, "this was proposed or accepted before"),
    Code.NO_OFFER: CodeInfo(EXIT_REFUSED, 409, "there is no offer to answer"),
    Code.NO_DRAFT: CodeInfo(EXIT_REFUSED, 409, "no move was submitted that could be confirmed"),
    Code.NOT_PAUSED: CodeInfo(EXIT_REFUSED, 409, "the match is not paused"),
    Code.TIME_OVER: CodeInfo(EXIT_REFUSED, 409, "the player's time had run out"),
    Code.TOO_EARLY: CodeInfo(EXIT_REFUSED, 409, "it is not time for this yet"),
    Code.TOO_LATE: CodeInfo(EXIT_REFUSED, 409, "this could be done only earlier in the match"),
    Code.WRONG_TEXT: CodeInfo(
        EXIT_REFUSED, 422, "the text is not the one that the player committed to"
    ),
    Code.TOO_MANY: CodeInfo(EXIT_REFUSED, 409, "the user has as many of these as the limit allows"),
    Code.UNKNOWN_CLAIM: CodeInfo(EXIT_REFUSED, 404, "the match has no claim of this number"),
    Code.CLAIM_STANDS: CodeInfo(EXIT_REFUSED, 409, "another claim in the match waits for a ruling"),
    Code.ALREADY_RULED: CodeInfo(EXIT_REFUSED, 409, "an arbiter has ruled on this already"),
    Code.ALREADY_APPEALED: CodeInfo(
        EXIT_REFUSED, 409, "the one appeal against this ruling was made already"
    ),
    Code.BAD_RULING: CodeInfo(EXIT_REFUSED, 422, "the ruling contradicts itself or the match"),
    Code.UNKNOWN_CHALLENGE: CodeInfo(EXIT_REFUSED, 404, "there is no open challenge of this id"),
    Code.OWN_CHALLENGE: CodeInfo(
        EXIT_REFUSED, 409, "the user made this challenge, and only others can take it"
    ),
    Code.ID_REUSED: CodeInfo(EXIT_REFUSED, 409, "the key was used for another command before"),
    Code.TOO_MANY_REFUSALS: CodeInfo(
        EXIT_REFUSED, 429, "too many commands of the player were refused at this ply"
    ),
    Code.TOO_FAST: CodeInfo(
        EXIT_REFUSED, 429, "more commands than the limit came from the user; try again later"
    ),
    Code.NOT_FOUND: CodeInfo(EXIT_REFUSED, 404, "there is nothing at this path, or no such id"),
    Code.NOT_PUBLISHED: CodeInfo(
        EXIT_UNKNOWN, 404, "it is recorded, but not in the published log yet; try again later"
    ),
    Code.NOT_ALLOWED: CodeInfo(EXIT_REFUSED, 405, "this path does not allow the method"),
    Code.NOT_ACCEPTABLE: CodeInfo(EXIT_REFUSED, 406, "there is no such form of the answer"),
    Code.BUSY: CodeInfo(EXIT_UNKNOWN, 503, "not accepted, because too much waits; try again later"),
    Code.PENDING: CodeInfo(
        EXIT_UNKNOWN, 202, "submitted, but not known to be decided and stored yet"
    ),
    Code.UNAVAILABLE: CodeInfo(
        EXIT_UNKNOWN, 503, "the server can't be reached or can't be relied on"
    ),
    Code.SEEDS_MISSING: CodeInfo(
        EXIT_REFUSED, 503, "the server lacks the secret that its draws come from, and refused it"
    ),
    Code.INTERNAL: CodeInfo(EXIT_REFUSED, 500, "the server failed on this command and refused it"),
}


def unwritten(error: RedisError) -> Refusal | None:
    """Return the refusal of a change because the server can only be read; None for another failure."""
    if "NOREPLICAS" in str(error):
        return Refusal(Code.UNAVAILABLE, SAY("no-writes"))
    return None


def server_failure(error: RedisError) -> str:
    """Return a sentence about a failure of the server that has the matches."""
    if refusal := unwritten(error):
        return str(refusal.text)
    if isinstance(error, RedisConnectionError | RedisTimeoutError):
        return f"the server does not answer ({str(error).rstrip('.')}); look whether it is running"
    return f"the server failed ({error})"
