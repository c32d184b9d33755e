"""What the compiler does for functions in classes and for annotations is written out: super(), private names, `x: int = 1`."""

from tests.converters.helpers import Row, check_calls, check_text, parametrize

ROWS = {
    "annotations of variables": Row(
        """
        def f(x: int) -> int:
            y: int = x
            z: float
            if x:
                z: int = 5
                y: 'text' = z
            return y
        """,
        """
        def f(x: int) -> int:
            z: ...
            y = x
            z: float
            def then():
                nonlocal y, z
                z = 5
                y = z
            ag__.if_stmt(x, then, None, 'y')
            return y
        """,
        [(0,), (1,)],
    ),
    "an annotation without a value makes a name local": Row(
        """
        def f(x):
            y: int
            if x:
                y = 1
            return y
        """,
        """
        def f(x):
            y: ...
            y: int
            def then():
                nonlocal y
                y = 1
            ag__.if_stmt(x, then, None, 'y?')
            return ag__.bound('y', lambda: y)
        """,
        [(0,), (1,)],
    ),
    "an annotation in a loop": Row(
        """
        def f(xs):
            total: float = 0
            for x in xs:
                part: float = x / 2
                total += part
            return total
        """,
        """
        def f(xs):
            total = 0
            def body(x):
                nonlocal total
                part = x / 2
                total += part
            ag__.for_stmt(xs, body, 'total')
            return total
        """,
        [([],), ([1, 2],)],
    ),
    "super in a branch and in a loop": Row(
        """
        class Base:
            def area(self):
                return say('area')

            @classmethod
            def make(cls, x):
                return cls, x

        class Square(Base):
            def area(self, n):
                total = ''
                if n:
                    total = super().area()
                for _ in range(n):
                    total += super().area()
                return total

            @classmethod
            def make(cls, x):
                if x:
                    return super().make(x)[1]
                return __class__.__name__

        def f(n):
            return Square().area(n), Square.make(n)
        """,
        """
        def f(n):
            return (ag__.call(ag__.call(Square)().area)(n), ag__.call(Square.make)(n))
        """,
        [(0,), (2,)],
    ),
    "super with arguments": Row(
        """
        class Base:
            def __init__(self, x):
                self.x = x

        class Other(Base):
            def __init__(this, x):
                if x:
                    super(Other, this).__init__(x)
                else:
                    super().__init__('zero')

        def f(x):
            return Other(x).x
        """,
        """
        def f(x):
            return ag__.call(Other)(x).x
        """,
        [(0,), (2,)],
    ),
    "private names": Row(
        """
        class Counter:
            __start = 5

            def __init__(self):
                self.__count = self.__start

            def __step(self, __by):
                while self.__count > 0 and __by:
                    self.__count -= __by
                    self.__class__.__last = __by
                return self.__count

            def run(self, by, **options):
                if by > 1:
                    return self.__step(by), Counter.__last, options
                return self.__step(_Counter__by=by)

        def f(by):
            counter = Counter()
            return counter.run(by), sorted(vars(counter))
        """,
        None,
        [(1,), (2,), (7,)],
    ),
    "private names of variables, imports and captures": Row(
        """
        class _Sign:
            def run(self, k):
                __x = 0
                if k:
                    __x = 1
                    import math as __m
                    __x += __m.pi > 3
                match k:
                    case __y:
                        __x += __y
                def inner():
                    nonlocal __x
                    __x += 1
                    return __x
                return inner(), (lambda __z: __z + __x)(1)

        def f(k):
            return _Sign().run(k)
        """,
        """
        def f(k):
            return ag__.call(ag__.call(_Sign)().run)(k)
        """,
        [(0,), (3,)],
    ),
    "a class inside a method": Row(
        """
        class Outer:
            def run(self, x):
                if x:
                    class __Inner:
                        __value = x
                        def get(self):
                            return self.__value
                    return __Inner().get(), __Inner.__name__
                return None

        def f(x):
            return Outer().run(x)
        """,
        None,
        [(0,), (3,)],
    ),
    "a method of a class in a function": Row(
        """
        def f(x):
            class Local:
                def __init__(self, x):
                    self.__x = x
                def sign(self):
                    if self.__x > 0:
                        return 1
                    return -1
            return Local(x).sign()
        """,
        """
        def f(x):
            class Local:
                def __init__(self, x):
                    self.__x = x
                def sign(self):
                    if self.__x > 0:
                        return 1
                    return -1
            return ag__.call(ag__.call(Local)(x).sign)()
        """,
        [(2,), (-2,)],
    ),
    "first parameter by another name": Row(
        """
        class Base:
            def get(self):
                return 'base'

        class Other(Base):
            def get(me, /, x):
                return super().get() if x else None

        def f(x):
            return Other().get(x)
        """,
        """
        def f(x):
            return ag__.call(ag__.call(Other)().get)(x)
        """,
        [(0,), (1,)],
    ),
    "properties and setters with private state": Row(
        """
        class Celsius:
            def __init__(self):
                self.__t = 0

            @property
            def t(self):
                return self.__t if self.__t > -273 else -273

            @t.setter
            def t(self, value):
                if value < -273:
                    raise ValueError(value)
                self.__t = value

        def f(t):
            c = Celsius()
            c.t = t
            c.t += 1
            return c.t, c.__dict__
        """,
        """
        def f(t):
            c = ag__.call(Celsius)()
            ag__.set_attr(t, c, 't')
            ag__.update_attr(c, 't', '+=', 1)
            return (c.t, ag__.dict_of(c))
        """,
        [(20,), (-500,)],
    ),
    "a local that hides super": Row(
        """
        def f(x):
            super = lambda: 'mine'
            if x:
                return super()
            return x
        """,
        None,
        [(0,), (1,)],
    ),
    "super after its argument is deleted": Row(
        """
        def f(x):
            def inner(self):
                if x:
                    del self
                super()

            inner(x)
        """,
        None,
        [(0,), (1,)],
    ),
    "names of keyword arguments are not private": Row(
        """
        class C:
            def method(self, **given):
                return given

            def call(self, x):
                return self.method(__x=x), dict(__y=x)

        def f(x):
            return C().call(x)
        """,
        None,
        [(1,)],
    ),
    "an annotation of a name in parentheses declares nothing": Row(
        """
        def f(x):
            if x:
                (say): int
            return say(x)
        """,
        """
        def f(x):
            ag__.if_stmt(x, None)
            return ag__.call(say)(x)
        """,
        [(0,), (1,)],
    ),
    "the parts of an annotated place without a value are evaluated": Row(
        """
        def f(x):
            if x:
                say(x).b: fail()
            say('a')[say('b'), say('c'):say('d')]: fail()
            say({})[say('e')].f: fail()
        """,
        None,
        [(0,), ([1],)],
    ),
}


@parametrize(ROWS)
def test_text(row: Row):
    check_text(row)


@parametrize(ROWS)
def test_same_as_python(row: Row):
    check_calls(row)
