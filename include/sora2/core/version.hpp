// The version of the library and of the bytes it writes. Macros only, so `#if` can ask.
// Smallest use: `#if SORA2_VERSION >= 100`. Limits: none; includes nothing.
#pragma once

#define SORA2_VERSION_MAJOR 0
#define SORA2_VERSION_MINOR 1
#define SORA2_VERSION_PATCH 0

/// 10000 * major + 100 * minor + patch.
#define SORA2_VERSION \
  (10000 * SORA2_VERSION_MAJOR + 100 * SORA2_VERSION_MINOR + SORA2_VERSION_PATCH)

/// Changes only when encoded bytes change; each change has a line in CHANGELOG.md.
#define SORA2_FORMAT_VERSION 1
