// Shows notifications that the server pushes, and opens their pages. Pages are never answered from here.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("push", (event) => event.waitUntil(shown(event.data.json())));

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
