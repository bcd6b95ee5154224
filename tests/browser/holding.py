"""A slider held by the pointer, and what the page draws meanwhile: for the test and the benchmark of live controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGES = {
    "Start": ("", "eps_slider", 0),
    "Privacy regions": ("Privacy_regions?regions=dptv(0.6%2C+0.15%2C+0.25)", "edit_dptv_epsilon_slide", 0),
    "Composition": ("Composition", "k_slider", 0),
    "Mechanisms": ("Mechanisms", "noise_laplace_epsilon_slide", 0),
    "Privacy and utility": ("Privacy_and_utility", "utility_histogram_laplace_epsilon_slide", 0),
    "Ledger": ("Ledger", "ledger_delta_slider", 0),
    "Plan a release": ("Plan_a_release", "plan_epsilon_slider", 0),
    "Private intervals": ("Your_data?data_against=n", "data_epsilon_slider", 0),
    "Sensitivities": ("Your_data?data_tool=Sensitivity", "data_epsilon_slider", 0),
    "Audit": ("Audit", "audit_trials_slider", 0),
    "Choose your noise": ("Choose_your_noise", "choose_epsilon_slider", 0),
    "Local privacy": ("Local_privacy", "local_epsilon_slider", 0),
    "Map": ("Map", "map_delta_slider", 0),
}
"""Address, key of the slider and place of the chart that follows it, for every page with a live picture."""

_WATCH = """which => {
  const paths = () => {
    const chart = document.querySelectorAll("[data-testid='stVegaLiteChart']")[which];
    const places = mark => mark.getAttribute("d") + mark.getAttribute("transform");
    return chart ? [...chart.querySelectorAll("path, line")].map(places).join("|") : "";
  };
  window.pictures = [];
  window.values = [];
  let last = paths();
  const look = () => {
    const now = paths();
    if (now && now !== last) { last = now; window.pictures.push(performance.now()); }
    requestAnimationFrame(look);
  };
  look();
}"""
_LISTEN = """key => {
  const slider = document.querySelector(`.st-key-${key}`);
  const text = () => slider.querySelector("input[type=range]").getAttribute("aria-valuetext");
  let last = text();
  new MutationObserver(() => {
    if (text() !== last) { last = text(); window.values.push([performance.now(), last]); }
  }).observe(slider, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
}"""


class Hand:
    """The pointer on a slider, pressed until it is released."""

    def __init__(self, page: Page, key: str, chart: int) -> None:
        self.page, self.key = page, key
        slider = page.locator(f".st-key-{key}")
        slider.scroll_into_view_if_needed()
        thumb = slider.get_by_test_id("stSliderThumbValue").bounding_box()
        bar = slider.get_by_test_id("stSlider").bounding_box()
        assert thumb is not None
        assert bar is not None
        self.left, self.width = bar["x"] + 8, bar["width"] - 16
        self.y = thumb["y"] + thumb["height"] + 8
        self.start = (thumb["x"] + thumb["width"] / 2 - self.left) / self.width
        page.evaluate(_WATCH, chart)
        page.evaluate(_LISTEN, key)
        page.mouse.move(thumb["x"] + thumb["width"] / 2, self.y)
        page.mouse.down()

    def move(self, share: float) -> None:
        """Move to a share of the slider's length."""
        self.page.mouse.move(self.left + self.width * share, self.y)

    def release(self) -> None:
        """Let go."""
        self.page.mouse.up()

    def pictures(self) -> list[float]:
        """Return when the chart has changed since the slider was grasped, in ms."""
        return [float(time) for time in self.page.evaluate("window.pictures")]

    def values(self) -> list[tuple[float, str]]:
        """Return when the slider has shown another value, in ms, and which."""
        return [(float(time), str(text)) for time, text in self.page.evaluate("window.values")]
