// SPDX-License-Identifier: Apache-2.0
// A layer and its activation. linalg's loops of a product run down columns, which is slow.
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @net(%x: memref<384x384xf32>, %w: memref<384x384xf32>, %y: memref<384x384xf32>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<384x384xf32>)
  linalg.matmul ins(%x, %w : memref<384x384xf32>, memref<384x384xf32>) outs(%y : memref<384x384xf32>)
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%y : memref<384x384xf32>) {
  ^bb0(%a: f32):
    %b = arith.maximumf %a, %zero : f32
    linalg.yield %b : f32
  }
  return
}
