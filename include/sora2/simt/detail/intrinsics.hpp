/// The x86 intrinsics of the warps: AVX2, FMA, F16C and AVX-512 F. Host only.
#pragma once

#if defined(__x86_64__)

// Most of the time that g++ spends on <immintrin.h> goes into sets no warp uses; its parts need this guard and this order.
// Who includes <immintrin.h> afterwards gets the rest. SORA2_WHOLE_IMMINTRIN is for tests, which replace that file.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 && __GNUC__ <= 14 && \
    !defined(_IMMINTRIN_H_INCLUDED) && !defined(SORA2_WHOLE_IMMINTRIN)
#define _IMMINTRIN_H_INCLUDED
// clang-format off
#include <nmmintrin.h>
#include <avxintrin.h>
#include <avx2intrin.h>
#include <avx512fintrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
// clang-format on
#undef _IMMINTRIN_H_INCLUDED
#else
#include <immintrin.h>
#endif

#endif
