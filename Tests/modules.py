"""Where the compiler finds the modules of the package, for scripts that ask it about them."""
import os
import pathlib
import subprocess

package = pathlib.Path(__file__).resolve().parent.parent


def flags():
    """The flags for the modules in $BIN, the directory of the programs that were built."""
    built = pathlib.Path(os.environ.get("BIN") or package / ".build/debug") / "Modules"
    flags = ["-I", built]
    for name in ["Sources/CGLib", "Sources/CLibsecret", "Sources/CLibsoup", "Sources/LibraryVersion/include",
                 "Sources/LibsoupOnDemand/include", "Tests/RuntimeCounter/include"]:
        flags += ["-I", package / name]
    headers = subprocess.run(
        ["pkg-config", "--cflags-only-I", "gio-unix-2.0", "libsecret-1", "libsoup-3.0"],
        check=True, capture_output=True, text=True)
    for flag in headers.stdout.split():
        flags += ["-Xcc", flag]
    return [str(flag) for flag in flags]
