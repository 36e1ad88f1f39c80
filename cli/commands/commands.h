#pragma once
// One maker per command; command_table.cpp lists them.
#include "cli/command.h"

namespace svc::cli {

// instance.cpp, launch.cpp
Command launch_command();
Command init_command();
Command list_command();
Command show_command();
Command start_command();
Command stop_command();
Command delete_command();
// exec.cpp
Command exec_command();
Command shell_command();
// logs.cpp
Command logs_command();
Command show_log_command();
// wait.cpp, monitor.cpp
Command wait_command();
Command monitor_command();
// image.cpp
Command image_add_command();
Command image_list_command();
Command image_show_command();
Command image_update_command();
Command image_delete_command();
// node.cpp
Command node_list_command();
Command node_show_command();
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
// server.cpp
Command info_command();
Command version_command();
// completion.cpp
Command completion_command();

}  // namespace svc::cli
