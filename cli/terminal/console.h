#pragma once
// The three standard streams. Results go to `out`, everything else to `err`.
#include <optional>
#include <string>
#include <string_view>

namespace svc::cli {

struct Size {
    unsigned width = 80, height = 24;
};

// Each call writes all of its text, unbuffered. Thread-safe as far as write(2) is. When the reader of a
// stream has gone, the process ends by SIGPIPE, as other tools do; other failures to write throw Error.
class Console {
  public:
    Console(int in, int out, int err) : in_(in), out_(out), err_(err) {}
    int in() const { return in_; }
    int out() const { return out_; }
    int err() const { return err_; }

    void print(std::string_view text) const;  // unchanged
    void print_line(std::string_view text) const;
    void print_error(std::string_view text) const;       // unchanged, to err
    void print_error_line(std::string_view text) const;  // to err
    // The next line of input, without its line end; nothing at the end of input.
    std::optional<std::string> read_line() const;

    bool in_is_terminal() const;
    bool out_is_terminal() const;
    bool err_is_terminal() const;
    Size terminal_size() const;

  private:
    int in_, out_, err_;
};

}  // namespace svc::cli
