// Commands that are passed on to svc-agent in the instance unchanged.
#include "cli/actions/agent_ctl.h"
#include "cli/commands/commands.h"

namespace svc::cli {
namespace {

struct Control {
    std::vector<std::string> words;
    std::string summary;
    std::vector<Positional> positionals = {};
    std::vector<Flag> flags = {};
};

std::vector<Control> location_controls() {
    return {{{"location", "enable"}, "let the instance be where it is told to be"},
            {{"location", "disable"}, "let it be where its clients are"},
            {{"location", "show"}, "show whether its place is injected"},
            {{"location", "set"},
             "tell the instance where it is",
             {{"latitude", "degrees, north positive"}, {"longitude", "degrees, east positive"}},
             {{"altitude", 0, "M", "metres"},
              {"speed", 0, "M/S", "metres per second"},
              {"bearing", 0, "DEGREES", "from north, clockwise"},
              {"accuracy", 0, "M", "horizontal, metres"},
              {"vertical-accuracy", 0, "M", "metres"},
              {"time", 0, "MS", "milliseconds since 1970 (now when not given)"}}}};
}

std::vector<Control> camera_controls() {
    return {{{"camera", "enable"}, "let pictures and video in"},
            {{"camera", "disable"}, "close the camera and drop the picture"},
            {{"camera", "show"}, "show the state and sizes of the camera"},
            {{"camera", "clear"}, "drop the picture"}};
}

std::vector<Control> sensor_controls() {
    return {{{"sensors", "enable"}, "let values in"},
            {{"sensors", "disable"}, "keep values out"},
            {{"sensors", "show"}, "show which sensors there are and which are used"},
            {{"sensors", "set"},
             "set what a sensor measures",
             {{"type", "such as acceleration or light"},
              {"value", "its numbers; negative ones after --", true, true}}}};
}

std::vector<Control> vehicle_controls() {
    return {
        {{"vhal", "get"},
         "read a vehicle property",
         {{"property", "its number or name, such as PERF_VEHICLE_SPEED"},
          {"area", "number or name, such as HVAC_LEFT", false}}},
        {{"vhal", "set"},
         "set a vehicle property",
         {{"property", "its number or name"}, {"value", "one, or those of a vector", true, true}},
         {{"area", 0, "AREA", "number or name"}}},
        {{"vhal", "configs"}, "show what properties there are", {{"property", "only these", false, true}}}};
}

std::vector<Control> telephony_controls() {
    const Positional call{"call", "its id"};
    return {
        {{"telephony", "show"}, "show SIM and network, and whether the guest listens"},
        {{"telephony", "set"},
         "set fields of SIM and network, all or none",
         {{"field", "such as sim, registration, operator or signal"},
          {"value", "more fields and values may follow", true, true}}},
        {{"telephony", "sms"},
         "send a message to the guest",
         {{"number", "where it comes from"}, {"text", "of ten parts at most"}}},
        {{"telephony", "messages"}, "show messages of both directions"},
        {{"telephony", "clear"}, "remove all messages"},
        {{"telephony", "call"}, "let a call ring", {{"number", "who calls"}}},
        {{"telephony", "calls"}, "show calls, also the last that have ended"},
        {{"telephony", "change"}, "accept a call, or hold it", {call, {"state", "alerting, active or held"}}},
        {{"telephony", "hang-up"}, "end or reject a call", {call}}};
}

std::vector<Control> other_controls() {
    return {{{"trace", "start"}, "begin to record what the agent and guests do"},
            {{"trace", "show"}, "show whether a recording is under way"},
            {{"platform", "show"}, "show the platform's items"},
            {{"platform", "set"},
             "set items of the platform, all or none",
             {{"item", "its name"},
              {"value", "true, false, a number or a text; more items and values may follow", true, true}}},
            {{"platform", "reset"}, "give items their defaults", {{"item", "their names", true, true}}}};
}

Command command_of(Control control) {
    Command command;
    command.path = std::move(control.words);
    command.path.insert(command.path.begin(), "instance");
    command.summary = std::move(control.summary);
    command.positionals = std::move(control.positionals);
    command.positionals.insert(command.positionals.begin(), {"id", "id or name of the instance"});
    command.flags = std::move(control.flags);
    command.run = [shape = command](Context& context, const Arguments& arguments) {
        return run_ctl(context, arguments.text("id"), ctl_command(shape, arguments));
    };
    return command;
}

}  // namespace

std::vector<Command> instance_control_commands() {
    std::vector<Command> commands;
    for (const auto& make : {location_controls, camera_controls, sensor_controls, vehicle_controls,
                             telephony_controls, other_controls})
        for (Control& control : make()) commands.push_back(command_of(std::move(control)));
    return commands;
}

}  // namespace svc::cli
