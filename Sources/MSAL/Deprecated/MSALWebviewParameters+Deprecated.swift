extension MSALWebviewParameters {
  @available(*, deprecated, renamed: "init(authPresentationViewController:)")
  public convenience init(parentViewController: AnyObject?) {
    self.init(authPresentationViewController: parentViewController)
  }
}
