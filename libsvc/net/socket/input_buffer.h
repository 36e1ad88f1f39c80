#pragma once
// Internal to the folder net: bytes that were received and not parsed yet.
#include <string>
#include <string_view>

namespace svc::net {

class InputBuffer {
  public:
    std::string_view view() const { return std::string_view(data_).substr(begin_); }
    bool empty() const { return begin_ == data_.size(); }
    void append(const char* data, std::size_t size) {
        if (begin_ > 0) data_.erase(0, begin_);
        begin_ = 0;
        data_.append(data, size);
    }
    void consume(std::size_t count) {
        begin_ += count;
        if (empty()) clear();
    }
    // Frees the memory: most connections are idle most of the time.
    void clear() {
        begin_ = 0;
        std::string().swap(data_);
    }
    std::string take() {
        std::string rest(view());
        clear();
        return rest;
    }

  private:
    std::string data_;
    std::size_t begin_ = 0;
};

}  // namespace svc::net
