// expect: delta takes elements of 1, 2, 4 or 8 bytes
// There is no integer of three bytes.
#include <sora2/codec/delta.hpp>

#ifdef SORA2_FIXED
using codec = sora2::delta<sora2::delta_config{.element = 4}>;
#else
using codec = sora2::delta<sora2::delta_config{.element = 3}>;
#endif

std::size_t use();
std::size_t use() { return codec::encoded_bound(1000); }
