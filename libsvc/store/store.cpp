#include "libsvc/store/store.h"

#include <iterator>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

void check_key(std::string_view key) {
    if (key.empty() || key.find('\0') != std::string_view::npos)
        throw Error(ErrorCode::invalid_argument, "store key " + quoted(key) + " is empty or has a NUL");
}

template <class T>
void move_behind(std::vector<T>& target, std::vector<T>&& source) {
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
}

}  // namespace

Batch& Batch::expect(std::string key, Revision revision) {
    check_key(key);
    expectations_.push_back({std::move(key), revision});
    return *this;
}

Batch& Batch::put(std::string key, std::string value) {
    check_key(key);
    if (value.size() > max_value_bytes)
        throw Error(ErrorCode::invalid_argument, "value of store key " + quoted(key) + " has " +
                                                     std::to_string(value.size()) +
                                                     " bytes, more than 1 MiB");
    changes_.push_back({std::move(key), std::move(value)});
    return *this;
}

Batch& Batch::remove(std::string key) {
    check_key(key);
    changes_.push_back({std::move(key), std::nullopt});
    return *this;
}

Batch& Batch::append(Batch other) {
    move_behind(expectations_, std::move(other.expectations_));
    move_behind(changes_, std::move(other.changes_));
    return *this;
}

void Store::scan(std::string_view prefix, const std::function<void(Entry)>& take) {
    for (Entry& entry : list(prefix)) take(std::move(entry));
}

}  // namespace svc
