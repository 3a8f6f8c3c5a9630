"""The keys in Redis, and the mapping of boards to shards and lanes.

| key | what |
|---|---|
| `{s07}:in` | stream of commands waiting: `c` the packed command, `t` received ms, `d` the reply channel |
| `{s07}:aside` | stream of inbox entries that could not be decoded, for an operator |
| `{s07}:tries` | hash: inbox entry id -> attempts, of suspected entries |
| `{s07}:draws` | hash: chain of seeds in use, how many of its seeds are used, its anchor; `index:<chain>` the anchor's leaf |
| `{s07}:due` | sorted set: board by the ms at which its next reminder or flag is due |
| `{s07}:log` | stream with ids `<index>-1`: `e` board:seq, or `l` the bytes of a leaf |
| `{s07}:m:<board>` | string: 32-byte head hash, then the packed state |
| `{s07}:m:<board>:ev` | list of event bytes, position = seq - 1 |
| `{s07}:m:<board>:out` | hash: command id -> stored outcome |
| `{s07}:m:<board>:laid` | string: conditional moves of the seats, see `domain.match.conditional_moves`; private |
| `{s07}:m:<board>:no` | hash: account and ply -> refusals counted |
| `{s07}:m:<board>:chat` | list of the match's chat: `infra.people.messages` |
| `{s07}:m:<board>:draft` | hash: account -> move that waits for `confirm`: `infra.people.drafts` |
| `{boards}` | the board counter |
| `{boards}:id:<hex>` | the number allocated to a command id, as long as that is in `{boards}:ids` |
| `{boards}:ids` | list of the command ids with an allocated number, the last million |
| `{boards}:words` | secret of the texts that the server keeps for players: `infra.draw_texts` |
| `{boards}:shape` | hash: format and number of shards (never changed), number of lanes |
| `{u:<name>}` | account id |
| `{users}` | sorted set, all of score 0: userids in alphabetical order |
| `logins:tried/<hash>/<most>/<minutes>/minute` | wrong passwords for a userid from a network; written by `infra.rate_limits` |
| `logins:everywhere/<hash>/<most>/<minutes>/minute` | the same, from all networks that the account has not used |
| `{a:<hex>}` | the account record: all personal data but messages and notes |
| `{a:<hex>}:box` | list of the messages to an account: `infra.people.messages` |
| `{a:<hex>}:read` | sorted set: kind of message, or `chat:<board>` -> time of the newest one read |
| `{a:<hex>}:sent` | set: accounts written to, kept 180 days |
| `{a:<hex>}:chats` | set: boards chatted at |
| `{a:<hex>}:told` | sorted set: notices of messages to an account: `infra.people.message_notices` |
| `{a:<hex>}:tokens` | hash: token's id -> SHA-256 of its text |
| `{a:<hex>}:networks` | sorted set: hash of a network the account has logged in from -> when, in s; kept 90 days |
| `{a:<hex>}:opened` | hash: ids of the challenges the account has opened, while they wait |
| `{a:<hex>}:joined` | hash: ids of the challenges the account has joined, while they wait |
| `{a:<hex>}:blocked` | hash: id of a blocked account -> nothing: `infra.people.blocks` |
| `{a:<hex>}:starts` | hash: id of a command that starts a match by name -> against whom: `infra.people.pending_starts` |
| `{t:<hex>}` | a token's record: `infra.people.tokens`; half the SHA-256 of its text |
| `{c:<id>}` | an open challenge: `infra.people.challenges` |
| `{challenges}:open` | sorted set: ids of the challenges that can be taken, by when they were opened |
| `{challenges}:open:<game>` | the same, of one game |
| `{challenges}:filling` | set: ids of the challenges that are about to be full, until they have a match |
| `{beats}` | hash: role, host and process id -> last sign of life, until a day after the last: `infra.heartbeats` |
| `{beats}:barrier` | time of the last trial write, in ms: `infra.durability_watch` |
| `{broadcast}` | list of the broadcasts |
| `{broadcast}:told` | sorted set: notices of them |
| `{p:<name>}:live` | projection: `<version>:<generation>` that is read; see `infra.projections` |
| `{p:<name>}:last` | the last generation's number |
| `{p:<name>}:building` | token of the process that builds another generation, while it does |
| `{p:<name>}:<generation>:at` | checkpoint of a generation, which exists as long as this |
| `{p:<name>}:<generation>:hold` | set while a generation is compared and must not change |
| `{p:<name>}:<generation>:stuck` | hash: shard -> the leaf that could not be folded, and why |
| `{p:<name>}:<generation>:...` | the projection's data: `infra.projections` |
| `{mail}:...`, `{a:<hex>}:codes` | mail; see `infra.mail.keys` |
| `{w:<hex>}` | a browser's session: `infra.people.sessions`; half the SHA-256 of its text |
| `{a:<hex>}:sessions` | hash: session's id -> SHA-256 of its text |
| `{a:<hex>}:notes` | hash: board -> the account's note about a match: `infra.people.notes` |
| `{damaged}` | hash: board -> why the match can't be read: `infra.store.damaged_matches` |
| `{clock}` | hash: notes of the server's clock: `infra.store.server_clock` |
| `lease:<lane>` | token of the drain that works a lane, in RQ's Redis |
| `lease:<lane>:held` | mark of a lease that was not released, which tells an expired one from a released one |
| `durable` | why moves can't be accepted, empty if they can; for 30 s, in RQ's Redis: `infra.durability_watch` |

A shard's keys carry its tag, so they are in one slot of a cluster. Leaf 0 has the stream id `0-1`
because Redis refuses `0-0`.
"""

from collections.abc import Callable
from typing import Final

HEARTBEATS: Final = "{beats}"
BARRIER: Final = f"{HEARTBEATS}:barrier"
DURABILITY: Final = "durable"
BOARDS: Final = "{boards}"
ALLOCATED_IDS: Final = "{boards}:ids"
LAYOUT: Final = "{boards}:shape"
CLOCK: Final = "{clock}"
DAMAGED: Final = "{damaged}"
DRAW_TEXTS: Final = "{boards}:words"
USERS: Final = "{users}"
LOGINS: Final = "logins"
"""The beginning of the keys of `infra.rate_limits`."""
BROADCAST: Final = "{broadcast}"
BROADCAST_NOTICES: Final = f"{BROADCAST}:told"
CHALLENGES: Final = "{challenges}"
FILLING_CHALLENGES: Final = f"{CHALLENGES}:filling"


def shard_of(board: int, shards: int) -> int:
    """Return the shard a board lives in."""
    return board % shards


def lane_of(shard: int, lanes: int) -> int:
    """Return the lane that drains a shard."""
    return shard % lanes


def shards_of(lane: int, lanes: int, shards: int) -> range:
    """Return the shards a lane drains."""
    return range(lane, shards, lanes)


def _of_shard(rest: str) -> Callable[[int], str]:
    """Return a function that returns a key of a shard."""
    return lambda shard: f"{{s{shard:02}}}:{rest}"


def _of_match(rest: str) -> Callable[[int, int], str]:
    """Return a function that returns a key of a match, by its shard and board."""
    return lambda shard, board: f"{{s{shard:02}}}:m:{board}{rest}"


def _of_account(rest: str) -> Callable[[bytes], str]:
    """Return a function that returns a key of an account, in the slot of its record."""
    return lambda account_id: f"{{a:{account_id.hex()}}}{rest}"


inbox: Final = _of_shard("in")
dead_letters: Final = _of_shard("aside")
attempts: Final = _of_shard("tries")
seed_chain: Final = _of_shard("draws")
log: Final = _of_shard("log")
due: Final = _of_shard("due")

snapshot: Final = _of_match("")
events: Final = _of_match(":ev")
outcomes: Final = _of_match(":out")
refusals: Final = _of_match(":no")
chat: Final = _of_match(":chat")
drafts: Final = _of_match(":draft")
conditional_moves: Final = _of_match(":laid")

account: Final = _of_account("")
message_box: Final = _of_account(":box")
read_marks: Final = _of_account(":read")
recipients: Final = _of_account(":sent")
chat_boards: Final = _of_account(":chats")
message_notices: Final = _of_account(":told")
tokens: Final = _of_account(":tokens")
networks: Final = _of_account(":networks")
challenges_opened: Final = _of_account(":opened")
challenges_joined: Final = _of_account(":joined")
blocked: Final = _of_account(":blocked")
pending_starts: Final = _of_account(":starts")


def allocated(command: bytes) -> str:
    """Return the key of the board number of a command id."""
    return f"{BOARDS}:id:{command.hex()}"


def user(name: str) -> str:
    """Return the key of a userid."""
    return f"{{u:{name}}}"


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
    """Return a key of a projection; all are in one slot."""
    return f"{{p:{name}}}:{rest}"


def generation(name: str, number: int, rest: str) -> str:
    """Return a key of one generation of a projection."""
    return projection(name, f"{number}:{rest}")


def lease(lane: int) -> str:
    """Return the key of a lane's lease."""
    return f"lease:{lane}"


def lease_mark(lane: int) -> str:
    """Return the key of the mark of a lease that was not released."""
    return f"lease:{lane}:held"
