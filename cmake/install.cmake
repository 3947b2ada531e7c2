# SPDX-License-Identifier: Apache-2.0
#
# `cmake --install BUILD --prefix PREFIX`. All that is installed finds the rest relative to itself,
# so the prefix may be chosen, or changed, at install time.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/varve)

install(TARGETS varve_library varve_reader EXPORT varve-targets)
if(TARGET varve)
    install(TARGETS varve)
endif()
install(DIRECTORY include/varve DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

# Other systems' interfaces, apart: -I INCLUDE/varve/compat, -L LIB/varve/compat, varve-compat.pc.
set(compat_folder ${CMAKE_INSTALL_LIBDIR}/varve/compat)
install(DIRECTORY include/compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/varve/compat
        FILES_MATCHING PATTERN "*.h")
install(TARGETS profapi msprofiler LIBRARY DESTINATION ${compat_folder})

# The Python module: by PYTHONPATH from there, or into an environment by pip install.
set(python_folder ${CMAKE_INSTALL_DATADIR}/varve/python)
install(DIRECTORY python/varve DESTINATION ${python_folder}
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES python/pyproject.toml python/build_wheel.py DESTINATION ${python_folder})

# From the folder of varve.pc, and from that of varve-config.cmake, up to the prefix.
file(RELATIVE_PATH prefix_from_pc
     ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/varve.pc.in varve.pc @ONLY)
configure_file(cmake/varve-compat.pc.in varve-compat.pc @ONLY)
configure_file(cmake/varve-reader.pc.in varve-reader.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/varve.pc ${PROJECT_BINARY_DIR}/varve-compat.pc
              ${PROJECT_BINARY_DIR}/varve-reader.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/varve-config.cmake.in varve-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(varve-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/varve-config.cmake
              ${PROJECT_BINARY_DIR}/varve-config-version.cmake
        DESTINATION ${package_folder})
install(EXPORT varve-targets NAMESPACE varve:: DESTINATION ${package_folder})

set(completions ${PROJECT_BINARY_DIR}/completions)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
        FILES_MATCHING PATTERN "*.1")
install(FILES ${completions}/varve OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${completions}/_varve OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${completions}/varve.fish OPTIONAL
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The pages that help, man pages and messages name, and the examples that the pages name.
file(RELATIVE_PATH headers_from_pages
     ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
install(CODE "set(SOURCES \"${PROJECT_SOURCE_DIR}\")
set(HEADERS \"${headers_from_pages}\")
set(WRITTEN \"${PROJECT_BINARY_DIR}/installed_pages\")
set(TARGET \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/install_pages.cmake\")")
install(DIRECTORY doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        PATTERN "__pycache__" EXCLUDE PATTERN "*.md" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
