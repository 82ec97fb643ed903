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
    .target(name: "GTKSupport", dependencies: ["CGTK"], swiftSettings: settings),
    .executableTarget(
      name: "TutorialApp",
      dependencies: [
        "GTKSupport",
        .product(name: "HTTPSupport", package: "llavero"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
        .product(name: "MSAL", package: "llavero"),
        .product(name: "SoupTransport", package: "llavero"),
      ],
      swiftSettings: settings),
    // What needs GTK's loop on the first thread, which "swift test" keeps to itself.
    .executableTarget(
      name: "GTKSupportChecks", dependencies: ["CGTK", "GTKSupport"], path: "Tests/GTKSupportChecks",
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
