"""Train a small model with Opacus, our accountant attached, and read its history and dp-accounting's events: `make interop`."""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

DELTA = 1e-5
CLOSE = 1e-4  # relative: the width of dp-accounting's grid


def check(what: str, value: float, wanted: float, tolerance: float = 1e-9) -> None:
    """Print a number beside the one it should be; stop if they differ."""
    sys.stdout.write(f"{what}: {value:.9g}, expected {wanted:.9g}\n")
    if not abs(value - wanted) <= tolerance * abs(wanted):
        sys.exit(f"{what} differs.")


def trained() -> None:
    """Train, save, restore, and compare every way to the same epsilon."""
    import torch
    from opacus import PrivacyEngine
    from opacus.accountants import register_accountant
    from torch.utils.data import DataLoader, TensorDataset

    from dpcore.training import ledger_from_opacus, opacus_accountant, read_accounts, training_run, training_summary

    register_accountant("dpcore", opacus_accountant())
    torch.manual_seed(0)
    x = torch.randn(1000, 8)
    data = TensorDataset(x, (x.sum(1) > 0).long())
    model = torch.nn.Linear(8, 2)
    engine = PrivacyEngine(accountant="dpcore")
    model, optimizer, loader = engine.make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
        data_loader=DataLoader(data, batch_size=50),
        noise_multiplier=1.1,
        max_grad_norm=1.0,
    )
    for _ in range(3):
        for inputs, labels in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
    wanted = training_summary(training_run("poisson", sigma=1.1, rate=1 / 20, steps=60), DELTA).epsilon[1]
    accountant = engine.accountant
    check("epsilon of the engine", engine.get_epsilon(DELTA), wanted)
    check("epsilon of its ledger", float(ledger_from_opacus(accountant).region.epsilon(DELTA)), wanted)
    state = json.dumps(accountant.state_dict())
    check("epsilon of its saved state", float(read_accounts(state).region.epsilon(DELTA)), wanted)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.pt"
        engine.save_checkpoint(path=path, module=model, optimizer=optimizer)
        restored = PrivacyEngine(accountant="dpcore")
        restored.load_checkpoint(path=path, module=model)
        check("epsilon after a checkpoint", restored.get_epsilon(DELTA), wanted)


def events() -> None:
    """Read a tree of events; our epsilon lies below that of dp-accounting, by no more than its grid."""
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant

    from dpcore.training import ledger_from_event

    steps = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 300)
    sampled = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.1, dp_event.LaplaceDpEvent(4.0)), 5)
    others = [dp_event.LaplaceDpEvent(10.0), dp_event.DiscreteLaplaceDpEvent(0.2, 2), dp_event.GaussianDpEvent(5.0)]
    event = dp_event.ComposedDpEvent([steps, *others, sampled])
    accountant = PLDAccountant()
    accountant.compose(event)
    for source in (event, event.to_named_tuple()):
        epsilon = float(ledger_from_event(source).region.epsilon(DELTA))
        check("epsilon of the events", epsilon, accountant.get_epsilon(DELTA), CLOSE)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    trained()
    events()
    sys.stdout.write("All agree.\n")
