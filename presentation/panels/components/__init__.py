"""The Components panel: what the libraries hold, looked through, seen in curves, put into the circuit."""
