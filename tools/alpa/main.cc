#include <cstdio>
#include <fmt/core.h>
#include "alpa/base/file.h"
#include "alpa/base/error.h"
#include "alpa/compiler/compile.h"
#include "alpa/compiler/plan_program.h"
#include "alpa/hlo/flops.h"
#include "alpa/pjrt/read_back.h"
#include "alpa/tensor/safetensors.h"
using namespace alpa;
int main(int argc, char** argv) {
  std::string dir = argv[1], mesh = argc > 2 ? argv[2] : "8", method = argc > 3 ? argv[3] : "shard";
  try {
    auto meta = compiler::parse_meta(read_file(dir + "/meta.json"), "meta.json");
    auto program = compiler::load_program(read_file(dir + "/train_step.hlo.pb.xz"), dir, meta, [](std::string_view) { return std::string(); });
    compiler::PlanOptions options;
    options.method = compiler::parse_method(method);
    options.mesh = mesh::LogicalMesh::parse(mesh);
    options.num_devices = options.mesh->num_devices();
    options.cluster = mesh::local_cpu(8);
    auto plan = compiler::plan_program(program, options);
    fmt::print("planned in {:.3f} s objective {:.6f} bound {:.6f} gap {:.5f} comm {:.6f} mem {}\n", plan.planning_seconds, plan.objective_seconds, plan.bound_seconds, plan.gap(), plan.communication_seconds, plan.predicted_memory_per_device_bytes);
    if (argc > 4 && argv[4][0]=='p') { for (auto& i : plan.inputs) fmt::print("{} {} {}\n", i.name, tensor::to_string(i.shape), sharding::to_string(i.spec, plan.mesh)); }
    auto plugin = pjrt::Plugin::load(pjrt::find_plugin(std::nullopt, read_environment()));
    auto client = pjrt::Client::create(plugin, {.cpu_device_count = 8});
    auto compiled = compiler::compile(program, plan, options.cluster, client);
    fmt::print("compiled in {:.1f} s; flops share {:.4f} mem {}\n", compiled.compile_seconds, double(compiled.contraction_flops) / hlo::contraction_flops(program.module), compiled.memory_per_device_bytes);
    for (auto& [k, t] : compiled.found) fmt::print("  found {} {} {}   predicted {} {}\n", k, t.count, t.bytes, plan.collectives[k].count, plan.collectives[k].bytes);
    for (auto& [k, t] : plan.collectives) if (!compiled.found.contains(k)) fmt::print("  only predicted {} {} {}\n", k, t.count, t.bytes);
    auto given = tensor::read_safetensors(read_file(dir + "/inputs.safetensors"), "inputs");
    auto expected = tensor::read_safetensors(read_file(dir + "/expected.safetensors"), "expected");
    std::vector<tensor::Literal> inputs;
    for (auto& i : program.meta.inputs) inputs.push_back(given.contains(i.name) ? given.at(i.name) : tensor::Literal(i.shape));
    compiled.executable.set_inputs(inputs);
    double worst_loss = 0;
    for (int s = 0; s < 3; ++s) { compiled.executable.step(); compiled.executable.sync(); double l = compiled.executable.output(plan.outputs.size() - 1).at(0); double e = expected.at("loss").at(s); worst_loss = std::max(worst_loss, std::abs(l - e) / std::abs(e)); }
    double worst = 0; std::string where;
    for (size_t k = 0; k + 1 < plan.outputs.size(); ++k) { auto& n = plan.outputs[k].name; if (!expected.contains(n)) continue; auto got = compiled.executable.output(k); auto& e = expected.at(n); double big = 1e-12, d = 0; for (int64_t j = 0; j < tensor::num_elements(e.shape()); ++j) { big = std::max(big, std::abs(e.at(j))); d = std::max(d, std::abs(e.at(j) - got.at(j))); } if (!(d / big <= worst)) { worst = d / big; where = n; } }
    fmt::print("loss rel {:.2e} params rel {:.2e} {}  {}\n", worst_loss, worst, where, worst_loss < 1e-4 && worst < 1e-2 ? "OK" : "WRONG");
  } catch (const Error& e) { fmt::print("error: {}\n", e.what()); return 1; }
}
