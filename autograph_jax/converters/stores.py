"""Attribute and item writes become calls of ag__.set_attr, ag__.set_item and ag__.set_path.

Before:
    y[i] = x
    self.t += h
    d['a'][i] = v
    a[i], a[j] = a[j], a[i]

After:
    y = ag__.set_item(x, y, i)
    ag__.update_attr(self, 't', '+=', h)
    d = ag__.set_path(v, d, ag__.item['a'], ag__.item[i])
    item, item_2 = (ag__.view(a[j], a), ag__.view(a[i], a))
    a = ag__.set_item(item, a, i)
    a = ag__.set_item(item_2, a, j)

The value stands first because Python evaluates it first. A JAX array cannot change, so the variable takes the new one.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import gast

from autograph_jax.analysis import Facts, reads, writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template

_SET_ATTR = Template("ag__.set_attr(VALUE, OBJECT, ATTRIBUTE)")
_SET_ITEM = Template("ag__.set_item(VALUE, OBJECT, INDEX, ALIASES)")
_PUT_ITEM = Template("ag__.put_item(VALUE, OBJECT, INDEX)")
_SET_PATH = Template("ag__.PATH(VALUE, OBJECT, STEPS)")
_DEL_ATTR = Template("ag__.del_attr(OBJECT, ATTRIBUTE)")
_DEL_ITEM = Template("ag__.del_item(OBJECT, INDEX)")
_STEP_ATTR = Template("ag__.attr(NAME_)")
_LATER = Template("ag__.later(VALUE)")
_STEP_LATER = Template("ag__.item_at(INDEX)")
_STEP_ITEM = Template("ag__.item[INDEX]")
_AT = Template("ag__.at[INDEX]")
_OLD = Template("ag__.read(OBJECT, PLACE)")
_AUGMENT = Template("ag__.augment(OLD, SYMBOL, VALUE)")
_UPDATE_ITEM = Template("ag__.UPDATE(OBJECT, INDEX, SYMBOL, VALUE, ALIASES)")
_UPDATE_ATTR = Template("ag__.update_attr(OBJECT, ATTRIBUTE, SYMBOL, VALUE)")
_UPDATE_PATH = Template("ag__.UPDATE(OBJECT, SYMBOL, VALUE, STEPS)")
_VIEW = Template("ag__.view(VALUE, BASE)")
_ROWS = Template("ag__.rows(BASE)")
_VIEWS = frozenset({"T", "mT", "real", "imag", "reshape", "ravel", "transpose", "swapaxes", "squeeze", "view", "diagonal"})
_Place = gast.Attribute | gast.Subscript  # where something is written that is no variable
_SYMBOLS = {
    gast.Add: "+=", gast.Sub: "-=", gast.Mult: "*=", gast.Div: "/=", gast.FloorDiv: "//=", gast.Mod: "%=",
    gast.Pow: "**=", gast.MatMult: "@=", gast.LShift: "<<=", gast.RShift: ">>=", gast.BitAnd: "&=",
    gast.BitOr: "|=", gast.BitXor: "^=",
}  # fmt: skip


def convert(tree: gast.AST, facts: dict[gast.AST, Facts], names: Names) -> gast.AST:
    return _Stores(facts, names).visit(tree)


class _Stores(Pass):
    def __init__(self, facts: dict[gast.AST, Facts], names: Names) -> None:
        self._facts, self._names = facts, names
        self._scopes: list[Facts] = []
        self._captured: list[set[str]] = []  # per function: captured names that an item write has to rebind
        self._item_written: list[frozenset[str]] = []  # per function: names of arrays that it writes by items
        self._numbers = itertools.count(1)

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._scopes.append(self._facts[node])
        self._captured.append(set())
        self._item_written.append(_item_written(node, self._facts[node].aliases))
        node.body = self._suite(node.body)
        captured = self._captured.pop()
        self._item_written.pop()
        if captured:
            # `def fill(): y[0] = 1` writes the array of the function around it.
            node.body.insert(0, gast.copy_location(gast.Nonlocal(sorted(captured)), node.body[0]))
        self._scopes.pop()
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def _suite(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        converted: list[gast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            converted += new if isinstance(new, list) else [new]
        return converted

    def visit_Assign(self, node: gast.Assign) -> list[gast.stmt]:
        self._mark_views(node)
        if not any(_writes_places(target) for target in node.targets):
            return [node]
        if any(_has_effects(place) for target in node.targets for place in _places(target)):
            return [node]  # a walrus in a lambda would bind the lambda's own variable
        if len(node.targets) == 1 and isinstance(node.targets[0], gast.Attribute | gast.Subscript):
            return self._store(node.targets[0], node.value, node)
        moved, stores = self._through_variables(node.targets, node)
        return [template.assign(moved, node.value, at=node), *stores]

    def _mark_views(self, node: gast.Assign) -> None:
        """`row = x[0]` where row or x is written by items: in NumPy they share memory."""
        names = {name.id for target in node.targets for name in gast.walk(target) if isinstance(name, gast.Name)}
        unpacks = any(isinstance(target, gast.Tuple | gast.List) for target in node.targets)
        if unpacks and isinstance(node.value, gast.Name) and {node.value.id, *names} & self._item_written[-1]:
            node.value = _ROWS.expression(at=node.value, BASE=node.value)  # `first, second = x`
        else:
            node.value = self._marked(node.value, names)

    def _marked(self, value: gast.expr, names: set[str]) -> gast.expr:
        """An expression with the views in it marked: itself, or the elements of a tuple, list or `a if c else b`."""
        if isinstance(value, gast.Tuple | gast.List):
            value.elts = [self._marked(element, names) for element in value.elts]
        elif isinstance(value, gast.IfExp):
            value.body, value.orelse = self._marked(value.body, names), self._marked(value.orelse, names)
        elif (base := _view_base(value)) is not None and ({_root(base), *names} & self._item_written[-1]):
            return _VIEW.expression(at=value, VALUE=value, BASE=_as_load(base))
        return value

    def visit_Expr(self, node: gast.Expr) -> gast.AST:
        """`fill(x[1], 9.0)` writes a row of x."""
        if isinstance(node.value, gast.Call):
            node.value.args = [
                _VIEW.expression(at=a, VALUE=a, BASE=_as_load(base)) if (base := _view_base(a)) is not None else a
                for a in node.value.args
            ]
        return node

    def _through_variables(self, targets: list[gast.expr], node: gast.stmt) -> tuple[list[gast.expr], list[gast.stmt]]:
        """The targets with each place replaced by a fresh variable, and the writes from these, left to right."""
        places: list[tuple[_Place | gast.Name, str]] = []

        def without_places(target: gast.expr) -> gast.expr:
            if isinstance(target, gast.Tuple | gast.List):
                target.elts = [without_places(element) for element in target.elts]
            elif isinstance(target, gast.Starred):
                target.value = without_places(target.value)
            elif isinstance(target, gast.Attribute | gast.Subscript | gast.Name):
                places.append((target, self._variable()))
                return template.name(places[-1][1], at=target, store=True)
            return target

        moved = [without_places(target) for target in targets]
        stores = [s for place, name in places for s in self._taken(place, template.name(name, at=place), node)]
        return moved, stores

    def _taken(self, place: _Place | gast.Name, value: gast.expr, node: gast.stmt) -> list[gast.stmt]:
        if isinstance(place, gast.Name):
            return [template.assign([place], value, at=node)]
        return self._store(place, value, node)

    def _variable(self) -> str:
        number = next(self._numbers)
        return self._names.fresh("item" if number == 1 else f"item_{number}")

    def visit_AugAssign(self, node: gast.AugAssign) -> list[gast.stmt]:
        if isinstance(node.target, gast.Name):
            return [node]
        if _has_effects(node.target):
            return [node]
        symbol = template.constant(_SYMBOLS[type(node.op)], at=node)
        if _is_pure_value(node.value):
            return self._update(node.target, symbol, node.value, node)
        if len(_path(node.target)[1]) > 1 and not writes(node.value):
            value = _LATER.expression(at=node.value, VALUE=template.lambda_of(node.value, at=node.value))
            return self._update(node.target, symbol, value, node)
        # Python reads the old element before it evaluates the value: `y[0] += f(y)`.
        before: list[gast.stmt] = []
        target = self._stable(node.target, node.value, before)
        old = _OLD.expression(at=target, OBJECT=_as_load(target.value), PLACE=_step(target))
        value = _AUGMENT.expression(at=target, OLD=old, SYMBOL=symbol, VALUE=node.value)
        return before + self._store(target, value, node)

    def _stable(self, target: _Place, value: gast.expr, before: list[gast.stmt]) -> _Place:
        """The target with parts taken out that have effects, or that the value changes: `a[f()] += g()`, `a[i] += (i := 1)`."""
        written = writes(value)
        target.value = self._stable_part(target.value, before, written)
        if self._scopes:  # what is called may change more: variables that functions share
            facts = self._scopes[-1]
            written |= facts.nonlocal_writes | facts.declared_nonlocal | facts.declared_global
        if isinstance(target, gast.Subscript) and not (_is_pure_value(target.slice) and not written & reads(target.slice)):
            target.slice = self._stable_part(_index(target.slice), before, written)
        return target

    def _stable_part(self, part: gast.expr, before: list[gast.stmt], written: frozenset[str]) -> gast.expr:
        if _is_pure_value(part) and not written & reads(part):
            return part
        name = self._variable()
        before.append(template.assign([template.name(name, at=part, store=True)], part, at=part))
        return template.name(name, at=part)

    def _update(self, target: _Place, symbol: gast.expr, value: gast.expr, node: gast.stmt) -> list[gast.stmt]:
        """The augmented assignment of one place, as a statement."""
        root, steps = _path(target)
        rebinds = self._rebinds(root, steps)
        aliases = self._aliases(root, node) if rebinds else []
        if isinstance(target, gast.Attribute) and len(steps) == 1:
            attribute = template.constant(target.attr, at=target)
            updated = _UPDATE_ATTR.expression(
                at=target, OBJECT=_as_load(target.value), ATTRIBUTE=attribute, SYMBOL=symbol, VALUE=value
            )
            return [template.expression_statement(updated, at=node)]
        if isinstance(target, gast.Subscript) and len(steps) == 1:
            updated = _UPDATE_ITEM.expression(
                at=target,
                UPDATE="update_item" if rebinds else "put_update",
                OBJECT=root,
                INDEX=_index(target.slice),
                SYMBOL=symbol,
                VALUE=value,
                ALIASES=[template.name(name, at=target) for name in aliases],
            )
        else:
            updated = _UPDATE_PATH.expression(
                at=target,
                UPDATE="update_path" if rebinds or isinstance(steps[0], gast.Attribute) else "put_update_path",
                OBJECT=root,
                SYMBOL=symbol,
                VALUE=value,
                STEPS=[_step(step) for step in steps],
            )
            aliases = []
        return [self._written(root, updated, node, rebinds, aliases)]

    def _written(self, root: gast.expr, written: gast.expr, node: gast.stmt, rebinds: bool, aliases: list[str]) -> gast.stmt:
        """The write as a statement; the root, and the aliases that may be the same array, take what it gives."""
        if not rebinds or not isinstance(root, gast.Name):
            return template.expression_statement(written, at=node)
        targets: list[gast.expr] = [template.name(name, at=root, store=True) for name in [root.id, *aliases]]
        target = targets[0] if len(targets) == 1 else template.tuple_of(targets, at=root, store=True)
        return template.assign([target], written, at=node)

    def _store(self, target: _Place, value: gast.expr, node: gast.stmt) -> list[gast.stmt]:
        """The write of one place, as a statement."""
        root, steps = _path(target)
        if isinstance(target, gast.Attribute) and all(isinstance(step, gast.Attribute) for step in steps):
            attribute = template.constant(target.attr, at=target)
            call = _SET_ATTR.expression(at=target, VALUE=value, OBJECT=_as_load(target.value), ATTRIBUTE=attribute)
            return [template.expression_statement(call, at=node)]
        rebinds = self._rebinds(root, steps)
        aliases = self._aliases(root, node) if rebinds and len(steps) == 1 else []
        if len(steps) > 1 or isinstance(target, gast.Attribute):
            path = "set_path" if rebinds or isinstance(steps[0], gast.Attribute) else "put_path"
            written = _SET_PATH.expression(at=target, PATH=path, VALUE=value, OBJECT=root, STEPS=[_step(s) for s in steps])
        elif not rebinds:
            written = _PUT_ITEM.expression(at=target, VALUE=value, OBJECT=root, INDEX=_index(target.slice))
        else:
            elements = [template.name(name, at=target) for name in aliases]
            written = _SET_ITEM.expression(at=target, VALUE=value, OBJECT=root, INDEX=_index(target.slice), ALIASES=elements)
        return [self._written(root, written, node, rebinds, aliases)]

    def _aliases(self, root: gast.expr, node: gast.stmt) -> list[str]:
        """Other variables that may hold the array that is written, and are read later."""
        if not self._scopes or not isinstance(root, gast.Name):
            return []
        facts = self._scopes[-1]
        later = facts.live_after.get(node, facts.bound) | facts.escaping
        bound = facts.bound - facts.unbound_before.get(node, frozenset())
        return sorted((facts.aliases.get(root.id, frozenset()) - {root.id}) & later & bound)

    def _rebinds(self, root: gast.expr, steps: list[_Place]) -> bool:
        """Is the root a variable of this function (or of one around it) that takes the new array?"""
        if not isinstance(root, gast.Name) or isinstance(steps[0], gast.Attribute) or not self._scopes:
            return False
        facts = self._scopes[-1]
        if root.id in facts.bound | facts.declared_global | facts.declared_nonlocal:
            return True
        if any(root.id in outer.bound for outer in self._scopes[:-1]):
            self._captured[-1].add(root.id)
            return True
        return False  # a global or a captured variable: only what is mutable by itself can be written

    def visit_Delete(self, node: gast.Delete) -> list[gast.stmt]:
        if not any(isinstance(target, gast.Attribute | gast.Subscript) for target in node.targets):
            return [node]
        return [self._delete(target, node) for target in node.targets]

    def _delete(self, target: gast.expr, node: gast.stmt) -> gast.stmt:
        if isinstance(target, gast.Attribute):
            attribute = template.constant(target.attr, at=target)
            call = _DEL_ATTR.expression(at=target, OBJECT=_as_load(target.value), ATTRIBUTE=attribute)
        elif isinstance(target, gast.Subscript):
            call = _DEL_ITEM.expression(at=target, OBJECT=_as_load(target.value), INDEX=_index(target.slice))
        else:
            return gast.copy_location(gast.Delete([target]), node)
        return template.expression_statement(call, at=node)

    def visit_For(self, node: gast.For) -> gast.AST:
        """`for a[i] in xs` and `for self.x in xs` first take the element into a variable."""
        stores: list[gast.stmt] = []
        if _writes_places(node.target):
            [node.target], stores = self._through_variables([node.target], node)
        node.body = stores + self._suite(node.body)
        node.orelse = self._suite(node.orelse)
        return node

    def visit_With(self, node: gast.With) -> gast.AST:
        """`with f() as self.x` likewise; a manager after it is entered when the place has been written."""
        placed = [item.optional_vars is not None and _writes_places(item.optional_vars) for item in node.items]
        if True in placed[:-1]:
            first = placed.index(True) + 1
            inner = gast.copy_location(gast.With(node.items[first:], node.body, None), node)
            node.items, node.body = node.items[:first], [inner]
        stores: list[gast.stmt] = []
        if node.items[-1].optional_vars is not None and _writes_places(node.items[-1].optional_vars):
            [node.items[-1].optional_vars], stores = self._through_variables([node.items[-1].optional_vars], node)
        node.body = stores + self._suite(node.body)
        return node


def _places(target: gast.expr) -> list[_Place]:
    return [n for n in gast.walk(target) if isinstance(n, gast.Attribute | gast.Subscript) and isinstance(n.ctx, gast.Store)]


def _has_effects(place: _Place) -> bool:
    """Does a path of several steps assign a variable on the way? `d[(k := f())][k] = v`"""
    _, steps = _path(place)
    return len(steps) > 1 and any(writes(step.slice) for step in steps if isinstance(step, gast.Subscript))


def _item_written(function: gast.AST, aliases: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The variables whose arrays are written by items, under this name or another, and those that these are views of."""
    subscripts = [n for n in gast.walk(function) if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    names = {root.id for n in subscripts if isinstance(root := _path(n)[0], gast.Name)}
    assigned = [n for n in gast.walk(function) if isinstance(n, gast.Assign)]
    views = [
        (target.id, _root(base))
        for node in assigned
        if (base := _view_base(node.value)) is not None
        for target in node.targets
        if isinstance(target, gast.Name)
    ]
    while more := ({base for name, base in views if name in names} | _aliases_of(names, aliases)) - names:
        names |= more
    return frozenset(names)


def _aliases_of(names: set[str], aliases: Mapping[str, frozenset[str]]) -> set[str]:
    return {alias for name in names for alias in aliases.get(name, ())}


def _view_base(value: gast.expr) -> gast.expr | None:
    """What an expression is a view of in NumPy: x of `x[0]`, `x.T`, `x.reshape(-1)`; None for what surely is none."""
    base = None
    if isinstance(value, gast.Subscript):
        base = value.value
    elif isinstance(value, gast.Attribute) and value.attr in _VIEWS:
        base = value.value
    elif isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _VIEWS:
        base = value.func.value
    return base if base is not None and _is_pure(base) else None


def _root(base: gast.expr) -> str:
    return next(node.id for node in gast.walk(base) if isinstance(node, gast.Name))


def _is_pure_value(expression: gast.AST) -> bool:
    """Nothing is called in it, so that it can be evaluated a moment earlier or twice."""
    effects = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom, gast.Lambda)
    return not any(isinstance(node, effects) for node in gast.walk(expression))


def _is_pure(expression: gast.expr) -> bool:
    """A name, or attributes and constant items of one: evaluating it twice changes nothing."""
    if isinstance(expression, gast.Attribute):
        return _is_pure(expression.value)
    if isinstance(expression, gast.Subscript):
        return _is_pure(expression.value) and isinstance(expression.slice, gast.Name | gast.Constant)
    return isinstance(expression, gast.Name)


def _writes_places(target: gast.expr) -> bool:
    return any(
        isinstance(node, gast.Attribute | gast.Subscript) and isinstance(node.ctx, gast.Store) for node in gast.walk(target)
    )


def _path(target: gast.expr) -> tuple[gast.expr, list[_Place]]:
    """`d['a'][i]` -> (d, [d['a'], d['a'][i]]): the root, and each step from it."""
    steps: list[_Place] = []
    while isinstance(target, gast.Attribute | gast.Subscript):
        steps.append(target)
        target = target.value
    return target, steps[::-1]


def _step(place: gast.expr) -> gast.expr:
    if isinstance(place, gast.Attribute):
        return _STEP_ATTR.expression(at=place, NAME_=template.constant(place.attr, at=place))
    assert isinstance(place, gast.Subscript)
    if _is_pure_value(place.slice):
        return _STEP_ITEM.expression(at=place, INDEX=place.slice)
    # Evaluated when the path has come to it: `o.rows[f()] = v` reads o.rows before it calls f.
    return _STEP_LATER.expression(at=place, INDEX=template.lambda_of(_index(place.slice), at=place))


def _index(index: gast.expr | gast.Slice) -> gast.expr:
    """An index as an expression; `a:b` can only stand in brackets, so it is written `ag__.at[a:b]`."""
    if isinstance(index, gast.Slice) or any(isinstance(node, gast.Slice) for node in gast.walk(index)):
        return _AT.expression(at=_with_position(index), INDEX=index)
    return index


def _with_position(index: gast.AST) -> gast.AST:
    return next((node for node in gast.walk(index) if getattr(node, "lineno", None) is not None), index)


def _as_load(expression: gast.expr) -> gast.expr:
    """A copy of a pure target expression, to be read."""
    if isinstance(expression, gast.Attribute):
        copy = gast.Attribute(_as_load(expression.value), expression.attr, gast.Load())
    elif isinstance(expression, gast.Subscript):
        copy = gast.Subscript(_as_load(expression.value), expression.slice, gast.Load())
    else:
        return expression
    return gast.copy_location(copy, expression)
