#include "alpa/pjrt/buffer.h"

#include <array>
#include <numeric>
#include <vector>

#include "alpa/base/error.h"
#include "alpa/pjrt/c_api.h"

namespace alpa::pjrt {
namespace {

constexpr const char* kPlace = "buffer";
/// The plug-ins' CPU code asks for this alignment; at other addresses they copy.
constexpr uintptr_t kAlignment = 64;

/// Plug-ins hold an element below 8 bits in a host byte of its own, literals pack them.
void require_whole_bytes(tensor::DType dtype) {
  require<UnsupportedError>(tensor::bit_width(dtype) % 8 == 0 && tensor::bit_width(dtype) > 0, kPlace,
                            "elements of type {} cannot be moved between host and device: convert them in the program",
                            tensor::name(dtype));
}

/// Drops `owner` when `event` is ready; the callback holds both.
void keep_until_ready(const PJRT_Api* api, PJRT_Event* event, std::shared_ptr<const void> owner) {
  Event done(opaque(api), opaque(event));
  if (owner != nullptr) done.on_ready([owner = std::move(owner)](const std::exception_ptr&) {});
}

bool aliases(const PJRT_Api* api, PJRT_Buffer* buffer, const void* data) {
  if (!ALPA_PJRT_HAS(api, PJRT_Buffer_UnsafePointer)) return false;
  ALPA_PJRT_ARGS(PJRT_Buffer_UnsafePointer_Args, args);
  args.buffer = buffer;
  if (PJRT_Error* error = api->PJRT_Buffer_UnsafePointer(&args); error != nullptr) {
    ignore(api, error);
    return false;
  }
  return args.buffer_pointer == reinterpret_cast<uintptr_t>(data);
}

}  // namespace

HostCopy::~HostCopy() {
  try {
    event_.await();
  } catch (const Error&) {
    // Whoever wanted the value asks `take` or the event.
  }
}

tensor::Literal HostCopy::take() {
  event_.await();
  return std::move(literal_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : client_(std::move(other.client_)), buffer_(other.buffer_), zero_copy_(other.zero_copy_) {
  other.buffer_ = nullptr;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    client_ = std::move(other.client_);
    buffer_ = other.buffer_;
    zero_copy_ = other.zero_copy_;
    other.buffer_ = nullptr;
  }
  return *this;
}

void Buffer::reset() noexcept {
  if (buffer_ == nullptr) return;
  ALPA_PJRT_ARGS(PJRT_Buffer_Destroy_Args, args);
  args.buffer = raw(buffer_);
  ignore(client_->api, client_->api->PJRT_Buffer_Destroy(&args));
  buffer_ = nullptr;
}

Buffer Buffer::from_host(const Client& client, const Device& device, const HostData& data) {
  require<UnsupportedError>(data.shape.is_array(), kPlace, "{} is not an array", tensor::to_string(data.shape));
  require_whole_bytes(data.shape.dtype);
  const int64_t size = tensor::byte_size(data.shape);
  require<InvalidArgumentError>(static_cast<int64_t>(data.bytes.size()) == size, kPlace, "{} needs {} bytes, got {}",
                                tensor::to_string(data.shape), size, data.bytes.size());
  const PJRT_Api* api = client.state()->api;
  const bool aligned = reinterpret_cast<uintptr_t>(data.bytes.data()) % kAlignment == 0;
  const bool offered = data.owner != nullptr && (aligned || !client.is_cpu());
  ALPA_PJRT_ARGS(PJRT_Client_BufferFromHostBuffer_Args, args);
  args.client = client.state()->client;
  args.data = data.bytes.data();
  args.type = to_buffer_type(data.shape.dtype);
  args.dims = data.shape.dims.data();
  args.num_dims = data.shape.dims.size();
  args.host_buffer_semantics =
      offered ? PJRT_HostBufferSemantics_kImmutableZeroCopy : PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  args.device = raw(device.handle());
  ALPA_PJRT_CALL(api, PJRT_Client_BufferFromHostBuffer, &args);
  Buffer buffer(client.state(), opaque(args.buffer));
  buffer.zero_copy_ = offered && client.is_cpu() && aliases(api, args.buffer, args.data);
  keep_until_ready(api, args.done_with_host_buffer, offered ? data.owner : nullptr);
  return buffer;
}

Buffer Buffer::from_host(const Client& client, const Device& device, const tensor::Literal& literal) {
  return from_host(client, device, {literal.shape(), literal.bytes(), literal.owner()});
}

tensor::Shape Buffer::shape() const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_ElementType_Args, type);
  type.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_ElementType, &type);
  ALPA_PJRT_ARGS(PJRT_Buffer_Dimensions_Args, dims);
  dims.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_Dimensions, &dims);
  return {from_buffer_type(type.type), std::vector<int64_t>(dims.dims, dims.dims + dims.num_dims)};
}

int64_t Buffer::size_on_device() const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_OnDeviceSizeInBytes_Args, args);
  args.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_OnDeviceSizeInBytes, &args);
  return static_cast<int64_t>(args.on_device_size_in_bytes);
}

const Device& Buffer::device() const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_Device_Args, args);
  args.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_Device, &args);
  for (const Device& device : client_->devices) {
    if (device.handle() == opaque(args.device)) return device;
  }
  raise<PluginError>(kPlace, "the plug-in placed a buffer on a device that is not of this process");
}

void Buffer::delete_memory() {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_Delete_Args, args);
  args.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_Delete, &args);
}

bool Buffer::is_deleted() const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_IsDeleted_Args, args);
  args.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_IsDeleted, &args);
  return args.is_deleted;
}

Event Buffer::ready_event() const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_ReadyEvent_Args, args);
  args.buffer = raw(buffer_);
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_ReadyEvent, &args);
  return {opaque(client_->api), opaque(args.event)};
}

Event Buffer::copy_to_host(std::span<std::byte> destination) const {
  const tensor::Shape source = shape();
  require_whole_bytes(source.dtype);
  const int64_t size = tensor::byte_size(source);
  require<InvalidArgumentError>(static_cast<int64_t>(destination.size()) >= size, kPlace,
                                "{} needs {} bytes of room, got {}", tensor::to_string(source), size,
                                destination.size());
  require<InvalidArgumentError>(!is_deleted(), kPlace, "this {} was deleted or donated: use the value that replaced it",
                                tensor::to_string(source));
  std::vector<int64_t> minor_to_major(source.dims.size());
  std::iota(minor_to_major.rbegin(), minor_to_major.rend(), 0);
  ALPA_PJRT_ARGS(PJRT_Buffer_MemoryLayout, layout);
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  ALPA_PJRT_ARGS(PJRT_Buffer_ToHostBuffer_Args, args);
  args.src = raw(buffer_);
  args.host_layout = source.dims.size() > 1 ? &layout : nullptr;
  args.dst = destination.data();
  args.dst_size = destination.size();
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_ToHostBuffer, &args);
  return {opaque(client_->api), opaque(args.event)};
}

HostCopy Buffer::to_host_async() const {
  const tensor::Shape source = shape();
  require_whole_bytes(source.dtype);
  tensor::Literal literal(source);
  Event event = copy_to_host(literal.mutable_bytes());
  return {std::move(literal), std::move(event)};
}

tensor::Literal Buffer::to_host() const { return to_host_async().take(); }

Buffer Buffer::copy_to_device(const Device& device) const {
  ALPA_CHECK(valid());
  ALPA_PJRT_ARGS(PJRT_Buffer_CopyToDevice_Args, args);
  args.buffer = raw(buffer_);
  args.dst_device = raw(device.handle());
  ALPA_PJRT_CALL(client_->api, PJRT_Buffer_CopyToDevice, &args);
  return {client_, opaque(args.dst_buffer)};
}

}  // namespace alpa::pjrt
