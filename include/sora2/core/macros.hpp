/// Two-sided function macros: one source for host compilers and for CUDA.
/// Smallest use: `SORA2_HD constexpr int twice(int x) { return 2 * x; }`.
/// Limits: C++20. `SORA2_TWO_SIDED` stands before `template` of a function that calls host-only or device-only members.
#pragma once

#if __cplusplus < 202002L
#error "sora2 needs C++20: pass -std=c++20 to the compiler (and to nvcc)"
#endif

#include <sora2/core/version.hpp>

#if defined(__CUDACC__)
#define SORA2_HD __host__ __device__
#define SORA2_DEVICE __device__
#define SORA2_TWO_SIDED _Pragma("nv_exec_check_disable")
#else
#define SORA2_HD
#define SORA2_DEVICE
#define SORA2_TWO_SIDED
#endif

/// True while a compiler pass makes code for a GPU.
#if defined(__CUDA_ARCH__)
#define SORA2_ON_DEVICE 1
#else
#define SORA2_ON_DEVICE 0
#endif

/// Codec bodies carry SORA2_INLINE so that they end up inside the entry that names the instruction set, which carries
/// SORA2_FLATTEN. For g++ flattening is enough, and a plain `inline` makes better code in half the compile time; clang
/// flattens one level only, so there, and in kernels, bodies insist. Without optimisation and under AddressSanitizer there
/// is no speed to win, and bodies stay apart: such builds would take minutes a file.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SORA2_KEEP_APART 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || (defined(__GNUC__) && !defined(__OPTIMIZE__))
#define SORA2_KEEP_APART 1
#endif
#if (defined(__clang__) || SORA2_ON_DEVICE) && !defined(SORA2_KEEP_APART)
#define SORA2_INLINE inline __attribute__((always_inline))
#else
#define SORA2_INLINE inline
#endif
#if defined(__GNUC__) && !defined(SORA2_KEEP_APART)
#define SORA2_FLATTEN __attribute__((flatten))
#else
#define SORA2_FLATTEN
#endif

/// Before a loop whose index must be a constant in every round: arrays of lanes stay in registers then.
#if SORA2_ON_DEVICE
#define SORA2_UNROLL _Pragma("unroll")
#else
#define SORA2_UNROLL
#endif

/// Before a loop over a few vectors in host code: they stay in registers at -O2 too.
#if defined(__CUDACC__)
#define SORA2_UNROLL_ON_HOST
#elif defined(__clang__)
#define SORA2_UNROLL_ON_HOST _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define SORA2_UNROLL_ON_HOST _Pragma("GCC unroll 16")
#else
#define SORA2_UNROLL_ON_HOST
#endif

/// Misuse by the caller: stops in checked builds (SORA2_CHECKED or no NDEBUG), undefined otherwise.
#if !SORA2_ON_DEVICE && (defined(SORA2_CHECKED) || !defined(NDEBUG))
#define SORA2_EXPECTS(condition) ((condition) ? static_cast<void>(0) : __builtin_trap())
#else
#define SORA2_EXPECTS(condition) static_cast<void>(0)
#endif
