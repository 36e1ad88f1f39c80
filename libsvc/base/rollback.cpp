#include "libsvc/base/rollback.h"

#include "libsvc/base/log.h"

namespace svc {

Rollback::~Rollback() {
    for (; !steps_.empty(); steps_.pop_back()) {
        const auto& [what, undo] = steps_.back();
        try {
            undo();
        } catch (const std::exception& e) {
            log::warning("undo step failed", {{"step", what}, {"error", e.what()}});
        }
    }
}

void Rollback::add(std::string what, std::function<void()> undo) {
    steps_.emplace_back(std::move(what), std::move(undo));
}

}  // namespace svc
