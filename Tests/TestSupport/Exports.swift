// What the tests share with the programs that they start comes with this module.
@_exported public import WorkerSupport
