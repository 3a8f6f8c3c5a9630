"""The table of forms: each of the grammar's rules with its usage, its meaning and its handler."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from services.language.answer import Answer
from services.language.authentication import Proof, challenger, nobody, signer
from services.language.handlers import (
    accounts,
    blocks,
    boards,
    conditional_moves,
    disputes,
    drafts,
    help_pages,
    listing,
    messages,
    multiple,
    play,
    puzzles,
    rankings,
    vacations,
)
from services.language.invocation import Invocation


class CommandForm(msgspec.Struct, frozen=True):
    """A way to write a command."""

    rule: str
    """The grammar's rule."""
    name: str
    """The words it begins with, after the game's if it is one of a game's."""
    rest: str
    """The rest of the line, as usage shows it."""
    summary: str
    handler: Callable[[Invocation], Answer]
    of_game: bool = False
    proof: Proof = nobody
    """Returns the account that gives the command."""
    in_match: bool = False
    """Whether its board names a match, which is loaded before the proof."""

    def usage(self, game: str = "GAME") -> str:
        """Return how the command is written."""
        return " ".join(
            part for part in (game if self.of_game else "", self.name, self.rest) if part
        )

    def called(self, words: Sequence[str]) -> bool:
        """Return whether these are its name, or the beginning of it."""
        return bool(words) and self.name.split()[: len(words)] == list(words)


_OWN: Final = "userid password"
_IN_MATCH: Final = "BOARD userid password"

GENERAL_FORMS: Final = (
    CommandForm(
        "help",
        "help",
        "[GAME|COMMAND] [--lang=en|de]",
        "explain",
        lambda call: help_pages.show_help(call, FORMS),
    ),
    CommandForm("games", "games", "", "list the games and puzzles", help_pages.list_games),
    CommandForm("signup", "signup", f"{_OWN} [ADDRESS ...]", "make an account", accounts.signup),
    CommandForm(
        "add",
        "add",
        f"{_OWN} ADDRESS ...",
        "add mail addresses",
        accounts.add_addresses,
        proof=signer,
    ),
    CommandForm(
        "verify",
        "verify",
        f"{_OWN} CODE",
        "prove a mail address by the code that was mailed there",
        accounts.verify,
        proof=signer,
    ),
    CommandForm(
        "change_password",
        "change password",
        "userid old new [--end-tokens]",
        "give the account another password, and end its sessions",
        accounts.change_password,
        proof=signer,
    ),
    CommandForm(
        "change_address",
        "change address",
        f"{_OWN} [ADDRESS ...]",
        "replace all mail addresses, by none if none is given",
        accounts.change_addresses,
        proof=signer,
    ),
    CommandForm(
        "set",
        "set",
        f"{_OWN} language en|de  |  notify move|daily|none  |  challenges anyone|known|none",
        "choose the language of help, when mail is sent, and whose challenges you accept",
        accounts.set_preference,
        proof=signer,
    ),
    CommandForm(
        "vacation",
        "vacation",
        f"{_OWN} [DAYS|back]",
        "stop your clocks for whole days",
        vacations.vacation,
        proof=signer,
    ),
    CommandForm(
        "signoff",
        "signoff",
        _OWN,
        "stop all mail; `set ... notify` starts it again",
        accounts.signoff,
        proof=signer,
    ),
    CommandForm(
        "delete",
        "delete",
        _OWN,
        "erase the account and all personal data, for good",
        accounts.delete,
    ),
    CommandForm(
        "block",
        "block",
        f"{_OWN} [userid]",
        "accept no challenges, messages or chat from a player, or list the players you block",
        blocks.block,
        proof=signer,
    ),
    CommandForm(
        "unblock", "unblock", f"{_OWN} userid", "end a block", blocks.unblock, proof=signer
    ),
    CommandForm(
        "list",
        "list",
        "[GAME ...]",
        "list the players, or those of some games",
        rankings.list_players,
    ),
    CommandForm(
        "message",
        "message",
        f"{_OWN} userid[,userid ...] TEXT",
        "write to players; the text may also begin on the next line",
        messages.message,
        proof=signer,
    ),
    CommandForm(
        "messages",
        "messages",
        _OWN,
        "read what was written to you",
        messages.messages,
        proof=signer,
    ),
    CommandForm(
        "broadcast",
        "broadcast",
        f"{_OWN} TEXT",
        "write to everybody; arbiters only",
        messages.broadcast,
        proof=signer,
    ),
    CommandForm(
        "claim",
        "claim",
        f"{_IN_MATCH} #PLY TEXT",
        "ask an arbiter to look at a match, from a ply on; the text says what is wrong",
        disputes.claim,
        proof=signer,
    ),
    CommandForm(
        "appeal",
        "appeal",
        f"{_IN_MATCH} TEXT",
        "object to a ruling, once, within 14 days; another arbiter rules on it",
        disputes.appeal,
        proof=signer,
    ),
    CommandForm(
        "case",
        "case",
        _IN_MATCH,
        "show the claims and rulings of a match, to its players and to arbiters",
        disputes.show_case,
        proof=signer,
    ),
    CommandForm(
        "cases",
        "cases",
        f"{_OWN} [FROM]",
        "list the cases that wait for a ruling, the oldest first; arbiters only",
        disputes.list_cases,
        proof=signer,
    ),
    CommandForm(
        "rule",
        "rule",
        f"{_IN_MATCH} [--own-motion] dismissed|back #PLY [time SIDE=DAYS]|result SIDE[,SIDE]|draw|annul"
        "|time SIDE=DAYS[,SIDE=DAYS] REASONS",
        "rule on the case of a match that waits, or of your own motion; arbiters only",
        disputes.rule,
        proof=signer,
    ),
    CommandForm(
        "multiple",
        "multiple",
        "and a command on each line after",
        "carry out several commands, each with its own answer",
        multiple.multiple,
    ),
    CommandForm(
        "all_show",
        "all show",
        "userid [next|active]",
        "show a player's boards in all games",
        listing.all_show,
    ),
)

GAME_FORMS: Final = (
    CommandForm(
        "game_help",
        "help",
        "[--lang=en|de]",
        "explain the game",
        help_pages.show_game_help,
        of_game=True,
    ),
    CommandForm(
        "challenge",
        "challenge",
        "userid1 userid2 [userid3] [--password=PASSWORD [--as=userid]] [-option ...] [--option ...]",
        "start a match; -options are the game's, --options the server's",
        play.challenge,
        of_game=True,
        proof=challenger,
    ),
    CommandForm(
        "move",
        "move",
        f"{_IN_MATCH} MOVE[#ply]",
        "play a move; or in its place: propose KIND, undo, accept, reveal TEXT, reject, resign, decline, resume",
        play.move,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "queue",
        "queue",
        f"{_IN_MATCH} [MOVE[#ply] ... | clear]",
        "prepare conditional moves, which are played as soon as their turn comes",
        conditional_moves.queue,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "submit",
        "submit",
        f"{_IN_MATCH} MOVE[#ply]",
        "look at a move before it is played",
        drafts.submit,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "confirm",
        "confirm",
        _IN_MATCH,
        "play the move that was submitted",
        drafts.confirm,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "preview",
        "preview",
        "BOARD MOVE ...",
        "show where moves would lead; nothing is played",
        boards.preview,
        of_game=True,
        in_match=True,
    ),
    CommandForm(
        "previewas",
        "previewas",
        f"{_IN_MATCH} MOVE ...",
        "preview, drawn as you prefer it",
        boards.preview_as,
        of_game=True,
        proof=signer,
    ),
    CommandForm(
        "resign",
        "resign",
        _IN_MATCH,
        "give the match up",
        play.resign,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "decline",
        "decline",
        _IN_MATCH,
        "refuse to play, before your first move",
        play.decline,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "chat",
        "chat",
        f"{_IN_MATCH} [TEXT]",
        "write to the players of a match, or read what they wrote",
        messages.chat,
        of_game=True,
        proof=signer,
        in_match=True,
    ),
    CommandForm(
        "show_boards",
        "show",
        "BOARD[#ply] ... [--display=NAME]",
        "show boards, as they stand or stood",
        boards.show,
        of_game=True,
    ),
    CommandForm(
        "show_players",
        "show",
        "userid ... [all|active|inactive|next]",
        "show boards of players",
        listing.show_players,
        of_game=True,
    ),
    CommandForm(
        "showas",
        "showas",
        f"{_OWN} [BOARD[#ply] ... | all|active|inactive|next]",
        "show boards as you prefer them, with what only you may see",
        boards.show_as,
        of_game=True,
        proof=signer,
    ),
    CommandForm(
        "game_games",
        "games",
        "[userid ...] [all|active|inactive|next]",
        "list matches",
        listing.games,
        of_game=True,
    ),
    CommandForm(
        "history",
        "history",
        "[userid ...]",
        "list finished matches",
        rankings.history,
        of_game=True,
    ),
    CommandForm(
        "standings", "standings", "", "list who has won how often", rankings.standings, of_game=True
    ),
    CommandForm(
        "ratings",
        "ratings",
        "[userid]",
        "list the ratings, or how one came about",
        rankings.ratings,
        of_game=True,
    ),
    CommandForm(
        "scores",
        "scores",
        "[-option ...]",
        "list the best scores of a puzzle",
        puzzles.scores,
        of_game=True,
    ),
    CommandForm(
        "game_set",
        "set",
        f"{_OWN} [display] NAME  |  language en|de  |  notify move|daily|none"
        "  |  challenges anyone|known|none",
        "choose how the game's boards are drawn for you",
        accounts.set_for_game,
        of_game=True,
        proof=signer,
    ),
)

FORMS: Final[tuple[CommandForm, ...]] = (*GENERAL_FORMS, *GAME_FORMS)
