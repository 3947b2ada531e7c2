// SPDX-License-Identifier: Apache-2.0
// Two functions on tensors: what linalg's passes, the inliner and the bufferization rewrite.
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func private @bias(%x: tensor<32x64xf32>, %b: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %y = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}
func.func @main(%a: tensor<32x16xf32>, %w: tensor<16x64xf32>, %b: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %m = linalg.matmul ins(%a, %w : tensor<32x16xf32>, tensor<16x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %h = call @bias(%m, %b) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%h : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.maximumf %p, %zero : f32
    %t = math.exp %s : f32
    linalg.yield %t : f32
  } -> tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}
