# `cmake --install`: the command, the rooms' libraries, the public headers and a CMake package. An outside project says
# find_package(alpa REQUIRED) and links alpa::alpa.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(ALPA_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
set(ALPA_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/alpa)

# The library alpa_NAME becomes alpa::NAME of the package.
function(alpa_install_library name)
  set_target_properties(alpa_${name} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS alpa_${name} EXPORT alpaTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endfunction()

# All but the libraries and the command. Headers are chosen when they are installed: an edit needs no new configuration.
function(alpa_install_package)
  install(EXPORT alpaTargets NAMESPACE alpa:: DESTINATION ${ALPA_PACKAGE_DIR})
  configure_package_config_file(${ALPA_CMAKE_DIR}/alpaConfig.cmake.in ${PROJECT_BINARY_DIR}/alpaConfig.cmake
    INSTALL_DESTINATION ${ALPA_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/alpaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/alpaConfig.cmake ${PROJECT_BINARY_DIR}/alpaConfigVersion.cmake
    ${ALPA_CMAKE_DIR}/FindHighsC.cmake DESTINATION ${ALPA_PACKAGE_DIR})
  install(CODE "
    include(${ALPA_CMAKE_DIR}/PublicHeaders.cmake)
    alpa_public_headers(${PROJECT_SOURCE_DIR}/src headers)
    foreach(header IN LISTS headers)
      cmake_path(GET header PARENT_PATH folder)
      file(INSTALL ${PROJECT_SOURCE_DIR}/src/\${header}
        DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/\${folder})
    endforeach()")
endfunction()
