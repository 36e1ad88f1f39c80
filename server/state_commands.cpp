#include "server/state_commands.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "libsvc/base/error.h"
#include "libsvc/services/nodes/local_node.h"
#include "server/options.h"
#include "server/process/signals.h"
#include "server/settings.h"
#include "server/state/check.h"
#include "server/state/etcd_import.h"
#include "server/state/etcd_records.h"
#include "server/state/export.h"
#include "server/state/import.h"
#include "server/state/recover.h"
#include "server/store_choice.h"

namespace svc::server::state {

namespace {

struct Arguments {
    Options options;
    std::string format = "text";
    std::string file;
    std::string node_name;
    bool quick = false;
    bool disks = false;
};

// The configuration file is read as svcd reads it; of its flags there are those that name the directory.
std::vector<process::Key> tool_keys(Options& options) {
    std::vector<process::Key> keys = process::bind(settings(), options);
    for (process::Key& key : keys)
        if (!key.name.starts_with("etcd_") && key.name != "store" && key.name != "state_dir" &&
            key.name != "runtime")
            key.value_name = "";
    return keys;
}

void print(const Findings& findings, const std::string& format) {
    if (format == "json")
        std::cout << findings.to_json().dump_pretty() << "\n";
    else
        std::cout << findings.to_lines();
    std::cout << std::flush;
}

bool are_in_etcd(const Options& options) {
    return options.store == "etcd";
}

// Null: they are in svc.db.
std::function<StoredValues()> records_of(const Options& options) {
    if (!are_in_etcd(options)) return nullptr;
    return [etcd = etcd_connection(options.etcd)] { return read_etcd(etcd); };
}

int check(const Arguments& arguments) {
    const Options& options = arguments.options;
    const Findings findings =
        check_state(StatePaths(options.state_dir), {options.runtime, !arguments.quick, records_of(options)});
    print(findings, arguments.format);
    return findings.clean() ? EXIT_SUCCESS : process::failed;
}

int recover(const Arguments& arguments) {
    print(recover_state(StatePaths(arguments.options.state_dir), {arguments.options.runtime}),
          arguments.format);
    return EXIT_SUCCESS;
}

int export_to_file(const Arguments& arguments) {
    const Options& options = arguments.options;
    const Findings findings =
        export_state(StatePaths(options.state_dir), arguments.file,
                     {options.runtime, arguments.disks, options.lxc.id_count, records_of(options)});
    print(findings, arguments.format);
    return EXIT_SUCCESS;
}

int import_from_file(const Arguments& arguments) {
    const Options& options = arguments.options;
    std::string node = !arguments.node_name.empty() ? arguments.node_name : options.node_name;
    if (node.empty()) node = host_node_name();
    const ImportOptions import{node, options.lxc.id_base, options.lxc.id_count};
    print(are_in_etcd(options)
              ? import_to_cluster(arguments.file, options.state_dir, import, etcd_connection(options.etcd))
              : import_state(arguments.file, options.state_dir, import),
          arguments.format);
    return EXIT_SUCCESS;
}

struct Tool {
    std::string_view name;
    const char* help;
    int (*run)(const Arguments&);
};

constexpr std::array tools{
    Tool{"check", "tell what is wrong with a state directory; changes nothing", check},
    Tool{"export", "write a backup of a state directory, also while svcd uses it", export_to_file},
    Tool{"import", "make a state directory of a backup", import_from_file},
    Tool{"recover", "mend a state directory that no svcd uses, as far as it can be mended", recover},
};

std::optional<int> read(const Tool& tool, int argc, const char* const* argv, Arguments& arguments) {
    process::CommandLine line{
        "svcd " + std::string(tool.name), tool.help, "/etc/svc/svcd.yaml", tool_keys(arguments.options), {}};
    line.texts.push_back({"--format", "text or json", arguments.format});
    if (tool.run == check)
        line.switches.push_back(
            {"--quick", "do not compare the content of packages with their names", arguments.quick});
    if (tool.run == export_to_file || tool.run == import_from_file)
        line.texts.push_back({"FILE", "the backup", arguments.file, true});
    if (tool.run == export_to_file)
        line.switches.push_back({"--disks", "with the disks of instances that do not run", arguments.disks});
    if (tool.run == import_from_file)
        line.texts.push_back(
            {"--node-name", "name of this machine's node; default: the host name", arguments.node_name});
    const auto status = process::read_configuration(line, argc, argv);
    if (!status && arguments.format != "text" && arguments.format != "json")
        throw Error(ErrorCode::invalid_argument, "--format: must be text or json");
    return status;
}

}  // namespace

std::optional<int> run_tool(int argc, const char* const* argv) {
    if (argc < 2) return std::nullopt;
    for (const Tool& tool : tools) {
        if (tool.name != argv[1]) continue;
        Arguments arguments;
        umask(077);
        std::optional<int> ended;
        const int wrong = process::exit_status_of("svcd", process::wrong_usage, [&] {
            ended = read(tool, argc - 1, argv + 1, arguments);
            return EXIT_SUCCESS;
        });
        if (wrong != EXIT_SUCCESS || ended) return ended.value_or(wrong);
        log::set_level(log::Level::warning);
        const int status = process::exit_status_of("svcd", process::failed, [&] {
            if (tool.run == recover || !are_in_etcd(arguments.options))
                refuse_records_in_etcd(arguments.options);
            return tool.run(arguments);
        });
        return std::min(status, process::failed);  // the command line was right
    }
    return std::nullopt;
}

}  // namespace svc::server::state
