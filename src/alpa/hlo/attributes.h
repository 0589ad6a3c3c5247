#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alpa/hlo/module.h"
#include "alpa/sharding/op_sharding.h"
#include "alpa/tensor/literal.h"

/// Typed views of an instruction's attributes. Each reads the proto at every call: keep the result.
namespace alpa::hlo {

struct DotDims {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
};
/// Of a dot, or the dot part of a ragged-dot.
DotDims dot_dims(const Instruction& instruction);

struct WindowDim {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0, window_dilation = 1, base_dilation = 1;
  bool reversal = false;
  /// True if it leaves its dim as it is: element i of the result depends on element i alone.
  bool is_trivial() const;
};
std::vector<WindowDim> window(const Instruction& instruction);

struct ConvolutionDims {
  int64_t input_batch = 0, input_feature = 0, kernel_input_feature = 0, kernel_output_feature = 0, output_batch = 0,
          output_feature = 0;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
  int64_t feature_groups = 1, batch_groups = 1;
};
ConvolutionDims convolution_dims(const Instruction& instruction);

struct GatherDims {
  std::vector<int64_t> offset, collapsed, start_index_map, operand_batching, indices_batching, slice_sizes;
  int64_t index_vector_dim = 0;
};
GatherDims gather_dims(const Instruction& instruction);

struct ScatterDims {
  std::vector<int64_t> update_window, inserted_window, scatter_to_operand, input_batching, indices_batching;
  int64_t index_vector_dim = 0;
};
ScatterDims scatter_dims(const Instruction& instruction);

struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
};
std::vector<SliceDim> slice_dims(const Instruction& instruction);

struct PadDim {
  int64_t low = 0, high = 0, interior = 0;
};
std::vector<PadDim> pad_dims(const Instruction& instruction);

/// `dimensions` of broadcast, transpose, reduce, iota, concatenate, reverse, sort, all-gather, all-to-all, ...
std::vector<int64_t> dimensions(const Instruction& instruction);

int64_t parameter_number(const Instruction& instruction);
int64_t tuple_index(const Instruction& instruction);
std::string comparison_direction(const Instruction& instruction);
std::string custom_call_target(const Instruction& instruction);
std::string backend_config(const Instruction& instruction);
/// Path of the value in the user's program, "jit(step)/dot_general"; a parameter's name.
std::string op_name(const Instruction& instruction);

/// A text that a front end attached; empty if there is none of that name.
std::string frontend_attribute(const Instruction& instruction, std::string_view key);

/// The value of a constant; nothing for tuples, tokens and element types below 8 bits.
std::optional<tensor::Literal> constant_value(const Instruction& instruction);
/// The value of an integer or predicate scalar constant.
std::optional<int64_t> integer_constant(const Instruction& instruction);

std::optional<sharding::OpSharding> sharding(const Instruction& instruction);

/// Devices that take part in each instance of a collective: size of one group. `num_devices` stands for "all".
int64_t group_size(const Instruction& instruction, int64_t num_devices);

/// Text that is equal for instructions that do the same to arrays of the same shapes: opcode and attributes, without
/// name, metadata, sharding and the result's shape; of reducers and comparators their instructions, wiring and root.
std::string signature(const Module& module, const Computation& computation, const Instruction& instruction);

struct Alias {
  int64_t output = 0;  ///< Index into the root tuple; 0 for a root that is an array.
  int64_t parameter = 0;
};
/// Donated parameters that share memory with outputs. Errors: UnsupportedError for nested indices.
std::vector<Alias> input_output_aliases(const Module& module);
/// Parameters that are donated to whichever output may take their memory.
std::vector<int64_t> buffer_donors(const Module& module);

}  // namespace alpa::hlo
