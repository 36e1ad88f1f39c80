#pragma once
// The output of one program. Used by program.cpp.
#include <sys/types.h>

#include <string>

#include "instance-agent/agent/processes/bounded_file.h"
#include "libsvc/base/file.h"

namespace svc::agent {

// One thread.
class ProgramOutput {
  public:
    explicit ProgramOutput(BoundedFile& log);
    int writing_end() const { return write_.get(); }
    void started() { write_.reset(); }               // the program has its copy
    int reading_end() const { return read_.get(); }  // -1, which poll() skips, at the end
    void take_some();                                // one piece of what is there
    void take_rest();                                // what is there, but no more than a flood can bring in
    void kill_holders() const;                       // every process that still has the writing end
    // Whoever still writes is not to block on a full pipe nor die of a closed one: a process of its own reads
    // on until all of them are gone.
    void leave_reader();
    std::string last_line() const;

  private:
    bool take_piece();  // false: nothing there

    BoundedFile& log_;
    FileDescriptor read_, write_;
    std::string tail_;
};

}  // namespace svc::agent
