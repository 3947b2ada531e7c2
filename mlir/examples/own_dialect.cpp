// SPDX-License-Identifier: Apache-2.0
// own_dialect.cpp — a dialect whose operations have the trait varve::ProfileAnnotation, and a pass
// that reads and writes {ts, dur} through it.
//
//     mlir-opt-19 --load-pass-plugin=varve-mlir-opt-19.so --load-dialect-plugin=own_dialect.so
//         --load-pass-plugin=own_dialect.so
//         --pass-pipeline='builtin.module(annotate-operations-profile{profile=p.json},say-profile)'
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "varve/mlir/interface.hpp"

namespace {

// own.layer: any operands and results.
struct LayerOp : mlir::Op<LayerOp, mlir::OpTrait::VariadicOperands, mlir::OpTrait::VariadicResults,
                          varve::ProfileAnnotation> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayerOp)
  using Op::Op;
  static llvm::StringRef getOperationName() { return "own.layer"; }
  static llvm::ArrayRef<llvm::StringRef> getAttributeNames() { return {}; }
};

struct OwnDialect : mlir::Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OwnDialect)
  explicit OwnDialect(mlir::MLIRContext *context)
      : Dialect(getDialectNamespace(), context, mlir::TypeID::get<OwnDialect>()) {
    addOperations<LayerOp>();
  }
  static llvm::StringLiteral getDialectNamespace() { return "own"; }
};

// Says what was measured of each layer, and keeps it as the attribute profiler_data.
struct SayProfile : mlir::PassWrapper<SayProfile, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SayProfile)
  llvm::StringRef getArgument() const final { return "say-profile"; }
  llvm::StringRef getDescription() const final { return "Say what was measured of own.layer"; }
  void runOnOperation() override {
    getOperation()->walk([](mlir::Operation *op) {
      if (!op->hasTrait<varve::ProfileAnnotation>())
        return;
      auto layer = llvm::cast<LayerOp>(op);
      if (!layer.HasProfilerData())
        return;
      varve::ProfilerData data = layer.GetProfilerData();
      mlir::emitRemark(varve::detail::without(op->getLoc(), varve::kProfile))
          << "own.layer from " << data.timestamp << " for " << data.duration << " ns";
      layer.AttachProfilerData(data);
    });
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "own", "1", [] { mlir::PassRegistration<SayProfile>(); }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT ::mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "own", "1",
          [](mlir::DialectRegistry *registry) { registry->insert<OwnDialect>(); }};
}
