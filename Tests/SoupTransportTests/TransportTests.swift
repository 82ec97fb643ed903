import TestSupport

/// All tests of the transport, one after the other: GIO runs every TLS handshake, the server's like the client's,
/// on ten threads that the process shares, and many at once wait for each other.
@Suite(.serialized, .timeLimit(.minutes(20)), .stoppingServers) enum TransportTests {}
