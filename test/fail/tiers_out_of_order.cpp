// expect: tiers are named in rising order of their level
// L1 before L2.
#include <sora2/codec/planes.hpp>
#include <sora2/codec/quantize.hpp>
#include <sora2/codec/tiers.hpp>

#ifdef SORA2_FIXED
using levels = sora2::tiers<sora2::quantize<>, sora2::planes<>>;
#else
using levels = sora2::tiers<sora2::planes<>, sora2::quantize<>>;
#endif

std::size_t use();
std::size_t use() { return levels::encoded_bound(1000); }
