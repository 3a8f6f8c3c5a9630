// The end of the joined file: runs the modules that the page names, in the order of its elements.

globalThis.htmx = htmx; // for the files that few pages load

function begin() {
  for (const element of document.querySelectorAll("script[data-module]")) {
    const name = element.dataset.module;
    delete element.dataset.module;
    try {
      modules[`$${name.replace(".js", "")}`]();
    } catch (error) {
      reportError(error); // the other modules run all the same
    }
  }
}

// a part of the page that came later may name more
document.addEventListener("htmx:afterSettle", begin);
begin();
