"""The table of the forms of a game's commands, which begin with the name of the game."""

from functools import partial
from typing import Final

from infra.languages.wording import N_
from services.language.authentication import challenger, signer, signer_if_any
from services.language.form import LANGUAGES, OWN, OWN_IN_MATCH, CommandForm, signed
from services.language.handlers import (
    accounts,
    boards,
    conditional_moves,
    drafts,
    help_pages,
    listing,
    messages,
    play,
    rankings,
)
from services.language.handlers import boards as analyses
from services.language.handlers import rankings as puzzles

_of_game: Final = partial(CommandForm, of_game=True)
_in_match: Final = partial(signed, of_game=True, in_match=True)

GAME_FORMS: Final = (
    _of_game(
        "game_help",
        "help",
        f"[--lang={LANGUAGES}]",
        N_("explain the game"),
        help_pages.show_game_help,
        for_guests=True,
    ),
    _of_game(
        "challenge",
        "challenge",
        "userid1 userid2 [userid3] [--password=PASSWORD [--as=userid]] [-option ...] [--option ...]",
        N_("challenge players to a match; -options are the game's, --options the server's"),
        play.challenge,
        proof=challenger,
    ),
    _in_match(
        "move",
        "move",
        f"{OWN_IN_MATCH} MOVE[#ply]",
        N_(
            "play a move; or instead of one: propose KIND, undo, accept, reveal TEXT, reject, "
            "resign, decline, resume"
        ),
        play.move,
    ),
    _in_match(
        "queue",
        "queue",
        f"{OWN_IN_MATCH} [MOVE[#ply] ... | drop MOVE[#ply] ... | clear]",
        N_("prepare conditional moves, which are played as soon as their turn comes"),
        conditional_moves.queue,
    ),
    _in_match(
        "submit",
        "submit",
        f"{OWN_IN_MATCH} MOVE[#ply]",
        N_("look at a move before it is played"),
        drafts.submit,
    ),
    _in_match(
        "confirm", "confirm", OWN_IN_MATCH, N_("play the move you submitted"), drafts.confirm
    ),
    _of_game(
        "preview",
        "preview",
        "BOARD MOVE ...",
        N_("show where moves would lead; nothing is played"),
        boards.preview,
        in_match=True,
    ),
    _of_game(
        "previewas",
        "previewas",
        f"{OWN_IN_MATCH} MOVE ...",
        N_("preview, drawn as you prefer it"),
        boards.preview_as,
        proof=signer,
    ),
    _of_game(
        "analyse",
        "analyse",
        "BOARD [userid password]",
        N_(
            "show the engine's analysis of a finished match or a puzzle; with a password, "
            "request it first"
        ),
        analyses.analyse,
        proof=signer_if_any,
        in_match=True,
    ),
    _in_match("resign", "resign", OWN_IN_MATCH, N_("resign the match"), play.resign),
    _in_match(
        "decline",
        "decline",
        OWN_IN_MATCH,
        N_("decline to play, before your first move or until everyone has accepted"),
        play.decline,
    ),
    _in_match(
        "rematch",
        "rematch",
        OWN_IN_MATCH,
        N_("play again once the match is over, with the sides exchanged"),
        play.rematch,
    ),
    _in_match(
        "chat",
        "chat",
        f"{OWN_IN_MATCH} [TEXT]",
        N_("write to the players of a match, or read what they wrote"),
        messages.chat,
    ),
    _of_game(
        "show_boards",
        "show",
        "BOARD[#ply] ... [--display=NAME]",
        N_("show boards, as they are or were"),
        boards.show,
    ),
    _of_game(
        "show_players",
        "show",
        "userid ... [all|active|inactive|next]",
        N_("show boards of players"),
        listing.show_players,
    ),
    _of_game(
        "showas",
        "showas",
        f"{OWN} [BOARD[#ply] ... | all|active|inactive|next]",
        N_("show boards as you prefer them, with what only you can see"),
        boards.show_as,
        proof=signer,
    ),
    _of_game(
        "game_games",
        "games",
        "[userid ...] [all|active|inactive|next]",
        N_("list matches"),
        listing.games,
    ),
    _of_game("history", "history", "[userid ...]", N_("list finished matches"), rankings.history),
    _of_game(
        "standings", "standings", "", N_("list how often each player has won"), rankings.standings
    ),
    _of_game(
        "ratings",
        "ratings",
        "[userid]",
        N_("list the ratings, or how one came about"),
        rankings.ratings,
    ),
    _of_game(
        "scores", "scores", "[-option ...]", N_("list the best scores of a puzzle"), puzzles.scores
    ),
    _of_game(
        "game_set",
        "set",
        f"{OWN} [display] NAME  |  language {LANGUAGES}  |  notify move|daily|none"
        "  |  challenges anyone|known|none  |  receipts on|off",
        N_("choose how the game's boards are drawn for you"),
        accounts.set_for_game,
        proof=signer,
    ),
)
