// The private keyring and bus, and what the tests share with the programs that they start, come with this module.
@_exported public import PrivateSession
@_exported public import StoreRules
@_exported public import WorkerSupport
