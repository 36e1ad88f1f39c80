#pragma once
// The configuration with all it needs, over a store in memory and a clock that tests turn.
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "tests/support/manual_clock.h"
#include "tests/support/sequence_ids.h"

namespace svc::test {

// Who adds services stops the engine before those end.
struct ConfigWorld {
    ManualClock clock;  // in 2024
    SequenceIds ids;
    EventBus bus{clock};
    SqliteStore store{":memory:"};
    Addons addons{store};
    ConfigRecords config_records{store};
    Engine engine{store, bus, clock, ids, {.workers = 2}};
    ConfigService config{config_records, addons, engine};

    std::shared_ptr<const Operation> wait(const Started& started) {
        return engine.wait(started->id.str(), std::nullopt);
    }
};

}  // namespace svc::test
