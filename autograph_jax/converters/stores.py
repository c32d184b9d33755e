"""Attribute and item writes become calls of ag__.set_attr, ag__.set_item and ag__.set_path.

Before:
    y[i] = x
    self.t += h
    d['a'][i] = v
    a[i], a[j] = a[j], a[i]
    a += v
    b += v

After:
    y = ag__.set_item(x, y, i)
    ag__.update_attr(self, 't', '+=', h)
    d = ag__.set_path(v, d, ag__.item['a'], ag__.item[i])
    item, item_2 = (ag__.view(a[j], a), ag__.view(a[i], a))
    a = ag__.set_item(item, a, i)
    a = ag__.set_item(item_2, a, j)
    a = ag__.update(a, '+=', v)
    b = ag__.augment_name(b, '+=', v)

The value stands first because Python evaluates it first. A JAX array cannot change, so the variable takes the new one.
`b += v` is a write of what others may hold, if b comes from somewhere else and is an array of NumPy's; a number stays `n += 1`.
A variable that is declared `nonlocal` or `global` takes `ag__.assigned(x, 'name')`: what it was, where a `try` around the call
has failed before.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import gast

from autograph_jax.analysis import Facts, NameFacts, analyse, reads, writes
from autograph_jax.converters.base import Pass
from autograph_jax.converters.places import (
    Place,
    as_load,
    augmented,
    has_effects,
    index_of,
    is_fixed,
    is_pure_value,
    old_value,
    path_of,
    places_of,
    step_of,
    symbol_of,
    writes_places,
)
from autograph_jax.converters.unshared_names import unshared_names
from autograph_jax.converters.views import item_written, views_in
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_SET_ATTR = Template("ag__.set_attr(VALUE, OBJECT, ATTRIBUTE)")
_SET_ITEM = Template("ag__.set_item(VALUE, OBJECT, INDEX, ALIASES)")
_SET_ITEM_OF = Template("ag__.set_item_of(VALUE, HELD, OBJECT, INDEX, ALIASES)")
_PUT_ITEM = Template("ag__.put_item(VALUE, OBJECT, INDEX)")
_SET_PATH = Template("ag__.PATH(VALUE, OBJECT, STEPS)")
_DEL_ATTR = Template("ag__.del_attr(OBJECT, ATTRIBUTE)")
_DEL_ITEM = Template("ag__.del_item(OBJECT, INDEX)")
_LATER = Template("ag__.later(VALUE)")
_UPDATE_ITEM = Template("ag__.UPDATE(OBJECT, INDEX, SYMBOL, VALUE, ALIASES)")
_UPDATE = Template("ag__.update(OBJECT, SYMBOL, VALUE, ALIASES)")
_AUGMENT_NAME = Template("ag__.augment_name(OLD, SYMBOL, VALUE)")
_UPDATE_ATTR = Template("ag__.update_attr(OBJECT, ATTRIBUTE, SYMBOL, VALUE)")
_UPDATE_PATH = Template("ag__.UPDATE(OBJECT, SYMBOL, VALUE, STEPS)")
_ASSIGNED = Template("ag__.assigned(VALUE, NAME_)")


def convert(tree: gast.AST, facts: Mapping[gast.AST, NameFacts], names: Names, *, ported: bool = False) -> gast.AST:
    """In `ported` code arrays of NumPy's are ours, which show what is written.

    The facts are from before views were marked, which hides what may be one object.
    """
    is_shared = any(itertools.starmap(_writes_shared, facts.items()))
    paths = analyse(tree) if is_shared else {}  # of variables that show a write, those count that are read later
    augments = any(isinstance(node, gast.AugAssign) for node in walk(tree))
    return _Stores(facts, paths, names, watches=not ported, augments=augments).visit(tree)


def _writes_shared(function: gast.AST, facts: NameFacts) -> bool:
    """May a function write what several variables hold?"""
    nodes = walk(function)
    places = [n for n in nodes if isinstance(n, gast.Subscript | gast.Attribute) and isinstance(n.ctx, gast.Store)]
    places += [node.target for node in nodes if isinstance(node, gast.AugAssign)]
    roots = {root.id for place in places if isinstance(root := path_of(place)[0], gast.Name)}
    views = list(views_in(function)) if roots else []
    return any(_sharing(name, facts.aliases, views) for name in roots)


def _sharing(name: str, aliases: Mapping[str, frozenset[str]], views: Sequence[tuple[str, str]]) -> set[str]:
    """The other variables that may hold what this one does, or a view of it."""
    names = {name}
    while more := {other for pair in views if names & {*pair} for other in pair} - names | {
        other for one in names for other in aliases.get(one, ()) if other not in names
    }:
        names |= more
    return names - {name}


class _Stores(Pass):
    def __init__(
        self,
        facts: Mapping[gast.AST, NameFacts],
        paths: Mapping[gast.AST, Facts],
        names: Names,
        *,
        watches: bool,
        augments: bool,
    ) -> None:
        """`paths` is empty where nothing is written that several variables hold; `augments`: is there any `y += v`?"""
        self._facts, self._paths, self._names, self._watches, self._augments = facts, paths, names, watches, augments
        self._functions: list[gast.FunctionDef] = []
        self._scopes: list[NameFacts] = []
        self._views: list[list[tuple[str, str]]] = []  # per function: variables of which the first takes a view of the second's
        self._item_written: list[frozenset[str]] = []  # per function: variables of arrays that it writes by items
        self._unshared: list[frozenset[str]] = []  # per function: variables whose object nothing else holds
        self._captured: list[set[str]] = []  # per function: captured names that an item write has to rebind
        self._numbers = itertools.count(1)

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._functions.append(node)
        self._scopes.append(self._facts[node])
        own = self._facts[node]
        self._views.append(list(views_in(node)) if self._paths else [])
        self._item_written.append(item_written(node, own.aliases, views_too=True) if self._augments else frozenset())
        self._unshared.append(unshared_names(node) if self._watches and self._augments else own.bound)
        self._captured.append(set())
        node.body = self._suite(node.body)
        captured = self._captured.pop()
        if captured:
            # `def fill(): y[0] = 1` writes the array of the function around it.
            node.body.insert(0, gast.copy_location(gast.Nonlocal(sorted(captured)), node.body[0]))
        self._functions.pop()
        self._scopes.pop()
        self._views.pop()
        self._item_written.pop()
        self._unshared.pop()
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
        if not any(map(self._is_stored, node.targets)):
            return [node]
        if any(has_effects(place) for target in node.targets for place in places_of(target)):
            return [node]  # a walrus in a lambda would bind the lambda's own variable
        if len(node.targets) == 1 and isinstance(node.targets[0], gast.Name | gast.Attribute | gast.Subscript):
            return self._taken(node.targets[0], node.value, node)
        moved, stores = self._through_variables(node.targets, node)
        return [template.assign(moved, node.value, at=node), *stores]

    def _through_variables(self, targets: list[gast.expr], node: gast.stmt) -> tuple[list[gast.expr], list[gast.stmt]]:
        """The targets with each place replaced by a fresh variable, and the writes from these, left to right."""
        places: list[tuple[Place | gast.Name, str]] = []

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

    def _taken(self, place: Place | gast.Name, value: gast.expr, node: gast.stmt) -> list[gast.stmt]:
        if isinstance(place, gast.Name):
            return [template.assign([place], self._assigned(place, value), at=node)]
        return self._store(place, value, node)

    def _is_stored(self, target: gast.expr) -> bool:
        """Are places written, or variables of others, which a `try` around the call may read afterwards?"""
        return writes_places(target) or not self._declared().isdisjoint(writes(target))

    def _declared(self) -> frozenset[str]:
        """The variables that the function declares as those of a function around it, or of its module."""
        facts = self._scopes[-1] if self._scopes else None
        return facts.declared_nonlocal | facts.declared_global if facts else frozenset()

    def _assigned(self, target: gast.Name, value: gast.expr) -> gast.expr:
        if target.id not in self._declared():
            return value
        return _ASSIGNED.expression(at=value, VALUE=value, NAME_=template.constant(target.id, at=value))

    def _variable(self) -> str:
        number = next(self._numbers)
        return self._names.fresh("item" if number == 1 else f"item_{number}")

    def visit_AugAssign(self, node: gast.AugAssign) -> list[gast.stmt]:
        symbol = symbol_of(node)
        if isinstance(node.target, gast.Name):
            return [self._update_variable(node.target, symbol, node)]
        if has_effects(node.target):
            return [node]
        if is_pure_value(node.value):
            return self._update(node.target, symbol, node.value, node)
        if len(path_of(node.target)[1]) > 1 and not writes(node.value):
            value = _LATER.expression(at=node.value, VALUE=template.lambda_of(node.value, at=node.value))
            return self._update(node.target, symbol, value, node)
        # Python reads the old element before it evaluates the value: `y[0] += f(y)`.
        before: list[gast.stmt] = []
        root, held = node.target.value, None
        if isinstance(root, gast.Name) and root.id in self._shared():  # what is called may assign it
            held = node.target.value = self._taken_out(root, before)
        target = self._stable(node.target, node.value, before)
        new = augmented(old_value(target), node, node.value)
        if held is not None and isinstance(target, gast.Subscript) and self._rebinds(root, [target]):
            new, target.value = self._taken_out(new, before), root
            return before + self._store(target, new, node, held)
        return before + self._store(target, new, node)

    def _update_variable(self, target: gast.Name, symbol: gast.expr, node: gast.AugAssign) -> gast.stmt:
        """`y += v`: where y's array is written by items, it is the code of somebody who thinks of this as such a write.

        `y += [v]` writes a list, which another variable may hold. If y is an array of NumPy's, that may be, too.
        """
        is_array = self._item_written and target.id in self._item_written[-1]
        if not is_array and not isinstance(node.value, gast.List | gast.ListComp):
            is_plain = not self._unshared or target.id in self._unshared[-1]
            return node if is_plain and target.id not in self._declared() else self._augmented_variable(target, node)
        aliases = self._aliases(target, node)
        names = [template.name(name, at=target) for name in aliases]
        updated = _UPDATE.expression(
            at=target, OBJECT=template.name(target.id, at=target), SYMBOL=symbol, VALUE=node.value, ALIASES=names
        )
        return self._written(target, updated, node, True, aliases)

    def _augmented_variable(self, target: gast.Name, node: gast.AugAssign) -> gast.stmt:
        name = template.name(target.id, at=target)
        new = _AUGMENT_NAME.expression(at=target, OLD=name, SYMBOL=symbol_of(node), VALUE=node.value)
        return template.assign([target], self._assigned(target, new), at=node)

    def _stable(self, target: Place, value: gast.expr, before: list[gast.stmt]) -> Place:
        """The target with parts taken out that have effects, or that the value changes: `a[f()] += g()`, `a[i] += (i := 1)`."""
        written = writes(value)
        target.value = self._stable_part(target.value, before, written)
        written |= self._shared()  # what is called may change more
        if isinstance(target, gast.Subscript) and (not is_fixed(target.slice) or written & reads(target.slice)):
            target.slice = self._taken_out(index_of(target.slice), before)
        return target

    def _shared(self) -> frozenset[str]:
        """The variables that functions share and assign."""
        facts = self._scopes[-1] if self._scopes else None
        return facts.nonlocal_writes | facts.declared_nonlocal | facts.declared_global if facts else frozenset()

    def _stable_part(self, part: gast.expr, before: list[gast.stmt], written: frozenset[str]) -> gast.expr:
        return part if is_pure_value(part) and not written & reads(part) else self._taken_out(part, before)

    def _taken_out(self, part: gast.expr, before: list[gast.stmt]) -> gast.expr:
        name = self._variable()
        before.append(template.assign([template.name(name, at=part, store=True)], part, at=part))
        return template.name(name, at=part)

    def _update(self, target: Place, symbol: gast.expr, value: gast.expr, node: gast.stmt) -> list[gast.stmt]:
        """The augmented assignment of one place, as a statement."""
        root, steps = path_of(target)
        rebinds = self._rebinds(root, steps)
        aliases = self._aliases(root, node) if rebinds else []
        if isinstance(target, gast.Attribute) and len(steps) == 1:
            attribute = template.constant(target.attr, at=target)
            updated = _UPDATE_ATTR.expression(
                at=target, OBJECT=as_load(target.value), ATTRIBUTE=attribute, SYMBOL=symbol, VALUE=value
            )
            return [template.expression_statement(updated, at=node)]
        if isinstance(target, gast.Subscript) and len(steps) == 1:
            updated = _UPDATE_ITEM.expression(
                at=target,
                UPDATE="update_item" if rebinds else "put_update",
                OBJECT=root,
                INDEX=index_of(target.slice),
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
                STEPS=[step_of(step) for step in steps],
            )
            aliases = []
        return [self._written(root, updated, node, rebinds, aliases)]

    def _written(self, root: gast.expr, written: gast.expr, node: gast.stmt, rebinds: bool, aliases: list[str]) -> gast.stmt:
        """The write as a statement; the root, and the aliases that may be the same array, take what it gives."""
        if not rebinds or not isinstance(root, gast.Name):
            return template.expression_statement(written, at=node)
        written = self._assigned(root, written) if not aliases else written
        targets: list[gast.expr] = [template.name(name, at=root, store=True) for name in [root.id, *aliases]]
        target = targets[0] if len(targets) == 1 else template.tuple_of(targets, at=root, store=True)
        return template.assign([target], written, at=node)

    def _store(self, target: Place, value: gast.expr, node: gast.stmt, held: gast.expr | None = None) -> list[gast.stmt]:
        """The write of one place, as a statement; of an item of what the root `held`, it may be."""
        root, steps = path_of(target)
        if isinstance(target, gast.Attribute) and all(isinstance(step, gast.Attribute) for step in steps):
            attribute = template.constant(target.attr, at=target)
            call = _SET_ATTR.expression(at=target, VALUE=value, OBJECT=as_load(target.value), ATTRIBUTE=attribute)
            return [template.expression_statement(call, at=node)]
        rebinds = self._rebinds(root, steps)
        aliases = self._aliases(root, node) if rebinds and len(steps) == 1 else []
        if len(steps) > 1 or isinstance(target, gast.Attribute):
            path = "set_path" if rebinds or isinstance(steps[0], gast.Attribute) else "put_path"
            written = _SET_PATH.expression(at=target, PATH=path, VALUE=value, OBJECT=root, STEPS=[step_of(s) for s in steps])
        elif not rebinds:
            written = _PUT_ITEM.expression(at=target, VALUE=value, OBJECT=root, INDEX=index_of(target.slice))
        else:
            elements = [template.name(name, at=target) for name in aliases]
            parts = {"VALUE": value, "OBJECT": root, "INDEX": index_of(target.slice), "ALIASES": elements}
            written = (
                _SET_ITEM_OF.expression(at=target, HELD=held, **parts) if held else _SET_ITEM.expression(at=target, **parts)
            )
        return [self._written(root, written, node, rebinds, aliases)]

    def _aliases(self, root: gast.expr, node: gast.stmt) -> list[str]:
        """Other variables that may hold the array that is written, or a view of it, and are read later."""
        if not self._paths or not self._scopes or not isinstance(root, gast.Name):
            return []
        sharing = _sharing(root.id, self._scopes[-1].aliases, self._views[-1])
        if not sharing:
            return []
        facts = self._paths[self._functions[-1]]
        later = facts.live_after.get(node, facts.bound) | facts.escaping
        bound = facts.bound - facts.unbound_before.get(node, frozenset())
        return sorted(sharing & later & bound)

    def _rebinds(self, root: gast.expr, steps: list[Place]) -> bool:
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
            call = _DEL_ATTR.expression(at=target, OBJECT=as_load(target.value), ATTRIBUTE=attribute)
        elif isinstance(target, gast.Subscript):
            call = _DEL_ITEM.expression(at=target, OBJECT=as_load(target.value), INDEX=index_of(target.slice))
        else:
            return gast.copy_location(gast.Delete([target]), node)
        return template.expression_statement(call, at=node)

    def visit_For(self, node: gast.For) -> gast.AST:
        """`for a[i] in xs` and `for self.x in xs` first take the element into a variable."""
        stores: list[gast.stmt] = []
        if self._is_stored(node.target):
            [node.target], stores = self._through_variables([node.target], node)
        node.body = stores + self._suite(node.body)
        node.orelse = self._suite(node.orelse)
        return node

    def visit_With(self, node: gast.With) -> gast.AST:
        """`with f() as self.x` likewise; a manager after it is entered when the place has been written."""
        placed = [item.optional_vars is not None and self._is_stored(item.optional_vars) for item in node.items]
        if True in placed[:-1]:
            first = placed.index(True) + 1
            inner = gast.copy_location(gast.With(node.items[first:], node.body, None), node)
            node.items, node.body = node.items[:first], [inner]
        stores: list[gast.stmt] = []
        if node.items[-1].optional_vars is not None and self._is_stored(node.items[-1].optional_vars):
            [node.items[-1].optional_vars], stores = self._through_variables([node.items[-1].optional_vars], node)
        node.body = stores + self._suite(node.body)
        return node
