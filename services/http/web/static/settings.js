// Keeping the settings of the display, which have taken effect already.

let before = Promise.resolve();

/** Send the setting of a button after those before it, because each answer replaces all settings in their cookie. */
export function keepSetting(form, button) {
  const body = new URLSearchParams(new FormData(form, button));
  const request = { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true };
  before = before.then(() => fetch(form.action, request)).catch(() => {});
}
