#include <sora2/core/result.hpp>
#include <sora2/core/view.hpp>

sora2::result<int> last_of(sora2::view<int const> numbers);

sora2::result<int> last_of(sora2::view<int const> numbers)
{
  if (numbers.size == 0) return sora2::status::not_found;
  return numbers[numbers.size - 1];
}
