#pragma once

#include "alpa/frontend/array.h"

/// Random numbers from keys, with the very bits of JAX (threefry2x32, partitionable); they do not depend on how arrays
/// are placed. A key is u32[2]; use each once: split it for more. Source: Salmon et al., "Parallel random numbers: as
/// easy as 1, 2, 3", SC 2011; JAX documentation of jax.random.
namespace alpa::random {

Array key(uint64_t seed);
/// `count` new keys. **Shapes**: u32[2] -> u32[count, 2].
Array split(const ArrayLike& key, int64_t count = 2);
/// A new key from a key and a number: a step counter, a layer index.
Array fold_in(const ArrayLike& key, const ArrayLike& data);
/// u8, u16, u32 or u64.
Array bits(const ArrayLike& key, const Dims& dims, DType dtype = DType::kU32);
/// In [low, high).
Array uniform(const ArrayLike& key, const Dims& dims, DType dtype = DType::kF32, const ArrayLike& low = 0,
              const ArrayLike& high = 1);
Array normal(const ArrayLike& key, const Dims& dims, DType dtype = DType::kF32);
/// Normal numbers between the bounds.
Array truncated_normal(const ArrayLike& key, const ArrayLike& lower, const ArrayLike& upper, const Dims& dims,
                       DType dtype = DType::kF32);
/// True with this probability.
Array bernoulli(const ArrayLike& key, const ArrayLike& probability, const Dims& dims);
/// In [low, high). s32, or another integer type.
Array randint(const ArrayLike& key, const Dims& dims, const ArrayLike& low, const ArrayLike& high,
              DType dtype = DType::kS32);
Array gumbel(const ArrayLike& key, const Dims& dims, DType dtype = DType::kF32);
/// Indices along `dim`, each with a probability proportional to exp of its logit.
Array categorical(const ArrayLike& key, const ArrayLike& logits, int dim = -1);
/// Exponential distribution of rate 1.
Array exponential(const ArrayLike& key, const Dims& dims, DType dtype = DType::kF32);

}  // namespace alpa::random
