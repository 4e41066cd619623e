"""How it is done: ngspice, files, checkpoints, providers."""
