"""Values and derivatives of small programs with loops and branches, as JAX gives them.

Usage: python generate_control_flow.py (writes control_flow.safetensors beside this file; jax 0.12.0.1)."""

import pathlib

import jax

jax.config.update('jax_enable_x64', True)
import jax.numpy as jnp
import numpy as np
from jax import lax
from safetensors.numpy import save_file

rng = np.random.default_rng(0)
inputs = {
    'w': rng.normal(size=(4, 4)) * 0.5,
    'u': rng.normal(size=(3, 4)) * 0.5,
    'b': rng.normal(size=(4,)) * 0.1,
    'xs': rng.normal(size=(6, 3)),
    'h': rng.normal(size=(4,)),
    'v': rng.normal(size=(4, 4)),
}
out = dict(inputs)
w, u, b, xs, h, v = (jnp.asarray(inputs[k]) for k in ('w', 'u', 'b', 'xs', 'h', 'v'))


def cell(w, u, b, h, x):
    return jnp.tanh(h @ w + x @ u + b)


def rnn(w, u, b, xs, h, reverse=False, wrap=lambda f: f):
    def body(h, x):
        h = cell(w, u, b, h, x)
        return h, h * 2
    h, ys = lax.scan(wrap(body), h, xs, reverse=reverse)
    return jnp.sum(ys ** 2) + jnp.sum(h ** 3)


def add(name, f, *args):
    out[name + '.value'] = f(*args)
    for k, g in enumerate(jax.grad(f, argnums=tuple(range(len(args))))(*args)):
        out[f'{name}.grad{k}'] = g


add('rnn', rnn, w, u, b, xs, h)
add('rnn_reverse', lambda *a: rnn(*a, reverse=True), w, u, b, xs, h)
out['rnn.hvp'] = jax.grad(lambda w: jnp.sum(jax.grad(rnn)(w, u, b, xs, h) * v))(w)
out['rnn.jvp'] = jax.jvp(lambda w, h: rnn(w, u, b, xs, h), (w, h), (v, h))[1]


def polynomial(x):
    return jnp.sum(lax.fori_loop(0, 5, lambda i, c: c * x + i, jnp.ones_like(x)))


add('polynomial', polynomial, h)
out['polynomial.second'] = jax.grad(lambda x: jnp.sum(jax.grad(polynomial)(x) ** 2))(h)


def growth(x, rate):
    return lax.while_loop(lambda c: jnp.sum(c[0] ** 2) < 1000, lambda c: (c[0] * rate + jnp.sin(c[0]), c[1] + 1), (x, 0))


out['while.value'], out['while.steps'] = growth(h, jnp.float64(1.3))
out['while.steps'] = np.asarray(out['while.steps'], np.int32)
out['while.jvp'] = jax.jvp(lambda x, r: growth(x, r)[0], (h, jnp.float64(1.3)), (v[0], jnp.float64(0.7)))[1]


def nested(w, xs, h):
    def outer(h, x):
        def inner(c, y):
            c = jnp.sin(c @ w + y)
            return c, jnp.sum(c) * x
        h, ys = lax.scan(inner, h, x)
        return h, jnp.sum(ys, 0)
    h, ys = lax.scan(outer, h, xs)
    return jnp.sum(h * ys[0, 0]) + jnp.sum(ys ** 2)


add('nested', nested, w, xs, h)


def mixed(w, xs, h):
    def outer(h, x):
        def long(h):
            return lax.scan(lambda c, y: (jnp.tanh(c @ w + y), None), h, x)[0]
        h = lax.cond(jnp.sum(h) > 0, long, lambda h: h * x[0] + jnp.sum(x), h)
        return h, jnp.sum(h)
    h, ys = lax.scan(outer, h, xs)
    return jnp.sum(h ** 2) + jnp.sum(ys ** 2)


add('mixed', mixed, w, xs, h)


def switched(i, w, h):
    return jnp.sum(lax.switch(i, [lambda h: h @ w, lambda h: jnp.sin(h) * 3, lambda h: jnp.exp(h @ w) + h], h) ** 2)


for i in (-1, 0, 1, 2, 5):
    add(f'switch{i}', lambda w, h: switched(i, w, h), w, h)

if __name__ == '__main__':
    arrays = {k: np.array(a, order='C') for k, a in out.items()}
    save_file(arrays, pathlib.Path(__file__).parent / 'control_flow.safetensors')
