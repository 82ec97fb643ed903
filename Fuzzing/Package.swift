// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library do not build it. `Tests/fuzz` builds and runs it.
let package = Package(
  name: "Fuzzing",
  dependencies: [
    .package(name: "llavero", path: ".."),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        .product(name: "EncryptedFileStore", package: "llavero"),
        .product(name: "Llavero", package: "llavero"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      // The toolchain's own: gold fails on the sanitizers' debug information.
      linkerSettings: [.unsafeFlags(["-use-ld=lld"])])
  ],
  swiftLanguageModes: [.v6]
)
