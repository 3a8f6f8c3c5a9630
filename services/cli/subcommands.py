"""The subcommands of `matchpost`: their names, help texts and arguments.

Only what the parser needs is imported here; the module of a subcommand is imported when it runs.
"""

from pathlib import Path
from typing import Final

from services.cli.author_subcommands import AUTHOR_SUBCOMMANDS
from services.cli.flags import (
    PROJECTIONS,
    ROLES,
    SECRETS,
    bucket_count,
    process_count,
    projection,
    seconds,
    whole_number,
)
from services.cli.player_subcommands import PLAYER_SUBCOMMANDS, WAIT_SECONDS, Subcommand

_DAYS: Final = ("--days", {
    "type": whole_number, "default": 0, "metavar": "N",
    "help": "suspend: for how many days; by default it has no end",
})  # fmt: skip

SUBCOMMANDS: Final = (
    *PLAYER_SUBCOMMANDS,
    Subcommand(
        "serve",
        "run the server until Ctrl-C; prints `ready` once it answers",
        "Run the whole server on this machine: data, workers, web pages and mail.",
        module="services.serve.main",
    ),
    Subcommand(
        "demo",
        "fill an empty server with people and matches, and run it",
        "Fill an empty server with invented people and months of matches, print a userid and a password to "
        "log in with, and run it as `serve` does. Exit code 1: the server has accounts or matches; nothing "
        "was changed.",
        (
            ("--fill-only", {"action": "store_true", "help": "fill it without running it"}),
            ("--record", {
                "metavar": "FILE", "type": Path,
                "help": "only let the engine play the recorded games again, into this file",
            }),
        ),
    ),
    Subcommand(
        "doctor",
        "report what is wrong with the server, and what to do",
        "Check server, workers, inboxes, disk and clock. Exit code 0: all is well; "
        "1: something needs attention; 2: the server doesn't answer.",
        (("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object"}),),
    ),
    Subcommand(
        "alive",
        "check whether a process on this machine is alive, for probes and health checks",
        "Check the processes of a role that run on this machine with this data directory, without asking any "
        "server. Exit code 0: there is one, and none hangs; 1: otherwise.",
        (
            ("role", {"choices": ("serve", *ROLES), "metavar": "ROLE", "help": f"serve, {', '.join(ROLES)}"}),
            ("--ready", {
                "dest": "is_ready", "action": "store_true", "help": "exit code 1 while one is still starting, too",
            }),
        ),
        "services.serve.liveness",
    ),
    Subcommand(
        "queue",
        "show what is waiting in the lanes and in RQ's queues, and who is working on it",
        "Show for each lane how many commands are waiting, since when, who has the lease and what the last "
        "turn did; and the jobs and workers of RQ's queues.",
        (
            ("--json", {"dest": "as_json", "action": "store_true", "help": "print one JSON object"}),
            ("--interval", {"type": seconds, "metavar": "SECONDS", "help": "repeat every SECONDS"}),
        ),
    ),
    Subcommand(
        "arbiter",
        "make an account an arbiter, or list them",
        "Make an account an arbiter, or list them all with `matchpost arbiter list`. Arbiters rule on "
        "claims, and can write to every player.",
        (
            ("names", {"metavar": "USERID", "nargs": 1, "help": "the account, or `list`"}),
            ("--revoke", {
                "dest": "is_held", "action": "store_false", "help": "end an arbiter's appointment",
            }),
        ),
        "services.cli.account",
        fixed={"action": "arbiter"},
    ),
    Subcommand(
        "account",
        "make, list, suspend or export accounts, replace lost passwords, and give roles",
        "Make accounts for others, with passwords that are made up and shown once; replace the password of an account "
        "that has lost it, which also logs it out everywhere; make accounts an `operator`, a `moderator` or an `arbiter`; "
        "make a sign-up link for each person (`invite`); log accounts out everywhere, suspend or reinstate them; write all "
        "data of an account to a file (`export USERID FILE`); or list all accounts.",
        (
            ("action", {
                "choices": ("create", "reset", "role", "list", "export", "invite", "logout", "suspend", "reinstate"),
                "help": "what to do",
            }),
            ("names", {
                "metavar": "USERID", "nargs": "*",
                "help": "the accounts; for `role` the role comes first, for `invite` they are names of people",
            }),
            ("--file", {
                "metavar": "FILE", "type": Path,
                "help": "a CSV file whose first column has the userids; further columns `name`, `email` and "
                "`language`, if the first row names them",
            }),
            ("--slips", {"action": "store_true", "help": "print a slip for each account, to be cut out"}),
            ("--lang", {"dest": "language", "default": "en", "metavar": "CODE", "help": "the language of the slips"}),
            ("--revoke", {
                "dest": "is_held", "action": "store_false", "help": "take the role away",
            }),
            ("--csv", {"dest": "as_csv", "action": "store_true", "help": "print a line of CSV for each account"}),
            _DAYS,
        ),
    ),
    Subcommand(
        "acts",
        "list what operators, moderators and arbiters have done",
        "List what operators, moderators and arbiters have done, the newest first. Nobody can change this record.",
        (
            ("--count", {"type": whole_number, "default": 50, "metavar": "N", "help": "how many at most (default 50)"}),
            ("--json", {"dest": "as_json", "action": "store_true", "help": "print a JSON object for each"}),
        ),
    ),
    Subcommand(
        "admission",
        "show or set who may make an account, and what is shown to people without one",
        "Show or set who may make an account, and what is shown to people without one. A change is in force in all "
        "processes when the command ends. MATCHPOST_SIGNUPS=off closes sign-ups whatever is set here.",
        (
            ("--sign-up", {
                "dest": "sign_up", "choices": ("open", "link", "closed"),
                "help": "who may make an account: anybody, anybody with a sign-up link, or nobody",
            }),
            ("--visible-to", {
                "choices": ("everybody", "members"), "dest": "visible_to",
                "help": "who sees matches, players, lists and the log: everybody, or members alone",
            }),
            ("--trial", {
                "choices": ("on", "off"),
                "help": "whether people without an account may try a board where the rest is for members",
            }),
            ("--clubs", {"choices": ("operators", "members"), "help": "who may found clubs"}),
        ),
    ),
    Subcommand(
        "games",
        "show the games, or switch some off and on",
        "Show which games are on, or switch some off and on. No new match of a game that is off begins; matches and "
        "tournaments that have begun go on. A change is in force in all processes when the command ends.",
        (
            ("--off", {"action": "append", "metavar": "KEY", "help": "switch a game off; may be repeated"}),
            ("--on", {"action": "append", "metavar": "KEY", "help": "switch a game on; may be repeated"}),
        ),
    ),
    Subcommand(
        "signup-link",
        "make, list or revoke links with which people sign up",
        "Make, list or revoke links with which people sign up where `matchpost admission --sign-up link` asks for one.",
        (
            ("action", {"choices": ("make", "list", "revoke"), "help": "what to do"}),
            ("name", {"metavar": "ID", "nargs": "?", "default": "", "help": "the link to revoke"}),
            ("--uses", {
                "type": whole_number, "default": 1, "metavar": "N",
                "help": "how many accounts may be made with it (default 1)",
            }),
            ("--days", {
                "type": whole_number, "default": 14, "metavar": "N", "help": "how many days it lasts (default 14)",
            }),
            ("--note", {"default": "", "metavar": "TEXT", "help": "your own words on whom it is for"}),
        ),
        "services.cli.signup_link",
    ),
    Subcommand(
        "site",
        "show or set the site's name, contact, texts, banner and logo",
        "Show what the site has of its own, or set it: its name and contact (`set`); a text, Markdown, from a file or the "
        "standard input (`text rules en FILE`); an announcement on all pages (`banner en FILE`); a logo (`logo FILE`). "
        "An empty text, or --remove, takes away what was there.",
        (
            ("action", {
                "choices": ("show", "set", "text", "banner", "logo"), "nargs": "?", "default": "show", "help": "what to do",
            }),
            ("about", {
                "nargs": "*", "metavar": "WHAT",
                "help": "text: rules, privacy, imprint or contact, and the language; banner: the language; then the file",
            }),
            ("--name", {"metavar": "TEXT", "help": "set: the name of the site, 1 to 40 characters"}),
            ("--contact", {"metavar": "TEXT", "help": "set: whom to ask, such as a mail address"}),
            ("--until", {"metavar": "DAY", "help": "banner: its last day (UTC), such as 2026-12-24; by default it stays"}),
            ("--remove", {"action": "store_true", "help": "text, banner, logo: take it away"}),
        ),
    ),
    Subcommand(
        "suspend",
        "close an account: nobody can log in to it or play for it",
        "Close an account: it is logged out everywhere, nobody can log in to it, act for it or challenge it, and its "
        "own challenges end. Its matches continue and its clocks run, so its opponents win on time. `matchpost "
        "reinstate` opens it again, and after --days it is open by itself. Of two suspensions the longer holds.",
        (("names", {"metavar": "USERID", "nargs": 1, "help": "the account"}), _DAYS),
        "services.cli.account",
        fixed={"action": "suspend"},
    ),
    Subcommand(
        "reinstate",
        "reopen a suspended account",
        "Reopen an account that was closed by `matchpost suspend`.",
        (("names", {"metavar": "USERID", "nargs": 1, "help": "the account"}),),
        "services.cli.account",
        fixed={"action": "reinstate"},
    ),
    Subcommand(
        "erase",
        "erase the text of a claim, an appeal or a ruling",
        "Erase the text of a claim, an appeal or a ruling for good; its hash stays in the log. First shows "
        "whose text it is.",
        (
            ("number", {"metavar": "BOARD", "help": "the match's number"}),
            ("event", {"metavar": "EVENT", "type": whole_number, "help": "the number of its event"}),
            ("--yes", {"action": "store_true", "help": "do it"}),
        ),
    ),
    Subcommand(
        "correct",
        "apply one ruling to many matches, on behalf of an arbiter",
        "Apply one ruling to many matches, on behalf of an arbiter. Shows for each match what would "
        "change, or why it can't be ruled on. It can be stopped and run again: no match is ruled on "
        "twice. Exit code 1: some matches can't be ruled on; 2: an outcome is unknown, so run it again.",
        (
            ("plan", {"metavar": "PLAN", "help": "a JSON file; see docs/club.md"}),
            ("--dry-run", {
                "dest": "dry_run", "action": "store_true", "help": "only show what would be done",
            }),
            ("--yes", {"action": "store_true", "help": "do it"}),
        ),
    ),
    Subcommand(
        "verify",
        "check a match's complete history, a file that proves something, or everything",
        "Check that the history of a match or a tournament is complete, chained and logged, and decide it again; or check a "
        "document, a receipt or a proof, without a server; or everything. Exit code 0: it holds; "
        "1: it does not; 2: something could not be checked.",
        (
            ("what", {
                "metavar": "WHAT", "nargs": "?", "default": "",
                "help": "the number of a match or a tournament, or a file; `-` for standard input",
            }),
            ("--key", {
                "dest": "trusted", "metavar": "VKEY", "action": "append", "default": [],
                "help": "a key from elsewhere to check a file or a mirror with, or a file of such keys; "
                "can be repeated",
            }),
            ("--all", {
                "dest": "everything", "action": "store_true",
                "help": "check all matches and logs, while the server runs",
            }),
            ("--mirror", {
                "metavar": "DIR|URL", "default": "",
                "help": "check published logs without a server: a copy, or the address they are served at, "
                "such as https://play.example.org/log",
            }),
            ("--checkpoint", {
                "dest": "checkpoints", "metavar": "FILE", "action": "append", "default": [],
                "help": "with --mirror: an earlier checkpoint, or an e-mail with one, that the log has to extend",
            }),
        ),
        one_of=("what", "--all", "--mirror"),
    ),
    Subcommand(
        "export",
        "export a match or a tournament as one JSON document, with proofs",
        "Write a match or a tournament as one line of JSON to standard output: all its events, and proofs that they "
        "are in the published log. `matchpost verify` checks it, `matchpost referee` judges a match.",
        (
            ("number", {"metavar": "BOARD", "help": "the number of the match or the tournament"}),
            ("--record", {"action": "store_true", "help": "write only the moves, as lines of commands; nothing proves them"}),
            ("--text", {"action": "store_true", "help": "write only headers and moves, as in PGN; nothing proves them"}),
        ),
    ),
    Subcommand(
        "import",
        "propose a match from another server to its players here",
        "Check a match document, a game text or a move record, and propose the match to its players; it continues here "
        "once all of them have accepted. `-` reads standard input.",
        (
            ("file", {"metavar": "FILE", "help": "what `matchpost export` wrote, in any of its forms"}),
            ("--player", {
                "dest": "players", "action": "append", "default": [], "metavar": "SIDE=USERID",
                "help": "who plays a side here; repeat for each side",
            }),
            ("--key", {
                "dest": "trusted", "action": "append", "default": [], "metavar": "VKEY",
                "help": "a public key of the server it comes from, or a file with keys; otherwise "
                "the keys in the file are used, which prove nothing by themselves",
            }),
            ("--still-running", {
                "action": "store_true",
                "help": "import a match that its players haven't ended there with a transfer",
            }),
            ("--wait", {
                "type": seconds, "default": WAIT_SECONDS, "metavar": "SECONDS",
                "help": "how long to wait for an outcome (default 10)",
            }),
        ),
        "services.cli.import_match",
    ),
    Subcommand(
        "dump", "write all finished matches to files in a folder",
        "Write the finished matches of all games to a folder, as MATCHPOST_DUMP_HOUR has it done each day for download.",
        (("folder", {"metavar": "FOLDER", "type": Path, "help": "where the files and their index go"}),),
    ),
    Subcommand(
        "backup",
        "copy the server while people play, and try the copy",
        "Copy data and published log of the server to a folder or an object store, while people play; then "
        "restore the copy into a scratch folder and verify everything in it. Older backups are thinned out: one stays "
        "of each of the last 7 days, 5 weeks and 12 months. Exit code 1: it was not made, or does not hold; 2: the "
        "store can't be reached.",
        (
            ("target", {
                "metavar": "TARGET", "nargs": "?",
                "help": "a folder, or a URL such as s3://bucket/prefix (default: MATCHPOST_BACKUP)",
            }),
            ("--keys-to", {
                "dest": "keys_to",
                "metavar": "TARGET",
                "help": "another place for keys, seeds, mail key and settings (default: MATCHPOST_BACKUP_KEYS)",
            }),
            ("--encrypt-to", {
                "metavar": "KEY", "help": "encrypt it to an age key, age1... (default: MATCHPOST_BACKUP_ENCRYPT_TO)",
            }),
            ("--no-try", {
                "dest": "is_tried", "action": "store_false", "help": "only make it, and do not try it",
            }),
        ),
    ),
    Subcommand(
        "restore",
        "put a backup back into an empty data folder",
        "Restore a backup that `matchpost backup` has made into the data folder, which has to be empty, for a server "
        "that does not run. Keys and seeds come from where --keys-to put them.",
        (
            ("target", {"metavar": "TARGET", "help": "where the backups are: a folder, or a URL"}),
            ("--keys-from", {"metavar": "TARGET", "help": "where keys and seeds of the backups are"}),
            ("--identity", {
                "metavar": "FILE", "type": Path, "help": "the file with the age key that opens encrypted backups",
            }),
            ("--id", {"dest": "id_", "metavar": "ID", "help": "which backup (default: the newest)"}),
            ("--list", {
                "dest": "is_list", "action": "store_true", "help": "only list the backups",
            }),
            ("--log", {
                "metavar": "FOLDER", "type": Path,
                "help": "the published log of the lost server, newer than that in the backup",
            }),
            ("--same-log", {
                "dest": "is_same_log", "action": "store_true",
                "help": "nothing was published after the backup: go on with its log",
            }),
            ("--new-log", {
                "metavar": "HOST",
                "help": "the newest log is lost: go on with the log of the backup under a new name and new keys",
            }),
        ),
    ),
    Subcommand(
        "move-to",
        "move the data to another server, a pair or a cluster, while nobody plays",
        "Copy all data to another Redis or Valkey, which is empty, compare them, verify everything there, and mark the "
        "data here as moved, so that no server starts with them. The server must be stopped. If it is cut off, run "
        "it again. Exit code 1: refused, or something does not hold; 2: a server does not answer, or is not durable.",
        (
            ("target", {
                "metavar": "URL", "help": "the new server, as MATCHPOST_REDIS_URL will have it",
            }),
            ("--back", {
                "dest": "is_back", "action": "store_true",
                "help": "take the move back, as long as nobody has used the data there",
            }),
        ),
        "services.cli.move_to",
    ),
    Subcommand(
        "rebuild",
        "rebuild lists and ratings from the logs, or check them",
        "Rebuild lists, histories, ratings and notices from the logs, while the server "
        "runs. Exit code 1: with --check, a list differs from its rebuild.",
        (
            ("names", {
                "nargs": "*", "metavar": "NAME", "type": projection,
                "help": f"{', '.join(PROJECTIONS)}; all if none is named",
            }),
            ("--check", {
                "action": "store_true", "help": "only compare with a rebuild; replace nothing",
            }),
            ("--buckets", {
                "type": bucket_count, "metavar": "N",
                "help": "divide the data into N buckets from now on (default: as many as now)",
            }),
            ("--processes", {
                "type": process_count, "metavar": "N",
                "help": "read the logs of so many shards at a time (default: one process for 200,000 "
                "leaves, as far as there are cores, 4 at most)",
            }),
        ),
    ),
    Subcommand(
        "lanes",
        "show or change the number of lanes that the shards are divided into",
        "Show how many lanes the shards are divided into, or change it while the server runs. "
        "A command worker drains one lane at a time, so make as many lanes as there are workers.",
        (("count", {
            "nargs": "?", "type": whole_number, "metavar": "N",
            "help": "the number of lanes, from 1 to the number of shards",
        }),),
    ),
    Subcommand(
        "prepare",
        "set up what a server on several machines needs, once",
        "Create the layout of the data, the keys and the robots' accounts on servers of your own, and record "
        "which secrets all machines must have. It can be repeated: what exists is kept.",
    ),
    Subcommand(
        "secrets",
        "compare the secrets of this machine with the server's",
        "Show where this machine keeps the secrets that all machines share, and whether they are the "
        "server's. Exit code 1: one of them differs.",
        (("--accept", {
            "choices": SECRETS,
            "help": "make this machine's the server's, if the other has been lost or replaced",
        }),),
        "services.cli.secret_list",
    ),
    Subcommand(
        "acl",
        "print a user for each role, for the access control of a server",
        "Print the lines of the `aclfile` of a Redis or Valkey: a user for each role, who can do that role's "
        "work and nothing else.",
        (
            ("server", {"choices": ("data", "queue"), "help": "which server it is for"}),
            ("--passwords", {
                "type": Path, "required": True, "metavar": "DIR",
                "help": "a folder with a file for each user, containing the password",
            }),
        ),
        has_settings=False,
    ),
    Subcommand(
        "referee",
        "judge moves and tables: one JSON object per line in, one per line out; needs no server",
        "Judge moves, and tables of tournaments, as a filter: one JSON object per line in, one per line out.",
        has_settings=False,
    ),
    Subcommand(
        "web",
        "run only the web process, for a server on several machines",
        "Answer over HTTP until a stop signal. `serve` starts this process by itself.",
        (
            ("--fd", {"type": int, "help": "an open socket to answer on"}),
            ("--name", {"default": "web", "help": "the process's name in the log"}),
        ),
        module="services.cli.roles",
        fixed={"role": "web"},
    ),
    Subcommand(
        "mail",
        "only accept mail, for a server on several machines",
        "Accept mail by SMTP and LMTP until a stop signal, at MATCHPOST_SMTP and "
        "MATCHPOST_LMTP. `serve` starts this process by itself.",
        (
            ("--smtp-fd", {"type": int, "help": "an open socket to accept mail on by SMTP"}),
            ("--lmtp-fd", {"type": int, "help": "an open socket to accept mail on by LMTP"}),
        ),
        module="services.cli.roles",
        fixed={"role": "mail"},
    ),
    Subcommand(
        "mailer",
        "only send mail, for a server on several machines",
        "Send mail to the server at MATCHPOST_RELAY until a stop signal. `serve` starts "
        "this process by itself, and wakes it when there is mail to send.",
        module="services.cli.roles",
        fixed={"role": "mailer"},
    ),
    Subcommand(
        "maintenance",
        "run rebuilds and checks as jobs that outlive the terminal",
        "Run the rebuilds and checks that `matchpost rebuild` asks for, until a stop signal; "
        "the current job is finished first.",
        (("--name", {"default": "maintenance", "help": "the process's name in the log"}),),
        "services.cli.roles",
        fixed={"role": "maintenance"},
    ),
    Subcommand(
        "scheduler",
        "only run the clocks and repeat lost jobs, for a server on several machines",
        "Send reminders, let flags fall, start full challenges and repeat lost jobs until a stop "
        "signal. `serve` starts this process by itself; running several does no harm.",
        (("--name", {"default": "scheduler", "help": "the process's name in the log"}),),
        module="services.cli.roles",
        fixed={"role": "scheduler"},
    ),
    Subcommand(
        "robots",
        "only move for robots and analyse matches, for a server on several machines",
        "Move for robots, and analyse matches, until a stop signal. `serve` starts MATCHPOST_ROBOTS such "
        "processes by itself.",
        (
            ("--name", {"default": "robots", "help": "the process's name in the log"}),
            ("--rest-after", {"type": int, "help": "end after so many seconds without work"}),
        ),
        "services.cli.roles",
        fixed={"role": "robots"},
    ),
    Subcommand(
        "publisher",
        "only publish the log, for a server on several machines",
        "Write the log to the object store, signed, until a stop signal. `serve` starts this process "
        "by itself; if there are several, one works at a time.",
        (("--name", {"default": "publisher", "help": "the process's name in the log"}),),
        module="services.cli.roles",
        fixed={"role": "publisher"},
    ),
    Subcommand(
        "log",
        "trust the published log where the data differs from it",
        "Discard the leaves of a closed shard that differ from the published log, with everything that "
        "follows from them; the published ones are then restored. First shows what that is.",
        (
            ("action", {"choices": ["discard"], "help": "what to do"}),
            ("shard", {"type": whole_number, "metavar": "SHARD", "help": "the shard's number"}),
            ("--yes", {"action": "store_true", "help": "do it"}),
        ),
    ),
    *AUTHOR_SUBCOMMANDS,
    Subcommand(
        "keygen",
        "make the keys that sign the published log",
        "Make the keys that sign the published log and receipts, and print the public ones. Existing "
        "keys are never overwritten.",
        (("--host", {
            "metavar": "NAME",
            "help": "the server's name in the log, for good, such as play.example.org "
            "(default: MATCHPOST_MAIL_DOMAIN)",
        }),),
        "services.serve.log_keys",
    ),
    Subcommand(
        "witness",
        "cosign another server's log, refusing forks; needs no server of its own",
        "Remember the last checkpoint of another server's logs, cosign each newer one that is proven to "
        "continue it, and raise an alarm otherwise. Either the server asks the witness (see its file "
        "`witnesses`), or the witness follows the server.",
        (
            ("--name", {
                "required": True, "metavar": "NAME",
                "help": "its name in cosignatures, for good, such as witness.example.org/w1",
            }),
            ("--folder", {
                "type": Path, "default": Path("witness"), "metavar": "DIR",
                "help": "where it keeps its key and what it has cosigned (default: witness)",
            }),
            ("--keys", {
                "metavar": "FILE|URL",
                "help": "the public keys of the logs (default: URL/log/keys, as first seen)",
            }),
            ("--http", {"metavar": "HOST:PORT", "help": "answer the server's requests at this address"}),
            ("--follow", {"metavar": "URL", "help": "read the log of the server at URL every minute"}),
            ("--once", {"action": "store_true", "help": "with --follow: check once; exit code 1: a fork"}),
        ),
        has_settings=False,
    ),
    *(
        Subcommand(
            role,
            f"only {what}, for a server on several machines",
            f"{what.capitalize()} until a stop signal. `serve` starts this process by itself.",
            (("--name", {"default": role, "help": "the process's name in the log"}),),
            "services.cli.roles",
            fixed={"role": role},
        )
        for role, what in (("worker", "decide commands"), ("side", "keep lists and ratings up to date"))
    ),
    Subcommand(
        "gathered",
        "only do what rests most of the time, in one process, for a server on several machines",
        "Do the work of `side`, `scheduler`, `publisher` and `maintenance` until a stop signal, each in a thread. `serve` "
        "starts this process by itself.",
    ),
)  # fmt: skip
