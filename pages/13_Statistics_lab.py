"""Statistics lab: what a thesis claims, what is true, and why it matters."""

import streamlit as st

from dpcore.app import figure, page, statistics_lab, work

page.setup(
    "Statistics lab",
    "Each lab takes one printed claim, shows what is true instead, and says why it matters.",
)
page.preset_row("Statistics_lab", statistics_lab.DEFAULTS)
left, right = st.columns([5, 3], gap="large")
row, story, rows = st.container(), st.container(), st.container()
with st.expander("The setting as text", icon=":material/edit_note:"):
    texts = st.container()
with right:
    lab = statistics_lab.ask(texts)
if lab is None:
    left.info("Choose a lab first.", icon=":material/edit:")
    st.stop()

with right:
    view = statistics_lab.ask_view(lab)
    seed = statistics_lab.ask_seed(lab)
    statistics_lab.KIND.fields(lab)
work.fresh((statistics_lab.written(lab), view, seed))
with left:
    figure.show(statistics_lab.spec(lab, view, seed), key="lab_figure", words="Computing", height=420, below=row)
with story:
    statistics_lab.story(lab)
with rows:
    st.header("Printed and true")
    statistics_lab.show_checks(lab, seed)
    st.header("The corrected statement")
    for formula in statistics_lab.statements(lab):
        st.latex(formula)
    st.caption(figure.plain(f"{lab.reference}."))
page.guide("statistics_lab")
