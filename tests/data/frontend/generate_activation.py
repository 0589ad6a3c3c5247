"""Reference numbers of src/alpa/frontend/ops/activation.h and erf_inv. Needs jax 0.12.0.1, optax and safetensors."""

import jax
import jax.numpy as jnp
import optax
from jax import nn

from cases import Cases, numbers

cases = Cases("activation")
nan, inf = float("nan"), float("inf")
functions = dict(
    relu=nn.relu, silu=nn.silu, gelu=nn.gelu, gelu_exact=lambda x: nn.gelu(x, approximate=False), elu=nn.elu,
    elu_slope=lambda x: nn.elu(x, 0.3), leaky_relu=nn.leaky_relu, leaky_relu_slope=lambda x: nn.leaky_relu(x, 0.2),
    softplus=nn.softplus, log_sigmoid=nn.log_sigmoid, softmax=nn.softmax, log_softmax=nn.log_softmax, relu6=nn.relu6,
    hard_tanh=nn.hard_tanh, selu=nn.selu, mish=nn.mish,
)  # fmt: skip
x = numbers(3, 4) * 2
wild = jnp.asarray([[nan, 1], [0.0, -0.0], [30, -30], [100, -100], [1e30, -1e30], [1e-20, -1e-20], [-15, 6]], jnp.float32)
ends = jnp.asarray([inf, -inf], jnp.float32)
for name, function in functions.items():
    cases.add(name, function, x)
    cases.add(f"{name}/edges", function, jnp.asarray([[0.0, 0], [20, -20], [1, 1]]))
    for dtype in (jnp.float16, jnp.bfloat16):
        cases.add(f"{name}/{dtype.__name__}", function, x.astype(dtype))
    cases.add(f"{name}/wild", function, wild, grad=False)
for name in ("relu", "softplus", "elu", "leaky_relu", "relu6"):
    cases.add(f"{name}/ends", functions[name], ends, grad=False)
cases.add("relu/integers", nn.relu, jnp.asarray([-3, 0, 2], jnp.int32))

for name, function in dict(softmax=nn.softmax, log_softmax=nn.log_softmax).items():
    cases.add(f"{name}/rows", lambda a: function(a, axis=0), numbers(3, 2, 2))
    cases.add(f"{name}/middle", lambda a: function(a, axis=-2), numbers(3, 2, 2))
    cases.add(f"{name}/masked", function, jnp.asarray([[1.0, -inf, 2], [-inf, -inf, 0]]))
    cases.add(f"{name}/ties", function, jnp.asarray([[1.0, 1, 1], [2, 2, 0]]))


def layer_norm(a, scale, bias):
    mean = a.mean(-1, keepdims=True)
    return (a - mean) / jnp.sqrt(((a - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + bias


cases.add("layer_norm", layer_norm, numbers(2, 3, 4), numbers(4, seed=1), numbers(4, seed=2))
half = lambda a, s, b: layer_norm(a.astype(jnp.float32), s, b).astype(a.dtype)
cases.add("layer_norm/bfloat16", half, numbers(3, 4, dtype=jnp.bfloat16), numbers(4, seed=1), numbers(4, seed=2))
entropy = optax.softmax_cross_entropy_with_integer_labels
cases.add("cross_entropy", entropy, numbers(2, 3, 4), jnp.asarray([[0, 3, 1], [2, 2, 0]], jnp.int32))
cases.add("cross_entropy/masked", entropy, jnp.asarray([[1.0, -inf, 2], [0, 1, -inf]]), jnp.asarray([2, 0], jnp.int32))
cases.add("erf_inv", jax.scipy.special.erfinv, numbers(3, 4) * 0.49)
cases.add("erf_inv/float16", jax.scipy.special.erfinv, numbers(3, 4, dtype=jnp.float16) * 0.45)
cases.write()
