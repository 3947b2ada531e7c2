// SPDX-License-Identifier: Apache-2.0
// A small network in TOSA: each operation becomes others when it is lowered.
func.func @main(%a: tensor<1x8x16xf32>, %w: tensor<1x16x32xf32>, %b: tensor<1x8x32xf32>) -> tensor<1x8x32xf32> {
  %0 = tosa.matmul %a, %w : (tensor<1x8x16xf32>, tensor<1x16x32xf32>) -> tensor<1x8x32xf32>
  %1 = tosa.add %0, %b : (tensor<1x8x32xf32>, tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %3 = tosa.exp %2 : (tensor<1x8x32xf32>) -> tensor<1x8x32xf32>
  %4 = tosa.reduce_sum %3 {axis = 2 : i32} : (tensor<1x8x32xf32>) -> tensor<1x8x1xf32>
  %5 = tosa.reciprocal %4 : (tensor<1x8x1xf32>) -> tensor<1x8x1xf32>
  %6 = tosa.sub %3, %5 : (tensor<1x8x32xf32>, tensor<1x8x1xf32>) -> tensor<1x8x32xf32>
  return %6 : tensor<1x8x32xf32>
}
