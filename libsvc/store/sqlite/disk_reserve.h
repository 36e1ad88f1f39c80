#pragma once
// Space kept for bad times: when others have filled the disk, giving it up lets records still be written, so
// that something can be deleted.
#include <chrono>
#include <cstdint>
#include <filesystem>

namespace svc {

// One thread. Nothing throws: without a reserve everything works as long as the disk is not full.
class DiskReserve {
  public:
    // Takes `bytes` for the file now, unless the disk is nearly full: then what a reserve left by an earlier
    // process held is free.
    DiskReserve(std::filesystem::path file, std::uint64_t bytes);
    bool release();  // true: there was something to give up
    void
    restore();  // takes it again when there is plenty of room; looks now and then, so it may be called often

  private:
    bool has_room() const;
    void take();

    const std::filesystem::path file_;
    const std::uint64_t bytes_;
    bool held_ = false;
    std::chrono::steady_clock::time_point looked_{};
};

}  // namespace svc
