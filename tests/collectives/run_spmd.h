#pragma once

#include <string>
#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/pjrt/testing/eight_devices.h"
#include "alpa/tensor/literal.h"

/// Partitioned programs, run as they are on eight devices.
namespace alpa::collectives {

/// By device, then by parameter or output.
using PerDevice = std::vector<std::vector<tensor::Literal>>;

/// Runs a partitioned program and gives what each device makes.
PerDevice run(const hlo::Module& partitioned, const PerDevice& inputs, int plugin);

/// Small whole numbers, other ones on each device: their sums are exact in any order.
PerDevice whole_numbers(const hlo::Module& partitioned);

/// By output: largest difference of two runs on any device, relative to the largest value there.
std::vector<double> differences(const PerDevice& a, const PerDevice& b);
/// The largest of them.
double difference(const PerDevice& a, const PerDevice& b);

}  // namespace alpa::collectives
