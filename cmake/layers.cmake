# SPDX-License-Identifier: Apache-2.0
#
# One static library vv_FOLDER for each line of src/LAYERS, linked to those it may use. A folder without C
# files is a library without code, so that the edges through it still hold. vv_layers lists the folders.
# What libvarve.so is made of needs libc alone; the rest may use libm. zstd serves packed traces (src/ctf/pack*),
# of which the recorder calls nothing; without it `varve` still builds and refuses them.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/LAYERS)
file(STRINGS src/LAYERS layer_lines REGEX "^[a-z]+:")
set(vv_layers "")
set(recorder_layers base ctf record collect)
if(PkgConfig_FOUND)
    pkg_check_modules(zstd QUIET IMPORTED_TARGET libzstd)
endif()
if(NOT TARGET PkgConfig::zstd)
    message(NOTICE "libzstd is missing: varve will not read or write packed traces (tools/setup build)")
endif()

foreach(line IN LISTS layer_lines)
    string(REGEX MATCH "^[a-z]+" folder "${line}")
    string(REGEX REPLACE "^[a-z]+:[ ]*" "" uses "${line}")
    separate_arguments(uses)
    list(TRANSFORM uses PREPEND vv_)
    list(APPEND vv_layers ${folder})
    if(NOT folder IN_LIST recorder_layers)
        list(APPEND uses m)
    endif()

    file(GLOB sources CONFIGURE_DEPENDS src/${folder}/*.c)
    list(FILTER sources EXCLUDE REGEX "/cli/main\\.c$") # main.c belongs to the program (command.cmake)
    if(sources)
        add_library(vv_${folder} STATIC ${sources})
        target_include_directories(vv_${folder} PUBLIC include src)
        target_link_libraries(vv_${folder} PRIVATE vv_options PUBLIC ${uses})
    else()
        add_library(vv_${folder} INTERFACE)
        target_include_directories(vv_${folder} INTERFACE include src)
        target_link_libraries(vv_${folder} INTERFACE ${uses})
    endif()
endforeach()

if(TARGET PkgConfig::zstd)
    target_compile_definitions(vv_ctf PRIVATE VV_HAVE_ZSTD)
    target_link_libraries(vv_ctf PRIVATE PkgConfig::zstd)
endif()
