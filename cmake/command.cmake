# SPDX-License-Identifier: Apache-2.0
#
# The program `varve`, and the pages that it writes about itself: man pages and completions. It is
# src/cli; the rest is in libvarve-reader.so. It finds that and libvarve.so beside itself (build
# folder) or at VV_LIBRARY_FROM_BIN from its own folder (installed).
file(RELATIVE_PATH library_from_bin
     ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

file(GLOB main CONFIGURE_DEPENDS src/cli/main.c)
if(NOT main)
    message(NOTICE "src/cli/main.c is absent: the program varve is not built")
    return()
endif()
target_compile_definitions(vv_cli_recording PRIVATE VV_LIBRARY_FROM_BIN="${library_from_bin}")

# `varve help TABLE` prints what these pages say.
set(carried_pages doc/metrics.md doc/columns.md)
list(TRANSFORM carried_pages PREPEND ${PROJECT_SOURCE_DIR}/)
target_compile_definitions(vv_cli_pages PRIVATE VV_DOC_FOLDER="${PROJECT_SOURCE_DIR}/doc")
set_property(SOURCE src/cli/pages/documents.c APPEND PROPERTY OBJECT_DEPENDS ${carried_pages})

set(cli_libraries ${vv_layers})
list(FILTER cli_libraries INCLUDE REGEX "^cli(_|$)")
list(TRANSFORM cli_libraries REPLACE "(.+)" "$<TARGET_OBJECTS:vv_\\1>" OUTPUT_VARIABLE cli_objects)
add_executable(varve ${main} ${cli_objects})
target_include_directories(varve PRIVATE src)
target_link_libraries(varve PRIVATE vv_options varve_reader)
set_target_properties(varve PROPERTIES
    INSTALL_RPATH "$ORIGIN;$ORIGIN/${library_from_bin}" BUILD_WITH_INSTALL_RPATH ON)
add_dependencies(varve varve_library)

if(CMAKE_CROSSCOMPILING)
    return() # the program does not run here
endif()

# A verb is a file src/cli/cmd_VERB.c.
file(GLOB verbs CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/cli src/cli/cmd_*.c)
list(TRANSFORM verbs REPLACE "^cmd_(.*)\\.c$" "\\1")
set(pages ${PROJECT_BINARY_DIR}/pages.stamp)
add_custom_command(OUTPUT ${pages}
    COMMAND ${CMAKE_COMMAND} -DVARVE=$<TARGET_FILE:varve> "-DVERBS=${verbs}"
            -DFOLDER=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/pages.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${pages}
    DEPENDS varve ${PROJECT_SOURCE_DIR}/cmake/pages.cmake
    COMMENT "Writing man pages and completions" VERBATIM)
add_custom_target(pages ALL DEPENDS ${pages})
