#include "libsvc/model/streaming/stream_end.h"

namespace svc {

Json StreamEnd::error() const {
    return Json::object({{"type", "error"}, {"code", code}, {"message", message}});
}

}  // namespace svc
