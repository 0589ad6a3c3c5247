#include "alpa/hlo/proto_parse.h"

#include <google/protobuf/message_lite.h>
#include <google/protobuf/stubs/common.h>

#include <climits>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace alpa::hlo {

bool parse_proto(std::string_view bytes, google::protobuf::MessageLite& message) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer silence;  // invalid UTF-8 is told by the result alone
#endif
  return bytes.size() < INT_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

bool merge_proto(std::string_view bytes, google::protobuf::MessageLite& message) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer silence;
#endif
  return message.MergeFromString(std::string(bytes));
}

}  // namespace alpa::hlo
