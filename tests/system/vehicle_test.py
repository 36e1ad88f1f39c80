#!/usr/bin/env python3
"""Vehicle properties cross between outside and inside: on images for vehicles, and on no others."""
import json

import harness
import injection

NAMES = {"PERF_VEHICLE_SPEED": 291504647, "HVAC_TEMPERATURE_SET": 358614275, "INFO_MAKE": 286261505}


class Vehicle(injection.InjectionTest):
    properties = "  variant: aaos\n"

    def test_what_is_set_outside_is_read_inside(self):
        reader = self.reader("vehicle", NAMES["HVAC_TEMPERATURE_SET"], 49)
        place = f"property {NAMES['HVAC_TEMPERATURE_SET']} area 49 status 0 "
        self.assertEqual(reader.line(), place + "16")
        self.instance("vhal", "set", "HVAC_TEMPERATURE_SET", "21.5", "--area", "HVAC_LEFT")
        self.assertEqual(reader.until(lambda line: line != place + "16"), place + "21.5")
        self.instance("vhal", "set", "INFO_MAKE", "Velo & Söhne")
        make = self.reader("--count", 1, "vehicle", NAMES["INFO_MAKE"])
        self.assertEqual(make.line(), f"property {NAMES['INFO_MAKE']} area 0 status 0 \"Velo & Söhne\"")
        self.assertIn("Value out of range", self.instance("vhal", "set", "HVAC_TEMPERATURE_SET", "99", "--area", "49", status=1))

    def test_what_is_set_inside_is_read_outside(self):
        members = f'"prop":{NAMES["PERF_VEHICLE_SPEED"]},"area_id":0,"float_values":[27.75]'
        self.execute(injection.CAT_INSIDE, "call", "vhal.set", members)
        value = self.instance("vhal", "get", "PERF_VEHICLE_SPEED")
        self.assertEqual(value["float_values"], [27.75])
        self.assertGreater(value["timestamp"], 0)

    def test_only_those_with_control_may_set_from_inside(self):
        command = [injection.CAT_INSIDE, "call", "vhal.set", f'"prop":{NAMES["PERF_VEHICLE_SPEED"]},"float_values":[1]']
        self.assertEqual(self.execute_as("somebody", *command)[0], 1)
        self.assertEqual(self.instance("vhal", "get", "PERF_VEHICLE_SPEED")["float_values"], [0])
        self.assertEqual(self.execute_as("user", *command)[0], 0)
        self.assertEqual(self.instance("vhal", "get", "PERF_VEHICLE_SPEED")["float_values"], [1])

    def test_the_image_says_that_it_is_for_vehicles_and_its_applications_are_too(self):
        self.assertIn("vhal_support", self.extensions())
        self.assertEqual(len(self.instance("vhal", "configs")), 75)
        app = self.daemon.create_app({"manifest.yaml": "name: driving\n"})
        self.addCleanup(lambda: self.daemon.succeed(self.daemon.api("DELETE", f"/1.0/applications/{app}", {"force": True})))
        self.daemon.remove_instances()
        self.id = self.daemon.launch_app(app)
        self.assertEqual(self.instance("vhal", "get", "291504647")["prop"], NAMES["PERF_VEHICLE_SPEED"])
        exported = self.daemon.api("GET", f"/1.0/applications/{app}/0").raw
        self.daemon.remove_instances()
        self.daemon.succeed(self.daemon.upload("POST", "/1.0/images", exported, name="again"))
        self.id = self.daemon.launch("again")
        self.assertIn("vhal_support", self.extensions())
        self.daemon.remove_instances()
        self.daemon.succeed(self.daemon.api("DELETE", "/1.0/images/again", {"force": True}))

    def extensions(self):
        return json.loads(self.execute(harness.AGENT_INSIDE, "ctl", "request", "GET", "/1.0"))["api_extensions"]


class NoVehicle(injection.InjectionTest):
    properties = "  variant: android\n"

    def test_other_images_answer_that_they_have_no_vehicle(self):
        for verb, words in (("get", ["291504647"]), ("set", ["291504647", "1"]), ("configs", [])):
            self.assertIn("VHAL is not supported", self.instance("vhal", verb, *words, status=1))
        reader = self.reader("vehicle", "291504647")
        self.assertEqual(reader.process.wait(injection.PATIENCE), 1)
        self.assertNotIn("vhal_support", self.execute(harness.AGENT_INSIDE, "ctl", "request", "GET", "/1.0"))

    def test_their_own_properties_make_them_a_vehicle(self):
        folder = "/var/lib/svc-agent/vhal"
        config = json.dumps({"apiVersion": 1, "properties": [
            {"property": "VehicleProperty::INFO_MAKE", "defaultValue": {"stringValue": "Own"}}]})
        self.execute("sh", "-c", f"mkdir -p {folder} && echo '{config}' >{folder}/properties.json")
        self.kill_agent()
        self.assertEqual(self.instance("vhal", "get", "INFO_MAKE")["string_value"], "Own")
        self.assertEqual(len(self.instance("vhal", "configs")), 1)


if __name__ == "__main__":
    harness.cases.main()
