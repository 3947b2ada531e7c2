// SPDX-License-Identifier: Apache-2.0
// A kernel that is launched where it stands: gpu-kernel-outlining makes a function of it.
func.func @main(%a: memref<256xf32>, %b: memref<256xf32>) {
  %one = arith.constant 1 : index
  %block = arith.constant 256 : index
  %k = arith.constant 2.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %block, %sy = %one, %sz = %one) {
    %x = memref.load %a[%tx] : memref<256xf32>
    %y = arith.mulf %x, %k : f32
    memref.store %y, %b[%tx] : memref<256xf32>
    gpu.terminator
  }
  return
}
