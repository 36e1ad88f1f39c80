#include "libsvc/cluster/node/calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/cluster/node/codecs.h"
#include "libsvc/cluster/node/packages.h"

namespace svc::node {

namespace {

constexpr std::uint64_t log_bytes = std::uint64_t{1} << 20;  // of the end of each log

template <class T>
Json list_to_json(const std::vector<T>& values) {
    JsonArray all;
    all.reserve(values.size());
    for (const T& value : values) all.push_back(to_json(value));
    return Json::array(std::move(all));
}

std::string id_in(const JsonFields& arguments) {
    return arguments.require_string("id");
}

std::vector<std::string> words_in(const JsonFields& arguments, std::string_view key) {
    return arguments.strings(key).value_or(std::vector<std::string>());
}

Duration nanoseconds_in(const JsonFields& arguments, std::string_view key) {
    return Duration(arguments.require_int(key));
}

ContainerSpec spec_in(const JsonFields& arguments) {
    const Json* spec = arguments.raw("spec");
    if (spec == nullptr) throw Error(ErrorCode::invalid_argument, "spec is required");
    return spec_from_json(*spec);
}

std::string end_of_file(int file) {
    struct stat info {};
    if (::fstat(file, &info) != 0) throw system_error("cannot read a log", errno);
    if (!S_ISREG(info.st_mode)) throw Error(ErrorCode::internal, "log is not a regular file");
    const auto size = static_cast<std::uint64_t>(info.st_size);
    std::string text(std::min(size, log_bytes), '\0');
    const ssize_t got = ::pread(file, text.data(), text.size(), static_cast<off_t>(size - text.size()));
    if (got < 0) throw system_error("cannot read a log", errno);
    text.resize(static_cast<std::size_t>(got));
    return text;
}

// A log that has gone meanwhile is left out.
Json log_to_json(const LogFile& log) {
    try {
        const FileDescriptor own =
            log.file ? FileDescriptor() : open_file(log.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        const std::string text = end_of_file(log.file ? log.file->get() : own.get());
        return Json::object({{"name", log.name}, {"content", base64_encode(text)}});
    } catch (const Error& e) {
        if (e.code() == ErrorCode::not_found) return nullptr;
        throw;
    }
}

Json logs_to_json(const std::vector<LogFile>& logs) {
    Json all = Json::array();
    for (const LogFile& log : logs)
        if (Json each = log_to_json(log); !each.is_null()) all.push_back(std::move(each));
    return all;
}

using Arguments = const JsonFields&;
using Context = const CallContext&;

void add_changes_of_containers(Calls& calls, Runtime& runtime) {
    calls["create"].run = [&runtime](Arguments a, Context) {
        runtime.create(spec_in(a));
        return Json();
    };
    calls["recreate_spec"].run = [&runtime](Arguments a, Context) {
        runtime.recreate_spec(spec_in(a));
        return Json();
    };
    calls["start"].run = [&runtime](Arguments a, Context) {
        runtime.start(id_in(a));
        return Json();
    };
    calls["stop"].run = [&runtime](Arguments a, Context) {
        runtime.stop(id_in(a), nanoseconds_in(a, "grace"));
        return Json();
    };
    calls["freeze"].run = [&runtime](Arguments a, Context) {
        runtime.freeze(id_in(a));
        return Json();
    };
    calls["thaw"].run = [&runtime](Arguments a, Context) {
        runtime.thaw(id_in(a));
        return Json();
    };
    calls["remove"].run = [&runtime](Arguments a, Context) {
        runtime.remove(id_in(a));
        return Json();
    };
    calls["forward_from"].run = [&runtime](Arguments a, Context) {
        runtime.forward_from(a.require_string("node"), a.require_string("public_address"));
        return Json();
    };
    calls["run_once"].run = [&runtime](Arguments a, Context context) {
        return Json(
            runtime.run_once(id_in(a), words_in(a, "command"), nanoseconds_in(a, "limit"), context.stop));
    };
}

void add_reads_of_containers(Calls& calls, Runtime& runtime) {
    const auto add_read = [&](const char* name, auto run) { calls[name] = {std::move(run), true}; };
    add_read("inspect", [&runtime](Arguments a, Context) {
        const auto info = runtime.inspect(id_in(a));
        return info ? to_json(*info) : Json();
    });
    add_read("list", [&runtime](Arguments, Context) { return list_to_json(runtime.list()); });
    add_read("specification", [&runtime](Arguments a, Context) {
        const auto spec = runtime.specification(id_in(a));
        return spec ? to_json(*spec) : Json();
    });
    add_read("usage", [&runtime](Arguments, Context) { return list_to_json(runtime.usage()); });
    add_read("logs", [&runtime](Arguments a, Context) { return logs_to_json(runtime.logs(id_in(a))); });
    add_read("capacity", [&runtime](Arguments, Context) { return to_json(runtime.capacity()); });
    add_read("nodes", [&runtime](Arguments, Context) { return list_to_json(runtime.nodes()); });
}

void add_changes_of_layers(Calls& calls, const CallParts& parts) {
    LayerStore& layers = parts.layers;
    calls["add_layer"].run = [&parts](Arguments a, Context context) {
        const WaitingPackage package(parts.packages, a.require_string("package"));
        parts.layers.add(a.require_string("name"), package.path(), {context.progress, context.stop});
        return Json();
    };
    calls["fetch_layer"].run = [&parts](Arguments a, Context context) {
        fetch_layer(parts, a.require_string("name"), a.require_string("from"), context);
        return Json();
    };
    calls["remove_layer"].run = [&layers](Arguments a, Context) {
        layers.remove(a.require_string("name"));
        return Json();
    };
    calls["capture"].run = [&layers](Arguments a, Context) {
        layers.capture(a.require_string("name"), id_in(a), words_in(a, "leave_out"));
        return Json();
    };
    calls["snapshot"].run = [&layers](Arguments a, Context context) {
        layers.snapshot(a.require_string("name"), id_in(a), words_in(a, "leave_out"), context.stop);
        return Json();
    };
    calls["restore"].run = [&layers](Arguments a, Context context) {
        layers.restore(a.require_string("name"), id_in(a), context.stop);
        return Json();
    };
}

void add_reads_of_layers(Calls& calls, LayerStore& layers) {
    const auto add_read = [&](const char* name, auto run) { calls[name] = {std::move(run), true}; };
    add_read("has_layer",
             [&layers](Arguments a, Context) { return Json(layers.contains(a.require_string("name"))); });
    add_read("layer_size",
             [&layers](Arguments a, Context) { return Json(layers.size(a.require_string("name"))); });
    add_read("list_layers", [&layers](Arguments, Context) { return to_json(layers.list()); });
}

}  // namespace

Calls make_calls(const CallParts& parts) {
    Calls calls;
    add_changes_of_containers(calls, parts.runtime);
    add_reads_of_containers(calls, parts.runtime);
    add_changes_of_layers(calls, parts);
    add_reads_of_layers(calls, parts.layers);
    return calls;
}

}  // namespace svc::node
