#pragma once

#include <any>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "alpa/api/method.h"
#include "alpa/api/placement_spec.h"
#include "alpa/frontend/array.h"
#include "alpa/frontend/trace.h"

namespace alpa {

namespace runtime {
class MeshExecutable;
}

/// A step compiled for the devices.
class Executable {
 public:
  virtual ~Executable() = default;

  /// Runs on a flat list: the arrays of the dynamic arguments in order. Placed ones are used where they lie if that is
  /// where the step wants them. Donated arrays are deleted.
  /// Errors: InvalidArgumentError that names an array of wrong shape, a deleted one, or one that is donated and given
  /// twice.
  std::vector<Array> launch_on_driver(const std::vector<Array>& arguments);
  /// The same without the lists of arrays.
  virtual std::vector<std::shared_ptr<tensor::PlacedValue>> launch(std::span<const Array* const> arguments) = 0;
  /// The arguments where the step wants them.
  std::vector<Array> preshard_dynamic_args(const std::vector<Array>& arguments);
  virtual std::vector<Array> preshard(std::span<const Array* const> arguments) = 0;
  /// One an array of the dynamic arguments, in order.
  virtual std::vector<PlacementSpec> get_input_placement_specs() const = 0;
  /// One an array of the result, in order.
  virtual std::vector<PlacementSpec> get_output_placement_specs() const = 0;
  /// The partitioned program of one device, as text; of a program on one device that program. With micro-batches two
  /// programs: the one that runs for each of them, then the one that applies the gradients.
  virtual std::string get_hlo_text() const = 0;
  /// The plan as JSON.
  virtual std::string get_plan() const = 0;
  /// Seconds from each launch that was followed by `sync` to the end of that wait: call it at once to time a step.
  virtual std::vector<double> get_execution_time_costs() const = 0;
  /// Bytes on one device: arguments, outputs and temporaries, as its compiler counts them.
  virtual int64_t get_total_allocation_size() const = 0;
  /// Writes into a folder, which is made: the program before and after partitioning, the plan, the labelling problem
  /// (IOPDDL form, `alpa solve` reads it) with its solution, and times. Plans once more for the problem.
  virtual void dump_debug_info(const std::string& directory) const = 0;
  /// What runs on the devices: for callers that hold placed arrays of their own.
  virtual runtime::MeshExecutable& mesh_executable() = 0;
  /// Waits for all that was launched.
  virtual void sync() = 0;
};

namespace api {

/// A traced step, flat.
struct Step {
  std::shared_ptr<const frontend::Function> function;
  std::vector<std::string> input_names;  ///< Key paths.
  std::vector<std::string> output_names;
  std::vector<bool> donated;  ///< By input.
  std::vector<bool> batch;    ///< By input: its first dim is the batch.
  int64_t micro_batches = 1;  ///< The function is that of one of so many parts of the batch.
  std::any result;            ///< The tree that the function returned, its arrays as shape_dtype_struct.
};

/// Plans and compiles. Errors: those of the planner and the plug-in.
std::shared_ptr<Executable> compile_step(const Step& step, const ParallelMethod& method);

}  // namespace api
}  // namespace alpa
