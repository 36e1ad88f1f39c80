#pragma once
// Internal to this folder: a file of keys and values to which changes are appended. It keeps the simulated
// containers across a restart.
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc {

// One thread at a time. Keys have no space, values no line end. The last line of a key counts; a line without
// a value removes the key.
class SimulatedJournal {
  public:
    explicit SimulatedJournal(std::filesystem::path file);  // "": all calls do nothing

    using Take = std::function<void(const std::string& key, std::optional<std::string_view> value)>;
    void read(const Take& take);  // every line, in order
    void put(std::string_view key, std::string_view value);
    void remove(std::string_view key);
    void sync();  // a power cut from now on loses nothing of what was put

    bool is_long(std::size_t keys) const;  // most lines are outdated: time for replace()
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
    void keep_room(off_t end);
    std::filesystem::path file_;
    FileDescriptor open_;
    std::size_t lines_ = 0;
    off_t room_until_ = 0;
};

}  // namespace svc
