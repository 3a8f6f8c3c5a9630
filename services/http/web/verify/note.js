// Signed notes (C2SP signed-note), checkpoints, receipts and proof files.

const [ED25519, COSIGNATURE] = [1, 4];

/** Read a verifier key, `name+id+base64`. */
function readKey(text) {
  const [name = "", id = "", data = ""] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(text)?.slice(1) ?? [];
  const material = fromBase64(data, `The key “${text}”`);
  const right = [ED25519, COSIGNATURE].includes(material[0]) && material.length === 33;
  require(right && name && !/\s/.test(name), `“${text}” isn't a key: it should be name+id+base64.`);
  const key = makeKey(name, material, text);
  require(toHex(key.id) === id, `The id of the key “${name}” does not fit the key.`, [
    { label: "The id that is written", text: id },
    { label: "SHA-256 of name, type and key begins with", bytes: key.id },
  ]);
  return key;
}

const makeKey = (name, material, text) => ({
  name,
  type: material[0],
  data: material.slice(1),
  id: sha256(joined(UTF8.encode(`${name}\n`), material)).slice(0, 4),
  text,
});

/** Return the keys of this name; a key `host/log` stands for the keys of all shards, `host/log/s07`. */
function keysNamed(keys, name) {
  const common = /^[^/]*\/log(?=\/)/.exec(name)?.[0];
  return keys
    .filter((key) => key.type === ED25519 && [name, common].includes(key.name))
    .map((key) => makeKey(name, joined([key.type], key.data), key.text));
}

/** Return a note's text and its signatures, which are not checked yet. */
function readNote(note) {
  const gap = note.lastIndexOf("\n\n");
  require(gap >= 0 && note.endsWith("\n"), "A signed note is a text, an empty line and signatures.");
  const text = note.slice(0, gap + 1);
  require(!/[\x00-\x09\x0b-\x1f]/.test(text), "A signed note has no control characters.");
  const lines = note.slice(gap + 2, -1).split("\n");
  require(lines.length <= 64, "A signed note has at most 64 signatures.");
  const signatures = lines.map((line) => {
    const [, name, data] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
    require(name && !name.includes("+"), `“${line}” is no line with a signature.`);
    const bytes = fromBase64(data, "A signature");
    require(bytes.length > 4, "A signature is shorter than the id of its key.");
    return { name, id: bytes.slice(0, 4), bytes: bytes.slice(4), line };
  });
  return { note, text, lines: text.slice(0, -1).split("\n"), signatures };
}

/** Read a checkpoint: the name of a log, its size, and its root. */
function readCheckpoint(text) {
  const note = readNote(text);
  const [origin, size, root] = note.lines;
  require(note.lines.length >= 3 && note.lines.every(Boolean), "A checkpoint has three lines or more.");
  const found = { ...note, origin, size: toNumber(size, "The size of the log") };
  found.root = fromBase64(root, "The root of the log");
  require(found.root.length === HASH_SIZE, "The root of the log does not have 32 bytes.");
  found.rows = [["log", origin], ["leaves", size], ["root", toHex(found.root)]];
  return found;
}

/** Read a receipt: the six lines by which a server promises that a leaf is in its log. */
function readReceipt(text) {
  const note = readNote(text);
  const [first, board, seq, hash, prev, at] = note.lines;
  require(note.lines.length === 6, `A receipt has six lines of text, and this one ${note.lines.length}.`);
  require(first.endsWith("/receipt"), "The first line of a receipt ends in /receipt.");
  const found = {
    ...note,
    origin: first.slice(0, -"/receipt".length),
    board: toNumber(board, "The number of the match"),
    seq: toNumber(seq, "The number of the event"),
    hash: fromBase64(hash, "The hash of the leaf"),
    prev: fromBase64(prev, "The hash of the event before"),
    at: toNumber(at, "The time of the receipt"),
  };
  const right = found.hash.length === HASH_SIZE && found.prev.length === HASH_SIZE;
  require(right, "A hash in a receipt does not have 32 bytes.");
  found.rows = [
    ["log", found.origin],
    ["match", board],
    ["event", `${seq} (of a refusal: the last event before it)`],
    ["leaf hash", toHex(found.hash)],
    ["hash before", toHex(found.prev)],
    ["time", `${at}, ${toTime(found.at)}`],
  ];
  return found;
}

/** Read a proof file (C2SP tlog-proof). */
function readProof(text) {
  const gap = text.indexOf("\n\n");
  const [header, ...lines] = text.slice(0, Math.max(0, gap)).split("\n");
  require(header === PROOF_HEADER, `A proof begins with ${PROOF_HEADER} and has an empty line in it.`);
  let leaf = null;
  if (lines[0]?.startsWith("extra ")) {
    leaf = fromBase64(lines.shift().slice("extra ".length), "The leaf in the line “extra”");
    require(leaf.length, "The line “extra” is empty.");
  }
  require(lines[0]?.startsWith("index "), "The proof does not say which leaf it is about.");
  const index = toNumber(lines.shift().slice("index ".length), "The index of the leaf");
  require(lines.length <= 63, "A proof has at most 63 hashes.");
  const path = lines.map((line) => readHash(line));
  return { index, leaf, path, checkpoint: readCheckpoint(text.slice(gap + 2)) };
}

const PROOF_HEADER = "c2sp.org/tlog-proof@v1";

function readHash(text) {
  const hash = fromBase64(text, "A hash of the proof");
  require(hash.length === HASH_SIZE, `A hash has 32 bytes, and here is one with ${hash.length}.`);
  return hash;
}

/** Whether this browser can check Ed25519 signatures. */
const canVerify = (async () => {
  try {
    await globalThis.crypto.subtle.importKey("raw", new Uint8Array(32), "Ed25519", true, ["verify"]);
    return true;
  } catch {
    return false;
  }
})();

async function signatureHolds(key, text, bytes) {
  let message = UTF8.encode(text);
  if (key.type === COSIGNATURE) {
    if (bytes.length < 8) return false;
    message = joined(UTF8.encode(`cosignature/v1\ntime ${timeOf(bytes)}\n`), message);
    bytes = bytes.slice(8);
  }
  const { subtle } = globalThis.crypto;
  try {
    const imported = await subtle.importKey("raw", key.data, "Ed25519", true, ["verify"]);
    return await subtle.verify("Ed25519", imported, bytes, message);
  } catch {
    return false; // the key is no point of the curve
  }
}

/** Return the time of a cosignature in s since 1970. */
const timeOf = (bytes) => new DataView(bytes.slice(0, 8).buffer).getBigUint64(0);

const keyOf = (keys, signature) =>
  keys.find((key) => key.name === signature.name && same(key.id, signature.id));
