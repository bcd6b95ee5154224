"""Statistics lab: what a thesis printed, what is true, and why it matters, one claim at a time."""

import streamlit as st

from dpcore.app import figure, page, statistics_lab, work

page.setup(
    "Statistics lab",
    "Statisticians have built on differential privacy, and not everything that was printed is true. Each lab takes one claim, "
    "puts what is true beside it, and says why it matters.",
)
page.preset_row("Statistics_lab", statistics_lab.DEFAULTS)
top = st.container()
told, body, rows = st.container(), st.container(), st.container()
with st.expander("The setting as text", icon=":material/edit_note:"):
    texts = st.container()
with top:
    chosen = statistics_lab.ask(texts)
if chosen is None:
    st.info("Choose a lab above.", icon=":material/edit:")
    st.stop()

with told:
    statistics_lab.story(chosen)
with body:
    left, right = st.columns([3, 2], gap="large")
with right:
    view = statistics_lab.ask_view(chosen)
    seed = statistics_lab.ask_seed(chosen)
    statistics_lab.KIND.fields(chosen)
work.fresh((statistics_lab.written(chosen), view, seed))
with left:
    figure.show(statistics_lab.spec(chosen, view, seed), key="lab_figure", words="Computing")
with rows:
    st.header("As printed, and as it is")
    statistics_lab.show_checks(chosen, seed)
    st.subheader("The corrected statement")
    for formula in statistics_lab.statements(chosen):
        st.latex(formula)
    st.caption(figure.plain(f"{chosen.reference}."))
page.guide("statistics_lab")
