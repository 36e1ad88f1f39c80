#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/contract/stores.h"

namespace svc::test {

std::vector<StoreKind> stores() {
    return {{"sqlite in memory", [](const auto&) { return std::make_unique<SqliteStore>(":memory:"); }},
            {"sqlite in a file",
             [](const auto& directory) { return std::make_unique<SqliteStore>(directory / "state.db"); }}};
}

}  // namespace svc::test
