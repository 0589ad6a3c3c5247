#pragma once

#include <cstdint>

#include "alpa/solver/dual_bound.h"
#include "alpa/solver/mrf.h"

namespace alpa::solver {

/// Above every bound; its negative is below every bound.
inline constexpr Cost kNoLabelling = Cost(1) << 120;

/// A lower bound on a field that sees farther than message passing: elimination of the variables, in which a bucket
/// whose table would pass `entries` is split into parts that are minimised apart. The parts first agree on what each
/// of the variable's strategies costs, so that little is lost. Starts from the potentials of `dual`, and counts as it
/// does: scaled by 2^scale_bits(), without the field's constant. kNoLabelling where every labelling is forbidden,
/// -kNoLabelling where the costs are too large to sum.
///
/// Every strategy must have a partner across each edge, as after `propagate`: else messages are no numbers.
/// **Cost**: O(nodes · entries · domain). **Source**: mini-buckets, Dechter and Rish 2003; matching of the parts,
/// Ihler, Flerova, Dechter and Otten 2012.
Cost mini_bucket_bound(const Mrf& mrf, const DualBound& dual, int64_t entries);

}  // namespace alpa::solver
