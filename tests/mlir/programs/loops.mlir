// SPDX-License-Identifier: Apache-2.0
// Loops over memory: affine, then cf, then LLVM.
func.func @main(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %n: index) {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 64 {
      %x = affine.load %a[%i, %j] : memref<64x64xf32>
      %y = arith.mulf %x, %x : f32
      %z = arith.addf %y, %one : f32
      affine.store %z, %b[%i, %j] : memref<64x64xf32>
    }
  }
  affine.for %i = 0 to 64 {
    %x = affine.load %b[%i, %i] : memref<64x64xf32>
    %y = arith.divf %one, %x : f32
    affine.store %y, %a[%i, 0] : memref<64x64xf32>
  }
  return
}
