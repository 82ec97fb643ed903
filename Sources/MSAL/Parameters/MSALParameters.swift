public import Foundation

/// What every call can be told.
open class MSALParameters: NSObject {
  /// Where the completion block is called. Unless it is set, sign-in and sign-out call it on the main queue, silent
  /// requests on a queue of the library's, and what asks the cache alone before it returns.
  ///
  /// A program whose main thread runs GLib's main loop (GTK, for instance) serves no main queue: it sets this
  /// or uses the async methods.
  open var completionBlockQueue: DispatchQueue?

  /// Nothing but defaults.
  public override init() {}
}
