"""The names of everything in Redis, and how boards are dealt to shards and lanes.

| key | what |
|---|---|
| `{s07}:in` | stream of commands waiting: `c` the packed command, `t` received ms, `d` the door |
| `{s07}:aside` | stream of inbox entries that could not be decoded, for an operator |
| `{s07}:tries` | hash: inbox entry id -> attempts, of entries that made trouble |
| `{s07}:draws` | hash: chain of seeds in use, how many of it are used, its anchor; `index:<chain>` the anchor's leaf |
| `{s07}:due` | sorted set: board by the ms at which its next reminder or flag is due |
| `{s07}:log` | stream with ids `<index>-1`: `e` board:seq, or `l` the bytes of a leaf |
| `{s07}:m:<board>` | string: 32-byte head hash, then the packed state |
| `{s07}:m:<board>:ev` | list of event bytes, position = seq - 1 |
| `{s07}:m:<board>:out` | hash: command id -> stored outcome |
| `{s07}:m:<board>:laid` | string: what the seats have laid ready, see `domain.match.replies`; private |
| `{s07}:m:<board>:no` | hash: account and ply -> refusals counted |
| `{s07}:m:<board>:chat` | list of the lines said at a board: `infra.letters` |
| `{s07}:m:<board>:draft` | hash: account -> move that waits for `confirm`: `infra.drafts` |
| `{boards}` | the board counter |
| `{boards}:id:<hex>` | the number given to a command id, as long as it is in `{boards}:ids` |
| `{boards}:ids` | list of the command ids that were given numbers, the last million |
| `{boards}:words` | secret of the texts that the server keeps for players: `infra.words` |
| `{boards}:shape` | hash: format and number of shards (never changed), number of lanes |
| `{u:<name>}` | account id |
| `{users}` | sorted set, all of score 0: userids in alphabetical order |
| `logins:tried/<hash>/<most>/<minutes>/minute` | passwords tried for a userid from a network, less the right ones; written by `limits` |
| `logins:everywhere/<hash>/<most>/<minutes>/minute` | the same, from all networks that the account has not used |
| `{a:<hex>}` | the account record: all personal data but what people write |
| `{a:<hex>}:box` | list of the letters to an account: `infra.letters` |
| `{a:<hex>}:read` | sorted set: kind of letter, or `chat:<board>` -> time of the newest one read |
| `{a:<hex>}:sent` | set: accounts written to, kept 180 days |
| `{a:<hex>}:chats` | set: boards chatted at |
| `{a:<hex>}:told` | sorted set: notices of letters to an account: `infra.letter_notices` |
| `{a:<hex>}:tokens` | hash: token's id -> SHA-256 of its text |
| `{a:<hex>}:networks` | sorted set: hash of a network the account has logged in from -> when, in s; kept 90 days |
| `{a:<hex>}:opened` | hash: ids of the challenges the account has opened, while they wait |
| `{a:<hex>}:joined` | hash: ids of the challenges the account has joined, while they wait |
| `{a:<hex>}:blocked` | hash: id of an account that the account wants nothing of -> nothing: `infra.blocks` |
| `{a:<hex>}:starts` | hash: id of a command that starts a match by name -> against whom: `infra.starts` |
| `{t:<hex>}` | a token's record: `infra.tokens`; half the SHA-256 of its text |
| `{c:<id>}` | an open challenge: `infra.challenges` |
| `{challenges}:open` | sorted set: ids of the challenges that can be taken, by when they were opened |
| `{challenges}:open:<game>` | the same, of one game |
| `{challenges}:filling` | set: ids of the challenges that are about to be full, until they have a match |
| `{beats}` | hash: role, host and process id -> last sign of life, until a day after the last: `infra.heartbeats` |
| `{broadcast}` | list of the letters to everybody |
| `{broadcast}:told` | sorted set: notices of them |
| `{p:<name>}:live` | projection: `<version>:<generation>` that is read; see `infra.projections` |
| `{p:<name>}:last` | the last generation's number |
| `{p:<name>}:building` | token of who builds another generation, while it does |
| `{p:<name>}:<generation>:at` | how far a generation has read the logs; it exists as long as this |
| `{p:<name>}:<generation>:hold` | set while a generation is compared and must not change |
| `{p:<name>}:<generation>:stuck` | hash: shard -> the leaf that could not be taken in, and why |
| `{p:<name>}:<generation>:...` | what the projection tells: `infra.projections` |
| `{mail}:...`, `{a:<hex>}:codes` | mail; see `infra.mail.keys` |
| `{w:<hex>}` | a browser's session: `infra.sessions`; half the SHA-256 of its text |
| `{a:<hex>}:sessions` | hash: session's id -> SHA-256 of its text |
| `{a:<hex>}:notes` | hash: board -> what the account notes about a match: `infra.notes` |
| `{damaged}` | hash: board -> why the match can't be read: `infra.damage` |
| `{clock}` | hash: what is known of the server's clock: `infra.clock` |
| `lease:<lane>` | who drains a lane, in RQ's Redis |
| `lease:<lane>:held` | set while a drain holds the lease: tells an expired lease from a released one |

A shard's keys carry its tag, so they are in one slot of a cluster. Leaf 0 has the stream id `0-1`
because Redis refuses `0-0`.
"""

from typing import Final

BEATS: Final = "{beats}"
BOARDS: Final = "{boards}"
GIVEN: Final = "{boards}:ids"
SHAPE: Final = "{boards}:shape"
CLOCK: Final = "{clock}"
DAMAGED: Final = "{damaged}"
WORDS: Final = "{boards}:words"
USERS: Final = "{users}"
LOGINS: Final = "logins"
"""What the keys of `infra.limits` begin with."""
BROADCAST: Final = "{broadcast}"
BROADCAST_TOLD: Final = f"{BROADCAST}:told"
CHALLENGES: Final = "{challenges}"
FILLING: Final = f"{CHALLENGES}:filling"


def shard_of(board: int, shards: int) -> int:
    """Return the shard a board lives in."""
    return board % shards


def lane_of(shard: int, lanes: int) -> int:
    """Return the lane that drains a shard."""
    return shard % lanes


def shards_of(lane: int, lanes: int, shards: int) -> range:
    """Return the shards a lane drains."""
    return range(lane, shards, lanes)


def inbox(shard: int) -> str:
    """Name the stream of commands waiting."""
    return f"{{s{shard:02}}}:in"


def aside(shard: int) -> str:
    """Name the stream of entries that could not be decoded."""
    return f"{{s{shard:02}}}:aside"


def tries(shard: int) -> str:
    """Name the hash of attempts at entries that made trouble."""
    return f"{{s{shard:02}}}:tries"


def draws(shard: int) -> str:
    """Name the hash of a shard's chain of seeds."""
    return f"{{s{shard:02}}}:draws"


def log(shard: int) -> str:
    """Name the stream of leaves."""
    return f"{{s{shard:02}}}:log"


def due(shard: int) -> str:
    """Name the sorted set of matches by when they are next to be looked at by themselves."""
    return f"{{s{shard:02}}}:due"


def snapshot(shard: int, board: int) -> str:
    """Name the head and state of a match."""
    return f"{{s{shard:02}}}:m:{board}"


def events(shard: int, board: int) -> str:
    """Name the list of a match's events."""
    return f"{{s{shard:02}}}:m:{board}:ev"


def outcomes(shard: int, board: int) -> str:
    """Name the hash of a match's outcomes."""
    return f"{{s{shard:02}}}:m:{board}:out"


def refusals(shard: int, board: int) -> str:
    """Name the hash that counts a match's refusals."""
    return f"{{s{shard:02}}}:m:{board}:no"


def chat(shard: int, board: int) -> str:
    """Name the list of what was said at a board."""
    return f"{{s{shard:02}}}:m:{board}:chat"


def drafts(shard: int, board: int) -> str:
    """Name the hash of a match's moves that wait to be confirmed."""
    return f"{{s{shard:02}}}:m:{board}:draft"


def replies(shard: int, board: int) -> str:
    """Name what the seats of a match have laid ready."""
    return f"{{s{shard:02}}}:m:{board}:laid"


def given(command: bytes) -> str:
    """Name the board number given to a command id."""
    return f"{BOARDS}:id:{command.hex()}"


def user(name: str) -> str:
    """Name the account id of a user."""
    return f"{{u:{name}}}"


def account(account_id: bytes) -> str:
    """Name an account record."""
    return f"{{a:{account_id.hex()}}}"


def box(account_id: bytes) -> str:
    """Name the list of letters to an account."""
    return f"{account(account_id)}:box"


def read_marks(account_id: bytes) -> str:
    """Name the sorted set that tells how far an account has read."""
    return f"{account(account_id)}:read"


def sent(account_id: bytes) -> str:
    """Name the set of accounts that an account wrote to."""
    return f"{account(account_id)}:sent"


def chats(account_id: bytes) -> str:
    """Name the set of boards that an account chatted at."""
    return f"{account(account_id)}:chats"


def told(account_id: bytes) -> str:
    """Name the sorted set of what an account was told of letters."""
    return f"{account(account_id)}:told"


def tokens(account_id: bytes) -> str:
    """Name the hash of an account's tokens."""
    return f"{account(account_id)}:tokens"


def networks(account_id: bytes) -> str:
    """Name the sorted set of networks from which an account has logged in."""
    return f"{account(account_id)}:networks"


def opened(account_id: bytes) -> str:
    """Name the hash of the challenges that an account has opened."""
    return f"{account(account_id)}:opened"


def joined(account_id: bytes) -> str:
    """Name the hash of the challenges that an account has joined."""
    return f"{account(account_id)}:joined"


def blocked(account_id: bytes) -> str:
    """Name the hash of the accounts that an account wants nothing of."""
    return f"{account(account_id)}:blocked"


def starts(account_id: bytes) -> str:
    """Name the hash of the matches an account has started that were not taken up yet."""
    return f"{account(account_id)}:starts"


def token(digest: bytes) -> str:
    """Name the record of the token whose text has this SHA-256."""
    return f"{{t:{digest[:16].hex()}}}"


def challenge(id_: str) -> str:
    """Name an open challenge."""
    return f"{{c:{id_}}}"


def open_challenges(game: str | None = None) -> str:
    """Name the list of challenges that can be taken, of all games or of one."""
    return f"{CHALLENGES}:open" if game is None else f"{CHALLENGES}:open:{game}"


def projection(name: str, rest: str) -> str:
    """Name what belongs to a projection, all in one slot."""
    return f"{{p:{name}}}:{rest}"


def generation(name: str, number: int, rest: str) -> str:
    """Name what belongs to one generation of a projection."""
    return projection(name, f"{number}:{rest}")


def lease(lane: int) -> str:
    """Name the lease of a lane."""
    return f"lease:{lane}"


def held(lane: int) -> str:
    """Name the mark that a lease is held."""
    return f"lease:{lane}:held"
