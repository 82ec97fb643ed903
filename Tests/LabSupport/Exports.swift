// A test with the lab uses these, too.
@_exported public import EntraLab
@_exported public import SoupTransport
@_exported public import TestSupport
