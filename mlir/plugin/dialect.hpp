// SPDX-License-Identifier: Apache-2.0
// dialect.hpp — the dialect `varve`: no operations, but the attributes varve.profile, varve.hot and
// varve.id, which MLIR's verifier checks wherever they stand.
#ifndef VARVE_MLIR_DIALECT_HPP
#define VARVE_MLIR_DIALECT_HPP

#include "mlir/IR/Dialect.h"

namespace varve {

class VarveDialect : public mlir::Dialect {
public:
  explicit VarveDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "varve"; }
  mlir::LogicalResult verifyOperationAttribute(mlir::Operation *op,
                                               mlir::NamedAttribute attribute) override;
};

} // namespace varve

MLIR_DECLARE_EXPLICIT_TYPE_ID(varve::VarveDialect)

#endif
