"""The keys in Redis, and the mapping of boards to shards and lanes.

| key | what |
|---|---|
| `{s07.a1y}:in` | stream of commands waiting: `c` the packed command, `t` received ms, `d` the reply channel |
| `{s07.a1y}:aside` | stream of inbox entries that could not be decoded, for an operator |
| `{s07.a1y}:tries` | hash: inbox entry id -> attempts, of suspected entries |
| `{s07.a1y}:draws` | hash: chain of seeds in use, how many of its seeds are used, its anchor; `index:<chain>` the anchor's leaf |
| `{s07.a1y}:due` | sorted set: board by the ms at which its next reminder or flag is due |
| `{s07.a1y}:log` | stream with ids `<index>-1`: `l` the bytes of a leaf |
| `{s07.a1y}:published` | hash: `size` and `root` of the published log, `fault` why it stopped, `lost` the last loss of leaves; a copy of `size` and `root` is on the queue server, and `end`, where the log ended after the last commit that was announced |
| `{s07.a1y}:shown` | hash: `from` the index from which leaves were last read by a follower of the log, which waits until this write is durable: `infra.store.leaf_reader` |
| `{s07.a1y}:closed` | hash: why the shard takes no command, and whether it can be restored: `infra.store.closed_shards` |
| `{s07.a1y}:over` | sorted set: board of a match that is over and not retired, by the ms of its last event |
| `{s07.a1y}:gone` | bits, at board divided by the number of shards: 1 for a match in the archive |
| `{s07.a1y}:m:<board>` | string: 32-byte head hash, a byte of marks (`commit.lua`), then the packed state |
| `{s07.a1y}:m:<board>:moves` | string: the moves, separated by blanks |
| `{s07.a1y}:m:<board>:turns` | string: the times of the moves, in a match with clocks: `domain.clocks.match_clock` |
| `{s07.a1y}:floor` | ms before which no command is received, whatever the clock shows |
| `{s07.a1y}:boards` | the counter of the shard's boards, where each shard numbers its own |
| `{s07.a1y}:given:<hex>` | the number allocated to a command id there, as long as that is in `{s07.a1y}:ids` |
| `{s07.a1y}:ids` | list of the command ids with an allocated number, the last of them |
| `{s07.a1y}:m:<board>:ev` | list of event bytes, position = seq - 1 |
| `{s07.a1y}:m:<board>:at` | string: where the leaves of the match are in the log: `infra.store.locators` |
| `{s07.a1y}:m:<board>:out` | hash: command id -> stored outcome |
| `{s07.a1y}:m:<board>:laid` | string: conditional moves of the seats, see `domain.match.conditional_moves`; private |
| `{s07.a1y}:m:<board>:no` | hash: account and ply -> refusals counted |
| `{s07.a1y}:m:<board>:chat` | list of the match's chat: `infra.people.messages` |
| `{s07.a1y}:m:<board>:texts` | hash: id of a command -> the statement of a claim, appeal or ruling: `infra.people.statements` |
| `{s07.a1y}:m:<board>:draft` | hash: account -> move that waits for `confirm`: `infra.people.drafts` |
| `{analysis:<board>}` | the analysis of a match, for 30 days: `infra.analyses` |
| `{boards}` | the board counter |
| `{boards}:id:<hex>` | the number allocated to a command id, as long as that is in `{boards}:ids` |
| `{boards}:ids` | list of the command ids with an allocated number, the last million |
| `{boards}:words` | secret of the texts that the server keeps for players: `infra.draw_texts` |
| `{boards}:shape` | hash: the layout, see `infra.store.layout` |
| `{boards}:secrets` | hash: name of a secret -> its fingerprint: `infra.secret_record` |
| `{u:<name>}` | account id |
| `{l:<hex>}` | what a userid looks like; for a year also that of a deleted account: `infra.people.accounts.lookalikes` |
| `{users}` | sorted set, all of score 0: userids in alphabetical order |
| `logins:tried/<hash>/<most>/<minutes>/minute` | wrong passwords for a userid from a network; written by `infra.rate_limits` |
| `logins:everywhere/<hash>/<most>/<minutes>/minute` | the same, from all networks that the account has not used |
| `logins:resets/<hash>/<most>/<minutes>/minute` | requests for a new password, by network and by account |
| `{arbiters}` | set: accounts of arbiters |
| `{a:<hex>}` | the account record: all personal data but messages and notes |
| `{a:<hex>}:mac` | keyed digest of the account record: `infra.people.account_macs` |
| `{a:<hex>}:box` | list of the messages to an account: `infra.people.messages` |
| `{a:<hex>}:read` | sorted set: kind of message, or `chat:<board>` -> time of the newest one read |
| `{a:<hex>}:sent` | set: accounts written to, kept 180 days |
| `{a:<hex>}:strangers` | hash: messages of a day to accounts that do not know this one: `infra.people.stranger_messages` |
| `{a:<hex>}:chats` | set: boards chatted at |
| `{a:<hex>}:stated` | hash: boards with statements of the account: `infra.people.statements` |
| `{a:<hex>}:told` | sorted set: notices of messages to an account: `infra.people.message_notices` |
| `{a:<hex>}:tokens` | hash: token's id -> SHA-256 of its text |
| `{a:<hex>}:networks` | sorted set: hash of a network the account has logged in from -> when, in s; kept 90 days |
| `{a:<hex>}:opened` | hash: ids of the challenges the account has opened, while they wait |
| `{a:<hex>}:joined` | hash: ids of the challenges the account has joined, while they wait |
| `{a:<hex>}:blocked` | hash: id of a blocked account -> nothing: `infra.people.account_lists` |
| `{a:<hex>}:watched` | hash: board of a watched match -> nothing: `infra.people.account_lists` |
| `{a:<hex>}:followed` | hash: id of a followed account -> nothing: `infra.people.account_lists` |
| `{a:<hex>}:muted` | hash: board whose chat is muted -> nothing: `infra.people.account_lists` |
| `{a:<hex>}:seen` | sorted set: board -> when a browser with the account's text for its deal was last seen: `infra.people.seen_texts` |
| `{a:<hex>}:starts` | hash: id of a command that starts a match by name -> against whom: `infra.people.pending_starts` |
| `{a:<hex>}:robots` | hash: id of a command that starts a match with a robot -> when: `infra.people.pending_starts` |
| `{t:<hex>}` | a token's record: `infra.people.tokens`; half the SHA-256 of its text |
| `{c:<id>}` | an open challenge: `infra.people.challenges` |
| `{challenges}:open` | sorted set: ids of the challenges that can be taken, by when they were opened |
| `{challenges}:open:<game>` | the same, of one game |
| `{challenges}:filling` | set: ids of the challenges that are about to be full, until they have a match |
| `{challenges}:links` | secret of the ids of challenges that are not listed |
| `b` | an empty text, set by a trial write and deleted by the next: `infra.durability_watch` |
| `b:5` | the same, on another node of a cluster |
| `{broadcast}` | list of the broadcasts |
| `{broadcast}:told` | sorted set: notices of them |
| `{p:<name>}:live` | projection: `<version>:<generation>:<buckets>` that is read; see `infra.projections` |
| `{p:<name>}:last` | the last generation's number |
| `{p:<name>}:losses` | the lost leaves that the live generation does not know of: `infra.store.lost_leaves` |
| `{p:<name>}:generations` | hash: generation that has data -> its number of buckets |
| `{p:<name>}:paged` | hash: generation with row pages -> since when it is unused, ms, or 0 |
| `{p:<name>}:building` | token of the process that builds another generation, while it does |
| `{p:<name>:b<bucket>}:<generation>:at` | checkpoint of a bucket, which can be written as long as this exists |
| `{p:<name>:b<bucket>}:<generation>:hold` | set while a bucket is replaced, and must not change |
| `{p:<name>:b<bucket>}:<generation>:stuck` | hash: shard -> the leaf that could not be folded, and why |
| `{p:<name>:b<bucket>}:<generation>:keys` | set of the keys of the bucket's data |
| `{p:<name>:b<bucket>}:<generation>:...` | the data: `infra.projections` |
| `{p:erased}` | set: deleted accounts, which get no lists and no notices |
| `{mail}:...`, `{a:<hex>}:codes` | mail; see `infra.mail.keys` |
| `{w:<hex>}` | a browser's session: `infra.people.sessions`; half the SHA-256 of its text |
| `{a:<hex>}:sessions` | hash: session's id -> SHA-256 of its text |
| `{a:<hex>}:reset` | SHA-256 of the link for a new password: `infra.people.password_resets` |
| `{a:<hex>}:push` | hash: browsers that show the account's notifications: `infra.people.push_subscriptions` |
| `{a:<hex>}:notes` | hash: board -> the account's note about a match: `infra.people.notes` |
| `{damaged}` | hash: board -> why the match can't be read: `infra.store.damaged_matches` |
| `{robots}:failed` | hash: board -> why a robot could not act there: `infra.store.robot_failures` |
| `{scrub}` | hash: how far the scrubber is, and its last whole round: `infra.store.scrub_notes` |
| `{scrub}:faults` | hash: what the scrubber has found -> the sentence, packed |
| `{clock}` | hash: notes of the server's clock: `infra.store.server_clock` |
| `{lease:0/3}` | token of the drain that works lane 0 of 3, on the queue server; `{lease:mail}`, `{lease:project}`, `{lease:publish}`, `{lease:scrub}` and `{lease:retire/7}` likewise |
| `{lease:0/3}:held` | mark of a lease that was not released, which tells an expired one from a released one; its value is for the next holder |
| `{lease:0/3}:wake` | list with one entry if the holder of the lease was woken |
| `{lease:0/3}:last` | hash: figures of the lane's last turn: `infra.store.last_runs` |
| `{lease:retire/7}:last` | hash: figures of the last run of the shard's retire job: `infra.store.last_runs` |
| `{beats}` | hash: role, host and process id -> last sign of life, until a day after the last, on the queue server: `infra.heartbeats` |
| `durable` | why moves can't be accepted, empty if they can; for 30 s, on the queue server: `infra.durability_notes` |
| `durable:<run id>` | the settings of a server of the data, for an hour, on the queue server: `infra.durability_notes` |

A shard's keys carry its tag, so they are in one slot of a cluster. Leaf 0 has the stream id `0-1`
because Redis refuses `0-0`.
"""

from collections.abc import Callable
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
ARBITERS: Final = "{arbiters}"
LOGINS: Final = "logins"
"""The beginning of the keys of `infra.rate_limits`."""
BROADCAST: Final = "{broadcast}"
BROADCAST_NOTICES: Final = f"{BROADCAST}:told"
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


def _of_account(rest: str) -> Callable[[bytes], str]:
    """Return a function that returns a key of an account, in the slot of its record."""
    return lambda account_id: f"{{a:{account_id.hex()}}}{rest}"


inbox: Final = _of_shard("in")
dead_letters: Final = _of_shard("aside")
attempts: Final = _of_shard("tries")
seed_chain: Final = _of_shard("draws")
log: Final = _of_shard("log")
due: Final = _of_shard("due")
floor: Final = _of_shard("floor")
shard_boards: Final = _of_shard("boards")
shard_allocated_ids: Final = _of_shard("ids")
ended: Final = _of_shard("over")
archived: Final = _of_shard("gone")
closed: Final = _of_shard("closed")
published: Final = _of_shard("published")
shown: Final = _of_shard("shown")

snapshot: Final = _of_match("")
moves: Final = _of_match(":moves")
turns: Final = _of_match(":turns")
events: Final = _of_match(":ev")
locator: Final = _of_match(":at")
outcomes: Final = _of_match(":out")
refusals: Final = _of_match(":no")
chat: Final = _of_match(":chat")

ARCHIVED_CHAT_SECONDS: Final = 365 * 24 * 3600
"""How long the chat of a match in the archive is kept after its retirement, or its last line."""

drafts: Final = _of_match(":draft")
statements: Final = _of_match(":texts")
conditional_moves: Final = _of_match(":laid")

account: Final = _of_account("")
account_mac: Final = _of_account(":mac")
message_box: Final = _of_account(":box")
read_marks: Final = _of_account(":read")
recipients: Final = _of_account(":sent")
strangers: Final = _of_account(":strangers")
chat_boards: Final = _of_account(":chats")
statement_boards: Final = _of_account(":stated")
message_notices: Final = _of_account(":told")
tokens: Final = _of_account(":tokens")
networks: Final = _of_account(":networks")
challenges_opened: Final = _of_account(":opened")
challenges_joined: Final = _of_account(":joined")
blocked: Final = _of_account(":blocked")
watched: Final = _of_account(":watched")
followed: Final = _of_account(":followed")
muted: Final = _of_account(":muted")
pending_starts: Final = _of_account(":starts")
seen_texts: Final = _of_account(":seen")
password_reset: Final = _of_account(":reset")
matches_with_robots: Final = _of_account(":robots")


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


def open_challenges(game: str | None = None) -> str:
    """Return the key of the open challenges, of all games or of one."""
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
