// The Merkle tree of a log: RFC 6962 hashes, and inclusion as in RFC 9162, 2.1.3.2.

const HASH_SIZE = 32;

const leafHash = (leaf) => sha256(joined([0], leaf));
const nodeHash = (left, right) => sha256(joined([1], left, right));

/** Check that the leaf with this hash has that index in the tree of this size and root. */
function checkInclusion(hash, index, size, path, root) {
  require(index < size, `The log has ${size} leaves, so it has no leaf ${index}.`);
  for (const one of [hash, root, ...path]) {
    require(one.length === HASH_SIZE, `A hash has 32 bytes, and here is one with ${one.length}.`);
  }
  // BigInt, because sizes may have 64 bits
  let [place, last, found] = [BigInt(index), BigInt(size) - 1n, hash];
  for (const one of path) {
    require(last > 0n, `The path of leaf ${index} has too many hashes.`);
    if (place % 2n || place === last) {
      found = nodeHash(one, found);
      while (place && place % 2n === 0n) [place, last] = [place / 2n, last / 2n];
    } else {
      found = nodeHash(found, one);
    }
    [place, last] = [place / 2n, last / 2n];
  }
  require(last === 0n, `The path of leaf ${index} has too few hashes.`);
  require(same(found, root), `The path of leaf ${index} does not lead to the root of the checkpoint.`, [
    { label: "The path leads to", bytes: found },
    { label: "The root of the checkpoint", bytes: root },
  ]);
}
