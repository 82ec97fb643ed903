import CGLib

/// Registers types of GIO that several threads would otherwise register at once, which can block them for ever.
///
/// A thread that initializes a class holds GObject's one lock for that, and waits for the types of the class's
/// properties; a thread that registers such a type just then waits for the lock in order to add an interface to
/// it. A new `SoupSession` and a new D-Bus connection blocked each other like that in one of a hundred starts of a
/// program (GLib 2.74). GDBus registers some types ahead for the same reason. So whatever may be the first to use GIO (a
/// bus connection, a main loop's thread, a listener, a CA bundle) calls ``register()`` before.
package enum GIOTypes {
  package static func register() { registered }

  private static let registered: Void = {
    let types = [
      g_async_initable_get_type(), g_async_result_get_type(), g_initable_get_type(), g_task_get_type(),
      g_cancellable_get_type(), g_io_stream_get_type(), g_input_stream_get_type(),
      g_output_stream_get_type(), g_pollable_input_stream_get_type(), g_pollable_output_stream_get_type(),
      g_seekable_get_type(), g_filter_input_stream_get_type(), g_filter_output_stream_get_type(),
      g_buffered_input_stream_get_type(), g_buffered_output_stream_get_type(),
      g_data_input_stream_get_type(), g_data_output_stream_get_type(), g_memory_input_stream_get_type(),
      g_memory_output_stream_get_type(), g_converter_get_type(), g_socket_connectable_get_type(),
      g_socket_address_get_type(), g_socket_address_enumerator_get_type(), g_inet_address_get_type(),
      g_inet_socket_address_get_type(), g_unix_socket_address_get_type(),
      g_native_socket_address_get_type(), g_proxy_address_get_type(),
      g_proxy_address_enumerator_get_type(), g_network_address_get_type(), g_network_service_get_type(),
      g_datagram_based_get_type(), g_socket_get_type(), g_socket_control_message_get_type(),
      g_credentials_get_type(), g_unix_credentials_message_get_type(), g_unix_fd_list_get_type(),
      g_socket_connection_get_type(), g_tcp_connection_get_type(), g_tcp_wrapper_connection_get_type(),
      g_unix_connection_get_type(), g_socket_client_get_type(), g_socket_service_get_type(),
      g_proxy_get_type(), g_proxy_resolver_get_type(), g_simple_proxy_resolver_get_type(),
      g_resolver_get_type(), g_network_monitor_get_type(), g_tls_backend_get_type(),
      g_tls_certificate_get_type(), g_tls_connection_get_type(), g_tls_client_connection_get_type(),
      g_tls_server_connection_get_type(), g_tls_database_get_type(), g_tls_file_database_get_type(),
      g_tls_interaction_get_type(), g_dbus_interface_get_type(), g_dbus_auth_observer_get_type(),
      g_dbus_message_get_type(), g_dbus_connection_get_type(), g_dbus_proxy_get_type(),
      g_app_info_get_type(), g_file_get_type(), g_file_monitor_get_type(), g_vfs_get_type(),
    ]
    for type in types { g_type_ensure(type) }
  }()
}
