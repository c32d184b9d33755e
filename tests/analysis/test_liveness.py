"""Marked programs: which variables are live where. The marks are explained in helpers.py."""

import gast
import pytest

from autograph_jax.analysis import analyse
from tests.analysis.helpers import as_function, found, marks

PROGRAMS = {
    "straight line": """
        x = a           #< a b      #> b x
        y = x + b       #> y
        return y        #< y        #>
    """,
    "overwritten": """
        x = a           #> b
        x = b           #> x
        return x
    """,
    "store through an index reads": """
        x = a           #> b x
        x[0] = b        #> x
        return x
    """,
    "augmented": """
        x = a           #> b x
        x += b          #> x
        return x
    """,
    "annotated": """
        x: float = a    #> x
        y: float        #> x
        return x
    """,
    "the value comes before its target": """
        b[(y := a)] = y         #< a b y
    """,
    "if": """
        if a:           #< a b c        #> c y
            y = b       #> c y
        else:
            y = c       #< c
        return y, c
    """,
    "if without else keeps the old value": """
        y = a           #> b c y
        if b:           #< b c y
            y = c       #< c
        return y
    """,
    "elif": """
        if a:           #< a b x
            y = 1       #< #> y
        elif b:         #< b x      #> y
            y = x       #< x
        else:
            y = 2
        return y
        x = 1
    """,
    "while carries": """
        while a:        #< a b x    #@ a b x    #> x
            x = x - b   #< a b x    #> a b x
        return x
    """,
    "while, nothing after": """
        while a:        #> #@ a
            y = 1       #> a
    """,
    "a temporary of the body is dead at the head": """
        while a:        #@ a b      #>
            t = b       #< a b      #> a t
            b = t       #> a b
    """,
    "for": """
        y = 0
        for i in a:     #< a b y    #@ b y  #> y
            y = y + i * b
        return y
    """,
    "the variable of a for lives on": """
        for i in a:     #< a i      #@ i    #> i
            pass        #< i
        return i
    """,
    "for else and break": """
        for i in a:     #@ b c      #> y
            if b:       #< b c i    #> b c
                y = i
                break   #< y        #> y
        else:
            y = c       #< c
        return y
        y = 3
    """,
    "continue goes to the head": """
        while a:        #@ a b x    #> x
            if b:
                x = 1
                continue        #< a b x    #> a b x
            x = 2               #< a b      #> a b x
        return x
        x = 3
    """,
    "break leaves the inner loop": """
        while a:                #@ a b
            while b:            #@ a b      #> a b
                break           #> a b
            c = 1
            print(c)
    """,
    "while True ends by break only": """
        while True:             #< a x      #> y
            if a:
                y = x
                break           #> y
            x = 2
        return y
    """,
    "while True does not end": """
        while True:             #@ a
            a
        return x                #< x
        x = 1
    """,
    "return": """
        if a:
            return b            #< b    #>
        return c                #< c
    """,
    "raise": """
        if a:
            raise b             #< b    #>
        return c
    """,
    "a handler may see the value before each statement": """
        x = 0                   #> a b x
        try:                    #< a b x    #> x
            x = a               #< a b x    #> b x
            x = b               #< b x      #> x
        except E:
            pass                #< x
        return x
    """,
    "the end of a try body does not raise any more": """
        x = 0                   #> a x
        try:
            y = a               #< a x      #> y
        except E:
            y = x               #< x
        return y
    """,
    "pass does not raise": """
        try:
            pass                #<
        except E:
            return a
    """,
    "handlers that do not fit": """
        try:
            try:
                a               #< a b c x
            except E:
                return b        #< b c
            except F as e:
                return x        #< c x      #>
        except G:
            return c            #< c
        x = 1
    """,
    "a bare except takes everything": """
        try:
            try:
                a               #< a
            except:
                pass
        except E:
            return b
    """,
    "the type of a handler is evaluated": """
        try:
            a                   #< a b c
        except b:
            c                   #< c
    """,
    "else of a try": """
        try:
            x = a               #< a b c
        except E:
            return c
        else:
            return x + b        #< b x      #>
    """,
    "finally runs after everything": """
        try:
            if a:
                return b        #< b c      #> c
            x = 1               #< c        #> c x
        finally:
            print(c)            #< c x      #> x
        return x
    """,
    "finally on the way out of a loop": """
        while a:                #@ a b c x      #> x
            try:
                if b:
                    break       #> c x
                continue        #> a b c x
            finally:
                print(c)        #< a b c x      #> a b c x
        return x
        x = 1
    """,
    "finally that leaves": """
        while a:
            try:
                return b        #< b x      #> x
            finally:
                break           #< x        #> x
        return x
        x = 1
    """,
    "nested finally": """
        try:
            try:
                return a        #< a b c    #> b c
            finally:
                print(b)        #< b c      #> c
        finally:
            print(c)            #>
        return x
        x = 1
    """,
    "except as ends the name": """
        e = a                   #> b e
        try:                    #> e
            b
        except E as e:
            print(e)            #< e    #>
            pass                #<      #>
        return e                #< e
    """,
    "except as on the way out": """
        for i in a:
            try:
                b
            except E as e:
                print(e)        #< a b e
                break           #< a b  #> a b
        return a, b
    """,
    "except star asks every handler": """
        try:
            a                   #< a b c x
        except* E:
            b                   #< b c x    #> c x
        except* F:
            c                   #< c x      #> x
        return x
        x = 1
    """,
    "with may swallow": """
        x = 0                   #> a b x
        with a as y:            #< a b x    #> x
            x = b               #< b x      #> x
        return x
    """,
    "with binds its target": """
        with a as y:            #< a        #>
            print(y)            #< y
    """,
    "with several items": """
        with a as y, b(y) as (z, c[0]):     #< a b c
            print(z)            #< z
    """,
    "with in try": """
        try:
            with a:             #< a b
                a               #< a b
        except E:
            return b
    """,
    "match": """
        match a:                #< a b c w      #> w
            case [x, *y] if b:  # the guard sees the captures
                w = x + y[0]    #< x y          #> w
            case {'k': z}:
                w = z           #< z
            case c.d:
                pass            #< w
        return w
        w = 1
    """,
    "match that takes everything": """
        match a:                #< a b
            case 1:
                w = b
            case _:
                w = 2
        return w
    """,
    "del needs a value and ends it": """
        x = a                   #> x
        del x                   #< x    #>
        x = 1                   #<      #> x
        return x
    """,
    "del on one path": """
        x = a                   #> b x
        if b:                   #>
            del x               #< x    #>
    """,
    "walrus in a condition": """
        if a and (y := b):      #< a b
            return y            #< y
    """,
    "walrus that may be skipped": """
        y = c                   #> a b y
        a and (y := b)          #> y
        return y
    """,
    "walrus in or": """
        if a or (y := b):       #< a b y
            return y            #< y
        return y                #< y
    """,
    "not": """
        if not (a and (y := b)):    #< a b y
            return y
        return y
    """,
    "chained comparison": """
        a < (y := b) < (z := c)     #< a b c z
        return y, z
    """,
    "one comparison": """
        a < (y := b)                #< a b
        return y
    """,
    "conditional expression": """
        x = (y := a) if b else y    #< a b y    #> x y
        return x, y
    """,
    "dict in order": """
        {(y := a): y, **y, y: (z := b)}     #< a b
        return z
    """,
    "a walrus in a comprehension may not run": """
        [y := i for i in a]         #< a y      #> y
        return y
    """,
    "a comprehension has its own targets": """
        i = 1                       #< a b      #> a b
        [i + b for i in a if i]     #< a b
    """,
    "a comprehension reads its own walrus": """
        [y for i in a if (y := i)]          #< a
    """,
    "nested comprehensions": """
        {i: (y := j) for i in a if b for j in i if y}     #< a b y
    """,
    "first iterable of a comprehension": """
        [i for i in i]              #< i
        i = 1
    """,
    "lambda in a comprehension": """
        [lambda: i + b for i in a]          #< a b
    """,
    "a def reads what it captures": """
        x = a                       #> b x
        def g(y=b): return x + y    #< b x      #> g
        return g
    """,
    "a recursive def does not read itself": """
        def g(n): return g(n - 1)   #<          #> g
        return g
    """,
    "a decorator may call it": """
        h = a                       #< a b g
        @h
        def g(n): return g(n - b)   #< b g h    #> g
        return g
    """,
    "a def that only writes": """
        def g():                    #<
            nonlocal a
            a = 1
        g()
    """,
    "lambda": """
        g = lambda y=b: a + y       #< a b      #> g
        return g
    """,
    "generator": """
        g = (i + b for i in a)      #< a b      #> g
        return g
    """,
    "class": """
        class A(a):                 #< a b c    #> A
            k = b
            def g(self): return c
        return A
    """,
    "import": """
        import x.y as z, a.b        #<          #> a z
        return a, z
    """,
    "assert": """
        assert a, b                 #< a b c    #> c
        return c
    """,
    "assert False does not go on": """
        if a:
            y = b
        else:
            assert False, c         #< c
        return y
    """,
    "global": """
        global g
        g = a                       #< a        #> g
        return g
    """,
    "dead code": """
        return a                    #< a        #>
        b                           #< b
    """,
    "yield and await": """
        async def f(a, b):
            x = await a             #< a b      #> b x
            async for i in x:       #@ b
                yield i + b         #< b i
            async with b as y:      #< b
                pass
    """,
    "nested functions have facts of their own": """
        def g(p):
            return p
        return g                    #< g
    """,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_live(program: str):
    assert found(program) == marks(as_function(program))


def test_only_statements_of_the_function_itself():
    tree = gast.parse("def f():\n def g(): pass\n class A: pass\n if 1: pass")
    first, facts = next(iter(analyse(tree).items()))
    kinds = [type(node).__name__ for node in facts.live_before]
    assert kinds == ["FunctionDef", "ClassDef", "If", "Pass"]
    assert len(facts.live_after) == 4 and "frozenset()" in repr(facts.live_after)


def test_a_lambda_has_no_statements():
    facts = analyse(gast.parse("lambda x: (y := x) + y"))
    assert [len(f.live_before) for f in facts.values()] == [0]
