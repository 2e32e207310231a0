// Three objects: how probable each answer is, by the posterior draws that the page holds.
const explore = () => {
  const form = document.getElementById("explorer");
  if (!form) return;
  const { draws, scale, lapse } = data.explorer;
  const size = scale.length;
  const packed = Uint8Array.from(atob(data.explorer.weights), (letter) => letter.charCodeAt(0));
  const inputs = Array.from(form.querySelectorAll("input"));
  const result = document.getElementById("answers");
  const ids = new Map(data.names.map((name, id) => [name.toLowerCase(), id]));
  const weight = (id, draw, place) => packed[(id * draws + draw) * size + place] * scale[place];
  const quantile = (sorted, q) => {
    const place = q * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };
  const answers = (three) => {
    // Pairs in the order in which each leaves out the first, the second and the third object.
    const pairs = [[1, 2], [0, 2], [0, 1]];
    const chances = [[], [], []];
    const pieces = pairs.map(() => new Array(size).fill(0));
    for (let draw = 0; draw < draws; draw += 1) {
      const alike = pairs.map(([a, b], pair) => {
        let sum = 0;
        for (let place = 0; place < size; place += 1) {
          const shared = weight(three[a], draw, place) * weight(three[b], draw, place);
          pieces[pair][place] += shared / draws;
          sum += shared;
        }
        return sum;
      });
      const most = Math.max(...alike);
      const odds = alike.map((value) => Math.exp(value - most));
      const total = odds[0] + odds[1] + odds[2];
      odds.forEach((value, pair) => chances[pair].push(lapse[draw] / 3 + ((1 - lapse[draw]) * value) / total));
    }
    return pairs.map((pair, odd) => {
      const sorted = chances[odd].slice().sort((a, b) => a - b);
      return {
        odd: three[odd],
        pair: pair.map((each) => three[each]),
        p: sorted.reduce((sum, value) => sum + value, 0) / draws,
        low: quantile(sorted, 0.05),
        high: quantile(sorted, 0.95),
        pieces: pieces[odd],
      };
    });
  };
  const explained = ({ odd, pair, p, low, high, pieces }, longest) => {
    const item = make("li");
    const name = make("strong", data.names[odd]);
    const text = draws > 1 ? `${p.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})` : p.toFixed(2);
    const line = make("div", undefined, "answer");
    const said = make("span");
    said.append(name, " is the odd one");
    line.append(said, bar(p, low, high, 1), make("span", text, "value"));
    const why = make("div", undefined, "why");
    const strongest = pieces.map((value, place) => [value, place]).sort(([a], [b]) => b - a);
    const stack = make("span", undefined, "stack");
    stack.setAttribute("aria-hidden", "true");
    strongest.forEach(([value, place]) => {
      const piece = make("span");
      piece.style.width = `${(100 * value) / longest}%`;
      piece.style.background = data.dimensions[place].colour;
      piece.title = called(place);
      stack.append(piece);
    });
    const total = pieces.reduce((sum, value) => sum + value, 0);
    const because = strongest.slice(0, 3).filter(([value]) => value > 0.02 * longest);
    const reasons = because.map(([value, place]) => `${called(place)} (${Math.round((100 * value) / total)} %)`);
    const names = pair.map((id) => data.names[id]).join(" and ");
    why.append(
      make("span", `${names} share ${reasons.length ? reasons.join("; ") : "next to nothing"}`, "note"),
      stack,
    );
    item.append(line, why);
    return item;
  };
  const update = () => {
    const three = inputs.map((input) => ids.get(input.value.trim().toLowerCase()));
    inputs.forEach((input, i) => input.setAttribute("aria-invalid", String(three[i] === undefined)));
    if (three.includes(undefined) || new Set(three).size < 3) {
      result.replaceChildren(make("li", "Choose three different objects of this fit.", "note"));
      return;
    }
    const found = answers(three);
    const longest = Math.max(...found.map(({ pieces }) => pieces.reduce((a, b) => a + b, 0))) || 1;
    result.replaceChildren(...found.map((each) => explained(each, longest)));
  };
  inputs.forEach((input) => input.addEventListener("input", update));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("any-three").addEventListener("click", () => {
    const left = data.names.map((_, id) => id);
    inputs.forEach((input) => {
      [input.value] = left.splice(Math.floor(Math.random() * left.length), 1).map((id) => data.names[id]);
    });
    update();
  });
  renamed.push(update);
  data.explorer.first.forEach((id, i) => { inputs[i].value = data.names[id]; });
  update();
};
