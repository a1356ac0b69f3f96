// One KV page to a block and back on the CPU: 4 bits a value, the first four tokens exact.
#include <cmath>
#include <cstdio>
#include <vector>

#include <sora2/codec/block.hpp>
#include <sora2/codec/quantize.hpp>

using int4 = sora2::quantize<sora2::quantize_config{
    .bits = 4, .along = sora2::axis::channel, .symmetric = false}>;

int main()
{
  // Keys of 64 tokens: 3 heads of 64 channels, [head][token][channel].
  std::vector<sora2::float16> page(3 * 64 * 64), back(page.size());
  for (std::size_t i = 0; i < page.size(); ++i)
    page[i] =
        sora2::to_float16(static_cast<float>(std::sin(0.37 * double(i)) + double(i % 64) / 8));
  sora2::tile<sora2::float16> const keys{page.data(), 3, 64, 64}, decoded{back.data(), 3, 64, 64};

  std::vector<std::byte> block(sora2::block_bound<int4>(2 * page.size()));
  auto const bytes = sora2::write_block<int4>(keys, block, {.exact_rows = 4});
  if (!bytes) return std::fprintf(stderr, "write: %s\n", sora2::status_name(bytes.error())), 1;
  block.resize(*bytes);

  auto const read = sora2::read_block<int4>(block, decoded);
  if (read != sora2::status::ok)
    return std::fprintf(stderr, "read: %s\n", sora2::status_name(read)), 1;
  std::printf("%zu bytes became %zu: %.2f bits a value; value 4242 is %.3f, was %.3f\n",
              2 * page.size(), block.size(), 8.0 * double(block.size()) / double(page.size()),
              double(sora2::to_float(back[4242])), double(sora2::to_float(page[4242])));
}
