#pragma once
// Pieces of a byte stream that have a kind: what svcd and svc-agent say to each other over the pipes of a
// command.
#include <optional>
#include <string>
#include <string_view>

namespace svc {

struct Frame {
    enum class Kind : char {
        data = 'd',        // to the command, or its output
        end_input = 'e',   // to the command: there is no more
        window = 'w',      // to the command: "120x50", columns and rows of its terminal
        ended = 'x',       // the exit code, in digits
        not_started = 'f'  // 126 or 127: the command is not executable, or not there
    } kind = Kind::data;
    std::string data;
};

// A byte for the kind, four for the length (highest first), the data.
std::string frame_text(Frame::Kind kind, std::string_view data);

// Takes frames out of a stream. One thread at a time.
class FrameReader {
  public:
    void feed(std::string_view data) { waiting_ += data; }
    std::optional<Frame> next();  // throws invalid_argument for what is no frame

  private:
    std::string waiting_;
};

}  // namespace svc
