// Names of dimensions: one list, shown wherever an element says which dimension it is about.
const dimensionNames = data.dimensions.map(({ name }) => name);
// A dimension without a name is called by its number and its top objects.
const called = (place) => {
  const { number, top } = data.dimensions[place];
  return `${number}: ${dimensionNames[place] || top.join(", ")}`;
};
const renamed = [];
const rename = (place, name) => {
  dimensionNames[place] = name.trim().replace(/\s+/g, " ");
  document.querySelectorAll(`[data-called="${place}"]`).forEach((element) => {
    element.textContent = called(place);
  });
  renamed.forEach((notify) => notify());
};
document.querySelectorAll("input.name").forEach((input) => {
  input.addEventListener("input", () => rename(Number(input.dataset.place), input.value));
});

// Two ways to keep them: a small file for fit.label(...), and this page itself.
const download = (name, kind, content) => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
};
const given = () => Object.fromEntries(
  data.dimensions.flatMap(({ number }, place) => (dimensionNames[place] ? [[number, dimensionNames[place]]] : [])),
);
const asJson = () => JSON.stringify({ fit: data.fit, names: given() }, null, 2);
const asPage = () => {
  // JSON in a script must not end the script.
  const names = JSON.stringify(dimensionNames).replace(/</g, "\\u003c");
  const start = source.indexOf(">", source.indexOf('id="names"')) + 1;
  return `<!doctype html>\n${source.slice(0, start)}${names}${source.slice(source.indexOf("<\/script>", start))}`;
};
document.getElementById("save-names")?.addEventListener("click", () => {
  download("names.json", "application/json", asJson());
});
document.getElementById("save-page")?.addEventListener("click", () => {
  download("page.html", "text/html", asPage());
});
// Names that were saved in the page come first.
JSON.parse(document.getElementById("names").textContent).forEach((name, place) => {
  const input = document.querySelector(`input.name[data-place="${place}"]`);
  if (input) input.value = name;
  rename(place, name);
});
