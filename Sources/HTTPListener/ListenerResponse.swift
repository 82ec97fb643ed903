/// The response to a request.
package struct ListenerResponse: Sendable {
  package var status: UInt32
  package var fields: [(name: String, value: String)]
  package var contentType: String
  package var body: [UInt8]

  package init(
    status: UInt32, fields: [(name: String, value: String)] = [], contentType: String, body: [UInt8]
  ) {
    self.status = status
    self.fields = fields
    self.contentType = contentType
    self.body = body
  }
}
