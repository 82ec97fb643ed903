extension MSALInteractiveTokenParameters {
  @available(*, deprecated, renamed: "init(scopes:webviewParameters:)")
  public convenience init(scopes: [String]) {
    self.init(scopes: scopes, webviewParameters: MSALWebviewParameters())
  }
}

extension MSALWebviewParameters {
  @available(*, deprecated, renamed: "init(authPresentationViewController:)")
  public convenience init(parentViewController: Any?) {
    self.init(authPresentationViewController: parentViewController)
  }
}
