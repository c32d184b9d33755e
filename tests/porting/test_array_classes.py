"""Classes that derive from NumPy's array, in ported code."""

# pyright: reportAttributeAccessIssue=false, reportIncompatibleMethodOverride=false, reportArgumentType=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import Programs, check_compiled

VALUES = [[3.0, 0.5, 0.1, 2.0], [1.0, -2.0, 5.0, 2.0], [0.25, 0.0, 0.0, 0.0]]
PROGRAMS = program = Programs()


class Quaternion(np.ndarray):
    """Of a buffer, with an array of its own beside, as in the package ahrs."""

    def __new__(cls, q, scale=1.0):
        q = np.array(q, dtype=float)
        norm = np.linalg.norm(q)
        if norm == 0.0:
            raise ValueError("a quaternion cannot be zero")
        q /= norm
        made = super().__new__(cls, q.shape, float, q)
        made.parts = q
        made.scale = scale
        return made

    def __array_finalize__(self, source):
        if source is None:
            return
        self.parts = getattr(source, "parts", np.array([1.0, 0.0, 0.0, 0.0]))
        self.scale = getattr(source, "scale", 1.0)

    @property
    def w(self):
        return self.parts[0]

    def conjugated(self):
        return Quaternion(self.parts * np.array([1, -1, -1, -1]))

    @classmethod
    def of_angle(cls, angle):
        return cls([np.cos(angle), np.sin(angle), 0.0, 0.0])

    def negative(self):
        return self.__class__(-self.parts)

    def product(self, other):
        w, x, y, z = self.parts
        a, b, c, d = other
        first = w * a - x * b - y * c - z * d
        return np.array([first, w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a])

    def __mul__(self, other):
        return Quaternion(self.product(other.parts if isinstance(other, Quaternion) else other))


class Length(np.ndarray):
    """A view of an array, with a unit, as NumPy's documentation shows."""

    def __new__(cls, values, unit="m"):
        made = np.asarray(values).view(cls)
        made.unit = unit
        return made

    def __array_finalize__(self, source):
        self.unit = getattr(source, "unit", None)

    def doubled(self):
        return 2 * self


@program
def methods(x):
    q = Quaternion(x, scale=2.0)
    return q.w, q.product(x), (q * q).parts, q * x, q.conjugated(), q.scale, q.shape[0], q.sum(), np.linalg.norm(q)


@program
def what_numpy_computes(x):
    q = Quaternion(x)
    return q[1:], q + 1, 2 - q, abs(q), np.exp(q), q / 2, q.T, q > 0, np.asarray(q) * 2, np.dot(np.ones((2, 4)), q), -q


@program
def made_by_the_class_of_an_object(x):
    q = Quaternion.of_angle(x[0])
    kinds = type(q) is Quaternion, type(q) is np.ndarray, type(q.negative()) is Quaternion
    return q.negative(), q.of_angle(x[1]) * q, *kinds


@program
def in_a_loop(x):
    q = Quaternion([1.0, 0, 0, 0])
    for turn in range(4):
        q = q * Quaternion(x + turn)
    return q, q.parts


@program
def in_a_loop_of_unknown_length(x):
    q, turns = Quaternion(x), 0
    while q.w > 0.3 and turns < 20:
        q = q * Quaternion(x + turns)
        turns += 1
    return q, turns


@program
def on_two_paths(x):
    q = Quaternion(x)
    q = q * q if x[0] > 1 else q.conjugated()
    return q.parts, q[0], isinstance(q, Quaternion), isinstance(q, np.ndarray), q * q


@program
def beside_an_array(x):
    """As `Mahony.updateIMU` returns one or the other; what it returns is written into rows."""

    def updated(q, rate):
        q = Quaternion(q)
        if np.linalg.norm(rate) == 0:
            return q
        return q.product(rate) / np.linalg.norm(q.product(rate))

    rows = np.zeros((3, 4))
    rows[0] = Quaternion(x)
    for row in range(1, 3):
        rows[row] = updated(rows[row - 1], x - 0.25 if row == 2 else x)
    return rows, updated(x, x)


@program
def what_is_computed_of_one_or_the_other(x):
    q = Quaternion(x) if x[0] > 1 else x * 1
    return q + 1.0, np.sum(q), {"kept": [q]}


@program
def two_names_of_one(x):
    length, other = Length(x), Length(x + 1)
    same = length
    if x[0] > 1:
        same[0] = 7.0
    else:
        length[1] = 3.0
    rows = [length, other]
    for i in range(3):
        if x[i] > 1:
            rows[0][i] = -1
        rows[1] += rows[0]
    return length, same, x, rows[1], other


@program
def a_view_with_an_attribute(x):
    length = Length(x, "s")
    twice, part = length.doubled(), np.exp(length[1:])
    shapes = length.copy(), length.reshape(2, 2).T, len(length), [element * 2 for element in length]
    return twice, twice.unit == "s", part.unit == "s", length.max(), *shapes


@program
def written(x):
    length = Length(x)
    length[0] = 5
    length += 1
    length[1:] *= 2
    return length, x


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VALUES)


def test_an_error_of_its_own(x64):
    run = ag.jit(ag.port(lambda x: Quaternion(x)))
    with pytest.raises(ValueError, match="a quaternion cannot be zero"):
        run(jnp.zeros(4))


def test_derivatives_and_lanes(x64):
    def angle(x):
        return (Quaternion(x) * Quaternion(x[::-1]))[1]

    x = np.array(VALUES[1])
    ends = [angle(x + step) - angle(x - step) for step in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(jax.grad(ag.port(angle))(x), np.array(ends) / 2e-6, rtol=1e-7, atol=1e-9)
    lanes = jax.vmap(ag.port(angle))(jnp.array(VALUES))
    np.testing.assert_allclose(lanes, [angle(np.array(v)) for v in VALUES], rtol=1e-12)


def test_an_array_made_of_a_part_of_bytes_is_refused():
    with pytest.raises(ag.PortingError, match="a part of another one's bytes"):
        jax.jit(ag.port(lambda x: np.ndarray.__new__(Length, (2,), float, x)))(jnp.ones(3))
