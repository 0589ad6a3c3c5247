#pragma once

#include "alpa/hlo/module.h"

namespace alpa::passes {

/// Makes a partitioned program, whose devices are partitions, one that is compiled for as many replicas of one
/// partition each: XLA's partitioner has no say in it then. (In its manual mode it takes no collective of several
/// operands.) Devices keep their numbers.
hlo::Module as_replicas(const hlo::Module& partitioned);

}  // namespace alpa::passes
