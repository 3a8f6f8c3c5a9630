"""The composition root: from settings to everything a process works with.

Each part is made when it is first asked for, so that a command which needs no server touches none.
A test hands in the parts it has fakes for.
"""

from contextlib import ExitStack
from functools import cached_property
from types import TracebackType
from typing import Self

import redis

from domain.match.events import AccountId
from infra.account_notices import AccountNotices
from infra.accounts import Accounts
from infra.blocks import Blocks
from infra.challenges import Challenges
from infra.clients import make_client
from infra.damage import Damage
from infra.drafts import Drafts
from infra.durability import verify
from infra.embedded import socket_url
from infra.gateway import CommandGateway, Gateway
from infra.lanes import Lanes
from infra.letters import Letters
from infra.limits import CommandLimit
from infra.mail.codes import Codes
from infra.mail.forgetting import forget_mail
from infra.mail.outbox import Outbox
from infra.mail.readdressed import telling
from infra.mail.standing import Standing
from infra.mail.written import MailedLetters
from infra.notes import Notes
from infra.projections.head_to_head import HeadToHead
from infra.projections.history import History
from infra.projections.lists import Lists
from infra.projections.notices import Notices
from infra.projections.ratings import Ratings
from infra.projections.scores import Scores
from infra.projections.standings import Standings
from infra.seeds import Seeds
from infra.sessions import Sessions
from infra.settings import Settings
from infra.starts import Starts
from infra.store.port import Store
from infra.store.server import RedisStore
from infra.tokens import Tokens
from infra.unread import Unread
from infra.words import Words


class App:
    """The parts of one process, which the use cases work with; close it when done.

    `listening` is the longest time, in seconds, that a command to RQ's Redis waits in it.
    """

    def __init__(  # noqa: PLR0913 - one for each part that may be given
        self,
        settings: Settings,
        *,
        data: redis.Redis | None = None,
        queue: redis.Redis | None = None,
        store: Store | None = None,
        accounts: Accounts | None = None,
        gateway: Gateway | None = None,
        pace: CommandLimit | None = None,
        listening: float = 0.0,
    ) -> None:
        self.settings = settings
        self._listening = listening
        self._closing = ExitStack()
        given = {
            "data": data,
            "queue": queue,
            "store": store,
            "accounts": accounts,
            "gateway": gateway,
            "pace": pace,
        }
        if gateway is not None:  # the caller that gives a gateway answers for its server
            self._verified = True
        # a cached property that has a value is never computed
        vars(self).update({name: part for name, part in given.items() if part is not None})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what was made here."""
        self._closing.close()

    @cached_property
    def url(self) -> str:
        """The server of the matches; `NotRunningError` when there is none."""
        return self.settings.redis_url or socket_url(self.settings.data)

    def _client(self, url: str, blocking_timeout: float = 0.0) -> redis.Redis:
        client = make_client(url, blocking_timeout=blocking_timeout)
        self._closing.callback(client.close)
        return client

    @cached_property
    def data(self) -> redis.Redis:
        """A client of the server of the matches."""
        return self._client(self.url)

    @cached_property
    def queue(self) -> redis.Redis:
        """A client of RQ's Redis."""
        url = self.settings.queue_url or self.url
        return self._client(url, self._listening)

    @cached_property
    def store(self) -> Store:
        """Matches."""
        return RedisStore(self.data, self.settings.durability, self.settings.queue_cap)

    @cached_property
    def damage(self) -> Damage:
        """Matches that can't be read."""
        return Damage(self.data)

    @cached_property
    def seeds(self) -> Seeds:
        """The secrets that draws come from."""
        return Seeds(self.store, self.settings.seeds or self.settings.data / "seeds")

    @cached_property
    def words(self) -> Words:
        """Texts that the server keeps for draws."""
        return Words(self.data)

    @cached_property
    def accounts(self) -> Accounts:
        """Players."""
        return Accounts(
            self.data,
            password_rate=self.settings.password_rate,
            readdressed=telling(self.data, self.settings.mail_domain),
        )

    @cached_property
    def pace(self) -> CommandLimit:
        """How fast an account may give commands to this process."""
        return CommandLimit(self.settings.command_rate)

    @cached_property
    def letters(self) -> Letters:
        """Messages, broadcasts and chat."""
        return MailedLetters(self.data, self._shards)

    @cached_property
    def tokens(self) -> Tokens:
        """Access tokens, which programs show in place of passwords."""
        return Tokens(self.data)

    @cached_property
    def sessions(self) -> Sessions:
        """Browsers in which players are logged in."""
        return Sessions(self.data)

    @cached_property
    def notes(self) -> Notes:
        """What players note about matches, each for themselves alone."""
        return Notes(self.data)

    @cached_property
    def challenges(self) -> Challenges:
        """Matches that wait for opponents."""
        return Challenges(self.data)

    @cached_property
    def blocks(self) -> Blocks:
        """Players whom others have blocked."""
        return Blocks(self.data)

    @cached_property
    def starts(self) -> Starts:
        """Starts by name that the others may not have taken up yet."""
        return Starts(self.data)

    @cached_property
    def drafts(self) -> Drafts:
        """Moves that wait to be confirmed."""
        return Drafts(self.data, self._shards)

    def _shards(self) -> int:
        return self.store.shape().shards

    @cached_property
    def lists(self) -> Lists:
        """Lists of matches by player and by game."""
        return Lists(self.data)

    @cached_property
    def notices(self) -> AccountNotices:
        """News for players: of their matches, and of messages and chat."""
        return AccountNotices(Notices(self.data), self.letters.notices)

    @cached_property
    def unread(self) -> Unread:
        """Counts of unread messages and chat."""
        return Unread(self.letters)

    @cached_property
    def history(self) -> History:
        """Finished matches."""
        return History(self.data)

    @cached_property
    def standings(self) -> Standings:
        """Tables of games: how often each player has won."""
        return Standings(self.data)

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of players."""
        return Ratings(self.data)

    @cached_property
    def head_to_head(self) -> HeadToHead:
        """How two players did against each other."""
        return HeadToHead(self.data)

    def forget(self, account: AccountId) -> None:
        """Erase what is kept of an account beside its record."""
        self.letters.forget(account)
        self.tokens.forget(account)
        self.challenges.forget(account)
        self.blocks.forget(account)
        self.starts.forget(account)
        forget_mail(self.data, account)
        self.sessions.forget(account)
        self.notes.forget(account)

    @cached_property
    def standing(self) -> Standing:
        """The status of players' mail addresses: proven, or bad."""
        return Standing(self.accounts, Codes(self.data, Outbox(self.data).now))

    @cached_property
    def scores(self) -> Scores:
        """Leaderboards."""
        return Scores(self.data)

    @cached_property
    def lanes(self) -> Lanes:
        """The leases of the drains, and their wake-ups."""
        return Lanes(self.queue, self._wake)

    def _wake(self, lane: int) -> None:
        from infra.queue import wake  # noqa: PLC0415 - RQ is slow to import, and not always needed

        wake(self.queue, lane)

    @cached_property
    def gateway(self) -> Gateway:
        """The way in for commands; `DurabilityError` when the server can't keep our promise."""
        self.ready()
        return self._closing.enter_context(CommandGateway(self.store, self.lanes, self.data))

    def ready(self) -> None:
        """Check once that the server keeps what is written; `DurabilityError` if it may not.

        `services.app.accounts` and the gateway ask; nothing else has to.
        """
        _ = self._verified

    @cached_property
    def _verified(self) -> bool:
        if self.durable:
            verify(self.data, self.settings.durability)
        return True

    @property
    def durable(self) -> bool:
        """Whether an outcome may be called accepted."""
        return self.settings.durability.durable
