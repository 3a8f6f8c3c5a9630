"""The meaning of each code for a program: one table for the terminal, the web and the documentation.

`docs/errors.md` shows this table; a test keeps table, page and `domain.errors.Code` together.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from domain.errors import Code, Refusal
from infra.sentences import SAY

if TYPE_CHECKING:
    from redis.exceptions import RedisError

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
    Code.USAGE: CodeInfo(EXIT_REFUSED, 400, "the command isn't written the way its form says"),
    Code.TOO_LONG: CodeInfo(EXIT_REFUSED, 413, "the text is longer than the limit"),
    Code.UNKNOWN_GAME: CodeInfo(EXIT_REFUSED, 404, "there is no such game"),
    Code.GAME_OFF: CodeInfo(EXIT_REFUSED, 403, "the operators have switched the game off"),
    Code.UNKNOWN_OPTION: CodeInfo(EXIT_REFUSED, 422, "the game has no such option"),
    Code.BAD_OPTION: CodeInfo(
        EXIT_REFUSED, 422, "an option is repeated, contradicts another, or has a value out of range"
    ),
    Code.BAD_PLAYERS: CodeInfo(EXIT_REFUSED, 422, "the game can't be played by these players"),
    Code.BAD_SETUP: CodeInfo(EXIT_REFUSED, 422, "the setup isn't valid in this game"),
    Code.UNKNOWN_RULES: CodeInfo(EXIT_REFUSED, 422, "there is no such version of the rules"),
    Code.BAD_REQUEST: CodeInfo(EXIT_REFUSED, 400, "the request doesn't have the required form"),
    Code.BAD_TOURNAMENT: CodeInfo(
        EXIT_REFUSED, 422, "the tournament doesn't have the required form, or breaks its rules"
    ),
    Code.UNREADABLE_MOVE: CodeInfo(
        EXIT_REFUSED, 422, "the move isn't written in the game's notation"
    ),
    Code.UNKNOWN_OFFER: CodeInfo(EXIT_REFUSED, 422, "this can't be proposed"),
    Code.BAD_NAME: CodeInfo(EXIT_REFUSED, 422, "this userid can't be used for a new account"),
    Code.BAD_PASSWORD: CodeInfo(EXIT_REFUSED, 422, "this can't be used as a new password"),
    Code.NAME_TAKEN: CodeInfo(
        EXIT_REFUSED, 409, "the userid, or one like it, is taken or was until recently"
    ),
    Code.BAD_ADDRESS: CodeInfo(
        EXIT_REFUSED, 422, "an e-mail address is malformed, repeated or one too many"
    ),
    Code.UNKNOWN_USER: CodeInfo(EXIT_REFUSED, 404, "there is no such user"),
    Code.WRONG_PASSWORD: CodeInfo(EXIT_REFUSED, 401, "this is not the user's password"),
    Code.PASSWORD_NEEDED: CodeInfo(
        EXIT_REFUSED,
        403,
        "this needs the password, unless it was entered within the last ten minutes",
    ),
    Code.CODE_NEEDED: CodeInfo(
        EXIT_REFUSED, 403, "the account has a second factor, so its password needs a code beside it"
    ),
    Code.WRONG_CODE: CodeInfo(EXIT_REFUSED, 403, "this code isn't valid, or was used already"),
    Code.TOO_MANY_ATTEMPTS: CodeInfo(
        EXIT_REFUSED, 429, "too many wrong passwords for this userid; try again later"
    ),
    Code.SUSPENDED: CodeInfo(EXIT_REFUSED, 403, "the operators have suspended the account"),
    Code.SANCTIONED: CodeInfo(
        EXIT_REFUSED, 403, "moderators keep the user from this for a while, or for good"
    ),
    Code.SIGNUPS_CLOSED: CodeInfo(EXIT_REFUSED, 403, "this server is closed to new accounts"),
    Code.CROSS_SITE: CodeInfo(EXIT_REFUSED, 403, "a page of another site sent the request"),
    Code.UNAUTHORIZED: CodeInfo(
        EXIT_REFUSED, 401, "the request doesn't prove which user it is from"
    ),
    Code.UNKNOWN_TOKEN: CodeInfo(
        EXIT_REFUSED, 401, "the token doesn't exist, was revoked or has expired"
    ),
    Code.MISSING_SCOPE: CodeInfo(EXIT_REFUSED, 403, "the token lacks the scope for this"),
    Code.NOT_A_PLAYER: CodeInfo(EXIT_REFUSED, 403, "the user isn't a player of this match"),
    Code.NOT_AN_ARBITER: CodeInfo(EXIT_REFUSED, 403, "the user isn't an arbiter"),
    Code.NOT_A_MODERATOR: CodeInfo(EXIT_REFUSED, 403, "the user isn't a moderator"),
    Code.NOT_AN_OPERATOR: CodeInfo(EXIT_REFUSED, 403, "the user isn't an operator"),
    Code.NOT_AN_ORGANISER: CodeInfo(
        EXIT_REFUSED, 403, "the user isn't an organiser or an owner of the club"
    ),
    Code.NOT_WANTED: CodeInfo(EXIT_REFUSED, 403, "another player doesn't want this from the user"),
    Code.UNKNOWN_BOARD: CodeInfo(EXIT_REFUSED, 404, "there is no match with this number"),
    Code.WRONG_GAME: CodeInfo(EXIT_REFUSED, 409, "the match is of another game"),
    Code.UNKNOWN_PLY: CodeInfo(EXIT_REFUSED, 404, "the match hasn't reached this ply"),
    Code.BEYOND_END: CodeInfo(
        EXIT_REFUSED, 409, "the match has fewer events than the request names"
    ),
    Code.DAMAGED: CodeInfo(EXIT_UNKNOWN, 503, "the stored match can't be read"),
    Code.NOT_STARTED: CodeInfo(
        EXIT_REFUSED, 409, "the match is waiting for its players to accept it"
    ),
    Code.MATCH_OVER: CodeInfo(EXIT_REFUSED, 409, "the match has ended"),
    Code.ALREADY_STARTED: CodeInfo(EXIT_REFUSED, 409, "the match has already started"),
    Code.STALE_PLY: CodeInfo(EXIT_REFUSED, 409, "the match isn't at the ply that was meant"),
    Code.NOT_YOUR_TURN: CodeInfo(EXIT_REFUSED, 409, "it is another player's turn"),
    Code.ILLEGAL_MOVE: CodeInfo(EXIT_REFUSED, 422, "the rules don't allow this move here"),
    Code.OFFER_STANDS: CodeInfo(EXIT_REFUSED, 409, "this has already been proposed or accepted"),
    Code.NO_OFFER: CodeInfo(EXIT_REFUSED, 409, "there is no offer to answer"),
    Code.NO_DRAFT: CodeInfo(EXIT_REFUSED, 409, "there is no submitted move to confirm"),
    Code.NOT_PAUSED: CodeInfo(EXIT_REFUSED, 409, "the match is not paused"),
    Code.TIME_OVER: CodeInfo(EXIT_REFUSED, 409, "the player's time had run out"),
    Code.TOO_EARLY: CodeInfo(EXIT_REFUSED, 409, "it is not time for this yet"),
    Code.TOO_LATE: CodeInfo(EXIT_REFUSED, 409, "this was only possible earlier in the match"),
    Code.WRONG_TEXT: CodeInfo(
        EXIT_REFUSED, 422, "this isn't the text that the player committed to"
    ),
    Code.TOO_MANY: CodeInfo(EXIT_REFUSED, 409, "the user already has as many of these as allowed"),
    Code.UNKNOWN_CLAIM: CodeInfo(EXIT_REFUSED, 404, "the match has no claim with this number"),
    Code.CLAIM_STANDS: CodeInfo(
        EXIT_REFUSED, 409, "another claim in the match is waiting for a ruling"
    ),
    Code.ALREADY_RULED: CodeInfo(EXIT_REFUSED, 409, "an arbiter has already ruled on this"),
    Code.ALREADY_APPEALED: CodeInfo(
        EXIT_REFUSED, 409, "there has already been an appeal against this ruling"
    ),
    Code.BAD_RULING: CodeInfo(EXIT_REFUSED, 422, "the ruling contradicts itself or the match"),
    Code.UNKNOWN_CHALLENGE: CodeInfo(EXIT_REFUSED, 404, "there is no open challenge with this id"),
    Code.UNKNOWN_CLUB: CodeInfo(
        EXIT_REFUSED, 404, "there is no club at this path that the user may see"
    ),
    Code.LAST_OWNER: CodeInfo(EXIT_REFUSED, 409, "the club has no other owner"),
    Code.CLUB_CLOSED: CodeInfo(EXIT_REFUSED, 409, "the club is closed"),
    Code.OWN_CHALLENGE: CodeInfo(
        EXIT_REFUSED, 409, "the user made this challenge, and only others can take it"
    ),
    Code.UNKNOWN_TOURNAMENT: CodeInfo(
        EXIT_REFUSED, 404, "there is no tournament with this number that the user may see"
    ),
    Code.ALREADY_ENTERED: CodeInfo(EXIT_REFUSED, 409, "the player has already entered"),
    Code.NOT_ENTERED: CodeInfo(EXIT_REFUSED, 409, "the player hasn't entered"),
    Code.UNKNOWN_PAIRING: CodeInfo(EXIT_REFUSED, 404, "the tournament has no such pairing"),
    Code.AGAINST_TERMS: CodeInfo(EXIT_REFUSED, 403, "the terms of the tournament don't allow this"),
    Code.ID_REUSED: CodeInfo(
        EXIT_REFUSED, 409, "the key has already been used for another command"
    ),
    Code.TOO_MANY_REFUSALS: CodeInfo(
        EXIT_REFUSED, 429, "too many of the player's commands were refused at this ply"
    ),
    Code.TOO_FAST: CodeInfo(EXIT_REFUSED, 429, "the user sent too many commands; try again later"),
    Code.NOT_FOUND: CodeInfo(EXIT_REFUSED, 404, "there is nothing at this path, or no such id"),
    Code.NOT_PUBLISHED: CodeInfo(
        EXIT_UNKNOWN, 404, "it is recorded, but not in the published log yet; try again later"
    ),
    Code.NOT_ALLOWED: CodeInfo(EXIT_REFUSED, 405, "this path doesn't allow this method"),
    Code.NOT_ACCEPTABLE: CodeInfo(EXIT_REFUSED, 406, "the answer isn't available in this format"),
    Code.BUSY: CodeInfo(
        EXIT_UNKNOWN, 503, "not accepted, because too much is waiting; try again later"
    ),
    Code.PENDING: CodeInfo(
        EXIT_UNKNOWN, 202, "submitted, but not yet known to be decided and stored"
    ),
    Code.UNAVAILABLE: CodeInfo(
        EXIT_UNKNOWN, 503, "the server can't be reached or can't be relied on"
    ),
    Code.SEEDS_MISSING: CodeInfo(
        EXIT_REFUSED, 503, "the server lacks the secret that its deals come from, and refused it"
    ),
    Code.INTERNAL: CodeInfo(
        EXIT_REFUSED, 500, "the server failed to decide this command, and refused it"
    ),
}


RETRY_SECONDS: Final[Mapping[Code, int]] = {
    Code.PENDING: 1,
    Code.NOT_PUBLISHED: 10,
    Code.BUSY: 60,
    Code.UNAVAILABLE: 5,
    Code.SEEDS_MISSING: 60,
    Code.DAMAGED: 3600,  # an operator mends it
    Code.TOO_FAST: 60,
    Code.TOO_MANY_REFUSALS: 3600,  # the match goes on, by a move or by the clock
    Code.TOO_MANY_ATTEMPTS: 900,
}
"""Seconds after which to try again, for the codes where that helps and the refusal itself has no number."""


def retry_seconds(code: Code, retry_after: int = 0) -> int:
    """Return the seconds after which to try again; 0 for a code where that does not help. `retry_after` as in a `Refusal`."""
    return (retry_after or RETRY_SECONDS[code]) if code in RETRY_SECONDS else 0


def unwritten(error: "RedisError") -> Refusal | None:
    """Return the refusal of a change because the server can only be read; None for another failure."""
    if "NOREPLICAS" in str(error):
        return Refusal(Code.UNAVAILABLE, SAY("no-writes"))
    return None


def server_failure(error: "RedisError") -> str:
    """Return a sentence about a failure of the server that has the matches."""
    if refusal := unwritten(error):
        return str(refusal.text)
    # slow to import, and `matchpost do` asks a server that runs for its answer
    from redis.exceptions import ConnectionError as RedisConnectionError  # noqa: PLC0415
    from redis.exceptions import TimeoutError as RedisTimeoutError  # noqa: PLC0415

    if isinstance(error, RedisConnectionError | RedisTimeoutError):
        return f"the server does not answer ({str(error).rstrip('.')}); look whether it is running"
    return f"the server failed ({error})"
