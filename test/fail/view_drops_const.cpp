// expect: could not convert | no viable conversion | conversion from
#include <sora2/core/view.hpp>

void fill(sora2::view<int> out);
void use(sora2::view<int const> in);

void use(sora2::view<int const> in)
{
#ifdef SORA2_FIXED
  (void)in;
#else
  fill(in);
#endif
}
