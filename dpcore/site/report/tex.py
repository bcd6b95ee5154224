r"""What LaTeX and readers of TeX formulas need: a preamble for the signs of a text, and rows inside formulas."""

from __future__ import annotations

import re
from typing import Any, Final

_PAIRS: Final = r"""
    α \alpha  β \beta  γ \gamma  δ \delta  ε \varepsilon  ζ \zeta  η \eta  θ \theta  ι \iota  κ \kappa  λ \lambda
    μ \mu  ν \nu  ξ \xi  π \pi  ρ \rho  σ \sigma  τ \tau  υ \upsilon  φ \varphi  χ \chi  ψ \psi  ω \omega
    Γ \Gamma  Δ \Delta  Θ \Theta  Λ \Lambda  Ξ \Xi  Π \Pi  Σ \Sigma  Φ \Phi  Ψ \Psi  Ω \Omega
    ϵ \epsilon  ϑ \vartheta  ϕ \phi  ≤ \leq  ≥ \geq  ≠ \neq  ≈ \approx  ≡ \equiv  ∼ \sim  ∞ \infty  − -  × \times
    ÷ \div  · \cdot  ± \pm  √ \surd  ∑ \sum  ∏ \prod  ∫ \int  ∂ \partial  ∇ \nabla  ∈ \in  ∉ \notin  ⊂ \subset
    ⊆ \subseteq  ∪ \cup  ∩ \cap  ∅ \emptyset  ∀ \forall  ∃ \exists  ∧ \wedge  ∨ \vee  ¬ \neg  ⊗ \otimes  ⊕ \oplus
    ∘ \circ  → \rightarrow  ← \leftarrow  ↔ \leftrightarrow  ⇒ \Rightarrow  ⇔ \Leftrightarrow  ≪ \ll  ≫ \gg
    ∝ \propto  ′ {}'  ☐ \square  ☑ \boxtimes  ✓ \checkmark
"""
SIGNS: Final[dict[str, str]] = {
    **dict(re.findall(r"(\S) (\S+)", _PAIRS)),
    **{sign: rf"{{}}_{{{place}}}" for place, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **{sign: rf"{{}}^{{{place}}}" for place, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    "⁻": "{}^{-}",
    "\u202f": r"\,",
    "\u2009": r"\,",
    "\u2011": r"\mbox{-}",
}
"""Signs of sentences that the fonts of LaTeX lack, and what stands for them in a formula."""

_PREAMBLE: Final = r"""\usepackage{caption}\captionsetup{labelformat=empty,justification=raggedright,singlelinecheck=false}
\tracinglostchars=3 % a sign that a font lacks is an error, never left out
\providecommand*{\mathds}[1]{\mathbf{#1}}
% signs of sentences that the fonts lack, with their names in bookmarks
\newcommand*{\textsign}[2]{%
  \ifPDFTeX
    \DeclareUnicodeCharacter{#1}{\texorpdfstring{\ensuremath{#2}}{\unichar{"#1}}}%
  \else
    \begingroup\lccode`\~="#1\lowercase{\endgroup\def~}{\texorpdfstring{\ensuremath{#2}}{\unichar{"#1}}}%
    \catcode"#1=\active
  \fi}
"""
_OUTER: Final = {
    **dict.fromkeys(("align", "align*", "flalign", "flalign*"), "aligned"),
    **dict.fromkeys(("alignat", "alignat*"), "alignedat"),
    **dict.fromkeys(("gather", "gather*", "multline", "multline*", "equation", "equation*"), "gathered"),
}
_ALONE: Final = {"aligned": "align*", "alignedat": "alignat*", "gathered": "gather*", "split": "align*"}
_ENVIRONMENT: Final = re.compile(r"\\(begin|end)\s*\{([a-z]+\*?)\}")
_ENTRY: Final = re.compile(r"#ref-[A-Za-z0-9.:-]+")  # names that Pandoc's list of references keeps as they are
_UNNUMBERED: Final = re.compile(r"\\(?:nonumber|notag)(?![A-Za-z])")


def preamble() -> str:
    """Return what the head of a document in LaTeX holds, for pdfLaTeX, XeLaTeX and LuaLaTeX."""
    return _PREAMBLE + "".join(f"\\textsign{{{ord(sign):04X}}}{{{name}}}\n" for sign, name in SIGNS.items())


def inside_formula(latex: str) -> str:
    r"""Return a formula with rows allowed in ``\[ \]`` or ``$$``, where LaTeX refuses rows that are formulas.

    Parameters
    ----------
    latex : str
        A formula that was checked.

    Returns
    -------
    str
        With ``aligned`` for ``align`` and the like: the same rows and columns, numbered as a whole.

    Examples
    --------
    >>> inside_formula(r"\begin{align*} a &= b \\ &= c \nonumber \end{align*}")
    '\\begin{aligned} a &= b \\\\ &= c  \\end{aligned}'
    """

    def renamed(match: re.Match[str]) -> str:
        which, name = match[1], match[2]
        if name.startswith("eqnarray"):
            return r"\begin{array}{rcl}" if which == "begin" else r"\end{array}"
        return rf"\{which}{{{_OUTER.get(name, name)}}}"

    return _ENVIRONMENT.sub(renamed, _UNNUMBERED.sub("", latex))


def cited(inlines: list[Any]) -> list[Any]:
    """Return a citation with the command that leads to an entry of the list of references in LaTeX."""
    written: list[Any] = []
    for one in inlines:
        name = str(one["c"][2][0]) if one["t"] == "Link" else ""
        if _ENTRY.fullmatch(name):
            start = {"t": "RawInline", "c": ["latex", rf"\citeproc{{{name[1:]}}}{{"]}
            written += [start, *one["c"][1], {"t": "RawInline", "c": ["latex", "}"]}]
        else:
            written.append(one)
    return written


def rows_with_tags(latex: str) -> str:
    r"""Return a formula that is rows with numbers of their own as the environment of LaTeX that allows them, or an empty text.

    Parameters
    ----------
    latex : str
        A formula that was checked.

    Returns
    -------
    str
        The environment, which belongs outside of ``\[ \]``.

    Examples
    --------
    >>> rows_with_tags(r"\begin{aligned} a &= b \tag{1} \end{aligned}")
    '\\begin{align*} a &= b \\tag{1} \\end{align*}'
    >>> rows_with_tags(r"\begin{aligned} a &= b \end{aligned}")
    ''
    """
    plain = inside_formula(latex).strip()
    start = _ENVIRONMENT.match(plain)
    if r"\tag" not in plain or start is None or start[2] not in _ALONE or not plain.endswith(rf"\end{{{start[2]}}}"):
        return ""
    inner = plain[start.end() : -len(rf"\end{{{start[2]}}}")]
    return rf"\begin{{{_ALONE[start[2]]}}}{inner}\end{{{_ALONE[start[2]]}}}"
