"""Web push: the encryption by its standard's own example, the server's key, and the guard of endpoints."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from infra.mail.push import LONGEST, VapidKey, encode, encrypt
from infra.settings.push_services import KNOWN, is_allowed, read_push_services
from tests.helpers.push_service import claims_of, decode

# RFC 8291, section 5
TEXT = b"When I grow up, I want to be a watermelon"
BROWSER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def test_the_example_of_the_standard_is_encrypted_as_it_says():
    sender = ec.derive_private_key(int.from_bytes(decode(SENDER), "big"), ec.SECP256R1())
    assert encode(encrypt(TEXT, decode(BROWSER), decode(AUTH), sender, decode(SALT))) == BODY


def test_each_message_has_a_key_and_a_salt_of_its_own():
    one, two = (encrypt(TEXT, decode(BROWSER), decode(AUTH)) for _ in range(2))
    assert one[:16] != two[:16]
    assert one[21:86] != two[21:86]
    assert len(encrypt(bytes(LONGEST), decode(BROWSER), decode(AUTH))) <= 4_096
    with pytest.raises(ValueError, match="at most"):
        encrypt(bytes(LONGEST + 1), decode(BROWSER), decode(AUTH))


def test_the_key_is_that_of_the_secret_and_its_tokens_are_for_one_service():
    key, again = (VapidKey(bytes(32), "https://play.example.org") for _ in range(2))
    assert key.public == again.public != VapidKey(b"\1" * 32, "https://play.example.org").public
    claims = claims_of(key.authorization("https://push.example.net/abc?x=1", 1_000_000))
    assert claims == {
        "aud": "https://push.example.net",
        "exp": 1_000_000 + 12 * 3_600,
        "sub": "https://play.example.org",
        "k": key.public,
    }


GOOD = (
    *("https://fcm.googleapis.com/fcm/send/abc:def", "https://web.push.apple.com/QAbc"),
    *("https://updates.push.services.mozilla.com/wpush/v2/abc", "http://127.0.0.1:8765/own"),
    "https://db5p.notify.windows.com/w/?token=abc",
)
BAD = (
    *("http://fcm.googleapis.com/plain", "https://fcm.googleapis.com:8443/port"),
    *("https://user@fcm.googleapis.com/", "https://fcm.googleapis.com@127.0.0.1/"),
    *("https://fcm.googleapis.com.example.org/", "https://notfcm.googleapis.com.evil/"),
    *("https://evilpush.apple.com/", "https://fcm.googleapis.com\\@127.0.0.1/"),
    *("https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://", ""),
    *("http://169.254.169.254/latest/meta-data/", "http://127.0.0.1:8766/another-port"),
    *(
        "https://127.0.0.1:8765/another-scheme",
        "file:///etc/passwd",
        "gopher://fcm.googleapis.com/",
    ),
    *("https://fcm.googleapis.com/\r\nHost: x", "https://fcm.googleapis.com/ü"),
    *("https://fcm.googleapis.com/" + "a" * 1_000, "https://fcm.googleapis.com:x/"),
    *("https://a..fcm.googleapis.com/", "https://.fcm.googleapis.com/"),
    *("https://xn--a.fcm.googleapis.com/", "https://-a.fcm.googleapis.com/"),
    f"https://{'a' * 64}.fcm.googleapis.com/",
)


def test_any_other_address_is_refused():
    services = read_push_services(f"{KNOWN} http://127.0.0.1:8765")
    assert [endpoint for endpoint in GOOD if not is_allowed(endpoint, services)] == []
    assert [endpoint for endpoint in BAD if is_allowed(endpoint, services)] == []


def test_the_setting_has_hosts_and_origins_only():
    words = "https://push.example.org/path ftp://x a@b https:// Push.example.org push.example.org:8443 a..b"
    for text in words.split():
        with pytest.raises(ValueError, match="push services are hosts"):
            read_push_services(text)
