// The check of a match document: from its bytes up to what it says.

const plural = (number, one, more = `${one}s`) => `${number} ${number === 1 ? one : more}`;

/** Check a document, and return what it says that other files can be compared with. */
async function checkDocument(report, found, text, keys, progress) {
  const match = { document: found, origin: found.log.origin, board: found.board, leaves: [] };
  const good = await report.step("leaves", () => readLeaves(match));
  if (!good) return match;
  await report.step("seq", () => checkNumbers(match));
  await report.step("prev", () => checkChain(match));
  await report.step("time", () => checkTimes(match));
  await checkLog(report, match, keys, progress);
  await checkReceipts(report, match, keys);
  if (found.format === FORMAT) {
    await checkDraw(report, match, progress);
    await checkReadable(report, match);
  } else {
    report.add("tables", OPEN, "This page does not compare players, matches and tables with the events: `matchpost verify` does.");
  }
  await checkStatements(report, match);
  return match;
}

function readLeaves(match) {
  const { document } = match;
  let last = -1;
  for (const { index, leaf: text } of document.leaves) {
    const where = `Leaf ${index}`;
    let leaf = null;
    const bytes = fromBase64(text, where);
    try {
      leaf = readLeaf(bytes);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      throw new Problem(`${where} can't be read. ${problem.message}`, [{ label: where, bytes }]);
    }
    const shown = [shownLeaf(leaf, where)];
    require(leaf.kind !== "anchor", `${where} is neither an event nor a refusal.`, shown);
    require(leaf.match === document.board, `${where} is of match ${leaf.match}, not of ${document.board}.`, shown);
    require(index > last, `${where} does not come after leaf ${last}, so it is not in log order.`, shown);
    last = index;
    match.leaves.push({ ...leaf, index });
  }
  match.events = match.leaves.filter((leaf) => leaf.kind === "event");
  require(match.events.length, "The document has no events.");
  const refusals = match.leaves.length - match.events.length;
  const also = refusals ? ` and ${plural(refusals, "refusal")}` : "";
  return [
    `The file has ${plural(match.events.length, "event")}${also} of ${subjectOf(match.document)} ${match.board}, and all can be read.`,
    match.leaves.map((leaf) => shownLeaf(leaf, nameOf(leaf))),
  ];
}

const nameOf = (leaf) =>
  leaf.kind === "event" ? `Event ${leaf.seq}, leaf ${leaf.index}` : `Refusal, leaf ${leaf.index}`;

function checkNumbers({ events }) {
  events.forEach((event, n) => {
    const shown = [shownLeaf(event, nameOf(event))];
    require(event.seq === n + 1, `Event ${n + 1} is missing: in its place is event ${event.seq}.`, shown);
  });
  return `The events are numbered from 1 to ${events.length}, and none between is missing.`;
}

function checkChain({ events }) {
  let before = { hash: new Uint8Array(32) };
  for (const event of events) {
    const sentence =
      event === events[0]
        ? "The first event names an event before it."
        : `Event ${event.seq} does not hold the hash of event ${event.seq - 1}, so one of the two was changed.`;
    require(same(event.prev, before.hash), sentence, [
      ...(before.bytes ? [shownLeaf(before, nameOf(before)), { label: "Its hash", bytes: before.hash }] : []),
      shownLeaf(event, nameOf(event)),
    ]);
    before = event;
  }
  return [
    "Each event holds the hash of the one before it: none was changed, left out or put in between.",
    events.map((event) => ({ label: `Hash of event ${event.seq}`, bytes: event.hash })),
  ];
}

function checkTimes({ events }) {
  let last = events[0];
  for (const event of events) {
    require(event.at >= last.at, `Event ${event.seq} has an earlier time than event ${last.seq}.`, [
      { label: `Time of event ${last.seq}`, text: `${last.at}  ${toTime(last.at)}` },
      { label: `Time of event ${event.seq}`, text: `${event.at}  ${toTime(event.at)}` },
    ]);
    last = event;
  }
  const [first, end] = [toTime(events[0].at), toTime(last.at)];
  return [
    `No event is earlier than the one before it: from ${first} to ${end}, by the server's clock.`,
    events.map((event) => ({ label: `Event ${event.seq}`, text: `${event.at}  ${toTime(event.at)}` })),
  ];
}

async function checkLog(report, match, keys, progress) {
  const { log } = match.document;
  if (log.checkpoint === null) {
    if (log.proofs.length) report.add("checkpoint", FAILS, "The file has paths to the root of a checkpoint, and no checkpoint.");
    report.add("checkpoint", OPEN, "The file has no checkpoint, so nothing proves that the server has published this ${subjectOf(match.document)}.");
    return;
  }
  const read = await report.step("checkpoint", () => {
    const checkpoint = readCheckpoint(log.checkpoint);
    const shown = [{ label: "The checkpoint", text: log.checkpoint }];
    require(checkpoint.origin === log.origin, `The checkpoint is of ${checkpoint.origin}, and the document names ${log.origin}.`, shown);
    const wanted = `${match.document.server}/log/s${String(log.shard).padStart(2, "0")}`;
    require(log.origin === wanted, `The log is ${log.origin}, and of that server and shard it would be ${wanted}.`, shown);
    const other = log.keys.map(readKey).find((key) => key.name !== log.origin);
    require(!other, `The document has a key of ${other?.name} among those of ${log.origin}.`, shown);
    match.checkpoint = checkpoint;
    return [`The checkpoint names ${plural(checkpoint.size, "leaf", "leaves")} of the log ${checkpoint.origin}, and one root for all of them.`, shown];
  });
  if (!read) return;
  await checkSignature(report, match.checkpoint, log.origin, "The checkpoint", keys);
  await report.step("inclusion", () => checkPaths(match, progress));
  const newer = match.leaves.filter((leaf) => leaf.index >= match.checkpoint.size);
  if (newer.length) {
    report.add(
      "newer", OPEN,
      `${plural(newer.length, "leaf is", "leaves are")} newer than the checkpoint, so it proves nothing about ${newer.length === 1 ? "it" : "them"}. Fetch the file again a minute later.`,
      newer.map((leaf) => shownLeaf(leaf, nameOf(leaf))),
    );
  }
}

const PATHS_AT_ONCE = 256;

async function checkPaths({ document, checkpoint, leaves }, progress) {
  const paths = new Map(document.log.proofs.map((proof) => [proof.index, proof.hashes]));
  const right = paths.size === document.log.proofs.length;
  require(right, "The document has two paths for one leaf.");
  const shown = [];
  for (const leaf of leaves.filter(({ index }) => index < checkpoint.size)) {
    if (shown.length % PATHS_AT_ONCE === 0) await progress("Paths to the root", shown.length, leaves.length);
    const has = paths.has(leaf.index);
    require(has, `Leaf ${leaf.index} has no path to the root of the checkpoint.`, [shownLeaf(leaf, nameOf(leaf))]);
    const path = paths.get(leaf.index).map(readHash);
    paths.delete(leaf.index);
    const block = { label: `Leaf ${leaf.index}: its hash, and the path`, hashes: [leaf.hash, ...path] };
    try {
      checkInclusion(leaf.hash, leaf.index, checkpoint.size, path, checkpoint.root);
    } catch (problem) {
      throw new Problem(problem.message, [shownLeaf(leaf, nameOf(leaf)), block, ...problem.shown]);
    }
    shown.push(block);
  }
  const [other] = paths.keys();
  require(other === undefined, `The document has a path for leaf ${other}, which it does not have.`);
  require(shown.length || !leaves.length || leaves[0].index >= checkpoint.size, "No leaf has a path.");
  if (!shown.length) return unproven("The checkpoint is older than the match.");
  return [
    `${plural(shown.length, "leaf leads", "leaves lead")} by hashes to the root of the checkpoint, so the log has just these bytes in these places.`,
    [...shown, { label: "The root of the checkpoint", bytes: checkpoint.root }],
  ];
}

async function checkReceipts(report, match, keys) {
  for (const note of match.document.receipts) {
    let receipt = null;
    await report.step("receipt", () => {
      receipt = readReceipt(note);
      const found = compareReceipt(receipt, match);
      require(found[2] !== OPEN, found[0], found[1]);
      return found;
    });
    if (receipt) await checkSignature(report, receipt, `${receipt.origin}/receipts`, "The receipt", keys);
  }
}

async function checkReadable(report, match) {
  const { document, events } = match;
  const folded = foldEvents(events);
  const compare = (name, what, inFile, fromEvents, sentence) =>
    report.step(name, () => {
      const shown = [
        { label: "In the file", text: JSON.stringify(inFile) },
        { label: "From the events", text: JSON.stringify(fromEvents) },
      ];
      require(sameJson(inFile, fromEvents), `${what} in the file ${what.endsWith("s") ? "are" : "is"} not what the events say.`, shown);
      return [sentence, shown];
    });
  const { rules, options } = folded;
  await compare(
    "rules", "The game", [document.game, document.rules, document.players, document.options],
    [rules.split("/")[0], rules, folded.seats.length, options],
    `Game, rules and options are those of the events: ${[rules, ...options].join(" ")}.`,
  );
  await compare(
    "seats", "The seats", document.seats.map((seat) => seat.account), folded.seats.map(toHex),
    "The accounts in the seats are those of the events. Nothing proves the userids beside them.",
  );
  await compare("setup", "The setup", document.setup, folded.setup, "The setup is that of the events.");
  await compare(
    "moves", "The moves", document.moves, folded.moves,
    folded.moves.length
      ? `All moves of the file, ${folded.moves.length}, are those of the events, in their order.`
      : "No move is on the board, as the events say.",
  );
  await compare(
    "result", "The result", document.result, folded.result,
    folded.result ? "The result is that of the events." : "The match is not over, as the events say.",
  );
}

/** Return what the events of a match add up to. */
function foldEvents(events) {
  const found = { rules: "", options: [], seats: [], setup: null, moves: [], result: null };
  for (const { tag, body } of events) {
    if (body.rules !== undefined) {
      Object.assign(found, { rules: body.rules, options: body.options, seats: body.seats });
    }
    if (tag === "seat-taken-over") found.seats = found.seats.map((one, seat) => (seat === body.seat ? body.account : one));
    if (isText(body.setup)) found.setup = readSetup(body.setup);
    if (tag === "imported" || tag === "opening-given") found.moves = body.moves.split(" ").filter(Boolean);
    if (tag === "moved") found.moves.push(body.move);
    if (tag === "undone" || tag === "set-back") found.moves.length = Math.min(found.moves.length, body.ply);
    if (tag === "set-back") found.result = null;
    if (tag === "ended" || tag === "result-changed") {
      found.result = { winners: body.winners, reason: body.reason };
    }
  }
  return found;
}

/** Return a setup, which events have as the text of JSON; a text that is none equals no setup of a file. */
function readSetup(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

/** The events that have the digest of a text. */
const STATING = ["claimed", "ruled", "appealed", "player-withdrawn", "player-substituted", "matches-adjudicated"];

async function checkStatements(report, match) {
  for (const [n, one] of match.document.statements.entries()) {
    await report.step("statement", () => {
      const where = `The text ${n + 1}`;
      const salted = joined(fromHex(one.salt, "The salt"), UTF8.encode(one.text));
      const digest = sha256(salted);
      const shown = [
        { label: "Salt", text: one.salt },
        { label: "Text", text: one.text },
        { label: "SHA-256 of both", bytes: digest },
        { label: "The digest in the file", text: one.digest },
      ];
      require(toHex(digest) === one.digest, `${where} is not the one whose digest the file has.`, shown);
      const event = match.events.find(
        ({ tag, body }) => STATING.includes(tag) && same(body.text, digest),
      );
      require(event, `No event has the digest of ${lowered(where)}.`, shown);
      const author = toHex(event.actor) === one.account;
      require(author, `${where} is by another account than event ${event.seq}, which has its digest.`, shown);
      return [`${where} is word for word what event ${event.seq} has the digest of.`, [...shown, shownLeaf(event, nameOf(event))]];
    });
  }
}
