"""Images without a registry: from Debian packages; of tasks with a Dockerfile, of their services and their graders."""
