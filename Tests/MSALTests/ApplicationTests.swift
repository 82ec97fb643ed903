import Testing

/// Tests that share what belongs to the process: the configuration of the log, and the sign-ins that wait for a
/// browser.
@Suite(.serialized, .timeLimit(.minutes(20)))
enum ApplicationTests {}
