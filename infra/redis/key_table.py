"""The table of all keys in Redis: what each is, its owner, its end, its growth, and the roles that use it.

A server is meant to run for decades, so a key has an end, or a reason why it has none. `infra.redis.access` makes the
rights of each role of this table, and the scrubber knows from it the keys that this program writes.

`<...>` stands for any text, and a shard, a node, a lane and a retire job for all of them: `{s07.a1y}`, `b:5`,
`{lease:0/3}`, `{lease:retire/7}`. A shard's keys carry its tag, so they are in one slot of a cluster; those of mail are
in one slot, too. Leaf 0 has the stream id `0-1` because Redis refuses `0-0`.
"""

import re
from typing import Final, NamedTuple


class Roles(NamedTuple):
    """Roles of `infra.redis.access`, separated by blanks."""

    writers: str
    readers: str = ""
    """Roles that may only read it; those that may read all keys are not among them."""


class Never(str):
    """The reason why nothing ends a key."""

    __slots__ = ()


class Key(NamedTuple):
    """The keys of one kind."""

    name: str
    what: str
    owner: str
    """The module that writes it."""
    end: str
    """The cause of its end, or of the end of its parts."""
    growth: str
    """The things whose number it grows with; a number is a limit."""
    roles: Roles
    on_queue: bool = False
    """Whether it, or a copy, is on the queue's server, where all roles write it."""

    @property
    def pattern(self) -> str:
        """The key as Redis matches it: a board ends in a digit, as no other part of a match does."""
        name = self.name
        for written, meant in _EXAMPLES:
            name = name.replace(written, meant)
        return re.sub(r"<[a-z ]+>|\.\.\.", "*", name.replace("<board>", "*[0-9]"))


_EXAMPLES: Final = (
    ("{s07.a1y}", "{s[0-9]*}"),
    ("b:5", "b:*"),
    ("{lease:retire/7}", "{lease:retire/*}"),
    ("{lease:0/3}", "{lease:*}"),
)

_STORE: Final = "worker publisher maintenance"
_FRONT: Final = "web mail"
_OTHERS: Final = "worker side publisher scheduler"
"""The roles that may not read all keys."""

EVERY_ROLE: Final = Roles(f"{_FRONT} mailer worker side publisher scheduler robots maintenance")
_MATCH: Final = Roles(_STORE, _OTHERS)
_DUE: Final = Roles(f"{_STORE} scheduler", _OTHERS)
_FOLLOWED: Final = Roles(f"{_STORE} mailer side scheduler")
_SUBMITTED: Final = Roles(f"{_STORE} {_FRONT} scheduler robots", _OTHERS)
_PLAYED: Final = Roles(f"{_STORE} {_FRONT} robots", _OTHERS)
_TEXTS: Final = Roles(f"{_STORE} {_FRONT}", _OTHERS)
_DRAWS: Final = Roles(f"{_STORE} {_FRONT} scheduler", _OTHERS)
_ANALYSIS: Final = Roles(f"{_FRONT} robots")
_PEOPLE: Final = Roles(_FRONT)
_NAMES: Final = Roles(f"{_FRONT} maintenance")
_USERIDS: Final = Roles(f"{_FRONT} robots maintenance")
_RATES: Final = Roles(f"{_FRONT} mailer")
_PLAYER: Final = Roles(f"{_FRONT} mailer maintenance", "worker")
_ACCOUNT: Final = Roles(f"{_FRONT} mailer maintenance")
_CHALLENGER: Final = Roles(f"{_FRONT} mailer scheduler maintenance")
_CHALLENGE: Final = Roles(f"{_FRONT} scheduler")
_PROJECTION: Final = Roles(f"{_FRONT} side maintenance", _OTHERS)
_MAIL: Final = Roles(f"{_FRONT} mailer scheduler")
_HOOKS: Final = Roles(f"{_FRONT} mailer scheduler maintenance")
_CURSOR: Final = Roles(f"{_FRONT} mailer scheduler", _OTHERS)
_DAMAGE: Final = Roles(f"{_FRONT} worker scheduler robots maintenance", _OTHERS)
_ROBOTS: Final = Roles("robots", _OTHERS)
_SCRUB: Final = Roles("maintenance", _OTHERS)
_CLOCK: Final = Roles("scheduler", _OTHERS)
_QUEUE: Final = Roles("")
"""The users of the queue's server may all write the same: a key there names no roles."""

# fmt: off
KEYS: Final = (
    # name, what, owner, end, growth, roles
    # a shard and its matches
    Key("{s07.a1y}:in", "stream of commands waiting: `c` the packed command, `t` received ms, `d` the reply channel", "infra.store.redis_store", "a command has its outcome", "commands that wait, 100,000", EVERY_ROLE),
    Key("{s07.a1y}:dead-letters", "stream of inbox entries that could not be decoded, for an operator", "infra.store.redis_store", "newer ones come; an operator", "entries, 1,000", _MATCH),
    Key("{s07.a1y}:tries", "hash: inbox entry id -> attempts, of suspected entries", "infra.store.redis_store", "a command has its outcome", "suspects", _MATCH),
    Key("{s07.a1y}:draws", "hash: chain of seeds in use, how many of its seeds are used, its anchor; `index:<chain>` the anchor's leaf", "infra.store.redis_store", Never("an anchor is looked up by it"), "chains of 65,536 draws", _MATCH),
    Key("{s07.a1y}:due", "sorted set: board by the ms at which its next reminder or flag is due", "infra.store.redis_store", "a match is over or has no clock", "active matches", _DUE),
    Key("{s07.a1y}:log", "stream with ids `<index>-1`: `l` the bytes of a leaf", "infra.store.redis_store", Never("it is the record, until an archive has it"), "leaves", _FOLLOWED),
    Key("{s07.a1y}:published", "hash: `size` and `root` of the published log, `fault` why it stopped, `lost` the last loss of leaves; a copy of `size` and `root` is on the queue server, and `end`, where the log ended after the last commit that was announced", "infra.store.watermarks", Never("the log is never published again"), "one a shard", _MATCH, on_queue=True),
    Key("{s07.a1y}:shown", "hash: `from` the index from which leaves were last read by a follower of the log, which waits until this write is durable", "infra.store.leaf_reader", Never("logs are always followed"), "one a shard", _FOLLOWED),
    Key("{s07.a1y}:closed", "hash: why the shard takes no command, and whether it can be restored", "infra.store.closed_shards", "the shard's log is restored", "one a shard", _SUBMITTED),
    Key("{s07.a1y}:ended", "sorted set: number of a match or tournament that is over and not retired, by the ms of its last event", "infra.store.redis_store", "the match is retired", "matches that ended in 40 days", _MATCH),
    Key("{s07.a1y}:archived", "bits, at board divided by the number of shards: 1 for a match or tournament in the archive", "infra.store.redis_store", Never("an archived match stays archived"), "matches, a bit each", _SUBMITTED),
    Key("{s07.a1y}:m:<board>", "string: 32-byte head hash, a byte of marks (`commit.lua`), then the packed state", "infra.store.redis_store", "the match is retired", "matches", _SUBMITTED),
    Key("{s07.a1y}:m:<board>:moves", "string: the moves, separated by blanks", "infra.store.redis_store", "the match is retired", "plies", _MATCH),
    Key("{s07.a1y}:m:<board>:turns", "string: the times of the moves, in a match with clocks: `domain.clocks.match_clock`", "infra.store.redis_store", "the match is retired", "plies", _MATCH),
    Key("{s07.a1y}:floor", "ms before which no command is received, whatever the clock shows", "infra.store.watermarks", Never("a promise holds as long as the data"), "one a shard", EVERY_ROLE),
    Key("{s07.a1y}:boards", "the counter of the shard's boards, where each shard numbers its own", "infra.store.board_numbers", Never("it is a counter"), "one a shard", _SUBMITTED),
    Key("{s07.a1y}:given:<hex>", "the number allocated to a command id there, as long as that is in `{s07.a1y}:ids`", "infra.store.board_numbers", "newer starts", "1,000,000 in all shards", _SUBMITTED),
    Key("{s07.a1y}:ids", "list of the command ids with an allocated number, the last of them", "infra.store.board_numbers", "newer starts", "1,000,000 in all shards", _SUBMITTED),
    Key("{s07.a1y}:m:<board>:ev", "list of event bytes, position = seq - 1", "infra.store.redis_store", "the match is retired", "events", _MATCH),
    Key("{s07.a1y}:m:<board>:at", "string: where the leaves of the match are in the log: `infra.store.locators`", "infra.store.redis_store", "the match is retired", "leaves", _MATCH),
    Key("{s07.a1y}:m:<board>:out", "hash: command id -> stored outcome", "infra.store.redis_store", "the match is retired", "commands", _SUBMITTED),
    Key("{s07.a1y}:m:<board>:conditional", "string: conditional moves of the seats, see `domain.match.conditional_moves`; private", "infra.store.redis_store", "they are played, or do not fit any longer", "seats", _PLAYED),
    Key("{s07.a1y}:m:<board>:refusals", "hash: account and ply -> refusals counted", "infra.store.redis_store", "the next event of the match", "accounts and plies", _SUBMITTED),
    Key("{s07.a1y}:refused:<hex>", "hash: command id -> the command, of refused ones of an account", "infra.store.refused_commands", "their matches are retired, or the account is deleted", "refused commands, 1,000", _TEXTS),
    Key("{s07.a1y}:m:<board>:chat", "list of the match's chat", "infra.people.messages", "expires a year after the match is retired", "lines, 500 a match", _TEXTS),
    Key("{s07.a1y}:m:<board>:texts", "hash: id of a command -> the statement of a claim, appeal or ruling", "infra.people.statements", Never("its players may read it"), "claims, appeals and rulings, 50 an account", _TEXTS),
    Key("{s07.a1y}:m:<board>:draft", "hash: account -> move that waits for `confirm`", "infra.people.drafts", "expires", "seats", _PLAYED),
    # all boards
    Key("{analysis:<board>}", "the analysis of a match, for 30 days", "infra.store.analyses", "expires after 30 days", "matches analysed lately", _ANALYSIS),
    Key("{boards}", "the board counter", "infra.store.board_numbers", Never("it is a counter"), "one", _SUBMITTED),
    Key("{boards}:id:<hex>", "the number allocated to a command id, as long as that is in `{boards}:ids`", "infra.store.board_numbers", "newer starts", "1,000,000", _SUBMITTED),
    Key("{boards}:ids", "list of the command ids with an allocated number, the last million", "infra.store.board_numbers", "newer starts", "1,000,000", _SUBMITTED),
    Key("{boards}:words", "secret of the texts that the server keeps for players", "infra.store.draw_texts", Never("draws that wait need it"), "one", _DRAWS),
    Key("{boards}:shape", "hash: the layout", "infra.store.layout", Never("it describes the data"), "one", _MATCH),
    Key("{boards}:secrets", "hash: name of a secret -> its fingerprint", "infra.health.secrets", Never("other machines compare with it"), "one", EVERY_ROLE),
    # accounts, sessions and tokens
    Key("{u:<name>}", "account id", "infra.people.accounts.usernames", "the account is deleted", "accounts", _PEOPLE),
    Key("{l:<hex>}", "what a userid looks like; for a year also that of a deleted account", "infra.people.accounts.usernames", "a year later", "accounts", _NAMES),
    Key("{users}", "sorted set, all of score 0: userids in alphabetical order", "infra.people.accounts.usernames", "the account is deleted", "accounts", _USERIDS),
    Key("logins:tried/<hash>/<most>/<minutes>/minute", "wrong passwords for a userid from a network", "infra.people.rate_limits", "expires after a quarter of an hour", "userids and networks", _RATES),
    Key("logins:everywhere/<hash>/<most>/<minutes>/minute", "the same, from all networks that the account has not used", "infra.people.rate_limits", "expires after a quarter of an hour", "userids", _RATES),
    Key("logins:devices/<hash>/<most>/<minutes>/minute", "wrong codes of devices that an account has typed", "infra.people.rate_limits", "expires after a quarter of an hour", "accounts", _RATES),
    Key("logins:resets/<hash>/<most>/<minutes>/minute", "requests for a new password, by network and by account", "infra.people.rate_limits", "expires after an hour", "networks and accounts", _RATES),
    Key("{arbiters}", "set: accounts of arbiters", "infra.people.accounts.accounts", "an operator dismisses them", "holders of a role", _NAMES),
    Key("{moderators}", "set: accounts of moderators", "infra.people.accounts.accounts", "an operator dismisses them", "moderators", _NAMES),
    Key("{operators}", "set: accounts of operators", "infra.people.accounts.accounts", "an operator dismisses them", "operators", _NAMES),
    Key("{a:<hex>}", "the account record: all personal data but messages and notes", "infra.people.accounts.accounts", "the account is deleted", "accounts", _PLAYER),
    Key("{a:<hex>}:mac", "keyed digest of the account record: `infra.people.account_macs`", "infra.people.accounts.accounts", "the account is deleted", "accounts", _ACCOUNT),
    Key("{a:<hex>}:box", "list of the messages to an account", "infra.people.messages", "expires 90 days after the last", "messages, 200", _ACCOUNT),
    Key("{a:<hex>}:sanctions", "hash: id of a sanction against the account -> its record", "infra.people.moderation", "the account is deleted", "sanctions, 200", _ACCOUNT),
    Key("{a:<hex>}:clubs", "hash: clubs of the account", "infra.people.clubs", "it leaves them, or is deleted", "clubs, 50", _ACCOUNT),
    Key("{a:<hex>}:paired", "hash: idempotency key of a batch of pairings -> its labels, boards and starts", "infra.people.pairing_batches", "expires 400 days after the newest", "batches of 500 matches, 50", _ACCOUNT),
    Key("{a:<hex>}:read", "sorted set: kind of message, or `chat:<board>` -> time of the newest one read", "infra.people.messages", "expires after 90 days", "matches with chat of 90 days", _ACCOUNT),
    Key("{a:<hex>}:sent", "set: accounts written to, kept 180 days", "infra.people.messages", "expires after 180 days", "accounts written to", _ACCOUNT),
    Key("{a:<hex>}:strangers", "hash: messages of a day to accounts that do not know this one", "infra.people.messages", "expires", "messages, 20", _ACCOUNT),
    Key("{a:<hex>}:chats", "set: boards chatted at", "infra.people.messages", "the account is deleted", "matches chatted at", _ACCOUNT),
    Key("{a:<hex>}:stated", "hash: boards with statements of the account", "infra.people.statements", "the account is deleted", "matches disputed", _ACCOUNT),
    Key("{a:<hex>}:notices", "sorted set: notices of messages to an account", "infra.people.message_notices", "expires", "messages of 90 days", _ACCOUNT),
    Key("{a:<hex>}:tokens", "hash: token's id -> SHA-256 of its text", "infra.people.tokens.tokens", "the account is deleted", "tokens, limited", _ACCOUNT),
    Key("{a:<hex>}:networks", "sorted set: hash of a network the account has logged in from -> when, in s; kept 90 days", "infra.people.rate_limits", "expires", "networks", _ACCOUNT),
    Key("{a:<hex>}:opened", "hash: ids of the challenges the account has opened, while they wait", "infra.people.challenges.challenges", "they start", "challenges", _CHALLENGER),
    Key("{a:<hex>}:joined", "hash: ids of the challenges the account has joined, while they wait", "infra.people.challenges.challenges", "they start", "challenges", _CHALLENGER),
    Key("{a:<hex>}:blocked", "hash: id of a blocked account -> nothing", "infra.people.account_lists", "the account is deleted", "blocked players, 500", _ACCOUNT),
    Key("{a:<hex>}:watched", "hash: board of a watched match -> nothing", "infra.people.account_lists", "the account is deleted", "watched matches, 200", _ACCOUNT),
    Key("{a:<hex>}:followed", "hash: id of a followed account -> nothing", "infra.people.account_lists", "the account is deleted", "followed players, 100", _ACCOUNT),
    Key("{a:<hex>}:pinned", "hash: board of a match that is first in its player's lists -> nothing", "infra.people.account_lists", "the account is deleted", "pinned matches, 20", _ACCOUNT),
    Key("{a:<hex>}:muted", "hash: board whose chat is muted -> nothing", "infra.people.account_lists", "the account is deleted", "muted chats, 500", _ACCOUNT),
    Key("{a:<hex>}:seen", "sorted set: board -> when a browser with the account's text for its deal was last seen", "infra.people.seen_texts", "expires after 90 days", "matches, 500", _PLAYER),
    Key("{a:<hex>}:starts", "hash: id of a command that starts a match by name -> against whom", "infra.people.pending_starts", "they are taken up", "starts, 50", _ACCOUNT),
    Key("{a:<hex>}:robots", "hash: id of a command that starts a match with a robot, or of a bot also one that others start with it -> when", "infra.people.pending_starts", "they are over", "matches, 20, or a bot's limit up to 100", _ACCOUNT),
    Key("{t:<hex>}", "a token's record; half the SHA-256 of its text", "infra.people.tokens.tokens", "expires, or is revoked", "tokens", _PEOPLE),
    Key("{a:<hex>}:apps", "hash: id of an app that the account has registered -> its record", "infra.people.apps", "they are removed", "apps, 10", _ACCOUNT),
    Key("{a:<hex>}:app:<id>", "set: accounts that have let an app of the account act for them", "infra.people.apps", "they disconnect it", "players who use the app", _ACCOUNT),
    Key("{a:<hex>}:grants", "hash: id of what the account has let an app do -> its record", "infra.people.grants", "they end, or are not used for 180 days", "grants, 50", _ACCOUNT),
    Key("{d:<hex>}", "a device's request for access; half the SHA-256 of the code that its user types", "infra.people.device_codes", "expires after half an hour", "devices that wait", _PEOPLE),
    Key("{d:<hex>}:asked", "mark that a device has just asked whether its user has answered", "infra.people.device_codes", "expires after 5 s", "devices that wait", _PEOPLE),
    Key("{broadcast}", "list of the broadcasts", "infra.people.messages", "expires after 90 days", "broadcasts, 50", _PEOPLE),
    Key("{broadcast}:notices", "sorted set: notices of them", "infra.people.message_notices", "expires", "broadcasts", _PEOPLE),
    Key("{w:<hex>}", "a browser's session; half the SHA-256 of its text", "infra.people.sessions", "expires", "sessions", _PEOPLE),
    Key("{a:<hex>}:sessions", "hash: session's id -> SHA-256 of its text", "infra.people.sessions", "expires", "sessions", _ACCOUNT),
    Key("{step:<hex>}", "a log-in that is under way; half the SHA-256 of its text", "infra.people.login_steps", "expires after ten minutes", "log-ins that are under way", _PEOPLE),
    Key("{x:<hex>}", "account of somebody at the group's provider", "infra.people.accounts.accounts", "the account is deleted", "accounts", _PEOPLE),
    Key("{a:<hex>}:reset", "SHA-256 of the link for a new password", "infra.people.password_resets", "expires after an hour", "one", _ACCOUNT),
    Key("{a:<hex>}:hooks", "hash: id of a hook -> where notices of the account, its clubs or its tournaments are sent; what is secret of it is sealed", "infra.people.hooks", "the account is deleted", "hooks, 20", _ACCOUNT),
    Key("{a:<hex>}:calendar", "hash with one field: when the secret address of the account's calendar was made, and its SHA-256", "infra.people.calendar_links", "it is revoked, or the account is deleted", "one", _ACCOUNT),
    Key("{a:<hex>}:push", "hash: browsers that show the account's notifications", "infra.people.push_subscriptions", "the account is deleted", "browsers, 10", _ACCOUNT),
    Key("{a:<hex>}:notes", "hash: board -> the account's note about a match", "infra.people.match_notes", "the account is deleted", "notes, 1,000", _ACCOUNT),
    Key("{a:<hex>}:codes", "hash: address -> the code that verifies it", "infra.mail.verification_codes", "they are used", "addresses, 5", _ACCOUNT),
    Key("{a:<hex>}:withheld", "mark that no codes were sent, because too many were asked for; a day at most", "infra.people.accounts.code_requests", "expires", "one", _ACCOUNT),
    Key("{site}:admission", "hash: who may make an account, and what guests see", "infra.people.admission", Never("it holds until it is changed"), "one", _PEOPLE),
    Key("{site}:off", "set: keys of the games that are switched off", "infra.people.games_off", "they are switched on", "games", _PEOPLE),
    Key("{site}:links", "hash: id of a sign-up link -> its record", "infra.people.admission", "they are revoked", "sign-up links, 500", _PEOPLE),
    Key("{site}:first", "SHA-256 of the link that makes the first operator", "infra.people.first_operator", "it is used, or somebody is an operator", "one", _PEOPLE),
    Key("{site}:acts", "stream: acts of operators, moderators and arbiters", "infra.people.acts", Never("nobody can change what was recorded"), "acts", _PEOPLE),
    Key("{site}:masthead", "hash: name, contact, banner and logo of the site", "infra.people.masthead", Never("it holds until it is changed"), "one", _PEOPLE),
    Key("{site}:texts", "hash: kind and language of a text of the site, such as its rules -> the text", "infra.people.masthead", Never("they hold until they are changed"), "languages, 4 each", _PEOPLE),
    Key("{site}:logo", "the logo of the site", "infra.people.masthead", Never("it holds until it is changed"), "one", _PEOPLE),
    Key("{site}:uses", "hash: id of a sign-up link -> how many accounts were made with it", "infra.people.admission", "they are revoked", "sign-up links, 500", _PEOPLE),
    # challenges
    Key("{c:<id>}", "an open challenge", "infra.people.challenges.challenges", "expires", "challenges", _CHALLENGE),
    Key("{reports}:all", "hash: id of a report -> its record, with the text as it was", "infra.people.moderation", "90 days after its decision", "reports", _PEOPLE),
    Key("{reports}:open", "sorted set: ids of the reports that wait, by when they were made", "infra.people.moderation", "they are decided", "reports, 500", _PEOPLE),
    Key("{reports}:appeals", "hash: appeals that wait", "infra.people.moderation", "they are answered", "appeals", _PEOPLE),
    Key("{reports}:made:<hex>", "hash: a thing that an account has reported -> id of the report", "infra.people.moderation", "expires 90 days after the last", "accounts that report", _PEOPLE),
    Key("{clubs}:paths", "hash: what a path looks like -> id of the club", "infra.people.clubs", Never("the path of a club is never another's"), "clubs, 1,000", _PEOPLE),
    Key("{club:<id>}", "the record of a club", "infra.people.clubs", Never("one that is closed stays readable"), "clubs, 1,000", _PEOPLE),
    Key("{club:<id>}:members", "hash: account -> role and since when", "infra.people.clubs", "they leave", "members, 500", _PEOPLE),
    Key("{club:<id>}:requests", "hash: account that asks to join -> since when", "infra.people.clubs", "they are answered", "requests, 100", _PEOPLE),
    Key("{club:<id>}:news", "list of the last announcements", "infra.people.clubs", "50 later ones", "announcements, 50", _PEOPLE),
    Key("{tournaments}:texts", "hash: number of a tournament -> its name and its text", "infra.people.tournament_texts", Never("a tournament is never forgotten"), "tournaments", _PEOPLE),
    Key("{tournaments}:codes", "hash: number of a tournament -> a salt, and the digest of the code for entering it", "infra.people.tournament_codes", Never("a tournament is never forgotten"), "tournaments with a code", _PEOPLE),
    Key("{challenges}:open", "sorted set: ids of the challenges that can be taken, by when they were opened", "infra.people.challenges.indexes", "they start", "challenges", _CHALLENGE),
    Key("{challenges}:open:<game>", "the same, of one game", "infra.people.challenges.indexes", "they start", "challenges", _CHALLENGE),
    Key("{challenges}:club:<club>", "the same, of a club, which are in no other list", "infra.people.challenges.indexes", "they start", "challenges", _CHALLENGE),
    Key("{challenges}:filling", "set: ids of the challenges that are about to be full, until they have a match", "infra.people.challenges.indexes", "they start", "challenges", _CHALLENGE),
    Key("{challenges}:links", "secret of the ids of challenges that are not listed", "infra.people.challenges.challenges", Never("a repeated command needs it"), "one", _CHALLENGE),
    # projections
    Key("{p:<name>}:live", "projection: `<version>:<generation>:<buckets>` that is read", "infra.projections.generations", Never("it is a pointer"), "projections", _PROJECTION),
    Key("{p:<name>}:last", "the last generation's number", "infra.projections.generations", Never("it is a counter"), "projections", _PROJECTION),
    Key("{p:<name>}:losses", "the lost leaves that the live generation does not know of: `infra.store.lost_leaves`", "infra.projections.generations", Never("it is replaced"), "projections", _PROJECTION),
    Key("{p:<name>}:generations", "hash: generation that has data -> its number of buckets", "infra.projections.generations", "their data are deleted", "generations, 2", _PROJECTION),
    Key("{p:<name>}:building", "token of the process that builds another generation, while it does", "infra.projections.generations", "expires after 30 s", "one a projection", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:at", "checkpoint of a bucket, which can be written as long as this exists", "infra.projections.generations", "a newer generation", "buckets", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:at:<shard>", "the same for the leaves of one shard, while several processes build the generation", "infra.projections.generations", "all shards are read", "buckets, shards", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:hold", "set while a bucket is replaced, and must not change", "infra.projections.generations", "expires", "buckets", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:stuck", "hash: shard -> the leaf that could not be folded, and why", "infra.projections.generations", "the leaf is folded", "shards", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:keys", "set of the keys of the bucket's data", "infra.projections.generations", "a newer generation", "keys of the bucket", _PROJECTION),
    Key("{p:<name>:b<bucket>}:<generation>:...", "the data", "infra.projections", "a newer generation", "docs/growing.md", _PROJECTION),
    Key("{p:erased}", "set: deleted accounts, which get no lists and no notices", "infra.projections.erasure", Never("a rebuild leaves them out"), "deleted accounts", _PROJECTION),
    # mail
    Key("{mail}:letters", "hash: id of an e-mail -> packed entry, until it is sent or given up", "infra.mail.outbox", "it is sent or given up", "e-mails", _MAIL),
    Key("{mail}:due", "sorted set: id by the ms at which it is tried next", "infra.mail.outbox", "it is sent or given up", "e-mails", _MAIL),
    Key("{mail}:tries", "hash: id -> how often it was tried", "infra.mail.outbox", "it is sent or given up", "e-mails", _MAIL),
    Key("{mail}:known:<id>", "mark that an e-mail of that id was queued, kept a week", "infra.mail.outbox", "expires after a week", "e-mails", _MAIL),
    Key("{mail}:rest", "until when the relay is not tried, and why", "infra.mail.outbox", "the relay answers", "one", _MAIL),
    Key("{mail}:read", "per shard, how many leaves of the log the mailer has read", "infra.mail.progress", Never("it is the mailer's cursor"), "shards", _CURSOR),
    Key("{mail}:first:<board>:<seat>", "Message-ID of the first e-mail of a match to a player, 400 days", "infra.mail.progress", "expires after 400 days", "seats", _MAIL),
    Key("{mail}:named", "set: accounts with new addresses to verify", "infra.mail.verification_codes", "the mailer takes them", "accounts", _MAIL),
    Key("{mail}:naming", "set: those of them that the mailer is working on", "infra.mail.verification_codes", "the mailer is done", "accounts", _MAIL),
    Key("{mail}:written", "list of messages to mail, packed", "infra.mail.queues", "the mailer takes them", "messages", _MAIL),
    Key("{mail}:chat:due", "sorted set: `<account>:<board>` by the ms at which chat is mailed", "infra.mail.queues", "it is mailed", "accounts and matches", _MAIL),
    Key("{mail}:chat:first", "the same, by the time of the first line that is not mailed", "infra.mail.queues", "it is mailed", "accounts and matches", _MAIL),
    Key("{mail}:chat:last", "the same, by the time of the newest line", "infra.mail.queues", "it is mailed", "accounts and matches", _MAIL),
    Key("{mail}:daily", "sorted set: account by the ms at which its digest is due", "infra.mail.progress", "the digest is mailed", "accounts", _MAIL),
    Key("{mail}:news:<account>", "sorted set: items for a digest, by time", "infra.mail.progress", "the digest is mailed", "items", _MAIL),
    Key("{mail}:resets", "list of requests for a new password", "infra.people.password_resets", "the mailer reads them", "requests, 1,000", _MAIL),
    Key("{mail}:push:read", "per shard, how many leaves were read for notifications in browsers", "infra.mail.push", Never("it is the mailer's cursor"), "shards", _CURSOR),
    Key("{mail}:push:due", "sorted set: packed notifications by the ms at which they are tried next", "infra.mail.push", "it is sent, or a day old", "notifications that wait", _MAIL),
    Key("{mail}:hooks:read", "per shard, how many leaves were read for webhooks", "infra.mail.hooks", Never("it is the mailer's cursor"), "shards", _CURSOR),
    Key("{mail}:hooks:due", "sorted set: `<account>:<hook>:<delivery>` by the ms at which it is tried next", "infra.people.hooks", "it is sent, or given up after three days", "deliveries that wait, 200 a hook", _HOOKS),
    Key("{mail}:hooks:log:<hook>", "hash: id of a delivery of a hook -> packed delivery", "infra.people.hooks", "50 later ones, or the hook is removed", "deliveries, 250 a hook", _HOOKS),
    Key("{mail}:hooks:of:<place>", "hash: id of a hook of a club or a tournament -> account that made it", "infra.people.hooks", "the hook is removed", "hooks, 5 a club or tournament", _HOOKS),
    Key("{mail}:owners:<address>", "set: accounts that have proven an address, which is hashed", "infra.people.accounts.address_owners", "no account has the address any longer", "proven addresses", _MAIL),
    Key("{mail}:key", "fingerprint of the mail key in use", "infra.health.secrets", Never("other machines compare with it"), "one", EVERY_ROLE),
    Key("{mail}:codes:<address>", "codes for a mailbox, or a network, within a day; hashed", "infra.people.accounts.code_requests", "expires", "mailboxes, networks", _MAIL),
    Key("{mail}:taken:<mail>", "mark that a mail was processed, kept 30 days", "infra.mail.processed", "expires after 30 days", "mails", _MAIL),
    Key("answers:sent/<hash>/<most>/1/hour", "replies to an address within an hour", "infra.people.rate_limits", "expires", "addresses", _RATES),
    Key("answers:unproven/<hash>/<most>/1/day", "replies within a day to senders of whom nothing is known", "infra.people.rate_limits", "expires", "addresses", _RATES),
    # the server and its care
    Key("{beats}", "hash: role, host and process id -> last sign of life, until a day after the last", "infra.health.heartbeats", "expires after a day", "processes", _QUEUE, on_queue=True),
    Key("b", "an empty text, set by a trial write and deleted by the next", "infra.durability.durability_watch", Never("it proves that a server writes"), "one", EVERY_ROLE),
    Key("b:5", "the same, on another node of a cluster", "infra.durability.durability_watch", Never("it proves that a server writes"), "nodes", EVERY_ROLE),
    Key("{damaged}", "hash: board -> why the match can't be read", "infra.store.failures", "the match holds again", "damaged matches", _DAMAGE),
    Key("{robots}:failed", "hash: board -> why a robot could not act there", "infra.store.failures", "the match has gone on", "stuck matches", _ROBOTS),
    Key("{scrub}", "hash: how far the scrubber is, and its last whole round", "infra.store.scrub_notes", Never("the next round begins there"), "one", _SCRUB),
    Key("{scrub}:faults", "hash: what the scrubber has found -> the sentence, packed", "infra.store.scrub_notes", "it is not found again", "faults, 1,000", _SCRUB),
    Key("{clock}", "hash: notes of the server's clock", "infra.store.server_clock", Never("a step of the clock is found by it"), "one", _CLOCK),
    # the queue's server
    Key("{lease:0/3}", "token of the drain that works lane 0 of 3; `{lease:mail}`, `{lease:project}`, `{lease:publish}`, `{lease:scrub}` and `{lease:retire/7}` likewise", "infra.store.leases", "expires after 3 s", "lanes", _QUEUE, on_queue=True),
    Key("{lease:0/3}:held", "mark of a lease that was not released, which tells an expired one from a released one; its value is for the next holder", "infra.store.leases", "the drain releases the lane", "lanes", _QUEUE, on_queue=True),
    Key("{lease:0/3}:wake", "list with one entry if the holder of the lease was woken", "infra.store.leases", "it is read, or expires", "one", _QUEUE, on_queue=True),
    Key("{lease:0/3}:last", "hash: figures of the lane's last turn", "infra.store.job_notes", "expires after a day", "lanes", _QUEUE, on_queue=True),
    Key("{lease:retire/7}:last", "hash: figures of the last run of the shard's retire job", "infra.store.job_notes", "expires after 30 days", "shards", _QUEUE, on_queue=True),
    Key("durable", "why moves can't be accepted, empty if they can; for 30 s", "infra.durability.durability", "expires after 30 s", "one", _QUEUE, on_queue=True),
    Key("durable:<run id>", "the settings of a server of the data, for an hour", "infra.durability.durability", "expires after an hour", "nodes", _QUEUE, on_queue=True),
)
# fmt: on
