// Swift 6 refuses: reference to captured var 'block' in concurrently-executing code
import MSAL

/// A block that calls itself, as in Microsoft's sample of error handling.
func signIn(again: @escaping @Sendable (@escaping MSALCompletionBlock) -> Void) {
  var block: MSALCompletionBlock?
  block = { result, error in
    if error != nil, let block { again(block) }
  }
  block.map(again)
}
