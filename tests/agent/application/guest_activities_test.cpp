// How the words of Android's programs are read.
#include "instance-agent/agent/application/guest_activities.h"

#include <catch2/catch.hpp>

using svc::agent::foreground_package;
using svc::agent::is_not_responding;

TEST_CASE("the package in the foreground, as versions of Android tell it") {
    CHECK(foreground_package("  * Hist #0: ActivityRecord{9 u0 com.other/.A t1}\n"
                             "  topResumedActivity=ActivityRecord{1f2 u0 com.game/.Main t7}\n"
                             "  ResumedActivity: ActivityRecord{3 u0 com.old/.Main t7}\n") == "com.game");
    CHECK(foreground_package("    mResumedActivity: ActivityRecord{88 u0 com.game/com.game.Main t7}\n") ==
          "com.game");
    CHECK(foreground_package("  mFocusedActivity: ActivityRecord{88 u0 com.game/.Main t7}\n") == "com.game");
    CHECK(foreground_package("  topResumedActivity=null\n") == "");
    CHECK(foreground_package("") == "");
}

TEST_CASE("a process that does not respond") {
    const char* const dump =
        "  *APP* UID 10057 ProcessRecord{af 1234:com.game/u0a57}\n"
        "    mCrashing=false null mNotResponding=false null\n"
        "    adjSource=ProcessRecord{b0 1235:com.other/u0a58}\n"
        "  *APP* UID 10058 ProcessRecord{b0 1235:com.other/u0a58}\n"
        "    crashing=false null notResponding=true null\n";
    CHECK(is_not_responding(dump, "com.other"));
    CHECK_FALSE(is_not_responding(dump, "com.game"));
    CHECK_FALSE(is_not_responding("", "com.game"));
}
