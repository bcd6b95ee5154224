"""Every mechanism of the registry: its law is a law, its region, pictures, calibration, audits and ledgers agree with it.

A new file in `dpcore/mechanisms` is tested here by existing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from dpcore.audit import audit
from dpcore.audit.simulate import attack_on, simulate
from dpcore.audit.threshold import pair_of
from dpcore.calibration import calibrate
from dpcore.calibration.answers import Question, answers
from dpcore.calibration.candidates import candidates
from dpcore.calibration.requirements import Advantage
from dpcore.charts.noise import noise_figure
from dpcore.core.effort import effort
from dpcore.core.kinds import WORDS
from dpcore.frames import deltas
from dpcore.language import parse
from dpcore.ledger import Ledger, total
from dpcore.mechanisms.base import kinds
from dpcore.mechanisms.law import Inverse
from dpcore.risk import risk
from dpcore.site.reference.names import example, signature
from dpcore.theorems.conversion.claims import calibration_text
from dpcore.theorems.divergences import concentrated, renyi
from tests.mechanisms.every import ALL, DRAWN, ENTRIES, LAWS, ONE, mechanism

if TYPE_CHECKING:
    from dpcore.mechanisms.law import Law

RATES = (1e-9, 1e-3, 0.05, 0.3, 0.5, 0.9)
EPSILONS = (0.0, 0.2, 0.7, 1.5)


def grid(first: Law, second: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return places and weights that cover two laws: all integers, or Gauss-Legendre between all edges."""
    rare = np.array([1e-13])
    low = min(float(law.lower_quantile(rare)[0]) for law in (first, second))
    high = max(float(law.quantile(rare)[0]) for law in (first, second))
    if first.integer:
        x = np.arange(math.floor(low), math.ceil(high) + 1.0)
        return x, np.ones(x.size)
    inner = np.concatenate([np.append(law.edges(low, high), law.centre) for law in (first, second)])
    ends = np.unique(np.concatenate((np.linspace(low, high, 2001), inner[(inner > low) & (inner < high)])))
    node, weight = np.polynomial.legendre.leggauss(8)
    half = np.diff(ends) / 2
    return (ends[:-1, None] + half[:, None] * (1 + node)).ravel(), (half[:, None] * weight).ravel()


# ---- the law -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", LAWS)
def test_the_density_sums_to_1_and_to_its_tails(text: str) -> None:
    law = mechanism(text).law
    x, w = grid(law, law)
    p = law.density(x) * w
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1.0, abs=1e-9)
    cuts = np.unique(law.quantile(np.array([0.99, 0.6, 0.2, 0.01])))
    for at in cuts:
        assert p[x > at].sum() == pytest.approx(
            float(law.above(np.array([at]))[0]), abs=2e-3 if not law.integer else 1e-9
        )
    both = law.above(cuts) + law.below(cuts)
    np.testing.assert_allclose(both, 1.0, atol=1e-12)


@pytest.mark.parametrize("text", LAWS)
def test_quantiles_invert_the_tails(text: str) -> None:
    law = mechanism(text).law
    rates = np.array(RATES)
    places = law.quantile(rates)
    assert np.all(np.diff(places) <= 0)
    tails = law.above(places)
    assert np.all(tails <= rates * (1 + 1e-12))
    if law.integer:
        np.testing.assert_array_equal(places, np.rint(places))
        assert np.all(law.above(places - 1.0) > rates * (1 - 1e-12))
    else:
        np.testing.assert_allclose(tails, rates, rtol=1e-9, atol=1e-16)  # a place near an end has no more digits
    np.testing.assert_allclose(law.quantile(np.array([0.0, 1.0])), [law.high, -math.inf])
    lower = law.lower_quantile(rates)
    np.testing.assert_array_less(law.below(lower - (1.0 if law.integer else 0.0)), rates * (1 + 1e-9))


@pytest.mark.parametrize("text", [text for text in LAWS if (law := mechanism(text).law).symmetric and not law.integer])
def test_the_swift_inverse_is_the_inverse(text: str) -> None:
    """To the digits that a region of noise given by functions assumes, far into the tail."""
    law = mechanism(text).law
    rates = np.concatenate((10.0 ** -np.arange(1, 290, 7.3), np.linspace(0.01, 0.5, 50)))
    places = Inverse(law)(rates)
    room = 0.0 if math.isinf(law.low) else 1e-15  # places near an end have no more digits
    np.testing.assert_allclose(law.below(places), rates, rtol=1e-12, atol=room)
    np.testing.assert_allclose(Inverse(law)(1.0 - rates[-50:]), 2 * law.centre - places[-50:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("text", LAWS)
def test_moments_and_reach_are_those_of_the_density(text: str) -> None:
    law = mechanism(text).law
    x, w = grid(law, law)
    p = law.density(x) * w
    assert law.mean == pytest.approx(float(p @ x), abs=1e-6 * (1 + law.deviation))
    assert law.variance == pytest.approx(float(p @ (x - law.mean) ** 2), rel=1e-6)
    assert law.deviation == pytest.approx(math.sqrt(law.variance), rel=1e-12)
    for miss in (0.5, 0.05):
        reach = law.reach(miss)
        assert p[np.abs(x) > reach].sum() <= miss + 2e-3
        assert p[np.abs(x) > reach * (1 - 1e-9) - (1.0 if law.integer else 0.0)].sum() >= miss - 2e-3


@pytest.mark.parametrize("text", LAWS)
def test_draws_follow_the_law(text: str) -> None:
    law, n = mechanism(text).law, 10_000
    draws = np.sort(law.sample(np.random.default_rng(20), n).astype(float))
    seen = np.unique(draws)
    share = np.searchsorted(draws, seen, side="right") / n
    # the Kolmogorov-Smirnov distance exceeds 2.5 / sqrt(n) with probability 7e-6
    assert np.abs(share - law.below(seen)).max() < 2.5 / math.sqrt(n)
    assert law.integer == bool(np.all(draws == np.rint(draws)))


@pytest.mark.parametrize("text", [text for text in DRAWN if not mechanism(text).answers().labels])
def test_the_region_is_what_the_two_answers_say(text: str) -> None:
    """Second route: delta as the sum or integral of (p1 - e^eps p0)+, both ways; equal unless the picture says it is a part."""
    region = mechanism(text)
    seen = region.answers()
    x, w = grid(seen.without, seen.within)
    p, q = seen.without.density(x), seen.within.density(x)
    for epsilon in EPSILONS:
        brute = max(float(w @ np.maximum(a - math.exp(epsilon) * b, 0.0)) for a, b in ((q, p), (p, q)))
        assert region.delta(epsilon) >= brute - 1e-5
        if not seen.note:
            assert region.delta(epsilon) == pytest.approx(brute, abs=1e-5)
        if seen.rising and not seen.note:
            loss = np.log(np.maximum(q, 1e-320)) - np.log(np.maximum(p, 1e-320))
            kept = (p > 1e-12) & (q > 1e-12)
            assert np.all(np.diff(loss[kept]) >= -1e-6)


# ---- what is said, drawn and computed --------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_it_is_a_mechanism_with_an_offer_and_a_reference(entry: object) -> None:
    (kind,) = [kind for kind in kinds() if kind.entry is entry]
    offer = kind.offer()
    assert offer.title[0].isupper()
    assert offer.short
    assert offer.symbol
    assert kind.__doc__
    assert kind.entry.name in signature(kind.entry)
    assert parse(example(kind.entry)).entry is entry  # type: ignore[attr-defined]  # a named region


@pytest.mark.parametrize("text", ALL)
def test_claims_and_divergences(text: str) -> None:
    """A claim that holds contains the region; a Rényi divergence lies below concentrated privacy's line and grows."""
    region = mechanism(text)
    with effort(tolerance=1e-3):
        claim = region.claim()
        if claim is not None and claim.holds:
            at = np.linspace(0.0, 3.0, 7)
            assert np.all(region.delta_bounds(at * (1 + 1e-9))[0] <= claim.region.delta_bounds(at)[1] + 1e-9)
        assert "?" in calibration_text(region)
        known = [found[0] for found in (renyi(region, order) for order in (1.0, 2.0, 8.0)) if found is not None]
        assert known == sorted(known)
        rate = concentrated(region)
        if rate is not None and len(known) == 3:
            assert np.all(np.array(known) <= rate.xi + rate.rho * np.array([1.0, 2.0, 8.0]) * (1 + 1e-9))
    own = region.renyi(2.0)
    if own is not None and math.isfinite(own):
        seen = region.answers()
        x, w = grid(seen.without, seen.within)
        p, q = seen.without.density(x), seen.within.density(x)
        kept = (p > 0) & (q > 0)
        drawn = math.log(float(w[kept] @ (q[kept] ** 2 / p[kept])))
        assert own >= drawn * (1 - 1e-4)
        assert seen.note or own == pytest.approx(drawn, rel=1e-4)


@pytest.mark.parametrize("text", DRAWN)
def test_the_picture_at_every_rate(text: str) -> None:
    """Threshold tests never leave the region and, where they are the best ones, reach its border, the ends included."""
    region = mechanism(text)
    pair = pair_of(region)
    for rate in (0.0, *RATES, 1.0):
        test = pair.at_rate(rate)
        assert test.alpha == pytest.approx(rate, rel=1e-9, abs=1e-14)
        assert test.beta >= region.beta(min(1.0, test.alpha)) - 1e-9
        if pair.answers.rising and not pair.note:
            assert test.beta == pytest.approx(region.beta(rate), rel=1e-7, abs=1e-10)
    figure = noise_figure(pair.at_rate(0.1))
    assert np.isfinite(figure.table[["answer", "density", "accused"]].to_numpy(dtype=float)).all()
    assert "false positives 0.1" in figure.takeaway


@pytest.mark.parametrize("text", ONE)
def test_it_is_calibrated_and_composed(text: str) -> None:
    region = mechanism(text)
    with effort(tolerance=1e-3):
        row = calibrate(calibration_text(region), advantage=0.2).iloc[0]
        met = parse(row["expression"])
        assert met.total_variation <= 0.2
        assert met.total_variation >= 0.19
        table = deltas(parse(f"{text}^4"), EPSILONS)
        assert set(table["kind"]) <= set(WORDS)
        assert np.all(np.diff(table["delta"]) <= 0)
        assert len(risk(region))


@pytest.mark.parametrize("text", ONE)
def test_an_audit_of_it_measures_it(text: str) -> None:
    """At 99.99 % the band around the measured curve holds the mechanism's own."""
    region = mechanism(text)
    curve = region.pair if region.oriented and region.attack() is not None else region.curve
    found = audit(simulate(region, np.random.default_rng(11), 2000, 2000), 0.9999)
    assert np.all(curve.beta_bounds(found.limits[0])[0] <= found.limits[1] + 1e-9)
    assert "score" in attack_on(region).words


@pytest.mark.parametrize("name", [kind.entry.name for kind in kinds() if kind.offered])
def test_it_answers_where_noises_are_chosen(name: str) -> None:
    (one,) = [found for found in answers(Question("noise", Advantage(0.1), q=0.5)) if found.candidate.name == name]
    assert not one.trouble
    assert one.advantage <= 0.1
    law = one.candidate._law(one.value)
    if law is not None:
        n = 20_000
        draws = np.abs(law.sample(np.random.default_rng(5), n).astype(float))
        assert (draws > (one.error or 0.0)).mean() <= 0.05 + 4 * math.sqrt(0.05 / n)
        assert draws.std() > 0
        (back,) = [c.for_error(one.error or 1.0, 0.05) for c in candidates(1.0, 0.5) if c.name == name]
        reach = back[0].error(back[1], 0.05)
        assert reach is not None
        assert reach <= (one.error or 1.0) * (1 + 1e-9)


@pytest.mark.parametrize("text", ONE)
def test_a_ledger_takes_it(text: str) -> None:
    with effort(tolerance=1e-3):
        book = Ledger.of(("first", text, 1), ("second", "dp(0.1)", 2))
        together = total(book, 1e-3)
        low, high = (mechanism(text) * parse("dp(0.1)^2")).epsilon_bounds(1e-3)
        assert together.lower <= float(high[0]) * (1 + 1e-9)
        assert together.upper >= float(low[0]) * (1 - 1e-9)
