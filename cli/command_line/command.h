#pragma once
// A command as data: its words, flags and arguments, and a function that runs it. parser.cpp reads the
// command line by means of CLI11; commands do not see CLI11.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"

namespace svc::cli {

class Context;

// The command line is wrong: exit status 2.
class UsageError : public Error {
  public:
    explicit UsageError(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

struct Flag {
    std::string name;   // "disk-size"
    char letter = 0;    // 0: none
    std::string value;  // "SIZE" for the help; "": a switch
    std::string help;
    std::string initial = {};               // value when not given
    std::vector<std::string> choices = {};  // "": any value
    bool repeatable = false;
};

struct Positional {
    std::string name;  // "image"
    std::string help;
    bool required = true;
    bool repeatable = false;  // allowed for the last positional alone
};

// The values that the user gave, by the names of flags and positionals. Asking for an undeclared name is a
// bug.
class Arguments {
  public:
    void declare(const std::string& name, std::string initial);
    void give(const std::string& name, std::string value);

    bool given(std::string_view name) const;
    bool is_set(std::string_view name) const { return given(name); }  // for a switch
    std::string text(std::string_view name) const;                    // the last value, else the initial one
    const std::vector<std::string>& list(std::string_view name) const;
    std::vector<std::string> comma_list(
        std::string_view name) const;  // "a,b" and repeated flags, empty parts dropped
    std::optional<std::int64_t> integer(
        std::string_view name) const;  // nothing: not given, and without an initial value
    std::optional<double> number(std::string_view name) const;  // the same

  private:
    struct Value {
        std::string initial;
        std::vector<std::string> given;
    };
    const Value& find(std::string_view name) const;
    template <class Number>
    std::optional<Number> parsed(std::string_view name, std::string_view kind) const;
    std::map<std::string, Value, std::less<>> values_;
};

struct Command {
    std::vector<std::string> path;     // {"image", "add"}
    std::vector<std::string> aliases;  // other spellings of the last word
    std::string summary;
    std::vector<Positional> positionals;
    std::vector<Flag> flags;
    // Runs the command and returns the exit status. Throws UsageError before the first request to the
    // service, Error afterwards.
    std::function<int(Context&, const Arguments&)> run;
    std::string details = {};  // more help, whole paragraphs
};

// A first word that several commands share: "image".
struct Group {
    std::string name;
    std::string summary;
};

}  // namespace svc::cli
