"""A desk without a server: matches in memory, and a gateway whose wake-ups drain at once."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

from argon2 import PasswordHasher

from infra.log.key_files import read_public_keys
from infra.log.proofs import LogProofs
from infra.log.receipts import ReceiptSigner
from infra.mail.addresses import AddressStatus
from infra.mail.outbox import Outbox
from infra.mail.verification_codes import VerificationCodes
from infra.people.account_lists import BLOCKED, AccountList, Follows, Notes, SeenTexts
from infra.people.accounts import Accounts
from infra.people.acts import ActRecord
from infra.people.admission import Admissions
from infra.people.apps import Apps
from infra.people.calendar_links import CalendarLinks
from infra.people.challenges import ChallengeStore
from infra.people.clubs import Clubs
from infra.people.drafts import Drafts
from infra.people.games_off import GamesOff
from infra.people.grants import Grants
from infra.people.hooks import Hooks
from infra.people.login_steps import LoginSteps
from infra.people.masthead import Mastheads
from infra.people.messages import MessageStore
from infra.people.moderation import Moderation
from infra.people.pairing_batches import PairingBatches
from infra.people.pending_starts import PendingStarts
from infra.people.push_subscriptions import PushSubscriptions
from infra.people.rate_limits import CommandRateLimit
from infra.people.sessions import Sessions
from infra.people.statements import Statements
from infra.people.tokens import Tokens
from infra.people.tournament_codes import TournamentCodes
from infra.people.tournament_texts import TournamentTexts
from infra.projections.cases import OpenCases
from infra.projections.finished_matches import FinishedMatches
from infra.projections.head_to_head import HeadToHeadQuery
from infra.projections.leaderboards import Leaderboards
from infra.projections.match_lists import MatchLists
from infra.projections.ratings import RatingsQuery
from infra.projections.standings import StandingsQuery
from infra.projections.tournaments import Tournaments
from infra.redis.keys import Lane
from infra.settings.settings import Settings
from infra.store.draw_texts import DrawTexts
from infra.store.failures import DamagedMatches
from infra.store.layout import Layout
from infra.store.leases import LaneLeases
from infra.store.seed_chains import SeedChains
from services.app.context import App
from services.language import LOCAL, Answer, Language
from tests.fakes.memory_store import MemoryObjects, MemoryStore, memory_client
from tests.helpers.gateways import StoreGateway
from tests.helpers.side import catch_up
from workers.commands.drain import Drain

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORDS = {"alice": "mad-hatter", "bob": "yes-we-can", "carol": "sing-along"}


class FakeApp:
    """Everything the language works with; `awake` is whether commands are decided at all."""

    def __init__(self, *, durable: bool = True) -> None:
        self.data = self.people = self.queue = self.client = memory_client()
        self.durable = durable
        self.awake = True
        ticks = itertools.count(1_700_000_000_000)
        self.store = MemoryStore(lambda: next(ticks))
        self.store.create(Layout(shards=4, lanes=1))
        self._folder = TemporaryDirectory()
        self.settings = Settings(data=Path(self._folder.name))
        self.keys = Path(self._folder.name) / "keys"
        self.objects = MemoryObjects()
        self.receipt_signer = ReceiptSigner(self.keys)
        self.proofs = LogProofs(lambda: self.objects, lambda: read_public_keys(self.keys))
        self._seeds = SeedChains(self.store, Path(self._folder.name))
        self.scores = Leaderboards(self.client)
        self.damage = DamagedMatches(self.client)
        self.pace = CommandRateLimit(1_000_000)
        self.messages = MessageStore(self.client, lambda: 4)
        self.drafts = Drafts(self.client, lambda: 4)
        self.blocks = AccountList(self.client, BLOCKED)
        self.follows = Follows(self.client)
        self.starts = PendingStarts(self.client)
        self.challenges = ChallengeStore(self.client)
        self.accounts = Accounts(self.client, CHEAP)
        self.admissions = Admissions(self.client)
        self.games_off = GamesOff(self.client)
        self.moderation = Moderation(self.client)
        self.acts = ActRecord(self.client)
        self.mastheads = Mastheads(self.client)
        self.clubs = Clubs(self.client)
        self.apps, self.grants = Apps(self.client), Grants(self.client)
        self.pairing_batches = PairingBatches(self.client)
        self.tournament_codes = TournamentCodes(self.client)
        self.tournament_texts = TournamentTexts(self.client)
        self.sessions = Sessions(self.client)
        self.login_steps = LoginSteps(self.client)
        self.provider = None
        self.tokens = Tokens(self.client)
        self.calendar_links = CalendarLinks(self.client)
        self.push_subscriptions = PushSubscriptions(self.client)
        self.hooks = Hooks(self.client)
        self.notes = Notes(self.client)
        self.statements = Statements(self.client, lambda: 4)
        self.words = DrawTexts(self.client)
        self.seen_texts = SeenTexts(self.client)
        self.objects = MemoryObjects()
        self._lanes = LaneLeases(self.client, self._drain)
        self.gateway = StoreGateway(self.store, self._lanes, self.client)

    is_arbiter = App.is_arbiter
    gives_receipts = App.gives_receipts

    def _drain(self, lane: Lane) -> None:
        if self.awake:
            Drain(self.store, self._lanes, self.client, lane, seeds=self._seeds).run()

    @property
    def lists(self) -> MatchLists:
        """Who plays what, up to now."""
        catch_up(self.store, self.client)
        return MatchLists(self.client)

    @property
    def tournaments(self) -> Tournaments:
        catch_up(self.store, self.client)
        return Tournaments(self.client)

    @property
    def cases(self) -> OpenCases:
        """Cases that wait, up to now."""
        catch_up(self.store, self.client)
        return OpenCases(self.client)

    @property
    def history(self) -> FinishedMatches:
        catch_up(self.store, self.client)
        return FinishedMatches(self.client)

    @property
    def standings(self) -> StandingsQuery:
        """Who has won how often, up to now."""
        catch_up(self.store, self.client)
        return StandingsQuery(self.client)

    @property
    def ratings(self) -> RatingsQuery:
        """How strong everybody is, up to now."""
        catch_up(self.store, self.client)
        return RatingsQuery(self.client)

    @property
    def head_to_head(self) -> HeadToHeadQuery:
        """How two players did against each other, up to now."""
        catch_up(self.store, self.client)
        return HeadToHeadQuery(self.client)

    @property
    def standing(self) -> AddressStatus:
        """What is known of players' own addresses."""
        return AddressStatus(self.accounts, VerificationCodes(self.client, Outbox(self.client).now))

    def ready(self) -> None:
        """Promise what is not kept."""

    def close(self) -> None:
        self.gateway.close()
        self.client.close()
        self._folder.cleanup()


class Terminal:
    """A terminal at the desk, where alice, bob and carol have signed up."""

    def __init__(self, app: FakeApp) -> None:
        self.app = app
        self.language = Language(app, origin=LOCAL)
        for name, password in PASSWORDS.items():
            app.accounts.signup(name, password)

    def do(self, line: str, key: str | None = None, seconds: float = 5.0) -> Answer:
        return self.language.do(line, key, seconds)

    def accepted(self, line: str, key: str | None = None) -> Answer:
        """Carry out a line that must be accepted; gives the answer."""
        answer = self.do(line, key)
        assert answer.code == "", answer
        return answer

    def challenge(self, options: str = "") -> int:
        """Start a match of alice and bob, who accepts it; gives its board number."""
        return self.begin(f"pow2 challenge alice bob {options}")

    def begin(self, line: str) -> int:
        """Start a match whose other players accept it; gives its board number."""
        answer = self.do(line)
        assert answer.code == "", answer
        game, _, *names = line.split()
        board = int(answer.sentence.split()[1].rstrip(",#"))
        others = [name for name in names[1:] if name in PASSWORDS]
        return self.accept(board, *others, game=game) if others else board

    def accept(self, board: int, *names: str, game: str = "pow2") -> int:
        """Have invited players accept a match; gives its board number."""
        for name in names:
            answer = self.move_in(game, board, name, "accept")
            assert answer.code == "", answer
        return board

    def move_in(self, game: str, board: int, name: str, text: str) -> Answer:
        """Play a move in a match of any game."""
        return self.do(f"{game} move {board} {name} {PASSWORDS[name]} {text}")

    def move(self, board: int, name: str, text: str, key: str | None = None) -> Answer:
        """Play a move, or what stands in its place."""
        return self.do(f"pow2 move {board} {name} {PASSWORDS[name]} {text}", key)
