"""Accounts of other libraries: Opacus's histories and accountant interface, and files of Opacus, dp-accounting and OpenDP, as ledgers.

Nothing is imported from these libraries but the base class of `opacus_accountant`, and OpenDP to read its own files. Events are read by
`dpcore.training.events`, measurements of OpenDP by `dpcore.training.measurements`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpcore.core.errors import DomainError
from dpcore.core.registry import value_text
from dpcore.files.documents import json_of
from dpcore.training.events import ledger_from_event
from dpcore.training.measurements import ledger_from_opendp, restored
from dpcore.training.step_accountant import MECHANISM, Accountant

if TYPE_CHECKING:
    from dpcore.ledger import Ledger

# ---- Opacus --------------------------------------------------------------------------------------------------


def ledger_from_opacus(source: Any) -> Ledger:
    """Return a ledger of an Opacus accountant, its state or its history.

    Parameters
    ----------
    source : object
        An accountant, what its ``state_dict()`` returns, or a list of (noise multiplier, sample rate, number of steps).

    Returns
    -------
    Ledger
        One row for each run of equal steps, for one record added or removed.

    Examples
    --------
    >>> str(ledger_from_opacus([(1.1, 0.01, 100), (1.3, 0.01, 50)]).region)
    'poisson_gaussian(1.1, 0.01)^100 * poisson_gaussian(1.3, 0.01)^50'
    """
    history = source.get("history") if isinstance(source, Mapping) else getattr(source, "history", source)
    if not isinstance(history, (list, tuple)):
        msg = f"An Opacus history is a list of (noise multiplier, sample rate, number of steps), got {value_text(history)}."
        raise DomainError(msg)
    return Accountant(history).ledger()


def opacus_accountant() -> type:
    """Return an accountant class for Opacus: register it under a name, and a privacy engine takes it.

    Returns
    -------
    type
        A class with Opacus's interface whose epsilon is certified.

    Examples
    --------
    With Opacus installed:

    .. code-block:: python

        from opacus import PrivacyEngine
        from opacus.accountants import register_accountant

        register_accountant("dpcore", opacus_accountant())
        engine = PrivacyEngine(accountant="dpcore")
    """
    return _adapter(import_module("opacus.accountants").IAccountant)  # only installed where Opacus is used


def _adapter(base: type) -> type:
    """Return the class over Opacus's base class, which holds a list `history` and writes and reads its state."""

    class OpacusAccountant(base):  # type: ignore[misc]  # a class that is known only where Opacus is installed
        """Opacus's interface; `history` stays a plain list, as Opacus and its checkpoints expect it."""

        def __init__(self) -> None:
            self.history: list[tuple[float, float, int]] = []

        def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
            """Count one step."""
            account = Accountant(self.history[-1:])
            account.step(noise_multiplier=noise_multiplier, sample_rate=sample_rate)
            self.history[-1:] = account.history

        def get_epsilon(self, delta: float, **_: Any) -> float:
            """Return epsilon at delta, never below the truth."""
            return Accountant(self.history).epsilon(delta)

        def __len__(self) -> int:
            """Return the number of steps."""
            return len(Accountant(self.history))

        @classmethod
        def mechanism(cls) -> str:
            """Return the name under which it is registered."""
            return MECHANISM

    return OpacusAccountant


# ---- files ---------------------------------------------------------------------------------------------------


def read_accounts(text: str, *, distance: int | None = None) -> Ledger:
    """Return a ledger of a JSON text: a history or state of Opacus, an event of dp-accounting, or a measurement of OpenDP.

    Parameters
    ----------
    text : str
        ``[[1.1, 0.01, 1000]]``, ``{"history": ...}``, ``{"class_name": "GaussianDpEvent", "noise_multiplier": 2}``, or what OpenDP's
        ``serialize`` returns, which only OpenDP itself can read.
    distance : int, optional
        For OpenDP: how far neighbouring datasets are apart in its own metric; by default 1.

    Returns
    -------
    Ledger
        Raises `DomainError` if it is none of them.
    """
    try:
        data = json_of(text)
    except ValueError as error:
        msg = f"The file is not JSON: {error}."
        raise DomainError(msg) from None
    if isinstance(data, Mapping) and "__function__" in data:
        return ledger_from_opendp(restored(text, data), 1 if distance is None else distance)
    if distance is not None:
        msg = "A distance of neighbours belongs to a measurement of OpenDP."
        raise DomainError(msg)
    if isinstance(data, Mapping) and "class_name" in data:
        return ledger_from_event(data)
    if isinstance(data, list) or (isinstance(data, Mapping) and "history" in data):
        return ledger_from_opacus(data)
    msg = (
        "The file is neither an Opacus history (a list, or an object with history) nor an event of dp-accounting (an object with "
        "class_name) nor a measurement of OpenDP (an object with __function__)."
    )
    raise DomainError(msg)
