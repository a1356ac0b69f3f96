# For the project's own tests, benchmarks and examples only; no user of the library meets these two targets.

find_program(SORA2_CCACHE ccache)
mark_as_advanced(SORA2_CCACHE)
if(SORA2_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SORA2_CCACHE}")
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${SORA2_CCACHE}")
endif()

# sora2_warnings: what our own sources must be clean of. The presets turn them into errors.
add_library(sora2_warnings INTERFACE)
set(SORA2_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wold-style-cast -Wnon-virtual-dtor)
target_compile_options(sora2_warnings INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${SORA2_WARNINGS}>"
  "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wshadow>")

# sora2_everything: the library with every component and peer found here, each with SORA2_HAS_<NAME> defined to 1.
add_library(sora2_everything INTERFACE)
target_link_libraries(sora2_everything INTERFACE sora2::sora2)
foreach(component lz4 zstd safetensors cuda)
  if(TARGET sora2::${component})
    string(TOUPPER ${component} upper)
    target_link_libraries(sora2_everything INTERFACE sora2::${component})
    target_compile_definitions(sora2_everything INTERFACE SORA2_HAS_${upper}=1)
  endif()
endforeach()

# A second reader of safetensors headers for the tests, and the writer of the program's JSON.
find_package(nlohmann_json 3.10 CONFIG QUIET)
if(TARGET nlohmann_json::nlohmann_json)
  target_link_libraries(sora2_everything INTERFACE nlohmann_json::nlohmann_json)
endif()

# The peers have no CMake package: header and library are looked for by name.
function(add_peer name header library)
  string(TOUPPER ${name} upper)
  find_path(SORA2_${upper}_INCLUDE ${header})
  find_library(SORA2_${upper}_LIBRARY ${library})
  mark_as_advanced(SORA2_${upper}_INCLUDE SORA2_${upper}_LIBRARY)
  if(SORA2_${upper}_INCLUDE AND SORA2_${upper}_LIBRARY)
    target_include_directories(sora2_everything SYSTEM INTERFACE "${SORA2_${upper}_INCLUDE}")
    target_link_libraries(sora2_everything INTERFACE "${SORA2_${upper}_LIBRARY}")
    target_compile_definitions(sora2_everything INTERFACE SORA2_HAS_${upper}=1)
  else()
    message(STATUS "sora2: without the peer ${name} in tests and benchmarks (no ${header})")
  endif()
endfunction()
add_peer(blosc blosc.h blosc)
add_peer(htscodecs htscodecs/rANS_static4x16.h htscodecs)

# More test data may lie beside the checkout.
set(SORA2_SHARED_DIR "${PROJECT_SOURCE_DIR}/../shared" CACHE PATH "folder with more test data, optional")
if(IS_DIRECTORY "${SORA2_SHARED_DIR}")
  get_filename_component(shared_dir "${SORA2_SHARED_DIR}" ABSOLUTE)
  target_compile_definitions(sora2_everything INTERFACE "SORA2_SHARED_DIR=\"${shared_dir}\"")
endif()
target_compile_definitions(sora2_everything INTERFACE
  "SORA2_TEST_DATA_DIR=\"${PROJECT_SOURCE_DIR}/test/data\""
  "SORA2_SAMPLE_DIR=\"${PROJECT_SOURCE_DIR}/examples/data\"")

# All CUDA programs build with the target cuda_sources. Without a GPU their tests run under an emulator where one lies
# beside the checkout, and else are skipped.
add_custom_target(cuda_sources)
set(SORA2_CUDA_LAUNCHER "" CACHE STRING "command in front of CUDA tests")
set(cuda_launcher "${SORA2_CUDA_LAUNCHER}")
set(emulator "${SORA2_SHARED_DIR}/tools/cuda-emulator/run")
if(NOT cuda_launcher AND EXISTS "${emulator}" AND NOT EXISTS /dev/nvidiactl)
  set(cuda_launcher "${emulator}")
endif()
