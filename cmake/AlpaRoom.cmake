# A room is one static library: every source of its folder, and one test program of its *_test.cc files.

include(AlpaInstall)

add_library(alpa_options INTERFACE)
target_include_directories(alpa_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(alpa_options INTERFACE -Wall -Wextra -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(alpa_options INTERFACE -Wno-restrict)  # false alarms on std::string, GCC bug 105329
endif()
if(ALPA_SANITIZE)
  target_compile_options(alpa_options INTERFACE -fsanitize=${ALPA_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(alpa_options INTERFACE -fsanitize=${ALPA_SANITIZE})
endif()
if(ALPA_BUILD_FUZZERS)
  target_compile_options(alpa_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# alpa_room(NAME [DEPS room...] [LIBS target...]). LIBS that only the rooms' own sources need stand in $<BUILD_INTERFACE:...>:
# the installed package does not ask for them.
function(alpa_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/alpa/${name}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ROOM_DEPS PREPEND alpa_ OUTPUT_VARIABLE deps)
  add_library(alpa_${name} STATIC ${sources})
  target_link_libraries(alpa_${name} PUBLIC $<BUILD_INTERFACE:alpa_options> ${deps} ${ROOM_LIBS})
  target_compile_features(alpa_${name} PUBLIC cxx_std_20)
  alpa_install_library(${name})
  if(ALPA_BUILD_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE alpa_${name} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name}_test PRIVATE ALPA_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data" ALPA_VENV="${ALPA_VENV}")
    add_test(NAME unit.${name} COMMAND ${name}_test)
  endif()
endfunction()
