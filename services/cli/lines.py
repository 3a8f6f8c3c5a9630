"""Lines of `matchpost do` on the data of this machine, in whatever process they are carried out."""

from msgspec import to_builtins
from msgspec.structs import replace

from domain.errors import Code, Refusal
from infra.settings.game_packages import load_games
from infra.settings.settings import Settings
from services.app.context import App
from services.cli.do_protocol import LineRequest, LineResult, Prompt
from services.language import LOCAL, Language
from services.language.parser import password_blanks
from services.serve.logging import open_security_log


def carry_out(app: App, request: LineRequest) -> LineResult:
    """Carry out a line of the operator's own terminal; errors of the server pass through."""
    language = Language(app, origin=LOCAL)
    if request.needs_receipt and not language.gives_receipts:
        raise Refusal(Code.NOT_FOUND, "this server signs no receipts; nothing was sent")
    answer = language.do(request.line, request.key, request.wait)
    receipts = language.receipts(answer) if request.receipts else []
    outcome = None
    if len(answer.decided) == 1 and not answer.pending:
        receipted = replace(answer.decided[0], receipt=next(iter(receipts), None))
        outcome = to_builtins(receipted)
    return LineResult(answer.sentence, answer.page, answer.code, outcome, "".join(receipts))


def carry_out_here(settings: Settings, request: LineRequest) -> LineResult:
    """Carry out a line in this process, which nothing has been made ready for."""
    load_games()
    if settings.security_log is not None:
        # what an operator does here belongs there, too
        open_security_log("do", settings)
    with App(settings) as parts:
        return carry_out(parts, request)


def prompts(line: str, proven: str = "") -> list[Prompt]:
    """Return each `-` that stands in the place of a password; `proven` is as in `password_blanks`."""
    load_games()
    return [
        Prompt(blank.start, blank.part == "new" or blank.form == "signup", blank.userid)
        for blank in password_blanks(line, proven)
    ]
