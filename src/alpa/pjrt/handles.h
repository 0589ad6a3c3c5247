#pragma once

namespace alpa::pjrt {

/// Opaque stand-ins for the plug-in's own types; they have no definition, so that nothing of the C border is seen above
/// this room.
struct ApiTable;
struct EventHandle;
struct DeviceHandle;
struct BufferHandle;

}  // namespace alpa::pjrt
