// MessagePack, as far as leaves use it. Each value knows its place, so that its bytes can be shown.

const DEEPEST = 12;

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  take(size) {
    require(this.at + size <= this.bytes.length, "The leaf ends in the middle of a value.");
    this.at += size;
    return this.at - size;
  }

  unsigned(size) {
    const at = this.take(size);
    if (size < 8) return this.view[`getUint${8 * size}`](at);
    return this.exact(this.view.getBigUint64(at));
  }

  signed(size) {
    const at = this.take(size);
    if (size < 8) return this.view[`getInt${8 * size}`](at);
    return this.exact(this.view.getBigInt64(at));
  }

  exact(number) {
    const found = Number(number);
    require(Number.isSafeInteger(found), "A number in the leaf is too large for this page.");
    return found;
  }

  /** Read one value: `value`, its bytes from `start` to `end`, and for an array its `items`. */
  read(depth = 0) {
    require(depth < DEEPEST, "The leaf has too many arrays in arrays.");
    const start = this.at;
    const found = this.readAny(depth);
    return { ...found, start, end: this.at };
  }

  readAny(depth) {
    const first = this.unsigned(1);
    if (first < 0x80) return { value: first };
    if (first >= 0xe0) return { value: first - 0x100 };
    if (first >= 0x90 && first < 0xa0) return this.array(first - 0x90, depth);
    if (first >= 0xa0 && first < 0xc0) return this.text(first - 0xa0);
    switch (first) {
      case 0xc0: return { value: null };
      case 0xc2: return { value: false };
      case 0xc3: return { value: true };
      case 0xc4: case 0xc5: case 0xc6: return { value: this.slice(this.unsigned(1 << (first - 0xc4))) };
      case 0xcc: case 0xcd: case 0xce: case 0xcf: return { value: this.unsigned(1 << (first - 0xcc)) };
      case 0xd0: case 0xd1: case 0xd2: case 0xd3: return { value: this.signed(1 << (first - 0xd0)) };
      case 0xd9: case 0xda: case 0xdb: return this.text(this.unsigned(1 << (first - 0xd9)));
      case 0xdc: case 0xdd: return this.array(this.unsigned(first === 0xdc ? 2 : 4), depth);
    }
    throw new Problem(`The leaf has a value of a kind that no leaf has (0x${first.toString(16)}).`);
  }

  slice(size) {
    const at = this.take(size);
    return this.bytes.slice(at, at + size);
  }

  text(size) {
    return { value: toText(this.slice(size), "A text in the leaf") };
  }

  array(size, depth) {
    // a leaf of n bytes has fewer than n values
    require(size <= this.bytes.length, "The leaf ends in the middle of a value.");
    const items = [];
    for (let n = 0; n < size; n++) items.push(this.read(depth + 1));
    return { value: items.map((item) => item.value), items };
  }
}

/** Return the one value that these bytes are. */
function readValue(bytes) {
  const reader = new Reader(bytes);
  const found = reader.read();
  require(reader.at === bytes.length, "The leaf has bytes after its end.");
  return found;
}
