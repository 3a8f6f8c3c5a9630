"""The classics beside OpenSpiel's: the same moves are legal at each step, and games end alike."""

import random

import pytest

from tests.games import playing

SEEDS = range(200)


def plays_alike(rules, flags, spiel, name_of, seeds=SEEDS, parts=lambda *_: False):
    """Assert that games at random are the same by our rules and by OpenSpiel's.

    `spiel` names OpenSpiel's game. `name_of` returns our text of one of its moves, from the state and its action;
    None for a pass, which we make without being asked. `parts` returns, from the state and our position, whether
    OpenSpiel ended the game by a rule that is not ours; the number of such games is returned.
    """
    theirs = pytest.importorskip("pyspiel").load_game(spiel)
    first, parted = rules.start(rules.read_options(flags), 2, None), 0
    for seed in seeds:
        chosen, at, state = random.Random(seed), first, theirs.new_initial_state()
        while not state.is_terminal():
            moves = {name_of(state, action): action for action in state.legal_actions()}
            if None in moves:
                state.apply_action(moves[None])
                continue
            assert sorted(moves) == sorted(playing.legal(rules, at)), seed
            assert state.current_player() == rules.to_move(at)
            text = chosen.choice(sorted(moves))
            state.apply_action(moves[text])
            at = playing.play(rules, at, text)
        if parts(state, at):
            parted += 1
            continue
        outcome = rules.outcome(at)
        assert outcome is not None, seed
        won = [seat for seat, share in enumerate(state.returns()) if share >= 0]
        assert [seat for seat in (0, 1) if seat in outcome.winners] == won
    return parted
