"""The names of keys in Redis, and the mapping of boards to shards and lanes; `infra.redis.key_table` explains each."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple

HEARTBEATS: Final = "{beats}"
BARRIER: Final = "b"
"""The key of trial writes: a short one, because each is written to the append-only file."""
DURABILITY: Final = "durable"
BOARDS: Final = "{boards}"
ALLOCATED_IDS: Final = "{boards}:ids"
LAYOUT: Final = "{boards}:shape"
SECRETS: Final = "{boards}:secrets"
CLOCK: Final = "{clock}"
DAMAGED: Final = "{damaged}"
ROBOT_FAILURES: Final = "{robots}:failed"
SCRUB: Final = "{scrub}"
SCRUB_FAULTS: Final = f"{SCRUB}:faults"
DRAW_TEXTS: Final = "{boards}:words"
ERASED_ACCOUNTS: Final = "{p:erased}"
USERS: Final = "{users}"
ROLES: Final[Mapping[str, str]] = {
    "arbiter": "{arbiters}",
    "moderator": "{moderators}",
    "operator": "{operators}",
}
"""The sets of the accounts that have a role."""
LOGINS: Final = "logins"
"""The beginning of the keys of `infra.people.rate_limits`."""
BROADCAST: Final = "{broadcast}"
BROADCAST_NOTICES: Final = f"{BROADCAST}:notices"
SITE: Final = "{site}"
ADMISSION: Final = f"{SITE}:admission"
SIGNUP_LINKS: Final = f"{SITE}:links"
SIGNUP_USES: Final = f"{SITE}:uses"
GAMES_OFF: Final = f"{SITE}:off"
ACTS: Final = f"{SITE}:acts"
REPORTS: Final = "{reports}:all"
OPEN_REPORTS: Final = "{reports}:open"
APPEALS: Final = "{reports}:appeals"
FIRST_OPERATOR: Final = f"{SITE}:first"
MASTHEAD: Final = f"{SITE}:masthead"
SITE_TEXTS: Final = f"{SITE}:texts"
SITE_LOGO: Final = f"{SITE}:logo"
CLUB_PATHS: Final = "{clubs}:paths"
TOURNAMENT_TEXTS: Final = "{tournaments}:texts"
TOURNAMENT_CODES: Final = "{tournaments}:codes"
CHALLENGES: Final = "{challenges}"
FILLING_CHALLENGES: Final = f"{CHALLENGES}:filling"
CHALLENGE_LINKS: Final = f"{CHALLENGES}:links"

SLOTS: Final = 16_384
"""Slots of a cluster."""

MOST_SHARDS: Final = 128

_SUFFIXES: Final = (
    "6id", "7lq", "5bm", "2p", "655", "j3h", "5z4", "a1y", "1xz", "09g", "1zu", "gb", "69y",
    "7xd", "9k4", "0g9", "77a", "62t", "7yj", "68w", "8oc", "1cn", "3mr", "2hg", "0zb", "92g",
    "35c", "20v", "73m", "66x", "71b", "64w", "3gy", "2bl", "art", "599", "f1x", "2z5", "n2c",
    "cf", "d2n", "843", "237", "fxz", "1do", "0az", "2of", "3js", "dp", "c4d", "bwv", "6x3",
    "872", "d1o", "jf7", "za2", "elk", "9j6", "0l8", "lje", "byy", "624", "a6x", "quu", "0ka",
    "1nt", "fj8", "of5", "7ff", "6cs", "7di", "kb4", "8n5", "1b8", "7xp", "69m", "82d", "3e",
    "0uw", "14j", "bml", "chy", "4l5", "hjh", "nc", "6zp", "40d", "55q", "e8z", "1s7", "m3m",
    "150", "byy", "624", "0lt", "1ia", "at7", "qs2", "40l", "55y", "eoj", "9i7", "3n3", "gav",
    "843", "d2n", "fxz", "237", "j3d", "659", "b8s", "676", "1gn", "8kc", "6x3", "bwv", "d1o",
    "872", "1u4", "8y9", "6ne", "7kp", "5el", "ic1", "624", "gs", "quu", "a6x",
)  # fmt: skip
"""For each shard the end of its tag, found by search so that the tag is in the shard's slot."""

_TAGS: Final = tuple(f"{{s{shard:02}.{suffix}}}" for shard, suffix in enumerate(_SUFFIXES))


def shard_of(board: int, shards: int) -> int:
    """Return the shard a board lives in."""
    return board % shards


class Lane(NamedTuple):
    """One of the lanes into which the shards are divided; a drain works one lane."""

    number: int
    """From 0."""
    of: int
    """How many lanes there are."""

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def shards(self, shards: int) -> list[int]:
        """Return the shards that this lane drains, of so many in all."""
        return [one for one in shards_by_slot(shards) if lane_of(one, self.of, shards) == self]


def all_lanes(count: int) -> list[Lane]:
    """Return all lanes of a division."""
    return [Lane(number, count) for number in range(count)]


def lane_of(shard: int, lanes: int, shards: int) -> Lane:
    """Return the lane that drains a shard: lanes are ranges of slots, so that few nodes serve one."""
    return Lane(shards_by_slot(shards).index(shard) * lanes // shards, lanes)


@cache
def shards_by_slot(shards: int) -> tuple[int, ...]:
    """Return the shards in the order of their slots."""
    return tuple(sorted(range(shards), key=slot_of))


def noted_settings(server: str) -> str:
    """Return the key of the noted settings of a server, by its `run_id`."""
    return f"{DURABILITY}:{server}"


def barrier(number: int) -> str:
    """Return one of the keys of trial writes, which are spread over all slots."""
    return f"b:{number}" if number else BARRIER


def slot_of(shard: int) -> int:
    """Return the slot of a shard's keys.

    Each further shard halves the widest gap, so that any number of shards is spread evenly over a
    cluster's slots: its number with its bits reversed.
    """
    return int(f"{shard:07b}"[::-1], 2) * (SLOTS // MOST_SHARDS)


def shard_tag(shard: int) -> str:
    """Return the beginning of a shard's keys: its hash tag, which is in the slot `slot_of`."""
    return _TAGS[shard]


def shard_tags(shards: int) -> str:
    """Return the tags of all shards in one word, to record and to compare."""
    return " ".join(_TAGS[:shards])


def archive_bit(board: int, shards: int) -> int:
    """Return the place of a match in the bits of its shard's archived matches.

    A string has 2^32 bits; the last stands for all boards above, which nobody has given out.
    """
    return min(board // shards, 2**32 - 1)


def archive_mark(board: int, shards: int) -> tuple[str, int]:
    """Return the key and the bit that are 1 for a match in the archive."""
    return archived(shard_of(board, shards)), archive_bit(board, shards)


def _of_shard(rest: str) -> Callable[[int], str]:
    """Return a function that returns a key of a shard."""
    return lambda shard: f"{_TAGS[shard]}:{rest}"


def _of_match(rest: str) -> Callable[[int, int], str]:
    """Return a function that returns a key of a match, by its shard and board."""
    return lambda shard, board: f"{_TAGS[shard]}:m:{board}{rest}"


def of_account(rest: str) -> Callable[[bytes], str]:
    """Return a function that returns a key of an account, in the slot of its record."""
    return lambda account_id: f"{{a:{account_id.hex()}}}{rest}"


inbox: Final = _of_shard("in")
dead_letters: Final = _of_shard("dead-letters")
attempts: Final = _of_shard("tries")
seed_chain: Final = _of_shard("draws")
log: Final = _of_shard("log")
due: Final = _of_shard("due")
floor: Final = _of_shard("floor")
shard_boards: Final = _of_shard("boards")
shard_allocated_ids: Final = _of_shard("ids")
ended: Final = _of_shard("ended")
archived: Final = _of_shard("archived")
closed: Final = _of_shard("closed")
published: Final = _of_shard("published")
shown: Final = _of_shard("shown")

snapshot: Final = _of_match("")
moves: Final = _of_match(":moves")
turns: Final = _of_match(":turns")
events: Final = _of_match(":ev")
locator: Final = _of_match(":at")
outcomes: Final = _of_match(":out")
refusals: Final = _of_match(":refusals")
chat: Final = _of_match(":chat")

ARCHIVED_CHAT_SECONDS: Final = 365 * 24 * 3600
"""How long the chat of a match in the archive is kept after its retirement, or its last line."""

drafts: Final = _of_match(":draft")
statements: Final = _of_match(":texts")
conditional_moves: Final = _of_match(":conditional")

account: Final = of_account("")
account_mac: Final = of_account(":mac")
message_box: Final = of_account(":box")
read_marks: Final = of_account(":read")
recipients: Final = of_account(":sent")
strangers: Final = of_account(":strangers")
chat_boards: Final = of_account(":chats")
statement_boards: Final = of_account(":stated")
message_notices: Final = of_account(":notices")
tokens: Final = of_account(":tokens")
networks: Final = of_account(":networks")
sanctions: Final = of_account(":sanctions")
clubs_of_account: Final = of_account(":clubs")
paired: Final = of_account(":paired")
challenges_opened: Final = of_account(":opened")
challenges_joined: Final = of_account(":joined")
pending_starts: Final = of_account(":starts")
seen_texts: Final = of_account(":seen")
password_reset: Final = of_account(":reset")
matches_with_robots: Final = of_account(":robots")
calendar: Final = of_account(":calendar")
apps: Final = of_account(":apps")
grants: Final = of_account(":grants")


def app_users(owner: bytes, id_: str) -> str:
    """Return the key of the accounts that have let an app of an account act for them."""
    return f"{account(owner)}:app:{id_}"


def device(digest: bytes) -> str:
    """Return the key of a request of a device, by the SHA-256 of the code that its user types."""
    return f"{{d:{digest[:16].hex()}}}"


def external(digest: bytes) -> str:
    """Return the key of the account of somebody at the group's provider."""
    return f"{{x:{digest.hex()}}}"


def refused(shard: int, account_id: bytes) -> str:
    """Return the key of the refused commands of an account in a shard."""
    return f"{_TAGS[shard]}:refused:{account_id.hex()}"


def allocated(command: bytes) -> str:
    """Return the key of the board number of a command id."""
    return f"{BOARDS}:id:{command.hex()}"


def shard_allocated(shard: int, command: bytes) -> str:
    """Return the key of the board number of a command id, where shards number their boards."""
    return f"{_TAGS[shard]}:given:{command.hex()}"


def analysis(board: int) -> str:
    """Return the key of the analysis of a match."""
    return f"{{analysis:{board}}}"


def user(name: str) -> str:
    """Return the key of a userid."""
    return f"{{u:{name}}}"


def lookalike(digest: bytes) -> str:
    """Return the key of all userids that look alike, by the SHA-256 of their skeleton."""
    return f"{{l:{digest[:16].hex()}}}"


def token(digest: bytes) -> str:
    """Return the key of the token whose text has this SHA-256."""
    return f"{{t:{digest[:16].hex()}}}"


def challenge(id_: str) -> str:
    """Return the key of a challenge."""
    return f"{{c:{id_}}}"


def reports_made(account: bytes) -> str:
    """Return the key of the things that an account has reported."""
    return f"{{reports}}:made:{account.hex()}"


def club(id_: str, rest: str = "") -> str:
    """Return the key of a club's record, or of a part of the club beside it."""
    return f"{{club:{id_}}}{rest}"


def club_members(id_: str) -> str:
    """Return the key of a club's members."""
    return club(id_, ":members")


def club_requests(id_: str) -> str:
    """Return the key of the accounts that ask to join a club."""
    return club(id_, ":requests")


def club_news(id_: str) -> str:
    """Return the key of a club's announcements."""
    return club(id_, ":news")


def open_challenges(game: str | None = None, club: str = "") -> str:
    """Return the key of the open challenges, of all games, of one, or of a club."""
    if club:
        return f"{CHALLENGES}:club:{club}"
    return f"{CHALLENGES}:open" if game is None else f"{CHALLENGES}:open:{game}"


def projection(name: str, rest: str) -> str:
    """Return a key about a projection as a whole."""
    return f"{{p:{name}}}:{rest}"


def bucket(name: str, number: int, generation: int, rest: str) -> str:
    """Return a key of one bucket of a projection, in one of its generations."""
    return f"{{p:{name}:b{number}}}:{generation}:{rest}"


def lease(what: Lane | str) -> str:
    """Return the key of the lease of a lane, or of something of which there is one."""
    return f"{{lease:{what}}}"


def lease_mark(what: Lane | str) -> str:
    """Return the key of the mark of a lease that was not released."""
    return f"{{lease:{what}}}:held"


def wakeups(what: Lane | str) -> str:
    """Return the key of the list on which the holder of a lease waits."""
    return f"{{lease:{what}}}:wake"


def last_turn(lane: Lane) -> str:
    """Return the key of the note of a lane's last turn."""
    return f"{{lease:{lane}}}:last"


def last_retire_run(shard: int) -> str:
    """Return the key of the note of the last run of a shard's retire job."""
    return f"{{lease:retire/{shard}}}:last"
