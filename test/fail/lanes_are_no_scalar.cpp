// expect: cannot convert | no viable conversion
// Only a collective turns lanes into one value.
#include <sora2/simt/host_warp.hpp>

float total(sora2::host_warp const& w, float const* p);

float total(sora2::host_warp const& w, float const* p)
{
  auto const x = w.load<float>(p);
#ifdef SORA2_FIXED
  return w.sum(x);
#else
  return x;
#endif
}
