"""Statistics lab: what a thesis claims, what is true, and why it matters."""

import streamlit as st

from dpcore.app import figure, page, statistics_lab, work

page.setup(
    "Statistics lab",
    "Statisticians have written a lot about differential privacy, and not all of it is true. Each lab takes one claim, "
    "shows what is true instead, and says why it matters.",
)
page.preset_row("Statistics_lab", statistics_lab.DEFAULTS)
top = st.container()
story, body, rows = st.container(), st.container(), st.container()
with st.expander("The setting as text", icon=":material/edit_note:"):
    texts = st.container()
with top:
    lab = statistics_lab.ask(texts)
if lab is None:
    st.info("Choose a lab above.", icon=":material/edit:")
    st.stop()

with story:
    statistics_lab.story(lab)
with body:
    left, right = st.columns([3, 2], gap="large")
with right:
    view = statistics_lab.ask_view(lab)
    seed = statistics_lab.ask_seed(lab)
    statistics_lab.KIND.fields(lab)
work.fresh((statistics_lab.written(lab), view, seed))
with left:
    figure.show(statistics_lab.spec(lab, view, seed), key="lab_figure", words="Computing")
with rows:
    st.header("Printed and true")
    statistics_lab.show_checks(lab, seed)
    st.subheader("The corrected statement")
    for formula in statistics_lab.statements(lab):
        st.latex(formula)
    st.caption(figure.plain(f"{lab.reference}."))
page.guide("statistics_lab")
