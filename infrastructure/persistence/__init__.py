"""Files of a project and of a user: atomic writes, objects, results, checkpoints."""
