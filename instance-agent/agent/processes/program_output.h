#pragma once
// The pipe for the output of one program. Used by program.cpp alone.
#include <sys/types.h>

#include <string>

#include "instance-agent/agent/files/bounded_file.h"
#include "libsvc/base/file.h"

namespace svc::agent {

// One thread.
class ProgramOutput {
  public:
    explicit ProgramOutput(BoundedFile& log);
    int writing_end() const { return write_.get(); }
    void started() { write_.reset(); }  // after fork(): the program has its own copy of the writing end
    int reading_end() const { return read_.get(); }  // -1, which poll() skips, at the end
    void take_some();                                // reads one piece
    void take_rest();                                // reads what is there now, up to a limit
    void kill_holders() const;                       // kills every process that still holds the writing end
    // Leaves a process behind that reads until every writer is gone: processes of the program must neither
    // block on a full pipe nor get SIGPIPE.
    void leave_reader();
    std::string last_line() const;

  private:
    bool take_piece();  // false: the pipe is empty

    BoundedFile& log_;
    FileDescriptor read_, write_;
    std::string tail_;
};

}  // namespace svc::agent
