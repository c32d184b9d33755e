"""Growing lists, lists with a bound, and markers: what the behaviour rows cannot see."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import StagingError, StructureError


def equations(function, *arguments):
    return [str(equation.primitive) for equation in jax.make_jaxpr(function)(*arguments).eqns]


@ag.autograph
def running_sum(v):
    out, total = [], 0.0
    for x in v:
        total = total + x
        out.append(total)
    return jnp.stack(out)


def test_the_stack_of_a_grown_list_is_the_scans_output():
    jaxpr = jax.make_jaxpr(running_sum)(jnp.arange(1000.0)).jaxpr
    scan = next(equation for equation in jaxpr.eqns if str(equation.primitive) == "scan")
    assert jaxpr.outvars[0] is scan.outvars[-1]


def test_a_grown_list_is_a_list_of_arrays():
    @ag.autograph
    def f(v):
        out = ["first"]
        for x in v:
            out.append(x * 2)
        assert type(out) is list and len(out) == 4 and out[0] == "first"
        return out[1:]

    assert [float(x) for x in jax.jit(f)(jnp.arange(3.0))] == [0.0, 2.0, 4.0]


def test_tracing_leaves_nothing_behind():
    with jax.checking_leaks():
        assert jax.jit(running_sum)(jnp.arange(3.0)).tolist() == [0.0, 1.0, 3.0]


@ag.autograph
def halves(x, n):
    out = []
    for _ in range(n):
        out.append(x)
        x = x / 2
    return out


def test_a_number_of_elements_that_is_not_known_is_refused_with_the_way_out():
    with pytest.raises(StructureError) as raised:
        jax.jit(halves)(1.0, 3)
    assert "how many elements this list has is only known at run time" in str(raised.value)
    assert "ag.max_len([], 100)" in str(raised.value)


@ag.jit
def bounded_halves(x, n):
    out = ag.max_len([x], 4)
    for _ in range(n):
        out.append(out[-1] / 2)
    return out.padded(fill=-1.0), out.mask, out.length, len(out)


def test_a_bounded_list_has_a_fixed_size():
    values, mask, length, number = bounded_halves(8.0, 2)
    assert values.tolist() == [8.0, 4.0, 2.0, -1.0]
    assert mask.tolist() == [True, True, True, False]
    assert int(length) == int(number) == 3


@pytest.mark.parametrize("n", [4, 9])
def test_more_than_the_bound_is_an_error_at_run_time(n):
    with pytest.raises(IndexError, match="at most 4 elements is full"):
        bounded_halves(8.0, n)


@pytest.mark.parametrize("index", [2, -3])
def test_an_index_out_of_range_is_an_error_at_run_time(index):
    @ag.jit
    def f(v):
        return [x for x in v if x > 0][index]

    with pytest.raises(IndexError, match="out of range"):
        f(jnp.array([1.0, -1.0, 2.0]))
    assert float(f(jnp.array([1.0, 5.0, 2.0]))) == (2.0 if index == 2 else 1.0)


def test_largest_of_nothing_is_an_error_at_run_time():
    @ag.jit
    def f(v):
        return max([x for x in v if x > 0])

    assert float(f(jnp.array([1.0, -1.0]))) == 1.0
    with pytest.raises(ValueError, match="empty sequence"):
        f(jnp.array([-1.0, -2.0]))


def test_max_len_in_plain_python_is_a_list():
    values = ag.max_len([1], 2)
    values.append(2)
    assert values == [1, 2] and values.length == 2 and values.mask.tolist() == [True, True]
    for change in (lambda: values.append(3), lambda: values.extend([3]), lambda: values.insert(0, 3)):
        with pytest.raises(IndexError, match="at most 2"):
            change()
    assert ag.max_len([], 2).padded(fill=1.5).tolist() == [1.5, 1.5]
    assert ag.max_len([3], 2).padded().tolist() == [3, 0]


def test_unlike_elements_are_refused():
    @ag.autograph
    def f(x):
        out = ag.max_len([x], 4)
        out.append(jnp.ones(3))
        return out.padded()

    with pytest.raises(StructureError, match="not alike"):
        jax.jit(f)(jnp.ones(2))


@pytest.mark.parametrize(
    "use",
    [
        lambda k: k.sort(key=lambda e: (e, e)), lambda k: k[:: k.count(1.0)], lambda k: jnp.stack(k), lambda k: tuple(iter(k)),
        lambda k: [*k], lambda k: k < [1.0, 2.0], lambda k: np.asarray(k),
    ],
)  # fmt: skip
def test_what_needs_the_number_is_refused(use):
    @ag.autograph
    def f(v):
        return use([x for x in v if x > 0])

    with pytest.raises(StagingError, match="number of elements is only known at run time"):
        jax.jit(f)(jnp.arange(3.0))


def sliced(k):
    return k[1:], k[:2], k[::-1], k[-2:], k[:-1], k[::2], k[3:0:-1], k[-1:0:-2], k[5:2], k[::-1][1:]


def inserted(k):
    k.insert(0, 9.0)
    k.insert(2, 8.0)
    k.insert(-1, 7.0)
    k.insert(100, 6.0)
    return (k,)


def put_in_order(k):
    where, n = k.index(2.0), k.count(3.0)
    k.reverse()
    turned = k[:]
    k.sort()
    up = k[:]
    k.remove(3.0)
    gone = k[:]
    k.sort(reverse=True)
    return turned, up, gone, k, [where, n], sorted(turned, reverse=True)


def gone_through(k):
    total = 0.0
    for x in k[1:3]:
        total = 2 * total + x
    for x in reversed(k):
        total = 3 * total + x
    return ([total],)


@pytest.mark.parametrize("use", [sliced, inserted, put_in_order, gone_through])
@pytest.mark.parametrize("v", [[1.0, 2.0, 3.0, -1.0, 5.0, 3.0], [2.0, -1.0, -1.0, 3.0, -4.0, -1.0]])
@pytest.mark.parametrize("way", [ag.autograph, ag.jit])
def test_methods_of_a_bounded_list(use, v, way):
    def f(v):
        k = ag.max_len([], 12)
        for x in v:
            if x > 0:
                k.append(x)
        return use(k)

    for got, wanted in zip(way(f)(jnp.array(v)), f(np.array(v)), strict=True):
        assert [float(x) for x in got] == wanted


def test_a_value_that_is_not_in_a_bounded_list_is_an_error_at_run_time():
    for use in (lambda k: k.index(7.0), lambda k: k.remove(7.0)):
        with pytest.raises(ValueError, match="not in"):
            ag.jit(lambda v, use=use: use([x for x in v if x > 0]))(jnp.arange(3.0))


def test_a_bounded_list_of_unsigned_numbers_is_sorted_downwards():
    found = ag.jit(lambda v: sorted([x for x in v if x < 9], reverse=True))(jnp.array([0, 5, 3, 11], jnp.uint8))
    assert [int(x) for x in found] == [5, 3, 0]


def test_a_bounded_list_that_has_left_the_program_is_a_list():
    found = ag.jit(lambda v: [x for x in v if x > 0])(jnp.array([0, 5, 3]))
    assert found == [5, 3] and list(found) == [5, 3] and len(found) == 2 and 5 in found and max(found) == 5
    assert str(found[:1]) == "[Array(5, dtype=int32)]" and found[-1] == 3
    with pytest.raises(IndexError):
        found[2]
    assert not hasattr(found, "shape")
    np.testing.assert_array_equal(np.asarray(found), [5, 3])
    np.testing.assert_array_equal(jnp.asarray(found) + 1, [6, 4])


def test_equal_elements_keep_their_order_downwards():
    def second(v):
        return sorted([x * x for x in v if x > 0], reverse=True)[1]

    v = jnp.array([1.0, 2.0, 3.0, -1.0, 0.5, 3.0])
    np.testing.assert_array_equal(jax.grad(ag.jit(second))(v), [0, 0, 0, 0, 0, 6])


@pytest.mark.parametrize(
    "use",
    [
        lambda k, v: k.index(v[:1]), lambda k, v: k.count(v[:1]), lambda k, v: k.remove(v[:1]), lambda k, v: v[:1] in k,
        lambda k, v: k.sort(), lambda k, v: sorted(k),
    ],
)  # fmt: skip
def test_a_bounded_list_of_arrays_is_not_searched(use):
    with pytest.raises(StagingError, match="arrays"):
        ag.jit(lambda v: use([row for row in v.reshape(-1, 1) if row[0] > 0], v))(jnp.arange(3.0))


def test_counts_are_integers_of_python():
    def counted(v):
        k = [x for x in v if x > 2]
        return k.count(3) * v[0], k.index(3) * v[0], sum(v > 2) * v[0], len(k) * v[0]

    v = jnp.array([100, 3, 3, 3, -1], jnp.int8)
    for got, wanted in zip(ag.jit(counted)(v), counted(v), strict=True):
        assert got.dtype == wanted.dtype and got == wanted


NAN = np.nan


@pytest.mark.parametrize(
    "v",
    [
        [1, NAN, 3], [NAN, 1, 3], [5, NAN, 3], [5, 2, NAN], [5, 1, 3], [5, NAN, 5], [True, False, True], [1, 2, 3],
        [np.inf, NAN], [-np.inf, NAN, 5],
    ],
)  # fmt: skip
def test_extremes_of_a_bounded_list(v):
    def extremes(v):
        k = [x for x in v if x != 5]
        return max(k), min(k), max(k, default=x_default), max((x for x in v if x > 7), default=x_default)

    v = jnp.array(v)
    x_default = v[0]
    for got, wanted in zip(ag.jit(extremes)(v), extremes(v), strict=True):
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("m", [[[1.0], [2.0]], [[2.0], [3.0]], [[0.0], [0.0]]])
def test_truths_of_rows_of_one_element(m):
    def truths(m):
        k = [row for row in m if row > 1.5]
        kept = [row - 2 for row in m if row > 1.5]
        return all(k), any(k), all(kept), any(kept)

    m = jnp.array(m)
    assert [bool(x) for x in ag.jit(truths)(m)] == [bool(x) for x in truths(m)]


@pytest.mark.parametrize("use", [all, any, max, min])
def test_larger_rows_have_no_truth(use):
    with pytest.raises(StagingError, match="holds arrays"):
        ag.jit(lambda m: use([row for row in m if row[0] > 0]))(jnp.ones((3, 2)))


def test_nothing_is_done_to_an_empty_bounded_list():
    @ag.jit
    def f(x):
        k = ag.max_len([], 4)
        k.sort()
        k.reverse()
        first = 0
        try:
            k.remove(x)
        except ValueError:
            first = 1
        k.append(3)
        return first, k[:2], len(k)

    first, k, length = f(1.0)
    assert (first, [int(x) for x in k], length) == (1, [3], 1)


# Markers


def test_markers_hand_on_in_plain_python():
    assert ag.cond(True) is True and ag.while_(0) == 0
    assert list(ag.stage([1, 2])) == list(ag.unroll(range(1, 3))) == list(ag.scan([1, 2])) == [1, 2]
    assert [x["a"] for x in ag.scan({"a": jnp.arange(3)})] == [0, 1, 2]
    assert ag.stack([1, 2]).tolist() == [1, 2]
    assert len(ag.stage([1, 2])) == 2


def test_a_loop_runs_as_marked():
    @ag.autograph
    def power(x, how):
        y = 1.0
        for _ in how(range(3)):
            y = y * x
        return y

    assert equations(lambda x: power(x, ag.stage), 2.0) == ["scan"]
    assert equations(lambda x: power(x, ag.unroll), 2.0) == ["mul"] * 3


def test_a_marked_loop_that_cannot_be_staged_is_an_error():
    @ag.autograph
    def f(x):
        for k in ag.stage(range(3)):
            x = x * [1, 2, 3][: int(k)][0]
        return x

    with pytest.raises(StagingError, match="this loop cannot be staged"):
        jax.jit(f)(1.0)


def test_a_scan_that_may_be_left_is_an_error():
    @ag.autograph
    def f(v):
        for x in ag.scan(v):
            if x > 0:
                return x
        return 0.0

    with pytest.raises(StagingError, match="may be left early"):
        jax.jit(f)(jnp.arange(3.0))


def test_known_conditions_are_staged_where_they_are_marked():
    @ag.autograph
    def f(x):
        if ag.cond(True):
            x = x * 2
        while ag.while_(False):
            x = x * 3
        return x

    assert {"cond", "while"} <= set(equations(f, 1.0))
    assert float(jax.jit(f)(1.0)) == f(1.0) == 2.0
