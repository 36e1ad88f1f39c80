#pragma once
// Listens to a relay and does nothing about it.
#include <string>

#include "libsvc/streaming/relay/relay.h"

namespace svc::test {

// Thread-safe.
class Deaf final : public RelayEvents {
    void instance_registered(const std::string&) override {}
    void instance_lost(const std::string&) override {}
    void instance_status(const std::string&, bool, const std::string&) override {}
    void stream_changed(const std::string&, bool, const std::string&) override {}
    void client_connected(const std::string&) override {}
    void client_disconnected(const std::string&) override {}
};

}  // namespace svc::test
