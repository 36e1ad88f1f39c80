#pragma once
// The three standard streams. Results go to `out`, everything else to `err`.
#include <optional>
#include <string>
#include <string_view>

namespace svc::cli {

struct Size {
    unsigned width = 80, height = 24;
};

// Writes are whole and unbuffered. Thread-safe as far as write(2) is. A reader that went away ends the
// process by SIGPIPE, as it does with other tools.
class Console {
  public:
    Console(int in, int out, int err) : in_(in), out_(out), err_(err) {}
    int in() const { return in_; }
    int out() const { return out_; }
    int err() const { return err_; }

    void print(std::string_view text) const;  // as it is
    void print_line(std::string_view text) const;
    void print_error(std::string_view text) const;       // to err, as it is
    void print_error_line(std::string_view text) const;  // to err
    // One line of input without its end; nothing at the end of input.
    std::optional<std::string> read_line() const;

    bool in_is_terminal() const;
    bool out_is_terminal() const;
    bool err_is_terminal() const;
    Size terminal_size() const;

  private:
    int in_, out_, err_;
};

}  // namespace svc::cli
