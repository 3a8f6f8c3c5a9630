"""The composition root: makes everything a process works with, from its settings.

Each part is made when it is first asked for, so that a command which needs no server touches none.
A test passes in its fakes.

The actor: an account that a front end has proven, before it calls any use case.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec
import redis

from domain.records import AccountId, CommandId, command_id
from infra.archive.archive import Archive
from infra.archive.store import StoreWithArchive
from infra.durability.durability import DurabilityNotes, Mode, Occasion, verify
from infra.durability.durability_watch import DurabilityWatch
from infra.mail.account_changes import account_change_mailer
from infra.mail.addresses import AddressStatus
from infra.mail.outbox import Outbox
from infra.mail.queues import MailingMessageStore
from infra.mail.verification_codes import VerificationCodes
from infra.objects.location import open_objects
from infra.objects.port import ObjectStore
from infra.people.account_lists import BLOCKED, AccountList, Follows
from infra.people.account_macs import KEYS_FOLDER, AccountMacs
from infra.people.account_notices import AccountNotices, UnreadCounter
from infra.people.accounts import AccountRole, Accounts
from infra.people.acts import ActRecord
from infra.people.admission import Admissions
from infra.people.apps import Apps
from infra.people.calendar_links import CalendarLinks
from infra.people.challenges import ChallengeStore
from infra.people.clubs import Clubs
from infra.people.device_codes import DeviceCodes
from infra.people.drafts import Drafts
from infra.people.games_off import GamesOff
from infra.people.grants import Grants
from infra.people.hooks import Hooks
from infra.people.login_steps import LoginSteps
from infra.people.masthead import Mastheads
from infra.people.match_notes import Notes
from infra.people.messages import MessageStore
from infra.people.moderation import Moderation
from infra.people.pairing_batches import PairingBatches
from infra.people.pending_starts import PendingStarts
from infra.people.push_subscriptions import PushSubscriptions
from infra.people.rate_limits import CommandRateLimit
from infra.people.seen_texts import SeenTexts
from infra.people.sessions import Sessions
from infra.people.statements import Statements
from infra.people.tokens import Tokens
from infra.people.tournament_codes import TournamentCodes
from infra.people.tournament_texts import TournamentTexts
from infra.projections.cases import OpenCases
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import HomeLists
from infra.projections.notices import MatchNotices
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from infra.projections.tournaments import Tournaments
from infra.redis.clients import make_client
from infra.redis.confirmed_writes import ConfirmingRedis
from infra.redis.keys import Lane
from infra.redis.server import ServerTime
from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from infra.store.async_gateway import gateway_in_thread
from infra.store.draw_texts import DrawTexts
from infra.store.failures import DamagedMatches
from infra.store.gateway import Gateway
from infra.store.leases import LaneLeases
from infra.store.log_gate import LogGate
from infra.store.port import Store
from infra.store.seed_chains import SeedChains
from infra.store.trimmed_leaves import published_logs
from infra.valkey.server import queue_url, socket_url
from services.app.loop_connections import open_gateway

if TYPE_CHECKING:
    from infra.archive.objects import PageStore, PublishedLeaves
    from infra.health.status import Status
    from infra.log.proofs import LogProofs
    from infra.log.receipts import ReceiptSigner
    from infra.people.openid import Provider


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
        pace: CommandRateLimit | None = None,
        listening: float = 0.0,
    ) -> None:
        self.settings = settings
        self._listening = listening
        self._closing = ExitStack()
        parts: dict[str, object] = {"data": data, "queue": queue, "store": store}
        parts |= {"accounts": accounts, "gateway": gateway, "pace": pace}
        if gateway is not None:  # the caller that gives a gateway answers for its server
            self._verified = True
        # a cached property that has a value is never computed
        vars(self).update({name: part for name, part in parts.items() if part is not None})

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
        """The URL of the matches' server; `NotRunningError` when there is none."""
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
    def people(self) -> redis.Redis:
        """A client for everything that belongs to accounts, which is written without a commit."""
        if self.settings.durability is not Mode.REPLICATED:
            return self.data  # it is durable when the server answers, or nothing is promised
        return ConfirmingRedis(self.data, self.durability_watch().confirm)

    @cached_property
    def queue(self) -> redis.Redis:
        """A client of RQ's Redis."""
        return self._client(self.queue_url, self._listening)

    @property
    def queue_url(self) -> str:
        """The URL of RQ's Redis."""
        return queue_url(self.settings)

    @cached_property
    def time(self) -> ServerTime:
        """The time of the server of the matches, for pages."""
        return ServerTime()

    @cached_property
    def store(self) -> StoreWithArchive:
        """Matches."""
        settings = self.settings
        return StoreWithArchive(
            self.data,
            settings.durability,
            self.archive,
            settings.queue_cap,
            replicas=settings.replicas,
            open_logs=lambda: published_logs(settings),
        )

    @cached_property
    def archive(self) -> Archive:
        """Matches that have left Redis."""
        return Archive(self._open_archive, self._shards)

    def _open_archive(self) -> "tuple[PageStore, PublishedLeaves]":
        from infra.archive.objects import open_archive  # noqa: PLC0415 - slow to import, and seldom needed

        return open_archive(self.settings)

    @cached_property
    def gate(self) -> LogGate:
        """The gate of the logs; the store asks it from now on."""
        gate = LogGate(self.data, self.queue)
        self.store.published = gate.published
        return gate

    @cached_property
    def objects(self) -> ObjectStore:
        """The published log and the archive; `ObjectStoreError` if they can't be used."""
        return open_objects(self.settings.store, self.settings.data)

    @cached_property
    def receipt_signer(self) -> "ReceiptSigner":
        """Signs receipts of leaves; see `services.app.receipts`, which knows which are durable."""
        from infra.log.key_files import keys_folder  # noqa: PLC0415 - cryptography is slow to import
        from infra.log.receipts import ReceiptSigner  # noqa: PLC0415

        return ReceiptSigner(keys_folder(self.settings))

    @cached_property
    def proofs(self) -> "LogProofs":
        """Proofs and checkpoints of the published logs."""
        from infra.log.key_files import keys_folder, read_public_keys  # noqa: PLC0415 - as above
        from infra.log.proofs import LogProofs  # noqa: PLC0415

        return LogProofs(lambda: self.objects, lambda: read_public_keys(keys_folder(self.settings)))

    @cached_property
    def damage(self) -> DamagedMatches:
        """Matches that can't be read."""
        return DamagedMatches(self.data)

    @cached_property
    def seeds(self) -> SeedChains:
        """The secrets that draws come from."""
        return SeedChains(self.store, self.settings.seeds or self.settings.data / "seeds")

    @cached_property
    def words(self) -> DrawTexts:
        """Texts that the server keeps for draws."""
        return DrawTexts(self.people)

    @cached_property
    def accounts(self) -> Accounts:
        """Players."""
        return Accounts(
            self.people,
            password_rate=self.settings.password_rate,
            notify=account_change_mailer(self.people, self.settings.mail_domain),
            macs=AccountMacs(self.settings.keys or self.settings.data / KEYS_FOLDER),
        )

    @cached_property
    def admissions(self) -> Admissions:
        """The admission, and the sign-up links."""
        return Admissions(self.people)

    @cached_property
    def games_off(self) -> GamesOff:
        """The games that are switched off."""
        return GamesOff(self.people)

    @cached_property
    def mastheads(self) -> Mastheads:
        """The site's own name, contact, texts, banner and logo."""
        return Mastheads(self.people)

    @cached_property
    def acts(self) -> ActRecord:
        """The record of what operators, moderators and arbiters have done."""
        return ActRecord(self.people)

    @cached_property
    def clubs(self) -> Clubs:
        """Clubs."""
        return Clubs(self.people)

    @cached_property
    def pairing_batches(self) -> PairingBatches:
        """Matches that organisers have paired with tools of their own."""
        return PairingBatches(self.people)

    @cached_property
    def tournament_texts(self) -> TournamentTexts:
        """The names and texts of tournaments."""
        return TournamentTexts(self.people)

    @cached_property
    def tournament_codes(self) -> TournamentCodes:
        """The codes for entering tournaments."""
        return TournamentCodes(self.people)

    @cached_property
    def tournaments(self) -> Tournaments:
        """The lists of tournaments, and their matches."""
        return Tournaments(self.data)

    @cached_property
    def moderation(self) -> Moderation:
        """Reports and sanctions."""
        return Moderation(self.people)

    @cached_property
    def pace(self) -> CommandRateLimit:
        """How fast an account may give commands to this process."""
        return CommandRateLimit(self.settings.command_rate)

    @cached_property
    def messages(self) -> MessageStore:
        """Messages, broadcasts and chat."""
        return MailingMessageStore(self.people, self._shards)

    @cached_property
    def tokens(self) -> Tokens:
        """Access tokens, which programs show in place of passwords."""
        return Tokens(self.people)

    @cached_property
    def apps(self) -> Apps:
        """Programs that players have registered, for others to let them act in their name."""
        return Apps(self.people)

    @cached_property
    def grants(self) -> Grants:
        """Permissions that players have given to apps."""
        return Grants(self.people)

    @cached_property
    def device_codes(self) -> DeviceCodes:
        """Devices that wait for their users."""
        return DeviceCodes(self.people)

    @cached_property
    def sessions(self) -> Sessions:
        """Browsers in which players are logged in."""
        return Sessions(self.people)

    @cached_property
    def login_steps(self) -> LoginSteps:
        """Log-ins that are under way."""
        return LoginSteps(self.people)

    @cached_property
    def provider(self) -> "Provider | None":
        """The group's own sign-in service; None without one."""
        from infra.people.openid import Provider, ProviderSettings  # noqa: PLC0415 - seldom needed

        settings = self.settings
        if not settings.oidc_issuer or not settings.oidc_client:
            return None
        file = settings.oidc_secret_file
        secret = file.read_text("utf-8").strip() if file else ""
        return Provider(ProviderSettings(settings.oidc_issuer, settings.oidc_client, secret))

    @cached_property
    def hooks(self) -> Hooks:
        """The webhooks and channels of accounts, and their deliveries."""
        return Hooks(self.people)

    @cached_property
    def push_subscriptions(self) -> PushSubscriptions:
        """Browsers that show notifications."""
        return PushSubscriptions(self.people)

    @cached_property
    def calendar_links(self) -> CalendarLinks:
        """The secret addresses of calendars."""
        return CalendarLinks(self.people)

    @cached_property
    def notes(self) -> Notes:
        """Players' notes about matches, which only their authors can read."""
        return Notes(self.people)

    @cached_property
    def statements(self) -> Statements:
        """Texts of claims, appeals and rulings, which only players and arbiters can read."""
        return Statements(self.people, self._shards)

    @cached_property
    def challenges(self) -> ChallengeStore:
        """Matches that wait for opponents."""
        return ChallengeStore(self.people)

    @cached_property
    def blocks(self) -> AccountList[AccountId]:
        """Players whom others have blocked."""
        return AccountList(self.people, BLOCKED)

    @cached_property
    def follows(self) -> Follows:
        """Matches and players that others watch and follow."""
        return Follows(self.people)

    @cached_property
    def starts(self) -> PendingStarts:
        """Starts by name that the others may not have taken up yet."""
        return PendingStarts(self.people)

    @cached_property
    def seen_texts(self) -> SeenTexts:
        """Browsers that were seen with texts for sealed deals."""
        return SeenTexts(self.people)

    @cached_property
    def drafts(self) -> Drafts:
        """Moves that wait to be confirmed."""
        return Drafts(self.people, self._shards)

    def is_arbiter(self, account: AccountId) -> bool:
        """Return whether an account is an arbiter."""
        profile = self.accounts.record_of(account)
        return profile is not None and profile.has(AccountRole.ARBITER)

    @property
    def gives_receipts(self) -> bool:
        """Whether there are receipts at all."""
        return self.durable and self.receipt_signer.has_key

    def _shards(self) -> int:
        return self.store.shards

    @cached_property
    def lists(self) -> HomeLists:
        """Lists of matches by player and by game."""
        return HomeLists(self.data, self.history)

    @cached_property
    def notices(self) -> AccountNotices:
        """News for players: of their matches, and of messages and chat."""
        return AccountNotices(self.data, MatchNotices(self.data), self.messages.notices)

    @cached_property
    def unread(self) -> UnreadCounter:
        """Counts of unread messages and chat."""
        return UnreadCounter(self.data, self.messages)

    @cached_property
    def cases(self) -> OpenCases:
        """Cases that wait for a ruling."""
        return OpenCases(self.data)

    @cached_property
    def history(self) -> FinishedMatches:
        """Finished matches."""
        return FinishedMatches(self.data, self.store.entries)

    @cached_property
    def standings(self) -> StandingsQuery:
        """Tables of games: how often each player has won."""
        return StandingsQuery(self.data)

    @cached_property
    def ratings(self) -> RatingsQuery:
        """Ratings of players."""
        return RatingsQuery(self.data)

    @cached_property
    def head_to_head(self) -> HeadToHeadQuery:
        """How two players did against each other."""
        return HeadToHeadQuery(self.data)

    @cached_property
    def standing(self) -> AddressStatus:
        """The status of players' mail addresses: proven, or bad."""
        return AddressStatus(self.accounts, VerificationCodes(self.people, Outbox(self.data).now))

    @cached_property
    def scores(self) -> Leaderboards:
        """Leaderboards."""
        return Leaderboards(self.data)

    @cached_property
    def lanes(self) -> LaneLeases:
        """The leases of the drains, and their wake-ups."""
        return LaneLeases(self.queue, self.wake)

    def wake(self, lane: Lane) -> None:
        """Enqueue the job that drains a lane."""
        from infra.store.rq_wakeup import enqueue_drain  # noqa: PLC0415 - RQ is slow to import, and not always needed

        enqueue_drain(self.queue, lane)

    @cached_property
    def gateway(self) -> Gateway:
        """The gateway for commands; `DurabilityError` when the server can't keep the promise."""
        self.ready()
        self.queue.ping()  # the gateway would wait for a server of the queue that is away
        return self._closing.enter_context(gateway_in_thread(open_gateway(self)))

    def ready(self) -> None:
        """Check once that the server keeps what is written; `DurabilityError` if it may not.

        `services.app.accounts` and the gateway call this; nothing else has to.
        """
        _ = self._verified

    def durability_watch(self) -> DurabilityWatch:
        """Return a new watch over the server's durability."""
        settings = self.settings
        return DurabilityWatch(self.data, self.queue, settings.durability, settings.replicas)

    def status(self) -> "Status":
        """Return the status of the whole server, of which nothing is read yet."""
        from infra.health.status import Status  # noqa: PLC0415 - RQ is slow to import, and not always needed

        return Status(self.settings, self.data, self.queue, self.store)

    @cached_property
    def _verified(self) -> bool:
        if self.durable:
            settings, notes = self.settings, DurabilityNotes(self.queue)
            verify(self.data, settings.durability, settings.replicas, notes, Occasion.JOIN)
        return True

    @cached_property
    def durable(self) -> bool:
        """Whether an outcome may be called accepted."""
        return self.settings.durability.durable


class Actor(msgspec.Struct, frozen=True):
    """An account, the front end that proved it, and the idempotency key of its request."""

    account: AccountId
    via: str
    """The front end's name: a part of each command id, so that keys of two front ends never meet."""
    key: str
    """The same request sent again carries the same key, and so it is carried out once."""
    name: str = ""
    """The userid, where the front end knows it."""

    def command_id(self, part: str = "") -> CommandId:
        """Return the id of the command that the actor gives with this key.

        `part` tells apart several commands of one request.
        """
        return command_id(self.via, self.account, f"{self.key} {part}" if part else self.key)


@contextmanager
def open_parts(settings: Settings) -> Iterator[tuple[Store, redis.Redis]]:
    """Open the store and a client of the data, in a process that has just begun."""
    load_games()
    with App(settings) as parts:
        yield parts.store, parts.data
