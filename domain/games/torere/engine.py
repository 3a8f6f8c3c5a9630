"""The part of mū tōrere that the engine uses.

There is no evaluation, because nothing but a mistake decides: a position that is neither won nor
lost within six plies is a draw. So equal moves are chosen by the seed, which leads the opponent to
ever other places where a mistake is possible. The budgets are small because the whole game has
only 1,180 positions; hard sees every mistake, and the others see those that are punished soon.
"""

from typing import Final

from domain.game.engine import Budgets, GameEngine, SearchMethod

ENGINE: Final = GameEngine(method=SearchMethod.ALPHA_BETA, budgets=Budgets(51, 53, 500))
