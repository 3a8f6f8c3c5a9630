"""What the tests of the games share: playing by text, at random, and what holds in every game."""

import random
import re
from importlib.resources import files

from domain.boards.pow2_board import INDEX
from domain.drawing import draw_text
from domain.errors import Code, Refusal
from domain.rules import latest_rules

# --- playing


def play(rules, at, *texts):
    """Return the position after moves written as text, each of which has to be legal."""
    for text in texts:
        at = rules.play(at, rules.check(at, rules.read(text)))
    return at


def legal(rules, at):
    """Return the legal moves as text."""
    return list(rules.legal_moves(at))


def board(rules, at):
    """Return the letters of a position's JSON form by their places."""
    return rules.to_json(at)["board"]


def ending(rules, at):
    """Return winners, reason and detail of a position in which nobody is to move and nothing is legal."""
    assert rules.to_move(at) is None
    assert legal(rules, at) == rules.moves(at) == []
    assert rules.count_moves(at) == 0
    outcome = rules.outcome(at)
    return outcome.winners, str(outcome.reason), str(outcome.detail)


def random_game(rules, at, rng, longest=10_000):
    """Yield the positions and moves of a game played at random, its end with None for a move."""
    for _ in range(longest):
        if rules.outcome(at) is not None:
            yield at, None
            return
        text = rules.write(rng.choice(rules.moves(at)))
        yield at, text
        at = play(rules, at, text)


def random_puzzle(game, at, seed, longest=80):
    """Yield the positions and moves of a puzzle solved at random, for which `done` is the last resort."""
    rng = random.Random(seed)
    for _ in range(longest):
        if game.rules.outcome(at) is not None:
            return
        texts = game.legal(at)
        text = rng.choice(texts[:-1] or texts)
        yield at, text
        at = game.played(text, at=at)


class Game:
    """A game as its tests play it."""

    def __init__(self, key, players=2):
        self.rules, self._players = latest_rules(key), players

    def start(self, *flags):
        return self.rules.start(self.rules.read_options(flags), self._players, None)

    def played(self, texts, *flags, at=None):
        """Return the position after moves, from the start under some flags or from another position."""
        return play(self.rules, at or self.start(*flags), *texts.split())

    def legal(self, at):
        return legal(self.rules, at)

    def board(self, at):
        return board(self.rules, at)

    def ending(self, at):
        return ending(self.rules, at)

    def games(self, first, seeds):
        """Yield games played at random, each as its positions and moves."""
        return (random_game(self.rules, first, random.Random(seed)) for seed in seeds)


# --- refusals


def refusal(code, call, *args):
    """Return the sentence with which a call is refused; what happens instead, if anything else does."""
    try:
        found = call(*args)
    except Refusal as refused:
        return refused.sentence if refused.code is code else f"{refused.code}: {refused.sentence}"
    return f"{found!r} is accepted"


def refused(rules, at, text):
    """Return the sentence that refuses a move as illegal."""
    return refusal(Code.ILLEGAL_MOVE, lambda: rules.check(at, rules.read(text)))


def bad_setup(make, *args):
    """Return the sentence with which `make` refuses to make a position of these."""
    return refusal(Code.BAD_SETUP, make, *args)


# --- what every game declares, and is tested for


class GameTests:
    """The tests that each game has: a game's class inherits them, and says what is so in its game."""

    key = ""
    wrong_players = 3, "is played by two, not by 3"
    options = (("", ""),)
    """Flags as they are given, and as they are written."""
    illegal = ()
    """Positions, moves, and the sentences that refuse them, after the move."""
    unreadable = ()
    """Texts that are no moves; with the sentence, without the form, if it isn't the usual one."""
    form = ""
    """How a move is written, as refusals say it."""
    shown = ()
    """The positions on the pages of help, each with how it is displayed there."""
    words = ""
    """Words of both pages of help."""

    @property
    def rules(self):
        return latest_rules(self.key)

    def test_it_is_for_so_many_players_without_a_setup_and_has_these_options(self):
        rules, (players, said) = self.rules, self.wrong_players
        options = [rules.read_options(flags.split()) for flags, _ in self.options]
        written = [" ".join(rules.write_options(one)) for one in options]
        assert written == [flags for _, flags in self.options]
        found = refusal(Code.BAD_PLAYERS, rules.start, options[0], players, None)
        assert found == f"{self.key} {said}"
        if not rules.needs_draw(options[0], rules.players[0]):
            said = bad_setup(rules.start, options[0], rules.players[0], {})
            assert re.search("no setup that chance draws|chance draws no setup", said)

    def test_an_illegal_move_is_refused_by_the_rule_it_breaks(self):
        found = [refused(self.rules, at, text) for at, text, _ in self.illegal]
        assert found == [f"{self.named(text)}: {sentence}" for _, text, sentence in self.illegal]

    def named(self, text):
        """Return what a refusal names of a move."""
        return text

    def test_what_is_no_notation_is_refused_with_the_form(self):
        usual = [(one, f"{one[:24]!r} isn't a move") for one in self.unreadable if one == str(one)]
        texts = dict(usual or self.unreadable)
        found = {text: refusal(Code.UNREADABLE_MOVE, self.rules.read, text) for text in texts}
        assert found == {text: f"{problem}; {self.form}" for text, problem in texts.items()}

    def test_what_the_help_shows_and_says_is_so(self):
        for page in help_pages(self.key):
            for at, display in self.shown:
                assert draw_text(self.rules, at, display) in page
            assert [word for word in self.words.split() if word not in page] == []


def help_pages(key):
    """Return the help of a game in both languages."""
    folder = files(f"domain.games.{key}")
    return [folder.joinpath(f"help{one}.txt").read_text("utf-8") for one in ("", ".de")]


def sets(letters, alphabet):
    """Return the sets of intersections with each letter of an alphabet, in its order."""
    return [sum(1 << INDEX[at] for at, own in letters.items() if own == one) for one in alphabet]
