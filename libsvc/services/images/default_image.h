#pragma once
// Which image is the default.
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/services/common/records.h"

namespace svc {

// Thread-safe. While there are active images, one of them is the default: the first image that became active,
// later the last one that was made it.
class DefaultImage {
  public:
    using Change = std::function<void(Image&)>;

    DefaultImage(Images& images, Store& store) : images_(images), store_(store) {}

    std::shared_ptr<const Image> find() const;  // null: none
    // Held by the thread that stages changes of images until their commit, so that two changes do not both
    // choose a default.
    std::unique_lock<std::mutex> lock() { return std::unique_lock(changing_); }
    // With lock() held: stages `change` of the image and makes it the default when `make_default` says so, or
    // when there is none.
    void stage(Batch& batch, const std::string& id, bool make_default, const Change& change);
    // Locks, stages, commits; again after a conflict.
    void change(const std::string& id, bool make_default, const Change& change);

  private:
    Images& images_;
    Store& store_;
    std::mutex changing_;
};

}  // namespace svc
