#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "alpa/base/error.h"
#include "alpa/hlo/proto_io.h"
#include "alpa/hlo/proto_module.h"
#include "alpa/hlo/proto_shape.h"
#include "alpa/hlo/text.h"
#include "alpa/hlo/text_fields.h"
#include "alpa/hlo/text_module.h"

namespace alpa::hlo {
namespace {

using google::protobuf::FieldDescriptor;
using Proto = pb::HloInstructionProto;

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  pb::HloModuleProto run() {
    lexer_.expect_word("HloModule");
    module_.set_name(lexer_.name("the module's name"));
    while (lexer_.accept(',')) module_attribute();
    while (!lexer_.at_end()) computation();
    if (!has_entry_) lexer_.fail("no computation is marked ENTRY");
    return std::move(module_);
  }

 private:
  void module_attribute() {
    const std::string name(lexer_.word("an attribute"));
    lexer_.expect('=');
    if (name == "always") return parse_always(always_);
    if (name == "input_output_alias" && module_.input_output_alias().entries_size() == 0) return aliases();
    if (name == "computations") lexer_.fail("computations stand on lines of their own");
    parse_field(lexer_, module_, name);
  }

  void parse_always(std::vector<const FieldDescriptor*>& fields) {
    lexer_.expect('{');
    while (!lexer_.accept('}')) {
      const std::string name(lexer_.word("a field"));
      const FieldDescriptor* field = Proto::descriptor()->FindFieldByName(name);
      const bool empty_possible = field != nullptr && !field->is_repeated() &&
                                  (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ||
                                   field->cpp_type() == FieldDescriptor::CPPTYPE_STRING);
      if (!empty_possible || name == "name" || name == "opcode")
        lexer_.fail("\"" + name + "\" is no field that can be empty");
      fields.push_back(field);
      lexer_.accept(',');
    }
  }

  void aliases() {
    lexer_.expect('{');
    if (lexer_.peek() != '{' && lexer_.peek() != '}') {  // by the names of its fields
      while (!lexer_.accept('}')) {
        const std::string name(lexer_.word("a field"));
        lexer_.expect('=');
        parse_field(lexer_, *module_.mutable_input_output_alias(), name);
        lexer_.accept(',');
      }
      return;
    }
    module_.mutable_input_output_alias();
    while (!lexer_.accept('}')) {
      pb::AliasEntryProto* entry = module_.mutable_input_output_alias()->add_entries();
      for (const int64_t k : parse_integers(lexer_, '{', '}')) entry->add_output_shape_index(k);
      lexer_.expect(':');
      lexer_.expect('(');
      entry->set_parameter_number(lexer_.integer());
      lexer_.expect(',');
      for (const int64_t k : parse_integers(lexer_, '{', '}')) entry->add_parameter_shape_index(k);
      lexer_.expect(',');
      entry->set_kind(lexer_.accept_word("must-alias") ? 2 : 1);
      if (entry->kind() == 1) lexer_.expect_word("may-alias");
      lexer_.expect(')');
      lexer_.accept(',');
    }
  }

  void computation() {
    const bool entry = lexer_.accept_word("ENTRY");
    if (entry && has_entry_) lexer_.fail("two computations are marked ENTRY");
    const std::string label = lexer_.name("a computation's name");
    if (computations_.contains(label)) lexer_.fail("two computations are named " + label);
    pb::HloComputationProto& computation = *module_.add_computations();
    if (label[0] != '@') computation.set_name(label);
    lexer_.expect('(');
    while (!lexer_.accept(')')) {
      const std::string name(lexer_.word("an attribute"));
      lexer_.expect('=');
      if (name == "instructions") lexer_.fail("instructions stand on lines of their own");
      parse_field(lexer_, computation, name);
      lexer_.accept(',');
    }
    lexer_.expect('{');
    instructions_.clear();
    next_id_ = text::first_id(computation.id());
    bool has_root = false;
    while (!lexer_.accept('}')) {
      const bool root = lexer_.accept_word("ROOT");
      if (root && has_root) lexer_.fail("two instructions are marked ROOT");
      const int64_t id = instruction(*computation.add_instructions());
      if (root) computation.set_root_id(id);
      has_root |= root;
    }
    if (!has_root) lexer_.fail("no instruction of " + label + " is marked ROOT");
    if (!computation.has_program_shape()) *computation.mutable_program_shape() = derived_program_shape(computation);
    computations_[label] = computation.id();
    if (!entry) return;
    has_entry_ = true;
    module_.set_entry_computation_id(computation.id());
    module_.set_entry_computation_name(computation.name());
    if (!module_.has_host_program_shape()) *module_.mutable_host_program_shape() = derived_program_shape(computation);
  }

  int64_t instruction(Proto& proto) {
    proto.set_name(lexer_.name("an instruction's name"));
    const std::string name = proto.name();
    if (instructions_.contains(name)) lexer_.fail("two instructions are named " + name);
    lexer_.expect('=');
    parse_shape(lexer_, *proto.mutable_shape(), 0);
    proto.set_opcode(lexer_.name("an opcode"));
    lexer_.expect('(');
    arguments(proto);
    proto.set_id(next_id_);
    bool has_id = false;
    std::vector<const FieldDescriptor*> without;
    while (lexer_.accept(',')) {
      const std::string attribute(lexer_.word("an attribute"));
      lexer_.expect('=');
      if (attribute == "id") {
        if (has_id) lexer_.fail("\"id\" is given twice");
        has_id = true;
        proto.set_id(lexer_.integer());
      } else if (attribute == "without") {
        parse_always(without);
      } else {
        instruction_attribute(proto, attribute);
      }
    }
    fill_always(proto, without);
    instructions_[name] = proto.id();
    next_id_ = text::next_id(proto.id());
    return proto.id();
  }

  void fill_always(Proto& proto, const std::vector<const FieldDescriptor*>& without) const {
    for (const FieldDescriptor* field : always_) {
      if (has_field(proto, *field) || std::find(without.begin(), without.end(), field) != without.end()) continue;
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        proto.GetReflection()->MutableMessage(&proto, field);
      } else {
        proto.GetReflection()->SetString(&proto, field, "");
      }
    }
  }

  void arguments(Proto& proto) {
    if (proto.opcode() == "parameter") {
      proto.set_parameter_number(lexer_.integer());
      return lexer_.expect(')');
    }
    if (proto.opcode() == "constant") {
      if (lexer_.peek() != ')') literal(proto);
      return lexer_.expect(')');
    }
    while (!lexer_.accept(')')) {
      proto.add_operand_ids(known_instruction());
      if (lexer_.peek() != ')') lexer_.expect(',');
    }
  }

  int64_t known_instruction() {
    const std::string name = lexer_.name("an instruction's name");
    const auto found = instructions_.find(name);
    if (found == instructions_.end()) lexer_.fail("no instruction " + name + " comes before");
    return found->second;
  }

  int64_t known_computation() {
    const std::string name = lexer_.name("a computation's name");
    const auto found = computations_.find(name);
    if (found == computations_.end()) lexer_.fail("no computation " + name + " comes before");
    return found->second;
  }

  void literal(Proto& proto) {
    tensor::Shape shape;
    try {
      shape = shape_from_proto(proto.shape());
    } catch (const InvalidArgumentError& error) {
      lexer_.fail(error.what());
    }
    if (!shape.is_array() || tensor::bit_width(shape.dtype) < 8 || tensor::num_elements(shape) > text::kMaxElements ||
        tensor::is_complex(shape.dtype)) {
      lexer_.fail("a constant of this shape has its value in an attribute");
    }
    tensor::Literal value(shape);
    const bool scalar = shape.rank() == 0;
    if (!scalar) lexer_.expect('{');
    for (int64_t k = 0; k < tensor::num_elements(shape); ++k) {
      element(value, k);
      if (k + 1 < tensor::num_elements(shape)) lexer_.expect(',');
    }
    if (!scalar) lexer_.expect('}');
    try {
      *proto.mutable_literal() = text::literal_of(value, proto.shape());
    } catch (const UnsupportedError& error) {
      lexer_.fail(error.what());
    }
  }

  void element(tensor::Literal& value, int64_t index) {
    const tensor::DType dtype = value.shape().dtype;
    if (dtype == tensor::DType::kPred) return value.set(index, lexer_.boolean());
    if (dtype == tensor::DType::kS64 || dtype == tensor::DType::kU64) {
      const uint64_t bits =
          dtype == tensor::DType::kU64 ? lexer_.unsigned_integer() : static_cast<uint64_t>(lexer_.integer());
      std::memcpy(value.mutable_bytes().data() + 8 * index, &bits, 8);
      return;
    }
    if (tensor::is_integral(dtype)) {
      const int64_t number = lexer_.integer();
      const int bits = tensor::bit_width(dtype);
      const bool is_signed = tensor::name(dtype)[0] == 's';
      const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
      const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
      if (number < low || number > high)
        lexer_.fail(fmt::format("{} is out of range for {}", number, tensor::name(dtype)));
      return value.set(index, static_cast<double>(number));
    }
    try {
      value.set(index, lexer_.number());
    } catch (const UnsupportedError& error) {
      lexer_.fail(error.what());
    }
  }

  void instruction_attribute(Proto& proto, const std::string& name) {
    if (text::is_callee_name(name)) return called(proto, name == "called_computations");
    if (name == "control_predecessors") {
      lexer_.expect('{');
      while (!lexer_.accept('}')) {
        proto.add_control_predecessor_ids(known_instruction());
        lexer_.accept(',');
      }
      return;
    }
    if (name == "slice") return slices(proto);
    if (name == "dim_labels") return dim_labels(proto);
    if (name == "padding") return padding(*proto.mutable_padding_config());
    if (name == "literal" && lexer_.accept_word("base64")) {
      if (!proto.mutable_literal()->ParseFromString(lexer_.base64()))
        lexer_.fail("the string is no serialized literal");
      return;
    }
    for (const text::DotList& list : text::kDotLists) {
      if (name != list.name) continue;
      for (const int64_t dim : parse_integers(lexer_, '{', '}'))
        (proto.mutable_dot_dimension_numbers()->*list.field)()->Add(dim);
      return;
    }
    for (const text::Alias& alias : text::kAliases) {
      if (name != alias.name) continue;
      if (alias.field == "comparison_direction") return proto.set_comparison_direction(lexer_.name("a direction"));
      return parse_field(lexer_, proto, alias.field);
    }
    static constexpr std::array kOwnPlace = {
        "name", "opcode", "shape", "operand_ids", "control_predecessor_ids", "called_computation_ids"};
    if (std::find(kOwnPlace.begin(), kOwnPlace.end(), name) != kOwnPlace.end())
      lexer_.fail("\"" + name + "\" is no attribute");
    parse_field(lexer_, proto, name);
  }

  void called(Proto& proto, bool list) {
    if (!list) return proto.add_called_computation_ids(known_computation());
    lexer_.expect('{');
    while (!lexer_.accept('}')) {
      proto.add_called_computation_ids(known_computation());
      lexer_.accept(',');
    }
  }

  void dim_labels(Proto& proto) {
    if (proto.has_convolution_dimension_numbers()) lexer_.fail("\"dim_labels\" is given twice");
    parse_convolution(lexer_, *proto.mutable_convolution_dimension_numbers());
  }

  void slices(Proto& proto) {
    lexer_.expect('{');
    while (!lexer_.accept('}')) {
      pb::SliceDimensions* dim = proto.add_slice_dimensions();
      lexer_.expect('[');
      dim->set_start(lexer_.integer());
      lexer_.expect(':');
      dim->set_limit(lexer_.integer());
      dim->set_stride(lexer_.accept(':') ? lexer_.integer() : 1);
      lexer_.expect(']');
      lexer_.accept(',');
    }
  }

  void padding(pb::PaddingConfig& padding) {
    lexer_.expect('{');
    while (!lexer_.accept('}')) {
      pb::PaddingConfigDimension* dim = padding.add_dimensions();
      const std::vector<int64_t> numbers = parse_integers(lexer_, '[', ']');
      if (numbers.size() != 3) lexer_.fail("expected [low,high,interior]");
      dim->set_edge_padding_low(numbers[0]);
      dim->set_edge_padding_high(numbers[1]);
      dim->set_interior_padding(numbers[2]);
      lexer_.accept(',');
    }
  }

  Lexer lexer_;
  pb::HloModuleProto module_;
  bool has_entry_ = false;
  std::vector<const FieldDescriptor*> always_;
  std::unordered_map<std::string, int64_t> computations_;
  std::unordered_map<std::string, int64_t> instructions_;  ///< Of the computation being read.
  int64_t next_id_ = 0;
};

}  // namespace

// Through its bytes: what the wire form demands (depth of nesting) is checked where files are read.
Module parse_text(std::string_view text) { return read_module(Parser(text).run().SerializeAsString()); }

}  // namespace alpa::hlo
