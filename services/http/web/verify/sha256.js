// SHA-256 (FIPS 180-4). It is here, and not taken from WebCrypto, because browsers hide WebCrypto from pages
// that come without TLS, and because the seeds of a draw take up to 65,536 hashes, one after another.

const ROUNDS = (() => {
  const fraction = (root) => Math.floor((root - Math.floor(root)) * 2 ** 32);
  const primes = [];
  for (let n = 2; primes.length < 64; n++) {
    if (primes.every((prime) => n % prime)) primes.push(n);
  }
  return {
    start: primes.slice(0, 8).map((prime) => fraction(prime ** (1 / 2))),
    constants: Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  };
})();

function sha256(bytes) {
  const blocks = ((bytes.length + 8) >>> 6) + 1;
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = Uint32Array.from(ROUNDS.start);
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let n = 0; n < 16; n++) words[n] = view.getUint32(at + 4 * n);
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, n) => digest.setUint32(4 * n, word));
  return new Uint8Array(digest.buffer);
}

function compress(state, words) {
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  for (let n = 16; n < 64; n++) {
    const [early, late] = [words[n - 15], words[n - 2]];
    words[n] =
      words[n - 16] + words[n - 7] +
      (turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)) +
      (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10));
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let n = 0; n < 64; n++) {
    const one =
      (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) +
        ROUNDS.constants[n] + words[n]) | 0;
    const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, n) => (state[n] += word));
}
