# SPDX-License-Identifier: Apache-2.0
#
# The program `varve`, and the pages that it writes about itself: man pages and completions. It
# finds libvarve.so beside itself (build folder) or at VV_LIBRARY_FROM_BIN from its own folder
# (installed).
file(RELATIVE_PATH library_from_bin
     ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

file(GLOB main CONFIGURE_DEPENDS src/cli/main.c)
if(NOT main)
    message(NOTICE "src/cli/main.c is absent: the program varve is not built")
    return()
endif()
target_compile_definitions(vv_cli PRIVATE VV_LIBRARY_FROM_BIN="${library_from_bin}")

add_executable(varve ${main})
target_link_libraries(varve PRIVATE vv_options vv_cli)
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
