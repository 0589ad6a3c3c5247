#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "alpa/frontend/array.h"

namespace alpa::frontend {

class Lowering;
struct Node;
struct Trace;

/// What a derivative rule is given. An empty Array among the cotangents stands for zero.
struct VjpArguments {
  const std::vector<Array>& inputs;
  const std::vector<Array>& outputs;
  const std::vector<Array>& cotangents;
  const std::vector<bool>& wanted;  ///< Which inputs need a cotangent.

  const Array& cotangent() const { return cotangents[0]; }
};

/// Empty Arrays among the tangents stand for zeros.
struct JvpArguments {
  const std::vector<Array>& inputs;
  const std::vector<Array>& outputs;
  const std::vector<Array>& tangents;
};

/// What the linearization of an operation gives: its outputs made anew, with whatever the pullback needs kept.
struct Linearized {
  std::vector<Array> outputs;
  std::function<std::vector<Array>(const std::vector<Array>& cotangents)> pullback;
};

/// What an operation's or a graph's outputs are and how they change.
struct Forward {
  std::vector<Array> outputs;
  std::vector<Array> tangents;  ///< Empty Arrays for zero.
};

/// An operation: everything the library knows about it but its shape rule, which the function that makes it applies.
struct Primitive {
  std::string name;
  /// Instruction ids of the outputs, from those of the inputs.
  std::function<std::vector<int32_t>(Lowering&, const Node&, const std::vector<int32_t>& operands)> lower;
  /// Cotangents of the inputs; empty Arrays for zero. Null: not differentiable.
  std::function<std::vector<Array>(const VjpArguments&)> vjp = nullptr;
  /// Tangents of the outputs; null: the vjp is transposed.
  std::function<std::vector<Array>(const JvpArguments&)> jvp = nullptr;
  /// Instead of `vjp`, for operations whose forward form must keep values for the backward one.
  std::function<Linearized(const Node&, const std::vector<Array>& inputs, const std::vector<bool>& wanted)> linearize =
      nullptr;
  /// Instead of `jvp`, for operations that are recorded anew with their tangents.
  std::function<Forward(const Node&, const std::vector<Array>& inputs, const std::vector<Array>& tangents)> push =
      nullptr;
  /// Instead of all derivatives: why there is none (an error that says what to do).
  std::string not_differentiable = {};
  /// Which inputs are needed for the outputs that are used; null: all. Who has it lowers only what is used.
  std::function<std::vector<bool>(const Node&, const std::vector<bool>& used)> needs = nullptr;
};

/// One recorded operation, or a leaf: a value, or a parameter of a trace. Nodes form a graph without cycles.
struct Node {
  std::shared_ptr<const Primitive> primitive;  ///< Null: a leaf.
  std::vector<Array> inputs;
  std::vector<Shape> shapes;  ///< Of the outputs.
  bool weak = false;
  long double number = 0;  ///< Holds all 64-bit integers. Of a weak scalar leaf: what the caller wrote, exactly.
  std::shared_ptr<const Trace> trace;                        ///< Null: outside all traces.
  uint64_t sequence = 0;                                     ///< Greater than that of every input.
  std::vector<std::shared_ptr<tensor::PlacedValue>> values;  ///< Of the outputs, once computed; empty until then.
  tensor::PlacedValue* owner = nullptr;                      ///< Of a value's leaf: the value, which holds the node.
  Where where;
  std::string scope;  ///< Path of name_scope, "h00/attention".

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// True if the values of the outputs are there.
  bool is_known() const { return owner != nullptr || !values.empty(); }
  const tensor::PlacedValue& value(int output) const {
    return owner != nullptr ? *owner : *values[static_cast<size_t>(output)];
  }
  ~Node();  ///< Without recursion: chains are long.
};

/// True for what was made from a C++ number.
inline bool is_number(const Node& node) { return node.primitive == nullptr && node.weak && node.is_known(); }

/// A leaf for a scalar of weak type.
std::shared_ptr<Node> number_node(long double number, DType dtype);

/// Records an operation in the innermost trace, or outside all traces for later evaluation. `weak` if the result is of
/// weak type. Errors: InvalidArgumentError if an input is of a trace that has ended.
std::vector<Array> emit(std::shared_ptr<const Primitive> primitive, std::vector<Array> inputs,
                        std::vector<Shape> shapes, Where where, bool weak = false);
Array emit_one(Primitive primitive, std::vector<Array> inputs, Shape shape, Where where, bool weak = false);
Array emit_one(const std::shared_ptr<const Primitive>& primitive, std::vector<Array> inputs, Shape shape, Where where,
               bool weak = false);

/// An identity, for the transforms: what is differentiated is the use of this very array.
Array alias(const Array& array);

/// "file.cc:12".
std::string to_string(const Where& where);

}  // namespace alpa::frontend
