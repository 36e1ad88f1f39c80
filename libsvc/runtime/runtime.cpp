#include "libsvc/runtime/runtime.h"

#include "libsvc/base/error.h"

namespace svc {

std::unique_ptr<ArchiveStream> LayerStore::pack(std::string_view) {
    throw Error(ErrorCode::unsupported, "layers of this runtime stay on their machine");
}

void LayerStore::unpack(std::string_view, ArchiveStream&, std::stop_token) {
    throw Error(ErrorCode::unsupported, "layers of this runtime come from no other machine");
}

}  // namespace svc
