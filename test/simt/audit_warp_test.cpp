#include <sora2/simt/audit_warp.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/warp_checks.hpp"

using sora2::audit_fault;
using sora2::audit_log;
using sora2::audit_warp;
using sora2::lanes;

namespace {

using uints = lanes<std::uint32_t, audit_warp>;

struct scratch {
  audit_warp::shared<std::uint32_t> words[64];
  audit_warp::shared<std::byte> bytes[64];
};

/// Reverses 32 words through scratch; a stand-in for a codec that may have forgotten its sync.
template <class Warp, class Scratch>
void reverse(Warp const& w, Scratch& s, std::uint32_t const* in, std::uint32_t* out, bool with_sync)
{
  w.store(s.words, w.template load<std::uint32_t>(in));
  if (with_sync) w.sync();
  w.store(out, w.template gather<std::uint32_t>(s.words, 31u - w.lane()));
  w.sync();
}

std::size_t only(audit_log const& log, audit_fault f)
{
  CHECK(log.count() == log.count(f));
  return log.count(f);
}

}  // namespace

static_assert(sora2::host_context<audit_warp> && !sora2::unchecked_host_context<audit_warp>);
static_assert(std::is_trivially_default_constructible_v<scratch>);
static_assert(sizeof(scratch) == 64 * 5);

TEST_SUITE("simt/audit_warp") {
  TEST_CASE("every operation gives what plain loops give")
  {
    support::check_warp([](auto&& f) { f(audit_warp{}); });
  }

  TEST_CASE("the operations themselves are without fault")
  {
    audit_log log;
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
      auto const in = support::exercise_data(seed, false);
      std::vector<std::uint32_t> rows(32 * support::exercise_rows);
      support::exercise_scratch<audit_warp> s;
      support::exercise(audit_warp{log}, s, in, rows.data());
    }
    CHECK(log.count() == 0);
  }

  TEST_CASE("a missing sync is found, and only then")
  {
    std::vector<std::uint32_t> in(32), out(32);
    for (std::uint32_t i = 0; i < 32; ++i) in[i] = 100 + i;
    scratch s;
    audit_log log;
    audit_warp const w{log};
    reverse(w, s, in.data(), out.data(), true);
    CHECK(log.count() == 0);
    CHECK(out[0] == 131);

    reverse(w, s, in.data(), out.data(), false);
    CHECK(only(log, audit_fault::read_before_sync) == 32);  // no lane reads its own word
    auto const first = log.records()[0];
    CHECK(first.lane == 0);
    CHECK(first.other == 31);
    CHECK(first.address == static_cast<void const*>(s.words + 31));
    CHECK(log.records().size == audit_log::records_kept);
    CHECK(std::string(sora2::audit_fault_name(first.what)) == "read_before_sync");
    CHECK(out[0] == 131);  // by luck, as on a CPU it always is

    log.clear();
    CHECK(log.count() == 0);
    reverse(w, s, in.data(), out.data(), true);
    CHECK(log.count() == 0);
  }

  TEST_CASE("a lane may read back what it wrote itself")
  {
    scratch s;
    audit_log log;
    audit_warp const w{log};
    w.store(s.words, w.lane());
    CHECK(w.sum(w.load<std::uint32_t>(s.words)) == 31 * 16);
    CHECK(log.count() == 0);
  }

  TEST_CASE("two lanes that write one place without a sync are found")
  {
    scratch s;
    audit_log log;
    audit_warp const w{log};
    w.store(s.words, w.lane());
    w.store(s.words + 1, w.lane());
    CHECK(only(log, audit_fault::two_writers) == 31);
    w.sync();
    log.clear();
    w.scatter(s.words, uints(3u), w.lane(), w.lane() < 5u);  // one winner: allowed
    w.sync();
    CHECK(w.load_one(s.words + 3) == 4);
    CHECK(log.count() == 0);
    w.sync();
    w.scatter_distinct(s.words, w.lane() >> 1, w.lane(), w.lane() < 32u);
    CHECK(only(log, audit_fault::two_writers) == 16);
  }

  TEST_CASE("a write over what another lane has just read is found")
  {
    scratch s;
    audit_log log;
    audit_warp const w{log};
    w.store(s.words, w.lane());
    w.sync();
    auto const x = w.gather<std::uint32_t>(s.words, w.lane() ^ 1u);
    w.store(s.words, x);
    CHECK(only(log, audit_fault::write_before_sync) == 32);
    w.sync();
    log.clear();
    w.store(s.words, w.load<std::uint32_t>(s.words));
    CHECK(log.count() == 0);
  }

  TEST_CASE("scratch that nobody wrote is found")
  {
    scratch s;
    std::memset(static_cast<void*>(&s), 0, sizeof s);
    audit_log log;
    audit_warp const w{log};
    w.store_n(s.words, 20, w.lane());
    w.sync();
    static_cast<void>(w.load_n<std::uint32_t>(s.words, 20, 0u));
    CHECK(log.count() == 0);
    static_cast<void>(w.load<std::uint32_t>(s.words));
    CHECK(only(log, audit_fault::unwritten_scratch) == 12);
    log.clear();
    audit_warp const next{log};  // another launch: nothing is in scratch any more
    static_cast<void>(next.load_one(s.words));
    CHECK(only(log, audit_fault::unwritten_scratch) == 1);
  }

  TEST_CASE("plain memory is watched too")
  {
    std::vector<std::uint16_t> out(32, 7);
    audit_log log;
    audit_warp const w{log};
    CHECK(w.sum(w.load<std::uint32_t>(out.data())) == 32 * 7);  // written before the launch
    w.sync();
    w.store(out.data(), w.lane());
    static_cast<void>(w.load_one(out.data() + 4));
    CHECK(only(log, audit_fault::read_before_sync) == 1);
  }

  TEST_CASE("one lane's store, copies and streams count as their lanes' accesses")
  {
    scratch s;
    std::vector<std::byte> bytes(64, std::byte{1}), stream(64);
    audit_log log;
    audit_warp const w{log};
    w.store_one(s.words, 5u);
    static_cast<void>(w.load_one(s.words));
    CHECK(only(log, audit_fault::read_before_sync) == 1);
    w.sync();
    log.clear();

    w.copy(s.bytes, bytes.data(), 64);
    static_cast<void>(w.load<std::uint32_t>(s.bytes));
    CHECK(only(log, audit_fault::read_before_sync) == 32);
    w.sync();
    log.clear();
    w.copy(bytes.data(), s.bytes, 32);
    w.copy(bytes.data() + 31, s.bytes, 2);
    CHECK(only(log, audit_fault::two_writers) == 1);
    w.sync();
    log.clear();

    sora2::word_sink sink{sora2::view<std::byte>(stream)};
    w.put_before(sink, w.lane(), w.lane() < 32u);
    sora2::word_source source{sora2::view<std::byte const>(stream)};
    static_cast<void>(w.take_next(source, w.lane() < 32u));  // each lane its own word
    CHECK(log.count() == 0);
    source = sora2::word_source{sora2::view<std::byte const>(stream)};
    static_cast<void>(w.take_next(source, w.lane() >= 1u));
    CHECK(only(log, audit_fault::read_before_sync) == 31);
  }

  TEST_CASE("addresses that a kernel cannot load from are found")
  {
    alignas(4) std::byte room[132];
    audit_log log;
    audit_warp const w{log};
    void* const odd = room + 1;
    w.store(static_cast<std::uint32_t*>(odd), w.lane());
    CHECK(only(log, audit_fault::misaligned) == 32);
    log.clear();
    w.sync();
    CHECK(w.sum(w.load<std::uint32_t>(room)) != 0);  // bytes lie anywhere
    CHECK(log.count() == 0);
  }

  TEST_CASE("values that machines treat differently are found")
  {
    audit_log log;
    audit_warp const w{log};
    static_cast<void>(w.shuffle(w.lane(), w.lane() + 1u));
    CHECK(only(log, audit_fault::bad_lane) == 1);
    CHECK(log.records()[0].lane == 31);
    log.clear();
    static_cast<void>(w.lane() << w.lane() + 2u);
    CHECK(only(log, audit_fault::bad_shift) == 2);
    log.clear();
    static_cast<void>(round_to_int(lanes<float, audit_warp>(std::nanf(""))));
    static_cast<void>(round_to_int(lanes<float, audit_warp>(3e9f)));
    CHECK(only(log, audit_fault::bad_rounding) == 64);
  }

  TEST_CASE("without a log of its own a warp reports to the thread's")
  {
    audit_warp::thread_log().clear();
    scratch s;
    audit_warp const w;
    w.store(s.words, w.lane());
    static_cast<void>(w.gather<std::uint32_t>(s.words, w.lane() ^ 1u));
    CHECK(audit_warp::thread_log().count(audit_fault::read_before_sync) == 32);
    audit_warp::thread_log().clear();
  }
}
