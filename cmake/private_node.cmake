# SPDX-License-Identifier: Apache-2.0
#
# Run by the build: writes MAP, which is MAP_IN with a digest of the files that SOURCES lists, by
# their names below ROOT and by what is in them.
file(STRINGS ${SOURCES} sources)
list(SORT sources)
set(lines "")
foreach(source IN LISTS sources)
    file(SHA256 ${source} digest)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE name)
    string(APPEND lines "${digest} ${name}\n")
endforeach()
string(SHA256 digest "${lines}")
string(SUBSTRING ${digest} 0 16 digest)
configure_file(${MAP_IN} ${MAP} @ONLY)
file(TOUCH ${MAP})
