import Glibc

/// What the system says of a failed call, by its `errno`, without a full stop.
package func systemReason(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
