#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "alpa/hlo/opcode.h"
#include "alpa/mesh/logical_mesh.h"
#include "alpa/plan/plan.h"
#include "alpa/planner/intra/device_program.h"

namespace alpa::planner {

/// A collective that a plan's program will have.
struct PredictedCollective {
  hlo::Opcode kind = hlo::Opcode::kAllReduce;
  int64_t bytes = 0;  ///< Of one execution.
  std::vector<int> axes;
  std::string operands;  ///< Element type and reduction: only equal ones can be combined.
  bool is_sum = false;
  double executions = 1;  ///< A step.
  int32_t computation = 0;
  int64_t sum_factor = 1;   ///< Bytes of a sum over micro-batches for a byte of its operand.
  bool rearranged = false;  ///< Along a dim that is not the outermost.
  int gathered_dim = -1;    ///< Of an all-gather; -1: none that is known.

  /// Equal for those that can be done as one.
  std::string key() const;
};

/// What a value of the partitioned program is to the collective passes.
enum class StepRole {
  kOther,
  kMove,     ///< Of one operand, linear: reshape, transpose, copy, negation.
  kScale,    ///< Product with a constant, or quotient by one.
  kConvert,  ///< Of one operand, elementwise but not linear.
  kSum,      ///< Addition or subtraction of two.
  kSlice,    ///< Each device keeps a part.
  kCollective,
};

/// What a step makes on one device.
struct StepResult {
  hlo::Opcode opcode = hlo::Opcode::kBitcast;  ///< A bitcast has no memory of its own.
  int64_t bytes = 0;
  int64_t elements = 0;
  int32_t computation = 0;
  int32_t origin = -1;  ///< Node of the graph of values.
};

/// A value of the partitioned program and the collectives that follow it.
struct PredictedStep {
  StepRole role = StepRole::kOther;
  std::vector<int32_t> operands;
  StepResult result;
  std::vector<int> slice_axes = {};
  int slice_dim = -1;
  std::vector<PredictedCollective> collectives = {};  ///< One after another.
  int64_t uses = 0;
  std::vector<int32_t> users = {};
  std::vector<size_t> linear = {};
  bool from_zeros = false;  ///< Whether it is a loop's that begins as zeros, whatever else came into the loop before.
  bool stacked = false;     ///< Of rows, one after another in a dim before those of a row.
};

/// A value that a loop carries and only adds to, or writes rows of (carried_sums.h), by steps.
struct PredictedLoopSum {
  int32_t carry = 0;
  int32_t update = 0;
  size_t addend = 0;      ///< Operand of `update`.
  int64_t rows = 0;       ///< 0 for what is added up.
  int32_t row = -1;       ///< Equal for sums whose rows are written together.
  int32_t loop = 0;       ///< Equal for sums of one loop.
  int32_t caller = 0;     ///< Computation that the loop stands in.
  double executions = 1;  ///< Of the loop.
};

/// One of a step's collectives.
struct PredictedMember {
  int32_t step = 0;
  int32_t collective = 0;
};

/// Which collectives run once a step when sums over micro-batches wait for the last one.
struct Deferral {
  /// What is summed over micro-batches instead of the sum itself.
  struct Leaf {
    int32_t step = 0;   ///< Before its collectives, if they wait.
    int64_t bytes = 0;  ///< Of its sum on a device.
    friend bool operator==(const Leaf&, const Leaf&) = default;
  };
  std::vector<char> waits;                ///< By step: whether it is made of collectives that wait, its own or others.
  std::vector<char> replayed;             ///< By step: whether others; it is then made of the sums of its operands.
  std::vector<std::vector<Leaf>> leaves;  ///< By accumulator; none: its sum does not wait.
};

/// The collectives of a partitioned program as far as the collective passes look at it: what merges all-gathers and
/// all-reduces, makes reduce-scatters of them and combines what does not wait for each other (docs/partitioner.md),
/// without the program; and what of them waits for the last micro-batch. Steps are added operands first.
class PredictedProgram {
 public:
  explicit PredictedProgram(const mesh::LogicalMesh& mesh) : mesh_(mesh) {}

  /// Returns the step's number. `linear`: positions of operands that it is linear in, the others being fixed.
  int32_t add_step(StepRole role, std::vector<int32_t> operands, std::vector<size_t> linear = {},
                   StepResult result = {});
  /// Each device keeps the part of `dim` that its place along `axes` says.
  int32_t add_slice(int32_t operand, int dim, std::vector<int> axes, StepResult result = {});
  int32_t add_collective(PredictedCollective collective, int32_t operand, StepResult result = {});
  /// The step adds its operand 1 to an accumulator, `bytes` of which lie on a device; returns the accumulator's number.
  size_t add_accumulation(int32_t step, int64_t bytes);
  /// As a step of another program, whose operands have other numbers here.
  int32_t add_copy(const PredictedStep& one, std::vector<int32_t> operands);
  /// Something outside wants the value: an output, the next turn of a loop.
  void use(int32_t step) { ++steps_[static_cast<size_t>(step)].uses; }

  /// As passes::merge_all_reduces.
  void merge_all_reduces();

  /// Loops are numbered outer ones first.
  void add_loop_sum(const PredictedLoopSum& sum) { loop_sums_.push_back(sum); }
  /// As passes::hoist_loop_sums: collectives on the way into what loops add up run after the loops. Before anything is
  /// merged.
  void hoist_added();
  /// The same of rows that go into accumulators that wait. `which`: by accumulator.
  void hoist_rows(const std::vector<char>& which, int32_t entry);
  /// The step that gives a value outside of the loop that carries it: another one once it is hoisted.
  int32_t outside(int32_t step) const;

  /// By accumulator: bytes of a device that it takes more if its communication waits for the last micro-batch; nothing
  /// if no communication of its can. `which`: those that wait, by accumulator. Merge first.
  std::vector<std::optional<int64_t>> bytes_of_deferring(const std::vector<char>& which) const;
  Deferral deferral(const std::vector<char>& which) const;
  /// The step that adds to an accumulator.
  int32_t addition(size_t accumulator) const { return accumulations_[accumulator].step; }

  /// Leaves the collectives as the passes leave them. Once, when all steps are there.
  void run_passes();
  /// Totals by opcode after the passes.
  std::map<std::string, plan::CollectiveCount> totals() const;

  const mesh::LogicalMesh& mesh() const { return mesh_; }
  const std::vector<PredictedStep>& steps() const { return steps_; }
  /// After the passes: which collectives are done together, in the order of their steps; each is in one group.
  const std::vector<std::vector<PredictedMember>>& groups() const { return groups_; }
  const PredictedCollective& collective(const PredictedMember& member) const {
    return steps_[static_cast<size_t>(member.step)].collectives[static_cast<size_t>(member.collective)];
  }
  int64_t size(const std::vector<int>& axes) const;

 private:
  /// By step: whether its result goes into certain sums alone, by linear operations; and whether it is made of
  /// collectives that can wait for them then.
  struct Waiting {
    std::vector<char> absorbed, above;
  };
  /// The all-reduces that a value is a sum of, by linear operations, and the slice that a device keeps of that sum.
  struct Addends {
    std::vector<int32_t> reduces;  ///< Steps whose last collectives they are; none: it is no such sum.
    int dim = -1;                  ///< That the slice divides.
    std::vector<int> axes = {};    ///< Of the slice; none: all is kept.
  };
  /// What lies between an all-reduce and the slices of its result.
  struct Slices {
    std::vector<int32_t> first;
    std::vector<int32_t> between;
  };

  PredictedStep& step(int32_t number) { return steps_[static_cast<size_t>(number)]; }
  const PredictedStep& step(int32_t number) const { return steps_[static_cast<size_t>(number)]; }
  bool merge_once();
  Addends addends(int32_t number, const std::vector<Addends>& results) const;
  bool is_absorbed(int32_t number, const std::vector<Addends>& results) const;
  void make_whole(int32_t number, int64_t parts, const std::vector<Addends>& results);
  void sum_after(int32_t number, const Addends& sum, const std::vector<Addends>& results);
  void take_last_collective(int32_t number);
  using Sinks = std::map<int32_t, size_t>;  ///< Steps that add to sums, and which operand they add.
  using LoopGroup = std::vector<PredictedLoopSum>;
  Sinks sinks(const std::vector<char>& which) const;
  Waiting waiting(const Sinks& sinks) const;
  /// Whether it is made of what is above.
  static bool is_above(const PredictedStep& one, const Waiting& waiting);
  bool goes_into_sums(int32_t number, const Sinks& sinks, const std::vector<char>& absorbed) const;
  void find_leaves(int32_t number, int64_t sum_factor, const Deferral& deferral, std::set<int32_t>& seen,
                   std::vector<Deferral::Leaf>& leaves) const;
  void hoist(const std::function<bool(const PredictedLoopSum&)>& allowed);
  void hoist_group(LoopGroup group);
  bool converts(int32_t number, const Waiting& waits, std::set<int32_t>& seen) const;
  void find_ways(int32_t number, const Waiting& waits, std::set<int32_t>& above, std::vector<int32_t>& leaves) const;
  std::map<int32_t, int32_t> carry_leaves(const LoopGroup& group, const std::vector<int32_t>& leaves);
  void move_after_loop(int32_t number, const PredictedLoopSum& sum, const Waiting& waits,
                       const std::map<int32_t, int32_t>& carry_of);
  void count_users(const std::vector<int64_t>& others);
  void merge_all_gathers();
  void form_reduce_scatters();
  bool form(int32_t reduce);
  void scatter(int32_t reduce, const std::vector<int>& axes, bool inner);
  bool cuts_inner(int32_t reduce, const Slices& slices);
  bool first_slices(int32_t value, Slices& slices);
  std::vector<int32_t> slices_from(int32_t slice);
  void combine();

  mesh::LogicalMesh mesh_;
  std::vector<PredictedStep> steps_;
  std::vector<std::vector<PredictedMember>> groups_;
  /// Of additions to accumulators.
  struct Accumulation {
    int32_t step = 0;
    int64_t bytes = 0;
  };
  std::vector<Accumulation> accumulations_;
  std::vector<PredictedLoopSum> loop_sums_;
  std::map<int32_t, int32_t> outside_;  ///< Of hoisted carries.
};

}  // namespace alpa::planner
