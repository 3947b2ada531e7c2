# SPDX-License-Identifier: Apache-2.0
#
# What reads and writes MLIR by MLIR's own code, as objects of their own: neither `varve` nor
# libvarve-reader.so links them. In the build folder they are in mlir/, installed in LIB/varve.
#     varve-mlir-library   opens a library that has MLIR's C API; needs nothing of MLIR to build
#     varve-mlir-llvm      has LLVM 19 inside: libmlir-19-dev, llvm-19-dev
#     varve-mlir-opt-19.so plugin for mlir-opt-19, of C++ over libvarve-reader.so: the same packages
#     examples/NAME.so     mlir/examples/NAME: plugins of users, which read what ours writes
set(mlir_folder ${PROJECT_BINARY_DIR}/mlir)
set(mlir_install ${CMAKE_INSTALL_LIBDIR}/varve)

function(add_converter name)
    add_executable(${name} mlir/convert/main.c mlir/convert/convert.c ${ARGN})
    target_include_directories(${name} PRIVATE mlir/convert)
    target_link_libraries(${name} PRIVATE vv_options vv_mlir_file ${CMAKE_DL_LIBS})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${mlir_folder})
    install(TARGETS ${name} DESTINATION ${mlir_install})
endfunction()

add_converter(varve-mlir-library mlir/convert/open_library.c)

set(VARVE_LLVM /usr/lib/llvm-19 CACHE PATH "Where LLVM 19 and MLIR are")
if(CMAKE_CROSSCOMPILING OR VARVE_SANITIZE)
    return() # LLVM's archives are for this machine, and not sanitized
endif()
if(NOT EXISTS ${VARVE_LLVM}/lib/libMLIRCAPIIR.a OR NOT EXISTS ${VARVE_LLVM}/lib/libLLVMSupport.a)
    message(NOTICE "libmlir-19-dev or llvm-19-dev is missing: varve will not read bytecode by "
        "LLVM 19, and the plugin for mlir-opt-19 is not built (tools/setup clients)")
    return()
endif()

add_converter(varve-mlir-llvm mlir/convert/linked.c)
set(archives
    MLIRCAPIIR MLIRIR MLIRParser MLIRAsmParser MLIRBytecodeReader MLIRBytecodeWriter
    MLIRBytecodeOpInterface MLIRPass MLIRAnalysis MLIRRewrite MLIRSupport MLIRCallInterfaces
    MLIRControlFlowInterfaces MLIRSideEffectInterfaces MLIRDataLayoutInterfaces
    MLIRInferTypeOpInterface MLIRInferIntRangeInterface MLIRLoopLikeInterface
    MLIRFunctionInterfaces MLIRDebug MLIRObservers LLVMSupport LLVMDemangle)
list(TRANSFORM archives REPLACE "(.+)" "${VARVE_LLVM}/lib/lib\\1.a")
target_link_libraries(varve-mlir-llvm PRIVATE
    -Wl,--start-group ${archives} -Wl,--end-group stdc++ m z zstd tinfo)
target_link_options(varve-mlir-llvm PRIVATE LINKER:--gc-sections)

# mlir-opt-19 has MLIR inside and exports it, so plugins link none of it. Its C++ has no RTTI.
enable_language(CXX)
function(add_plugin target name folder)
    add_library(${target} MODULE ${ARGN})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${name} PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${mlir_folder}/${folder}
        C_VISIBILITY_PRESET default CXX_STANDARD 17 CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON INSTALL_RPATH "$ORIGIN/..")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:
        -O1 -fno-rtti -fno-exceptions -Wall -Wextra -Wno-unused-parameter
        $<$<BOOL:${VARVE_WERROR}>:-Werror>>)
    target_include_directories(${target} SYSTEM PRIVATE ${VARVE_LLVM}/include)
    target_include_directories(${target} PRIVATE mlir/include include)
endfunction()

add_library(mlir_core OBJECT mlir/plugin/core.c)
target_include_directories(mlir_core PRIVATE src)
target_link_libraries(mlir_core PRIVATE vv_options varve_reader)
file(GLOB plugin_sources CONFIGURE_DEPENDS mlir/plugin/*.cpp)
add_plugin(varve_mlir_opt varve-mlir-opt-19 "" ${plugin_sources} $<TARGET_OBJECTS:mlir_core>)
target_link_libraries(varve_mlir_opt PRIVATE varve_reader)
set_target_properties(varve_mlir_opt PROPERTIES UNITY_BUILD ON) # most of it is MLIR's headers
install(TARGETS varve_mlir_opt LIBRARY DESTINATION ${mlir_install})
install(DIRECTORY mlir/include/varve/mlir DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/varve)

file(GLOB plugin_examples CONFIGURE_DEPENDS mlir/examples/*.c mlir/examples/*.cpp)
foreach(source IN LISTS plugin_examples)
    cmake_path(GET source STEM name)
    add_plugin(mlir_example_${name} ${name} examples ${source})
endforeach()
