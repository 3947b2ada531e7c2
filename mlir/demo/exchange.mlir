// SPDX-License-Identifier: Apache-2.0
// For MLIR's pass transform-interpreter: of each marked product the innermost loop goes along memory.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.matmul"]} attributes{varve.hot} in %module
      : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.generalize %0 : (!transform.any_op) -> !transform.any_op
    %2 = transform.structured.interchange %1 iterator_interchange = [0, 2, 1]
      : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
