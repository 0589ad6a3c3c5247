#include "alpa/api/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>

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

std::string ShardParallel::key() const {
  std::string text = "shard";
  if (mesh_shape) {
    for (const int64_t size : *mesh_shape) text += fmt::format(" {}", size);
  }
  if (memory_budget_bytes) text += fmt::format(" memory {}", *memory_budget_bytes);
  return text;
}

namespace api {
namespace {

using runtime::DistributedArray;

class CompiledStep : public Executable {
 public:
  CompiledStep(std::shared_ptr<ClusterState> cluster, const Step& step, compiler::Program program, plan::Plan plan)
      : cluster_(std::move(cluster)),
        donated_(step.donated),
        program_(std::move(program)),
        plan_(std::move(plan)),
        compiled_(compiler::compile(program_, plan_, cluster_->client)) {
    reused_.assign(donated_.size(), false);
    for (const compiler::OutputMeta& output : program_.meta.outputs) {
      if (output.feeds_input) reused_[static_cast<size_t>(*output.feeds_input)] = true;
    }
  }

  std::vector<Array> launch_on_driver(const std::vector<Array>& arguments) override {
    refuse_donated_twice(arguments);
    const std::vector<std::shared_ptr<DistributedArray>> placed = place(arguments);
    std::vector<DistributedArray*> pointers;
    pointers.reserve(placed.size());
    for (const auto& array : placed) pointers.push_back(array.get());
    std::vector<std::shared_ptr<DistributedArray>> outputs;
    cluster_->run([&] {
      std::vector<pjrt::Event> events;
      note_launch();
      outputs = compiled_.executable.launch(pointers, events);
      return events;
    });
    for (size_t k = 0; k < placed.size(); ++k) {
      if (!donated_[k]) continue;
      if (reused_[k])
        placed[k]->mark_released();  // the plug-in has taken the memory
      else
        placed[k]->release();
      tensor::PlacedValue& original = value_at(arguments[k]);
      if (&original != placed[k].get()) original.release();
    }
    std::vector<Array> arrays;
    arrays.reserve(outputs.size());
    for (const auto& output : outputs) {
      cluster_->keep(output);
      arrays.emplace_back(std::static_pointer_cast<tensor::PlacedValue>(output));
    }
    return arrays;
  }

  std::vector<Array> preshard_dynamic_args(const std::vector<Array>& arguments) override {
    std::vector<Array> arrays;
    for (auto& array : place(arguments))
      arrays.emplace_back(std::static_pointer_cast<tensor::PlacedValue>(std::move(array)));
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

  std::vector<std::shared_ptr<DistributedArray>> place(const std::vector<Array>& arguments) const {
    require<InvalidArgumentError>(arguments.size() == plan_.inputs.size(), "parallelize",
                                  "{} arrays given, the step takes {}", arguments.size(), plan_.inputs.size());
    frontend::evaluate(arguments);
    std::vector<std::shared_ptr<DistributedArray>> placed;
    placed.reserve(arguments.size());
    for (size_t k = 0; k < arguments.size(); ++k) placed.push_back(place(arguments[k], plan_.inputs[k]));
    return placed;
  }

  std::shared_ptr<DistributedArray> place(const Array& argument, const plan::TensorPlan& wanted) const {
    const auto& value = argument.node()->values[static_cast<size_t>(argument.output())];
    auto array = std::dynamic_pointer_cast<DistributedArray>(value);
    if (array != nullptr && !array->is_released() && array->logical_mesh() == plan_.mesh &&
        array->spec() == wanted.spec && array->shape() == wanted.shape)
      return array;
    require<InvalidArgumentError>(
        !value->is_deleted(), "parallelize",
        "{} was donated to an earlier step or its cluster was shut down: use what the step returned", wanted.name);
    require<InvalidArgumentError>(value->shape() == wanted.shape, "parallelize", "{} is {}, the step takes {}",
                                  wanted.name, tensor::to_string(value->shape()), tensor::to_string(wanted.shape));
    array = std::make_shared<DistributedArray>(
        DistributedArray::place(cluster_->client, value->to_host(), wanted.spec, plan_.mesh));
    cluster_->keep(array);
    return array;
  }

  static tensor::PlacedValue& value_at(const Array& argument) {
    return *argument.node()->values[static_cast<size_t>(argument.output())];
  }

  void refuse_donated_twice(const std::vector<Array>& arguments) const {
    if (std::find(donated_.begin(), donated_.end(), true) == donated_.end()) return;
    std::vector<std::pair<std::pair<const frontend::Node*, int>, size_t>> order;
    order.reserve(arguments.size());
    for (size_t k = 0; k < arguments.size(); ++k)
      order.push_back({{arguments[k].node().get(), arguments[k].output()}, k});
    std::sort(order.begin(), order.end());
    for (size_t k = 1; k < order.size(); ++k) {
      if (order[k].first != order[k - 1].first) continue;
      const size_t a = order[k - 1].second, b = order[k].second;
      require<InvalidArgumentError>(!donated_[a] && !donated_[b], "parallelize",
                                    "{} and {} are the same array, and it is donated: pass a copy, or do not donate it",
                                    plan_.inputs[a].name, plan_.inputs[b].name);
    }
  }

  std::shared_ptr<ClusterState> cluster_;
  std::vector<bool> donated_;
  std::vector<bool> reused_;  ///< By input: an output has its memory.
  compiler::Program program_;
  plan::Plan plan_;
  compiler::Compiled compiled_;
  mutable std::mutex times_;
  std::optional<Clock::time_point> launched_;  ///< The last launch, until it is waited for.
  std::vector<double> seconds_;
};

// A donated input's memory goes to the first output of its shape that is still free: for a state, its own successor.
std::vector<compiler::OutputMeta> outputs_of(const Step& step) {
  std::vector<compiler::OutputMeta> outputs;
  std::vector<bool> taken(step.donated.size(), false);
  for (size_t k = 0; k < step.function->results.size(); ++k) {
    compiler::OutputMeta output{step.output_names[k], compiler::Role::kUnknown, std::nullopt};
    for (size_t input = 0; input < taken.size() && !output.feeds_input; ++input) {
      if (!step.donated[input] || taken[input]) continue;
      if (step.function->parameters[input].shape() != step.function->results[k].shape()) continue;
      taken[input] = true;
      output.feeds_input = static_cast<int>(input);
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
  if (const auto* shard = dynamic_cast<const ShardParallel*>(&method))
    options.memory_cap_bytes = shard->memory_budget_bytes;
  plan::Plan plan = compiler::plan_program(program, options);
  return std::make_shared<CompiledStep>(std::move(cluster), step, std::move(program), std::move(plan));
}

}  // namespace api
}  // namespace alpa
