"""The sentences of refusals by what the server stores: accounts, challenges, texts, archive."""

from datetime import UTC, datetime
from typing import Final

from domain.sentences import Sentences, counted

SAY: Final = Sentences(
    "server",
    {
        "robot-role": "{name} is a program, and programs have no roles",
        "club-name": "a name has 1 to {most} characters",
        "club-taken": "there is a club called {name!r} already, or one whose name looks like it",
        "clubs": "there are {most} clubs already",
        "club-full": "{club} has {most} members, and can't have more",
        "club-requests": "too many people are waiting to join {club}; try again later",
        "account-clubs": "you can be in at most {most} clubs; leave one first",
        "last-owner": "{club} needs an owner; make another member its owner first",
        "reports": "too many reports are waiting; try again in a few days",
        "own-reports": "{most} of your reports are waiting for a decision; wait for one of them first",
        "sanctions": "there can be {most} sanctions against one account",
        "name-taken": "the userid {name!r} is taken; choose another",
        "no-user": "there is no user {name!r}; check the spelling",
        "account-busy": "the account was being changed elsewhere at the same moment; try again",
        "push-devices": "you can turn on notifications in at most {most} browsers; remove one first",
        "hooks": "there can be at most {most} webhooks and channels here, and 20 of one account; remove one first",
        "account-deleted": "the account was deleted",
        "suspended": "{name}'s account is suspended; write to the people who run this server",
        "suspended-until": "{name}'s account is suspended until {day}; write to the people who run this server",
        "wrong-password": "this is not the password of {name}",
        "code-needed": (
            "{name}'s account has a second factor, so the password alone isn't enough: log in on the pages, make a "
            "token there for programs, use `matchpost login` at a terminal, or answer a mail of the match"
        ),
        "wrong-code": "this code isn't valid, or was used already",
        "codes-unreadable": "codes of apps can't be checked here now; use a recovery code or a passkey",
        "passkeys": "you can have at most {most} passkeys; remove one first",
        "passkey-refused": "this passkey wasn't accepted; try again, or log in another way",
        "no-passkey": "you have no such passkey",
        "passkeys-away": "passkeys need https",
        "step-over": "this took too long, or was sent twice; start again",
        "provider-away": "the sign-in service can't be reached right now; try again in a minute",
        "provider-refused": "the sign-in service didn't confirm who you are; try again",
        "no-provider": "there is no sign-in service on this server",
        "passwords-busy": "too many passwords are being checked; try again in a minute",
        "name-form": "{name!r} isn't a userid: a letter, then 1 to 19 letters, digits, - or _",
        "signups-closed": "this server is closed to new accounts; write to the people who run it if you need one",
        "signups-by-link": "you can sign up here only with a sign-up link; ask the people who run this server for one",
        "link-over": "this sign-up link doesn't work any more; ask the people who run this server for another",
        "members-only": "the matches and players of this server are shown to its members only; log in first",
        "link-range": "--{name} is a number from 1 to {most}",
        "link-note": "a note can have at most {most} characters",
        "no-signup-link": "there is no sign-up link {id!r}; `matchpost signup-link list` shows them all",
        "signup-links": "there are {most} sign-up links already; revoke those that aren't needed",
        "site-line": "the {what} is one line without < and > and without control characters",
        "site-long": "this has {length} characters; the limit is {most}",
        "site-characters": "a text can't contain control characters",
        "site-language": "the languages are {choices}",
        "site-logo": "a logo is a PNG or WebP picture of at most {most} kB and {side} by {side} pixels",
        "site-usage": "that is not how it is written; `matchpost site --help` says how",
        "site-utf8": "a text is a file in UTF-8",
        "site-text": "the texts of a site are {choices}",
        "site-file": "{file} can't be read: {problem}",
        "banner-day": "the last day of a banner is written like 2026-12-24",
        "name-reserved": (
            "{name!r} is reserved for the server or one of its commands, or looks too much like "
            "one; choose another"
        ),
        "name-alike": "{name!r} looks like the userid of another player; choose another",
        "name-rests": (
            "a player called {name!r}, or something very similar, left less than a year ago; "
            "choose another"
        ),
        "password-length": "a password needs {least} to {most} characters, not {length}",
        "password-form": "a password can't contain tabs, line breaks or other control characters",
        "password-ends": "a password can't begin or end with a space",
        "password-name": (
            "this password is too close to the userid, or to words that everybody here knows; "
            "choose another"
        ),
        "password-common": "this is one of the 10,000 most common passwords; choose another",
        "address-length": "an e-mail address can have at most {most} characters, not {length}",
        "address-ascii": (
            "{address} has letters that not every mail server accepts; use only ASCII, and write "
            "the domain in its xn-- form"
        ),
        "address-form": (
            "{address} isn't a plain e-mail address; write it like name@example.org, without "
            "display name, quotes or comments"
        ),
        "address-twice": "{address!r} is listed twice; list each e-mail address once",
        "addresses": "an account can have at most {most} e-mail addresses, not {count}",
        "blocks": "you can block at most {most} players; unblock one first",
        "watched": "you can watch at most {most} matches; remove one first",
        "pinned": "you can pin at most {most} matches; unpin one first",
        "followed": "you can follow at most {most} players; remove one first",
        "muted": "you can mute at most {most} chats; unmute one first",
        "no-challenge": "there is no challenge {challenge}; it may have expired",
        "challenges": (
            "you have opened or joined {most} challenges that are still waiting, and that is the "
            "limit"
        ),
        "challenge-form": "{text!r} isn't a challenge: an id has {length} or {link} letters and digits from 2 to 7",
        "note-long": "the note has {length} characters; the limit is {most}",
        "withdrawn": "challenge {challenge} was withdrawn",
        "own-challenge": "challenge {challenge} is your own; wait for somebody to take it, or withdraw it",
        "taken": "challenge {challenge} has been taken; look for another, or open one",
        "no-part": "you have no part in challenge {challenge}",
        "full": "challenge {challenge} is full and its match is starting; decline or resign there",
        "text-empty": "the text is empty; write something",
        "text-long": "the text has {length} characters; the limit is {most}",
        "message-recipients": "a message goes to 1 to {most} players, not {count}",
        "strangers": (
            "you can send at most {most} messages a day to players who have neither played with "
            "you nor written to you; try again in {hours:hours}"
        ),
        "notes": "you can keep notes on at most {most} matches; empty the one on another match first",
        "sessions": "you have too many sessions (the limit is {most}); log in again",
        "sessions-busy": "the account's sessions were ended at the same moment; log in again",
        "statements": "you have {most} statements in match {board}, and that is the limit",
        "label-long": "a label has at most {most} characters, not {length}",
        "label-form": "a label is 1 to {most} printable characters that tell you where the token is used",
        "token-scopes": "a token needs at least one of the scopes {scopes}, and no others",
        "token-days": "a token lasts {least} to {most} days or until it is revoked, not {days}",
        "tokens": "you can have at most {most} tokens; revoke one first",
        "apps": "you can register at most {most} apps; remove one first",
        "app-name": "an app's name has 1 to {most} printable characters",
        "app-site": "the site of an app is an address such as https://example.org",
        "app-redirects": "an app has at most {most} redirect addresses",
        "app-redirect": (
            "{address!r} can't be a redirect address: that is https://…, http://127.0.0.1/… for a program on "
            "the player's own machine, or a scheme with a dot such as org.example.app:/…, without a fragment"
        ),
        "grants": "you have let {most} apps act for you, and that is the limit; disconnect one first",
        "no-app": "there is no such app; its owner may have removed it",
        "no-device": "no device is waiting with this code; look at the code again, or start again on the device",
        "device-guesses": "too many wrong codes; try again in {minutes:minutes}",
        "archive-damaged": "match {board} can't be read from the archive; the server's log says why",
        "archive-away": "the archive can't be read right now; try again in a minute",
        "no-board": "there is no match {board}",
        "no-analyses": (
            "this server doesn't analyse matches at the moment; its operator can switch it on "
            "with MATCHPOST_ROBOTS"
        ),
        "analysis-killed": "the analysis of match {board} was stopped, because its process was killed {kills} times at the same position; ask for it again in an hour",
        "analyses-wait": "{most} matches are waiting to be analysed; try again later",
        "analyses-own": "{most} matches are being analysed for you; wait until one is done",
        "codes-withheld": (
            "no code was sent to your address, because too many were requested today; add the "
            "address again in {hours:hours}"
        ),
        "code-wrong": (
            "this code doesn't match any address of the account; add the address again, and "
            "we'll send a new one"
        ),
        "list-busy": "this list changes too often to be read; try again in a minute",
        "older-away": "older finished matches of this list can't be read right now; try again in a minute",
        "older-damaged": "older finished matches of this list can't be read; the server's log says why",
        "not-kept": (
            "the server can't guarantee right now that moves are kept, so it isn't accepting "
            "any; its operator has been notified; try again in a minute"
        ),
        "disk-full": (
            "this server's disk is full, so it can't accept moves until its operator makes room; "
            "everything can still be read, and nothing is lost"
        ),
        "no-writes": (
            "the server is read-only at the moment, because its disk is full or a replica is "
            "away; nothing was changed; try again later"
        ),
        "plies": "a match can have at most {most} plies; end it by resigning, by an offer, or by the rules",
        "too-many-attempts": "too many wrong passwords for {name!r}; try again in {minutes:minutes}",
        "minute-rate": "more than {most} {what} in a minute; try again in {seconds:seconds}",
        "commands": "commands",
        "network-passwords": "passwords from your network",
        "account-requests": "requests of your account",
        "network-requests": "more than {most} requests without a valid token came from your address in a minute; try again in {seconds:seconds}, or send a token",
        "resets-fast": "too many requests for a new password came from your network; try again in an hour",
        "text-form": (
            "character {place} of the text is {character}; a text can't contain control "
            "characters other than newlines and tabs, or lone surrogates"
        ),
        "note-form": (
            "character {place} of the note is {character}; a note is one line without control "
            "characters or lone surrogates"
        ),
        "key-reused": "the key has already been used for another challenge; choose a new one",
    },
    seconds=counted("{n} second", "{n} seconds"),
    hours=counted("{n} hour", "{n} hours"),
    minutes=counted("{n} minute", "{n} minutes"),
)


def day_of(at: int) -> str:
    """Return the day of a time, in ms, as sentences name it: `2026-12-05`."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}"
