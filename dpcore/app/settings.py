"""A named object with parameters, such as a utility pair or a lab, as a text in the link and as fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import streamlit as st

from dpcore.app import forms, page
from dpcore.app.figure import plain
from dpcore.charts import theme
from dpcore.core.errors import DomainError, DpcoreError
from dpcore.core.registry import Choice, Parameter
from dpcore.language import numbers
from dpcore.regions.tradeoff import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streamlit.delta_generator import DeltaGenerator

LONGEST = 2000
MOST_COLUMNS = 4
_SETTINGS = re.compile(r"\s+(?=\w+=)")  # a value may contain spaces, as in moves=any way


class Parametric(Protocol):
    """An object with a name and named, validated parameters."""

    name: ClassVar[str]  # its name in links

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return its parameters in order."""


_T = TypeVar("_T", bound=Parametric)


@dataclass(frozen=True)
class Kind(Generic[_T]):
    """All objects of one kind.

    Attributes
    ----------
    key : str
        Name of the text in the link; the fields are kept under ``{key}_{thing}_{parameter}``.
    known : mapping of str to type of _T
        Name -> class.
    make : callable
        Builds one from its name and parameters.
    words : str
        A description with an example, for the empty text.
    """

    key: str
    known: Mapping[str, type[_T]]
    make: Callable[..., _T]
    words: str

    def read(self, text: str) -> _T:
        """Parse a text such as ``count_laplace epsilon=0.5 at_least=65``.

        Missing parameters keep their defaults. The error for an unknown name suggests the closest one; the error for
        a wrong value names its domain.
        """
        if len(text) > LONGEST:
            msg = f"The setting may have at most {LONGEST} characters, got {len(text)}."
            raise DomainError(msg)
        name, texts = _parts(text)
        if not name:
            msg = f"The setting is empty; it starts with the name of {self.words}."
            raise DomainError(msg)
        parameters = {p.name: p for p in self.known[name].parameters()} if name in self.known else {}
        values = {key: meant(parameters[key], value) if key in parameters else value for key, value in texts.items()}
        return self.make(name, **values)

    def texts(self, current: _T, **typed: str) -> dict[str, str]:
        """Return each parameter as it was typed, now or earlier in the link; the others in canonical form."""
        known = {**_parts(str(st.session_state.get(self.key, "")))[1], **typed}
        texts = {}
        for parameter in current.parameters():
            own = said(parameter, getattr(current, parameter.name))
            text = known.get(parameter.name, own).strip()
            texts[parameter.name] = text if _same(parameter, text, own) else own
        return texts

    def text(self, current: _T, **typed: str) -> str:
        """Return the text that `read` parses into this object, with the parameters as they were typed."""
        return " ".join([current.name, *(f"{name}={text}" for name, text in self.texts(current, **typed).items())])

    def fields(self, current: _T) -> None:
        """Show one field per parameter; the fields follow the text and update it when they change."""
        prefix, texts = f"{self.key}_{current.name}", self._filled(current)
        trouble = st.container()
        with st.expander(f"Parameters: {_summary(current.parameters(), texts)}", icon=":material/tune:"):
            columns = st.columns(MOST_COLUMNS)
            for index, parameter in enumerate(current.parameters()):
                with columns[index % len(columns)]:
                    self._field(current, parameter, f"{prefix}_{parameter.name}")
        self._check(current, trouble)

    def rows(self, current: _T, values: Mapping[str, Sequence[float]], idle: Sequence[str] = ()) -> list[str]:
        """Show every parameter that is not idle, each number as a slider with its field; return the sliders' keys."""
        texts, sliders = self._filled(current), list[str]()
        prefix = f"{self.key}_{current.name}"
        numeric = [p for p in current.parameters() if p.kind in {"number", "integer"} and not isinstance(p, Choice)]
        for parameter in (one for one in numeric if one.name not in idle):
            name, some = parameter.name, values.get(parameter.name, ())
            sliders += forms.row(parameter, texts[name], f"{prefix}_{name}", self._take, (current,), some)
        self._check(current, st.container())
        others = [parameter for parameter in current.parameters() if parameter not in numeric]
        if others:
            with st.expander(f"Choices: {_summary(others, texts)}", icon=":material/tune:"):
                for parameter in others:
                    self._field(current, parameter, f"{prefix}_{parameter.name}")
        return sliders

    def _filled(self, current: _T) -> dict[str, str]:
        """Return the contents of the fields, which follow the text."""
        mark, texts = f"_{self.key}_text", self.texts(current)
        fields = {f"{self.key}_{current.name}_{name}": text for name, text in texts.items()}
        is_back = any(
            key not in st.session_state for key in fields
        )  # Streamlit forgets the fields of a page that is left
        if is_back or st.session_state.get(mark) != (current.name, texts):
            for key, text in fields.items():
                st.session_state[key] = text
            st.session_state[mark] = (current.name, texts)
        return texts

    def _check(self, current: _T, trouble: DeltaGenerator) -> None:
        try:
            self._typed(current)
        except DpcoreError as error:
            trouble.error(plain(str(error)), icon=":material/error:")

    def _field(self, current: _T, parameter: Parameter, key: str) -> None:
        st.session_state.setdefault(key, said(parameter, getattr(current, parameter.name)))
        shared: dict[str, Any] = {
            "key": key,
            "help": f"{parameter.meaning}: {parameter.domain_words}",
            "on_change": self._take,
            "args": (current,),
        }
        if isinstance(parameter, Choice):
            st.selectbox(label_of(parameter), parameter.choices, **shared)
        else:
            st.text_input(label_of(parameter), **shared)

    def _typed(self, current: _T) -> tuple[_T, dict[str, str]]:
        """Return the object in the fields, and their texts; the library's error names a value outside its domain."""
        texts = {p: str(st.session_state[f"{self.key}_{current.name}_{p.name}"]) for p in current.parameters()}
        item = self.make(current.name, **{p.name: meant(p, text) for p, text in texts.items()})
        return item, {p.name: text for p, text in texts.items()}

    def _take(self, current: _T) -> None:
        """Copy the typed value into the text; a value outside its domain stays in its field with an error."""
        try:
            item, texts = self._typed(current)
        except DpcoreError:
            return
        page.change(self.key, self.text(item, **texts))


def _parts(text: str) -> tuple[str, dict[str, str]]:
    """Return the name at the start of a text, and its settings as typed."""
    name, *words = _SETTINGS.split(text.strip())
    settings = {}
    for word in words:
        key, _, value = word.partition("=")
        settings[key] = value
    return name, settings


def _same(parameter: Parameter, text: str, own: str) -> bool:
    """Whether a typed text stands for the same value as the canonical text."""
    try:
        return text == own or said(parameter, meant(parameter, text)) == own
    except (DpcoreError, TypeError):  # the text is not a value of the parameter
        return False


def meant(parameter: Parameter, text: str) -> Any:
    """Parse a typed text as a value of a parameter; the parameter's own check rejects a value of the wrong kind."""
    text = text.strip()
    if parameter.kind == "text":
        return text
    if parameter.kind in {"numbers", "points"}:
        return forms.lists(text)
    return numbers.meant(parameter, text)


def said(parameter: Parameter, value: Any) -> str:
    """Format a value the way a person would type it, without spaces."""
    return str(value) if parameter.kind in {"text", "integer"} else literal(value).replace(" ", "")


def written(current: Parametric) -> str:
    """Return the text that `Kind.read` parses into this object."""
    parts = [f"{p.name}={said(p, getattr(current, p.name))}" for p in current.parameters()]
    return " ".join([current.name, *parts])


def values_of(current: Parametric) -> dict[str, Any]:
    """Return the parameters by name."""
    return {p.name: getattr(current, p.name) for p in current.parameters()}


def label_of(parameter: Parameter) -> str:
    """Return the label of a parameter's field: its symbol, then its name."""
    return parameter.name if parameter.label in ("", parameter.name) else f"{parameter.label} ({parameter.name})"


def _summary(parameters: Sequence[Parameter], texts: Mapping[str, str]) -> str:
    """Return some parameters on one line, as typed."""
    parts = [f"{p.label or p.name} = {texts[p.name]}" for p in parameters]
    return plain(theme.short(", ".join(parts), 120))
