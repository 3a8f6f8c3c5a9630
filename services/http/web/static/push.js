// Notifications on the page of the account: asks the browser, and sends its subscription with the form.

import { gettext } from "./words.js";

const form = document.querySelector("#push-form");
const says = document.querySelector("#push-says");

async function begin() {
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    // phones of Apple have them for sites on the home screen only, and all want https
    says.textContent = gettext("This browser can’t show them. On an iPhone, first add the site to your home screen.");
    return;
  }
  const registration = await navigator.serviceWorker.getRegistration("/");
  const now = await registration?.pushManager.getSubscription();
  const own = now && (await listed(now.endpoint));
  form.hidden = Boolean(own);
  if (own) {
    own.querySelector("span").append(" ", gettext("(this browser)"));
    own.querySelector("form").addEventListener("submit", () => now.unsubscribe());
  } else if (Notification.permission === "denied") {
    says.textContent = blocked();
  }
}

function blocked() {
  return gettext("This browser is blocking them. You can allow them in its settings for this site.");
}

/** Return the line of a subscription in the list, whose id is a hash of its endpoint. */
async function listed(endpoint) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  const id = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return document.querySelector(`[data-browser="${id.slice(0, 16)}"]`);
}

/** Ask the browser, and give its subscription to the server. */
async function allow() {
  if ((await Notification.requestPermission()) !== "granted") {
    says.textContent = blocked();
    return;
  }
  await navigator.serviceWorker.register("/sw.js");
  const registration = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: bytes(form.dataset.key) };
  const found = await registration.pushManager.getSubscription();
  // one that was made for another key is of no use
  await found?.unsubscribe();
  const { endpoint, keys } = (await registration.pushManager.subscribe(options)).toJSON();
  form.elements.endpoint.value = endpoint;
  form.elements.p256dh.value = keys.p256dh;
  form.elements.auth.value = keys.auth;
  form.submit();
}

/** Return the bytes of a text in base64 for URLs. */
function bytes(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    await allow();
  } catch (error) {
    says.textContent = gettext("Notifications couldn’t be turned on: %(reason)s", { reason: error.message });
  }
  button.disabled = false;
});
begin();
