"""All that the server has about an account, for its owner: files of JSON, made one at a time.

`FILES` and `LEFT_OUT` name every kind of key that can belong to an account, so that none is forgotten: a test compares
them with `infra.redis.key_table`. Other players appear by their userids.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from domain.aggregates import TournamentSnapshot, unpack
from domain.errors import Code, Refusal
from domain.match.history import decode_event
from domain.match.state import MatchState
from domain.records import AccountId
from infra.people.messages import CHAT_LIMIT, PlayerMessage
from infra.people.own_traces import read_traces
from infra.people.push_subscriptions import PushSubscription
from infra.projections.match_lists import MatchFilter
from services.app.accounts import own_profile
from services.app.acts import PAGE, TERMINAL, Act, record_act
from services.app.bots import Bot, bots_of
from services.app.context import App
from services.app.damaged_match import refuse_damaged
from services.app.exports import export_record
from services.app.follows import blocked_userids
from services.app.matches import load_state, private_part
from services.app.names import userids_of
from services.app.queries import ratings_of
from services.app.roles import require_operator

FILES: Final[Mapping[str, str]] = {
    "{a:<hex>}": "account.json",
    "{a:<hex>}:box": "messages.json",
    "{broadcast}": "messages.json",
    "{a:<hex>}:sent": "messages.json",
    "{a:<hex>}:chats": "chat.json",
    "{s07.a1y}:m:<board>:chat": "chat.json",
    "{a:<hex>}:stated": "statements.json",
    "{s07.a1y}:m:<board>:texts": "statements.json",
    "{a:<hex>}:notices": "notices.json",
    "{broadcast}:notices": "notices.json",
    "{a:<hex>}:tokens": "tokens.json",
    "{t:<hex>}": "tokens.json",
    "{a:<hex>}:apps": "apps.json",
    "{a:<hex>}:grants": "apps.json",
    "{a:<hex>}:sessions": "sessions.json",
    "{w:<hex>}": "sessions.json",
    "{a:<hex>}:push": "sessions.json",
    "{a:<hex>}:hooks": "hooks.json",
    "{mail}:hooks:log:<hook>": "hooks.json",
    "{a:<hex>}:opened": "challenges.json",
    "{a:<hex>}:joined": "challenges.json",
    "{c:<id>}": "challenges.json",
    "{a:<hex>}:starts": "challenges.json",
    "{a:<hex>}:robots": "challenges.json",
    "{a:<hex>}:blocked": "lists.json",
    "{a:<hex>}:watched": "lists.json",
    "{a:<hex>}:followed": "lists.json",
    "{a:<hex>}:pinned": "lists.json",
    "{a:<hex>}:muted": "lists.json",
    "{a:<hex>}:notes": "notes.json",
    "{s07.a1y}:refused:<hex>": "refused.json",
    "{site}:acts": "acts.json",
    "{a:<hex>}:sanctions": "sanctions.json",
    "{reports}:all": "sanctions.json",
    "{reports}:made:<hex>": "sanctions.json",
    "{a:<hex>}:clubs": "clubs.json",
    "{a:<hex>}:paired": "pairings.json",
    "{club:<id>}:members": "clubs.json",
    "{club:<id>}:requests": "clubs.json",
    "{club:<id>}:news": "clubs.json",
    "{tournaments}:texts": "tournaments.json",
    "{a:<hex>}:networks": "noted.json",
    "{a:<hex>}:read": "noted.json",
    "{a:<hex>}:strangers": "noted.json",
    "{a:<hex>}:seen": "noted.json",
    "{a:<hex>}:reset": "noted.json",
    "{a:<hex>}:codes": "noted.json",
    "{a:<hex>}:withheld": "noted.json",
    "{mail}:daily": "noted.json",
    "{mail}:news:<account>": "noted.json",
    "{mail}:named": "noted.json",
    "{s07.a1y}:m:<board>": "matches/",
    "{s07.a1y}:m:<board>:ev": "matches/",
    "{s07.a1y}:m:<board>:moves": "matches/",
    "{s07.a1y}:m:<board>:turns": "matches/",
    "{s07.a1y}:m:<board>:conditional": "matches/",
    "{s07.a1y}:m:<board>:draft": "matches/",
    "{p:<name>:b<bucket>}:<generation>:...": "ratings.json",
}
"""By key, as `infra.redis.key_table` names it, the file or folder that has what is in it."""

_SAME: Final = "it finds again what a file has"
_PASSING: Final = "work that waits for seconds; what it works on is in a file"
_HASHED: Final = "counts under a hash, which expire within a day and name nobody"

LEFT_OUT: Final[Mapping[str, str]] = {
    "{a:<hex>}:calendar": "a secret: the digest of the calendar's address",
    "{a:<hex>}:mac": "a digest by which the server knows its own record",
    "{u:<name>}": _SAME,
    "{users}": _SAME,
    "{l:<hex>}": "a hash of the userid, which keeps others from one that looks like it",
    "{arbiters}": _SAME,
    "{moderators}": _SAME,
    "{operators}": _SAME,
    "{p:<name>:b<bucket>}:<generation>:keys": "names of keys, by which the lists are replaced",
    "{p:erased}": "only deleted accounts are in it",
    "{s07.a1y}:in": _PASSING,
    "{s07.a1y}:log": "it has the events of all matches; those of the own ones are in `matches/`",
    "{s07.a1y}:m:<board>:out": "the answers to commands; the events and `refused.json` have what they decided",
    "{s07.a1y}:m:<board>:refusals": "counts of refusals until the next move",
    "{reports}:open": _SAME,
    "{reports}:appeals": _SAME,
    "{tournaments}:codes": "digests of the codes of tournaments, which name nobody",
    "{challenges}:open": _SAME,
    "{challenges}:filling": _PASSING,
    "{challenges}:club:<club>": _SAME,
    "{a:<hex>}:app:<id>": "other players, whose own files name the app; the owner may know how many, not who",
    "{d:<hex>}": "a device that waits for half an hour; what it was allowed is in `apps.json`",
    "{d:<hex>}:asked": _PASSING,
    "logins:devices/<hash>/<most>/<minutes>/minute": _HASHED,
    "{mail}:letters": "e-mails that are being sent, made of what a file has",
    "{mail}:naming": _PASSING,
    "{mail}:written": _PASSING,
    "{mail}:resets": _PASSING,
    "{mail}:chat:due": _PASSING,
    "{mail}:chat:first": _PASSING,
    "{mail}:chat:last": _PASSING,
    "{mail}:push:due": _PASSING,
    "{mail}:hooks:due": _PASSING,
    "{mail}:hooks:of:<place>": _SAME,
    "{mail}:first:<board>:<seat>": "the id of an e-mail, to which later ones reply",
    "{mail}:owners:<address>": "it leads from the hash of an address in `account.json` to the account",
    "{mail}:codes:<address>": _HASHED,
    "logins:tried/<hash>/<most>/<minutes>/minute": _HASHED,
    "logins:everywhere/<hash>/<most>/<minutes>/minute": _HASHED,
    "logins:resets/<hash>/<most>/<minutes>/minute": _HASHED,
    "answers:sent/<hash>/<most>/1/hour": _HASHED,
    "answers:unproven/<hash>/<most>/1/day": _HASHED,
}
"""By key, why what it has of an account is in no file."""

_MOST_TOURNAMENTS: Final = 10_000

_AT_ONCE: Final = 50
"""Matches that are listed at once."""


class OwnFile(NamedTuple):
    """A file of an account's data."""

    name: str
    content: bytes


class OwnMatch(NamedTuple):
    """A match of an account that can be read."""

    board: int
    state: MatchState
    names: tuple[str, ...]
    """Userids by seat; empty for an erased account."""


def own_files(app: App, account: AccountId) -> Iterator[OwnFile]:
    """Yield what the server has about an account, but for its matches; `unknown-user` for a deleted one."""
    profile = own_profile(app, account)
    yield _file("account.json", _shown(app, profile, owner=profile.owner))
    yield _file("messages.json", _messages(app, account))
    yield _file("chat.json", _chat(app, account))
    yield _file("statements.json", _statements(app, account))
    notices = app.notices.of(account, 0, 10 * CHAT_LIMIT)
    yield _file("notices.json", [_shown(app, one, sender=one.sender) for one in notices])
    yield _file("notes.json", app.notes.all(account))
    tokens = app.tokens.list_of(account)
    yield _file("tokens.json", [_without(one, "account") for one in tokens])
    yield _file("apps.json", _apps(app, account))
    yield _file("sessions.json", _browsers(app, account))
    yield _file("hooks.json", _hooks(app, account))
    yield _file("challenges.json", _challenges(app, account))
    yield _file("clubs.json", _clubs(app, account))
    yield _file("pairings.json", _pairings(app, account))
    yield _file("tournaments.json", _tournaments(app, account))
    yield _file("sanctions.json", _sanctions(app, account))
    yield _file("lists.json", _lists(app, account))
    yield _file("refused.json", _refused(app, account))
    against_bots = {
        f"{game}, with bots": one for game, one in ratings_of(app, account, bots=True).items()
    }
    yield _file("ratings.json", ratings_of(app, account) | against_bots)
    yield _file("bots.json", [_bot(one) for one in bots_of(app, account)])
    yield _file("acts.json", _acts(app, account))
    yield _file("noted.json", _noted(app, account))


def _bot(bot: Bot) -> dict[str, Any]:
    return {
        **_without(bot.profile, "owner"),
        "tokens": [_without(one, "account") for one in bot.tokens],
    }


def own_matches(app: App, account: AccountId) -> Iterator[tuple[OwnMatch | None, OwnFile]]:
    """Yield each match of an account with its file; None, and a file that says why, for one that can't be read."""
    for board in _boards(app, account):
        try:
            state = load_state(app, board)
            names = tuple(name or "" for name in app.accounts.name_of(state.seats))
            yield OwnMatch(board, state, names), _match(app, account, OwnMatch(board, state, names))
        except Refusal as reason:
            yield None, _file(f"matches/{board}.json", {"board": board, "unread": reason.sentence})


def export_account(app: App, userid: str, *, by: AccountId = TERMINAL) -> AccountId:
    """Return the account of a userid whose data an operator is about to read, and record that.

    `not-an-operator`, `unknown-user`.
    """
    app.ready()
    require_operator(app, by)
    account = app.accounts.id_of(userid)
    record_act(app, by, Act.DATA_EXPORTED, account)
    return account


def _file(name: str, content: Any) -> OwnFile:
    return OwnFile(name, msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")


def _without(one: Any, *names: str) -> dict[str, Any]:
    """Return the fields of a struct but for some."""
    found: dict[str, Any] = msgspec.to_builtins(one)
    return {name: value for name, value in found.items() if name not in names}


def _names(app: App, accounts: Sequence[AccountId]) -> list[str | None]:
    """Return userids, None for an erased account."""
    return app.accounts.name_of(accounts)


def _shown(app: App, one: Any, **accounts: AccountId) -> dict[str, Any]:
    """Return the fields of a struct, those with accounts by userid."""
    named = userids_of(app, filter(None, accounts.values()))
    return _without(one) | {name: named.get(account) for name, account in accounts.items()}


def _messages(app: App, account: AccountId) -> dict[str, Any]:
    received = app.messages.read(account, CHAT_LIMIT)
    names = userids_of(app, [one.sender for one in received])
    written = list(app.messages.written_by(account))
    to = userids_of(app, [recipient for recipient, _ in written])
    return {
        "received": [
            {"from": names[one.sender], "kind": one.kind, "at": one.at, "text": one.text}
            for one in received
        ],
        "written": [
            {"to": to[recipient], "at": one.at, "text": one.text} for recipient, one in written
        ],
    }


def _chat(app: App, account: AccountId) -> dict[int, Any]:
    return {
        board: _lines(
            one for one in app.messages.chat_of(board, CHAT_LIMIT) if one.sender == account
        )
        for board in app.messages.chats_of(account)
    }


def _lines(messages: Iterator[PlayerMessage]) -> list[dict[str, Any]]:
    return [{"at": one.at, "text": one.text} for one in messages]


def _statements(app: App, account: AccountId) -> dict[int, Any]:
    return {
        board: [
            {"at": one.at, "text": one.text}
            for one in app.statements.of_match(board)
            if one.account == account
        ]
        for board in app.statements.boards_of(account)
    }


def _browsers(app: App, account: AccountId) -> dict[str, Any]:
    browsers: list[PushSubscription] = app.push_subscriptions.of(account)
    return {
        "sessions": [_without(one, "account") for one in app.sessions.list_of(account)],
        "notifications": [
            {"browser": one.label, "since": one.since, "endpoint": one.endpoint} for one in browsers
        ],
    }


def _apps(app: App, account: AccountId) -> dict[str, Any]:
    """Return the apps that the account has registered, and what it has let apps do, without digests of secrets."""
    shown = ("app", "scopes", "created", "redirect", "used")
    return {
        "registered": [msgspec.to_builtins(one) for one in app.apps.of(account)],
        "allowed": [
            {name: getattr(one.grant, name) for name in shown} for one in app.grants.of(account)
        ],
    }


def _hooks(app: App, account: AccountId) -> list[dict[str, Any]]:
    """Return webhooks and channels with their deliveries; their addresses and secrets are no data about a person."""
    return [
        _without(hook, "account", "sealed")
        | {"deliveries": [_without(one, "account", "hook") for one in app.hooks.deliveries(hook)]}
        for hook in app.hooks.of(account)
    ]


def _challenges(app: App, account: AccountId) -> dict[str, Any]:
    waiting = app.challenges.of(account)
    starts = app.starts.of(account)
    robots = app.starts.with_robots.of(account)
    return {
        "waiting": [
            {
                "id": one.id,
                "opened": one.account == account,
                "created": one.created,
                "players": _names(app, one.players),
                "terms": msgspec.to_builtins(one.proposal)
                if one.account == account
                else _without(one.proposal, "note"),
            }
            for one in waiting
        ],
        "by name": [{"at": one.at, "against": _names(app, one.others)} for one in starts],
        "with robots": [one.at for one in robots],
    }


def _clubs(app: App, account: AccountId) -> dict[str, Any]:
    return {
        "member": [
            {
                "club": club.name,
                "role": role,
                "since": next(
                    (one.since for one in app.clubs.members(club.id) if one.account == account), 0
                ),
                "announced": [
                    {"at": one.at, "text": one.text}
                    for one in app.clubs.news(club.id)
                    if one.author == account
                ],
            }
            for club, role in app.clubs.of(account)
        ],
        "asks to join": [club.name for club in app.clubs.asked_by(account)],
    }


def _pairings(app: App, account: AccountId) -> dict[str, Any]:
    """Return the batches of matches that the account has paired, by key."""
    return {
        key: {
            "at": batch.at,
            "of": batch.source,
            "matches": [{"board": one.board, "label": one.label} for one in batch.pairings],
        }
        for key, batch in app.pairing_batches.of(account).items()
    }


def _tournaments(app: App, account: AccountId) -> list[dict[str, Any]]:
    """Return the tournaments that the account organises or has entered, with the texts of its own."""
    rows = app.tournaments.of_account(account, _MOST_TOURNAMENTS)
    said = app.tournament_texts.of([row.number for row in rows])
    shown = []
    for row, data in zip(rows, app.store.snapshots([row.number for row in rows]), strict=True):
        found = unpack(data)
        entrants = found.state.entrants if isinstance(found, TournamentSnapshot) else ()
        organises = row.organiser == account
        shown.append(
            {
                "number": row.number,
                "name": said[row.number].name,
                "text": said[row.number].text if organises else None,
                "organiser": organises,
                "rating at entry": next(
                    (one.rating for one in entrants if one.account == account), None
                ),
                "rules": row.rules,
                "phase": row.phase,
            }
        )
    return shown


def _sanctions(app: App, account: AccountId) -> dict[str, Any]:
    """Return the sanctions against the account without their moderators, and its own reports."""
    return {
        "against you": [
            {
                **{
                    name: getattr(one, name) for name in ("kind", "since", "until", "why", "appeal")
                },
                "lifted": one.lifted,
            }
            for one in app.moderation.of(account)
        ],
        "reported by you": [
            {"at": one.at, "kind": one.kind, "text": one.text, "words": one.words}
            for one in app.moderation.made_by(account)
        ],
    }


def _lists(app: App, account: AccountId) -> dict[str, Any]:
    follows = app.follows.of(account)
    return {
        "blocked": blocked_userids(app, account),
        "followed": _names(app, follows.accounts),
        "watched": follows.boards,
        "pinned": follows.pinned,
        "muted": app.messages.muted.of(account),
    }


def _refused(app: App, account: AccountId) -> list[dict[str, Any]]:
    found = app.store.refused_of(account)
    return [{"id": id_.hex(), "command": msgspec.msgpack.decode(data)} for id_, data in found]


def _acts(app: App, account: AccountId) -> list[dict[str, Any]]:
    """Return the acts to an account, the newest first, without who did them."""
    shown, before = list[dict[str, Any]](), ""
    while page := app.acts.newest(PAGE, before):
        shown += [
            {"at": one.at, "act": one.act, "what": one.what, "why": one.why}
            for one in page
            if one.account == account
        ]
        before = page[-1].id
    return shown


def _noted(app: App, account: AccountId) -> dict[str, Any]:
    found = read_traces(app.people, account)
    return _without(found) | {
        "written_to": _names(app, found.written_to),
        "strangers_today": _names(app, found.strangers_today),
    }


def _boards(app: App, account: AccountId) -> Iterator[int]:
    """Yield the boards of an account, each once: running ones first, because they end meanwhile."""
    seen = set[int]()
    for state in (MatchFilter.ACTIVE, MatchFilter.INACTIVE):
        start = 0
        while rows := app.lists.of(account, state, None, start, _AT_ONCE):
            start += len(rows)
            fresh = [row.board for row in rows if row.board not in seen]
            seen.update(fresh)
            yield from fresh


def _match(app: App, account: AccountId, match: OwnMatch) -> OwnFile:
    """Return the file of a match: its players, its events, the moves, its chat, and what only this player sees."""
    board, state = match.board, match.state
    with refuse_damaged(app.damage, board):
        events = [decode_event(data) for data in app.store.events(board)]
    private = private_part(app, board, state, account)
    chat = app.messages.chat_of(board, CHAT_LIMIT) if private else []
    actors = userids_of(app, [one.actor for one in events] + [one.sender for one in chat])
    try:
        record = export_record(app, board).decode()
    except Refusal as reason:
        if reason.code != Code.NOT_STARTED:
            raise
        record = ""  # there is no position yet
    content = {
        "board": board,
        "rules": state.rules,
        "options": state.options,
        "players": [name or None for name in match.names],
        "record": record,
        "events": [
            {
                "seq": one.seq,
                "at": one.at,
                "by": actors.get(one.actor),
                "event": msgspec.to_builtins(one.body),
            }
            for one in events
        ],
        "chat": [{"at": one.at, "from": actors[one.sender], "text": one.text} for one in chat],
        "conditional moves": [
            {"ply": one.ply, "after": one.path, "move": one.move}
            for one in (private.conditional_moves.moves if private else ())
        ],
        "draft": private.draft if private else "",
    }
    return _file(f"matches/{board}.json", content)
