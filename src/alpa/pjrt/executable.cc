#include "alpa/pjrt/executable.h"

#include <mutex>

#include "alpa/base/error.h"
#include "alpa/pjrt/c_api.h"

namespace alpa::pjrt {

struct Executable::State {
  explicit State(Client owner) : client(std::move(owner)), api(client.state()->api) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void describe();
  void read_devices();
  void read_outputs();
  void lay_out(std::span<const std::vector<Buffer*>> arguments);

  Client client;
  const PJRT_Api* api;
  PJRT_LoadedExecutable* loaded = nullptr;
  PJRT_Executable* executable = nullptr;
  std::string name;
  int num_replicas = 1;
  int num_partitions = 1;
  std::vector<int> devices;
  std::vector<tensor::Shape> outputs;

  // Lists for the C border, kept from one run to the next; `turn` guards them.
  std::mutex turn;
  std::vector<PJRT_Buffer*> argument_handles;
  std::vector<PJRT_Buffer* const*> argument_lists;
  std::vector<PJRT_Buffer*> output_handles;
  std::vector<PJRT_Buffer**> output_lists;
  std::vector<PJRT_Event*> event_handles;
};

Executable::State::~State() {
  if (executable != nullptr) {
    ALPA_PJRT_ARGS(PJRT_Executable_Destroy_Args, args);
    args.executable = executable;
    ignore(api, api->PJRT_Executable_Destroy(&args));
  }
  if (loaded != nullptr) {
    ALPA_PJRT_ARGS(PJRT_LoadedExecutable_Destroy_Args, args);
    args.executable = loaded;
    ignore(api, api->PJRT_LoadedExecutable_Destroy(&args));
  }
}

void Executable::State::read_devices() {
  ALPA_PJRT_ARGS(PJRT_LoadedExecutable_AddressableDevices_Args, args);
  args.executable = loaded;
  ALPA_PJRT_CALL(api, PJRT_LoadedExecutable_AddressableDevices, &args);
  for (size_t i = 0; i < args.num_addressable_devices; ++i) {
    for (const Device& device : client.devices()) {
      if (raw(device.handle()) == args.addressable_devices[i]) devices.push_back(device.index());
    }
  }
}

void Executable::State::read_outputs() {
  ALPA_PJRT_ARGS(PJRT_Executable_NumOutputs_Args, count);
  count.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_NumOutputs, &count);
  ALPA_PJRT_ARGS(PJRT_Executable_OutputElementTypes_Args, types);
  types.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_OutputElementTypes, &types);
  ALPA_PJRT_ARGS(PJRT_Executable_OutputDimensions_Args, dims);
  dims.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_OutputDimensions, &dims);
  require<PluginError>(types.num_output_types == count.num_outputs && dims.num_outputs == count.num_outputs, "compile",
                       "the plug-in describes {} types and {} sizes for {} outputs", types.num_output_types,
                       dims.num_outputs, count.num_outputs);
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < count.num_outputs; ++i) {
    outputs.emplace_back(from_buffer_type(types.output_types[i]), std::vector<int64_t>(next, next + dims.dim_sizes[i]));
    next += dims.dim_sizes[i];
  }
}

void Executable::State::describe() {
  ALPA_PJRT_ARGS(PJRT_LoadedExecutable_GetExecutable_Args, get);
  get.loaded_executable = loaded;
  ALPA_PJRT_CALL(api, PJRT_LoadedExecutable_GetExecutable, &get);
  executable = get.executable;
  ALPA_PJRT_ARGS(PJRT_Executable_Name_Args, named);
  named.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_Name, &named);
  name = text(named.executable_name, named.executable_name_size);
  ALPA_PJRT_ARGS(PJRT_Executable_NumReplicas_Args, replicas);
  replicas.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_NumReplicas, &replicas);
  num_replicas = static_cast<int>(replicas.num_replicas);
  ALPA_PJRT_ARGS(PJRT_Executable_NumPartitions_Args, partitions);
  partitions.executable = executable;
  ALPA_PJRT_CALL(api, PJRT_Executable_NumPartitions, &partitions);
  num_partitions = static_cast<int>(partitions.num_partitions);
  read_devices();
  read_outputs();
}

Executable::Executable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executable::~Executable() = default;
Executable::Executable(Executable&& other) noexcept = default;
Executable& Executable::operator=(Executable&& other) noexcept = default;

Executable Executable::compile(const Client& client, std::string_view program, Format format,
                               const CompileOptions& options) {
  auto state = std::make_unique<State>(client);
  const std::string encoded = encode_compile_options(options, client.platform_name());
  const std::string_view format_name = format == Format::kHlo ? "hlo" : "mlir";
  ALPA_PJRT_ARGS(PJRT_Program, source);
  source.code = const_cast<char*>(program.data());  // The border has one struct for reading and writing; this is read.
  source.code_size = program.size();
  source.format = format_name.data();
  source.format_size = format_name.size();
  ALPA_PJRT_ARGS(PJRT_Client_Compile_Args, args);
  args.client = client.state()->client;
  args.program = &source;
  args.compile_options = encoded.data();
  args.compile_options_size = encoded.size();
  ALPA_PJRT_CALL(state->api, PJRT_Client_Compile, &args);
  state->loaded = args.executable;
  state->describe();
  return Executable(std::move(state));
}

void Executable::State::lay_out(std::span<const std::vector<Buffer*>> arguments) {
  require<InvalidArgumentError>(arguments.size() == devices.size(), "execute",
                                "{}: {} argument lists for {} devices: give one for each device", name,
                                arguments.size(), devices.size());
  const size_t count = arguments.empty() ? 0 : arguments[0].size();
  argument_handles.resize(devices.size() * count);
  argument_lists.resize(devices.size());
  output_handles.assign(devices.size() * outputs.size(), nullptr);
  output_lists.resize(devices.size());
  event_handles.assign(devices.size(), nullptr);
  for (size_t d = 0; d < devices.size(); ++d) {
    require<InvalidArgumentError>(arguments[d].size() == count, "execute",
                                  "{}: {} arguments on device {}, {} on the first", name, arguments[d].size(), d,
                                  count);
    argument_lists[d] = argument_handles.data() + d * count;
    output_lists[d] = output_handles.data() + d * outputs.size();
    for (size_t i = 0; i < count; ++i) {
      const Buffer* buffer = arguments[d][i];
      require<InvalidArgumentError>(buffer != nullptr && buffer->valid(), "execute",
                                    "{}: argument {} on device {} is empty", name, i, d);
      argument_handles[d * count + i] = raw(buffer->handle());
    }
  }
}

void Executable::execute_into(std::span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options,
                              ExecuteResult& result) {
  State& state = *state_;
  const std::lock_guard<std::mutex> lock(state.turn);
  state.lay_out(arguments);
  ALPA_PJRT_ARGS(PJRT_ExecuteOptions, how);
  how.launch_id = options.launch_id;
  how.non_donatable_input_indices = options.non_donatable.data();
  how.num_non_donatable_input_indices = options.non_donatable.size();
  ALPA_PJRT_ARGS(PJRT_LoadedExecutable_Execute_Args, args);
  args.executable = state.loaded;
  args.options = &how;
  args.argument_lists = state.argument_lists.data();
  args.num_devices = state.devices.size();
  args.num_args = arguments.empty() ? 0 : arguments[0].size();
  args.output_lists = state.output_lists.data();
  args.device_complete_events = options.want_events ? state.event_handles.data() : nullptr;
  ALPA_PJRT_CALL(state.api, PJRT_LoadedExecutable_Execute, &args);
  const size_t num_outputs = state.outputs.size();
  const std::shared_ptr<const ClientState>& client = state.client.state();
  result.outputs.resize(state.devices.size());
  result.events.resize(options.want_events ? state.devices.size() : 0);
  for (size_t d = 0; d < state.devices.size(); ++d) {
    result.outputs[d].resize(num_outputs);
    for (size_t i = 0; i < num_outputs; ++i) {
      result.outputs[d][i] = Buffer(client, opaque(state.output_handles[d * num_outputs + i]));
    }
    if (options.want_events) result.events[d] = Event(opaque(state.api), opaque(state.event_handles[d]));
  }
}

ExecuteResult Executable::execute(std::span<const std::vector<Buffer*>> arguments, const ExecuteOptions& options) {
  ExecuteResult result;
  execute_into(arguments, options, result);
  return result;
}

const std::string& Executable::name() const { return state_->name; }
int Executable::num_replicas() const { return state_->num_replicas; }
int Executable::num_partitions() const { return state_->num_partitions; }
int Executable::num_outputs() const { return static_cast<int>(state_->outputs.size()); }
std::span<const int> Executable::devices() const { return state_->devices; }
std::span<const tensor::Shape> Executable::output_shapes() const { return state_->outputs; }
const Client& Executable::client() const { return state_->client; }

std::optional<ExecutableMemoryStats> Executable::memory_stats() const {
  const PJRT_Api* api = state_->api;
  if (!ALPA_PJRT_HAS(api, PJRT_Executable_GetCompiledMemoryStats)) return std::nullopt;
  ALPA_PJRT_ARGS(PJRT_Executable_GetCompiledMemoryStats_Args, args);
  args.executable = state_->executable;
  if (PJRT_Error* error = api->PJRT_Executable_GetCompiledMemoryStats(&args); error != nullptr) {
    ignore(api, error);
    return std::nullopt;
  }
  return ExecutableMemoryStats{.argument_bytes = args.argument_size_in_bytes,
                               .output_bytes = args.output_size_in_bytes,
                               .alias_bytes = args.alias_size_in_bytes,
                               .temp_bytes = args.temp_size_in_bytes,
                               .generated_code_bytes = args.generated_code_size_in_bytes};
}

std::map<std::string, double> Executable::cost_analysis() const {
  const PJRT_Api* api = state_->api;
  if (!ALPA_PJRT_HAS(api, PJRT_Executable_GetCostAnalysis)) return {};
  ALPA_PJRT_ARGS(PJRT_Executable_GetCostAnalysis_Args, args);
  args.executable = state_->executable;
  if (PJRT_Error* error = api->PJRT_Executable_GetCostAnalysis(&args); error != nullptr) {
    ignore(api, error);
    return {};
  }
  std::map<std::string, double> costs;
  for (size_t i = 0; i < args.num_properties; ++i) {
    const PJRT_NamedValue& value = args.properties[i];
    const std::string key(text(value.name, value.name_size));
    if (value.type == PJRT_NamedValue_kFloat) costs[key] = value.float_value;
    if (value.type == PJRT_NamedValue_kInt64) costs[key] = static_cast<double>(value.int64_value);
  }
  return costs;
}

ProgramBytes Executable::optimized_program() const {
  ALPA_PJRT_ARGS(PJRT_Program, program);
  ALPA_PJRT_ARGS(PJRT_Executable_OptimizedProgram_Args, args);
  args.executable = state_->executable;
  args.program = &program;
  ALPA_PJRT_CALL(state_->api, PJRT_Executable_OptimizedProgram, &args);  // Tells the size alone.
  ProgramBytes result;
  result.bytes.resize(program.code_size);
  program.code = result.bytes.data();
  ALPA_PJRT_CALL(state_->api, PJRT_Executable_OptimizedProgram, &args);
  result.format = text(program.format, program.format_size);
  return result;
}

std::string Executable::fingerprint() const {
  const PJRT_Api* api = state_->api;
  if (!ALPA_PJRT_HAS(api, PJRT_Executable_Fingerprint)) return "";
  ALPA_PJRT_ARGS(PJRT_Executable_Fingerprint_Args, args);
  args.executable = state_->executable;
  if (PJRT_Error* error = api->PJRT_Executable_Fingerprint(&args); error != nullptr) {
    ignore(api, error);
    return "";
  }
  return std::string(text(args.executable_fingerprint, args.executable_fingerprint_size));
}

}  // namespace alpa::pjrt
