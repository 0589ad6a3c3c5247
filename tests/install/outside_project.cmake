# Installs alpa into a fresh prefix, then configures, builds and runs this folder's project as one outside of the repository.
# cmake -DBUILD=alpa's build folder -DWORK=scratch folder -DCXX=compiler -DFLAGS=flags -P outside_project.cmake
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt ${CMAKE_CURRENT_LIST_DIR}/main.cc DESTINATION ${WORK}/app)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/moved)
file(RENAME ${WORK}/moved ${WORK}/prefix)  # The package must not know where it was first put.
step(${WORK}/prefix/bin/alpa --version)
step(${CMAKE_COMMAND} -S ${WORK}/app -B ${WORK}/app/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${WORK}/app/build)
step(${WORK}/app/build/app)
