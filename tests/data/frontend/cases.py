"""Writes what JAX gives for named cases: inputs, outputs, cotangents and gradients, as one safetensors file a family."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file


def numbers(*dims, seed=0, dtype=jnp.float32):
    """Floats in (-2, 2), no two alike; complex ones have such parts."""
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return (numbers(*dims, seed=seed) + 1j * numbers(*dims, seed=seed + 50)).astype(dtype)
    count = int(np.prod(dims))
    order = np.random.RandomState(seed).permutation(count)
    return jnp.asarray(((order + 0.5) / count * 4 - 2).reshape(dims), dtype)


class Cases:
    def __init__(self, family):
        self.family = family
        self.arrays = {}

    def add(self, name, function, *inputs, grad=True):
        inputs = [jnp.asarray(x) for x in inputs]
        call = lambda *xs: jax.tree_util.tree_leaves(function(*xs))
        outputs = jax.jit(call)(*inputs)
        self._put(name, "in", inputs)
        self._put(name, "out", outputs)
        is_float = [jnp.issubdtype(x.dtype, jnp.inexact) for x in outputs]
        if not grad or not all(is_float):
            return
        cotangents = [numbers(*x.shape, seed=9, dtype=x.dtype) for x in outputs]
        wanted = [k for k, x in enumerate(inputs) if jnp.issubdtype(x.dtype, jnp.inexact)]

        def of_floats(*floats):
            xs = list(inputs)
            for k, value in zip(wanted, floats):
                xs[k] = value
            return call(*xs)

        _, pullback = jax.vjp(of_floats, *[inputs[k] for k in wanted])
        self._put(name, "ct", cotangents)
        for k, gradient in zip(wanted, pullback(cotangents)):
            self.arrays[f"{name}/grad{k}"] = np.asarray(gradient)

    def _put(self, name, kind, values):
        for k, value in enumerate(values):
            self.arrays[f"{name}/{kind}{k}"] = np.asarray(value)

    def write(self):
        save_file(self.arrays, str(pathlib.Path(__file__).parent / f"{self.family}.safetensors"))
