# SPDX-License-Identifier: Apache-2.0
#
# At install time: the pages of doc/ and of examples/, and the changes, with links that lead
# somewhere from there. The examples lie in a folder beside the pages, the headers below the prefix;
# what else is of the source tree stays as a name.
#     SOURCES   the source tree                  HEADERS   from the installed pages to the headers
#     WRITTEN   where they are written to        TARGET    where they are installed
file(GLOB pages RELATIVE "${SOURCES}" "${SOURCES}/doc/*.md" "${SOURCES}/examples/*.md"
     "${SOURCES}/examples/*/*.md" "${SOURCES}/CHANGELOG.md")
file(REMOVE_RECURSE "${WRITTEN}")
foreach(page IN LISTS pages)
    file(READ "${SOURCES}/${page}" text)
    if(page MATCHES "^doc/(.*)")
        set(page ${CMAKE_MATCH_1})
        string(REPLACE "](../examples/" "](examples/" text "${text}")
        string(REPLACE "](../include/" "](${HEADERS}/" text "${text}")
        string(REGEX REPLACE "\\[([^]]*)\\]\\(\\.\\./[^.)][^)]*\\)" "\\1" text "${text}")
    elseif(page STREQUAL "CHANGELOG.md")
        string(REPLACE "](doc/" "](" text "${text}")
    else()
        string(REPLACE "../doc/" "../" text "${text}")
        string(REPLACE "](../include/" "](../${HEADERS}/" text "${text}")
    endif()
    file(WRITE "${WRITTEN}/${page}" "${text}")
endforeach()
file(INSTALL "${WRITTEN}/" DESTINATION "${TARGET}" FILES_MATCHING PATTERN "*.md")
