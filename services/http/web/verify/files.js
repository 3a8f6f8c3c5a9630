// Files of every kind, each alone and then against the others.

const BIGGEST = 64 * 2 ** 20;

/** Return the kind of a file by its beginning: document, proof, receipt, checkpoint or keys. */
function kindOf(text) {
  if (/^\s*\{/.test(text)) return "document";
  if (text.startsWith(PROOF_HEADER)) return "proof";
  const [first, ...lines] = text.split("\n");
  if (/^\S+\+[0-9a-f]{8}\+\S+\s*$/.test(first)) return "keys";
  if (first.endsWith("/receipt")) return "receipt";
  if (/^[0-9]+$/.test(lines[0] ?? "") && text.includes("\n\n— ")) return "checkpoint";
  throw new Problem("This isn't a receipt, proof, checkpoint or match document.");
}

/** Check files, as `{ name, bytes }`, with the keys that were entered; `progress` may wait. */
async function checkFiles(files, entered, progress = async () => {}) {
  const report = new Report();
  const keys = { entered, own: [], used: [] };
  const found = { documents: [], proofs: [], receipts: [], checkpoints: [] };
  const opened = [];
  for (const file of files) opened.push(await openFile(file, keys));
  for (const file of opened) {
    report.begin(file.name, file.about);
    await report.step("file", () => {
      if (file.problem) throw file.problem;
      return file.sentence;
    });
    if (!file.problem) await CHECKS[file.kind](report, file, keys, found, progress);
  }
  await checkTogether(report, found);
  addKeys(report, keys);
  return report;
}

async function openFile({ name, bytes }, keys) {
  const file = { name, about: "" };
  try {
    require(bytes.length <= BIGGEST, "The file is larger than 64 MiB, and this page does not read it.");
    file.text = toText(bytes, "The file");
    file.kind = kindOf(file.text);
    OPENERS[file.kind](file, keys);
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    file.problem = problem;
  }
  return file;
}

const OPENERS = {
  document(file, keys) {
    file.found = readDocument(file.text);
    const { game, form, board, server } = file.found;
    const subject = subjectOf(file.found);
    file.about = `${subject === "match" ? "Match" : "Tournament"} document: ${game ?? form}, ${subject} ${board}${server ? ` on ${server}` : ""}`;
    file.sentence = `The file is a ${subject} document of ${subject} ${board}.`;
    for (let one = file.found; one; one = one.imported_from) {
      for (const text of [...one.log.keys, ...one.log.receipt_keys]) keys.own.push(readKey(text));
    }
  },
  proof(file) {
    file.found = readProof(file.text);
    file.about = `Proof: leaf ${file.found.index} of ${file.found.checkpoint.origin}`;
    file.sentence = `The file is a proof about leaf ${file.found.index} of the log ${file.found.checkpoint.origin}.`;
  },
  receipt(file) {
    file.found = readReceipt(file.text);
    const { board, origin } = file.found;
    file.about = `Receipt: match ${board}, log ${origin}`;
    file.sentence = `The file is a receipt: ${origin} promises that its log has a leaf of match ${board}, or has it 60 seconds later.`;
  },
  checkpoint(file) {
    file.found = readCheckpoint(file.text);
    file.about = `Checkpoint: ${file.found.origin}`;
    file.sentence = `The file is a checkpoint of the log ${file.found.origin} with ${plural(file.found.size, "leaf", "leaves")}.`;
  },
  keys(file, keys) {
    const lines = file.text.split("\n").filter((line) => line.trim());
    keys.entered.push(...lines.map((line) => readKey(line.trim())));
    file.about = "Keys";
    file.sentence = `The file has ${plural(lines.length, "key")}, and the other files are checked with ${lines.length === 1 ? "it" : "them"}.`;
  },
};

const CHECKS = {
  async document(report, file, keys, found, progress) {
    let [document, text] = [file.found, file.text];
    for (;;) {
      const match = await checkDocument(report, document, text, keys, progress);
      found.documents.push({ ...match, name: file.name });
      if (match.checkpoint) found.checkpoints.push({ ...match.checkpoint, file: file.name });
      if (!document.imported_from) {
        addMissingSource(report, match);
        return;
      }
      text = innerText(text);
      await report.step("source", () => checkSource(match, document.imported_from, text));
      document = document.imported_from;
      report.begin(file.name, `The match from which it was imported: match ${document.board} on ${document.server}`);
    }
  },

  async proof(report, { found: proof, name }, keys, found) {
    const { checkpoint } = proof;
    found.checkpoints.push({ ...checkpoint, file: name });
    await checkSignature(report, checkpoint, checkpoint.origin, "The checkpoint", keys);
    if (!proof.leaf) {
      report.add("leaf", OPEN, `The proof does not have the bytes of leaf ${proof.index}, so it is not proven which leaf that is.`);
      return;
    }
    let leaf = null;
    const block = { label: `Leaf ${proof.index}: its hash, and the path`, hashes: [leafHash(proof.leaf), ...proof.path] };
    await report.step("leaf", () => {
      leaf = readLeaf(proof.leaf);
      return [`The leaf is ${describeLeaf(leaf)}.`, [shownLeaf(leaf, `Leaf ${proof.index}`)]];
    });
    await report.step("inclusion", () => {
      try {
        checkInclusion(leafHash(proof.leaf), proof.index, checkpoint.size, proof.path, checkpoint.root);
      } catch (problem) {
        throw new Problem(problem.message, [block, ...problem.shown]);
      }
      return [
        `It leads by ${plural(proof.path.length, "hash", "hashes")} to the root of the checkpoint, so the log has it as leaf ${proof.index} of ${checkpoint.size}.`,
        [block, { label: "The root of the checkpoint", bytes: checkpoint.root }],
      ];
    });
    if (leaf) found.proofs.push({ ...proof, name, leaf, origin: checkpoint.origin });
  },

  async receipt(report, { found: receipt, name }, keys, found) {
    await checkSignature(report, receipt, `${receipt.origin}/receipts`, "The receipt", keys);
    found.receipts.push({ ...receipt, name });
  },

  async checkpoint(report, { found: checkpoint, name }, keys, found) {
    found.checkpoints.push({ ...checkpoint, file: name });
    await checkSignature(report, checkpoint, checkpoint.origin, "The checkpoint", keys);
  },

  async keys() {},
};

/** Say of a match that was imported, and comes without its source, that its beginning is not proven. */
function addMissingSource(report, { events = [] }) {
  const event = events.find(({ tag }) => tag === "imported");
  if (!event) return;
  const shown = [shownLeaf(event, nameOf(event))];
  if (event.body.source[0] === "document") {
    report.add("source", FAILS, "The match was imported from a document, and the file lacks that document.", shown);
  } else {
    report.add("source", OPEN, "The match was imported from a bare list of moves, so nothing proves that these moves were played.", shown);
  }
}

/** Say whether the keys prove anything: those that come with the files are of the same maker. */
function addKeys(report, { used }) {
  const names = [...new Set(used.filter((key) => key.own).map((key) => key.name))];
  if (!names.length) return;
  report.begin("The keys");
  const shown = used.filter((key) => key.own).map((key) => ({ label: key.name, text: key.text }));
  report.add(
    "keys", OPEN,
    "The keys came with the files, so the maker of the files may have made the keys, too. Enter keys that you have from elsewhere: from the server's page of keys, from earlier mail, from the other player.",
    [...new Map(shown.map((block) => [block.text, block])).values()],
  );
}
