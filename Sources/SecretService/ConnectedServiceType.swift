import CLibsecret

/// A GObject type derived from libsecret's SecretService that works on the bus connection it is given.
///
/// The constructor of libsecret's class replaces the given connection by the process-wide session bus connection,
/// and the object then aborts in its initialization if it has another one. Such a connection could not be
/// closed, nor could it use another bus. This type bypasses that constructor and uses GDBusProxy's.
let connectedServiceType: GType = {
  var query = GTypeQuery()
  g_type_query(secret_service_get_type(), &query)
  let type = g_type_register_static_simple(
    secret_service_get_type(), "LlaveroConnectedSecretService", query.class_size,
    { classStructure, _ in
      guard let classStructure, let proxyClass = g_type_class_ref(g_dbus_proxy_get_type()) else { return }
      let proxy = proxyClass.assumingMemoryBound(to: GObjectClass.self)
      let ours = classStructure.assumingMemoryBound(to: GObjectClass.self)
      ours.pointee.constructor = proxy.pointee.constructor
    },
    query.instance_size, nil, GTypeFlags(rawValue: 0))
  // Here, where only one thread at a time runs: two that initialize classes can block each other (GIOTypes).
  g_type_class_ref(type)
  return type
}()
