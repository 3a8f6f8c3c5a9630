// The page: taking files and keys, and showing the report.

const byId = (id) => document.getElementById(id);

const words = JSON.parse(byId("main").dataset.words);

/** Return a headline in the language of the page; the steps of a check are in English. */
const said = (text) => words[text] ?? text;

/** Return an element with attributes and children; texts are only ever texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const MARKS = {
  holds: ["Holds", "M5 12.5l4.5 4.5L19 7.5"],
  fails: ["Does not hold", "M6.5 6.5l11 11M17.5 6.5l-11 11"],
  open: ["Not proven", "M6 12h12"],
};

function markOf(mark) {
  const [name, path] = MARKS[mark];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(svg.namespaceURI, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return element("span", { class: `mark ${mark}` }, svg, element("span", { class: "sr" }, `${name}: `));
}

const files = [];
let runs = 0;

/** Check all files again, and show the report; an older run that is still busy shows nothing. */
async function run() {
  const mine = (runs += 1);
  byId("again").hidden = files.length === 0;
  const entered = readEntered();
  if (!files.length) {
    byId("report").replaceChildren();
    show("", "");
    document.body.dataset.state = "ready";
    return;
  }
  document.body.dataset.state = "busy";
  const progress = async (what, done, all) => {
    if (mine === runs) show("", "Checking…", `${what}: ${done} of ${all}.`);
    await new Promise((resolve) => setTimeout(resolve));
  };
  const report = await checkFiles(files, entered, progress);
  if (mine !== runs) return;
  showReport(report);
  document.body.dataset.state = "done";
}

/** Return the keys in the field; a line that is no key is said beside it. */
function readEntered() {
  const [keys, wrong] = [[], []];
  for (const line of byId("keys").value.split("\n").map((text) => text.trim()).filter(Boolean)) {
    try {
      keys.push(readKey(line));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      wrong.push(problem.message);
    }
  }
  byId("wrong-keys").textContent = wrong.join(" ");
  byId("keys").setAttribute("aria-invalid", String(wrong.length > 0));
  return keys;
}

function show(mark, headline, ...because) {
  byId("verdict").dataset.mark = mark;
  byId("verdict").hidden = !headline;
  byId("headline").textContent = headline && said(headline);
  byId("because").replaceChildren(...because);
}

function showReport(report) {
  const { failure, open } = report;
  const rest = open.length === 1 ? "One step is not proven." : `${open.length} steps are not proven.`;
  const link = element("a", { href: "#failure" }, "Show the step");
  if (failure) show("fails", "This check failed.", `The first step that fails: ${failure.sentence} `, link);
  else if (open.length) show("open", "Nothing is wrong here, but not everything is proven.", `${rest} ${open.at(-1).sentence}`);
  else show("holds", "Everything this page checks is correct.");
  byId("report").replaceChildren(...report.groups.map((group) => groupView(group, failure)));
}

function groupView({ title, about, steps }, failure) {
  const list = element("ol", { class: "steps" }, ...steps.map((step) => stepView(step, step === failure)));
  const lines = about ? [element("p", { class: "quiet" }, about)] : [];
  return element("section", {}, element("h2", {}, title), ...lines, list);
}

function stepView(step, isFirstFailure) {
  const { name, mark, sentence, shown } = step;
  const text = element("p", {}, sentence);
  const item = element("li", { "data-step": name, "data-mark": mark }, markOf(mark), text);
  if (shown.length) item.append(bytesView(shown, sentence));
  if (isFirstFailure) {
    item.id = "failure";
    for (const details of item.querySelectorAll("details")) details.open = true;
  }
  return item;
}

/** Return the part with the bytes; it is made when it is opened, because a match has many. */
function bytesView(shown, sentence) {
  const summary = element("summary", {}, "Show the bytes", element("span", { class: "sr" }, ` behind: ${sentence}`));
  const details = element("details", {}, summary);
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    const folded = shown.filter((block) => block.leaf).length > MOST_OPEN;
    details.append(...shown.map((block) => blockView(block, folded)));
  });
  return details;
}

/** Leaves that are shown field by field at once; of more, each is opened by its reader. */
const MOST_OPEN = 2;

function blockView(block, folded) {
  if (block.leaf) return folded ? foldedLeaf(block) : leafView(block);
  if (block.hashes) {
    const rows = block.hashes.map((hash, n) => [n ? `Hash ${n}` : "Leaf hash", toHex(hash)]);
    return element("div", { class: "block" }, element("h3", {}, block.label), rowsView(rows));
  }
  if (block.rows) {
    return element("div", { class: "block" }, element("h3", {}, block.label), rowsView(block.rows));
  }
  if (block.text !== undefined) {
    return element("dl", {}, element("dt", {}, block.label), element("dd", {}, element("pre", {}, block.text)));
  }
  const rows = [["hex", toHex(block.bytes)], ["base64", toBase64(block.bytes)]];
  return element("div", { class: "block" }, element("h3", {}, block.label), rowsView(rows));
}

const rowsView = (rows) =>
  element("dl", { class: "rows" }, ...rows.flatMap(([name, text, words]) => [
    element("dt", {}, name),
    element("dd", {}, element("code", {}, text), ...(words ? [element("span", { class: "value" }, words)] : [])),
  ]));

function foldedLeaf(block) {
  const details = element("details", { class: "leaf" }, element("summary", {}, clauseOf(block)));
  details.addEventListener("toggle", () => {
    if (details.childElementCount === 1) details.append(leafView(block));
  });
  return details;
}

const clauseOf = ({ leaf }) => `${describeLeaf(leaf)}.`.replace(/^./, (first) => first.toUpperCase());

/** Return a leaf field by field: the bytes of each, and what they say. */
function leafView(block) {
  const { label, leaf } = block;
  const rows = leaf.rows.map(({ name, value, start, end }) => [
    name, toHex(leaf.bytes.slice(start, end)), wordsOf(name, value),
  ]);
  return element(
    "div", { class: "leaf block" },
    element("h3", {}, label), element("p", {}, clauseOf(block)),
    rowsView([...rows, ["leaf hash", toHex(leaf.hash)], ["base64", toBase64(leaf.bytes)]]),
  );
}

function wordsOf(name, value) {
  if (value === null) return "nil";
  if (isBytes(value)) return "";
  if (name === "at" || name === "until") return `${value}, ${toTime(value)}`;
  if (typeof value !== "object") return String(value);
  return JSON.stringify(value, (_, one) => (isBytes(one) ? toHex(one) : one));
}

async function take(list) {
  for (const file of list) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    addFile(file.name || "pasted text", bytes);
  }
  await run();
}

/** Add a file; one of the same name takes the place of the earlier. */
function addFile(name, bytes) {
  const at = files.findIndex((file) => file.name === name);
  files.splice(at < 0 ? files.length : at, at < 0 ? 0 : 1, { name, bytes });
}

// --- the switch at the foot: as on other pages, but the page itself keeps the setting in the browser's cookie

const DISPLAY = /(?:^|; )display=([\w.-]*)/;
const themes = document.querySelectorAll('.foot [name="theme"]');

function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const one of themes) one.setAttribute("aria-pressed", String(one.value === theme));
}

function follow() {
  const zone = byId("zone");
  byId("files").addEventListener("change", async (event) => {
    await take([...event.target.files]);
    event.target.value = "";
    byId("headline").focus();
  });
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) zone.classList.remove("over");
  });
  document.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    await take([...event.dataTransfer.files]);
  });
  byId("check-text").addEventListener("click", async () => {
    const text = byId("text").value.replaceAll("\r\n", "\n").trim();
    if (!text) return;
    addFile(`pasted text ${files.length + 1}`, UTF8.encode(`${text}\n`));
    byId("text").value = "";
    await run();
    byId("headline").focus();
  });
  byId("keys").addEventListener("input", run);
  byId("again").addEventListener("click", async () => {
    files.length = 0;
    await run();
    byId("files").focus();
  });
  for (const one of themes) {
    one.addEventListener("click", () => {
      showTheme(one.value);
      const others = DISPLAY.exec(document.cookie)?.[1].split(".").filter((part) => !part.startsWith("theme-")) ?? [];
      const kept = [`theme-${one.value}`, ...others].join(".");
      document.cookie = `display=${kept}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
    });
  }
  showTheme(/theme-(light|dark)/.exec(DISPLAY.exec(document.cookie)?.[1])?.[1] ?? "system");
  // saved as a file, the page has no server around it
  if (location.protocol === "file:") for (const one of document.querySelectorAll(".served")) one.hidden = true;
}

// for the console, and for tests: the same functions as the page uses
globalThis.matchpost = { checkFiles, checkInclusion, fromBase64, leafHash, readKey, readNote, readValue, sha256, signatureHolds };
follow();
document.body.dataset.state = "ready";
