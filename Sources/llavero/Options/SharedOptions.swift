import ArgumentParser

/// The options of many commands, which "llavero help options" shows instead of the help of each.
struct SharedOptions: ParsableArguments {
  @OptionGroup(title: "Client options") var appOptions: AppOptions
  @OptionGroup(title: "Client options") var lenderOptions: LenderOptions
  @OptionGroup(title: "Store options") var storeOptions: StoreOptions
  @OptionGroup(title: "Broker options") var broker: BrokerOptions
}
