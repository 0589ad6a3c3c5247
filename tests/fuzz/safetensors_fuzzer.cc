#include "alpa/tensor/safetensors.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return alpa::fuzz::one_input(bytes, size, [](std::string_view text) {
    alpa::tensor::write_safetensors(alpa::tensor::read_safetensors(text, "input"));
  });
}
