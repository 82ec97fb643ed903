/// A number that no process has: those of Linux are at most 4194304 (proc(5), `pid_max`).
package let missingProcess: Int32 = 4_194_305
