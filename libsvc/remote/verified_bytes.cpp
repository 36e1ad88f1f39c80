#include "libsvc/remote/verified_bytes.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

void VerifiedBytes::add(std::string_view piece) {
    count_ += piece.size();
    if (size_ && count_ > *size_)
        throw Error(ErrorCode::invalid_argument,
                    "more than the announced " + std::to_string(*size_) + " bytes come");
    hash_.update(piece);
}

void VerifiedBytes::finish() {
    if (size_ && count_ != *size_)
        throw Error(ErrorCode::invalid_argument, "only " + std::to_string(count_) + " of the announced " +
                                                     std::to_string(*size_) + " bytes came");
    const std::string found = hash_.hex();
    if (!iequals(found, fingerprint_))
        throw Error(ErrorCode::invalid_argument,
                    "fingerprint don't match, got " + found + " but expected " + to_lower(fingerprint_));
}

}  // namespace svc
