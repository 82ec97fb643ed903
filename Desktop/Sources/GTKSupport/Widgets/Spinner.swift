import CGTK

/// Turns while something is waited for.
public final class Spinner: Widget {
  /// Makes one that stands still, and so is not seen.
  public init() {
    super.init(taking: gtk_spinner_new())
  }

  /// Whether it turns.
  public var isSpinning: Bool {
    get { gtk_spinner_get_spinning(opaque) != 0 }
    set { gtk_spinner_set_spinning(opaque, newValue ? 1 : 0) }
  }
}
