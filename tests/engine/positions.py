"""Positions of all games, from matches played at random."""

from domain.fairness import DrawStream
from domain.rules import all_rules


def random_positions(rng, plies=60):
    """Yield rules and a position of each game and number of players, in which somebody is to move."""
    for rules in all_rules():
        for players in rules.players:
            options = rules.read_options(())
            setup = rules.draw(options, players, DrawStream(rng.randbytes(32), "test/1"))
            at = rules.start(options, players, setup)
            for _ in range(rng.randrange(plies)):
                moves, _ = rules.first_moves(at, 200)
                after = rules.play(at, rules.read(rng.choice(moves)))
                if rules.to_move(after) is None:
                    break
                at = after
            yield rules, at
