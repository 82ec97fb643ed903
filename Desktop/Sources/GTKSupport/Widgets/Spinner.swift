import CGTK

/// A spinner for running operations.
public final class Spinner: Widget {
  /// Makes a stopped, invisible spinner.
  public init() {
    super.init(taking: gtk_spinner_new())
  }

  /// Whether it spins.
  public var isSpinning: Bool {
    get { gtk_spinner_get_spinning(opaque) != 0 }
    set { gtk_spinner_set_spinning(opaque, newValue ? 1 : 0) }
  }
}
