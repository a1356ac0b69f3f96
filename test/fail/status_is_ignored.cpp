// expect: nodiscard | ignoring returned value
// A status that nobody reads hides damaged data.
#include <sora2/core/status.hpp>

sora2::status read_page();
void use();

void use()
{
#ifdef SORA2_FIXED
  if (read_page() != sora2::status::ok) return;
#else
  read_page();
#endif
}
