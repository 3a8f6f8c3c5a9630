"""A desk without a server: matches in memory, and a gateway whose wake-ups drain at once."""

import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

from argon2 import PasswordHasher

from domain.match.events import AccountId
from fakes.memory import memory_client
from fakes.side import catch_up
from infra.accounts import Accounts
from infra.blocks import Blocks
from infra.challenges import Challenges
from infra.damage import Damage
from infra.drafts import Drafts
from infra.gateway import CommandGateway
from infra.lanes import Lanes
from infra.letters import Letters
from infra.limits import CommandLimit
from infra.mail.codes import Codes
from infra.mail.outbox import Outbox
from infra.mail.standing import Standing
from infra.notes import Notes
from infra.projections.head_to_head import HeadToHead
from infra.projections.history import History
from infra.projections.lists import Lists
from infra.projections.ratings import Ratings
from infra.projections.scores import Scores
from infra.projections.standings import Standings
from infra.seeds import Seeds
from infra.sessions import Sessions
from infra.starts import Starts
from infra.store.memory import MemoryStore
from infra.store.port import Shape
from infra.words import Words
from services.language import LOCAL, Answer, Language
from workers.drain import Drain

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

PASSWORDS = {"alice": "wonderland", "bob": "builder2", "carol": "singing5"}


class FakeApp:
    """Everything the language works with; `awake` is whether commands are decided at all."""

    def __init__(self, *, durable: bool = True) -> None:
        self.client = memory_client()
        self.durable = durable
        self.awake = True
        ticks = itertools.count(1_700_000_000_000)
        self.store = MemoryStore(lambda: next(ticks), publish=self.client.publish)
        self.store.create(Shape(shards=4, lanes=1))
        self._folder = TemporaryDirectory()
        self._seeds = Seeds(self.store, Path(self._folder.name))
        self.scores = Scores(self.client)
        self.damage = Damage(self.client)
        self.pace = CommandLimit(1_000_000)
        self.letters = Letters(self.client, lambda: 4)
        self.drafts = Drafts(self.client, lambda: 4)
        self.blocks = Blocks(self.client)
        self.starts = Starts(self.client)
        self.challenges = Challenges(self.client)
        self.accounts = Accounts(self.client, CHEAP)
        self.sessions = Sessions(self.client)
        self.notes = Notes(self.client)
        self.words = Words(self.client)
        self._lanes = Lanes(self.client, self._drain)
        self.gateway = CommandGateway(self.store, self._lanes, self.client)

    def _drain(self, lane: int) -> None:
        if self.awake:
            Drain(self.store, self._lanes, self.client, lane, seeds=self._seeds).run()

    @property
    def lists(self) -> Lists:
        """Who plays what, up to now."""
        catch_up(self.store, self.client)
        return Lists(self.client)

    @property
    def history(self) -> History:
        """Finished matches, up to now."""
        catch_up(self.store, self.client)
        return History(self.client)

    @property
    def standings(self) -> Standings:
        """Who has won how often, up to now."""
        catch_up(self.store, self.client)
        return Standings(self.client)

    @property
    def ratings(self) -> Ratings:
        """How strong everybody is, up to now."""
        catch_up(self.store, self.client)
        return Ratings(self.client)

    @property
    def head_to_head(self) -> HeadToHead:
        """How two players did against each other, up to now."""
        catch_up(self.store, self.client)
        return HeadToHead(self.client)

    @property
    def standing(self) -> Standing:
        """What is known of players' own addresses."""
        return Standing(self.accounts, Codes(self.client, Outbox(self.client).now))

    def forget(self, account: AccountId) -> None:
        """Erase what is kept of an account beside its record."""
        self.letters.forget(account)
        self.blocks.forget(account)
        self.starts.forget(account)
        self.sessions.forget(account)
        self.notes.forget(account)

    def ready(self) -> None:
        """Promise what is not kept."""

    def close(self) -> None:
        """Close what was opened."""
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
        """Carry out a line."""
        return self.language.do(line, key, seconds)

    def challenge(self, options: str = "") -> int:
        """Start a match of alice and bob; gives its board number."""
        answer = self.do(f"pow2 challenge alice bob {options}")
        assert answer.code == ""
        return int(answer.sentence.split()[1].rstrip(",#"))

    def move_in(self, game: str, board: int, name: str, text: str) -> Answer:
        """Play a move in a match of any game."""
        return self.do(f"{game} move {board} {name} {PASSWORDS[name]} {text}")

    def move(self, board: int, name: str, text: str, key: str | None = None) -> Answer:
        """Play a move, or what stands in its place."""
        return self.do(f"pow2 move {board} {name} {PASSWORDS[name]} {text}", key)
