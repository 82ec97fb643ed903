import TestSupport

/// Sends `request`, with `{port}` replaced and lines ended as HTTP wants it, and returns the answer.
func send(_ request: String, to port: UInt16, host: String = "127.0.0.1") async -> String {
  guard let client = RawClient(port, host: host) else { return "" }
  client.write(request.replacing("{port}", with: "\(port)").replacing("\n", with: "\r\n"))
  return await client.readToEnd()
}

/// A form as a browser posts it.
func form(
  _ body: String, path: String = "/", host: String = "localhost:{port}",
  type: String = "application/x-www-form-urlencoded", fields: String = ""
) -> String {
  """
  POST \(path) HTTP/1.1
  Host: \(host)
  Content-Type: \(type)
  Content-Length: \(body.utf8.count)
  \(fields)
  \(body)
  """
}

/// A request without a body.
func get(
  _ path: String = "/", method: String = "GET", host: String = "localhost:{port}", fields: String = ""
) -> String {
  "\(method) \(path) HTTP/1.1\nHost: \(host)\n\(fields)\n"
}
