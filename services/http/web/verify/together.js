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
  const related = proofs.filter((proof) => isAboutLeaf(receipt, proof));
  for (const match of matches) await report.step("receipt", () => compareReceipt(receipt, match));
  for (const proof of related) await report.step("receipt", () => compareProof(receipt, proof));
  if (matches.length + related.length === 0) {
    report.add(
      "receipt", OPEN,
      "A receipt is a promise and no proof: drop the match document or the proof of its leaf beside it, and this page compares them.",
      shownReceipt(receipt),
    );
  }
}

/** Whether a proof has the leaf of a receipt, or another leaf in its place. */
function isAboutLeaf(receipt, { origin, leaf }) {
  if (origin !== receipt.origin || leaf.match !== receipt.board) return false;
  return same(leaf.hash, receipt.hash) || (leaf.seq === receipt.seq && same(leaf.prev, receipt.prev));
}

const isOfMatch = (receipt, match) => receipt.origin === match.origin && receipt.board === match.board;

const shownReceipt = (receipt) => [{ label: "The receipt", rows: receipt.rows }];

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
  // an event's receipt has the number of the event, and a refusal's that of the last event before it
  const event = events[receipt.seq - 1];
  if (event && same(receipt.prev, event.prev)) {
    throw new Problem(
      `The document has another event ${receipt.seq} than the one that the server gave a receipt for.`,
      [...shown, shownLeaf(event, nameOf(event))],
    );
  }
  const newest = events.at(-1);
  const isLater = receipt.seq > newest.seq || (event === newest && same(receipt.prev, event.hash));
  if (isLater) {
    return unproven(
      `The document ends at event ${newest.seq}, before the leaf of the receipt. Fetch it again: if the leaf is missing 60 seconds after ${toTime(receipt.at)}, the server has broken its promise.`,
      shown,
    );
  }
  throw new Problem(
    "The document lacks the leaf for which the server gave the receipt: it has another history.",
    [...shown, ...(event ? [shownLeaf(event, nameOf(event))] : [])],
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
  throw new Problem(`The log has another event ${leaf.seq} than the one that the server gave a receipt for.`, shown);
}

/** Find leaves of one place, or of one number in a match, that differ between files. */
async function compareLeaves(report, { documents, proofs }) {
  const [places, numbers] = [new Map(), new Map()];
  const all = [
    ...documents.flatMap((match) => match.leaves.map((leaf) => ({ ...leaf, origin: match.origin, file: match.name }))),
    ...proofs.map(({ leaf, index, origin, name }) => ({ ...leaf, index, origin, file: name })),
  ].filter(({ origin }) => origin !== null);
  let [shared, differing] = [0, null];
  const compare = (known, key, leaf, what) => {
    const other = known.get(key);
    known.set(key, leaf);
    if (!other || other.file === leaf.file) return;
    shared += 1;
    if (!same(other.hash, leaf.hash)) differing ??= { other, leaf, what };
  };
  for (const leaf of all) {
    const { origin, index, match, seq } = leaf;
    compare(places, `${origin} ${index}`, leaf, `leaves ${index}`);
    if (leaf.kind === "event") compare(numbers, `${origin} ${match} ${seq}`, leaf, `events ${seq} of match ${match}`);
  }
  if (!shared) return;
  await report.step("leaves", () => {
    if (!differing) return "Where two files have the same leaf, they have the same bytes.";
    const { other, leaf, what } = differing;
    throw new Problem(`The files have two different ${what} of ${leaf.origin}.`, [
      shownLeaf(other, `In ${other.file}`),
      shownLeaf(leaf, `In ${leaf.file}`),
    ]);
  });
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
