"""Statistics lab: what a thesis printed, what is true, and why it matters, one claim at a time."""

import streamlit as st

from dpcore.app import lab, page, work
from dpcore.app.figure import plain, show_made

page.setup(
    "Statistics lab",
    "Statisticians have built on differential privacy, and not everything that was printed is true. Each lab takes one claim, "
    "puts what is true beside it, and says why it matters.",
)
page.preset_row("Statistics_lab", lab.DEFAULTS)
dark = page.look().dark
top = st.container()
told, body, rows = st.container(), st.container(), st.container()
with st.expander("The setting as text", icon=":material/edit_note:"):
    texts = st.container()
with top:
    chosen = lab.ask(texts)
if chosen is None:
    st.info("Choose a lab above.", icon=":material/edit:")
    st.stop()

with told:
    lab.story(chosen)
with body:
    left, right = st.columns([3, 2], gap="large")
with right:
    view = lab.ask_view(chosen)
    seed = lab.ask_seed(chosen)
    lab.KIND.fields(chosen)
work.fresh((lab.written(chosen), view, seed))
with left:
    code = lab.code(chosen, view, seed)
    show_made(lambda: lab.picture(chosen, view, seed, dark=dark), "Computing", key="lab_figure", code=code)
with rows:
    st.header("As printed, and as it is")
    lab.show_checks(chosen, seed)
    st.subheader("The corrected statement")
    for formula in lab.statements(chosen):
        st.latex(formula)
    st.caption(plain(f"{chosen.reference}."))
page.guide("statistics_lab")
