extension MSALWebviewParameters {
  /// ``init(authPresentationViewController:)``, as MSAL 1 called it.
  @available(*, deprecated, renamed: "init(authPresentationViewController:)")
  public convenience init(parentViewController: AnyObject?) {
    self.init(authPresentationViewController: parentViewController)
  }
}
