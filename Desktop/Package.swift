// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "llavero-windows",
  products: [
    .library(name: "GTKSupport", targets: ["GTKSupport"]),
    .executable(name: "TutorialApp", targets: ["TutorialApp"]),
    .executable(name: "llavero-desktop", targets: ["llavero-desktop"]),
  ],
  dependencies: [
    .package(name: "llavero", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CGTK",
      pkgConfig: "libadwaita-1",
      providers: [.apt(["libgtk-4-dev", "libadwaita-1-dev"]), .yum(["gtk4-devel", "libadwaita-devel"])]),
    .systemLibrary(name: "CGettext"),
    // The texts in the language of the desktop.
    .target(name: "Localization", dependencies: ["CGettext"], swiftSettings: settings),
    .target(name: "GTKSupport", dependencies: ["CGTK", "Localization"], swiftSettings: settings),
    .executableTarget(
      name: "TutorialApp",
      dependencies: [
        "GTKSupport",
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
        .product(name: "MSAL", package: "llavero"),
      ],
      swiftSettings: settings),
    // What the window shows and does. It knows no GTK.
    .target(
      name: "KeychainModel",
      dependencies: [
        "Localization",
        .product(name: "Configuration", package: "llavero"),
        .product(name: "EtcdStore", package: "llavero"),
        .product(name: "Llavero", package: "llavero"),
        .product(name: "MSALExtensionsStore", package: "llavero"),
      ],
      swiftSettings: settings),
    .target(
      name: "KeychainWindow",
      dependencies: [
        "GTKSupport", "KeychainModel", "Localization",
        .product(name: "Configuration", package: "llavero"),
        .product(name: "KeyringStore", package: "llavero"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "llavero-desktop",
      dependencies: [
        "GTKSupport", "KeychainModel", "KeychainWindow", "Localization",
        .product(name: "IdentityClient", package: "llavero"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "KeychainModelTests",
      dependencies: [
        "KeychainModel", "Localization", .product(name: "Configuration", package: "llavero"),
        .product(name: "EncryptedFileStore", package: "llavero"),
        .product(name: "IdentityClient", package: "llavero"),
        .product(name: "LabServer", package: "llavero"),
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "KeychainWindowChecks",
      dependencies: [
        "CGTK", "GTKSupport", "KeychainModel", "KeychainWindow",
        .product(name: "KeyringStore", package: "llavero"),
      ],
      path: "Tests/KeychainWindowChecks", swiftSettings: settings),
    // What needs GTK's loop on the first thread, which "swift test" keeps to itself.
    .executableTarget(
      name: "GTKSupportChecks", dependencies: ["CGTK", "GTKSupport"], path: "Tests/GTKSupportChecks",
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
