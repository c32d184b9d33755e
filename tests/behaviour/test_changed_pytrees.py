"""Objects of classes that JAX knows as pytrees, whose attributes are written. A join makes one of two: a write to it, or to
either of them, is right or refused.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp

from .harness import Table, check

table = Table(__name__)
row = table.row


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Node:
    v: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Outer:
    inner: Any
    k: Any


@jax.tree_util.register_pytree_node_class
class Counter:
    def __init__(self, n):
        self.n = n

    def tree_flatten(self):
        return (self.n,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)

    def doubled(self, x):
        if x > 1:
            return Counter(self.n * 2)
        return self


# One of two objects, or both


def chosen(x):
    a, b = Node(x), Node(2 * x)
    c = a if x > 0 else b
    c.v = c.v + 10
    return a.v, b.v, c.v


def replaced_on_one_path(x):
    a, b = Node(x), Node(2 * x)
    if x > 0:
        b = a
    b.v = b.v + 10
    return a.v, b.v


def in_a_dict(x):
    nodes = {"a": Node(x), "b": Node(2 * x)}
    if x > 0:
        nodes["b"] = nodes["a"]
    nodes["b"].v = 7.0
    return nodes["a"].v, nodes["b"].v


def in_a_list(x):
    nodes = [Node(x), Node(2 * x)]
    if x > 0:
        nodes[1] = nodes[0]
    nodes[0].v = 7.0
    return nodes[0].v, nodes[1].v


def in_a_tuple(x):
    a, b = Node(x), Node(2 * x)
    nodes = (a, b)
    if x > 0:
        nodes = (a, a)
    nodes[0].v += 10
    return a.v, nodes[0].v, nodes[1].v


def best_of_a_list(x):
    nodes = [Node(x), Node(2 * x), Node(-x)]
    best = nodes[0]
    for node in nodes:
        if node.v > best.v:
            best = node
    best.v = 100.0
    return [node.v for node in nodes]


def larger(a, b):
    if a.v > b.v:
        return a
    return b


def given_by_a_callee(x):
    a, b = Node(x), Node(2 * x)
    larger(a, b).v = -7.0
    return a.v, b.v


def kept_on_one_path(x):
    a, last = Node(x), None
    if x > 0:
        last = a
    a.v += 1
    return last.v if last is not None else 0.0


def itself_or_a_new_one(x):
    first = Counter(x)
    then = first.doubled(x)
    then.n += 1
    return first.n, then.n


def inside_of_another(x):
    first = Outer(Node(x), 0.0)
    then = dataclasses.replace(first, k=1.0)
    if x > 0:
        then = dataclasses.replace(then, k=2.0)
    first.inner.v += 10
    return then.inner.v, first.inner.v


def kept_by_a_loop(x):
    a, b = Node(x), Node(2 * x)
    for _ in range(3):
        if a.v > 3:
            b = a
        a.v += 1
    return a.v, b.v


def which_one(x):
    a, b = Node(x), Node(2 * x)
    c = a if x > 0 else b
    return 1.0 if c is a else 0.0


for program in (
    chosen, replaced_on_one_path, in_a_dict, in_a_list, in_a_tuple, best_of_a_list, given_by_a_callee, kept_on_one_path,
    itself_or_a_new_one, inside_of_another, kept_by_a_loop, which_one,
):  # fmt: skip
    row(program, [5.0], [-3.0], want="error")


# Nobody holds the other one


def made_in_each_turn(x):
    node = Node(x)
    while node.v > 1:
        node = Node(node.v / 2)
    node.v = node.v + 1
    return node.v


def written_in_each_turn(x):
    node = Node(x)
    while node.v > 1:
        node.v = node.v / 2
    return node.v


def made_on_both_paths(x):
    node = Node(x + 1) if x > 0 else Node(x - 1)
    node.v = node.v * 2
    return node.v


def mapped(x):
    node = Node(x)
    for _ in range(5):
        then = dataclasses.replace(node, v=node.v + 1)
        if then.v > 4:
            node = then
    node = jax.tree.map(lambda v: v * 2, node)
    node.v += 1
    return node.v


def best_of_those_made(x):
    node, best = Node(x), Node(0.0)
    for _ in range(5):
        node = Node(node.v + 1)
        if node.v > best.v:
            best = node
    return best.v, node.v


def one_in_another(x):
    outer = Outer(Node(x), 0.0)
    while outer.k < 3:
        outer.inner.v = outer.inner.v + outer.k
        outer.k = outer.k + 1
    return outer.inner.v


def added(node, x):
    node.v = node.v + x
    return node


def written_by_a_callee(x):
    node, turns = Node(x), 0
    while node.v < 20:
        node = added(node, 1.0) if node.v > 3 else added(node, 2.0)
        turns += 1
    return node.v, turns


def of_a_traced_place(x):
    nodes = [Node(x), Node(2 * x)]
    k = jnp.int32(x > 0) if isinstance(x, jax.Array) else int(x > 0)
    nodes[k].v = 50.0
    nodes[k].v += 1
    return nodes[0].v, nodes[1].v


for program in (
    made_in_each_turn, written_in_each_turn, made_on_both_paths, mapped, best_of_those_made, one_in_another,
    written_by_a_callee,
):  # fmt: skip
    row(program, [5.0], [-3.0])
row(of_a_traced_place, [5.0], want="error")


@table.each_way
def test_changed_pytrees(row, way, record_property):
    check(row, way, record_property)
