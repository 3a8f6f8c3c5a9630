// Moves that were made without a connection, one for each match. Each is sent as its form would have been, with its key
// and its ply: so twice it is once, and late it is refused.

const LEAVING = /^\/(logout|account\/(logout-everywhere|deletion))$/; // forms after which nothing is left here
const LATER = [202, 429, 502, 503, 504];

/** Do something with the stored moves; return what it got. */
function stored(mode, work) {
  return new Promise((done, fail) => {
    const asked = indexedDB.open("offline", 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore("moves", { keyPath: "board" });
    asked.onerror = () => fail(asked.error);
    asked.onsuccess = () => {
      const change = asked.result.transaction("moves", mode);
      const got = work(change.objectStore("moves"));
      change.oncomplete = () => { asked.result.close(); done(got.result); };
      change.onabort = () => { asked.result.close(); fail(change.error); };
    };
  });
}

const allMoves = () => stored("readonly", (moves) => moves.getAll());
const putMove = (move) => stored("readwrite", (moves) => moves.put(move));

/** Replace a move, unless it was withdrawn or another has taken its place. */
async function settled(move, changes) {
  await stored("readwrite", (moves) => {
    const asked = moves.get(move.board);
    asked.onsuccess = () => {
      if (asked.result?.key !== move.key || asked.result.move !== move.move) return;
      if (changes) moves.put({ ...move, ...changes });
      else moves.delete(move.board);
    };
    return asked;
  });
}

/** Show all pages the moves as they stand. */
async function announce() {
  const moves = await allMoves();
  for (const page of await self.clients.matchAll({ type: "window" })) page.postMessage({ moves });
}

/** Drop moves of others than this user; what is left says only that there was one, and its owner alone sees it. */
async function dropOthers(user) {
  for (const { board, user: owner, key } of await allMoves()) {
    if (owner !== user) await putMove({ board, user: owner, key, state: "dropped" });
  }
}

/** Delete all that is kept and stored, for somebody who logs out. */
async function leave() {
  forgotten += 1; // also what is on its way
  await forgetOthers("");
  await stored("readwrite", (moves) => moves.clear());
  await announce();
}

let sending = null;

/** Send the moves that wait; it fails if some are left that may be sent later. */
function send() {
  return (sending ??= sendAll().finally(() => { sending = null; }));
}

async function sendAll() {
  const waiting = async () => (await allMoves()).filter((one) => ["waiting", "login"].includes(one.state));
  try {
    for (const one of await waiting()) {
      const me = await whoAmI();
      if (!me) await settled(one, { state: "login" });
      else if (one.user !== me.user) await dropOthers(me.user);
      else await sendOne(one, me.csrf);
    }
  } finally {
    await announce();
  }
  if ((await waiting()).some((one) => one.state === "waiting")) throw new Error("some are left");
}

async function sendOne(one, csrf) {
  const since = forgotten;
  const { board, key, ply, after, move } = one;
  const answer = await fetch(`/m/${board}/act`, {
    method: "POST",
    body: new URLSearchParams({ csrf, key, do: "move", ply, after, move }),
    headers: { "HX-Request": "true" },
  });
  if (answer.status === 200) {
    await settled(one, null);
    await keep(answer, since, true);
  } else if (answer.status === 401) {
    await settled(one, { state: "login" });
  } else if (!LATER.includes(answer.status) && (await whoAmI())?.user === one.user) {
    // with another account the token of the form was wrong, and nothing is decided
    await settled(one, { state: "refused", said: await answer.text() });
  }
}

async function queue(move) {
  await putMove({ ...move, state: "waiting", at: Date.now() });
  await announce();
  await self.registration.sync?.register("moves").catch(() => {});
  await send();
}

async function withdraw(board) {
  await stored("readwrite", (moves) => moves.delete(board));
  await announce();
}
