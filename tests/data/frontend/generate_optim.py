"""Reference numbers of src/alpa/frontend/optim: five steps of each optimizer. Needs jax 0.12.0.1, optax 0.2.8, safetensors."""

import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax
from safetensors.numpy import save_file

from cases import numbers

params = {"a": numbers(3, 4), "b": numbers(4, seed=1), "c": numbers(2, 3, 5, seed=2), "d": jnp.zeros((2,))}
gradients = [
    {k: numbers(*v.shape, seed=10 * step + place) * (3 - step) for place, (k, v) in enumerate(params.items())}
    for step in range(5)
]
arrays = {f"params/{k}": v for k, v in params.items()}
for step, tree in enumerate(gradients):
    arrays |= {f"gradients/{step}/{k}": v for k, v in tree.items()}

matrices = lambda tree: jax.tree.map(lambda x: x.ndim > 1, tree)
warmup = optax.warmup_cosine_decay_schedule(0.0, 0.1, 2, 5, 0.01)
optimizers = dict(
    sgd=optax.sgd(0.1), momentum=optax.sgd(0.1, momentum=0.9), nesterov=optax.sgd(0.1, momentum=0.9, nesterov=True),
    sgd_schedule=optax.sgd(optax.linear_schedule(0.1, 0.02, 3)), adam=optax.adam(0.1),
    adam_options=optax.adam(0.1, b1=0.8, b2=0.95, eps=1e-3), adam_schedule=optax.adam(warmup), adamw=optax.adamw(0.1),
    adamw_mask=optax.adamw(0.1, weight_decay=0.1, mask=matrices), lamb=optax.lamb(0.1),
    lamb_decay=optax.lamb(0.1, weight_decay=0.1, mask=matrices), adafactor=optax.adafactor(0.1),
    adafactor_factored=optax.adafactor(0.1, min_dim_size_to_factor=3),
    adafactor_options=optax.adafactor(
        optax.exponential_decay(0.1, 2, 0.5), min_dim_size_to_factor=2, decay_rate=0.7, clipping_threshold=0.5,
        multiply_by_parameter_scale=False, eps=1e-6
    ),
    clip_by_global_norm=optax.chain(optax.clip_by_global_norm(2.0), optax.sgd(0.1)),
    clip_by_large_norm=optax.chain(optax.clip_by_global_norm(1e4), optax.sgd(0.1)),
    clip=optax.chain(optax.clip(0.5), optax.adam(0.1)),
    decayed_weights=optax.chain(optax.add_decayed_weights(0.1, matrices), optax.sgd(0.1, momentum=0.5)),
)  # fmt: skip
for name, optimizer in optimizers.items():
    current, state = params, optimizer.init(params)
    for step in range(5):
        updates, state = optimizer.update(gradients[step], state, current)
        current = optax.apply_updates(current, updates)
        arrays |= {f"{name}/{step}/{k}": v for k, v in current.items()}
# Parameters of small floats.
half = jax.tree.map(lambda x: x.astype(jnp.bfloat16), params)
optimizer = optax.adamw(0.1)
state = optimizer.init(half)
for step in range(5):
    updates, state = optimizer.update(jax.tree.map(lambda x: x.astype(jnp.bfloat16), gradients[step]), state, half)
    half = optax.apply_updates(half, updates)
    arrays |= {f"adamw_bfloat16/{step}/{k}": v for k, v in half.items()}

schedules = dict(
    linear=optax.linear_schedule(0.5, -0.25, 7), linear_up=optax.linear_schedule(0.0, 1.0, 1),
    cosine=optax.cosine_decay_schedule(0.5, 6), cosine_alpha=optax.cosine_decay_schedule(0.5, 6, 0.1),
    warmup_cosine=optax.warmup_cosine_decay_schedule(0.1, 0.9, 3, 9, 0.2),
    exponential=optax.exponential_decay(0.5, 3, 0.7), staircase=optax.exponential_decay(0.5, 3, 0.7, staircase=True),
)  # fmt: skip
for name, schedule in schedules.items():
    arrays[f"schedule/{name}"] = np.asarray([schedule(step) for step in range(12)], np.float32)
save_file({k: np.asarray(v) for k, v in arrays.items()}, str(pathlib.Path(__file__).parent / "optim.safetensors"))
