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

// Short words for groups.
std::string long_word(const std::string& word) {
    return word == "app" ? "application" : word;
}

std::vector<Command> listed_commands() {
    return {
        launch_command(),
        init_command(),
        list_command(),
        show_command(),
        start_command(),
        stop_command(),
        protect_command(),
        unprotect_command(),
        delete_command(),
        exec_command(),
        shell_command(),
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
        config_set_command(),
        node_list_command(),
        node_show_command(),
        node_add_command(),
        node_set_command(),
        node_remove_command(),
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
}

// By what they inject, in the order of their first ones.
std::vector<Command> instance_commands() {
    std::vector<Command> all = instance_control_commands();
    for (Command& command : instance_media_commands()) {
        const auto other = [&](const Command& before) { return before.path[1] == command.path[1]; };
        const auto last = std::find_if(all.rbegin(), all.rend(), other);
        all.insert(last == all.rend() ? all.end() : last.base(), std::move(command));
    }
    return all;
}

}  // namespace

const std::vector<Command>& all_commands() {
    static const std::vector<Command> commands = [] {
        std::vector<Command> all = listed_commands();
        for (const std::vector<std::string>& group : {std::vector<std::string>{"trust"}, {"config", "trust"}})
            for (Command& command : trust_commands(group)) all.push_back(std::move(command));
        for (Command& command : instance_commands()) all.push_back(std::move(command));
        for (Command& command : gateway_commands()) all.push_back(std::move(command));
        for (Command& command : gateway_session_commands()) all.push_back(std::move(command));
        return all;
    }();
    return commands;
}

const std::vector<Group>& all_groups() {
    static const std::vector<Group> groups{
        {"instance", "what an instance is told: its place, pictures, sensors, vehicle, traces"},
        {"application", "applications to launch instances from; app for short"},
        {"addon", "packages of hooks that applications use"},
        {"image", "images to launch instances from"},
        {"registry", "the registry that applications are shared through"},
        {"node", "machines that instances run on"},
        {"config", "the cluster's configuration"},
        {"trust", "clients the service trusts"},
        {"operation", "background operations"},
        {"task", "what is being done for each instance"},
        {"remote", "services this client knows"},
        {"gateway", "the stream gateway: accounts and sessions"},
    };
    return groups;
}

const Command* find_command(const std::vector<std::string>& given, std::size_t& words_used) {
    std::vector<std::string> words = given;
    if (!words.empty()) words.front() = long_word(words.front());
    for (const Command& command : all_commands()) {
        if (!names(command, words)) continue;
        words_used = command.path.size();
        return &command;
    }
    return nullptr;
}

std::vector<std::string> group_words(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    const std::string first = long_word(words[0]);
    const auto is_group = [&](const Group& group) { return group.name == first; };
    if (std::none_of(all_groups().begin(), all_groups().end(), is_group)) return {};
    const auto is_within = [&](const Command& command) {
        return command.path.size() > 2 && command.path[0] == first && command.path[1] == words[1];
    };
    if (words.size() > 1 && std::any_of(all_commands().begin(), all_commands().end(), is_within))
        return {first, words[1]};
    return {first};
}

std::vector<std::string> words_after(const std::vector<std::string>& group) {
    std::vector<std::string> words;
    for (const Command& command : all_commands()) {
        const auto& path = command.path;
        if (path.size() <= group.size() || !std::equal(group.begin(), group.end(), path.begin())) continue;
        words.push_back(path[group.size()]);
        if (path.size() == group.size() + 1)
            words.insert(words.end(), command.aliases.begin(), command.aliases.end());
    }
    return words;
}

}  // namespace svc::cli
