// Files against each other: receipts against documents and proofs, and checkpoints against checkpoints.

async function checkTogether(report, found) {
  const { documents, proofs, receipts, checkpoints } = found;
  if (documents.length + proofs.length + receipts.length + checkpoints.length > 1 || receipts.length) {
    report.begin("The files together");
  }
  for (const receipt of receipts) await placeReceipt(report, receipt, found);
  await compareLeaves(report, found);
  await compareCheckpoints(report, checkpoints);
  if (report.groups.at(-1)?.steps.length === 0) report.groups.pop();
}

/** Compare a receipt with all files that may have its leaf. */
async function placeReceipt(report, receipt, { documents, proofs }) {
  const matches = documents.filter((match) => match.events && isOfMatch(receipt, match));
  const leaves = proofs.filter(({ origin, leaf }) => origin === receipt.origin && leaf.match === receipt.board);
  for (const match of matches) await report.step("receipt", () => compareReceipt(receipt, match));
  for (const proof of leaves) await report.step("receipt", () => compareProof(receipt, proof));
  if (matches.length + leaves.length === 0) {
    report.add(
      "receipt", OPEN,
      "A receipt is a promise and no proof: drop the match document or the proof of the leaf beside it, and this page compares them.",
      shownReceipt(receipt),
    );
  }
}

const isOfMatch = (receipt, match) => receipt.origin === match.origin && receipt.board === match.board;

const shownReceipt = (receipt) => [{ label: "The receipt", text: receipt.text }];

/** Return whether the leaf of a receipt is in a document, as the result of a step. */
function compareReceipt(receipt, match) {
  const shown = shownReceipt(receipt);
  require(isOfMatch(receipt, match), "The receipt is of another match or log than the document.", shown);
  const { events, leaves } = match;
  const leaf = leaves.find(({ hash }) => same(hash, receipt.hash));
  if (!leaf) return missingLeaf(receipt, events, shown);
  const before = events.filter(({ index }) => index < leaf.index).at(-1);
  const seq = leaf.kind === "event" ? leaf.seq : (before?.seq ?? 0);
  const prev = leaf.kind === "event" ? leaf.prev : (before?.hash ?? new Uint8Array(32));
  const both = [...shown, shownLeaf(leaf, nameOf(leaf))];
  const right = receipt.seq === seq && same(receipt.prev, prev) && receipt.at === leaf.at;
  require(right, "The receipt has the hash of a leaf of the document, and says something else about it.", both);
  return [`The receipt is of ${lowered(nameOf(leaf))}, and the document has it: ${describeLeaf(leaf)}.`, both];
}

function missingLeaf(receipt, events, shown) {
  const [before, promised] = [events[receipt.seq - 1], events[receipt.seq - 1]];
  const isEvents = promised && same(receipt.prev, promised.prev);
  const isRefusals = before && same(receipt.prev, before.hash);
  if (isEvents) {
    throw new Problem(
      `The document has another event ${receipt.seq} than the one that the server gave a receipt for.`,
      [...shown, shownLeaf(promised, nameOf(promised))],
    );
  }
  const newest = events.at(-1);
  if (receipt.seq > newest.seq || (isRefusals && before === newest)) {
    return unproven(
      `The document ends at event ${newest.seq}, before the leaf of the receipt. Fetch it again: if the leaf is missing 60 seconds after ${toTime(receipt.at)}, the server has broken its promise.`,
      shown,
    );
  }
  throw new Problem(
    "The document lacks the leaf for which the server gave the receipt: it has another history.",
    [...shown, ...(promised ? [shownLeaf(promised, nameOf(promised))] : [])],
  );
}

function compareProof(receipt, { leaf, index }) {
  const shown = [...shownReceipt(receipt), shownLeaf(leaf, `Leaf ${index}`)];
  if (same(leaf.hash, receipt.hash)) {
    const right = receipt.at === leaf.at &&
      (leaf.kind !== "event" || (receipt.seq === leaf.seq && same(receipt.prev, leaf.prev)));
    require(right, "The receipt has the hash of the proven leaf, and says something else about it.", shown);
    return [`The promise was kept: the leaf of the receipt is leaf ${index} of the log.`, shown];
  }
  const other = leaf.kind === "event" && leaf.seq === receipt.seq && same(leaf.prev, receipt.prev);
  require(!other, `The log has another event ${leaf.seq} than the one that the server gave a receipt for.`, shown);
  return unproven("Receipt and proof are about two leaves of one match, so they say nothing about each other.", shown);
}

/** Find leaves of one place, or of one number in a match, that differ between files. */
async function compareLeaves(report, { documents, proofs }) {
  const [places, numbers] = [new Map(), new Map()];
  const all = [
    ...documents.flatMap((match) => match.leaves.map((leaf) => ({ ...leaf, origin: match.origin, file: match.name }))),
    ...proofs.map(({ leaf, index, origin, name }) => ({ ...leaf, index, origin, file: name })),
  ].filter(({ origin }) => origin !== null);
  let shared = 0;
  const compare = (known, key, leaf, what) => {
    const other = known.get(key);
    known.set(key, leaf);
    if (!other || other.file === leaf.file) return;
    shared += 1;
    require(same(other.hash, leaf.hash), `The files have two different ${what} of ${leaf.origin}.`, [
      shownLeaf(other, `In ${other.file}`),
      shownLeaf(leaf, `In ${leaf.file}`),
    ]);
  };
  let differ = false;
  const check = () => {
    for (const leaf of all) {
      compare(places, `${leaf.origin} ${leaf.index}`, leaf, `leaves ${leaf.index}`);
      if (leaf.kind === "event") {
        compare(numbers, `${leaf.origin} ${leaf.match} ${leaf.seq}`, leaf, `events ${leaf.seq} of match ${leaf.match}`);
      }
    }
  };
  try {
    check();
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    differ = true;
    report.add("leaves", FAILS, problem.message, problem.shown);
  }
  if (shared && !differ) report.add("leaves", HOLDS, "Where two files have the same leaf, they have the same bytes.");
}

async function compareCheckpoints(report, checkpoints) {
  const logs = new Map();
  for (const one of checkpoints) logs.set(one.origin, [...(logs.get(one.origin) ?? []), one]);
  for (const [origin, found] of logs) {
    if (found.length < 2) continue;
    const shown = found.map(({ file, text }) => ({ label: `In ${file}`, text }));
    const sizes = [...new Set(found.map(({ size }) => size))].sort((one, other) => one - other);
    const forked = found.find((one) =>
      found.some((other) => one.size === other.size && !same(one.root, other.root)),
    );
    if (forked) {
      report.add("checkpoints", FAILS, `The files have two checkpoints of ${origin} with ${plural(forked.size, "leaf", "leaves")} and different roots: somebody has shown two histories.`, shown);
    } else if (sizes.length > 1) {
      report.add("checkpoints", OPEN, `The checkpoints of ${origin} have ${sizes.join(" and ")} leaves. That one is the beginning of the other needs a consistency proof, which these files don't have: copy the log and use “matchpost verify --mirror”.`, shown);
    } else {
      report.add("checkpoints", HOLDS, `The checkpoints of ${origin} are the same in all files.`, shown);
    }
  }
}

/** Check that an imported match names the document from which it came. */
function checkSource(match, source, text) {
  const event = match.events?.find(({ tag }) => tag === "imported");
  require(event, "The file has a match from which this one was imported, and no event says so.");
  const { moves, source: [, origin, board, head, events, digest] } = event.body;
  const found = sha256(UTF8.encode(`${text}\n`));
  const inner = source.leaves
    .map(({ leaf }) => readLeaf(fromBase64(leaf, "A leaf of the match that was imported")))
    .filter(({ kind }) => kind === "event");
  const shown = [shownLeaf(event, nameOf(event)), { label: "SHA-256 of the inner document", bytes: found }];
  const named = origin === (source.log.origin ?? "") && board === source.board;
  require(named, "The event “imported” names another match than the one in the file.", shown);
  const right = inner.length === events && same(inner.at(-1).hash, head);
  require(right, "The match in the file has other events than the one that was imported.", shown);
  require(same(found, digest), "The document in the file is not the one that was imported: its SHA-256 is another.", shown);
  const taken = moves === foldEvents(inner).moves.join(" ");
  require(taken, "The event “imported” has other moves than the match from which it comes.", shown);
  return ["The event “imported” names just this document, by its SHA-256, and has its moves.", shown];
}
