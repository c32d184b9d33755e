"""A loop that XLA's CPU backend compiles as one function: the call around it, and the only place that knows how.

A call with the attributes below is compiled whole by XLA. It looks for each parameter of what is called among the operands of
the instructions in there, and the process ends where one is missing, since XLA has simplified away what used it. So there is
one parameter, a tuple, of which one element is given back: that use cannot go. A barrier keeps XLA from putting constants in
place of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import mlir

from autograph_jax.loops.building import Atom, Builder, is_variable, with_consts_given
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.tracing import traced

ir: Any
func: Any
stablehlo: Any
try:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import func, stablehlo
except ImportError:  # pragma: no cover - a jaxlib that has moved them
    ir = func = stablehlo = None

ATTRIBUTES = {"inlineable": "false", "xla_cpu_small_call": "true"}
is_known = ir is not None

kernel_p = Primitive("kernel")
kernel_p.multiple_results = True
kernel_p.def_impl(lambda *operands, jaxpr: jaxpr_as_fun(jaxpr)(*operands))
kernel_p.def_abstract_eval(lambda *avals, jaxpr: jaxpr.out_avals)


def in_one_kernel(bind: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """What a loop gives that `bind` stages, compiled as a whole. Numbers among the operands are constants of it."""
    given = [operand for operand in operands if isinstance(operand, Tracer)]

    def run(*values: Any) -> Any:
        left = iter(values)
        return bind(*(next(left) if isinstance(operand, Tracer) else operand for operand in operands))

    closed = traced(run, [*map(jax.typeof, given)])
    return kernel_p.bind(*closed.consts, *given, jaxpr=with_consts_given(closed))


def as_one_kernel(loop: Any, operands: Sequence[Atom], builder: Builder) -> list[Atom]:
    """What an equation gives, compiled as a whole: the same as `in_one_kernel`, and nothing is traced for it."""
    operands = [builder.number(atom) for atom in operands]
    variables = list(dict.fromkeys(filter(is_variable, operands)))
    inner = Builder([variable.aval for variable in variables])
    inside = dict(zip(variables, inner.inputs, strict=True))
    outputs = inner.again(loop, [inside[atom] if is_variable(atom) else atom for atom in operands])
    closed = inner.program(next(iter(programs_of(loop.params))), outputs)
    return builder.again(loop.replace(primitive=kernel_p, params={"jaxpr": closed}), variables)


def _lowered(lowering: Any, *operands: Any, jaxpr: ClosedJaxpr) -> Any:
    plain = mlir.core_call_lowering(lowering, *operands, name="kernel", call_jaxpr=jaxpr)
    call = plain[0].owner
    if call.name != "func.call":  # where types say how arrays are split, more stands behind it
        return plain
    given, types = list(call.operands), [result.type for result in call.results]
    witness = mlir.ir_constant(np.int32(0))
    name = _wrapped(lowering.module_context, call, given, [*types, witness.type])
    held = stablehlo.OptimizationBarrierOp([*given, witness]).results
    made = func.CallOp([*types, witness.type], ir.FlatSymbolRefAttr.get(name), [stablehlo.tuple(list(held))])
    made.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get({k: ir.StringAttr.get(v) for k, v in ATTRIBUTES.items()})
    call.erase()
    return list(made.results)[:-1]


def _wrapped(module: Any, call: Any, given: Sequence[Any], types: Sequence[Any]) -> str:
    """A function of one tuple, which calls the same with its elements, and gives the last of them back."""
    taken = ir.TupleType.get_tuple([value.type for value in [*given]] + [types[-1]])
    with ir.InsertionPoint(module.module.body):
        made = func.FuncOp("kernel", ir.FunctionType.get([taken], list(types)), visibility="private")
    module.symbol_table.insert(made)
    with ir.InsertionPoint(made.add_entry_block()):
        *parts, witness = (stablehlo.get_tuple_element(made.arguments[0], number) for number in range(len(given) + 1))
        results = func.CallOp(list(types[:-1]), call.attributes["callee"], parts).results
        func.ReturnOp([*results, witness])
    return made.name.value


mlir.register_lowering(kernel_p, _lowered)
