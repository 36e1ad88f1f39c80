#pragma once
// Identifiers, a type for each noun, so that an ImageId cannot be passed as an InstanceId. Only an IdSource
// makes new ones.
#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

// A text with the type of its noun. The constructor checks nothing; use `is_object_id` for text from clients.
template <class Tag>
class Id {
  public:
    Id() = default;
    explicit Id(std::string text) : text_(std::move(text)) {}
    const std::string& str() const noexcept { return text_; }
    bool empty() const noexcept { return text_.empty(); }
    auto operator<=>(const Id&) const = default;  // NOLINT(modernize-use-nullptr): it sees a 0

  private:
    std::string text_;
};

// 20 characters of [0-9a-v]: 12 bytes (4 seconds since 1970, 3 machine, 2 process, 3 counter; big endian) in
// lower-case base32hex, so ids sort by creation time.
bool is_object_id(std::string_view text) noexcept;
// UUID version 4 in lower case, the form of operation ids.
bool is_uuid(std::string_view text) noexcept;

// Thread-safe.
class IdSource {
  public:
    virtual ~IdSource() = default;
    virtual std::string object_id() = 0;
    virtual std::string uuid() = 0;
    virtual std::string secret() = 0;  // 32 random bytes as 64 lower-case hexadecimal digits
};

// Ids from the clock, the machine id, the process id and the kernel's random source.
class SystemIdSource final : public IdSource {
  public:
    explicit SystemIdSource(const Clock& clock);
    std::string object_id() override;
    std::string uuid() override;
    std::string secret() override;

  private:
    const Clock& clock_;
};

}  // namespace svc

template <class Tag>
struct std::hash<svc::Id<Tag>> {
    std::size_t operator()(const svc::Id<Tag>& id) const noexcept {
        return std::hash<std::string>()(id.str());
    }
};
