#include "cli/command_table.h"

#include <algorithm>

#include "cli/commands/commands.h"

namespace svc::cli {
namespace {

bool names(const Command& command, const std::vector<std::string>& words) {
    const std::size_t length = command.path.size();
    if (words.size() < length) return false;
    if (!std::equal(command.path.begin(), command.path.end() - 1, words.begin())) return false;
    const std::string& last = words[length - 1];
    return last == command.path.back() ||
           std::find(command.aliases.begin(), command.aliases.end(), last) != command.aliases.end();
}

}  // namespace

const std::vector<Command>& all_commands() {
    static const std::vector<Command> commands{
        launch_command(),
        init_command(),
        list_command(),
        show_command(),
        start_command(),
        stop_command(),
        delete_command(),
        exec_command(),
        shell_command(),
        logs_command(),
        show_log_command(),
        wait_command(),
        monitor_command(),
        image_add_command(),
        image_list_command(),
        image_show_command(),
        image_update_command(),
        image_delete_command(),
        node_list_command(),
        node_show_command(),
        operation_list_command(),
        operation_show_command(),
        operation_cancel_command(),
        task_list_command(),
        remote_add_command(),
        remote_list_command(),
        remote_remove_command(),
        remote_set_default_command(),
        remote_set_url_command(),
        info_command(),
        version_command(),
        completion_command(),
    };
    return commands;
}

const std::vector<Group>& all_groups() {
    static const std::vector<Group> groups{
        {"image", "images to launch instances from"}, {"node", "machines that instances run on"},
        {"operation", "background operations"},       {"task", "what is being done for each instance"},
        {"remote", "services this client knows"},
    };
    return groups;
}

const Command* find_command(const std::vector<std::string>& words, std::size_t& words_used) {
    for (const Command& command : all_commands()) {
        if (!names(command, words)) continue;
        words_used = command.path.size();
        return &command;
    }
    return nullptr;
}

const Group* find_group(std::string_view word) {
    for (const Group& group : all_groups())
        if (group.name == word) return &group;
    return nullptr;
}

}  // namespace svc::cli
