"""The form of log lines: text or JSON, for all modules alike, without what is personal."""

import json
import logging
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import msgspec
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from bench.free_ports import free_port
from domain.errors import Code, Refusal
from infra.durability.durability import DurabilityError
from infra.people.rate_limits import LOGGER, SecurityEvent, note_security
from infra.process.log_context import LoggedWith, add_log_fields, log_fields
from infra.settings.settings import Settings, SettingsError
from services.serve.json_log import json_lines
from services.serve.logging import TextLines, error_text, log_end, log_to_stderr, redact
from tests.fakes.sink import Sink
from tests.helpers.mails import mail
from tests.helpers.served import Served, until
from tests.helpers.web import Guest
from tests.helpers.wire import Wire
from tests.protocol.protocol import log_line

TOKEN = "mp_" + "x" * 49


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """What `log_to_stderr` changes in this process is as before at the end."""
    names = ("", "domain", "infra", "services", "workers", "httpx", "py.warnings", LOGGER)
    loggers = [logging.getLogger(name) for name in names]
    before = [(one.level, one.handlers[:], one.propagate) for one in loggers]
    hooks = sys.excepthook, threading.excepthook, warnings.showwarning
    # handlers of pytest are put back, and must not be closed
    loggers[0].handlers = []
    yield
    logging.captureWarnings(capture=False)
    sys.excepthook, threading.excepthook, warnings.showwarning = hooks
    for one, (level, handlers, propagate) in zip(loggers, before, strict=True):
        for opened in set(one.handlers) - set(handlers):
            opened.close()
        one.setLevel(level)
        one.handlers, one.propagate = handlers, propagate


def settings(tmp_path, **values) -> Settings:
    return Settings(data=tmp_path, **values)


def record(text: str, *values: object, error: BaseException | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("infra.some", logging.WARNING, "", 0, text, values, exc_info)


def lines_of(capsys) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_json_line_names_the_process_and_all_that_it_works_on():
    with LoggedWith(request_id="r-1", command_id=b"\x01\xff"):
        add_log_fields(board=7)
        line = json.loads(json_lines("web-1").format(record("match %d waits", 7)))
    assert line.pop("time").endswith("Z")
    assert line.pop("host")
    assert line.pop("pid")
    assert line == {
        "level": "warning", "logger": "infra.some", "message": "match 7 waits", "role": "web-1", "request_id": "r-1",
        "command_id": "01ff", "board": 7,
    }  # fmt: skip
    assert log_fields() == {}


@pytest.mark.parametrize("form", [TextLines("mail"), json_lines("mail")])
def test_a_line_has_no_address_no_token_and_no_command_to_redis(form):
    text = (
        f"<alice@example.org> alice@b.example {TOKEN} Command # 2 (SET k alice of pipeline) of pipeline caused error: OOM\n"
        "unknown command 'X', with args beginning with: 'alice' 'secret' "
    )
    shown = form.format(record("%s", text))
    assert [one for one in ("alice", "secret", TOKEN) if one in shown] == []
    assert "Command # 2 of pipeline caused error: OOM" in shown
    assert redact("unix:///x/y.sock and redis://***@host:6379/0") == (
        "unix:///x/y.sock and redis://***@host:6379/0"
    )


def test_libraries_warnings_and_errors_that_end_a_process_have_the_same_form(tmp_path, capsys):
    log_to_stderr("web", settings(tmp_path, log_format="json"))
    logging.getLogger("a.library").warning("from a library")
    with warnings.catch_warnings(action="always"):
        warnings.warn("from Python", stacklevel=1)
    sys.excepthook(KeyError, KeyError("alice"), None)
    thread = threading.Thread(target={}.pop, args=["alice"])
    thread.start()
    thread.join()
    lines = lines_of(capsys)
    found = [(line["logger"], line["level"]) for line in lines]
    libraries = [("a.library", "warning"), ("py.warnings", "warning")]
    assert found == [*libraries, *[("services.serve.logging", "critical")] * 2]
    assert "alice" not in str(lines)
    assert "KeyError" in lines[2]["exception"]


def test_the_security_log_has_a_file_that_may_be_moved_away_and_has_to_be_writable(
    tmp_path, capsys
):
    file = tmp_path / "security.log"
    log_to_stderr("web", settings(tmp_path, security_log=file))
    note_security(SecurityEvent.LOGIN, b"\x01" * 8)
    file.rename(tmp_path / "moved.log")
    note_security(SecurityEvent.ACCOUNT_MADE, b"\x02" * 8)
    for name, event, account in (("moved", "login", "01"), ("security", "account-made", "02")):
        line = json.loads((tmp_path / f"{name}.log").read_text())
        assert (line["message"], line["account"]) == (event, account * 8)
        assert (line["logger"], line["role"]) == (LOGGER, "web")
    assert file.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr().err == ""
    with pytest.raises(SettingsError, match=r"the security log can't be written: .*No such file"):
        log_to_stderr("web", settings(tmp_path, security_log=tmp_path / "no" / "security.log"))


def test_the_page_has_every_event_and_every_field():
    page = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()

    def listed(kind: str) -> list[str]:
        rows = page.partition(f"| {kind} |")[2].partition("\n\n")[0].splitlines()
        return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]

    assert sorted(listed("event")) == sorted(SecurityEvent)
    assert listed("field") == list(log_line())


MARK = "qzmark"
"""Part of every userid, password, address and text of this test."""

CLIENTS = ("198.51.100.77", "2001:db8:77::1")
DOMAIN = "play.example.net"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink(auth_require_tls=False) as one:
        one.to_recipient = lambda address: f"550 5.1.1 nobody is {address}"
        yield one


@pytest.fixture
def served(tmp_path: Path, sink: Sink) -> Iterator[tuple[Served, int]]:
    mail_port = free_port()
    env = {
        "MATCHPOST_LOG_FORMAT": "json", "MATCHPOST_LOG_LEVEL": "debug",
        "MATCHPOST_SECURITY_LOG": str(tmp_path / "security.log"), "MATCHPOST_HTTP": "127.0.0.1:0",
        "MATCHPOST_METRICS": "127.0.0.1:0", "MATCHPOST_ROBOTS": "0", "MATCHPOST_TRUSTED_PROXY": "on",
        "MATCHPOST_SMTP": f"127.0.0.1:{mail_port}", "MATCHPOST_RELAY": f"smtp://me:s3cret@127.0.0.1:{sink.port}",
        "MATCHPOST_MAIL_DOMAIN": DOMAIN,
    }  # fmt: skip
    with Served(tmp_path / "data", env) as running:
        yield running, mail_port


def name(way: str) -> str:
    return f"{MARK}{way}"


def by_api(served: Served) -> list[str]:
    """Use the API; return the secrets that were seen."""
    headers = {"X-Forwarded-For": CLIENTS[0], "User-Agent": f"{MARK}/1.0"}
    with httpx.Client(base_url=served.url, trust_env=False, headers=headers, timeout=60) as http:
        for userid in (name("api"), name("api2")):
            body = {"userid": userid, "password": f"{MARK}-password"}
            body["addresses"] = [f"{userid}@example.org"]
            assert http.post("/api/accounts", json=body).status_code == 201
        wrong = {
            "userid": name("api"), "password": f"{MARK}-wrong", "label": MARK, "scopes": ["play"],
        }  # fmt: skip
        assert http.post("/api/tokens", json=wrong).status_code == 401
        right = {**wrong, "password": f"{MARK}-password", "scopes": ["read", "play", "account"]}
        token = http.post("/api/tokens", json=right).json()["token"]
        http.headers["Authorization"] = f"Bearer {token}"
        players = [name("api"), name("api2")]
        made = http.post("/api/matches", json={"game": "pow2", "players": players})
        board = made.json()["board"]
        moved = http.post(f"/api/matches/{board}/commands", json={"do": "move", "move": "m13-j7"})
        assert moved.status_code == 200, moved.text
        http.post(f"/api/matches/{board}/commands", json={"do": "move", "move": f"{MARK} {MARK}"})
        http.post(f"/api/matches/{board}/chat", json={"text": f"{MARK} says"})
        http.post("/api/messages", json={"to": [name("api2")], "text": f"{MARK} writes"})
        http.post("/api/do", json={"line": f"help {MARK}"})
        for path in (
            f"/api/players/{name('api')}", f"/api/{MARK}?{MARK}={MARK}", f"/api/players/{MARK}0",
        ):  # fmt: skip
            http.get(path)
        # beyond the limit of passwords
        del http.headers["Authorization"]
        codes = {http.post("/api/tokens", json=wrong).json()["code"] for _ in range(11)}
        assert "too-many-attempts" in codes
        return [token]


def by_pages(served: Served) -> list[str]:
    """Use the pages; return the secrets that were seen."""
    with Guest(served, **{"X-Forwarded-For": CLIENTS[1], "User-Agent": f"{MARK} browser"}) as guest:
        guest.sign_up(name("web"))
        typed = {"userid": f"{MARK} {MARK}@example.org", "password": MARK}
        guest.send("/login", typed, on="/account")
        guest.get(f"/p/{name('web')}?{MARK}=1")
        guest.get(f"/{MARK}")
        secrets = list(guest.http.cookies.values())
        guest.send("/logout")
        return secrets


def by_mail(port: int) -> None:
    """Send mails with commands, with passwords, and some that can't be read."""
    lines = (
        f"signup {name('mail')} {MARK}-password {name('mail')}@example.org",
        f"pow2 show 1 {name('mail')} {MARK}-wrong",
        f"{MARK} {MARK}",
    )
    with Wire(("127.0.0.1", port)) as wire:
        wire.begin()
        for number, line in enumerate(lines):
            data = mail("", line, id_=f"<{number}@{MARK}.example>")
            assert wire.send(f"{MARK}@example.org", f"matchpost@{DOMAIN}", data).startswith("250 ")
        wire.say(f"MAIL FROM:<{MARK}@example.org>")
        wire.say(f"RCPT TO:<{MARK}@{DOMAIN}>")


def while_away(served: Served) -> None:
    """Kill the server of the data and use the API until it is back."""
    (pid,) = served.servers()
    os.kill(pid, signal.SIGKILL)
    body = {"userid": name("late"), "password": f"{MARK}-password"}
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as http:

        def is_back() -> bool:
            with suppress(httpx.HTTPError):
                return http.post("/api/accounts", json=body).status_code in (201, 409)
            return False

        until(is_back)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.long
def test_no_line_of_any_log_is_personal_and_each_is_json(served, sink):
    served, mail_port = served
    secrets = [*by_api(served), *by_pages(served)]
    by_mail(mail_port)
    done = served.run("do", f"signup {name('here')} {MARK}-password {name('here')}@example.org")
    assert done.returncode == 0, done.stderr
    done = served.run("arbiter", name("here"))
    assert done.returncode == 0, done.stderr
    until(lambda: sink.recipients)  # the codes were refused by the relay, which named the addresses
    while_away(served)
    assert served.end() == 0

    folder = served.data.parent
    logs = [folder / "serve.log", folder / "security.log", *served.data.rglob("valkey.log")]
    texts = {file: file.read_text() for file in logs}
    assert len(texts) == 4
    for file, text in texts.items():
        for personal in (MARK, *CLIENTS, *secrets):
            assert personal not in text, f"{file.name}: {personal}"

    lines = [json.loads(line) for line in texts[folder / "serve.log"].splitlines()]
    own = {"time", "level", "logger", "message", "role", "host", "pid"}
    assert all(own <= set(line) for line in lines)
    roles = {re.sub(r"-\d+$", "", line["role"]) for line in lines}
    assert {"serve", "web", "worker", "mail", "mailer"} <= roles
    joined = [line for line in lines if "command_id" in line]
    commands = {
        role: {line["command_id"] for line in joined if line["role"].startswith(role)}
        for role in ("web", "worker")
    }
    assert commands["web"] & commands["worker"]
    board = {line["role"].partition("-")[0] for line in joined if line.get("board") == 1}
    assert board == {"web", "worker"}
    assert all("request_id" in line for line in joined if line["role"] == "web")

    security = [json.loads(line) for line in texts[folder / "security.log"].splitlines()]
    events = "account-made login login-failed token-made session-made session-ended arbiter-made"
    assert {line["message"] for line in security} >= set(events.split())
    # a web process answers `matchpost do`
    assert {"web", "mail", "arbiter"} <= {line["role"] for line in security}
    networks = {line["network"] for line in security if line["role"] == "web" and "network" in line}
    assert len(networks) == 3, "those of two clients, and this machine"


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as found:
        return found


def test_an_error_is_shown_with_its_place_and_a_sentence_only_if_that_quotes_nobody():
    for quoting in (
        KeyError("alice"),
        Refusal(Code.UNKNOWN_USER, "alice"),
        msgspec.ValidationError("alice"),
    ):
        shown = error_text(raised(DurabilityError("no disk"), raised(quoting)))
        assert "alice" not in shown
        assert f"{type(quoting).__qualname__}: [text left out]" in shown
        assert "test_logs.py" in shown
        assert shown.endswith("DurabilityError: no disk")
    assert error_text(ResponseError("OOM")) == "ResponseError: OOM"
    assert "alice" not in error_text(ExceptionGroup("alice", [KeyError("alice")]))


def test_the_sentence_at_the_end_of_a_process_is_a_line_if_the_others_are(tmp_path, capsys):
    log_to_stderr("mail", settings(tmp_path))
    log_end("there is no key")
    assert capsys.readouterr().err == "matchpost: there is no key\n"
    log_to_stderr("mail", settings(tmp_path, log_format="json"))
    log_end("there is no key")
    (line,) = lines_of(capsys)
    assert (line["level"], line["message"], line["role"]) == ("error", "there is no key", "mail")


def test_a_server_that_is_away_or_full_is_one_line():
    full = ResponseError("NOREPLICAS Not enough good replicas to write.")
    for error in (RedisConnectionError("refused"), full):
        with pytest.raises(RedisError) as raised:
            raise error
        line = f"{type(error).__name__}: {error}"
        assert error_text(raised.value) == line
        told = "".join(traceback.format_exception(raised.value))
        assert redact(f"job 7 failed\n{told}") == f"job 7 failed\nredis.exceptions.{line}"
    with pytest.raises(ResponseError) as raised:
        raise ResponseError("WRONGTYPE")
    assert "Traceback" in error_text(raised.value)
