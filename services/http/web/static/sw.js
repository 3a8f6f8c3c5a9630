// The service worker: answers pages when there is no connection, keeps moves until there is one, shows notifications
// that the server pushes. `sw_pages.js` and `sw_moves.js` stand before it in the file that browsers get.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(begun()));

async function begun() {
  // the browser asks for a page while this starts, and in its own way
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  const scripted = request.headers.get("HX-Request") === "true";
  if (request.method === "POST") {
    if (LEAVING.test(pathname)) event.waitUntil(leave());
    else if (scripted && /^\/m\/\d+\/act$/.test(pathname)) event.respondWith(partsFor(event));
  } else if (request.method === "GET") {
    if (request.mode === "navigate") event.respondWith(pageFor(event, pathname));
    else if (scripted && isPage(pathname)) event.respondWith(partsFor(event));
    else if (PART.test(pathname) || FILE.test(pathname)) event.respondWith(partFor(event, pathname));
  }
});

self.addEventListener("sync", (event) => event.waitUntil(send()));

self.addEventListener("message", (event) => event.waitUntil(heard(event.data)));

/** Do what a page asks for; `seen` is the user of one that came from the server, empty for a guest. */
async function heard({ seen, renews, queued, withdrawn }) {
  if (seen !== undefined) {
    await self.clients.claim(); // a page that was loaded past this worker
    await forgetOthers(seen);
    if (seen) await dropOthers(seen);
  }
  if (queued) await queue(queued).catch(() => {});
  else if (withdrawn) await withdraw(withdrawn);
  else await send().catch(() => {});
  if (renews) await renew();
}

self.addEventListener("push", (event) => event.waitUntil(Promise.all([shown(event.data.json()), again()])));

/** Bring up to date what is kept, because something has happened. */
async function again() {
  if (await present()) await renew();
}

/** Show a notification, unless somebody looks at its page already. */
async function shown(news) {
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const path = new URL(news.path, self.location.origin).pathname;
  if (pages.some((page) => page.visibilityState === "visible" && new URL(page.url).pathname === path)) return;
  await self.registration.showNotification(news.title, {
    body: news.body,
    tag: news.tag,
    renotify: true,
    lang: news.lang,
    icon: "/icon-192.png",
    data: { path: news.path },
  });
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(opened(event.notification.data.path));
});

/** Go to a page: in a tab that shows it, or in a new one. */
async function opened(path) {
  const wanted = new URL(path, self.location.origin);
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = pages.find((page) => new URL(page.url).pathname === wanted.pathname);
  await (there ? there.focus() : self.clients.openWindow(wanted.href));
}
