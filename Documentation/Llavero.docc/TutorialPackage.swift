// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "tutorial",
  dependencies: [
    .package(name: "llavero", path: "../llavero"),
    .package(name: "Desktop", path: "../llavero/Desktop"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    .executableTarget(
      name: "Tutorial",
      dependencies: [
        .product(name: "GTKSupport", package: "Desktop"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
        .product(name: "MSAL", package: "llavero"),
      ])
  ])
