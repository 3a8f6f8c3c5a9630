// Pages that are shown without a connection: home, and the matches that the account is playing. They are in one
// cache, whose name has the userid; as soon as an answer is somebody else's, or nobody's, it is deleted.

const KEPT = "kept "; // before the userid
const MOST_PARTS = 300;
const MOST_FILES = 40;
const LONGEST = 500_000; // characters of a page
const DAY = 86_400_000; // ms
const OLDEST = 14 * DAY; // as a session that is not used
const PATIENCE = 8000; // ms without an answer, after which a kept page is shown

const MATCH = /^\/m\/\d+$/;
/** The legal moves, positions that are looked at or tried, and pictures of boards. */
const PART = /^\/m\/\d+\/(moves|\d+\/if\/\w+|\d+\/board\.svg)$|^\/games\/\w+\/(board\.svg|pictures\/.*)$/;
const FILE = /^\/static\//;

let forgotten = 0; // how often all was deleted: an answer that was asked for before is not kept

const isPage = (path) => path === "/" || MATCH.test(path);
const isWhole = ({ url, status }) => status === 200 && isPage(pathOf(url)) && !new URL(url).search; // without a move filled in
const pathOf = (address) => new URL(address, self.location.origin).pathname;

/** Delete what is kept for anybody but this user, all of it for an empty name; return how many caches there were. */
async function forgetOthers(user) {
  const others = (await caches.keys()).filter((name) => name !== KEPT + user);
  forgotten += others.length;
  for (const name of others) await caches.delete(name);
  return others.length;
}

/** Return the cache of whoever has one; undefined if nothing is kept. */
async function present() {
  const name = (await caches.keys()).find((one) => one.startsWith(KEPT));
  return name && caches.open(name);
}

const found = (cache, path) => cache?.match(path, { ignoreVary: true });

/** Keep a page that was asked for when so often all had been deleted; `whole` also fetches what it would load later. */
async function keep(answer, since, whole = false) {
  const path = pathOf(answer.url);
  const text = await answer.text();
  const user = /<body data-user="([^"]*)"/.exec(text)?.[1];
  if (user === undefined || since !== forgotten) return;
  const before = forgotten + (await forgetOthers(user));
  if (!user) return;
  const cache = await caches.open(KEPT + user);
  if (text.length > LONGEST || (MATCH.test(path) && !/<div class="match[^>]* data-playing/.test(text))) {
    await cache.delete(path);
    return;
  }
  const seq = /data-seq="(\d+)"/.exec(text)?.[1] ?? 0;
  const headers = new Headers(answer.headers);
  for (const name of ["Content-Encoding", "Content-Length"]) headers.delete(name);
  headers.set("Kept", JSON.stringify({ at: Date.now(), seq: Number(seq), lang: /<html lang="([\w-]+)"/.exec(text)?.[1] }));
  await keepFiles(cache, text, whole);
  if (MATCH.test(path)) await keepMoves(cache, path, text, whole);
  await cache.put(path, new Response(text, { headers }));
  if (before !== forgotten) await caches.delete(KEPT + user); // somebody has logged out meanwhile
}

/** Keep the files that a page or a script names; `whole` also those that the page's script loads only later. */
async function keepFiles(cache, text, whole) {
  for (const file of new Set([...text.matchAll(/(?:src=|href=|import\()"(\/static\/[^"]+)"/g)].map(([, one]) => one))) {
    if (!(await found(cache, file))) await cache.add(file);
    if (whole && file.includes("/scripts.")) await keepFiles(cache, await (await found(cache, file)).text(), false);
  }
}

/** Keep the legal moves of a page's board, and none of another ply. */
async function keepMoves(cache, path, text, fetches) {
  const [, ply, source] = /data-ply="(\d+)" data-moves="([^"]*)"/.exec(text) ?? [];
  const isOf = async (answer) => String((await answer.json()).ply) === ply;
  const before = await found(cache, `${path}/moves`);
  if (before && source && (await isOf(before))) return;
  await cache.delete(`${path}/moves`);
  if (!source || !fetches) return;
  const answer = await fetch(source);
  if (answer.ok && (await isOf(answer.clone()))) await cache.put(source, answer);
}

/** Return the kept page of a path, which says from when it is; null without one. */
async function keptPage(path) {
  const page = await found(await present(), path);
  if (!page) return null;
  const { at } = JSON.parse(page.headers.get("Kept"));
  if (Date.now() - at > OLDEST) return null;
  const text = (await page.text()).replace("<body ", `<body data-kept="${at}" `);
  return new Response(text, { headers: page.headers });
}

/** Answer the request for a page: from the network, and without it as the page was kept. */
async function pageFor(event, path) {
  const since = forgotten;
  const asked = (async () => (await event.preloadResponse) ?? fetch(event.request))();
  try {
    const late = new Promise((_, fail) => { setTimeout(fail, PATIENCE); });
    const answer = await Promise.race([asked, late]);
    if (answer.status >= 502) throw new Error(answer.status); // of a proxy whose server is away
    if (isWhole(answer)) event.waitUntil(keep(answer.clone(), since));
    return answer;
  } catch {
    const page = isPage(path) && (await keptPage(path));
    if (page) return page;
    return asked.catch(async (error) => {
      const says = await keptPage("/offline");
      if (says) return says;
      throw error;
    });
  }
}

/** Answer a request that a script sends for a page, with which it brings its parts up to date. */
async function partsFor(event) {
  const since = forgotten;
  const answer = await fetch(event.request);
  if (answer.status === 401) event.waitUntil(forgetOthers(""));
  if (isWhole(answer)) event.waitUntil(keep(answer.clone(), since));
  return answer;
}

/** Answer the request for a part of a page, or for a file. */
async function partFor(event, path) {
  const since = forgotten;
  try {
    const answer = await fetch(event.request);
    const cache = await present();
    const wanted = !path.startsWith("/m/") || (await found(cache, /^\/m\/\d+/.exec(path)[0]));
    if (cache && wanted && answer.status === 200 && PART.test(path) && since === forgotten) {
      event.waitUntil(cache.put(event.request.url, answer.clone()));
    }
    return answer;
  } catch (error) {
    const before = await found(await present(), event.request.url);
    if (before) return before;
    throw error;
  }
}

/** Return who has logged in, with a token for forms and the matches to keep; null for a guest. */
async function whoAmI() {
  const answer = await fetch("/offline.json", { headers: { "HX-Request": "true" } });
  if (answer.status === 401) {
    await forgetOthers("");
    return null;
  }
  if (!answer.ok) throw new Error(answer.status);
  return answer.json();
}

let renewing = null;

/** Fetch the pages that are to be kept and have changed, one after the other; those of ended matches are deleted. */
function renew() {
  return (renewing ??= renewAll().catch(() => {}).finally(() => { renewing = null; }));
}

async function renewAll() {
  const me = await whoAmI();
  if (!me) return;
  const since = forgotten;
  const matches = me.matches.map(([board, seq]) => [`/m/${board}`, seq]);
  const wanted = new Map([["/", 0], ["/offline", 0], ...matches]);
  const cache = await caches.open(KEPT + me.user);
  for (const { url } of await cache.keys()) {
    const match = /^\/m\/\d+/.exec(pathOf(url))?.[0];
    if (match && !wanted.has(match)) await cache.delete(url);
  }
  for (const [path, seq] of wanted) {
    const stamp = JSON.parse((await found(cache, path))?.headers.get("Kept") ?? "{}");
    const fresh = stamp.lang === me.language && stamp.seq >= seq && Date.now() - stamp.at < DAY;
    if (since !== forgotten) return;
    if (fresh || (self.navigator.connection?.saveData && MATCH.test(path))) continue;
    // as a part of a page, because to show a chat marks it as read
    const answer = await fetch(path, { headers: { "HX-Request": "true" } });
    if (answer.status === 429 || answer.status >= 500) return;
    if (answer.status === 200 && !answer.redirected) await keep(answer, since, true);
  }
  await trim(cache, PART, MOST_PARTS);
  await trim(cache, FILE, MOST_FILES);
}

/** Delete all but the newest of a kind. */
async function trim(cache, kind, most) {
  const all = (await cache.keys()).filter(({ url }) => kind.test(pathOf(url)));
  for (const one of all.slice(0, -most)) await cache.delete(one);
}
