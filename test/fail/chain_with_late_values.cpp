// expect: only the first stage of a chain may code values
// The second stage gets bytes, which a value codec does not take.
#include <sora2/codec/chain.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/quantize.hpp>

#ifdef SORA2_FIXED
using packer = sora2::chain<sora2::quantize<>, sora2::planes<>>;
#else
using packer = sora2::chain<sora2::planes<>, sora2::quantize<>>;
#endif

std::size_t use();
std::size_t use() { return packer::encoded_bound(1000); }
