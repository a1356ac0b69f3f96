/// A warp that watches its memory: it finds what a kernel would do wrong without a GPU, such as a missing `sync`.
/// Smallest use: `audit_log log; audit_warp w{log}; Codec::decode(w, scratch, in, out); log.count() == 0`.
/// Limits: host only and slow. It sees what goes through warp calls, not plain loads and stores around them, and
/// expects every call to leave memory synced. Reports are facts about this run, not about all inputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <type_traits>

#include <sora2/core/bits.hpp>
#include <sora2/core/macros.hpp>
#include <sora2/core/view.hpp>
#include <sora2/simt/detail/array_warp.hpp>
#include <sora2/simt/detail/elements.hpp>
#include <sora2/simt/lanes.hpp>

namespace sora2 {

enum class audit_fault : std::uint8_t {
  read_before_sync,   ///< a lane reads what another wrote since the last sync
  two_writers,        ///< two lanes write one place without a sync between them
  write_before_sync,  ///< a lane overwrites what another read since the last sync
  unwritten_scratch,  ///< scratch is read that nobody wrote
  misaligned,         ///< an address that a kernel cannot load from or store to
  bad_lane,           ///< a lane number or distance outside 0 to 31
  bad_shift,          ///< a shift by less than 0 or more than 31
  bad_rounding,       ///< round_to_int of a NaN or of a value beyond 31 bits
};

[[nodiscard]] constexpr char const* audit_fault_name(audit_fault f)
{
  switch (f) {
    case audit_fault::read_before_sync: return "read_before_sync";
    case audit_fault::two_writers: return "two_writers";
    case audit_fault::write_before_sync: return "write_before_sync";
    case audit_fault::unwritten_scratch: return "unwritten_scratch";
    case audit_fault::misaligned: return "misaligned";
    case audit_fault::bad_lane: return "bad_lane";
    case audit_fault::bad_shift: return "bad_shift";
    case audit_fault::bad_rounding: return "bad_rounding";
  }
  return "unknown";
}

struct audit_record {
  audit_fault what{};
  std::uint8_t lane =
      0;  ///< whose access it was; 32 where several lanes or an unnamed one take part
  std::uint8_t other = 0;   ///< whose earlier access it clashes with, likewise
  std::uint32_t epoch = 0;  ///< syncs before it, plus one
  void const* address = nullptr;
};

/// Faults of one or more warps, and who touched which byte since the last sync. Not for two threads at once.
class audit_log {
 public:
  static constexpr std::size_t records_kept = 16;

  audit_log() = default;
  audit_log(audit_log const&) = delete;
  audit_log& operator=(audit_log const&) = delete;

  /// Faults since the last clear. One access counts once, however many bytes of it are at fault.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t count(audit_fault f) const
  {
    return by_kind_[static_cast<std::size_t>(f)];
  }
  /// The first ones; `view` is void after the next fault or clear.
  [[nodiscard]] view<audit_record const> records() const
  {
    return {records_.data(), least(count_, records_kept)};
  }
  /// Forgets the faults, not the accesses.
  void clear()
  {
    count_ = 0;
    by_kind_ = {};
  }

  void report(audit_fault what, void const* address, std::uint8_t lane, std::uint8_t other)
  {
    if (count_ < records_kept) records_[count_] = {what, lane, other, epoch_, address};
    ++count_;
    ++by_kind_[static_cast<std::size_t>(what)];
  }

  // The rest is for the warp.
  static constexpr std::uint8_t several = 32;

  void sync() { ++epoch_; }
  /// All accesses so far are over and forgotten: another kernel starts.
  void launch()
  {
    pages_.clear();
    last_ = nullptr;
    ++epoch_;
  }
  void read(void const* p, std::size_t bytes, std::size_t alignment, std::uint8_t lane,
            bool scratch)
  {
    std::uint8_t clash = several;
    bool early = false, unwritten = false;
    check_alignment(p, alignment, lane);
    for (std::size_t i = 0; i < bytes; ++i) {
      cell& c = at(p, i);
      if (c.write_epoch == epoch_ && (c.writer != lane || lane == several))
        early = true, clash = c.writer;
      unwritten = unwritten || (scratch && c.write_epoch == 0);
      c.reader = c.read_epoch == epoch_ && c.reader != lane ? several : lane;
      c.read_epoch = epoch_;
    }
    if (early) report(audit_fault::read_before_sync, p, lane, clash);
    if (unwritten) report(audit_fault::unwritten_scratch, p, lane, lane);
  }
  void write(void const* p, std::size_t bytes, std::size_t alignment, std::uint8_t lane)
  {
    std::uint8_t clash = several;
    bool twice = false, early = false;
    check_alignment(p, alignment, lane);
    for (std::size_t i = 0; i < bytes; ++i) {
      cell& c = at(p, i);
      if (c.write_epoch == epoch_ && (c.writer != lane || lane == several))
        twice = true, clash = c.writer;
      if (c.read_epoch == epoch_ && (c.reader != lane || lane == several))
        early = true, clash = c.reader;
      c.writer = lane;
      c.write_epoch = epoch_;
    }
    if (twice) report(audit_fault::two_writers, p, lane, clash);
    if (early && !twice) report(audit_fault::write_before_sync, p, lane, clash);
  }

 private:
  struct cell {
    std::uint32_t write_epoch = 0, read_epoch = 0;  ///< 0: never
    std::uint8_t writer = 0, reader = 0;
  };
  static constexpr std::size_t page_bytes = 1024;
  using page = std::array<cell, page_bytes>;

  cell& at(void const* p, std::size_t i)
  {
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(p) + i;
    if (last_ == nullptr || last_number_ != address / page_bytes) {
      last_number_ = address / page_bytes;
      last_ = &pages_[last_number_];  // a map does not move its elements
    }
    return (*last_)[address % page_bytes];
  }
  void check_alignment(void const* p, std::size_t alignment, std::uint8_t lane)
  {
    if (reinterpret_cast<std::uintptr_t>(p) % alignment != 0)
      report(audit_fault::misaligned, p, lane, lane);
  }

  std::map<std::uintptr_t, page> pages_;
  page* last_ = nullptr;
  std::uintptr_t last_number_ = 0;
  std::uint32_t epoch_ = 1;
  std::size_t count_ = 0;
  std::array<std::size_t, 8> by_kind_{};
  std::array<audit_record, records_kept> records_{};
};

struct audit_warp;

namespace detail {

/// Where lanes report what no address belongs to: the log of the warp made last on this thread.
inline audit_log*& current_audit()
{
  static thread_local audit_log* log = nullptr;
  return log;
}
inline void report_value(audit_fault f, int lane)
{
  auto const number = static_cast<std::uint8_t>(lane);
  if (audit_log* const log = current_audit()) log->report(f, nullptr, number, number);
}

/// An element of scratch: only the warp gets at its value.
template <class T>
class audit_element {
  friend struct sora2::audit_warp;
  T value_;
};

template <class U>
struct audit_plain {
  using type = U;
};
template <class U>
struct audit_plain<audit_element<U>> {
  using type = U;
};
template <class U>
using audit_plain_t = typename audit_plain<U>::type;
template <class U>
inline constexpr bool is_audit_scratch = !std::is_same_v<U, audit_plain_t<U>>;

}  // namespace detail

template <>
struct lane_mask<audit_warp> {
  std::uint32_t bits;  ///< bit i is lane i

  operator bool() const = delete;
  friend lane_mask operator&(lane_mask const& x, lane_mask const& y) { return {x.bits & y.bits}; }
  friend lane_mask operator|(lane_mask const& x, lane_mask const& y) { return {x.bits | y.bits}; }
  friend lane_mask operator^(lane_mask const& x, lane_mask const& y) { return {x.bits ^ y.bits}; }
  friend lane_mask operator~(lane_mask const& x) { return {~x.bits}; }
};

template <lane_type T>
struct lanes<T, audit_warp> {
  T at[32];

  lanes() = default;
  lanes(T x)
  {
    for (T& v : at) v = x;
  }

  // Out of line, so that no compiler fuses one operation with the next.
#define SORA2_LANES_BINARY(op)                                                            \
  [[gnu::noinline]] friend lanes operator op(lanes const& x, lanes const& y)              \
  {                                                                                       \
    lanes r;                                                                              \
    for (int i = 0; i < 32; ++i)                                                          \
      r.at[i] = static_cast<T>(static_cast<wide>(x.at[i]) op static_cast<wide>(y.at[i])); \
    return r;                                                                             \
  }
#define SORA2_LANES_BITWISE(op)                                                \
  [[gnu::noinline]] friend lanes operator op(lanes const& x, lanes const& y)   \
    requires(!std::same_as<T, float>)                                          \
  {                                                                            \
    lanes r;                                                                   \
    for (int i = 0; i < 32; ++i) r.at[i] = static_cast<T>(x.at[i] op y.at[i]); \
    return r;                                                                  \
  }
#define SORA2_LANES_COMPARE(op)                                                              \
  [[gnu::noinline]] friend lane_mask<audit_warp> operator op(lanes const& x, lanes const& y) \
  {                                                                                          \
    lane_mask<audit_warp> r{0};                                                              \
    for (int i = 0; i < 32; ++i) r.bits |= std::uint32_t{x.at[i] op y.at[i]} << i;           \
    return r;                                                                                \
  }
  SORA2_LANES_BINARY(+)
  SORA2_LANES_BINARY(-)
  SORA2_LANES_BINARY(*)
  SORA2_LANES_BITWISE(&)
  SORA2_LANES_BITWISE(|)
  SORA2_LANES_BITWISE(^)
  SORA2_LANES_COMPARE(<)
  SORA2_LANES_COMPARE(<=)
  SORA2_LANES_COMPARE(>)
  SORA2_LANES_COMPARE(>=)
  SORA2_LANES_COMPARE(==)
  SORA2_LANES_COMPARE(!=)
#undef SORA2_LANES_BINARY
#undef SORA2_LANES_BITWISE
#undef SORA2_LANES_COMPARE

  /// Correctly rounded.
  friend lanes operator/(lanes const& x, lanes const& y)
    requires std::same_as<T, float>
  {
    lanes r;
    for (int i = 0; i < 32; ++i) r.at[i] = x.at[i] / y.at[i];
    return r;
  }
  friend lanes operator-(lanes const& x)
  {
    lanes r;
    for (int i = 0; i < 32; ++i) {
      if constexpr (std::same_as<T, float>)
        r.at[i] = -x.at[i];
      else
        r.at[i] = static_cast<T>(0u - static_cast<std::uint32_t>(x.at[i]));
    }
    return r;
  }
  friend lanes operator~(lanes const& x)
    requires(!std::same_as<T, float>)
  {
    return x ^ lanes(static_cast<T>(0xFFFFFFFFu));
  }
  /// Shifts by a uniform count or per lane, 0..31; arithmetic for signed lanes.
  friend lanes operator<<(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return x << lanes<std::uint32_t, audit_warp>(static_cast<std::uint32_t>(n));
  }
  friend lanes operator>>(lanes const& x, int n)
    requires(!std::same_as<T, float>)
  {
    return x >> lanes<std::uint32_t, audit_warp>(static_cast<std::uint32_t>(n));
  }
  friend lanes operator<<(lanes const& x, lanes<std::uint32_t, audit_warp> const& n)
    requires(!std::same_as<T, float>)
  {
    lanes r;
    for (int i = 0; i < 32; ++i)
      r.at[i] = static_cast<T>(static_cast<std::uint32_t>(x.at[i]) << shift_count(n.at[i], i));
    return r;
  }
  friend lanes operator>>(lanes const& x, lanes<std::uint32_t, audit_warp> const& n)
    requires(!std::same_as<T, float>)
  {
    lanes r;
    for (int i = 0; i < 32; ++i) r.at[i] = static_cast<T>(x.at[i] >> shift_count(n.at[i], i));
    return r;
  }

 private:
  using wide = std::conditional_t<std::is_same_v<T, float>, float, std::uint32_t>;

  static std::uint32_t shift_count(std::uint32_t n, int lane)
  {
    if (n > 31) detail::report_value(audit_fault::bad_shift, lane);
    return n & 31u;
  }
};

template <class T>
lanes<T, audit_warp> select(lane_mask<audit_warp> const& m, lanes<T, audit_warp> const& x,
                            lanes<T, audit_warp> const& y)
{
  lanes<T, audit_warp> r;
  for (int i = 0; i < 32; ++i) r.at[i] = (m.bits >> i & 1u) ? x.at[i] : y.at[i];
  return r;
}
template <class T>
  requires(!std::same_as<T, float>)
lanes<float, audit_warp> to_lanes_float(lanes<T, audit_warp> const& x)
{
  lanes<float, audit_warp> r;
  for (int i = 0; i < 32; ++i) r.at[i] = static_cast<float>(x.at[i]);
  return r;
}
inline lanes<std::int32_t, audit_warp> round_to_int(lanes<float, audit_warp> const& x)
{
  lanes<std::int32_t, audit_warp> r;
  for (int i = 0; i < 32; ++i) {
    bool const fits = __builtin_fabsf(x.at[i]) < 2147483648.0f;
    if (!fits) detail::report_value(audit_fault::bad_rounding, i);
    r.at[i] = fits ? static_cast<std::int32_t>(__builtin_nearbyintf(x.at[i])) : -2147483647 - 1;
  }
  return r;
}
inline lanes<std::uint32_t, audit_warp> mul_hi(lanes<std::uint32_t, audit_warp> const& x,
                                               lanes<std::uint32_t, audit_warp> const& y)
{
  lanes<std::uint32_t, audit_warp> r;
  for (int i = 0; i < 32; ++i)
    r.at[i] = static_cast<std::uint32_t>(std::uint64_t{x.at[i]} * y.at[i] >> 32);
  return r;
}
inline lanes<float, audit_warp> fma(lanes<float, audit_warp> const& x,
                                    lanes<float, audit_warp> const& y,
                                    lanes<float, audit_warp> const& z)
{
  lanes<float, audit_warp> r;
  for (int i = 0; i < 32; ++i) r.at[i] = __builtin_fmaf(x.at[i], y.at[i], z.at[i]);
  return r;
}

struct audit_warp {
  static constexpr int width = 32;
  static constexpr bool is_host = true;
  static constexpr int chains = 2;
  template <class T>
  using shared = detail::audit_element<T>;

  using uints = lanes<std::uint32_t, audit_warp>;
  using mask = lane_mask<audit_warp>;

  /// With the log of this thread, `thread_log()`.
  audit_warp() : audit_warp(thread_log()) {}
  /// A warp starts as a kernel does: what was accessed before is over. Copies go on with it.
  explicit audit_warp(audit_log& log) : log_(&log)
  {
    log.launch();
    detail::current_audit() = &log;
  }
  [[nodiscard]] audit_log& log() const { return *log_; }
  [[nodiscard]] static audit_log& thread_log()
  {
    static thread_local audit_log log;
    return log;
  }

  [[nodiscard]] uints lane() const
  {
    uints r;
    for (std::uint32_t i = 0; i < 32; ++i) r.at[i] = i;
    return r;
  }

  template <lane_type T, class U>
  [[nodiscard]] lanes<T, audit_warp> load(U const* p) const
  {
    return load_n<T>(p, 32, T{});
  }
  template <lane_type T, class U>
  [[nodiscard]] lanes<T, audit_warp> load_n(U const* p, std::uint32_t n,
                                            std::type_identity_t<T> fill) const
  {
    return gather<T>(p, lane(), lane() < uints(n), fill);
  }
  template <class U, class T>
  void store(U* p, lanes<T, audit_warp> const& x) const
  {
    store_n(p, 32, x);
  }
  template <class U, class T>
  void store_n(U* p, std::uint32_t n, lanes<T, audit_warp> const& x) const
  {
    scatter(p, lane(), x, lane() < uints(n));
  }

  template <lane_type T, class U>
  [[nodiscard]] lanes<T, audit_warp> gather(U const* p, uints const& at) const
  {
    return gather<T>(p, at, mask{0xFFFFFFFFu}, T{});
  }
  template <lane_type T, class U>
  [[nodiscard]] lanes<T, audit_warp> gather(U const* p, uints const& at, mask const& chosen,
                                            std::type_identity_t<T> fill) const
  {
    lanes<T, audit_warp> r(fill);
    for (std::uint8_t i = 0; i < 32; ++i)
      if (chosen.bits >> i & 1u) r.at[i] = read<T>(p + at.at[i], i);
    return r;
  }
  /// Elements 2 * at and 2 * at + 1.
  template <class U>
  void gather_pair(U const* p, uints const& at, uints& first, uints& second) const
  {
    first = gather<std::uint32_t>(p, at << 1);
    second = gather<std::uint32_t>(p, (at << 1) + 1u);
  }
  template <class U, class T>
  void scatter(U* p, uints const& at, lanes<T, audit_warp> const& x, mask const& chosen) const
  {
    // Of lanes that name one place the highest stays, and it alone writes.
    for (std::uint8_t i = 0; i < 32; ++i) {
      bool last = (chosen.bits >> i & 1u) != 0;
      for (std::uint8_t j = static_cast<std::uint8_t>(i + 1); j < 32 && last; ++j)
        last = !((chosen.bits >> j & 1u) && at.at[j] == at.at[i]);
      if (last) write(p + at.at[i], x.at[i], i);
    }
  }

  /// The chosen lanes name different places: others are reported as two writers.
  template <class U, class T>
  void scatter_distinct(U* p, uints const& at, lanes<T, audit_warp> const& x,
                        mask const& chosen) const
  {
    for (std::uint8_t i = 0; i < 32; ++i)
      if (chosen.bits >> i & 1u) write(p + at.at[i], x.at[i], i);
  }

  template <class T>
  [[nodiscard]] lanes<T, audit_warp> shuffle(lanes<T, audit_warp> const& x, uints const& from) const
  {
    lanes<T, audit_warp> r;
    for (int i = 0; i < 32; ++i) r.at[i] = x.at[lane_number(from.at[i], i)];
    return r;
  }
  template <class T>
  [[nodiscard]] lanes<T, audit_warp> shuffle_xor(lanes<T, audit_warp> const& x, int bits) const
  {
    return shuffle(x, lane() ^ uints(static_cast<std::uint32_t>(bits)));
  }
  /// Lanes i and i + bits: the lower gets the sum of both, the upper the lower minus the upper. `bits` is uniform: 1, 2, 4, 8, 16.
  [[nodiscard]] lanes<float, audit_warp> butterfly(lanes<float, audit_warp> const& x,
                                                   int bits) const
  {
    auto const y = shuffle_xor(x, bits);
    return select((lane() & uints(static_cast<std::uint32_t>(bits))) == 0u, x + y, y - x);
  }
  template <class T>
  [[nodiscard]] T broadcast(lanes<T, audit_warp> const& x, int from) const
  {
    return x.at[lane_number(static_cast<std::uint32_t>(from), audit_log::several)];
  }

  [[nodiscard]] std::uint32_t ballot(mask const& m) const { return m.bits; }
  [[nodiscard]] bool any(mask const& m) const { return m.bits != 0; }
  [[nodiscard]] bool all(mask const& m) const { return m.bits == 0xFFFFFFFFu; }

  /// Butterfly over distances 16, 8, 4, 2, 1: the same float result on every machine.
  template <class T>
  [[nodiscard]] T sum(lanes<T, audit_warp> const& x) const
  {
    return butterfly(x, [](auto const& a, auto const& b) { return a + b; });
  }
  template <class T>
  [[nodiscard]] T greatest_of(lanes<T, audit_warp> const& x) const
  {
    return butterfly(x, [](auto const& a, auto const& b) { return sora2::greatest(a, b); });
  }
  template <class T>
  [[nodiscard]] T least_of(lanes<T, audit_warp> const& x) const
  {
    return butterfly(x, [](auto const& a, auto const& b) { return sora2::least(a, b); });
  }
  /// Exclusive; integers only, since the order of additions differs from machine to machine.
  template <class T>
    requires(!std::same_as<T, float>)
  [[nodiscard]] lanes<T, audit_warp> prefix_sum(lanes<T, audit_warp> const& x) const
  {
    lanes<T, audit_warp> r;
    std::uint32_t total = 0;
    for (int i = 0; i < 32; ++i) {
      r.at[i] = static_cast<T>(total);
      total += static_cast<std::uint32_t>(x.at[i]);
    }
    return r;
  }

  /// Lane i gets the highest lane below i with the same value, or 32 where there is none.
  [[nodiscard]] uints previous_equal(uints const& x) const
  {
    uints r(32u);
    for (std::uint32_t i = 0; i < 32; ++i)
      for (std::uint32_t j = 0; j < i; ++j)
        if (x.at[j] == x.at[i]) r.at[i] = j;
    return r;
  }

  [[nodiscard]] uints take_next(word_source& source, mask const& need) const
  {
    uints r(0u);
    for (std::uint8_t i = 0; i < 32; ++i) {
      if (!(need.bits >> i & 1u)) continue;
      if (source.end - source.next < 2) {
        source.overrun = true;
        continue;
      }
      log_->read(source.next, 2, 1, i, false);
      r.at[i] = load_le<std::uint16_t>(source.next);
      source.next += 2;
    }
    return r;
  }
  void put_before(word_sink& sink, uints const& x, mask const& chosen) const
  {
    std::ptrdiff_t const bytes = 2 * std::ptrdiff_t{popcount(chosen.bits)};
    if (sink.overrun || sink.next - sink.begin < bytes) {
      sink.overrun = true;
      return;
    }
    sink.next -= bytes;
    std::byte* p = sink.next;
    for (std::uint8_t i = 0; i < 32; ++i) {
      if (!(chosen.bits >> i & 1u)) continue;
      log_->write(p, 2, 1, i);
      store_le(p, static_cast<std::uint16_t>(x.at[i]));
      p += 2;
    }
  }

  /// Lane 0 writes.
  template <class U, class T>
  void store_one(U* p, T x) const
  {
    write(p, x, 0);
  }
  /// All lanes read the same element.
  template <class U>
  [[nodiscard]] detail::audit_plain_t<U> load_one(U const* p) const
  {
    using plain = detail::audit_plain_t<U>;
    log_->read(p, sizeof(plain), alignof(plain), audit_log::several, detail::is_audit_scratch<U>);
    return value_of(p);
  }
  /// Disjoint bytes; which lane moves which is open.
  template <class To, class From>
    requires std::same_as<detail::audit_plain_t<To>, std::byte> &&
             std::same_as<detail::audit_plain_t<From>, std::byte>
  void copy(To* to, From const* from, std::size_t bytes) const
  {
    if (bytes == 0) return;
    log_->read(from, bytes, 1, audit_log::several, detail::is_audit_scratch<From>);
    log_->write(to, bytes, 1, audit_log::several);
    std::memcpy(to, from, bytes);
  }
  void sync() const { log_->sync(); }

 private:
  static std::uint32_t lane_number(std::uint32_t n, int lane)
  {
    if (n > 31) detail::report_value(audit_fault::bad_lane, lane);
    return n & 31u;
  }
  template <class U>
  static detail::audit_plain_t<U> value_of(U const* p)
  {
    detail::audit_plain_t<U> x;
    std::memcpy(&x, p, sizeof x);
    return x;
  }
  template <class T, class U>
  T read(U const* p, std::uint8_t i) const
  {
    using plain = detail::audit_plain_t<U>;
    log_->read(p, sizeof(plain), alignof(plain), i, detail::is_audit_scratch<U>);
    plain const x = value_of(p);
    return detail::load_element<T>(&x);
  }
  template <class U, class T>
  void write(U* p, T x, std::uint8_t i) const
  {
    using plain = detail::audit_plain_t<U>;
    log_->write(p, sizeof(plain), alignof(plain), i);
    plain y;
    if constexpr (std::is_same_v<plain, T>)
      y = x;
    else
      detail::store_element(&y, x);
    std::memcpy(static_cast<void*>(p), &y, sizeof y);
  }
  template <class T, class Step>
  T butterfly(lanes<T, audit_warp> x, Step step) const
  {
    for (int bits = 16; bits > 0; bits >>= 1) x = step(x, shuffle_xor(x, bits));
    return x.at[0];
  }

  audit_log* log_;
};

static_assert(host_context<audit_warp> && !unchecked_host_context<audit_warp>);

}  // namespace sora2
