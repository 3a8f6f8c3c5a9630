// A report: the steps of a check, in their order. A step holds, fails, or is open: nothing proves it here.

const [HOLDS, FAILS, OPEN] = ["holds", "fails", "open"];

class Report {
  constructor() {
    this.groups = [];
  }

  /** Begin a group of steps, such as those of one file. */
  begin(title, about = "") {
    this.groups.push({ title, about, steps: [] });
  }

  /** Add a step; `name` is what it is about, and `shown` lists the bytes behind it. */
  add(name, mark, sentence, shown = []) {
    this.groups.at(-1).steps.push({ name, mark, sentence, shown });
    return mark === HOLDS;
  }

  /** Add a step whose `check` returns a sentence, or a sentence and bytes; a `Problem` makes it fail. */
  async step(name, check) {
    try {
      const found = await check();
      const [sentence, shown, mark] = Array.isArray(found) ? found : [found];
      return this.add(name, mark ?? HOLDS, sentence, shown);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      return this.add(name, FAILS, problem.message, problem.shown);
    }
  }

  get steps() {
    return this.groups.flatMap((group) => group.steps);
  }

  /** Return the first step that fails. */
  get failure() {
    return this.steps.find((step) => step.mark === FAILS);
  }

  get open() {
    return this.steps.filter((step) => step.mark === OPEN);
  }
}

/** Return a step's result that is open. */
const unproven = (sentence, shown = []) => [sentence, shown, OPEN];

/** Check the signatures of a note by the key `name`, and report where that key comes from. */
async function checkSignature(report, note, name, what, keys) {
  const shown = [
    { label: "The text that is signed", text: note.text },
    ...(note.rows ? [{ label: "What it says", rows: note.rows }] : []),
    ...note.signatures.map(({ name: by, id, bytes }) => ({
      label: `Signature by ${by}, key id ${toHex(id)}`,
      bytes,
    })),
  ];
  await report.step("signature", async () => {
    const entered = keysNamed(keys.entered, name);
    const own = entered.length === 0;
    const usable = own ? keysNamed(keys.own, name) : entered;
    const by = note.signatures.filter((signature) => signature.name === name);
    require(by.length, `${what} has no signature in the name ${name}.`, shown);
    const found = by.map((signature) => [signature, keyOf(usable, signature)]).filter(([, key]) => key);
    if (!usable.length && own) {
      return unproven(
        `Who signed ${lowered(what)} is not proven: the files have no key called ${name}. Enter it above.`,
        shown,
      );
    }
    const which = own ? "the keys in the files" : "the keys that you entered";
    require(found.length, `${what} is signed by none of ${which} for ${name}.`, shown);
    if (!(await canVerify)) {
      return unproven(
        `This browser can't check Ed25519 signatures on this page, so who signed ${lowered(what)} is not proven. Use a newer browser, open the page over https, or save it and open the file.`,
        shown,
      );
    }
    const witnesses = note.signatures
      .map((signature) => [signature, keyOf(keys.entered, signature)])
      .filter(([, key]) => key && key.name !== name);
    for (const [signature, key] of [...found, ...witnesses]) {
      const right = await signatureHolds(key, note.text, signature.bytes);
      require(right, `The signature under ${lowered(what)} is not by the key ${key.name}.`, [
        ...shown,
        { label: "The key", text: key.text },
      ]);
    }
    keys.used.push(...found.map(([, key]) => ({ ...key, own })));
    const source = own ? "a key that came with the files" : "a key that you entered";
    const cosigned = witnesses.map(([{ bytes }, key]) =>
      key.type === COSIGNATURE ? `${key.name} at ${toTime(Number(timeOf(bytes)) * 1000)}` : key.name,
    );
    const also = cosigned.length ? ` It is cosigned by ${cosigned.join(" and ")}.` : "";
    const used = [...found, ...witnesses].map(([, key]) => ({ label: "The key", text: key.text }));
    if (own && keys.entered.length) {
      return unproven(
        `${what} is signed by ${name}, with a key that came with the files: none of the keys that you entered is one of ${name}.`,
        [...shown, ...used],
      );
    }
    return [`${what} is signed by ${name}, with ${source}.${also}`, [...shown, ...used]];
  });
}

const lowered = (text) => text[0].toLowerCase() + text.slice(1);
