"""A refusal is nobody's to end: not `with suppress(Exception)`'s, nor an `except`'s of an error that only tracers make."""

import contextlib

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag


class Ending:
    """Ends any exception."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def growing(x):
    kept = []
    if x > 1:
        kept.append(1.0)
    return 1.0


def in_suppress(x):
    result = 0.0
    with contextlib.suppress(Exception):
        result = growing(x)
    return result


def in_a_manager_of_ones_own(x):
    result = 0.0
    with contextlib.nullcontext(), Ending():
        kept = []
        if x > 1:
            kept.append(x)
        result = 1.0
    return result


def in_a_stack(x):
    result = 0.0
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.suppress(ValueError, TypeError))
        result = growing(x)
    return result


def in_a_with_around_a_with(x):
    result = 0.0
    with Ending():
        with contextlib.suppress(KeyError):
            result = growing(x)
        result = 2.0
    return result


def a_slice(x):
    try:
        return [1.0, 2.0, 3.0][: jnp.int32(x)][0]
    except Exception:
        return -1.0


def a_key(x):
    try:
        found = {jnp.int32(x): 2.0}
    except TypeError:
        found = {}
    return len(found)


def a_key_in_suppress(x):
    with contextlib.suppress(TypeError):
        return len({jnp.int32(x): 2.0})
    return -1


def a_chosen_string(x):
    name = "a" if x > 0 else "b"
    try:
        return 1.0 if name in "abc" else 0.0
    except TypeError:
        return -1.0


REFUSED = [
    in_suppress, in_a_manager_of_ones_own, in_a_stack, in_a_with_around_a_with, a_slice, a_key, a_key_in_suppress,
    a_chosen_string,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("convert", [ag.jit, lambda f: jax.jit(ag.autograph(f))], ids=["ag.jit", "jax.jit"])
def test_refused_with_the_users_line(function, convert):
    with pytest.raises(ag.AutographError) as caught:
        convert(function)(2.0)
    assert caught.value.location.filename == __file__ and caught.value.location.line > 20


def what_the_program_raises(x):
    with contextlib.suppress(KeyError):
        {}["a"]
    with Ending() as manager:
        x = x + "a"
    try:
        x = x + "b"
    except TypeError:
        x = x * 2.0
    return x if isinstance(manager, Ending) else None


def what_a_handler_names(x):
    try:
        return float(jax.numpy.asarray(x).__index__())
    except jax.errors.ConcretizationTypeError:
        return -1.0
    except (jax.errors.TracerIntegerConversionError, TypeError):
        return x * 3.0


@pytest.mark.parametrize(("function", "expected"), [(what_the_program_raises, 4.0), (what_a_handler_names, 6.0)])
def test_what_is_theirs_to_end(function, expected):
    assert ag.jit(function)(2.0) == expected
    assert ag.autograph(function)(2.0) == expected


def test_nothing_is_left_for_a_later_with():
    @ag.jit
    def passes(x):
        with contextlib.nullcontext():
            return growing(x)

    for _ in range(3):
        with pytest.raises(ag.StructureError):
            passes(2.0)
        with pytest.raises(ag.StructureError):
            ag.jit(in_suppress)(3)
        assert ag.jit(what_the_program_raises)(2.0) == 4.0
