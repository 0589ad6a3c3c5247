"""Reference numbers of src/alpa/frontend/ops/elementwise.h. Needs jax 0.12.0.1 and safetensors."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from cases import Cases, numbers

cases = Cases("elementwise")
nan, inf = float("nan"), float("inf")

everywhere = dict(
    negate=jnp.negative, abs=jnp.abs, sign=jnp.sign, floor=jnp.floor, ceil=jnp.ceil, round=jnp.round, trunc=jnp.trunc,
    exp=jnp.exp, exp2=jnp.exp2, expm1=jnp.expm1, cbrt=jnp.cbrt, square=jnp.square, reciprocal=jnp.reciprocal, sin=jnp.sin,
    cos=jnp.cos, tan=jnp.tan, atan=jnp.arctan, sinh=jnp.sinh, cosh=jnp.cosh, tanh=jnp.tanh, asinh=jnp.arcsinh,
    erf=jax.scipy.special.erf, sigmoid=jax.nn.sigmoid,
)  # fmt: skip
positive = dict(log=jnp.log, log2=jnp.log2, log10=jnp.log10, sqrt=jnp.sqrt, rsqrt=lax.rsqrt)
inside = dict(log1p=jnp.log1p, asin=jnp.arcsin, acos=jnp.arccos, atanh=jnp.arctanh)
above = dict(acosh=jnp.arccosh)
x = numbers(3, 4)
groups = [(everywhere, x), (positive, x + 2.25), (inside, x * 0.45), (above, x + 3.5)]
wild = jnp.asarray(
    [nan, inf, -inf, -0.0, 0, 1, -1, 1e-30, -1e-30, 1e30, -1e30, 20, -20, 89, -89, 100, -100, 0.5, -0.5, 1.5, 2.5]
    + [1.0000001, 0.9999999, -0.9999999, 1e-4, -1e-4, 9],
    jnp.float32,
)
edges = jnp.asarray([0, 1, -1, 40, -40, 1e-6], jnp.float32)
large = [200.0, 300.0, 9e3, 12345.0, 6e4]  # in the range of f16, whose squares are not
for functions, at in groups:
    for name, function in functions.items():
        cases.add(name, function, at)
        cases.add(f"{name}/wild", function, wild, grad=False)
        cases.add(f"{name}/edges", function, edges)
        for dtype in (jnp.float16, jnp.bfloat16):
            cases.add(f"{name}/{dtype.__name__}", function, at.astype(dtype))
for name in (
    "negate exp expm1 square reciprocal sin cos tan sinh cosh tanh sigmoid log log2 log1p sqrt rsqrt abs sign".split()
):
    function = {k: v for functions, _ in groups for k, v in functions.items()}[name]
    cases.add(f"{name}/complex", function, numbers(3, 4, dtype=jnp.complex64))
for name in ("real", "imag", "conj"):
    cases.add(name, getattr(jnp, name), numbers(3, 4, dtype=jnp.complex64))
    cases.add(f"{name}/float", getattr(jnp, name), x, grad=name != "imag")
cases.add("complex", lax.complex, x, numbers(3, 4, seed=1))
whole = jnp.asarray([-(2**31), -7, -1, 0, 1, 2, 9, 2**31 - 1], jnp.int32)
bytes_ = jnp.asarray([0, 1, 7, 127, 128, 255], jnp.uint8)
for name in "negate abs sign floor ceil round trunc square".split():
    cases.add(f"{name}/s32", everywhere[name], whole)
    cases.add(f"{name}/u8", everywhere[name], bytes_)
for name, function in (("asinh", jnp.arcsinh), ("acosh", jnp.arccosh)):
    for dtype in (jnp.float16, jnp.bfloat16, jnp.float32):
        cases.add(f"{name}/large_{dtype.__name__}", function, jnp.asarray(large, dtype), grad=False)
for name in ("exp", "sqrt", "sin"):
    function = everywhere.get(name) or positive[name]
    cases.add(f"{name}/integers", function, jnp.asarray([0, 1, 5], jnp.int32))
    cases.add(f"{name}/bools", function, jnp.asarray([True, False]))

binary = dict(
    add=jnp.add, subtract=jnp.subtract, multiply=jnp.multiply, divide=jnp.divide, floor_divide=jnp.floor_divide,
    mod=jnp.mod, remainder=jnp.fmod, power=jnp.power, maximum=jnp.maximum, minimum=jnp.minimum, atan2=jnp.arctan2,
    logaddexp=jnp.logaddexp, hypot=jnp.hypot, equal=jnp.equal, not_equal=jnp.not_equal, less=jnp.less,
    less_equal=jnp.less_equal, greater=jnp.greater, greater_equal=jnp.greater_equal,
)  # fmt: skip
grid = jnp.asarray([nan, inf, -inf, -0.0, 0, 1, -1, 0.1, 3, -3, 2, 0.5, -20, 1e30], jnp.float32)
ties = jnp.asarray([[1, 2, -1, 0], [-0.0, 3, 3, 5]], jnp.float32), jnp.asarray([[1, -2, -1, -0.0], [0, 3, 2, 5]], jnp.float32)
for name, function in binary.items():
    a, b = x, numbers(3, 4, seed=1)
    if name == "power":
        a, b = a + 2.25, b
    cases.add(name, function, a, b)
    cases.add(f"{name}/rows", function, a[:, :1], b[0])
    cases.add(f"{name}/scalar", function, a[0, 0], b)
    cases.add(f"{name}/grid", function, grid[:, None], grid, grad=False)
    for dtype in (jnp.float16, jnp.bfloat16):
        cases.add(f"{name}/{dtype.__name__}", function, a.astype(dtype), b.astype(dtype))
    if name not in ("power", "divide", "floor_divide", "mod", "remainder", "atan2", "hypot"):
        cases.add(f"{name}/ties", function, *ties)
for name in "add subtract multiply divide equal not_equal power".split():
    cases.add(
        f"{name}/complex", binary[name], numbers(3, 1, dtype=jnp.complex64), numbers(4, seed=1, dtype=jnp.complex64)
    )
a, b = jnp.arange(-7, 8, dtype=jnp.int32)[:, None], jnp.asarray([-4, -3, -1, 1, 2, 5], jnp.int32)
u, v = jnp.arange(0, 256, 17, dtype=jnp.uint8)[:, None], jnp.asarray([1, 2, 3, 200, 255], jnp.uint8)
for name in (
    "add subtract multiply divide floor_divide mod remainder maximum minimum equal not_equal less less_equal greater "
    "greater_equal"
).split():
    cases.add(f"{name}/s32", binary[name], a, b)
    cases.add(f"{name}/u8", binary[name], u, v)
cases.add("power/s32", jnp.power, a, jnp.asarray([0, 1, 2, 3, 5], jnp.int32))
cases.add("power/u8", jnp.power, u, jnp.asarray([0, 1, 2, 3, 5], jnp.uint8))
cases.add("power/float_to_integer", jnp.power, x, jnp.asarray([-2, 0, 1, 3], jnp.int32))
# At 0 ** 0 JAX has no derivative, where ours is that of the constant 1.
cases.add("power/edges", jnp.power, jnp.asarray([0.0, 0, 1, 2, 0]), jnp.asarray([1.0, 2, 0, 0, 3]))
both = jnp.asarray([[True], [False]]), jnp.asarray([True, False])
for name in "add multiply maximum minimum equal not_equal less greater".split():
    cases.add(f"{name}/bools", binary[name], *both)

bits = dict(bitwise_and=jnp.bitwise_and, bitwise_or=jnp.bitwise_or, bitwise_xor=jnp.bitwise_xor)
for name, function in bits.items():
    cases.add(f"{name}/s32", function, a, b)
    cases.add(f"{name}/u8", function, u, v)
    cases.add(f"{name}/bools", function, *both)
for name, function in dict(bitwise_not=jnp.bitwise_not, population_count=lax.population_count, count_leading_zeros=lax.clz).items():
    cases.add(f"{name}/s32", function, whole)
    cases.add(f"{name}/u8", function, bytes_)
cases.add("bitwise_not/bools", jnp.bitwise_not, both[1])
for name, function in dict(shift_left=jnp.left_shift, shift_right=jnp.right_shift).items():
    cases.add(f"{name}/s32", function, a, jnp.asarray([0, 1, 5, 31, 32], jnp.int32))
    cases.add(f"{name}/u8", function, u, jnp.asarray([0, 1, 5, 7, 8], jnp.uint8))
truths = dict(logical_and=jnp.logical_and, logical_or=jnp.logical_or, logical_xor=jnp.logical_xor)
for name, function in truths.items():
    cases.add(f"{name}/bools", function, *both)
    cases.add(f"{name}/floats", function, grid[:, None], grid)
cases.add("logical_not/floats", jnp.logical_not, grid)
for name, function in dict(is_finite=jnp.isfinite, is_nan=jnp.isnan, is_inf=jnp.isinf).items():
    cases.add(f"{name}/wild", function, wild)
    cases.add(f"{name}/complex", function, jnp.asarray([1 + 2j, complex(nan, 0), complex(0, inf), complex(inf, nan)]))
    cases.add(f"{name}/integers", function, whole)
cases.add("nan_to_num", jnp.nan_to_num, wild)

cases.add("where", jnp.where, x > 0, x, numbers(3, 4, seed=1))
cases.add("where/broadcast", jnp.where, jnp.asarray([[True], [False], [True]]), x[0], numbers(2, 1, 1, seed=1))
cases.add("where/mixed", jnp.where, whole > 0, jnp.float16(0.5), whole)
cases.add("clip", jnp.clip, x, jnp.float32(-0.5), jnp.float32(1))
cases.add("clip/broadcast", jnp.clip, x, numbers(4, seed=1) - 1, numbers(3, 1, seed=2) + 1)
cases.add("clip/ties", jnp.clip, jnp.asarray([-1.0, 0, 1, nan, 2]), jnp.float32(0), jnp.float32(1))
cases.add("clip/s32", jnp.clip, whole, jnp.int32(-1), jnp.int32(5))
cases.write()
