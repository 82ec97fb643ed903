import CGTK

/// The texts that a list shows.
final class StringList: GTKObject {
  private(set) var texts: [String] = []

  init() {
    super.init(taking: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
  }

  func replace(_ range: Range<Int>, with new: [String]) {
    guard !range.isEmpty || !new.isEmpty else { return }
    texts.replaceSubrange(range, with: new)
    let copies = new.map { strdup($0) }
    defer { copies.forEach { free($0) } }
    var pointers = copies.map { UnsafePointer($0) } + [nil]
    gtk_string_list_splice(opaque, UInt32(range.lowerBound), UInt32(range.count), &pointers)
  }
}
