// Decodes one page over and over: by a chain, by tiers, or by the same steps written down in one function. The check
// composition.py counts the instructions of each.
// Use: composition hand|chain|tiers REPETITIONS
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <sora2/codec/chain.hpp>
#include <sora2/codec/delta.hpp>
#include <sora2/codec/lz4.hpp>
#include <sora2/codec/planes.hpp>
#include <sora2/codec/quantize.hpp>
#include <sora2/codec/tiers.hpp>
#include <sora2/simt/dispatch.hpp>
#include <support/byte_pages.hpp>

namespace {

using namespace sora2;

using first = quantize<quantize_config{.bits = 4, .symmetric = false}>;
using second = delta<delta_config{.element = 1, .distance = 32}>;
using third = planes<planes_config{.element = 1, .kind = plane_kind::bit}>;
using fourth = lz4<>;
using composed = chain_of<chain_config{.page_bytes = 16384}, first, second, third, fourth>;
using levels = tiers<quantize<>, composed>;

constexpr std::uint32_t rows = 64, columns = 64;

template <class Warp>
struct hand_scratch {
  alignas(16) std::byte one[16384 + 1024], two[16384 + 1024];
  union {
    typename first::template scratch<Warp> a;
    typename second::template scratch<Warp> b;
    typename third::template scratch<Warp> c;
    typename fourth::template scratch<Warp> d;
  };
  hand_scratch() {}
};

/// The four steps as a user would write them without a chain, with the same checks.
template <class Warp>
SORA2_INLINE status by_hand(Warp const& w, hand_scratch<Warp>& s, view<std::byte const> in,
                            tile<float16> out)
{
  if (in.size < 4) return status::corrupt_input;
  auto const word = load_le<std::uint32_t>(in.data);
  std::size_t const length = word & 0x7FFFFFFFu;
  view<std::byte const> bytes = in.from(4);
  if (length > sizeof s.two) return status::corrupt_input;
  if ((word & 0x80000000u) != 0) {
    if (length != bytes.size) return status::corrupt_input;
  } else {
    if (auto const done = fourth::decode(w, s.d, bytes, {s.two, length}); done != status::ok)
      return done;
    w.sync();
    bytes = {s.two, length};
  }
  if (auto const done = third::decode(w, s.c, bytes, {s.one, length}); done != status::ok)
    return done;
  w.sync();
  if (auto const done =
          second::decode(w, s.b, view<std::byte const>(s.one, length), {s.two, length});
      done != status::ok)
    return done;
  w.sync();
  return first::decode(w, s.a, view<std::byte const>(s.two, length), out);
}

std::vector<std::byte> packed_page()
{
  // Every row four times, so that differences of rows have something for lz4.
  auto values = support::wave<float16>(rows * columns, 3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = values[i / (4 * columns) * (4 * columns) + i % columns];
  std::vector<std::byte> bytes(composed::encoded_bound(values.size() * 2));
  auto const n = with_best_warp([&](auto const& w) {
    typename composed::template scratch<std::remove_cvref_t<decltype(w)>> s;
    return composed::encode(w, s, tile<float16 const>(values.data(), 1, rows, columns),
                            view<std::byte>(bytes));
  });
  if (!n || (load_le<std::uint32_t>(bytes.data()) & 0x80000000u) != 0) {
    std::puts("the page does not use all four steps");
    std::exit(1);
  }
  bytes.resize(*n);
  return bytes;
}

/// Runs decode(warp) often and gives the last page.
template <class F>
std::vector<float16> repeat(long count, F decode)
{
  std::vector<float16> page(rows * columns);
  tile<float16> const out(page.data(), 1, rows, columns);
  for (long i = 0; i < count; ++i)
    if (with_best_warp([&](auto const& w) { return decode(w, out); }) != status::ok) std::exit(1);
  return page;
}

}  // namespace

int main(int argc, char** argv)
{
  if (argc != 3) return 2;
  long const count = std::strtol(argv[2], nullptr, 10);
  auto const bytes = packed_page();
  view<std::byte const> const in(bytes);
  std::vector<float16> page;
  if (std::strcmp(argv[1], "hand") == 0)
    page = repeat(count, [&](auto const& w, tile<float16> out) {
      hand_scratch<std::remove_cvref_t<decltype(w)>> s;
      return by_hand(w, s, in, out);
    });
  else if (std::strcmp(argv[1], "chain") == 0)
    page = repeat(count, [&](auto const& w, tile<float16> out) {
      typename composed::template scratch<std::remove_cvref_t<decltype(w)>> s;
      return composed::decode(w, s, in, out);
    });
  else {
    level const volatile chosen = composed::tier;  // at run time, as a router does
    page = repeat(count, [&](auto const& w, tile<float16> out) {
      typename levels::template scratch<std::remove_cvref_t<decltype(w)>> s;
      return levels::decode(w, s, chosen, in, out);
    });
  }
  std::printf("%016llx\n",
              static_cast<unsigned long long>(support::fnv1a(as_bytes(view<float16 const>(page)))));
}
