"""Marked programs: which reads may find a variable without a value. The marks are explained in helpers.py."""

import gast
import pytest

from tests.analysis.helpers import as_function, facts_of, found, marks

PROGRAMS = {
    "parameters have values": """
        def f(a, /, b, *c, d, e=1, **g):
            return a, b, c, d, e, g         #!
    """,
    "before its assignment": """
        print(x)                #! x
        x = 1
        print(x)                #!
    """,
    "the value comes first": """
        x = x                   #! x
    """,
    "globals are not ours": """
        return x, print         #!
    """,
    "if": """
        if a: x = 1
        return x                #! x
    """,
    "if else": """
        if a: x = 1
        else: x = 2
        return x                #!
    """,
    "elif without else": """
        if a: x = 1
        elif b: x = 2
        return x                #! x
    """,
    "the other path leaves": """
        while a:
            if b: x = 1
            elif c: continue
            else: return
            print(x)            #!
    """,
    "the other path raises": """
        if a: x = 1
        else: raise b
        return x                #!
    """,
    "the other path is asserted away": """
        if a: x = 1
        else: assert False
        return x                #!
    """,
    "a for may run zero times": """
        for i in a: y = i       #!
        return i, y             #! i y
    """,
    "a while may run zero times": """
        while a: y = 1
        return y                #! y
    """,
    "while True runs": """
        while True:
            y = 1
            if a: break
        return y                #!
    """,
    "while True may break early": """
        while True:
            if a: break
            y = 1
        return y                #! y
    """,
    "while 1, while not 0": """
        while 1:
            y = 1
            break
        while not 0:
            z = 1
            break
        return y, z             #!
    """,
    "while False": """
        while False:
            print(y)            #!
        y = 1
    """,
    "the second turn has a value": """
        for i in a:
            if i: print(y)      #! y
            y = i
    """,
    "else of a loop runs unless it breaks": """
        for i in a:
            if i: break
        else:
            y = 1
            i                   #! i
        return y, i             #! y i
    """,
    "every way sets it": """
        for i in a:
            if i:
                y = i
                break
        else:
            y = 0
        return y                #!
    """,
    "continue": """
        for i in a:
            if i: continue
            y = i
        else:
            return y            #! y
        y
    """,
    "del": """
        x = a
        del x
        return x                #! x
    """,
    "del of nothing": """
        del x                   #! x
        x = 1
        del x                   #!
    """,
    "del on one path": """
        x = 1
        if a: del x
        return x                #! x
    """,
    "del in a loop": """
        x = 1
        while a:
            print(x)            #! x
            del x               #! x
    """,
    "del of a parameter": """
        del a
        return a                #! a
    """,
    "augmented": """
        x += 1                  #! x
        x += 1                  #!
    """,
    "an annotation makes a name local": """
        x: float
        print(x)                #! x
        x: float = 1
        return x                #!
    """,
    "an annotation is not evaluated": """
        x: y = 1                #!
        y = 1
    """,
    "handler": """
        try:
            x = a
            y = x               #!
        except E:
            return x, y         #! x y
        return x, y             #!
    """,
    "after the handler": """
        try: x = a
        except E: pass
        return x                #! x
    """,
    "del in a try": """
        x = 1
        try:
            del x               #!
            x = 2
        except E:
            return x            #! x
        return x                #!
    """,
    "else of a try": """
        try: x = a
        except E: y = 1
        else: y = x             #!
        return y                #!
    """,
    "a del of two may fail in between": """
        x = 1
        try: del x, y           #! y
        except NameError:
            return x            #! x
        y = 1
    """,
    "finally sees every way": """
        try:
            if a: return
            x = b
        finally:
            print(x)            #! x
        return x                #!
    """,
    "finally binds": """
        try: print(a)
        finally: x = 1
        return x                #!
    """,
    "return through finally does not come back": """
        while a:
            try:
                if b: break
                x = 1
            finally:
                print(c)
            print(x)            #!
        return x                #! x
    """,
    "except as": """
        try: print(a)
        except E as e: print(e) #!
        print(e)                #! e
    """,
    "except as unbinds what was there": """
        e = 1
        try: print(a)
        except E as e: pass
        print(e)                #! e
    """,
    "except as that does not come back": """
        e = 1
        try: print(a)
        except E as e: raise
        print(e)                #!
    """,
    "except as and break": """
        e = 1
        for i in a:
            try: print(a)
            except E as e: break
        print(e)                #! e
    """,
    "except star": """
        try: x = a
        except* E: y = 1
        except* F: print(y)     #! y
        return x, y             #! x y
    """,
    "with may swallow": """
        with a as x:
            y = b
        return x, y             #! y
    """,
    "with a target that may fail": """
        with a as (x, y):
            print(x)            #!
        return x                #! x
    """,
    "with return inside": """
        with a:
            return b
        return c                #!
    """,
    "a with inside a with": """
        with a as x, b as y:
            z = 1
        return x, y, z          #! y z
    """,
    "match": """
        match a:
            case [x, y]: z = x  #!
            case {'k': x, **y}: pass
        return x, y, z          #! x y z
    """,
    "match everything": """
        match a:
            case 1: x = 1
            case x: pass
        return x                #!
    """,
    "match everything, if": """
        match a:
            case x if x > 1: pass       #!
        return x                #!
    """,
    "a guard may fail": """
        match a:
            case x if x > 1: return
        print(x, y)             #! y
        y = 1
    """,
    "match everything by or": """
        match a:
            case 1 | _: x = 1
        return x                #!
    """,
    "match as": """
        match a:
            case (1 | 2) as x: pass
        return x                #! x
    """,
    "walrus in a test": """
        if a and (y := b): print(y)     #!
        else: print(y)          #! y
        return y                #! y
    """,
    "walrus in or": """
        if a or (y := b):
            return y            #! y
        return y                #!
    """,
    "walrus in a test of while": """
        while (y := a): print(y)        #!
        return y                #!
    """,
    "walrus in both branches": """
        x = (y := 1) if a else (y := 2)
        return y                #!
    """,
    "walrus in one branch": """
        x = (y := 1) if a else 0
        return y                #! y
    """,
    "walrus in assert": """
        assert (y := a)
        return y                #!
    """,
    "walrus in a chain": """
        a < (x := b) < (y := c)
        return x, y             #! y
    """,
    "walrus in a comprehension": """
        [y := i for i in a]
        return y                #! y
    """,
    "walrus in the first iterable": """
        [i for i in (y := a)]
        return y                #!
    """,
    "walrus in a condition of a comprehension": """
        return [y for i in a if (y := i)]       #!
    """,
    "walrus in a generator": """
        if any((y := i) for i in a):
            return y            #! y
    """,
    "a comprehension's own names": """
        return [i for i in a], {j: k for j in a for k in j}     #!
        i = j = k = 1
    """,
    "a comprehension reads ours": """
        return [x for i in a]   #! x
        x = 1
    """,
    "generators and lambdas read later": """
        g = (x for i in a), lambda: x   #!
        x = 1
    """,
    "but their first iterable and default values now": """
        g = (i for i in x), lambda y=x: y       #! x
        x = 1
    """,
    "a nested function reads later": """
        def g(): return x       #!
        x = 1
        return g                #!
    """,
    "a nested function may not be there": """
        if a:
            def g(): pass
        return g                #! g
    """,
    "decorators, default values and annotations": """
        @x
        def g(y=z) -> w: pass   #! z w
        x = z = w = 1
    """,
    "class": """
        class A(B): k = x       #! B
        B = x = 1
        return A                #!
    """,
    "import": """
        if a: import x.y
        from x import z         #!
        return x, z             #! x
    """,
    "a nested function may delete": """
        def g():
            nonlocal a, b
            del a
            b = 1
        a = 1
        return a, b             #! a
    """,
    "a nested function's except may delete": """
        def g():
            nonlocal a
            try: pass
            except E as a: pass
        return a                #! a
    """,
    "global": """
        global x
        print(x)                #!
        x = 1
    """,
    "lambda": """
        f = lambda a: (a and (y := a)) + y      #! y
    """,
    "dead code": """
        return
        print(x)                #!
        x = 1
    """,
    "dead loop": """
        while True: pass
        print(x)                #!
        x = 1
    """,
    "a finally that runs once dead": """
        try:
            return a
        finally:
            x = 1
            print(x)            #!
        return x                #!
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_maybe_unbound(program: str):
    assert found(program) == marks(as_function(program))


def test_loads_and_targets_are_told_apart():
    facts = facts_of("print(x)\nx += 1\ndel y\nx, y = 1, 2")
    assert {(n.id, type(n.ctx)) for n in facts.maybe_unbound} == {("x", gast.Load)}
    assert {(n.id, type(n.ctx)) for n in facts.maybe_unbound_targets} == {("x", gast.Store), ("y", gast.Del)}
