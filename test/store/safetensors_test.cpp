#include <sora2/store/safetensors.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/temporary_folder.hpp"
#if __has_include(<nlohmann/json.hpp>)
#include "support/safetensors_reference.hpp"
#define HAS_REFERENCE 1
#else
#define HAS_REFERENCE 0
#endif

using namespace sora2_test;
using sora2::dtype;
using sora2::safetensors_file;
using sora2::status;
using sora2::tensor_view;

static_assert(!std::is_copy_constructible_v<safetensors_file> &&
              std::is_nothrow_move_constructible_v<safetensors_file>);

namespace {

std::string const folder = std::string(SORA2_TEST_DATA_DIR) + "/safetensors/";

std::vector<std::vector<std::string>> read_table(std::string const& path)
{
  std::ifstream in(path);
  REQUIRE(in.good());
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    auto& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  return rows;
}

std::string fnv1a64(sora2::view<std::byte const> bytes)
{
  std::uint64_t h = 0xCBF29CE484222325u;
  for (std::byte const b : bytes) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3u;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(h));
  return text;
}

/// A heap buffer of exactly this size, so that an address checker sees one byte too many.
struct exact_bytes {
  explicit exact_bytes(std::vector<std::byte> const& from)
      : data(new std::byte[from.size()]), size(from.size())
  {
    std::copy(from.begin(), from.end(), data.get());
  }
  operator sora2::view<std::byte const>() const { return {data.get(), size}; }
  std::unique_ptr<std::byte[]> data;
  std::size_t size;
};

bool accepts(std::vector<std::byte> const& bytes)
{
  exact_bytes const input(bytes);
  auto const file = safetensors_file::parse(input);
  if (!file) {
    CHECK(file.error().code != status::ok);
    CHECK(file.error().message.starts_with("input: "));
    CHECK(file.error().message.find('\n') == std::string::npos);
    return false;
  }
  std::size_t sum = 0;
  for (auto const& t : file->tensors()) {
    sum += t.data.size;
    CHECK(file->find(t.name) == &t);
    CHECK(fnv1a64(t.data).size() == 16);  // every byte is readable
  }
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  CHECK(sum + 8 + header == bytes.size());
  return true;
}

std::vector<std::byte> with_header(std::string const& json, std::string const& data = "")
{
  std::vector<std::byte> bytes(8 + json.size() + data.size());
  std::uint64_t const length = json.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, json.data(), json.size());
  std::memcpy(bytes.data() + 8 + json.size(), data.data(), data.size());
  return bytes;
}

std::string refusal(std::string const& json, std::string const& data = "")
{
  exact_bytes const input(with_header(json, data));
  auto const file = safetensors_file::parse(input, "f");
  CHECK(!file);
  return file.error().message;
}

bool has(std::string const& text, std::string const& part)
{
  return text.find(part) != std::string::npos;
}

std::string entry(std::string const& dtype, std::string const& shape, std::string const& offsets)
{
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

TEST_SUITE("store/safetensors") {
  TEST_CASE("every collected file gets its verdict, in one line that names the file")
  {
    auto const rows = read_table(folder + "manifest.tsv");
    REQUIRE(rows.size() == 38);
    for (auto const& row : rows) {
      CAPTURE(row[0]);
      auto const file = safetensors_file::open(folder + row[0]);
      CHECK(accepts(read_bytes(folder + row[0])) == static_cast<bool>(file));
      if (row[1] == "accept") CHECK_MESSAGE(file, file.error().message);
      if (row[1] == "reject") CHECK(!file);
      if (file) continue;
      CHECK(has(file.error().message, row[0] + ": "));
      CHECK(!has(file.error().message, "\n"));
      CHECK(file.error().code != status::ok);
    }
  }

  TEST_CASE("accepted files hold the listed tensors")
  {
    std::map<std::string, std::size_t> listed;
    for (auto const& row : read_table(folder + "accepted.tsv")) {
      auto const file = safetensors_file::open(folder + row[0]);
      if (row[0] == "leading_space.safetensors") {
        CHECK(!file);
        continue;
      }
      REQUIRE_MESSAGE(file, file.error().message);
      std::string name;
      for (std::size_t i = 0; i + 1 < row[1].size(); i += 2)
        name += static_cast<char>(std::stoi(row[1].substr(i, 2), nullptr, 16));
      auto const* const t = file->find(name);
      REQUIRE(t != nullptr);
      std::string shape;
      for (auto const extent : t->shape)
        shape += (shape.empty() ? "" : "x") + std::to_string(extent);
      CHECK(sora2::dtype_name(t->type) == row[2]);
      CHECK(shape == row[3]);
      CHECK(std::to_string(t->data.size) == row[4]);
      CHECK(fnv1a64(t->data) == row[5]);
      CHECK(++listed[row[0]] <= file->tensors().size);
    }
    CHECK(listed["ok_mixed.safetensors"] == 5);
    CHECK(listed["ok_names.safetensors"] == 4);
  }

  TEST_CASE("messages say what is wrong with which tensor")
  {
    auto const message = [](char const* name) {
      auto const file = safetensors_file::open(folder + name);
      return file.error().message;
    };
    CHECK(has(message("dup_key.safetensors"), "duplicate tensor name 'a'"));
    CHECK(has(message("unknown_dtype.safetensors"), "tensor 'a': unknown dtype 'Q3_K'"));
    CHECK(has(message("missing_dtype.safetensors"), "tensor 'a': no dtype"));
    CHECK(has(message("size_mismatch.safetensors"), "needs 4000000 bytes, data_offsets give 4"));
    CHECK(has(message("off_negative.safetensors"), "data_offsets holds '-1'"));
    CHECK(has(message("off_float.safetensors"), "data_offsets holds '1.0'"));
    CHECK(has(message("off_overlap.safetensors"), "overlaps tensor"));
    CHECK(has(message("off_hole.safetensors"), "belong to no tensor"));
    CHECK(has(message("trailing.safetensors"), "after the last tensor"));
    CHECK(has(message("off_past_end.safetensors"), "cut short?"));
    CHECK(has(message("empty.safetensors"), "is empty"));
    CHECK(has(message("len_max.safetensors"), "18446744073709551615"));
    CHECK(has(message("bad_utf8.safetensors"), "header byte 2: not UTF-8"));
    CHECK(has(message("three_offsets.safetensors"), "more than two numbers"));
    CHECK(has(message("meta_number.safetensors"), "is not a string"));
  }

  TEST_CASE("what cannot be opened says so")
  {
    temporary_folder const place;
    auto const missing = safetensors_file::open(place.file("none"));
    CHECK(missing.error().code == status::not_found);
    CHECK(has(missing.error().message, place.file("none") + ": cannot open: "));
    auto const folder_instead = safetensors_file::open(place.file("."));
    CHECK(folder_instead.error().code == status::io_failure);
    CHECK(has(folder_instead.error().message, "is a folder"));
    auto const odd_name = safetensors_file::open(place.file("two\nlines"));
    CHECK(has(odd_name.error().message, "two\\x0alines: cannot open"));
    CHECK(!safetensors_file::open("/dev/null"));
    CHECK(has(safetensors_file::open("/dev/zero").error().message, "header length is 0"));
  }

  TEST_CASE("a pipe is read to its end, and no further than its header announces")
  {
    temporary_folder const place;
    std::string const pipe = place.file("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    auto const through_pipe = [&](std::vector<std::byte> const& bytes) {
      std::signal(SIGPIPE, SIG_IGN);
      std::jthread const writer([&] {
        std::ofstream out(pipe, std::ios::binary);
        out.write(reinterpret_cast<char const*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
      });
      return safetensors_file::open(pipe);
    };
    for (char const* name : {"ok_mixed", "ok_no_tensors", "ok_unordered"}) {
      auto const bytes = read_bytes(folder + name + ".safetensors");
      auto const file = through_pipe(bytes);
      REQUIRE_MESSAGE(file, file.error().message);
      CHECK(file->tensors().size == safetensors_file::parse(bytes)->tensors().size);
      auto longer = bytes;
      longer.resize(bytes.size() + 1'000'000);
      CHECK(has(through_pipe(longer).error().message, "1 bytes after the last tensor"));
      for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 16) {
        auto const cut_file =
            through_pipe({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)});
        CHECK(!cut_file);
        CHECK(cut_file.error().message.starts_with(pipe + ": "));
      }
    }
    auto const huge =
        with_header(R"({"a":)" + entry("U8", "[1099511627776]", "[0,1099511627776]") + "}", "x");
    CHECK(through_pipe(huge).error().code == status::input_too_large);
  }

  TEST_CASE("views outlive a move of the file")
  {
    auto first = safetensors_file::open(folder + "ok_mixed.safetensors");
    REQUIRE(first);
    std::string const before = fnv1a64(first->find("w")->data);
    safetensors_file second = std::move(*first);
    safetensors_file third = std::move(*safetensors_file::open(folder + "ok_f32.safetensors"));
    third = std::move(second);
    CHECK(fnv1a64(third.find("w")->data) == before);
    CHECK(third.find("x") == nullptr);
    CHECK(third.find("") == nullptr);
  }

  TEST_CASE("a good file cut or extended anywhere is refused")
  {
    for (auto const& row : read_table(folder + "manifest.tsv")) {
      if (row[1] != "accept") continue;
      CAPTURE(row[0]);
      auto bytes = read_bytes(folder + row[0]);
      for (std::size_t cut = 0; cut < bytes.size(); ++cut)
        CHECK(!accepts({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)}));
      for (int i = 0; i < 3; ++i) {
        bytes.push_back(std::byte{0x20});
        CHECK(!accepts(bytes));
      }
    }
  }

  TEST_CASE("the header grammar is strict")
  {
    std::string const good = entry("U8", "[1]", "[0,1]");
    CHECK(accepts(with_header(R"({"a":)" + good + "}", "x")));
    CHECK(accepts(with_header("{\n\t\"a\" : " + good + "\r }   ", "x")));
    CHECK(accepts(with_header(R"({"\ud83d\ude00\u00e9\n\/":)" + good + "}", "x")));

    CHECK(has(refusal("{\"a\":" + good + ",}", "x"), "expected '\"'"));
    CHECK(has(refusal("{\"a\":" + good + "} x", "x"), "unexpected bytes after"));
    CHECK(has(refusal(std::string("{}\0\0", 4)), "unexpected bytes after"));
    CHECK(has(refusal("{\"a\":" + good, "x"), "ends in the middle"));
    CHECK(has(refusal("{\"a"), "ends inside a string"));
    CHECK(has(refusal("{\"a\n\":1}"), "control character"));
    CHECK(has(refusal(R"({"\ud83d":1})"), "surrogate"));
    CHECK(has(refusal(R"({"\ude00":1})"), "surrogate"));
    CHECK(has(refusal(R"({"\ud83d\u0041":1})"), "surrogate"));
    CHECK(has(refusal(R"({"\x":1})"), "unknown escape"));
    CHECK(has(refusal(R"({"\u00g0":1})"), "hexadecimal"));
    CHECK(has(refusal("{\"\xC0\x80\":1}"), "not UTF-8"));
    CHECK(has(refusal("{\"\xED\xA0\x80\":1}"), "not UTF-8"));
    CHECK(has(refusal("{\"\xF4\x90\x80\x80\":1}"), "not UTF-8"));
    CHECK(has(refusal("{\"\xE2\x82\":1}"), "not UTF-8"));
    CHECK(has(refusal("\xEF\xBB\xBF{}"), "does not begin with '{'"));
    CHECK(has(refusal(R"({"a":7})"), "tensor 'a': its entry is not an object"));
    CHECK(has(refusal(R"({"__metadata__":null})"), "__metadata__ is not an object"));
    CHECK(
        has(refusal(R"({"__metadata__":{},"__metadata__":{}})"), "duplicate name '__metadata__'"));
    CHECK(has(refusal(R"({"__metadata__":{"k":"1","k":"2"}})"), "duplicate key 'k'"));
    CHECK(has(refusal(R"({"a":{"dtype":"U8","dtype":"U8"}})"), "duplicate field 'dtype'"));
    CHECK(has(refusal(R"({"a":{"dtype":"U8","extra":[[[]]]}})"), "unknown field 'extra'"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "[01]", "[0,1]") + "}", "x"), "shape holds '01'"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "[1e0]", "[0,1]") + "}", "x"), "shape holds '1e0'"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "[18446744073709551616]", "[0,1]") + "}", "x"),
              "shape holds"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "[[1]]", "[0,1]") + "}", "x"), "shape holds '[1'"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "1", "[0,1]") + "}", "x"), "shape is not an array"));
    CHECK(has(refusal("{\"a\":" + entry("U8", "[1]", "[1]") + "}", "x"), "fewer than two"));
    CHECK(has(refusal("{\"a\":" + entry("F4", "[3]", "[0,1]") + "}", "x"),
              "no whole number of bytes"));
    CHECK(accepts(with_header("{\"a\":" + entry("F6_E2M3", "[4]", "[0,3]") + "}", "xyz")));

    std::string rank = "[1";
    for (int i = 1; i < 64; ++i) rank += ",1";
    CHECK(accepts(with_header("{\"a\":" + entry("U8", rank + "]", "[0,1]") + "}", "x")));
    CHECK(has(refusal("{\"a\":" + entry("U8", rank + ",1]", "[0,1]") + "}", "x"),
              "more than 64 dimensions"));
    std::string deep(200'000, '[');
    CHECK(has(refusal("{\"a\":" + deep), "not an object"));
  }

  TEST_CASE("an empty tensor may lie between others, not inside one")
  {
    std::string const a = "\"a\":" + entry("U8", "[4]", "[0,4]"),
                      b = "\"b\":" + entry("U8", "[4]", "[4,8]");
    CHECK(accepts(with_header("{" + a + "," + b + ",\"e\":" + entry("I64", "[0]", "[4,4]") + "}",
                              "abcdefgh")));
    CHECK(accepts(with_header("{\"e\":" + entry("I64", "[0,9]", "[8,8]") + "," + b + "," + a + "}",
                              "abcdefgh")));
    CHECK(
        has(refusal("{" + a + "," + b + ",\"e\":" + entry("I64", "[0]", "[2,2]") + "}", "abcdefgh"),
            "overlaps"));
  }

#if HAS_REFERENCE
  TEST_CASE("damaged files get the verdict of a slow reference reader")
  {
    std::mt19937 random(20240917);
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    std::string const alphabet = "{}[]:,\"\\0123456789-.e \t\nabUF_\x80\xC3";
    std::size_t accepted = 0, refused = 0;
    for (auto const& row : read_table(folder + "manifest.tsv")) {
      auto const original = read_bytes(folder + row[0]);
      if (original.size() > 400) continue;
      for (int i = 0; i < 2000; ++i) {
        auto bytes = original;
        for (std::size_t edits = 1 + below(2); edits > 0 && !bytes.empty(); --edits) {
          std::size_t const at = below(bytes.size());
          auto const letter = static_cast<std::byte>(alphabet[below(alphabet.size())]);
          auto const where = bytes.begin() + static_cast<std::ptrdiff_t>(at);
          switch (below(5)) {
            case 0: bytes[at] ^= static_cast<std::byte>(1u << below(8)); break;
            case 1: bytes[at] = letter; break;
            case 2: bytes.erase(where); break;
            case 3: bytes.insert(where, letter); break;
            default: bytes.insert(where, bytes[below(bytes.size())]); break;
          }
        }
        // Half of the time the length field follows the edit, so that the header itself is met.
        if (bytes.size() >= 8 && original.size() >= 8 && below(2) == 0) {
          std::uint64_t length = 0;
          std::memcpy(&length, original.data(), 8);
          length += bytes.size() - original.size();
          std::memcpy(bytes.data(), &length, 8);
        }
        bool const verdict = accepts(bytes);
        CHECK_MESSAGE(verdict == safetensors_reference_accepts(bytes), row[0] << ", edit " << i);
        ++(verdict ? accepted : refused);
      }
    }
    CHECK(accepted > 500);
    CHECK(refused > 5000);
  }

  TEST_CASE("what is written is what a general reader finds")
  {
    temporary_folder const place;
    std::vector<std::byte> const data(12, std::byte{7});
    std::vector<tensor_view> const tensors = {
        {"b\"\\\x01\xC3\xA9", dtype::f16, {3, 2}, {data.data(), 12}},
        {"a", dtype::u8, {0, 5}, {}},
        {"", dtype::i32, {}, {data.data(), 4}}};
    auto const why =
        sora2::save_safetensors(place.file("t"), tensors, {{"z", "last\nfirst"}, {"a", ""}});
    REQUIRE_MESSAGE(why.code == status::ok, why.message);
    auto const bytes = read_bytes(place.file("t"));
    CHECK(safetensors_reference_accepts(bytes));
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    CHECK(length % 8 == 0);
    auto const header = nlohmann::ordered_json::parse(
        std::string(reinterpret_cast<char const*>(bytes.data()) + 8, length));
    std::vector<std::string> names;
    for (auto const& [name, value] : header.items()) names.push_back(name);
    CHECK(names == std::vector<std::string>{"__metadata__", "b\"\\\x01\xC3\xA9", "a", ""});
    CHECK(header["__metadata__"].dump() == R"({"z":"last\nfirst","a":""})");
    CHECK(header["b\"\\\x01\xC3\xA9"].dump() ==
          R"({"dtype":"F16","shape":[3,2],"data_offsets":[0,12]})");
    CHECK(header[""].dump() == R"({"dtype":"I32","shape":[],"data_offsets":[12,16]})");
  }
#endif

  TEST_CASE("every good file survives being written and read")
  {
    temporary_folder const place;
    for (auto const& row : read_table(folder + "manifest.tsv")) {
      if (row[1] != "accept") continue;
      CAPTURE(row[0]);
      auto const file = safetensors_file::open(folder + row[0]);
      REQUIRE(file);
      auto const why =
          sora2::save_safetensors(place.file("copy"), file->tensors(), file->metadata());
      REQUIRE_MESSAGE(why.code == status::ok, why.message);
      auto const copy = safetensors_file::open(place.file("copy"));
      REQUIRE_MESSAGE(copy, copy.error().message);
      REQUIRE(copy->tensors().size == file->tensors().size);
      CHECK(copy->metadata() == file->metadata());
      for (std::size_t i = 0; i < file->tensors().size; ++i) {
        auto const &x = file->tensors()[i], &y = copy->tensors()[i];
        CHECK(x.name == y.name);
        CHECK(x.type == y.type);
        CHECK(x.shape == y.shape);
        CHECK(fnv1a64(x.data) == fnv1a64(y.data));
      }
      CHECK(place.entries() == 1);
    }
  }

  TEST_CASE("a file may be rewritten while its own tensors are read from it")
  {
    temporary_folder const place;
    write_bytes(place.file("t"), read_bytes(folder + "ok_mixed.safetensors"));
    std::filesystem::permissions(place.file("t"), std::filesystem::perms::owner_read |
                                                      std::filesystem::perms::owner_write);
    auto const file = safetensors_file::open(place.file("t"));
    REQUIRE(file);
    std::vector<tensor_view> reversed(file->tensors().begin(), file->tensors().end());
    std::reverse(reversed.begin(), reversed.end());
    REQUIRE(sora2::save_safetensors(place.file("t"), reversed).code == status::ok);
    auto const again = safetensors_file::open(place.file("t"));
    REQUIRE(again);
    CHECK(again->tensors()[0].name == reversed[0].name);
    CHECK(fnv1a64(again->find("w")->data) == fnv1a64(file->find("w")->data));
    CHECK((std::filesystem::status(place.file("t")).permissions() &
           std::filesystem::perms::group_read) == std::filesystem::perms::none);
  }

  TEST_CASE("a failed write leaves nothing and changes nothing")
  {
    temporary_folder const place;
    std::vector<std::byte> const data(300'000, std::byte{1});
    std::vector<tensor_view> const tensors = {{"a", dtype::u8, {300'000}, data}};
    auto const nowhere = sora2::save_safetensors(place.file("no/such"), tensors);
    CHECK(nowhere.code == status::not_found);
    CHECK(has(nowhere.message, "cannot create: "));

    write_bytes(place.file("old"), {std::byte{42}});
    std::filesystem::create_directory(place.file("folder"));
    CHECK(sora2::save_safetensors(place.file("folder"), tensors).code == status::io_failure);
    REQUIRE(mkfifo(place.file("pipe").c_str(), 0600) == 0);
    CHECK(has(sora2::save_safetensors(place.file("pipe"), tensors).message, "not a regular file"));
    CHECK(has(sora2::save_safetensors("/dev/full", tensors).message, "not a regular file"));

    // A limit on file size stands for a full disk: the write stops in the middle.
    rlimit old_limit{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
    auto* const old_handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit tight = old_limit;
    tight.rlim_cur = 100'000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
    auto const full = sora2::save_safetensors(place.file("old"), tensors);
    auto const full_new = sora2::save_safetensors(place.file("new"), tensors);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
    std::signal(SIGXFSZ, old_handler);
    CHECK(full.code == status::io_failure);
    CHECK(has(full.message, place.file("old") + ": cannot write: "));
    CHECK(full_new.code == status::io_failure);

    CHECK(read_bytes(place.file("old")) == std::vector<std::byte>{std::byte{42}});
    CHECK(place.entries() == 3);
  }

  TEST_CASE("tensors that cannot be one file are refused before anything is written")
  {
    temporary_folder const place;
    std::vector<std::byte> const data(4);
    tensor_view const good{"a", dtype::f32, {1}, data};
    auto const why = [&](std::vector<tensor_view> const& tensors,
                         sora2::text_metadata const& metadata = {}) {
      auto const fault = sora2::save_safetensors(place.file("t"), tensors, metadata);
      CHECK(fault.code != status::ok);
      return fault.message;
    };
    CHECK(has(why({good, good}), "duplicate tensor name 'a'"));
    CHECK(has(why({{"\xFF", dtype::f32, {1}, data}}), "tensor '\\xff': its name is not UTF-8"));
    CHECK(has(why({{"__metadata__", dtype::f32, {1}, data}}), "reserved"));
    CHECK(has(why({{"a", dtype::f32, {2}, data}}), "shape [2] of F32 does not belong to 4 bytes"));
    CHECK(has(why({{"a", dtype::u8, {UINT64_MAX, 2}, data}}), "does not belong"));
    CHECK(has(why({{"a", dtype::u8, std::vector<std::uint64_t>(65, 1), {data.data(), 1}}}),
              "64 dimensions"));
    CHECK(has(why({good}, {{"k", "1"}, {"k", "2"}}), "duplicate key 'k'"));
    CHECK(has(why({good}, {{"k", "\x80"}}), "metadata 'k' is not UTF-8"));
    CHECK(place.entries() == 0);
  }

  TEST_CASE("sizes that exceed 64 bits are noticed")
  {
    using shape = std::vector<std::uint64_t>;
    CHECK(sora2::value_count(shape{}) == 1);
    CHECK(sora2::value_count(shape{UINT64_MAX}) == UINT64_MAX);
    CHECK(sora2::value_count(shape{UINT64_MAX, 1, 1}) == UINT64_MAX);
    CHECK(!sora2::value_count(shape{1ull << 32, 1ull << 32}));
    CHECK(sora2::value_count(shape{1ull << 40, 1ull << 40, 0}) == 0);
    CHECK(sora2::tensor_bytes(dtype::f64, shape{UINT64_MAX / 64}) == UINT64_MAX / 64 * 8);
    CHECK(!sora2::tensor_bytes(dtype::f64, shape{UINT64_MAX / 64 + 1}));
    CHECK(!sora2::tensor_bytes(dtype::f4, shape{1}));
    std::set<std::string_view> names;
    for (auto const& d : sora2::dtype_table) {
      CHECK(sora2::dtype_name(d.type) == d.name);
      CHECK(sora2::dtype_bits(d.type) == d.bits);
      names.insert(d.name);
    }
    CHECK(names.size() == std::size(sora2::dtype_table));
  }
}
