#pragma once

#include <string_view>

namespace google::protobuf {
class MessageLite;
}

namespace alpa::hlo {

/// Parses a serialized message; false if it is none, cut short, or has more than 2^31 - 1 bytes. Unlike the message's
/// own method it prints nothing; inside this room.
bool parse_proto(std::string_view bytes, google::protobuf::MessageLite& message);

/// The same, added to what the message holds.
bool merge_proto(std::string_view bytes, google::protobuf::MessageLite& message);

}  // namespace alpa::hlo
