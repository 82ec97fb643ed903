#!/usr/bin/python3
"""Stands in for a desktop's notifications on the session bus, and for the person in front of it.

Its argument is what the person does: "yes" or "no" for a button, "default" for a click beside them, "close", and
"nothing" for a desktop without buttons. Each notification is a line on standard output, after the line "ready".
"""
import sys

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
XML = """<node><interface name="org.freedesktop.Notifications">
<method name="GetCapabilities"><arg type="as" direction="out"/></method>
<method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
<arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
<arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
<method name="CloseNotification"><arg type="u" direction="in"/></method>
</interface></node>"""
person = sys.argv[1]


def say(connection, signal, *arguments):
    types = "".join("s" if isinstance(argument, str) else "u" for argument in arguments)
    connection.emit_signal(None, PATH, NAME, signal, GLib.Variant(f"({types})", arguments))


def call(connection, sender, path, interface, method, arguments, invocation):
    if method == "GetCapabilities":
        capabilities = ["body"] + ([] if person == "nothing" else ["actions"])
        invocation.return_value(GLib.Variant("(as)", (capabilities,)))
    elif method == "Notify":
        print(arguments[3], "|", arguments[4], "|", " ".join(arguments[5]), flush=True)
        # Another's, and one that is not for this question, come first.
        say(connection, "ActionInvoked", 6, "yes")
        # It replaces none, is urgent, and stays.
        if (arguments[1], arguments[6], arguments[7]) != (0, {"urgency": 2}, 0):
            return invocation.return_dbus_error("org.example.Wrong", str(arguments))
        invocation.return_value(GLib.Variant("(u)", (7,)))
        if person == "close":
            say(connection, "NotificationClosed", 7, 2)
        else:
            say(connection, "ActionInvoked", 7, person)
            if person == "default":
                say(connection, "NotificationClosed", 7, 1)
    else:
        invocation.return_value(None)


def named(connection, name):
    node = Gio.DBusNodeInfo.new_for_xml(XML)
    connection.register_object(PATH, node.interfaces[0], call, None, None)
    print("ready", flush=True)


Gio.bus_own_name(Gio.BusType.SESSION, NAME, Gio.BusNameOwnerFlags.NONE, named, None, None)
GLib.MainLoop().run()
