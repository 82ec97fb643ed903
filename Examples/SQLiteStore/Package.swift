// swift-tools-version: 6.2
import PackageDescription

/// A store of your own: Llavero's groups in an SQLite file.
let package = Package(
  name: "SQLiteStore",
  products: [.library(name: "SQLiteStore", targets: ["SQLiteStore"])],
  dependencies: [.package(name: "llavero", path: "../..")],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
    .target(
      name: "SQLiteStore",
      dependencies: [
        "CSQLite", .product(name: "StoreSupport", package: "llavero"),
      ]),
    .testTarget(
      name: "SQLiteStoreTests",
      dependencies: [
        "CSQLite", "SQLiteStore", .product(name: "StoreRules", package: "llavero"),
        .product(name: "StoreSupport", package: "llavero"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
