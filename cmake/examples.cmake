# SPDX-License-Identifier: Apache-2.0
#
# examples/NAME/*.c become the program examples/NAME in the build folder, linked to libvarve.so as a
# user's program would be; `reader` to libvarve-reader.so. `train` also needs OpenBLAS; without it
# that example alone is left out.
# `graphrun` has its data from `train`, and without OpenCL or MPI refuses what needs them.
file(GLOB example_folders CONFIGURE_DEPENDS examples/*)
if(PkgConfig_FOUND)
    pkg_check_modules(openblas QUIET IMPORTED_TARGET openblas)
    pkg_check_modules(opencl QUIET IMPORTED_TARGET OpenCL)
    pkg_search_module(mpi QUIET IMPORTED_TARGET mpi-c ompi-c mpich)
endif()

foreach(folder IN LISTS example_folders)
    cmake_path(GET folder FILENAME name)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    if(NOT sources)
        continue()
    endif()
    if(name STREQUAL "train" AND NOT TARGET PkgConfig::openblas)
        message(NOTICE "OpenBLAS is missing: examples/train is not built (tools/setup demo)")
        continue()
    endif()
    add_executable(example_${name} ${sources})
    set_target_properties(example_${name} PROPERTIES
        OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    set(library varve_library)
    if(name STREQUAL "reader")
        set(library varve_reader)
    endif()
    target_link_libraries(example_${name} PRIVATE vv_options ${library} Threads::Threads m)
    if(name STREQUAL "train")
        target_link_libraries(example_${name} PRIVATE PkgConfig::openblas)
    endif()
endforeach()

target_sources(example_graphrun PRIVATE
    examples/train/digits.c examples/train/loader.c examples/train/buffer.c)
target_include_directories(example_graphrun PRIVATE examples/graphrun) # for the assembler
foreach(library opencl mpi)
    if(TARGET PkgConfig::${library})
        string(TOUPPER GRAPHRUN_${library} has_library)
        target_compile_definitions(example_graphrun PRIVATE ${has_library})
        target_link_libraries(example_graphrun PRIVATE PkgConfig::${library})
    endif()
endforeach()
