// rANS in kernels: the bytes of the host, and the host's answer to streams that are cut or damaged.
#include <sora2/codec/rans.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "support/device_pages.cuh"
#include "support/entropy_reference.hpp"

namespace {

using namespace sora2;
using support::byte_rows;
using support::bytes;
using support::verdict;

using narrow = rans<rans_config{.table_bits = 9}>;

/// A table of pages unlike the tested ones, here and on the device.
struct shared_table {
  std::unique_ptr<rans_table<>> here = std::make_unique<rans_table<>>(
      make_rans_table(support::count_bytes(support::geometric_bytes(900, 120, 6))).value());
  support::device_array<rans_table<>> copy{std::vector<rans_table<>>(1, *here)};

  [[nodiscard]] rans_model model() const { return here->model(); }
  [[nodiscard]] rans_model there() const
  {
    rans_model m = here->model();
    m.slots = copy.data()->slots;
    m.symbols = copy.data()->symbols;
    return m;
  }
};

bytes part(bytes const& page, std::size_t size)
{
  return {page.begin(), page.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::vector<bytes> some_pages()
{
  std::vector<bytes> pages;
  bytes rare = support::geometric_bytes(16490, 200, 1);
  for (std::size_t i = 70; i < rare.size(); i += 500) rare[i] = static_cast<std::byte>(i);
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 97u, 700u, 1023u, 4096u, 16490u}) {
    pages.push_back(part(support::geometric_bytes(16490, 150, 2), size));
    pages.push_back(bytes(size, std::byte{200}));
    pages.push_back(part(rare, size));
  }
  bytes even(2048);
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = static_cast<std::byte>(i * 167);
  pages.push_back(even);
  return pages;
}

template <class Codec>
bytes stream_of(bytes const& page, model_t<Codec> const& m)
{
  bytes stream(Codec::encoded_bound(page.size()));
  auto const n = support::encode_here<Codec>(view<std::byte const>(page), stream, m);
  REQUIRE(n);
  return part(stream, *n);
}

/// Each page into as much room as the bound says, as it needs, and one byte less.
template <class Codec>
void check_encode(model_t<Codec> const& m, model_t<Codec> const& there)
{
  byte_rows in(1), out(4);
  std::vector<verdict> expected;
  std::vector<bytes> streams;
  for (bytes const& page : some_pages()) {
    bytes const stream = stream_of<Codec>(page, m);
    for (std::size_t room : {Codec::encoded_bound(page.size()), stream.size(), stream.size() - 1}) {
      bytes left(room);
      expected.emplace_back(support::encode_here<Codec>(view<std::byte const>(page), left, m));
      streams.push_back(stream);
      in.add(page);
      out.add(bytes(room));
    }
  }
  auto const said = support::run_there(support::encode_pages<Codec>, in, out, there);
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    if (said[i].what == status::ok)
      CHECK(std::equal(streams[i].begin(), streams[i].end(), out[i].begin()));
  }
}

/// Whole streams, and ones that are damaged, too long, or for a page of another size.
template <class Codec>
void check_decode(model_t<Codec> const& m, model_t<Codec> const& there)
{
  byte_rows in(4), out(1);
  std::vector<verdict> expected;
  std::vector<bytes> pages;
  support::numbers next{3};
  auto const add = [&](bytes const& stream, std::size_t size) {
    pages.emplace_back(size);
    expected.emplace_back(support::decode_here<Codec>(stream, view<std::byte>(pages.back()), m));
    in.add(stream);
    out.add(bytes(size));
  };
  for (bytes const& page : some_pages()) {
    bytes stream = stream_of<Codec>(page, m);
    add(stream, page.size());
    CHECK(expected.back().what == status::ok);
    CHECK(pages.back() == page);
    add(stream, page.size() + 1);
    if (!page.empty()) add(stream, page.size() - 1);
    for (int i = 0; i < 12; ++i) {
      bytes bad = stream;
      std::size_t const most = i < 6 ? 40 : bad.size();
      bad[next.next() % least(most, bad.size())] ^= static_cast<std::byte>(1 + next.next() % 255);
      add(bad, page.size());
    }
    for (int more = 0; more < 2; ++more) {
      stream.push_back(std::byte{0});
      add(stream, page.size());
    }
  }
  auto const said = support::run_there(support::decode_pages<Codec>, in, out, there);
  int good = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    CAPTURE(i);
    CHECK(said[i] == expected[i]);
    if (said[i].what != status::ok) continue;
    ++good;
    CHECK(std::equal(pages[i].begin(), pages[i].end(), out[i].begin()));
  }
  CHECK(good < static_cast<int>(in.size()) / 2);
}

/// The last byte of each stream is the last of its memory.
template <class Codec>
void check_cuts(model_t<Codec> const& m, model_t<Codec> const& there)
{
  bytes const page = support::geometric_bytes(1500, 150, 7);
  bytes const stream = stream_of<Codec>(page, m);
  support::device_array<std::byte> const out(page);
  support::device_array<verdict> const said(std::vector<verdict>(1));
  support::device_array<support::slice> const to({{0, page.size()}});
  for (std::size_t cut = 0; cut < stream.size(); cut += cut < 90 ? 1 : 23) {
    support::device_array<std::byte> const in(part(stream, cut));
    support::device_array<support::slice> const from({{0, cut}});
    support::decode_pages<Codec>
        <<<1, 32>>>(in.data(), from.data(), out.data(), to.data(), there, said.data());
    verdict const v = said.back()[0];
    CHECK(v == verdict(status::corrupt_input));
  }
}

}  // namespace

TEST_SUITE("codec/rans") {
  TEST_CASE("a kernel writes the streams that the host writes, in whatever room")
  {
    if (!support::have_device()) return;
    shared_table const table;
    check_encode<rans<>>({}, {});
    check_encode<narrow>({}, {});
    check_encode<rans_shared>(table.model(), table.there());
  }

  TEST_CASE("a kernel answers to streams, good and bad, as the host does")
  {
    if (!support::have_device()) return;
    shared_table const table;
    check_decode<rans<>>({}, {});
    check_decode<narrow>({}, {});
    check_decode<rans_shared>(table.model(), table.there());
  }

  TEST_CASE("a stream that is cut anywhere is refused, and nothing behind the cut is read")
  {
    if (!support::have_device()) return;
    shared_table const table;
    check_cuts<rans<>>({}, {});
    check_cuts<rans_shared>(table.model(), table.there());
  }
}
