// The seed of a match's draw: fixed in the log before the match, and back to the anchor of its chain.

const LABEL = UTF8.encode("matchpost-seed-v1\0chain\0");
const CHAIN_LENGTH = 65_536;
const HASHES_AT_ONCE = 4_096;

const STARTS = ["match-started", "match-proposed", "match-paired"];
const COMMITTING = ["called", "deal-proposed"];

/** Return the kind of a match's deal, by its events before the start. */
function dealKind([first, ...events], start) {
  if (first.tag === "challenged") return "in-turn";
  if (!COMMITTING.includes(first.tag)) return "alone";
  const waits = events.find(({ tag }) => tag === "sealed")?.body.waits ?? [];
  if (first.body.server_deals || !waits.length) return "by-server";
  const revealed = events.filter(({ tag, seq }) => tag === "revealed" && seq < start.seq).map(({ body }) => body.seat);
  return waits.every((seat) => revealed.includes(seat)) ? "sealed" : "agreed";
}

/** Return a clause on the kind of a deal, and on the players whose texts the server kept. */
function describeDeal(events, start) {
  const kind = dealKind(events, start);
  const kept = events.filter(({ tag, actor }) => tag === "revealed" && actor.every((byte) => byte === 0));
  const seats = kept.map(({ body }) => body.seat + 1).join(" and ");
  if (kind === "by-server" || !kept.length) return DEALS[kind];
  return `${DEALS[kind]}, and the server kept the text of seat${kept.length > 1 ? "s" : ""} ${seats}`;
}

async function checkDraw(report, match, progress) {
  const { events, document } = match;
  const start = events.find(({ tag, body }) => [...STARTS, "lots-drawn"].includes(tag) && body.draw);
  if (!start) return;
  const [chain, k, seed, texts] = start.body.draw;
  const sealed = events.find(({ tag }) => tag === "sealed");
  if (texts.length > 1) report.add("deal", HOLDS, `The deal: ${describeDeal(events, start)}.`);
  if (COMMITTING.includes(events[0].tag)) {
    await report.step("commitments", () => checkCommitments(events, sealed, start));
  }
  if (document.anchor === null) {
    report.add("anchor", OPEN, "The file lacks the anchor of the seeds, so it is not proven that the seed was fixed before.");
    return;
  }
  const { anchor } = document;
  let leaf = null;
  await report.step("seed", async () => {
    leaf = readLeaf(fromBase64(anchor.leaf, "The anchor"));
    const shown = [shownLeaf(start, nameOf(start)), shownLeaf(leaf, `The anchor, leaf ${anchor.index}`)];
    require(leaf.kind === "anchor", "The anchor is another leaf.", shown);
    const right = leaf.chain === chain && anchor.chain === chain && leaf.shard === document.log.shard;
    require(right, "The anchor is that of another chain of seeds.", shown);
    require(k >= 1 && k <= CHAIN_LENGTH, `No chain has a seed ${k}.`, shown);
    const found = await hashBack(seed, k, progress);
    require(same(found, leaf.anchor), "The seed of the deal does not lead back to the anchor.", [
      ...shown,
      { label: `The seed, hashed ${plural(k, "time")}`, bytes: found },
    ]);
    const drawn = sealed ?? start;
    const before = anchor.index < drawn.index;
    require(before, `The anchor is leaf ${anchor.index}, which comes after the deal in leaf ${drawn.index}.`, shown);
    return [
      `The seed of the deal, hashed ${plural(k, "time")}, is the anchor in leaf ${anchor.index}, before the deal: it could not be chosen later.`,
      shown,
    ];
  });
  if (leaf) await report.step("anchor", () => checkAnchor(match, leaf));
}

/** Return a seed's hash of its hash and so on, `times` times, without stopping the page. */
async function hashBack(seed, times, progress) {
  let found = seed;
  for (let n = 0; n < times; n++) {
    if (n % HASHES_AT_ONCE === 0) await progress("Hashes from the seed of the deal to its anchor", n, times);
    found = sha256(joined(LABEL, found));
  }
  return found;
}

function checkAnchor({ document: { anchor }, checkpoint }, leaf) {
  const shown = [shownLeaf(leaf, `Leaf ${anchor.index}`)];
  if (!checkpoint || anchor.proof === null) {
    return unproven("The file does not prove that the log has the anchor of the seeds.", shown);
  }
  const path = anchor.proof.map(readHash);
  const block = { label: "Its hash, and the path", hashes: [leaf.hash, ...path] };
  try {
    checkInclusion(leaf.hash, anchor.index, checkpoint.size, path, checkpoint.root);
  } catch (problem) {
    throw new Problem(`Of the anchor of the seeds: ${problem.message}`, [...shown, block, ...problem.shown]);
  }
  return ["The anchor leads by hashes to the root of the checkpoint, so the log has it.", [...shown, block]];
}

/** Check that the draw uses the texts that the players committed to, and the seed that was fixed then. */
function checkCommitments(events, sealed, start) {
  const [chain, k, , texts] = start.body.draw;
  const committed = events[0].body.commitments.map(([digest]) => digest);
  for (const { tag, body } of events) {
    if (tag === "committed") committed[body.seat] = body.commitment[0];
  }
  const revealed = [];
  for (const event of events.filter(({ tag }) => tag === "revealed")) {
    const { seat, text } = event.body;
    const right = committed[seat] && same(sha256(text), committed[seat]);
    require(right, `The text of seat ${seat + 1} is not the one that the player committed to.`, [
      shownLeaf(event, nameOf(event)),
      { label: "SHA-256 of the text", bytes: sha256(text) },
    ]);
    revealed[seat] = text;
  }
  const consent = events.find(({ seq }) => seq === start.seq - 1);
  const agreed = consent?.tag === "answered" && consent.body.kind === "deal" && consent.body.accept;
  const isUsed = (text, seat) => (revealed[seat] ? same(text, revealed[seat]) : agreed && !text.length);
  const used = texts.length === committed.length && texts.every(isUsed);
  require(used, "The deal uses other texts than the players revealed.", [shownLeaf(start, nameOf(start))]);
  const fixed = sealed && sealed.body.chain === chain && sealed.body.k === k && sealed.seq < start.seq;
  require(fixed, "The deal uses another seed than the one that was fixed before.", [shownLeaf(start, nameOf(start))]);
  const without = agreed ? " Those that were not revealed count as empty, because all players agreed to that." : "";
  return `All players committed to their texts before the seed was fixed, and the deal uses these texts and this seed.${without}`;
}
