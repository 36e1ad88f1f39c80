#include <chrono>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/node/calls.h"
#include "libsvc/cluster/node/remote_stream.h"
#include "libsvc/cluster/node_api.h"

namespace svc::node {

namespace {

// Tells how much has come by.
class CountedStream final : public ArchiveStream {
  public:
    CountedStream(ArchiveStream& stream, const CallContext& context) : stream_(stream), context_(context) {}
    std::string read(std::size_t at_most) override {
        std::string piece = stream_.read(at_most);
        bytes_ += piece.size();
        if (context_.progress) context_.progress(bytes_, 0);
        return piece;
    }

  private:
    ArchiveStream& stream_;
    const CallContext& context_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

void fetch_layer(const CallParts& parts, const std::string& name, const std::string& address,
                 const CallContext& context) {
    if (parts.layers.contains(name)) return;
    ClientRequest request;
    request.path = std::string(node_path) + "layers/" + percent_encode(name);
    RemoteStream packed(peer_target(parts.identity, address), request);
    const std::stop_callback stopped(context.stop, [&] { packed.interrupt(); });
    CountedStream counted(packed, context);
    try {
        parts.layers.unpack(name, counted, context.stop);
    } catch (const Error&) {
        if (context.stop.stop_requested())
            throw Error(ErrorCode::cancelled, "fetching a layer was cancelled");
        throw;
    }
}

}  // namespace svc::node
