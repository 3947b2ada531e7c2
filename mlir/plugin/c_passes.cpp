// SPDX-License-Identifier: Apache-2.0
// c_passes.cpp — varve/mlir/profile.h: the annotations, and passes, for C.
#include <algorithm>
#include <cstring>

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "varve/mlir/profile.h"
#include "varve/mlir/profile.hpp"

using namespace mlir;

static Operation *unwrap(const varve_mlir_operation *operation) {
  return reinterpret_cast<Operation *>(const_cast<varve_mlir_operation *>(operation));
}

static varve_mlir_operation *wrap(Operation *op) {
  return reinterpret_cast<varve_mlir_operation *>(op);
}

namespace {

struct Member {
  int64_t varve_mlir_profile::*c;
  std::optional<int64_t> varve::Profile::*cpp;
};
const Member members[] = {
    {&varve_mlir_profile::count, &varve::Profile::count},
    {&varve_mlir_profile::total_ns, &varve::Profile::totalNs},
    {&varve_mlir_profile::self_ns, &varve::Profile::selfNs},
    {&varve_mlir_profile::mean_ns, &varve::Profile::meanNs},
    {&varve_mlir_profile::min_ns, &varve::Profile::minNs},
    {&varve_mlir_profile::max_ns, &varve::Profile::maxNs},
    {&varve_mlir_profile::p50_ns, &varve::Profile::p50Ns},
    {&varve_mlir_profile::p95_ns, &varve::Profile::p95Ns},
    {&varve_mlir_profile::first_ns, &varve::Profile::firstNs},
    {&varve_mlir_profile::group, &varve::Profile::group},
    {&varve_mlir_profile::members, &varve::Profile::members},
};

// A pass whose work is a C function.
class CPass : public Pass {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CPass)
  CPass(const char *argument, const char *description, int (*run)(varve_mlir_operation *))
      : Pass(TypeID::get<CPass>()), argument(argument), description(description), run(run) {}
  StringRef getName() const override { return argument; }
  StringRef getArgument() const override { return argument; }
  StringRef getDescription() const override { return description; }

protected:
  void runOnOperation() override {
    if (!run(wrap(getOperation())))
      signalPassFailure();
  }
  bool canScheduleOn(RegisteredOperationName) const override { return true; }
  std::unique_ptr<Pass> clonePass() const override {
    return std::make_unique<CPass>(argument, description, run);
  }

private:
  const char *argument, *description;
  int (*run)(varve_mlir_operation *);
};

} // namespace

extern "C" {

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT int varve_mlir_get_profile(const varve_mlir_operation *operation,
                                                             varve_mlir_profile *out_profile) {
  std::optional<varve::Profile> found = varve::getProfile(unwrap(operation));
  if (!found)
    return 0;
  varve_mlir_profile whole{};
  whole.struct_size = std::min(out_profile->struct_size, sizeof whole);
  for (const Member &member : members)
    whole.*member.c = ((*found).*member.cpp).value_or(VARVE_MLIR_NOT_KNOWN);
  std::memcpy(out_profile, &whole, whole.struct_size); // that of a caller may be older
  return 1;
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT int varve_mlir_has_profile(const varve_mlir_operation *operation) {
  return varve::hasProfile(unwrap(operation));
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT void
varve_mlir_attach_profile(varve_mlir_operation *operation, const varve_mlir_profile *profile) {
  varve_mlir_profile whole;
  for (const Member &member : members)
    whole.*member.c = VARVE_MLIR_NOT_KNOWN;
  std::memcpy(&whole, profile, std::min(profile->struct_size, sizeof whole));
  varve::Profile written;
  for (const Member &member : members)
    if (whole.*member.c != VARVE_MLIR_NOT_KNOWN)
      written.*member.cpp = whole.*member.c;
  varve::attachProfile(unwrap(operation), written);
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT const char *
varve_mlir_operation_name(const varve_mlir_operation *operation, size_t *out_bytes) {
  StringRef name = unwrap(operation)->getName().getStringRef();
  *out_bytes = name.size();
  return name.data();
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT void
varve_mlir_walk(varve_mlir_operation *operation, void (*visit)(varve_mlir_operation *, void *),
                void *context) {
  unwrap(operation)->walk<WalkOrder::PreOrder>([&](Operation *op) { visit(wrap(op), context); });
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT void varve_mlir_mark(varve_mlir_operation *operation,
                                                       const char *attribute) {
  unwrap(operation)->setAttr(attribute, UnitAttr::get(unwrap(operation)->getContext()));
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT int varve_mlir_is_marked(const varve_mlir_operation *operation,
                                                           const char *attribute) {
  return unwrap(operation)->hasAttr(attribute);
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT void varve_mlir_remark(varve_mlir_operation *operation,
                                                         const char *text) {
  Location place = unwrap(operation)->getLoc(); // without what was measured, which is long
  emitRemark(varve::detail::without(place, varve::kProfile)) << text;
}

LLVM_ATTRIBUTE_VISIBILITY_DEFAULT void
varve_mlir_register_pass(const char *argument, const char *description,
                         int (*run)(varve_mlir_operation *)) {
  registerPass([=]() -> std::unique_ptr<Pass> {
    return std::make_unique<CPass>(argument, description, run);
  });
}

} // extern "C"
