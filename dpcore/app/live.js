// Sends Python the value of a slider during a drag; Streamlit itself sends only the value at its release.
// Only one value is in flight at a time: the newest one is sent when Python has answered the last one (`data.seen`).
// A handle on a chart moves its slider: the pointer is projected onto the handle's path, and the slider is moved by a
// synthetic pointer, so dragging either of the two has the same effect.
const AGAIN = 800; // ms to wait for an answer
const OUR_POINTER = 7331;
const REACH = { touch: 30, mouse: 16, pen: 16 }; // px around a handle

export default function ({ data, parentElement, setStateValue }) {
  const live = (parentElement.dpcore ??= { number: 0, waiting: false, next: null, held: null, watch: null, drag: null });
  const send = (value) => {
    live.number += 1;
    live.waiting = true;
    live.next = null;
    setStateValue("held", { ...value, number: live.number });
    // an answer is lost if the page is replaced at that moment: ask again while the slider is held
    const number = live.number;
    setTimeout(() => {
      if (live.held && live.waiting && live.number === number) send(live.next ?? value);
    }, AGAIN);
  };
  const tell = (value) => {
    if (live.waiting) live.next = value;
    else send(value);
  };
  if (data.seen === live.number) {
    live.waiting = false;
    if (live.next) send(live.next);
  }

  const text = (slider) => slider.querySelector("input[type=range]")?.getAttribute("aria-valuetext") ?? "";
  const grasp = (event) => {
    const key = data.sliders.find((name) => event.target.closest?.(`.st-key-${name}`));
    if (!key || live.held) return;
    const slider = document.querySelector(`.st-key-${key}`);
    live.held = key;
    live.text = text(slider);
    live.watch = new MutationObserver(() => {
      if (text(slider) === live.text) return;
      live.text = text(slider);
      tell({ slider: key, text: live.text });
    });
    live.watch.observe(slider, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
  };
  const late = (event) => {
    if (event.buttons & 1) grasp(event); // the slider was grasped before this script was there
  };
  const release = () => {
    live.watch?.disconnect();
    live.held = live.watch = live.next = null;
    live.waiting = false;
  };

  const grab = (event) => {
    if (!event.isTrusted || event.button !== 0 || live.drag) return;
    const drag = closest(data.drags, event);
    const thumb = drag && range(drag)?.closest("[data-rac]");
    if (!thumb) return;
    event.stopPropagation(); // otherwise the chart would move too
    event.preventDefault();
    live.drag = { ...drag, from: share(drag), last: frame(drag), width: thumb.parentElement.getBoundingClientRect().width };
    thumb.dispatchEvent(pointer("pointerdown", 0));
  };
  const pull = (event) => {
    if (!event.isTrusted) return;
    if (!live.drag) return hover(data.drags, event);
    event.stopPropagation();
    live.drag.last = frame(live.drag) ?? live.drag.last; // the chart is replaced during the drag
    const along = nearest(live.drag, live.drag.last, event).share - live.drag.from;
    document.dispatchEvent(pointer("pointermove", along * live.drag.width));
  };
  const drop = (event) => {
    if (!event.isTrusted || !live.drag) return;
    live.drag = null;
    document.dispatchEvent(pointer("pointerup", 0));
  };
  const keep = (event) => {
    if (closest(data.drags, { ...plain(event.touches[0]), pointerType: "touch" })) event.preventDefault(); // no scrolling
  };

  const listeners = [
    [document, "pointerdown", grasp, true],
    [document, "pointermove", late, true],
    [window, "pointerup", release, true],
    [window, "pointercancel", release, true],
  ];
  if (data.drags.length) {
    listeners.push(
      [document, "pointerdown", grab, true],
      [window, "pointermove", pull, true],
      [window, "pointerup", drop, true],
      [window, "pointercancel", drop, true],
      [document, "touchstart", keep, { capture: true, passive: false }],
    );
  }
  for (const [place, name, action, options] of listeners) place.addEventListener(name, action, options);
  return () => {
    for (const [place, name, action, options] of listeners) place.removeEventListener(name, action, options);
  };
}

const plain = ({ clientX, clientY }) => ({ clientX, clientY });

// A synthetic pointer event for the slider, moved by so many pixels.
const pointer = (name, moved) =>
  new PointerEvent(name, {
    bubbles: true,
    cancelable: true,
    pointerId: OUR_POINTER,
    pointerType: "mouse",
    isPrimary: true,
    buttons: name === "pointerup" ? 0 : 1,
    clientX: moved,
  });

const range = (drag) => document.querySelector(`.st-key-${drag.slider} input[type=range]`);

// The position of the slider, from 0 at its start to 1 at its end.
const share = (drag) => {
  const input = range(drag);
  return (input.value - input.min) / (input.max - input.min);
};

// The frame of the chart in pixels and the ends of its axes; those of a zoomed chart follow from its ticks.
const frame = (drag) => {
  const svg = document.querySelector(`.st-key-${drag.chart} svg.marks`);
  const box = svg?.querySelector("g.root > g > path.background")?.getBoundingClientRect();
  if (!box?.width || !box.height) return null;
  return { box, x: ends(svg, "X", drag.x, box.width, drag.log), y: ends(svg, "Y", drag.y, box.height, drag.log) };
};

const ends = (svg, axis, whole, size, log) => {
  const view = (value) => (log ? Math.log(value) : value);
  let [low, high] = whole.map(view);
  const [first, last] = ticks(svg, axis).map(([at, value]) => [at, view(value)]);
  if (last && Number.isFinite(first[1]) && Number.isFinite(last[1]) && first[0] !== last[0]) {
    const step = (last[1] - first[1]) / (last[0] - first[0]);
    const [start, end] = [0, size].map((at) => first[1] + (at - first[0]) * step).sort((a, b) => a - b);
    const off = 0.01 * (high - low);
    if (Math.abs(start - low) > off || Math.abs(end - high) > off) [low, high] = [start, end];
  }
  return (value) => (view(value) - low) / (high - low);
};

// The first and the last number on an axis, with their positions in pixels from the corner of the frame.
const ticks = (svg, axis) => {
  const parts = (role) => [...svg.querySelectorAll(`[aria-label^="${axis}-axis"] .role-axis-${role}`)];
  const lines = parts("tick line");
  const numbers = parts("label text").map((label, i) => {
    const places = lines[i]?.getAttribute("transform")?.match(/translate\(([^,]+),([^)]+)\)/);
    const text = label.textContent.replace("\u2212", "-").replaceAll(",", "");
    return [Number(places?.[axis === "X" ? 1 : 2]), text === "" ? NaN : Number(text)];
  });
  const read = numbers.filter((one) => one.every(Number.isFinite)).sort((a, b) => a[0] - b[0]);
  return read.length > 1 ? [read[0], read.at(-1)] : [];
};

// A point of the path in pixels; a null coordinate follows the pointer, because the handle is a line.
const place = ([x, y], { box, x: across, y: up }, event) => [
  x === null ? event.clientX : box.left + box.width * across(x),
  y === null ? event.clientY : box.bottom - box.height * up(y),
];

// The point of the path nearest to the pointer, as a fraction of the slider.
const nearest = (drag, where, event) => {
  const points = drag.path.map((point) => place(point, where, event));
  let best = { share: 0, distance: Infinity };
  for (let i = 0; i + 1 < points.length; i += 1) {
    const [[ax, ay], [bx, by]] = [points[i], points[i + 1]];
    const [dx, dy] = [bx - ax, by - ay];
    const length = dx * dx + dy * dy;
    const along = length ? ((event.clientX - ax) * dx + (event.clientY - ay) * dy) / length : 0;
    const t = Math.min(1, Math.max(0, along));
    const distance = Math.hypot(event.clientX - ax - t * dx, event.clientY - ay - t * dy);
    if (distance < best.distance) best = { share: (i + t) / (points.length - 1), distance };
  }
  return best;
};

// The distance from the pointer to the handle, which is on its path at the slider's position.
const distance = (drag, event) => {
  const where = frame(drag);
  if (!where || !range(drag)) return Infinity;
  const { box } = where;
  const margin = REACH.mouse;
  if (event.clientX < box.left - margin || event.clientX > box.right + margin) return Infinity;
  if (event.clientY < box.top - margin || event.clientY > box.bottom + margin) return Infinity;
  const at = share(drag) * (drag.path.length - 1);
  const i = Math.min(Math.floor(at), drag.path.length - 2);
  const [[ax, ay], [bx, by]] = [place(drag.path[i], where, event), place(drag.path[i + 1], where, event)];
  return Math.hypot(event.clientX - ax - (at - i) * (bx - ax), event.clientY - ay - (at - i) * (by - ay));
};

// The handle under the pointer, if any.
const closest = (drags, event) => {
  let best = null;
  let least = REACH[event.pointerType] ?? REACH.mouse;
  for (const drag of drags) {
    const far = distance(drag, event);
    if (far <= least) [best, least] = [drag, far];
  }
  return best;
};

const hover = (drags, event) => {
  const near = event.buttons ? null : closest(drags, event);
  for (const key of new Set(drags.map((drag) => drag.chart))) {
    const chart = document.querySelector(`.st-key-${key}`);
    const cursor = near?.chart === key ? "grab" : "";
    if (chart && chart.style.cursor !== cursor) chart.style.cursor = cursor;
  }
};
