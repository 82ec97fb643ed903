#pragma once

/* The version that Package.swift defines. */
const char *_Nonnull library_version(void);
