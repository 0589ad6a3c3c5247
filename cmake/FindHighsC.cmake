# HiGHS from the wheel `highsbox`, through its C API alone (its C++ ABI is the old std::string one).
# Makes the target HighsC::highs. The wheel's own CMake config names folders that do not exist.
file(GLOB _highs_dist ${ALPA_VENV}/lib/python3*/site-packages/highsbox/highs_dist)
find_path(HighsC_INCLUDE_DIR interfaces/highs_c_api.h PATHS ${_highs_dist}/include/highs NO_DEFAULT_PATH)
find_library(HighsC_LIBRARY highs PATHS ${_highs_dist}/lib NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HighsC
  REQUIRED_VARS HighsC_LIBRARY HighsC_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "ALPA_VENV=${ALPA_VENV} lacks the wheel highsbox: run `make setup` there, or name by -DALPA_VENV=DIR an environment where `pip install highsbox` was run")
if(HighsC_FOUND AND NOT TARGET HighsC::highs)
  add_library(HighsC::highs SHARED IMPORTED)
  set_target_properties(HighsC::highs PROPERTIES
    IMPORTED_LOCATION ${HighsC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES "${HighsC_INCLUDE_DIR}/interfaces;${HighsC_INCLUDE_DIR}")
endif()
