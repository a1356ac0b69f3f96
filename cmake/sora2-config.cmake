include("${CMAKE_CURRENT_LIST_DIR}/sora2-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/components.cmake")
sora2_check_components()
