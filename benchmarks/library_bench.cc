// What the C++ library itself costs: tracing and lowering of a deep model, and a cached call beside the bare
// executable.
//
//   library_bench --benchmark_out=FILE --benchmark_out_format=json

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "alpa/alpa.h"
#include "alpa/frontend/lower.h"
#include "alpa/runtime/mesh_executable.h"
#include "models/gpt.h"

namespace {

using namespace alpa;
/// Microseconds of work, on the clock and of this thread alone: the devices' threads share its cores.
struct Spent {
  double wall = 0, thread = 0;
};

class Watch {
 public:
  Spent spent() const {
    const double thread = thread_now() - thread_;
    return {std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - wall_).count(), thread};
  }

 private:
  static double thread_now() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
  }
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double thread_ = thread_now();
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

struct Text {
  Array tokens, labels;
  ALPA_PYTREE(tokens, labels)
};

/// A whole training step (loss, gradients, clipping, AdamW) of a GPT with 24 blocks, from C++ to HLO.
void trace_and_lower_gpt(benchmark::State& state) {
  models::GptConfig config{.vocabulary = 51200, .sequence = 1024, .hidden = 2048, .layers = 24, .heads = 16};
  const auto optimizer =
      optim::chain(optim::clip_by_global_norm(1.0), optim::adamw({.learning_rate = 1e-3, .weight_decay = 0.01}));
  const auto train = optim::create_train_state(optimizer, models::init_gpt(random::key(0), config));
  const Array tokens = zeros({8, config.sequence}, DType::kS32);
  const auto arguments = std::tuple(train, Text{tokens, tokens});
  std::vector<Shape> shapes;
  for (const Array& array : tree_leaves(arguments)) shapes.push_back(array.shape());
  int64_t instructions = 0;
  for (auto _ : state) {
    const auto closure = frontend::trace("step", shapes, [&](const std::vector<Array>& inputs) {
      const auto call = tree_rebuild(arguments, inputs);
      const auto& before = std::get<0>(call);
      const auto& text = std::get<1>(call);
      const auto [loss, gradients] = value_and_grad(
          [&](const models::Gpt& gpt) { return models::gpt_loss(gpt, text.tokens, text.labels); })(before.params);
      return tree_leaves(std::pair(before.apply_gradients(optimizer, gradients), loss));
    });
    const hlo::Module module = frontend::lower(*closure.function, "step", {});
    instructions = static_cast<int64_t>(module.entry_computation().size());
    benchmark::DoNotOptimize(instructions);
  }
  state.counters["entry_instructions"] = static_cast<double>(instructions);
}
BENCHMARK(trace_and_lower_gpt)->Unit(benchmark::kMillisecond);

struct Weights {
  std::vector<Array> values, momenta;
  ALPA_STATE(values, momenta)
};

constexpr int64_t kArrays = 500;

Weights first_weights() {
  Weights weights;
  for (int64_t k = 0; k < kArrays / 2; ++k) {
    weights.values.push_back(ones({8, 8}));
    weights.momenta.push_back(zeros({8, 8}));
  }
  return weights;
}

Weights momentum_step(Weights weights) {
  for (size_t k = 0; k < weights.values.size(); ++k) {
    weights.momenta[k] = weights.momenta[k] * 0.9 + weights.values[k];
    weights.values[k] = weights.values[k] - weights.momenta[k] * 0.01;
  }
  return weights;
}

using Placed = std::vector<std::shared_ptr<runtime::DistributedArray>>;

/// One step by the executable alone: what the launch takes, which ends the arguments. `arrays` become the results.
Spent launch_bare(runtime::MeshExecutable& executable, Placed& arrays) {
  std::vector<runtime::DistributedArray*> arguments;
  for (const auto& array : arrays) arguments.push_back(array.get());
  std::vector<pjrt::Event> events;
  const Watch watch;
  arrays = executable.launch(arguments, events);
  const Spent taken = watch.spent();
  for (const pjrt::Event& event : events) event.await();
  return taken;
}

Placed placed_of(const Weights& weights) {
  Placed placed;
  for (const Array& array : tree_leaves(weights))
    placed.push_back(std::dynamic_pointer_cast<runtime::DistributedArray>(array.value()));
  return placed;
}

/// `like` with other arrays.
Weights weights_of(const Weights& like, const Placed& placed) {
  size_t next = 0;
  return tree_map(like, [&](const Array&) {
    const auto& value = placed[next++];
    return value == nullptr ? Array() : Array(value);
  });
}

/// A call of a parallelized function on a state of 500 arrays, from the arguments to the results, beside the bare
/// launch of the same executable on the same flat list: by turns, each waited for. Counters are medians in
/// microseconds; the overhead is counted in time of the calling thread, whose cores the devices' threads share.
void cached_call(benchmark::State& state) {
  init("local", {.num_devices = static_cast<int>(state.range(0))});
  {
    const auto step = parallelize(momentum_step);
    Weights weights = step(first_weights());
    const auto executable = step.get_last_executable();
    std::vector<double> calls, launches, overheads, overheads_on_the_clock;
    for (auto _ : state) {
      executable->sync();
      benchmark::DoNotOptimize(placed_of(weights));  // handles in the cache, as before the bare launch
      const Watch watch;
      weights = step(std::move(weights));
      const Spent call = watch.spent();
      executable->sync();
      Placed placed = placed_of(weights);
      weights = weights_of(weights, Placed(placed.size()));
      const Spent launch = launch_bare(executable->mesh_executable(), placed);
      weights = weights_of(weights, placed);
      calls.push_back(call.wall);
      launches.push_back(launch.wall);
      overheads.push_back(call.thread - launch.thread);
      overheads_on_the_clock.push_back(call.wall - launch.wall);
      state.SetIterationTime(call.wall * 1e-6);
    }
    state.counters["call_us"] = median(calls);
    state.counters["launch_us"] = median(launches);
    state.counters["overhead_us"] = median(overheads);
    state.counters["overhead_wall_us"] = median(overheads_on_the_clock);
  }
  shutdown();
}
BENCHMARK(cached_call)->Arg(1)->Arg(8)->UseManualTime()->Iterations(2000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
