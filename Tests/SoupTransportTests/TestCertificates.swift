import TestSupport

/// A temporary certificate authority and its certificates.
struct TestCertificates: Sendable {
  /// The files of a certificate and its key.
  struct Files: Sendable {
    let certificate: String
    let key: String
  }

  let directory: String
  var caBundle: String { directory + "/ca.pem" }
  /// Another authority, without certificates.
  var otherCABundle: String { directory + "/other.pem" }
  let good: Files
  let wrongHost: Files
  let expired: Files
  let notYetValid: Files
  /// Certificates with a purpose.
  let forServers, forClients, forAnything: Files

  /// Made once; the directory is removed when the test process ends.
  static let shared: TestCertificates = {
    do {
      return try TestCertificates()
    } catch {
      fatalError("no test certificates: \(error)")
    }
  }()

  private init() throws {
    let files = try TemporaryDirectory()
    let directory = files.path
    self.directory = directory
    toRemove.withLock { $0 = files }
    atexit { toRemove.withLock { $0 = nil } }

    _ = try files.file(
      "config",
      """
      [ca]
      default_ca = test
      [test]
      database = \(directory)/index
      new_certs_dir = \(directory)
      rand_serial = yes
      default_md = sha256
      policy = any
      unique_subject = no
      copy_extensions = copy
      certificate = \(directory)/ca.pem
      private_key = \(directory)/ca.key
      [any]
      commonName = supplied
      """)
    _ = try files.file("index")
    for name in ["ca", "other"] {
      try Child.output(
        "openssl",
        [
          "req", "-x509", "-days", "30", "-subj", "/CN=Llavero test \(name)", "-keyout",
          "\(directory)/\(name).key",
          "-out", "\(directory)/\(name).pem",
        ] + newKey)
    }
    let here = "DNS:localhost,IP:127.0.0.1,IP:::1"
    good = try Self.sign("good", names: here, until: "20991231000000Z", in: directory)
    wrongHost = try Self.sign("wrong", names: "DNS:other.test", until: "20991231000000Z", in: directory)
    expired = try Self.sign("expired", names: here, until: "20200201000000Z", in: directory)
    let end = "20991231000000Z"
    notYetValid = try Self.sign("early", names: here, from: "20981231000000Z", until: end, in: directory)
    forServers = try Self.sign("server", names: here, until: end, for: "clientAuth,serverAuth", in: directory)
    forClients = try Self.sign("client", names: here, until: end, for: "clientAuth", in: directory)
    forAnything = try Self.sign("any", names: here, until: end, for: "anyExtendedKeyUsage", in: directory)
  }

  private static func sign(
    _ name: String, names: String, from start: String = "20200101000000Z", until end: String,
    for purposes: String? = nil, in directory: String
  ) throws -> Files {
    let base = "\(directory)/\(name)"
    try Child.output(
      "openssl",
      [
        "req", "-subj", "/CN=\(name)", "-addext", "subjectAltName=\(names)", "-keyout", "\(base).key",
        "-out", "\(base).csr",
      ] + (purposes.map { ["-addext", "extendedKeyUsage=\($0)"] } ?? []) + newKey)
    try Child.output(
      "openssl",
      [
        "ca", "-batch", "-notext", "-config", "\(directory)/config", "-startdate", start,
        "-enddate", end, "-in", "\(base).csr", "-out", "\(base).pem",
      ])
    return Files(certificate: "\(base).pem", key: "\(base).key")
  }
}

private let toRemove = Mutex<TemporaryDirectory?>(nil)
private let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
