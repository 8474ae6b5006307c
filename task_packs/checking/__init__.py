"""The check of a pack: untouched fails, solved passes, nothing hidden is seen."""
