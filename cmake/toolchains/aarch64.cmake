# SPDX-License-Identifier: Apache-2.0
#
# AArch64 by Debian's cross compiler; what is built runs under qemu-aarch64 (`make cross`, preset
# "cross").
# Libraries other than libc come from VARVE_ARM64, where tools/unpack_arm64 put them; what is not
# there is not found, so that nothing of the building machine gets in.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(libc_root /usr/aarch64-linux-gnu)

set(VARVE_ARM64 "" CACHE PATH "Folder with unpacked arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES VARVE_ARM64)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${libc_root})
set(CMAKE_FIND_ROOT_PATH ${libc_root} ${VARVE_ARM64})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(ENV{PKG_CONFIG_LIBDIR} ${VARVE_ARM64}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${VARVE_ARM64})
