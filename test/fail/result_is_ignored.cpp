// expect: nodiscard | ignoring returned value
#include <sora2/core/result.hpp>

sora2::result<int> read_page();
int use();

int use()
{
#ifdef SORA2_FIXED
  auto const page = read_page();
  return page ? *page : 0;
#else
  read_page();
  return 0;
#endif
}
