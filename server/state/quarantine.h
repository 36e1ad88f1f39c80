#pragma once
// Where recover puts what it takes out of a state directory: quarantine/<time>/. Nothing in there is used or
// removed by svcd.
#include <filesystem>
#include <string>
#include <string_view>

namespace svc::server::state {

// One thread. The folder is made with the first thing that goes into it.
class Quarantine {
  public:
    explicit Quarantine(const std::filesystem::path& root);
    void move(const std::filesystem::path& file, const std::filesystem::path& as);  // synced; absent is fine
    // A second name of the file, synced; absent is fine.
    void keep(const std::filesystem::path& file, const std::filesystem::path& as);
    void write(const std::filesystem::path& as, std::string_view content);
    std::string name() const { return "quarantine/" + folder_.filename().string(); }

  private:
    std::filesystem::path place(const std::filesystem::path& as);
    std::filesystem::path folder_;
};

}  // namespace svc::server::state
