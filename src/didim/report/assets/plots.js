"use strict";
// Draws the pictures of a didim report as SVG, and zooms those over time. No library, no network.
(() => {
  const SPACE = "http://www.w3.org/2000/svg", HEIGHT = 230, EDGE = { left: 58, right: 12, top: 8, bottom: 40 };

  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS(SPACE, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };
  const unpack = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
  };
  const SCALES = {
    linear: (v) => v,
    log: (v) => (v > 0 ? Math.log10(v) : NaN),
    symlog: (v) => (Math.abs(v) <= 2 ? v / 2 : Math.sign(v) * (1 + Math.log10(Math.abs(v) / 2))),
  };

  // Round numbers that divide a range into about so many parts; at least two of them.
  function ticks(low, high, count, whole) {
    const raw = (high - low) / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(raw));
    let step = power * [1, 2, 5, 10].find((f) => f * power >= raw * 0.999);
    if (whole) step = Math.max(1, Math.round(step));
    const first = Math.ceil(low / step - 1e-9), found = [];
    for (let k = first; k * step <= high + 1e-9 * step && found.length < 50; k++) found.push(k * step);
    return found.length < 2 && !whole && count < 50 ? ticks(low, high, 2 * count) : found;
  }
  const shown = (v) => (v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-4 ? v.toExponential(1).replace(".0e", "e") : String(+v.toPrecision(6)));

  // First index whose x is not below a value; x rises.
  function from(x, value) {
    let low = 0, high = x.length;
    while (low < high) { const middle = (low + high) >> 1; if (x[middle] < value) low = middle + 1; else high = middle; }
    return low;
  }

  // The path of a curve: where points lie closer than pixels, only the extremes of each pixel column.
  function path(x, y, first, last, px, py, width) {
    const per = (last - first) / Math.max(width, 1);
    let drawn = "", pen = "M";
    const add = (i) => {
      const b = py(y[i]);
      if (!Number.isFinite(b)) { pen = "M"; return; }  // a gap stays a gap
      drawn += pen + px(x[i]).toFixed(1) + " " + b.toFixed(1); pen = "L";
    };
    if (per <= 3) for (let i = first; i < last; i++) add(i);
    else for (let k = 0; k < width; k++) {
      const a = first + Math.floor(k * per), b = k === width - 1 ? last : first + Math.floor((k + 1) * per);
      let low = -1, high = -1;
      for (let i = a; i < b; i++) if (Number.isFinite(y[i])) {
        if (low < 0 || y[i] < y[low]) low = i;
        if (high < 0 || y[i] > y[high]) high = i;
      }
      if (low < 0) { pen = "M"; continue; }
      add(Math.min(low, high)); if (low !== high) add(Math.max(low, high));
    }
    return drawn;
  }

  // Points as strokes of no length, which round ends make dots; a band as one area.
  function dots(s, px, py) {
    let drawn = "";
    for (let i = s.first; i < s.last; i++) {
      const y = py(s.y[i]);
      if (Number.isFinite(y)) drawn += `M${px(s.x[i]).toFixed(1)} ${y.toFixed(1)}h0`;
    }
    return drawn;
  }
  function area_of(s, px, py) {
    const there = [], back = [];
    for (let i = s.first; i < s.last; i++) if (Number.isFinite(s.y[i]) && Number.isFinite(s.upper[i])) {
      const x = px(s.x[i]).toFixed(1);
      there.push(`${x} ${py(s.upper[i]).toFixed(1)}`); back.unshift(`${x} ${py(s.y[i]).toFixed(1)}`);
    }
    return there.length ? `M${[...there, ...back].join("L")}Z` : "";
  }

  function curves(plot, box) {
    const { spec, view } = plot, scale = SCALES[spec.scale], width = Math.max(box.clientWidth, 220);
    const innerWidth = width - EDGE.left - EDGE.right, innerHeight = HEIGHT - EDGE.top - EDGE.bottom;
    let low = Infinity, high = -Infinity;
    const grow = (v) => { const s = scale(v); if (Number.isFinite(s)) { low = Math.min(low, s); high = Math.max(high, s); } };
    for (const s of spec.series) {
      s.first = Math.max(from(s.x, view[0]) - 1, 0); s.last = Math.min(from(s.x, view[1]) + 1, s.x.length);
      for (let i = s.first; i < s.last; i++) { grow(s.y[i]); if (s.upper) grow(s.upper[i]); }
      if (s.style === "bars") grow(0);
    }
    spec.lines.forEach(grow);
    if (!(low < high)) { const middle = Number.isFinite(low) ? low : 0, half = Math.abs(middle) * 0.1 || 1; low = middle - half; high = middle + half; }
    const pad = 0.06 * (high - low), bars = spec.series.some((s) => s.style === "bars") && low === 0;
    low -= bars ? 0 : pad; high += pad;
    const px = (v) => EDGE.left + ((v - view[0]) / (view[1] - view[0])) * innerWidth;
    const py = (v) => EDGE.top + (1 - (scale(v) - low) / (high - low)) * innerHeight;

    const svg = make("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": box.getAttribute("aria-label") });
    const grid = make("g", { class: "grid" }, svg), labels = make("g", { class: "labels" }, svg);
    let marks = ticks(low, high, 4).map((s) => [s, s]);
    if (spec.scale === "log") {
      marks = [];
      const stride = Math.max(1, Math.ceil((high - low) / 7));
      for (let e = Math.floor(low); e <= Math.ceil(high); e += stride)
        for (const f of high - low > 3 ? [1] : high - low > 1 ? [1, 3] : [1, 2, 5]) marks.push([f * 10 ** e, Math.log10(f * 10 ** e)]);
      if (marks.filter(([, s]) => s >= low && s <= high).length < 2) marks = ticks(10 ** low, 10 ** high, 3).map((v) => [v, scale(v)]);
    }
    if (spec.scale === "symlog" && low > -1 && high < 1) marks = ticks(2 * low, 2 * high, 4).map((v) => [v, scale(v)]);
    else if (spec.scale === "symlog") marks = [-1e6, -1e4, -1000, -100, -10, -2, -1, 0, 1, 2, 10, 100, 1000, 1e4, 1e6].map((v) => [v, scale(v)]);
    for (const [value, at] of marks) {
      if (at < low || at > high) continue;
      const y = EDGE.top + (1 - (at - low) / (high - low)) * innerHeight;
      make("line", { x1: EDGE.left, x2: width - EDGE.right, y1: y, y2: y }, grid);
      make("text", { x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, labels, shown(value));
    }
    for (const value of ticks(view[0], view[1], innerWidth / 90, spec.whole)) {
      make("line", { x1: px(value), x2: px(value), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }, grid);
      make("text", { x: px(value), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, labels, shown(value));
    }
    make("text", { x: EDGE.left + innerWidth / 2, y: HEIGHT - 6, "text-anchor": "middle" }, labels, spec.x);
    make("text", { transform: `translate(12 ${EDGE.top + innerHeight / 2}) rotate(-90)`, "text-anchor": "middle" }, labels, spec.y);

    const clip = "clip" + plot.index;
    make("rect", { x: EDGE.left, y: EDGE.top, width: innerWidth, height: innerHeight }, make("clipPath", { id: clip }, make("defs", {}, svg)));
    const area = make("g", { "clip-path": `url(#${clip})` }, svg);
    for (const value of spec.lines) make("line", { class: "limit", x1: EDGE.left, x2: width - EDGE.right, y1: py(value), y2: py(value) }, area);
    for (const s of spec.series) {
      const group = make("g", { class: `${s.style} ${s.color}` }, area);
      make("title", {}, group, s.name);
      if (s.style === "bars") {
        const wide = s.x.length > 1 ? Math.max(1, 0.8 * (px(s.x[1]) - px(s.x[0]))) : 10, zero = py(0);
        for (let i = 0; i < s.x.length; i++) if (Number.isFinite(s.y[i])) {
          const y = py(s.y[i]);
          make("rect", { x: px(s.x[i]) - wide / 2, y: Math.min(y, zero), width: wide, height: Math.abs(y - zero) }, group);
        }
        continue;
      }
      if (s.style === "points" || s.style === "band") {
        make("path", { d: (s.style === "band" ? area_of : dots)(s, px, py) }, group);
        continue;
      }
      make("path", { d: path(s.x, s.y, s.first, s.last, px, py, Math.round(innerWidth)) }, group);
      if (s.style === "marks") for (let i = s.first; i < s.last; i++)
        if (Number.isFinite(py(s.y[i]))) make("circle", { cx: px(s.x[i]), cy: py(s.y[i]), r: 3 }, group);
    }
    plot.at = (pixel) => view[0] + ((pixel - EDGE.left) / innerWidth) * (view[1] - view[0]);
    box.replaceChildren(svg);
  }

  function map(plot, box) {
    const { names, values } = plot.spec, count = names.length, longest = Math.max(...names.map((n) => n.length));
    const width = Math.min(Math.max(box.clientWidth, 220), 60 + 34 * count), edge = 10 + 6.2 * Math.min(longest, 12);
    const cell = (width - edge) / count, letters = Math.max(4, Math.min(11, 0.8 * cell));
    const svg = make("svg", { viewBox: `0 0 ${width} ${width}`, class: "map", role: "img", "aria-label": box.getAttribute("aria-label") });
    make("rect", { x: edge, y: edge, width: count * cell, height: count * cell, class: "frame" }, svg);
    for (let i = 0; i < count; i++) {
      const middle = edge + (i + 0.5) * cell;
      if (cell >= 6) {
        make("text", { x: edge - 4, y: middle + letters / 3, "text-anchor": "end", "font-size": letters }, svg, names[i]);
        make("text", { transform: `translate(${middle + letters / 3} ${edge - 4}) rotate(-90)`, "font-size": letters }, svg, names[i]);
      }
      for (let j = 0; j < count; j++) {
        const value = values[i * count + j];
        if (Math.abs(value) < 0.05) continue;
        const mark = { x: edge + j * cell, y: edge + i * cell, width: cell, height: cell, "fill-opacity": Math.abs(value).toFixed(2) };
        make("title", {}, make("rect", { ...mark, class: value > 0 ? "c0" : "c1" }, svg), `${names[i]}, ${names[j]}: ${value.toFixed(2)}`);
      }
    }
    box.replaceChildren(svg);
  }

  // Bars below each other: a name before, a text behind each; never narrower than both need.
  function bars(plot, box) {
    const { names, values, colors, texts } = plot.spec, width = Math.max(box.clientWidth, 220), row = 22;
    const longest = (list) => 8 * Math.min(Math.max(...list.map((n) => n.length)), 24);
    const left = 10 + longest(names), room = Math.max(width - left - longest(texts) - 14, 40);
    const high = Math.max(...values) || 1, bottom = 8 + row * names.length, height = bottom + 40;
    const px = (v) => left + (v / high) * room;
    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": box.getAttribute("aria-label") });
    const grid = make("g", { class: "grid" }, svg), labels = make("g", { class: "labels" }, svg);
    for (const value of ticks(0, high, room / 70)) {
      make("line", { x1: px(value), x2: px(value), y1: 4, y2: bottom }, grid);
      make("text", { x: px(value), y: bottom + 16, "text-anchor": "middle" }, labels, shown(value));
    }
    make("text", { x: left + room / 2, y: bottom + 34, "text-anchor": "middle" }, labels, plot.spec.x);
    names.forEach((name, i) => {
      const y = 8 + row * i, text = name.length > 24 ? name.slice(0, 23) + "…" : name;
      make("text", { x: left - 6, y: y + 13, "text-anchor": "end" }, labels, text);
      const bar = make("rect", { x: left, y: y + 2, width: Math.max(px(values[i]) - left, 1), height: row - 8, class: colors[i] }, svg);
      make("title", {}, bar, `${name}: ${shown(values[i])}, ${texts[i]}`);
      make("text", { x: px(values[i]) + 6, y: y + 13 }, labels, texts[i]);
    });
    box.replaceChildren(svg);
  }

  // ---- zooming: drag, buttons, keys; pictures of one record move together
  function zoomed(plots, plot, low, high) {
    const [least, most] = plot.range, span = Math.min(Math.max(high - low, 1e-4 * (most - least)), most - least);
    low = Math.min(Math.max(low, least), most - span); high = low + span;
    for (const each of plots) if (each.spec.zoom === plot.spec.zoom) {
      each.view = [low, high]; curves(each, each.box);
      each.box.dataset.view = `${low} ${high}`;
    }
  }
  function listen(plots, plot) {
    const { box } = plot, act = {
      in: () => by(0.5), out: () => by(2), all: () => zoomed(plots, plot, ...plot.range),
      left: () => move(-0.4), right: () => move(0.4),
    };
    const by = (f) => { const [a, b] = plot.view, c = (a + b) / 2, h = (f * (b - a)) / 2; zoomed(plots, plot, c - h, c + h); };
    const move = (f) => { const [a, b] = plot.view, d = f * (b - a); zoomed(plots, plot, a + d, b + d); };
    const KEYS = { "+": "in", "=": "in", "-": "out", 0: "all", ArrowLeft: "left", ArrowRight: "right" };
    for (const button of box.parentElement.querySelectorAll("button")) button.addEventListener("click", () => act[button.dataset.act]());
    box.addEventListener("keydown", (event) => { if (KEYS[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { act[KEYS[event.key]](); event.preventDefault(); } });
    box.addEventListener("dblclick", act.all);
    let start = null, mark = null;
    const where = (event) => {  // within the frame
      const { left, width } = box.getBoundingClientRect();
      return Math.min(Math.max(event.clientX - left, EDGE.left), width - EDGE.right);
    };
    box.addEventListener("pointerdown", (event) => { read(plot, plot.at(where(event))); if (event.pointerType === "mouse" && event.button === 0) { start = where(event); box.setPointerCapture(event.pointerId); event.preventDefault(); box.focus({ preventScroll: true }); } });
    box.addEventListener("pointermove", (event) => {
      read(plot, plot.at(where(event)));
      if (start === null) return;
      mark = mark || make("rect", { class: "chosen", y: EDGE.top, height: HEIGHT - EDGE.top - EDGE.bottom }, box.firstChild);
      mark.setAttribute("x", Math.min(start, where(event))); mark.setAttribute("width", Math.abs(where(event) - start));
    });
    box.addEventListener("pointerup", (event) => {
      if (start === null) return;
      const a = plot.at(start), b = plot.at(where(event)), far = Math.abs(where(event) - start) > 5;
      if (mark) mark.remove();
      start = mark = null;
      if (far) zoomed(plots, plot, Math.min(a, b), Math.max(a, b));
    });
    box.addEventListener("pointercancel", () => { if (mark) mark.remove(); start = mark = null; });
  }
  function read(plot, at) {
    const first = plot.spec.series[0].x, i = Math.min(Math.max(from(first, at), 0), first.length - 1);
    const values = plot.spec.series.map((s) => `${s.name} ${s.y[i].toPrecision(4)}`);
    plot.box.parentElement.querySelector("output").textContent = `${first[i].toFixed(3)} s: ${values.join(", ")}`;
  }

  const specs = JSON.parse(document.getElementById("pictures").textContent), plots = [];
  specs.forEach((spec, index) => {
    const box = document.querySelector(`[data-picture="${index}"]`), plot = { spec, index, box };
    if (spec.kind !== "curves") spec.values = unpack(spec.values);
    else {
      for (const s of spec.series) { s.x = s.x === null ? spec.series[0].x : unpack(s.x); s.y = unpack(s.y); s.upper = s.upper === null ? null : unpack(s.upper); }
      let low = Math.min(...spec.series.map((s) => s.x[0])), high = Math.max(...spec.series.map((s) => s.x[s.x.length - 1]));
      if (spec.series.some((s) => s.style === "bars")) { const half = 0.5 * (spec.series[0].x[1] - spec.series[0].x[0] || 1); low -= half; high += half; }
      if (spec.whole) { const room = 0.03 * (high - low); low -= room; high += room; }
      if (!(low < high)) { low -= 0.5; high += 0.5; }
      plot.range = plot.view = [low, high];
      if (spec.zoom) listen(plots, plot);
    }
    plots.push(plot);
  });
  const scene = (plot, box) => didimScene(plot, box, make, unpack);
  const draw = (plot) => ({ map, bars, curves, scene })[plot.spec.kind](plot, plot.box);
  plots.forEach(draw);
  let width = window.innerWidth, waiting = false;
  const again = () => { waiting = false; if (window.innerWidth !== width) { width = window.innerWidth; plots.forEach(draw); } };
  window.addEventListener("resize", () => { if (!waiting) { waiting = true; requestAnimationFrame(again); } });
})();
