"""What `scipy.integrate.quad` computes in C: integrals over finite and infinite intervals. Python, which is converted.

Sources: Piessens, de Doncker-Kapenga, Uberhuber and Kahaner, "QUADPACK", 1983 (the routines QAGS and QAGI); Wynn, "On a device
for computing the e_m(S_n) transformation", 1956. The order of the steps is QUADPACK's, so that counters and codes are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import implicit

Function = Callable[..., Any]
# The integral, an estimate of its error, that of |f|, and that of |f - mean of f|.
Rule = Callable[[float, float], tuple[float, float, float, float]]

_EPSILON, _SMALLEST, _LARGEST = (float(value) for value in (np.finfo(float).eps, np.finfo(float).tiny, np.finfo(float).max))
_KEPT = 50  # elements of the table of the epsilon algorithm

# Kronrod's nodes in (0, 1), the largest first, their weights, and that of 0; Gauss' weights of every other node.
_NODES_21 = """.995657163025808080735527280689003 .973906528517171720077964012084452 .930157491355708226001207180059508
.865063366688984510732096688423493 .780817726586416897063717578345042 .679409568299024406234327365114874
.562757134668604683339000099272694 .433395394129247190799265943165784 .294392862701460198131126603103866
.148874338981631210884826001129720"""
_KRONROD_21 = """.011694638867371874278064396062192 .032558162307964727478818972459390 .054755896574351996031381300244580
.075039674810919952767043140916190 .093125454583697605535065465083366 .109387158802297641899210590325805
.123491976262065851077958109585166 .134709217311473325928054001771707 .142775938577060080797094273138717
.147739104901338491374841515972068 .149445554002916905664936468389821"""
_GAUSS_10 = """.066671344308688137593568809893332 .149451349150580593145863397657697 .219086362515982043995534934228163
.269266719309996355091226921569469 .295524224714752870173815619188769"""
_NODES_15 = """.991455371120812639206854697526329 .949107912342758524526189684047851 .864864423359769072789712788640926
.741531185599394439863864773280788 .586087235467691130294144691693283 .405845151377397166906606412076961
.207784955007898467600689403773245"""
_KRONROD_15 = """.022935322010529224963732008058970 .063092092629978553290700663189204 .104790010322250183839876322541518
.140653259715525918745189590510238 .169004726639267902826583426598550 .190350578064785409913256402421014
.204432940075298892414161999234649 .209482141084727828012999174891714"""
_GAUSS_7 = """.129484966168869693270611432679082 .279705391489276667901467771423780 .381830050505118944950369775488975
.417959183673469387755102040816327"""


def _numbers(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def _both_sides(half: np.ndarray, middle: list[float], sign: float = 1.0) -> np.ndarray:
    return np.concatenate([sign * half, middle, half[::-1]])


def _rule_of(nodes: str, kronrod: str, gauss: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes from -1 to 1, Kronrod's weights and Gauss', which are 0 at every other node."""
    places, weights = _numbers(nodes), _numbers(kronrod)
    fewer = np.zeros_like(weights)
    fewer[1::2] = _numbers(gauss)
    whole, gauss_only = (_both_sides(w[:-1], [float(w[-1])]) for w in (weights, fewer))
    return _both_sides(places, [0.0], -1.0), whole, gauss_only


_OF_21, _OF_15 = _rule_of(_NODES_21, _KRONROD_21, _GAUSS_10), _rule_of(_NODES_15, _KRONROD_15, _GAUSS_7)


def _gauss_kronrod(f: Function, a: float, b: float, rule: Any) -> tuple[float, float, float, float]:
    nodes, weights, fewer = rule
    center, half = 0.5 * (a + b), 0.5 * (b - a)
    values = np.empty(nodes.size)
    for i in range(nodes.size):
        values[i] = f(center + half * nodes[i])
    integral = np.sum(weights * values)
    known = implicit.constant(values)
    mean = 0.5 * np.sum(weights * known)
    size = np.sum(weights * np.abs(known)) * abs(half)
    spread = np.sum(weights * np.abs(known - mean)) * abs(half)
    error = abs(np.sum((weights - fewer) * known) * half)
    if spread != 0 and error != 0:
        error = spread * min(1.0, (200 * error / spread) ** 1.5)
    if size > _SMALLEST / (50 * _EPSILON):
        error = max(50 * _EPSILON * size, error)
    return integral * half, error, size, spread


def _over_an_interval(f: Function, a: Any, b: Any, args: Any, full: Any, absolute: Any, relative: Any, limit: Any) -> Any:
    """As SciPy's function in C is called: `_qagse`."""

    def rule(low: float, high: float) -> tuple[float, float, float, float]:
        return _gauss_kronrod(lambda x: float(f(x, *args)), low, high, _OF_21)

    return _report(rule, float(a), float(b), full, absolute, relative, limit, 21)


def _without_end(f: Function, bound: Any, kind: Any, args: Any, full: Any, absolute: Any, relative: Any, limit: Any) -> Any:
    """As `_qagie`: from the bound up (1), down (-1), or everything (2), by x = bound + (1 - t)/t with t from 0 to 1."""
    start, sign = (0.0 if kind == 2 else float(bound)), min(1, kind)

    def on_the_unit(t: float) -> float:
        x = start + sign * (1 - t) / t
        value = float(f(x, *args))
        if kind == 2:
            value += float(f(-x, *args))
        return value / t / t

    def rule(low: float, high: float) -> tuple[float, float, float, float]:
        return _gauss_kronrod(on_the_unit, low, high, _OF_15)

    return _report(rule, 0.0, 1.0, full, absolute, relative, limit, 30 if kind == 2 else 15)


def _report(rule: Rule, a: float, b: float, full: Any, absolute: Any, relative: Any, limit: int, calls: int) -> Any:
    """What SciPy's functions return: the integral, its error, with `full` a dict, and a code."""
    starts, ends, parts, errors = np.zeros(limit), np.zeros(limit), np.zeros(limit), np.zeros(limit)
    ranks = np.full(limit, limit)
    if limit < 1 or (absolute <= 0 and relative < max(50 * _EPSILON, 5e-29)):
        result, error, count, code = 0.0, 0.0, 0, 6
    else:
        result, error, count, code = _adaptive(rule, a, b, absolute, relative, limit, starts, ends, parts, errors, ranks)
    if not full:
        return result, error, code
    places = np.zeros(limit, np.int32)
    places[:] = np.argsort(ranks)
    details = {
        "neval": calls * (2 * count - 1) if count > 0 else 0, "last": count, "iord": places,
        "alist": starts, "blist": ends, "rlist": parts, "elist": errors,
    }  # fmt: skip
    return result, error, details, code


def _adaptive(
    rule: Rule, a: float, b: float, absolute: float, relative: float, limit: int,
    starts: np.ndarray, ends: np.ndarray, parts: np.ndarray, errors: np.ndarray, ranks: np.ndarray,
) -> tuple[float, float, int, int]:  # fmt: skip
    """The integral, its error, the number of intervals, and a code. The arrays get the intervals, and the rank of each.

    QAGS's loop in one piece: its steps share twenty numbers, and parts of it would hand these to and fro.
    """
    result, error, size, spread = rule(a, b)
    starts[0], ends[0], parts[0], errors[0], ranks[0] = a, b, result, error, 0
    bound = max(absolute, relative * abs(result))
    code = 0
    if error <= 100 * _EPSILON * size and error > bound:
        code = 2
    if limit == 1:
        code = 1
    if code != 0 or (error <= bound and error != spread) or error == 0:
        return result, error, 1, code

    has_a_sign = abs(result) >= (1 - 50 * _EPSILON) * size
    table, latest = np.zeros(_KEPT + 3), np.zeros(3)  # of the epsilon algorithm: elements, and what it gave last
    table[0] = result
    elements, given, without_gain = 2, 0, 0
    area, total, largest, error = result, error, error, _LARGEST
    worst, position = 0, 0  # the interval that is halved next, and its rank
    is_extrapolating = is_final = is_summed = False
    rough, rough_extrapolated, grown, doubt = 0, 0, 0, 0
    small, large, tolerance, correction = 0.0, 0.0, 0.0, 0.0
    count = 1
    for last in range(1, limit):
        count = last + 1
        low, high, before = starts[worst], ends[worst], largest
        middle = 0.5 * (low + high)
        left, left_error, _, left_spread = rule(low, middle)
        right, right_error, _, right_spread = rule(middle, high)
        both, both_errors = left + right, left_error + right_error
        total += both_errors - largest
        area += both - parts[worst]
        if left_spread != left_error and right_spread != right_error:
            if abs(parts[worst] - both) <= 1e-5 * abs(both) and both_errors >= 0.99 * largest:
                if is_extrapolating:
                    rough_extrapolated += 1
                else:
                    rough += 1
            if count > 10 and both_errors > largest:
                grown += 1
        bound = max(absolute, relative * abs(area))
        if rough + rough_extrapolated >= 10 or grown >= 20:
            code = 2
        if rough_extrapolated >= 5:
            doubt = 3
        if count == limit:
            code = 1
        if max(abs(low), abs(high)) <= (1 + 100 * _EPSILON) * (abs(middle) + 1000 * _SMALLEST):
            code = 4
        of_halves = (low, middle, left, left_error), (middle, high, right, right_error)
        smaller, larger = of_halves if right_error > left_error else of_halves[::-1]
        starts[last], ends[last], parts[last], errors[last] = smaller
        starts[worst], ends[worst], parts[worst], errors[worst] = larger  # which keeps the place
        _rank(ranks, errors, worst, last)
        position = min(position, ranks[worst])
        worst = np.argmin(np.abs(ranks - position))
        largest = errors[worst]
        if total <= bound:
            is_summed = True
            break
        if code != 0:
            break
        if last == 1:
            small, large, tolerance = abs(b - a) * 0.375, total, bound
            table[1] = area
            continue
        if is_final:
            continue
        large -= before
        if abs(middle - low) > small:
            large += both_errors
        if not is_extrapolating:
            if abs(ends[worst] - starts[worst]) > small:
                continue
            is_extrapolating = True
            position = 1
        if doubt != 3 and large > tolerance:
            # Large intervals are halved before the table gets another element.
            ranked = count if count <= 2 + limit // 2 else limit + 3 - count
            are_large = (ranks >= position) & (ranks < ranked) & (np.abs(ends - starts) > small)
            position = np.min(np.where(are_large, ranks, ranked))
            if position < ranked:
                worst = np.argmin(np.abs(ranks - position))
                largest = errors[worst]
                continue
        elements += 1
        table[elements - 1] = area
        given += 1
        elements, limit_of_table, its_error = _extrapolated(table, elements, latest, given)
        without_gain += 1
        if without_gain > 5 and error < 1e-3 * total:
            code = 5
        if its_error < error:
            without_gain, error, result, correction = 0, its_error, limit_of_table, large
            tolerance = max(absolute, relative * abs(result))
            if error <= tolerance:
                break
        if elements == 1:
            is_final = True
        if code == 5:
            break
        worst = np.argmin(ranks)
        largest = errors[worst]
        position, is_extrapolating, large = 0, False, total
        small *= 0.5

    error, is_summed, code = _accepted(result, error, area, total, size, code, doubt, correction, is_summed, has_a_sign)
    if is_summed:
        result, error = np.sum(parts), total
    if code > 2:
        code -= 1
    return result, error, count, code


def _accepted(
    result: float, error: float, area: float, total: float, size: float,
    code: int, doubt: int, correction: float, is_summed: bool, has_a_sign: bool,
) -> tuple[float, bool, int]:  # fmt: skip
    """The error of the extrapolated integral, whether the sum of the parts is taken instead, and the code."""
    if is_summed or error == _LARGEST:
        return error, True, code
    is_asked = True  # whether it diverges
    if code + doubt != 0:
        if doubt == 3:
            error += correction
        if code == 0:
            code = 3
        if result != 0 and area != 0:
            is_summed = error / abs(result) > total / abs(area)
        elif error > total:
            is_summed = True
        elif area == 0:
            is_asked = False
    if is_asked and not is_summed and (has_a_sign or max(abs(result), abs(area)) > 0.01 * size):
        if 0.01 > result / area or result / area > 100 or total > abs(area):
            code = 6
    return error, is_summed, code


def _rank(ranks: np.ndarray, errors: np.ndarray, halved: int | np.integer, new: int) -> None:
    """The ranks of all intervals, the largest error first, where one has been halved; a new one goes before its equals."""
    is_other = ranks < ranks.size
    is_other[halved] = False
    larger, smaller = errors[halved], errors[new]
    moved = ranks - (ranks > ranks[halved]) + (errors <= larger) + (errors <= smaller)
    ranks[:] = np.where(is_other, moved, ranks)
    ranks[halved] = np.sum(is_other & (errors > larger))
    ranks[new] = np.sum(is_other & (errors > smaller)) + 1


def _extrapolated(table: np.ndarray, size: int, latest: np.ndarray, given: int) -> tuple[int, float, float]:
    """How many elements the table keeps, the limit of its numbers by Wynn's epsilon algorithm, and an estimate of its error."""
    error, result = _LARGEST, table[size - 1]
    if size < 3:
        return size, result, max(error, 5 * _EPSILON * abs(result))
    had, turns = size, (size - 1) // 2
    table[size + 1] = table[size - 1]
    table[size - 1] = _LARGEST
    place = size - 1
    is_converged = False
    for i in range(_KEPT // 2):
        if i >= turns:
            break
        last, first, middle = table[place + 2], table[place - 2], table[place - 1]
        towards, away = last - middle, middle - first
        of_last = max(abs(last), abs(middle)) * _EPSILON
        of_first = max(abs(middle), abs(first)) * _EPSILON
        if abs(towards) <= of_last and abs(away) <= of_first:
            result, error = last, abs(towards) + abs(away)
            is_converged = True
            break
        corner = table[place]
        table[place] = middle
        back = middle - corner
        of_corner = max(abs(middle), abs(corner)) * _EPSILON
        if abs(back) <= of_corner or abs(towards) <= of_last or abs(away) <= of_first:
            size = 2 * i + 1
            break
        slope = 1 / back + 1 / towards - 1 / away
        if abs(slope * middle) <= 1e-4:
            size = 2 * i + 1
            break
        value = middle + 1 / slope
        table[place] = value
        place -= 2
        change = abs(towards) + abs(value - last) + abs(away)
        if change <= error:
            error, result = change, value
    if not is_converged:
        if size == _KEPT:
            size = 2 * (_KEPT // 2) - 1
        _shift(table, had, size, turns)
        if given < 4:
            latest[given - 1] = result
            error = _LARGEST
        else:
            error = np.sum(np.abs(result - latest))
            latest[0], latest[1], latest[2] = latest[1], latest[2], result
    return size, result, max(error, 5 * _EPSILON * abs(result))


def _shift(table: np.ndarray, had: int, size: int, turns: int) -> None:
    """Every other element moves two places on, and the last ones to the front."""
    first = 1 if had % 2 == 0 else 0
    places = np.arange(_KEPT)
    moved = (places % 2 == first) & (places <= first + 2 * turns)
    table[:_KEPT] = np.where(moved, table[2 : _KEPT + 2], table[:_KEPT])
    if had != size:
        source = np.minimum(places + had - size, _KEPT + 2)
        table[:_KEPT] = np.where(places < size, table[source], table[:_KEPT])


BY_NAME = {"_qagse": _over_an_interval, "_qagie": _without_end}
