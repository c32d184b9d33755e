"""What ported code cannot do with traced values is a PortingError with the library's line, whoever has found it out."""

from __future__ import annotations

import contextlib
import re
import types
from collections.abc import Iterator

import jax

from ..errors import AutographError, PortingError, frame_location, is_jax_frame, is_user_frame, user_location

_KNOWN = "give what is asked for here as a value that is known, or compute this part outside of the ported function"
_UNCONVERTED = "a function in C, or one without source text, takes known values alone: compute what it gives before"
_MASK = "np.where(mask, x, 0) keeps the shape"
_REASONS: list[tuple[type[Exception], str, str]] = [
    (
        jax.errors.NonConcreteBooleanIndexError,
        "a mask decides how many elements there are",
        "np.where(mask, x, 0) keeps the shape",
    ),
    (
        jax.errors.TracerBoolConversionError,
        "Python asks whether a traced value is true, where nothing is converted",
        _UNCONVERTED,
    ),
    (jax.errors.TracerArrayConversionError, "a traced value is handed to what takes NumPy's arrays alone", _UNCONVERTED),
    (jax.errors.TracerIntegerConversionError, "an integer has to be known here, and traced data decides about it", _KNOWN),
    (jax.errors.ConcretizationTypeError, "a value has to be known here, and traced data decides about it", _KNOWN),
]
_OURS = re.compile(r"Tracer|MutableArray|Selection|ArrayImpl|\bBounded\b|\bSeveral\b|\bPadded\b")


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Errors that only traced values make leave as a PortingError."""
    try:
        yield
    except Exception as error:
        if (refusal := refused(error)) is None:
            raise
        raise refusal from error


def about_tracers(error: BaseException | None) -> PortingError | None:
    """The refusal for an error of JAX's about a value that is not known while tracing."""
    return next((_refusal(error, what, help) for kind, what, help in _REASONS if isinstance(error, kind)), None)


def refused(error: BaseException) -> PortingError | None:
    """The refusal that an error stands for; None for one that NumPy raises as well.

    JAX's errors about values that are not known are one, and those that speak of classes that NumPy code does not know.
    """
    if isinstance(error, AutographError):
        return None
    if (refusal := about_tracers(error)) is not None:
        return refusal
    if isinstance(error, OverflowError) and is_jax_frame(list(_frames(error))[-1]):  # `x * 10**30`
        return _refusal(error, "an integer needs more than the 64 bits that JAX has for it", "make a float of it: `float(n)`")
    is_strange = isinstance(error, TypeError | AttributeError | ValueError) and _OURS.search(str(error))
    if is_strange or isinstance(error, TypeError | IndexError | NotImplementedError) and is_of_jax(error):
        return _refusal(error, f"traced values cannot be used here: {_first_line(error)}", _KNOWN)
    return None


def about_traced_values(error: BaseException | None) -> bool:
    """Does an error that came out of C tell of a traced value: itself, what it was raised for, or one that C made?"""
    first = error
    while error is not None:
        if refused(error) is not None:
            return True
        error = error.__cause__ or error.__context__
    return first is not None and "autograph_jax" in str(list(_frames(first))[-1].f_globals.get("__package__"))


def _refusal(error: BaseException, what: str, help: str) -> PortingError:
    frames = [frame for frame in _frames(error) if is_user_frame(frame)]
    return PortingError(what, location=frame_location(frames[-1]) if frames else None, help=help)


def is_of_jax(error: BaseException) -> bool:
    """Has a function of JAX's raised it that stands for one of NumPy's, or for a statement?"""
    frames = list(_frames(error))
    users = [number for number, frame in enumerate(frames) if is_user_frame(frame)]
    inner = frames[users[-1] + 1 :] if users else frames
    return bool(inner) and is_jax_frame(inner[-1]) and any(map(_computes, inner))


def _computes(frame: types.FrameType) -> bool:
    """Is this where NumPy's functions are computed, or where lists and branches are?"""
    return str(frame.f_globals.get("__package__")).startswith((__package__ or "", "autograph_jax.operators"))


def _frames(error: BaseException) -> Iterator[types.FrameType]:
    """The frames that an error has come through, the outermost first."""
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame
        traceback = traceback.tb_next


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def not_made_by_ported_code() -> PortingError:
    """What is written is an array of NumPy's own: a global variable's, or that of an object from outside."""
    return PortingError(
        "ported code writes into an array of NumPy's that it has not made, and that others may hold",
        location=user_location(),
        help="hand it to the function as an argument, or make a copy first: `x = x.copy()`",
    )
