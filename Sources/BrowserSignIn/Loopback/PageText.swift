/// The languages of the pages. The programs that use this library need no files for them.
enum PageLanguage: String, Sendable, CaseIterable {
  case en, es, pt, fr, de

  /// The first of some languages that the pages have, else English.
  ///
  /// - Parameter languages: The browser's, the preferred ones first, such as `pt-BR`.
  init(preferredBy languages: [String]) {
    let known = languages.lazy.compactMap { Self(rawValue: $0.prefix { $0 != "-" }.lowercased()) }
    self = known.first ?? .en
  }
}

/// A text of a page, in all languages.
struct PageText: Sendable {
  private let en, es, pt, fr, de: String

  private init(_ en: String, es: String, pt: String, fr: String, de: String) {
    (self.en, self.es, self.pt, self.fr, self.de) = (en, es, pt, fr, de)
  }

  subscript(language: PageLanguage) -> String {
    switch language {
    case .en: en
    case .es: es
    case .pt: pt
    case .fr: fr
    case .de: de
    }
  }

  static let partOfSignIn = PageText(
    "This page is part of a sign-in",
    es: "Esta página forma parte de un inicio de sesión",
    pt: "Esta página faz parte de um processo de entrada",
    fr: "Cette page fait partie d’une connexion",
    de: "Diese Seite gehört zu einer Anmeldung")
  static let done = PageText(
    "Back to the application",
    es: "Vuelva a la aplicación",
    pt: "Volte ao aplicativo",
    fr: "Retournez à l’application",
    de: "Zurück zur Anwendung")
  static let close = PageText(
    "You can close this window and return to the application.",
    es: "Puede cerrar esta ventana y volver a la aplicación.",
    pt: "Você pode fechar esta janela e voltar ao aplicativo.",
    fr: "Vous pouvez fermer cette fenêtre et retourner à l’application.",
    de: "Sie können dieses Fenster schließen und zur Anwendung zurückkehren.")
  static let notSignedIn = PageText(
    "You are not signed in",
    es: "No ha iniciado sesión",
    pt: "Você não entrou",
    fr: "Vous n’êtes pas connecté",
    de: "Sie sind nicht angemeldet")
  static let goBack = PageText(
    "You can return to the application.",
    es: "Puede volver a la aplicación.",
    pt: "Você pode voltar ao aplicativo.",
    fr: "Vous pouvez retourner à l’application.",
    de: "Sie können zur Anwendung zurückkehren.")
  static let nothingHere = PageText(
    "There is nothing here.",
    es: "Aquí no hay nada.",
    pt: "Não há nada aqui.",
    fr: "Il n’y a rien ici.",
    de: "Hier ist nichts.")
  static let otherUser = PageText(
    "Another user of this machine started this sign-in.",
    es: "Otro usuario de este equipo empezó este inicio de sesión.",
    pt: "Outro usuário desta máquina começou esta entrada.",
    fr: "Un autre utilisateur de cette machine a lancé cette connexion.",
    de: "Ein anderer Benutzer dieses Rechners hat diese Anmeldung begonnen.")
  static let otherSignIn = PageText(
    "This response belongs to another sign-in. Start again from the application.",
    es: "Esta respuesta pertenece a otro inicio de sesión. Vuelva a empezar desde la aplicación.",
    pt: "Esta resposta pertence a outra entrada. Comece novamente no aplicativo.",
    fr: "Cette réponse appartient à une autre connexion. Recommencez depuis l’application.",
    de: "Diese Antwort gehört zu einer anderen Anmeldung. Beginnen Sie in der Anwendung von vorn.")
  static let ended = PageText(
    "This sign-in has ended. You can close this window.",
    es: "Este inicio de sesión ha terminado. Puede cerrar esta ventana.",
    pt: "Esta entrada terminou. Você pode fechar esta janela.",
    fr: "Cette connexion est terminée. Vous pouvez fermer cette fenêtre.",
    de: "Diese Anmeldung ist beendet. Sie können dieses Fenster schließen.")
  static let openedTwice = PageText(
    "This sign-in was opened twice, and has ended. Start again from the application.",
    es: "Este inicio de sesión se abrió dos veces y ha terminado. Vuelva a empezar desde la aplicación.",
    pt: "Esta entrada foi aberta duas vezes e terminou. Comece novamente no aplicativo.",
    fr: "Cette connexion a été ouverte deux fois et s’est terminée. Recommencez depuis l’application.",
    de: "Diese Anmeldung wurde zweimal geöffnet und ist beendet. Beginnen Sie in der Anwendung von vorn.")
  static let unreadable = PageText(
    "The response of the sign-in cannot be read.",
    es: "No se puede leer la respuesta del inicio de sesión.",
    pt: "Não é possível ler a resposta da entrada.",
    fr: "La réponse de la connexion est illisible.",
    de: "Die Antwort der Anmeldung kann nicht gelesen werden.")
  static let wrongAddress = PageText(
    "The address of this page is wrong.",
    es: "La dirección de esta página es incorrecta.",
    pt: "O endereço desta página está errado.",
    fr: "L’adresse de cette page est incorrecte.",
    de: "Die Adresse dieser Seite ist falsch.")
  static let requestTooLarge = PageText(
    "The request is too large.",
    es: "La solicitud es demasiado grande.",
    pt: "A solicitação é grande demais.",
    fr: "La demande est trop volumineuse.",
    de: "Die Anfrage ist zu groß.")
  static let onlyBrowser = PageText(
    "Only the browser itself may open this page.",
    es: "Solo el propio navegador puede abrir esta página.",
    pt: "Somente o próprio navegador pode abrir esta página.",
    fr: "Seul le navigateur lui-même peut ouvrir cette page.",
    de: "Nur der Browser selbst darf diese Seite öffnen.")
  static let mustBeForm = PageText(
    "The response of the sign-in must be a form (response_mode=form_post). Start again from the application.",
    es:
      "La respuesta del inicio de sesión debe ser un formulario (response_mode=form_post). Vuelva a empezar desde la aplicación.",
    pt:
      "A resposta da entrada deve ser um formulário (response_mode=form_post). Comece novamente no aplicativo.",
    fr:
      "La réponse de la connexion doit être un formulaire (response_mode=form_post). Recommencez depuis l’application.",
    de:
      "Die Antwort der Anmeldung muss ein Formular sein (response_mode=form_post). Beginnen Sie in der Anwendung von vorn."
  )
  static let mustBeInAddress = PageText(
    "The response of the sign-in must be in the address. Start again from the application.",
    es: "La respuesta del inicio de sesión debe estar en la dirección. Vuelva a empezar desde la aplicación.",
    pt: "A resposta da entrada deve estar no endereço. Comece novamente no aplicativo.",
    fr: "La réponse de la connexion doit se trouver dans l’adresse. Recommencez depuis l’application.",
    de: "Die Antwort der Anmeldung muss in der Adresse stehen. Beginnen Sie in der Anwendung von vorn.")
  static let responseTooLarge = PageText(
    "The response of the sign-in is too large.",
    es: "La respuesta del inicio de sesión es demasiado grande.",
    pt: "A resposta da entrada é grande demais.",
    fr: "La réponse de la connexion est trop volumineuse.",
    de: "Die Antwort der Anmeldung ist zu groß.")
  static let noForm = PageText(
    "The response of the sign-in is not a form.",
    es: "La respuesta del inicio de sesión no es un formulario.",
    pt: "A resposta da entrada não é um formulário.",
    fr: "La réponse de la connexion n’est pas un formulaire.",
    de: "Die Antwort der Anmeldung ist kein Formular.")
}
