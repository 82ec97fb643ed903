import GTKSupport

@main
@MainActor
struct GTKSupportChecks {
  static func main() {}
}
