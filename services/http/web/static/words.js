// The words of the page's language. English is in the scripts; words.de.js has the rest.

const translated = globalThis.translated ?? {};

/** Return a message in the language of the page, with its `%(name)s` filled in. */
export function gettext(message, values = {}) {
  return filled(translated[message] ?? message, values);
}

/** Return a message for a count, which is its value `%(count)s`. */
export function ngettext(one, many, count, values = {}) {
  const [single, several] = translated[one] ?? [one, many];
  return filled(count === 1 ? single : several, { count, ...values });
}

function filled(text, values) {
  return text.replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}
