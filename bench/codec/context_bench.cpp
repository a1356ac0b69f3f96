// The context coder on pages of 3 heads, 64 tokens, 64 channels, beside memcpy.
#include <sora2/codec/context.hpp>

#include "value_codec.hpp"

namespace {

using namespace sora2;

int register_all()
{
  bench::page_shape const page{3, 64, 64};
  bench::add_working_set_memcpy("context");
  bench::add_value_codec<context<context_k>>("context/keys", page);
  bench::add_value_codec<context<context_v>>("context/values", page);
  return 0;
}
int const registered = register_all();

}  // namespace
