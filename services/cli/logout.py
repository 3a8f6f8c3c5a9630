"""`matchpost logout`: end the token of the login on its server, and delete the login from this machine.

If the server does not answer, the login stays, so that it can be tried again. With a userid, for the operator:
end all sessions and tokens of that account of the server at the data.
"""

from typing import Final

from infra.settings.settings import Settings
from services.app.error_codes import EXIT_OK
from services.cli.remote import run_remotely
from services.client import Client, ProblemError
from services.client.login_file import Login, delete_login, read_login

_ENDED: Final = frozenset({"unknown-token", "not-found"})
"""Refusals that say that the token is good for nothing already."""


def run(name: str, settings: Settings) -> int:
    """Log out, and return the exit code."""
    if name:
        # slow to import, and rarely needed
        from services.cli import account  # noqa: PLC0415

        return account.run(action="logout", names=[name], settings=settings)
    login = read_login()
    if login is None:
        print("you are not logged in on this machine")
        return EXIT_OK
    return run_remotely(login.url, lambda: _log_out(login))


def end_token(login: Login) -> bool:
    """End the token of a login; return False for a token that no login has made, which stays valid."""
    if not login.token_id:
        return False
    with Client(login.url, login.token) as client:
        try:
            client.delete(f"/api/tokens/{login.token_id}")
        except ProblemError as problem:
            if problem.code not in _ENDED:
                raise
    return True


def _log_out(login: Login) -> int:
    ended = end_token(login)
    delete_login()
    what = "the token is revoked"
    if not ended:
        what = f"its token was made elsewhere and stays valid: end it at {login.url}/account"
    print(f"logged out {login.userid} at {login.url}; {what}")
    return EXIT_OK
