// What every warp of the host must do, checked against plain loops.
// Smallest use: `support::check_operations([](auto f) { f(sora2::host_warp{}); });`: the argument runs f on the warp.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include <sora2/core/float16.hpp>
#include <sora2/simt/lanes.hpp>

#include "warp_exercise.hpp"

namespace support {

template <class Run>
void check_operations(Run run)
{
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    exercise_input const in = exercise_data(seed, seed % 2 == 1);
    auto const expected = expected_rows(in);
    REQUIRE(expected.size() <= exercise_rows);
    std::vector<std::uint32_t> rows(32 * exercise_rows, 0xDEADBEEFu);
    run([&](auto const& w) {
      exercise_scratch<std::remove_cvref_t<decltype(w)>> scratch;
      exercise(w, scratch, in, rows.data());
    });
    for (std::size_t r = 0; r < expected.size(); ++r)
      for (std::size_t i = 0; i < 32; ++i) {
        if (rows[32 * r + i] == expected[r].value[i]) continue;
        FAIL_CHECK("seed " << seed << ", row " << r << " (" << expected[r].name << "), lane " << i
                           << ": " << rows[32 * r + i] << " instead of " << expected[r].value[i]);
      }
    for (std::size_t i = 32 * expected.size(); i < rows.size(); ++i)
      REQUIRE(rows[i] == 0xDEADBEEFu);
  }
}

/// All 65,536 halves and bfloats, and floats around every place where rounding changes.
template <class Run>
void check_conversions(Run run)
{
  std::vector<sora2::float16> halves(65536);
  std::vector<sora2::bfloat16> brains(65536);
  for (std::uint32_t i = 0; i < 65536; ++i) {
    halves[i].bits = static_cast<std::uint16_t>(i);
    brains[i].bits = static_cast<std::uint16_t>(i);
  }
  std::vector<float> from_half(65536), from_brain(65536);
  run([&](auto const& w) {
    for (std::size_t i = 0; i < 65536; i += 32) {
      w.store(&from_half[i], w.template load<float>(&halves[i]));
      w.store(&from_brain[i], w.template load<float>(&brains[i]));
    }
  });
  for (std::size_t i = 0; i < 65536; ++i) {
    REQUIRE(row_list::exact(from_half[i]) == row_list::exact(to_float(halves[i])));
    REQUIRE(row_list::exact(from_brain[i]) == row_list::exact(to_float(brains[i])));
  }

  // Every float with a 16-bit upper half, and the floats beside the upper half's middle and ends.
  std::vector<float> reals;
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (std::uint32_t lower : {0u, 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x2FFFu, 0x3000u, 0x7FFFu,
                                0x8000u, 0x8001u, 0xFFFFu, upper * 40503u & 0xFFFFu})
      reals.push_back(sora2::bit_cast<float>(upper << 16 | lower));
  REQUIRE(reals.size() % 32 == 0);
  std::vector<sora2::float16> to_half(reals.size());
  std::vector<sora2::bfloat16> to_brain(reals.size());
  run([&](auto const& w) {
    for (std::size_t i = 0; i < reals.size(); i += 32) {
      auto const x = w.template load<float>(&reals[i]);
      w.store(&to_half[i], x);
      w.store(&to_brain[i], x);
    }
  });
  for (std::size_t i = 0; i < reals.size(); ++i) {
    if (to_half[i] == sora2::to_float16(reals[i]) && to_brain[i] == sora2::to_bfloat16(reals[i]))
      continue;
    FAIL_CHECK("float with bits " << row_list::exact(reals[i]) << " became " << to_half[i].bits
                                  << " and " << to_brain[i].bits);
  }
}

/// The first n elements of a type, in a buffer without a byte to spare: nothing beside them may be touched.
template <class U, class T, class Run>
void check_ends_of(Run run)
{
  std::vector<U> all(32);
  for (std::size_t i = 0; i < 32; ++i) {
    auto const bits = static_cast<std::uint32_t>(7 + 11 * i);
    if constexpr (std::is_same_v<T, float> && !std::is_integral_v<U>)
      all[i] = sora2::from_float<U>(static_cast<float>(bits));
    else
      all[i] = static_cast<U>(bits);
  }
  for (std::uint32_t n = 0; n <= 32; ++n) {
    std::unique_ptr<U[]> const exact(new U[n]), copy(new U[n]);
    std::copy_n(all.begin(), n, exact.get());
    T read[32];
    run([&](auto const& w) {
      auto const x = w.template load_n<T>(exact.get(), n, T(3));
      w.store(read, x);
      if constexpr (!(std::is_same_v<T, float> && std::is_integral_v<U>))
        w.store_n(copy.get(), n, x);
    });
    for (std::size_t i = 0; i < 32; ++i) {
      T expected = T(3);
      if constexpr (std::is_same_v<T, float> && !std::is_integral_v<U>)
        expected = i < n ? sora2::to_float(all[i]) : expected;
      else
        expected = i < n ? static_cast<T>(all[i]) : expected;
      REQUIRE(read[i] == expected);
      if constexpr (!(std::is_same_v<T, float> && std::is_integral_v<U>))
        if (i < n) REQUIRE(copy[i] == all[i]);
    }
  }
}
template <class Run>
void check_ends(Run run)
{
  check_ends_of<std::uint8_t, std::uint32_t>(run);
  check_ends_of<std::int8_t, std::int32_t>(run);
  check_ends_of<std::uint16_t, std::uint32_t>(run);
  check_ends_of<std::int16_t, std::int32_t>(run);
  check_ends_of<std::uint32_t, std::uint32_t>(run);
  check_ends_of<std::int32_t, std::int32_t>(run);
  check_ends_of<std::byte, std::uint32_t>(run);
  check_ends_of<float, float>(run);
  check_ends_of<sora2::float16, float>(run);
  check_ends_of<sora2::bfloat16, float>(run);
  check_ends_of<std::uint8_t, float>(run);
}

inline std::vector<std::uint32_t> mask_samples()
{
  std::vector<std::uint32_t> masks = {0,           0xFFFFFFFFu, 1,           0x80000000u,
                                      0x0000FFFFu, 0xFFFF0000u, 0x00FF00FFu, 0x55555555u};
  std::uint32_t state = 12345;
  for (int i = 0; i < 24; ++i) {
    state = state * 1664525u + 1013904223u;
    masks.push_back(i % 3 == 0 ? state : i % 3 == 1 ? state & (state << 7) : state | (state >> 9));
  }
  return masks;
}

/// take_next at every length of what is left, in a buffer without a byte to spare.
template <class Run>
void check_take_next(Run run)
{
  for (std::size_t bytes = 0; bytes <= 161; ++bytes)
    for (std::uint32_t const mask : mask_samples()) {
      std::unique_ptr<std::byte[]> const stream(new std::byte[bytes]);
      for (std::size_t i = 0; i < bytes; ++i) stream[i] = static_cast<std::byte>(17 * i + 3);
      std::uint32_t taken[32];
      sora2::word_source source{sora2::view<std::byte const>{stream.get(), bytes}};
      run([&](auto const& w) {
        auto const lane = w.lane();
        auto const bits =
            (sora2::lanes<std::uint32_t, std::remove_cvref_t<decltype(w)>>(mask) >> lane) & 1u;
        w.store(taken, w.take_next(source, bits == 1u));
      });
      std::size_t next = 0;
      bool over = false;
      for (std::size_t i = 0; i < 32; ++i) {
        std::uint32_t expected = 0;
        if (mask >> i & 1u) {
          if (bytes - next >= 2) {
            expected = static_cast<std::uint32_t>(stream[next]) |
                       static_cast<std::uint32_t>(stream[next + 1]) << 8;
            next += 2;
          } else
            over = true;
        }
        REQUIRE(taken[i] == expected);
      }
      REQUIRE(source.overrun == over);
      REQUIRE(source.next == stream.get() + next);
    }
}

/// put_before at every size of the room, in a buffer without a byte to spare, with a stream behind that must stay. What
/// lies in the room below the cursor is free.
template <class Run>
void check_put_before(Run run)
{
  for (std::size_t room = 0; room <= 161; ++room)
    for (std::uint32_t const mask : mask_samples()) {
      std::size_t const behind = room % 7;
      std::unique_ptr<std::byte[]> const buffer(new std::byte[room + behind]);
      for (std::size_t i = 0; i < room + behind; ++i)
        buffer[i] = static_cast<std::byte>(0xA0 + i % 16);
      sora2::word_sink sink{sora2::view<std::byte>{buffer.get(), room}};
      run([&](auto const& w) {
        using uints = sora2::lanes<std::uint32_t, std::remove_cvref_t<decltype(w)>>;
        auto const lane = w.lane();
        w.put_before(sink, lane * 0x01010101u + uints(0x77770000u),
                     ((uints(mask) >> lane) & 1u) == 1u);
      });
      std::vector<std::byte> expected;
      for (std::size_t i = 0; i < room + behind; ++i)
        expected.push_back(static_cast<std::byte>(0xA0 + i % 16));
      std::size_t const words = static_cast<std::size_t>(sora2::popcount(mask));
      bool const fits = 2 * words <= room;
      if (fits) {
        std::size_t place = room - 2 * words;
        for (std::uint32_t i = 0; i < 32; ++i) {
          if (!(mask >> i & 1u)) continue;
          expected[place++] = static_cast<std::byte>(i);
          expected[place++] = static_cast<std::byte>(i);
        }
      }
      REQUIRE(sink.overrun == !fits);
      REQUIRE(sink.next == buffer.get() + (fits ? room - 2 * words : room));
      std::ptrdiff_t const start = sink.next - buffer.get();
      REQUIRE(std::equal(expected.begin() + start, expected.end(), sink.next));
    }
}

/// Masked gathers and scatters touch chosen places only; copy moves exactly its bytes.
template <class Run>
void check_masked_places(Run run)
{
  std::unique_ptr<std::uint32_t[]> const one(new std::uint32_t[1]{42});
  std::uint32_t read[32];
  run([&](auto const& w) {
    using uints = sora2::lanes<std::uint32_t, std::remove_cvref_t<decltype(w)>>;
    auto const lane = w.lane();
    auto const first = lane == 0u;
    uints const at = lane * 0x00100000u;  // far outside, but for lane 0
    w.store(read, w.template gather<std::uint32_t>(one.get(), at, first, 7u));
    w.scatter(one.get(), at, uints(43u), first);
    w.scatter_distinct(one.get(), at, uints(44u), first & (lane != 0u));
  });
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(read[i] == (i == 0 ? 42 : 7));
  CHECK(one[0] == 43);
  for (std::size_t bytes = 0; bytes <= 70; ++bytes) {
    std::unique_ptr<std::byte[]> const from(new std::byte[bytes]), to(new std::byte[bytes]);
    for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::byte>(i + 1);
    run([&](auto const& w) { w.copy(to.get(), from.get(), bytes); });
    REQUIRE(std::equal(from.get(), from.get() + bytes, to.get()));
  }
}

template <class Run>
void check_warp(Run run)
{
  SUBCASE("operations") { check_operations(run); }
  SUBCASE("conversions") { check_conversions(run); }
  SUBCASE("ends of buffers") { check_ends(run); }
  SUBCASE("take_next") { check_take_next(run); }
  SUBCASE("put_before") { check_put_before(run); }
  SUBCASE("masked places") { check_masked_places(run); }
}

}  // namespace support
