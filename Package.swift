// swift-tools-version: 6.2
import PackageDescription

/// The version of the libraries and the tool, with "~dev" until it is released. `.ci/release` adds the commit: `.ci/version`.
let version = Context.environment["LLAVERO_BUILD_VERSION"] ?? "0.4.0~dev"

let common: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Every target except those that call C is checked for memory safety by the compiler.
let safe: [SwiftSetting] = common + [.strictMemorySafety()]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "llavero",
  products: [
    // A product also has the libraries whose names its programs need.
    .library(
      name: "Llavero",
      targets: [
        "Llavero", "BrowserSignIn", "HTTPSupport", "IdentityBroker", "IdentityClient", "KeyringStore",
        "MicrosoftGraph", "SecretService", "SoupTransport", "TokenCache",
      ]),
    .library(name: "MSAL", targets: ["MSAL", "HTTPSupport", "SecretService", "SoupTransport", "TokenCache"]),
    .library(name: "IdentityClient", targets: ["IdentityClient", "HTTPSupport", "TokenCache"]),
    .library(name: "ProofOfPossession", targets: ["ProofOfPossession", "IdentityClient"]),
    .library(name: "IdentityBroker", targets: ["IdentityBroker", "IdentityClient"]),
    .library(
      name: "Lending", targets: ["Lending", "HTTPSupport", "IdentityClient", "SoupTransport", "TokenCache"]),
    .library(name: "KeyringStore", targets: ["KeyringStore", "SecretService", "TokenCache"]),
    .library(
      name: "EncryptedFileStore", targets: ["EncryptedFileStore", "Sealing", "SecretService", "TokenCache"]),
    .library(
      name: "EtcdStore",
      targets: ["EtcdStore", "HTTPSupport", "Sealing", "SecretService", "SoupTransport", "TokenCache"]),
    .library(name: "MSALExtensionsStore", targets: ["MSALExtensionsStore", "SecretService", "TokenCache"]),
    .library(name: "StoreSupport", targets: ["StoreSupport", "Sealing", "SecretService", "TokenCache"]),
    .library(name: "StoreRules", targets: ["StoreRules", "TokenCache"]),
    .library(name: "Configuration", targets: ["Configuration"]),
    .library(name: "LabServer", targets: ["LabServer"]),
    .executable(name: "llavero", targets: ["llavero"]),
    .executable(name: "entra-lab", targets: ["entra-lab"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    // For what is sealed, and for proof of possession.
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  ],
  targets: [
    // The two below include its header, so that GLib's declarations belong to one module.
    .systemLibrary(
      name: "CGLib",
      pkgConfig: "gio-2.0",
      providers: [.apt(["libglib2.0-dev"]), .yum(["glib2-devel"])]),
    .systemLibrary(
      name: "CLibsecret",
      pkgConfig: "libsecret-1",
      providers: [.apt(["libsecret-1-dev"]), .yum(["libsecret-devel"])]),
    .systemLibrary(
      name: "CLibsoup",
      pkgConfig: "libsoup-3.0",
      providers: [.apt(["libsoup-3.0-dev"]), .yum(["libsoup3-devel"])]),
    .target(name: "GLibSupport", dependencies: ["CGLib"], swiftSettings: common),
    .target(
      name: "SecretService", dependencies: ["CGLib", "CLibsecret", "GLibSupport", "TokenCache"],
      swiftSettings: common),
    .target(name: "TokenCache", dependencies: ["GLibSupport"], swiftSettings: safe),
    .target(
      name: "StoreSupport", dependencies: ["GLibSupport", "SecretService", "TokenCache"], swiftSettings: safe),
    .target(
      name: "Sealing",
      dependencies: ["GLibSupport", "SecretService", "StoreSupport", "TokenCache", crypto, cryptoExtras],
      swiftSettings: safe),
    .target(
      name: "KeyringStore", dependencies: ["GLibSupport", "SecretService", "StoreSupport", "TokenCache"],
      swiftSettings: safe),
    .target(
      name: "EncryptedFileStore", dependencies: ["GLibSupport", "Sealing", "StoreSupport", "TokenCache"],
      swiftSettings: safe),
    .target(
      name: "EtcdStore",
      dependencies: [
        "GLibSupport", "HTTPSupport", "Sealing", "SecretService", "StoreSupport", "TokenCache", httpTypes,
      ],
      swiftSettings: safe),
    .target(
      name: "MSALExtensionsStore",
      dependencies: ["CGLib", "GLibSupport", "SecretService", "StoreSupport", "TokenCache"],
      swiftSettings: safe),
    // libsoup for the libraries, which load it with the first request: what the cache answers starts without it.
    .target(name: "LibsoupOnDemand", dependencies: ["CGLib"]),
    // Nothing but a check of the one above against libsoup's header, by the compiler.
    .target(name: "LibsoupCheck", dependencies: ["CLibsoup"], path: "Tests/LibsoupCheck"),
    .target(name: "HTTPSupport", dependencies: ["GLibSupport", httpTypes], swiftSettings: safe),
    .target(
      name: "SoupTransport",
      dependencies: ["CGLib", "GLibSupport", "HTTPSupport", "LibsoupOnDemand", asn1, httpTypes],
      swiftSettings: common),
    // Swift's conditions have no values.
    .target(name: "LibraryVersion", cSettings: [.define("LIBRARY_VERSION", to: "\"\(version)\"")]),
    .target(
      name: "IdentityClient",
      dependencies: ["GLibSupport", "HTTPSupport", "LibraryVersion", "TokenCache", httpTypes, logging],
      swiftSettings: safe),
    .target(
      name: "HTTPListener", dependencies: ["CGLib", "GLibSupport", "HTTPSupport", "LibsoupOnDemand"],
      swiftSettings: common),
    .target(
      name: "BrowserSignIn",
      dependencies: ["CGLib", "GLibSupport", "HTTPListener", "HTTPSupport", "IdentityClient", "TokenCache"],
      swiftSettings: common),
    .target(
      name: "ProofOfPossession",
      dependencies: ["GLibSupport", "IdentityClient", "TokenCache", crypto, cryptoExtras],
      swiftSettings: safe),
    .target(
      name: "IdentityBroker",
      dependencies: ["CGLib", "GLibSupport", "HTTPSupport", "IdentityClient", "TokenCache"],
      swiftSettings: common),
    .target(
      name: "Lending",
      dependencies: [
        "CGLib", "GLibSupport", "HTTPListener", "HTTPSupport", "IdentityClient", "TokenCache", httpTypes,
      ],
      swiftSettings: common),
    .target(
      name: "MicrosoftGraph",
      dependencies: ["GLibSupport", "HTTPSupport", "IdentityClient", "TokenCache", httpTypes],
      swiftSettings: safe),
    .target(
      name: "MSAL",
      dependencies: [
        "BrowserSignIn", "GLibSupport", "HTTPSupport", "IdentityBroker", "IdentityClient", "KeyringStore",
        "MSALExtensionsStore", "SecretService", "SoupTransport", "TokenCache", logging,
      ],
      swiftSettings: safe),
    // What the tool and the window read alike.
    .target(
      name: "Configuration",
      dependencies: [
        "EncryptedFileStore", "EtcdStore", "GLibSupport", "HTTPSupport", "IdentityClient", "KeyringStore",
        "Sealing", "SecretService", "TokenCache", logging,
      ],
      swiftSettings: safe),
    // The libraries that a program needs to sign in and call Graph, in one import. Its folder's name differs from that of the
    // tool's in more than case, for file systems that ignore case.
    .target(
      name: "Llavero",
      dependencies: [
        "BrowserSignIn", "HTTPSupport", "IdentityBroker", "IdentityClient", "KeyringStore", "MicrosoftGraph",
        "SoupTransport", "TokenCache", logging,
      ],
      path: "Sources/LlaveroUmbrella", swiftSettings: safe),
    .executableTarget(
      name: "llavero",
      dependencies: [
        "BrowserSignIn", "Configuration", "EncryptedFileStore", "EtcdStore", "GLibSupport", "HTTPSupport",
        "IdentityBroker", "IdentityClient", "KeyringStore", "Lending", "MSALExtensionsStore",
        "MicrosoftGraph", "Sealing", "SecretService", "SoupTransport", "TokenCache", argumentParser,
        httpTypes, logging,
      ],
      swiftSettings: safe),
    .target(
      name: "EntraLab",
      dependencies: [
        "CGLib", "CLibsoup", "GLibSupport", asn1, crypto, cryptoExtras,
      ],
      swiftSettings: common),
    // A bus and a keyring of their own, for the tests here and for LabServer.
    .target(
      name: "PrivateSession", dependencies: ["CGLib", "GLibSupport"], path: "Tests/PrivateSession",
      swiftSettings: common),
    .target(
      name: "LabServer",
      dependencies: [
        "EntraLab", "GLibSupport", "HTTPSupport", "IdentityClient", "KeyringStore", "PrivateSession",
        "SecretService", "SoupTransport", "TokenCache", httpTypes,
      ],
      swiftSettings: safe),
    .executableTarget(name: "entra-lab", dependencies: ["EntraLab", argumentParser], swiftSettings: safe),
    .executableTarget(
      name: "SignInApp", dependencies: ["Llavero"], path: "Examples/SignInApp", swiftSettings: safe),
    .executableTarget(
      name: "GraphApp",
      dependencies: [
        "HTTPSupport", "MSAL", "SoupTransport", httpTypes,
        .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
      ],
      path: "Examples/GraphApp", swiftSettings: safe),
    // The rules of every store, for the tests here and for those of other packages' stores.
    .target(
      name: "StoreRules", dependencies: ["TokenCache"], path: "Tests/StoreRules", swiftSettings: common),
    .target(
      name: "TestSupport",
      dependencies: [
        "CGLib", "GLibSupport", "HTTPSupport", "IdentityClient", "MicrosoftGraph", "PrivateSession",
        "SecretService", "StoreRules", "TokenCache", "WorkerSupport", httpTypes,
      ],
      path: "Tests/TestSupport", swiftSettings: common),
    // Counts what the tests of complexity compare.
    .target(name: "RuntimeCounter", path: "Tests/RuntimeCounter"),
    // What the program of the tests shares with them.
    .target(
      name: "WorkerSupport", dependencies: ["GLibSupport", "TokenCache"], path: "Tests/WorkerSupport",
      swiftSettings: common),
    // What tests need that ask the lab.
    .target(
      name: "LabSupport",
      dependencies: [
        "BrowserSignIn", "EntraLab", "HTTPSupport", "IdentityClient", "ProofOfPossession", "SoupTransport",
        "TestSupport", "TokenCache", logging,
      ],
      path: "Tests/LabSupport", swiftSettings: common),
    .testTarget(
      name: "GLibSupportTests", dependencies: ["Worker", "CGLib", "GLibSupport", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "SecretServiceTests",
      dependencies: ["GLibSupport", "SecretService", "TestSupport", "WorkerSupport"],
      swiftSettings: common),
    .testTarget(
      name: "TokenCacheTests", dependencies: ["GLibSupport", "RuntimeCounter", "TestSupport", "TokenCache"],
      swiftSettings: common),
    .executableTarget(
      name: "Worker",
      dependencies: [
        "BrowserSignIn", "EncryptedFileStore", "EtcdStore", "GLibSupport", "IdentityClient", "KeyringStore",
        "MSALExtensionsStore", "PrivateSession", "ProofOfPossession", "Sealing", "SecretService",
        "SoupTransport", "TokenCache", "WorkerSupport", argumentParser, logging,
      ],
      path: "Tests/Worker", swiftSettings: common),
    .testTarget(
      name: "KeyringStoreTests",
      dependencies: [
        "Worker", "GLibSupport", "KeyringStore", "SecretService", "StoreSupport", "TestSupport",
        "WorkerSupport",
      ],
      swiftSettings: common),
    .testTarget(
      name: "EncryptedFileStoreTests",
      dependencies: [
        "Worker", "EncryptedFileStore", "GLibSupport", "Sealing", "SecretService", "TestSupport",
        "TokenCache", "WorkerSupport", crypto,
      ],
      swiftSettings: common),
    .testTarget(
      name: "EtcdStoreTests",
      dependencies: [
        "Worker", "EtcdStore", "GLibSupport", "HTTPSupport", "Sealing", "SecretService", "SoupTransport",
        "TestSupport",
        "TokenCache", "WorkerSupport", crypto, httpTypes,
      ],
      swiftSettings: common),
    .testTarget(
      name: "MSALExtensionsStoreTests",
      dependencies: ["GLibSupport", "MSALExtensionsStore", "SecretService", "TestSupport", "TokenCache"],
      swiftSettings: common),
    .testTarget(
      name: "SoupTransportTests",
      dependencies: [
        "GLibSupport", "HTTPSupport", "SoupTransport", "TestSupport", "WorkerSupport", httpTypes,
      ],
      swiftSettings: common),
    .testTarget(
      name: "BrowserSignInTests",
      dependencies: ["BrowserSignIn", "GLibSupport", "HTTPListener", "IdentityClient", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "EntraLabTests",
      dependencies: ["EntraLab", "LabSupport", "TestSupport", "entra-lab", crypto, cryptoExtras],
      swiftSettings: common),
    .testTarget(name: "LabServerTests", dependencies: ["LabServer", "Llavero"], swiftSettings: common),
    .testTarget(
      name: "ProofOfPossessionTests",
      dependencies: [
        "Worker", "EncryptedFileStore", "IdentityClient", "KeyringStore", "MSALExtensionsStore",
        "ProofOfPossession", "Sealing", "SecretService", "TestSupport", "TokenCache", "WorkerSupport", crypto,
        cryptoExtras,
      ],
      swiftSettings: common),
    .testTarget(
      name: "IdentityClientTests",
      dependencies: [
        "GLibSupport", "HTTPSupport", "IdentityClient", "TestSupport", "TokenCache", httpTypes, logging,
      ],
      swiftSettings: common),
    .testTarget(
      name: "IdentityBrokerTests",
      dependencies: ["GLibSupport", "IdentityBroker", "IdentityClient", "TestSupport", "TokenCache"],
      swiftSettings: common),
    .testTarget(
      name: "LendingTests",
      dependencies: [
        "GLibSupport", "HTTPSupport", "IdentityClient", "Lending", "SoupTransport",
        "TestSupport", "TokenCache",
      ],
      swiftSettings: common),
    .testTarget(
      name: "SignInTests",
      dependencies: [
        "BrowserSignIn", "EntraLab", "HTTPSupport", "IdentityClient", "KeyringStore", "LabSupport",
        "SoupTransport", "TestSupport", "TokenCache", httpTypes,
      ],
      swiftSettings: common),
    .testTarget(
      name: "MicrosoftGraphTests",
      dependencies: [
        "EntraLab", "HTTPSupport", "IdentityClient", "LabSupport", "MicrosoftGraph", "TestSupport",
        "TokenCache", httpTypes,
      ],
      swiftSettings: common),
    .testTarget(
      name: "MSALTests",
      dependencies: [
        "BrowserSignIn", "Configuration", "EntraLab", "GLibSupport", "HTTPSupport", "IdentityBroker",
        "IdentityClient", "KeyringStore", "LabSupport", "Lending", "MSAL", "MSALExtensionsStore",
        "MicrosoftGraph", "ProofOfPossession", "Sealing", "SecretService", "SoupTransport", "TestSupport",
        "TokenCache", httpTypes,
      ],
      swiftSettings: common + [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "MSALConcurrencyTests",
      dependencies: ["HTTPSupport", "IdentityClient", "MSAL", "TestSupport", "TokenCache", httpTypes],
      swiftSettings: common),
    .testTarget(
      name: "ConfigurationTests", dependencies: ["Configuration", "IdentityClient", "TestSupport"],
      swiftSettings: common),
    .testTarget(
      name: "LlaveroTests",
      dependencies: [
        "EntraLab", "GLibSupport", "HTTPSupport", "LabSupport", "SecretService", "TestSupport", "TokenCache",
        "entra-lab", "llavero",
      ],
      swiftSettings: common),
  ],
  swiftLanguageModes: [.v6]
)
