import pytest

from infra.settings.settings import SettingsError, load
from infra.settings.smtp_url import SmtpUrl, read_smtp_url


@pytest.mark.parametrize(
    ("url", "route"),
    [
        ("smtp://127.0.0.1:2525", SmtpUrl("127.0.0.1", 2525, tls=False)),
        ("smtp://mail.example.org/", SmtpUrl("mail.example.org", 25, tls=False)),
        ("smtps://[::1]", SmtpUrl("::1", 465, tls=True)),
        ("smtps://me:a%40b%2F@h:26", SmtpUrl("h", 26, tls=True, user="me", password="a@b/")),
    ],
)
def test_a_relay_is_read(url, route):
    assert read_smtp_url(url) == route


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("http://me:secret@h", "starts with smtp:// or smtps://"),
        ("smtp://me:secret@h:99999", "the port .* is a number up to 65535"),
        ("smtp://me:secret@h:x", "the port .* is a number up to 65535"),
        ("smtp://me:secret@", "names a host"),
        ("smtp://secret@h", "has a user and a password"),
        ("smtp://me:secret@h/x", "ends after its port"),
        ("smtp://me:secret%0Arcpt@h", "has no control characters"),
        ("smtp://me:secret@[h", "is like smtp://127.0.0.1:25"),
        ("smtp://me:secret@h\u2100", "is like smtp://127.0.0.1:25"),
    ],
)
@pytest.mark.usefixtures("clean_environment")
def test_a_bad_relay_is_refused_and_its_password_not_repeated(url, sentence):
    with pytest.raises(SettingsError, match=f"MATCHPOST_RELAY is unusable: .*{sentence}") as caught:
        load({}, {"MATCHPOST_RELAY": url})
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("clean_environment")
def test_the_password_of_a_relay_is_shown_nowhere_and_given_to_children():
    settings = load({}, {"MATCHPOST_RELAY": "smtps://me:secret@mail.example.org"})
    assert "secret" not in repr(settings)
    assert "mail.example.org" in repr(settings)
    assert settings.environment()["MATCHPOST_RELAY"] == "smtps://me:secret@mail.example.org"
    assert "secret" not in repr(read_smtp_url("smtps://me:secret@mail.example.org"))


@pytest.mark.parametrize(
    ("host", "near"),
    [("localhost", True), ("127.1.2.3", True), ("::1", True), ("10.0.0.1", False), ("h", False)],
)
def test_only_loopback_is_this_machine(host, near):
    assert SmtpUrl(host, 25, tls=False).is_loopback is near


@pytest.mark.usefixtures("clean_environment")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MATCHPOST_MAIL_DOMAIN", "play example.org"),
        ("MATCHPOST_MAIL_DOMAIN", "-x.example.org"),
        ("MATCHPOST_MAIL_DOMAIN", "x.example.org\n"),
        ("MATCHPOST_MAIL_PASSWORDS", "perhaps"),
        ("MATCHPOST_SMTP", "here"),
    ],
)
def test_a_bad_setting_of_mail_is_refused(name, value):
    with pytest.raises(SettingsError, match=f"{name} must be "):
        load({}, {name: value})


@pytest.mark.usefixtures("clean_environment")
def test_without_settings_no_mail_is_taken_or_sent():
    settings = load({}, {})
    assert (settings.smtp, settings.lmtp, settings.relay) == ("off", None, None)
    assert (settings.mail_domain, settings.mail_passwords) == ("localhost", "on")
