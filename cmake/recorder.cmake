# SPDX-License-Identifier: Apache-2.0
#
# libvarve.so: what runs in the user's process. It is src/record, src/device, src/exec,
# src/observe, src/points and src/collect whole, and of src/ctf, src/settings and
# src/base the files that they call. It needs libc alone (-z defs and tests/lint see to it), never
# leaves the process once loaded (-z nodelete: threads may still be inside), and finds its
# thread-local data without a call (initial-exec), also in signal handlers; for their sake nothing
# is bound lazily (-z now).
#
# Its objects are those of the rooms' archives, which tests link. With -fsanitize=null alone each is
# compiled twice: gcc 12 and the linker's relaxation of initial-exec in programs disagree on a flag.
set(recorder_rooms ${rooms})
list(FILTER recorder_rooms INCLUDE REGEX "^(record|device|exec|observe|points|collect)(/|$)")
set(recorder_code "")
foreach(room IN LISTS recorder_rooms)
    string(REPLACE "/" "_" library vv_${room})
    get_target_property(kind ${library} TYPE)
    if(NOT kind STREQUAL "STATIC_LIBRARY")
        continue()
    endif()
    if(VARVE_SANITIZE MATCHES "undefined")
        file(GLOB sources CONFIGURE_DEPENDS src/${room}/*.c)
        list(APPEND recorder_code ${sources})
    else()
        target_compile_options(${library} PRIVATE -ftls-model=initial-exec)
        list(APPEND recorder_code $<TARGET_OBJECTS:${library}>)
    endif()
endforeach()

# Which symbols it exports: those of include/varve, and the entry points of other programs'
# interfaces.
set(entry_point_list ${PROJECT_SOURCE_DIR}/src/collect/EXPORTS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${entry_point_list})
file(STRINGS ${entry_point_list} entry_points REGEX "^[A-Za-z_][A-Za-z0-9_]*:")
list(TRANSFORM entry_points REPLACE ":.*" "")
list(JOIN entry_points ";\n    " entry_points)
set(recorder_map ${PROJECT_BINARY_DIR}/libvarve.map)
configure_file(src/record/libvarve.map.in ${recorder_map} @ONLY)

add_library(varve_library SHARED ${recorder_code})
add_library(varve::varve ALIAS varve_library)
set_target_properties(varve_library PROPERTIES
    OUTPUT_NAME varve EXPORT_NAME varve LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS ${recorder_map})
target_include_directories(varve_library
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE src)
target_link_libraries(varve_library PRIVATE
    $<BUILD_INTERFACE:vv_options> $<BUILD_INTERFACE:vv_ctf_snapshot> $<BUILD_INTERFACE:vv_ctf>
    $<BUILD_INTERFACE:vv_settings> $<BUILD_INTERFACE:vv_base_text> $<BUILD_INTERFACE:vv_base_system>
    $<BUILD_INTERFACE:vv_base>)
target_link_options(varve_library PRIVATE
    LINKER:--version-script=${recorder_map} LINKER:--as-needed
    LINKER:-z,nodelete LINKER:-z,relro LINKER:-z,now)
if(NOT VARVE_SANITIZE) # clang gives its sanitizers to programs only
    target_link_options(varve_library PRIVATE LINKER:-z,defs)
endif()
target_compile_options(varve_library PRIVATE -ftls-model=initial-exec)
