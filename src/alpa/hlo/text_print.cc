#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "alpa/base/error.h"
#include "alpa/hlo/proto_literal.h"
#include "alpa/hlo/proto_module.h"
#include "alpa/hlo/proto_shape.h"
#include "alpa/hlo/text.h"
#include "alpa/hlo/text_fields.h"
#include "alpa/hlo/text_module.h"

namespace alpa::hlo {
namespace text {

pb::LiteralProto literal_of(const tensor::Literal& literal, const pb::ShapeProto& shape) {
  pb::LiteralProto proto = literal_to_proto(literal);
  *proto.mutable_shape() = shape;
  return proto;
}

}  // namespace text

namespace {

using google::protobuf::FieldDescriptor;
using Proto = pb::HloInstructionProto;

std::string print_element(const tensor::Literal& literal, int64_t index) {
  const tensor::DType dtype = literal.shape().dtype;
  if (dtype == tensor::DType::kPred) return literal.at(index) != 0 ? "true" : "false";
  if (dtype == tensor::DType::kS64 || dtype == tensor::DType::kU64) {
    uint64_t value;
    std::memcpy(&value, literal.bytes().data() + 8 * index, 8);
    return dtype == tensor::DType::kU64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<int64_t>(value));
  }
  if (tensor::is_integral(dtype)) return fmt::format("{}", static_cast<int64_t>(literal.at(index)));
  if (dtype == tensor::DType::kF64) return fmt::format("{}", literal.at(index));
  return fmt::format("{}", static_cast<float>(literal.at(index)));
}

// "3" or "{1, 2}"; nothing for constants that cannot be written so.
std::optional<std::string> print_literal(const Proto& proto) {
  const auto literal = literal_from_proto(proto.literal(), shape_from_proto(proto.shape()));
  if (!literal || tensor::num_elements(literal->shape()) > text::kMaxElements ||
      tensor::is_complex(literal->shape().dtype))
    return std::nullopt;
  if (text::literal_of(*literal, proto.shape()).SerializeAsString() != proto.literal().SerializeAsString())
    return std::nullopt;
  std::vector<std::string> elements;
  for (int64_t k = 0; k < tensor::num_elements(literal->shape()); ++k) {
    elements.push_back(print_element(*literal, k));
    if (elements.back().find("nan") != std::string::npos) return std::nullopt;
  }
  return literal->shape().rank() == 0 ? elements[0] : fmt::format("{{{}}}", fmt::join(elements, ", "));
}

std::optional<std::string> print_slices(const Proto& proto) {
  std::vector<std::string> dims;
  for (const pb::SliceDimensions& dim : proto.slice_dimensions()) {
    if (has_unknown_fields(dim)) return std::nullopt;
    dims.push_back(
        fmt::format("[{}:{}{}]", dim.start(), dim.limit(), dim.stride() == 1 ? "" : fmt::format(":{}", dim.stride())));
  }
  if (dims.empty()) return std::nullopt;
  return fmt::format("{{{}}}", fmt::join(dims, ", "));
}

std::optional<std::string> print_padding(const pb::PaddingConfig& padding) {
  std::vector<std::string> dims;
  if (has_unknown_fields(padding)) return std::nullopt;
  for (const pb::PaddingConfigDimension& dim : padding.dimensions()) {
    if (has_unknown_fields(dim)) return std::nullopt;
    dims.push_back(fmt::format("[{},{},{}]", dim.edge_padding_low(), dim.edge_padding_high(), dim.interior_padding()));
  }
  if (dims.empty()) return std::nullopt;
  return fmt::format("{{{}}}", fmt::join(dims, ", "));
}

class Printer {
 public:
  explicit Printer(const pb::HloModuleProto& module) : module_(module) {
    std::map<std::string, int> uses;
    for (const pb::HloComputationProto& computation : module.computations()) ++uses[computation.name()];
    for (const pb::HloComputationProto& computation : module.computations()) {
      const std::string& name = computation.name();
      const bool plain = !name.empty() && name[0] != '@' && uses[name] == 1;
      labels_[computation.id()] = plain ? label(name) : fmt::format("@{}", computation.id());
    }
    find_always();
  }

  std::string run() {
    std::vector<std::string> head{"HloModule " + label(module_.name())};
    if (module_.name().empty()) head[0] = "HloModule \"\"";
    if (!always_.empty()) {
      std::vector<std::string> names;
      for (const FieldDescriptor* field : always_) names.push_back(field->name());
      head.push_back(fmt::format("always={{{}}}", fmt::join(names, ",")));
    }
    std::set<int> skip{1, 2, 3, 6};
    const auto entry =
        std::find_if(module_.computations().begin(), module_.computations().end(),
                     [&](const auto& computation) { return computation.id() == module_.entry_computation_id(); });
    ALPA_CHECK(entry != module_.computations().end());
    if (module_.host_program_shape().SerializeAsString() == derived_program_shape(*entry).SerializeAsString())
      skip.insert(4);
    if (const auto aliases = print_aliases(); !aliases.empty()) {
      head.push_back(aliases);
      skip.insert(8);
    }
    print_fields(module_, skip, head);
    out_ = fmt::format("{}\n", fmt::join(head, ", "));
    for (const pb::HloComputationProto& computation : module_.computations()) print(computation);
    return std::move(out_);
  }

 private:
  static std::string label(const std::string& name) {
    return name == "ROOT" || name == "ENTRY" ? quoted(name) : quoted_unless_word(name);
  }

  // The fields that most instructions have and that hold nothing in some. A sharding always stands: empty means
  // replicated.
  void find_always() {
    struct Count {
      int64_t present = 0;
      int64_t empty = 0;
    };
    std::map<int, Count> counts;
    int64_t total = 0;
    for (const pb::HloComputationProto& computation : module_.computations()) {
      for (const Proto& proto : computation.instructions()) {
        ++total;
        std::vector<const FieldDescriptor*> fields;
        proto.GetReflection()->ListFields(proto, &fields);
        for (const FieldDescriptor* field : fields) {
          Count& count = counts[field->number()];
          ++count.present;
          count.empty += is_present_and_empty(proto, *field);
        }
      }
    }
    for (const auto& [number, count] : counts) {
      if (2 * count.present < total || count.empty == 0 || number == Proto::kShardingFieldNumber) continue;
      always_.push_back(Proto::descriptor()->FindFieldByNumber(number));
    }
  }

  // XLA's form; empty if there are none or they do not fit it.
  std::string print_aliases() const {
    const auto& aliases = module_.input_output_alias();
    std::vector<std::string> entries;
    if (has_unknown_fields(aliases) || aliases.entries_size() == 0) return "";
    for (const pb::AliasEntryProto& entry : aliases.entries()) {
      if (has_unknown_fields(entry) || entry.kind() < 1 || entry.kind() > 2) return "";
      entries.push_back(fmt::format("{{{}}}: ({}, {{{}}}, {})", fmt::join(entry.output_shape_index(), ","),
                                    entry.parameter_number(), fmt::join(entry.parameter_shape_index(), ","),
                                    entry.kind() == 1 ? "may-alias" : "must-alias"));
    }
    return fmt::format("input_output_alias={{ {} }}", fmt::join(entries, ", "));
  }

  void print(const pb::HloComputationProto& computation) {
    std::vector<std::string> attributes;
    const std::string& name = labels_.at(computation.id());
    std::set<int> skip{2, 6};
    if (name[0] != '@') skip.insert(1);
    if (computation.program_shape().SerializeAsString() == derived_program_shape(computation).SerializeAsString())
      skip.insert(4);
    print_fields(computation, skip, attributes);
    const bool entry = computation.id() == module_.entry_computation_id();
    out_ += fmt::format("\n{}{} ({}) {{\n", entry ? "ENTRY " : "", name, fmt::join(attributes, ", "));
    names_.clear();
    int64_t expected = text::first_id(computation.id());
    for (const Proto& proto : computation.instructions()) {
      names_[proto.id()] = label(proto.name());
      print(proto, proto.id() == computation.root_id(), expected);
      expected = text::next_id(proto.id());
    }
    out_ += "}\n";
  }

  void print(const Proto& proto, bool root, int64_t expected_id) {
    std::set<int> skip{Proto::kNameFieldNumber,
                       Proto::kOpcodeFieldNumber,
                       Proto::kShapeFieldNumber,
                       Proto::kIdFieldNumber,
                       Proto::kOperandIdsFieldNumber,
                       Proto::kControlPredecessorIdsFieldNumber,
                       Proto::kCalledComputationIdsFieldNumber};
    std::vector<std::string> parts{fmt::format("  {}{} = {} {}({})", root ? "ROOT " : "", label(proto.name()),
                                               print_shape(proto.shape()), quoted_unless_word(proto.opcode()),
                                               arguments(proto, skip))};
    if (proto.id() != expected_id) parts.push_back(fmt::format("id={}", proto.id()));
    print_called(proto, parts);
    if (proto.control_predecessor_ids_size() > 0)
      parts.push_back(fmt::format("control_predecessors={{{}}}", names_of(proto.control_predecessor_ids())));
    print_special(proto, skip, parts);
    std::vector<std::string> lacking;
    for (const FieldDescriptor* field : always_) {
      if (!has_field(proto, *field)) lacking.push_back(field->name());
      if (is_present_and_empty(proto, *field)) skip.insert(field->number());
    }
    if (!lacking.empty()) parts.push_back(fmt::format("without={{{}}}", fmt::join(lacking, ",")));
    print_fields(proto, skip, parts);
    out_ += fmt::format("{}\n", fmt::join(parts, ", "));
  }

  std::string names_of(const google::protobuf::RepeatedField<int64_t>& ids) const {
    std::vector<std::string_view> names;
    for (const int64_t id : ids) names.push_back(names_.at(id));
    return fmt::format("{}", fmt::join(names, ", "));
  }

  std::string arguments(const Proto& proto, std::set<int>& skip) const {
    if (proto.opcode() == "parameter") {
      skip.insert(Proto::kParameterNumberFieldNumber);
      return fmt::format("{}", proto.parameter_number());
    }
    if (proto.opcode() == "constant" && proto.has_literal()) {
      const auto text = print_literal(proto);
      if (text) skip.insert(Proto::kLiteralFieldNumber);
      return text.value_or("");
    }
    return names_of(proto.operand_ids());
  }

  void print_called(const Proto& proto, std::vector<std::string>& parts) const {
    const int count = proto.called_computation_ids_size();
    const auto names = text::callee_names(proto.opcode(), count);
    for (size_t k = 0; k < names.size(); ++k) {
      parts.push_back(fmt::format("{}={}", names[k], labels_.at(proto.called_computation_ids(static_cast<int>(k)))));
    }
    if (count == 0 || !names.empty()) return;
    std::vector<std::string_view> labels;
    for (const int64_t id : proto.called_computation_ids()) labels.push_back(labels_.at(id));
    parts.push_back(fmt::format("called_computations={{{}}}", fmt::join(labels, ", ")));
  }

  static void print_special(const Proto& proto, std::set<int>& skip, std::vector<std::string>& parts) {
    const auto add = [&](int number, std::string text) {
      parts.push_back(std::move(text));
      skip.insert(number);
    };
    if (const auto slices = print_slices(proto)) add(Proto::kSliceDimensionsFieldNumber, "slice=" + *slices);
    if (const auto padding = print_padding(proto.padding_config()))
      add(Proto::kPaddingConfigFieldNumber, "padding=" + *padding);
    print_dot(proto, skip, parts);
    const auto labels = print_convolution(proto.convolution_dimension_numbers());
    if (proto.has_convolution_dimension_numbers() && labels) {
      add(Proto::kConvolutionDimensionNumbersFieldNumber, "dim_labels=" + *labels);
    }
    if (!skip.contains(Proto::kLiteralFieldNumber) && proto.has_literal() && proto.literal().ByteSizeLong() > 256) {
      add(Proto::kLiteralFieldNumber, "literal=base64" + quoted(to_base64(proto.literal().SerializeAsString())));
    }
    for (const text::Alias& alias : text::kAliases) {
      const FieldDescriptor* field = Proto::descriptor()->FindFieldByName(std::string(alias.field));
      if (!has_field(proto, *field)) continue;
      const google::protobuf::Reflection& reflection = *proto.GetReflection();
      if (field->is_repeated()) {
        add(field->number(), fmt::format("{}={{{}}}", alias.name, fmt::join(proto.gather_slice_sizes(), ",")));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
        add(field->number(), fmt::format("{}={}", alias.name, reflection.GetInt64(proto, field)));
      } else {
        add(field->number(), fmt::format("{}={}", alias.name, quoted_unless_word(reflection.GetString(proto, field))));
      }
    }
  }

  static void print_dot(const Proto& proto, std::set<int>& skip, std::vector<std::string>& parts) {
    pb::DotDimensionNumbers dims = proto.dot_dimension_numbers();
    if (!proto.has_dot_dimension_numbers() || dims.ByteSizeLong() == 0 || has_unknown_fields(dims)) return;
    for (const text::DotList& list : text::kDotLists) {
      const auto& values = *(dims.*list.field)();
      if (!values.empty()) parts.push_back(fmt::format("{}={{{}}}", list.name, fmt::join(values, ",")));
    }
    skip.insert(Proto::kDotDimensionNumbersFieldNumber);
  }

  const pb::HloModuleProto& module_;
  std::unordered_map<int64_t, std::string> labels_;  ///< By computation id.
  std::unordered_map<int64_t, std::string> names_;   ///< By instruction id, of the computation being printed.
  std::vector<const FieldDescriptor*> always_;
  std::string out_;
};

}  // namespace

std::string to_text(const Module& module) { return Printer(module_to_proto(module)).run(); }

}  // namespace alpa::hlo
