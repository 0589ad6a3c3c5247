#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/pjrt/buffer.h"
#include "alpa/pjrt/client.h"
#include "alpa/pjrt/compile_options.h"
#include "alpa/pjrt/event.h"
#include "alpa/tensor/shape.h"

namespace alpa::pjrt {

/// What the bytes of a program are.
enum class Format {
  kHlo,   ///< A serialized HloModuleProto.
  kMlir,  ///< StableHLO: text, bytecode or a portable artifact.
};

/// Bytes that an executable needs on one device, as its compiler counts them.
struct ExecutableMemoryStats {
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;
  int64_t alias_bytes = 0;  ///< Of the arguments that outputs reuse.
  int64_t temp_bytes = 0;
  int64_t generated_code_bytes = 0;
};

/// A program as a plug-in hands it out.
struct ProgramBytes {
  std::string format;  ///< "hlo": HloModuleProto; "hlo_with_config": HloModuleProtoWithConfig (field 1 is the module).
  std::string bytes;
};

struct ExecuteOptions {
  /// Parameters whose buffers must survive although the program would reuse them.
  std::span<const int64_t> non_donatable = {};
  /// Numbers the launches of a multi-process program, the same in all processes; 0 is not checked.
  int launch_id = 0;
  /// False spares the events; the outputs' own events then tell of errors.
  bool want_events = true;
};

/// By device, in the order of the executable's devices.
struct ExecuteResult {
  std::vector<std::vector<Buffer>> outputs = {};
  std::vector<Event> events = {};  ///< Ready when all work of the device is done.
};

/// A compiled program on the devices that it was compiled for. Moves only. Calls of `execute` on one executable take
/// turns; runs on the same device happen in the order of the calls.
class Executable {
 public:
  /// Errors: InvalidArgumentError or PluginError with the compiler's text; OutOfMemoryError.
  static Executable compile(const Client& client, std::string_view program, Format format,
                            const CompileOptions& options = {});

  ~Executable();
  Executable(Executable&& other) noexcept;
  Executable& operator=(Executable&& other) noexcept;

  /// Enqueues one run and returns without waiting for it (a small program on one CPU device may have run by then).
  /// `arguments[d][i]` is parameter i on device d of `devices()`. A buffer that the program reuses for an output is
  /// deleted by this (`Buffer::is_deleted`).
  /// Errors: InvalidArgumentError if the lists do not match the devices or each other; the plug-in's if it refuses an
  /// argument or finds no memory; what happens later comes with the events.
  ExecuteResult execute(std::span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options = {});

  /// The same into `result`, whose vectors are reused: with them a step loop allocates nothing here. `arguments` may
  /// point to buffers of `result.outputs`; they are replaced in place, so the pointers hold for the next step too.
  void execute_into(std::span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options,
                    ExecuteResult& result);

  const std::string& name() const;
  int num_replicas() const;
  int num_partitions() const;
  int num_outputs() const;
  /// The devices of this process that it runs on, by index in `Client::devices()`.
  std::span<const int> devices() const;
  /// Shapes of the outputs on one device.
  std::span<const tensor::Shape> output_shapes() const;

  /// Empty if the plug-in does not say.
  std::optional<ExecutableMemoryStats> memory_stats() const;
  /// XLA's estimate by name ("flops", "bytes accessed"); empty if the plug-in offers none.
  std::map<std::string, double> cost_analysis() const;
  /// The program after all passes of the compiler.
  /// Errors: PluginError if the plug-in does not hand it out.
  ProgramBytes optimized_program() const;
  /// Equal for equal executables; empty if the plug-in offers none.
  std::string fingerprint() const;

  const Client& client() const;

 private:
  struct State;
  explicit Executable(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace alpa::pjrt
