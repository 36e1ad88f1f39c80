#pragma once
// Asks every node now and then how it is: its manager may live while what runs its containers does not.
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/cluster/members/members.h"

namespace svc {

// Its own thread looks, until it ends. Members tells when one is not what it was.
class NodeLooks {
  public:
    NodeLooks(Members& members, Clock& clock, Duration pause);

  private:
    void look();

    Members& members_;
    std::jthread thread_;
};

}  // namespace svc
