#include "alpa/api/executable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <typeinfo>

#include "alpa/api/cluster.h"
#include "alpa/api/cluster_state.h"
#include "alpa/api/plan_options.h"
#include "alpa/api/step_meta.h"
#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/compile_accumulated.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/frontend/evaluate.h"
#include "alpa/frontend/lower.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"
#include "alpa/passes/split_accumulation.h"
#include "alpa/runtime/array/cut_array.h"
#include "alpa/runtime/array/micro_batch.h"
#include "alpa/solver/iopddl.h"

namespace alpa {

namespace {

std::vector<const Array*> pointers_to(const std::vector<Array>& arrays) {
  std::vector<const Array*> pointers;
  for (const Array& array : arrays) pointers.push_back(&array);
  return pointers;
}

}  // namespace

std::vector<Array> Executable::launch_on_driver(const std::vector<Array>& arguments) {
  auto values = launch(pointers_to(arguments));
  return {std::make_move_iterator(values.begin()), std::make_move_iterator(values.end())};
}

std::vector<Array> Executable::preshard_dynamic_args(const std::vector<Array>& arguments) {
  return preshard(pointers_to(arguments));
}

namespace api {
namespace {

using runtime::DistributedArray;

/// Lists that a launch fills, kept by the thread from one to the next: large allocations between the small ones of a
/// step's arrays are slow.
struct LaunchLists {
  std::vector<tensor::PlacedValue*> values;  ///< Of the arguments.
  std::vector<DistributedArray*> placed;     ///< The same where the step wants them.
  std::vector<uint32_t> slots;
};

LaunchLists& lists() {
  thread_local LaunchLists instance;
  return instance;
}

class CompiledStep : public Executable, public Tenant {
 public:
  CompiledStep(std::shared_ptr<ClusterState> cluster, const Step& step, compiler::Program program,
               compiler::PlanOptions options, plan::Plan plan)
      : cluster_(std::move(cluster)),
        donated_(step.donated),
        options_(std::move(options)),
        program_(std::move(program)),
        plan_(std::move(plan)),
        compiled_(compiler::compile(program_, plan_, cluster_->client)),
        input_placements_(compiled_.executable.input_placements()),
        micro_batches_(program_.micro_batches()),
        executable_(std::move(compiled_.executable)) {
    std::vector<bool> reused(donated_.size(), false);
    for (const compiler::OutputMeta& output : program_.meta.outputs) {
      if (output.feeds_input) reused[static_cast<size_t>(*output.feeds_input)] = true;
    }
    size_t slot = 0;
    for (size_t k = 0; k < donated_.size(); ++k) {
      cut_.push_back(executable_->is_cut(k));
      if (donated_[k]) donations_.push_back({k, slot, reused[k]});
      slot += cut_[k] ? static_cast<size_t>(micro_batches_) : 1;
    }
  }

  std::vector<std::shared_ptr<tensor::PlacedValue>> launch(std::span<const Array* const> arguments) override {
    const std::vector<tensor::PlacedValue*>& values = values_of(arguments);
    refuse_donated_twice(values);
    std::vector<std::shared_ptr<DistributedArray>> moved;  // copies of what lies elsewhere
    const std::vector<DistributedArray*>& placed = place(values, moved);
    std::vector<std::shared_ptr<DistributedArray>> outputs;
    cluster_->run([&] {
      std::vector<pjrt::Event> events;
      note_launch();
      outputs = mesh_executable().launch(placed, events);
      return events;
    });
    for (const Donation& donation : donations_) {
      if (cut_[donation.input]) {
        values[donation.input]->release();
        continue;
      }
      DistributedArray& array = *placed[donation.slot];
      if (donation.reused)
        array.mark_released();  // the plug-in has taken the memory
      else
        array.release();
      if (values[donation.input] != &array) values[donation.input]->release();
    }
    cluster_->arrays.add(outputs);
    return {std::make_move_iterator(outputs.begin()), std::make_move_iterator(outputs.end())};
  }

  std::vector<Array> preshard(std::span<const Array* const> arguments) override {
    mesh_executable();  // what is placed for a cluster that has ended would be of no use
    const std::vector<tensor::PlacedValue*>& values = values_of(arguments);
    std::vector<std::shared_ptr<DistributedArray>> moved;
    const std::vector<DistributedArray*>& placed = place(values, moved);
    std::vector<Array> arrays;
    auto next = moved.begin();  // in the order of the arguments
    size_t slot = 0;
    for (size_t k = 0; k < values.size(); ++k) {
      const std::ptrdiff_t count = cut_[k] ? micro_batches_ : 1;
      if (next == moved.end() || placed[slot] != next->get()) {
        arrays.push_back(*arguments[k]);
      } else {
        arrays.push_back(cut_[k] ? Array(std::make_shared<runtime::CutArray>(
                                       std::vector<std::shared_ptr<DistributedArray>>(next, next + count)))
                                 : Array(*next));
        next += count;
      }
      slot += static_cast<size_t>(count);
    }
    return arrays;
  }

  std::vector<PlacementSpec> get_input_placement_specs() const override {
    std::vector<PlacementSpec> specs = placements(plan_.inputs);
    for (size_t k = 0; k < specs.size(); ++k) {
      if (cut_[k]) specs[k].micro_batches = micro_batches_;
    }
    return specs;
  }
  std::vector<PlacementSpec> get_output_placement_specs() const override { return placements(plan_.outputs); }

  std::string get_hlo_text() const override {
    std::string text;
    if (compiled_.partitioned_module.empty()) {
      for (const hlo::Module& module : programs()) text += hlo::to_text(module);
      return text;
    }
    for (const std::string* bytes : {&compiled_.accumulate_module, &compiled_.partitioned_module}) {
      if (!bytes->empty()) text += hlo::to_text(hlo::read_module(*bytes));
    }
    return text;
  }

  std::string get_plan() const override { return plan::to_json(plan_); }
  std::vector<double> get_execution_time_costs() const override {
    const std::lock_guard lock(times_);
    return seconds_;
  }
  int64_t get_total_allocation_size() const override { return compiled_.memory_per_device_bytes; }

  void dump_debug_info(const std::string& directory) const override {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    require<InvalidArgumentError>(!error, "dump_debug_info", "cannot make the folder {}: {}", directory,
                                  error.message());
    write_file(directory + "/program.hlo.txt", hlo::to_text(program_.module));
    if (program_.accumulation) {
      const compiler::PlannedParts parts = compiler::planned_parts(program_, plan_);
      write_annotated(directory + "/annotated_accumulate.hlo.pb", parts.accumulate.program, parts.accumulate.plan);
      write_annotated(directory + "/annotated_apply.hlo.pb", parts.apply.program, parts.apply.plan);
    } else {
      write_annotated(directory + "/annotated.hlo.pb", program_, plan_);
    }
    write_file(directory + "/partitioned.hlo.txt", get_hlo_text());
    write_file(directory + "/plan.json", get_plan());
    write_problem(directory);
    write_file(directory + "/times.txt", fmt::format("planning_seconds {}\ncompile_seconds {}\n",
                                                     plan_.planning_seconds, compiled_.compile_seconds));
  }

  runtime::MeshExecutable& mesh_executable() override {
    require<InvalidArgumentError>(executable_.has_value(), "parallelize",
                                  "the cluster of this executable was shut down: call the parallelized function again");
    return *executable_;
  }
  void leave() override { executable_.reset(); }

  void sync() override {
    cluster_->sync();
    const std::lock_guard lock(times_);
    if (launched_) seconds_.push_back(std::chrono::duration<double>(Clock::now() - *launched_).count());
    launched_.reset();
  }

 private:
  using Clock = std::chrono::steady_clock;

  void note_launch() {
    const std::lock_guard lock(times_);
    launched_ = Clock::now();
  }

  static void write_annotated(const std::string& path, const compiler::Program& program, const plan::Plan& plan) {
    write_file(path, hlo::write_module(compiler::annotated_module(program, plan)));
  }

  void write_problem(const std::string& directory) const {
    compiler::PlanOptions options = options_;
    options.problem_observer = [&](const planner::AnsweredProblem& answered) {
      const std::string path = directory + "/problem.json";
      write_file(path, solver::problem_file(path, answered.problem));
      write_file(directory + "/solution.json",
                 fmt::format("{{\"solution\": [{}]}}\n", fmt::join(answered.choice, ", ")));
    };
    compiler::plan_program(program_, options);
  }

  /// What runs, before it is partitioned.
  std::vector<hlo::Module> programs() const {
    if (!program_.accumulation) return {program_.module};
    passes::SplitAccumulation parts = passes::split_accumulation(program_.module, *program_.accumulation);
    return {std::move(parts.accumulate.module), std::move(parts.apply.module)};
  }

  std::vector<PlacementSpec> placements(const std::vector<plan::TensorPlan>& tensors) const {
    std::vector<PlacementSpec> specs;
    for (const plan::TensorPlan& tensor : tensors)
      specs.push_back({tensor.name, tensor.shape, tensor.spec, plan_.mesh});
    return specs;
  }

  const std::vector<tensor::PlacedValue*>& values_of(std::span<const Array* const> arguments) const {
    require<InvalidArgumentError>(arguments.size() == plan_.inputs.size(), "parallelize",
                                  "{} arrays given, the step takes {}", arguments.size(), plan_.inputs.size());
    std::vector<Array> recorded;
    for (const Array* const argument : arguments) {
      if (argument->known_value() == nullptr) recorded.push_back(*argument);
    }
    frontend::evaluate(recorded);
    std::vector<tensor::PlacedValue*>& values = lists().values;
    values.clear();
    for (const Array* const argument : arguments) values.push_back(argument->known_value());
    return values;
  }

  const std::vector<DistributedArray*>& place(const std::vector<tensor::PlacedValue*>& values,
                                              std::vector<std::shared_ptr<DistributedArray>>& moved) const {
    std::vector<DistributedArray*>& placed = lists().placed;
    placed.clear();
    for (size_t k = 0; k < values.size(); ++k) {
      if (cut_[k]) {
        place_parts(*values[k], k, placed, moved);
        continue;
      }
      DistributedArray* there = in_place(*values[k], *input_placements_[k]);
      if (there == nullptr) {
        moved.push_back(move(*values[k], plan_.inputs[k]));
        there = moved.back().get();
      }
      placed.push_back(there);
    }
    cluster_->arrays.add(moved);
    return placed;
  }

  /// The micro-batches of a batch.
  void place_parts(tensor::PlacedValue& value, size_t input, std::vector<DistributedArray*>& placed,
                   std::vector<std::shared_ptr<DistributedArray>>& moved) const {
    const runtime::Placement& wanted = *input_placements_[input];
    if (const auto* cut = dynamic_cast<runtime::CutArray*>(&value);
        cut != nullptr && static_cast<int64_t>(cut->parts().size()) == micro_batches_) {
      const bool there = std::all_of(cut->parts().begin(), cut->parts().end(),
                                     [&](const auto& part) { return in_place(*part, wanted) != nullptr; });
      for (const auto& part : cut->parts()) {
        if (there) placed.push_back(part.get());
      }
      if (there) return;
    }
    tensor::Shape batch = wanted.shape;
    batch.dims[0] *= micro_batches_;
    const plan::TensorPlan& planned = plan_.inputs[input];
    check_movable(value, planned.name, batch);
    const tensor::Literal rows = value.to_host();
    for (int64_t k = 0; k < micro_batches_; ++k) {
      moved.push_back(std::make_shared<DistributedArray>(DistributedArray::place(
          cluster_->client, runtime::micro_batch(rows, 0, micro_batches_, k), wanted.spec, plan_.mesh)));
      placed.push_back(moved.back().get());
    }
  }

  static DistributedArray* in_place(tensor::PlacedValue& value, const runtime::Placement& wanted) {
    if (typeid(value) != typeid(DistributedArray)) return nullptr;
    auto& array = static_cast<DistributedArray&>(value);
    const bool same = array.placement().get() == &wanted || *array.placement() == wanted;
    return same && !array.is_released() ? &array : nullptr;
  }

  static void check_movable(const tensor::PlacedValue& value, const std::string& name, const tensor::Shape& wanted) {
    require<InvalidArgumentError>(
        !value.is_deleted(), "parallelize",
        "{} was donated to an earlier step or its cluster was shut down: use what the step returned", name);
    require<InvalidArgumentError>(value.shape() == wanted, "parallelize", "{} is {}, the step takes {}", name,
                                  tensor::to_string(value.shape()), tensor::to_string(wanted));
  }

  std::shared_ptr<DistributedArray> move(tensor::PlacedValue& value, const plan::TensorPlan& wanted) const {
    check_movable(value, wanted.name, wanted.shape);
    return std::make_shared<DistributedArray>(
        DistributedArray::place(cluster_->client, value.to_host(), wanted.spec, plan_.mesh));
  }

  // A hash table by address: sorting would cost more than all the rest of a call.
  void refuse_donated_twice(const std::vector<tensor::PlacedValue*>& values) const {
    if (donations_.empty()) return;
    constexpr uint32_t kFree = ~0u;
    const size_t capacity = std::bit_ceil(2 * values.size() + 1);
    std::vector<uint32_t>& slots = lists().slots;
    slots.assign(capacity, kFree);
    for (size_t k = 0; k < values.size(); ++k) {
      size_t slot = std::hash<tensor::PlacedValue*>{}(values[k]) / alignof(std::max_align_t) * 0x9E3779B97F4A7C15;
      slot = (slot >> 32) & (capacity - 1);
      while (slots[slot] != kFree && values[slots[slot]] != values[k]) slot = (slot + 1) & (capacity - 1);
      if (slots[slot] == kFree) {
        slots[slot] = static_cast<uint32_t>(k);
        continue;
      }
      const size_t before = slots[slot];
      require<InvalidArgumentError>(!donated_[before] && !donated_[k], "parallelize",
                                    "{} and {} are the same array, and it is donated: pass a copy, or do not donate it",
                                    plan_.inputs[before].name, plan_.inputs[k].name);
    }
  }

  std::shared_ptr<ClusterState> cluster_;
  std::vector<bool> donated_;
  struct Donation {
    size_t input;
    size_t slot;  ///< Of the executable.
    bool reused;  ///< An output has its memory.
  };
  std::vector<Donation> donations_;
  std::vector<bool> cut_;  ///< By input: it is a batch that is cut into micro-batches.
  compiler::PlanOptions options_;
  compiler::Program program_;
  plan::Plan plan_;
  compiler::Compiled compiled_;  ///< Its executable is moved into the next.
  std::vector<std::shared_ptr<const runtime::Placement>> input_placements_;
  int64_t micro_batches_;
  std::optional<runtime::MeshExecutable> executable_;  ///< Empty once the cluster has ended.
  mutable std::mutex times_;
  std::optional<Clock::time_point> launched_;  ///< The last launch, until it is waited for.
  std::vector<double> seconds_;
};

}  // namespace

std::shared_ptr<Executable> compile_step(const Step& step, const ParallelMethod& method) {
  auto cluster = api::cluster();
  compiler::Program program = compiler::program_from_module(
      frontend::lower(*step.function, "train_step", step.input_names), meta_of(step), step.micro_batches);
  compiler::PlanOptions options = plan_options(method, step, *cluster);
  plan::Plan plan = compiler::plan_program(program, options);
  auto compiled =
      std::make_shared<CompiledStep>(cluster, step, std::move(program), std::move(options), std::move(plan));
  cluster->admit(compiled);
  return compiled;
}

}  // namespace api
}  // namespace alpa
