// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "llavero-benchmarks",
  dependencies: [
    .package(name: "llavero", path: ".."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibsecretForBareCalls", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .target(name: "BareCalls", dependencies: ["CLibsecretForBareCalls"]),
    .executableTarget(
      name: "BenchmarkWorker",
      dependencies: [
        "BareCalls",
        .product(name: "EncryptedFileStore", package: "llavero"),
        .product(name: "EtcdStore", package: "llavero"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Llavero", package: "llavero"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
