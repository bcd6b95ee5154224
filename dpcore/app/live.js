// Tells Python where a slider stands while it is held; Streamlit itself tells only where it was released.
// One value at a time is on its way: the newest one is sent when Python has answered the last (`data.seen`).
export default function ({ data, parentElement, setStateValue }) {
  const live = (parentElement.dpcore ??= { number: 0, waiting: false, next: null, held: null, watch: null });
  const send = (value) => {
    live.number += 1;
    live.waiting = true;
    live.next = null;
    setStateValue("held", { ...value, number: live.number });
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
  const release = () => {
    live.watch?.disconnect();
    live.held = live.watch = live.next = null;
    live.waiting = false;
  };
  document.addEventListener("pointerdown", grasp, true);
  window.addEventListener("pointerup", release, true);
  window.addEventListener("pointercancel", release, true);
  return () => {
    document.removeEventListener("pointerdown", grasp, true);
    window.removeEventListener("pointerup", release, true);
    window.removeEventListener("pointercancel", release, true);
  };
}
