// What the leaves of a log say: events of matches, refusals, and the anchors of seed chains.

const ENVELOPE = "schema:count match:count seq:count at:count command:bytes actor:account prev:hash body:body";
const REFUSAL =
  "tag:text schema:count match:count at:count command:bytes actor:account code:text move:text? text:bytes?";
const ANCHOR = "tag:text schema:count shard:count chain:count anchor:hash";

/** The fields of each event after its tag. A question mark stands for nil, and an equals sign for a default. */
const BODIES = {
  "match-started":
    "rules:text options:texts seats:accounts setup:text? next:count? draw:draw?=null terms:any=null",
  "match-proposed":
    "rules:text options:texts seats:accounts setup:text? next:count? draw:draw? terms:any invited:counts lapse:count",
  "match-paired":
    "rules:text options:texts seats:accounts setup:text? next:count? draw:draw? terms:any tournament:count pairing:count",
  accepted: "seat:count next:count?",
  challenged: "rules:text options:texts seats:accounts text:bytes terms:any=null",
  gathered: "seat:count text:bytes",
  moved: "ply:count seat:count move:text next:count? queued:flag=false",
  offered: "seat:count kind:text",
  answered: "seat:count kind:text accept:flag",
  undone: "ply:count next:count?",
  resigned: "seat:count next:count?=null",
  nagged: "seat:count",
  flagged: "seat:count next:count?=null",
  paused: "",
  resumed: "seat:count",
  absent: "seat:count until:count",
  returned: "seat:count until:count",
  declined: "seat:count",
  ended: "winners:counts reason:text",
  called: "rules:text options:texts seats:accounts text:bytes terms:any=null commitments:commitments=[]",
  "deal-proposed":
    "rules:text options:texts seats:accounts text:bytes terms:any commitments:commitments lapse:count server_deals:flag",
  imported:
    "rules:text options:texts seats:accounts text:bytes terms:any setup:text? moves:text turns:bytes acted:count out:any next:count? result:ended? source:source",
  committed: "seat:count commitment:commitment",
  sealed: "chain:count k:count waits:counts",
  revealed: "seat:count text:bytes",
  withheld: "seat:count",
  claimed: "seat:count? ply:count text:hash",
  ruled: "claim:count? upheld:flag text:hash",
  appealed: "seat:count claim:count text:hash",
  "set-back": "ply:count next:count? back:counts=[]",
  "result-changed": "winners:counts reason:text",
  "time-given": "seat:count ms:count",
  "seat-taken-over": "seat:count account:account next:count?",
  "opening-given": "moves:text",
  "tournament-drafted": "terms:any",
  "thematic-drafted": "terms:any opening:text",
  "entry-opened": "",
  entered: "account:account rating:count",
  "players-invited": "accounts:any",
  "invitation-taken-back": "account:account",
  "team-named": "players:any",
  "team-joined": "captain:account rating:count",
  "entry-taken-back": "account:account",
  "lots-drawn": "draw:draw order:counts",
  "left-after-season": "account:account player:count",
  "players-numbered": "players:any",
  "tournament-started": "players:any",
  "section-paired": "players:counts pairings:any",
  "groups-paired": "players:counts pairings:any stage:count byes:counts thirds:counts",
  "results-counted": "reports:any",
  "player-withdrawn": "account:account player:count kind:text unfinished:counts text:hash",
  "directors-appointed": "accounts:accounts",
  "matches-adjudicated": "results:any text:bytes stage:count=0",
  "silent-dropped": "players:counts",
  "ladder-ended": "",
  "substitute-volunteered": "account:account rating:count",
  "player-substituted":
    "player:count account:account left:account rating:count first:counts second:counts text:hash",
  "substituted-in-threes":
    "player:count account:account left:account rating:count first:counts second:counts text:hash third:counts",
  "tournament-finished": "",
  "places-listed": "sections:any",
  "places-confirmed": "sections:any",
  "tournament-cancelled": "",
};

/** The events of tournaments, which are the last. */
const TOURNAMENT_EVENTS = new Set(Object.keys(BODIES).slice(Object.keys(BODIES).indexOf("tournament-drafted")));

const isBytes = (value) => value instanceof Uint8Array;
const isCount = (value) => Number.isInteger(value) && value >= 0;
const listOf = (right) => (value) => Array.isArray(value) && value.every(right);
const isText = (value) => typeof value === "string";
const isCommitment = (value) =>
  Array.isArray(value) && value.length >= 2 && isBytes(value[0]) && isBytes(value[1]);

const TYPES = {
  any: () => true,
  count: isCount,
  counts: listOf(isCount),
  text: isText,
  texts: listOf(isText),
  flag: (value) => typeof value === "boolean",
  bytes: isBytes,
  hash: (value) => isBytes(value) && value.length === 32,
  account: (value) => isBytes(value) && value.length === 8,
  accounts: listOf((value) => isBytes(value) && value.length === 8),
  commitment: isCommitment,
  commitments: listOf(isCommitment),
  draw: (value) =>
    Array.isArray(value) && value.length >= 4 && isCount(value[0]) && isCount(value[1]) &&
    isBytes(value[2]) && value[2].length === 32 && listOf(isBytes)(value[3]),
  ended: (value) => Array.isArray(value) && value.length >= 2 && listOf(isCount)(value[0]) && isText(value[1]),
  source: (value) =>
    Array.isArray(value) && value.length >= 6 && isText(value[0]) && isText(value[1]) &&
    isCount(value[2]) && isBytes(value[3]) && isCount(value[4]) && isBytes(value[5]),
  body: (value) => Array.isArray(value) && isText(value[0]),
};

/** Return the fields of an array by name, and the rows by which its bytes are shown. */
function readFields(spec, items, first = 0) {
  const [fields, rows] = [{}, []];
  spec.split(" ").filter(Boolean).forEach((one, n) => {
    const [, name, type, nil, preset] = /^([\w-]+):(\w+)(\??)(?:=(.*))?$/.exec(one);
    const item = items[first + n];
    if (!item) {
      require(preset !== undefined, `The leaf lacks its field “${name}”.`);
      fields[name] = JSON.parse(preset);
      return;
    }
    const right = (nil && item.value === null) || TYPES[type](item.value);
    require(right, `The field “${name}” of the leaf isn't what it should be.`);
    fields[name] = item.value;
    if (type !== "body") rows.push({ name, ...item });
  });
  return { fields, rows };
}

/** Read a leaf: `kind`, its fields, and the rows by which its bytes are shown. */
function readLeaf(bytes) {
  const { items } = readValue(bytes);
  require(items?.length > 1, "A leaf is an array with several fields.");
  const [first] = items;
  const kind = { refused: "refusal", anchor: "anchor" }[first.value] ?? "event";
  const spec = { refusal: REFUSAL, anchor: ANCHOR, event: ENVELOPE }[kind];
  const { fields, rows } = readFields(spec, items);
  require(fields.schema === 1, `The leaf has version ${fields.schema}, which this page does not know.`);
  const leaf = { kind, bytes, hash: leafHash(bytes), ...fields, rows };
  return kind === "event" ? { ...leaf, ...readBody(items[7], rows) } : leaf;
}

function readBody(body, rows) {
  const [tag] = body.value;
  const known = Object.hasOwn(BODIES, tag);
  require(known, `This page does not know the event “${tag}”: it is older than the server's.`);
  const found = readFields(BODIES[tag], body.items, 1);
  rows.push({ name: "kind of event", ...body.items[0] }, ...found.rows);
  return { tag, body: found.fields };
}

const seatName = (seat) => (seat === null ? "an arbiter" : `seat ${seat + 1}`);
const seatNames = (seats) => seats.map(seatName).join(" and ");

const WORDS = {
  "match-started": (body) => `the match began, by the rules ${body.rules}`,
  "match-proposed": (body) => `the match was proposed by name, by the rules ${body.rules}`,
  "match-paired": (body) => `the match began, in tournament ${body.tournament}, by the rules ${body.rules}`,
  accepted: (body) => `${seatName(body.seat)} accepted`,
  challenged: (body) => `the match was proposed, by the rules ${body.rules}`,
  called: (body) => `the match was proposed, by the rules ${body.rules}`,
  "deal-proposed": (body) => `the match was proposed by name, by the rules ${body.rules}`,
  imported: (body) => `a match of ${body.source[1] || "another server"} was imported, by the rules ${body.rules}`,
  gathered: (body) => `${seatName(body.seat)} accepted`,
  moved: (body) => `${seatName(body.seat)} played ${body.move} as move ${body.ply}`,
  offered: (body) => `${seatName(body.seat)} proposed: ${body.kind}`,
  answered: (body) => `${seatName(body.seat)} ${body.accept ? "accepted" : "rejected"}: ${body.kind}`,
  undone: (body) => `moves were taken back, and ${body.ply} are left`,
  resigned: (body) => `${seatName(body.seat)} resigned`,
  nagged: (body) => `${seatName(body.seat)} was reminded`,
  flagged: (body) => `the time of ${seatName(body.seat)} was over`,
  paused: () => "all clocks were stopped",
  resumed: (body) => `${seatName(body.seat)} ended the pause`,
  absent: (body) => `${seatName(body.seat)} began a vacation`,
  returned: (body) => `${seatName(body.seat)} cut a vacation short`,
  declined: (body) => `${seatName(body.seat)} declined to play`,
  ended: (body) => `the match ended by ${body.reason}; ${winnersName(body.winners)}`,
  committed: (body) => `${seatName(body.seat)} committed to a text`,
  sealed: (body) => `the draw was fixed: seed ${body.k} of chain ${body.chain}`,
  revealed: (body) => `the text of ${seatName(body.seat)} was revealed`,
  withheld: (body) => `${seatName(body.seat)} did not reveal a text`,
  claimed: (body) => `${seatName(body.seat)} claimed about move ${body.ply}`,
  ruled: (body) => `an arbiter ${body.upheld ? "upheld" : "dismissed"} the claim`,
  appealed: (body) => `${seatName(body.seat)} appealed`,
  "set-back": (body) => `the match was set back to move ${body.ply}`,
  "result-changed": (body) => `the result was changed to ${body.reason}; ${winnersName(body.winners)}`,
  "time-given": (body) => `${seatName(body.seat)} was given ${body.ms} ms`,
  "opening-given": (body) => `the match began with the moves ${body.moves}`,
  "seat-taken-over": (body) => `a substitute took over the seat of ${seatName(body.seat)}`,
  "tournament-drafted": () => "a tournament was made",
  "thematic-drafted": (body) => `a tournament was made whose matches begin with ${body.opening}`,
  "entry-opened": () => "the tournament was opened for entry",
  entered: (body) => `a player rated ${body.rating} entered`,
  "players-invited": (body) => `${body.accounts.length} players were invited`,
  "invitation-taken-back": () => "an invitation was taken back",
  "team-named": (body) => `a captain named ${body.players.length} players`,
  "team-joined": (body) => `a player rated ${body.rating} entered in a team`,
  "entry-taken-back": () => "an entry was taken back",
  "lots-drawn": () => "the lots of the players were drawn",
  "left-after-season": () => "a player left after the season",
  "players-numbered": (body) => `${body.players.length} players got their numbers`,
  "tournament-started": () => "the tournament began",
  "section-paired": (body) => `a section of ${body.players.length} players was paired`,
  "groups-paired": (body) => `groups of three of ${body.players.length} players were paired`,
  "results-counted": () => "results were counted",
  "player-withdrawn": (body) => `player ${body.player + 1} was taken out (${body.kind})`,
  "directors-appointed": (body) => `${body.accounts.length} directors were appointed`,
  "matches-adjudicated": (body) => `${body.results.length} matches were adjudicated`,
  "silent-dropped": (body) => `${body.players.length} silent players dropped`,
  "ladder-ended": () => "the ladder was ended",
  "substitute-volunteered": (body) => `somebody rated ${body.rating} volunteered as a substitute`,
  "player-substituted": (body) => `a substitute took over the place of player ${body.player + 1}`,
  "substituted-in-threes": (body) =>
    `a substitute took over the place of player ${body.player + 1}`,
  "tournament-finished": () => "all matches were over",
  "places-listed": (body) => `the places of ${body.sections.length} tables were listed`,
  "places-confirmed": () => "the places were confirmed",
  "tournament-cancelled": () => "the tournament was cancelled",
};

function winnersName(winners) {
  if (!winners.length) return "nobody won";
  return winners.length === 1 ? `${seatName(winners[0])} won` : `${seatNames(winners)} are tied`;
}

/** Return a leaf as a clause. */
function describeLeaf(leaf) {
  if (leaf.kind === "anchor") return `the anchor of seed chain ${leaf.chain} of shard ${leaf.shard}`;
  const at = toTime(leaf.at);
  if (leaf.kind === "refusal") {
    const what = leaf.move === null ? "a command" : `the move ${leaf.move}`;
    return `a refusal in match ${leaf.match}: ${what} was refused as ${leaf.code}, at ${at}`;
  }
  return `event ${leaf.seq} of ${TOURNAMENT_EVENTS.has(leaf.tag) ? "tournament" : "match"} ${leaf.match}: ${WORDS[leaf.tag](leaf.body)}, at ${at}`;
}

/** Return a leaf as bytes that can be shown: each field with its place. */
function shownLeaf(leaf, label) {
  return { label, leaf, bytes: leaf.bytes };
}
