#pragma once
// The one exception type of the project. Thrown where a fault is found, given context on its way up, caught
// only to undo, to retry, or at the three ends: the request wrapper, the operation engine, main().
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace svc {

enum class ErrorCode {
    invalid_argument,     // the request is wrong in itself
    unauthenticated,      // a credential besides the certificate is missing
    forbidden,            // the caller may not do this
    not_found,            // the named object does not exist
    conflict,             // the name is taken, or a stored record changed meanwhile
    busy,                 // another operation holds the object
    precondition_failed,  // If-Match did not match
    exhausted,            // no room: disk, address, port, queue, open files
    unavailable,          // a peer or service cannot be reached
    unsupported,          // this build, machine or runtime cannot do it
    cancelled,            // the work was cancelled
    internal,             // a fault of the service or of the machine
};

// Messages are in lower case, without a full stop, and name the object: "instance 'ab12' is not running".
// They never contain a path or a secret, as clients see them.
class Error : public std::runtime_error {
  public:
    Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
    ErrorCode code() const noexcept { return code_; }

  private:
    ErrorCode code_;
};

// An Error with the text "<what>: <strerror(error_number)>". ENOSPC, EDQUOT, EMFILE and ENFILE give
// `exhausted`, all others `internal`.
Error system_error(std::string_view what, int error_number);

// Runs `work`; an Error that leaves it gets "<context>: " in front of its message and keeps its code.
template <class Work>
auto with_context(std::string_view context, Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (const Error& e) {
        throw Error(e.code(), std::string(context) + ": " + e.what());
    }
}

}  // namespace svc
