// SPDX-License-Identifier: Apache-2.0
// mark_hot.cpp — a pass of your own that reads the annotations: it marks the operations that make
// up 80 % of the time with varve.hot, for a transform script to match.
//
//     mlir-opt-19 --load-pass-plugin=varve-mlir-opt-19.so --load-pass-plugin=mark_hot.so
//         --pass-pipeline='builtin.module(annotate-operations-profile{profile=p.json},mark-hot)'
//
// Registered operations are asked through the interface, all others by varve::getProfile.
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "varve/mlir/interface.hpp"

namespace {

struct MarkHot : mlir::PassWrapper<MarkHot, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkHot)
  MarkHot() = default;
  MarkHot(const MarkHot &other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "mark-hot"; }
  llvm::StringRef getDescription() const final { return "Mark what takes most of the time"; }
  Option<double> share{*this, "share", llvm::cl::init(80.0),
                       llvm::cl::desc("percent of the time that the marked operations make up")};

  mlir::LogicalResult initialize(mlir::MLIRContext *context) override {
    varve::registerProfiledOps(context);
    return mlir::success();
  }

  static std::optional<varve::Profile> profileOf(mlir::Operation *op) {
    if (auto profiled = llvm::dyn_cast<varve::ProfiledOpInterface>(op))
      return profiled.getProfileData();
    return varve::getProfile(op);
  }

  void runOnOperation() override {
    llvm::SmallVector<std::pair<int64_t, mlir::Operation *>> times;
    int64_t sum = 0;
    getOperation()->walk([&](mlir::Operation *op) {
      std::optional<varve::Profile> profile = profileOf(op);
      if (!profile || !profile->selfNs)
        return;
      times.emplace_back(*profile->selfNs, op);
      sum += *profile->selfNs;
    });
    llvm::stable_sort(times, [](auto &a, auto &b) { return a.first > b.first; });
    double marked = 0;
    for (auto &[time, op] : times) {
      if (marked >= share / 100 * double(sum))
        break;
      op->setAttr(varve::kHot, mlir::UnitAttr::get(&getContext()));
      marked += double(time);
    }
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "mark_hot", "1",
          [] { mlir::PassRegistration<MarkHot>(); }};
}
