#pragma once
// How sessions move from state to state (docs/streaming.md), and what follows from each move.
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/streaming/relay/relay.h"
#include "libsvc/streaming/sessions/deletion_waits.h"
#include "libsvc/streaming/sessions/session_clients.h"
#include "libsvc/streaming/sessions/session_records.h"
#include "libsvc/streaming/sessions/session_work.h"

namespace svc {

// Thread-safe. A move is one change of the record; what follows (closing sockets, work at the region) reads
// the record again, so that any gateway can begin it again at any time. Sessions that are gone, or that may
// not make a move, stay as they are.
class SessionStates {
  public:
    struct Parts {
        SessionRecords& records;
        SessionClients& clients;
        DeletionWaits& waits;
        SessionWork& work;
        Relay& relay;
        Clock& clock;
    };
    explicit SessionStates(Parts parts) : parts_(parts) {}

    void activate(const std::string& id);  // called when its instance registered or runs again
    void fail(const std::string& id, const std::string& reason);
    // The instance of the session as it was `seen` has failed; `gone`: it does not exist any more. Looks at
    // the instance again when the session has moved since.
    void fail_instance(const StreamSession& seen, const std::string& reason, bool gone);
    void note_failure(const std::string& id, const std::string& reason);  // the record has it already
    void fail_deletion(const std::string& id);                            // the deletion took too long

    void stream_began(const std::string& id, const std::string& encoder);
    // Ends a session that is not joinable, if it `may_end`.
    void stream_ended(const std::string& id, const StreamEnd& end, bool may_end = true);

    void terminate(const std::string& id, const StreamEnd& end);  // ends the session and deletes its instance
    void stop(const StreamSession& seen);      // called when its instance has stopped and is not needed
    void delete_again(const std::string& id);  // schedules deletion of an instance that outlived its session
    void forget(const std::string& id);        // nobody sees it any more; deletes its instance when possible
    void finish(const std::string& id, const StreamEnd& end);  // called when its instance is gone
    void drop(const std::string& id, const StreamEnd& end);    // removes the record

  private:
    void after_end(const std::string& id, const StreamEnd& end);
    void close(const std::string& id, const StreamEnd& end);

    const Parts parts_;
};

}  // namespace svc
