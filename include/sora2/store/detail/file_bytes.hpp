/// Whole files as bytes (POSIX): read through a map, written so that a reader sees the old file or
/// the new one.
/// Smallest use: `file_bytes b; int const e = b.map(fd, size);`, `atomic_file f; f.create(path);
/// f.write(v); f.commit();`.
/// Limits: every call returns 0 or an errno value. A mapped file must not be shortened while it is
/// mapped (SIGBUS).
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sora2/core/bits.hpp>
#include <sora2/core/view.hpp>

namespace sora2::detail {

[[nodiscard]] inline std::string errno_text(int code)
{
  return std::generic_category().message(code);
}

/// A file descriptor, closed at the end of its life.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept
  {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor()
  {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool good() const { return fd_ >= 0; }
  [[nodiscard]] int close() { return ::close(std::exchange(fd_, -1)) == 0 ? 0 : errno; }

 private:
  int fd_ = -1;
};

/// Owns bytes: a read-only map of a file, or memory that a stream was read into.
class file_bytes {
 public:
  file_bytes() = default;
  file_bytes(file_bytes&& other) noexcept
      : map_(std::exchange(other.map_, nullptr)),
        map_size_(std::exchange(other.map_size_, 0)),
        memory_(std::move(other.memory_))
  {}
  file_bytes& operator=(file_bytes&& other) noexcept
  {
    std::swap(map_, other.map_);
    std::swap(map_size_, other.map_size_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~file_bytes()
  {
    if (map_ != nullptr) ::munmap(map_, map_size_);
  }

  [[nodiscard]] view<std::byte const> bytes() const
  {
    if (map_ != nullptr) return {static_cast<std::byte const*>(map_), map_size_};
    return {memory_.data(), memory_.size()};
  }

  /// Maps `size` > 0 bytes, for an object that holds nothing yet.
  [[nodiscard]] int map(int fd, std::size_t size)
  {
    void* const p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) return errno;
    map_ = p;
    map_size_ = size;
    return 0;
  }

  /// Reads on until `size` bytes are held or the stream ends. Memory grows with what arrives, not
  /// with `size`.
  [[nodiscard]] int read_up_to(int fd, std::size_t size)
  {
    constexpr std::size_t first_step = 65536;
    while (memory_.size() < size) {
      std::size_t const held = memory_.size();
      std::size_t const step = least(size - held, greatest(first_step, held));
      memory_.resize(held + step);
      ssize_t const got = ::read(fd, memory_.data() + held, step);
      memory_.resize(held + (got > 0 ? static_cast<std::size_t>(got) : 0));
      if (got < 0 && errno != EINTR) return errno;
      if (got == 0) return 0;
    }
    return 0;
  }

 private:
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::vector<std::byte> memory_;
};

/// A file that appears under its name only when it is whole and on the disk.
class atomic_file {
 public:
  atomic_file() = default;
  atomic_file(atomic_file&&) = delete;
  ~atomic_file()
  {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  /// Opens a new file beside `path`. What is at `path` now must be a regular file or nothing: a
  /// device or pipe is not replaced.
  [[nodiscard]] int create(std::string const& path)
  {
    struct stat old {};
    bool const exists = ::stat(path.c_str(), &old) == 0;
    if (!exists && errno != ENOENT) return errno;
    if (exists && S_ISDIR(old.st_mode)) return EISDIR;
    if (exists && !S_ISREG(old.st_mode)) return EINVAL;
    path_ = path;
    for (int attempt = 0; attempt < 100; ++attempt) {
      std::string name =
          path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
      file_ = descriptor{::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
      if (file_.good()) {
        temporary_ = std::move(name);
        if (exists && ::fchmod(file_.get(), old.st_mode & 0777u) != 0) return errno;
        return 0;
      }
      if (errno != EEXIST) return errno;
    }
    return EEXIST;
  }

  [[nodiscard]] int write(view<std::byte const> bytes)
  {
    constexpr std::size_t step = std::size_t{1} << 30;
    while (!bytes.empty()) {
      ssize_t const done = ::write(file_.get(), bytes.data, least(bytes.size, step));
      if (done < 0 && errno != EINTR) return errno;
      if (done > 0) bytes = bytes.from(static_cast<std::size_t>(done));
    }
    return 0;
  }

  /// Flushes to the disk and gives the file its name.
  [[nodiscard]] int commit()
  {
    if (::fsync(file_.get()) != 0) return errno;
    if (int const code = file_.close(); code != 0) return code;
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno;
    temporary_.clear();
    std::size_t const slash = path_.rfind('/');
    std::string const folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    descriptor const entry{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    // The name is durable once the folder is flushed; some file systems cannot do that, and then it
    // is already.
    if (entry.good() && ::fsync(entry.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
      return errno;
    return 0;
  }

 private:
  std::string path_, temporary_;
  descriptor file_;
};

}  // namespace sora2::detail
