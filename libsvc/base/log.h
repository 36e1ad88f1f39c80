#pragma once
// Structured log lines: a message and key=value fields. They go to stderr and to one optional listener, which
// makes events of them. Thread-safe. Layers below `operations` log at the level `debug` only. Never log a
// secret.
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace svc::log {

enum class Level { debug, info, warning, error };
using Field = std::pair<std::string, std::string>;
using Fields = std::vector<Field>;
using Listener = std::function<void(Level, std::string_view message, const Fields&)>;

void set_level(Level level);
Level level();
Level parse_level(std::string_view text);  // throws invalid_argument
std::string_view to_text(Level level);

void debug(std::string_view message, const Fields& fields = {});
void info(std::string_view message, const Fields& fields = {});
void warning(std::string_view message, const Fields& fields = {});
void error(std::string_view message, const Fields& fields = {});

// Called for each line that passes the level, after it was written, on the logging thread; must not log
// itself. An empty function removes it.
void set_listener(Listener listener);

// While alive, adds a field to each line of this thread: request and operation ids.
class Scope {
  public:
    explicit Scope(Field field);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
};

}  // namespace svc::log
