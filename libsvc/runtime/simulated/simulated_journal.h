#pragma once
// Internal to this folder: what is known of the containers, in one file that changes are appended to.
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc {

// For one thread at a time. Not synced: after a crash of the machine the containers are gone anyway. Keys
// have no space, values no line end; the last line of a key counts, one without a value says it is gone.
class SimulatedJournal {
  public:
    explicit SimulatedJournal(std::filesystem::path file);  // "": nothing is kept

    using Take = std::function<void(const std::string& key, std::optional<std::string_view> value)>;
    void read(const Take& take);  // every line, in order
    void put(std::string_view key, std::string_view value);
    void remove(std::string_view key);

    bool is_long(std::size_t keys) const;  // most lines count no more
    class Copy {
      public:
        void put(std::string_view key, std::string_view value);

      private:
        friend class SimulatedJournal;
        std::string text_;
        std::size_t lines_ = 0;
    };
    void replace(const Copy& copy);

  private:
    void append(const std::string& line);
    std::filesystem::path file_;
    FileDescriptor open_;
    std::size_t lines_ = 0;
};

}  // namespace svc
