// The form of a document of a match or a tournament: which fields it has, before anything is checked against anything.

const FORMAT = "matchpost-match/1";
const TOURNAMENT_FORMAT = "matchpost-tournament/1";
const MOST_IMPORTS = 16;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isExact = (value) => Number.isSafeInteger(value) && value >= 0;
const isAccount = (value) => isText(value) && /^[0-9a-f]{16}$/.test(value);
const orNull = (right) => (value) => value === null || right(value);

/** Return a test for objects that have these fields and no others. */
function fields(spec, optional = []) {
  return (value) =>
    isObject(value) &&
    Object.keys(value).every((name) => Object.hasOwn(spec, name)) &&
    Object.entries(spec).every(([name, right]) =>
      Object.hasOwn(value, name) ? right(value[name]) : optional.includes(name),
    );
}

/** The fields that both kinds of documents have. */
const RECORD = {
  format: isText,
  rules: isText,
  board: isExact,
  server: orNull(isText),
  leaves: listOf(fields({ index: isExact, leaf: isText, outcome: isText }, ["outcome"])),
  log: fields({
    shard: isExact,
    origin: orNull(isText),
    keys: listOf(isText),
    receipt_keys: listOf(isText),
    checkpoint: orNull(isText),
    proofs: listOf(fields({ index: isExact, hashes: listOf(isText) })),
  }),
  receipts: listOf(isText),
  statements: listOf(
    fields({ digest: isText, salt: isText, account: isAccount, at: isExact, text: isText }),
  ),
};

const isPlayer = fields({ account: isAccount, userid: orNull(isText) });

const FIELDS = {
  [FORMAT]: {
    ...RECORD,
    game: isText,
    players: isExact,
    options: listOf(isText),
    setup: () => true,
    moves: listOf(isText),
    seats: listOf(fields({ account: isAccount, userid: orNull(isText), side: isText })),
    result: orNull(fields({ winners: listOf(isExact), reason: isText })),
    anchor: orNull(
      fields({ chain: isExact, index: isExact, leaf: isText, proof: orNull(listOf(isText)) }),
    ),
    clock: listOf(isObject),
    imported_from: orNull(isObject),
  },
  [TOURNAMENT_FORMAT]: {
    ...RECORD,
    form: isText,
    phase: isText,
    organiser: isPlayer,
    players: listOf(isPlayer),
    matches: listOf(isObject),
    tables: listOf(isObject),
  },
};

/** Return the word for what a document is of. */
const subjectOf = ({ format }) => (format === TOURNAMENT_FORMAT ? "tournament" : "match");

/** Read a match document from its text. */
function readDocument(text) {
  let found = null;
  try {
    found = JSON.parse(text);
  } catch (error) {
    throw new Problem(`The file begins like a match document, but isn't JSON: ${error.message}.`);
  }
  return checkForm(found, 0);
}

function checkForm(found, depth) {
  require(isObject(found), "A match document is one JSON object.");
  const known = Object.hasOwn(FIELDS, found.format) && (depth === 0 || found.format === FORMAT);
  require(known, `The file is not of the format ${FORMAT}, which this page reads.`);
  const spec = FIELDS[found.format];
  for (const [name, right] of Object.entries(spec)) {
    const has = Object.hasOwn(found, name) && right(found[name]);
    require(has, `The field “${name}” of the document is missing, or isn't what it should be.`);
  }
  const other = Object.keys(found).find((name) => !Object.hasOwn(spec, name));
  require(other === undefined, `The document has a field “${other}”, which nobody would check.`);
  require(depth <= MOST_IMPORTS, "Too many match documents are in each other.");
  if (found.imported_from) checkForm(found.imported_from, depth + 1);
  return found;
}

/** Return the text of the document in a document's field `imported_from`, as it was written. */
function innerText(text) {
  // names within strings have escaped quotation marks, so the first at this depth is the field
  let [depth, at] = [0, 0];
  const strings = /"(?:[^"\\]|\\.)*"|[{}[\]]/gs;
  for (let found; (found = strings.exec(text)); ) {
    if ("{[".includes(found[0])) depth += 1;
    else if ("}]".includes(found[0])) depth -= 1;
    else if (depth === 1 && found[0] === '"imported_from"') at = strings.lastIndex;
  }
  const start = text.indexOf("{", at);
  return text.slice(start, text.lastIndexOf("}")).trimEnd();
}
