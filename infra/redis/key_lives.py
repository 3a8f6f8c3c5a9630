"""The owner of each key, its end, and its growth: a server is meant to run for decades.

The keys are those of `infra.redis.keys` and `infra.mail.keys`, in their notation.
"""

from typing import Final, NamedTuple


class KeyLife(NamedTuple):
    """The life of the keys of one kind."""

    key: str
    owner: str
    """The module that writes it."""
    end: str
    """The cause of its end, or of the end of its parts."""
    growth: str
    """The things whose number it grows with; a number is a limit."""


class EndlessKey(NamedTuple):
    """A kind of key that nothing ends."""

    key: str
    owner: str
    why: str
    growth: str


_STORE: Final = "infra.store.redis_store"
_COMMIT: Final = "infra.store.redis_store"
_NUMBERS: Final = "infra.store.board_numbers"
_MESSAGES: Final = "infra.people.messages"
_GENERATIONS: Final = "infra.projections.generations"
_BUCKET: Final = "{p:<name>:b<bucket>}:<generation>:"
_ONE: Final = "one"
_ACCOUNT: Final = "the account is deleted"
_RETIRED: Final = "the match is retired"
_SHARD: Final = "one a shard"

KEY_LIVES: Final = (
    KeyLife("{s07.a1y}:in", _STORE, "a command has its outcome", "commands that wait, 100,000"),
    KeyLife("{s07.a1y}:aside", _STORE, "newer ones come; an operator", "entries, 1,000"),
    KeyLife("{s07.a1y}:tries", _STORE, "a command has its outcome", "suspects"),
    KeyLife("{s07.a1y}:due", _COMMIT, "a match is over or has no clock", "active matches"),
    KeyLife("{s07.a1y}:given:<hex>", _NUMBERS, "newer starts", "1,000,000 in all shards"),
    KeyLife("{s07.a1y}:ids", _NUMBERS, "newer starts", "1,000,000 in all shards"),
    KeyLife(
        "{s07.a1y}:m:<board>:laid", _COMMIT, "they are played, or do not fit any longer", "seats"
    ),
    KeyLife("{s07.a1y}:m:<board>:no", _COMMIT, "the next event of the match", "accounts and plies"),
    KeyLife("{s07.a1y}:m:<board>", _COMMIT, _RETIRED, "matches"),
    KeyLife("{s07.a1y}:m:<board>:moves", _COMMIT, _RETIRED, "plies"),
    KeyLife("{s07.a1y}:m:<board>:turns", _COMMIT, _RETIRED, "plies"),
    KeyLife("{s07.a1y}:m:<board>:at", _COMMIT, _RETIRED, "leaves"),
    KeyLife("{s07.a1y}:m:<board>:ev", _COMMIT, _RETIRED, "events"),
    KeyLife("{s07.a1y}:m:<board>:out", _COMMIT, _RETIRED, "commands"),
    KeyLife("{s07.a1y}:over", _COMMIT, _RETIRED, "matches that ended in 40 days"),
    KeyLife(
        "{s07.a1y}:m:<board>:chat",
        _MESSAGES,
        "expires a year after the match is retired",
        "lines, 500 a match",
    ),
    KeyLife("{s07.a1y}:m:<board>:draft", "infra.people.drafts", "expires", "seats"),
    KeyLife(
        "{analysis:<board>}", "infra.analyses", "expires after 30 days", "matches analysed lately"
    ),
    KeyLife("{boards}:id:<hex>", _NUMBERS, "newer starts", "1,000,000"),
    KeyLife("{boards}:ids", _NUMBERS, "newer starts", "1,000,000"),
    KeyLife("{u:<name>}", "infra.people.accounts.usernames", _ACCOUNT, "accounts"),
    KeyLife("{l:<hex>}", "infra.people.accounts.lookalikes", "a year later", "accounts"),
    KeyLife("{users}", "infra.people.accounts.usernames", _ACCOUNT, "accounts"),
    KeyLife(
        "logins:tried/<hash>/<most>/<minutes>/minute",
        "infra.rate_limits",
        "expires after a quarter of an hour",
        "userids and networks",
    ),
    KeyLife(
        "logins:everywhere/<hash>/<most>/<minutes>/minute",
        "infra.rate_limits",
        "expires after a quarter of an hour",
        "userids",
    ),
    KeyLife(
        "logins:resets/<hash>/<most>/<minutes>/minute",
        "infra.rate_limits",
        "expires after an hour",
        "networks and accounts",
    ),
    KeyLife(
        "{arbiters}", "infra.people.accounts.accounts", "an operator dismisses them", "arbiters"
    ),
    KeyLife("{a:<hex>}", "infra.people.accounts.accounts", _ACCOUNT, "accounts"),
    KeyLife("{a:<hex>}:mac", "infra.people.accounts.accounts", _ACCOUNT, "accounts"),
    KeyLife("{a:<hex>}:box", _MESSAGES, "expires 90 days after the last", "messages, 200"),
    KeyLife("{a:<hex>}:read", _MESSAGES, "expires after 90 days", "matches with chat of 90 days"),
    KeyLife("{a:<hex>}:sent", _MESSAGES, "expires after 180 days", "accounts written to"),
    KeyLife("{a:<hex>}:strangers", "infra.people.stranger_messages", "expires", "messages, 20"),
    KeyLife("{a:<hex>}:chats", _MESSAGES, _ACCOUNT, "matches chatted at"),
    KeyLife("{a:<hex>}:stated", "infra.people.statements", _ACCOUNT, "matches disputed"),
    KeyLife("{a:<hex>}:told", "infra.people.message_notices", "expires", "messages of 90 days"),
    KeyLife("{a:<hex>}:tokens", "infra.people.tokens.tokens", _ACCOUNT, "tokens, limited"),
    KeyLife("{a:<hex>}:networks", "infra.people.password_attempts", "expires", "networks"),
    KeyLife("{a:<hex>}:opened", "infra.people.challenges.challenges", "they start", "challenges"),
    KeyLife("{a:<hex>}:joined", "infra.people.challenges.challenges", "they start", "challenges"),
    KeyLife("{a:<hex>}:blocked", "infra.people.account_lists", _ACCOUNT, "blocked players, 500"),
    KeyLife("{a:<hex>}:watched", "infra.people.account_lists", _ACCOUNT, "watched matches, 200"),
    KeyLife("{a:<hex>}:followed", "infra.people.account_lists", _ACCOUNT, "followed players, 100"),
    KeyLife("{a:<hex>}:muted", "infra.people.account_lists", _ACCOUNT, "muted chats, 500"),
    KeyLife("{a:<hex>}:starts", "infra.people.pending_starts", "they are taken up", "starts, 50"),
    KeyLife("{a:<hex>}:seen", "infra.people.seen_texts", "expires after 90 days", "matches, 500"),
    KeyLife("{a:<hex>}:robots", "infra.people.pending_starts", "they are over", "matches, 20"),
    KeyLife("{a:<hex>}:sessions", "infra.people.sessions", "expires", "sessions"),
    KeyLife("{a:<hex>}:reset", "infra.people.password_resets", "expires after an hour", _ONE),
    KeyLife("{a:<hex>}:push", "infra.people.push_subscriptions", _ACCOUNT, "browsers, 10"),
    KeyLife("{a:<hex>}:notes", "infra.people.notes", _ACCOUNT, "notes, 1,000"),
    KeyLife("{a:<hex>}:codes", "infra.mail.verification_codes", "they are used", "addresses, 5"),
    KeyLife("{a:<hex>}:withheld", "infra.people.accounts.code_requests", "expires", _ONE),
    KeyLife("{t:<hex>}", "infra.people.tokens.tokens", "expires, or is revoked", "tokens"),
    KeyLife("{c:<id>}", "infra.people.challenges.challenges", "expires", "challenges"),
    KeyLife("{challenges}:open", "infra.people.challenges.indexes", "they start", "challenges"),
    KeyLife(
        "{challenges}:open:<game>", "infra.people.challenges.indexes", "they start", "challenges"
    ),
    KeyLife("{challenges}:filling", "infra.people.challenges.indexes", "they start", "challenges"),
    KeyLife("{beats}", "infra.heartbeats", "expires after a day", "processes"),
    KeyLife("{s07.a1y}:closed", "infra.store.closed_shards", "the shard's log is restored", _SHARD),
    KeyLife("durable", "infra.durability_notes", "expires after 30 s", _ONE),
    KeyLife("durable:<run id>", "infra.durability_notes", "expires after an hour", "nodes"),
    KeyLife("{broadcast}", _MESSAGES, "expires after 90 days", "broadcasts, 50"),
    KeyLife("{broadcast}:told", "infra.people.message_notices", "expires", "broadcasts"),
    KeyLife("{p:<name>}:building", _GENERATIONS, "expires after 30 s", "one a projection"),
    KeyLife("{p:<name>}:generations", _GENERATIONS, "their data are deleted", "generations, 2"),
    KeyLife(
        "{p:<name>}:paged",
        "infra.projections.paged_projections",
        "their pages are deleted",
        "generations",
    ),
    KeyLife(f"{_BUCKET}at", _GENERATIONS, "a newer generation", "buckets"),
    KeyLife(f"{_BUCKET}hold", _GENERATIONS, "expires", "buckets"),
    KeyLife(f"{_BUCKET}stuck", _GENERATIONS, "the leaf is folded", "shards"),
    KeyLife(f"{_BUCKET}keys", _GENERATIONS, "a newer generation", "keys of the bucket"),
    KeyLife(f"{_BUCKET}...", "infra.projections", "a newer generation", "docs/projections.md"),
    KeyLife("{mail}:letters", "infra.mail.outbox", "it is sent or given up", "e-mails"),
    KeyLife("{mail}:due", "infra.mail.outbox", "it is sent or given up", "e-mails"),
    KeyLife("{mail}:tries", "infra.mail.outbox", "it is sent or given up", "e-mails"),
    KeyLife("{mail}:known:<id>", "infra.mail.outbox", "expires after a week", "e-mails"),
    KeyLife("{mail}:rest", "infra.mail.outbox", "the relay answers", _ONE),
    KeyLife(
        "{mail}:first:<board>:<seat>", "infra.mail.progress", "expires after 400 days", "seats"
    ),
    KeyLife("{mail}:named", "infra.mail.verification_codes", "the mailer takes them", "accounts"),
    KeyLife("{mail}:naming", "infra.mail.verification_codes", "the mailer is done", "accounts"),
    KeyLife("{mail}:written", "infra.mail.message_queue", "the mailer takes them", "messages"),
    KeyLife(
        "{mail}:push:due",
        "infra.push.push_queue",
        "it is sent, or a day old",
        "notifications that wait",
    ),
    KeyLife(
        "{mail}:resets", "infra.people.password_resets", "the mailer reads them", "requests, 1,000"
    ),
    KeyLife(
        "{mail}:owners:<address>",
        "infra.people.accounts.address_owners",
        "an account has the address no more",
        "proven addresses",
    ),
    KeyLife("{mail}:chat:due", "infra.mail.chat_queue", "it is mailed", "accounts and matches"),
    KeyLife("{mail}:chat:first", "infra.mail.chat_queue", "it is mailed", "accounts and matches"),
    KeyLife("{mail}:chat:last", "infra.mail.chat_queue", "it is mailed", "accounts and matches"),
    KeyLife("{mail}:daily", "infra.mail.progress", "the digest is mailed", "accounts"),
    KeyLife("{mail}:news:<account>", "infra.mail.progress", "the digest is mailed", "items"),
    KeyLife(
        "{mail}:codes:<address>",
        "infra.people.accounts.code_requests",
        "expires",
        "mailboxes, networks",
    ),
    KeyLife("{mail}:taken:<mail>", "infra.mail.processed", "expires after 30 days", "mails"),
    KeyLife("answers:told/<hash>/<most>/1/hour", "infra.rate_limits", "expires", "addresses"),
    KeyLife("answers:unproven/<hash>/<most>/1/day", "infra.rate_limits", "expires", "addresses"),
    KeyLife("{w:<hex>}", "infra.people.sessions", "expires", "sessions"),
    KeyLife("{scrub}:faults", "infra.store.scrub_notes", "it is not found again", "faults, 1,000"),
    KeyLife("{damaged}", "infra.store.damaged_matches", "the match holds again", "damaged matches"),
    KeyLife(
        "{robots}:failed", "infra.store.robot_failures", "the match has gone on", "stuck matches"
    ),
    KeyLife("{lease:0/3}", "infra.store.leases", "expires after 3 s", "lanes"),
    KeyLife("{lease:0/3}:wake", "infra.store.leases", "it is read, or expires", _ONE),
    KeyLife("{lease:0/3}:last", "infra.store.last_runs", "expires after a day", "lanes"),
    KeyLife("{lease:retire/7}:last", "infra.store.last_runs", "expires after 30 days", "shards"),
    KeyLife("{lease:0/3}:held", "infra.store.leases", "the drain releases the lane", "lanes"),
)

ENDLESS_KEYS: Final = (
    EndlessKey("{s07.a1y}:log", _COMMIT, "it is the record, until an archive has it", "leaves"),
    EndlessKey(
        "{s07.a1y}:published",
        "infra.store.published_sizes",
        "the log is never published again",
        _SHARD,
    ),
    EndlessKey("{s07.a1y}:shown", "infra.store.leaf_reader", "logs are always followed", _SHARD),
    EndlessKey("{s07.a1y}:gone", _STORE, "an archived match stays archived", "matches, a bit each"),
    EndlessKey(
        "{s07.a1y}:m:<board>:texts",
        "infra.people.statements",
        "its players may read it",
        "claims, appeals and rulings, 50 an account",
    ),
    EndlessKey("{s07.a1y}:draws", _STORE, "an anchor is looked up by it", "chains of 65,536 draws"),
    EndlessKey(
        "{s07.a1y}:floor", "infra.store.watermarks", "a promise holds as long as the data", _SHARD
    ),
    EndlessKey("{s07.a1y}:boards", _NUMBERS, "it is a counter", _SHARD),
    EndlessKey("{boards}", _NUMBERS, "it is a counter", _ONE),
    EndlessKey("{boards}:words", "infra.draw_texts", "draws that wait need it", _ONE),
    EndlessKey(
        "{challenges}:links",
        "infra.people.challenges.challenges",
        "a repeated command needs it",
        _ONE,
    ),
    EndlessKey("{boards}:shape", "infra.store.layout", "it describes the data", _ONE),
    EndlessKey("{boards}:secrets", "infra.secret_record", "other machines compare with it", _ONE),
    EndlessKey("{scrub}", "infra.store.scrub_notes", "the next round begins there", _ONE),
    EndlessKey("b", "infra.durability_watch", "it proves that a server writes", _ONE),
    EndlessKey("b:5", "infra.durability_watch", "the same", "nodes"),
    EndlessKey("{clock}", "infra.store.server_clock", "a step of the clock is found by it", _ONE),
    EndlessKey("{p:<name>}:live", _GENERATIONS, "it is a pointer", "projections"),
    EndlessKey("{p:<name>}:last", _GENERATIONS, "it is a counter", "projections"),
    EndlessKey("{p:<name>}:losses", _GENERATIONS, "it is replaced", "projections"),
    EndlessKey(
        "{p:erased}", "infra.projections.erasure", "a rebuild leaves them out", "deleted accounts"
    ),
    EndlessKey("{mail}:read", "infra.mail.progress", "it is the mailer's cursor", "shards"),
    EndlessKey("{mail}:push:read", "infra.push.push_queue", "it is the mailer's cursor", "shards"),
    EndlessKey("{mail}:key", "infra.secret_record", "other machines compare with it", _ONE),
)
