"""Harbor task directories: what upstream says of a task, read as it is."""
