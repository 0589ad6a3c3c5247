#include "alpa/pjrt/buffer.h"

#include <chrono>
#include <cstring>
#include <future>

#include "alpa/base/error.h"
#include "alpa/pjrt/testing/plugins.h"

namespace alpa::pjrt {
namespace {

using tensor::DType;
using tensor::Literal;
using tensor::Shape;

class BufferOn : public OnPlugin {};
ALPA_ON_BOTH_PLUGINS(BufferOn);

Literal iota(const Shape& shape) {
  Literal literal(shape);
  for (int64_t i = 0; i < tensor::num_elements(shape); ++i) literal.set(i, static_cast<double>(i));
  return literal;
}

bool same(const Literal& a, const Literal& b) {
  return a.shape() == b.shape() && std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

TEST_P(BufferOn, RoundTripKeepsShapeAndBytes) {
  const Client one = client();
  for (const DType dtype : {DType::kPred, DType::kS8, DType::kU16, DType::kS32, DType::kS64, DType::kF16, DType::kBF16,
                            DType::kF32, DType::kF64, DType::kC64}) {
    for (const auto& dims : std::vector<std::vector<int64_t>>{{}, {5}, {3, 4}, {2, 3, 4}, {0, 4}}) {
      const Literal literal = iota({dtype, dims});
      const Buffer buffer = Buffer::from_host(one, one.devices()[0], literal);
      EXPECT_EQ(buffer.shape(), literal.shape());
      EXPECT_TRUE(same(buffer.to_host(), literal)) << tensor::to_string(literal.shape());
    }
  }
}

TEST_P(BufferOn, UsesAlignedOwnedMemoryInPlaceAndCopiesTheRest) {
  const Client one = client();
  const Literal literal = iota({DType::kF32, {1024}});
  const Device& device = one.devices()[0];
  EXPECT_TRUE(Buffer::from_host(one, device, literal).zero_copy());
  const HostData unaligned{{DType::kF32, {1000}}, literal.bytes().subspan(8, 4000), literal.owner()};
  const Buffer copied = Buffer::from_host(one, device, unaligned);
  EXPECT_FALSE(copied.zero_copy());
  EXPECT_EQ(copied.to_host().at(0), 2);
  const HostData unowned{literal.shape(), literal.bytes()};
  EXPECT_FALSE(Buffer::from_host(one, device, unowned).zero_copy());
}

TEST_P(BufferOn, KeepsTheOwnerUntilTheBufferEnds) {
  const Client one = client();
  std::promise<void> dropped;
  const Literal literal = iota({DType::kF32, {16}});
  std::shared_ptr<const void> owner(literal.bytes().data(), [&](const void*) { dropped.set_value(); });
  std::future<void> end = dropped.get_future();
  {
    const Buffer buffer =
        Buffer::from_host(one, one.devices()[0], {literal.shape(), literal.bytes(), std::move(owner)});
    EXPECT_EQ(buffer.to_host().at(15), 15);
    EXPECT_EQ(end.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  }
  EXPECT_EQ(end.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST_P(BufferOn, CopiesToAnotherDevice) {
  const Client two = client(2);
  const Literal literal = iota({DType::kF32, {64, 64}});
  const Buffer first = Buffer::from_host(two, two.devices()[0], literal);
  const Buffer second = first.copy_to_device(two.devices()[1]);
  EXPECT_EQ(first.device().index(), 0);
  EXPECT_EQ(second.device().index(), 1);
  EXPECT_EQ(second.size_on_device(), 64 * 64 * 4);
  EXPECT_TRUE(same(second.to_host(), literal));
}

TEST_P(BufferOn, DeletedBufferKeepsItsShapeAndRefusesToBeRead) {
  const Client one = client();
  Buffer buffer = Buffer::from_host(one, one.devices()[0], iota({DType::kF32, {8}}));
  EXPECT_FALSE(buffer.is_deleted());
  buffer.delete_memory();
  EXPECT_TRUE(buffer.is_deleted());
  EXPECT_EQ(buffer.shape(), Shape(DType::kF32, {8}));
  ALPA_EXPECT_ERROR(buffer.to_host(), InvalidArgumentError, "deleted or donated");
}

TEST_P(BufferOn, EventsTellOfTheCopy) {
  const Client one = client();
  const Literal literal = iota({DType::kF32, {1000}});
  const Buffer buffer = Buffer::from_host(one, one.devices()[0], literal);
  std::promise<bool> called;
  buffer.ready_event().on_ready([&](const std::exception_ptr& error) { called.set_value(error == nullptr); });
  EXPECT_TRUE(called.get_future().get());
  HostCopy copy = buffer.to_host_async();
  copy.event().await();
  EXPECT_TRUE(copy.event().ready());
  EXPECT_TRUE(same(copy.take(), literal));
}

TEST_P(BufferOn, RejectsWrongSizesAndTypes) {
  const Client one = client();
  const Device& device = one.devices()[0];
  const Literal literal = iota({DType::kF32, {8}});
  const HostData short_data{{DType::kF32, {9}}, literal.bytes()};
  ALPA_EXPECT_ERROR(Buffer::from_host(one, device, short_data), InvalidArgumentError, "f32[9] needs 36 bytes, got 32");
  EXPECT_THROW(Buffer::from_host(one, device, Literal(Shape(DType::kS4, {8}))), UnsupportedError);
  const HostData tuple{Shape::tuple({}), {}};
  EXPECT_THROW(Buffer::from_host(one, device, tuple), UnsupportedError);
  std::byte room[4];
  EXPECT_THROW(Buffer::from_host(one, device, literal).copy_to_host(room), InvalidArgumentError);
}

TEST(Event, DefaultIsReady) {
  const Event event;
  EXPECT_TRUE(event.ready());
  event.await();
  bool called = false;
  event.on_ready([&](const std::exception_ptr& error) { called = error == nullptr; });
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace alpa::pjrt
