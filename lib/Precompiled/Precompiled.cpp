// The target that owns the precompiled headers.
