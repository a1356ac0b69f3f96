# Installs the headers and the package: find_package(sora2 0.1 COMPONENTS lz4 zstd safetensors cuda).

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sora2")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sora2" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "*.inl")
install(TARGETS sora2 EXPORT sora2-targets)
install(EXPORT sora2-targets NAMESPACE sora2:: DESTINATION "${package_dir}")

# Before 1.0 a minor version may break users. The library has no pointer size of its own.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sora2-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/sora2-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/sora2-config.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/components.cmake"
        DESTINATION "${package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
