// Plays the gamepads of a client: each line of standard input is "button PAD INDEX VALUE", "axis PAD INDEX
// VALUE" or "remove", and is answered with "done". usage: svc-pad-player FOLDER
#include <iostream>
#include <sstream>
#include <string>

#include "instance-agent/streamer/input/pad_devices.h"
#include "instance-agent/streamer/pads/pad_server.h"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    svc::streamer::PadDevices pads(svc::streamer::served_pads(argv[1]));
    for (std::string line; std::getline(std::cin, line); std::cout << "done" << std::endl) {
        std::istringstream words(line);
        std::string what;
        int pad = 0, index = 0;
        double value = 0;
        words >> what >> pad >> index >> value;
        if (what == "button") pads.button(pad, index, value != 0);
        if (what == "axis") pads.axis(pad, index, value);
        if (what == "remove") pads.remove_all();
    }
    return 0;
}
