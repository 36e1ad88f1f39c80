#pragma once
// The functions that make the commands, by file. all_commands.cpp puts them into the table.
#include "cli/command_line/command.h"

namespace svc::cli {

// instance.cpp, launch.cpp
Command launch_command();
Command init_command();
Command list_command();
Command show_command();
Command start_command();
Command stop_command();
Command restart_command();
Command pause_command();
Command resume_command();
Command protect_command();
Command unprotect_command();
Command extend_command();
Command delete_command();
// session.cpp, ui.cpp
std::vector<Command> session_commands(const std::vector<std::string>& group);
Command ui_command();
// snapshot.cpp
std::vector<Command> snapshot_commands();
// copy.cpp, publish.cpp
Command copy_command();
Command publish_command();
// exec.cpp
Command exec_command();
Command shell_command();
// file.cpp
std::vector<Command> file_commands();
// capture.cpp
Command screenshot_command();
Command record_command();

// adb.cpp
Command adb_command();
// forward.cpp
Command forward_command();
// logs.cpp
Command logs_command();
Command show_log_command();
// wait.cpp, monitor.cpp
Command wait_command();
Command monitor_command();
// benchmark.cpp
Command benchmark_command();
// image.cpp
Command image_add_command();
Command image_list_command();
Command image_show_command();
Command image_update_command();
Command image_delete_command();
Command image_switch_command();
Command image_sync_command();
// application.cpp, application_fields.cpp, application_pool.cpp
Command application_create_command();
Command application_list_command();
Command application_show_command();
Command application_update_command();
Command application_set_command();
Command application_unset_command();
Command application_pool_command();
Command application_publish_command();
Command application_revoke_command();
Command application_manifest_command();
Command application_export_command();
Command application_delete_command();
// addon.cpp
Command addon_add_command();
Command addon_list_command();
Command addon_show_command();
Command addon_update_command();
Command addon_delete_command();
// registry.cpp
Command registry_list_command();
Command registry_push_command();
Command registry_pull_command();
Command registry_delete_command();
// configuration.cpp
Command config_show_command();
Command config_schema_command();
Command config_set_command();
// trust.cpp: the same commands below another word or two
std::vector<Command> trust_commands(const std::vector<std::string>& group);
// node.cpp, node_changes.cpp
Command node_list_command();
Command node_show_command();
Command node_add_command();
Command node_set_command();
Command node_remove_command();
Command node_evacuate_command();
// operation.cpp
Command operation_list_command();
Command operation_show_command();
Command operation_cancel_command();
Command task_list_command();
// remote.cpp
Command remote_add_command();
Command remote_list_command();
Command remote_remove_command();
Command remote_set_default_command();
Command remote_set_url_command();
// instance_control.cpp, instance_media.cpp: what is injected into an instance
std::vector<Command> instance_control_commands();
std::vector<Command> instance_media_commands();
// gateway.cpp, gateway_session.cpp: the stream gateway
std::vector<Command> gateway_commands();
std::vector<Command> gateway_session_commands();
// server.cpp
Command info_command();
Command version_command();
// completion.cpp
Command completion_command();

}  // namespace svc::cli
