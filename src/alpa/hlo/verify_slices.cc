#include "alpa/hlo/proto/hlo.pb.h"
#include "alpa/hlo/verify_check.h"

namespace alpa::hlo::verifying {
namespace {

void check_slice(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  const std::vector<SliceDim> dims = slice_dims(site.instruction());
  site.check(dims.size() == operand.dims.size(), "it slices {} dims of {}", dims.size(), tensor::to_string(operand));
  tensor::Shape expected(operand.dtype, {});
  for (size_t k = 0; k < dims.size(); ++k) {
    const auto& [start, limit, stride] = dims[k];
    site.check(start >= 0 && start <= limit && limit <= operand.dims[k] && stride >= 1,
               "its bounds {}:{}:{} do not fit dim {} of {}", start, limit, stride, k, tensor::to_string(operand));
    expected.dims.push_back((limit - start) / stride + ((limit - start) % stride != 0));
  }
  site.check_result(expected);
}

void check_pad(const Site& site) {
  site.check_arrays();
  const tensor::Shape& operand = site.operand(0);
  const std::vector<PadDim> dims = pad_dims(site.instruction());
  site.check(dims.size() == operand.dims.size(), "it pads {} dims of {}", dims.size(), tensor::to_string(operand));
  site.check(site.operand(1).rank() == 0 && same_type(site.operand(1).dtype, operand.dtype), "it pads {} with {}",
             tensor::to_string(operand), tensor::to_string(site.operand(1)));
  tensor::Shape expected(operand.dtype, {});
  for (size_t k = 0; k < dims.size(); ++k) {
    const __int128 inside = operand.dims[k] == 0 ? 0 : static_cast<__int128>(operand.dims[k] - 1) * dims[k].interior;
    const __int128 size = inside + operand.dims[k] + dims[k].low + dims[k].high;
    site.check(dims[k].interior >= 0 && size >= 0 && size <= INT64_MAX,
               "its padding {}, {}, {} does not fit dim {} of {}", dims[k].low, dims[k].high, dims[k].interior, k,
               tensor::to_string(operand));
    expected.dims.push_back(static_cast<int64_t>(size));
  }
  site.check_result(expected);
}

// One integer scalar a dim of the array, from operand `first` on.
void check_indices(const Site& site, size_t first) {
  const size_t rank = site.operand(0).dims.size();
  site.check(site.operand_count() == first + rank, "it has {} indices for {}", site.operand_count() - first,
             tensor::to_string(site.operand(0)));
  for (size_t k = first; k < site.operand_count(); ++k) {
    site.check(site.operand(k).rank() == 0 && tensor::is_integral(site.operand(k).dtype), "index {} is {}, no integer",
               k - first, tensor::to_string(site.operand(k)));
  }
}

void check_fits_in(const Site& site, const std::vector<int64_t>& sizes, std::string_view what) {
  const tensor::Shape& array = site.operand(0);
  site.check(sizes.size() == array.dims.size(), "{} has {} dims for {}", what, sizes.size(), tensor::to_string(array));
  for (size_t k = 0; k < sizes.size(); ++k) {
    site.check(sizes[k] >= 0 && sizes[k] <= array.dims[k], "{} has size {} in dim {} of {}", what, sizes[k], k,
               tensor::to_string(array));
  }
}

void check_dynamic_slice(const Site& site) {
  site.check_arrays();
  check_indices(site, 1);
  const auto& sizes = site.instruction().proto->dynamic_slice_sizes();
  const std::vector<int64_t> dims(sizes.begin(), sizes.end());
  check_fits_in(site, dims, "the slice");
  site.check_result(tensor::Shape(site.operand(0).dtype, dims));
}

void check_dynamic_update_slice(const Site& site) {
  site.check_arrays();
  check_indices(site, 2);
  check_fits_in(site, site.operand(1).dims, "the update");
  site.check(same_type(site.operand(0).dtype, site.operand(1).dtype), "it updates {} with {}",
             tensor::to_string(site.operand(0)), tensor::to_string(site.operand(1)));
  site.check_result(site.operand(0));
}

}  // namespace

void check_slices(const Site& site) {
  switch (site.opcode()) {
    case Opcode::kSlice: return check_slice(site);
    case Opcode::kPad: return check_pad(site);
    case Opcode::kDynamicSlice: return check_dynamic_slice(site);
    case Opcode::kDynamicUpdateSlice: return check_dynamic_update_slice(site);
    default: return;
  }
}

}  // namespace alpa::hlo::verifying
