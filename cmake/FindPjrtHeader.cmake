# The header of the PJRT C API, from the wheel `xla-cpu-pjrt`. Makes the header-only target Pjrt::header;
# plug-ins are loaded at run time and never linked.
file(GLOB _pjrt_include ${ALPA_VENV}/lib/python3*/site-packages/xla_plugins/xla_cpu_pjrt/include)
find_path(PjrtHeader_INCLUDE_DIR pjrt_c_api.h PATHS ${_pjrt_include} NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PjrtHeader
  REQUIRED_VARS PjrtHeader_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run `make setup`, which installs the wheel xla-cpu-pjrt into ${ALPA_VENV}")
if(PjrtHeader_FOUND AND NOT TARGET Pjrt::header)
  add_library(Pjrt::header INTERFACE IMPORTED)
  set_target_properties(Pjrt::header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${PjrtHeader_INCLUDE_DIR})
endif()
