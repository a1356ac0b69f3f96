/// rANS: order-0 entropy coding of bytes, 32 interleaved lanes, 8 bits of symbol from one table read.
/// Smallest use: `auto const n = encode<rans<>>(raw, packed);` (the table travels in the stream), or with a table
/// shared by many pages: `auto const t = make_rans_table(counts); encode<rans_shared>(raw, packed, t->model());`.
/// Limits: pages below 64 bytes, and those that do not shrink, are stored as they are. On a GPU a stream starts at a
/// multiple of 4 bytes. The bytes are specified in docs/formats/rans.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sora2/codec/detail/frequencies.hpp>
#include <sora2/codec/detail/rans_coder.hpp>
#include <sora2/codec/policy.hpp>
#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>

namespace sora2 {

/// Where the frequencies come from: in front of every stream, or a model that reader and writer share.
enum class rans_tables : std::uint8_t { in_stream, shared };

struct rans_config {
  int table_bits = 12;  ///< frequencies sum to 2^table_bits: 9 to 12
  rans_tables tables = rans_tables::in_stream;
  int parts =
      2;  ///< 2: pages of 16 KiB and more are coded in halves, decoded side by side; 1: never
};

/// View of a shared table, for host and kernels; the memory behind it belongs to a rans_table or to its copy.
struct rans_model {
  std::uint32_t const* slots = nullptr;          ///< 2^bits entries
  detail::rans_symbol const* symbols = nullptr;  ///< 256 entries, for encoders only
  std::uint32_t id = 0;
  std::uint32_t bits = 0;
  std::uint32_t escape =
      256;  ///< the byte that stands for all bytes without a frequency; 256: none needed

  [[nodiscard]] SORA2_HD constexpr std::uint32_t table_id() const { return id; }
};

/// A shared table for bytes: trivially copyable, about 18 KiB. Build it with make_rans_table.
template <int Bits = 12>
struct rans_table {
  std::uint32_t slots[1u << Bits];
  detail::rans_symbol symbols[256];
  std::uint32_t id;
  std::uint32_t escape;

  [[nodiscard]] SORA2_HD constexpr rans_model model() const
  {
    return {slots, symbols, id, static_cast<std::uint32_t>(Bits), escape};
  }
};

namespace detail {

/// Slots and symbols for 256 frequencies that sum to 2^Bits.
template <int Bits>
SORA2_HD constexpr void fill_rans_tables(std::uint32_t const* frequencies, std::uint32_t* slots,
                                         rans_symbol* symbols)
{
  std::uint32_t start = 0;
  for (std::uint32_t s = 0; s < 256; ++s) {
    std::uint32_t const f = frequencies[s];
    symbols[s] = make_rans_symbol<Bits>(start, f);
    for (std::uint32_t i = 0; i < f; ++i) slots[start + i] = rans_slot(f, i, s);
    start += f;
  }
}

}  // namespace detail

/// Builds a table from how often each byte value was seen in samples. Bytes without a count stay codable: one of them
/// becomes the escape. With no counts at all, all bytes are taken as equally likely.
/// Errors: unsupported for more than 256 counts.
template <int Bits = 12>
[[nodiscard]] SORA2_HD constexpr result<rans_table<Bits>>
make_rans_table(view<std::uint32_t const> counts)
{
  static_assert(Bits >= 9 && Bits <= 12, "sora2: rans tables have 9 to 12 bits");
  if (counts.size > 256) return status::unsupported;
  std::uint32_t all[256] = {};
  bool any = false;
  for (std::size_t i = 0; i < counts.size; ++i) {
    all[i] = counts[i];
    any = any || counts[i] != 0;
  }
  rans_table<Bits> table{};
  table.escape = 256;
  for (std::uint32_t i = 256; i-- > 0;) {
    if (!any) all[i] = 1;
    if (all[i] == 0) table.escape = i;
  }
  if (table.escape < 256) all[table.escape] = 1;

  std::uint32_t frequencies[256] = {};
  auto const used = detail::normalise({all, 256}, {frequencies, 256}, Bits);
  if (!used) return used.error();
  detail::fill_rans_tables<Bits>(frequencies, table.slots, table.symbols);
  format_id id = format_id{}.mix(static_cast<std::uint32_t>(Bits)).mix(table.escape);
  for (std::uint32_t s = 0; s < 256; ++s) {
    id = id.mix(frequencies[s]);
    if (frequencies[s] == 0) {
      table.symbols[s] = table.symbols[table.escape];
      table.symbols[s].step |= detail::rans_escaped;
    }
  }
  if (table.escape < 256) table.symbols[table.escape].step |= detail::rans_escaped;
  table.id = id.value == 0 ? 1 : id.value;
  return table;
}

namespace detail {

/// What a stream holds: its first byte.
enum class rans_mode : std::uint8_t { raw = 0, constant = 1, coded = 2, escaped = 3 };

inline constexpr std::size_t rans_head = 4;   ///< mode, value, 16 bits: table check or table bytes
inline constexpr std::size_t rans_tail = 64;  ///< last bytes of a part: the states hold them
inline constexpr std::size_t rans_halved_from = 16384;
inline constexpr std::size_t rans_table_most = 4 + 32 + (256 * 15 + 7) / 8;

[[nodiscard]] SORA2_HD constexpr std::uint16_t rans_check(std::uint32_t id)
{
  return static_cast<std::uint16_t>(id ^ id >> 16);
}

/// True when all bytes of a page are equal. Collective; the page has at least one byte.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE bool all_equal(Warp const& w, view<std::byte const> in)
{
  auto const first = static_cast<std::uint32_t>(w.load_one(in.data));
  for (std::size_t i = 0; i < in.size; i += 32) {
    auto const n = static_cast<std::uint32_t>(least<std::size_t>(32, in.size - i));
    if (w.any(w.template load_n<std::uint32_t>(in.data + i, n, first) != first)) return false;
  }
  return true;
}

/// How often each byte value occurs. Collective; `bins` are `room` scratch elements, a multiple of 32.
SORA2_TWO_SIDED
template <warp_context Warp, class Bins>
SORA2_HD SORA2_INLINE void count_bytes(Warp const& w, Bins* bins, std::uint32_t room,
                                       view<std::byte const> in, std::uint32_t* counts)
{
  if constexpr (unchecked_host_context<Warp>) {
    // Four histograms side by side: equal neighbours do not wait for each other.
    std::uint32_t parts[4][256] = {};
    std::size_t i = 0;
    for (; i + 8 <= in.size; i += 8) {
      std::uint64_t const x = load_le<std::uint64_t>(in.data + i);
      ++parts[0][x & 0xFF], ++parts[1][x >> 8 & 0xFF], ++parts[2][x >> 16 & 0xFF];
      ++parts[3][x >> 24 & 0xFF], ++parts[0][x >> 32 & 0xFF], ++parts[1][x >> 40 & 0xFF];
      ++parts[2][x >> 48 & 0xFF], ++parts[3][x >> 56];
    }
    for (; i < in.size; ++i) ++parts[0][static_cast<std::uint8_t>(in.data[i])];
    for (int s = 0; s < 256; ++s) counts[s] = parts[0][s] + parts[1][s] + parts[2][s] + parts[3][s];
  } else {
    // A counter per lane and symbol, so that lanes never meet; as many symbols a pass as there is room for.
    std::uint32_t const symbols = room / 32;
    for (std::uint32_t first = 0; first < 256; first += symbols) {
      for (std::uint32_t i = 0; i < symbols; ++i)
        w.store(bins + i * 32, lanes<std::uint32_t, Warp>(0u));
      for (std::size_t i = 0; i < in.size; i += 32) {
        auto const n = static_cast<std::uint32_t>(least<std::size_t>(32, in.size - i));
        auto const s = w.template load_n<std::uint32_t>(in.data + i, n, 0u) - first;
        auto const mine = (s < symbols) & (w.lane() < n);
        auto const at = select(mine, s, 0u) * 32u + w.lane();
        w.scatter(bins, at, w.template gather<std::uint32_t>(bins, at) + 1u, mine);
      }
      for (std::uint32_t i = 0; i < symbols && first + i < 256; ++i)
        counts[first + i] = w.sum(w.template load<std::uint32_t>(bins + i * 32));
    }
    w.sync();
  }
}

/// Writes the frequencies in front of a stream: which symbols have one (a mask of 32 groups, then a mask of 8 symbols
/// for each group that has any), then for each of them 4 bits of length and the bits below the leading one.
/// Gives the bytes written, a multiple of 4; `to` has room for rans_table_most + 3.
SORA2_TWO_SIDED
template <warp_context Warp>
SORA2_HD SORA2_INLINE std::uint32_t
write_frequencies(Warp const& w, std::uint32_t const* frequencies, std::byte* to)
{
  std::uint32_t groups = 0, size = 4;
  for (std::uint32_t g = 0; g < 32; ++g) {
    std::uint32_t members = 0;
    for (std::uint32_t i = 0; i < 8; ++i) members |= (frequencies[8 * g + i] != 0 ? 1u : 0u) << i;
    if (members == 0) continue;
    groups |= 1u << g;
    w.store_one(to + size++, members);
  }
  for (std::uint32_t i = 0; i < 4; ++i) w.store_one(to + i, groups >> (8 * i) & 0xFFu);
  std::uint32_t held = 0;
  int bits = 0;
  for (std::uint32_t s = 0; s < 256; ++s) {
    std::uint32_t const f = frequencies[s];
    if (f == 0) continue;
    int const length = bit_width(f) - 1;
    held |= (static_cast<std::uint32_t>(length) | (f ^ 1u << length) << 4) << bits;
    for (bits += 4 + length; bits >= 8; bits -= 8, held >>= 8)
      w.store_one(to + size++, held & 0xFFu);
  }
  if (bits > 0) w.store_one(to + size++, held);
  while (size % 4 != 0) w.store_one(to + size++, 0u);
  return size;
}

/// Reads what write_frequencies wrote; false unless it is well formed, fills `in` and sums to 2^Bits.
SORA2_TWO_SIDED
template <int Bits, warp_context Warp>
SORA2_HD SORA2_INLINE bool read_frequencies(Warp const& w, view<std::byte const> in,
                                            std::uint32_t* frequencies)
{
  auto const at = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>(w.load_one(in.data + i));
  };
  if (in.size < 4 || in.size > rans_table_most + 3) return false;
  auto const end = static_cast<std::uint32_t>(in.size);
  std::uint32_t const groups = at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24;
  std::uint32_t size = 4 + static_cast<std::uint32_t>(popcount(groups)), mask = 4, sum = 0,
                held = 0;
  int bits = 0;
  if (size > end) return false;
  for (std::uint32_t g = 0; g < 32; ++g) {
    std::uint32_t const members = (groups >> g & 1u) != 0 ? at(mask++) : 0u;
    if ((groups >> g & 1u) != 0 && members == 0) return false;
    for (std::uint32_t i = 0; i < 8; ++i) {
      frequencies[8 * g + i] = 0;
      if ((members >> i & 1u) == 0) continue;
      for (; bits < 16 && size < end; bits += 8) held |= at(size++) << bits;
      int const length = static_cast<int>(held & 15u);
      if (length >= Bits || bits < 4 + length) return false;
      std::uint32_t const f = 1u << length | (held >> 4 & ((1u << length) - 1));
      held >>= 4 + length;
      bits -= 4 + length;
      frequencies[8 * g + i] = f;
      sum += f;
    }
  }
  // What is left over: at most 7 bits and the bytes that fill up a word, all zero.
  for (; bits < 32 && size < end; bits += 8) held |= size < end ? at(size++) << bits : 0u;
  return sum == 1u << Bits && held == 0 && size == end && bits < 32;
}

}  // namespace detail

template <rans_config Config = rans_config{}>
struct rans {
  static_assert(Config.table_bits >= 9 && Config.table_bits <= 12,
                "sora2: rans tables have 9 to 12 bits");
  static_assert(Config.parts == 1 || Config.parts == 2, "sora2: rans codes a page in 1 or 2 parts");

  static constexpr rans_config config = Config;
  static constexpr level tier = level::entropy;
  static constexpr codec_family family = codec_family::rans;
  static constexpr bool shares_table = Config.tables == rans_tables::shared;
  using model = std::conditional_t<shares_table, rans_model, no_model>;

  /// In-stream tables are built here; shared ones are read where they lie.
  template <class Warp>
  struct scratch {
    typename Warp::template shared<std::uint32_t> table[shares_table ? 1 : 1u << Config.table_bits];
  };

  [[nodiscard]] SORA2_HD static constexpr format_id format()
  {
    return format_id{}
        .mix("rans")
        .mix(static_cast<std::uint32_t>(Config.table_bits))
        .mix(static_cast<std::uint32_t>(Config.tables))
        .mix(static_cast<std::uint32_t>(Config.parts));
  }
  [[nodiscard]] SORA2_HD static constexpr std::size_t encoded_bound(std::size_t raw_bytes)
  {
    return raw_bytes + detail::rans_head;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  [[nodiscard]] SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>& s, view<std::byte const> in, view<std::byte> out)
    requires(!shares_table)
  {
    if (auto const n = encode_plainly(w, in, out); n != 0) return n;
    std::size_t const least_coded =
        detail::rans_head + detail::rans_table_most + 3 + detail::rans_states_least;
    if (in.size <= detail::rans_tail || least<std::size_t>(in.size, out.size) <= least_coded)
      return encode_raw(w, in, out);

    std::uint32_t counts[256];
    detail::count_bytes(w, s.table, 1u << bits, in, counts);
    std::uint32_t frequencies[256];
    auto const used = detail::normalise({counts, 256}, {frequencies, 256}, bits);
    static_cast<void>(used);  // at most 256 of 2^9 or more
    std::uint32_t const table_bytes =
        detail::write_frequencies(w, frequencies, out.data + detail::rans_head);
    std::uint32_t start = 0;
    for (std::uint32_t i = 0; i < 256; ++i) {
      auto const symbol = detail::make_rans_symbol<bits>(start, frequencies[i]);
      w.store_one(s.table + 2 * i, symbol.reciprocal);
      w.store_one(s.table + 2 * i + 1, symbol.step);
      start += frequencies[i];
    }
    w.sync();
    auto const n = encode_states(w, s.table, in, out, detail::rans_head + table_bytes, table_bytes);
    w.sync();
    return n;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  [[nodiscard]] SORA2_HD SORA2_INLINE static result<std::size_t>
  encode(Warp const& w, scratch<Warp>&, view<std::byte const> in, view<std::byte> out,
         model const& m)
    requires shares_table
  {
    if (m.symbols == nullptr || m.bits != bits) return status::wrong_table;
    if (auto const n = encode_plainly(w, in, out); n != 0) return n;
    if (in.size <= detail::rans_tail) return encode_raw(w, in, out);
    return encode_states(w, &m.symbols->reciprocal, in, out, detail::rans_head,
                         detail::rans_check(m.id));
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status
  decode(Warp const& w, scratch<Warp>& s, view<std::byte const> in, view<std::byte> out)
    requires(!shares_table)
  {
    auto const head = read_head(w, in);
    if (head.mode != detail::rans_mode::coded) return decode_plainly(w, head, in, out);
    std::size_t const table_bytes = head.extra;
    if (in.size < detail::rans_head + table_bytes || table_bytes % 4 != 0)
      return status::corrupt_input;
    std::uint32_t frequencies[256];
    if (!detail::read_frequencies<bits>(w, in.sub(detail::rans_head, table_bytes), frequencies))
      return status::corrupt_input;
    std::uint32_t start = 0;
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t const f = frequencies[i];
      for (std::uint32_t j = 0; j < f; j += 32)
        w.store_n(s.table + start + j, f - j, (w.lane() + j) | detail::rans_slot(f, 0, i));
      start += f;
    }
    w.sync();
    status const result =
        decode_states<false>(w, s.table, in.from(detail::rans_head + table_bytes), out);
    w.sync();
    return result;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  [[nodiscard]] SORA2_HD SORA2_INLINE static status decode(Warp const& w, scratch<Warp>&,
                                                           view<std::byte const> in,
                                                           view<std::byte> out, model const& m)
    requires shares_table
  {
    if (m.slots == nullptr || m.bits != bits) return status::wrong_table;
    auto const head = read_head(w, in);
    bool const coded = head.mode == detail::rans_mode::coded;
    if (!coded && head.mode != detail::rans_mode::escaped) return decode_plainly(w, head, in, out);
    if (head.extra != detail::rans_check(m.id)) return status::wrong_table;
    auto const rest = in.from(detail::rans_head);
    return coded ? decode_states<false>(w, m.slots, rest, out)
                 : decode_states<true>(w, m.slots, rest, out, m.escape);
  }

 private:
  static constexpr int bits = Config.table_bits;
  static constexpr std::uint32_t slot_mask = (1u << bits) - 1;

  struct head {
    detail::rans_mode mode = detail::rans_mode::coded;
    std::uint32_t value = 0;
    std::uint32_t extra = 0;
    bool valid = false;
  };

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static head read_head(Warp const& w, view<std::byte const> in)
  {
    head h;
    h.mode = detail::rans_mode::raw;
    if (in.size < detail::rans_head) return h;
    auto const at = [&](int i) { return static_cast<std::uint32_t>(w.load_one(in.data + i)); };
    h.valid = at(0) <= static_cast<std::uint32_t>(detail::rans_mode::escaped);
    h.mode = h.valid ? static_cast<detail::rans_mode>(at(0)) : detail::rans_mode::raw;
    h.value = at(1);
    h.extra = at(2) | at(3) << 8;
    return h;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static void write_head(Warp const& w, std::byte* to, detail::rans_mode mode,
                                               std::uint32_t value, std::uint32_t extra)
  {
    w.store_one(to, static_cast<std::uint32_t>(mode));
    w.store_one(to + 1, value);
    w.store_one(to + 2, extra & 0xFFu);
    w.store_one(to + 3, extra >> 8);
  }

  /// Pages of equal bytes; 0 for all others, and for those without room.
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static std::size_t encode_plainly(Warp const& w, view<std::byte const> in,
                                                          view<std::byte> out)
  {
    if (in.size == 0 || out.size < detail::rans_head || !detail::all_equal(w, in)) return 0;
    write_head(w, out.data, detail::rans_mode::constant,
               static_cast<std::uint32_t>(w.load_one(in.data)), 0);
    w.sync();
    return detail::rans_head;
  }

  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode_raw(Warp const& w, view<std::byte const> in, view<std::byte> out)
  {
    if (out.size < detail::rans_head + in.size) return status::output_too_small;
    w.sync();  // other lanes may have written here, before their coding ran out of room
    write_head(w, out.data, detail::rans_mode::raw, 0, 0);
    w.copy(out.data + detail::rans_head, in.data, in.size);
    w.sync();
    return detail::rans_head + in.size;
  }

  /// Raw and constant pages.
  SORA2_TWO_SIDED
  template <warp_context Warp>
  SORA2_HD SORA2_INLINE static status decode_plainly(Warp const& w, head const& h,
                                                     view<std::byte const> in, view<std::byte> out)
  {
    if (!h.valid || h.extra != 0) return status::corrupt_input;
    if (h.mode == detail::rans_mode::constant) {
      if (in.size != detail::rans_head || out.size == 0) return status::corrupt_input;
      for (std::size_t i = 0; i < out.size; i += 32)
        w.store_n(out.data + i, static_cast<std::uint32_t>(least<std::size_t>(32, out.size - i)),
                  lanes<std::uint32_t, Warp>(h.value));
    } else {
      if (h.mode != detail::rans_mode::raw || h.value != 0 ||
          in.size != detail::rans_head + out.size)
        return status::corrupt_input;
      w.copy(out.data, in.data + detail::rans_head, out.size);
    }
    w.sync();
    return status::ok;
  }

  /// The inverse of take.
  SORA2_TWO_SIDED
  template <warp_context Warp, class Symbols>
  SORA2_HD SORA2_INLINE static void
  put(Warp const& w, Symbols const* symbols, lanes<std::uint32_t, Warp> const& s,
      lane_mask<Warp> const& chosen, lanes<std::uint32_t, Warp>& x, word_sink& words, bool& escaped)
  {
    lanes<std::uint32_t, Warp> reciprocal, step;
    w.gather_pair(symbols, s, reciprocal, step);
    detail::rans_push<bits>(w, reciprocal, step, x, words, chosen);
    if constexpr (shares_table) {
      auto const rare = (to_int(step) < 0) & chosen;
      if (w.any(rare)) {
        escaped = true;
        w.put_before(words, s, rare);
      }
    }
  }

  /// A page of that size is coded in halves, each a part with states and words of its own. A decoder of one part waits
  /// most of the time for what it just read; of two, it works on one while it waits for the other.
  [[nodiscard]] SORA2_HD static constexpr std::uint32_t parts_of(std::size_t bytes)
  {
    return Config.parts == 2 && bytes >= detail::rans_halved_from ? 2 : 1;
  }
  template <class View>
  [[nodiscard]] SORA2_HD static constexpr View part_of(View page, std::uint32_t k)
  {
    std::size_t const first = parts_of(page.size) == 2 ? page.size / 64 * 32 : page.size;
    return k == 0 ? page.sub(0, first) : page.from(first);
  }

  /// Parts of more than 64 bytes behind `front` bytes of out, or the page as it is.
  SORA2_TWO_SIDED
  template <warp_context Warp, class Symbols>
  SORA2_HD SORA2_INLINE static result<std::size_t>
  encode_states(Warp const& w, Symbols const* symbols, view<std::byte const> in,
                view<std::byte> out, std::size_t front, std::uint32_t extra)
  {
    std::uint32_t const parts = parts_of(in.size);
    std::size_t const begin = front + 4 * (parts - 1);
    std::size_t const first_word = begin + parts * detail::rans_states_least;
    std::size_t const room = least(out.size, detail::rans_head + in.size);
    if (room < first_word) return encode_raw(w, in, out);
    word_sink words{out.sub(first_word, (room - first_word) & ~std::size_t{1})};
    lanes<std::uint32_t, Warp> x[2];
    std::size_t bytes[2] = {}, states[2] = {};
    bool escaped = false;
    SORA2_UNROLL
    for (std::uint32_t k = 2; k-- > 0;) {
      if (k >= parts) continue;
      std::byte const* const last = words.next;
      x[k] = encode_part(w, symbols, part_of(in, k), words, escaped);
      if (words.overrun) return encode_raw(w, in, out);
      bytes[k] = static_cast<std::size_t>(last - words.next);
      states[k] = detail::states_bytes(w, x[k]);
    }
    std::size_t const first = states[0] + bytes[0], size = begin + first + states[1] + bytes[1];
    if (room < size) return encode_raw(w, in, out);
    w.sync();
    std::byte* to = out.data + begin;
    std::byte const* from = words.next;
    SORA2_UNROLL
    for (std::uint32_t k = 0; k < 2; ++k) {
      if (k >= parts) break;
      detail::move_down(w, to + states[k], from, bytes[k]);
      detail::write_states(w, x[k], to);
      to += states[k] + bytes[k];
      from += bytes[k];
    }
    if (parts == 2)
      for (std::uint32_t i = 0; i < 4; ++i)
        w.store_one(out.data + front + i, static_cast<std::uint32_t>(first >> (8 * i) & 0xFFu));
    write_head(w, out.data, escaped ? detail::rans_mode::escaped : detail::rans_mode::coded, 0,
               extra);
    w.sync();
    return size;
  }

  /// The words of a part go below those that are there; gives its states.
  SORA2_TWO_SIDED
  template <warp_context Warp, class Symbols>
  SORA2_HD SORA2_INLINE static lanes<std::uint32_t, Warp>
  encode_part(Warp const& w, Symbols const* symbols, view<std::byte const> in, word_sink& words,
              bool& escaped)
  {
    // The last 64 bytes are not coded: the states start from them.
    std::size_t const coded = in.size - detail::rans_tail;
    auto x = w.template load<std::uint32_t>(in.data + coded) |
             w.template load<std::uint32_t>(in.data + coded + 32) << 8 | 0x10000u;
    std::size_t at = coded - coded % 32;
    if (coded % 32 != 0) {
      auto const n = static_cast<std::uint32_t>(coded % 32);
      auto const s = w.template load_n<std::uint32_t>(in.data + at, n, 0u);
      put(w, symbols, s, w.lane() < n, x, words, escaped);
    }
    auto const all = w.lane() < 32u;
    while (at != 0 && words.next - words.begin >= 64 && !words.overrun)
      put(w, symbols, w.template load<std::uint32_t>(in.data + (at -= 32)), all, x, words, escaped);
    while (at != 0 && !words.overrun)
      put(w, symbols, w.template load<std::uint32_t>(in.data + (at -= 32)), all, x, words, escaped);
    return x;
  }

  /// The next 32 bytes of a page.
  SORA2_TWO_SIDED
  template <bool Escapes, warp_context Warp, class Slots>
  SORA2_HD SORA2_INLINE static void take(Warp const& w, Slots const* slots,
                                         lanes<std::uint32_t, Warp>& x, word_source& words,
                                         std::uint32_t escape, std::byte* to)
  {
    auto const entry = w.template gather<std::uint32_t>(slots, x & slot_mask);
    auto symbol = detail::rans_symbols<Warp>(entry);
    if constexpr (Escapes) {
      auto const rare = (symbol & 0xFFu) == escape;
      if (w.any(rare)) symbol = select(rare, w.take_next(words, rare), symbol);
    }
    w.store(to, symbol);
    detail::rans_advance<bits>(w, entry, x, words);
  }

  /// With 64 bytes of words left, a warp need not look where they end.
  [[nodiscard]] SORA2_HD static bool plenty(word_source const& words)
  {
    return words.end - words.next >= 64;
  }

  SORA2_TWO_SIDED
  template <bool Escapes, warp_context Warp, class Slots>
  SORA2_HD SORA2_INLINE static status decode_states(Warp const& w, Slots const* slots,
                                                    view<std::byte const> in, view<std::byte> out,
                                                    std::uint32_t escape = 256)
  {
    if (out.size <= detail::rans_tail) return status::corrupt_input;
    std::uint32_t const parts = parts_of(out.size);
    view<std::byte const> stream[2] = {in, {}};
    if (parts == 2) {
      if (in.size < 4) return status::corrupt_input;
      std::uint32_t first = 0;
      for (std::uint32_t i = 0; i < 4; ++i)
        first |= static_cast<std::uint32_t>(w.load_one(in.data + i)) << (8 * i);
      if (first > in.size - 4 || first % 2 != 0) return status::corrupt_input;
      stream[0] = in.sub(4, first);
      stream[1] = in.from(4 + std::size_t{first});
    }
    lanes<std::uint32_t, Warp> x[2];
    word_source words[2];
    SORA2_UNROLL
    for (std::uint32_t k = 0; k < 2; ++k) {
      if (k >= parts) break;
      x[k] = lanes<std::uint32_t, Warp>(0u);
      std::uint32_t const states = detail::read_states(w, stream[k], x[k]);
      if (states == 0) return status::corrupt_input;
      words[k] = word_source{stream[k].from(states)};
    }
    std::size_t at = 0;
    if constexpr (Warp::chains >= 2) {
      if (parts == 2) {
        // Copies, so that they stay in registers.
        auto a = x[0], b = x[1];
        word_source a_words = words[0], b_words = words[1];
        std::byte *const to_a = out.data, *const to_b = part_of(out, 1).data;
        std::size_t const shorter = part_of(out, 0).size - detail::rans_tail;
        for (; at + 32 <= shorter && plenty(a_words) && plenty(b_words); at += 32) {
          take<Escapes>(w, slots, a, a_words, escape, to_a + at);
          take<Escapes>(w, slots, b, b_words, escape, to_b + at);
        }
        x[0] = a, x[1] = b;
        words[0] = a_words, words[1] = b_words;
      }
    }
    bool whole = true;
    SORA2_UNROLL
    for (std::uint32_t k = 0; k < 2; ++k) {
      if (k >= parts) break;
      whole = finish<Escapes>(w, slots, x[k], words[k], part_of(out, k), at, escape) && whole;
    }
    w.sync();
    return whole ? status::ok : status::corrupt_input;
  }

  /// A part from byte `at` on. An undamaged stream ends with every state where the encoder began, and with its last word.
  SORA2_TWO_SIDED
  template <bool Escapes, warp_context Warp, class Slots>
  SORA2_HD SORA2_INLINE static bool
  finish(Warp const& w, Slots const* slots, lanes<std::uint32_t, Warp> x, word_source words,
         view<std::byte> out, std::size_t at, std::uint32_t escape)
  {
    std::size_t const coded = out.size - detail::rans_tail;
    for (; at + 32 <= coded && plenty(words); at += 32)
      take<Escapes>(w, slots, x, words, escape, out.data + at);
    for (; at + 32 <= coded; at += 32) take<Escapes>(w, slots, x, words, escape, out.data + at);
    if (at < coded) {
      auto const n = static_cast<std::uint32_t>(coded - at);
      auto const chosen = w.lane() < n;
      auto const entry = w.template gather<std::uint32_t>(slots, x & slot_mask);
      auto symbol = detail::rans_symbols<Warp>(entry);
      if constexpr (Escapes) {
        auto const rare = ((symbol & 0xFFu) == escape) & chosen;
        symbol = select(rare, w.take_next(words, rare), symbol);
      }
      w.store_n(out.data + at, n, symbol);
      detail::rans_advance<bits>(w, entry, x, words, chosen);
    }
    w.store(out.data + coded, x);
    w.store(out.data + coded + 32, x >> 8);
    return !words.overrun && words.next == words.end && w.all(x >> 16 == 1u);
  }
};

/// rANS with a table that many pages share.
using rans_shared = rans<rans_config{.tables = rans_tables::shared}>;

static_assert(byte_codec_policy<rans<>> && byte_codec_policy<rans_shared>);
static_assert(device_codec_policy<rans<>> && device_codec_policy<rans_shared>);

}  // namespace sora2
