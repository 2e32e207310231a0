// The map of the objects: one stop of the tab key, on which arrows go from object to object.
const drawMap = () => {
  const svg = document.getElementById("map");
  if (!svg) return;
  const NS = "http://www.w3.org/2000/svg";
  const [WIDTH, HEIGHT, MARGIN] = [1000, 700, 40];
  const spots = data.map.map(([x, y]) => [MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + y * (HEIGHT - 2 * MARGIN)]);
  const choose = document.getElementById("map-colour");
  const told = document.getElementById("map-told");
  const search = document.getElementById("map-search");
  const layer = (name) => svg.appendChild(Object.assign(document.createElementNS(NS, "g"), { id: name }));
  const [dotLayer, pictureLayer, textLayer] = ["dots", "map-pictures", "texts"].map(layer);
  const dots = spots.map(([x, y], id) => {
    const dot = dotLayer.appendChild(document.createElementNS(NS, "circle"));
    dot.setAttribute("cx", x);
    dot.setAttribute("cy", y);
    dot.dataset.id = id;
    dot.appendChild(document.createElementNS(NS, "title")).textContent = data.names[id];
    return dot;
  });
  let view = { x: 0, y: 0, scale: 1 };
  let current = null;

  const paint = () => {
    const place = choose.value === "" ? null : Number(choose.value);
    dots.forEach((dot, id) => {
      const strongest = data.strongest[id];
      if (place === null) {
        dot.style.fill = strongest === null ? "#8a8a8a" : data.dimensions[strongest].colour;
        dot.style.opacity = 1;
      } else {
        dot.style.fill = "#0072b2";
        dot.style.opacity = Math.max(0.08, data.shares[place][id] / 100);
      }
    });
    label();
  };
  const matches = () => {
    const wanted = search.value.trim().toLowerCase();
    return wanted ? data.names.flatMap((name, id) => (name.toLowerCase().includes(wanted) ? [id] : [])) : [];
  };
  // A pixel of the screen, in the units of the map as it is shown.
  const pixel = () => Math.max(1, WIDTH / (svg.clientWidth || WIDTH)) / view.scale;
  // Names of as many objects as there is room for: those looked for, then the strongest.
  const label = () => {
    const unit = pixel();
    const found = new Set(matches());
    const place = choose.value === "" ? null : Number(choose.value);
    const weight = (id) => (place === null ? data.strength[id] : data.shares[place][id]);
    const [right, bottom] = [view.x + WIDTH / view.scale, view.y + HEIGHT / view.scale];
    const inside = spots.flatMap(([x, y], id) =>
      x >= view.x && y >= view.y && x <= right && y <= bottom ? [id] : []);
    inside.sort((a, b) => (b === current) - (a === current) || found.has(b) - found.has(a) || weight(b) - weight(a));
    dots.forEach((dot, id) => {
      dot.setAttribute("r", (id === current ? 6.5 : found.has(id) ? 5.5 : 3.5) * unit);
      dot.classList.toggle("found", found.has(id));
      dot.classList.toggle("current", id === current);
      dot.style.display = "";
    });
    textLayer.replaceChildren();
    pictureLayer.replaceChildren();
    const taken = [];
    // Near an edge a name moves inwards, so that all of it is seen.
    const within = (x, half) => Math.max(view.x + half, Math.min(right - half, x));
    for (const id of inside) {
      if (textLayer.childElementCount >= 120) break;
      const name = data.short[id];
      const picture = data.pictures[id];
      const side = picture ? 40 * unit : 0;
      const width = Math.max(name.length * 6.2 * unit, side);
      const [x, y] = spots[id];
      const middle = within(x, width / 2);
      const baseline = y + side / 2 + 17 * unit > bottom ? y - side / 2 - 6 * unit : y + side / 2 + 14 * unit;
      const box = [middle - width / 2 - 2 * unit, Math.min(y - side / 2 - 5 * unit, baseline - 11 * unit),
        middle + width / 2 + 2 * unit, Math.max(y + side / 2 + 3 * unit, baseline + 3 * unit)];
      if (id !== current && taken.some((b) => box[0] < b[2] && box[2] > b[0] && box[1] < b[3] && box[3] > b[1])) continue;
      taken.push(box);
      if (picture) {
        const image = pictureLayer.appendChild(document.createElementNS(NS, "image"));
        image.setAttribute("href", picture);
        for (const [key, value] of Object.entries({ x: x - side / 2, y: y - side / 2, width: side, height: side })) {
          image.setAttribute(key, value);
        }
        image.dataset.id = id;
        dots[id].style.display = "none";
      }
      const text = textLayer.appendChild(document.createElementNS(NS, "text"));
      text.textContent = name;
      text.setAttribute("y", baseline);
      text.setAttribute("font-size", 11 * unit);
      text.setAttribute("x", within(x, text.getComputedTextLength() / 2));
      text.setAttribute("stroke-width", 2 * unit);
    }
  };
  const look = (x, y, scale) => {
    const bounded = Math.min(40, Math.max(1, scale));
    const [w, h] = [WIDTH / bounded, HEIGHT / bounded];
    view = { scale: bounded, x: Math.min(WIDTH - w, Math.max(0, x)), y: Math.min(HEIGHT - h, Math.max(0, y)) };
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${w} ${h}`);
    svg.dataset.scale = bounded;
    label();
  };
  const zoom = (factor, at) => {
    const [x, y] = at ?? (current === null ? [view.x + WIDTH / view.scale / 2, view.y + HEIGHT / view.scale / 2] : spots[current]);
    const scale = Math.min(40, Math.max(1, view.scale * factor));
    const ratio = view.scale / scale;
    look(x - (x - view.x) * ratio, y - (y - view.y) * ratio, scale);
  };
  const goTo = (id, closer = false) => {
    current = id;
    const scale = closer ? Math.max(view.scale, Math.min(8, Math.sqrt(spots.length / 40))) : view.scale;
    const [x, y] = spots[id];
    const seen = x > view.x && y > view.y && x < view.x + WIDTH / view.scale && y < view.y + HEIGHT / view.scale;
    if (seen && scale === view.scale) label();
    else look(x - WIDTH / scale / 2, y - HEIGHT / scale / 2, scale);
    const strongest = data.strongest[id];
    told.textContent = data.names[id] + (strongest === null ? "" : `, strongest in ${called(strongest)}`);
  };
  // The nearest object in a direction: what is ahead counts, what is aside counts twice.
  const beside = (dx, dy) => {
    const [x, y] = spots[current];
    let [best, least] = [current, Infinity];
    spots.forEach(([u, v], id) => {
      const ahead = (u - x) * dx + (v - y) * dy;
      const aside = Math.abs((u - x) * dy) + Math.abs((v - y) * dx);
      if (id !== current && ahead > 0 && ahead >= aside / 2 && ahead + 2 * aside < least) [best, least] = [id, ahead + 2 * aside];
    });
    return best;
  };
  const open = (id) => { location.hash = `#object-${id}`; };
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ARROWS) goTo(current === null ? data.order[0] : beside(...ARROWS[event.key]));
    else if (event.key === "+" || event.key === "=") zoom(1.5);
    else if (event.key === "-") zoom(1 / 1.5);
    else if (event.key === "0" || event.key === "Escape") look(0, 0, 1);
    else if ((event.key === "Enter" || event.key === " ") && current !== null) open(current);
    else return;
    event.preventDefault();
  });
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    return [
      view.x + ((event.clientX - box.left) / box.width) * (WIDTH / view.scale),
      view.y + ((event.clientY - box.top) / box.height) * (HEIGHT / view.scale),
    ];
  };
  // The wheel scrolls the page unless the map has the focus.
  svg.addEventListener("wheel", (event) => {
    if (document.activeElement !== svg) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, at(event));
  }, { passive: false });
  let grip = null;
  svg.addEventListener("pointerdown", (event) => { grip = { from: at(event), moved: false }; });
  svg.addEventListener("pointermove", (event) => {
    if (!grip || !event.buttons) return;
    const [x, y] = at(event);
    if (Math.hypot(x - grip.from[0], y - grip.from[1]) * view.scale < 4 && !grip.moved) return;
    grip.moved = true;
    look(view.x + grip.from[0] - x, view.y + grip.from[1] - y, view.scale);
  });
  svg.addEventListener("click", (event) => {
    const id = event.target.dataset?.id;
    if (id !== undefined && !grip?.moved) {
      goTo(Number(id));
      open(Number(id));
    }
    grip = null;
  });
  document.getElementById("map-in").addEventListener("click", () => zoom(1.5));
  document.getElementById("map-out").addEventListener("click", () => zoom(1 / 1.5));
  document.getElementById("map-all").addEventListener("click", () => look(0, 0, 1));
  choose.addEventListener("change", paint);
  search.addEventListener("input", () => {
    const found = matches();
    told.textContent = search.value.trim() ? `${found.length.toLocaleString("en")} found` : "";
    label();
  });
  search.addEventListener("keydown", (event) => {
    const found = matches();
    if (event.key !== "Enter" || !found.length) return;
    goTo(found[(found.indexOf(current) + 1) % found.length], true);
    open(current);
  });
  const callAll = () => {
    Array.from(choose.options).slice(1).forEach((option) => { option.textContent = called(Number(option.value)); });
  };
  renamed.push(callAll);
  callAll();
  // What is chosen elsewhere is shown here too.
  whenShown.push((id) => { if (id !== current) goTo(id); });
  window.addEventListener("resize", label);
  look(0, 0, 1);
  paint();
};
