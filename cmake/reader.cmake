# SPDX-License-Identifier: Apache-2.0
#
# libvarve-reader.so: what reads traces and answers questions about them. It is every room of src/
# but those of the recorder alone and those of the command line, whole; tests link the same objects
# as archives. Programs see include/varve/reader.h (VARVE_READER_0.1). The command `varve` also uses
# what is internal, under a node that has a digest of the sources in its name: the loader refuses a
# command and a library that are not of one build. Calls within the library go straight there
# (-Bsymbolic).
set(reader_rooms "")
foreach(room IN LISTS rooms)
    string(REGEX REPLACE "/.*" "" floor ${room})
    if(NOT floor IN_LIST hidden_floors)
        list(APPEND reader_rooms ${room})
    endif()
endforeach()

set(reader_objects "")
set(reader_sources "")
foreach(room IN LISTS reader_rooms)
    string(REPLACE "/" "_" library vv_${room})
    get_target_property(kind ${library} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
        list(APPEND reader_objects $<TARGET_OBJECTS:${library}>)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS src/${room}/*.[ch])
    list(APPEND reader_sources ${sources})
endforeach()
file(GLOB sources CONFIGURE_DEPENDS include/varve/*.h)
list(APPEND reader_sources ${sources})

set(reader_map ${PROJECT_BINARY_DIR}/libvarve-reader.map)
set(reader_map_in ${PROJECT_SOURCE_DIR}/src/reader/libvarve-reader.map.in)
set(digested ${PROJECT_BINARY_DIR}/libvarve-reader.sources)
list(JOIN reader_sources "\n" reader_lines)
file(CONFIGURE OUTPUT ${digested} CONTENT "${reader_lines}\n" @ONLY)
add_custom_command(OUTPUT ${reader_map}
    COMMAND ${CMAKE_COMMAND} -DSOURCES=${digested} -DROOT=${PROJECT_SOURCE_DIR}
            -DMAP_IN=${reader_map_in} -DMAP=${reader_map}
            -P ${PROJECT_SOURCE_DIR}/cmake/private_node.cmake
    DEPENDS ${reader_sources} ${digested} ${reader_map_in}
            ${PROJECT_SOURCE_DIR}/cmake/private_node.cmake
    COMMENT "Naming the private node of libvarve-reader.so" VERBATIM)
add_custom_target(reader_map DEPENDS ${reader_map})

add_library(varve_reader SHARED ${reader_objects})
add_library(varve::reader ALIAS varve_reader)
add_dependencies(varve_reader reader_map)
set_target_properties(varve_reader PROPERTIES
    OUTPUT_NAME varve-reader EXPORT_NAME reader LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINK_DEPENDS ${reader_map})
target_include_directories(varve_reader
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(varve_reader PRIVATE
    $<BUILD_INTERFACE:vv_options> Threads::Threads m ${CMAKE_DL_LIBS})
foreach(library zlib isal zstd)
    if(TARGET PkgConfig::${library})
        target_link_libraries(varve_reader PRIVATE $<BUILD_INTERFACE:PkgConfig::${library}>)
    endif()
endforeach()
target_link_options(varve_reader PRIVATE
    LINKER:--version-script=${reader_map} LINKER:--as-needed LINKER:-Bsymbolic)
if(NOT VARVE_SANITIZE)
    target_link_options(varve_reader PRIVATE LINKER:-z,defs)
endif()
