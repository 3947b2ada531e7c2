# SPDX-License-Identifier: Apache-2.0
#
# One static library vv_ROOM for each line of src/LAYERS (vv_import_chrome for import/chrome),
# linked to those it may use, and built for who links it. vv_layers lists the rooms. A room of
# headers is a library without code, so that the edges through it still hold.
# What libvarve.so is made of needs libc alone; the rest may use libm. zlib and zstd are
# src/decompress's; src/ctf/pack, of which the recorder calls nothing, compresses by zstd. Without
# them `varve` still builds, and refuses what needs them.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/LAYERS)
file(STRINGS src/LAYERS layer_lines REGEX "^[a-z/]+:")
set(rooms ${layer_lines})
list(TRANSFORM rooms REPLACE ":.*" "")
set(vv_layers ${rooms})
list(TRANSFORM vv_layers REPLACE "/" "_")
set(recorder_floors base settings ctf record device exec observe points collect)
# What is not in libvarve-reader.so (reader.cmake). The functions of all other rooms can be
# exported, and yet call each other as if they could not.
set(hidden_floors record device exec observe points collect cli)
if(PkgConfig_FOUND)
    pkg_check_modules(zstd QUIET IMPORTED_TARGET libzstd)
    pkg_check_modules(zlib QUIET IMPORTED_TARGET zlib)
    pkg_check_modules(isal QUIET IMPORTED_TARGET libisal)
    pkg_check_modules(sqlite QUIET IMPORTED_TARGET sqlite3)
endif()
if(NOT TARGET PkgConfig::zlib)
    message(NOTICE "zlib is missing: varve will not read gzip (tools/setup build)")
elseif(NOT TARGET PkgConfig::isal)
    message(NOTICE "libisal is missing: zlib reads gzip, which takes longer (tools/setup build)")
endif()
if(NOT TARGET PkgConfig::sqlite)
    message(NOTICE
        "sqlite3 is missing: varve will not read Nsight Systems' files, nor .rpd "
        "(tools/setup build)")
endif()
if(NOT TARGET PkgConfig::zstd)
    message(NOTICE "libzstd is missing: varve will not read zstd, nor read or write packed traces"
        " (tools/setup build)")
endif()

foreach(line IN LISTS layer_lines)
    string(REGEX MATCH "^[a-z/]+" room "${line}")
    string(REGEX REPLACE "^[a-z/]+:[ ]*" "" words "${line}")
    separate_arguments(words)
    string(REGEX REPLACE "/.*" "" floor ${room})
    set(uses "")
    foreach(word IN LISTS words) # "base/*" is base and the rooms in it
        string(REGEX REPLACE "/\\*$" "" used "${word}")
        set(found ${rooms})
        list(FILTER found INCLUDE REGEX "^${used}$")
        if(NOT used STREQUAL word)
            set(inside ${rooms})
            list(FILTER inside INCLUDE REGEX "^${used}/")
            list(APPEND found ${inside})
            list(REMOVE_ITEM found ${room})
        endif()
        list(APPEND uses ${found})
    endforeach()
    list(TRANSFORM uses REPLACE "/" "_")
    list(TRANSFORM uses PREPEND vv_)
    if(NOT floor IN_LIST recorder_floors)
        list(APPEND uses m)
    endif()

    string(REPLACE "/" "_" library vv_${room})
    file(GLOB sources CONFIGURE_DEPENDS src/${room}/*.c)
    list(FILTER sources EXCLUDE REGEX "/cli/main\\.c$") # part of the program: command.cmake
    if(sources)
        add_library(${library} STATIC EXCLUDE_FROM_ALL ${sources})
        target_include_directories(${library} PUBLIC include src)
        target_link_libraries(${library} PRIVATE vv_options PUBLIC ${uses})
        if(NOT floor IN_LIST hidden_floors)
            set_target_properties(${library} PROPERTIES C_VISIBILITY_PRESET default)
            target_compile_options(${library} PRIVATE -fno-semantic-interposition)
        endif()
    else()
        add_library(${library} INTERFACE)
        target_include_directories(${library} INTERFACE include src)
        target_link_libraries(${library} INTERFACE ${uses})
    endif()
endforeach()

# One static library vv_ROOM for each line of src/LAYERS (vv_import_chrome for import/chrome),
# linked to those it may use, and built for who links it. vv_layers lists the rooms. A room of
# headers is a library without code, so that the edges through it still hold.
# What libvarve.so is made of needs libc alone; the rest may use libm. zlib, ISA-L and zstd are
# src/decompress's; src/ctf/pack, of which the recorder calls nothing, compresses by zstd. Without
# zlib or zstd `varve` still builds, and refuses what needs them; without ISA-L zlib does its work.
if(TARGET PkgConfig::zlib AND TARGET PkgConfig::isal)
    target_compile_definitions(vv_decompress PRIVATE VV_HAVE_ISAL)
    target_link_libraries(vv_decompress PRIVATE PkgConfig::isal)
endif()
foreach(library zstd zlib)
    if(TARGET PkgConfig::${library})
        string(TOUPPER ${library} name)
        foreach(room decompress ctf_pack cli)
            target_compile_definitions(vv_${room} PRIVATE VV_HAVE_${name})
            target_link_libraries(vv_${room} PRIVATE PkgConfig::${library})
        endforeach()
    endif()
endforeach()
if(TARGET PkgConfig::sqlite)
    foreach(room import_sqlite import_nsys import_rpd import cli)
        target_compile_definitions(vv_${room} PRIVATE VV_HAVE_SQLITE)
        target_include_directories(vv_${room} PRIVATE ${sqlite_INCLUDE_DIRS})
        target_link_libraries(vv_${room} PRIVATE ${CMAKE_DL_LIBS})
    endforeach()
endif()
target_link_libraries(vv_graph_forms PRIVATE ${CMAKE_DL_LIBS}) # librsvg is loaded where it is used

# The HTML page of a graph (src/graph/page) as C, without its data.
set(graph_page ${PROJECT_BINARY_DIR}/generated/graph_page.c)
file(GLOB graph_page_parts CONFIGURE_DEPENDS src/graph/page/*)
add_custom_command(OUTPUT ${graph_page}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/src/graph/page -DOUTPUT=${graph_page}
            -P ${PROJECT_SOURCE_DIR}/cmake/graph_page.cmake
    DEPENDS ${graph_page_parts} ${PROJECT_SOURCE_DIR}/cmake/graph_page.cmake
    COMMENT "Putting the page of graphs together" VERBATIM)
target_sources(vv_graph_forms PRIVATE ${graph_page})

# Its inline functions are handed to one another, which gcc can join only where it optimises more
# than -Og does.
set_source_files_properties(src/base/text/json_scan.c PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:Debug>:-O1>)

# The loops over the events of Kineto's JSON gain from -O3: doc/performance.md.
target_compile_options(vv_import_chrome PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O3>)
