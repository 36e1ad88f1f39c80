#pragma once
// A listener that follows all events of a run.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/model/existence_check.h"

namespace svc::test {

// The destructor ends the connection.
class EventFollower {
  public:
    explicit EventFollower(const Target& target);
    ~EventFollower();
    // Waits until the ends of all these operations have been told.
    void await_ends(const OperationRecords& operations) const;
    std::vector<Json> events() const;

  private:
    void follow();

    WebSocketClient socket_;
    Guarded<std::vector<Json>> events_;
    Guarded<std::map<std::string, int>> ended_;  // how often
    std::jthread thread_;
};

// The numbers have no gap; each operation begins, moves and ends once, as its record says; each instance goes
// through states that follow each other, and its last one is that of `instances`, its records at the end.
void check_events(const std::vector<Json>& events, const OperationRecords& operations,
                  const std::vector<Json>& instances, Findings& findings);

}  // namespace svc::test
