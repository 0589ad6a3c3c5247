"""Reference numbers of src/alpa/frontend/ops/reduction.h. Needs jax 0.12.0.1 and safetensors."""

import jax
import jax.numpy as jnp

from cases import Cases, numbers

cases = Cases("reduction")
nan, inf = float("nan"), float("inf")
x = numbers(3, 4, 2)
ways = dict(all={}, last=dict(axis=-1), two=dict(axis=(0, -1)), kept=dict(axis=(1,), keepdims=True), none=dict(axis=()))
functions = dict(
    sum=jnp.sum, product=jnp.prod, mean=jnp.mean, variance=jnp.var, standard_deviation=jnp.std, max=jnp.max, min=jnp.min,
    logsumexp=jax.scipy.special.logsumexp,
)  # fmt: skip
ties = jnp.asarray([[1, 1, 1, 0], [2, 3, 3, -1]], jnp.float32)
odd = jnp.asarray([[1, nan, 2], [inf, 1, 2], [-inf, 1, 2], [inf, -inf, 0], [-inf, -inf, -inf], [inf, inf, 1]], jnp.float32)
whole = jnp.asarray([[3, -1, 2, 9], [100, 120, -128, 5]], jnp.int32)
for name, function in functions.items():
    for way, options in ways.items():
        if way == "none" and name in ("variance", "standard_deviation"):
            continue  # a deviation of 0 from itself
        cases.add(f"{name}/{way}", lambda a: function(a, **options), x)
    cases.add(f"{name}/odd", lambda a: function(a, axis=1), odd, grad=False)
    cases.add(f"{name}/scalar", function, jnp.float32(1.5), grad=name != "standard_deviation")
    for dtype in (jnp.float16, jnp.bfloat16):
        cases.add(f"{name}/{dtype.__name__}", lambda a: function(a, axis=1), x.astype(dtype))
    for dtype in (jnp.int32, jnp.int8, jnp.uint8, jnp.uint16):
        cases.add(f"{name}/{dtype.__name__}", lambda a: function(a, axis=1), whole.astype(dtype))
    if name not in ("max", "min"):
        cases.add(f"{name}/bool", lambda a: function(a, axis=1), whole > 2)
        cases.add(f"{name}/empty", lambda a: function(a, axis=1), jnp.zeros((2, 0)), grad=False)
    cases.add(f"{name}/no_rows", lambda a: function(a, axis=1), jnp.zeros((0, 3)))
for name in ("max", "min", "logsumexp"):
    cases.add(f"{name}/ties", lambda a: functions[name](a, axis=1), ties)
    cases.add(f"{name}/ties_all", functions[name], ties)
for name in ("sum", "product", "mean", "variance"):
    cases.add(f"{name}/complex", lambda a: functions[name](a, axis=1), numbers(2, 3, dtype=jnp.complex64))
cases.add("variance/sample", lambda a: jnp.var(a, axis=1, ddof=1), x)
cases.add("standard_deviation/sample", lambda a: jnp.std(a, axis=(0, 1), ddof=1, keepdims=True), x)
# Sums that small floats cannot hold on the way.
long = jnp.ones((5000,)) * 0.1
for dtype in (jnp.float16, jnp.bfloat16):
    cases.add(f"sum/long_{dtype.__name__}", jnp.sum, long.astype(dtype))
    cases.add(f"mean/long_{dtype.__name__}", jnp.mean, long.astype(dtype))
    cases.add(f"variance/long_{dtype.__name__}", jnp.var, (jnp.arange(3000.0) % 7 + 20).astype(dtype), grad=False)
    cases.add(f"logsumexp/long_{dtype.__name__}", jax.scipy.special.logsumexp, long.astype(dtype))

for name, function in dict(any=jnp.any, all=jnp.all).items():
    cases.add(f"{name}/all", function, odd > 1)
    cases.add(f"{name}/rows", lambda a: function(a, axis=-1, keepdims=True), odd > 1)
    cases.add(f"{name}/floats", lambda a: function(a, axis=0), odd)
    cases.add(f"{name}/empty", lambda a: function(a, axis=1), jnp.zeros((2, 0)))
for name, function in dict(argmax=jnp.argmax, argmin=jnp.argmin).items():
    cases.add(f"{name}/rows", lambda a: function(a, axis=1), x)
    cases.add(f"{name}/kept", lambda a: function(a, axis=-2, keepdims=True), x)
    cases.add(f"{name}/odd", lambda a: function(a, axis=1), odd)
    cases.add(f"{name}/ties", lambda a: function(a, axis=1), ties)
    cases.add(f"{name}/integers", lambda a: function(a, axis=1), whole)
    cases.add(f"{name}/bytes", lambda a: function(a, axis=1), whole.astype(jnp.uint8))
    cases.add(f"{name}/bools", lambda a: function(a, axis=1), whole > 2)
    cases.add(f"{name}/float16", lambda a: function(a, axis=1), ties.astype(jnp.float16))
    cases.add(f"{name}/all", function, x)
cases.write()
