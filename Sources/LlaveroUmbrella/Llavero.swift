// One import for a program that signs people in and calls Microsoft Graph. Each library can also be imported alone.
@_exported public import BrowserSignIn
@_exported public import HTTPSupport
@_exported public import IdentityBroker
@_exported public import IdentityClient
@_exported public import KeyringStore
@_exported public import MicrosoftGraph
@_exported public import SoupTransport
@_exported public import TokenCache
