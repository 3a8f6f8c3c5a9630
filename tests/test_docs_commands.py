"""Every command that a page prints is typed by a test, or stands in a list here with the reason why not."""

import re

import pytest

from tests.helpers.pages import ROOT, SHELL, Block, blocks

STORY = [
    "docs/tutorial.md", "docs/club.md", "docs/terminal.md", "docs/install.md", "docs/trouble.md",
    "docs/operating.md", "docs/monitoring.md", "docs/formats.md", "docs/log.md",
    "docs/growing.md", "docs/backup.md",
]  # fmt: skip
"""Pages that `tests/services/test_typed_pages.py` types into one server, in this order."""

ELSEWHERE = {
    "README.md": ("tests/services/test_pages_alone.py", "matchpost do"),
    "docs/api.md": ("tests/services/test_api_document.py", "API="),
    "docs/apps.md": ("tests/browser/test_apps.py", ""),
    "docs/audit.md": ("tests/evidence/test_audit_page.py", ""),
    "docs/formats.md": ("tests/log/test_signed_note.py", "sed "),
    "docs/log.md": ("tests/log/test_checked_by_hand.py", "sed "),
    "docs/monitoring.md": ("tests/services/test_doctor.py", "matchpost doctor"),
    "docs/upgrading.md": ("tests/services/test_pages_alone.py", "matchpost "),
    "docs/install.md": ("tests/services/test_pages_alone.py", "git clone"),
    "docs/translating.md": ("tests/services/test_third_language.py", ".venv/bin/python"),
}
"""By page: the test that types those blocks which begin so."""

SETUP = "it changes the machine, as root"
RUNS_ON = "it runs until it is ended"
CHECKS = "it is how the tests are run"
LONG = "it takes minutes and more, or asks a package index"
NO_CLUSTER = "it needs servers or a cluster of its own"

NOT_TYPED = {
    ("README.md", "make demo"): RUNS_ON,
    ("README.md", "make serve"): RUNS_ON,
    ("CONTRIBUTING.md", "make check"): CHECKS,
    ("CONTRIBUTING.md", ".venv/bin/python trials/mutants.py"): CHECKS,
    ("CONTRIBUTING.md", "pip install"): LONG,
    ("docs/adding-a-game.md", ".venv/bin/"): CHECKS,
    ("docs/adding-a-game.md", "make bench"): LONG,
    (
        "docs/adding-a-game.md",
        "matchpost ",
    ): "tests/services/test_authors.py types them, with a game of its own",
    ("docs/web.md", ".venv/bin/pytest"): CHECKS,
    ("docs/translating.md", ".venv/bin/pytest"): CHECKS,
    ("docs/translating.md", "make demo"): RUNS_ON,
    ("docs/tutorial.md", "make serve"): RUNS_ON,
    ("docs/tutorial.md", ". .venv/bin/activate"): "it is for the folder of the reader",
    ("docs/tutorial.md", "make demo"): RUNS_ON,
    ("docs/tutorial.md", "matchpost demo --data"): RUNS_ON,
    ("docs/tutorial.md", "matchpost demo --record"): LONG,
    ("docs/terminal.md", "matchpost watch"): RUNS_ON,
    (
        "docs/bots.md",
        "matchpost bot",
    ): "it plays until it is ended; tests/services/test_bot.py runs it",
    (
        "docs/terminal.md",
        "matchpost play",
    ): "it draws a board until it is quit; tests/tui plays on one",
    (
        "docs/clubs.md",
        "",
    ): "it was typed once, as the page says: a class of its own, and a lost disk",
    ("docs/mail.md", "apt-get install"): SETUP,
    ("docs/mail.md", "install -d"): SETUP,
    ("docs/mail.md", "swaks"): "it needs Postfix, and was typed once, as the page says",
    ("docs/install.md", "sudo "): SETUP,
    ("docs/install.md", "cd matchpost"): "it needs Docker, and was typed once, as the page says",
    ("docs/upgrading.md", "git -C matchpost pull"): SETUP,
    (
        "docs/backup.md",
        "matchpost restore /srv/backups",
    ): "it is for a server that was lost; tests/backup restores such ones",
    ("docs/growing.md", "export MATCHPOST_REDIS_URL"): NO_CLUSTER,
    ("docs/growing.md", "matchpost prepare"): NO_CLUSTER,
    ("docs/growing.md", "MATCHPOST_DURABILITY=replicated"): NO_CLUSTER,
    ("docs/growing.md", "docker "): NO_CLUSTER,
    ("docs/growing.md", "kubectl "): NO_CLUSTER,
    ("docs/growing.md", "systemd-sysusers"): SETUP,
    ("docs/log.md", "matchpost witness --name witness.example.org"): RUNS_ON,
}
"""By page and the beginning of a block: why no test types it."""

PROGRAMS = re.compile(
    r"(?:\$ )?(?:sudo |\w+=\S+ )*(?:matchpost|make|pip|python3?|\.venv/bin/|docker|kubectl|systemctl|apt|git|curl|jq|rq)\b"
)

PAGES = sorted(
    f"{page.relative_to(ROOT)}" for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
)


def reason(block: Block) -> str:
    """Return why no test types a block, or nothing."""
    found = [
        why
        for (page, beginning), why in NOT_TYPED.items()
        if page == block.page and block.first.startswith(beginning)
    ]
    return found[0] if found else ""


def typed_by(block: Block) -> str:
    """Return the test that types a block, or nothing."""
    test, beginning = ELSEWHERE.get(block.page, ("", ""))
    if test and block.first.startswith(beginning):
        return test
    return "tests/services/test_typed_pages.py" if block.page in STORY else ""


def typed(page: str) -> list[Block]:
    """Return the blocks of a page that are for a shell."""
    return [
        one
        for one in blocks(page)
        if one.language.split()[0] in SHELL
        or (one.language == "indented" and PROGRAMS.match(one.text))
    ]


def test_each_command_of_a_page_is_typed_by_a_test_or_says_why_not() -> None:
    left = [
        (page, one.first)
        for page in PAGES
        for one in typed(page)
        if not reason(one) and not typed_by(one)
    ]
    assert left == []
    untagged = [
        (page, one.first) for page in PAGES for one in blocks(page) if one.language == "none"
    ]
    assert untagged == []


def test_no_command_is_in_a_block_of_another_kind() -> None:
    hidden = [
        (page, one.first)
        for page in PAGES
        for one in blocks(page)
        if one.language in ("text", "ini") and re.match(r"\$ |matchpost ", one.text)
    ]
    assert hidden == []


def test_what_is_not_typed_is_still_on_its_page() -> None:
    for page, beginning in NOT_TYPED:
        assert any(one.first.startswith(beginning) for one in typed(page)), (page, beginning)


@pytest.mark.parametrize("page", ELSEWHERE)
def test_the_test_that_types_a_page_names_it(page: str) -> None:
    test, beginning = ELSEWHERE[page]
    assert page.rpartition("/")[2] in (ROOT / test).read_text("utf-8")
    assert any(one.first.startswith(beginning) for one in typed(page))
