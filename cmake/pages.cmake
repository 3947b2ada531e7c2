# SPDX-License-Identifier: Apache-2.0
#
# Run by the build: lets VARVE write its man pages into FOLDER/man and its completions into
# FOLDER/completions. A page that it cannot write is left out, and said; the build goes on.

function(write_page file)
    execute_process(COMMAND ${VARVE} ${ARGN}
        OUTPUT_FILE ${file}.new ERROR_QUIET RESULT_VARIABLE status)
    file(SIZE ${file}.new size)
    if(status EQUAL 0 AND size GREATER 0)
        file(RENAME ${file}.new ${file})
    else()
        file(REMOVE ${file}.new ${file})
        list(JOIN ARGN " " command)
        message(STATUS "left out: varve ${command}")
    endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER}/man ${FOLDER}/completions)
file(MAKE_DIRECTORY ${FOLDER}/man ${FOLDER}/completions)
write_page(${FOLDER}/man/varve.1 help --man varve)
foreach(verb IN LISTS VERBS)
    write_page(${FOLDER}/man/varve-${verb}.1 help --man ${verb})
endforeach()
# Each under the name that its shell looks for.
write_page(${FOLDER}/completions/varve completions bash)
write_page(${FOLDER}/completions/_varve completions zsh)
write_page(${FOLDER}/completions/varve.fish completions fish)
