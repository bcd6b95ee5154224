"""Train a small model with Opacus, our accountant attached; read its history, events of dp-accounting and measurements of OpenDP: `make interop`."""

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
    from dpcore.training.events import READ, REASONS

    for name in vars(dp_event):  # every kind is read or has a reason
        if name.endswith("DpEvent") and name not in {"DpEvent", *READ, *REASONS}:
            sys.exit(f"{name} is neither read nor refused.")
    steps = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.01, dp_event.GaussianDpEvent(1.0)), 300)
    sampled = dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(0.1, dp_event.LaplaceDpEvent(4.0)), 5)
    others = [dp_event.LaplaceDpEvent(10.0), dp_event.DiscreteLaplaceDpEvent(0.2, 2), dp_event.GaussianDpEvent(5.0)]
    event = dp_event.ComposedDpEvent([steps, *others, sampled])
    accountant = PLDAccountant()
    accountant.compose(event)
    for source in (event, event.to_named_tuple()):
        epsilon = float(ledger_from_event(source).region.epsilon(DELTA))
        check("epsilon of the events", epsilon, accountant.get_epsilon(DELTA), CLOSE)


def measurements() -> None:
    """Read a composition of OpenDP and its file: our epsilon is never above what OpenDP declares."""
    import opendp.prelude as dp

    from dpcore.training import ledger_from_opendp, read_accounts

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    total = space >> dp.t.then_clamp((0.0, 10.0)) >> dp.t.then_sum()
    count = space >> dp.t.then_count()
    pure = dp.c.make_composition(
        [total >> dp.m.then_laplace(scale=50.0)] + 10 * [count >> dp.m.then_laplace(scale=10.0)]
    )
    declared = pure.map(1)
    ledger, file = ledger_from_opendp(pure), read_accounts(dp.serialize(pure))
    check("epsilon of OpenDP's file", float(file.region.epsilon(DELTA)), float(ledger.region.epsilon(DELTA)))
    check("epsilon of OpenDP's parts at delta 0", float(ledger.region.epsilon(0.0)), declared)
    normal = dp.c.make_composition(5 * [total >> dp.m.then_gaussian(scale=50.0)])
    fixed = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(normal), DELTA)
    ours, theirs = float(ledger_from_opendp(fixed).region.epsilon(DELTA)), fixed.map(1)[0]
    sys.stdout.write(f"epsilon of five Gaussian sums: {ours:.9g}, OpenDP declares {theirs:.9g}\n")
    if ours > theirs:
        sys.exit("Our epsilon is above the declared one.")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    trained()
    events()
    measurements()
    sys.stdout.write("All agree.\n")
