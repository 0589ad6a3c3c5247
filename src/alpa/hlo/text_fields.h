#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/text_lexer.h"

/// Fields of protos as text: by their names and numbers' types, with a form of their own for shapes, windows and
/// shardings; inside this room.
namespace alpa::hlo {

/// True for a field that is there (repeated: has entries).
bool has_field(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field);
/// True for a message or bytes that are there and hold nothing.
bool is_present_and_empty(const google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field);

bool has_unknown_fields(const google::protobuf::Message& message);

/// "name=value" for each field that is there and not in `skip` (by number), then "proto=..." for those unknown.
void print_fields(const google::protobuf::Message& message, const std::set<int>& skip, std::vector<std::string>& out);

/// "{...}", or the form of its own.
std::string print_message(const google::protobuf::Message& message);
std::string print_shape(const pb::ShapeProto& shape);

/// Reads the value of a field that has been named. Errors: as Lexer.
void parse_field(Lexer& lexer, google::protobuf::Message& message, std::string_view name);
void parse_message(Lexer& lexer, google::protobuf::Message& message, int depth);
void parse_shape(Lexer& lexer, pb::ShapeProto& shape, int depth);

/// "{1,2}" to and from whole numbers.
std::vector<int64_t> parse_integers(Lexer& lexer, char open, char close);

// Messages with a form of their own; nothing if a message does not fit into it.
std::optional<std::string> print_convolution(const pb::ConvolutionDimensionNumbers& dims);
void parse_convolution(Lexer& lexer, pb::ConvolutionDimensionNumbers& dims);
std::optional<std::string> print_window(const pb::Window& window);
void parse_window(Lexer& lexer, pb::Window& window);
std::optional<std::string> print_sharding(const pb::OpSharding& sharding);
/// After "{", when the next word is none of the message's fields.
void parse_sharding(Lexer& lexer, pb::OpSharding& sharding, int depth);

}  // namespace alpa::hlo
