# SPDX-License-Identifier: Apache-2.0
#
# compat/NAME becomes libNAME.so in the folder compat of the build folder: other systems' profiling
# interfaces, served by libvarve.so. compat/ascend is what they share. Each exports what its map
# lists, and needs libvarve and libc alone. They have the names of the vendor's libraries, so they
# are installed into a folder of their own, where no program finds them by accident.
file(GLOB compat_shared CONFIGURE_DEPENDS compat/ascend/*.c)
foreach(name profapi msprofiler)
    file(GLOB sources CONFIGURE_DEPENDS compat/${name}/*.c)
    set(map ${PROJECT_SOURCE_DIR}/compat/${name}/lib${name}.map)
    add_library(${name} SHARED ${sources} ${compat_shared})
    add_library(varve::${name} ALIAS ${name})
    set_target_properties(${name} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/compat LINK_DEPENDS ${map}
        INSTALL_RPATH "$ORIGIN/../..")
    target_include_directories(${name}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat>
               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/varve/compat>
        PRIVATE compat src)
    target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:vv_options> varve_library
        Threads::Threads ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE LINKER:--version-script=${map} LINKER:--as-needed
        LINKER:-z,nodelete)
    if(NOT VARVE_SANITIZE)
        target_link_options(${name} PRIVATE LINKER:-z,defs)
    endif()
endforeach()
