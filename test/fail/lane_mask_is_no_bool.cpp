// expect: lane_mask | could not convert
// A branch on lane data would differ between lanes: it needs select, or a collective.
#include <sora2/simt/host_warp.hpp>

float larger(sora2::host_warp const& w, float const* p);

float larger(sora2::host_warp const& w, float const* p)
{
  auto const x = w.load<float>(p);
#ifdef SORA2_FIXED
  if (w.any(x > 1.0f)) return 1.0f;
#else
  if (x > 1.0f) return 1.0f;
#endif
  return w.sum(x);
}
