// What nearly every test uses, so that a test file imports this module and what it is about: Swift Testing, the system, the
// schema, and the modules of requests. The private keyring and bus, and what the tests share with the programs that they
// start, come with it, too.
@_exported public import FoundationEssentials
@_exported public import GLibSupport
@_exported public import Glibc
@_exported public import HTTPSupport
@_exported public import HTTPTypes
@_exported public import IdentityClient
@_exported public import PrivateSession
@_exported public import StoreRules
@_exported public import Synchronization
@_exported public import Testing
@_exported public import TokenCache
@_exported public import WorkerSupport
