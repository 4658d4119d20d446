"use strict";
// Draws the links of a robot in space: what they sweep over, and one pose. Dragging turns it.
function didimScene(plot, box, make, unpack) {
  const spec = plot.spec, WIDEST = 460;
  if (!plot.view) {
    plot.view = { azimuth: -0.9, elevation: 0.35, pose: 0 };
    for (const key of ["t", "capsules", "radii", "sticks", "frame", "nearest"]) spec[key] = unpack(spec[key]);
    listen();
  }
  draw();

  // The sphere around everything, so that turning does not change the scale.
  function extent() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const list of [spec.capsules, spec.frame]) for (let i = 0; i < list.length; i++) {
      low[i % 3] = Math.min(low[i % 3], list[i]); high[i % 3] = Math.max(high[i % 3], list[i]);
    }
    const middle = low.map((v, k) => (v + high[k]) / 2);
    return { middle, radius: 0.5 * Math.hypot(...low.map((v, k) => high[k] - v)) + Math.max(...spec.radii) || 1 };
  }

  function draw() {
    const width = Math.max(box.clientWidth, 220), height = Math.min(width, WIDEST), { azimuth, elevation, pose } = plot.view;
    plot.extent = plot.extent || extent();
    const { middle, radius } = plot.extent, scale = (0.5 * Math.min(1.3 * height, width)) / radius;
    const ca = Math.cos(azimuth), sa = Math.sin(azimuth), ce = Math.cos(elevation), se = Math.sin(elevation);
    const at = (list, i) => {
      const x = list[i] - middle[0], y = list[i + 1] - middle[1], z = list[i + 2] - middle[2];
      const right = -sa * x + ca * y, up = -se * (ca * x + sa * y) + ce * z;
      return `${(width / 2 + scale * right).toFixed(1)} ${(height / 2 - scale * up).toFixed(1)}`;
    };
    const line = (list, i) => `M${at(list, i)}L${at(list, i + 3)}`;
    const lines = (list, first, count) => { let d = ""; for (let k = first; k < first + count; k++) d += line(list, 6 * k); return d; };
    const poses = spec.t.length, parts = spec.radii.length, sticks = spec.sticks.length / 6 / poses;

    const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, class: "scene", role: "img", "aria-label": box.getAttribute("aria-label") });
    make("path", { class: "ground", d: lines(spec.frame, 0, spec.frame.length / 6) }, svg);
    for (let l = 0; l < parts; l++) {
      let d = "";
      for (let k = 0; k < poses; k++) d += line(spec.capsules, 6 * (k * parts + l));
      make("path", { class: `swept ${spec.colors[l]}`, d, "stroke-width": 2 * spec.radii[l] * scale }, svg);
    }
    for (let l = 0; l < parts; l++)
      make("path", { class: `pose ${spec.colors[l]}`, d: line(spec.capsules, 6 * (pose * parts + l)), "stroke-width": 2 * spec.radii[l] * scale }, svg);
    make("path", { class: "stick", d: lines(spec.sticks, pose * sticks, sticks) }, svg);
    for (let k = 0; k < sticks; k++) {
      const [x, y] = at(spec.sticks, 6 * (pose * sticks + k)).split(" ");
      make("circle", { class: "joint", cx: x, cy: y, r: 3 }, svg);
    }
    box.replaceChildren(svg);
    const output = box.parentElement.querySelector("output"), near = spec.nearest[pose];
    const text = Number.isFinite(near) ? `, nearest limit: ${spec.names[pose]}, ${near.toFixed(3)} m` : "";
    if (output) output.textContent = `${spec.t[pose].toFixed(2)} s${text}`;
  }

  function listen() {
    const turn = (right, up) => {
      plot.view.azimuth -= right; plot.view.elevation = Math.min(Math.max(plot.view.elevation + up, -1.5), 1.5); draw();
    };
    const slider = box.parentElement.querySelector("input[type=range]");
    if (slider) {
      slider.max = spec.t.length - 1;
      slider.addEventListener("input", () => { plot.view.pose = Number(slider.value); draw(); });
    }
    const act = { left: [-0.3, 0], right: [0.3, 0], up: [0, 0.2], down: [0, -0.2] };
    const keys = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
    for (const button of box.parentElement.querySelectorAll("button")) button.addEventListener("click", () => turn(...act[button.dataset.act]));
    box.addEventListener("keydown", (event) => {
      if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) { turn(...act[keys[event.key]]); event.preventDefault(); }
    });
    let last = null;
    box.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; box.setPointerCapture(event.pointerId); });
    box.addEventListener("pointermove", (event) => {
      if (!last) return;
      turn(0.01 * (event.clientX - last[0]), 0.01 * (event.clientY - last[1])); last = [event.clientX, event.clientY];
    });
    for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { last = null; });
  }
}
