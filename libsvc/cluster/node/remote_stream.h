#pragma once
// An archive that another node sends.
#include <memory>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/net/client/streamed_call.h"
#include "libsvc/runtime/runtime.h"

namespace svc::node {

// Of the reply to an export: ArchiveStream::format(). Nodes of earlier versions do not send it.
inline constexpr const char* format_header = "X-SVC-Archive-Format";

// What a node answers instead of what it was asked for.
Error refusal_of(int status, const std::string& body);

// One thread reads; interrupt() is for any thread. Throws the node's error, unavailable when the stream
// breaks off or nothing comes for a minute.
class RemoteStream final : public ArchiveStream {
  public:
    RemoteStream(Target target, const ClientRequest& request);
    std::string read(std::size_t at_most) override;
    std::string format() const override;
    void interrupt() { call_.interrupt(); }

  private:
    std::string next();
    std::string rest();  // of the reply

    StreamedCall call_;
    std::string piece_;
    bool ended_ = false;
};

}  // namespace svc::node
