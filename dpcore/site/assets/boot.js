// Makes the pictures of a page live: each is replaced when it comes near the screen, and drawn again when the
// visitor switches between light and dark. One without sliders waits until the visitor does something: until then it
// shows no more than its picture. Without this script the pictures stay as they are.
(() => {
  "use strict";
  const DARK = /*DARK*/ {};
  const LOOK = /*LOOK*/ {};
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const colours = new RegExp(Object.keys(DARK).join("|"), "g");
  const painted = (text) => (scheme.matches ? text.replace(colours, (colour) => DARK[colour]) : text);
  const places = [...document.querySelectorAll("[data-figure]")];

  // the library is large: it is fetched when the first chart comes near, after the page itself is shown
  const address = document.currentScript.dataset.vega;
  let library;
  const loaded = () =>
    (library ??= new Promise((resolve) => {
      if (window.vegaEmbed || !address) return resolve();
      const script = document.createElement("script");
      script.src = address;
      script.onload = script.onerror = resolve;
      document.head.append(script);
    }));

  // a chart comes with the page or in a script of its own: a page on file:// may load nothing else
  window.dpcoreCharts = {};
  const chart = (place) =>
    new Promise((resolve, reject) => {
      const name = place.dataset.figure;
      const held = document.getElementById(`chart-${name}`);
      if (held) window.dpcoreCharts[name] = JSON.parse(held.textContent);
      if (window.dpcoreCharts[name]) return resolve(window.dpcoreCharts[name]);
      const script = document.createElement("script");
      script.src = place.dataset.script;
      script.onload = () => resolve(window.dpcoreCharts[name]);
      script.onerror = () => reject(new Error("its file is missing"));
      document.head.append(script);
    });

  // data come by column; repeated values are stored once
  const column = (held) => {
    if (Array.isArray(held)) return held;
    if (held.at) return held.at.map((place) => held.texts[place]);
    return held.runs.flatMap(([place, count]) => Array(count).fill(held.texts[place]));
  };
  const rows = (data) => {
    const columns = Object.entries(data).map(([name, held]) => [name, column(held)]);
    const count = columns.length ? columns[0][1].length : 0;
    return Array.from({ length: count }, (_, i) => Object.fromEntries(columns.map(([name, all]) => [name, all[i]])));
  };
  const unpacked = (found) => ({
    ...found,
    datasets: Object.fromEntries(Object.entries(found.datasets).map(([name, data]) => [name, rows(data)])),
    config: LOOK,
  });

  const show = async (place) => {
    await loaded();
    if (!window.vegaEmbed) return;
    let spec;
    try {
      spec = JSON.parse(painted(JSON.stringify(unpacked(await chart(place)))));
    } catch (error) {
      console.error(`${place.dataset.figure}: ${error}`);
      return;
    }
    const fresh = document.createElement("div");
    fresh.className = "live";
    const old = place.querySelector(".live");
    if (old) old.remove();
    place.append(fresh);
    place.classList.add("ready");
    try {
      await vegaEmbed(fresh, spec, {
        ast: true,
        actions: false,
        renderer: "svg",
        defaultStyle: false,
        tooltip: { disableDefaultStyle: true },
      });
      place.classList.add("shown");
    } catch (error) {
      fresh.remove();
      place.classList.remove("ready");
      console.error(`${place.dataset.figure}: ${error}`);
    }
  };

  // An element that a formula makes wider than its column can be scrolled, also by keyboard. Measuring means laying out:
  // what is near the screen is measured at once, the rest while nothing else is to be done.
  const formulas = [...document.querySelectorAll(".formula, main :is(p, li, dd):has(math)")];
  const measure = (some) => {
    // all are measured before any is changed, so that they are laid out once
    const wide = some.map((place) => place.scrollWidth > place.clientWidth + 1);
    some.forEach((place, at) => {
      place.classList.toggle("wide", wide[at]);
      if (wide[at]) place.tabIndex = 0;
      else place.removeAttribute("tabindex");
    });
  };
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(() => work({ timeRemaining: () => 10 }), 50));
  let left = [];
  const some = (deadline) => {
    do measure(left.splice(0, 5)); while (left.length && deadline.timeRemaining() > 5);
    if (left.length) idle(some, { timeout: 500 });
  };
  const reach = () => {
    const waiting = left.length > 0;
    left = [...formulas];
    if (left.length && !waiting) idle(some, { timeout: 500 });
  };
  const seen = new IntersectionObserver((all) => measure(all.filter((one) => one.isIntersecting).map((one) => one.target)));
  formulas.forEach((place) => seen.observe(place));
  document.fonts.ready.then(reach);
  addEventListener("resize", reach);

  const near = new IntersectionObserver(
    (seen) => {
      for (const one of seen) {
        if (one.isIntersecting) {
          near.unobserve(one.target);
          show(one.target);
        }
      }
    },
    { rootMargin: "400px" },
  );
  const SIGNS = ["pointermove", "pointerdown", "keydown", "scroll", "touchstart", "focusin"];
  const watch = () => {
    const waiting = places.filter((place) => !("sliders" in place.dataset));
    const start = () => {
      SIGNS.forEach((sign) => removeEventListener(sign, start));
      waiting.forEach((place) => near.observe(place));
    };
    SIGNS.forEach((sign) => addEventListener(sign, start, { passive: true }));
    places.filter((place) => "sliders" in place.dataset).forEach((place) => near.observe(place));
  };
  if (document.readyState === "complete") watch();
  else addEventListener("load", watch);
  scheme.addEventListener("change", () => places.filter((place) => place.querySelector(".live")).forEach(show));
})();
