// SPDX-License-Identifier: Apache-2.0
// Arithmetic on whole tensors.
func.func @main(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = arith.addf %a, %b : tensor<8x8xf32>
  %1 = arith.mulf %0, %b : tensor<8x8xf32>
  %2 = math.exp %1 : tensor<8x8xf32>
  %3 = arith.subf %2, %a : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
