// Runs steps of a planned model on demand, for paired timings against another system in one run.
//
//   step_server MODEL_FOLDER MESH PLAN_OUT
//
// Writes the plan to PLAN_OUT and prints "ready"; then for each line on stdin runs one step, waits for it and prints
// its seconds.

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "alpa/base/error.h"
#include "alpa/base/file.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/pjrt/client.h"
#include "alpa/tensor/safetensors.h"

namespace {

using namespace alpa;

int serve(const std::string& folder, const std::string& mesh, const std::string& plan_out) {
  const compiler::Meta meta = compiler::parse_meta(read_file(folder + "/meta.json"), "meta.json");
  const compiler::Program program =
      compiler::load_program(read_file(folder + "/train_step.hlo.pb.xz"), folder, meta, {});
  compiler::PlanOptions options;
  options.mesh = mesh::LogicalMesh::parse(mesh);
  options.num_devices = options.mesh->num_devices();
  options.cluster = mesh::local_cpu(options.num_devices);
  const plan::Plan plan = compiler::plan_program(program, options);
  write_file(plan_out, plan::to_json(plan));
  const pjrt::Plugin plugin = pjrt::Plugin::load(pjrt::find_plugin(std::nullopt, read_environment()));
  const pjrt::Client client = pjrt::Client::create(plugin, {.cpu_device_count = static_cast<int>(options.num_devices)});
  compiler::Compiled compiled = compiler::compile(program, plan, client);
  const auto given = tensor::read_safetensors(read_file(folder + "/inputs.safetensors"), "inputs");
  std::vector<tensor::Literal> inputs;
  for (const compiler::InputMeta& input : meta.inputs) {
    inputs.push_back(input.zeros ? tensor::Literal(input.shape) : given.at(input.name));
  }
  compiled.executable.set_inputs(inputs);
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    compiled.executable.step();
    compiled.executable.sync();
    std::printf("%.9f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: step_server MODEL_FOLDER MESH PLAN_OUT\n");
    return 2;
  }
  try {
    return serve(argv[1], argv[2], argv[3]);
  } catch (const alpa::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
