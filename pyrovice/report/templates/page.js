// As it was written, to be saved again with other names.
const source = document.documentElement.outerHTML;
const data = JSON.parse(document.getElementById("data").textContent);
const body = document.querySelector("#table tbody");
const rows = Array.from(body.rows);
const names = rows.map((row) => row.cells[0].textContent.toLowerCase());
const byName = new Intl.Collator(undefined, { numeric: true });

// All text goes in as text, never as markup.
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};

{% include "names.js" %}
// Every picture is in the page once.
document.querySelectorAll("img[data-picture]").forEach((image) => {
  image.src = data.pictures[image.dataset.picture];
});

// Search
const search = document.getElementById("search");
const count = document.getElementById("count");
search.addEventListener("input", () => {
  const wanted = search.value.trim().toLowerCase();
  let shown = 0;
  rows.forEach((row, i) => {
    row.hidden = !names[i].includes(wanted);
    shown += !row.hidden;
  });
  const all = rows.length.toLocaleString("en");
  count.textContent = wanted ? `${shown.toLocaleString("en")} of ${all} objects` : `${all} objects`;
});

// Sort
const heads = Array.from(document.querySelectorAll("#table th"));
heads.forEach((head, column) => {
  const button = head.firstElementChild;
  const isText = button.dataset.kind === "text";
  const value = (row) => {
    const text = row.cells[column].dataset.value ?? row.cells[column].textContent;
    return isText ? text : Number.isNaN(Number(text)) ? -1 : Number(text);
  };
  button.addEventListener("click", () => {
    // Names begin with A; numbers with the largest.
    const first = isText ? "ascending" : "descending";
    const second = isText ? "descending" : "ascending";
    const order = head.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const keyed = rows.map((row) => [value(row), row]);
    keyed.sort(([a], [b]) => sign * (isText ? byName.compare(a, b) : a - b));
    body.append(...keyed.map(([, row]) => row));
  });
});

// One object
const view = document.getElementById("view");
const percent = (x, longest) => `${(100 * x) / longest}%`;
const bar = (value, low, high, longest) => {
  const box = make("span", undefined, "bar");
  box.setAttribute("aria-hidden", "true");
  const fill = make("span", undefined, "fill");
  fill.style.width = percent(value, longest);
  box.append(fill);
  if (high > low) {
    const interval = make("span", undefined, "interval");
    interval.style.left = percent(low, longest);
    interval.style.width = percent(high - low, longest);
    box.append(interval);
  }
  return box;
};
const list = (title, note, items) => {
  const part = make("div");
  const ordered = make("ol");
  ordered.append(...items);
  part.append(make("h4", title), make("p", note, "note"), ordered);
  return part;
};
const whenShown = [];
const show = (id) => {
  const { dimensions, neighbours } = data.views[id];
  const profile = dimensions.map(({ place, weight, low, high }) => {
    const item = make("li");
    const label = make("a", called(place));
    label.dataset.called = place;
    label.href = `#dimension-${data.dimensions[place].number}`;
    label.title = label.textContent;
    const text = high > low ? `${weight.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})` : weight.toFixed(2);
    item.append(label, bar(weight, low, high, data.longest), make("span", text, "value"));
    return item;
  });
  const near = neighbours.map(([other, mean, sd]) => {
    const item = make("li");
    const link = make("a", data.short[other]);
    link.href = `#object-${other}`;
    link.title = data.names[other];
    const text = sd > 0 ? `${mean.toFixed(2)} ± ${sd.toFixed(2)}` : mean.toFixed(2);
    item.append(
      link,
      bar(mean, Math.max(0, mean - sd), Math.min(1, mean + sd), 1),
      make("span", text, "value"),
    );
    return item;
  });
  const both = make("div", undefined, "side");
  both.append(
    list("Its dimensions", "Weight with 90 % posterior interval", profile),
    list("Its nearest neighbours", "How probably the pair is kept beside any third object, ± sd", near),
  );
  const title = make("h3", data.names[id]);
  if (data.pictures[id]) {
    const picture = make("img", undefined, "picture");
    picture.src = data.pictures[id];
    picture.alt = "";
    title.prepend(picture, " ");
  }
  view.replaceChildren(title, both);
  whenShown.forEach((notify) => notify(id));
  view.focus({ preventScroll: true });
  view.scrollIntoView({ block: "nearest" });
};
const follow = () => {
  const found = /^#object-(\d+)$/.exec(location.hash);
  if (found && data.views[Number(found[1])]) show(Number(found[1]));
};
window.addEventListener("hashchange", follow);
{% include "map.js" %}
{% include "explorer.js" %}
drawMap();
if (data.explorer) explore();
follow();
document.documentElement.dataset.ready = "yes";
