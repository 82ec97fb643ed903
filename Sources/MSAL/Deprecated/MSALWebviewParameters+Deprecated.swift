extension MSALWebviewParameters {
  @available(*, deprecated, renamed: "init(authPresentationViewController:)")
  public convenience init(parentViewController: Any?) {
    self.init(authPresentationViewController: parentViewController)
  }
}
