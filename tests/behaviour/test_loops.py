"""while and for: what they iterate over, what they leave behind, and zero trips."""

# ruff: noqa: B905  users write zip without strict

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
OTHER = np.array([4.0, 5.0, 6.0])
PAIRS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
EMPTY = np.zeros(0)


# ------------------------------------------------------------------ while
def halve(x):
    while x > 1:
        x = x / 2
    return x


row(halve, [37.0], [0.5], staged="loop", grad=True, batch=True)


def collatz_steps(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


row(collatz_steps, [27], [6], [1], staged="loop cond", batch=True)


def halve_at_most_n_times(x, n):
    i = 0
    while i < n and x > 1:
        x = x / 2
        i += 1
    return x, i


row(halve_at_most_n_times, [37.0, 3], [37.0, 100], [37.0, 0], [0.5, 9], staged="loop", grad=True, batch=True)


def condition_becomes_traced(x):
    e = 1.0
    i = 0
    while e > 0.1:
        e = e * x
        i += 1
    return i


row(condition_becomes_traced, [0.5], [0.05], staged="loop", batch=True)


def residual_starts_at_infinity(a):
    x = a
    residual = float("inf")
    while residual > 1e-3:
        new = 0.5 * (x + a / x)
        residual = abs(new - x)
        x = new
    return x


row(residual_starts_at_infinity, [2.0], [9.0], staged="loop", grad=True, batch=True)


def newton_square_root(a):
    x = a
    err = 1.0
    it = 0
    while err > 1e-4 and it < 50:
        new = 0.5 * (x + a / x)
        err = abs(new - x)
        x = new
        it += 1
    return x, it


row(newton_square_root, [2.0], [10.0], staged="loop", grad=True, batch=True)


def not_converged_flag(x):
    converged = False
    n = 0
    while not converged:
        x = x * 0.5
        n += 1
        converged = x < 1
    return x, n


row(not_converged_flag, [37.0], [0.5], staged="loop", grad=True, batch=True)


def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


row(greatest_common_divisor, [48, 36], [17, 5], [7, 0], staged="loop", batch=True)


def power_by_squaring(base, n):
    result = 1
    while n > 0:
        if n % 2 == 1:
            result = result * base
        base = base * base
        n = n // 2
    return result


row(power_by_squaring, [3, 9], [2, 10], [5, 0], staged="loop cond", batch=True)


def count_bits(n):
    count = 0
    while n:
        count += n & 1
        n >>= 1
    return count


row(count_bits, [13], [255], [0], staged="loop", batch=True)


def count_down_to_a_traced_floor(x, floor):
    trips = 0
    while floor < x <= 100:
        x -= 1.5
        trips += 1
    return trips


row(count_down_to_a_traced_floor, [10.0, 3.0], [200.0, 3.0], [1.0, 3.0], staged="loop", batch=True)


def bisect(lo, hi):
    while hi - lo > 1e-3:
        mid = (lo + hi) / 2
        if mid * mid < 2:
            lo = mid
        else:
            hi = mid
    return (lo + hi) / 2


row(bisect, [0.0, 2.0], [1.0, 5.0], [1.4, 1.4], staged="loop cond", batch=True)


def norm_decides(v):
    n = 0
    while jnp.sum(v * v) > 1:
        v = v / 2
        n += 1
    return v, n


row(norm_decides, [VECTOR], [VECTOR * 0.1], staged="loop", grad=True, batch=True)


def while_in_while(x):
    total = 0.0
    while x > 1:
        y = x
        while y > 1:
            y = y / 2
            total = total + y
        x = x / 3
    return total


row(while_in_while, [37.0], [2.2], [0.5], staged="loop", grad=True, batch=True)


def while_false_never_runs(x):
    while x > 1000:
        y = x / 0.0
        x = y
    return x


row(while_false_never_runs, [3.0], staged="loop")


def static_while(x):
    i = 0
    while i < 3:
        x = x * 2 + i
        i += 1
    return x, i


row(static_while, [1.5], [-1.0], grad=True, batch=True)


def static_while_consumes_a_list(x, y):
    todo = [x, y, x]
    total = 0.0
    while todo:
        total = total * 2 + todo.pop()
    return total


row(static_while_consumes_a_list, [1.0, 2.0], grad=True)


def walrus_in_while(n):
    i = 0
    y = 0
    while (i := y) < n:
        y += 1
    return i


row(walrus_in_while, [10], [0], staged="loop", batch=True)


def walrus_residual(x):
    trips = 0
    while (r := abs(x * x - 2.0)) > 1e-2 and trips < 40:
        x = x - (x * x - 2.0) / (2 * x)
        trips += 1
    return x, r < 1e-2


row(walrus_residual, [5.0], [1.4142], staged="loop", batch=True)


# ------------------------------------------------------------------ for over range
def triangular(n):
    s = 0
    for i in range(n):
        s += i
    return s


row(triangular, [6], [0], [1], staged="loop", batch=True)


def from_a_to_b(a, b):
    s = 0
    for i in range(a, b):
        s = s * 2 + i
    return s


row(from_a_to_b, [2, 6], [6, 2], [-3, 1], staged="loop", batch=True)


def with_a_traced_step(n, step):
    s = 0
    for i in range(0, n, step):
        s = s + i
    return s


row(with_a_traced_step, [10, 3], [10, 1], [0, 3], staged="loop", batch=True)


def downwards_by_two(n):
    s = 0
    for i in range(n, 0, -2):
        s = s * 2 + i
    return s


row(downwards_by_two, [7], [6], [0], staged="loop", batch=True)


def factorial(n):
    p = 1
    for k in range(1, n + 1):
        p *= k
    return p


row(factorial, [6], [1], [0], staged="loop", batch=True)


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


row(fibonacci, [10], [1], [0], staged="loop", batch=True)


def leibniz(n):
    s = 0.0
    sign = 1.0
    for k in range(n):
        s += sign / (2 * k + 1)
        sign = -sign
    return 4 * s


row(leibniz, [50], [0], staged="loop", batch=True)


def fixed_number_of_turns(x):
    s = 0.0
    for i in range(5):
        s = s + x * i
    return s


row(fixed_number_of_turns, [2.0], [-2.0], grad=True, batch=True)


def fixed_number_with_if(x):
    s = 0.0
    for i in range(5):
        if s < 6:
            s = s + x * i
    return s


row(fixed_number_with_if, [2.1], [-2.0], staged="cond", grad=True, batch=True)


def hundred_turns(x):
    for _ in range(100):
        x = x + 0.01 * (1.0 - x)
    return x


row(hundred_turns, [2.0], [0.0], grad=True, batch=True)


def explicit_euler(y, t_end, steps):
    h = t_end / steps
    t = 0.0
    for _ in range(steps):
        y = y + h * (-2.0 * y + t)
        t = t + h
    return y, t


row(explicit_euler, [1.0, 1.0, 20], [2.0, 0.5, 5], staged="loop", grad=True, batch=True)


def range_of_no_turns(x):
    for i in range(0):
        x = x * 10 + i
    return x


row(range_of_no_turns, [2.0], grad=True)


def range_of_length(v):
    s = 0.0
    for i in range(len(v)):
        s += v[i] * (i + 1)
    return s


row(range_of_length, [VECTOR], [-VECTOR], [EMPTY], grad=False, batch=True)


def range_of_shape(m):
    s = 0.0
    for i in range(m.shape[0]):
        s = s * 0.5 + m[i, 0] * m[i, 1]
    return s


row(range_of_shape, [PAIRS], [-PAIRS], grad=True, batch=True)


def reversed_range(n):
    s = 0
    for i in reversed(range(n)):
        s = s * 2 + i
    return s


row(reversed_range, [5], [1], [0], staged="loop", batch=True)


def enumerate_a_range(n):
    s = 0
    for k, i in enumerate(range(3, 3 + n)):
        s += k * i
    return s


row(enumerate_a_range, [4], [0], staged="loop", batch=True)


def jnp_arange(x):
    s = 0.0
    for t in jnp.arange(4):
        s = s + x**t
    return s


row(jnp_arange, [2.0], [0.5], staged="loop", batch=True)


def linspace_grid(a, b):
    total = 0.0
    for t in jnp.linspace(a, b, 6):
        total = total + t * t
    return total


row(linspace_grid, [0.0, 1.0], [1.0, -2.0], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ for over arrays and collections
def sum_of_squares(v):
    s = 0.0
    for e in v:
        s = s + e * e
    return s


row(sum_of_squares, [VECTOR], [-VECTOR], [EMPTY], staged="loop", batch=True)


def horner(x, coefficients):
    value = 0.0
    for c in coefficients:
        value = value * x + c
    return value


row(horner, [2.0, VECTOR], [0.5, OTHER], staged="loop", grad=True, batch=True)


def rows_of_a_matrix(m):
    s = jnp.zeros(2)
    for r in m:
        s = s * 0.5 + r
    return s


row(rows_of_a_matrix, [PAIRS], [-PAIRS], staged="loop", grad=True, batch=True)


def columns_of_a_matrix(m):
    s = 0.0
    for c in m.T:
        s = s * 2 + c.max()
    return s


row(columns_of_a_matrix, [PAIRS], [-PAIRS], staged="loop", grad=True, batch=True)


def unpacked_rows(m):
    s = 0.0
    for a, b in m:
        s = s + a * b
    return s


row(unpacked_rows, [PAIRS], [-PAIRS], staged="loop", grad=True, batch=True)


def enumerated(v):
    s = 0.0
    for i, e in enumerate(v):
        s = s + i * e
    return s


row(enumerated, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def enumerated_from_one(v):
    s = 0.0
    for i, e in enumerate(v, 1):
        s = s + i * e
    return s


row(enumerated_from_one, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def enumerated_from_a_keyword(v, w):
    s = 0.0
    for i, e in enumerate(v, start=10):
        s = s + i * e + w[i - 10]
    return s


row(enumerated_from_a_keyword, [VECTOR, OTHER], [OTHER, VECTOR], staged="loop", grad=True, batch=True)


def dot_by_zip(v, w):
    s = 0.0
    for a, b in zip(v, w):
        s = s + a * b
    return s


row(dot_by_zip, [VECTOR, OTHER], [OTHER, -VECTOR], staged="loop", grad=True, batch=True)


def zip_of_unequal_lengths(v, w):
    s = 0.0
    for a, b in zip(v, w):
        s = s * 2 + a * b
    return s


row(zip_of_unequal_lengths, [VECTOR, np.array([1.0, 2.0])], staged="loop", grad=True)


def enumerate_of_zip(v, w):
    s = 0.0
    for i, (a, b) in enumerate(zip(v, w)):
        s = s + i * a * b
    return s


row(enumerate_of_zip, [VECTOR, OTHER], [OTHER, -VECTOR], staged="loop", grad=True, batch=True)


def zip_with_range(v):
    s = 0.0
    for e, k in zip(v, range(1, 10)):
        s = s + e / k
    return s


row(zip_with_range, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def neighbours(v):
    s = 0.0
    for a, b in zip(v[:-1], v[1:]):
        s = s + (b - a) ** 2
    return s


row(neighbours, [VECTOR], [-VECTOR * 2], staged="loop", grad=True, batch=True)


def reversed_array(v):
    s = 0.0
    for e in reversed(v):
        s = s * 2 + e
    return s


row(reversed_array, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def reversed_slice(v):
    s = 0.0
    for e in v[::-1]:
        s = s * 2 + e
    return s


row(reversed_slice, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def part_of_an_array(v):
    s = 0.0
    for e in v[1:]:
        s = s * 3 + e
    return s


row(part_of_an_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def dict_items(x, y):
    d = {"a": x, "b": y}
    s = 0.0
    for k, v in d.items():
        if k == "a":
            s = s + v
        else:
            s = s + v * 10
    return s


row(dict_items, [1.0, 2.0], [-1.0, 0.5], grad=True, batch=True)


def dict_values(params):
    norm = 0.0
    for p in params.values():
        norm = norm + jnp.sum(p * p)
    return norm


row(dict_values, [{"w": VECTOR, "b": np.array([0.5])}], grad=True)


def dict_keys_with_a_traced_if(x, y):
    d = {"a": x, "b": y}
    s = 0.0
    for k in d:
        if d[k] > 0:
            s = s + d[k]
    return s


row(dict_keys_with_a_traced_if, [1.0, 2.0], [-1.0, 0.5], staged="cond", grad=True, batch=True)


def ragged_list(x, y):
    s = 0.0
    for v in [x, y]:
        s = s + jnp.sum(v)
    return s


row(ragged_list, [VECTOR, np.array([4.0, 5.0])], grad=True)


def index_of_a_python_list(v):
    names = ["a", "b", "a"]
    s = 0.0
    for i in range(3):
        if names[i] == "a":
            s = s + v[i]
    return s


row(index_of_a_python_list, [VECTOR], [-VECTOR], grad=True, batch=True)


def tuple_of_functions(x):
    for g in (jnp.sin, jnp.cos, jnp.tanh):
        x = g(x)
    return x


row(tuple_of_functions, [1.0], [-0.3], grad=True, batch=True)


def list_of_pairs(x):
    for scale, shift in [(2.0, 1.0), (0.5, -1.0), (3.0, 0.0)]:
        if x > 0:
            x = x * scale + shift
    return x


row(list_of_pairs, [1.0], [-1.0], staged="cond", grad=True, batch=True)


def tuple_of_traced_values(a, b, c):
    largest = a
    for candidate in (b, c):
        if candidate > largest:
            largest = candidate
    return largest


row(tuple_of_traced_values, [1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0], staged="cond", grad=True, batch=True)


def letters_of_a_string(x):
    for letter in "dhd":
        x = x * 2 if letter == "d" else x - 1
    return x


row(letters_of_a_string, [1.0], grad=True)


# ------------------------------------------------------------------ nesting
def matrix_total(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s = s + m[i, j] * (i + 1)
    return s


row(matrix_total, [PAIRS], [-PAIRS], grad=True, batch=True)


def rows_then_elements(m):
    s = 0.0
    for r in m:
        for e in r:
            s = s * 0.9 + e
    return s


row(rows_then_elements, [PAIRS], [-PAIRS], staged="loop", grad=True, batch=True)


def triangle(n):
    count = 0
    for i in range(n):
        for j in range(i):
            count += i * j
    return count


row(triangle, [5], [1], [0], staged="loop", batch=True)


def while_in_for(v):
    trips = 0
    for e in v:
        while e > 1:
            e = e / 2
            trips += 1
    return trips


row(while_in_for, [VECTOR * 5], [VECTOR], [VECTOR * 0.1], staged="loop", batch=True)


def for_in_while(x):
    rounds = 0
    while x > 1:
        for k in range(1, 4):
            x = x - x / (k + 3)
        rounds += 1
    return x, rounds


row(for_in_while, [37.0], [0.5], staged="loop", grad=True, batch=True)


def loop_in_if(x, n):
    if n > 0:
        for i in range(n):
            x = x + i
    else:
        while x > 1:
            x = x / 2
    return x


row(loop_in_if, [5.0, 3], [5.0, 0], [0.5, -1], staged="loop cond", grad=True, batch=True)


def if_in_loop_in_if(v, flag):
    total = 0.0
    if flag > 0:
        for e in v:
            if e > 1.5:
                if e > 2.5:
                    total = total + e
                else:
                    total = total - e
    return total


row(if_in_loop_in_if, [VECTOR, 1], [VECTOR, 0], [-VECTOR, 1], staged="loop cond", grad=True, batch=True)


def count_by_sign(v):
    positive, negative, zero = 0, 0, 0
    for e in v:
        if e > 0:
            positive += 1
        elif e < 0:
            negative += 1
        else:
            zero += 1
    return positive, negative, zero


row(count_by_sign, [VECTOR], [np.array([-1.0, 0.0, 2.0])], staged="loop cond", batch=True)


def running_maximum(v):
    best = v[0]
    where = 0
    for i, e in enumerate(v):
        if e > best:
            best = e
            where = i
    return best, where


row(running_maximum, [VECTOR], [np.array([2.0, 9.0, 1.0])], [-VECTOR], staged="loop cond", batch=True)


def two_loops_one_after_the_other(x, n):
    for i in range(n):
        x = x + i
    while x > 3:
        x = x / 2
    for i in range(n):
        x = x * 1.5
    return x


row(two_loops_one_after_the_other, [5.0, 3], [5.0, 0], [0.0, 2], staged="loop", grad=True, batch=True)


def simpson(a, b, n):
    h = (b - a) / n
    total = jnp.sin(a) + jnp.sin(b)
    for i in range(1, n):
        if i % 2 == 1:
            total = total + 4 * jnp.sin(a + i * h)
        else:
            total = total + 2 * jnp.sin(a + i * h)
    return total * h / 3


row(simpson, [0.0, 3.0, 10], [1.0, 2.0, 4], staged="loop cond", grad=True, batch=True)


def power_iteration(m):
    v = jnp.ones(2)
    for _ in range(30):
        w = m @ v
        v = w / jnp.sqrt(jnp.sum(w * w))
    return v @ (m @ v)


row(power_iteration, [np.array([[2.0, 1.0], [1.0, 3.0]])], [np.eye(2)], grad=False, batch=True)


def gradient_descent_with_backtracking(x):
    for _ in range(5):
        g = 2 * (x - 3.0)
        step = 1.0
        while (x - step * g - 3.0) ** 2 > (x - 3.0) ** 2 - 0.4 * step * g * g:
            step = step / 2
            if step < 1e-3:
                break
        x = x - 0.3 * step * g
    return x


row(gradient_descent_with_backtracking, [10.0], [0.0], staged="loop", batch=True)


# ------------------------------------------------------------------ what a loop leaves behind
def bound_reassigned_in_the_body(n):
    s = 0
    for i in range(n):
        n = 2
        s += n
    return s


row(bound_reassigned_in_the_body, [5], [0], staged="loop", batch=True)


def target_reassigned(n):
    s = 0
    for i in range(n):
        i = i * 10
        s += i
    return s


row(target_reassigned, [5], [0], staged="loop", batch=True)


def iterated_array_reassigned(v):
    s = 0.0
    for e in v:
        v = v * 2
        s = s + e + v[0]
    return s


row(iterated_array_reassigned, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def index_after_the_loop(n):
    s = 0
    for i in range(n):
        s += i
    return s + i


row(index_after_the_loop, [5], [1], plain=[[0]], staged="loop", batch=True)


def element_after_the_loop(v):
    s = 0.0
    for e in v:
        s = s + e
    return s * e


row(element_after_the_loop, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def body_variable_after_the_loop(x, n):
    for i in range(n):
        last = x * i
    return last


row(body_variable_after_the_loop, [2.0, 4], [3.0, 1], plain=[[2.0, 0]], staged="loop", batch=True)


def temporary_in_the_body(x, n):
    s = 0.0
    for i in range(n):
        t = x * i
        s = s + t
    return s


row(temporary_in_the_body, [2.0, 4], [2.0, 0], [-1.0, 1], staged="loop", grad=True, batch=True)


def index_kept_from_before(n):
    i = -1
    for i in range(n):
        pass
    return i


row(index_kept_from_before, [4], [0], batch=True)


def previous_value(v):
    previous = 0.0
    jumps = 0.0
    for e in v:
        jumps = jumps + abs(e - previous)
        previous = e
    return jumps, previous


row(previous_value, [VECTOR], [np.array([3.0, -1.0, 2.0])], staged="loop", grad=True, batch=True)


def outer_index_in_the_inner_loop(n):
    s = 0
    for i in range(n):
        for j in range(2):
            s += i * j
        s += j
    return s


row(outer_index_in_the_inner_loop, [3], [0], staged="loop", batch=True)


def the_same_index_twice(n):
    s = 0
    for i in range(n):
        s += i
    for i in range(n, n + 2):
        s = s * 2 + i
    return s, i


row(the_same_index_twice, [3], [0], staged="loop", batch=True)


# ------------------------------------------------------------------ integers from a counter, for which 32 bits have no room
def power_of_a_counter(x):
    s = 0.0
    for i in range(100):
        s = s + x * ((i**5) % 101)
    return s


row(power_of_a_counter, [1.0], [2.5])


def shifted_by_a_counter(x):
    s = 0.0
    for i in range(40):
        s = s + x * ((1 << i) % 7)
    return s


row(shifted_by_a_counter, [1.0], [2.5])


def product_of_two_counters(x):
    s = 0.0
    for i in range(6):
        for j in range(5):
            s = s + x * (((i * 40000 + j) ** 2) % 7)
    return s


row(product_of_two_counters, [1.0], [2.5])


def two_to_a_counter(x):
    s = 0.0
    for i in range(9):
        s = s + x * (2**i) * (i * i)
    return s


row(two_to_a_counter, [1.0], [2.5], staged="loop", grad=True)


# ------------------------------------------------------------------ scalars that become arrays, and arrays that become scalars
def mean_of_the_mean(v):
    r = v
    for _ in range(3):
        r = r.mean() * r
        r = r.sum()
    return r


row(mean_of_the_mean, [np.array([1.0, 2.0, 4.0])], [np.array([3.0, -1.0, 1.0])], grad=True, batch=True)


def sum_of_the_one_before(v):
    before, total = 1.0, 0.0
    for e in v:
        total = total + jnp.sum(before)
        before = v * e
    return total


row(sum_of_the_one_before, [np.array([1.0, 2.0, 4.0])], [np.array([3.0, -1.0, 1.0])], grad=True, batch=True)


def sums_of_arrays(v):
    total, outer, error, before = 0.0, 0.0, 0.0, 0.0
    for e in v:
        total = total + v * e
        for d in v:
            outer = outer + d * v
        error = jnp.sum((v * e - before) ** 2)
        before = v * e
    return total, outer, error


row(sums_of_arrays, [np.array([1.0, 2.0, 4.0])], [np.array([3.0, -1.0, 1.0])], staged="loop", grad=True, batch=True)


def last_element(v):
    y = jnp.zeros(3)
    for e in v:
        y = e
    return y


row(last_element, [np.array([1.0, 2.0, 4.0])], [np.array([3.0, -1.0, 1.0])], batch=True)


def sum_on_one_path(v):
    def measured(v):
        if v[0] > 0:
            return v.sum()
        return v

    return jnp.sum(measured(v))


row(sum_on_one_path, [np.array([1.0, 2.0, 4.0])], [np.array([-3.0, -1.0, 1.0])], want="error")


def a_test_of_which_only_the_answer_is_traced(x):
    asked = [0]

    def most():
        asked[0] = asked[0] * 2 + 1
        return jnp.full((), 2)

    n = 0
    while n < most():
        n += 1
        x = x * 2
    return (x, n, asked[0])


row(a_test_of_which_only_the_answer_is_traced, [2.0], staged="loop", grad=True)


def a_test_that_is_traced_after_some_turns(x):
    asked = 0
    w = [0.0, 0.0, x]
    k = 0
    while (asked := asked * 2 + 1) and w[min(k, 2)] < 3:
        k += 1
        if k == 4:
            w = [x * 0 + 5.0] * 3
    return (k, asked)


row(a_test_that_is_traced_after_some_turns, [2.0], [1.0], want="either")


def a_test_that_prints(x):
    def most():
        print("asked")
        return jnp.full((), 2)

    n = 0
    while n < most():
        n += 1
    return n


row(a_test_that_prints, [2.0], prints=True, own_jit=True)


def counter_within_bounds(x):
    s = 0.0
    for i in range(200):
        s = s + x * (min(i, 10) ** 8 % 97)
    return s


row(counter_within_bounds, [1.0], [2.5], staged="loop", grad=True)


def pairs_of_arrays(v):
    s, pair, total = 0.0, (1.0, 2.0), 0.0
    for e in v:
        s = jnp.maximum(s, 0.0) + v * e
        total = total + jnp.sum(pair[0])
        pair = v * e, pair[0]
    return s, total


row(pairs_of_arrays, [np.array([1.0, 2.0, 4.0])], [np.array([3.0, -1.0, 1.0])], batch=True)


def power_of_an_outer_counter(x):
    s, t = 0.0, 0.0
    for i in range(60):
        for j in range(5):
            if x * j > 3:
                break
            s = s + x * ((i**6) % 7)
        k = 0.0
        while k < x:
            k = k + 1.0
            t = t + ((i**5) % 101)
    return s, t


row(power_of_an_outer_counter, [1.0], [2.5], staged="loop")


def counts_in_inner_loops(x):
    s = 0.0
    for i in range(40):
        w = 0
        while w <= i and w * x < 20:
            w = w + 1
        for j in range(i):
            if j * x > 9:
                break
            s = s + x
        s = s + w
    return s


row(counts_in_inner_loops, [1.0], [2.5], staged="loop")


def ranges_up_to_a_traced_number(x):
    s, n = 0.0, int(x)
    for _ in range(200):
        i = 0
        while i < n:
            for j in range(i, n):
                s = s + x * (n - j)
            i = i + 1
        if s > 40 * x:
            break
    return s


row(ranges_up_to_a_traced_number, [2.5], [3.5], staged="loop")


# ------------------------------------------------------------------ itertools.count


def count_until_it_is_small(x):
    for i in itertools.count(1):
        x = x * 0.5
        if x < 0.1:
            break
    return i, x


row(count_until_it_is_small, [8.0], [0.01], staged="loop", batch=True)


def count_down_and_return(x):
    total = 0
    for k in itertools.count(10, -3):
        total += k
        if k < x:
            return total, k


row(count_down_and_return, [1.0], [-7.0], staged="loop", batch=True)


def count_that_python_ends(x):
    for i in itertools.count():
        x = x * x + i
        if i * i > 20:
            break
    return x, i


row(count_that_python_ends, [0.1], [-0.2], grad=True)


def count_that_goes_on(x):
    numbers = itertools.count()
    for i in numbers:
        if i > 3:
            break
        x = x * 2
    return x, next(numbers)


row(count_that_goes_on, [1.0])


def count_that_goes_on_after_a_traced_break(x):
    numbers = itertools.count()
    for _ in numbers:
        if x > 10:
            break
        x = x * 2
    return x, next(numbers)


row(count_that_goes_on_after_a_traced_break, [1.0], want="error")


@table.each_way
def test_loops(row, way, record_property):
    check(row, way, record_property)


def test_an_integer_that_has_no_room_is_refused_where_python_would_take_too_long():
    @ag.jit
    def cubes(x):
        s = 0.0
        for i in range(100_000):
            s = s + x * (i * i * i % 7)
        return s

    with pytest.raises(ag.StagingError, match="may have no room in int32"):
        cubes(1.0)
