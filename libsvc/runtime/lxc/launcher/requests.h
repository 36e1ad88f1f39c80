#pragma once
// Requests to the kernel's network (rtnetlink), as one message. Throws LaunchFailure.
#include <linux/rtnetlink.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace svc::lxc {

// begin() begins the next request; what is added belongs to it, and to the attribute that is open.
class Requests {
  public:
    template <class Body>
    void begin(std::uint16_t type, unsigned flags, const Body& body) {
        start_ = text_.size();
        nlmsghdr header{};
        header.nlmsg_type = type;
        header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
        header.nlmsg_seq = ++count_;
        append(header);
        append(body);
        end_here(start_, sizeof header.nlmsg_len);
    }
    void add(std::uint16_t type, const void* value, std::size_t size) {
        const std::size_t at = nest(type);
        text_.append(static_cast<const char*>(value), size);
        end(at);
    }
    void add(std::uint16_t type, std::string_view name) {
        const std::string text(name);
        add(type, text.c_str(), text.size() + 1);
    }
    void add(std::uint16_t type, std::uint32_t value) { add(type, &value, sizeof value); }
    std::size_t nest(std::uint16_t type) {
        const std::size_t at = text_.size();
        rtattr attribute{};
        attribute.rta_type = type;
        append(attribute);
        return at;
    }
    template <class Body>
    void append(const Body& body) {
        text_.append(reinterpret_cast<const char*>(&body), sizeof body);
        text_.resize((text_.size() + 3) & ~std::size_t{3});
    }
    void end(std::size_t attribute) {
        const auto size = static_cast<std::uint16_t>(text_.size() - attribute);
        std::memcpy(text_.data() + attribute, &size, sizeof size);
        text_.resize((text_.size() + 3) & ~std::size_t{3});
        end_here(start_, sizeof(std::uint32_t));
    }
    // Sends all and waits for the answers; throws for the first that the kernel refuses.
    void send(std::string_view step) const;

  private:
    void end_here(std::size_t at, std::size_t field) {
        const auto size = static_cast<std::uint32_t>(text_.size() - at);
        std::memcpy(text_.data() + at, &size, field);
    }
    std::string text_;
    std::size_t start_ = 0;
    unsigned count_ = 0;
};

}  // namespace svc::lxc
