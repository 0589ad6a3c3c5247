#include "alpa/api/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <typeinfo>

#include "alpa/api/cluster.h"
#include "alpa/api/cluster_state.h"
#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/base/output_file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/frontend/evaluate.h"
#include "alpa/frontend/lower.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/text.h"

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
  CompiledStep(std::shared_ptr<ClusterState> cluster, const Step& step, compiler::Program program, plan::Plan plan)
      : cluster_(std::move(cluster)),
        donated_(step.donated),
        program_(std::move(program)),
        plan_(std::move(plan)),
        compiled_(compiler::compile(program_, plan_, cluster_->client)),
        input_placements_(compiled_.executable.input_placements()),
        executable_(std::move(compiled_.executable)) {
    std::vector<bool> reused(donated_.size(), false);
    for (const compiler::OutputMeta& output : program_.meta.outputs) {
      if (output.feeds_input) reused[static_cast<size_t>(*output.feeds_input)] = true;
    }
    for (size_t k = 0; k < donated_.size(); ++k) {
      if (donated_[k]) donations_.push_back({k, reused[k]});
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
      DistributedArray& array = *placed[donation.input];
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
    size_t next = 0;
    for (size_t k = 0; k < placed.size(); ++k)
      arrays.push_back(placed[k] == values[k] ? *arguments[k] : Array(std::move(moved[next++])));
    return arrays;
  }

  std::vector<std::string> get_input_placement_specs() const override { return placements(plan_.inputs); }
  std::vector<std::string> get_output_placement_specs() const override { return placements(plan_.outputs); }

  std::string get_hlo_text() const override {
    if (compiled_.partitioned_module.empty()) return hlo::to_text(program_.module);
    return hlo::to_text(hlo::read_module(compiled_.partitioned_module));
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
    write_file(directory + "/annotated.hlo.pb", hlo::write_module(compiler::annotated_module(program_, plan_)));
    write_file(directory + "/partitioned.hlo.txt", get_hlo_text());
    write_file(directory + "/plan.json", get_plan());
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

  std::vector<std::string> placements(const std::vector<plan::TensorPlan>& tensors) const {
    std::vector<std::string> text;
    for (const plan::TensorPlan& tensor : tensors)
      text.push_back(
          fmt::format("{} {}", tensor::to_string(tensor.shape), sharding::to_string(tensor.spec, plan_.mesh)));
    return text;
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

  static DistributedArray* in_place(tensor::PlacedValue& value, const runtime::Placement& wanted) {
    if (typeid(value) != typeid(DistributedArray)) return nullptr;
    auto& array = static_cast<DistributedArray&>(value);
    const bool same = array.placement().get() == &wanted || *array.placement() == wanted;
    return same && !array.is_released() ? &array : nullptr;
  }

  std::shared_ptr<DistributedArray> move(tensor::PlacedValue& value, const plan::TensorPlan& wanted) const {
    require<InvalidArgumentError>(
        !value.is_deleted(), "parallelize",
        "{} was donated to an earlier step or its cluster was shut down: use what the step returned", wanted.name);
    require<InvalidArgumentError>(value.shape() == wanted.shape, "parallelize", "{} is {}, the step takes {}",
                                  wanted.name, tensor::to_string(value.shape()), tensor::to_string(wanted.shape));
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
    bool reused;  ///< An output has its memory.
  };
  std::vector<Donation> donations_;
  compiler::Program program_;
  plan::Plan plan_;
  compiler::Compiled compiled_;  ///< Its executable is moved into the next.
  std::vector<std::shared_ptr<const runtime::Placement>> input_placements_;
  std::optional<runtime::MeshExecutable> executable_;  ///< Empty once the cluster has ended.
  mutable std::mutex times_;
  std::optional<Clock::time_point> launched_;  ///< The last launch, until it is waited for.
  std::vector<double> seconds_;
};

// A donated input's memory goes to the first output of its shape that is still free: for a state, its own successor.
std::vector<compiler::OutputMeta> outputs_of(const Step& step) {
  std::map<std::string, std::deque<int>> donated;  // inputs that are free, by shape
  for (size_t input = 0; input < step.donated.size(); ++input) {
    if (step.donated[input])
      donated[tensor::to_string(step.function->parameters[input].shape())].push_back(static_cast<int>(input));
  }
  std::vector<compiler::OutputMeta> outputs;
  for (size_t k = 0; k < step.function->results.size(); ++k) {
    compiler::OutputMeta output{step.output_names[k], compiler::Role::kUnknown, std::nullopt};
    std::deque<int>& free = donated[tensor::to_string(step.function->results[k].shape())];
    if (!free.empty()) {
      output.feeds_input = free.front();
      free.pop_front();
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

compiler::Meta meta_of(const Step& step) {
  compiler::Meta meta;
  for (size_t k = 0; k < step.input_names.size(); ++k) {
    compiler::InputMeta input;
    input.name = step.input_names[k];
    input.shape = step.function->parameters[k].shape();
    input.donated = step.donated[k];
    if (step.batch[k] && input.shape.rank() > 0) {
      input.role = compiler::Role::kBatch;
      input.batch_dim = 0;
    }
    meta.inputs.push_back(std::move(input));
  }
  meta.outputs = outputs_of(step);
  return meta;
}

}  // namespace

std::shared_ptr<Executable> compile_step(const Step& step, const ParallelMethod& method) {
  auto cluster = api::cluster();
  compiler::Program program =
      compiler::program_from_module(frontend::lower(*step.function, "train_step", step.input_names), meta_of(step));
  compiler::PlanOptions options;
  options.method = compiler::parse_method(method.name());
  options.num_devices = cluster->num_devices;
  options.cluster = cluster->spec;
  if (method.mesh_shape) options.mesh = mesh::LogicalMesh(*method.mesh_shape);
  options.memory_cap_bytes = method.memory_budget_bytes;
  require<InvalidArgumentError>(options.memory_cap_bytes.value_or(0) >= 0, "parallelize", "memory_budget_bytes is {}",
                                options.memory_cap_bytes.value_or(0));
  plan::Plan plan = compiler::plan_program(program, options);
  auto compiled = std::make_shared<CompiledStep>(cluster, step, std::move(program), std::move(plan));
  cluster->admit(compiled);
  return compiled;
}

}  // namespace api
}  // namespace alpa
