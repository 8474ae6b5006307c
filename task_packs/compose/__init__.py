"""A task's compose file: the services beside the agent's container."""
