"""Stable error codes, and the one exception that carries them.

A refusal is a normal answer, not a fault. Its sentence names the rule that was broken and the
place, and programs may rely on its code. Codes are never renamed or reused. `docs/errors.md`
lists them with their exit codes; a test keeps the two together.
"""

from enum import StrEnum

from domain.sentences import Text, Translation, text_in


class Code(StrEnum):
    """Every way a command can be refused."""

    # the text of the command
    UNKNOWN_COMMAND = "unknown-command"
    USAGE = "usage"
    TOO_LONG = "too-long"
    UNKNOWN_GAME = "unknown-game"
    GAME_OFF = "game-off"
    UNKNOWN_OPTION = "unknown-option"
    BAD_OPTION = "bad-option"
    BAD_PLAYERS = "bad-players"
    BAD_SETUP = "bad-setup"
    UNKNOWN_RULES = "unknown-rules"
    BAD_REQUEST = "bad-request"
    BAD_TOURNAMENT = "bad-tournament"
    UNREADABLE_MOVE = "unreadable-move"
    UNKNOWN_OFFER = "unknown-offer"
    # the sender
    BAD_NAME = "bad-name"
    BAD_PASSWORD = "bad-password"  # noqa: S105 - a code, not a secret
    NAME_TAKEN = "name-taken"
    BAD_ADDRESS = "bad-address"
    UNKNOWN_USER = "unknown-user"
    WRONG_PASSWORD = "wrong-password"  # noqa: S105 - a code, not a secret
    PASSWORD_NEEDED = "password-needed"  # noqa: S105 - a code, not a secret
    CODE_NEEDED = "code-needed"
    WRONG_CODE = "wrong-code"
    TOO_MANY_ATTEMPTS = "too-many-attempts"
    SUSPENDED = "suspended"
    SANCTIONED = "sanctioned"
    SIGNUPS_CLOSED = "signups-closed"
    CROSS_SITE = "cross-site"
    UNAUTHORIZED = "unauthorized"
    UNKNOWN_TOKEN = "unknown-token"  # noqa: S105 - a code, not a secret
    MISSING_SCOPE = "missing-scope"
    NOT_A_PLAYER = "not-a-player"
    NOT_AN_ARBITER = "not-an-arbiter"
    NOT_A_MODERATOR = "not-a-moderator"
    NOT_AN_OPERATOR = "not-an-operator"
    NOT_AN_ORGANISER = "not-an-organiser"
    NOT_WANTED = "not-wanted"
    # the match or challenge it is about
    UNKNOWN_BOARD = "unknown-board"
    WRONG_GAME = "wrong-game"
    UNKNOWN_PLY = "unknown-ply"
    BEYOND_END = "beyond-end"
    DAMAGED = "damaged"
    NOT_STARTED = "not-started"
    MATCH_OVER = "match-over"
    ALREADY_STARTED = "already-started"
    STALE_PLY = "stale-ply"
    NOT_YOUR_TURN = "not-your-turn"
    ILLEGAL_MOVE = "illegal-move"
    OFFER_STANDS = "offer-stands"
    NO_OFFER = "no-offer"
    NO_DRAFT = "no-draft"
    NOT_PAUSED = "not-paused"
    TIME_OVER = "time-over"
    TOO_EARLY = "too-early"
    TOO_LATE = "too-late"
    WRONG_TEXT = "wrong-text"
    TOO_MANY = "too-many"
    UNKNOWN_CLAIM = "unknown-claim"
    CLAIM_STANDS = "claim-stands"
    ALREADY_RULED = "already-ruled"
    ALREADY_APPEALED = "already-appealed"
    BAD_RULING = "bad-ruling"
    UNKNOWN_CHALLENGE = "unknown-challenge"
    UNKNOWN_CLUB = "unknown-club"
    LAST_OWNER = "last-owner"
    CLUB_CLOSED = "club-closed"
    OWN_CHALLENGE = "own-challenge"
    UNKNOWN_TOURNAMENT = "unknown-tournament"
    ALREADY_ENTERED = "already-entered"
    NOT_ENTERED = "not-entered"
    UNKNOWN_PAIRING = "unknown-pairing"
    AGAINST_TERMS = "against-terms"
    # delivery
    ID_REUSED = "id-reused"
    TOO_MANY_REFUSALS = "too-many-refusals"
    TOO_FAST = "too-fast"
    NOT_FOUND = "not-found"
    NOT_PUBLISHED = "not-published"
    NOT_ALLOWED = "not-allowed"
    NOT_ACCEPTABLE = "not-acceptable"
    BUSY = "busy"
    PENDING = "pending"
    UNAVAILABLE = "unavailable"
    SEEDS_MISSING = "seeds-missing"
    INTERNAL = "internal"


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error
    """A command is refused.

    `code` is stable. `sentence` is for people: in lower case and without a full stop, it names the
    rule that was broken, the places concerned and, if the reader can act, the remedy. A refusal that
    `decide` may return has a text with a key, so that it can be stored short and read in another
    language. `retry_after` is the number of seconds after which to try again, if the sentence names a
    time; otherwise 0.
    """

    def __init__(self, code: Code, text: Text, retry_after: int = 0) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text
        self.retry_after = retry_after

    @property
    def sentence(self) -> str:
        """The sentence in English."""
        return str(self.text)

    def in_language(self, language: Translation) -> str:
        """Return the sentence in a language, in English if there is no translation."""
        return text_in(self.text, language)
