/// The directory that an absolute path's last part is in; empty for the root.
package func parentDirectory(of path: String) -> String {
  path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
}
