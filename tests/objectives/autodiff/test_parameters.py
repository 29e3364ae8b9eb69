"""Several arrays of parameters, of which some are sparse: pytrees, dicts of tensors, modules."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import ksparse
from ksparse.objectives import from_jax, from_torch
from ksparse.objectives.autodiff.leaves import Layout, fill_columns
from ksparse.objectives.protocols import working_form
from ksparse.sparsity import Entries, Groups


def test_sparse_arrays_come_first_in_x() -> None:
    layout = Layout.from_shapes({"b": (2,), "w": (3, 2), "c": (), "v": (2,)}, ["w", "v"])
    assert_array_equal(layout.free, [False] * 8 + [True] * 3)
    flat = np.arange(11.0)
    b, w, c, v = layout.split(flat)
    assert_array_equal(w, [[0, 1], [2, 3], [4, 5]])
    assert_array_equal(v, [6, 7])
    assert_array_equal(b, [8, 9])
    assert c == 10
    assert_array_equal(layout.column_of, [0, 0, 1, 1, 2, 2, 0, 1, -1, -1, -1])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_window_has_some_columns_and_all_free_entries(axis: int) -> None:
    shape = (6, 3) if axis == 0 else (3, 6)
    layout = Layout.from_shapes({"free": (2,), "w": shape, "v": (6,)}, {"w": axis, "v": 0})
    flat = np.arange(float(layout.size))
    free, w, v = layout.split(flat)
    columns = np.array([1, 4])
    coordinates = np.array([4 * 3 if axis == 0 else 4, 18 + 4])  # w[4, 0] or w[0, 4], and v[4]
    window = layout.make_window(columns, coordinates)
    parts = list(layout.with_columns(2).split(flat[window.entries]))
    for part, expected in zip(parts, (free, np.take(w, columns, axis), v[columns]), strict=True):
        assert_array_equal(part, expected)
    assert_array_equal(flat[window.entries][window.positions], flat[coordinates])
    assert_array_equal(layout.find_columns(coordinates), [4])


def test_columns_are_widened_by_others() -> None:
    assert_array_equal(fill_columns(np.array([0, 2, 9]), 5), [0, 1, 2, 3, 9])
    assert_array_equal(fill_columns(np.array([0, 1, 2]), 3), [0, 1, 2])


class Pair(NamedTuple):
    left: Any
    right: Any


def test_names_are_the_way_to_an_array() -> None:
    tree = {"layers": [Pair(np.zeros(2), np.zeros(3))], "b": 0.0}
    target = np.array([1.0, 2.0, 3.0])

    def loss(q: Any) -> Any:
        pair = q["layers"][0]
        return jnp.sum((pair.right - target) ** 2) + jnp.sum((pair.left - 1.0) ** 2) + (q["b"] - 0.5) ** 2

    objective = from_jax(loss, tree, sparse="layers.0.right")
    result = ksparse.minimize(objective, k=1)
    assert_array_equal(result.selected, [2])
    found = objective.unflatten(result.x)
    assert isinstance(found["layers"][0], Pair)
    assert_allclose(found["layers"][0].right, [0, 0, 3], atol=1e-9)
    assert_allclose(found["layers"][0].left, [1, 1], atol=1e-9)
    assert found["b"] == pytest.approx(0.5)


def test_all_arrays_are_sparse_by_default() -> None:
    objective = from_jax(
        lambda q: jnp.sum((q["u"] - 3.0) ** 2) + jnp.sum((q["v"] - 1.0) ** 2), {"u": np.zeros(2), "v": np.zeros(3)}
    )
    assert objective.free is None
    assert_array_equal(ksparse.minimize(objective, k=3).selected, [0, 1, 2])


def test_bounds_and_always_apply_to_sparse_entries() -> None:
    target = np.array([-3.0, 2.0, 0.5, 1.0])
    objective = from_jax(
        lambda q: jnp.sum((q["w"] - target) ** 2) + (q["b"] + 4.0) ** 2, {"w": np.zeros(4), "b": 0.0}, sparse="w"
    )
    result = ksparse.minimize(objective, sparsity=Entries(2, always=[2], lower=0.0))
    assert_array_equal(result.selected, [1, 2])
    assert_allclose(objective.unflatten(result.x)["b"], -4.0)
    grouped = ksparse.minimize(objective, sparsity=Groups(1, ["a", "b", "b", "a"]))
    assert_array_equal(grouped.selected, ["a"])


@pytest.mark.parametrize("package", ["jax", "torch"])
def test_free_parameters_start_where_they_are(package: str) -> None:
    """f has two minima in b: the search finds the one on the side of the start; b = 0 is a stationary point."""
    for start in (0.5, -0.5):
        if package == "jax":
            objective = from_jax(
                lambda q: jnp.sum((q["w"] - 1.0) ** 2) + (q["b"] ** 2 - 1.0) ** 2,
                {"w": np.zeros(3), "b": start},
                sparse="w",
            )
        else:
            objective = from_torch(
                lambda q: ((q["w"] - 1.0) ** 2).sum() + (q["b"] ** 2 - 1.0) ** 2,
                {"w": torch.zeros(3), "b": torch.tensor(start)},
                sparse="w",
            )
        assert_array_equal(objective.start, [0, 0, 0, start])
        result = ksparse.minimize(objective, k=1)
        assert float(objective.unflatten(result.x)["b"]) == pytest.approx(np.sign(start), abs=1e-6)
        assert result.value == pytest.approx(2.0)
        assert objective.evaluate(result.x).value == pytest.approx(result.value)
        other = ksparse.minimize(objective, k=1, x0=[0.0, 0.0, 1.0, -start])
        assert float(objective.unflatten(other.x)["b"]) == pytest.approx(-np.sign(start), abs=1e-6)


def test_working_coordinates_are_those_of_the_user_moved() -> None:
    objective = from_jax(
        lambda q: jnp.sum((q["w"] * q["b"] - 1.0) ** 2), {"w": np.zeros(3), "b": np.array([2.0])}, sparse="w"
    )
    form = working_form(objective)
    x = np.array([0.3, 0.0, -1.0, 1.5])
    here, there = objective.evaluate(x), form.objective.evaluate(form.to_working(x))
    assert here.value == there.value
    assert_array_equal(here.gradient, there.gradient)
    assert_array_equal(form.to_user(form.to_working(x)), x)
    assert not form.objective.start.any()
    support = np.array([True, False, True, True])
    assert_allclose(there.restrict(support).gradient, here.gradient[support])


# --- networks: k input features ---------------------------------------------------------------------------------------


def make_data(p: int, n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return X, np.tanh(2 * X[:, 1] - X[:, 4]) + 0.5 * X[:, 4] ** 2


def make_network(p: int) -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(p, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))


@pytest.mark.parametrize("columns", [False, True])
def test_input_features_of_a_module(columns: bool) -> None:
    X, y = map(torch.tensor, make_data(8))
    network = make_network(8)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}

    def loss(net: Any, chosen: Any = slice(None)) -> Any:
        penalty = sum((parameter**2).sum() for parameter in net.parameters())
        return ((net(X[:, chosen])[:, 0] - y) ** 2).mean() + 1e-3 * penalty

    objective = from_torch(loss, network, sparse={"0.weight": 1}, columns=columns)
    result = ksparse.minimize(objective, k=2)
    assert result.success
    assert_array_equal(result.selected, [1, 4])
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name])
        assert tensor.dtype == torch.float32
    found = objective.unflatten(result.x)
    assert_array_equal(np.flatnonzero((found["0.weight"] != 0).any(dim=0)), [1, 4])
    network.load_state_dict(found, strict=False)
    assert loss(network.double()).item() == pytest.approx(result.value, rel=1e-5)


def test_a_network_that_is_dead_without_inputs() -> None:
    """Fitted without features, the penalty takes the second layer to zero, and no feature would have a slope."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 12))
    y = X[:, 3] - 2.0 * X[:, 8] + 0.1 * rng.standard_normal(100)

    def loss(q: Any) -> Any:
        penalty = 1e-2 * sum(jnp.sum(array**2) for array in q.values())
        return jnp.mean((jnp.tanh(X @ q["first"]) @ q["second"] - y) ** 2) + penalty

    start = {"first": np.zeros((12, 2)), "second": np.array([0.5, -0.3])}
    result = ksparse.minimize(from_jax(loss, start, sparse={"first": 0}), k=2)
    assert_array_equal(result.selected, [3, 8])


def test_the_same_network_in_jax() -> None:
    X, y = make_data(8)
    network = {name.replace(".", "_"): tensor.detach().numpy() for name, tensor in make_network(8).named_parameters()}

    def loss(q: Any) -> Any:
        hidden = jnp.tanh(X @ q["0_weight"].T + q["0_bias"])
        penalty = sum(jnp.sum(array**2) for array in q.values())
        return jnp.mean((hidden @ q["2_weight"][0] + q["2_bias"][0] - y) ** 2) + 1e-3 * penalty

    objective = from_jax(loss, network, sparse={"0_weight": 1})
    assert_array_equal(ksparse.minimize(objective, k=2).selected, [1, 4])


def test_frozen_parameters_and_buffers_stay() -> None:
    X, y = map(torch.tensor, make_data(6))
    network = torch.nn.Sequential(torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 1))
    network[0].requires_grad_(False)
    mean = network[0].running_mean.clone()
    objective = from_torch(lambda net: ((net(X)[:, 0] - y) ** 2).mean(), network, sparse="1.weight")
    assert objective.shape == (7,)
    result = ksparse.minimize(objective, k=2)
    assert result.success
    assert_array_equal(result.selected, [1, 4])
    assert torch.equal(network[0].running_mean, mean)
    assert set(objective.unflatten(result.x)) == {"1.weight", "1.bias"}


def test_evaluating_a_module_changes_nothing_in_it() -> None:
    """Normalizations count their calls and write means of batches; parts may be in another mode than the whole."""
    X, y = map(torch.tensor, make_data(6))
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 3), torch.nn.Dropout(0.5), torch.nn.Linear(3, 1)
    )
    network[2].eval()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    objective = from_torch(lambda net: ((net(X)[:, 0] - y) ** 2).mean(), network.double(), sparse={"1.weight": 1})
    first, second = (objective.evaluate(np.full(objective.shape, 0.1)) for _ in range(2))
    assert first.value == second.value
    ksparse.minimize(objective, k=2, solver=ksparse.SwapGraHTP(restarts=0, max_swaps=0))
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, before[name].to(tensor.dtype)), name
    assert (network.training, network[2].training) == (True, False)
    assert objective.evaluate(np.full(objective.shape, 0.1)).value == first.value


def test_arrays_may_share_their_columns() -> None:
    """A feature enters a network and a linear part together."""
    X, y = make_data(8)

    def loss(q: Any, columns: Any) -> Any:
        chosen = jnp.asarray(X)[:, columns]
        fit = jnp.tanh(chosen @ q["first"] + q["bias"]) @ q["second"] + chosen @ q["linear"]
        penalty = sum(jnp.sum(array**2) for array in q.values())
        return jnp.mean((fit - y) ** 2) + 1e-3 * penalty

    rng = np.random.default_rng(1)
    free = {"bias": rng.standard_normal(3), "second": rng.standard_normal(3)}
    start = {"first": np.zeros((8, 3)), "linear": np.zeros(8), **free}
    objective = from_jax(loss, start, sparse={"first": 0, "linear": 0}, columns=True)
    result = ksparse.minimize(objective, k=2)
    assert_array_equal(result.selected, [1, 4])
    found = objective.unflatten(result.x)
    assert_array_equal(np.flatnonzero(found["linear"]), [1, 4])
    assert_array_equal(np.flatnonzero(found["first"].any(axis=1)), [1, 4])
