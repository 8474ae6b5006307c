"""Tasks whose prompts follow one another in one environment."""
