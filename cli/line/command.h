#pragma once
// What a command is: its words, flags and arguments as data, and one function that does it. CLI11 reads the
// command line behind this (arguments.cpp); commands never see it.
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

// The user wrote something wrong: exit status 2 instead of 1.
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
    bool repeatable = false;  // the last one only
};

// What the user gave. Names are those of flags and positionals; asking for an undeclared one is a mistake of
// ours.
class Arguments {
  public:
    void declare(const std::string& name, std::string initial);
    void give(const std::string& name, std::string value);

    bool given(std::string_view name) const;
    bool is_set(std::string_view name) const { return given(name); }  // of a switch
    std::string text(std::string_view name) const;                    // the last one, else the initial value
    const std::vector<std::string>& list(std::string_view name) const;
    std::vector<std::string> comma_list(
        std::string_view name) const;  // "a,b" and repeated flags, empty parts dropped
    std::optional<std::int64_t> integer(
        std::string_view name) const;  // nothing: not given and no initial value

  private:
    struct Value {
        std::string initial;
        std::vector<std::string> given;
    };
    const Value& find(std::string_view name) const;
    std::map<std::string, Value, std::less<>> values_;
};

struct Command {
    std::vector<std::string> path;     // {"image", "add"}
    std::vector<std::string> aliases;  // other spellings of the last word
    std::string summary;
    std::vector<Positional> positionals;
    std::vector<Flag> flags;
    // Returns the exit status. Throws UsageError before it asks the service for anything, Error afterwards.
    std::function<int(Context&, const Arguments&)> run;
    std::string details = {};  // more help, whole paragraphs
};

// A word that groups commands: "image".
struct Group {
    std::string name;
    std::string summary;
};

}  // namespace svc::cli
