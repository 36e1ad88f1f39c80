#pragma once
// How far the memory of this process has come behind a store that other processes change: what a front needs
// to answer with what its client has changed at another manager (docs/managers.md, "Requests").
#include "libsvc/base/clock.h"
#include "libsvc/store/store.h"

namespace svc {

// Thread-safe. Not to be called from within a watch of the store.
class Progress {
  public:
    virtual ~Progress() = default;
    // The watches were told of everything up to it. Reads memory only.
    virtual Revision revision() const = 0;
    // Returns when the watches were told of everything up to that revision; throws unavailable when that
    // takes longer than `patience`.
    virtual void await(Revision revision, Duration patience) = 0;
    // The same for all that was committed, by whichever manager, before this call. Asks etcd once.
    virtual void catch_up() = 0;
};

}  // namespace svc
