#pragma once
// The embedded store: one SQLite table of key, value, revision; WAL with full synchronisation; one writer
// thread that joins concurrent batches into one transaction (group commit).
#include <filesystem>
#include <memory>

#include "libsvc/store/store.h"

namespace svc {

// Thread-safe. The file is locked against a second process (`busy`).
class SqliteStore final : public Store {
  public:
    // ":memory:" keeps everything in memory, for tests.
    explicit SqliteStore(const std::filesystem::path& file);
    ~SqliteStore() override;
    std::optional<Entry> get(std::string_view key) override;
    std::vector<Entry> list(std::string_view prefix) override;
    void scan(std::string_view prefix, const std::function<void(Entry)>& take) override;
    Revision commit(const Batch& batch) override;
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
