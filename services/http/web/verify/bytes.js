// Bytes and the texts that stand for them. Each reader refuses what it would not write itself.

/** What is wrong with a file, as a sentence for the reader; `shown` are the bytes behind it. */
class Problem extends Error {
  constructor(sentence, shown = []) {
    super(sentence);
    this.shown = shown;
  }
}

const UTF8 = new TextEncoder();

function require(condition, sentence, shown) {
  if (!condition) throw new Problem(sentence, shown);
}

function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text, what) {
  const right = typeof text === "string" && /^([0-9a-f]{2})*$/.test(text);
  require(right, `${what} is not written in hexadecimal digits.`);
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function toBase64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Return the bytes of a base64 text; one text has one form, so stray bits at the end are refused. */
function fromBase64(text, what) {
  let bytes = null;
  try {
    bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    // refused below
  }
  const right = typeof text === "string" && bytes && toBase64(bytes) === text;
  require(right, `${what} is not written in base64.`);
  return bytes;
}

function toText(bytes, what) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Problem(`${what} is not text in UTF-8.`);
  }
}

function toNumber(text, what) {
  require(/^(0|[1-9][0-9]{0,15})$/.test(text ?? ""), `${what} is not a plain decimal number.`);
  return Number(text);
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function same(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** Whether two values of JSON are the same; the order of an object's names says nothing. */
function sameJson(one, other) {
  if (one === other) return true;
  if (!one || !other || typeof one !== "object" || typeof other !== "object") return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}

/** Return a time in ms since 1970 as words; null if no calendar has it. */
function toTime(ms) {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return `${ms} ms since 1970`;
  return `${date.toISOString().replace("T", " ").replace("Z", "")} UTC`;
}
