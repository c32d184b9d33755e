"""What `scipy.optimize` computes in C: a root between two points. Python, which is converted like the code of a library.

Sources: Brent, "Algorithms for Minimization Without Derivatives", 1973; Ridders, IEEE Transactions on Circuits and Systems 26,
1979; and SciPy's `optimize/Zeros`, whose order of the steps this has, so that all counters are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import implicit

Function = Callable[..., Any]
# The root, how often the function was called, the number of turns, and whether the last one has found the root.
Found = tuple[float, int, int, bool]


def _solver(search: Callable[..., Found]) -> Function:
    """As SciPy's functions in C are called: `_brentq(f, a, b, xtol, rtol, iter, args, full_output, disp)`."""

    def solve(
        f: Function, a: Any, b: Any, xtol: Any, rtol: Any, iter: Any, args: Any, full_output: Any, disp: Any = True
    ) -> Any:
        if xtol < 0:
            raise ValueError("xtol must be >= 0")
        if iter < 0:
            raise ValueError("maxiter must be >= 0")
        a, b = float(a), float(b)
        fa, fb = float(f(a, *args)), float(f(b, *args))
        calls, turns, flag = 2, 0, 0
        if fa == 0:
            root = a
        elif fb == 0:
            root = b
        elif np.signbit(fa) == np.signbit(fb):
            raise ValueError("f(a) and f(b) must have different signs")
        else:
            root, more, turns, found = search(lambda x: float(f(x, *args)), a, b, fa, fb, xtol, rtol, iter)
            calls += more
            if not found:
                if disp:
                    raise RuntimeError(f"Failed to converge after {turns} iterations.")
                flag = -2
        root = implicit.root(root, lambda x: float(f(x, *args)))
        return (root, calls, turns, flag) if full_output else root

    return solve


def _bisect(f: Function, a: float, b: float, fa: float, fb: float, xtol: float, rtol: float, limit: int) -> Found:
    step = b - a
    for turn in range(limit):
        step *= 0.5
        middle = a + step
        value = f(middle)
        if np.signbit(value) == np.signbit(fa):
            a = middle
        if value == 0 or abs(step) < xtol + rtol * abs(middle):
            return middle, turn + 1, turn + 1, True
    return a, limit, limit, False


def _ridder(f: Function, a: float, b: float, fa: float, fb: float, xtol: float, rtol: float, limit: int) -> Found:
    tolerance = xtol + rtol * min(abs(a), abs(b))
    x = 0.0
    for turn in range(limit):
        half = 0.5 * (b - a)
        middle = a + half
        fm = f(middle)
        step = (half if fb - fa > 0 else -half) * fm / np.sqrt(fm * fm - fa * fb)
        size = min(abs(step), abs(half) - 0.5 * tolerance)
        x = middle - (size if step > 0 else -size)
        fx = f(x)
        if np.signbit(fx) != np.signbit(fm):
            a, fa, b, fb = x, fx, middle, fm
        elif np.signbit(fx) != np.signbit(fa):
            b, fb = x, fx
        else:
            a, fa = x, fx
        tolerance = xtol + rtol * x
        if fx == 0 or abs(b - a) < tolerance:
            return x, 2 * turn + 2, turn + 1, True
    return x, 2 * limit, limit, False


def _brent(extrapolated: Callable[..., float]) -> Callable[..., Found]:
    """Brent's method, by a way of his own or another one to extrapolate through the last three points."""

    def search(f: Function, a: float, b: float, fa: float, fb: float, xtol: float, rtol: float, limit: int) -> Found:
        other, fother, step, before = 0.0, 0.0, 0.0, 0.0  # the root is between b and this one, and a was before b
        for turn in range(limit):
            if fa != 0 and fb != 0 and np.signbit(fa) != np.signbit(fb):
                other, fother, before = a, fa, b - a
                step = before
            if abs(fother) < abs(fb):
                a, b, other = b, other, b
                fa, fb, fother = fb, fother, fb
            delta = (xtol + rtol * abs(b)) / 2
            half = (other - b) / 2
            if fb == 0 or abs(half) < delta:
                return b, turn, turn + 1, True
            is_short = False
            if abs(before) > delta and abs(fb) < abs(fa):
                if a == other:
                    tried = -fb * (b - a) / (fb - fa)
                else:
                    tried = extrapolated(a, fa, b, fb, other, fother)
                is_short = 2 * abs(tried) < min(abs(before), 3 * abs(half) - delta)
                if is_short:
                    before, step = step, tried
            if not is_short:
                before = step = half
            a, fa = b, fb
            if abs(step) > delta:
                b += step
            else:
                b += delta if half > 0 else -delta
            fb = f(b)
        return b, limit, limit, False

    return search


def _quadratic(a: float, fa: float, b: float, fb: float, other: float, fother: float) -> float:
    near, far = (fa - fb) / (a - b), (fother - fb) / (other - b)
    return -fb * (fother * far - fa * near) / (far * near * (fother - fa))


def _hyperbolic(a: float, fa: float, b: float, fb: float, other: float, fother: float) -> float:
    near, far = (fa - fb) / (a - b), (fother - fb) / (other - b)
    return -fb * (fother - fa) / (fother * near - fa * far)


BY_NAME = {
    "_bisect": _solver(_bisect),
    "_ridder": _solver(_ridder),
    "_brentq": _solver(_brent(_quadratic)),
    "_brenth": _solver(_brent(_hyperbolic)),
}
