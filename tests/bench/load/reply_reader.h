#pragma once
// Finds the end of HTTP replies in what comes in; bodies are counted, not kept.
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::bench {

class ReplyReader {
  public:
    // Takes from the front of `data`. True once a reply is whole; then the next call begins another one.
    // Throws invalid_argument for what is no HTTP/1.1 reply.
    bool feed(std::string_view& data);
    int status() const { return status_; }
    const std::string& head() const { return head_; }

  private:
    enum class State { head, body, chunk_size, chunk, chunk_end, trailer };
    bool take_head(std::string_view& data);
    void begin_body();
    bool skip(std::string_view& data);
    bool take_line(std::string_view& data);
    void take_chunk_size();

    State state_ = State::head;
    std::string head_;
    std::string line_;
    int status_ = 0;
    std::uint64_t left_ = 0;  // of the body or chunk
};

}  // namespace svc::bench
