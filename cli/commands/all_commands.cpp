#include "cli/commands/all_commands.h"

#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/connection/target.h"

namespace svc::cli {
namespace {

std::vector<Command> listed_commands() {
    return {
        launch_command(),
        init_command(),
        list_command(),
        show_command(),
        start_command(),
        stop_command(),
        restart_command(),
        pause_command(),
        resume_command(),
        protect_command(),
        unprotect_command(),
        extend_command(),
        delete_command(),
        copy_command(),
        publish_command(),
        exec_command(),
        shell_command(),
        forward_command(),
        adb_command(),
        screenshot_command(),
        record_command(),
        logs_command(),
        show_log_command(),
        wait_command(),
        monitor_command(),
        benchmark_command(),
        image_add_command(),
        image_list_command(),
        image_show_command(),
        image_update_command(),
        image_switch_command(),
        image_sync_command(),
        image_delete_command(),
        application_create_command(),
        application_list_command(),
        application_show_command(),
        application_update_command(),
        application_set_command(),
        application_unset_command(),
        application_pool_command(),
        application_publish_command(),
        application_revoke_command(),
        application_manifest_command(),
        application_export_command(),
        application_delete_command(),
        addon_add_command(),
        addon_list_command(),
        addon_show_command(),
        addon_update_command(),
        addon_delete_command(),
        registry_list_command(),
        registry_push_command(),
        registry_pull_command(),
        registry_delete_command(),
        config_show_command(),
        config_schema_command(),
        config_set_command(),
        node_list_command(),
        node_show_command(),
        node_add_command(),
        node_set_command(),
        node_remove_command(),
        node_evacuate_command(),
        operation_list_command(),
        operation_show_command(),
        operation_cancel_command(),
        task_list_command(),
        remote_add_command(),
        remote_list_command(),
        remote_remove_command(),
        remote_set_default_command(),
        remote_set_url_command(),
        ui_command(),
        info_command(),
        version_command(),
        completion_command(),
    };
}

// Commands of `svcctl instance`, grouped by their second word.
std::vector<Command> instance_commands() {
    std::vector<Command> all = instance_control_commands();
    for (Command& command : instance_media_commands()) {
        const auto other = [&](const Command& before) { return before.path[1] == command.path[1]; };
        const auto last = std::find_if(all.rbegin(), all.rend(), other);
        all.insert(last == all.rend() ? all.end() : last.base(), std::move(command));
    }
    return all;
}

std::vector<Command> list_all() {
    std::vector<Command> all = listed_commands();
    for (const std::vector<std::string>& group : {std::vector<std::string>{"trust"}, {"config", "trust"}})
        for (const auto& table : {trust_commands, session_commands})
            for (Command& command : table(group)) all.push_back(std::move(command));
    for (Command& command : file_commands()) all.push_back(std::move(command));
    for (Command& command : snapshot_commands()) all.push_back(std::move(command));
    for (Command& command : instance_commands()) all.push_back(std::move(command));
    for (Command& command : gateway_commands()) all.push_back(std::move(command));
    for (Command& command : gateway_session_commands()) all.push_back(std::move(command));
    return all;
}

std::vector<Group> list_groups() {
    return {
        {"instance", "what an instance is told: its place, pictures, sensors, vehicle, traces"},
        {"application", "applications to launch instances from; app for short"},
        {"addon", "packages of hooks that applications use"},
        {"image", "images to launch instances from"},
        {"registry", "the registry that applications are shared through"},
        {"node", "machines that instances run on"},
        {"config", "the cluster's configuration"},
        {"trust", "clients the service trusts, and browsers that are logged in"},
        {"file", "files of instances"},
        {"snapshot", "copies of the disks of instances"},
        {"operation", "background operations"},
        {"task", "what is being done for each instance"},
        {"remote", "services this client knows"},
        {"gateway", "the stream gateway: accounts and sessions"},
    };
}

}  // namespace

const CommandTable& all_commands() {
    static const CommandTable table{list_all(), list_groups(), global_flags()};
    return table;
}

}  // namespace svc::cli
